//! A Waypost table in canonical form, which compiles to the same site.
//!
//! Every value is at its entry, so the only defaults are those for new codes. A code is written out
//! unless the target derives it.

use std::io::{self, Write};

use crate::mapping::{
    Case, DEFAULT_MAX_AGE, Entry, Forward, NewCode, ProposalTemplate, Retired, Scheme, Site,
    SiteTarget, Status,
};

use crate::exchange::write::rows::SortedEntries;

/// The length of the longest word that some YAML reader does not read as a string: `false`.
const LONGEST_WORD: usize = 5;

/// Writes a site as a document.
pub(crate) fn write(site: &Site, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "base_url: {}", scalar(site.base_url().as_str()))?;
    if site.scheme() != Scheme::default() {
        writeln!(out, "code-scheme: {}", site.scheme().name())?;
    }
    let about = site.about();
    let propose = about.propose().map(ProposalTemplate::as_str);
    for (key, value) in [
        ("name", about.name()),
        ("repository", about.repository()),
        ("contact", about.contact()),
        ("propose", propose),
        ("home", about.home().map(SiteTarget::url)),
        ("fallback", about.fallback().map(SiteTarget::url)),
    ] {
        if let Some(value) = value {
            writeln!(out, "{key}: {}", scalar(value))?;
        }
    }
    if about.case() != Case::default() {
        writeln!(out, "case: {}", about.case().name())?;
    }
    if site.new_code() == NewCode::Number {
        writeln!(out, "defaults:\n  new: number")?;
    }
    if site.is_empty() {
        return writeln!(out, "mapping: []");
    }
    writeln!(out, "mapping:")?;
    SortedEntries::of(site)
        .entries()
        .try_for_each(|entry| write_entry(entry, out))
}

fn write_entry(entry: Entry<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (code, target) = (entry.code(), entry.target());
    let mut lead = "- ";
    let mut pair = |key: &str, value: &str| {
        let written = writeln!(out, "{lead}{key}: {value}");
        lead = "  ";
        written
    };
    if let Some(target) = &target {
        pair("url", &scalar(target))?;
    }
    if let Some(below) = entry.below() {
        pair("below", &scalar(below))?;
    }
    let derived = target.map(|target| entry.site().scheme().code(&target));
    if let Some(number) = entry.sequence_number() {
        // The next number continues from here.
        pair("number", &number.to_string())?;
    } else if derived.is_none_or(|derived| derived.as_str() != code) {
        pair("short-code", &scalar(&code))?;
    }
    let aliases: Vec<_> = entry.aliases().map(scalar).collect();
    if !aliases.is_empty() {
        pair("aliases", &format!("[{}]", aliases.join(", ")))?;
    }
    if entry.status() != Status::default() {
        pair("status", &entry.status().code().to_string())?;
    }
    if entry.forward() != Forward::None {
        pair("forward", entry.forward().name())?;
    }
    if let Some(title) = entry.title() {
        pair("title", &scalar(title))?;
    }
    if let Some(owner) = entry.owner() {
        pair("owner", &scalar(owner))?;
    }
    let tags: Vec<_> = entry.tags().map(scalar).collect();
    if !tags.is_empty() {
        pair("tags", &format!("[{}]", tags.join(", ")))?;
    }
    if entry.cache_max_age() != DEFAULT_MAX_AGE {
        pair("cache-max-age", &entry.cache_max_age().to_string())?;
    }
    if let Some(time) = entry.expires() {
        pair("expires", &time.to_string())?;
    }
    match entry.retired() {
        Some(Retired::Always) => pair("retired", "true")?,
        Some(Retired::From(time)) => pair("retired", &time.to_string())?,
        None => {}
    }
    if let Some(archive) = entry.archive() {
        pair("archive", &scalar(archive))?;
    }
    write_variants(entry, out)
}

/// Writes the variants of an entry, in the form that is read fastest.
fn write_variants(entry: Entry<'_>, out: &mut dyn Write) -> io::Result<()> {
    if entry.has_variants() {
        writeln!(out, "  variants:")?;
    }
    for variant in entry.variants() {
        let types: Vec<_> = variant.types().map(scalar).collect();
        match &types[..] {
            [only] => writeln!(out, "  - accept: {only}")?,
            several => writeln!(out, "  - accept: [{}]", several.join(", "))?,
        }
        writeln!(out, "    url: {}", scalar(variant.target()))?;
        if let Some(below) = variant.below() {
            writeln!(out, "    below: {}", scalar(below))?;
        }
    }
    Ok(())
}

/// Returns a text as a scalar: plain if no reader could take it for anything else, otherwise in
/// double quotes.
fn scalar(text: &str) -> String {
    // None of these ends a plain scalar, at least not inside one.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~/?&=%+@!$*();".contains(c);
    let is_url = text.starts_with("http://") || text.starts_with("https://");
    // A URL has no white space that would give these another meaning.
    let is_of_url = |c: char| is_plain(c) || ":#".contains(c);
    let fits = match is_url {
        true => text.chars().all(is_of_url) && !text.ends_with(':'),
        false => text.chars().all(is_plain) && text.len() > LONGEST_WORD,
    };
    if fits && text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return text.to_owned();
    }
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            // Characters that YAML 1.1 or 1.2 reads as a line break or does not allow unescaped.
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                escape(c, &mut quoted)
            }
            _ if c.is_control() => escape(c, &mut quoted),
            _ => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Appends a character of the basic plane as a numeric escape.
fn escape(c: char, to: &mut String) {
    to.push_str(&format!("\\u{:04X}", u32::from(c)));
}

#[cfg(test)]
mod tests {
    use super::scalar;

    #[test]
    fn quotes_what_others_may_read_otherwise() {
        for plain in [
            "gnu-home",
            "t0P0JMya",
            "https://e.org/?a=b#c",
            "archive/2024",
        ] {
            assert_eq!(scalar(plain), plain);
        }
        for quoted in [
            "", "no", "False", "2024", "1e5", "~", "-x", "a: b", "a b", "été", "[a]",
        ] {
            assert_eq!(scalar(quoted), format!("\"{quoted}\""));
        }
        assert_eq!(scalar("https://e.org/#a:"), "\"https://e.org/#a:\"");
        assert_eq!(scalar("\"\\\n\u{2028}"), r#""\"\\\u000A\u2028""#);
    }
}
