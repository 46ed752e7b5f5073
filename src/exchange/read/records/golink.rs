//! The export of golink, at `/.export`: one JSON object per line.
//!
//! golink appends the path after a name to the URL, and adds the query; a URL may also be a template
//! of Go's package `text/template`, of which a table can express only a path at the end
//! (<https://github.com/tailscale/golink>, `expandLink`).

use serde::Deserialize;

use super::parsed::{named, parsed};
use crate::exchange::read::rows::{ImportedLink, ImportedRow, LinkOrigin, RowError, excerpt, rows};
use crate::mapping::Forward;

/// Templates of the path after a name.
const PATHS: [&str; 2] = ["{{.Path}}", "{{with .Path}}{{.}}{{end}}"];

/// The template that appends the path as golink does without a template.
const AFTER_SLASH: &str = "{{with .Path}}/{{.}}{{end}}";

/// golink's names for keys of a table.
const NAMES: [(&str, &str); 2] = [("url", "Long"), ("short-code", "Short")];

/// A line, with the fields that a table can contain.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", expecting = "an object")]
struct GolinkLine {
    short: String,
    long: String,
    #[serde(default)]
    owner: String,
}

/// Reads every line.
pub(crate) fn read(bytes: &[u8], origin: LinkOrigin<'_>, take: &mut dyn FnMut(ImportedRow)) {
    rows(bytes, take, |text| {
        let line: GolinkLine = parsed(text, &["Short", "Long"])?;
        let link = line.link(origin).and_then(ImportedLink::checked);
        link.map(Some)
            .map_err(|error| error.in_field(|key| named(&NAMES, key)))
    });
}

impl GolinkLine {
    fn link(self, origin: LinkOrigin<'_>) -> Result<ImportedLink, RowError> {
        let long = with_tight_actions(&self.long);
        let path = PATHS.iter().find_map(|it| long.strip_suffix(it));
        let is_template = path.is_some();
        // A slash before the template is one more.
        let without = long.strip_suffix(AFTER_SLASH);
        let without = without.filter(|it| !it.ends_with('/'));
        let url = path.or(without).unwrap_or(&long);
        if url.contains("{{") {
            return Err(RowError::Variable(excerpt(&self.long)));
        }
        if is_template && !takes_path(url) {
            return Err(RowError::NoLink(
                "golink appends a path to a URL that a table can append none to",
            ));
        }
        let (forward, below) = match is_template || url.ends_with('/') {
            true => (Forward::PathAndQuery, None),
            false => (Forward::Query, Some(format!("{url}/"))),
        };
        let mut link = ImportedLink {
            site: origin.site(None)?,
            url: Some(url.to_owned()),
            code: Some(self.short),
            forward: Some(forward),
            below,
            owner: Some(self.owner).filter(|owner| !owner.is_empty()),
            ..ImportedLink::default()
        };
        link.note_any_case(origin.case);
        Ok(link)
    }
}

/// Returns a URL without the spaces around its actions (`{{ .Path }}`), which Go's templates ignore.
fn with_tight_actions(url: &str) -> String {
    let mut parts = url.split("{{");
    let mut tight = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        tight += "{{";
        match part.split_once("}}") {
            Some((action, text)) => {
                let words: Vec<_> = action.split_ascii_whitespace().collect();
                tight += &format!("{}}}}}{text}", words.join(" "));
            }
            None => tight += part,
        }
    }
    tight
}

/// Returns whether a table appends a path to a URL exactly as written: after the host, where a URL that
/// ends in it has a slash.
fn takes_path(url: &str) -> bool {
    let after_scheme = url.split_once("://").map_or("", |(_, rest)| rest);
    after_scheme.contains(['/', '?', '#']) && url.ends_with(['/', '=', ':', '#'])
}

#[cfg(test)]
mod tests {
    use crate::exchange::read::rows::testing::{pairs, read_by, refused};
    use crate::mapping::Forward;

    #[test]
    fn a_path_is_appended_only_as_golink_appends_it() {
        let row = |url: &str| format!("{{\"Short\":\"u4\",\"Long\":\"{url}\"}}\n");
        for url in [
            "https://host:",
            "https://host",
            "https://host/a",
            "https://host?",
        ] {
            let rows = read_by(super::read, row(&format!("{url}{{{{.Path}}}}")).as_bytes());
            let reported = refused(&rows);
            assert!(reported[0].starts_with("1: golink appends"), "{reported:?}");
        }
        for url in [
            "https://host/",
            "https://host/a:",
            "https://host#",
            "https://host?a=",
        ] {
            let rows = read_by(super::read, row(&format!("{url}{{{{.Path}}}}")).as_bytes());
            assert_eq!(pairs(&rows), [format!("1 u4 {url}")]);
        }
    }

    #[test]
    fn spaces_and_the_usual_condition_in_a_template_change_nothing() {
        for (long, forward, below) in [
            ("https://e.org/{{ .Path }}", Forward::PathAndQuery, None),
            (
                "https://e.org/{{with  .Path}}{{ . }}{{end}}",
                Forward::PathAndQuery,
                None,
            ),
            (
                "https://e.org/{{with .Path}}/{{.}}{{end}}",
                Forward::None,
                None,
            ),
            (
                "https://e.org/a{{with .Path}}/{{.}}{{end}}",
                Forward::Query,
                Some("https://e.org/a/"),
            ),
            ("https://e.org/{{QueryEscape .Path}}", Forward::None, None),
        ] {
            let text = format!("{{\"Short\":\"a\",\"Long\":\"{long}\"}}");
            let rows = read_by(super::read, text.as_bytes());
            match &rows[0].link {
                Ok(link) => {
                    assert_eq!(link.forward, Some(forward), "{long}");
                    assert_eq!(link.below.as_deref(), below, "{long}");
                }
                Err(_) => assert_eq!((forward, below), (Forward::None, None), "{long}"),
            }
        }
    }

    #[test]
    fn paths_below_a_link_without_a_template_are_appended_after_a_slash() {
        for url in ["https://e.org/a", "https://e.org/?q=1", "https://e.org/#a"] {
            let text = format!("{{\"Short\":\"a\",\"Long\":\"{url}\"}}");
            let rows = read_by(super::read, text.as_bytes());
            let link = rows[0].link.as_ref().unwrap();
            assert_eq!(link.below, Some(format!("{url}/")));
            assert_eq!(link.forward, Some(Forward::Query));
        }
    }

    #[test]
    fn what_a_table_can_express_is_read() {
        let rows = read_by(
            super::read,
            br#"{"Short":"Docs","Long":"https://e.org/docs/","Created":"2024-01-02T03:04:05Z","LastEdit":"2024-01-02T03:04:05Z","Owner":"ada@e.org"}
{"Short":"search","Long":"https://e.org/?q={{.Path}}","Created":"2024-01-02T03:04:05Z","Owner":""}
{"Short":"who","Long":"http://e.org/who"}
{"Short":"me","Long":"https://e.org/~{{.User}}"}
{"Short":"cs","Long":"https://e.org/{{with .Path}}search?q={{.}}{{end}}"}
{"Short":"rel","Long":"/docs"}
"#,
        );
        let found = [
            "1 Docs https://e.org/docs/",
            "2 search https://e.org/?q=",
            "3 who http://e.org/who",
        ];
        assert_eq!(pairs(&rows), found);
        let links: Vec<_> = rows[..3]
            .iter()
            .map(|row| row.link.as_ref().unwrap())
            .collect();
        let forwards: Vec<_> = links.iter().map(|link| link.forward.unwrap()).collect();
        assert_eq!(
            forwards,
            [Forward::PathAndQuery, Forward::PathAndQuery, Forward::Query]
        );
        assert_eq!(links[0].owner.as_deref(), Some("ada@e.org"));
        assert_eq!(links[1].owner, None);
        let reported = refused(&rows);
        assert_eq!(reported.len(), 3);
        assert!(reported[0].starts_with("4: the URL depends on a variable"));
        assert!(reported[2].contains("key \"Long\""), "{}", reported[2]);
    }
}
