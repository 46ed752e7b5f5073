//! Proposals: the expected result of a request, as far as the table alone shows.
//!
//! Nothing is compiled, because anyone may send proposals: a few look-ups decide, even in a table
//! of a million entries. Anything that only the files of the table show is left to the checks of
//! its repository: the defaults of a document, the tests written in the table, and its size.

use super::addition::{Addition, target_of};
use super::insertion::fragment_text;
use super::proposal_base::ProposalBase;
use super::refusal::{Holder, RegistrationRefusal};
use super::request::RegistrationRequest;
use crate::edit::{self, OwnCode};
use crate::mapping::{NewLink, Outline, Site, Target, Timestamp, WrittenDate, would_shadow};

/// A link as it would be registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedLink {
    /// Its code.
    pub code: String,
    /// The short link.
    pub short_url: String,
    /// Its target, in canonical form.
    pub target: String,
    /// The path of the file for its entry.
    pub path: String,
    /// Its entry, as an item of the list in that file.
    pub entry: String,
    /// The whole text of that file, if it is a new one.
    pub new_file: Option<String>,
    /// The whole text of that file with the entry, if it is the only one and small.
    pub changed_file: Option<String>,
}

/// Decides the expected result of a request in a table.
///
/// # Errors
///
/// Returns the first reason why it would be refused, as [`register`](super::register()) would.
pub fn propose(
    base: &ProposalBase,
    request: &RegistrationRequest,
    now: Timestamp,
) -> Result<ProposedLink, RegistrationRefusal> {
    let (table, target) = (base.table(), target_of(request)?);
    let highest = |site: &Site| base.highest_number(site);
    let addition = Addition::of(request, target, table, highest, now)?;
    if addition.is_new_file && base.obstructs(&addition.path) {
        let path = addition.path.to_string();
        return Err(RegistrationRefusal::FileExists { path });
    }
    refuse_shadowing(&addition, request, now)?;
    let code = addition.code().to_string();
    let target = addition.entry.url.as_ref().map(Target::as_str);
    Ok(ProposedLink {
        short_url: addition.site.short_url(&code),
        code,
        target: target.unwrap_or_default().to_owned(),
        path: addition.path.to_string(),
        entry: format!("{}\n", addition.entry),
        new_file: (addition.is_new_file).then(|| fragment_text(table, &addition)),
        changed_file: changed_file(base, &addition),
    })
}

/// Returns the only file of a table with an addition inserted, if the file is small and an entry can
/// be inserted into it.
fn changed_file(base: &ProposalBase, addition: &Addition<'_>) -> Option<String> {
    let file = base
        .only_file()
        .filter(|file| *file.path == *addition.path)?;
    let outline = Outline::of_sound(file, addition.site.scheme()).ok()?;
    edit::insert(&outline, &[&addition.entry]).ok()
}

/// Refuses codes that would change what a published path leads to.
fn refuse_shadowing(
    addition: &Addition<'_>,
    request: &RegistrationRequest,
    now: Timestamp,
) -> Result<(), RegistrationRefusal> {
    let target = addition.entry.url.as_ref().map(Target::as_str);
    for (number, code) in addition.codes().enumerate() {
        let link = NewLink {
            code: code.as_str(),
            is_auto: number == 0 && addition.entry.code == OwnCode::Auto,
            target: target.unwrap_or_default(),
            gone_from: addition.entry.expires.as_ref().map(WrittenDate::end),
        };
        if let Some((entry, path)) = would_shadow(addition.site, &link)
            && !request.may_shadow.allows(entry.owner())
        {
            return Err(RegistrationRefusal::Shadows {
                code: code.to_string(),
                path,
                holder: Holder::of(entry, now),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::register::register;
    use super::super::request::{Destination, RequestedCode};
    use super::*;
    use crate::mapping::{SourceFile, compile};
    use crate::registry::text::TextFile;

    const ENTRIES: &str = "base_url: https://s.code/
mapping:
- url: https://framasoft.org/
- url: https://auto.example/8
- {url: 'https://a.example/', short-code: docs, forward: path}
- {url: 'https://b.example/', short-code: b, aliases: [bee]}
- {url: 'https://c.example/', short-code: old, retired: true}
- {url: 'https://d.example/', number: 61}
- {url: 'https://e.example/', short-code: '10'}
";

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile {
            path: path.into(),
            bytes: text.into(),
        }
    }

    fn base(files: &[SourceFile]) -> ProposalBase {
        let table = compile(files).table.expect("a table without errors");
        let only = files.first().filter(|_| files.len() == 1);
        ProposalBase::new(Arc::new(table), only)
    }

    /// Returns the results of both functions for a request: the code and the path, or the refusal.
    fn both(files: &[SourceFile], request: &RegistrationRequest) -> [Result<String, String>; 2] {
        let now = Timestamp::MIN;
        let proposed = propose(&base(files), request, now);
        let files: Vec<_> = files.iter().cloned().map(TextFile::from).collect();
        let registered = register(&files.into(), request, 1 << 20, now);
        let place = |place: crate::mapping::Place| place.file.to_string();
        [
            (proposed.map(|it| format!("{} {} {}", it.short_url, it.target, it.path)))
                .map_err(|it| it.to_string()),
            (registered)
                .map(|it| format!("{} {} {}", it.short_url, it.target, place(it.place)))
                .map_err(|it| it.to_string()),
        ]
    }

    #[test]
    fn a_file_that_exists_is_in_the_way() {
        let files = [file("links/a.yaml", ENTRIES)];
        for (directory, code, exists) in [
            ("links", "a", true),
            ("links/a.yaml", "new", true),
            ("links", "new", false),
            ("links/a.y", "new", false),
        ] {
            let request = RegistrationRequest {
                url: "https://new.example/".to_owned(),
                code: RequestedCode::Custom(code.to_owned()),
                destination: Destination::Fragment(directory.to_owned()),
                ..RegistrationRequest::default()
            };
            let [proposed, registered] = both(&files, &request);
            assert_eq!(proposed, registered, "{directory} {code}");
            assert_eq!(proposed.is_err(), exists, "{directory} {code}");
        }
    }

    #[test]
    fn decides_as_a_registration_does() {
        let codes = [
            "new",
            "b",
            "bee",
            "b.",
            "b/c",
            "old",
            "docs",
            "docs/x",
            "docs/x/y",
            "docs.",
            "10",
            "t0P0JMya",
            "t0P0JMy",
            "T0p0jmya",
            "t0P0JMya/",
            "-",
            "robots.txt",
            "a b",
            "é",
            "a..b",
            "a+",
            "",
            "2024",
            "no",
            "tea_m/1",
        ];
        let customs = codes.map(|code| RequestedCode::Custom(code.to_owned()));
        let others = [
            RequestedCode::Any,
            RequestedCode::NextNumber,
            RequestedCode::Number(62),
            RequestedCode::Number(63),
        ];
        let urls = [
            "https://new.example/",
            "HTTPS://New.Example",
            "https://framasoft.org/",
            "https://a.example/x",
            "https://c.example/",
            "https://s.code/b",
            "ftp://a.example/",
            "nonsense",
            "https://user@a.example/",
            "",
        ];
        let files = [file("links/all.yaml", ENTRIES)];
        let mut refused = 0;
        for code in customs.iter().chain(&others) {
            for url in urls {
                for destination in [
                    Destination::default(),
                    Destination::Fragment("links".to_owned()),
                ] {
                    let request = RegistrationRequest {
                        url: url.to_owned(),
                        code: code.clone(),
                        destination,
                        ..RegistrationRequest::default()
                    };
                    let [proposed, registered] = both(&files, &request);
                    refused += u32::from(registered.is_err());
                    assert_eq!(proposed, registered, "{request:?}");
                }
            }
        }
        assert!(refused > 100, "{refused}");
    }

    #[test]
    fn a_lost_character_of_another_auto_code_is_seen() {
        // Their auto codes differ only in the last character, `-` and `_`.
        let [one, other] = ["https://e.org/69745773", "https://e.org/97742539"];
        let files = [file(
            "t.yaml",
            &format!("base_url: https://s.code/\nmapping:\n- url: {one}\n"),
        )];
        let request = RegistrationRequest {
            url: other.to_owned(),
            ..RegistrationRequest::default()
        };
        let [proposed, registered] = both(&files, &request);
        assert_eq!(proposed, registered);
        assert!(proposed.unwrap_err().contains("would change where"));
    }

    #[test]
    fn what_is_proposed_can_be_added_as_it_is() {
        let request = RegistrationRequest {
            url: "https://new.example/?a=1&b=#é".to_owned(),
            code: RequestedCode::Custom("1e5".to_owned()),
            title: Some("A \"title\": #1\u{2028}".to_owned()),
            tags: vec!["x, y".to_owned(), "- z".to_owned()],
            expires: Some("2030-12-31".parse().unwrap()),
            ..RegistrationRequest::default()
        };
        let base = base(&[file("t.yaml", ENTRIES)]);
        let decide = |destination| {
            let request = RegistrationRequest {
                destination,
                ..request.clone()
            };
            propose(&base, &request, Timestamp::MIN).unwrap()
        };
        let in_file = decide(Destination::default());
        assert_eq!(in_file.path, "t.yaml");
        let appended = [file("t.yaml", &format!("{ENTRIES}{}", in_file.entry))];
        let changed = [file("t.yaml", in_file.changed_file.as_deref().unwrap())];
        let own = decide(Destination::Fragment("d".to_owned()));
        assert_eq!(own.changed_file, None);
        let beside = [
            file("d/all.yaml", ENTRIES),
            file(&own.path, own.new_file.as_deref().unwrap()),
        ];
        for files in [&appended[..], &changed[..], &beside[..]] {
            let compiled = compile(files);
            assert_eq!(compiled.diagnostics, []);
            let table = compiled.table.unwrap();
            let entry = table.sites()[0].lookup("1e5").unwrap();
            assert_eq!(entry.title(), request.title.as_deref());
            assert!(entry.tags().eq(request.tags.iter().map(String::as_str)));
        }
    }
}
