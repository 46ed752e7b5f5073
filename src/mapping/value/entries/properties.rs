//! Properties of entries: how a target is reached, how a code is made, when it was retired.

use thiserror::Error;

use super::timestamp::Timestamp;
use crate::mapping::value::diagnostics::Rule;
use crate::mapping::value::urls::can_be_extended;

/// The default time for which a redirect may be cached, in seconds.
pub const DEFAULT_MAX_AGE: u32 = 60;

/// The status a redirect answers with (RFC 9110 section 15.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(u16)]
pub enum Status {
    /// 301 Moved Permanently.
    MovedPermanently = 301,
    /// 302 Found, the default.
    #[default]
    Found = 302,
    /// 303 See Other.
    SeeOther = 303,
    /// 307 Temporary Redirect: the method is kept.
    TemporaryRedirect = 307,
    /// 308 Permanent Redirect: the method is kept.
    PermanentRedirect = 308,
}

impl Status {
    /// Returns the status with the given number, if a table may use it.
    pub fn from_code(code: u16) -> Option<Self> {
        Some(match code {
            301 => Self::MovedPermanently,
            302 => Self::Found,
            303 => Self::SeeOther,
            307 => Self::TemporaryRedirect,
            308 => Self::PermanentRedirect,
            _ => return None,
        })
    }

    /// Returns the three-digit status code.
    pub fn code(self) -> u16 {
        self as u16
    }

    /// Returns whether clients repeat their method at the target, so that every method is allowed.
    pub fn keeps_method(self) -> bool {
        matches!(self, Self::TemporaryRedirect | Self::PermanentRedirect)
    }
}

/// The parts of a request that are forwarded to the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Forward {
    /// Nothing, the default.
    #[default]
    None,
    /// The query.
    Query,
    /// The path after the code.
    Path,
    /// Both.
    PathAndQuery,
    /// Nothing, but every path below the code leads to the target, too.
    All,
    /// The same, with the query.
    AllAndQuery,
}

impl Forward {
    /// Every value.
    pub const ALL: [Self; 6] = [
        Self::None,
        Self::Query,
        Self::Path,
        Self::PathAndQuery,
        Self::All,
        Self::AllAndQuery,
    ];

    /// Returns the name that `forward` uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Query => "query",
            Self::Path => "path",
            Self::PathAndQuery => "path-and-query",
            Self::All => "all",
            Self::AllAndQuery => "all-and-query",
        }
    }

    /// Returns whether the path after the code is appended to the target.
    pub fn path(self) -> bool {
        matches!(self, Self::Path | Self::PathAndQuery)
    }

    /// Returns whether paths below the code lead to the target, appended to it or not.
    pub fn takes_below(self) -> bool {
        !matches!(self, Self::None | Self::Query)
    }

    /// Returns whether paths below the code lead to the target as it is.
    pub fn all(self) -> bool {
        matches!(self, Self::All | Self::AllAndQuery)
    }

    /// Returns what is forwarded to a URL for paths below, if those of others lead to their target as it
    /// is.
    #[must_use]
    pub fn besides_all(self) -> Self {
        match self {
            Self::All => Self::None,
            Self::AllAndQuery => Self::Query,
            other => other,
        }
    }

    /// Returns whether the query is forwarded.
    pub fn query(self) -> bool {
        matches!(self, Self::Query | Self::PathAndQuery | Self::AllAndQuery)
    }
}

/// The reason why forwarded parts cannot be inserted into a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Misfit {
    /// Appended text would change the text before it.
    #[error("the path cannot be forwarded to a target that ends like this")]
    Ending,
    /// A query precedes a fragment, and a path would follow it.
    #[error("a target that ends in \"#\" cannot take both path and query")]
    Fragment,
    /// Paths lead to two URLs.
    #[error("\"below\" excludes a \"forward\" that is about paths")]
    TwoUrls,
}

impl Misfit {
    /// Returns the reason why this cannot be forwarded to a target, if any.
    pub fn of(forward: Forward, target: &str) -> Option<Self> {
        if forward.path() && !can_be_extended(target) {
            return Some(Self::Ending);
        }
        let has_both = forward == Forward::PathAndQuery;
        (has_both && target.ends_with('#')).then_some(Self::Fragment)
    }

    /// Returns the reason why paths below a code, and what is forwarded with them, cannot be appended to a
    /// URL of their own, if any.
    pub fn of_below(forward: Forward, below: &str) -> Option<Self> {
        let appended = match forward {
            Forward::None => Forward::Path,
            Forward::Query => Forward::PathAndQuery,
            _ => return Some(Self::TwoUrls),
        };
        Self::of(appended, below)
    }

    /// Returns the rule that the entry breaks.
    pub fn rule(self) -> Rule {
        match self {
            Self::TwoUrls => Rule::BelowAndForward,
            Self::Ending => Rule::ForwardUrlEnding,
            Self::Fragment => Rule::ForwardUrlFragment,
        }
    }

    /// Returns the remedy.
    pub fn hint(self) -> &'static str {
        match self {
            Self::Ending => "end the URL in \"/\", \"=\", \":\" or \"#\"",
            Self::Fragment => "forward the path alone: a query goes before the \"#\"",
            Self::TwoUrls => "remove \"forward\", or write \"forward: query\"",
        }
    }
}

/// How a new entry of a site gets its code by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum NewCode {
    /// Derived from the target by the site's scheme, the default.
    #[default]
    Auto,
    /// The next number.
    Number,
}

/// The start of an entry's retirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retired {
    /// `retired: true`.
    Always,
    /// From the given time on.
    From(Timestamp),
}
