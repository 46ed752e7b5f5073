//! The address of a server, with the login.

use std::fmt;

use redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo, ProtocolVersion};
use thiserror::Error;

/// A text is not the address of a server.
#[derive(Debug, Error)]
#[error("this is not the address of a server, such as `redis://valkey.example:6379`")]
pub struct AddressError;

/// The address of a server, with the user and the password, and the shard to use.
///
/// `redis://` and `valkey://` are plain connections, `rediss://` and `valkeys://` use TLS with the
/// system's certificates (or those of `SSL_CERT_FILE`).
#[derive(Clone)]
pub struct ServerAddress {
    info: ConnectionInfo,
    shard: String,
}

impl ServerAddress {
    /// Parses an address like `rediss://valkey.example:6380`, which may have a database as its path.
    ///
    /// # Errors
    ///
    /// If it is not the address of a server. The error does not show it, because it may contain a
    /// password.
    pub fn parse(url: &str) -> Result<Self, AddressError> {
        let info = url.into_connection_info();
        let info = info.map_err(|_| AddressError)?;
        // The client's name and version need not be disclosed, and an ACL may forbid setting them.
        let settings = info.redis_settings().clone().set_skip_set_lib_name();
        let settings = settings.set_protocol(ProtocolVersion::RESP2);
        Ok(Self {
            info: info.set_redis_settings(settings),
            shard: "waypost".to_owned(),
        })
    }

    /// Returns whether it names a user or a password.
    pub fn has_login(&self) -> bool {
        let settings = self.info.redis_settings();
        settings.username().is_some() || settings.password().is_some()
    }

    /// Sets the user of the server's access control list; without one it is `default`.
    #[must_use]
    pub fn with_user(mut self, user: &str) -> Self {
        let settings = self.info.redis_settings().clone().set_username(user);
        self.info = self.info.set_redis_settings(settings);
        self
    }

    /// Sets the password.
    #[must_use]
    pub fn with_password(mut self, password: &str) -> Self {
        let settings = self.info.redis_settings().clone().set_password(password);
        self.info = self.info.set_redis_settings(settings);
        self
    }

    /// Sets the shard, by default `waypost`: its keys begin with `{shard}:`, and are on one server
    /// of a cluster.
    #[must_use]
    pub fn with_shard(mut self, shard: &str) -> Self {
        shard.clone_into(&mut self.shard);
        self
    }

    pub(super) fn info(&self) -> &ConnectionInfo {
        &self.info
    }

    pub(crate) fn shard(&self) -> &str {
        &self.shard
    }

    /// Returns the same address at another server of the cluster: `host:port`, or `:port` of this
    /// host.
    pub(super) fn moved(info: &ConnectionInfo, to: &str) -> Option<ConnectionInfo> {
        let (new_host, new_port) = to.rsplit_once(':')?;
        let new_port = new_port.parse().ok()?;
        let mut address = info.addr().clone();
        match &mut address {
            ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. } => {
                if !new_host.is_empty() {
                    new_host.clone_into(host);
                }
                *port = new_port;
            }
            _ => return None,
        }
        Some(info.clone().set_addr(address))
    }
}

impl fmt::Display for ServerAddress {
    /// Writes the address of the server, without user and password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.info.addr().fmt(f)
    }
}

impl fmt::Debug for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServerAddress({self}, {})", self.shard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        let address = ServerAddress::parse("rediss://user:secret@valkey.example:6380/2").unwrap();
        let address = address.with_user("other").with_password("hidden");
        let shown = format!("{address} {address:?}");
        assert_eq!(
            shown,
            "valkey.example:6380 ServerAddress(valkey.example:6380, waypost)"
        );
        assert!(address.has_login());
        assert!(
            !ServerAddress::parse("redis://valkey.example")
                .unwrap()
                .has_login()
        );
        for url in [
            "",
            "valkey.example",
            "http://secret@a.example",
            "redis://a.example:secret",
        ] {
            let error = ServerAddress::parse(url).unwrap_err();
            assert!(!format!("{error:#} {error:?}").contains("secret"));
        }
    }

    #[test]
    fn a_server_can_send_its_client_to_another() {
        let address = ServerAddress::parse("redis://a.example:7000").unwrap();
        for (to, expected) in [
            ("b.example:7001", "b.example:7001"),
            (":7002", "a.example:7002"),
        ] {
            let moved = ServerAddress::moved(address.info(), to).unwrap();
            assert_eq!(moved.addr().to_string(), expected);
        }
        assert!(ServerAddress::moved(address.info(), "nowhere").is_none());
    }
}
