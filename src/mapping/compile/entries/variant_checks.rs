//! The variants of entries, checked on their own.

use std::borrow::Cow;
use std::collections::HashSet;

use super::item::Item;
use super::url_checks::{Forwarding, SetBy, check_private, warn_not_canonical};
use super::variants::{WrittenVariant, WrittenVariants};
use crate::mapping::packed::{OwnedVariant, Variant};
use crate::mapping::parse::{Located, Report};
use crate::mapping::value::{MediaType, Position, Rule, Target};

/// Checks the variants of an entry; returns those that are valid.
pub(super) fn read_variants(report: &mut Report<'_>, item: &Item<'_>) -> Vec<OwnedVariant> {
    let written = item.rare.as_deref().and_then(|rare| rare.variants.as_ref());
    let Some(WrittenVariants { position, all }) = written else {
        return Vec::new();
    };
    if item.url.is_none() && !all.is_empty() {
        let message = "an entry without a URL has variants";
        let hint = "remove \"variants\": they name targets, too";
        report.problem_with_hint(Rule::VariantsWithoutUrl, *position, message, hint);
    }
    let (mut valid, mut known) = (Vec::new(), HashSet::new());
    for variant in all {
        let types = read_types(report, &variant.types, &mut known);
        let names: Vec<_> = types.iter().map(MediaType::as_str).collect();
        let type_list = names.join(", ");
        let target = variant.url.as_ref().and_then(|url| {
            let target = read_target(report, url)?;
            if variant.below.is_none() {
                let forwarding = forwarding(item, url.position, &type_list);
                forwarding.check_target(report, target.as_str());
            }
            Some(target)
        });
        let below = read_below(report, item, variant, &type_list);
        if let (Some(target), false) = (target, types.is_empty()) {
            valid.push(OwnedVariant {
                types,
                target: target.into_owned(),
                below: below.map(Target::into_owned),
            });
        }
    }
    valid
}

/// Reports a variant that cannot take what the defaults of its document forward.
pub(super) fn check_default_of_variant(
    report: &mut Report<'_>,
    variant: Variant<'_>,
    forwarding: Forwarding<'_>,
) {
    let types = variant.type_list();
    let forwarding = Forwarding {
        types: Some(&types),
        ..forwarding
    };
    match variant.below() {
        Some(below) => forwarding.besides_all().check_below(report, below),
        None => forwarding.check_target(report, variant.target()),
    }
}

/// Returns what an entry itself sets to be forwarded to a URL of a variant.
fn forwarding<'f>(item: &Item<'_>, position: Position, types: &'f str) -> Forwarding<'f> {
    Forwarding {
        forward: item.forward.map(|it| it.value).unwrap_or_default(),
        set_by: SetBy::Entry,
        position,
        types: Some(types),
    }
}

/// Reads where paths lead for the types of a variant. The entry must lead them somewhere for all others.
fn read_below<'u>(
    report: &mut Report<'_>,
    item: &Item<'_>,
    variant: &'u WrittenVariant<'_>,
    type_list: &str,
) -> Option<Target<'u>> {
    let below = variant.below.as_ref()?;
    let target = read_target(report, below)?;
    let forwarding = forwarding(item, below.position, type_list);
    let has_below = item.rare.as_deref().is_some_and(|it| it.below.is_some());
    if !has_below && !forwarding.forward.takes_below() {
        let message = "only a variant says where paths below the code lead";
        let hint = "add \"below\" to the entry, for all other requests";
        report.problem_with_hint(Rule::BelowOfVariantOnly, below.position, message, hint);
    }
    forwarding
        .besides_all()
        .check_below(report, target.as_str());
    Some(target)
}

/// Reads media types, which must differ from the known ones.
fn read_types(
    report: &mut Report<'_>,
    written: &[Located<Cow<'_, str>>],
    known: &mut HashSet<String>,
) -> Vec<MediaType> {
    let mut types = Vec::new();
    for Located { value, position } in written {
        match MediaType::parse(value) {
            Ok(it) if !known.insert(it.as_str().to_owned()) => {
                let message = format!("the media type {:?} appears twice", it.as_str());
                let hint = "keep it in one variant: the first takes precedence";
                report.problem_with_hint(Rule::MediaTypeTwice, *position, message, hint);
            }
            Ok(it) => types.push(it),
            Err(error) => {
                let message = format!("{error}: {value:?}");
                report.problem_with_hint(error.rule(), *position, message, error.hint());
            }
        }
    }
    types
}

/// Reads the target of a variant, and warns of one that is not canonical.
fn read_target<'u>(report: &mut Report<'_>, url: &'u Located<Cow<'_, str>>) -> Option<Target<'u>> {
    let Located { value, position } = url;
    match Target::parse(value) {
        Ok(target) => {
            warn_not_canonical(report, url, &target);
            check_private(report, &target, *position);
            Some(target)
        }
        Err(error) => {
            report.problem(error.rule(), *position, error.to_string(), error.hint());
            None
        }
    }
}
