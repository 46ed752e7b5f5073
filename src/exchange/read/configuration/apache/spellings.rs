//! What Apache answers to other spellings of a path, for a table that ignores case.
//!
//! All rules are then compared as if they ignored case. A rule without `[NC]` decides less than that: what
//! remains to other rules must not be led elsewhere by one that was written for other spellings.

use super::agreement::Agreement;
use super::answer::AnswerKind;
use super::prefixes::OWN_RULES;
use super::rules::placed::Placed;
use super::rules::rule::Rule;
use super::rules::rule_list::RuleList;
use super::server::ancestors;
use crate::exchange::read::configuration::pattern::{Pattern, Spelling};
use crate::exchange::read::configuration::pattern_index::TOO_MANY;
use crate::exchange::read::rows::RowError;
use crate::mapping::Case;

const AS_SPELLED: RowError = RowError::NoLink(
    "this leads each spelling of the path to another URL, and a table all of them to one",
);

const OTHER_DIRECTORY: RowError =
    RowError::NoLink("a directory with rules, or a file, has this path in another case");

/// A list of rules, and what they are applied to.
struct Applied<'s> {
    list: &'s RuleList,
    /// What is before the part of a path that the rules are compared with.
    directory: &'s str,
    slash: &'static str,
}

/// A rule that matches a path if case is ignored.
struct Matching<'s> {
    rule: &'s Rule,
    kind: Option<AnswerKind>,
    spelling: Spelling,
}

impl Applied<'_> {
    fn text(&self, path: &str) -> String {
        let start = match self.directory {
            "" => 0,
            directory => directory.len() + 1,
        };
        format!("{}{}", self.slash, path.get(start..).unwrap_or_default())
    }
}

impl<'s> Agreement<'s> {
    /// Checks that Apache leads all spellings of a code, with this after it, to the same, or that those
    /// of another case are left to rules that are not written for them.
    pub(super) fn agrees_in_any_case(
        &self,
        placed: Placed<'_>,
        code: &str,
        tail: &str,
    ) -> Result<(), RowError> {
        if self.server.case == Case::Exact {
            return Ok(());
        }
        let path = format!("{code}{tail}");
        if self.server.has_in_other_case(&path) {
            return Err(OTHER_DIRECTORY);
        }
        self.agrees_above(&path, placed.rule().line)?;
        let matching = self.matching(code, tail)?;
        for (number, one) in matching.iter().enumerate() {
            let later = matching[number + 1..].iter();
            for other in later.filter(|it| it.kind != one.kind) {
                let is_conflict = matches!(
                    (one.spelling, other.spelling),
                    (Spelling::Other, _) | (_, Spelling::Other) | (Spelling::Own, Spelling::Any)
                );
                if is_conflict {
                    let own = placed.rule().line;
                    let line = if other.rule.line == own { one } else { other };
                    return Err(self.covered(line.rule.line));
                }
            }
        }
        Ok(())
    }

    /// Checks that no rule of a directory above the one that decides a path is for it in another case, in
    /// which Apache does not find that directory; but for one in a line.
    fn agrees_above(&self, path: &str, own: usize) -> Result<(), RowError> {
        let sites = &self.server.sites;
        let above = ancestors(path).filter_map(|it| Some((it, sites.get(it)?)));
        let mut above = above.skip_while(|(_, site)| !site.has_rewriting);
        let Some((own_directory, _)) = above.next() else {
            return Ok(());
        };
        for (directory, site) in above {
            let text = format!("/{path}");
            let near = site.redirects.near(text.as_bytes()).ok_or(TOO_MANY)?;
            let rules = near.iter().map(|it| &site.redirects.rules()[*it]);
            let mut named = rules.filter(|it| {
                let spelling = it.pattern.spelling_of(text.as_bytes());
                it.line != own
                    && it.pattern.may_match(text.as_bytes())
                    && matches!(spelling, Spelling::Any | Spelling::Other)
            });
            if let Some(rule) = named.next() {
                return Err(self.covered(rule.line));
            }
            if !site.has_rewriting {
                continue;
            }
            let text = self.relative(directory, path);
            let near = site.rewrites.near(text.as_bytes()).ok_or(TOO_MANY)?;
            let rules = near.iter().map(|it| &site.rewrites.rules()[*it]);
            let own_text = self.relative(directory, own_directory);
            let mut named = rules.filter(|it| {
                it.pattern.may_match(text.as_bytes())
                    && !it.pattern.spells_beginning(own_text.as_bytes())
                    && it.pattern.spelling_of(text.as_bytes()) != Spelling::Letterless
            });
            if let Some(rule) = named.next() {
                return Err(self.covered(rule.line));
            }
        }
        Ok(())
    }

    /// Returns the rules that match a path if case is ignored, up to one that decides all its spellings.
    fn matching(&self, code: &str, tail: &str) -> Result<Vec<Matching<'s>>, RowError> {
        let path = format!("{code}{tail}");
        let mut found = Vec::new();
        for applied in self.applied(&path) {
            let text = applied.text(&path);
            let near = applied.list.near(text.as_bytes()).ok_or(TOO_MANY)?;
            for number in near {
                let of = |text: &str| self.server.of_rule(applied.list, number, text.as_bytes());
                let Some(kind) = of(&text) else { continue };
                let rule = &applied.list.rules()[number];
                let spelling = rule.pattern.spelling_of(text.as_bytes());
                if spelling == Spelling::Any {
                    let (directory, rest) = code.split_at(applied.directory.len().min(code.len()));
                    for rest in [rest.to_ascii_uppercase(), rest.to_ascii_lowercase()] {
                        let respelled = applied.text(&format!("{directory}{rest}{tail}"));
                        if of(&respelled).as_ref() != Some(&kind) {
                            return Err(AS_SPELLED);
                        }
                    }
                }
                let is_last = matches!(spelling, Spelling::Any | Spelling::Letterless);
                let has_path = rule.conditions.as_ref().is_some_and(|it| it.has_path());
                if is_last && has_path {
                    return Err(RowError::NoLink(rule.condition.unwrap_or_default()));
                }
                found.push(Matching {
                    rule,
                    kind,
                    spelling,
                });
                if is_last && rule.condition.is_none() {
                    return Ok(found);
                }
            }
        }
        Ok(found)
    }

    /// Checks that no later rule is for paths below a code in another case, if the rule for those in its own
    /// does not decide them.
    pub(super) fn agrees_in_any_case_below(
        &self,
        placed: Placed<'_>,
        code: &str,
    ) -> Result<(), RowError> {
        let is_folded = matches!(&placed.rule().pattern, Pattern::Known(it) if it.folds());
        if self.server.case == Case::Exact || is_folded {
            return Ok(());
        }
        let start = format!("{code}/");
        if self.server.has_in_other_case(&start) {
            return Err(OWN_RULES);
        }
        let mut is_after = false;
        for applied in self.applied(&start) {
            let text = applied.text(&start);
            let is_own = std::ptr::eq(applied.list, placed.list);
            is_after |= is_own;
            if !is_after {
                continue;
            }
            let all = applied.list.before_below(usize::MAX, text.as_bytes());
            for number in all.ok_or(TOO_MANY)? {
                let rule = &applied.list.rules()[number];
                let spelling = rule.pattern.spelling_below(text.as_bytes());
                let is_later = !is_own || number > placed.number;
                if is_later && matches!(spelling, Spelling::Any | Spelling::Other) {
                    return Err(self.covered(rule.line));
                }
            }
        }
        Ok(())
    }

    /// Returns the lists of rules that are applied to a path, in this order.
    fn applied(&self, path: &str) -> Vec<Applied<'s>> {
        let server = self.server;
        let rewrites = server.rewriting(path).map(|(directory, site, _)| Applied {
            list: &site.rewrites,
            directory,
            slash: match directory {
                "" => server.slash,
                _ => "",
            },
        });
        let redirects = ancestors(path).filter_map(|directory| {
            let site = server.sites.get(directory)?;
            Some(Applied {
                list: &site.redirects,
                directory: "",
                slash: "/",
            })
        });
        rewrites.into_iter().chain(redirects).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::exchange::read::configuration::apache::{read, read_tree};
    use crate::exchange::read::rows::ConfigurationTree;
    use crate::exchange::read::rows::testing::{below_and_variants, pairs, read_in_any_case};

    /// Returns the links and the refused lines of rules for a table that ignores case.
    fn decided(rules: &str) -> (Vec<String>, Vec<usize>) {
        let lines = rules.lines().map(|rule| match rule.starts_with("Re") {
            true => format!("{rule}\n"),
            false => format!("RewriteRule {rule}\n"),
        });
        let rows = read_in_any_case(read, lines.collect::<String>().as_bytes());
        let shown = rows.iter().filter_map(|row| {
            let link = row.link.as_ref().ok()?;
            let code = link.code.as_deref().unwrap_or_default();
            let url = link.url.as_deref().unwrap_or_default();
            let rest = below_and_variants(link);
            Some(format!("{code} {url}{rest}").replace("https://e.org/", "/"))
        });
        let refused = rows.iter().filter(|row| row.link.is_err());
        (shown.collect(), refused.map(|row| row.line).collect())
    }

    #[test]
    fn letters_that_apache_does_not_fold_are_refused() {
        for rules in [
            "^É/(.*)$ https://e.org/g/$1 [R,L,NC]\n^é/x$ https://e.org/h [R,L]",
            "^É$ https://e.org/g [R,L]\n^é$ https://e.org/h [R,L]",
            "^É$ https://e.org/g [R,L,NC]\n^(.*)$ https://e.org/all [R,L]",
        ] {
            let (shown, refused) = decided(rules);
            assert_eq!(
                (&shown[..], refused.contains(&1)),
                (&[][..], true),
                "{rules}"
            );
        }
        let (shown, _) = decided("^文$ https://e.org/g [R,L,NC]");
        assert_eq!(shown, ["文 /g"]);
    }

    #[test]
    fn rules_that_ignore_case_become_links_of_a_table_that_does() {
        for (rules, links) in [
            ("^Foo/?$ https://e.org/1 [NC,R,L]", &["Foo /1"][..]),
            ("^Foo$ https://e.org/1 [R,L]", &["Foo /1"]),
            ("^foo/(.*)$ https://e.org/$1 [NC,R,L]", &["foo /"]),
            ("^(a|B)$ https://e.org/1 [NC,R,L]", &["B /1", "a /1"]),
            (
                "^foo$ https://e.org/1 [NC,R,L]\n^bar$ https://e.org/2 [R,L]",
                &["foo /1", "bar /2"],
            ),
            (
                "^foo/bar/?$ https://e.org/2 [NC,R,L]\n^Foo/(.*)$ https://e.org/d/$1 [NC,R,L]",
                &["foo/bar /2", "Foo /d/"],
            ),
            (
                "^foo/bar/?$ https://e.org/2 [R,L]\n^foo/(.*)$ https://e.org/d/$1 [R,L]",
                &["foo/bar /2", "foo /d/"],
            ),
            (
                "RewriteCond %{HTTP_ACCEPT} text/turtle\n^foo$ https://e.org/ttl [NC,R,L]\n\
                 ^foo$ https://e.org/page [NC,R,L]",
                &["foo /page, text/turtle /ttl"],
            ),
            ("RedirectMatch (?i)^/foo$ https://e.org/1", &["foo /1"]),
        ] {
            let links = links.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(decided(rules), (links, vec![]), "{rules}");
        }
    }

    #[test]
    fn a_rule_above_that_is_for_a_directory_in_another_case_is_compared() {
        for (above, links) in [
            ("RewriteRule ^f/ab$ https://e.org/1 [NC,R,L]", &[][..]),
            ("Redirect /F https://e.org/1", &[]),
            ("RewriteRule ^F/ab$ https://e.org/1 [R,L]", &[]),
            (
                "RewriteRule ^(f|g)/ab$ https://e.org/1 [R,L]",
                &["1 g/ab https://e.org/1"],
            ),
            // In this case, Apache finds the directory.
            (
                "RewriteRule ^f/ab$ https://e.org/1 [R,L]",
                &["5 f/AB https://e.org/2"],
            ),
            (
                "RewriteRule ^g/ab$ https://e.org/1 [NC,R,L]",
                &["1 g/ab https://e.org/1", "5 f/AB https://e.org/2"],
            ),
        ] {
            let own = "RewriteEngine on\nRewriteRule ^AB$ https://e.org/2 [NC,R,L]\n";
            let above = format!("{above}\nRewriteEngine on\n");
            let mut tree = ConfigurationTree::default();
            for (directory, rules) in [("", &*above), ("f", own)] {
                tree.add(directory.into(), directory.into(), rules.into());
                tree.folders.insert(directory.into());
            }
            let rows = read_in_any_case(read_tree, &tree);
            assert_eq!(pairs(&rows), links, "{rows:?}");
        }
    }

    #[test]
    fn rules_that_lead_spellings_elsewhere_are_refused() {
        for (rules, links, refused) in [
            (
                "^foo$ https://e.org/1 [R,L]\n^FOO$ https://e.org/2 [R,L]",
                &[][..],
                &[1, 2][..],
            ),
            (
                "^foo$ https://e.org/1 [R,L]\n^foo$ https://e.org/2 [NC,R,L]",
                &[],
                &[1, 2],
            ),
            (
                "^foo$ https://e.org/1 [NC,R,L]\n^FOO$ https://e.org/2 [R,L]",
                &["foo /1"],
                &[2],
            ),
            ("^(foo|bar)$ https://e.org/$1 [NC,R,L]", &[], &[1]),
            ("^(foo)/(.*)$ https://e.org/$1/$2 [NC,R,L]", &[], &[1]),
            // Of the rules for all paths, the code itself is imported.
            (
                "^foo/bar/?$ https://e.org/2 [R,L]\n^foo/(.*)$ https://e.org/d/$1 [NC,R,L]",
                &["foo /d/"],
                &[1, 2],
            ),
            (
                "^foo/(.*)$ https://e.org/d/$1 [R,L]\n^FOO/x$ https://e.org/2 [R,L]",
                &["foo /d/"],
                &[1, 2],
            ),
            (
                "^FOO/x/?$ https://e.org/2 [R,L]\n^foo/(.*)$ https://e.org/d/$1 [R,L]",
                &["foo /d/"],
                &[1, 2],
            ),
            (
                "RewriteCond %{HTTP_ACCEPT} text/turtle\n^foo$ https://e.org/ttl [R,L]\n\
                 ^foo$ https://e.org/page [NC,R,L]",
                &[],
                &[2, 3],
            ),
        ] {
            let links = links.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(decided(rules), (links, refused.to_vec()), "{rules}");
        }
    }
}
