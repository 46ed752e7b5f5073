//! Links for all paths below a code: each is accepted if no rule leads one of these paths elsewhere, unless
//! that path has a link of its own.

use super::agreement::{Agreement, appends_slash};
use super::answer::{AnswerKind, Location};
use super::claims::Claim;
use super::rules::placed::Placed;
use super::rules::rule::RuleKind;
use super::rules::rule_list::RuleList;
use super::server::{Site, ancestors};
use crate::exchange::read::configuration::below::{
    BELOW, GONE_BELOW, OTHERWISE_USED, forward_below,
};
use crate::exchange::read::configuration::pattern::Pattern;
use crate::exchange::read::configuration::pattern_index::TOO_MANY;
use crate::exchange::read::configuration::written_paths::Paths;
use crate::exchange::read::rows::RowError;
use crate::mapping::{Case, Forward};

/// The reason for a directory whose rules replace others.
pub(super) const OWN_RULES: RowError = RowError::NoLink("a directory below has rules of its own");

const UNLIKE: RowError = RowError::NoLink(
    "the code itself has another status, or differs in whether it gets the query: \
     an entry has one for both (below)",
);

impl Agreement<'_> {
    /// Decides on a link for all paths below one, given the paths that the rule was written for.
    pub(super) fn below(
        &self,
        placed: Placed<'_>,
        code: &str,
        paths: &[String],
    ) -> Result<Claim, RowError> {
        let rule = placed.rule();
        let start = format!("{code}/");
        if paths
            .iter()
            .any(|it| it.len() > start.len() && it.starts_with(&start))
        {
            return Err(RowError::NoLink("this redirects more than one path"));
        }
        for tail in ["", "/", &format!("/{}", BELOW[0])] {
            self.agrees_in_any_case(placed, code, tail)?;
        }
        self.agrees_in_any_case_below(placed, code)?;
        if let Some(found) = self.negotiated_below(placed, code) {
            return self.of_negotiation_below(&found, placed, code);
        }
        let path = format!("{start}{}", BELOW[0]);
        let below = self.server.answer(&path);
        if self.of_rule(placed, &path).as_ref() != Some(&below.kind) {
            return Err(self.blame(&below, rule));
        }
        let found = match &below.kind {
            AnswerKind::Redirect(found) => found,
            AnswerKind::Gone => return Err(GONE_BELOW),
            _ => return Err(self.blame(&below, rule)),
        };
        let (base, is_appended) = match found.url.strip_suffix(BELOW[0]) {
            Some(base) => (base, true),
            None => (&*found.url, false),
        };
        let forward = forward_below(base, is_appended, found.with_query)?;
        let location = Location {
            url: base.to_owned(),
            ..found.clone()
        };
        self.reaches_all_below(placed, code, &location, forward)?;
        if let Some(found) = self.negotiated(code) {
            let found = Result::as_ref(&found).map_err(RowError::clone)?;
            if !found.variants.is_empty() {
                return match (is_appended, found.location.is_like(&location)) {
                    (false, _) => Err(RowError::TO_ONE_URL),
                    (true, false) => Err(UNLIKE),
                    (true, true) => Ok(Claim::Below(found.location.clone(), location.url)),
                };
            }
        }
        let own = AnswerKind::Redirect(location.clone());
        let answers = [code, &start].map(|path| self.server.answer(path));
        let elsewhere = answers.iter().find_map(|it| match &it.kind {
            AnswerKind::Redirect(found) if it.kind != own => Some(found),
            _ => None,
        });
        let leads_itself = answers.iter().any(|it| it.kind == own);
        // The slash alone is an empty path below the code.
        if let AnswerKind::Redirect(found) = &answers[0].kind
            && is_appended
            && answers[1].kind == own
            && answers[0].line == Some(rule.line)
            && appends_slash(&answers[1], &answers[0].kind, rule)
        {
            return Ok(Claim::Below(found.clone(), location.url));
        }
        let claim = match (leads_itself, elsewhere) {
            (true, _) => Claim::Redirect(location, forward),
            (false, Some(_)) if !is_appended => {
                return Err(RowError::TO_ONE_URL);
            }
            (false, Some(found)) if found.is_like(&location) => {
                Claim::Below(found.clone(), location.url)
            }
            (false, Some(_)) => return Err(UNLIKE),
            (false, None) => {
                for answer in &answers {
                    self.agrees(answer, &own, rule)?;
                }
                return Err(RowError::NoLink(
                    "a table does not lead what is below a code, and not the code itself",
                ));
            }
        };
        let expected = match &claim {
            Claim::Below(found, _) => &AnswerKind::Redirect(found.clone()),
            _ => &own,
        };
        for answer in &answers {
            self.agrees(answer, expected, rule)?;
        }
        Ok(claim)
    }

    /// Checks that every path below a code leads below a URL, or all of them to it.
    pub(super) fn reaches_all_below(
        &self,
        placed: Placed<'_>,
        code: &str,
        location: &Location,
        forward: Forward,
    ) -> Result<(), RowError> {
        let (server, rule) = (self.server, placed.rule());
        // Where the condition is not fulfilled, a later rule decides.
        if let Some(reason) = rule.condition {
            return Err(RowError::NoLink(reason));
        }
        let start = format!("{code}/");
        let path = format!("{start}{}", BELOW[0]);
        let expected = BELOW.map(|below| Location {
            url: match forward.path() {
                true => format!("{}{below}", location.url),
                false => location.url.clone(),
            },
            ..location.clone()
        });
        for (below, expected) in BELOW.iter().zip(&expected) {
            let answer = server.answer(&format!("{start}{below}"));
            match &answer.kind {
                AnswerKind::Redirect(found) if found == expected => {}
                AnswerKind::Redirect(_) if answer.line == Some(rule.line) => {
                    return Err(OTHERWISE_USED);
                }
                _ => return Err(self.blame(&answer, rule)),
            }
        }
        if self.has_rules_below(&start) {
            return Err(OWN_RULES);
        }
        let relative_start = |directory: &str| self.relative(directory, &start);
        let applied = server.rewriting(&path);
        if rule.kind == RuleKind::Rewrite {
            // Another directory's rules replace this one, even if they lead to the same URL.
            if applied.is_none_or(|(directory, ..)| directory != placed.directory) {
                return Err(OWN_RULES);
            }
            self.agree_below(
                placed.list,
                placed.number,
                &relative_start(placed.directory),
                &expected,
            )?;
            return self.is_unchanged(placed, &location.url);
        }
        if let Some((directory, site, _)) = applied {
            let start = relative_start(directory);
            self.agree_below(&site.rewrites, usize::MAX, &start, &expected)?;
        }
        for directory in ancestors(&path).take_while(|it| *it != placed.directory) {
            if let Some(site) = server.sites.get(directory) {
                let start = format!("/{start}");
                self.agree_below(&site.redirects, usize::MAX, &start, &expected)?;
            }
        }
        self.agree_below(placed.list, placed.number, &format!("/{start}"), &expected)
    }

    /// Returns whether a directory whose path begins with a text has rules of its own.
    pub(super) fn has_rules_below(&self, start: &str) -> bool {
        let has_rules =
            |it: &Site| it.has_rewriting || it.broken.is_some() || !it.redirects.rules().is_empty();
        let sites = &self.server.sites;
        match self.server.case {
            Case::Exact => {
                let mut inside = sites.range(start.to_owned()..);
                let mut inside = inside.by_ref().take_while(|(it, _)| it.starts_with(start));
                inside.any(|(_, it)| has_rules(it))
            }
            Case::Fold => sites.iter().any(|(path, it)| {
                let beginning = path.get(..start.len());
                beginning.is_some_and(|it| it.eq_ignore_ascii_case(start)) && has_rules(it)
            }),
        }
    }

    /// Returns what the rules of a directory are compared with, of a path inside it.
    pub(super) fn relative(&self, directory: &str, path: &str) -> String {
        match directory {
            "" => format!("{}{path}", self.server.slash),
            _ => path
                .get(directory.len() + 1..)
                .unwrap_or_default()
                .to_owned(),
        }
    }

    /// Checks that the rules before one lead all paths that begin with `start` where a link does, or
    /// have links of their own.
    fn agree_below(
        &self,
        list: &RuleList,
        number: usize,
        start: &str,
        expected: &[Location; 2],
    ) -> Result<(), RowError> {
        let near = list
            .before_below(number, start.as_bytes())
            .ok_or(TOO_MANY)?;
        for number in near {
            let other = &list.rules()[number];
            let is_decided = || {
                let Some(known) = exact(&other.pattern, self.server.case) else {
                    return false;
                };
                let mut inside = known.texts.iter().flatten();
                let start_matches = |it: &[u8]| match self.server.case {
                    Case::Exact => it == start.as_bytes(),
                    Case::Fold => it.eq_ignore_ascii_case(start.as_bytes()),
                };
                let is_below = |it: &[u8]| it.get(..start.len()).is_some_and(start_matches);
                if !inside.all(|it| it.len() == start.len() || !is_below(it)) {
                    return false;
                }
                let leads = |(below, expected): (&&str, &Location)| {
                    let relative = format!("{start}{below}");
                    let found = self.server.of_rule(list, number, relative.as_bytes());
                    found == Some(Some(AnswerKind::Redirect(expected.clone())))
                };
                // A rule for the code itself decides nothing below.
                !known.is_open || BELOW.iter().zip(expected).all(leads)
            };
            if !self.whole.contains(&other.line) && !is_decided() {
                return Err(self.covered(other.line));
            }
        }
        Ok(())
    }

    /// Checks that no later rule applies to the result of a rule that does not end the list.
    pub(super) fn is_unchanged(&self, placed: Placed<'_>, base: &str) -> Result<(), RowError> {
        if placed.rule().is_last {
            return Ok(());
        }
        let near = placed.list.before_below(usize::MAX, base.as_bytes());
        let is_later = |it: &usize| *it > placed.number;
        match near.is_some_and(|near| !near.iter().any(is_later)) {
            true => Ok(()),
            false => Err(RowError::NoLink(
                "a later rule changes where this one leads, which has no [L]",
            )),
        }
    }
}

/// Returns the paths of an expression that matches no others, to a table with this case.
pub(super) fn exact(pattern: &Pattern, case: Case) -> Option<&Paths> {
    let Pattern::Known(known) = pattern else {
        return None;
    };
    let is_exact =
        !known.is_negated() && (case == Case::Fold || !known.folds()) && !known.paths.has_dot;
    (is_exact && known.paths.texts.is_some()).then_some(&known.paths)
}
