//! The rules with conditions that decide where paths below a code lead: each must lead all of them alike,
//! so that one of them shows what is answered to all.

use std::rc::Rc;

use super::agreement::{Agreement, NegotiationBelow};
use super::answer::AnswerKind;
use super::below_variants::{NegotiatedBelow, negotiated};
use super::claims::Claim;
use super::clients::Clients;
use super::negotiation::UNUSED;
use super::prefixes::{OWN_RULES, exact};
use super::rules::placed::Placed;
use super::rules::rule::RuleKind;
use super::server::ancestors;
use crate::exchange::read::configuration::below::{BELOW, OTHERWISE_USED};
use crate::exchange::read::configuration::pattern_index::TOO_MANY;
use crate::exchange::read::rows::RowError;

impl Agreement<'_> {
    /// Returns the entry of the paths below a code if the rules for them have conditions on what a client
    /// sends.
    pub(super) fn negotiated_below(&self, placed: Placed<'_>, code: &str) -> NegotiationBelow {
        let path = format!("{code}/{}", BELOW[0]);
        let applied = self.server.rewriting(&path);
        let is_applied = applied.is_some_and(|(directory, ..)| directory == placed.directory);
        if placed.rule().kind != RuleKind::Rewrite || !is_applied {
            return None;
        }
        if let Some(known) = self.below.borrow().get(code) {
            return known.clone();
        }
        let below = Clients::new(self.server, &[&path]);
        let found = below.differ().then(|| {
            self.leads_alike_below(placed, code)?;
            let own = Clients::new(self.server, &[code, &format!("{code}/")]);
            negotiated(&own, &below)
        });
        let found = found.map(Rc::new);
        let mut known = self.below.borrow_mut();
        known.insert(code.to_owned(), found.clone());
        found
    }

    /// Decides on a link for a path whose rules have conditions.
    pub(super) fn of_negotiation_below(
        &self,
        found: &Result<NegotiatedBelow, RowError>,
        placed: Placed<'_>,
        code: &str,
    ) -> Result<Claim, RowError> {
        let found = found.as_ref().map_err(RowError::clone)?;
        let own = self.of_rule(placed, &format!("{code}/{}", BELOW[0]));
        let is_used = matches!(own, Some(AnswerKind::Redirect(own)) if found.all.contains(&own));
        match is_used {
            true => Ok(Claim::Variants(found.entry.clone())),
            false => Err(UNUSED),
        }
    }

    /// Checks that each rule of a list leads all paths below a code alike, or has links of its own, up to one
    /// without conditions.
    fn leads_alike_below(&self, placed: Placed<'_>, code: &str) -> Result<(), RowError> {
        let start = format!("{code}/");
        if self.has_rules_below(&start) {
            return Err(OWN_RULES);
        }
        let relative = self.relative(placed.directory, &start);
        let near = placed.list.before_below(usize::MAX, relative.as_bytes());
        for number in near.ok_or(TOO_MANY)? {
            let other = Placed { number, ..placed };
            if self.whole.contains(&other.rule().line) {
                continue;
            }
            let decides = self.leads_alike(other, &relative)?;
            if decides && other.rule().condition.is_none() {
                return Ok(());
            }
        }
        self.is_empty_below(&start)
    }

    /// Checks that a rule leads all paths that begin with a text alike; returns whether it matches them.
    fn leads_alike(&self, placed: Placed<'_>, start: &str) -> Result<bool, RowError> {
        let rule = placed.rule();
        let covered = || self.covered(rule.line);
        let known = exact(&rule.pattern, self.server.case).ok_or_else(covered)?;
        let mut inside = known.texts.iter().flatten();
        if !inside.all(|it| it == start.as_bytes() || !it.starts_with(start.as_bytes())) {
            return Err(covered());
        }
        // A rule for the code itself decides nothing below.
        if !known.is_open {
            return Ok(false);
        }
        let found = BELOW.map(|below| {
            let relative = format!("{start}{below}");
            let found = self
                .server
                .of_rule(placed.list, placed.number, relative.as_bytes());
            found.map(|kind| (below, kind))
        });
        let [Some((first, one)), Some((second, other))] = &found else {
            return Ok(false);
        };
        if rule.conditions.as_ref().is_some_and(|it| it.has_path()) {
            return Err(RowError::NoLink(rule.condition.unwrap_or_default()));
        }
        if let (Some(AnswerKind::Redirect(one)), Some(AnswerKind::Redirect(other))) = (one, other) {
            let bases = [one.url.strip_suffix(first), other.url.strip_suffix(second)];
            let is_alike = match bases {
                [None, None] => one.url == other.url,
                [one, other] => one == other,
            };
            if !is_alike || !one.is_like(other) {
                return Err(OTHERWISE_USED);
            }
            self.is_unchanged(placed, bases[0].unwrap_or(&one.url))?;
            return Ok(true);
        }
        match one == other {
            true => Ok(true),
            false => Err(OTHERWISE_USED),
        }
    }

    /// Checks that nothing is answered to paths that begin with a text if no `RewriteRule` applies.
    fn is_empty_below(&self, start: &str) -> Result<(), RowError> {
        let mut existing = self.server.files.iter().chain(&self.server.folders);
        if existing.any(|it| it.starts_with(start)) {
            return Err(RowError::NoLink("a file or a directory has such a path"));
        }
        for directory in ancestors(start) {
            let Some(site) = self.server.sites.get(directory) else {
                continue;
            };
            let list = &site.redirects;
            let near = list.before_below(usize::MAX, format!("/{start}").as_bytes());
            if let Some(number) = near.ok_or(TOO_MANY)?.first() {
                return Err(self.covered(list.rules()[*number].line));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::exchange::read::configuration::apache::read;
    use crate::exchange::read::rows::testing::{below_and_variants, read_by};
    use crate::mapping::Forward;

    /// Returns the accepted links of a file, and the lines of the refused rules with the reasons.
    fn decided(text: &str) -> Vec<String> {
        let rows = read_by(read, text.as_bytes());
        let shown = rows.iter().map(|row| match &row.link {
            Ok(link) => {
                let code = link.code.as_deref().unwrap_or_default();
                let forward = link.forward.map_or("", Forward::name);
                let url = link.url.as_deref().unwrap_or_default();
                let rest = below_and_variants(link);
                format!("{code} {forward} {url}{rest}").replace("https://e.org/", "/")
            }
            Err(error) => format!("{}: {error}", row.line),
        });
        shown.collect()
    }

    /// Returns a rule, for Turtle only if its line begins with `turtle`.
    fn rules(lines: &[&str]) -> String {
        let rule = |line: &&str| {
            let (condition, rule) = match line.strip_prefix("turtle ") {
                Some(rule) => ("RewriteCond %{HTTP_ACCEPT} text/turtle\n", rule),
                None => ("", *line),
            };
            let (expression, target) = rule.split_once(' ').unwrap_or_default();
            format!("{condition}RewriteRule {expression} https://e.org/{target} [R=303,L]\n")
        };
        lines.iter().map(rule).collect()
    }

    #[test]
    fn paths_below_a_code_lead_elsewhere_by_type() {
        for (lines, entry) in [
            (
                &["turtle ^a/(.*)$ ttl/$1", "^a/(.*)$ html/$1"][..],
                "a path-and-query /html/, text/turtle /ttl/",
            ),
            (
                &["turtle ^a(/.*)?$ ttl", "^a(/.*)?$ html"],
                "a all-and-query /html, text/turtle /ttl",
            ),
            (
                &["turtle ^a(/.*)?$ ttl", "^a/?$ html", "^a/(.*)$ html/$1"],
                "a all-and-query /html below /html/, text/turtle /ttl",
            ),
            (
                &[
                    "turtle ^a/?$ ttl",
                    "^a/?$ html",
                    "turtle ^a/(.*)$ ttl/$1",
                    "^a/(.*)$ html/$1",
                ],
                "a query /html below /html/, text/turtle /ttl /ttl/",
            ),
        ] {
            assert_eq!(decided(&rules(lines)), [entry]);
        }
    }

    #[test]
    fn rules_that_do_not_lead_all_paths_alike_are_refused() {
        let name = "a path below a code is only appended to the URL, or not used at all";
        let one_url = "a table does not lead all that is below a code to one URL, and the code itself to another";
        for (lines, reason) in [
            (&["turtle ^a/(.*)$ $1.ttl", "^a/(.*)$ $1"][..], name),
            (
                &[
                    "turtle ^a/(.+)$ ttl",
                    "turtle ^a/?$ own",
                    "^a/?$ html",
                    "^a/(.*)$ html/$1",
                ],
                one_url,
            ),
            (
                &[
                    "turtle ^a/x(.*)$ ttl",
                    "turtle ^a/(.*)$ ttl/$1",
                    "^a/(.*)$ $1",
                ],
                "line 2 decides what is answered to this path, or to some of these paths",
            ),
        ] {
            let found = decided(&rules(lines));
            let is_below = |it: &String| {
                it.starts_with("a ") && (it.contains(" below") || it.contains("path"))
            };
            assert!(!found.iter().any(is_below), "{found:?}");
            let reason = format!(": {reason}");
            assert!(found.iter().any(|it| it.ends_with(&reason)), "{found:?}");
        }
        let of_path =
            "RewriteCond %{REQUEST_URI} x\nRewriteRule ^a/(.*)$ https://e.org/x [R=303,L]\n";
        let found =
            decided(&(of_path.to_owned() + &rules(&["turtle ^a/(.*)$ ttl/$1", "^a/(.*)$ $1"])));
        assert!(found.iter().all(|it| !it.starts_with("a ")), "{found:?}");
    }
}
