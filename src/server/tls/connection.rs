//! Connections: a handshake, then the protocol that the client chose in it.
//!
//! A handshake uses the certificate that is live when its ClientHello has arrived; a connection
//! keeps its first one.

use std::future::Future;

use hyper::body::Incoming;
use hyper::{Request, Response};
use tokio::net::TcpStream;
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::rustls::server::Acceptor;

use super::certificate::Tls;
use super::http2;
use super::pair::H2;
use super::secured::Secured;
use crate::server::http::Content;
use crate::server::net::{
    AnswersPlain, Heads, LAST_REQUEST, Phase, Phases, TimeoutStream, Timeouts, past, serve_http1,
};

impl Tls {
    /// Serves one connection, in the protocol that its client chose, until either side ends it.
    ///
    /// # Errors
    ///
    /// Returns hyper's error for a client that broke the protocol or disconnected. Errors before a
    /// protocol was chosen are not reported.
    pub(crate) async fn serve<F, A>(
        &self,
        stream: TcpStream,
        timeouts: Timeouts,
        mut phases: Phases,
        plain: impl AnswersPlain,
        answer: F,
    ) -> hyper::Result<()>
    where
        F: Fn(Request<Incoming>) -> A + Send + 'static,
        A: Future<Output = Response<Content>> + Send + Unpin + 'static,
    {
        let heads = Heads::default();
        let stream = TimeoutStream::new(stream, timeouts, heads.clone());
        // Boxed separately, so that a connection holds only its current state.
        let handshake = Box::pin(self.handshake(stream, &mut phases));
        let Some(stream) = handshake.await else {
            return Ok(());
        };
        if stream.get_ref().1.alpn_protocol() == Some(H2) {
            Box::pin(http2::serve(stream, heads, timeouts, phases, answer)).await
        } else {
            Box::pin(serve_http1(stream, heads, phases, plain, answer)).await
        }
    }

    /// Returns the encrypted stream, unless the client cannot, will not, or takes too long.
    async fn handshake(
        &self,
        stream: TimeoutStream<TcpStream>,
        phases: &mut Phases,
    ) -> Option<Secured> {
        // A client whose ClientHello arrives before the server closes is still served.
        let hello = tokio::select! {
            biased;
            hello = LazyConfigAcceptor::new(Acceptor::default(), stream) => hello.ok()?,
            () = past(phases, Phase::Closing, LAST_REQUEST) => return None,
        };
        let config = self.config();
        tokio::select! {
            biased;
            stream = hello.into_stream(config) => stream.ok(),
            () = phases.reached(Phase::Closed) => None,
        }
    }
}
