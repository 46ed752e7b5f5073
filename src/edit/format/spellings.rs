//! The canonical spellings of the values of an entry.
//!
//! URLs are written canonically, unless the code depends on their spelling; and text that other readers
//! of YAML would take for something else is quoted.

use std::ops::Range;

use crate::edit::ambiguity::is_ambiguous;
use crate::mapping::{Pair, Scalar, ScalarForm, Target};

/// Keys whose values are free text.
const TEXTS: [&str; 5] = ["short-code", "aliases", "title", "owner", "tags"];

/// Returns what replaces which values of an entry, in order, by its keys: nothing if all are in canonical
/// form.
pub(super) fn spellings(pairs: &[Pair<'_>]) -> Vec<(Range<usize>, String)> {
    let names_code = |key: &str| key == "short-code" || key == "number";
    let has_own_code = pairs.iter().any(|pair| names_code(&pair.key));
    let values = pairs.iter().flat_map(|pair| {
        let key = &*pair.key;
        pair.values.iter().map(move |value| (key, value))
    });
    let spellings = values.filter_map(|(key, value)| {
        let spelling = match key {
            "url" if has_own_code => canonical_url(value),
            // Of the texts in variants, only those of URLs are such.
            "below" | "archive" | "variants" => canonical_url(value),
            key if TEXTS.contains(&key) => quoted(value),
            _ => None,
        };
        Some((value.span.clone(), spelling?))
    });
    spellings.collect()
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
