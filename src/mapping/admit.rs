//! Admission: entry by entry into a site, each checked by itself and against those before it.
//!
//! An entry's target must be sound and its codes free. Where two entries want one code, the first
//! in the order of files and lines holds it, and the problem is told at the second.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use hashbrown::HashTable;

use super::diagnostic::Problems;
use super::document::{Document, Item};
use super::entry::Retired;
use super::reader::Located;
use super::report::Report;
use super::site::{CodeKind, Details, NewEntry};
use super::{Code, CodeError, Entry, Forward, Position, Site, Target};

/// How long a redirect may be cached unless the table says otherwise, in seconds.
const DEFAULT_MAX_AGE: u32 = 60;

/// A site that is being filled.
pub(super) struct Admission<'p> {
    site: Site,
    problems: &'p mut Problems,
    /// The first live entry of each target, by its number in the site.
    targets: HashTable<u32>,
    hasher: RandomState,
    collisions: Vec<Collision>,
}

/// An entry whose implicit code is held by another target: its hint is the next free code, which
/// is known only when all entries are in.
struct Collision {
    problem: usize,
    url: String,
}

/// A code that an entry asks for.
struct Wanted {
    code: Code,
    kind: CodeKind,
    position: Position,
}

impl<'p> Admission<'p> {
    pub(super) fn new(site: Site, problems: &'p mut Problems) -> Self {
        Self {
            site,
            problems,
            targets: HashTable::new(),
            hasher: RandomState::new(),
            collisions: Vec::new(),
        }
    }

    /// Takes the entries of a document in, but for those that something is wrong with.
    pub(super) fn admit(&mut self, file: usize, document: &Document<'_>) {
        for item in &document.entries {
            self.admit_item(file, document, item);
        }
    }

    /// Returns the site.
    pub(super) fn finish(mut self) -> Site {
        self.hint_at_free_codes();
        self.site.shrink();
        self.site
    }

    fn admit_item(&mut self, file: usize, document: &Document<'_>, item: &Item<'_>) {
        let report = &mut Report {
            file: &document.file,
            problems: self.problems,
        };
        // Each is read even if another fails, so that all problems are told at once.
        let target = read_target(report, item);
        let code = read_code(report, item, self.site.scheme());
        let aliases = read_aliases(report, item, code.as_ref());
        let mut details = read_details(report, item);
        let defaults = &document.defaults;
        let forward = item.forward.map(|forward| forward.value);
        let forward = forward.or(defaults.forward).unwrap_or_default();
        if let Ok(Some(target)) = &target {
            check_forward(report, item, target, forward);
        }
        let (Ok(target), Some(code)) = (target, code) else {
            return;
        };
        if target.is_none() {
            // With nowhere to lead until its date, it is gone now.
            details.get_or_insert_default().retired = Some(Retired::Always);
        }
        if let Some(target) = &target {
            check_canonical(report, item, target, &code);
        }
        check_frailty(report, &code);
        let rare = item.rare.as_deref();
        let max_age = rare.and_then(|rare| rare.cache_max_age);
        let new = NewEntry {
            target: target.map(Target::into_string),
            code: code.code.as_str().to_owned(),
            kind: code.kind,
            status: item.status.or(defaults.status).unwrap_or_default(),
            forward,
            max_age: max_age
                .or(defaults.cache_max_age)
                .unwrap_or(DEFAULT_MAX_AGE),
            details,
            file: u32::try_from(file).unwrap_or(u32::MAX),
            position: item.position,
        };
        self.enter(&document.file, item, new, &code, &aliases);
    }

    fn enter(
        &mut self,
        file: &Arc<str>,
        item: &Item<'_>,
        new: NewEntry,
        code: &Wanted,
        aliases: &[Wanted],
    ) {
        let report = &mut Report {
            file,
            problems: self.problems,
        };
        if let Some(holder) = self.site.lookup(&new.code) {
            let texts: Vec<_> = aliases.iter().map(|alias| alias.code.as_str()).collect();
            if holder.says_the_same_as(&new, &texts) {
                let message = "this entry stands in the table twice";
                report.warn(item.position, message, first_at(holder));
            } else if code.kind == CodeKind::Auto && holder.target() != new.target.as_deref() {
                let url = item.url.as_ref().map(|url| url.value.clone().into_owned());
                let told = report.taken(code, holder, String::new());
                self.collisions.extend(told.map(|problem| Collision {
                    problem,
                    url: url.unwrap_or_default(),
                }));
            } else {
                report.taken(code, holder, way_out(holder, new.target.as_deref()));
            }
            return;
        }
        let is_retired = new.details.as_ref().is_some_and(|d| d.retired.is_some());
        if let Some(target) = new.target.as_deref().filter(|_| !is_retired) {
            self.note_target(file, item, target);
        }
        self.site.push(new);
        for alias in aliases {
            self.enter_alias(file, alias);
        }
    }

    fn enter_alias(&mut self, file: &Arc<str>, alias: &Wanted) {
        let report = &mut Report {
            file,
            problems: self.problems,
        };
        match self.site.lookup(alias.code.as_str()) {
            None => self.site.push_alias(alias.code.as_str()),
            Some(holder) => {
                report.taken(alias, holder, "choose another code");
            }
        }
    }

    /// Warns when a target is already reached by another entry.
    fn note_target(&mut self, file: &Arc<str>, item: &Item<'_>, target: &str) {
        let (site, hasher) = (&self.site, &self.hasher);
        let target_of = |&id: &u32| site.entry(id).target().unwrap_or_default();
        let hash = hasher.hash_one(target);
        let Some(&first) = self.targets.find(hash, |id| target_of(id) == target) else {
            let id = u32::try_from(site.len()).unwrap_or(u32::MAX);
            self.targets
                .insert_unique(hash, id, |id| hasher.hash_one(target_of(id)));
            return;
        };
        let first = site.entry(first);
        let mut report = Report {
            file,
            problems: self.problems,
        };
        report.warn(
            item.url.as_ref().map_or(item.position, |url| url.position),
            format!("this URL already has the code {:?}", first.code()),
            format!(
                "{}: further codes go under its \"aliases\"",
                first_at(first)
            ),
        );
    }

    /// Names the next free code for each entry that lost its own to another target.
    fn hint_at_free_codes(&mut self) {
        let mut promised: Vec<Code> = Vec::new();
        for Collision { problem, url } in std::mem::take(&mut self.collisions) {
            let is_free =
                |code: &Code| self.site.lookup(code.as_str()).is_none() && !promised.contains(code);
            let free = self.site.scheme().probe(&url).find(is_free);
            // More entries than codes would be needed to find none.
            let Some(code) = free else { continue };
            let hint = format!("add \"short-code: {}\", the next free code", yaml(&code));
            self.problems.set_hint(problem, hint);
            promised.push(code);
        }
    }
}

impl Report<'_> {
    fn taken(
        &mut self,
        wanted: &Wanted,
        holder: Entry<'_>,
        hint: impl Into<String>,
    ) -> Option<usize> {
        let (code, place) = (wanted.code.as_str(), holder.place());
        let message = format!("the code {code:?} is taken by the entry at {place}");
        self.error(wanted.position, message, Some(hint.into()))
    }

    fn accept(&mut self, code: Result<Code, CodeError>, position: Position) -> Option<Code> {
        match code {
            Ok(code) => Some(code),
            Err(error) => {
                self.error(position, error.to_string(), error.hint());
                None
            }
        }
    }
}

/// Reads the target; `Ok(None)` if a retired entry has dropped it.
fn read_target(report: &mut Report<'_>, item: &Item<'_>) -> Result<Option<Target>, ()> {
    let Some(url) = &item.url else {
        let may_drop = item
            .rare
            .as_ref()
            .is_some_and(|rare| rare.retired.is_some());
        return if may_drop { Ok(None) } else { Err(()) };
    };
    match Target::parse(&url.value) {
        Ok(target) => Ok(Some(target)),
        Err(error) => {
            report.error(url.position, error.to_string(), error.hint());
            Err(())
        }
    }
}

fn read_code(report: &mut Report<'_>, item: &Item<'_>, scheme: super::Scheme) -> Option<Wanted> {
    let number = item.rare.as_ref().and_then(|rare| rare.number);
    let (code, kind, position) = match (&item.short_code, number, &item.url) {
        (Some(code), ..) => (Code::custom(&code.value), CodeKind::Explicit, code.position),
        (None, Some(number), _) => {
            let code = Code::number(number.value);
            (code, CodeKind::Explicit, number.position)
        }
        // Whoever writes a code that is no text at all does not mean the implicit one.
        (None, None, Some(url)) if !item.names_code => {
            (Ok(scheme.code(&url.value)), CodeKind::Auto, url.position)
        }
        _ => return None,
    };
    let code = report.accept(code, position)?;
    Some(Wanted {
        code,
        kind,
        position,
    })
}

/// Reads the further codes; those that repeat another of the entry are told and left out.
fn read_aliases(report: &mut Report<'_>, item: &Item<'_>, own: Option<&Wanted>) -> Vec<Wanted> {
    let aliases = item.rare.iter().flat_map(|rare| &rare.aliases);
    let mut wanted: Vec<Wanted> = Vec::new();
    for Located { value, position } in aliases {
        let position = *position;
        let Some(code) = report.accept(Code::custom(value), position) else {
            continue;
        };
        if own
            .into_iter()
            .chain(&wanted)
            .any(|other| other.code == code)
        {
            let message = format!("the entry has the code {:?} already", code.as_str());
            report.warn(position, message, "leave it out");
            continue;
        }
        let alias = Wanted {
            code,
            kind: CodeKind::Alias,
            position,
        };
        check_frailty(report, &alias);
        wanted.push(alias);
    }
    wanted
}

fn read_details(report: &mut Report<'_>, item: &Item<'_>) -> Option<Details> {
    let rare = item.rare.as_deref()?;
    let archive = rare
        .archive
        .as_ref()
        .and_then(|archive| match Target::parse(&archive.value) {
            Ok(target) => Some(target.into_string().into()),
            Err(error) => {
                report.error(archive.position, error.to_string(), error.hint());
                None
            }
        });
    let boxed = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().map(Box::from);
    let details = Details {
        title: boxed(&rare.title),
        owner: boxed(&rare.owner),
        tags: rare.tags.iter().map(|tag| Box::from(&**tag)).collect(),
        archive,
        expires: rare.expires,
        retired: rare.retired,
    };
    (details != Details::default()).then_some(details)
}

fn check_forward(report: &mut Report<'_>, item: &Item<'_>, target: &Target, forward: Forward) {
    let position = item
        .forward
        .map_or(item.position, |forward| forward.position);
    if forward.path() && !target.can_be_extended() {
        report.error(
            position,
            "the path cannot be forwarded to a target that ends like this",
            Some(match item.forward {
                Some(_) => "end the URL in \"/\", \"=\", \":\" or \"#\"".to_owned(),
                None => "the defaults ask for it: add \"forward: none\" here".to_owned(),
            }),
        );
    } else if forward == Forward::PathAndQuery && target.as_str().ends_with('#') {
        report.error(
            position,
            "a target that ends in \"#\" cannot take both path and query",
            Some("forward the path alone: a query stands before the \"#\"".to_owned()),
        );
    }
}

fn check_canonical(report: &mut Report<'_>, item: &Item<'_>, target: &Target, code: &Wanted) {
    let Some(url) = item.url.as_ref().filter(|url| url.value != target.as_str()) else {
        return;
    };
    let mut hint = format!("write {:?}", target.as_str());
    if code.kind == CodeKind::Auto {
        // The code is derived from the URL as written, and a published link must not change.
        hint = format!(
            "{hint}, and keep its code with \"short-code: {}\"",
            yaml(&code.code)
        );
    }
    report.warn(url.position, "the URL is not in canonical form", hint);
}

/// Warns of codes that are sound and yet easily mistaken or broken.
fn check_frailty(report: &mut Report<'_>, wanted: &Wanted) {
    if wanted.code.ends_in_full_stop() {
        let message = format!("the code {:?} ends in a full stop", wanted.code.as_str());
        let hint = "chat programs leave it out of a link: prefer a code without it";
        report.warn(wanted.position, message, hint);
    }
    if let Some(segment) = wanted.code.mixed_script_segment() {
        let message = format!("{segment:?} mixes scripts");
        let hint = "letters of different scripts can look the same: keep to one script a segment";
        report.warn(wanted.position, message, hint);
    }
}

fn first_at(entry: Entry<'_>) -> String {
    format!("it is first at {}", entry.place())
}

fn way_out(holder: Entry<'_>, target: Option<&str>) -> &'static str {
    if holder.target() == target {
        "make one entry of the two: they lead to the same target"
    } else {
        "choose another code"
    }
}

/// Writes a code as a YAML scalar, quoted where YAML would read something else.
fn yaml(code: &Code) -> String {
    let text = serde_yaml::to_string(&code.as_str());
    text.map_or_else(
        |_| format!("{:?}", code.as_str()),
        |text| text.trim_end().to_owned(),
    )
}
