//! Shadowing: new codes that change what published paths of other entries lead to.
//!
//! A path may resolve although it is not a code: it is forwarded, repaired, or another spelling of
//! a code. A new code may take precedence. Both tables are queried for where such a path leads, by
//! the steps of [`resolve`](crate::mapping::resolve), which determine the paths to query:
//!
//! - A code is found as it is written, with a trailing slash, and with a `+`. Each of the three may
//!   have been forwarded, repaired, or the standard-alphabet spelling of an auto code.
//! - An auto code that ends in `-` or `_` is also found without that character, unless another one
//!   would be found in this way too: then neither is.
//! - A code that takes the paths below it takes all that are not codes: those that a shorter
//!   code forwarded, auto codes whose standard-alphabet spelling has a slash there, with or without
//!   its further slashes encoded, and repairs of codes below it.
//! - A site whose base path lies under that of another takes all paths that begin with it: those of
//!   codes, and those that were forwarded.
//! - A site that now finds codes in any case finds a code below a prefix that is spelled in another case,
//!   where that prefix forwarded the rest.
//! - No other path can change. The standard-alphabet spelling of a new auto code led nowhere unless
//!   it was forwarded, and then it still is; a new code with punctuation after it was repaired to
//!   the same code as without.
//!
//! It costs a few lookups for each new code, and one pass over the listed codes if any forwards its
//! path. Entries of pieces that both tables have are not visited: their codes are not new.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::mapping::compare::compared::SitePair;
use crate::mapping::packed::{Catalogue, CodeKind, Entry, Site, Table};
use crate::mapping::resolve::{LOST, Match, Via, location_of, location_of_variant};
use crate::mapping::value::{Case, Timestamp};

/// The queries to test with: if one is forwarded, any is.
const QUERIES: [&str; 2] = ["", "q"];

/// An entry whose published path a new code changes.
#[derive(Debug, Clone)]
pub struct Shadowed<'t> {
    /// The new code, or one that now forwards its path and did not before; if a new site takes the
    /// path, the code to which its base path would belong.
    pub code: String,
    /// The new site that takes the path, if it is not the code.
    pub site: Option<&'t Site>,
    /// The entry of that code, in the new table; if a site takes the path, the entry that it is taken
    /// from.
    pub new: Entry<'t>,
    /// The entry that the path resolved to, in the old table.
    pub old: Entry<'t>,
    /// One such path, relative to the base path; not percent-encoded, except for slashes within a
    /// segment.
    pub path: String,
}

/// Returns all entries that the new codes of a table shadow, in the written order of the new table.
///
/// Sites are matched by host and base path. Paths of removed sites are ignored.
pub fn shadowed<'t>(old: &'t Table, new: &'t Table) -> Vec<Shadowed<'t>> {
    let mut all = Vec::new();
    for site in new.sites() {
        let Some(old) = old.counterpart(site) else {
            all.append(&mut taken_by(site, old, new));
            continue;
        };
        let pair = SitePair::of(Some(old), Some(site));
        let mut codes = Vec::new();
        for entry in pair.new_entries() {
            let own = pair.new.codes(entry);
            codes.extend(own.filter(|code| is_news(old, entry, code)));
        }
        let mut found = shadowed_by(old, site, &codes);
        found.sort_by_key(|it| it.new.written());
        all.append(&mut found);
    }
    all
}

/// Returns the entries of which a new site takes paths, because its base path lies under that of
/// theirs.
fn taken_by<'t>(site: &'t Site, old: &'t Table, new: &'t Table) -> Vec<Shadowed<'t>> {
    let Some(around) = old.site_around(site.base_url()) else {
        return Vec::new();
    };
    // If that site is gone, so are its codes.
    let Some(now) = new.counterpart(around) else {
        return Vec::new();
    };
    let start = &site.base_url().path()[around.base_url().path().len()..];
    let catalogue = Catalogue::new(Some(around));
    let codes = catalogue.entries().flat_map(|it| catalogue.codes(it));
    let codes = codes.filter(|code| code.starts_with(start));
    let mut paths: Vec<_> = codes.map(Cow::into_owned).collect();
    // Any path that is not a code represents all that are forwarded.
    let mut below = format!("{start}x");
    while around.lookup_in_any_case(&below).is_some()
        || (site.lookup_in_any_case(&below[start.len()..])).is_some()
    {
        below.push('x');
    }
    paths.extend([start.to_owned(), below]);
    let mut found = Vec::new();
    for path in paths {
        let is_taken = old.site_over(around, &path).is_none()
            && (new.site_over(now, &path)).is_some_and(|it| it.base_url() == site.base_url());
        let before = around.find_path(&path);
        let Match::Link(entry, ..) = before else {
            continue;
        };
        let after = site.find_path(&path[start.len()..]);
        let mut effects = QUERIES
            .iter()
            .map(|query| Effect::of(before, query) == Effect::of(after, query));
        let is_kept = effects.all(|it| it);
        // A removed entry is reported as removed.
        let new = (now.lookup_in_any_case(&entry.code())).filter(|_| is_taken && !is_kept);
        if let Some(new) = new {
            found.push(Shadowed {
                code: start.trim_end_matches('/').to_owned(),
                site: Some(site),
                new,
                old: entry,
                path,
            });
        }
    }
    found
}

/// Returns the entries that the given codes of a site shadow, compared with the old site; codes
/// that it already had are skipped.
pub fn shadowed_by<'t>(
    old: &'t Site,
    new: &'t Site,
    codes: &[impl AsRef<str>],
) -> Vec<Shadowed<'t>> {
    let mut search = ShadowSearch {
        old,
        new,
        known: HashSet::new(),
        found: Vec::new(),
    };
    let mut prefixes = HashMap::new();
    for code in codes {
        let code = code.as_ref();
        let Some(entry) = new.lookup(code).filter(|it| is_news(old, *it, code)) else {
            continue;
        };
        if old.lookup(code).is_none() {
            search.ask_code(code);
        }
        if entry.takes_below() {
            search.resolve_below(code);
            prefixes.insert(new.compared_form(code), code);
        }
    }
    if !prefixes.is_empty() {
        search.ask_listed(&prefixes);
    }
    if (old.about().case(), new.about().case()) == (Case::Exact, Case::Fold) {
        search.ask_in_other_case();
    }
    search.found
}

/// Returns the entry of a site that a new code would shadow, and its path, if there is one: as
/// [`shadowed_by`] does, but without the table with the code, whose entry forwards no path.
pub fn would_shadow<'t>(old: &'t Site, link: &NewLink<'_>) -> Option<(Entry<'t>, String)> {
    let leads = Effect::Leads(link.target.to_owned(), link.gone_from);
    let is_lost = link.is_auto && link.code.ends_with(LOST);
    let ways = ["", "/", "+"].map(|end| format!("{}{end}", link.code));
    let shadowed = ways.into_iter().find_map(|path| {
        let before = old.find_path(&path);
        let Match::Link(entry, _, _) = before else {
            return None;
        };
        let after = match path.ends_with('+') {
            true => &Effect::Other,
            false => &leads,
        };
        let mut effects = QUERIES.iter().map(|query| Effect::of(before, query));
        effects.any(|it| it != *after).then_some((entry, path))
    });
    shadowed.or_else(|| {
        // Of two auto codes that fit, neither is found.
        let path = &link.code[..link.code.len() - usize::from(is_lost)];
        match old.find_path(path) {
            Match::Link(entry, _, Via::Repair) if is_lost => Some((entry, path.to_owned())),
            _ => None,
        }
    })
}

/// A link that no table has yet.
#[derive(Debug, Clone, Copy)]
pub struct NewLink<'l> {
    /// Its code.
    pub code: &'l str,
    /// Whether the code is derived from the target.
    pub is_auto: bool,
    /// Its target, in canonical form.
    pub target: &'l str,
    /// The end of its validity.
    pub gone_from: Option<Timestamp>,
}

/// Returns whether a code of an entry is new to a site, or now takes the paths below it.
pub(crate) fn is_news(old: &Site, entry: Entry<'_>, code: &str) -> bool {
    let was = old.lookup(code);
    was.is_none_or(|was| entry.takes_below() && !was.takes_below())
}

struct ShadowSearch<'t> {
    old: &'t Site,
    new: &'t Site,
    /// The codes already found to shadow an entry, with its number.
    known: HashSet<(String, u32)>,
    found: Vec<Shadowed<'t>>,
}

impl ShadowSearch<'_> {
    /// Checks the paths that a code takes.
    fn ask_code(&mut self, code: &str) {
        for end in ["", "/", "+"] {
            self.ask(code, &format!("{code}{end}"));
        }
        if let Some(rest) = code.strip_suffix(LOST)
            && self.new.lookup_auto(code).is_some()
        {
            self.ask(code, rest);
        }
    }

    /// Checks paths below a code that takes them.
    fn resolve_below(&mut self, code: &str) {
        // Any two paths below that are no codes represent all of them. One might lead to the same
        // location as before, if only one of the two tables appends it to a target.
        for name in ["x", "y"] {
            let mut path = format!("{code}/{name}");
            while self.old.lookup_in_any_case(&path).is_some()
                || self.new.lookup_in_any_case(&path).is_some()
            {
                path.push_str(name);
            }
            self.ask(code, &path);
        }
        if code.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'/') {
            let start = format!("{}_", code.replace('/', "_"));
            for start in self.spellings_of_start(start) {
                for entry in self.old.hashed_from(&start) {
                    self.ask_spelled(code, &in_standard_alphabet(&entry.code()));
                }
            }
        }
    }

    /// Returns the texts with which auto codes may begin that a prefix takes: if the case of letters does
    /// not count, all its spellings, which are few because an auto code is short.
    fn spellings_of_start(&self, start: String) -> Vec<String> {
        let mut spellings = vec![String::new()];
        if self.new.about().case() == Case::Exact || start.len() > self.old.scheme().code_len() {
            return vec![start];
        }
        for letter in start.chars() {
            let mut cases = vec![letter.to_ascii_lowercase(), letter.to_ascii_uppercase()];
            cases.dedup();
            let longer = |text: &String| cases.iter().map(|it| format!("{text}{it}")).collect();
            spellings = spellings
                .iter()
                .flat_map(|it| -> Vec<_> { longer(it) })
                .collect();
        }
        spellings
    }

    /// Checks repairs and spellings of listed codes that are below some of the given codes.
    fn ask_listed(&mut self, prefixes: &HashMap<Cow<'_, str>, &str>) {
        for &listed in self.old.codes.listed() {
            let code = self.old.codes.text(listed);
            // No code ends in a parenthesis.
            let repaired = || format!("{code})");
            self.ask_under(prefixes, code, repaired);
            if listed.kind == CodeKind::Auto && code.contains('_') {
                let spelled = in_standard_alphabet(code);
                let starts = spelled
                    .match_indices('/')
                    .map(|(slash, _)| &spelled[..slash]);
                for prefix in
                    starts.filter_map(|start| prefixes.get(&self.new.compared_form(start)))
                {
                    self.ask_spelled(prefix, &spelled);
                }
            }
        }
    }

    /// Checks codes below a prefix as it is spelled in another case by the code that takes paths below it.
    fn ask_in_other_case(&mut self) {
        let (new, depth) = (self.new, self.new.forwarding_depth());
        let listed = new.codes.listed().iter().filter(|it| it.kind.is_custom());
        for code in listed.map(|&it| new.codes.text(it)) {
            for (slash, _) in code.match_indices('/').take(depth) {
                let (prefix, rest) = code.split_at(slash);
                let spelled = new.codes.number_in_any_case(prefix);
                let spelled = spelled.map(|it| new.codes.text(new.codes.listed()[it as usize]));
                if let Some(other) = spelled.filter(|other| *other != prefix) {
                    self.ask(code, &format!("{other}{rest}"));
                }
            }
        }
    }

    /// Checks the standard-alphabet spelling of an auto code that is below a code, also with its
    /// further slashes percent-encoded: these end no prefix.
    fn ask_spelled(&mut self, code: &str, spelled: &str) {
        self.ask(code, spelled);
        let (start, rest) = spelled.split_at(code.len() + 1);
        if rest.contains('/') {
            self.ask(code, &format!("{start}{}", rest.replace('/', "%2F")));
        }
    }

    /// Checks a path for the longest of the given codes that it is below: no shorter one can answer
    /// it.
    fn ask_under(
        &mut self,
        prefixes: &HashMap<Cow<'_, str>, &str>,
        text: &str,
        path: impl Fn() -> String,
    ) {
        let mut starts = text.rmatch_indices('/').map(|(slash, _)| &text[..slash]);
        if let Some(prefix) = starts.find_map(|start| prefixes.get(&self.new.compared_form(start)))
        {
            self.ask(prefix, &path());
        }
    }

    /// Records the entry that a path resolved to, if this code makes it lead elsewhere.
    fn ask(&mut self, code: &str, path: &str) {
        let before = self.old.find_path(path);
        let (Match::Link(old, remainder, _), Some(new)) = (before, self.new.lookup(code)) else {
            return;
        };
        let after = self.new.find_path(path);
        let is_own = match after {
            // A change to the entry itself is not caused by the new code.
            Match::Link(entry, now, _) => now == remainder && is_same(old, entry),
            _ => false,
        };
        let is_kept = || {
            QUERIES
                .iter()
                .all(|query| Effect::of(before, query) == Effect::of(after, query))
        };
        if !is_own && !is_kept() && self.known.insert((code.to_owned(), old.number())) {
            self.found.push(Shadowed {
                code: code.to_owned(),
                site: None,
                new,
                old,
                path: path.to_owned(),
            });
        }
    }
}

/// The effect of a path, at any time.
#[derive(Debug, PartialEq)]
enum Effect {
    /// It answers 410, forever.
    Gone,
    /// It leads to a location, and to those of variants on further lines, and may answer 410 from some
    /// time on.
    Leads(String, Option<Timestamp>),
    /// It is a page, or nothing.
    Other,
}

impl Effect {
    fn of<'t>(found: Match<'t, '_>, query: &str) -> Self {
        let live_target = |entry: Entry<'t>| {
            let target = entry.target_parts();
            target.filter(move |_| entry.gone_from() != Some(Timestamp::MIN))
        };
        match found {
            Match::Link(entry, remainder, _) => match live_target(entry) {
                Some(target) => {
                    let mut leads: String = location_of(entry, target, remainder, query).into();
                    for variant in entry.variants() {
                        let location = location_of_variant(entry, variant, remainder, query);
                        leads.push_str(&format!("\n{}: {location}", variant.type_list()));
                    }
                    Self::Leads(leads, entry.gone_from())
                }
                None => Self::Gone,
            },
            Match::Preview(entry) if live_target(entry).is_none() => Self::Gone,
            Match::Preview(_) | Match::Landing | Match::Nothing => Self::Other,
        }
    }
}

/// Returns whether requests find an entry of a new table under a code that an old entry had.
fn is_same(old: Entry<'_>, new: Entry<'_>) -> bool {
    let has = |code: &str| {
        let holder = new.site().lookup_in_any_case(code);
        holder.is_some_and(|holder| holder.number() == new.number())
    };
    has(&old.code()) || old.aliases().any(has)
}

/// Writes an auto code as `base64` prints it.
fn in_standard_alphabet(code: &str) -> String {
    code.replace('-', "+").replace('_', "/")
}
