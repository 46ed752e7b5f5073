//! `waypost healthcheck`: queries the health of a running server, for images without curl.

use std::io::{Write as _, stdout};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::{Request, StatusCode, header};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;
use url::Url;

use super::arguments::{ListenArgs, quantity};
use super::serve::tls::Spoken;
use super::terminal::Error;

/// The maximum size of a health answer, in bytes.
const MAX_ANSWER: usize = 64 << 10;

/// Check whether a running server is healthy
///
/// Prints the response, and exits with status 0 if the server is healthy.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  waypost healthcheck                              check the server on this machine
  waypost healthcheck http://127.0.0.1:8081/readyz check its admin listener

Exit status: 0 healthy; 1 not healthy; 2 wrong usage; 3 it cannot be reached.")]
pub(super) struct Args {
    /// The URL to request, http only [default: /healthz on the public listener, or on the admin
    /// listener if WAYPOST_TLS_CERT is set, because the public one then uses TLS]
    #[arg(value_name = "URL", env = "WAYPOST_HEALTHCHECK_URL")]
    url: Option<Url>,

    /// How long to wait for the response
    #[arg(long, env = "WAYPOST_HEALTHCHECK_TIMEOUT", default_value = "5s", value_parser = quantity::positive_interval)]
    timeout: Duration,

    #[command(flatten)]
    listen: ListenArgs,

    #[command(flatten)]
    spoken: Spoken,
}

pub(super) fn run(args: &Args) -> Result<(), Error> {
    let url = match &args.url {
        Some(url) => url.clone(),
        // A certificate names no loopback address, and the admin listener needs none.
        None if args.spoken.is_tls() => at(args.listen.admin().first(), "/healthz")?,
        None => at(args.listen.public()?.first(), "/healthz")?,
    };
    if url.scheme() != "http" || !url.has_host() {
        return Err(Error::usage(format!(
            "{url} is not an http URL: health checks use http"
        )));
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let answer = runtime.block_on(async { timeout(args.timeout, request(&url)).await });
    let (status, body) = match answer {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => return Err(failed_request(error, &url)),
        Err(_) => return Err(anyhow!("{url} does not answer within {:?}", args.timeout).into()),
    };
    match body.trim_ascii() {
        // Such as a redirect, if the URL is not that of a health check.
        [] => writeln!(stdout(), "{url} answers {status}, without content")?,
        body => writeln!(stdout(), "{}", String::from_utf8_lossy(body))?,
    }
    match status.is_success() {
        true => Ok(()),
        false => Err(Error::Reported),
    }
}

/// Returns the error for a server that has not answered a request.
fn failed_request(error: anyhow::Error, url: &Url) -> Error {
    let hint = "if the server uses TLS, set WAYPOST_TLS_CERT here too, \
                or name /healthz of its admin listener";
    let hint = is_closed(&error).then_some(hint);
    Error::from(error.context(format!("cannot request {url}"))).with_hint(hint)
}

/// Returns the URL of a path on the server that this machine's configuration describes.
fn at(listen: SocketAddr, path: &str) -> anyhow::Result<Url> {
    let ip = match listen.ip() {
        // An unspecified address is reached by the loopback address.
        ip if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        ip => ip,
    };
    let address = SocketAddr::new(ip, listen.port());
    Url::parse(&format!("http://{address}{path}")).context("cannot name the listener")
}

async fn request(url: &Url) -> anyhow::Result<(StatusCode, Bytes)> {
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default().unwrap_or(80);
    let stream = TcpStream::connect((host.trim_matches(['[', ']']), port)).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let request = Request::get(&url[url::Position::BeforePath..url::Position::AfterQuery])
        .header(
            header::HOST,
            &url[url::Position::BeforeHost..url::Position::AfterPort],
        )
        .body(Empty::<Bytes>::new())?;
    // With the sender, which it drops at its end, so that the connection ends, too.
    let answer = async move {
        let response = sender.send_request(request).await?;
        let status = response.status();
        let body = Limited::new(response.into_body(), MAX_ANSWER)
            .collect()
            .await;
        let body = body.map_err(|error| anyhow!(error))?.to_bytes();
        anyhow::Ok((status, body))
    };
    let (answer, _) = tokio::join!(answer, connection);
    answer
}

/// Returns whether a server closed the connection, or sent something other than HTTP.
fn is_closed(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<hyper::Error>();
    error.is_some_and(|it| it.is_incomplete_message() || it.is_closed() || it.is_parse())
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// Requests the health of a server that sends this and closes the connection.
    fn answer(sent: &'static [u8]) -> anyhow::Result<(StatusCode, Bytes)> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/healthz", listener.local_addr().unwrap());
        let server = thread::spawn(move || {
            let (mut client, _) = listener.accept().unwrap();
            let lines = BufReader::new(client.try_clone().unwrap()).lines();
            lines
                .map_while(Result::ok)
                .take_while(|line| !line.is_empty())
                .for_each(drop);
            client.write_all(sent).unwrap();
        });
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let answer = runtime
            .unwrap()
            .block_on(request(&Url::parse(&url).unwrap()));
        server.join().unwrap();
        answer
    }

    #[test]
    fn an_answer_is_used_if_the_connection_ends_with_it() {
        for head in [
            "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
            "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\nok",
            "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\n\r\nok",
            "HTTP/1.0 503 Service Unavailable\r\n\r\nok",
        ] {
            let (status, body) = answer(head.as_bytes()).unwrap();
            assert_eq!((status.as_u16(), &body[..]), (503, &b"ok"[..]), "{head}");
        }
    }

    #[test]
    fn a_server_that_does_not_answer_in_http_is_recognised() {
        for sent in [
            &b""[..],
            b"HTTP/1.1 200 OK\r\n",
            b"\x15\x03\x03\x00\x02\x02\x46",
        ] {
            let error = answer(sent).unwrap_err();
            assert!(is_closed(&error), "{sent:?}: {error:#}");
        }
    }
}
