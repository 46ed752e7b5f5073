//! Verdicts: conclusions about targets.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::mapping::Rule;

/// The conclusion about a target.
#[derive(
    Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It works.
    Ok,
    /// It works, and its host redirects it permanently to another URL.
    Moved,
    /// It does not work, but not for long enough to be dead.
    Failing,
    /// It has failed several times over days.
    Dead,
    /// Its host reports that it is permanently gone.
    Gone,
    /// Its host blocks automated requests.
    Blocked,
    /// Its host reports success, but does so for any name.
    #[serde(rename = "soft-404")]
    SoftNotFound,
    /// The robots.txt of its host disallows it.
    RobotsDisallowed,
    /// Its host has a certificate that cannot be trusted.
    Insecure,
    /// It was not checked, or nothing can be concluded.
    #[default]
    Unchecked,
}

impl Verdict {
    /// All verdicts.
    pub const ALL: [Self; 10] = [
        Self::Ok,
        Self::Moved,
        Self::Failing,
        Self::Dead,
        Self::Gone,
        Self::Blocked,
        Self::SoftNotFound,
        Self::RobotsDisallowed,
        Self::Insecure,
        Self::Unchecked,
    ];

    /// Returns its name in reports and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Moved => "moved",
            Self::Failing => "failing",
            Self::Dead => "dead",
            Self::Gone => "gone",
            Self::Blocked => "blocked",
            Self::SoftNotFound => "soft-404",
            Self::RobotsDisallowed => "robots-disallowed",
            Self::Insecure => "insecure",
            Self::Unchecked => "unchecked",
        }
    }

    /// Returns the rule of the diagnostics that report it, if it is worth reporting.
    pub const fn rule(self) -> Option<Rule> {
        match self {
            Self::Ok | Self::Unchecked => None,
            Self::Moved => Some(Rule::LinkMoved),
            Self::Failing => Some(Rule::LinkFailing),
            Self::Dead => Some(Rule::LinkDead),
            Self::Gone => Some(Rule::LinkGone),
            Self::Blocked => Some(Rule::LinkBlocked),
            Self::SoftNotFound => Some(Rule::LinkSoft404),
            Self::RobotsDisallowed => Some(Rule::LinkRobotsDisallowed),
            Self::Insecure => Some(Rule::LinkInsecure),
        }
    }

    /// Returns whether the target works.
    pub const fn is_ok(self) -> bool {
        matches!(self, Self::Ok | Self::Moved)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_the_same_everywhere() {
        for verdict in Verdict::ALL {
            let json = serde_json::to_string(&verdict).unwrap();
            assert_eq!(json, format!("\"{verdict}\""));
            if let Some(rule) = verdict.rule() {
                assert_eq!(rule.name(), format!("link-{verdict}"));
            }
        }
    }
}
