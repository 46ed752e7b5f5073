//! Checks of URLs that entries and sites share.

use std::borrow::Cow;

use crate::mapping::parse::{Located, Report};
use crate::mapping::value::{Forward, Misfit, Position, Rule, Target};

/// The message for a URL that a parser would write differently.
pub(super) const NOT_CANONICAL: &str = "the URL is not in canonical form";

/// The place that sets what an entry forwards.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SetBy {
    Entry,
    Defaults,
}

/// Reports what is forwarded if a target cannot take it.
pub(super) fn check_forward(
    report: &mut Report<'_>,
    target: &str,
    forward: Forward,
    position: Position,
    set_by: SetBy,
) {
    if let Some(misfit) = Misfit::of(forward, target) {
        let hint = match misfit {
            Misfit::Ending if set_by == SetBy::Defaults => {
                "the defaults ask for it: add \"forward: none\" here"
            }
            _ => misfit.hint(),
        };
        report.problem(
            misfit.rule(),
            position,
            misfit.to_string(),
            Some(hint.to_owned()),
        );
    }
}

/// Reports a `below` that cannot take what is forwarded, or excludes it.
pub(super) fn check_below(
    report: &mut Report<'_>,
    below: &str,
    forward: Forward,
    position: Position,
    set_by: SetBy,
) {
    let Some(misfit) = Misfit::of_below(forward, below) else {
        return;
    };
    let hint = match (set_by, misfit) {
        (SetBy::Entry, _) => misfit.hint(),
        // It is reported whatever the defaults are.
        (SetBy::Defaults, Misfit::Ending) => return,
        (SetBy::Defaults, Misfit::Fragment | Misfit::TwoUrls) => {
            "the defaults ask for it: add \"forward: none\" here"
        }
    };
    let message = misfit.to_string();
    report.problem_with_hint(misfit.rule(), position, message, hint);
}

/// Warns of a URL that is not canonical, if no code is derived from it.
pub(super) fn warn_not_canonical(
    report: &mut Report<'_>,
    written: &Located<Cow<'_, str>>,
    target: &Target<'_>,
) {
    if written.value != target.as_str() {
        let hint = format!("write {:?}", target.as_str());
        let at = written.position;
        report.problem_with_hint(Rule::UrlNotCanonical, at, NOT_CANONICAL, hint);
    }
}

/// Warns of a URL that leads each client into its own network, or to the client itself.
pub(super) fn check_private(report: &mut Report<'_>, target: &Target<'_>, position: Position) {
    if target.is_private() {
        let message = "the URL has a private or loopback address";
        let hint =
            "it is a different machine in every network: use a name that everyone can resolve";
        report.problem_with_hint(Rule::UrlPrivateAddress, position, message, hint);
    }
}
