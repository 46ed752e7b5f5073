//! Admission: checks one entry on its own and adds it to a draft.
//!
//! Its target must be valid and its codes within the grammar. Whether its codes are free is decided
//! later, in `conflicts`.

use super::item::{Item, RareKeys};
use super::url_checks::{Forwarding, SetBy, check_private, warn_not_canonical};
use super::variant_checks::{check_default_of_variant, read_variants};
use super::variants::WrittenVariants;
use crate::mapping::packed::{CodeKind, Draft, NoteKind, Owner, Shape, Term, Unsaid, Variant};
use crate::mapping::parse::{Located, Report};
use crate::mapping::value::{
    Code, CodeError, DEFAULT_MAX_AGE, Defaults, Forward, Position, Retired, Rule, Target,
};

/// An entry's own code.
enum Own {
    /// Derived from the target.
    Auto,
    /// Written explicitly, with its kind and position.
    Explicit(Code, CodeKind, Position),
}

/// Adds an entry to the draft, unless it has an error.
pub(crate) fn admit(item: &Item<'_>, file: u32, draft: &mut Draft, report: &mut Report<'_>) {
    // Each is read even if another fails, so that all problems are reported together.
    let target = read_target(report, item);
    let own = read_own_code(report, item);
    let aliases = read_aliases(report, item);
    let archive = read_archive(report, item);
    let below = read_below(report, item);
    let variants = read_variants(report, item);
    if let (Ok(Some(target)), Some(forward)) = (&target, item.forward) {
        let forwarding = Forwarding {
            forward: forward.value,
            set_by: SetBy::Entry,
            position: forward.position,
            types: None,
        };
        forwarding.check_target(report, target.as_str());
    }
    let (Ok(target), Some(own)) = (target, own) else {
        return;
    };
    if let (Some(target), Own::Explicit(..)) = (&target, &own) {
        check_canonical(report, item, target);
    }
    let target = target.as_ref().map(Target::as_str);
    // The code is derived from the URL as written, whatever its canonical form.
    let as_written = item.url.as_ref().map(|url| &*url.value);
    let is_hashed = matches!(own, Own::Auto) && target == as_written;
    let owner = match (target, &own) {
        (Some(target), _) if is_hashed => draft.begin_hashed(target),
        (_, Own::Explicit(code, ..)) => draft.begin_listed(target, code.as_str()),
        (_, Own::Auto) => draft.begin_listed(target, as_written.unwrap_or_default()),
    };
    push_codes(draft, owner, item, own, &aliases, is_hashed);
    let rare = item.rare.as_deref();
    let mut has_notes = !variants.is_empty();
    if let Some(rare) = rare {
        has_notes |= push_notes(draft, owner, rare, archive.as_ref(), below.as_ref());
    }
    for variant in &variants {
        let note = variant.to_string();
        draft.notes.push(owner.target, NoteKind::Variant, &note);
    }
    let term = Term {
        expires: rare.and_then(|rare| rare.expires),
        // Without a target until its date, it is gone now.
        retired: match target {
            Some(_) => rare.and_then(|rare| rare.retired),
            None => Some(Retired::Always),
        },
    };
    let has_term = term != Term::default();
    if has_term {
        draft.notes.push_term(owner.target, term);
    }
    let max_age = rare.and_then(|rare| rare.cache_max_age);
    let forward = item.forward.map(|forward| forward.value);
    let shape = Shape {
        column: item.position.column,
        url: item.url.as_ref().map(|url| Position {
            line: url.position.line - item.position.line,
            column: url.position.column,
        }),
        status: item.status.unwrap_or_default(),
        forward: forward.unwrap_or_default(),
        max_age: max_age.unwrap_or(DEFAULT_MAX_AGE),
        unsaid: Unsaid {
            status: item.status.is_none(),
            forward: forward.is_none(),
            max_age: max_age.is_none(),
        },
        is_hashed,
        has_codes: !is_hashed || !aliases.is_empty(),
        has_notes,
        has_below: below.is_some(),
        has_term,
        has_variants: !variants.is_empty(),
        variants_have_below: variants.iter().any(|variant| variant.below.is_some()),
    };
    draft.end(owner, file, item.position.line, shape);
}

/// Reports the entries whose target, or `below`, cannot take what the defaults of their document
/// forward.
pub(super) fn check_defaults(draft: &Draft, defaults: &Defaults, report: &mut Report<'_>) {
    let may_misfit = |forward: &Forward| {
        forward.path() || *forward != Forward::None && draft.has_entries_with_below()
    };
    let Some(forward) = defaults.forward.filter(may_misfit) else {
        return;
    };
    for (at, line, shape) in draft.entries() {
        if shape.unsaid.forward && shape.url.is_some() {
            let column = shape.column;
            let forwarding = Forwarding {
                forward,
                set_by: SetBy::Defaults,
                position: Position { line, column },
                types: None,
            };
            let mut some_lack_below = false;
            if shape.has_variants {
                for note in draft.notes.drafted(at, NoteKind::Variant) {
                    let variant = Variant::of_note(note);
                    check_default_of_variant(report, variant, forwarding);
                    some_lack_below |= variant.below().is_none();
                }
            }
            if !shape.has_below {
                let url = draft.targets.get(at).to_string();
                forwarding.check_target(report, &url);
            } else if let Some(below) = draft.notes.drafted(at, NoteKind::Below).next() {
                let forwarding = match some_lack_below {
                    true => forwarding.besides_all(),
                    false => forwarding,
                };
                forwarding.check_below(report, below);
            }
        }
    }
}

impl Report<'_> {
    fn accept(&mut self, code: Result<Code, CodeError>, position: Position) -> Option<Code> {
        match code {
            Ok(code) => Some(code),
            Err(error) => {
                self.problem(error.rule(), position, error.to_string(), error.hint());
                None
            }
        }
    }
}

/// Reads the target; `Ok(None)` if a retired entry has dropped it.
fn read_target<'i>(report: &mut Report<'_>, item: &'i Item<'_>) -> Result<Option<Target<'i>>, ()> {
    let Some(url) = &item.url else {
        let may_drop = item
            .rare
            .as_ref()
            .is_some_and(|rare| rare.retired.is_some());
        return if may_drop { Ok(None) } else { Err(()) };
    };
    match Target::parse(&url.value) {
        Ok(target) => {
            check_private(report, &target, url.position);
            Ok(Some(target))
        }
        Err(error) => {
            report.problem(error.rule(), url.position, error.to_string(), error.hint());
            Err(())
        }
    }
}

fn read_own_code(report: &mut Report<'_>, item: &Item<'_>) -> Option<Own> {
    let number = item.rare.as_ref().and_then(|rare| rare.number);
    let (code, kind, position) = match (&item.short_code, number, &item.url) {
        (Some(code), ..) => (Code::custom(&code.value), CodeKind::Explicit, code.position),
        (None, Some(number), _) => (
            Code::number(number.value),
            CodeKind::Number,
            number.position,
        ),
        // A code that is not text at all is not a request for an auto code.
        (None, None, Some(_)) if !item.names_code => return Some(Own::Auto),
        _ => return None,
    };
    let code = report.accept(code, position)?;
    check_frailty(report, &code, position);
    Some(Own::Explicit(code, kind, position))
}

fn read_aliases(report: &mut Report<'_>, item: &Item<'_>) -> Vec<(Code, Position)> {
    let aliases = item.rare.iter().flat_map(|rare| &rare.aliases);
    let mut codes = Vec::new();
    for Located { value, position } in aliases {
        if let Some(code) = report.accept(Code::custom(value), *position) {
            check_frailty(report, &code, *position);
            codes.push((code, *position));
        }
    }
    codes
}

/// Reads the archived copy; `None` also for an entry that has dropped its target.
fn read_archive<'i>(report: &mut Report<'_>, item: &'i Item<'_>) -> Option<Target<'i>> {
    let archive = item.rare.as_deref()?.archive.as_ref()?;
    match Target::parse(&archive.value) {
        Ok(_) if item.url.is_none() => {
            report.problem(
                Rule::ArchiveWithoutUrl,
                archive.position,
                "an entry without a URL names an archived copy",
                Some("remove \"archive\"".to_owned()),
            );
            None
        }
        Ok(target) => {
            check_private(report, &target, archive.position);
            warn_not_canonical(report, archive, &target);
            Some(target)
        }
        Err(error) => {
            report.problem(
                error.rule(),
                archive.position,
                error.to_string(),
                error.hint(),
            );
            None
        }
    }
}

/// Reads where paths below the codes lead; `None` also for an entry that has dropped its target.
fn read_below<'i>(report: &mut Report<'_>, item: &'i Item<'_>) -> Option<Target<'i>> {
    let below = item.rare.as_deref()?.below.as_ref()?;
    let target = match Target::parse(&below.value) {
        Ok(_) if item.url.is_none() => {
            let message = "an entry without a URL says where paths below it lead";
            let hint = Some("remove \"below\"".to_owned());
            report.problem(Rule::BelowWithoutUrl, below.position, message, hint);
            return None;
        }
        Ok(target) => target,
        Err(error) => {
            let (message, hint) = (error.to_string(), error.hint());
            report.problem(error.rule(), below.position, message, hint);
            return None;
        }
    };
    check_private(report, &target, below.position);
    warn_not_canonical(report, below, &target);
    let mut forward = item.forward.map(|it| it.value).unwrap_or_default();
    let variants = item.rare.as_deref().and_then(|rare| rare.variants.as_ref());
    if variants.is_some_and(WrittenVariants::some_lack_below) {
        forward = forward.besides_all();
    }
    let forwarding = Forwarding {
        forward,
        set_by: SetBy::Entry,
        position: below.position,
        types: None,
    };
    forwarding.check_below(report, target.as_str());
    Some(target)
}

/// Lists the codes of an entry, except its own code if it encodes the hash of its target.
fn push_codes(
    draft: &mut Draft,
    owner: Owner,
    item: &Item<'_>,
    own: Own,
    aliases: &[(Code, Position)],
    is_hashed: bool,
) {
    match (own, &item.url) {
        (Own::Explicit(code, kind, position), _) => {
            draft.push_code(owner, kind, code.as_str(), position);
        }
        (Own::Auto, Some(url)) if !is_hashed => {
            draft.push_code(owner, CodeKind::Auto, &url.value, url.position);
        }
        (Own::Auto, _) => {}
    }
    for (code, position) in aliases {
        draft.push_code(owner, CodeKind::Alias, code.as_str(), *position);
    }
}

/// Adds the descriptive texts of an entry; returns whether there are any.
fn push_notes(
    draft: &mut Draft,
    owner: Owner,
    rare: &RareKeys<'_>,
    archive: Option<&Target<'_>>,
    below: Option<&Target<'_>>,
) -> bool {
    let title = rare.title.iter().map(|it| (NoteKind::Title, &**it));
    let owners = rare.owner.iter().map(|it| (NoteKind::Owner, &**it));
    let tags = rare.tags.iter().map(|it| (NoteKind::Tag, &**it));
    let archive = archive.map(|it| (NoteKind::Archive, it.as_str()));
    let below = below.map(|it| (NoteKind::Below, it.as_str()));
    let urls = archive.into_iter().chain(below);
    let mut has_notes = false;
    for (kind, text) in title.chain(owners).chain(tags).chain(urls) {
        draft.notes.push(owner.target, kind, text);
        has_notes = true;
    }
    has_notes
}

/// Warns of a URL that is not canonical, unless the code depends on it: then `conflicts` does.
fn check_canonical(report: &mut Report<'_>, item: &Item<'_>, target: &Target<'_>) {
    if let Some(url) = &item.url {
        warn_not_canonical(report, url, target);
    }
}

/// Warns of codes that are valid but easily mistaken or broken.
fn check_frailty(report: &mut Report<'_>, code: &Code, position: Position) {
    if code.ends_in_full_stop() {
        let message = format!("the code {:?} ends in a full stop", code.as_str());
        let hint = "chat programs omit it from a link: prefer a code without it";
        report.problem_with_hint(Rule::CodeEndsInFullStop, position, message, hint);
    }
    if let Some(segment) = code.mixed_script_segment() {
        let message = format!("{segment:?} mixes scripts");
        let hint = "letters of different scripts can look the same: use one script in each segment";
        report.problem_with_hint(Rule::CodeMixedScripts, position, message, hint);
    }
}
