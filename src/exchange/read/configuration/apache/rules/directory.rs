//! The rules of one file, and what it says of the directories below.

use super::conditions::Conditions;
use super::lines::{joined_lines, words};
use super::matchers::Matchers;
use super::rule::{Action, Followers, MALFORMED, Rule};
use super::substitution::without_condition_references;
use super::variables::Variables;
use crate::exchange::read::rows::{LinkOrigin, RowError, text};

/// Sections that apply a line only to some requests.
const CONDITIONS: [&str; 13] = [
    "directory",
    "directorymatch",
    "else",
    "elseif",
    "files",
    "filesmatch",
    "if",
    "ifdefine",
    "limit",
    "limitexcept",
    "location",
    "locationmatch",
    "proxy",
];

/// The modules that are there if their rules are to work.
const MODULES: [&str; 4] = [
    "mod_rewrite.c",
    "rewrite_module",
    "mod_alias.c",
    "alias_module",
];

const NOT_ALWAYS: &str = "this is not for every request";

/// The rules of one file.
#[derive(Default)]
pub(crate) struct Directory {
    /// `RewriteRule`, in the order of the file.
    pub(crate) rewrites: Vec<Rule>,
    /// `Redirect` and `RedirectMatch`, in the order of the file.
    pub(crate) redirects: Vec<Rule>,
    /// Whether it has any `Rewrite` line, and so none of the rules of its parent.
    pub(crate) has_rewriting: bool,
    /// Whether rules are applied, if it says so.
    pub(crate) engine: Option<bool>,
    /// The line that Apache refuses, or whose effect on all rules is not known.
    pub(crate) broken: Option<usize>,
    /// Other lines that are not imported.
    pub(crate) problems: Vec<(usize, RowError)>,
}

/// The state after the preceding lines.
struct Reader<'r> {
    origin: LinkOrigin<'r>,
    directory: Directory,
    variables: &'r Variables,
    matchers: &'r mut Matchers,
    /// The open sections that apply a line only to some requests.
    sections: Vec<String>,
    /// The conditions of the next rule.
    condition: Option<&'static str>,
    conditions: Conditions,
    /// How many of the next rules depend on a rule before.
    dependent: usize,
}

impl Directory {
    /// Reads a file whose first line has this number, where these variables are known, for a table with
    /// this origin.
    pub(crate) fn read(
        bytes: &[u8],
        first_line: usize,
        variables: &Variables,
        matchers: &mut Matchers,
        origin: LinkOrigin<'_>,
    ) -> Self {
        let mut reader = Reader {
            origin,
            directory: Self::default(),
            variables,
            matchers,
            sections: Vec::new(),
            condition: None,
            conditions: Conditions::default(),
            dependent: 0,
        };
        for (line, bytes) in joined_lines(bytes) {
            let line = line + first_line - 1;
            let done = text(&bytes).and_then(|text| reader.take(line, &words(text)));
            if let Err(error) = done {
                if error == MALFORMED {
                    reader.directory.broken.get_or_insert(line);
                }
                reader.directory.problems.push((line, error));
            }
        }
        reader.directory
    }
}

impl Reader<'_> {
    fn take(&mut self, line: usize, words: &[String]) -> Result<(), RowError> {
        let Some((name, rest)) = words.split_first() else {
            return Ok(());
        };
        let name = name.to_ascii_lowercase();
        let rest: Vec<_> = rest.iter().map(String::as_str).collect();
        if let Some(section) = name.strip_prefix('<') {
            self.section(section, &rest);
            return Ok(());
        }
        if !name
            .bytes()
            .all(|it| it.is_ascii_alphanumeric() || it == b'_')
        {
            return Err(MALFORMED);
        }
        self.directory.has_rewriting |= name.starts_with("rewrite");
        let redirect = match name.as_str() {
            "redirect" => Rule::redirect(line, &rest, self.origin),
            "redirectpermanent" => {
                Rule::redirect(line, &[&["permanent"], &rest[..]].concat(), self.origin)
            }
            "redirecttemp" => Rule::redirect(line, &[&["temp"], &rest[..]].concat(), self.origin),
            "redirectmatch" => Rule::redirect_match(line, &rest, self.origin),
            "rewritecond" => {
                match self.conditions.add(&rest, self.matchers).ok_or(MALFORMED)? {
                    true => self.condition.get_or_insert(condition(&rest)),
                    // This one decides, whatever else is known.
                    false => self.condition.insert(condition(&rest)),
                };
                return Ok(());
            }
            "rewriterule" => {
                let condition = self.condition.take();
                let url = rest.get(1).map(|url| self.variables.expand(url));
                let url = match condition {
                    Some(_) => url,
                    None => url.map(|url| without_condition_references(&url)),
                };
                let mut rest = rest;
                if let (Some(own), Some(url)) = (rest.get_mut(1), &url) {
                    *own = url;
                }
                return self.rule(Rule::rewrite(line, &rest, self.origin)?, condition);
            }
            "rewriteengine" => {
                let is_on = rest.first().map(|it| it.eq_ignore_ascii_case("on"));
                self.directory.engine = is_on;
                return Ok(());
            }
            "rewritebase" if !matches!(rest[..], [base] if base.starts_with('/')) => {
                return Err(MALFORMED);
            }
            "rewriteoptions" => {
                self.directory.broken.get_or_insert(line);
                return Err(RowError::NoLink(
                    "options of rules change how all of them are applied",
                ));
            }
            "errordocument" if rest.get(1).is_some_and(|it| it.contains("://")) => {
                return Err(RowError::NoLink(
                    "a fallback appends the path that is not found, and this leads every such path to one URL",
                ));
            }
            _ => return Ok(()),
        };
        let mut rule = redirect?;
        rule.condition = (!self.sections.is_empty()).then_some(NOT_ALWAYS);
        self.directory.redirects.push(rule);
        Ok(())
    }

    /// Adds a rule with its condition.
    fn rule(&mut self, mut rule: Rule, condition: Option<&'static str>) -> Result<(), RowError> {
        let conditions = std::mem::take(&mut self.conditions);
        rule.condition = match (self.sections.is_empty(), self.dependent) {
            (false, _) => Some(NOT_ALWAYS),
            (true, 0) => condition,
            _ => Some("this depends on a rule before"),
        };
        if rule.condition == condition && condition.is_some() {
            rule.conditions = Some(conditions);
        }
        self.dependent = self.dependent.saturating_sub(1);
        match rule.followers {
            Followers::Independent => {}
            Followers::Chained => {
                self.dependent = self.dependent.max(1);
                rule.condition
                    .get_or_insert("this rule is a part of a chain");
            }
            Followers::Skipped(count) => self.dependent = self.dependent.max(count),
        }
        let is_pass = matches!(rule.action, Action::Continue) && !rule.is_last;
        if !is_pass {
            self.directory.rewrites.push(rule);
        }
        Ok(())
    }

    fn section(&mut self, name: &str, rest: &[&str]) {
        let (is_end, name) = match name.strip_prefix('/') {
            Some(name) => (true, name),
            None => (false, name),
        };
        let name = name.trim_end_matches('>');
        if is_end {
            if self.sections.last().is_some_and(|it| it == name) {
                self.sections.pop();
            }
            return;
        }
        let module = rest.first().map(|it| it.trim_end_matches('>'));
        let is_present = module.is_some_and(|it| MODULES.contains(&it));
        if CONDITIONS.contains(&name) || name == "ifmodule" && !is_present {
            self.sections.push(name.to_owned());
        }
    }
}

/// Returns why a rule with this condition does not apply to every request for its paths.
fn condition(words: &[&str]) -> &'static str {
    let variable = words.first().map(|it| it.to_ascii_lowercase());
    match variable.as_deref().unwrap_or_default() {
        it if it.contains("accept") => {
            "a table has no targets by the type that is accepted (variants)"
        }
        it if it.contains("user_agent") || it.contains("user-agent") => {
            "a short link leads every program to the same target"
        }
        it if it.contains("query_string") => "a short link does not depend on the query",
        it if it.contains("request_filename") => "a short link does not depend on files",
        _ => "a rule with conditions is not a link",
    }
}
