//! The rules of one file, and what it says of the directories below.

use super::conditions::Conditions;
use super::lines::{joined_lines, words};
use super::matchers::Matchers;
use super::refused_lines::{FilePlace, is_refused, is_refused_section};
use super::rule::{Action, Followers, MALFORMED, Rule};
use super::substitution::without_condition_references;
use super::variables::Variables;
use super::virtual_hosts::{VirtualHosts, is_of_rules};
use crate::exchange::read::rows::{LinkOrigin, RowError, excerpt, text};

/// The modules that are there if their rules are to work.
const MODULES: [&str; 4] = [
    "mod_rewrite.c",
    "rewrite_module",
    "mod_alias.c",
    "alias_module",
];

const NOT_ALWAYS: &str = "this is not for every request";

const RESTRICTED: RowError = RowError::NoLink("access is restricted, which a table does not do");

/// The sections whose lines Apache applies after, and so above, those of the directory around them.
const MERGED_LATER: [&str; 5] = ["if", "elseif", "else", "files", "filesmatch"];

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
    /// Whether what is gone leads to a URL.
    pub(crate) gone_document: bool,
    /// The line that Apache refuses, or whose effect on all rules is not known.
    pub(crate) broken: Option<usize>,
    /// Other lines that are not imported.
    pub(crate) problems: Vec<(usize, RowError)>,
}

/// The state after the preceding lines.
struct Reader<'r> {
    place: FilePlace,
    origin: LinkOrigin<'r>,
    directory: Directory,
    variables: &'r Variables,
    matchers: &'r mut Matchers,
    virtual_hosts: &'r VirtualHosts,
    /// The open sections, the innermost last.
    sections: Vec<Section>,
    /// The conditions of the next rule.
    condition: Option<&'static str>,
    conditions: Conditions,
    /// Whether the next rule may have other conditions than these, because of a section.
    is_uncertain: bool,
    /// How many of the next rules depend on a rule before.
    dependent: usize,
    /// The first `Rewrite` line that may not be applied.
    uncertain_rewriting: Option<usize>,
    /// The line of the old access control that denies what is not allowed, and whether all is allowed.
    denies_by_default: Option<usize>,
    allows_all: bool,
    /// Sections for a file of one name that change what is answered: the line, and the name.
    changed_files: Vec<(usize, String)>,
    /// What the rules are for, and where they lead.
    rule_texts: Vec<String>,
}

/// An open section.
struct Section {
    line: usize,
    /// Its name in lower case.
    name: String,
    /// What it is for.
    argument: String,
    /// Whether it applies its lines to every request.
    is_always: bool,
}

impl Section {
    /// Returns the name of the only file that it is for, if there is one.
    fn file(&self) -> Option<&str> {
        let name = self.argument.trim_matches(['"', '\'', ' ']);
        let is_one = self.name == "files" && !name.contains(['~', '*', '?', '[', ' ']);
        is_one.then_some(name)
    }

    /// Returns whether it is only for files whose names begin with a dot, as `.htaccess` does.
    fn is_of_hidden_files(&self) -> bool {
        let name = self.argument.trim_start_matches(['~', ' ', '"', '\'']);
        match &*self.name {
            "files" if !self.argument.starts_with('~') => name.starts_with('.'),
            "files" | "filesmatch" => name.starts_with("^\\."),
            _ => false,
        }
    }
}

impl Directory {
    /// Reads a file whose first line has this number, where these variables are known, for a table with
    /// this origin.
    pub(crate) fn read(
        bytes: &[u8],
        place: FilePlace,
        first_line: usize,
        variables: &Variables,
        matchers: &mut Matchers,
        origin: LinkOrigin<'_>,
    ) -> Self {
        let virtual_hosts = &VirtualHosts::read(bytes, origin);
        let mut reader = Reader {
            place,
            origin,
            directory: Self::default(),
            variables,
            matchers,
            virtual_hosts,
            sections: Vec::new(),
            condition: None,
            conditions: Conditions::default(),
            is_uncertain: false,
            dependent: 0,
            uncertain_rewriting: None,
            denies_by_default: None,
            allows_all: false,
            changed_files: Vec::new(),
            rule_texts: Vec::new(),
        };
        // The rules of the server are not those of its virtual hosts, each of which turns on its own.
        reader.directory.engine = virtual_hosts.are_some().then_some(false);
        for (own_line, bytes) in joined_lines(bytes) {
            let line = own_line + first_line - 1;
            // A note may have any bytes.
            if bytes.trim_ascii_start().starts_with(b"#") {
                continue;
            }
            let done = text(&bytes).and_then(|text| {
                let words = words(text);
                match reader.virtual_hosts.refusal(own_line, &words) {
                    Some(error) => error,
                    None => reader.take(line, &words),
                }
            });
            if let Err(error) = done {
                if matches!(error, MALFORMED | RowError::NotUtf8) {
                    reader.directory.broken.get_or_insert(line);
                }
                reader.directory.problems.push((line, error));
            }
        }
        reader.end()
    }

    /// Reports a line, because of which nothing of the directory is imported.
    fn break_at(&mut self, line: usize, error: RowError) {
        self.broken.get_or_insert(line);
        self.problems.push((line, error));
    }
}

impl Reader<'_> {
    /// Returns the rules, after the last line.
    fn end(mut self) -> Directory {
        let directory = &mut self.directory;
        // Apache refuses a file with an open section.
        if let Some(open) = self.sections.first() {
            directory.break_at(open.line, MALFORMED);
        }
        if let Some(line) = self.denies_by_default.filter(|_| !self.allows_all) {
            directory.break_at(line, RESTRICTED);
        }
        let is_named = |name: &str| self.rule_texts.iter().any(|it| it.contains(name));
        for (line, _) in self.changed_files.iter().filter(|(_, it)| is_named(it)) {
            directory.break_at(*line, RESTRICTED);
        }
        // It is not known whether the rules of the directory above are applied.
        if let Some(line) = self
            .uncertain_rewriting
            .filter(|_| !directory.has_rewriting)
        {
            directory.broken.get_or_insert(line);
        }
        self.directory
    }

    fn take(&mut self, line: usize, words: &[String]) -> Result<(), RowError> {
        let Some((name, rest)) = words.split_first() else {
            return Ok(());
        };
        let name = name.to_ascii_lowercase();
        let rest: Vec<_> = rest.iter().map(String::as_str).collect();
        if let Some(section) = name.strip_prefix('<') {
            return self.section(line, section, &rest);
        }
        if !name
            .bytes()
            .all(|it| it.is_ascii_alphanumeric() || it == b'_')
        {
            return Err(MALFORMED);
        }
        let section = self.sections.last().map(|it| &*it.name);
        if self.is_always() && is_refused(self.place, section, &name, &rest) {
            return Err(MALFORMED);
        }
        if name.starts_with("rewrite") {
            match self.is_always() {
                true => self.directory.has_rewriting = true,
                false => _ = self.uncertain_rewriting.get_or_insert(line),
            }
        }
        if let Some(file) = self.sections.iter().find_map(Section::file) {
            if effect_on_all(&name, &rest).is_some() || name == "order" {
                self.changed_files.push((line, file.to_owned()));
            }
        } else if !self.sections.iter().any(Section::is_of_hidden_files) {
            self.access(line, &name, &rest);
            if let Some(error) = effect_on_all(&name, &rest) {
                self.directory.broken.get_or_insert(line);
                return Err(error);
            }
        }
        if is_of_rules(&name) {
            self.rule_texts.push(rest.join(" "));
            let mut sections = self.sections.iter();
            if sections.any(|it| MERGED_LATER.contains(&&*it.name)) {
                self.directory.broken.get_or_insert(line);
                return Err(RowError::NoLink(
                    "what this section is for is decided by its rules before those around it",
                ));
            }
        }
        if name.starts_with("redirect") && rest.iter().any(|it| it.contains("${")) {
            // What the variable contains is not known, and so not which paths this is for.
            self.directory.broken.get_or_insert(line);
            return Err(RowError::Variable(excerpt(&rest.join(" "))));
        }
        let redirect = match name.as_str() {
            "redirect" => Rule::redirect(line, &rest, self.origin),
            "redirectpermanent" => {
                Rule::redirect(line, &[&["permanent"], &rest[..]].concat(), self.origin)
            }
            "redirecttemp" => Rule::redirect(line, &[&["temp"], &rest[..]].concat(), self.origin),
            "redirectmatch" => Rule::redirect_match(line, &rest, self.origin),
            "rewritecond" => {
                self.is_uncertain |= !self.is_always();
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
                if !self.is_always() {
                    self.directory.broken.get_or_insert(line);
                    return Err(RowError::NoLink(
                        "it is not known whether this section applies, and so whether rules do",
                    ));
                }
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
            "include" | "includeoptional" | "use" => {
                return Err(RowError::NoLink(
                    "what is included is not read: its rules may come before those of this file",
                ));
            }
            "errordocument" if rest.first() == Some(&"410") => {
                self.directory.gone_document |= rest.get(1).is_some_and(|it| it.contains("://"));
                return Ok(());
            }
            "errordocument" if rest.get(1).is_some_and(|it| it.contains("://")) => {
                return Err(RowError::NoLink(
                    "a fallback appends the path that is not found, and this leads every such path to one URL",
                ));
            }
            _ => return Ok(()),
        };
        let mut rule = redirect?;
        rule.condition = (!self.is_always()).then_some(NOT_ALWAYS);
        self.directory.redirects.push(rule);
        Ok(())
    }

    /// Returns whether the next line is applied to every request.
    fn is_always(&self) -> bool {
        self.sections.iter().all(|it| it.is_always)
    }

    /// Notes what a line of the old access control (mod_access_compat) says.
    fn access(&mut self, line: usize, name: &str, words: &[&str]) {
        let is = |word: &str| words.iter().any(|it| it.eq_ignore_ascii_case(word));
        match name {
            "order" if is("allow,deny") || is("mutual-failure") => {
                self.denies_by_default.get_or_insert(line);
            }
            "allow" => self.allows_all |= is("all"),
            _ => {}
        }
    }

    /// Adds a rule with its condition.
    fn rule(&mut self, mut rule: Rule, condition: Option<&'static str>) -> Result<(), RowError> {
        let conditions = std::mem::take(&mut self.conditions);
        let is_in_section = !self.is_always();
        rule.condition = match (is_in_section || self.is_uncertain, self.dependent) {
            (true, _) => Some(NOT_ALWAYS),
            (false, 0) => condition,
            _ => Some("this depends on a rule before"),
        };
        if rule.condition == condition && condition.is_some() {
            rule.conditions = Some(conditions);
        }
        // If the section does not apply, the conditions are those of the next rule, and so is what depends
        // on a rule before.
        self.is_uncertain = is_in_section && (self.is_uncertain || condition.is_some());
        if !is_in_section {
            self.dependent = self.dependent.saturating_sub(1);
        }
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

    /// Begins or ends a section, whose name is in lower case.
    fn section(&mut self, line: usize, name: &str, rest: &[&str]) -> Result<(), RowError> {
        let last = *rest.last().unwrap_or(&name);
        let argument = rest.join(" ");
        let argument = argument.trim_end_matches('>').trim().to_owned();
        let whole = name.trim_end_matches('>');
        if !last.ends_with('>') {
            return Err(MALFORMED);
        }
        if let Some(end) = whole.strip_prefix('/') {
            return match self.sections.pop() {
                Some(open) if open.name == end && name.ends_with('>') => Ok(()),
                _ => Err(MALFORMED),
            };
        }
        let is_always = match whole {
            "virtualhost" => true,
            "ifmodule" => MODULES.contains(&&*argument),
            _ => false,
        };
        let is_refused = self.is_always() && is_refused_section(self.place, whole, &argument);
        self.sections.push(Section {
            line,
            name: whole.to_owned(),
            argument,
            is_always,
        });
        match is_refused {
            true => Err(MALFORMED),
            false => Ok(()),
        }
    }
}

/// Returns what a line changes for all rules of its directory, if it does.
fn effect_on_all(name: &str, words: &[&str]) -> Option<RowError> {
    let is = |word: &str| words.iter().any(|it| it.eq_ignore_ascii_case(word));
    let begins = |text: &str| {
        let first = words.first().map(|it| it.to_ascii_lowercase());
        first.is_some_and(|first| first.starts_with(text))
    };
    let is_changed = match name {
        "options" => {
            let follows = ["followsymlinks", "symlinksifownermatch", "all"];
            let is_change = words.iter().all(|it| it.starts_with(['+', '-']));
            let is_allowed = is_change || follows.iter().any(|it| is(it));
            let negotiates = is("+multiviews") || is("multiviews");
            !is_allowed || is("-followsymlinks") || is("-all") || negotiates
        }
        "require" => !(begins("not") || is("all") && is("granted")),
        "deny" => is("all"),
        "proxypass" | "proxypassmatch" => !is("!"),
        "errordocument" => begins("3"),
        "header" => is("location"),
        _ => false,
    };
    is_changed.then_some(match name {
        "options" => RowError::NoLink(
            "Apache refuses requests to rules of a directory without FollowSymLinks, and chooses a file before rules with MultiViews",
        ),
        "require" | "deny" => RESTRICTED,
        "proxypass" | "proxypassmatch" => {
            RowError::NoLink("a short link is no proxy, and this comes before all rules")
        }
        _ => RowError::NoLink("this changes the answers of all rules"),
    })
}

/// Returns why a rule with this condition does not apply to every request for its paths.
fn condition(words: &[&str]) -> &'static str {
    let variable = words.first().map(|it| it.to_ascii_lowercase());
    match variable.as_deref().unwrap_or_default() {
        it if it.contains("accept-language") => "a short link does not depend on a language",
        it if it.contains("accept") => {
            "an entry has no variants that answer as the conditions on Accept do"
        }
        it if it.contains("user_agent") || it.contains("user-agent") => {
            "a short link leads every program to the same target"
        }
        it if it.contains("query_string") => "a short link does not depend on the query",
        it if it.contains("request_filename") => "a short link does not depend on files",
        _ => "a rule with conditions is not a link",
    }
}
