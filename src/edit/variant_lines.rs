//! Variants as they are written: on lines of their own, or in brackets.

use super::scalar::{item, scalar};
use crate::mapping::{MediaType, OwnedVariant};

/// Returns a key with its value, given what begins the further lines.
pub(super) fn pair(key: &str, value: &str, line_start: &str) -> String {
    let space = if value.starts_with('\n') { "" } else { " " };
    format!("{key}:{space}{}", value.replace('\n', line_start))
}

/// Returns variants as a value on lines of its own.
pub(super) fn variant_lines(variants: &[OwnedVariant]) -> String {
    let lines = variants.iter().map(|variant| {
        let OwnedVariant {
            types,
            target,
            below,
        } = variant;
        let accept = accept(types);
        let url = scalar(target.as_str());
        let below = below.as_ref().map(|it| scalar(it.as_str()));
        let below = below.map(|it| format!("\n  below: {it}"));
        format!(
            "\n- accept: {accept}\n  url: {url}{}",
            below.unwrap_or_default()
        )
    });
    lines.collect()
}

/// Returns variants as a value in brackets.
pub(super) fn variants_in_brackets(variants: &[OwnedVariant]) -> String {
    let maps = variants.iter().map(|variant| {
        let accept = accept(&variant.types);
        let url = item(variant.target.as_str());
        let below = variant.below.as_ref().map(|it| item(it.as_str()));
        let below = below.map(|it| format!(", below: {it}"));
        format!(
            "{{accept: {accept}, url: {url}{}}}",
            below.unwrap_or_default()
        )
    });
    format!("[{}]", maps.collect::<Vec<_>>().join(", "))
}

/// Returns media types as a value. No reader takes one for anything but a text.
fn accept(types: &[MediaType]) -> String {
    let types: Vec<_> = types.iter().map(MediaType::as_str).collect();
    match &types[..] {
        [only] => (*only).to_owned(),
        several => format!("[{}]", several.join(", ")),
    }
}
