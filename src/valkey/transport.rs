//! A stream to a server: over TCP with or without TLS, or over a Unix socket.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use redis::{ConnectionAddr, ConnectionInfo};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::answers::{AnswerScanner, TooLarge};

/// A stream of bytes to a server and back.
pub(super) trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for T {}

/// Connects to a server.
pub(super) async fn connect(info: &ConnectionInfo) -> io::Result<Box<dyn ByteStream>> {
    match info.addr() {
        ConnectionAddr::Tcp(host, port) => Ok(Box::new(connect_tcp(host, *port).await?)),
        ConnectionAddr::TcpTls {
            insecure: false,
            host,
            port,
            ..
        } => {
            let name = ServerName::try_from(host.clone()).map_err(io::Error::other)?;
            let connector = TlsConnector::from(Arc::new(tls_config()?));
            let stream = connect_tcp(host, *port).await?;
            Ok(Box::new(connector.connect(name, stream).await?))
        }
        ConnectionAddr::Unix(path) => Ok(Box::new(UnixStream::connect(path).await?)),
        _ => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "TLS without a check of the certificate is not supported",
        )),
    }
}

async fn connect_tcp(host: &str, port: u16) -> io::Result<TcpStream> {
    let stream = TcpStream::connect((host, port)).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Returns the settings of TLS, with the trusted authorities of the system or of `SSL_CERT_FILE`.
fn tls_config() -> io::Result<ClientConfig> {
    let mut found = rustls_native_certs::load_native_certs();
    if let Some(error) = found.errors.pop() {
        return Err(io::Error::other(error));
    }
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    // Named, because another crate may install a different default provider for the process.
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// A stream that fails if an answer is larger than a maximum.
pub(super) struct LimitedStream {
    stream: Box<dyn ByteStream>,
    answers: AnswerScanner,
    /// The maximum size of an answer, in bytes.
    max_bytes: u64,
}

impl LimitedStream {
    pub(super) fn new(stream: Box<dyn ByteStream>, max_bytes: u64) -> Self {
        Self {
            stream,
            answers: AnswerScanner::new(),
            max_bytes,
        }
    }

    /// Checks the sizes of the answers in some bytes that have arrived.
    fn check(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let scanned = self.answers.scan(bytes)?;
            if scanned.size > self.max_bytes {
                return Err(TooLarge(self.max_bytes).into());
            }
            bytes = &bytes[scanned.used..];
        }
        Ok(())
    }
}

impl AsyncRead for LimitedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        Poll::Ready(self.check(&buffer.filled()[before..]))
    }
}

impl AsyncWrite for LimitedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    #[tokio::test]
    async fn an_answer_that_is_too_large_is_an_error_before_it_has_arrived() {
        let (mut server, client) = duplex(1024);
        let mut stream = LimitedStream::new(Box::new(client), 64);
        let mut read = [0; 128];
        server.write_all(b"+OK\r\n$50\r\n").await.unwrap();
        assert_eq!(stream.read(&mut read).await.unwrap(), 10);
        server.write_all(&[b'a'; 50]).await.unwrap();
        assert_eq!(stream.read(&mut read).await.unwrap(), 50);
        server.write_all(b"\r\n*2\r\n$60\r\n").await.unwrap();
        let error = stream.read(&mut read).await.unwrap_err();
        assert_eq!(error.to_string(), "an answer has more than 64 bytes");
    }
}
