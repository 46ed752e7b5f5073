//! The answers of Kutt's API to `GET /api/v2/links`: one or more consecutive pages of links.
//!
//! A link that a public table cannot keep is refused: one with a password, or a banned one.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::Deserialize;
use serde_json::Deserializer;
use serde_json::value::RawValue;

use super::code_and_link::agreed;
use super::parsed::{named, parsed};
use crate::exchange::read::rows::{
    ImportedLink, ImportedRow, LinkOrigin, RowError, ShortLink, row,
};

/// Kutt's names for keys of a table.
const NAMES: [(&str, &str); 3] = [
    ("url", "target"),
    ("short-code", "address"),
    ("expires", "expire_in"),
];

/// An answer.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct KuttPage<'b> {
    #[serde(borrow)]
    data: Vec<&'b RawValue>,
    total: Option<u64>,
}

/// A link, with the fields that a table can contain.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct KuttLink {
    address: String,
    target: String,
    description: Option<String>,
    expire_in: Option<String>,
    /// The short link, which includes the domain.
    link: Option<String>,
    /// The domain, if it is not that of Kutt itself; some versions write it instead of the short link.
    domain: Option<String>,
    #[serde(default)]
    password: bool,
    #[serde(default)]
    banned: bool,
}

/// Reads every page.
pub(crate) fn read(text: &str, origin: LinkOrigin<'_>, take: &mut dyn FnMut(ImportedRow)) {
    if text.trim_ascii().is_empty() {
        let link = Err(RowError::Json {
            message: "it is empty".to_owned(),
            field: None,
        });
        return take(ImportedRow { line: 1, link });
    }
    // A page that was requested twice has no further links.
    let mut included = HashSet::new();
    let mut total = 0;
    let (mut line, mut counted) = (1, 0);
    let mut line_at = |offset: usize| {
        line += text[counted..offset]
            .bytes()
            .filter(|byte| *byte == b'\n')
            .count();
        counted = offset;
        line
    };
    for page in Deserializer::from_str(text).into_iter::<KuttPage<'_>>() {
        let page = match page {
            Ok(page) => page,
            Err(error) => {
                let line = error.line();
                let link = Err(RowError::json(&error));
                return take(ImportedRow { line, link });
            }
        };
        for raw in page.data {
            // The borrowed slice lies in the text.
            let offset = raw.get().as_ptr() as usize - text.as_ptr() as usize;
            let item = parsed(raw.get(), &["address", "target"]);
            let link = item.and_then(|item: KuttLink| {
                included.insert((item.address.clone(), item.link.clone(), item.domain.clone()));
                item.link(origin)
            });
            let link = link
                .and_then(ImportedLink::checked)
                .map_err(|error| error.in_field(|key| named(&NAMES, key)));
            take(ImportedRow {
                line: line_at(offset),
                link,
            });
        }
        total = page.total.unwrap_or_default().max(total);
    }
    let included = included.len() as u64;
    if included < total {
        let link = Err(RowError::Incomplete { included, total });
        take(ImportedRow {
            line: line_at(text.len()),
            link,
        });
    }
}

impl KuttLink {
    fn link(self, origin: LinkOrigin<'_>) -> Result<ImportedLink, RowError> {
        if self.banned {
            return Err(RowError::NoLink("this link is banned"));
        }
        if self.password {
            return Err(RowError::NoLink(
                "this link has a password, and a table is public",
            ));
        }
        let of_domain = |domain| format!("https://{domain}/{}", self.address);
        let link = self.link.or_else(|| self.domain.map(of_domain));
        let link = link.map(|it| origin.short_link(&it)).transpose()?;
        let own = ShortLink {
            site: None,
            code: self.address,
        };
        let link = match link {
            Some(link) => agreed(&own, link, None)?,
            None => own,
        };
        Ok(ImportedLink {
            site: origin.site(link.site)?,
            url: Some(self.target),
            code: Some(link.code),
            title: self.description.filter(|text| !text.is_empty()),
            expires: row::expires(&date_time(self.expire_in.as_deref().unwrap_or_default()))?,
            ..ImportedLink::default()
        })
    }
}

/// Returns a time as RFC 3339 writes it: SQLite has a space before the time of day and no offset, which
/// is that of UTC, and PostgreSQL an offset without minutes.
fn date_time(text: &str) -> Cow<'_, str> {
    let Some((date, time)) = text.split_once(' ') else {
        return Cow::Borrowed(text);
    };
    let offset = match time.find(['+', '-', 'Z']) {
        None => "Z",
        Some(sign) if time.len() - sign == "+00".len() => ":00",
        Some(_) => "",
    };
    Cow::Owned(format!("{date}T{time}{offset}"))
}

#[cfg(test)]
mod tests {
    use crate::exchange::read::rows::testing::{pairs, read_by, refused};

    #[test]
    fn pages_are_read_with_their_lines() {
        let rows = read_by(
            super::read,
            r#"{
  "limit": 2, "skip": 0, "total": 5,
  "data": [
    {"id": "8c", "address": "a", "target": "https://e.org/", "description": "T", "banned": false,
     "password": false, "visit_count": 3, "link": "https://short.code/a", "expire_in": null},
    {"address": "b", "target": "https://f.org/", "description": null,
     "expire_in": "2030-01-01T00:00:00.000Z", "link": "http://short.code/b"}
  ]
}
{"data": [{"address": "c", "target": "https://g.org/", "password": true},
{"address": "d", "target": "https://g.org/", "link": "https://other.code/d"},
{"address": "e", "target": "https://g.org/", "link": "https://short.code/f"}, 7]}
"#,
        );
        let found = ["4 a https://e.org/ T", "6 b https://f.org/"];
        assert_eq!(pairs(&rows), found);
        let expires = rows[1].link.as_ref().unwrap().expires.as_ref();
        assert_eq!(expires.unwrap().to_string(), "2030-01-01T00:00:00.000Z");
        let reported = refused(&rows);
        assert_eq!(
            reported[0],
            "10: this link has a password, and a table is public"
        );
        assert_eq!(
            reported[1],
            "11: \"https://other.code/d\" is not under https://short.code/"
        );
        assert_eq!(reported[2], "12: the code is not that of the short link");
        assert!(reported[3].starts_with("12: this is not the JSON of a link"));
    }

    #[test]
    fn a_link_without_its_short_link_is_of_its_domain() {
        let rows = read_by(
            super::read,
            r#"{"total": 3, "data": [
{"address": "promo", "target": "https://e.org/", "domain": "brand.example"},
{"address": "own", "target": "https://f.org/", "domain": "short.code"},
{"address": "none", "target": "https://g.org/", "domain": null}]}"#,
        );
        assert_eq!(
            pairs(&rows),
            ["3 own https://f.org/", "4 none https://g.org/"]
        );
        let reported = ["2: \"https://brand.example/promo\" is not under https://short.code/"];
        assert_eq!(refused(&rows), reported);
    }

    #[test]
    fn dates_are_read_as_databases_write_them() {
        for (written, expires) in [
            ("2030-01-02 03:04:05", "2030-01-02T03:04:05Z"),
            ("2030-01-02 03:04:05.678", "2030-01-02T03:04:05.678Z"),
            ("2030-01-02 03:04:05+00", "2030-01-02T03:04:05+00:00"),
            (
                "2030-01-02 03:04:05.678-03:30",
                "2030-01-02T03:04:05.678-03:30",
            ),
            ("2030-01-02T03:04:05Z", "2030-01-02T03:04:05Z"),
        ] {
            let page = format!(
                r#"{{"data": [{{"address": "a", "target": "https://e.org/", "expire_in": "{written}"}}]}}"#
            );
            let rows = read_by(super::read, &*page);
            let link = rows[0].link.as_ref().unwrap();
            assert_eq!(link.expires.as_ref().unwrap().to_string(), expires);
        }
    }

    #[test]
    fn a_dump_that_is_cut_short_is_reported() {
        let page = r#"{"total": 30, "data": [{"address": "a", "target": "https://e.org/"}]}"#;
        let reported = refused(&read_by(super::read, page));
        assert_eq!(reported, ["1: the file ends after 1 of 30 links"]);
        let reported = refused(&read_by(super::read, &page[..30]));
        assert!(
            reported[0].starts_with("1: this is not the JSON"),
            "{}",
            reported[0]
        );
    }
}
