//! Addresses at which the server listens.

mod listen;
mod listen_address;

pub(crate) use listen::ListenArgs;
pub(crate) use listen_address::ListenAddress;
