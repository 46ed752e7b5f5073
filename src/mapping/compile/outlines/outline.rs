//! Outlines: the positions of the parts of a valid document in its text, in bytes.
//!
//! An outline serves callers that change a text and must keep the rest of it. Invariant: the
//! document has no errors of its own, so every entry in it has a code.

use std::borrow::Cow;
use std::ops::Range;

use crate::mapping::value::{Code, Position, Scheme};

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
    /// Returns an outline in which nothing was found yet.
    pub(super) fn begin(text: &'t str, scheme: Scheme) -> Self {
        Self {
            text,
            scheme,
            has_mark: false,
            is_flow: false,
            bracket: None,
            list_end: text.len(),
            entries: Vec::new(),
        }
    }
}

/// Returns the code of an entry that is known to have one.
pub(super) fn code_of(pairs: &[Pair<'_>], scheme: Scheme) -> Code {
    let text_of = |wanted: &str| {
        let pair = pairs.iter().find(|pair| pair.key == wanted)?;
        pair.values.first().map(|value| &*value.text)
    };
    let custom = text_of("short-code").and_then(|text| Code::custom(text).ok());
    let number = || Code::number(text_of("number")?.parse().ok()?).ok();
    let code = custom.or_else(number);
    code.unwrap_or_else(|| scheme.code(text_of("url").unwrap_or_default()))
}
