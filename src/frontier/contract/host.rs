//! A host, the unit of reservation: a name with a port, where ports 80 and 443 are one host.

use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;
use std::sync::Arc;

use thiserror::Error;

/// The longest name in the DNS, in its text form (RFC 1035, section 2.3.4).
const MAX_NAME: usize = 253;

/// A host: a name in lower case, and a port unless it is 80 or 443.
///
/// Both schemes of a site are one host, because one machine answers for both. A full stop at the end
/// of a name is dropped, and IPv6 addresses have one spelling, so that equal hosts are equal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Host(Arc<str>);

/// Why a text is not a host.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{text}` is not a host: {reason}")]
pub struct HostError {
    text: String,
    reason: &'static str,
}

impl Host {
    /// Parses `name`, `name:port`, `[IPv6]` or `[IPv6]:port`.
    ///
    /// # Errors
    ///
    /// If the name is empty, longer than 253 characters or has characters other than letters,
    /// digits, `-`, `_` and `.` (an international name must be in its ASCII form), or if the port is
    /// not a number from 1 to 65535.
    pub fn parse(text: &str) -> Result<Self, HostError> {
        let refuse = |reason| HostError {
            text: text.to_owned(),
            reason,
        };
        let (name, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (address, after) = rest.split_once(']').ok_or(refuse("`]` is missing"))?;
                let address: Ipv6Addr = address
                    .parse()
                    .map_err(|_| refuse("this is no IPv6 address"))?;
                let port = match after {
                    "" => None,
                    _ => Some(
                        after
                            .strip_prefix(':')
                            .ok_or(refuse("a port follows `:`"))?,
                    ),
                };
                (format!("[{address}]"), port)
            }
            None => {
                let (name, port) = match text.split_once(':') {
                    Some((name, port)) => (name, Some(port)),
                    None => (text, None),
                };
                let name = name.strip_suffix('.').unwrap_or(name);
                if name.is_empty() {
                    return Err(refuse("the name is empty"));
                }
                if name.len() > MAX_NAME {
                    return Err(refuse("the name is longer than 253 characters"));
                }
                let allowed = |c: u8| c.is_ascii_alphanumeric() || b"-_.".contains(&c);
                if !name.bytes().all(allowed) {
                    return Err(refuse("a name has only letters, digits, `-`, `_` and `.`"));
                }
                (name.to_ascii_lowercase(), port)
            }
        };
        let port = match port {
            None => None,
            Some(digits) if digits.bytes().all(|c| c.is_ascii_digit()) => match digits.parse() {
                Ok(port @ 1_u16..) => Some(port),
                _ => return Err(refuse("a port is a number from 1 to 65535")),
            },
            Some(_) => return Err(refuse("a port is a number from 1 to 65535")),
        };
        Ok(match port {
            None | Some(80 | 443) => Self(name.into()),
            Some(port) => Self(format!("{name}:{port}").into()),
        })
    }

    /// Returns the host as text: `name` or `name:port`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the host of this name with ports 80 and 443; as a member of an alias, all its ports.
    pub fn without_port(&self) -> Self {
        match self.port_at() {
            Some(at) => Self(self.0[..at].into()),
            None => self.clone(),
        }
    }

    /// Returns whether the host has a port, one other than 80 and 443.
    pub fn has_port(&self) -> bool {
        self.port_at().is_some()
    }

    /// Returns what sorts before the host of this name with any port, and after any other.
    pub(crate) fn first_port(&self) -> Self {
        Self(format!("{}:", self.0).into())
    }

    /// Returns what sorts before every host.
    pub(crate) fn least() -> Self {
        Self(Arc::default())
    }

    fn port_at(&self) -> Option<usize> {
        // Colons inside the brackets of an IPv6 address come before the closing one.
        let after_name = self.0.rfind(']').unwrap_or(0);
        self.0[after_name..].find(':').map(|at| after_name + at)
    }
}

impl FromStr for Host {
    type Err = HostError;

    fn from_str(text: &str) -> Result<Self, HostError> {
        Self::parse(text)
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn parsed(text: &str) -> String {
        Host::parse(text).unwrap().to_string()
    }

    #[test]
    fn one_host_has_one_spelling() {
        for text in [
            "Example.COM",
            "example.com.",
            "example.com:80",
            "example.com:443",
        ] {
            assert_eq!(parsed(text), "example.com");
        }
        assert_eq!(parsed("example.com:08080"), "example.com:8080");
        assert_eq!(parsed("[0:0::1]:443"), "[::1]");
        assert_eq!(parsed("[::FFFF:7f00:1]:81"), "[::ffff:127.0.0.1]:81");
    }

    #[test]
    fn a_name_is_taken_from_its_port() {
        for (text, name) in [
            ("example.com:81", "example.com"),
            ("example.com", "example.com"),
            ("[::1]:81", "[::1]"),
            ("[::1]", "[::1]"),
        ] {
            let host = Host::parse(text).unwrap();
            assert_eq!(host.without_port().as_str(), name);
            assert_eq!(host.has_port(), text.ends_with(":81"));
        }
    }

    #[test]
    fn what_is_no_host_is_refused() {
        let long = "a".repeat(254);
        for text in [
            "",
            ".",
            ":80",
            "a b",
            "a/b",
            "bücher.example",
            "a:",
            "a:0",
            "a:65536",
            "a:+1",
            "a:1:2",
            "[::1",
            "[::1]81",
            "[example.com]",
            "::1",
            "a\0b",
            &long,
        ] {
            assert!(Host::parse(text).is_err(), "{text:?}");
        }
    }
}
