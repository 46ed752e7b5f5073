//! Apache: `Redirect` lines, and `RedirectMatch` and `RewriteRule` lines that match one path.
//!
//! All of them append the query to a URL that has none, unless a rule disables that. `Redirect`
//! also matches paths under its own: that is kept if both path and URL end in a slash, so that they
//! fit together, and otherwise dropped, because it is hardly ever intended for a short link.

use std::borrow::Cow;

use super::expression::text_of;
use crate::exchange::read::rows::{
    ImportedLink, ImportedRow, LinkOrigin, RowError, excerpt, row, text,
};
use crate::mapping::{Forward, Status, WrittenRetirement};

/// Sections that apply a line only to some requests.
const CONDITIONS: [&str; 8] = [
    "location",
    "locationmatch",
    "files",
    "filesmatch",
    "if",
    "elseif",
    "else",
    "limit",
];

const MANY_PATHS: RowError = RowError::NoLink("this redirects more than one path");

/// The state after the preceding lines.
#[derive(Default)]
struct Conditions {
    /// The number of open sections that apply a line only to some requests.
    conditions: usize,
    /// Whether a condition precedes the next rule.
    has_condition: bool,
}

/// Reads every line.
pub(crate) fn read(bytes: &[u8], origin: LinkOrigin<'_>, take: &mut dyn FnMut(ImportedRow)) {
    let mut state = Conditions::default();
    for (line, bytes) in joined_lines(bytes) {
        let link = text(&bytes).and_then(|text| state.link(text, origin));
        if let Some(link) = link.transpose() {
            take(ImportedRow { line, link });
        }
    }
}

/// Returns the lines of a file without their line breaks, each that ends in a backslash joined with
/// the next one, under the number of the first.
fn joined_lines(bytes: &[u8]) -> impl Iterator<Item = (usize, Cow<'_, [u8]>)> {
    let lines = bytes.split(|byte| *byte == b'\n').zip(1..);
    let mut lines = lines.map(|(line, number)| (number, line.strip_suffix(b"\r").unwrap_or(line)));
    std::iter::from_fn(move || {
        let (number, line) = lines.next()?;
        let mut whole = Cow::Borrowed(line);
        while whole.ends_with(b"\\") {
            let whole = whole.to_mut();
            whole.pop();
            whole.extend(lines.next().map_or(&b""[..], |(_, next)| next));
        }
        Some((number, whole))
    })
}

impl Conditions {
    fn link(
        &mut self,
        line: &str,
        origin: LinkOrigin<'_>,
    ) -> Result<Option<ImportedLink>, RowError> {
        let words = words(line);
        let Some((name, rest)) = words.split_first() else {
            return Ok(None);
        };
        let name = name.to_ascii_lowercase();
        if let Some(section) = name.strip_prefix('<') {
            self.section(section);
            return Ok(None);
        }
        let rest: Vec<_> = rest.iter().map(String::as_str).collect();
        let link = match name.as_str() {
            "redirect" => redirect(&rest, origin),
            "redirectpermanent" => redirect(&[&["permanent"], &rest[..]].concat(), origin),
            "redirecttemp" => redirect(&[&["temp"], &rest[..]].concat(), origin),
            "redirectmatch" => redirect_match(&rest, origin),
            "rewritecond" => {
                self.has_condition = true;
                return Ok(None);
            }
            "rewriterule" if std::mem::take(&mut self.has_condition) => {
                return Err(RowError::NoLink("a rule with conditions is not a link"));
            }
            "rewriterule" => rewrite_rule(&rest, origin),
            _ => return Ok(None),
        }?;
        match self.conditions {
            0 => Ok(Some(link)),
            _ => Err(RowError::NoLink("this is not for every request")),
        }
    }

    fn section(&mut self, name: &str) {
        let (is_end, name) = match name.strip_prefix('/') {
            Some(name) => (true, name),
            None => (false, name),
        };
        if CONDITIONS.contains(&name.trim_end_matches('>')) {
            self.conditions = match is_end {
                true => self.conditions.saturating_sub(1),
                false => self.conditions + 1,
            };
        }
    }
}

fn redirect(words: &[&str], origin: LinkOrigin<'_>) -> Result<ImportedLink, RowError> {
    let (status, path, url) = parts(words)?;
    let code = origin.code_of_path(path)?;
    let forward = match (
        path.ends_with('/'),
        url.is_some_and(|url| url.ends_with('/')),
    ) {
        (true, true) if url.is_some_and(|url| url.contains('?')) => Forward::Path,
        (true, true) => Forward::PathAndQuery,
        (true, false) if url.is_some() => return Err(MANY_PATHS),
        _ => query(url),
    };
    Ok(link(status, code, url, forward))
}

fn redirect_match(words: &[&str], origin: LinkOrigin<'_>) -> Result<ImportedLink, RowError> {
    let (status, expression, url) = parts(words)?;
    let path = text_of(expression).ok_or(MANY_PATHS)?;
    let url = url.map(without_references).transpose()?;
    let forward = query(url.as_deref());
    Ok(link(
        status,
        origin.code_of_path(&path)?,
        url.as_deref(),
        forward,
    ))
}

fn rewrite_rule(words: &[&str], origin: LinkOrigin<'_>) -> Result<ImportedLink, RowError> {
    let (expression, url, flags) = match words[..] {
        [expression, url] => (expression, url, ""),
        [expression, url, flags] => (expression, url, flags),
        _ => return Err(RowError::NoLink("this rule has not two or three parts")),
    };
    let flags = flags.trim_start_matches('[').trim_end_matches(']');
    let flags: Vec<_> = flags.split(',').map(str::trim).collect();
    let has = |names: &[&str]| flags.iter().any(|flag| names.contains(flag));
    let code = || {
        let path = text_of(expression).ok_or(MANY_PATHS)?;
        // In a .htaccess file the path has no leading slash.
        let slash = if path.starts_with('/') { "" } else { "/" };
        origin.code_of_path(&format!("{slash}{path}"))
    };
    if has(&["G", "gone"]) {
        return Ok(link(None, code()?, None, Forward::None));
    }
    let status = flags.iter().find_map(|flag| match flag.split_once('=') {
        Some(("R" | "redirect", status)) => Some(status),
        None if ["R", "redirect"].contains(flag) => Some("302"),
        _ => None,
    });
    let Some(status) = status.or_else(|| url.contains("://").then_some("302")) else {
        return Err(RowError::NoLink("a rewrite is not a redirect"));
    };
    let url = without_references(url)?;
    let forward = match query(Some(&url)) {
        _ if has(&["QSD", "qsdiscard"]) => Forward::None,
        Forward::None if has(&["QSA", "qsappend"]) => Forward::Query,
        forward => forward,
    };
    Ok(link(status_of(status)?, code()?, Some(&url), forward))
}

/// Returns the status, the path or expression, and the URL; `None` of a status is 410.
fn parts<'w>(words: &[&'w str]) -> Result<(Option<Status>, &'w str, Option<&'w str>), RowError> {
    match words[..] {
        ["gone" | "410", path] => Ok((None, path, None)),
        [path, url] => Ok((Some(Status::Found), path, Some(url))),
        [status, path, url] => Ok((status_of(status)?, path, Some(url))),
        _ => Err(RowError::NoLink("this redirect has not two or three parts")),
    }
}

fn status_of(text: &str) -> Result<Option<Status>, RowError> {
    row::status(match text {
        "permanent" => "301",
        "temp" => "302",
        "seeother" => "303",
        other => other,
    })
}

/// Returns the part of a request that is carried over to a URL: the query, unless the URL has one.
fn query(url: Option<&str>) -> Forward {
    match url {
        Some(url) if !url.contains('?') => Forward::Query,
        _ => Forward::None,
    }
}

fn link(status: Option<Status>, code: String, url: Option<&str>, forward: Forward) -> ImportedLink {
    ImportedLink {
        code: Some(code),
        url: url.map(str::to_owned),
        status,
        forward: url.map(|_| forward),
        retired: url.is_none().then_some(WrittenRetirement::Always),
        ..ImportedLink::default()
    }
}

/// Returns a URL without references to parts of the path, its escapes undone.
fn without_references(url: &str) -> Result<String, RowError> {
    let mut text = String::new();
    let mut chars = url.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied().unwrap_or_default();
        let begins = next.is_ascii_digit() || next == '{';
        match c {
            '\\' => text.extend(chars.next()),
            '$' if begins => return Err(RowError::Variable(excerpt(url))),
            // Two hexadecimal digits are part of the URL's own encoding.
            '%' if next == '{' => return Err(RowError::Variable(excerpt(url))),
            c => text.push(c),
        }
    }
    Ok(text)
}

/// Splits a line at white space outside quotes. A backslash keeps a quote from ending a word,
/// except in a rule, where it is literal.
fn words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut rest = line.trim();
    if rest.starts_with('#') {
        return words;
    }
    while !rest.is_empty() {
        let name = words.first().map(|name| name.to_ascii_lowercase());
        let is_raw = matches!(name.as_deref(), Some("rewriterule" | "rewritecond"));
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
        let mut word = String::new();
        let mut chars = rest[quote.map_or(0, char::len_utf8)..].chars();
        while let Some(c) = chars.next() {
            let next = chars.clone().next();
            match (c, quote) {
                (c, Some(quote)) if c == quote => break,
                (c, None) if c.is_whitespace() => break,
                ('\\', _) if !is_raw && (next == Some('\\') || next.is_some() && next == quote) => {
                    word.extend(chars.next());
                }
                _ => word.push(c),
            }
        }
        words.push(word);
        rest = chars.as_str().trim_start();
    }
    words
}

#[cfg(test)]
mod tests {
    use crate::exchange::read::rows::testing::{pairs, read_by, refused};
    use crate::mapping::{Forward, Status, WrittenRetirement};

    #[test]
    fn literal_lines_are_read() {
        let rows = read_by(
            super::read,
            b"# Links\nServerName short.code\n<VirtualHost *:80>\n\
              Redirect /a https://e.org/\n\
              Redirect 301 \"/b\" \"https://e.org/?x=%20y\"\n\
              \tredirect permanent /docs/ \\\n   https://docs.e.org/\n\
              RedirectTemp /c https://e.org/c\n\
              Redirect gone /d\n\
              RedirectMatch seeother ^/e\\.f/?$ https://e.org/\\$1\n\
              RewriteRule \"^/?g$\" \"https://e.org/%20\\%?\\\\\" [R=308,NE,QSD,L]\n\
              RewriteRule ^h$ - [G]\n</VirtualHost>\n",
        );
        assert_eq!(refused(&rows), [""; 0]);
        let found = [
            "4 a https://e.org/",
            "5 b https://e.org/?x=%20y",
            "6 docs https://docs.e.org/",
            "8 c https://e.org/c",
            "9 d ",
            "10 e.f https://e.org/$1",
            "11 g https://e.org/%20%?\\",
            "12 h ",
        ];
        assert_eq!(pairs(&rows), found);
        let links: Vec<_> = rows.iter().map(|row| row.link.as_ref().unwrap()).collect();
        let forwards: Vec<_> = links.iter().map(|link| link.forward).collect();
        let (query, none) = (Some(Forward::Query), Some(Forward::None));
        let whole = Some(Forward::PathAndQuery);
        assert_eq!(
            forwards,
            [query, none, whole, query, None, query, none, None]
        );
        assert_eq!(links[1].status, Some(Status::MovedPermanently));
        assert_eq!(links[5].status, Some(Status::SeeOther));
        assert_eq!(links[4].retired, Some(WrittenRetirement::Always));
    }

    #[test]
    fn a_joined_line_with_bytes_that_are_not_utf_8_is_one_error() {
        let rows = read_by(
            super::read,
            b"\nRedirect /a \\\nhttps://e\xff.org/ \\\n \nRedirect /b \\\n  https://e.org/ \\",
        );
        assert_eq!(refused(&rows).len(), 1);
        assert_eq!(pairs(&rows), ["5 b https://e.org/"]);
        assert_eq!(rows.iter().map(|row| row.line).collect::<Vec<_>>(), [2, 5]);
    }

    #[test]
    fn all_others_are_reported() {
        let lines = [
            "Redirect /a/ https://e.org/b",
            "Redirect 404 /a https://e.org/",
            "Redirect /a",
            "RedirectMatch ^/a/(.*)$ https://e.org/$1",
            "RedirectMatch ^/a$ https://e.org/$0",
            "RewriteRule ^a$ /b [L]",
            "RewriteRule ^a$ https://e.org/%{QUERY_STRING} [R]",
            "RewriteCond %{HTTP_HOST} x",
            "RewriteRule ^a$ https://e.org/ [R]",
            "<Location /x>",
            "Redirect /a https://e.org/",
        ];
        let rows = read_by(super::read, lines.join("\r\n").as_bytes());
        assert_eq!(refused(&rows).len(), 9, "{rows:?}");
    }
}
