//! A cursor over the events of a YAML file that knows what a table may hold.
//!
//! Tables need maps, lists and scalars; anchors, aliases, tags, merge keys, directives and further
//! documents are told as problems, and reading goes on behind them wherever YAML allows.
//! Only a syntax error ends it. See `docs/decisions/0001-yaml-reader.md`.

use std::borrow::Cow;
use std::sync::Arc;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Span, StrInput};

use super::diagnostic::Problems;
use super::{Diagnostic, Place, Position};

/// How deep collections may nest: a table needs four levels.
const MAX_NESTING: usize = 16;

/// Reading cannot go on; why has been told.
#[derive(Debug)]
pub(super) struct Stop;

/// A value and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Located<T> {
    pub(super) value: T,
    pub(super) position: Position,
}

/// The start of a node.
#[derive(Debug)]
pub(super) enum Node<'t> {
    /// A scalar after YAML's escapes, and whether it was written without quotes.
    Scalar { text: Cow<'t, str>, plain: bool },
    /// The start of a list: its items and its end follow.
    Sequence,
    /// The start of a map: its keys, values and end follow.
    Mapping,
    /// An alias, already told as a problem.
    Alias,
}

impl Node<'_> {
    /// Returns what a person calls it.
    pub(super) fn noun(&self) -> &'static str {
        match self {
            Self::Scalar { text, plain: true } if text.is_empty() => "nothing",
            Self::Scalar { .. } => "a plain value",
            Self::Sequence => "a list",
            Self::Mapping => "a map of keys",
            Self::Alias => "an alias",
        }
    }
}

/// The keys that a map has had so far: at most 16 known ones.
#[derive(Default)]
pub(super) struct SeenKeys {
    positions: [Option<Position>; 16],
    /// Those of which a misspelling was told.
    meant: [bool; 16],
}

impl SeenKeys {
    /// Returns where the key of that index in the known ones stands.
    pub(super) fn position(&self, index: usize) -> Option<Position> {
        self.positions.get(index).copied().flatten()
    }

    /// Tells whether the key of that index is there, even if misspelt.
    pub(super) fn is_meant(&self, index: usize) -> bool {
        self.position(index).is_some() || self.meant.get(index).is_some_and(|meant| *meant)
    }
}

/// Reads one file.
pub(super) struct Reader<'t, 'p> {
    parser: Parser<'t, StrInput<'t>>,
    text: &'t str,
    file: Arc<str>,
    problems: &'p mut Problems,
}

impl<'t, 'p> Reader<'t, 'p> {
    pub(super) fn new(file: Arc<str>, text: &'t str, problems: &'p mut Problems) -> Self {
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
            file,
            problems,
        }
    }

    /// Tells an error.
    pub(super) fn error(&mut self, position: Position, message: impl Into<String>) {
        self.tell(position, message.into(), None);
    }

    /// Tells an error and what to do about it.
    pub(super) fn error_with_hint(
        &mut self,
        position: Position,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.tell(position, message.into(), Some(hint.into()));
    }

    fn tell(&mut self, position: Position, message: String, hint: Option<String>) {
        let place = Place::new(&self.file, position);
        let mut diagnostic = Diagnostic::error(place, message);
        diagnostic.hint = hint;
        self.problems.push(diagnostic);
    }

    /// Moves to the root node of the only document; `None` if the file holds nothing.
    pub(super) fn root(&mut self) -> Result<Option<Located<Node<'t>>>, Stop> {
        loop {
            match self.event()? {
                (Event::StreamEnd, _) => return Ok(None),
                (Event::DocumentStart(..), _) => break,
                _ => {}
            }
        }
        match self.node()? {
            // Comments alone, or `---` and nothing behind it.
            Some(Located {
                value: Node::Scalar { text, plain: true },
                ..
            }) if text.is_empty() => Ok(None),
            node => Ok(node),
        }
    }

    /// Reads what is left behind the root node: there may be no second document.
    pub(super) fn finish(&mut self) -> Result<(), Stop> {
        loop {
            match self.event()? {
                (Event::DocumentStart(..), span) => {
                    self.error_with_hint(
                        start(&span),
                        "a second document begins here, a file holds one",
                        "move it to a file of its own, in a directory with this one",
                    );
                    return Ok(());
                }
                (Event::StreamEnd, _) => return Ok(()),
                _ => {}
            }
        }
    }

    /// Returns the next node; `None` at the end of the list it would be an item of.
    pub(super) fn node(&mut self) -> Result<Option<Located<Node<'t>>>, Stop> {
        let (event, span) = self.event()?;
        let position = start(&span);
        let value = match event {
            Event::Scalar(text, style, ..) => Node::Scalar {
                // The parser calls a value that is not there "~".
                text: if span.is_empty() { "".into() } else { text },
                plain: style == ScalarStyle::Plain,
            },
            Event::SequenceStart(..) => Node::Sequence,
            Event::MappingStart(..) => Node::Mapping,
            Event::Alias(..) | Event::UnresolvedAlias(..) => Node::Alias,
            _ => return Ok(None),
        };
        Ok(Some(Located { value, position }))
    }

    /// Reads past the rest of a node whose start was read.
    pub(super) fn skip(&mut self, node: &Node<'_>) -> Result<(), Stop> {
        let mut depth = usize::from(matches!(node, Node::Sequence | Node::Mapping));
        while depth > 0 {
            match self.event()?.0 {
                Event::SequenceStart(..) | Event::MappingStart(..) => depth += 1,
                Event::SequenceEnd | Event::MappingEnd => depth -= 1,
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the next known key of a map, positioned before its value; `None` at its end.
    ///
    /// Unknown and repeated keys are told, and their values read past.
    pub(super) fn key<K: Copy>(
        &mut self,
        known: &[(&'static str, K)],
        seen: &mut SeenKeys,
    ) -> Result<Option<Located<K>>, Stop> {
        loop {
            let Some(Located { value, position }) = self.node()? else {
                return Ok(None);
            };
            let Node::Scalar { text, plain } = &value else {
                if !matches!(value, Node::Alias) {
                    self.error(
                        position,
                        format!("a key must be a word, found {}", value.noun()),
                    );
                }
                self.skip(&value)?;
                self.skip_value()?;
                continue;
            };
            let Some(index) = known.iter().position(|(name, _)| name == text) else {
                if let Some(meant) = self.unknown_key(position, text, *plain, known) {
                    seen.meant[meant] = true;
                }
                self.skip_value()?;
                continue;
            };
            if let Some(first) = seen.positions[index] {
                self.error_with_hint(
                    position,
                    format!("the key {text:?} stands here twice"),
                    format!("it is already on line {}: keep one", first.line),
                );
                self.skip_value()?;
                continue;
            }
            seen.positions[index] = Some(position);
            let value = known[index].1;
            return Ok(Some(Located { value, position }));
        }
    }

    fn skip_value(&mut self) -> Result<(), Stop> {
        match self.node()? {
            Some(node) => self.skip(&node.value),
            None => Ok(()),
        }
    }

    /// Tells an unknown key; returns the index of the known one that it must mean, if any.
    fn unknown_key<K>(
        &mut self,
        position: Position,
        key: &str,
        plain: bool,
        known: &[(&'static str, K)],
    ) -> Option<usize> {
        if plain && key == "<<" {
            self.error_with_hint(
                position,
                "merge keys (<<) are not allowed in a table",
                "write the keys out, or set them under \"defaults\"",
            );
            return None;
        }
        let shown: String = key.chars().take(60).collect();
        let message = format!("unknown key {shown:?}");
        let spelling = key.to_lowercase().replace(['_', ' '], "-");
        let nearest = known
            .iter()
            .enumerate()
            .map(|(index, &(name, _))| {
                let distance = strsim::damerau_levenshtein(&spelling, &name.replace('_', "-"));
                (distance, index)
            })
            .min();
        match nearest.map(|(distance, index)| (distance, index, known[index].0)) {
            Some((distance, index, name)) if key.len() < 40 && distance <= 1 + name.len() / 4 => {
                self.error_with_hint(position, message, format!("did you mean {name:?}?"));
                Some(index)
            }
            _ => {
                let names: Vec<_> = known.iter().map(|&(name, _)| name).collect();
                self.error_with_hint(
                    position,
                    message,
                    format!("known here: {}", names.join(", ")),
                );
                None
            }
        }
    }

    /// Returns the next event; anchors, aliases and tags are told.
    fn event(&mut self) -> Result<(Event<'t>, Span), Stop> {
        loop {
            let (event, span) = match self.parser.next_event() {
                Some(Ok(next)) => next,
                Some(Err(error)) => return Err(self.syntax_error(&error)),
                // The parser ends its stream once; who asks again has lost count.
                None => return Err(Stop),
            };
            if let Event::Anchor(..) = event {
                self.refuse(&span, "anchors", "write the value out where it is needed");
                continue;
            }
            if let Event::Alias(..) | Event::UnresolvedAlias(..) = event {
                self.refuse(&span, "aliases", "write the value out");
            }
            if event.tag().is_some() {
                let hint = "leave the tag out; quote a value that begins with \"!\"";
                self.refuse(&span.tag_span().unwrap_or(span), "tags", hint);
            }
            return Ok((event, span));
        }
    }

    /// Tells a token of YAML that a table may not hold, by its own text.
    fn refuse(&mut self, token: &Span, kind: &str, hint: &str) {
        let text: String = token
            .slice(self.text)
            .unwrap_or_default()
            .chars()
            .take(60)
            .collect();
        let message = format!("{kind} ({text}) are not allowed in a table");
        self.error_with_hint(start(token), message, hint);
    }

    fn syntax_error(&mut self, error: &ScanError) -> Stop {
        let marker = error.marker();
        let mut position = position(marker.line(), marker.col());
        if is_about_tabs(error.kind()) {
            position = self.indenting_tab(position.line).unwrap_or(position);
        }
        let (message, hint) = explain(error.kind());
        match hint {
            Some(hint) => self.error_with_hint(position, message, hint),
            None => self.error(position, message),
        }
        Stop
    }

    /// Finds the first tab that indents, from a line on: the parser points to where it gave up,
    /// which may be a value before or behind it.
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
    position(span.start.line(), span.start.col())
}

/// Converts a position of the parser, whose columns count from 0.
fn position(line: usize, column: usize) -> Position {
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Position {
        line: count(line.max(1)),
        column: count(column + 1),
    }
}

/// Says in a table's terms what the parser means.
fn explain(kind: &ErrorKind) -> (String, Option<&'static str>) {
    match kind {
        kind if is_about_tabs(kind) => (
            "a tab cannot be used to indent".to_owned(),
            Some("indent with spaces"),
        ),
        ErrorKind::RecursionLimitExceeded => (
            format!("lists and maps are nested more than {MAX_NESTING} deep"),
            Some("a table is a map with a flat list of entries"),
        ),
        ErrorKind::DirectiveDisallowed => (
            "directives (%) are not allowed in a table".to_owned(),
            Some("remove the line; quote a value that begins with \"%\""),
        ),
        ErrorKind::UnclosedQuotedScalar => (
            "a quoted value is not closed".to_owned(),
            Some("is the file complete? close the quote"),
        ),
        ErrorKind::UnclosedFlowCollection { open } => (
            format!("the bracket {open:?} is not closed"),
            Some("is the file complete? close the bracket"),
        ),
        other => (format!("not valid YAML: {other}"), syntax_hint(other)),
    }
}

fn syntax_hint(kind: &ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::MappingValueNotAllowed => {
            Some("a value that holds \": \" needs quotes; keys of one map begin in one column")
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
