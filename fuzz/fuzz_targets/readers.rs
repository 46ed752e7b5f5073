//! A file in block form, read by the fast reader and by the general YAML reader: both must agree.

#![no_main]

use std::borrow::Cow;
use std::iter;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use waypost_fuzz::mapping::{
    Compilation, Entry, Forward, Place, SourceFile, Status, Timestamp, Variant, compile,
    is_in_block_form,
};

fuzz_target!(|text: &str| {
    if !is_in_block_form(text.strip_prefix('\u{feff}').unwrap_or(text)) {
        return;
    }
    // A comment with a tab, on a line after all others: it means nothing and moves nothing, but the
    // fast reader rejects the file because of it, at its very end.
    let for_any_reader = format!("{text}\n# \t");
    assert!(
        !is_in_block_form(&for_any_reader),
        "the fast reader must decline a tab, or nothing is compared"
    );

    let fast = compile_file(text);
    let any = compile_file(&for_any_reader);
    assert_eq!(fast.diagnostics, any.diagnostics);
    assert_eq!(fast.expectations, any.expectations);
    assert_eq!(all_said(&fast), all_said(&any));
});

fn compile_file(text: &str) -> Compilation {
    compile(&[SourceFile {
        path: Arc::from("a.yaml"),
        bytes: text.as_bytes().to_vec(),
    }])
}

/// The content of a site, without how it is stored.
#[derive(Debug, PartialEq)]
struct Said<'t> {
    /// Its base URL, its scheme, and how a new entry gets its code.
    site: String,
    entries: Vec<SaidEntry<'t>>,
}

/// The content of an entry.
#[derive(Debug, PartialEq)]
struct SaidEntry<'t> {
    place: Place,
    codes: Vec<Cow<'t, str>>,
    target: Option<Cow<'t, str>>,
    status: Status,
    forward: Forward,
    cache_max_age: u32,
    title: Option<&'t str>,
    owner: Option<&'t str>,
    tags: Vec<&'t str>,
    archive: Option<&'t str>,
    below: Option<&'t str>,
    variants: Vec<Variant<'t>>,
    gone_from: Option<Timestamp>,
}

fn all_said(compilation: &Compilation) -> Vec<Said<'_>> {
    let sites = compilation.table.iter().flat_map(|table| table.sites());
    let said = sites.map(|site| Said {
        site: format!(
            "{} {:?} {:?}",
            site.base_url().as_str(),
            site.scheme(),
            site.new_code()
        ),
        entries: site.entries().map(SaidEntry::new).collect(),
    });
    said.collect()
}

impl<'t> SaidEntry<'t> {
    fn new(entry: Entry<'t>) -> Self {
        Self {
            place: entry.place(),
            codes: iter::once(entry.code())
                .chain(entry.aliases().map(Cow::Borrowed))
                .collect(),
            target: entry.target(),
            status: entry.status(),
            forward: entry.forward(),
            cache_max_age: entry.cache_max_age(),
            title: entry.title(),
            owner: entry.owner(),
            tags: entry.tags().collect(),
            archive: entry.archive(),
            below: entry.below(),
            variants: entry.variants().collect(),
            gone_from: entry.gone_from(),
        }
    }
}
