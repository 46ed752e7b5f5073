//! Comma-separated values (RFC 4180): a header, and one record per entry.
//!
//! Columns are the keys of a table. Aliases are separated by spaces, which no code contains; tags
//! by commas. Inside a tag, a backslash precedes each comma, each backslash, and white space at
//! either end. An empty tag is two quotes.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::mapping::{Entry, Retired, Site};

use crate::exchange::read::NO_TEXT;
use crate::exchange::write::rows::SortedEntries;

/// The columns, in order.
const HEADER: [&str; 13] = [
    "short-code",
    "url",
    "aliases",
    "status",
    "forward",
    "cache-max-age",
    "title",
    "owner",
    "tags",
    "expires",
    "retired",
    "archive",
    "below",
];

/// Writes a site.
pub(crate) fn write(site: &Site, out: &mut dyn Write) -> io::Result<()> {
    write_entries(SortedEntries::of(site).entries(), out)
}

/// Writes some entries of a site, in their order.
pub fn write_entries<'t>(
    mut entries: impl Iterator<Item = Entry<'t>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    record(&HEADER.map(Cow::Borrowed), out)?;
    entries.try_for_each(|entry| record(&fields(entry), out))
}

fn fields(entry: Entry<'_>) -> [Cow<'_, str>; HEADER.len()] {
    let text = |text| Cow::Borrowed(Option::unwrap_or_default(text));
    let tags: Vec<_> = entry.tags().map(tag).collect();
    [
        entry.code(),
        entry.target().unwrap_or_default(),
        entry.aliases().collect::<Vec<_>>().join(" ").into(),
        entry.status().code().to_string().into(),
        // What is for variants is lost with them.
        entry.own_forward().name().into(),
        entry.cache_max_age().to_string().into(),
        text(entry.title()),
        text(entry.owner()),
        tags.join(",").into(),
        (entry.expires()).map_or(Cow::default(), |time| time.to_string().into()),
        match entry.retired() {
            None => Cow::default(),
            Some(Retired::Always) => "true".into(),
            Some(Retired::From(time)) => time.to_string().into(),
        },
        text(entry.archive()),
        text(entry.below()),
    ]
}

/// Writes a tag so that it is distinct from other tags and the surrounding text.
fn tag(tag: &str) -> String {
    match tag {
        "" => return NO_TEXT.to_owned(),
        NO_TEXT => return format!("\\{NO_TEXT}"),
        _ => {}
    }
    let last = tag.char_indices().next_back().map(|(at, _)| at);
    let mut written = String::new();
    for (at, c) in tag.char_indices() {
        let is_at_end = at == 0 || Some(at) == last;
        if c == ',' || c == '\\' || is_at_end && c.is_whitespace() {
            written.push('\\');
        }
        written.push(c);
    }
    written
}

fn record(fields: &[Cow<'_, str>], out: &mut dyn Write) -> io::Result<()> {
    for (at, field) in fields.iter().enumerate() {
        if at > 0 {
            out.write_all(b",")?;
        }
        if field.contains([',', '"', '\r', '\n']) {
            write!(out, "\"{}\"", field.replace('"', "\"\""))?;
        } else {
            out.write_all(field.as_bytes())?;
        }
    }
    out.write_all(b"\r\n")
}

#[cfg(test)]
mod tests {
    use super::record;

    #[test]
    fn quotes_what_would_end_a_field() {
        let mut out = Vec::new();
        let fields = ["plain", "", "a,b", "say \"no\"", "two\nlines"].map(Into::into);
        record(&fields, &mut out).unwrap();
        let expected = "plain,,\"a,b\",\"say \"\"no\"\"\",\"two\nlines\"\r\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
