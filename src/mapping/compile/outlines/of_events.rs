//! Outlines of documents in any form, from the events of the YAML parser.

use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput, StructureStyle};

use super::outline::{EntryOutline, Outline, Pair, Scalar, ScalarForm, code_of};
use crate::mapping::parse::yaml;
use crate::mapping::value::Scheme;

/// Outlines a document that is known to be valid.
///
/// # Errors
///
/// Returns an error of one that is not.
pub(super) fn outline(text: &str, scheme: Scheme) -> Result<Outline<'_>, ScanError> {
    let mut walk = EventWalk {
        parser: Parser::new_from_str(text),
        line_start: 0,
        searched: 0,
        outline: Outline::begin(text, scheme),
    };
    walk.document()?;
    Ok(walk.outline)
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
