//! The regular expressions of Apache: which paths one matches, and which paths below another.
//!
//! Apache uses PCRE. What this cannot parse, or might read differently, is [`Pattern::Unknown`],
//! which may match everything.

use regex_automata::Input;
use regex_automata::nfa::thompson::NFA;
use regex_automata::nfa::thompson::pikevm::PikeVM;
use regex_automata::util::syntax;
use regex_syntax::hir::Hir;

use super::automaton::{may_match_before, may_match_below};
use super::expression_text::{is_ambiguous, without_assertions};
use super::written_paths::{Paths, paths, prefix};

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
    letters: Letters,
    /// What it matches where case counts, if only the table ignores it.
    exact: Option<PikeVM>,
    /// The text with which each match begins, at the start of the path, in any case unless it counts.
    prefix: Vec<u8>,
    pub(super) paths: Paths,
}

/// Whether the case of letters counts in an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Letters {
    /// It does.
    Exact,
    /// The expression ignores it.
    Folded,
    /// It does, but the table that it is compared with ignores it.
    FoldedByTable,
}

/// How the letters of an expression match a text that it matches if case is ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    /// The expression has no letters.
    Letterless,
    /// In any case.
    Any,
    /// As the text is spelled.
    Own,
    /// Only in another case.
    Other,
}

/// The text between parentheses of a match, by their numbers; 0 is the whole match.
pub(super) type Groups = Vec<Option<Vec<u8>>>;

impl Pattern {
    /// Reads an expression.
    pub(super) fn parse(text: &str, letters: Letters) -> Self {
        if let Some(text) = text.strip_prefix("(?i)") {
            return Self::parse(text, Letters::Folded);
        }
        let (is_negated, text) = match text.strip_prefix('!') {
            Some(text) => (true, text),
            None => (false, text),
        };
        // Where case is ignored, this would match less, not more.
        if is_negated && letters == Letters::FoldedByTable {
            return Self::Unknown(None);
        }
        match Expression::parse(text, is_negated, letters) {
            Some(expression) => Self::Known(Box::new(expression)),
            None if is_negated => Self::Unknown(None),
            None => {
                let wider = without_assertions(text);
                let wider = wider.and_then(|it| Expression::parse(&it, false, letters));
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

    /// Returns whether this may match a URL that begins with a text and goes on with a query.
    pub(super) fn may_match_query(&self, start: &str) -> bool {
        let start = format!("{start}?");
        match self {
            Self::Known(it) | Self::Unknown(Some(it)) => {
                let nfa = it.vm.get_nfa();
                it.is_negated || may_match_before(nfa, start.as_bytes(), |it| it > b' ')
            }
            Self::Unknown(None) => true,
        }
    }

    /// Returns how this matches a text that it matches if case is ignored, given how an expression is
    /// compared with the text.
    fn spelling(&self, matches: impl Fn(&PikeVM) -> bool) -> Spelling {
        match self {
            Self::Known(it) | Self::Unknown(Some(it)) => match &it.exact {
                _ if !it.has_letters() => Spelling::Letterless,
                None => Spelling::Any,
                Some(exact) if matches(exact) => Spelling::Own,
                Some(_) => Spelling::Other,
            },
            Self::Unknown(None) => Spelling::Any,
        }
    }

    /// Returns how this matches a path that it matches if case is ignored.
    pub(super) fn spelling_of(&self, path: &[u8]) -> Spelling {
        self.spelling(|vm| vm.is_match(&mut vm.create_cache(), path))
    }

    /// Returns how this matches paths with this beginning, if it may match some if case is ignored.
    pub(super) fn spelling_below(&self, start: &[u8]) -> Spelling {
        self.spelling(|vm| may_match_below(vm.get_nfa(), start))
    }

    /// Returns whether this matches only paths that begin with a text as it is spelled, although the table
    /// ignores case.
    pub(super) fn spells_beginning(&self, text: &[u8]) -> bool {
        match self {
            Self::Known(it) | Self::Unknown(Some(it)) => {
                it.exact.is_some() && it.prefix.starts_with(text)
            }
            Self::Unknown(None) => false,
        }
    }

    /// Returns whether this is known to match every text that is not empty, and has no line break.
    pub(super) fn matches_anything(&self) -> bool {
        matches!(self, Self::Known(it) if !it.is_negated && it.paths.are_any())
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
    fn parse(text: &str, is_negated: bool, letters: Letters) -> Option<Self> {
        let written = parsed(text)?;
        let vm = |is_folded| {
            let thompson = NFA::config().utf8(false).nfa_size_limit(Some(MOST_BYTES));
            let nfa = NFA::compiler()
                .configure(thompson)
                .syntax(config(is_folded))
                .build(text);
            PikeVM::new_from_nfa(nfa.ok()?).ok()
        };
        let prefix = match is_negated {
            true => Vec::new(),
            false => prefix(&written),
        };
        let exact = match letters {
            Letters::FoldedByTable => Some(vm(false)?),
            Letters::Exact | Letters::Folded => None,
        };
        Some(Self {
            vm: vm(letters != Letters::Exact)?,
            is_negated,
            letters,
            exact,
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
        self.letters == Letters::Folded && self.has_letters()
    }

    /// Returns whether this may match letters that it names.
    fn has_letters(&self) -> bool {
        let has_letters = |it: &Vec<u8>| it.iter().any(u8::is_ascii_alphabetic);
        let texts = self.paths.texts.as_ref();
        texts.is_none_or(|texts| texts.iter().any(has_letters))
    }

    pub(super) fn is_negated(&self) -> bool {
        self.is_negated
    }

    /// Returns the groups of the match in a path, if it matches.
    pub(super) fn groups(&self, path: &[u8]) -> Option<Groups> {
        let start = path.get(..self.prefix.len())?;
        let is_near = match self.letters {
            Letters::Exact => start == self.prefix,
            Letters::Folded | Letters::FoldedByTable => start.eq_ignore_ascii_case(&self.prefix),
        };
        if !is_near {
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
    let parsed = syntax::parse_with(text, &config(false));
    parsed.ok().filter(|_| !is_ambiguous(text))
}
