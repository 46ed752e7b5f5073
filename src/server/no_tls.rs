//! A replacement for [`tls`](super) in a program built without it: a type with no values.
//!
//! It has the shape of the real one, so that no other code needs to know which is compiled in.

use std::future::Future;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::{Request, Response};
use prometheus::Registry;
use serde::Serialize;
use tokio::net::TcpStream;

use super::http::Content;
use super::net::{AnswersPlain, Phases, Timeouts};

/// TLS, which this program was built without.
#[derive(Debug, Clone)]
pub enum Tls {}

/// The status of the certificate.
#[derive(Serialize)]
pub(super) enum TlsView {}

impl Tls {
    pub(super) fn register(&self, _registry: &Registry) {
        match *self {}
    }

    pub(super) async fn look(&self) -> Option<Duration> {
        match *self {}
    }

    pub(super) async fn reload(&self) -> Option<Duration> {
        match *self {}
    }

    pub(super) fn view(&self) -> TlsView {
        match *self {}
    }

    pub(super) async fn serve<F, A>(
        &self,
        _stream: TcpStream,
        _timeouts: Timeouts,
        _phases: Phases,
        _plain: impl AnswersPlain,
        _answer: F,
    ) -> hyper::Result<()>
    where
        F: Fn(Request<Incoming>) -> A + Send + 'static,
        A: Future<Output = Response<Content>> + Send + Unpin + 'static,
    {
        match *self {}
    }
}
