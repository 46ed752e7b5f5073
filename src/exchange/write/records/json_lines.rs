//! JSON lines (<https://jsonlines.org/>): one object per entry, with the keys of a table.
//!
//! The code is always present, whether or not the target derives it. So is the base URL, so that
//! lines of several sites may be mixed; keys without a value are omitted.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;

use crate::mapping::{Entry, Retired, Site, Variant};

use crate::exchange::write::rows::SortedEntries;

/// A line.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct LinkLine<'t> {
    #[serde(rename = "base_url")]
    base_url: &'t str,
    short_code: Cow<'t, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<Cow<'t, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    below: Option<&'t str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    aliases: Vec<&'t str>,
    status: u16,
    forward: &'static str,
    cache_max_age: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'t str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<&'t str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<&'t str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retired: Option<RetiredLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    archive: Option<&'t str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    variants: Vec<Variant<'t>>,
}

/// `true`, or a time.
#[derive(Serialize)]
#[serde(untagged)]
enum RetiredLine {
    Always(bool),
    From(String),
}

/// Writes a site.
pub(crate) fn write(site: &Site, out: &mut dyn Write) -> io::Result<()> {
    for entry in SortedEntries::of(site).entries() {
        serde_json::to_writer(&mut *out, &LinkLine::of(entry))?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

impl<'t> LinkLine<'t> {
    fn of(entry: Entry<'t>) -> Self {
        Self {
            base_url: entry.site().base_url().as_str(),
            short_code: entry.code(),
            url: entry.target(),
            below: entry.below(),
            aliases: entry.aliases().collect(),
            status: entry.status().code(),
            forward: entry.forward().name(),
            cache_max_age: entry.cache_max_age(),
            title: entry.title(),
            owner: entry.owner(),
            tags: entry.tags().collect(),
            expires: entry.expires().map(|time| time.to_string()),
            retired: entry.retired().map(|retired| match retired {
                Retired::Always => RetiredLine::Always(true),
                Retired::From(time) => RetiredLine::From(time.to_string()),
            }),
            archive: entry.archive(),
            variants: entry.variants().collect(),
        }
    }
}
