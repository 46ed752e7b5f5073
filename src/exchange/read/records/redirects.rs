//! `_redirects` files, as Netlify and Cloudflare Pages read them: a path, a URL and a status per
//! line.
//!
//! An accepted rule means the same here: one path, or a path with everything under it, or first the one and
//! then the other, which are one link. The first rule that matches decides, so one is refused if another that
//! is no link decides some of its paths, or if a prefix before it does. A caller that takes rows must keep
//! their order.

mod paths;
mod preceding;

use std::collections::{BTreeMap, HashMap};

use self::paths::RulePaths;
use self::preceding::Preceding;
use crate::exchange::read::rows::{
    Deviation, ImportedLink, ImportedRow, LinkOrigin, RowError, lines, row,
};
use crate::mapping::{Forward, Misfit};

/// The reason for a rule with another status for what is below a path than for the path itself.
const OTHER_STATUS: RowError =
    RowError::NoLink("a table leads what is below a code with the status of the code itself");

/// Reads every line.
pub(crate) fn read(bytes: &[u8], origin: LinkOrigin<'_>, take: &mut dyn FnMut(ImportedRow)) {
    let mut rules = Rules {
        origin,
        preceding: Preceding::default(),
        rows: Vec::new(),
        exact: HashMap::new(),
        links: BTreeMap::new(),
    };
    for (line, text) in lines(bytes) {
        match text {
            Ok(text) => rules.add(line, text),
            Err(error) => rules.push(line, Err(error)),
        }
    }
    rules.rows.into_iter().for_each(take);
}

/// The rules that have been read.
struct Rules<'o> {
    origin: LinkOrigin<'o>,
    preceding: Preceding,
    rows: Vec<ImportedRow>,
    /// The rows of the links for one path, by that path.
    exact: HashMap<String, usize>,
    /// The rows of all links, by the paths of their codes.
    links: BTreeMap<String, (RulePaths, Vec<usize>)>,
}

impl Rules<'_> {
    /// Adds the rule of a line.
    fn add(&mut self, line: usize, text: &str) {
        let words = text.split_whitespace();
        let words: Vec<_> = words.take_while(|word| !word.starts_with('#')).collect();
        let [from, rest @ ..] = &words[..] else {
            return;
        };
        let mut found = match rest {
            [to] => link(from, to, "", self.origin),
            [to, status] => link(from, to, status, self.origin),
            [second, ..] if second.contains('=') && !second.contains(['/', '?']) => Err(
                RowError::NoLink("a table cannot compare parameters of the query"),
            ),
            _ => Err(RowError::NoLink(condition(words.last().unwrap_or(from)))),
        };
        if let Some(paths) = RulePaths::of(from, self.origin) {
            let start = paths.start();
            self.note_differences(&paths, found.as_ref().ok());
            found = found.and_then(|link| match self.preceding.deciding(&paths) {
                Some(by) => Err(RowError::Covered { by: by.to_owned() }),
                None => Ok(link),
            });
            let exact = self.exact.get(&start).filter(|_| !paths.is_one());
            if let (Ok(link), Some(&at)) = (&found, exact)
                && let Ok(own) = &self.rows[at].link
            {
                match joined(own, link) {
                    Ok(joined) => {
                        self.replace(&start, &joined);
                        return self.preceding.add(from, paths, true);
                    }
                    Err(error) => found = Err(error),
                }
            }
            if found.is_ok() {
                let row = self.rows.len();
                if paths.is_one() {
                    self.exact.entry(start.clone()).or_insert(row);
                }
                let links = self.links.entry(start);
                let of_code = || (paths.of_code(), Vec::new());
                links.or_insert_with(of_code).1.push(row);
            }
            self.preceding.add(from, paths, found.is_ok());
        }
        self.push(line, found);
    }

    /// Replaces the links for one path, with a slash after it or without, by one that leads below it, too.
    fn replace(&mut self, start: &str, joined: &ImportedLink) {
        for row in self.links.get(start).iter().flat_map(|(_, rows)| rows) {
            match &mut self.rows[*row].link {
                Ok(own) if (&own.url, own.status) == (&joined.url, joined.status) => {
                    *own = joined.clone();
                }
                _ => {}
            }
        }
    }

    fn push(&mut self, line: usize, link: Result<ImportedLink, RowError>) {
        self.rows.push(ImportedRow { line, link });
    }

    /// Notes of the links before a rule that Cloudflare applies it to the code of one, or to the code with a
    /// slash after it.
    fn note_differences(&mut self, paths: &RulePaths, later: Option<&ImportedLink>) {
        let start = paths.start();
        let below = self.links.range_mut(start.clone()..);
        for (path, (of_code, rows)) in below.take_while(|(path, _)| path.starts_with(&start)) {
            if !of_code.meet(paths) {
                continue;
            }
            for row in rows {
                let Ok(link) = &mut self.rows[*row].link else {
                    continue;
                };
                let is_same = *path == start && later.is_some_and(|later| later.url == link.url);
                let is_other = !paths.is_one() || link.forward != Some(Forward::None);
                if is_other && !is_same && !link.deviations.contains(&Deviation::Netlify) {
                    link.deviations.push(Deviation::Netlify);
                }
            }
        }
    }
}

/// Returns the link for one path, and then for all below it.
fn joined(own: &ImportedLink, below: &ImportedLink) -> Result<ImportedLink, RowError> {
    let mut joined = own.clone();
    if own.status != below.status {
        return Err(OTHER_STATUS);
    }
    if own.url == below.url {
        joined.forward = below.forward;
        return Ok(joined);
    }
    let Some(url) = below
        .url
        .as_ref()
        .filter(|_| below.forward == Some(Forward::Path))
    else {
        return Err(RowError::TO_ONE_URL);
    };
    if Misfit::of_below(Forward::None, url).is_some() {
        return Err(RowError::MISFIT);
    }
    joined.below = Some(url.clone());
    joined.deviations.extend(&below.deviations);
    joined.deviations.sort_unstable();
    joined.deviations.dedup();
    Ok(joined)
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
    if path.is_empty() {
        return Err(RowError::NoLink(
            "a rule for all paths is no link: write where unknown paths lead as \"fallback\" of the table",
        ));
    }
    if path.contains('*') || path.contains("/:") {
        return Err(RowError::NoLink("a path with placeholders is not a code"));
    }
    let after_scheme = path.split_once("://").map_or(path, |(_, rest)| rest);
    if after_scheme.contains("//") || whole.is_some() && path.ends_with('/') {
        return Err(RowError::NoLink("no code has an empty segment"));
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
    let url = match url.starts_with('/') && !url.starts_with("//") {
        true => origin.url_of_path(url),
        false => url.to_owned(),
    };
    if Misfit::of(forward, &url).is_some() {
        return Err(RowError::MISFIT);
    }
    if origin.code_of_url(&url).is_ok_and(|target| target == code) {
        return Err(RowError::NoLink("this leads to itself"));
    }
    // Both append the query to a URL that has none, unless the rule compares queries.
    let deviations = (!url.contains('?')).then_some(Deviation::Query);
    let link = ImportedLink {
        deviations: Vec::from_iter(deviations),
        url: Some(url),
        code: Some(code),
        status: row::status(status)?,
        forward: Some(forward),
        ..ImportedLink::default()
    };
    link.checked()
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
    use crate::exchange::read::rows::Deviation;
    use crate::exchange::read::rows::testing::{below_and_variants, pairs, read_by, refused};
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
                &["a"],
            ),
            ("/a/* https://e.org/:splat\n/a/b/* https://f.org/", &["a"]),
            ("/%61/* https://e.org/:splat\n/a/b https://f.org/", &["a"]),
            ("/a/b /c 200\n/a/%62 https://e.org/", &[]),
            ("/a/%2A /c 200\n/a/b https://e.org/", &["a/b"]),
            ("/* /index.html 200\n/a https://e.org/", &[]),
            ("/a//* https://e.org/:splat\n/b https://e.org/", &["b"]),
            ("/x/../b https://e.org/\n/b https://f.org/", &[]),
            // What cannot be a link for another reason decides, too.
            ("/a/C++ https://c.org/\n/a/* https://e.org/:splat", &[]),
            ("/a mailto:me@e.org\n/a https://e.org/", &[]),
            ("/a/b /a/b/\n/a/* https://e.org/:splat", &[]),
            (
                "/a/b https://u:p@e.org/\n/a/b/* https://f.org/x:splat\n/a/* https://g.org/",
                &[],
            ),
            (
                "/a-:id https://e.org/:id\n/a-5 https://e.org/\n/b-5 https://e.org/",
                &["b-5"],
            ),
            (
                "http://other.code/* https://e.org/\n/a https://e.org/",
                &["a"],
            ),
            (
                "/:lang/old https://e.org/\n/a https://e.org/\n/a/old https://f.org/",
                &["a"],
            ),
            (
                "/a* https://e.org/\n/ab https://e.org/\n/b https://e.org/",
                &["b"],
            ),
        ] {
            let rows = read_by(super::read, text.as_bytes());
            let links = rows.iter().filter_map(|row| row.link.as_ref().ok());
            let codes: Vec<_> = links.filter_map(|link| link.code.as_deref()).collect();
            assert_eq!(codes, accepted, "{text}");
        }
    }

    #[test]
    fn a_rule_for_a_path_and_one_for_all_below_it_are_one_link() {
        for (rules, urls, forward) in [
            (
                "/a https://e.org/\n/a/* https://f.org/:splat",
                "https://e.org/ below https://f.org/",
                Forward::None,
            ),
            (
                "/a https://e.org/\n/a/* https://e.org/:splat",
                "https://e.org/",
                Forward::Path,
            ),
            (
                "/a/ https://e.org/\n/a/* https://e.org/",
                "https://e.org/",
                Forward::All,
            ),
        ] {
            let rows = read_by(super::read, rules.as_bytes());
            let [row] = &rows[..] else {
                panic!("{rules} is one link: {rows:?}");
            };
            let link = row.link.as_ref().unwrap();
            let found = format!("{}{}", link.url.as_ref().unwrap(), below_and_variants(link));
            assert_eq!((&*found, link.forward), (urls, Some(forward)), "{rules}");
        }
        // One path, with a slash and without, is still one link.
        let rules = "/a https://e.org/\n/a/ https://e.org/\n/a/* https://f.org/:splat";
        let rows = read_by(super::read, rules.as_bytes());
        let [first, second] = &rows[..] else {
            panic!("{rows:?}");
        };
        let [first, second] =
            [first, second].map(|row| row.link.as_ref().unwrap().below.as_deref());
        assert_eq!((first, second), (Some("https://f.org/"), first));
        for rules in [
            "/a https://e.org/\n/a/* https://f.org/",
            "/a https://e.org/ 301\n/a/* https://f.org/:splat 302",
        ] {
            let rows = read_by(super::read, rules.as_bytes());
            assert_eq!(refused(&rows).len(), 1, "{rules}");
        }
    }

    #[test]
    fn what_cloudflare_answers_otherwise_is_noted() {
        for (rules, is_noted) in [
            ("/a/* https://e.org/:splat\n/a https://f.org/", true),
            ("/a/* https://e.org/:splat\n/a https://e.org/", false),
            ("/a/* https://e.org/:splat\n/b https://f.org/", false),
            (
                "/a/b/* https://e.org/:splat\n/a/* https://f.org/:splat",
                true,
            ),
            ("/a/* https://e.org/:splat\n/:x https://f.org/", true),
            ("/a/b https://e.org/\n/a/* https://f.org/:splat", true),
            ("/a https://e.org/\n/a/* https://f.org/:splat", true),
            ("/a https://e.org/\n/a/* https://e.org/:splat", false),
            ("/a https://e.org/\n/a https://f.org/", false),
            ("/a https://e.org/\n/ab/* https://f.org/:splat", false),
        ] {
            let rows = read_by(super::read, rules.as_bytes());
            let deviations = &rows[0].link.as_ref().unwrap().deviations;
            assert_eq!(
                deviations.contains(&Deviation::Netlify),
                is_noted,
                "{rules}"
            );
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
