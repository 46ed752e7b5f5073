//! The hosts under which the admin listener shows more than probes and metrics.
//!
//! A page can resolve its own name to the address of this listener and then read the answers as its
//! own (DNS rebinding). The name stays in the `Host` field, so names that no operator has allowed
//! are refused. An IP address in that field cannot be rebound, and neither can `localhost`, which
//! browsers resolve on their own.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A name of the admin listener that an operator has allowed, in lower case and ASCII.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdminHost(String);

/// A text that cannot be the name of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a host name: write it without scheme, port and path, as in 'admin.example'")]
pub struct AdminHostError;

impl FromStr for AdminHost {
    type Err = AdminHostError;

    fn from_str(text: &str) -> Result<Self, AdminHostError> {
        // As browsers send it: lower case, with characters beyond ASCII in Punycode.
        let host = url::Host::parse(text)
            .map_err(|_| AdminHostError)?
            .to_string();
        let is_of_a_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        // An IPv6 address is in brackets; it may be allowed, but need not be.
        let is_name = host.bytes().all(is_of_a_name) || host.starts_with('[');
        let name = without_final_dot(&host);
        match is_name && !name.is_empty() {
            true => Ok(Self(name.to_owned())),
            false => Err(AdminHostError),
        }
    }
}

/// Returns whether the value of a `Host` field, with or without a port, is an IP address,
/// `localhost` or an allowed name.
pub(crate) fn is_allowed(field: &str, allowed: &[AdminHost]) -> bool {
    let Some(host) = without_port(field) else {
        return false;
    };
    if let Some(address) = host.strip_prefix('[') {
        let address = address.strip_suffix(']');
        return address.is_some_and(|address| address.parse::<Ipv6Addr>().is_ok());
    }
    let name = without_final_dot(host);
    name.parse::<Ipv4Addr>().is_ok()
        || name.eq_ignore_ascii_case("localhost")
        || allowed.iter().any(|it| name.eq_ignore_ascii_case(&it.0))
}

/// Returns the host of `host [ ":" port ]`; `None` if the rest is not a port.
fn without_port(field: &str) -> Option<&str> {
    let end = match field.rfind(']') {
        Some(bracket) => bracket + 1,
        None => field.find(':').unwrap_or(field.len()),
    };
    let (host, rest) = field.split_at(end);
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    (rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port)).then_some(host)
}

fn without_final_dot(name: &str) -> &str {
    name.strip_suffix('.').unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_localhost_and_allowed_names_pass_whatever_the_port() {
        let allowed = ["Admin.Example.", "b\u{fc}cher.example"].map(|it| it.parse().unwrap());
        for host in [
            "127.0.0.1",
            "10.1.2.3:8081",
            "[::1]",
            "[fd00::1]:8081",
            "localhost",
            "LocalHost:8081",
            "localhost.",
            "localhost:",
            "admin.example",
            "ADMIN.example.:9000",
            "xn--bcher-kva.example",
        ] {
            assert!(is_allowed(host, &allowed), "{host}");
        }
        for host in [
            "",
            ":",
            "evil.example",
            "evil.example:8081",
            "127.0.0.1.evil.example",
            "127.0.0.1:80@evil.example",
            "localhost.evil.example",
            "evil.localhost",
            "admin.example.evil.example",
            "evil.admin.example",
            "[evil.example]",
            "[::1].evil.example",
            "[::1",
            "::1",
            "127.1",
            "2130706433",
            "127.0.0.1:x",
        ] {
            assert!(!is_allowed(host, &allowed), "{host}");
        }
    }

    #[test]
    fn what_is_no_name_is_reported_before_anything_is_served() {
        for text in [
            "",
            ".",
            "*",
            "*.example",
            "admin.example:8081",
            "https://admin.example",
            "admin.example/",
            "a b",
        ] {
            assert_eq!(text.parse::<AdminHost>(), Err(AdminHostError), "{text}");
        }
        for text in ["waypost", "waypost_1", "10.0.0.1", "[::1]"] {
            assert!(text.parse::<AdminHost>().is_ok(), "{text}");
        }
    }
}
