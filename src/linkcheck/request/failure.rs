//! Why a request got no answer: the kinds of failure that need different reactions.

use std::error::Error as _;
use std::io;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why a request got no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Error)]
pub enum Failure {
    /// DNS has no address for the name.
    #[error("DNS has no address for the host")]
    NoSuchName,
    /// DNS gives no answer: the name's servers are broken, or the queried ones.
    #[error("the DNS lookup failed")]
    NoNameServer,
    /// An address is reachable only from inside one network, and private addresses are not
    /// requested.
    #[error("the host has a private address")]
    PrivateAddress,
    /// An address is never requested: link-local, of a metadata service, or reserved.
    #[error("the host has a link-local, reserved or metadata-service address")]
    ForbiddenAddress,
    /// Nothing listens on the port.
    #[error("the connection was refused")]
    Refused,
    /// A router has no route to the host.
    #[error("the host is unreachable")]
    Unreachable,
    /// This machine cannot connect: it has no route, or no resources.
    #[error("this machine cannot connect to the host")]
    Local,
    /// No connection within the limit.
    #[error("the connection timed out")]
    ConnectTimeout,
    /// The certificate cannot be trusted.
    #[error("{0}")]
    Certificate(CertificateProblem),
    /// Both sides support TLS, but have no version or cipher in common.
    #[error("no TLS version or cipher is supported by both sides")]
    TlsIncompatible,
    /// The handshake fails, or the other side does not use TLS.
    #[error("the TLS handshake failed")]
    Tls,
    /// The handshake takes longer than the limit.
    #[error("the TLS handshake timed out")]
    TlsTimeout,
    /// This program is built without TLS.
    #[error("this program was built without TLS")]
    NoTls,
    /// The head of the answer does not arrive within the limit.
    #[error("the host did not answer in time")]
    AnswerTimeout,
    /// The connection ends before an answer.
    #[error("the connection was closed without an answer")]
    Closed,
    /// The answer is not HTTP/1.1.
    #[error("the answer is not valid HTTP")]
    Malformed,
    /// The head of the answer is larger than the limit.
    #[error("the header of the answer is too large")]
    HeadTooLarge,
    /// The host requires a client certificate.
    #[error("the host requires a client certificate")]
    ClientCertificate,
}

/// Why a certificate cannot be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Error)]
pub enum CertificateProblem {
    /// It is no longer valid.
    #[error("the certificate has expired")]
    Expired,
    /// It is not valid yet.
    #[error("the certificate is not valid yet")]
    NotYetValid,
    /// It is for other names.
    #[error("the certificate is for another name")]
    WrongName,
    /// No trusted authority has issued it, or the chain to it is not complete.
    #[error("the certificate was not issued by a trusted authority")]
    UnknownIssuer,
    /// It has been revoked.
    #[error("the certificate has been revoked")]
    Revoked,
    /// Anything else.
    #[error("the certificate is invalid")]
    Invalid,
}

impl Failure {
    /// Returns whether the host had received the request: another method may get an answer.
    pub fn is_after_request(self) -> bool {
        match self {
            Self::AnswerTimeout | Self::Closed | Self::Malformed => true,
            Self::NoSuchName
            | Self::NoNameServer
            | Self::PrivateAddress
            | Self::ForbiddenAddress
            | Self::Refused
            | Self::Unreachable
            | Self::Local
            | Self::ConnectTimeout
            | Self::Certificate(_)
            | Self::TlsIncompatible
            | Self::Tls
            | Self::TlsTimeout
            | Self::NoTls
            | Self::HeadTooLarge
            | Self::ClientCertificate => false,
        }
    }

    /// Classifies an error of connecting.
    pub(super) fn of_connecting(error: &io::Error) -> Self {
        use io::ErrorKind as Kind;
        match error.kind() {
            Kind::ConnectionRefused => Self::Refused,
            Kind::HostUnreachable => Self::Unreachable,
            Kind::TimedOut => Self::ConnectTimeout,
            Kind::ConnectionReset | Kind::ConnectionAborted => Self::Closed,
            // No route, no free port, no descriptor, a filter of this machine.
            _ => Self::Local,
        }
    }

    /// Classifies an error of a request on a connection.
    pub(super) fn of_request(error: &hyper::Error) -> Self {
        if error.is_parse_too_large() {
            return Self::HeadTooLarge;
        }
        if error.is_parse() {
            return Self::Malformed;
        }
        let cause = error.source().and_then(|cause| cause.downcast_ref());
        match cause.map(io::Error::kind) {
            Some(io::ErrorKind::TimedOut) => Self::AnswerTimeout,
            _ => Self::Closed,
        }
    }
}
