//! TLS on the public listener: the live certificate, and the connections that use it.

mod certificate;
mod connection;
mod http2;
mod pair;
mod secured;

pub use certificate::Tls;
pub(super) use certificate::TlsView;
pub use pair::TlsError;
