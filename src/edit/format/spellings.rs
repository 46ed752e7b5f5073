//! The canonical form of a document.
//!
//! The entries of each section are sorted by code; URLs are written canonically, unless the code
//! depends on their spelling; and text that other readers of YAML would take for something else is
//! quoted. Everything else is kept byte for byte.
//!
//! Invariants: formatting never changes the meaning of a document, and leaves a formatted one as it
//! is.

use super::ambiguity::is_ambiguous;
use super::layout::{Layout, LayoutEntry};
use super::replace::replace;
use crate::mapping::{Diagnostic, Scalar, ScalarForm, SourceFile, Target};

/// Keys whose values are free text.
const TEXTS: [&str; 5] = ["short-code", "aliases", "title", "owner", "tags"];

/// Returns a document in canonical form.
///
/// # Errors
///
/// Returns the errors of the document, or the reasons why a [`Layout`] refuses it.
pub fn format(file: &SourceFile) -> Result<String, Vec<Diagnostic>> {
    let mut layout = Layout::read(file)?;
    for section in &mut layout.sections {
        section.entries.iter_mut().for_each(rewrite);
        section.sort();
    }
    Ok(layout.to_string())
}

/// Rewrites the values of an entry that are not in canonical form.
fn rewrite(entry: &mut LayoutEntry<'_>) {
    let names_code = |key: &str| key == "short-code" || key == "number";
    let has_own_code = entry.pairs.iter().any(|pair| names_code(&pair.key));
    let values = entry.pairs.iter().flat_map(|pair| {
        let key = &*pair.key;
        pair.values.iter().map(move |value| (key, value))
    });
    let spellings = values.filter_map(|(key, value)| {
        let spelling = match key {
            "url" if has_own_code => canonical_url(value),
            key if TEXTS.contains(&key) => quoted(value),
            _ => None,
        };
        Some((value.span.clone(), spelling?))
    });
    let spellings: Vec<_> = spellings.collect();
    if !spellings.is_empty() {
        entry.body = replace(&entry.body, spellings);
    }
}

/// Returns a URL in canonical form with its original quotes, if it is not canonical already.
fn canonical_url(value: &Scalar<'_>) -> Option<String> {
    let target = Target::parse(&value.text).ok()?;
    let url = target.as_str();
    (url != value.text).then(|| match value.form {
        ScalarForm::Single => format!("'{}'", url.replace('\'', "''")),
        ScalarForm::Double => format!("\"{}\"", url.replace('\\', "\\\\").replace('"', "\\\"")),
        // A canonical URL has no white space. It ends in a colon only if it did before, and then it
        // was not a plain scalar.
        ScalarForm::Plain | ScalarForm::Block => url.to_owned(),
    })
}

/// Returns a text in quotes, if it needs them and has none.
fn quoted(value: &Scalar<'_>) -> Option<String> {
    let is_one_line = value.span.len() == value.text.len();
    let needs_quotes = value.form == ScalarForm::Plain && is_one_line && is_ambiguous(&value.text);
    // No ambiguous text contains a quote or a backslash.
    needs_quotes.then(|| format!("\"{}\"", value.text))
}
