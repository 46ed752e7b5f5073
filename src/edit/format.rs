//! The canonical form of a document.
//!
//! In it the entries of each section are sorted by code; a URL is written canonically, unless the
//! code hangs on how it is written; and a text that other readers of YAML would take for something
//! else is quoted. Everything else stays as it is, byte for byte.
//!
//! Invariants: formatting changes neither what a document means nor one that is formatted already.

use super::ambiguity::is_ambiguous;
use super::layout::{Entry, Layout};
use super::replace::replace;
use crate::mapping::{Diagnostic, Form, Scalar, SourceFile, Target};

/// Keys whose values are texts that a person chose.
const TEXTS: [&str; 5] = ["short-code", "aliases", "title", "owner", "tags"];

/// Returns a document in canonical form.
///
/// # Errors
///
/// Returns why the document cannot be formatted: its own errors, or what a [`Layout`] refuses.
pub fn format(file: &SourceFile) -> Result<String, Vec<Diagnostic>> {
    let mut layout = Layout::read(file)?;
    for section in &mut layout.sections {
        section.entries.iter_mut().for_each(respell);
        section.sort();
    }
    Ok(layout.to_string())
}

/// Writes the values of an entry anew where they are not in canonical form.
fn respell(entry: &mut Entry<'_>) {
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

/// Returns a URL in canonical form, in the quotes that it has, if it is not.
fn canonical_url(value: &Scalar<'_>) -> Option<String> {
    let target = Target::parse(&value.text).ok()?;
    let url = target.as_str();
    (url != value.text).then(|| match value.form {
        Form::Single => format!("'{}'", url.replace('\'', "''")),
        Form::Double => format!("\"{}\"", url.replace('\\', "\\\\").replace('"', "\\\"")),
        // There is no white space in it, and it ends in a colon only if it did before, which is no
        // plain scalar.
        Form::Plain | Form::Block => url.to_owned(),
    })
}

/// Returns a text in quotes, if it needs them and has none.
fn quoted(value: &Scalar<'_>) -> Option<String> {
    let is_one_line = value.span.len() == value.text.len();
    let needs_quotes = value.form == Form::Plain && is_one_line && is_ambiguous(&value.text);
    // No text that is ambiguous holds a quote or a backslash.
    needs_quotes.then(|| format!("\"{}\"", value.text))
}
