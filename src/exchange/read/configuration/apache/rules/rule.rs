//! One rule: `Redirect`, `RedirectMatch` or `RewriteRule`, as Apache reads its words and flags.

use std::borrow::Cow;

use super::conditions::Conditions;
use super::lines;
use super::substitution::{Escapes, Substitution};
use crate::exchange::read::configuration::expression_text::is_refused;
use crate::exchange::read::configuration::pattern::{Letters, Pattern};
use crate::exchange::read::configuration::written_paths::Paths;
use crate::exchange::read::rows::{LinkOrigin, RowError, excerpt};
use crate::mapping::{Case, Status};

/// Why a directory with a rule of this kind answers nothing: Apache cannot start with it.
pub(crate) const MALFORMED: RowError =
    RowError::NoLink("Apache refuses this line, and all requests below this directory with it");

/// A rule.
pub(crate) struct Rule {
    pub(crate) line: usize,
    pub(crate) kind: RuleKind,
    pub(crate) pattern: Pattern,
    pub(crate) action: Action,
    /// Why it does not apply to every request for its paths.
    pub(crate) condition: Option<&'static str>,
    /// Its conditions, if it depends on nothing else.
    pub(crate) conditions: Option<Conditions>,
    /// Whether no rule after it is applied.
    pub(crate) is_last: bool,
    /// What follows it in the list applies only in some cases.
    pub(crate) followers: Followers,
}

/// The directives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleKind {
    Redirect,
    RedirectMatch,
    Rewrite,
}

/// Which rules apply only if this one does, or does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Followers {
    Independent,
    /// The next one.
    Chained,
    /// That many.
    Skipped(usize),
}

/// What happens to a request that a rule applies to.
pub(crate) enum Action {
    /// Nothing.
    Continue,
    Redirect(Redirect),
    Gone,
    NotFound,
    NotAcceptable,
    /// Something that a table does not express.
    Other(RowError),
}

/// A redirect.
pub(crate) struct Redirect {
    pub(crate) status: Status,
    pub(crate) substitution: Substitution,
    pub(crate) query: QueryUse,
}

/// What happens to the query of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueryUse {
    /// It is appended to a URL that has none.
    IfNone,
    Appended,
    Dropped,
}

/// The flags of a `RewriteRule`.
#[derive(Default)]
struct Flags {
    status: Option<u16>,
    /// The status of `[F]` and `[G]`.
    refusal: Option<u16>,
    other: Option<&'static str>,
    chained: bool,
    skipped: usize,
    folded: bool,
    last: bool,
    unescaped: bool,
    references_escaped: bool,
    appends: bool,
    drops: bool,
}

impl Rule {
    /// Reads the words after `Redirect`, for a table with this origin.
    pub(crate) fn redirect(
        line: usize,
        words: &[&str],
        origin: LinkOrigin<'_>,
    ) -> Result<Self, RowError> {
        let (status, path, url) = parts(words)?;
        if url.is_some_and(|it| !it.starts_with('/') && !is_url(it)) {
            return Err(MALFORMED);
        }
        let url = url.map(|it| absolute(it, origin));
        let is_directory = path.ends_with('/');
        let below = if is_directory { "(.*)" } else { "(/.*)?" };
        let mut pattern =
            Pattern::parse(&format!("^{}{below}$", literal(path)), letters(origin.case));
        if let (Pattern::Known(known), false) = (&mut pattern, is_directory) {
            known.paths = Paths {
                texts: Some(vec![path.into()]),
                ..Paths::default()
            };
        }
        let action = action(status, url.as_deref(), Substitution::of_prefix);
        Ok(Self::of(line, RuleKind::Redirect, pattern, action))
    }

    /// Reads the words after `RedirectMatch`, for a table with this origin.
    pub(crate) fn redirect_match(
        line: usize,
        words: &[&str],
        origin: LinkOrigin<'_>,
    ) -> Result<Self, RowError> {
        let (status, expression, url) = parts(words)?;
        let url = url.map(|it| absolute(it, origin));
        let url = url.as_deref();
        if is_refused(expression) {
            return Err(MALFORMED);
        }
        let substitution = url.map(|url| Substitution::parse(url, Escapes::Path));
        let substitution = substitution.transpose()?;
        let action = match (status, url, substitution) {
            (410, ..) => Action::Gone,
            (404, ..) => Action::NotFound,
            (_, Some(url), _) if url.ends_with('?') => Action::Other(RowError::NoLink(
                "a table would send this URL in another spelling",
            )),
            (status, Some(url), Some(substitution)) => {
                redirect(status, url, substitution, QueryUse::IfNone)
            }
            _ => Action::Other(NO_STATUS),
        };
        let pattern = Pattern::parse(expression, letters(origin.case));
        Ok(Self::of(line, RuleKind::RedirectMatch, pattern, action))
    }

    /// Reads the words after `RewriteRule`, for a table with this origin.
    pub(crate) fn rewrite(
        line: usize,
        words: &[&str],
        origin: LinkOrigin<'_>,
    ) -> Result<Self, RowError> {
        let (expression, url, flags) = match words[..] {
            [expression, url] => (expression, url, Flags::default()),
            // Apache ignores what follows.
            [expression, url, flags, ..] => {
                (expression, url, Flags::parse(flags).ok_or(MALFORMED)?)
            }
            _ => return Err(MALFORMED),
        };
        let letters = match flags.folded {
            true => Letters::Folded,
            false => letters(origin.case),
        };
        if is_refused(expression.strip_prefix('!').unwrap_or(expression)) {
            return Err(MALFORMED);
        }
        let pattern = Pattern::parse(expression, letters);
        let action = flags.action(url, origin);
        let mut rule = Self::of(line, RuleKind::Rewrite, pattern, action);
        rule.is_last = flags.last;
        rule.followers = match (flags.chained, flags.skipped) {
            (true, _) => Followers::Chained,
            (false, 0) => Followers::Independent,
            (false, skipped) => Followers::Skipped(skipped),
        };
        Ok(rule)
    }

    /// Refuses a rule for what is gone, because Apache redirects it to the document of an error.
    pub(crate) fn lead_gone_away(&mut self) {
        if matches!(self.action, Action::Gone) {
            self.action = Action::Other(RowError::NoLink(
                "Apache redirects what is gone to the URL of an ErrorDocument",
            ));
        }
    }

    fn of(line: usize, kind: RuleKind, pattern: Pattern, action: Action) -> Self {
        Self {
            line,
            kind,
            pattern,
            action,
            condition: None,
            conditions: None,
            is_last: true,
            followers: Followers::Independent,
        }
    }
}

/// Returns whether case counts in an expression that does not ignore it itself.
fn letters(case: Case) -> Letters {
    match case {
        Case::Exact => Letters::Exact,
        Case::Fold => Letters::FoldedByTable,
    }
}

const NO_STATUS: RowError = RowError::NoLink("a table has no such status");

impl Flags {
    /// Reads flags in brackets, regardless of case; `None` if Apache refuses them.
    fn parse(text: &str) -> Option<Self> {
        let mut flags = Self::default();
        for (name, value) in lines::flags(text)? {
            flags.add(&name.to_ascii_lowercase(), value)?;
        }
        Some(flags)
    }

    fn add(&mut self, name: &str, value: Option<&str>) -> Option<()> {
        match name {
            "ns" | "nosubreq" | "dpi" | "discardpath" | "e" | "env" | "t" | "type" | "h"
            | "handler" | "qsl" | "qslast" | "unsafeallow3f" | "unsafeprefixstat" => {}
            "pt" | "passthrough" => {
                self.last = true;
                self.other = Some("Apache does not redirect a URL that it passes through");
            }
            "l" | "last" | "end" => self.last = true,
            "bne" if value.is_none_or(str::is_empty) => return None,
            "b" | "backrefescaping" | "bnp" | "backrefernoplus" | "bctls" | "bne" => {
                self.references_escaped = true;
            }
            "c" | "chain" => self.chained = true,
            "co" | "cookie" => self.other = Some("a short link sets no cookie"),
            "f" | "forbidden" => self.refusal = Some(403),
            "g" | "gone" => self.refusal = Some(410),
            "n" | "next" => self.other = Some("a short link is not looked up again"),
            "nc" | "nocase" => self.folded = true,
            "ne" | "noescape" => self.unescaped = true,
            "p" | "proxy" => self.other = Some("a short link is no proxy"),
            "qsa" | "qsappend" => self.appends = true,
            "qsd" | "qsdiscard" => self.drops = true,
            "r" | "redirect" => match value.filter(|it| !it.is_empty()) {
                Some(value) => self.add_status(status_of_flag(value)?),
                None => _ = self.status.get_or_insert(302),
            },
            "s" | "skip" => self.skipped = value?.parse().ok()?,
            _ => return None,
        }
        Some(())
    }

    /// Adds the status of a flag, which replaces that of one before it, but not what that one changes.
    fn add_status(&mut self, status: u16) {
        if self.status.is_some_and(|it| !is_redirect(it)) && is_redirect(status) {
            self.other = Some("Apache leads to no URL with the status of a flag before");
        }
        self.status = Some(status);
    }

    fn action(&self, url: &str, origin: LinkOrigin<'_>) -> Action {
        let other = |reason| Action::Other(RowError::NoLink(reason));
        if let Some(reason) = self.other {
            return other(reason);
        }
        // A rewrite to a path is not a redirect.
        let url = &match self.status {
            Some(_) => absolute(url, origin),
            None => Cow::Borrowed(url),
        };
        let is_absolute = scheme_of(url).is_some();
        if self.status.is_some() && self.refusal.is_some() {
            return other("Apache redirects to no URL with [F] or [G] beside [R]");
        }
        if self.status.is_none() && is_absolute && origin.has_host_of(url) {
            return other("without [R], Apache rewrites to its own host and does not redirect");
        }
        if !self.unescaped && url.matches('?').count() > 1 {
            return other("Apache escapes one of several question marks in a URL");
        }
        match self.refusal.or(self.status) {
            Some(410) => return Action::Gone,
            Some(404) => return Action::NotFound,
            Some(406) => return Action::NotAcceptable,
            Some(status) if !is_redirect(status) => return Action::Other(NO_STATUS),
            _ if url.starts_with("%{") => {
                return Action::Other(RowError::Variable(excerpt(url)));
            }
            None if url == "-" => return Action::Continue,
            None if !is_absolute => return other("a rewrite is not a redirect"),
            Some(_) if !is_absolute => return other("this leads to another path of the same host"),
            _ => {}
        }
        let escapes = match self.unescaped {
            true => Escapes::Nothing,
            false => Escapes::PathAndQuery,
        };
        let substitution = match Substitution::parse(url, escapes) {
            Ok(it) if it.has_references() && self.references_escaped => {
                return other("what is below a code is not escaped once more");
            }
            Ok(it) => it,
            Err(error) => return Action::Other(error),
        };
        let query = match (self.drops, self.appends) {
            (true, _) => QueryUse::Dropped,
            (false, true) => QueryUse::Appended,
            (false, false) => QueryUse::IfNone,
        };
        redirect(self.status.unwrap_or(302), url, substitution, query)
    }
}

fn action(status: u16, url: Option<&str>, read: impl FnOnce(&str) -> Substitution) -> Action {
    match (status, url) {
        (410, _) => Action::Gone,
        (404, _) => Action::NotFound,
        (status, Some(url)) => redirect(status, url, read(url), QueryUse::IfNone),
        _ => Action::Other(NO_STATUS),
    }
}

fn redirect(status: u16, url: &str, substitution: Substitution, query: QueryUse) -> Action {
    if scheme_of(url).is_none() {
        return Action::Other(RowError::NoLink(
            "this leads to another path of the same host",
        ));
    }
    match Status::from_code(status) {
        Some(status) => Action::Redirect(Redirect {
            status,
            substitution,
            query,
        }),
        None => Action::Other(NO_STATUS),
    }
}

/// Returns a URL; if it is a path from the root, that of the host of the short links.
fn absolute<'u>(url: &'u str, origin: LinkOrigin<'_>) -> Cow<'u, str> {
    match url.starts_with('/') {
        true => Cow::Owned(origin.url_of_path(url)),
        false => Cow::Borrowed(url),
    }
}

/// Returns whether Apache takes a text for a URL (`ap_is_url` in util.c).
fn is_url(text: &str) -> bool {
    let is_of_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    text.split_once("://")
        .is_some_and(|(scheme, _)| scheme.bytes().all(is_of_scheme))
}

/// Returns the scheme of an absolute URL that a table can have.
fn scheme_of(url: &str) -> Option<&str> {
    let (scheme, _) = url.split_once("://")?;
    let is_known = ["http", "https"]
        .iter()
        .any(|it| it.eq_ignore_ascii_case(scheme));
    is_known.then_some(scheme)
}

/// Returns the status, the path or expression, and the URL.
fn parts<'w>(words: &[&'w str]) -> Result<(u16, &'w str, Option<&'w str>), RowError> {
    match words[..] {
        [status, path, url] => match status_of(status) {
            Some(status) if is_redirect(status) => Ok((status, path, Some(url))),
            _ => Err(MALFORMED),
        },
        [first, second] => match status_of(first) {
            Some(status) if is_redirect(status) => Err(MALFORMED),
            Some(status) => Ok((status, second, None)),
            None => Ok((302, first, Some(second))),
        },
        _ => Err(MALFORMED),
    }
}

fn status_of(text: &str) -> Option<u16> {
    match &*text.to_ascii_lowercase() {
        "gone" => Some(410),
        "permanent" | "temp" | "seeother" => status_of_flag(text),
        number if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            number.parse().ok().filter(|it| (100..600).contains(it))
        }
        _ => None,
    }
}

/// Returns the status of the flag `R`: that of the digits that its value begins with, or 302 for any
/// other word; `None` if Apache refuses it (`cmd_rewriterule_setflag` in mod_rewrite.c).
fn status_of_flag(text: &str) -> Option<u16> {
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    match &*text.to_ascii_lowercase() {
        "permanent" => Some(301),
        "seeother" => Some(303),
        number if number.as_bytes().first().is_some_and(is_digit) => {
            let digits = number.bytes().take_while(|it| is_digit(it)).count();
            number[..digits].parse().ok().filter(is_known)
        }
        _ => Some(302),
    }
}

fn is_redirect(status: u16) -> bool {
    (300..400).contains(&status)
}

/// Returns whether Apache knows a status (`status_lines` in http_protocol.c).
pub(super) fn is_known(status: &u16) -> bool {
    matches!(status, 100..=103 | 200..=226 | 300..=308 | 400..=451 | 500..=511)
}

/// Returns an expression that matches exactly this text.
fn literal(text: &str) -> String {
    let mut expression = String::new();
    for c in text.chars() {
        if c.is_ascii_punctuation() {
            expression.push('\\');
        }
        expression.push(c);
    }
    expression
}
