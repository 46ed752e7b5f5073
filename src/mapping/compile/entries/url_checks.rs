//! Checks of URLs that entries and sites share.

use std::borrow::Cow;

use crate::mapping::parse::{Located, Report};
use crate::mapping::value::{Forward, Misfit, Position, Rule, Target};

/// The message for a URL that a parser would write differently.
pub(in crate::mapping::compile) const NOT_CANONICAL: &str = "the URL is not in canonical form";

const BY_DEFAULTS: &str = "the defaults ask for it: add \"forward: none\" here";

/// The place that sets what an entry forwards.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SetBy {
    Entry,
    Defaults,
}

/// What is forwarded to a URL, and where that is set.
#[derive(Clone, Copy)]
pub(super) struct Forwarding<'f> {
    pub(super) forward: Forward,
    pub(super) set_by: SetBy,
    /// The place to report.
    pub(super) position: Position,
    /// The media types of the variant whose URL it is.
    pub(super) types: Option<&'f str>,
}

impl Forwarding<'_> {
    /// Returns what is forwarded to a `below`, where `all` is for variants without one.
    pub(super) fn besides_all(self) -> Self {
        Self {
            forward: self.forward.besides_all(),
            ..self
        }
    }

    /// Reports a target that cannot take what is forwarded.
    pub(super) fn check_target(self, report: &mut Report<'_>, target: &str) {
        let Some(misfit) = Misfit::of(self.forward, target) else {
            return;
        };
        let hint = match (self.set_by, misfit) {
            (SetBy::Defaults, Misfit::Ending) => BY_DEFAULTS,
            _ => misfit.hint(),
        };
        self.report(report, misfit, hint);
    }

    /// Reports a `below` that cannot take what is forwarded, or excludes it.
    pub(super) fn check_below(self, report: &mut Report<'_>, below: &str) {
        let Some(misfit) = Misfit::of_below(self.forward, below) else {
            return;
        };
        let hint = match (self.set_by, misfit) {
            (SetBy::Entry, _) => misfit.hint(),
            // It is reported whatever the defaults are.
            (SetBy::Defaults, Misfit::Ending) => return,
            (SetBy::Defaults, Misfit::Fragment | Misfit::TwoUrls) => BY_DEFAULTS,
        };
        self.report(report, misfit, hint);
    }

    fn report(self, report: &mut Report<'_>, misfit: Misfit, hint: &str) {
        let message = match self.types {
            Some(types) => format!("{misfit} (for {types})"),
            None => misfit.to_string(),
        };
        report.problem_with_hint(misfit.rule(), self.position, message, hint);
    }
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
