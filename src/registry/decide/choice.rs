//! Chooses codes: the requested ones if they are free, or the next free one.
//!
//! Both single additions and imports get their codes here, and find out here whether a target
//! already has one.
//!
//! A code is free if no entry of the site has it, not even a retired one. The choice depends only
//! on the table and is written out wherever another entry had to be avoided, so that no code ever
//! depends on the order of entries.

use super::refusal::{Holder, RegistrationRefusal};
use super::request::{RegistrationRequest, RequestedCode};
use crate::edit::OwnCode;
use crate::mapping::{Code, Entry, NewCode, Site, Target, Timestamp};

/// Returns the code of a new entry; `highest` is the highest existing number.
pub(crate) fn own_code<'t>(
    site: &'t Site,
    requested: &RequestedCode,
    target: &Target<'_>,
    highest: impl FnOnce(&'t Site) -> Option<u64>,
    now: Timestamp,
) -> Result<OwnCode, RegistrationRefusal> {
    let is_free = |code: &Code| site.lookup(code.as_str()).is_none();
    match requested {
        RequestedCode::Custom(text) => Ok(OwnCode::Custom(free(site, Code::custom(text)?, now)?)),
        RequestedCode::Number(number) => {
            let code = Code::number(*number)?;
            not_held(site.lookup(code.as_str()), &code, now)?;
            Ok(OwnCode::Number(code, *number))
        }
        RequestedCode::NextNumber => next_number(highest(site), is_free),
        RequestedCode::Any => any(site, target, || highest(site), is_free),
    }
}

/// Returns a code of the site's default kind for new links; `highest` is the highest existing
/// number.
pub(crate) fn any(
    site: &Site,
    target: &Target<'_>,
    highest: impl FnOnce() -> Option<u64>,
    is_free: impl Fn(&Code) -> bool,
) -> Result<OwnCode, RegistrationRefusal> {
    match site.new_code() {
        NewCode::Auto => Ok(derived(site, target, is_free)),
        NewCode::Number => next_number(highest(), is_free),
    }
}

/// Returns the further codes of a new entry.
pub(crate) fn aliases(
    site: &Site,
    request: &RegistrationRequest,
    own: &Code,
    now: Timestamp,
) -> Result<Vec<Code>, RegistrationRefusal> {
    let mut aliases = Vec::new();
    for text in &request.aliases {
        let alias = free(site, Code::custom(text)?, now)?;
        let is_same =
            |other: &Code| site.compared_form(other.as_str()) == site.compared_form(alias.as_str());
        if is_same(own) || aliases.iter().any(is_same) {
            return Err(RegistrationRefusal::CodeRepeated {
                code: alias.to_string(),
            });
        }
        aliases.push(alias);
    }
    Ok(aliases)
}

/// Returns a code that a person chose if requests find no entry of the site under it.
pub(crate) fn free(site: &Site, code: Code, now: Timestamp) -> Result<Code, RegistrationRefusal> {
    not_held(site.lookup_in_any_case(code.as_str()), &code, now)?;
    Ok(code)
}

fn not_held(
    holder: Option<Entry<'_>>,
    code: &Code,
    now: Timestamp,
) -> Result<(), RegistrationRefusal> {
    match holder {
        None => Ok(()),
        Some(holder) => Err(RegistrationRefusal::CodeTaken {
            code: code.to_string(),
            holder: Holder::of(holder, now),
        }),
    }
}

/// Returns the entry of a target: a live one in preference to one that is gone.
pub(crate) fn registered(site: &Site, target: &Target<'_>, now: Timestamp) -> Option<Box<Holder>> {
    let entries = site.leading_to(target.as_str());
    let live = entries.iter().find(|entry| !entry.is_gone(now));
    let found = live.or(entries.first());
    match found {
        Some(entry) => Some(Holder::of(*entry, now)),
        None => taken_down(site, target, now),
    }
}

/// Returns the entry that has dropped a target: it has the code that the target derives.
pub(crate) fn taken_down(site: &Site, target: &Target<'_>, now: Timestamp) -> Option<Box<Holder>> {
    let code = site.scheme().code(target.as_str());
    let holder = site.lookup(code.as_str());
    let holder = holder.filter(|entry| entry.target().is_none())?;
    Some(Holder::of(holder, now))
}

/// Returns the code that the site derives, or the next free one after it.
fn derived(site: &Site, target: &Target<'_>, is_free: impl Fn(&Code) -> bool) -> OwnCode {
    let code = site.scheme().code(target.as_str());
    if is_free(&code) {
        return OwnCode::Auto;
    }
    let next = site.scheme().probe(code.as_str()).find(is_free);
    OwnCode::Custom(next.expect("there are more codes than a table has entries"))
}

/// Returns the number after the highest one, skipping those whose code is taken or reserved.
fn next_number(
    highest: Option<u64>,
    is_free: impl Fn(&Code) -> bool,
) -> Result<OwnCode, RegistrationRefusal> {
    let numbers = (highest.unwrap_or(0))
        .checked_add(1)
        .into_iter()
        .flat_map(|it| it..=u64::MAX);
    let mut codes = numbers.filter_map(|number| {
        let code = Code::number(number).ok()?;
        is_free(&code).then_some(OwnCode::Number(code, number))
    });
    codes.next().ok_or(RegistrationRefusal::NoNumberLeft)
}
