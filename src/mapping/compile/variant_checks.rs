//! The variants of entries, checked on their own.

use std::borrow::Cow;
use std::collections::HashSet;

use super::item::Item;
use super::url_checks::{NOT_CANONICAL, SetBy, check_forward, check_private};
use super::variants::WrittenVariants;
use crate::mapping::packed::OwnedVariant;
use crate::mapping::parse::{Located, Report};
use crate::mapping::value::{MediaType, Rule, Target};

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
        let target = variant.url.as_ref().and_then(|url| {
            let target = read_target(report, url)?;
            if let Some(forward) = item.forward {
                let (forward, at) = (forward.value, url.position);
                check_forward(report, target.as_str(), forward, at, SetBy::Entry);
            }
            Some(target)
        });
        if let (Some(target), false) = (target, types.is_empty()) {
            let target = target.into_owned();
            valid.push(OwnedVariant { types, target });
        }
    }
    valid
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
            if *value != target.as_str() {
                let hint = format!("write {:?}", target.as_str());
                report.problem_with_hint(Rule::UrlNotCanonical, *position, NOT_CANONICAL, hint);
            }
            check_private(report, &target, *position);
            Some(target)
        }
        Err(error) => {
            report.problem(error.rule(), *position, error.to_string(), error.hint());
            None
        }
    }
}
