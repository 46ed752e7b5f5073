//! Which servers answer for a host, by their names.
//!
//! Source: <https://nginx.org/en/docs/http/server_names.html>. Ports are not compared: the names of servers on
//! different ports count as if they were on one.

use std::collections::BTreeSet;

use super::blocks::Block;
use super::expressions::expression;
use crate::exchange::read::rows::RowError;

const OTHER_NAME: RowError = RowError::NoLink("this server has another name");

const NO_NAME: RowError = RowError::NoLink(
    "no server of this file has the host of the short links, and several have names: \
     import it with the base URL of one of them",
);

/// How well a name fits a host: the best one decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    None,
    Expression,
    /// An asterisk at the end, after so many bytes.
    Start(usize),
    /// An asterisk or a dot at the beginning, before so many bytes.
    End(usize),
    Exact,
}

/// Returns the servers whose links are of a host, and the others with the reason why they are not.
///
/// If no name fits, these are all servers, unless they have different names.
pub(super) fn of_host<'b>(
    servers: &[&'b Block],
    host: &str,
) -> (Vec<&'b Block>, Vec<(usize, RowError)>) {
    let host = host.to_ascii_lowercase();
    let names: Vec<_> = servers.iter().map(|it| names(it)).collect();
    let best_fit = |names: &BTreeSet<String>| {
        let fits = names.iter().map(|name| fit(name, &host));
        fits.max().unwrap_or(Fit::None)
    };
    let best = names.iter().map(best_fit).max().unwrap_or(Fit::None);
    let given: BTreeSet<_> = names.iter().filter(|it| !it.is_empty()).collect();
    let is_unclear = best == Fit::None && given.len() > 1;
    let reason = || if is_unclear { NO_NAME } else { OTHER_NAME };
    let (mut chosen, mut others) = (Vec::new(), Vec::new());
    for (server, names) in servers.iter().zip(&names) {
        match best_fit(names) == best && (!is_unclear || names.is_empty()) {
            true => chosen.push(*server),
            false => others.push((server.line, reason())),
        }
    }
    (chosen, others)
}

/// Returns the names of a server, in lowercase, without those that no host has.
fn names(server: &Block) -> BTreeSet<String> {
    let names = server.inner.iter().filter_map(|it| it.named("server_name"));
    let names = names.flatten().filter(|it| !matches!(*it, "" | "_"));
    names
        .map(|it| match it.starts_with('~') {
            true => it.to_owned(),
            false => it.to_ascii_lowercase(),
        })
        .collect()
}

/// Returns how well a name fits a host, both in lowercase.
fn fit(name: &str, host: &str) -> Fit {
    if let Some(written) = name.strip_prefix('~') {
        return match expression(written, true).may_match(host.as_bytes()) {
            true => Fit::Expression,
            false => Fit::None,
        };
    }
    let fits = |rest: Option<&str>| rest.is_some_and(|it| !it.is_empty());
    if name == host {
        return Fit::Exact;
    }
    // `.e.org` is short for `e.org` and `*.e.org`.
    if let Some(end) = name.strip_prefix('.')
        && end == host
    {
        return Fit::Exact;
    }
    let end = name.strip_prefix('*').unwrap_or(name);
    if end.starts_with('.') && fits(host.strip_suffix(end)) {
        return Fit::End(end.len());
    }
    match name.strip_suffix('*') {
        Some(start) if start.ends_with('.') && fits(host.strip_prefix(start)) => {
            Fit::Start(start.len())
        }
        _ => Fit::None,
    }
}

#[cfg(test)]
mod tests {
    use crate::exchange::read::configuration::nginx::read;
    use crate::exchange::read::rows::testing::{pairs, read_by};

    /// Returns the codes that are imported from servers, each with its names and one link.
    fn codes(servers: &[&str]) -> Vec<String> {
        let text: String = servers
            .iter()
            .enumerate()
            .map(|(at, names)| {
                let name = match names.is_empty() {
                    true => String::new(),
                    false => format!("server_name {names};"),
                };
                format!("server {{ {name} location = /{at} {{ return 301 https://e.org/; }} }}\n")
            })
            .collect();
        let rows = read_by(read, &*text);
        let accepted = rows.into_iter().filter(|it| it.link.is_ok());
        let codes = pairs(&accepted.collect::<Vec<_>>());
        let codes = codes.iter().filter_map(|it| it.split(' ').nth(1));
        codes.map(str::to_owned).collect()
    }

    #[test]
    fn the_best_name_decides() {
        for (servers, expected) in [
            (&["Short.Code", "other.code"][..], &["0"][..]),
            (&["other.code", "*.code", "short.*"], &["1"]),
            (&["other.code", ".code", "short.*"], &["1"]),
            (&[".short.code", "*.code"], &["0"]),
            (&["*.other", "short.*", "~^short"], &["1"]),
            (&["*.other", "'~^SHORT\\.'"], &["1"]),
            (&["'~^other'", "short.code"], &["1"]),
            (&["short.code", "a short.code"], &["0", "1"]),
            // One server, or the same twice: the links move to another host.
            (&["old.code"], &["0"]),
            (&["old.code", "old.code"], &["0", "1"]),
            (&["", "_"], &["0", "1"]),
            // Any host can be meant; a server without a name answers for those that no server has.
            (&["a.code", "b.code"], &[]),
            (&["a.code", "b.code", "_"], &["2"]),
        ] {
            assert_eq!(codes(servers), expected, "{servers:?}");
        }
    }
}
