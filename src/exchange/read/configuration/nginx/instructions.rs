//! The directives of the rewrite module: `return`, `rewrite`, `if` and `break`, as nginx applies them.

use super::blocks::Block;
use super::expressions::expression;
use super::request::Request;
use super::variables::{Variables, only_variable};
use crate::exchange::read::configuration::decision::{Decision, DecisionKind};
use crate::exchange::read::configuration::pattern::Pattern;
use crate::exchange::read::configuration::pattern_index::PatternIndex;
use crate::exchange::read::configuration::pattern_index::TOO_MANY;
use crate::exchange::read::rows::RowError;
use crate::mapping::Status;

/// The directives of a block, in order.
#[derive(Default)]
pub(super) struct Body {
    pub(super) instructions: Vec<Instruction>,
    index: PatternIndex,
}

/// A directive.
pub(super) struct Instruction {
    pub(super) line: usize,
    pub(super) kind: InstructionKind,
}

/// What a directive does.
pub(super) enum InstructionKind {
    Return {
        /// `None` if the file does not say which.
        status: Option<u16>,
        text: Option<String>,
    },
    Rewrite {
        pattern: Pattern,
        replacement: String,
        status: u16,
    },
    If(Condition, Body),
    Break,
}

/// The condition of an `if`.
pub(super) enum Condition {
    /// A variable is neither empty nor zero.
    IsSet(String),
    /// The path is this text.
    IsPath(String),
    /// The path matches.
    Matches(Pattern),
    /// Anything else, as it is written.
    Unknown(String),
}

/// What follows from some directives: nothing, the end of them, or a decision.
type Flow = Option<Option<Decision>>;

const NO_STATUS: RowError = RowError::NoLink("a table has no such status");

const UNREADABLE: RowError = RowError::NoLink("this expression cannot be read");

impl Body {
    /// Reads the directives of a block, without those in blocks other than `if`.
    pub(super) fn of(blocks: &[Block]) -> Self {
        Self::new(blocks.iter().filter_map(Instruction::of).collect())
    }

    pub(super) fn new(instructions: Vec<Instruction>) -> Self {
        let index = PatternIndex::new(instructions.iter().map(|it| match &it.kind {
            InstructionKind::Rewrite { pattern, .. } => pattern.prefix(),
            _ => b"",
        }));
        Self {
            instructions,
            index,
        }
    }

    /// Applies the directives to a request; adds what is decided if an unknown condition is fulfilled.
    pub(super) fn run(
        &self,
        request: &mut Request<'_>,
        variables: &Variables,
        possible: &mut Vec<Decision>,
    ) -> Flow {
        let Some(near) = self.index.near(request.path.as_bytes()) else {
            return decided(None, DecisionKind::Other(TOO_MANY));
        };
        for number in near {
            let flow = self.instructions[number].run(request, variables, possible);
            if flow.is_some() {
                return flow;
            }
        }
        None
    }

    /// Returns the directives before a number that may apply to a path that begins with a text; `None`
    /// if there are too many.
    pub(super) fn before_below(&self, end: usize, start: &str) -> Option<Vec<&Instruction>> {
        let near = self.index.below(start.as_bytes())?;
        let before = near.into_iter().filter(|number| *number < end);
        Some(before.map(|number| &self.instructions[number]).collect())
    }
}

fn decided(line: Option<usize>, kind: DecisionKind) -> Flow {
    Some(Some(Decision { line, kind }))
}

impl Instruction {
    fn of(block: &Block) -> Option<Self> {
        let words: Vec<_> = block.words.iter().map(String::as_str).collect();
        let kind = match words[..] {
            ["return", text] if is_absolute(text) => InstructionKind::Return {
                status: Some(302),
                text: Some(text.to_owned()),
            },
            ["return", status, ref text @ ..] => InstructionKind::Return {
                status: Some(status.parse().unwrap_or_default()),
                text: text.first().map(|it| (*it).to_owned()),
            },
            ["rewrite", written, replacement, ref flag @ ..] => InstructionKind::Rewrite {
                pattern: expression(written, false),
                replacement: replacement.to_owned(),
                status: if *flag == ["permanent"] { 301 } else { 302 },
            },
            ["if", ref condition @ ..] => {
                InstructionKind::If(Condition::of(condition), Body::of(&block.inner))
            }
            ["break"] => InstructionKind::Break,
            _ => return None,
        };
        Some(Self {
            line: block.line,
            kind,
        })
    }

    fn run(
        &self,
        request: &mut Request<'_>,
        variables: &Variables,
        possible: &mut Vec<Decision>,
    ) -> Flow {
        match &self.kind {
            InstructionKind::Break => Some(None),
            InstructionKind::Return { status, text } => {
                let map = text.as_deref().and_then(only_variable);
                let map = map.and_then(|name| variables.maps.get(name));
                let found = map.map(|it| it.found(&mut request.clone()));
                let value_line = found.and_then(|it| Some(it.ok()??.line));
                let line = value_line.or(request.value_line).unwrap_or(self.line);
                let kind = returned(*status, text.as_deref(), request, variables);
                decided(Some(line), kind.unwrap_or_else(DecisionKind::Other))
            }
            InstructionKind::Rewrite {
                pattern,
                replacement,
                status,
            } => {
                let Pattern::Known(known) = pattern else {
                    return decided(Some(self.line), DecisionKind::Other(UNREADABLE));
                };
                request.groups = Some(known.groups(request.path.as_bytes())?);
                let kind = rewritten(*status, replacement, request, variables);
                decided(Some(self.line), kind.unwrap_or_else(DecisionKind::Other))
            }
            InstructionKind::If(condition, body) => match condition.holds(request, variables) {
                Some(true) => body.run(request, variables, possible),
                Some(false) => None,
                None => {
                    let fulfilled = body.run(&mut request.clone(), variables, possible);
                    possible.extend(fulfilled.map(|it| {
                        it.unwrap_or(Decision {
                            line: Some(self.line),
                            kind: DecisionKind::NotFound,
                        })
                    }));
                    None
                }
            },
        }
    }
}

/// Returns the answer of `return`.
fn returned(
    status: Option<u16>,
    text: Option<&str>,
    request: &Request<'_>,
    variables: &Variables,
) -> Result<DecisionKind, RowError> {
    match (status, text) {
        (Some(410), _) => Ok(DecisionKind::Gone),
        (Some(404), _) => Ok(DecisionKind::NotFound),
        (None | Some(300..400), Some(text)) => redirect(status, variables.expand(text, request)?),
        _ => Err(NO_STATUS),
    }
}

/// Returns the answer of `rewrite`.
fn rewritten(
    status: u16,
    replacement: &str,
    request: &Request<'_>,
    variables: &Variables,
) -> Result<DecisionKind, RowError> {
    if !is_absolute(replacement) {
        return Err(RowError::NoLink("a rewrite is not a redirect"));
    }
    // The query is appended, unless the URL ends in a question mark.
    let (text, is_appended) = match replacement.strip_suffix('?') {
        Some(text) => (text, false),
        None => (replacement, true),
    };
    let mut url = variables.expand(text, request)?;
    if is_appended && variables.changes_query() {
        return Err(RowError::Variable("$args".to_owned()));
    }
    if is_appended && !request.query.is_empty() {
        url.push(if text.contains('?') { '&' } else { '?' });
        url.push_str(request.query);
    }
    redirect(Some(status), url)
}

fn redirect(status: Option<u16>, url: String) -> Result<DecisionKind, RowError> {
    if !is_absolute(&url) {
        return Err(RowError::NoLink(
            "this leads to another path of the same host",
        ));
    }
    let known = status.and_then(Status::from_code);
    match status.is_some() && known.is_none() {
        true => Err(NO_STATUS),
        false => Ok(DecisionKind::Redirect(known, url)),
    }
}

/// Returns whether a text is a URL with scheme, as nginx decides it.
fn is_absolute(text: &str) -> bool {
    ["http://", "https://", "$scheme"]
        .iter()
        .any(|it| text.starts_with(it))
}

impl Condition {
    /// Reads the words of a condition, with their parentheses.
    fn of(words: &[&str]) -> Self {
        let joined = words.join(" ");
        let inner = joined.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
        let inner = inner.unwrap_or(&joined);
        let unknown = || Self::Unknown(inner.to_owned());
        let words: Vec<_> = inner.split_whitespace().collect();
        let is_path = |text: &str| ["$uri", "$document_uri"].contains(&text);
        match words[..] {
            [text] => only_variable(text).map_or_else(unknown, |it| Self::IsSet(it.to_owned())),
            [text, "=", value] if is_path(text) => Self::IsPath(unquoted(value).to_owned()),
            [text, "~", value] if is_path(text) => {
                Self::Matches(expression(unquoted(value), false))
            }
            [text, "~*", value] if is_path(text) => {
                Self::Matches(expression(unquoted(value), true))
            }
            _ => unknown(),
        }
    }

    /// Returns whether it is fulfilled, if that is known. An expression that matches sets the groups, and
    /// after one that is not known to match, they are unknown.
    fn holds(&self, request: &mut Request<'_>, variables: &Variables) -> Option<bool> {
        match self {
            Self::IsSet(name) => {
                if variables.unknown.contains(name) {
                    request.groups = None;
                }
                let map = variables.maps.get(name)?;
                let found = map.found(&mut request.clone());
                if map.may_match() {
                    // Only its first use sets them.
                    request.groups = None;
                }
                let found = found.ok()?;
                let value = found.map_or("", |it| &it.text);
                let is_set = !matches!(value, "" | "0");
                if is_set {
                    request.value_line = found.map(|it| it.line);
                }
                Some(is_set)
            }
            Self::IsPath(path) => Some(request.path == path),
            Self::Matches(Pattern::Known(known)) => {
                let groups = known.groups(request.path.as_bytes());
                let is_match = groups.is_some();
                request.groups = groups.or_else(|| request.groups.take());
                Some(is_match)
            }
            Self::Matches(Pattern::Unknown(_)) => {
                request.groups = None;
                None
            }
            Self::Unknown(text) => {
                if text.contains('~') || variables.may_match(text) {
                    request.groups = None;
                }
                None
            }
        }
    }
}

/// Returns a text without the quotes around it.
fn unquoted(text: &str) -> &str {
    let quoted = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
    quoted('"').or_else(|| quoted('\'')).unwrap_or(text)
}
