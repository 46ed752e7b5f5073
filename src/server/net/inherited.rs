//! Sockets opened by a service manager and passed to this process, as sd_listen_fds(3) describes.
//!
//! They are identified by their names, or if none of those is ours, by their order. Listeners that
//! are not passed are bound by this process, elsewhere. The process that opened the sockets keeps
//! them: connections that wait there when this process stops are answered by the next one.
//!
//! Invariant: no passed descriptor reaches a child process.

use std::io;
use std::net::TcpListener;

use listenfd::ListenFd;

use super::listener::Listener;

/// The roles of sockets, which are also their names (`FileDescriptorName=` in systemd.socket(5)).
/// Sockets without a name take the remaining roles, in this order.
const ROLES: [&str; 3] = ["public", "admin", "https-redirect"];

/// The sockets that were passed to this process, until they are taken.
#[derive(Debug, Default)]
pub struct Inherited(Vec<(&'static str, TcpListener)>);

/// Why the passed sockets cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InheritedError {
    /// The variables that describe them are inconsistent, or the descriptors do not exist.
    #[error("the sockets that LISTEN_FDS announces do not exist")]
    Missing(#[source] io::Error),
    /// One is not a listening TCP socket.
    #[error(
        "descriptor {descriptor} ({name}), passed as a listener, is not a listening TCP socket"
    )]
    NotListening {
        /// Its number.
        descriptor: i32,
        /// The name it was passed with.
        name: String,
    },
    /// One has an unknown name.
    #[error(
        "no listener uses a socket named {0:?}: set FileDescriptorName= to public, admin or https-redirect"
    )]
    Unknown(String),
    /// More than one was passed for a role.
    #[error("more than one socket was passed as {0}: pass one; [::] accepts IPv4 connections too")]
    Twice(&'static str),
    /// More have no name than there are remaining roles.
    #[error("more sockets were passed than there are listeners")]
    TooMany,
}

impl Inherited {
    /// Takes the sockets that the environment describes, if they are intended for this process.
    ///
    /// Must be called once, before there is another thread: it changes the environment.
    ///
    /// # Errors
    ///
    /// Fails if there is a socket that cannot be used, because its clients would wait forever.
    pub fn from_env() -> Result<Self, InheritedError> {
        // Checks which process they are for, and keeps them from child processes.
        let passed: Vec<_> = sd_notify::listen_fds_with_names()
            .map_err(InheritedError::Missing)?
            .collect();
        if passed.is_empty() {
            return Ok(Self::default());
        }
        let names: Vec<_> = passed.iter().map(|(_, name)| name.as_str()).collect();
        let roles = roles(&names)?;
        let mut owned = ListenFd::from_env();
        let mut sockets = Vec::new();
        for (index, ((descriptor, name), role)) in passed.into_iter().zip(roles).enumerate() {
            let socket = owned.take_tcp_listener(index).ok().flatten();
            match socket.filter(listens) {
                Some(socket) => sockets.push((role, socket)),
                None => return Err(InheritedError::NotListening { descriptor, name }),
            }
        }
        Ok(Self(sockets))
    }

    /// Returns whether there is a socket for a role.
    pub fn has(&self, role: &str) -> bool {
        self.0.iter().any(|(name, _)| *name == role)
    }

    /// Returns the socket for a role, if it was passed. Must be called within a Tokio runtime.
    ///
    /// # Errors
    ///
    /// Fails if the operating system cannot poll it.
    pub fn take(&mut self, role: &str) -> io::Result<Option<Listener>> {
        let Some(index) = self.0.iter().position(|(name, _)| *name == role) else {
            return Ok(None);
        };
        let (_, socket) = self.0.swap_remove(index);
        Listener::inherited(socket).map(Some)
    }
}

/// Returns the role of each socket, by the names they were passed with.
fn roles(names: &[&str]) -> Result<Vec<&'static str>, InheritedError> {
    let mut roles = vec![None; names.len()];
    let mut free = ROLES.to_vec();
    for (role, name) in roles.iter_mut().zip(names) {
        if is_no_name(name) {
            continue;
        }
        let known = ROLES.into_iter().find(|known| known == name);
        let known = known.ok_or_else(|| InheritedError::Unknown((*name).to_owned()))?;
        let Some(index) = free.iter().position(|left| *left == known) else {
            return Err(InheritedError::Twice(known));
        };
        *role = Some(free.remove(index));
    }
    let mut free = free.into_iter();
    roles
        .into_iter()
        .map(|role| role.or_else(|| free.next()).ok_or(InheritedError::TooMany))
        .collect()
}

/// Returns whether a name is only a placeholder: systemd uses the unit's name if none was given,
/// and `unknown` if there are no names at all.
fn is_no_name(name: &str) -> bool {
    name.is_empty() || name == "unknown" || name.ends_with(".socket")
}

#[cfg(target_os = "linux")]
fn listens(socket: &TcpListener) -> bool {
    socket2::SockRef::from(socket)
        .is_listener()
        .unwrap_or(false)
}

/// Returns `true`: outside Linux the first attempt to accept shows it.
#[cfg(not(target_os = "linux"))]
fn listens(_: &TcpListener) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(names: &[&str]) -> Result<Vec<&'static str>, String> {
        roles(names).map_err(|error| error.to_string())
    }

    #[test]
    fn names_decide() {
        assert_eq!(reported(&["admin"]).unwrap(), ["admin"]);
        assert_eq!(reported(&["admin", "public"]).unwrap(), ["admin", "public"]);
    }

    #[test]
    fn without_names_the_order_decides() {
        assert_eq!(reported(&[]).unwrap(), [""; 0]);
        assert_eq!(reported(&["unknown"]).unwrap(), ["public"]);
        assert_eq!(
            reported(&["waypost.socket", ""]).unwrap(),
            ["public", "admin"]
        );
        // A name takes precedence at any position.
        assert_eq!(reported(&["", "public"]).unwrap(), ["admin", "public"]);
    }

    #[test]
    fn no_socket_is_left_without_anyone_to_answer() {
        assert!(reported(&["metrics"]).unwrap_err().contains("\"metrics\""));
        assert!(
            reported(&["public", "public"])
                .unwrap_err()
                .contains("public")
        );
        assert!(reported(&["", "", "", ""]).is_err());
    }
}
