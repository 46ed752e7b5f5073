//! `_redirects` files, as Netlify and Cloudflare Pages read them: a path, a URL and a status per
//! line.
//!
//! An accepted rule means the same here: one path, or a path with everything under it. The first
//! rule for a path shadows later ones, so a caller that takes rows must keep their order.

use crate::exchange::read::rows::{ImportedLink, ImportedRow, LinkOrigin, RowError, row, rows};
use crate::mapping::Forward;

/// Reads every line.
pub(crate) fn read(bytes: &[u8], origin: LinkOrigin<'_>, take: &mut dyn FnMut(ImportedRow)) {
    rows(bytes, take, |line| {
        let words = line.split_whitespace();
        let words: Vec<_> = words.take_while(|word| !word.starts_with('#')).collect();
        match words[..] {
            [] => Ok(None),
            [from, to] => link(from, to, "", origin).map(Some),
            [from, to, status] => link(from, to, status, origin).map(Some),
            [_, second, ..] if second.contains('=') && !second.contains("://") => Err(
                RowError::NoLink("a table cannot compare parameters of the query"),
            ),
            [.., last] => Err(RowError::NoLink(condition(last))),
        }
    });
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
        (Some(_), None) => {
            return Err(RowError::NoLink(
                "everything below the path leads to one place",
            ));
        }
        (None, _) => (to, Forward::None),
    };
    // Without a "*" there is no placeholder, and the text is literal.
    if forward == Forward::Path && url.contains(":splat") {
        return Err(RowError::NoLink(
            "the rest of the path does not end the URL",
        ));
    }
    Ok(ImportedLink {
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
              /old /new/x 301\n",
        );
        let found = [
            "2 a https://e.org/",
            "3 b https://f.org:8080/:x",
            "4 docs https://docs.e.org/",
            "5 é https://g.org/",
            "6 c https://h.org/:splat",
            "7 old https://short.code/new/x",
        ];
        assert_eq!(pairs(&rows), found);
        let links: Vec<_> = rows.iter().map(|row| row.link.as_ref().unwrap()).collect();
        assert_eq!(links[0].status, None);
        assert_eq!(links[1].status, Some(Status::MovedPermanently));
        assert_eq!(links[1].forward, Some(Forward::None));
        assert_eq!(links[2].forward, Some(Forward::Path));
        assert_eq!(links[4].forward, Some(Forward::None));
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
            "/a/* https://e.org/",
            "/a/* https://e.org/:splat/b",
            "/a/* https://e.org/:splat/:splat",
            "/a* https://e.org/",
            "https://other.code/a https://e.org/",
            "/a https://e.org/ 418",
        ];
        let text = lines.join("\n");
        let rows = read_by(super::read, text.as_bytes());
        assert_eq!(refused(&rows).len(), lines.len(), "{rows:?}");
    }
}
