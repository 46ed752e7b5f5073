//! `_redirects` files, as Netlify and Cloudflare Pages read them: a path, a URL and a status per
//! line.
//!
//! An accepted rule means the same here: one path, or a path with everything under it. The first
//! rule that matches decides, so one is refused if another that is no link decides some of its paths, or
//! if a prefix before it does. A caller that takes rows must keep their order.

use std::collections::BTreeMap;
use std::ops::Bound;

use percent_encoding::percent_decode_str;

use crate::exchange::read::rows::{
    Deviation, ImportedLink, ImportedRow, LinkOrigin, RowError, row, rows,
};
use crate::mapping::Forward;

/// Reads every line.
pub(crate) fn read(bytes: &[u8], origin: LinkOrigin<'_>, take: &mut dyn FnMut(ImportedRow)) {
    let mut before = Preceding::default();
    rows(bytes, take, |line| {
        let words = line.split_whitespace();
        let words: Vec<_> = words.take_while(|word| !word.starts_with('#')).collect();
        let [from, rest @ ..] = &words[..] else {
            return Ok(None);
        };
        let found = match rest {
            [to] => link(from, to, "", origin),
            [to, status] => link(from, to, status, origin),
            [second, ..] if second.contains('=') && !second.contains("://") => Err(
                RowError::NoLink("a table cannot compare parameters of the query"),
            ),
            _ => Err(RowError::NoLink(condition(words.last().unwrap_or(from)))),
        };
        before.decided(from, found).map(Some)
    });
}

/// The rules of the preceding lines, by the path with which theirs begin.
#[derive(Default)]
struct Preceding {
    /// Those that match all below a path, or paths that begin with a text.
    open: BTreeMap<String, String>,
    /// Those that are no links.
    refused: BTreeMap<String, String>,
}

impl Preceding {
    /// Decides on a rule by those before it, and adds it to them.
    fn decided(
        &mut self,
        from: &str,
        found: Result<ImportedLink, RowError>,
    ) -> Result<ImportedLink, RowError> {
        let path = from.split_once("://").map_or(from, |(_, rest)| {
            rest.find('/').map_or("/", |at| &rest[at..])
        });
        let end = path.find('*').into_iter().chain(path.find("/:")).min();
        let is_open = end.is_some();
        let start = match end {
            Some(end) => path[..end + 1].rfind('/').map_or("", |at| &path[..at]),
            None => path.strip_suffix('/').unwrap_or(path),
        };
        // Paths are compared as they are requested, however they are written.
        let start = &*percent_decode_str(start).decode_utf8_lossy();
        let found = found.and_then(|link| match self.covering(start, is_open) {
            Some(by) => Err(RowError::Covered { by: by.to_owned() }),
            None => Ok(link),
        });
        let by = || format!("the rule for {path}");
        if is_open {
            self.open.entry(start.to_owned()).or_insert_with(by);
        }
        if found.is_err() {
            self.refused.entry(start.to_owned()).or_insert_with(by);
        }
        found
    }

    /// Returns the rule that decides what is answered to a path, or to some of those that begin so.
    fn covering(&self, start: &str, is_open: bool) -> Option<&str> {
        let ends = start.match_indices('/').map(|(at, _)| at);
        let mut above = ends.chain([start.len()]).map(|end| &start[..end]);
        let before = above.find_map(|it| self.open.get(it));
        let own = || self.refused.get(start);
        let below = format!("{start}/");
        let inside = || {
            let from = Bound::Included(&*below);
            let mut inside = self.refused.range::<str, _>((from, Bound::Unbounded));
            let (path, by) = inside.next()?;
            (is_open && path.starts_with(&below)).then_some(by)
        };
        before.or_else(own).or_else(inside).map(String::as_str)
    }
}

fn link(
    from: &str,
    to: &str,
    status: &str,
    origin: LinkOrigin<'_>,
) -> Result<ImportedLink, RowError> {
    // The mark gives it precedence over a file of that name, and there is none.
    let status = status.strip_suffix('!').unwrap_or(status);
    match status {
        "200" => {
            return Err(RowError::NoLink(
                "a rewrite (200) answers with another page instead of redirecting to it",
            ));
        }
        "404" => {
            return Err(RowError::NoLink(
                "a page for errors (404) is not a redirect",
            ));
        }
        _ if status.contains('=') => return Err(RowError::NoLink(condition(status))),
        _ => {}
    }
    if from.contains(['?', '#']) {
        return Err(RowError::NoLink(
            "no path has a query: parameters are words after the path",
        ));
    }
    let whole = from.strip_suffix("/*");
    let path = whole.unwrap_or(from);
    if path.contains('*') || path.contains("/:") {
        return Err(RowError::NoLink("a path with placeholders is not a code"));
    }
    let code = match path.contains("://") {
        true => origin.code_of_url(path)?,
        false => origin.code_of_path(path)?,
    };
    let (url, forward) = match (whole, to.strip_suffix(":splat")) {
        (Some(_), Some(url)) => (url, Forward::Path),
        (Some(_), None) => (to, Forward::All),
        (None, _) => (to, Forward::None),
    };
    let authority = url.split_once("://").map(|(_, rest)| rest);
    if forward == Forward::Path && authority.is_some_and(|rest| !rest.contains('/')) {
        return Err(RowError::NoLink(
            "the rest of the path would be a part of the host",
        ));
    }
    // Without a "*" there is no placeholder, and the text is literal.
    if whole.is_some() && url.contains(":splat") {
        return Err(RowError::NoLink(
            "the rest of the path does not end the URL",
        ));
    }
    // Both append the query to a URL that has none, unless the rule compares queries.
    let deviations = (!url.contains('?')).then_some(Deviation::Query);
    Ok(ImportedLink {
        deviations: Vec::from_iter(deviations),
        url: Some(match url.starts_with('/') && !url.starts_with("//") {
            true => origin.url_of_path(url),
            false => url.to_owned(),
        }),
        code: Some(code),
        status: row::status(status)?,
        forward: Some(forward),
        ..ImportedLink::default()
    })
}

/// Returns why a rule with a condition, such as `Country=fr`, is no link.
fn condition(text: &str) -> &'static str {
    match text
        .split_once('=')
        .map(|(name, _)| name.to_ascii_lowercase())
        .as_deref()
    {
        Some("country") => "a table cannot choose by country",
        Some("language") => "a table cannot choose by language",
        Some("role" | "cookie") => "a table cannot choose by cookies",
        _ => "a rule with parameters or conditions is not a link",
    }
}

#[cfg(test)]
mod tests {
    use crate::exchange::read::rows::testing::{pairs, read_by, refused};
    use crate::mapping::{Forward, Status};

    #[test]
    fn rules_that_mean_the_same_here_are_read() {
        let rows = read_by(
            super::read,
            b"# Links\n/a  https://e.org/\n/b/ https://f.org:8080/:x 301! # forever\n\
              /docs/*\thttps://docs.e.org/:splat\t308\n\
              https://short.code/%C3%A9 https://g.org/ 307\n\
              /c https://h.org/:splat\n\
              /old /new/x 301\n\
              /all/a https://h.org/a\n/all/* https://h.org/\n",
        );
        let found = [
            "2 a https://e.org/",
            "3 b https://f.org:8080/:x",
            "4 docs https://docs.e.org/",
            "5 é https://g.org/",
            "6 c https://h.org/:splat",
            "7 old https://short.code/new/x",
            "8 all/a https://h.org/a",
            "9 all https://h.org/",
        ];
        assert_eq!(pairs(&rows), found);
        let links: Vec<_> = rows.iter().map(|row| row.link.as_ref().unwrap()).collect();
        assert_eq!(links[0].status, None);
        assert_eq!(links[1].status, Some(Status::MovedPermanently));
        assert_eq!(links[1].forward, Some(Forward::None));
        assert_eq!(links[2].forward, Some(Forward::Path));
        assert_eq!(links[4].forward, Some(Forward::None));
        assert_eq!(links[7].forward, Some(Forward::All));
    }

    #[test]
    fn the_first_rule_that_matches_decides() {
        for (text, accepted) in [
            (
                "/a/* https://e.org/:splat\n/a/b https://e.org/2\n/ab https://e.org/3",
                &["a", "ab"][..],
            ),
            (
                "/a/b /c 200\n/a/* https://e.org/:splat\n/d https://e.org/",
                &["d"],
            ),
            (
                "/a https://e.org/fr 302 Country=fr\n/a https://e.org/\n/a/b https://e.org/b",
                &["a/b"],
            ),
            (
                "/a/:year https://e.org/:year\n/a/2024 https://e.org/\n/a https://e.org/",
                &[],
            ),
            ("/a/* https://e.org/:splat\n/a/b/* https://f.org/", &["a"]),
            ("/%61/* https://e.org/:splat\n/a/b https://f.org/", &["a"]),
            ("/a/b /c 200\n/a/%62 https://e.org/", &[]),
            ("/a/%2A /c 200\n/a/b https://e.org/", &["a/b"]),
            ("/* /index.html 200\n/a https://e.org/", &[]),
        ] {
            let rows = read_by(super::read, text.as_bytes());
            let links = rows.iter().filter_map(|row| row.link.as_ref().ok());
            let codes: Vec<_> = links.filter_map(|link| link.code.as_deref()).collect();
            assert_eq!(codes, accepted, "{text}");
        }
    }

    #[test]
    fn all_others_are_reported() {
        let lines = [
            "/a",
            "/a /b 200",
            "/a https://e.org/ 302 Language=de",
            "/store id=:id https://e.org/:id 301",
            "/a https://e.org/ 302 Country=fr",
            "/a https://e.org/ Country=fr",
            "/news/:year https://e.org/:year",
            "/* https://e.org/:splat",
            "/a/* https://e.org/:splat/b",
            "/a/* https://e.org:splat",
            "/a/* https://e.org/:splat/:splat",
            "/a* https://e.org/",
            "https://other.code/a https://e.org/",
            "/a https://e.org/ 418",
            "/a?b=c https://e.org/",
        ];
        let text = lines.join("\n");
        let rows = read_by(super::read, text.as_bytes());
        assert_eq!(refused(&rows).len(), lines.len(), "{rows:?}");
    }
}
