//! nginx: `map` blocks of paths, and `return` and `rewrite` for one path.
//!
//! A map has no status: it is that of a `return` with its variable, or the three digits at the end
//! of the variable's name, as in Waypost's own exports. nginx folds the case of the paths in a map;
//! a code is the path as written.

use std::collections::HashMap;

use super::directives::{DirectiveKind, Directives};
use super::expression::text_of;
use crate::exchange::read::rows::{ImportedLink, ImportedRow, LinkOrigin, RowError, excerpt, row};
use crate::mapping::{Forward, WrittenRetirement};

const MANY_PATHS: RowError = RowError::NoLink("this redirects more than one path");

/// The variable that holds a `$` in Waypost's exports, because nginx has no other escape.
const DOLLAR: &str = "${waypost_dollar}";

/// The block that contains a directive.
enum EnclosingBlock {
    /// A map of paths, with its status: empty if unknown.
    Map(String),
    /// A location for one path.
    Location(String),
    /// Any other.
    Other,
}

/// Reads every directive.
pub(crate) fn read(text: &str, origin: LinkOrigin<'_>, take: &mut dyn FnMut(ImportedRow)) {
    let statuses = statuses(text);
    let mut blocks = Vec::new();
    for directive in Directives::of(text) {
        let line = directive.line;
        let words: Vec<_> = directive.words.iter().map(String::as_str).collect();
        let link = match directive.kind {
            DirectiveKind::End => {
                blocks.pop();
                continue;
            }
            DirectiveKind::Block => match open(&words, &statuses) {
                Ok(block) => {
                    blocks.push(block);
                    continue;
                }
                Err(error) => {
                    blocks.push(EnclosingBlock::Other);
                    Err(error)
                }
            },
            DirectiveKind::Simple => match blocks.last() {
                Some(EnclosingBlock::Map(status)) => pair(&words, status, origin),
                Some(EnclosingBlock::Location(path)) => {
                    redirect(&words, Some(path), &statuses, origin)
                }
                _ => redirect(&words, None, &statuses, origin),
            },
        };
        if let Some(link) = link.transpose() {
            take(ImportedRow { line, link });
        }
    }
}

/// Returns the status with which each variable is sent as a URL.
fn statuses(text: &str) -> HashMap<String, String> {
    let mut statuses = HashMap::new();
    for mut directive in Directives::of(text) {
        if let [name, status, variable] = &mut directive.words[..]
            && name == "return"
            && variable.starts_with('$')
        {
            statuses.insert(std::mem::take(variable), std::mem::take(status));
        }
    }
    statuses
}

fn open(words: &[&str], statuses: &HashMap<String, String>) -> Result<EnclosingBlock, RowError> {
    Ok(match *words {
        ["map", "$uri" | "$request_uri" | "$document_uri", variable] => {
            let digits = variable.rsplit('_').next();
            let digits = digits.filter(|it| it.len() == 3 && it.parse::<u16>().is_ok());
            let status = statuses.get(variable).map(String::as_str).or(digits);
            EnclosingBlock::Map(status.unwrap_or_default().to_owned())
        }
        ["map", ..] => return Err(RowError::NoLink("this map is not one of paths")),
        ["location", "=", path] => EnclosingBlock::Location(path.to_owned()),
        ["location", "~", expression] => match text_of(expression) {
            Some(path) => EnclosingBlock::Location(path),
            None => EnclosingBlock::Other,
        },
        ["location", path] if path.starts_with('=') => {
            EnclosingBlock::Location(path[1..].to_owned())
        }
        _ => EnclosingBlock::Other,
    })
}

/// Reads a path and a URL in a map.
fn pair(
    words: &[&str],
    status: &str,
    origin: LinkOrigin<'_>,
) -> Result<Option<ImportedLink>, RowError> {
    let (key, value) = match *words {
        ["hostnames" | "volatile"] => return Ok(None),
        ["include", _] => return Err(RowError::NoLink("a file that is included is not read")),
        ["default", value] if !value.contains("://") => return Ok(None),
        ["default", _] => return Err(MANY_PATHS),
        [key, value] => (key, value),
        _ => return Err(RowError::NoLink("this is not a path and a URL")),
    };
    let path = match key.strip_prefix('~') {
        Some(expression) => text_of(expression).ok_or(MANY_PATHS)?,
        // A backslash precedes a key that would otherwise mean something else.
        None => key.strip_prefix('\\').unwrap_or(key).to_owned(),
    };
    let code = origin.code_of_path(&path)?;
    match status {
        "410" => Ok(Some(gone(code))),
        status => link(code, value, status, Forward::None).map(Some),
    }
}

/// Reads a redirecting directive; `None` if it does not redirect.
fn redirect(
    words: &[&str],
    path: Option<&str>,
    statuses: &HashMap<String, String>,
    origin: LinkOrigin<'_>,
) -> Result<Option<ImportedLink>, RowError> {
    let code = || origin.code_of_path(path.ok_or(MANY_PATHS)?);
    match *words {
        // The target is in a map.
        ["return", _, variable] if statuses.contains_key(variable) => Ok(None),
        ["return", "410"] if path.is_some() => Ok(Some(gone(code()?))),
        ["return", url] if url.contains("://") => {
            link(code()?, url, "302", Forward::None).map(Some)
        }
        ["return", status, url] if status.starts_with('3') => {
            link(code()?, url, status, Forward::None).map(Some)
        }
        ["rewrite", expression, url, ref flag @ ..] => {
            let status = match flag {
                ["permanent"] => "301",
                ["redirect"] => "302",
                _ if url.contains("://") => "302",
                _ => return Err(RowError::NoLink("a rewrite is not a redirect")),
            };
            let code = match expression {
                "^" | ".*" | "^.*$" | "^(.*)$" => code()?,
                _ => origin.code_of_path(&text_of(expression).ok_or(MANY_PATHS)?)?,
            };
            // The query is appended, unless the URL ends in a question mark.
            let (url, forward) = match url.strip_suffix('?') {
                Some(url) => (url, Forward::None),
                None => (url, Forward::Query),
            };
            link(code, url, status, forward).map(Some)
        }
        _ => Ok(None),
    }
}

fn link(code: String, url: &str, status: &str, forward: Forward) -> Result<ImportedLink, RowError> {
    let parts: Vec<_> = url.split(DOLLAR).collect();
    if parts.iter().any(|part| part.contains('$')) {
        return Err(RowError::Variable(excerpt(url)));
    }
    Ok(ImportedLink {
        code: Some(code),
        url: Some(parts.join("$")),
        status: row::status(status)?,
        forward: Some(forward),
        ..ImportedLink::default()
    })
}

fn gone(code: String) -> ImportedLink {
    ImportedLink {
        code: Some(code),
        retired: Some(WrittenRetirement::Always),
        ..ImportedLink::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::exchange::read::rows::testing::{pairs, read_by, refused};
    use crate::mapping::{Forward, Status, WrittenRetirement};

    #[test]
    fn maps_are_read() {
        let rows = read_by(
            super::read,
            "map_hash_bucket_size 64;\ngeo $waypost_dollar { default \"$\"; }\n\
              map $uri $waypost_301 {\n    \"/a\" \"https://e.org/${waypost_dollar}x\";\n\
                  \"~^/b\\.c$\" \"https://e.org/\\\"\";\n}\nmap $uri $waypost_410 {\n    \"/d\" 1;\n}\n\
              map $request_uri $new {\n  default \"\"; # none\n  hostnames;\n\
                /e https://e.org/e;\n  \\default https://e.org/;\n}\n\
              server { if ($new) { return 308 $new; } }\n",
        );
        let found = [
            "4 a https://e.org/$x",
            "5 b.c https://e.org/\"",
            "8 d ",
            "13 e https://e.org/e",
        ];
        assert_eq!(pairs(&rows), found);
        let link = |at: usize| rows[at].link.as_ref().unwrap();
        assert_eq!(link(0).status, Some(Status::MovedPermanently));
        assert_eq!(link(2).retired, Some(WrittenRetirement::Always));
        assert_eq!(link(3).status, Some(Status::PermanentRedirect));
        assert_eq!(refused(&rows).len(), 1);
    }

    #[test]
    fn locations_and_rewrites_are_read() {
        let rows = read_by(
            super::read,
            "server {\n  listen 80;\n  location = /a { return 301 https://e.org/; }\n\
              location =/b { add_header X y; return https://e.org/b; }\n\
              location ~ ^/c$ { rewrite ^ https://e.org/c? permanent; }\n\
              rewrite ^/d/?$ 'https://e.org/d' redirect;\n  location = /e {\n    return 410;\n  }\n}\n",
        );
        assert_eq!(refused(&rows), [""; 0]);
        let found = [
            "3 a https://e.org/",
            "4 b https://e.org/b",
            "5 c https://e.org/c",
            "6 d https://e.org/d",
            "8 e ",
        ];
        assert_eq!(pairs(&rows), found);
        let forwards: Vec<_> = rows
            .iter()
            .map(|row| row.link.as_ref().unwrap().forward)
            .collect();
        let (query, none) = (Some(Forward::Query), Some(Forward::None));
        assert_eq!(forwards, [none, none, none, query, None]);
    }

    #[test]
    fn all_others_are_reported() {
        let rows = read_by(
            super::read,
            "map $host $x { a b; }\nmap $uri $y {\n  default https://e.org/;\n  ~^/a https://e.org/;\n\
              ~*^/a$ https://e.org/;\n  include more;\n  /v https://$host/;\n}\n\
              server {\n  return 301 https://e.org$request_uri;\n\
              location /p { return 302 https://e.org/; }\n\
              location = /q { if ($arg_x) { return 302 https://e.org/; } }\n\
              rewrite ^/r/(.*)$ https://e.org/$1 permanent;\n  rewrite ^/s$ /t last;\n\
              location = /u { return 200 ok; }\n}\n",
        );
        assert_eq!(refused(&rows).len(), 11, "{rows:#?}");
    }
}
