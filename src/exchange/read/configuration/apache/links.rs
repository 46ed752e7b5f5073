//! The links of a server: each is accepted if the table answers as Apache does wherever the link
//! answers, that is to its code, to the code with a slash after it, and, with `forward: path` or `all`, to
//! all paths below. Only where Apache answers 404 may the code, with or without the slash, answer more, and
//! with the slash where a rule for all paths leads it.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet};

use super::agreement::{Agreement, NEVER, appends_slash, is_merged};
use super::answer::{Answer, AnswerKind};
use super::claims::{Claim, Claims, Reach, Variants};
use super::negotiation::{Negotiated, UNUSED};
use super::rules::placed::Placed;
use super::rules::rule::{Action, Rule, RuleKind};
use super::server::{Server, refusal};
use crate::exchange::read::configuration::pattern::Pattern;
use crate::exchange::read::rows::{Deviation, RowError};
use crate::mapping::{Case, Forward};

const OTHER_LETTERS: RowError = RowError::NoLink(
    "a table with \"case: fold\" finds this code with its other letters, too, in any case, and Apache only \
     does so for A to Z",
);

const PARTLY_DOT: RowError =
    RowError::partly("a dot that is not escaped matches any character: only the dot is imported");

const PARTLY_CODE: RowError = RowError::partly(
    "only the path itself is imported: what is below leads elsewhere, and so does the slash alone",
);

const PARTLY_CONTAINED: RowError = RowError::partly(
    "this redirects all paths that contain a text: only the path that it is itself is imported",
);

const PARTLY_BEGINNING: RowError = RowError::partly(
    "this redirects all paths that begin with a text: only the path itself and those below it are \
     imported, and the slash alone may lead elsewhere",
);

const PARTLY_BEGINNING_ALONE: RowError = RowError::partly(
    "this redirects all paths that begin with a text: only the path itself is imported, and the \
     slash alone may lead elsewhere",
);

const PARTLY_ALONE: RowError = RowError::partly(
    "only the path itself is imported: a table does not lead all paths below it as these rules do",
);

const PARTLY_SLASH: RowError = RowError::partly(
    "the path itself and those below it are imported: the slash alone leads elsewhere",
);

/// Decides on the links of all rules.
pub(super) struct Links<'s> {
    agreement: Agreement<'s>,
    claims: Claims<'s>,
}

impl<'s> Links<'s> {
    pub(super) fn new(
        server: &'s Server,
        place: &'s dyn Fn(usize) -> String,
        claims: Claims<'s>,
    ) -> Self {
        let agreement = Agreement {
            server,
            place,
            whole: HashSet::new(),
            negotiated: RefCell::default(),
            below: RefCell::default(),
        };
        Self { agreement, claims }
    }

    /// Decides on all rules: first on single paths, then on all below a path, because there the
    /// exceptions must have been accepted.
    pub(super) fn decide(mut self) -> Claims<'s> {
        let server = self.agreement.server;
        for reach in [Reach::Path, Reach::Below] {
            for (directory, site) in &server.sites {
                for list in [&site.rewrites, &site.redirects] {
                    for number in 0..list.rules().len() {
                        let placed = Placed {
                            directory,
                            list,
                            number,
                        };
                        self.decide_rule(placed, reach);
                    }
                }
            }
        }
        self.claims
    }

    fn decide_rule(&mut self, placed: Placed<'s>, reach: Reach) {
        let rule = placed.rule();
        let Pattern::Known(known) = &rule.pattern else {
            return self.refuse_once(placed, reach);
        };
        let server_case = self.agreement.server.case;
        let is_refused =
            matches!(rule.action, Action::Continue) || refusal(rule, server_case).is_some();
        if is_refused {
            return self.refuse_once(placed, reach);
        }
        let is_open = known.paths.is_open;
        if is_open != (reach == Reach::Below) {
            return;
        }
        let mut is_whole = !known.paths.has_dot && known.paths.contained.is_none();
        let mut errors = Vec::new();
        let mut parts = Vec::new();
        let paths = match is_open {
            true => self.agreement.paths(placed),
            false => Vec::new(),
        };
        let codes = self.codes(placed, &mut errors);
        let mut are_some = false;
        for code in &codes {
            let decided = match is_open {
                true => self.below(placed, code, &paths),
                false => self.path(placed, code).map(|claim| (claim, None)),
            };
            let done = decided.and_then(|(claim, part)| {
                self.claims.accept(rule.line, code, claim)?;
                Ok(part)
            });
            match done {
                Ok(part) => {
                    are_some = true;
                    parts.extend(part);
                }
                Err(error) => errors.push(error),
            }
        }
        if is_whole && is_open {
            let texts = known.paths.texts.iter().flatten();
            is_whole = texts.into_iter().all(|it| it.ends_with(b"/"));
        }
        if errors.is_empty() && rule.kind == RuleKind::Redirect && !is_open {
            is_whole = false;
            let is_negotiated = |code: &String| self.agreement.negotiated(code).is_some();
            if !self.is_host(rule) || codes.iter().any(is_negotiated) {
                parts.push(PARTLY_CODE);
            }
        }
        if errors.is_empty() && known.paths.contained.is_some() {
            parts.push(PARTLY_CONTAINED);
        }
        if errors.is_empty() && known.paths.has_dot {
            parts.push(PARTLY_DOT);
        }
        errors.append(&mut parts);
        if is_whole && errors.is_empty() {
            self.agreement.whole.insert(rule.line);
        }
        errors.dedup();
        for error in errors {
            (self.claims).refuse(rule.line, error.for_part(are_some));
        }
    }

    fn refuse_once(&mut self, placed: Placed<'_>, reach: Reach) {
        let rule = placed.rule();
        if let (Some(error), Reach::Path) = (refusal(rule, self.agreement.server.case), reach) {
            self.claims.refuse(rule.line, error);
        }
    }

    /// Returns the paths of the codes that a rule was written for.
    fn codes(&self, placed: Placed<'_>, errors: &mut Vec<RowError>) -> BTreeSet<String> {
        let Pattern::Known(known) = &placed.rule().pattern else {
            return BTreeSet::new();
        };
        let mut codes = BTreeSet::new();
        for text in known.written_texts().into_iter().flatten() {
            match self.agreement.path_of(placed, text) {
                Ok(path) if !is_merged(&path) => {}
                Ok(path) if self.agreement.server.case == Case::Fold && has_case(&path) => {
                    errors.push(OTHER_LETTERS);
                }
                Ok(path) => {
                    codes.insert(path.strip_suffix('/').unwrap_or(&path).to_owned());
                }
                Err(error) => errors.push(error),
            }
        }
        if codes.is_empty() && errors.is_empty() {
            errors.push(NEVER);
        }
        codes
    }

    /// Decides on a link for all paths below one, given those that the rule was written for, and returns
    /// which part of them it is, if not all.
    fn below(
        &mut self,
        placed: Placed<'_>,
        code: &str,
        paths: &[String],
    ) -> Result<(Claim, Option<RowError>), RowError> {
        let rule = placed.rule();
        let slashed = format!("{code}/");
        let is_beginning = !paths.contains(&slashed);
        let claim = match self.agreement.below(placed, code, paths) {
            Ok(claim) => claim,
            Err(error) => {
                let part = match is_beginning {
                    true => PARTLY_BEGINNING_ALONE,
                    false if self.is_root_of_all(placed, code) => PARTLY_ALONE,
                    false => return Err(error),
                };
                let claim = self.path(placed, code).map_err(|_| error)?;
                return Ok((claim, Some(part)));
            }
        };
        let mut part = is_beginning.then_some(PARTLY_BEGINNING);
        if let Claim::Below(own, _) = &claim {
            let kind = AnswerKind::Redirect(own.clone());
            let slash = self.agreement.server.answer(&slashed);
            if appends_slash(&slash, &kind, rule) {
                // The same rule leads the code itself.
                let forward = match own.with_query {
                    true => Forward::Query,
                    false => Forward::None,
                };
                let itself = Claim::Redirect(own.clone(), forward);
                self.claims.accept(rule.line, code, itself)?;
                part.get_or_insert(PARTLY_SLASH);
            }
        }
        Ok((claim, part))
    }

    /// Returns whether a rule for all paths below a code decides, for every client, where the code with a
    /// slash after it leads, and leads the others to the same URL or below it: so not for `$1.json`.
    fn is_root_of_all(&self, placed: Placed<'_>, code: &str) -> bool {
        let url = |path: &str| match self.agreement.of_rule(placed, path) {
            Some(AnswerKind::Redirect(location)) => Some(location.url),
            _ => None,
        };
        let slashed = format!("{code}/");
        let decides = self.agreement.server.answer(&slashed).line == Some(placed.rule().line);
        let is_below = url(&slashed)
            .zip(url(&format!("{slashed}x")))
            .is_some_and(|(root, below)| below.starts_with(&root));
        decides && is_below && self.agreement.negotiated(code).is_none()
    }

    /// Decides on a link for one path.
    fn path(&self, placed: Placed<'_>, code: &str) -> Result<Claim, RowError> {
        let rule = placed.rule();
        let slashed = format!("{code}/");
        self.agreement.agrees_in_any_case(placed, code, "")?;
        self.agreement.agrees_in_any_case(placed, code, "/")?;
        let answers = [
            self.agreement.server.answer(code),
            self.agreement.server.answer(&slashed),
        ];
        let own = [code, &slashed]
            .iter()
            .find_map(|path| self.agreement.of_rule(placed, path));
        if let Some(found) = self.agreement.negotiated(code) {
            return Self::of_negotiation(&found, own);
        }
        let own = match own {
            // The rule leads to the path of the link itself.
            Some(AnswerKind::Slash) => answers.iter().find_map(Answer::of_link),
            own => own,
        };
        let own = match own {
            Some(kind) if answers.iter().any(|it| it.kind == kind) => Answer {
                line: Some(rule.line),
                kind,
            },
            _ => return Err(self.agreement.never(&answers, rule)),
        };
        let is_beginning = matches!(&rule.pattern, Pattern::Known(known) if known.paths.is_open);
        let is_slash_reported = is_beginning || rule.kind == RuleKind::Redirect;
        let is_general =
            answers[0].kind == own.kind && self.agreement.server.answers_generally(&slashed);
        for answer in &answers[..if is_general { 1 } else { 2 }] {
            if !(is_slash_reported && appends_slash(answer, &own.kind, rule)) {
                self.agreement.agrees(answer, &own.kind, rule)?;
            }
        }
        match own.kind {
            AnswerKind::Redirect(location) => {
                let is_host = rule.kind == RuleKind::Redirect && self.is_host(rule);
                let forward = match (is_host, location.with_query) {
                    (true, true) => Forward::PathAndQuery,
                    (true, false) => Forward::Path,
                    (false, _) => location.forward(),
                };
                if is_host {
                    self.agreement
                        .reaches_all_below(placed, code, &location, forward)?;
                }
                if is_general && answers[1].kind != answers[0].kind {
                    return Ok(Claim::Variants(Variants {
                        location,
                        forward,
                        below: None,
                        variants: Vec::new(),
                        deviations: vec![Deviation::Slash],
                    }));
                }
                Ok(Claim::Redirect(location, forward))
            }
            AnswerKind::Gone => Ok(Claim::Gone),
            _ => Err(self.agreement.blame(&own, rule)),
        }
    }

    /// Decides on a link for a path whose rules have conditions.
    fn of_negotiation(
        found: &Result<Negotiated, RowError>,
        own: Option<AnswerKind>,
    ) -> Result<Claim, RowError> {
        let found = found.as_ref().map_err(RowError::clone)?;
        let is_used = match own {
            Some(AnswerKind::Redirect(location)) => found.all.contains(&location),
            own => own == Some(AnswerKind::Slash),
        };
        let location = found.location.clone();
        match is_used {
            true if found.variants.is_empty() && found.deviations.is_empty() => {
                let forward = location.forward();
                Ok(Claim::Redirect(location, forward))
            }
            true => Ok(Claim::Variants(Variants {
                forward: location.forward(),
                location,
                below: None,
                variants: found.variants.clone(),
                deviations: found.deviations.clone(),
            })),
            false => Err(UNUSED),
        }
    }

    /// Returns whether a `Redirect` leads to a host without a path, and so all below to the same paths.
    fn is_host(&self, rule: &Rule) -> bool {
        let Action::Redirect(redirect) = &rule.action else {
            return false;
        };
        let url = redirect.substitution.expand(&Vec::new());
        let rest = url.splitn(4, |it| *it == b'/').skip(3).count();
        rest == 0 && !url.contains(&b'?') && !url.contains(&b'#')
    }
}

/// Returns whether a path has letters other than those of ASCII that have another case.
fn has_case(path: &str) -> bool {
    let mut others = path.chars().filter(|c| !c.is_ascii());
    others.any(|c| c.to_lowercase().ne([c]) || c.to_uppercase().ne([c]))
}

#[cfg(test)]
mod tests {
    use crate::exchange::read::rows::testing::{pairs, read_by, refused};
    use crate::mapping::Forward;

    #[test]
    fn a_part_of_a_rule_is_imported_and_reported() {
        let shown = |rules: &str| -> Vec<String> {
            let lines = rules
                .lines()
                .map(|rule| format!("RewriteRule {rule} [R,L]\n"));
            let rows = read_by(super::super::read, lines.collect::<String>().as_bytes());
            let shown = rows.iter().map(|row| match &row.link {
                Ok(link) => {
                    let text = |it: &Option<String>| it.clone().unwrap_or_default();
                    let (code, url, below) = (&link.code, &link.url, &link.below);
                    let forward = link.forward.map_or("", Forward::name);
                    let [code, url, below] = [code, url, below].map(text);
                    format!("{code} {forward} {url} {below}")
                        .trim_end()
                        .to_owned()
                }
                Err(error) => {
                    let error = error.to_string();
                    error.rsplit(": ").next().unwrap_or_default().to_owned()
                }
            });
            shown.collect()
        };
        let beginning = "only the path itself and those below it are imported, and the slash alone may lead elsewhere";
        for (rules, rows) in [
            (
                "^a(.*)$ https://e.org/x$1",
                &["a query https://e.org/x https://e.org/x/", beginning][..],
            ),
            (
                "^a https://e.org/x",
                &["a all-and-query https://e.org/x", beginning],
            ),
            (
                "^a(/.*)?$ https://e.org/x$1",
                &[
                    "a query https://e.org/x https://e.org/x/",
                    "the slash alone leads elsewhere",
                ],
            ),
            (
                "a$ https://e.org/x",
                &[
                    "a query https://e.org/x",
                    "only the path that it is itself is imported",
                ],
            ),
            (
                "^a/[01]$ https://e.org/x/\n^a https://e.org/y",
                &[
                    "a/0 query https://e.org/x/",
                    "a/1 query https://e.org/x/",
                    "a all-and-query https://e.org/y",
                    beginning,
                ],
            ),
            (
                "^a(/$|/x$){1} https://e.org/x",
                &["a query https://e.org/x", "a/x query https://e.org/x"],
            ),
            (
                "^(?!q)z+$ https://e.org/z\n^a$ https://e.org/a",
                &["this expression cannot be read", "a query https://e.org/a"],
            ),
            (
                "^(z)(?=\\))\\1$ https://e.org/z\n^(?R)a$ https://e.org/a\n^a$ https://e.org/a",
                &[
                    "this expression cannot be read",
                    "this expression cannot be read",
                    "line 2 decides what is answered to this path, or to some of these paths",
                ],
            ),
            (
                "^a/(.*)$ https://e.org/x/$1.json",
                &["a path below a code is only appended to the URL, or not used at all"],
            ),
            (
                "^a/v[0-9]+$ https://e.org/v\n^a/(.*)$ https://e.org/x/$1",
                &[
                    "this redirects more than one path",
                    "a query https://e.org/x/",
                    "a table does not lead all paths below it as these rules do",
                ],
            ),
            (
                "^a$ https://e.org/?x=1&\n^b$ https://e.org/%20",
                &["a none https://e.org/?x=1", "b query https://e.org/0"],
            ),
        ] {
            assert_eq!(shown(rules), rows, "{rules}");
        }
    }

    #[test]
    fn a_redirect_to_a_path_leads_to_the_host_of_the_short_links() {
        let decided = |text: &str| {
            let rows = read_by(super::super::read, text.as_bytes());
            (pairs(&rows), refused(&rows))
        };
        let text = "RewriteRule ^a/?$ /b [R,L]\nRewriteRule ^c/?$ b [R,L]\n\
                    RedirectMatch ^/d/?$ /b\nRewriteRule ^e/?$ /b [L]\n";
        let found = ["1 a https://short.code/b", "3 d https://short.code/b"];
        let lines = [
            "2: this leads to another path of the same host",
            "4: a rewrite is not a redirect",
        ];
        assert_eq!(
            decided(text),
            (
                found.map(str::to_owned).to_vec(),
                lines.map(str::to_owned).to_vec()
            )
        );
    }

    #[test]
    fn a_redirect_that_only_changes_the_slash_is_left_to_the_link() {
        let decided = |lines: &[&str]| {
            let lines = lines.iter().map(|it| format!("RewriteRule {it}\n"));
            let rows = read_by(super::super::read, lines.collect::<String>().as_bytes());
            (pairs(&rows), refused(&rows).len())
        };
        let link = |line: usize| vec![format!("{line} a https://e.org/1")];
        for (lines, found) in [
            (
                &["^a$ /a/ [R=301,L]", "^a/$ https://e.org/1 [R,L]"][..],
                (link(1), 0),
            ),
            (
                &["^(.*)/$ /$1 [R,L]", "^a$ https://e.org/1 [R,L]"],
                (link(2), 1),
            ),
            (
                &[
                    "^a$ https://short.code/a/ [R=301,L]",
                    "^a/$ https://e.org/1 [R,L]",
                ],
                (link(1), 0),
            ),
            // The query would be lost on the way.
            (
                &["^a$ /a/ [R=301,L,QSD]", "^a/$ https://e.org/1 [R,L]"],
                (vec![], 2),
            ),
            // Neither leads anywhere.
            (&["^a$ /a/ [R,L]", "^a/$ /a [R,L]"], (vec![], 2)),
        ] {
            assert_eq!(decided(lines), found, "{lines:?}");
        }
    }

    #[test]
    fn variables_that_never_change_are_expanded() {
        let text = "SetEnvIf Request_URI ^.*$ BASE=https://e.org/v\n\
                    SetEnvIf Accept turtle SYNTAX=ttl\n\
                    RewriteRule ^a$ %{ENV:BASE}/a [R,L]\n\
                    RewriteRule ^b/(.*)$ %{ENV:base}/$1 [R,L]\n\
                    RewriteRule ^c$ %{ENV:BASE}/c.%{ENV:SYNTAX} [R,L]\n\
                    RewriteRule ^d$ %{ENV:SYNTAX} [R,L]\n";
        let rows = read_by(super::super::read, text.as_bytes());
        let found = ["3 a https://e.org/v/a", "4 b https://e.org/v/"];
        assert_eq!(pairs(&rows), found);
        let variable = |line, url| format!("{line}: the URL depends on a variable: {url:?}");
        assert_eq!(
            refused(&rows),
            [
                variable(5, "https://e.org/v/c.%{ENV:SYNTAX}"),
                variable(6, "%{ENV:SYNTAX}")
            ]
        );
    }
}
