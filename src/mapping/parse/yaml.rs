//! The nodes of any YAML file, from the events of a parser that keeps every position.
//!
//! Tables need maps, lists and scalars; anchors, aliases, tags, directives and further documents
//! are reported as problems, and reading continues after them where YAML allows. Only a syntax
//! error ends it. See `docs/decisions/0001-yaml-reader.md`.

use granit_parser::{ErrorKind, Event, Marker, Parser, ScalarStyle, ScanError, Span, StrInput};

use super::node::{Located, Node, tight_comment};
use super::report::Report;
use super::stop::Stop;
use crate::mapping::value::{Position, Rule};

/// The maximum nesting of collections: a table needs four levels.
const MAX_NESTING: usize = 16;

/// The nodes of a file.
pub(crate) struct Yaml<'t> {
    parser: Parser<'t, StrInput<'t>>,
    text: &'t str,
}

impl<'t> Yaml<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let options = granit_parser::options! {
            disallow_directives: true,
            emit_unresolved_aliases: true,
            emit_anchor_events: true,
            flow_nesting_limit: MAX_NESTING,
            block_nesting_limit: MAX_NESTING,
        };
        Self {
            parser: Parser::new_from_str_with_options(text, options),
            text,
        }
    }

    /// Moves to the root node of the only document; `None` if the file is empty.
    pub(crate) fn root(
        &mut self,
        report: &mut Report<'_>,
    ) -> Result<Option<Located<Node<'t>>>, Stop> {
        loop {
            match self.event(report)? {
                (Event::StreamEnd, _) => return Ok(None),
                (Event::DocumentStart(..), _) => break,
                _ => {}
            }
        }
        match self.node(report)? {
            // Only comments, or `---` with nothing after it.
            Some(Located {
                value: Node::Scalar {
                    text, plain: true, ..
                },
                ..
            }) if text.is_empty() => Ok(None),
            node => Ok(node),
        }
    }

    /// Reads the rest after the root node: a second document is not allowed.
    pub(crate) fn finish(&mut self, report: &mut Report<'_>) -> Result<(), Stop> {
        loop {
            match self.event(report)? {
                (Event::DocumentStart(..), span) => {
                    let hint = "move it to its own file, in the same directory";
                    report.problem(
                        Rule::YamlSecondDocument,
                        start(&span),
                        "a second document begins here, and a file can have only one",
                        Some(hint.to_owned()),
                    );
                    return Ok(());
                }
                (Event::StreamEnd, _) => return Ok(()),
                _ => {}
            }
        }
    }

    /// Returns the next node; `None` at the end of the collection it would be in.
    pub(crate) fn node(
        &mut self,
        report: &mut Report<'_>,
    ) -> Result<Option<Located<Node<'t>>>, Stop> {
        let (event, span) = self.event(report)?;
        let position = start(&span);
        let value = match event {
            // The parser represents a missing value as "~".
            Event::Scalar(..) if span.is_empty() => Node::scalar("", true),
            Event::Scalar(text, ScalarStyle::Plain, ..) => Node::Scalar {
                text,
                plain: true,
                tight_comment: self.tight_comment_after(&span),
            },
            Event::Scalar(text, ..) => Node::scalar(text, false),
            Event::SequenceStart(..) => Node::Sequence,
            Event::MappingStart(..) => Node::Mapping,
            Event::Alias(..) | Event::UnresolvedAlias(..) => Node::Alias,
            _ => return Ok(None),
        };
        Ok(Some(Located { value, position }))
    }

    /// Returns the comment after a plain scalar, if no space separates it from its `#`.
    fn tight_comment_after(&self, span: &Span) -> Option<&'t str> {
        let rest = self.text.get(span.byte_range()?.end..)?;
        let text = rest.trim_start_matches([' ', '\t']);
        // Few scalars have a comment: only then is the end of its line searched for.
        let text = (text.starts_with('#') && text.len() < rest.len()).then_some(text)?;
        let end = text.find(['\r', '\n']).unwrap_or(text.len());
        tight_comment(&text[..end])
    }

    /// Returns the next event; reports anchors, aliases and tags.
    fn event(&mut self, report: &mut Report<'_>) -> Result<(Event<'t>, Span), Stop> {
        loop {
            let (event, span) = match self.parser.next_event() {
                Some(Ok(next)) => next,
                Some(Err(error)) => return Err(self.syntax_error(report, &error)),
                // The parser ends its stream once; reading beyond that is a mistake of the caller.
                None => return Err(Stop::Syntax),
            };
            if let Event::Anchor(..) = event {
                self.refuse(
                    report,
                    Rule::YamlAnchor,
                    &span,
                    "anchors",
                    "write the value out where it is needed",
                );
                continue;
            }
            if let Event::Alias(..) | Event::UnresolvedAlias(..) = event {
                self.refuse(
                    report,
                    Rule::YamlAlias,
                    &span,
                    "aliases",
                    "write the value out",
                );
            }
            if event.tag().is_some() {
                let hint = "leave the tag out; quote a value that begins with \"!\"";
                let span = span.tag_span().unwrap_or(span);
                self.refuse(report, Rule::YamlTag, &span, "tags", hint);
            }
            return Ok((event, span));
        }
    }

    /// Reports a token of YAML that a table may not contain, by its text.
    fn refuse(&self, report: &mut Report<'_>, rule: Rule, token: &Span, kind: &str, hint: &str) {
        let text: String = token
            .slice(self.text)
            .unwrap_or_default()
            .chars()
            .take(60)
            .collect();
        let message = format!("{kind} ({text}) are not allowed in a table");
        report.problem(rule, start(token), message, Some(hint.to_owned()));
    }

    fn syntax_error(&self, report: &mut Report<'_>, error: &ScanError) -> Stop {
        let marker = error.marker();
        let mut position = position(marker);
        if is_about_tabs(error.kind()) {
            position = self.indenting_tab(position.line).unwrap_or(position);
        }
        let (rule, message, hint) = explain(error.kind());
        report.problem(rule, position, message, hint.map(str::to_owned));
        Stop::Syntax
    }

    /// Finds the first tab used as indentation, from a line on: the parser reports where it gave
    /// up, which may be one value before or after it.
    fn indenting_tab(&self, from: u32) -> Option<Position> {
        let lines = self
            .text
            .lines()
            .zip(1..)
            .skip_while(|&(_, line)| line < from);
        lines
            .filter_map(|(text, line)| {
                let indent = text.len() - text.trim_start_matches([' ', '\t']).len();
                let column = u32::try_from(text[..indent].find('\t')? + 1).ok()?;
                Some(Position { line, column })
            })
            .next()
    }
}

fn is_about_tabs(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::TabNotAllowed
            | ErrorKind::TabInBlockIndentation
            | ErrorKind::TabInIndentation
            | ErrorKind::TabAtBlockScalarStart
            | ErrorKind::TabInPlainScalar
    )
}

fn start(span: &Span) -> Position {
    position(&span.start)
}

/// Converts a position of the parser, whose columns count from 0.
pub(crate) fn position(marker: &Marker) -> Position {
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Position {
        line: count(marker.line().max(1)),
        column: count(marker.col() + 1),
    }
}

/// Explains a parser error in the terms of a table.
fn explain(kind: &ErrorKind) -> (Rule, String, Option<&'static str>) {
    match kind {
        kind if is_about_tabs(kind) => (
            Rule::YamlTab,
            "a tab cannot be used to indent".to_owned(),
            Some("indent with spaces"),
        ),
        ErrorKind::RecursionLimitExceeded => (
            Rule::YamlTooDeep,
            format!("lists and maps are nested more than {MAX_NESTING} levels deep"),
            Some("a table is a map with a flat list of entries"),
        ),
        ErrorKind::DirectiveDisallowed => (
            Rule::YamlDirective,
            "directives (%) are not allowed in a table".to_owned(),
            Some("remove the line; quote a value that begins with \"%\""),
        ),
        ErrorKind::UnclosedQuotedScalar => (
            Rule::YamlUnclosed,
            "a quoted value is not closed".to_owned(),
            Some("is the file complete? close the quote"),
        ),
        ErrorKind::UnclosedFlowCollection { open } => (
            Rule::YamlUnclosed,
            format!("the bracket {open:?} is not closed"),
            Some("is the file complete? close the bracket"),
        ),
        other => (
            Rule::YamlInvalid,
            format!("not valid YAML: {other}"),
            syntax_hint(other),
        ),
    }
}

fn syntax_hint(kind: &ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::MappingValueNotAllowed => {
            Some("a value that contains \": \" needs quotes; keys of one map begin in one column")
        }
        ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => {
            Some("a key is followed by a colon and a space; is the file complete?")
        }
        ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::ExpectedBlockSequenceEntry
        | ErrorKind::InvalidIndentation
        | ErrorKind::BlockSequenceEntryNotAllowed => {
            Some("keys of one map, and items of one list, begin in one column")
        }
        ErrorKind::UnexpectedCharacter { character } if !character.is_control() => {
            Some("a value that begins with this character needs quotes")
        }
        _ => None,
    }
}
