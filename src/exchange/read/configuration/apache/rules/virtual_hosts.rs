//! The virtual hosts of a server's configuration: whose rules are those of the short links.

use super::lines::{joined_lines, words};
use crate::exchange::read::rows::{LinkOrigin, RowError};

const OTHER: RowError = RowError::NoLink("this is a rule of another virtual host");

const OF_SERVER: RowError =
    RowError::NoLink("rules of the server are not those of its virtual hosts");

const UNCLEAR: RowError = RowError::NoLink(
    "several virtual hosts have rules, and none or more than one of them has the host of the short links",
);

/// A virtual host.
#[derive(Debug)]
struct VirtualHost {
    /// Its lines, from that of its beginning to that of its end.
    lines: std::ops::RangeInclusive<usize>,
    /// Its name, which may be that of the server, and its other names, in lower case.
    names: Vec<String>,
    /// Whether it has a name of its own.
    has_name: bool,
    has_rules: bool,
    port: Option<u16>,
}

/// The virtual hosts of a file that have rules, or the host of the short links.
#[derive(Debug, Default)]
pub(super) struct VirtualHosts {
    all: Vec<VirtualHost>,
    /// The one of the short links, if it is known.
    own: Option<usize>,
}

impl VirtualHosts {
    /// Reads a file for short links of this origin.
    pub(super) fn read(bytes: &[u8], origin: LinkOrigin<'_>) -> Self {
        let mut all: Vec<VirtualHost> = Vec::new();
        let mut is_open = false;
        let mut server_name = None;
        for (line, text) in joined_lines(bytes) {
            let text = String::from_utf8_lossy(&text);
            let words = words(&text);
            let Some((name, rest)) = words.split_first() else {
                continue;
            };
            let name = name.to_ascii_lowercase();
            if name == "<virtualhost" {
                is_open = true;
                let address = rest.first().map(|it| it.trim_end_matches('>'));
                all.push(VirtualHost {
                    lines: line..=usize::MAX,
                    names: Vec::new(),
                    has_name: false,
                    has_rules: false,
                    port: address.and_then(|it| it.rsplit_once(':')?.1.parse().ok()),
                });
                continue;
            }
            let Some(host) = all.last_mut().filter(|_| is_open) else {
                if name == "servername" {
                    server_name = rest.first().map(|it| host_of(it));
                }
                continue;
            };
            match name.trim_end_matches('>') {
                "</virtualhost" => {
                    is_open = false;
                    host.lines = *host.lines.start()..=line;
                }
                "servername" => {
                    host.has_name = true;
                    host.names.extend(rest.first().map(|it| host_of(it)));
                }
                "serveralias" => host.names.extend(rest.iter().map(|it| host_of(it))),
                name => host.has_rules |= is_of_rules(name),
            }
        }
        for host in all.iter_mut().filter(|it| !it.has_name) {
            host.names.extend(server_name.clone());
        }
        let host = origin.base_urls[0].host();
        all.retain(|it| it.has_rules || it.names.iter().any(|name| matches(name, host)));
        let own = own(&all, origin);
        Self { all, own }
    }

    pub(super) fn are_some(&self) -> bool {
        !self.all.is_empty()
    }

    /// Returns why a line is not read, if it is not: nothing if it has no rule.
    pub(super) fn refusal(&self, line: usize, words: &[String]) -> Option<Result<(), RowError>> {
        if self.all.is_empty() {
            return None;
        }
        let host = self.all.iter().position(|it| it.lines.contains(&line));
        let error = match (host, self.own) {
            (host, Some(own)) if host == Some(own) => return None,
            (_, None) => UNCLEAR,
            (Some(_), Some(_)) => OTHER,
            (None, Some(_)) => OF_SERVER,
        };
        let name = words.first().map(|it| it.to_ascii_lowercase());
        let is_inherited = name.as_deref().is_some_and(|it| it.starts_with("redirect"));
        let has_own = |own: usize| self.all.get(own).is_some_and(|it| it.has_rules);
        if is_inherited && host.is_none() && !self.own.is_none_or(has_own) {
            return None;
        }
        let has_link = name.is_some_and(|it| it.starts_with("redirect") || it == "rewriterule");
        Some(match has_link {
            true => Err(error),
            false => Ok(()),
        })
    }
}

/// Returns the only virtual host of the short links: that with their host, and with the port of their
/// scheme if there are several; or the only one.
fn own(all: &[VirtualHost], origin: LinkOrigin<'_>) -> Option<usize> {
    if let [_] = all {
        return Some(0);
    }
    let base_url = origin.base_urls[0];
    let own = all.iter().enumerate();
    let own = own.filter(|(_, it)| it.names.iter().any(|name| matches(name, base_url.host())));
    let own: Vec<_> = own.collect();
    let is_secure = base_url.as_str().starts_with("https:");
    let port = base_url.port().unwrap_or(if is_secure { 443 } else { 80 });
    let mut with_port = own.iter().filter(|(_, it)| it.port == Some(port));
    match (&own[..], with_port.next(), with_port.next()) {
        ([(only, _)], ..) | (_, Some((only, _)), None) => Some(*only),
        _ => None,
    }
}

/// Returns whether a line of this name, in lower case, has a rule or turns rules on.
pub(super) fn is_of_rules(name: &str) -> bool {
    name.starts_with("redirect") || name.starts_with("rewrite")
}

/// Returns the host of a server's name, which may have a scheme and a port, in lower case.
fn host_of(name: &str) -> String {
    let name = name.split_once("://").map_or(name, |(_, rest)| rest);
    let name = name.split_once(':').map_or(name, |(host, _)| host);
    name.to_ascii_lowercase()
}

/// Returns whether a name, in which `*` and `?` match any characters and one, matches a host.
fn matches(name: &str, host: &str) -> bool {
    let mut chars = name.chars();
    match chars.next() {
        None => host.is_empty(),
        Some('*') => {
            let rests = host.char_indices().map(|(at, _)| &host[at..]);
            { rests }
                .chain([""])
                .any(|rest| matches(chars.as_str(), rest))
        }
        Some(first) => host.chars().next().is_some_and(|own| {
            (first == '?' || first == own) && matches(chars.as_str(), &host[own.len_utf8()..])
        }),
    }
}
