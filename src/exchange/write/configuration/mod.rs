//! Configurations of servers: nginx, Caddy and Apache.

mod apache;
mod below;
mod caddy;
mod case;
mod destination;
mod negotiation;
mod nginx;

pub(crate) use apache::write as write_apache;
pub(crate) use caddy::write as write_caddy;
pub use case::alike_but_for_case;
pub(crate) use nginx::{fits as fits_nginx, write as write_nginx};
