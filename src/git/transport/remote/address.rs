//! The address of a remote repository: the accepted forms, and how they are displayed.
//!
//! An address may contain a password or a token. So it is displayed without one, and its secrets
//! are redacted from Git's messages (`redact.rs`). A text that may be an address without its scheme
//! is never taken as a path.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use percent_encoding::percent_decode_str;
use url::Url;

use crate::git::secrets::{HIDDEN, masked, may_hold_login, secrets_in_address};

/// The default SSH port.
const SSH_PORT: u16 = 22;

/// The address of a remote repository, displayed without secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct RemoteUrl {
    text: String,
    shown: String,
    /// The secrets to redact, as written and decoded.
    secrets: Vec<String>,
    transport: Transport,
}

/// The usual SSH account of Git hosts, which is not a secret.
const ACCOUNT: &str = "git";

/// The schemes that Git supports, and those that people try. Any other may be part of a secret.
const SCHEMES: [&str; 6] = ["ftp", "ftps", "rsync", "scp", "sftp", "svn"];

/// How a remote is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Transport {
    /// The same file system.
    Local,
    /// HTTP, with or without TLS.
    Http,
    /// Git's own protocol, without authentication.
    Git,
    /// SSH to a host and port.
    Ssh { host: String, port: u16 },
}

/// Why a text is not a repository address. It does not repeat the text, which may hold a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RemoteUrlError {
    /// Nothing is there.
    #[error("an empty address: name a repository such as https://example.org/links.git")]
    Empty,
    /// It looks like a URL but is not one.
    #[error("not a URL ({0}): percent-encode special characters")]
    Malformed(url::ParseError),
    /// Git has no such transport.
    #[error("cannot follow {0} addresses: use https, ssh, git, file or a path")]
    UnknownScheme(&'static str),
    /// It contains a login, but is neither a URL nor `user@host:path`.
    #[error("neither a URL nor user@host:path: write it in full, as in https://host/path")]
    NoScheme,
    /// A URL must name a host.
    #[error("the URL names no host")]
    NoHost,
}

impl RemoteUrl {
    /// Parses an address: a URL, `user@host:path` or a path.
    ///
    /// # Errors
    ///
    /// If it is a URL that Git cannot use.
    pub fn parse(text: &str) -> Result<Self, RemoteUrlError> {
        if text.is_empty() {
            return Err(RemoteUrlError::Empty);
        }
        if text.contains("://") {
            return Self::parse_url(text);
        }
        // As in git-clone(1), "Git URLs": a slash before the first colon makes it a path.
        let place = text.split('/').next().unwrap_or(text);
        let (login, place) = place.rsplit_once('@').unwrap_or(("", place));
        let exists = Path::new(text).exists();
        if let Some((host, _)) = place.split_once(':')
            && !exists
        {
            if login.is_empty() && is_scheme(host) {
                return Err(RemoteUrlError::NoScheme);
            }
            let (shown, secrets) = match login.split_once(':') {
                // `token@host:443/path`: the apparent account may be intended as a login.
                None if begins_with_port(text, place) && !login.is_empty() && login != ACCOUNT => {
                    (masked(text), vec![login.to_owned()])
                }
                Some((user, password)) => (
                    text.replacen(login, &format!("{user}:{HIDDEN}"), 1),
                    vec![password.to_owned()],
                ),
                None => (text.to_owned(), Vec::new()),
            };
            return Ok(Self {
                text: text.to_owned(),
                shown,
                secrets,
                transport: Transport::Ssh {
                    host: host.to_owned(),
                    port: SSH_PORT,
                },
            });
        }
        if !exists && may_hold_login(text) && !text.starts_with(['/', '.']) {
            return Err(RemoteUrlError::NoScheme);
        }
        let path = std::path::absolute(text).unwrap_or_else(|_| text.into());
        let path = path.to_string_lossy().into_owned();
        let (shown, secrets) = match exists {
            true => (path.clone(), Vec::new()),
            // It may be intended as something else.
            false => (masked(&path), secrets_in_address(&path)),
        };
        Ok(Self {
            text: path,
            shown,
            secrets,
            transport: Transport::Local,
        })
    }

    fn parse_url(text: &str) -> Result<Self, RemoteUrlError> {
        let url = Url::parse(text).map_err(RemoteUrlError::Malformed)?;
        let host = url.host_str().filter(|host| !host.is_empty());
        let transport = match (url.scheme(), host) {
            ("file", _) => Transport::Local,
            ("https" | "http" | "git" | "ssh" | "git+ssh" | "ssh+git", None) => {
                return Err(RemoteUrlError::NoHost);
            }
            ("https" | "http", _) => Transport::Http,
            ("git", _) => Transport::Git,
            ("ssh" | "git+ssh" | "ssh+git", Some(host)) => Transport::Ssh {
                host: host.trim_matches(['[', ']']).to_owned(),
                port: url.port().unwrap_or(SSH_PORT),
            },
            (other, _) => {
                let known = SCHEMES.into_iter().find(|it| *it == other);
                return Err(RemoteUrlError::UnknownScheme(known.unwrap_or("such")));
            }
        };
        let mut shown = url.clone();
        // Over HTTP a user name may be a token; over SSH it is the account's name.
        let over_ssh = matches!(transport, Transport::Ssh { .. });
        let user = Some(url.username()).filter(|user| !user.is_empty() && !over_ssh);
        let parts: Vec<&str> = [user, url.password(), url.query()]
            .into_iter()
            .flatten()
            .collect();
        if user.is_some() || url.password().is_some() {
            // Fails only without a host, and then there is nothing to hide.
            let _ = shown.set_password(None);
            let _ = shown.set_username(HIDDEN);
        }
        shown.set_query(url.query().map(|_| HIDDEN));
        shown.set_fragment(None);
        let mut shown = String::from(shown);
        let mut secrets: Vec<String> = parts.iter().map(|it| (*it).to_owned()).collect();
        secrets.extend(
            parts
                .iter()
                .map(|it| percent_decode_str(it).decode_utf8_lossy().into()),
        );
        secrets.extend(url.query_pairs().map(|(_, value)| value.into()));
        // A `/` in a password ends the host early. `/@name` is a path on many hosts.
        let path = url.path();
        if (path.match_indices('@')).any(|(at, _)| !path[..at].ends_with('/')) {
            shown = masked(&shown);
            secrets.extend(secrets_in_address(text));
        }
        Ok(Self {
            text: text.to_owned(),
            shown,
            secrets,
            transport,
        })
    }

    /// Returns the directory of a repository on this machine.
    pub fn directory(&self) -> Option<PathBuf> {
        match (&self.transport, Url::parse(&self.text)) {
            (Transport::Local, Ok(url)) => url.to_file_path().ok(),
            (Transport::Local, Err(_)) => Some(PathBuf::from(&self.text)),
            _ => None,
        }
    }

    /// Returns the secrets to redact.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = String> {
        self.secrets.iter().cloned()
    }

    /// Returns the address as Git needs it, including any secret.
    pub(crate) fn expose(&self) -> &str {
        &self.text
    }

    pub(crate) fn transport(&self) -> &Transport {
        &self.transport
    }
}

/// Returns whether an address is that of a repository on this machine.
pub(crate) fn is_local(address: &str) -> bool {
    RemoteUrl::parse(address).is_ok_and(|it| it.transport == Transport::Local)
}

/// Returns whether the path of `user@host:path`, whose first segment ends with `place`, begins like
/// a port.
fn begins_with_port(text: &str, place: &str) -> bool {
    let number = place.split_once(':').map_or("", |(_, path)| path);
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number && text.contains('/')
}

/// Returns whether a host is the scheme of an address with a missing slash: `https:/host`.
fn is_scheme(host: &str) -> bool {
    let schemes = ["file", "git", "git+ssh", "http", "https", "ssh", "ssh+git"];
    (schemes.iter().chain(&SCHEMES)).any(|scheme| host.eq_ignore_ascii_case(scheme))
}

impl FromStr for RemoteUrl {
    type Err = RemoteUrlError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl fmt::Display for RemoteUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for RemoteUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteUrl({})", self.shown)
    }
}

/// Returns the `host:port` of the other address, if it differs from that of the first one and both
/// use HTTP. Changing to TLS at the same host, on the default ports, is no difference.
pub(crate) fn elsewhere(address: &str, other: &str) -> Option<String> {
    let http = |text: &str| {
        let url = Url::parse(text).ok()?;
        matches!(url.scheme(), "https" | "http").then_some(url)
    };
    let (address, other) = (http(address)?, http(other)?);
    let place = |url: &Url| {
        (
            url.host_str().map(str::to_owned),
            url.port_or_known_default(),
        )
    };
    let (here, there) = (place(&address), place(&other));
    let secured = address.scheme() == "http" && other.scheme() == "https";
    if here == there || here.0 == there.0 && secured && (here.1, there.1) == (Some(80), Some(443)) {
        return None;
    }
    let (host, port) = there;
    Some(format!(
        "{}:{}",
        host.unwrap_or_default(),
        port.unwrap_or_default()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_no_secret() {
        for (text, shown) in [
            (
                "https://u:pw@h.example/r.git",
                "https://***@h.example/r.git",
            ),
            ("https://token@h.example/r", "https://***@h.example/r"),
            ("https://h.example/r?token=pw", "https://h.example/r?***"),
            ("ssh://git@h.example:29/r", "ssh://git@h.example:29/r"),
            ("ssh://git:pw@h.example/r", "ssh://***@h.example/r"),
            ("git@h.example:a/b.git", "git@h.example:a/b.git"),
            ("git:pw@h.example:a/b.git", "git:***@h.example:a/b.git"),
            ("git@h.example:22/b.git", "git@h.example:22/b.git"),
            ("token@h.example:443/r", "***@h.example:443/r"),
            ("/srv/links.git", "/srv/links.git"),
            ("file:///srv/links.git", "file:///srv/links.git"),
            ("git://token@h.example/r", "git://***@h.example/r"),
            ("https://u:12/pw@h/r", "***@h/r"),
            ("https://h.example/@org/r", "https://h.example/@org/r"),
            ("/token@h.example/r", "***@h.example/r"),
            ("//u:pw@h.example/r?token=pw", "***@h.example/r?***"),
        ] {
            let url = RemoteUrl::parse(text).unwrap();
            assert_eq!(url.to_string(), shown);
            assert_eq!(format!("{url:?}"), format!("RemoteUrl({shown})"));
            assert_eq!(url.expose(), text);
        }
    }

    #[test]
    fn knows_its_secrets_as_written_and_decoded() {
        let url = RemoteUrl::parse("https://u:p%2Fw@h.example/r?token=a%20b").unwrap();
        let secrets: Vec<String> = url.secrets().collect();
        for secret in ["u", "p%2Fw", "p/w", "token=a%20b", "a b"] {
            assert!(secrets.iter().any(|it| it == secret), "{secrets:?}");
        }
        let url = RemoteUrl::parse("ssh://git@h.example/r").unwrap();
        assert_eq!(url.secrets().count(), 0);
    }

    #[test]
    fn what_lacks_its_scheme_is_no_path() {
        for text in [
            "oauth2:pw@h.example/r",
            "pw@h.example/r",
            "https:/u:pw@h.example/r",
            "HTTPS:u:pw@h.example/r",
            "https//u:pw@h.example/r",
            "https:\\\\u:pw@h.example\\r",
            "u：pw＠h.example／r",
            "https%3A%2F%2Fu%3Apw%40h.example%2Fr",
            "u%3Apw%40h.example/r",
            "pw:x@https://h.example/r",
        ] {
            let error = RemoteUrl::parse(text).unwrap_err().to_string();
            assert!(!error.contains("pw"), "{error}");
        }
    }

    #[test]
    fn finds_the_host_that_selects_the_key() {
        for (text, host, port) in [
            ("ssh://git@h.example:29/r", "h.example", 29),
            ("ssh://[::1]/r", "::1", 22),
            ("git@h.example:r", "h.example", 22),
        ] {
            let expected = Transport::Ssh {
                host: host.to_owned(),
                port,
            };
            assert_eq!(*RemoteUrl::parse(text).unwrap().transport(), expected);
        }
    }

    #[test]
    fn knows_the_directory_of_what_is_on_this_machine() {
        for (text, directory) in [
            ("/srv/links.git", Some("/srv/links.git")),
            ("file:///srv/my%20links.git", Some("/srv/my links.git")),
            ("https://h.example/r", None),
            ("git@h.example:r", None),
        ] {
            let found = RemoteUrl::parse(text).unwrap().directory();
            assert_eq!(found, directory.map(PathBuf::from), "{text}");
        }
    }

    #[test]
    fn refuses_what_it_cannot_follow_without_repeating_it() {
        for text in ["", "ftp://u:pw@h/r", "https://u:p/w@h/r", "ssh:///r"] {
            let error = RemoteUrl::parse(text).unwrap_err().to_string();
            assert!(!error.contains("pw") && !error.contains("p/w"), "{error}");
        }
    }

    #[test]
    fn knows_when_it_is_led_elsewhere() {
        for (address, other, place) in [
            ("https://h.example/a", "https://u:p@H.example:443/b?c", None),
            ("http://h.example/a", "https://h.example/a", None),
            (
                "https://h.example/a",
                "https://i.example/a",
                Some("i.example:443"),
            ),
            (
                "https://h.example/a",
                "http://h.example/a",
                Some("h.example:80"),
            ),
            (
                "http://h.example/a",
                "http://h.example:81/a",
                Some("h.example:81"),
            ),
            ("ssh://h.example/a", "ssh://i.example/a", None),
            ("git@h.example:a", "git@h.example:a", None),
        ] {
            assert_eq!(elsewhere(address, other).as_deref(), place, "{other}");
        }
    }
}
