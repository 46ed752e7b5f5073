//! The paths that a regular expression was written for.

use regex_syntax::hir::{self, Hir, HirKind};

/// The maximum number of texts that an expression may match to be a list of links.
const MOST_TEXTS: usize = 64;

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

impl Paths {
    /// Returns whether they are all that are not empty.
    pub(super) fn are_any(&self) -> bool {
        self.is_open && matches!(self.texts.as_deref(), Some([text]) if text.is_empty())
    }
}

/// Returns the text with which each match begins, at the start of a path.
pub(super) fn prefix(hir: &Hir) -> Vec<u8> {
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
pub(super) fn paths(hir: &Hir) -> Paths {
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
