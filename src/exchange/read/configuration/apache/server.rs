//! What Apache answers to a path, by the rules of all directories.
//!
//! The rules of a directory replace those of its parents, and are applied to what follows its path;
//! the first that matches decides. `Redirect` lines come after them, those of the deepest directory
//! first, and are applied to the whole path. Only then does a file or a directory count.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use super::answer::{Answer, AnswerKind, Location};
use super::outcomes::{Outcomes, Step};
use super::rules::directory::Directory;
use super::rules::rule::{Action, QueryUse, Redirect, Rule};
use super::rules::rule_list::RuleList;
use crate::exchange::read::configuration::pattern::Pattern;
use crate::exchange::read::configuration::pattern_index::TOO_MANY;
use crate::exchange::read::rows::{LinkOrigin, RowError, row};
use crate::mapping::Case;

/// The directory index that Apache looks for by default.
const INDEX: &str = "index.html";

/// The rules of a directory, and those that apply to it.
pub(super) struct Site {
    pub(super) rewrites: RuleList,
    pub(super) redirects: RuleList,
    pub(super) has_rewriting: bool,
    pub(super) is_on: bool,
    /// Whether what is gone leads to a URL.
    has_gone_document: bool,
    /// The line because of which it is unknown what happens here and below.
    pub(super) broken: Option<usize>,
}

/// All directories with rules, by their paths without slashes at both ends.
pub(super) struct Server {
    pub(super) sites: BTreeMap<String, Site>,
    /// The paths of the files and directories that exist, without a slash before them.
    pub(super) files: HashSet<String>,
    pub(super) folders: HashSet<String>,
    /// `/` in the configuration of a server, where paths of rules begin with a slash.
    pub(super) slash: &'static str,
    /// Whether case counts in the table.
    pub(super) case: Case,
    /// The URL of the root, without the slash after it.
    root: String,
    /// The directories with rules and the files, by their paths in lower case, if it does not.
    folded: HashMap<String, Vec<String>>,
}

impl Server {
    /// Takes the directories, by their paths; without `folders`, each is one.
    pub(super) fn new(
        directories: BTreeMap<String, Directory>,
        files: HashSet<String>,
        mut folders: HashSet<String>,
        slash: &'static str,
        is_on: bool,
        origin: LinkOrigin<'_>,
    ) -> Self {
        let case = origin.case;
        let mut sites: BTreeMap<String, Site> = BTreeMap::new();
        folders.insert(String::new());
        for (path, mut directory) in directories {
            let above = ancestors(&path).skip(1).find_map(|it| sites.get(it));
            let engine = directory.engine;
            let is_inherited = above.is_some_and(|it| it.has_gone_document);
            let has_gone_document = directory.gone_document || is_inherited;
            if has_gone_document {
                let rules = directory.rewrites.iter_mut();
                for rule in rules.chain(&mut directory.redirects) {
                    rule.lead_gone_away();
                }
            }
            let site = Site {
                has_gone_document,
                rewrites: RuleList::new(directory.rewrites),
                redirects: RuleList::new(directory.redirects),
                has_rewriting: directory.has_rewriting,
                is_on: engine.unwrap_or_else(|| above.map_or(is_on, |it| it.is_on)),
                broken: directory.broken.or_else(|| above.and_then(|it| it.broken)),
            };
            folders.insert(path.clone());
            sites.insert(path, site);
        }
        let mut folded: HashMap<String, Vec<String>> = HashMap::new();
        if case == Case::Fold {
            for path in sites.keys().chain(&files) {
                let all = folded.entry(path.to_ascii_lowercase()).or_default();
                all.push(path.clone());
            }
        }
        Self {
            folded,
            sites,
            files,
            folders,
            slash,
            case,
            root: origin.url_of_path(""),
        }
    }

    /// Returns the directory whose rules are applied to a path, and what they are applied to.
    pub(super) fn rewriting<'p>(&self, path: &'p str) -> Option<(&str, &Site, &'p str)> {
        let found = ancestors(path).find_map(|it| {
            let found = self.sites.get_key_value(it);
            found.filter(|(_, site)| site.has_rewriting)
        });
        let (own, site) = found?;
        let rest = path[own.len()..].strip_prefix('/');
        // Apache leaves a directory without its slash to mod_dir.
        let rest = if own.is_empty() { Some(path) } else { rest };
        site.is_on.then_some((own, site, rest?))
    }

    /// Returns whether a path, or one above it, is that of a directory with rules or of a file, but in
    /// another case.
    pub(super) fn has_in_other_case(&self, path: &str) -> bool {
        ancestors(path).any(|it| {
            let alike = self.folded.get(&it.to_ascii_lowercase());
            alike.is_some_and(|all| all.iter().any(|other| other != it))
        })
    }

    /// Returns what is answered to a path, which has no slash before it.
    pub(super) fn answer(&self, path: &str) -> Answer {
        self.outcomes(path).to_anyone()
    }

    /// Returns what may be answered to a path, which has no slash before it.
    pub(super) fn outcomes(&self, path: &str) -> Outcomes<'_> {
        let nearest = ancestors(path).find_map(|it| self.sites.get(it));
        if let Some(line) = nearest.and_then(|it| it.broken) {
            let kind = AnswerKind::other("the effect of the rules of this directory is not known");
            return Outcomes::only(Answer {
                line: Some(line),
                kind,
            });
        }
        let rest = self.without_rewriting(path);
        let Some((_, site, relative)) = self.rewriting(path) else {
            return Outcomes::only(rest);
        };
        let relative = format!("{}{relative}", self.slash);
        self.applied(&site.rewrites, &relative, (path, rest))
    }

    /// Returns whether a code with a slash after it is answered only by rules that were not written for it,
    /// but for all paths that begin with a part of it.
    pub(super) fn answers_generally(&self, slashed: &str) -> bool {
        let Some((_, _, relative)) = self.rewriting(slashed) else {
            return false;
        };
        let relative = format!("{}{relative}", self.slash);
        let code = relative.strip_suffix('/').unwrap_or(&relative).as_bytes();
        let is_general = |rule: &Rule| match &rule.pattern {
            Pattern::Known(known) => {
                let texts = known.paths.texts.as_ref();
                let is_part = |texts: &Vec<Vec<u8>>| !texts.iter().any(|it| it.starts_with(code));
                known.paths.is_open && !known.is_negated() && texts.is_some_and(is_part)
            }
            Pattern::Unknown(_) => false,
        };
        let outcomes = self.outcomes(slashed);
        let steps = outcomes.steps();
        let is_decided = !steps.is_empty() && outcomes.are_all();
        !code.is_empty() && is_decided && steps.iter().all(|it| is_general(it.rule))
    }

    /// Returns what is answered if no `RewriteRule` applies.
    fn without_rewriting(&self, path: &str) -> Answer {
        let mut rest = self.of_files(path);
        let above: Vec<_> = ancestors(path).collect();
        for directory in above.iter().rev() {
            if let Some(site) = self.sites.get(*directory) {
                let outcomes = self.applied(&site.redirects, &format!("/{path}"), (path, rest));
                rest = outcomes.to_anyone();
            }
        }
        rest
    }

    fn of_files(&self, path: &str) -> Answer {
        let of = |kind| Answer { line: None, kind };
        if self.files.contains(path) {
            return of(AnswerKind::File);
        }
        let folder = path.strip_suffix('/').unwrap_or(path);
        let is_folder = !folder.is_empty() && self.folders.contains(folder);
        of(match (is_folder, path.ends_with('/')) {
            (true, false) => AnswerKind::Slash,
            (true, true) if self.files.contains(&format!("{path}{INDEX}")) => AnswerKind::File,
            _ => AnswerKind::NotFound,
        })
    }

    /// Returns what a list of rules may answer to a text of a path, or else `rest`.
    fn applied<'s>(
        &self,
        list: &'s RuleList,
        text: &str,
        (path, rest): (&str, Answer),
    ) -> Outcomes<'s> {
        let Some(near) = list.near(text.as_bytes()) else {
            let kind = AnswerKind::Other(Rc::new(TOO_MANY));
            return Outcomes::only(Answer { line: None, kind });
        };
        let mut steps = Vec::new();
        for number in near {
            let Some(kind) = self.of_rule_at(list, number, text.as_bytes(), path) else {
                continue;
            };
            let rule = &list.rules()[number];
            steps.push(Step { rule, kind });
            if rule.condition.is_none() {
                break;
            }
        }
        Outcomes::new(path, steps, rest)
    }

    /// Returns the answer of a rule to a path if it matches a text of the path; `Some(None)` if it only ends
    /// the list.
    pub(super) fn of_rule_at(
        &self,
        list: &RuleList,
        number: usize,
        text: &[u8],
        path: &str,
    ) -> Option<Option<AnswerKind>> {
        let found = self.of_rule(list, number, text)?;
        Some(found.map(|kind| match kind {
            AnswerKind::Redirect(it) if self.changes_slash(&it, path) => AnswerKind::Slash,
            kind => kind,
        }))
    }

    /// Returns whether a location is that of a path itself with a slash after it, or without.
    fn changes_slash(&self, location: &Location, path: &str) -> bool {
        let found = location.url.strip_prefix(&self.root);
        let found = found.and_then(|it| it.strip_prefix('/'));
        let is_changed = |found: &str| match (found.strip_suffix('/'), path.strip_suffix('/')) {
            (Some(found), None) => found == path,
            (None, Some(path)) => found == path,
            _ => false,
        };
        location.with_query && !path.is_empty() && found.is_some_and(is_changed)
    }

    /// Returns the answer of a rule if it matches; `Some(None)` if it only ends the list.
    pub(super) fn of_rule(
        &self,
        list: &RuleList,
        number: usize,
        path: &[u8],
    ) -> Option<Option<AnswerKind>> {
        let rule = &list.rules()[number];
        let known = match &rule.pattern {
            Pattern::Known(known) => known,
            Pattern::Unknown(_) if !rule.pattern.may_match(path) => return None,
            Pattern::Unknown(_) => {
                return Some(Some(AnswerKind::other("this expression cannot be read")));
            }
        };
        let groups = known.groups(path)?;
        Some(match &rule.action {
            Action::Continue => None,
            Action::Gone => Some(AnswerKind::Gone),
            // A table has another answer for what is not acceptable: the target of the entry.
            Action::NotFound | Action::NotAcceptable => Some(AnswerKind::NotFound),
            Action::Other(error) => Some(AnswerKind::Other(Rc::new(error.clone()))),
            Action::Redirect(redirect) => {
                let url = redirect.substitution.expand(&groups);
                if !rule.is_last && is_changed(list, number, &url, path) {
                    let reason = "a later rule changes where this one leads, which has no [L]";
                    return Some(Some(AnswerKind::other(reason)));
                }
                Some(match location(redirect, &url) {
                    Ok(location) => AnswerKind::Redirect(location),
                    Err(error) => AnswerKind::Other(Rc::new(error)),
                })
            }
        })
    }
}

/// Returns whether a rule after this one applies to its result for a path.
///
/// Apache appends the part of the path that follows what is not a directory, of which any may be one.
fn is_changed(list: &RuleList, number: usize, url: &[u8], path: &[u8]) -> bool {
    let slashes = (0..path.len()).filter(|at| path[*at] == b'/');
    let mut results = slashes
        .chain([path.len()])
        .map(|at| [url, &path[at..]].concat());
    results.any(|result| applies_later(list, number, &result))
}

fn applies_later(list: &RuleList, number: usize, url: &[u8]) -> bool {
    let Some(near) = list.near(url) else {
        return true;
    };
    let later = near.iter().filter(|it| **it > number);
    let mut rules = later.map(|it| &list.rules()[*it]);
    rules.any(|rule| rule.pattern.may_match(url))
}

/// Returns where a redirect leads whose URL is not escaped yet.
pub(super) fn location(redirect: &Redirect, url: &[u8]) -> Result<Location, RowError> {
    let has_query = url.contains(&b'?');
    let mut sent = redirect.substitution.escape(url);
    // An empty query only keeps that of the request from being appended.
    if sent.last() == Some(&b'?') {
        sent.pop();
    }
    let sent = String::from_utf8(sent).map_err(|_| RowError::NotUtf8)?;
    let target = row::target("url", &sent)?;
    // Before the query of the request, Apache does not remove an ampersand.
    let is_doubled = redirect.query == QueryUse::Appended && url.ends_with(b"&");
    if is_doubled || target.as_str() != with_plain_host(&sent) {
        return Err(RowError::NoLink(
            "a table would send this URL in another spelling",
        ));
    }
    let with_query = match redirect.query {
        QueryUse::Dropped => false,
        QueryUse::Appended => true,
        QueryUse::IfNone => !has_query,
    };
    Ok(Location {
        status: redirect.status,
        // Apache would append a query to the fragment, where no server receives it.
        with_query: with_query && !sent.contains('#'),
        url: target.as_str().to_owned(),
    })
}

/// Returns a URL with scheme and host in lower case and with a path, as a table writes it.
fn with_plain_host(url: &str) -> String {
    let host = url.find("://").map_or(0, |at| at + 3);
    let end = url[host..]
        .find(['/', '?', '#'])
        .map_or(url.len(), |at| host + at);
    let slash = if url[end..].starts_with('/') { "" } else { "/" };
    format!("{}{slash}{}", url[..end].to_ascii_lowercase(), &url[end..])
}

/// Returns the paths of the directories above a path, from the path itself upwards.
pub(super) fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    let whole = path.strip_suffix('/').unwrap_or(path);
    let mut next = Some(whole);
    std::iter::from_fn(move || {
        let found = next?;
        next = match (found.is_empty(), found.rfind('/')) {
            (true, _) => None,
            (false, Some(at)) => Some(&found[..at]),
            (false, None) => Some(""),
        };
        Some(found)
    })
}

/// Returns why a rule has no link of its own in a table with this case, regardless of others.
pub(super) fn refusal(rule: &Rule, case: Case) -> Option<RowError> {
    let no_link = |reason| Some(RowError::NoLink(reason));
    match (&rule.action, &rule.pattern) {
        (Action::Other(error), _) => Some(error.clone()),
        (Action::NotFound, _) => no_link("a table has no codes that are not found"),
        (Action::NotAcceptable, _) => {
            no_link("a table leads to the url of an entry if no type is acceptable (406)")
        }
        (_, Pattern::Unknown(_)) => no_link("this expression cannot be read"),
        (_, Pattern::Known(it)) if it.is_negated() => no_link("this redirects all paths but some"),
        (_, Pattern::Known(it)) if it.folds() && case == Case::Exact => Some(RowError::AnyCase),
        (_, Pattern::Known(it)) if it.written_texts().is_none() => {
            no_link("this redirects more than one path")
        }
        _ => None,
    }
}
