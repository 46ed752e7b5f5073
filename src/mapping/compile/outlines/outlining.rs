//! Outlining: of any document, by the reader that fits its form, and of a piece of a list.

use std::sync::Arc;

use super::super::entries::Document;
use super::outline::Outline;
use super::{of_block, of_events};
use crate::mapping::cutting::{Cut, text};
use crate::mapping::packed::Draft;
use crate::mapping::parse::{Declined, yaml};
use crate::mapping::value::{
    Case, Defaults, Diagnostic, Place, Problems, Rule, Scheme, SourceFile,
};

impl<'t> Outline<'t> {
    /// Outlines a document.
    ///
    /// # Errors
    ///
    /// Returns every problem of the document on its own, if one of them is an error. Problems with
    /// it as a part of its table are not checked.
    pub fn of(file: &'t SourceFile) -> Result<Self, Vec<Diagnostic>> {
        let mut problems = Problems::default();
        let document = Document::read(0, file, &mut problems);
        let scheme = document.scheme.map(|scheme| scheme.value);
        let reported = problems.into_reported();
        if reported.iter().any(Diagnostic::is_error) {
            return Err(reported);
        }
        Self::of_sound(file, scheme.unwrap_or_default()).map_err(|problem| vec![problem])
    }

    /// Outlines a document of a table that was compiled without errors, of a site with this scheme.
    ///
    /// # Errors
    ///
    /// Returns a problem of a file that is not part of such a table.
    pub fn of_sound(file: &'t SourceFile, scheme: Scheme) -> Result<Self, Diagnostic> {
        let text = text::decode(file)?;
        let outline = match of_block::outline(text, scheme) {
            Ok(outline) => outline,
            Err(Declined) => of_events::outline(text, scheme).map_err(|error| {
                let place = Place::new(&file.path, yaml::position(error.marker()));
                Diagnostic::new(Rule::YamlInvalid, place, error.to_string())
            })?,
        };
        Ok(Self {
            has_mark: text.len() < file.bytes.len(),
            ..outline
        })
    }

    /// Outlines the entries of a piece of a list in block form, which begins at a line of its file;
    /// `indent` is the column of the dashes, from 0. `None` if it is not in block form.
    pub fn of_piece(text: &'t str, (indent, line): (usize, u32), scheme: Scheme) -> Option<Self> {
        of_block::piece(text, (indent, line), scheme).ok()
    }
}

/// Returns the defaults of a document, as far as it can be read.
pub fn defaults_of(file: &SourceFile) -> Defaults {
    Document::read(0, file, &mut Problems::default()).defaults
}

/// Returns whether the case of letters counts in codes by a document itself, as far as it can be read.
pub fn case_of(file: &SourceFile) -> Case {
    let document = Document::read(0, file, &mut Problems::default());
    document.about.case.map(|it| it.value).unwrap_or_default()
}

/// Returns the scheme of a document that was compiled, by the text around its list; `None` if it has no
/// list in block form.
pub fn scheme_of(path: &Arc<str>, cut: &Cut) -> Option<Scheme> {
    let document = Document::around(0, path, cut, Draft::default())?;
    Some(document.scheme.map(|it| it.value).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::random_edits::{a_file, source};
    use super::super::outline::EntryOutline;
    use super::*;

    fn file(text: &str) -> SourceFile {
        SourceFile {
            path: "t.yaml".into(),
            bytes: text.into(),
        }
    }

    #[test]
    fn finds_every_part_where_it_is_written() {
        let file = file(
            "\u{feff}base_url: https://e.org/ # é\r\n\"mapping\": # é\r\n-   url: 'https://e.org/é'  # é\r\n    \
             aliases: [ a, \"b\" ] #\r\n    tags:\r\n    - c d\r\n\r\n- number: 63\r\n  'retired':\r\n    true\r\n\
             \r\n# end\r\ntests:\r\n- {from: /a, to: gone}\r\n",
        );
        let outline = Outline::of(&file).unwrap();
        let mut reported = String::new();
        for entry in &outline.entries {
            let lines = &outline.text[entry.line_start..];
            reported += &format!("{} {}\n", entry.code, entry.position.line);
            for pair in &entry.pairs {
                reported += &format!("{:?}\n", &lines[pair.span.clone()]);
                for value in &pair.values {
                    let span = &lines[value.span.clone()];
                    reported += &format!("  {} {:?} {span}\n", value.text, value.form);
                }
            }
        }
        assert_eq!(
            reported,
            r#"aEMpRQON 3
"url: 'https://e.org/é'"
  https://e.org/é Single 'https://e.org/é'
"aliases: [ a, \"b\" ]"
  a Plain a
  b Double "b"
"tags:\r\n    - c d"
  c d Plain c d
11 8
"number: 63"
  63 Plain 63
"'retired':\r\n    true"
  true Plain true
"#
        );
        assert!(outline.text[outline.list_end..].starts_with("\r\n\r\n# end"));
    }

    #[test]
    fn reports_what_is_written_in_brackets_and_braces() {
        for (text, flow) in [
            ("mapping: [{url: https://e.org/}] #", vec![true]),
            (
                "mapping:\n- {url: https://e.org/ } \n- url: https://f.org/ ",
                vec![true, false],
            ),
            ("{mapping: [{url: https://e.org/}]}", vec![true]),
            ("mapping: [\n] #", vec![]),
        ] {
            let file = file(text);
            let outline = Outline::of(&file).unwrap();
            let found: Vec<_> = outline.entries.iter().map(|entry| entry.is_flow).collect();
            assert_eq!(found, flow);
            assert_eq!(outline.is_flow, text.starts_with('{'));
            let bracket = text.find('[');
            assert_eq!(outline.bracket, bracket);
            for entry in &outline.entries {
                let own = &text[entry.line_start..][..entry.end];
                assert!(
                    own.ends_with(if entry.is_flow { '}' } else { '/' }),
                    "{own}"
                );
            }
            if text.ends_with('#') {
                assert_eq!(&outline.text[outline.list_end..], " #");
            }
        }
    }

    #[test]
    fn a_document_with_errors_has_none() {
        for text in [
            "",
            "mapping:\n- url: x\n",
            "mapping:\n- ur1: https://e.org/",
        ] {
            assert!(
                Outline::of(&file(text)).unwrap_err()[0].is_error(),
                "{text}"
            );
        }
        // Neither of these is an error of the document itself.
        for text in [
            "mapping: []\n",
            "mapping:\n- url: https://e.org/\n  short-code: a\n- url: https://f.org/\n  short-code: a\n",
        ] {
            assert!(Outline::of(&file(text)).is_ok(), "{text}");
        }
    }

    /// Checks that both readers outline a text in the same way, if the fast one does not decline it.
    fn is_outlined_in_one_way(text: &str) -> bool {
        let fast = of_block::outline(text, Scheme::default());
        let Ok(fast) = fast else {
            return false;
        };
        let other = of_events::outline(text, Scheme::default()).unwrap();
        assert_eq!(format!("{fast:#?}"), format!("{other:#?}"), "{text}");
        true
    }

    #[test]
    fn both_readers_outline_the_same() {
        for text in [
            "mapping: [ ]  # c\ntests: []\n",
            "base_url: 'https://e.org/' # c\n\n# d\nmapping:\n# e\n  -  url: \"https://e.org/\"   # f\n\n     \
             aliases: [ a,b , c/d ] # g\n     tags:  # h\n     - 'x y'\n     # i\n     -   é \n\
             \x20    title: é: # no\n",
            "mapping:\n- url: https://e.org/#a #b\n  tags: []\n  aliases:\n    - a\n    - b\n# c\n\n\
             - retired: true\n  number: 12\ndefaults:\n  status: 301\n",
            "mapping:\n- url: https://e.org/",
        ] {
            let accepted = !text.contains("é: #");
            assert_eq!(is_outlined_in_one_way(text), accepted, "{text}");
        }
        let tables = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tables/ok");
        let mut outlined = 0;
        for entry in std::fs::read_dir(tables).unwrap() {
            let Ok(text) = std::fs::read_to_string(entry.unwrap().path()) else {
                continue;
            };
            if Outline::of(&file(&text)).is_ok() {
                outlined += usize::from(is_outlined_in_one_way(&text));
            }
        }
        assert!(outlined > 10, "{outlined}");
    }

    proptest! {
        #[test]
        fn both_readers_outline_random_tables_in_the_same_way(file in a_file(60)) {
            let file = source(&[(1, file)]).pop().unwrap();
            if Outline::of(&file).is_ok() {
                is_outlined_in_one_way(std::str::from_utf8(&file.bytes).unwrap());
            }
        }

        #[test]
        fn a_piece_is_outlined_as_in_its_file(table in a_file(60)) {
            let file = source(&[(1, table)]).pop().unwrap();
            let text = std::str::from_utf8(&file.bytes).unwrap();
            let cut = Cut::of(&file.bytes);
            let (Some(list), Ok(whole)) = (&cut.list, Outline::of(&file)) else {
                return Ok(());
            };
            if of_block::outline(text, whole.scheme).is_err() {
                return Ok(());
            }
            let mut found = Vec::new();
            for piece in &list.pieces {
                let place = (list.indent, piece.line);
                let part = Outline::of_piece(&text[piece.range()], place, whole.scheme).unwrap();
                found.extend(part.entries.into_iter().map(|entry| EntryOutline {
                    line_start: entry.line_start + piece.start,
                    ..entry
                }));
            }
            prop_assert_eq!(format!("{:?}", found), format!("{:?}", whole.entries));
        }
    }
}
