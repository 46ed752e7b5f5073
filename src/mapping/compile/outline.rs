//! Outlines: the positions of the parts of a valid document in its text, in bytes.
//!
//! An outline serves callers that change a text and must keep the rest of it. Invariant: the
//! document has no errors of its own, so every entry in it has a code.

use std::borrow::Cow;
use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput, StructureStyle};

use super::document::Document;
use crate::mapping::parse::{text, yaml};
use crate::mapping::value::{
    Code, Defaults, Diagnostic, Place, Position, Problems, Rule, Scheme, SourceFile,
};

/// The parts of a document.
#[derive(Debug)]
pub struct Outline<'t> {
    /// The text of the file, without a byte order mark.
    pub text: &'t str,
    /// The document's scheme for auto codes, whatever other documents of the site state.
    pub scheme: Scheme,
    /// Whether the file begins with a byte order mark.
    pub has_mark: bool,
    /// Whether the document itself is written in braces.
    pub is_flow: bool,
    /// The start of the list of entries, if it is written in brackets.
    pub bracket: Option<usize>,
    /// The end of the list of entries: after its bracket, or after its last value.
    pub list_end: usize,
    /// The entries, in written order.
    pub entries: Vec<EntryOutline<'t>>,
}

/// The parts of an entry.
#[derive(Debug)]
pub struct EntryOutline<'t> {
    /// Its code: custom, number or auto, as the document derives it.
    pub code: Code,
    /// Its start, after its dash.
    pub position: Position,
    /// The start of the line on which it begins.
    pub line_start: usize,
    /// Whether it is written in braces, or in a list in brackets.
    pub is_flow: bool,
    /// Its end, relative to `line_start`: after its brace, or after its last value.
    pub end: usize,
    /// Its keys, at least one, in written order. Their spans are relative to `line_start`.
    pub pairs: Vec<Pair<'t>>,
}

/// A key and its value.
#[derive(Debug, Clone)]
pub struct Pair<'t> {
    /// The key.
    pub key: Cow<'t, str>,
    /// The span from the start of the key to the end of its value.
    pub span: Range<usize>,
    /// The end of the key.
    pub key_end: usize,
    /// Whether its value is a list.
    pub is_list: bool,
    /// The value, or the items of a list.
    pub values: Vec<Scalar<'t>>,
}

/// A value, or an item of a list.
#[derive(Debug, Clone)]
pub struct Scalar<'t> {
    /// Its content.
    pub text: Cow<'t, str>,
    /// The form in which it is written.
    pub form: ScalarForm,
    /// The span of it, including quotes.
    pub span: Range<usize>,
}

/// A form in which a text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScalarForm {
    /// Without quotes.
    Plain,
    /// In single quotes.
    Single,
    /// In double quotes.
    Double,
    /// On lines of its own, after `|` or `>`.
    Block,
}

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
        let mut walk = EventWalk {
            parser: Parser::new_from_str(text),
            line_start: 0,
            searched: 0,
            outline: Self {
                text,
                scheme,
                has_mark: text.len() < file.bytes.len(),
                is_flow: false,
                bracket: None,
                list_end: text.len(),
                entries: Vec::new(),
            },
        };
        match walk.document() {
            Ok(()) => Ok(walk.outline),
            Err(error) => {
                let place = Place::new(&file.path, yaml::position(error.marker()));
                let message = error.to_string();
                Err(Diagnostic::new(Rule::YamlInvalid, place, message))
            }
        }
    }
}

/// Returns the defaults of a document, as far as it can be read.
pub fn defaults_of(file: &SourceFile) -> Defaults {
    Document::read(0, file, &mut Problems::default()).defaults
}

/// A walk over the events of a document that is known to be valid.
struct EventWalk<'t> {
    parser: Parser<'t, StrInput<'t>>,
    /// The start of the last line that begins before `searched`.
    line_start: usize,
    /// The offset up to which the text was searched for line breaks: no byte is searched twice,
    /// however many entries one line has.
    searched: usize,
    outline: Outline<'t>,
}

impl<'t> EventWalk<'t> {
    fn document(&mut self) -> Result<(), ScanError> {
        // The walk begins after the start of the root map.
        loop {
            match self.event()?.0 {
                Event::MappingStart(style, ..) => {
                    self.outline.is_flow = style == StructureStyle::Flow;
                    break;
                }
                Event::StreamEnd => return Ok(()),
                _ => {}
            }
        }
        while let (Event::Scalar(key, ..), _) = self.event()? {
            if key == "mapping" {
                self.list()?;
            } else {
                self.values(0)?;
            }
        }
        Ok(())
    }

    fn list(&mut self) -> Result<(), ScanError> {
        let (list, span) = self.event()?;
        let is_flow = matches!(list, Event::SequenceStart(StructureStyle::Flow, ..));
        self.outline.bracket = is_flow.then(|| bytes(&span).start);
        loop {
            let (event, span) = self.event()?;
            let Event::MappingStart(style, ..) = event else {
                if is_flow {
                    self.outline.list_end = bytes(&span).end;
                }
                return Ok(());
            };
            let is_flow = is_flow || style == StructureStyle::Flow;
            self.entry(&span, is_flow)?;
        }
    }

    fn entry(&mut self, start: &Span, is_flow: bool) -> Result<(), ScanError> {
        let mut end = bytes(start).start;
        let line_start = self.line_start(end);
        let mut pairs = Vec::new();
        loop {
            let (event, span) = self.event()?;
            let Event::Scalar(key, ..) = event else {
                // A map in block form ends where the next node begins, in an empty span.
                if !span.is_empty() {
                    end = bytes(&span).end;
                }
                break;
            };
            let key_span = bytes(&span);
            let (values, is_list, value_end) = self.values(line_start)?;
            end = value_end + line_start;
            pairs.push(Pair {
                key,
                span: key_span.start - line_start..value_end,
                key_end: key_span.end - line_start,
                is_list,
                values,
            });
        }
        self.outline.list_end = end;
        self.outline.entries.push(EntryOutline {
            code: code_of(&pairs, self.outline.scheme),
            position: yaml::position(&start.start),
            line_start,
            is_flow,
            end: end - line_start,
            pairs,
        });
        Ok(())
    }

    /// Returns the start of the line of a byte; successive calls must have ascending offsets.
    fn line_start(&mut self, at: usize) -> usize {
        let between = self.outline.text.get(self.searched..at).unwrap_or_default();
        if let Some(found) = between.rfind('\n') {
            self.line_start = self.searched + found + 1;
        }
        self.searched = at;
        self.line_start
    }

    /// Reads the value of a key; returns its texts, whether it is a list or a map, and its end.
    fn values(&mut self, from: usize) -> Result<(Vec<Scalar<'t>>, bool, usize), ScanError> {
        let (mut values, mut end, mut depth) = (Vec::new(), 0, 0);
        let mut is_list = false;
        loop {
            let (event, span) = self.event()?;
            // A collection in block form ends where the next node begins, in an empty span.
            if !span.is_empty() {
                end = bytes(&span).end - from;
            }
            match event {
                Event::SequenceStart(..) | Event::MappingStart(..) => {
                    is_list = true;
                    depth += 1;
                }
                Event::SequenceEnd | Event::MappingEnd => depth -= 1,
                Event::Scalar(text, style, ..) => values.push(Scalar {
                    text,
                    form: form_of(style),
                    span: bytes(&span).start - from..end,
                }),
                _ => {}
            }
            if depth == 0 {
                return Ok((values, is_list, end));
            }
        }
    }

    fn event(&mut self) -> Result<(Event<'t>, Span), ScanError> {
        // Nothing reads beyond the end of the root map.
        let next = self.parser.next_event();
        next.unwrap_or(Ok((Event::StreamEnd, Span::default())))
    }
}

/// Returns the code of an entry that is known to have one.
fn code_of(pairs: &[Pair<'_>], scheme: Scheme) -> Code {
    let text_of = |wanted: &str| {
        let pair = pairs.iter().find(|pair| pair.key == wanted)?;
        pair.values.first().map(|value| &*value.text)
    };
    let custom = text_of("short-code").and_then(|text| Code::custom(text).ok());
    let number = || Code::number(text_of("number")?.parse().ok()?).ok();
    let code = custom.or_else(number);
    code.unwrap_or_else(|| scheme.code(text_of("url").unwrap_or_default()))
}

fn form_of(style: ScalarStyle) -> ScalarForm {
    match style {
        ScalarStyle::Plain => ScalarForm::Plain,
        ScalarStyle::SingleQuoted => ScalarForm::Single,
        ScalarStyle::DoubleQuoted => ScalarForm::Double,
        ScalarStyle::Literal | ScalarStyle::Folded => ScalarForm::Block,
    }
}

fn bytes(span: &Span) -> Range<usize> {
    // A parser of a text sets the byte range of every span.
    span.byte_range().unwrap_or_default()
}

#[cfg(test)]
mod tests {
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
}
