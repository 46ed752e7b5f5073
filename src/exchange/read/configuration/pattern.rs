//! The regular expressions of Apache: which paths one matches, and which paths below another.
//!
//! Apache uses PCRE. What this cannot parse, or might read differently, is [`Pattern::Unknown`],
//! which may match everything.

use regex_automata::Input;
use regex_automata::nfa::thompson::pikevm::PikeVM;
use regex_automata::nfa::thompson::{NFA, State};
use regex_automata::util::look::Look;
use regex_automata::util::syntax;
use regex_syntax::hir::{self, Hir, HirKind};
use std::collections::HashSet;

use super::expression_text::{has_ambiguous_class, without_assertions};

/// The maximum number of texts that an expression may match to be a list of links.
const MOST_TEXTS: usize = 64;

/// The maximum size of a compiled expression, in bytes.
const MOST_BYTES: usize = 1 << 20;

/// An expression.
pub(super) enum Pattern {
    /// A valid one.
    Known(Box<Expression>),
    /// One that cannot be read, and one without its assertions, which matches at least the same paths.
    Unknown(Option<Box<Expression>>),
}

/// A valid expression.
pub(super) struct Expression {
    vm: PikeVM,
    is_negated: bool,
    is_folded: bool,
    /// The text with which each match begins, at the start of the path.
    prefix: Vec<u8>,
    pub(super) paths: Paths,
}

/// The paths that an expression was written for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Paths {
    /// The beginnings of the paths; `None` if there are too many.
    pub(super) texts: Option<Vec<Vec<u8>>>,
    /// Whether anything may follow.
    pub(super) is_open: bool,
    /// Whether a dot was taken as a dot, which means any character.
    pub(super) has_dot: bool,
    /// The texts of an expression that matches every path that contains one, or ends with it.
    pub(super) contained: Option<Vec<Vec<u8>>>,
}

/// The text between parentheses of a match, by their numbers; 0 is the whole match.
pub(super) type Groups = Vec<Option<Vec<u8>>>;

impl Pattern {
    /// Reads an expression; `is_folded` if it ignores case.
    pub(super) fn parse(text: &str, is_folded: bool) -> Self {
        let (is_negated, text) = match text.strip_prefix('!') {
            Some(text) => (true, text),
            None => (false, text),
        };
        match Expression::parse(text, is_negated, is_folded) {
            Some(expression) => Self::Known(Box::new(expression)),
            None if is_negated => Self::Unknown(None),
            None => {
                let wider = without_assertions(text);
                let wider = wider.and_then(|it| Expression::parse(&it, false, is_folded));
                Self::Unknown(wider.map(Box::new))
            }
        }
    }

    /// Returns the text with which every path begins that this may match.
    pub(super) fn prefix(&self) -> &[u8] {
        match self {
            Self::Known(it) | Self::Unknown(Some(it)) => &it.prefix,
            Self::Unknown(None) => b"",
        }
    }

    /// Returns whether this may match a path that begins with a text.
    pub(super) fn may_match_below(&self, start: &[u8]) -> bool {
        match self {
            Self::Known(it) | Self::Unknown(Some(it)) => {
                it.is_negated || may_match_below(it.vm.get_nfa(), start)
            }
            Self::Unknown(None) => true,
        }
    }

    /// Returns whether this may match a path.
    pub(super) fn may_match(&self, path: &[u8]) -> bool {
        match self {
            Self::Known(it) | Self::Unknown(Some(it)) => it.groups(path).is_some(),
            Self::Unknown(None) => true,
        }
    }
}

impl Expression {
    /// Reads an expression; `None` if it cannot be read, or might be read differently.
    fn parse(text: &str, is_negated: bool, is_folded: bool) -> Option<Self> {
        let written = parsed(text)?;
        let thompson = NFA::config().utf8(false).nfa_size_limit(Some(MOST_BYTES));
        let nfa = NFA::compiler()
            .configure(thompson)
            .syntax(config(is_folded))
            .build(text);
        let vm = PikeVM::new_from_nfa(nfa.ok()?).ok()?;
        let prefix = match is_negated || is_folded {
            true => Vec::new(),
            false => prefix(&written),
        };
        Some(Self {
            vm,
            is_negated,
            is_folded,
            prefix,
            paths: paths(&written),
        })
    }

    /// Returns the paths that this was written for, or the beginnings of them, also if it matches
    /// longer ones that contain one; `None` if there are too many.
    pub(super) fn written_texts(&self) -> Option<&Vec<Vec<u8>>> {
        let paths = &self.paths;
        paths.texts.as_ref().or(paths.contained.as_ref())
    }

    /// Returns whether letters of either case match, although the expression has letters.
    pub(super) fn folds(&self) -> bool {
        let has_letters = |it: &Vec<u8>| it.iter().any(u8::is_ascii_alphabetic);
        let texts = self.paths.texts.as_ref();
        self.is_folded && texts.is_none_or(|texts| texts.iter().any(has_letters))
    }

    pub(super) fn is_negated(&self) -> bool {
        self.is_negated
    }

    /// Returns the groups of the match in a path, if it matches.
    pub(super) fn groups(&self, path: &[u8]) -> Option<Groups> {
        if !path.starts_with(&self.prefix) {
            return None;
        }
        let mut found = self.vm.create_captures();
        let mut cache = self.vm.create_cache();
        self.vm.captures(&mut cache, Input::new(path), &mut found);
        match (found.is_match(), self.is_negated) {
            (true, false) => {
                let texts = found.iter().map(|span| Some(path[span?.range()].to_vec()));
                Some(texts.collect())
            }
            (false, true) => Some(Vec::new()),
            _ => None,
        }
    }
}

fn config(is_folded: bool) -> syntax::Config {
    let config = syntax::Config::new().unicode(false).utf8(false);
    config.case_insensitive(is_folded)
}

/// Returns the structure of an expression; `None` if it cannot be read, or might be read differently.
pub(super) fn parsed(text: &str) -> Option<Hir> {
    let is_ambiguous = has_ambiguous_class(text);
    let parsed = syntax::parse_with(text, &config(false));
    parsed.ok().filter(|_| !is_ambiguous)
}

/// Returns whether a match may lie in a text that begins so, if anything may follow.
///
/// What follows is not followed in detail, so that this may be true of more than can match.
fn may_match_below(nfa: &NFA, start: &[u8]) -> bool {
    let mut states = HashSet::new();
    for (at, byte) in start.iter().enumerate() {
        let looks = |look| look != Look::End && (look != Look::Start || at == 0);
        states.insert(nfa.start_anchored());
        let closure = closure(nfa, &states, looks);
        if closure
            .iter()
            .any(|it| matches!(nfa.state(*it), State::Match { .. }))
        {
            return true;
        }
        states = (closure.iter())
            .filter_map(|it| match nfa.state(*it) {
                State::ByteRange { trans } => trans.matches_byte(*byte).then_some(trans.next),
                State::Sparse(trans) => trans.matches_byte(*byte),
                State::Dense(trans) => trans.matches_byte(*byte),
                _ => None,
            })
            .collect();
    }
    states.insert(nfa.start_anchored());
    loop {
        let reached = closure(nfa, &states, |look| look != Look::Start || start.is_empty());
        if reached
            .iter()
            .any(|it| matches!(nfa.state(*it), State::Match { .. }))
        {
            return true;
        }
        let mut next = reached.clone();
        for state in &reached {
            match nfa.state(*state) {
                State::ByteRange { trans } => next.extend([trans.next]),
                State::Sparse(trans) => next.extend(trans.transitions.iter().map(|it| it.next)),
                State::Dense(trans) => {
                    next.extend((0..=u8::MAX).filter_map(|byte| trans.matches_byte(byte)));
                }
                _ => {}
            }
        }
        if next.len() == states.len() {
            return false;
        }
        states = next;
    }
}

type StateId = regex_automata::util::primitives::StateID;

/// Returns the states that are reached without a further byte, by assertions that may hold.
fn closure(nfa: &NFA, states: &HashSet<StateId>, holds: impl Fn(Look) -> bool) -> HashSet<StateId> {
    let mut all = HashSet::new();
    let mut open: Vec<_> = states.iter().copied().collect();
    while let Some(id) = open.pop() {
        if !all.insert(id) {
            continue;
        }
        match nfa.state(id) {
            State::Look { look, next } if holds(*look) => open.push(*next),
            State::Union { alternates } => open.extend(alternates.iter()),
            State::BinaryUnion { alt1, alt2 } => open.extend([*alt1, *alt2]),
            State::Capture { next, .. } => open.push(*next),
            _ => {}
        }
    }
    all
}

/// Returns the text with which each match begins, at the start of a path.
fn prefix(hir: &Hir) -> Vec<u8> {
    let parts = parts(hir);
    let mut prefix = Vec::new();
    let [first, rest @ ..] = &parts[..] else {
        return prefix;
    };
    if !is_look(first, hir::Look::Start) {
        return prefix;
    }
    for part in rest {
        match part.kind() {
            HirKind::Literal(text) => prefix.extend_from_slice(&text.0),
            _ => break,
        }
    }
    prefix
}

/// Returns the paths that an expression was written for.
fn paths(hir: &Hir) -> Paths {
    let mut parts = parts(hir);
    let mut paths = Paths::default();
    let mut is_contained = false;
    if parts
        .first()
        .is_some_and(|it| is_look(it, hir::Look::Start))
    {
        parts.remove(0);
    } else if !parts.first().is_some_and(|it| is_rest(it)) {
        is_contained = true;
    }
    let is_ended = parts.pop_if(|it| is_look(it, hir::Look::End)).is_some();
    let ended = parts.last().and_then(|it| ended_texts(it));
    paths.is_open = !is_ended && ended.is_none() && !is_contained;
    // `x(/.*)?` was written for all below `x`, and for `x` itself.
    if let Some(inner) = parts.last().and_then(|it| optional_rest(it)) {
        parts.pop();
        parts.extend(inner);
    }
    if parts.last().is_some_and(|it| is_rest(it)) {
        if is_contained {
            return paths;
        }
        parts.pop();
        paths.is_open = true;
    }
    let last = parts.len().saturating_sub(1);
    let mut texts = vec![Vec::new()];
    for (number, part) in parts.into_iter().enumerate() {
        let ended = ended.clone().filter(|_| number == last);
        let Some(next) = ended.or_else(|| texts_of(part, &mut paths.has_dot)) else {
            return paths;
        };
        let Some(joined) = joined(&texts, &next) else {
            return paths;
        };
        texts = joined;
    }
    match is_contained {
        true => paths.contained = Some(texts).filter(|it| it.iter().all(|it| !it.is_empty())),
        false => paths.texts = Some(texts),
    }
    paths
}

/// Returns the texts of an alternation each of whose parts ends a path, such as `(/$|/x$)`.
fn ended_texts(hir: &Hir) -> Option<Vec<Vec<u8>>> {
    let hir = match hir.kind() {
        HirKind::Capture(inner) => &*inner.sub,
        _ => hir,
    };
    let HirKind::Alternation(branches) = hir.kind() else {
        return None;
    };
    let mut texts = Vec::new();
    for branch in branches {
        let mut parts = parts(branch);
        parts.pop_if(|it| is_look(it, hir::Look::End))?;
        let mut text = Vec::new();
        for part in parts {
            let HirKind::Literal(literal) = part.kind() else {
                return None;
            };
            text.extend_from_slice(&literal.0);
        }
        texts.push(text);
    }
    Some(texts)
}

pub(super) fn parts(hir: &Hir) -> Vec<&Hir> {
    match hir.kind() {
        HirKind::Concat(parts) => parts.iter().collect(),
        HirKind::Empty => Vec::new(),
        _ => vec![hir],
    }
}

fn is_look(hir: &Hir, look: hir::Look) -> bool {
    matches!(hir.kind(), HirKind::Look(it) if *it == look)
}

/// Returns whether this matches whatever is left: `.*`, `.+`, with parentheses or without.
fn is_rest(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Capture(inner) => is_rest(&inner.sub),
        HirKind::Repetition(it) => it.min < 2 && it.max.is_none() && is_dot(&it.sub),
        _ => false,
    }
}

/// Returns the parts of an optional group that ends with whatever is left.
fn optional_rest(hir: &Hir) -> Option<Vec<&Hir>> {
    let HirKind::Repetition(it) = hir.kind() else {
        return None;
    };
    let inner = match it.sub.kind() {
        HirKind::Capture(inner) => parts(&inner.sub),
        _ => parts(&it.sub),
    };
    let is_optional = it.min == 0 && it.max == Some(1);
    (is_optional && inner.last().is_some_and(|it| is_rest(it))).then_some(inner)
}

/// Returns whether this is a dot.
fn is_dot(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Class(hir::Class::Bytes(class)) => {
            let any = hir::ClassBytes::new([
                hir::ClassBytesRange::new(0, b'\n' - 1),
                hir::ClassBytesRange::new(b'\n' + 1, 0xFF),
            ]);
            *class == any
        }
        _ => false,
    }
}

/// Returns each of some texts followed by each of others, or `None` if there are too many.
pub(super) fn joined(texts: &[Vec<u8>], next: &[Vec<u8>]) -> Option<Vec<Vec<u8>>> {
    let all = texts
        .iter()
        .flat_map(|it| next.iter().map(move |next| [&it[..], next].concat()));
    (texts.len() * next.len() <= MOST_TEXTS).then(|| all.collect())
}

/// Returns all texts that a part matches, or `None` if there are too many.
pub(super) fn texts_of(hir: &Hir, has_dot: &mut bool) -> Option<Vec<Vec<u8>>> {
    let texts = match hir.kind() {
        HirKind::Empty => vec![Vec::new()],
        HirKind::Literal(text) => vec![text.0.to_vec()],
        HirKind::Capture(inner) => texts_of(&inner.sub, has_dot)?,
        HirKind::Class(_) if is_dot(hir) => {
            *has_dot = true;
            vec![vec![b'.']]
        }
        HirKind::Class(hir::Class::Bytes(class)) => {
            let bytes = class.ranges().iter().flat_map(|it| it.start()..=it.end());
            bytes.take(MOST_TEXTS + 1).map(|it| vec![it]).collect()
        }
        // An alternation of single characters.
        HirKind::Class(hir::Class::Unicode(class)) => {
            let chars = class.ranges().iter().flat_map(|it| it.start()..=it.end());
            let texts = chars.take(MOST_TEXTS + 1).map(|it| it.to_string());
            texts.map(String::into_bytes).collect()
        }
        HirKind::Repetition(it) if it.max == Some(1) && it.min == 0 => {
            let mut texts = texts_of(&it.sub, has_dot)?;
            texts.push(Vec::new());
            texts
        }
        HirKind::Concat(parts) => {
            let mut texts = vec![Vec::new()];
            for part in parts {
                texts = joined(&texts, &texts_of(part, has_dot)?)?;
            }
            texts
        }
        HirKind::Alternation(parts) => {
            let mut texts = Vec::new();
            for part in parts {
                texts.extend(texts_of(part, has_dot)?);
            }
            texts
        }
        _ => return None,
    };
    (texts.len() <= MOST_TEXTS).then_some(texts)
}
