//! Resolving: from a request to its outcome.
//!
//! Total and pure: every request has an outcome, and the same table, request and time give the
//! same one. The order of the steps is the order of the functions below.

use super::accept::{AcceptFields, preferred};
use super::location::Location;
use super::path::{Decoded, has_dot_segments};
use super::site_redirect::SiteRedirect;
use crate::mapping::packed::{Entry, Found, Site, Table, TargetParts, Variant};
use crate::mapping::value::{Status, Timestamp};

/// Characters at the end of a sentence or quotation that linkifiers include in a link.
const TRAILING: [char; 11] = ['.', ',', ';', ':', '!', '?', ')', ']', '}', '\'', '"'];

/// Characters that linkifiers drop from the end of an auto code.
pub(crate) const LOST: [char; 2] = ['-', '_'];

/// The parts of a request that decide its outcome.
#[derive(Debug, Clone, Copy)]
pub struct Request<'r> {
    /// The host as the client sent it, with or without a port; `None` if it sent none.
    pub host: Option<&'r str>,
    /// The raw path, percent-encoded as sent.
    pub path: &'r str,
    /// The raw query, without its `?`.
    pub query: Option<&'r str>,
    /// The media types that the client accepts; `None` if it does not say.
    pub accept: Option<&'r dyn AcceptFields>,
}

/// The outcome of a request.
#[derive(Debug)]
pub enum Outcome<'t> {
    /// A short link was followed.
    Redirect(Redirect<'t>),
    /// A short link with `+` after it: shown, not followed.
    Preview(Entry<'t>),
    /// The base URL itself, which leads nowhere else.
    Landing(&'t Site),
    /// A redirect of the site itself.
    SiteRedirect(SiteRedirect<'t>),
    /// A retired or expired entry.
    Gone(Entry<'t>),
    /// No such code in this site.
    NotFound(&'t Site),
    /// The table has several sites, and none has this host.
    Misdirected,
}

/// A redirect, with everything that its response needs.
#[derive(Debug)]
pub struct Redirect<'t> {
    /// The entry that was hit.
    pub entry: Entry<'t>,
    /// The status to answer with.
    pub status: Status,
    /// The URL to send.
    pub location: Location<'t>,
    /// The time for which the answer may be cached, in seconds; 0 means `no-store`.
    pub max_age: u32,
    /// Whether other values of `Accept` may lead to another location.
    pub varies: bool,
    /// How the code was found.
    pub via: Via,
}

/// How a code was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Via {
    /// Exactly as written, or as another spelling of the same code.
    Code,
    /// As a forwarding prefix of the path.
    Forward,
    /// After repairing a link that a linkifier broke.
    Repair,
}

impl Table {
    /// Decides the outcome of a request.
    pub fn resolve(&self, request: &Request<'_>, now: Timestamp) -> Outcome<'_> {
        match self.find_site(request.host, request.path) {
            Found::Site(site, rest) => site.resolve(rest, request, now),
            Found::OutsideBasePath(site) => Outcome::NotFound(site),
            Found::UnknownHost => Outcome::Misdirected,
        }
    }
}

/// What a path refers to in a site, regardless of time.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Match<'t, 'r> {
    /// The base URL itself.
    Landing,
    /// A code, and the rest of the raw path, if that is appended to a URL for some requests: not empty if
    /// so.
    Link(Entry<'t>, &'r str, Via),
    /// A code with `+` after it.
    Preview(Entry<'t>),
    /// No code.
    Nothing,
}

impl Site {
    /// Decides the outcome for the raw path after the base path.
    fn resolve(&self, rest: &str, request: &Request<'_>, now: Timestamp) -> Outcome<'_> {
        let query = request.query.unwrap_or_default();
        match self.find_path(rest) {
            Match::Landing => match self.home_redirect() {
                Some(redirect) => Outcome::SiteRedirect(redirect),
                None => Outcome::Landing(self),
            },
            Match::Link(entry, remainder, via) => follow(entry, remainder, request, via, now),
            Match::Preview(entry) => preview(entry, now),
            Match::Nothing => match self.fallback_redirect(rest, query) {
                Some(redirect) => Outcome::SiteRedirect(redirect),
                None => Outcome::NotFound(self),
            },
        }
    }

    /// Goes through the steps for the raw path after the base path.
    pub(crate) fn find_path<'r>(&self, rest: &'r str) -> Match<'_, 'r> {
        if rest.is_empty() {
            return Match::Landing;
        }
        let Some(path) = Decoded::new(rest) else {
            return Match::Nothing;
        };
        let code = path.as_code();
        if let Some(entry) = code.and_then(|code| self.lookup_with_slash(code)) {
            return Match::Link(entry, "", Via::Code);
        }
        if let Some(entry) = code.and_then(|code| self.lookup_in_any_case(code.strip_suffix('+')?))
        {
            return Match::Preview(entry);
        }
        if let Some((entry, remainder)) = self.forwarding(rest) {
            if has_dot_segments(remainder) {
                return Match::Nothing;
            }
            let is_appended = entry.appends_path();
            let appended = if is_appended { remainder } else { "" };
            return Match::Link(entry, appended, Via::Forward);
        }
        if let Some(entry) = self.in_standard_alphabet(path.as_str()) {
            return Match::Link(entry, "", Via::Code);
        }
        if let Some(entry) = code.and_then(|code| self.repaired(code)) {
            return Match::Link(entry, "", Via::Repair);
        }
        Match::Nothing
    }

    /// Returns the short link of the code that a raw path after the base path spells, if there is one, as
    /// the code is written.
    pub fn short_url_at(&self, rest: &str) -> Option<String> {
        let path = Decoded::new(rest)?;
        self.written(path.as_code()?)
            .map(|code| self.short_url(code))
    }

    /// Returns the entry with this code, or with this code without one trailing slash: exactly as it is
    /// spelled if there is one, else in any case that counts as the same.
    fn lookup_with_slash(&self, code: &str) -> Option<Entry<'_>> {
        self.lookup(code)
            .or_else(|| self.lookup(code.strip_suffix('/')?))
            .or_else(|| self.lookup_folded(code))
            .or_else(|| self.lookup_folded(code.strip_suffix('/')?))
    }

    /// Returns the entry with the longest code that is a whole-segment prefix and takes paths below
    /// it, and the raw path after it.
    fn forwarding<'r>(&self, raw: &'r str) -> Option<(Entry<'_>, &'r str)> {
        let slashes = raw.match_indices('/').take(self.forwarding_depth());
        slashes
            .filter_map(|(slash, _)| {
                let prefix = Decoded::new(&raw[..slash])?;
                let entry = self.lookup_in_any_case(prefix.as_code()?)?;
                entry.takes_below().then_some((entry, &raw[slash + 1..]))
            })
            .last()
    }

    /// Returns the entry of the auto code whose standard-alphabet spelling (RFC 4648 section 4)
    /// this is, which is what `openssl base64` prints.
    pub(crate) fn in_standard_alphabet(&self, text: &str) -> Option<Entry<'_>> {
        let is_standard = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/');
        // Without either sign it is the code itself, which other functions look up.
        let is_other = text.contains(['+', '/']);
        if text.len() != self.scheme().code_len() || !is_other || !text.bytes().all(is_standard) {
            return None;
        }
        self.lookup_auto(&text.replace('+', "-").replace('/', "_"))
    }

    /// Returns the entry of a code that a linkifier broke: extra characters at its end, or the last
    /// character lost.
    fn repaired(&self, text: &str) -> Option<Entry<'_>> {
        let shortest = text.trim_end_matches(TRAILING);
        let (folded, trailing) = (self.codes.folded_form(shortest), &text[shortest.len()..]);
        // Folding each text anew would take quadratic time; it changes none of the trailing characters.
        let folded = folded.map(|folded| folded.into_owned() + trailing);
        for removed in 1..=trailing.len() {
            let without = |text: &str| text.len() - removed;
            let found = self.lookup(&text[..without(text)]).or_else(|| {
                let folded = folded.as_deref()?;
                self.lookup_folded_form(&folded[..without(folded)])
            });
            if found.is_some() {
                return found;
            }
        }
        if text.len() + 1 != self.scheme().code_len() {
            return None;
        }
        let mut fitting = LOST
            .iter()
            .filter_map(|lost| self.lookup_auto(&format!("{text}{lost}")));
        match (fitting.next(), fitting.next()) {
            (Some(entry), None) => Some(entry),
            _ => None,
        }
    }
}

fn preview(entry: Entry<'_>, now: Timestamp) -> Outcome<'_> {
    if entry.is_gone(now) {
        Outcome::Gone(entry)
    } else {
        Outcome::Preview(entry)
    }
}

fn follow<'t>(
    entry: Entry<'t>,
    remainder: &str,
    request: &Request<'_>,
    via: Via,
    now: Timestamp,
) -> Outcome<'t> {
    let parts = entry.parts();
    let (shape, end) = (parts.shape, parts.gone_from);
    let is_gone = end.is_some_and(|end| end <= now);
    // An entry without a target is always gone.
    let Some(target) = parts.target.filter(|_| !is_gone) else {
        return Outcome::Gone(entry);
    };
    let query = request.query.unwrap_or_default();
    Outcome::Redirect(Redirect {
        entry,
        status: shape.status,
        location: match shape.has_variants {
            true => negotiated(entry, target, remainder, query, request.accept),
            false => location_of(entry, target, remainder, query),
        },
        max_age: if via == Via::Repair {
            0
        } else {
            max_age(shape.max_age, end, now)
        },
        varies: shape.has_variants,
        via,
    })
}

/// Returns the location for a request for an entry with variants.
#[cold]
fn negotiated<'t>(
    entry: Entry<'t>,
    target: TargetParts<'t>,
    remainder: &str,
    query: &str,
    accept: Option<&dyn AcceptFields>,
) -> Location<'t> {
    match preferred(entry, accept) {
        Some(variant) => location_of_variant(entry, variant, remainder, query),
        None => location_of(entry, target, remainder, query),
    }
}

/// Returns the location for a request that leads to the entry's own target; the remainder of the path is
/// empty for the code itself.
pub(crate) fn location_of<'t>(
    entry: Entry<'t>,
    target: TargetParts<'t>,
    remainder: &str,
    query: &str,
) -> Location<'t> {
    let below = || entry.path_target(target);
    locate(entry, target, below, remainder, query)
}

/// Returns the location for a request that leads to a variant.
pub(crate) fn location_of_variant<'t>(
    entry: Entry<'t>,
    variant: Variant<'t>,
    remainder: &str,
    query: &str,
) -> Location<'t> {
    let target = TargetParts::of(variant.target());
    let below = || entry.path_target_of(variant).map(TargetParts::of);
    locate(entry, target, below, remainder, query)
}

/// Returns a target for the code itself, or the URL to which the remainder of the path is appended, if it
/// is.
fn locate<'t>(
    entry: Entry<'t>,
    target: TargetParts<'t>,
    below: impl FnOnce() -> Option<TargetParts<'t>>,
    remainder: &str,
    query: &str,
) -> Location<'t> {
    let query = match query.is_empty() || entry.forward().query() {
        true => query,
        false => "",
    };
    let below = match remainder {
        "" => None,
        _ => below(),
    };
    match below {
        Some(below) => Location::new(below, remainder, query),
        None => Location::new(target, "", query),
    }
}

/// Returns the time for which a redirect may be cached: never past the entry's end.
fn max_age(max_age: u32, end: Option<Timestamp>, now: Timestamp) -> u32 {
    let Some(end) = end else {
        return max_age;
    };
    let left = end.unix().saturating_sub(now.unix());
    max_age.min(u32::try_from(left).unwrap_or(u32::MAX))
}
