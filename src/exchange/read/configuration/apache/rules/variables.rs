//! The environment variables that have the same value for every request: those that `SetEnvIf` sets for all
//! paths, in a directory or above it, and those that a rule for all paths of the directory sets.
//!
//! Every other way to set a variable makes its value unknown.

use std::collections::{BTreeMap, BTreeSet};

use super::lines::{flags, joined_lines, words};

/// Expressions that match every path.
const ALWAYS: [&str; 7] = ["^", "^.*", "^.*$", ".*", "(.*)", "^(.*)", "^(.*)$"];

/// Directives after whose name a variable follows, and those whose variables follow an expression.
const SETTERS: [(&str, usize); 8] = [
    ("setenv", 0),
    ("unsetenv", 0),
    ("passenv", 0),
    ("setenvif", 2),
    ("setenvifnocase", 2),
    ("setenvifexpr", 1),
    ("browsermatch", 1),
    ("browsermatchnocase", 1),
];

const VIRTUAL_HOST: &[u8] = b"<virtualhost";

/// What begins a reference to a variable, up to `}`.
const START: &str = "%{ENV:";

/// The variables of a directory.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Variables {
    /// Their values, by their names in lower case.
    values: BTreeMap<String, Value>,
    /// Whether any of them may have another value: one whose name depends on the request is set.
    is_unknown: bool,
}

/// The value of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    /// The same in the directory and those below it.
    Everywhere(String),
    /// The same for all rules of the directory that refer to it: rules of directories below replace its rules.
    InDirectory(String),
    /// It depends on the request.
    Unknown,
}

/// What comes before a rule.
#[derive(Default)]
struct Before {
    /// The names of variables, in lower case, to which it refers.
    used: BTreeSet<String>,
    /// Whether there are conditions of the rule.
    has_conditions: bool,
    /// Whether it may skip the rule.
    may_skip: bool,
}

impl Variables {
    /// Reads a file.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let mut variables = Self::default();
        let lines = lines_in_sections(bytes);
        // What directives set is set before all rules.
        for (name, rest, sections) in &lines {
            variables.set_by_directive(name, rest, *sections);
        }
        let mut before = Before::default();
        for (name, rest, sections) in &lines {
            if name == "rewriterule" {
                variables.set_by_rule(rest, *sections, &before);
                before.has_conditions = false;
                before.may_skip |= flags_of(rest).any(|(flag, _)| {
                    ["s", "skip", "c", "chain"].contains(&flag.to_ascii_lowercase().as_str())
                });
            }
            before.has_conditions |= name == "rewritecond";
            let used = rest.iter().flat_map(|it| references(it));
            before.used.extend(used);
        }
        if has_virtual_host(bytes) {
            // A virtual host does not inherit rules.
            (variables.values.values_mut())
                .filter(|value| matches!(value, Value::InDirectory(_)))
                .for_each(|value| *value = Value::Unknown);
        }
        variables
    }

    /// Adds the variables of a directory above, which count where this one has no others.
    pub(crate) fn inherit(&mut self, above: &Self) {
        self.is_unknown |= above.is_unknown;
        for (name, value) in &above.values {
            let own = self.values.entry(name.clone());
            own.or_insert_with(|| match value {
                Value::InDirectory(_) => Value::Unknown,
                value => value.clone(),
            });
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the URL of a rule with the values of known variables, in which nothing has a meaning
    /// of its own.
    pub(crate) fn expand(&self, url: &str) -> String {
        let mut expanded = String::with_capacity(url.len());
        let mut rest = url;
        while let Some(at) = rest.find(START) {
            let (before, found) = rest.split_at(at);
            expanded += before;
            match self.value(found) {
                Some((value, after)) if !before.ends_with('\\') => {
                    // Before a reference, `%` and `$` have no meaning, but before a value they would.
                    if let Some(rest) = expanded.strip_suffix(['%', '$'])
                        && !is_escaped(rest)
                    {
                        expanded.insert(rest.len(), '\\');
                    }
                    for c in value.chars() {
                        expanded.extend(matches!(c, '$' | '%' | '\\').then_some('\\'));
                        expanded.push(c);
                    }
                    rest = after;
                }
                _ => {
                    expanded += START;
                    rest = &found[START.len()..];
                }
            }
        }
        expanded + rest
    }

    /// Returns the value of a text in which only known variables have a meaning.
    fn constant(&self, text: &str) -> Option<String> {
        let mut value = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(['%', '$', '\\', '"', '?']) {
            let (known, after) = self.value(&rest[at..])?;
            value = value + &rest[..at] + known;
            rest = after;
        }
        Some(value + rest)
    }

    /// Returns the value of the known variable to which a text begins with a reference, and what follows.
    fn value<'t>(&self, text: &'t str) -> Option<(&str, &'t str)> {
        let (name, after) = text.strip_prefix(START)?.split_once('}')?;
        match self.values.get(&name.to_ascii_lowercase())? {
            _ if self.is_unknown => None,
            Value::Everywhere(value) | Value::InDirectory(value) => Some((value, after)),
            Value::Unknown => None,
        }
    }

    fn set_by_directive(&mut self, name: &str, words: &[String], sections: usize) {
        let Some((_, before)) = SETTERS.iter().find(|(setter, _)| *setter == name) else {
            return;
        };
        let is_always = match words {
            [attribute, expression, ..] if name == "setenvif" && sections == 0 => {
                attribute.eq_ignore_ascii_case("request_uri")
                    && ALWAYS.contains(&expression.as_str())
            }
            _ => false,
        };
        for word in words.iter().skip(*before) {
            let (variable, value) = word.split_once('=').unwrap_or((word, ""));
            let value = match value.trim_start_matches('=') {
                "" => "1",
                value => value,
            };
            // `$1` is what the expression matched, and `!` unsets a variable.
            let is_known = is_always
                && !variable.starts_with('!')
                && value != "!"
                && !value.contains(['$', '\\', '"', '?']);
            let value = is_known.then(|| Value::Everywhere(value.to_owned()));
            self.set(variable, value.unwrap_or(Value::Unknown));
        }
    }

    /// Notes the variables that a rule sets.
    fn set_by_rule(&mut self, words: &[String], sections: usize, before: &Before) {
        let is_always = match words {
            [expression, substitution, ..] => {
                ALWAYS.contains(&expression.as_str())
                    && substitution == "-"
                    && sections == 0
                    && !before.has_conditions
                    && !before.may_skip
            }
            _ => false,
        };
        for (flag, variable) in flags_of(words) {
            if !["e", "env"].contains(&flag.to_ascii_lowercase().as_str()) {
                continue;
            }
            let (name, value) = variable.split_once(':').unwrap_or((variable, ""));
            if name.contains(['%', '$', '\\']) {
                // It may be the name of any variable.
                self.is_unknown = true;
            }
            let key = name.to_ascii_lowercase();
            let is_first = !self.values.contains_key(&key) && !before.used.contains(&key);
            let is_known = is_always && is_first && !name.starts_with('!');
            let value = self.constant(value).filter(|_| is_known);
            self.set(name, value.map_or(Value::Unknown, Value::InDirectory));
        }
    }

    fn set(&mut self, name: &str, value: Value) {
        let name = name.trim_start_matches('!').to_ascii_lowercase();
        // What is set at all counts whether it is before or after.
        match self.values.get(&name) {
            Some(Value::Unknown) => {}
            _ => drop(self.values.insert(name, value)),
        }
    }
}

/// Returns the names of directives, in lower case, each with the words after it and the number of sections
/// around it.
fn lines_in_sections(bytes: &[u8]) -> Vec<(String, Vec<String>, usize)> {
    let mut lines = Vec::new();
    let mut sections = 0_usize;
    for (_, line) in joined_lines(bytes) {
        let mut words = words(&String::from_utf8_lossy(&line)).into_iter();
        let Some(name) = words.next().map(|it| it.to_ascii_lowercase()) else {
            continue;
        };
        match name {
            it if it.starts_with("</") => sections = sections.saturating_sub(1),
            it if it.starts_with('<') => sections += 1,
            name => lines.push((name, words.collect(), sections)),
        }
    }
    lines
}

fn has_virtual_host(bytes: &[u8]) -> bool {
    let mut texts = bytes.windows(VIRTUAL_HOST.len());
    texts.any(|it| it.eq_ignore_ascii_case(VIRTUAL_HOST))
}

/// Returns whether what follows a text is escaped by a backslash at its end.
fn is_escaped(before: &str) -> bool {
    let others = before.trim_end_matches('\\');
    (before.len() - others.len()) % 2 == 1
}

/// Returns the flags of a rule, each with its value.
fn flags_of(words: &[String]) -> impl Iterator<Item = (&str, &str)> {
    let found = words.get(2).and_then(|text| flags(text));
    let found = found.into_iter().flatten();
    found.map(|(name, value)| (name, value.unwrap_or_default()))
}

/// Returns the names of the variables to which a text refers, in lower case.
fn references(text: &str) -> impl Iterator<Item = String> {
    let names = text.split(START).skip(1);
    names.map(|it| {
        it.split('}')
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_set_for_every_request_is_expanded() {
        let mut variables = Variables::read(
            b"SetEnvIf Request_URI ^.*$ BASE=https://e.org/%a\n\
              setenvif request_uri ^ root=https://e.org V=1.0 ON\n\
              SetEnvIf Accept ^.*$ SYNTAX=ttl\n\
              SetEnvIf Request_URI ^/a LATER=1\n\
              SetEnvIf Request_URI ^ BY_RULE=1 CUT=\"x\" USED=$1\n\
              RewriteRule ^ - [L,E=BY_RULE:2]\n\
              <Files x>\nSetEnvIf Request_URI ^ INSIDE=1\n</Files>\n",
        );
        let above = Variables::read(b"SetEnvIf Request_URI ^ V=0.9 ABOVE=/\n");
        variables.inherit(&above);
        for (url, expanded) in [
            ("%{ENV:ROOT}/%{ENV:V}/$1", "https://e.org/1.0/$1"),
            ("%{ENV:ON}%{ENV:above}", "1/"),
            ("%{ENV:SYNTAX}", "%{ENV:SYNTAX}"),
            ("%{ENV:LATER}%{ENV:V}", "%{ENV:LATER}1.0"),
            ("%{ENV:BY_RULE}", "%{ENV:BY_RULE}"),
            ("%{ENV:INSIDE}", "%{ENV:INSIDE}"),
            ("\\%{ENV:V}%{ENV:V", "\\%{ENV:V}%{ENV:V"),
            ("%{ENV:CUT}%{ENV:NONE}", "%{ENV:CUT}%{ENV:NONE}"),
            ("%{ENV:USED}%{ENV:BASE}", "%{ENV:USED}https://e.org/\\%a"),
        ] {
            assert_eq!(variables.expand(url), expanded, "{url}");
        }
    }

    #[test]
    fn a_rule_for_all_paths_sets_a_variable_for_those_after_it() {
        let variables = Variables::read(
            b"RewriteRule ^used https://e.org/%{ENV:USED} [R]\n\
              RewriteRule ^ - [E=BASE:https://e.org/%{ENV:ROOT},E=USED:1,E=EMPTY]\n\
              RewriteRule .* - [ENV=DOCS:%{ENV:base}docs]\n\
              RewriteRule ^ - [E=BY_PATH:$0,E=BY_BOTH:1,E=UNSET:1,E=TWICE:1]\n\
              RewriteRule ^a - [E=SOME:1]\n\
              RewriteRule ^ - [E=TWICE:2,E=!UNSET]\n\
              RewriteRule ^ https://e.org/ [E=LEADS:1]\n\
              SetEnvIf Request_URI ^ ROOT=a%20b/ BY_BOTH=2\n\
              RewriteCond %{HTTPS} on\nRewriteRule ^ - [E=COND:1]\n\
              <IfModule x>\nRewriteRule ^ - [E=INSIDE:1]\n</IfModule>\n\
              RewriteRule ^b - [S=1]\nRewriteRule ^ - [E=SKIPPED:1]\n",
        );
        for (url, expanded) in [
            ("%{ENV:BASE}x%{ENV:EMPTY}", "https://e.org/a\\%20b/x"),
            ("%{ENV:Docs}", "https://e.org/a\\%20b/docs"),
        ] {
            assert_eq!(variables.expand(url), expanded, "{url}");
        }
        for name in [
            "USED", "BY_PATH", "BY_BOTH", "UNSET", "TWICE", "SOME", "LEADS", "COND", "INSIDE",
            "SKIPPED",
        ] {
            let url = format!("%{{ENV:{name}}}");
            assert_eq!(variables.expand(&url), url);
        }
        let mut below = Variables::read(b"");
        below.inherit(&variables);
        assert_eq!(
            below.expand("%{ENV:BASE}%{ENV:ROOT}"),
            "%{ENV:BASE}a\\%20b/"
        );
    }

    #[test]
    fn what_apache_reads_otherwise_is_unknown() {
        for (text, url, expanded) in [
            (
                "SetEnvIf Request_URI ^ X= Y==2 Z=!",
                "%{ENV:X}%{ENV:Y}%{ENV:Z}",
                "12%{ENV:Z}",
            ),
            ("SetEnvIf Request_URI ^ X=/?a", "%{ENV:X}", "%{ENV:X}"),
            ("RewriteRule ^ - [E=X:a]]", "%{ENV:X}", "a]"),
            ("RewriteRule ^ - \"[E= X:1]\"", "%{ENV:X}", "%{ENV:X}"),
            ("RewriteRule ^ - [E=X:/?a]", "%{ENV:X}", "%{ENV:X}"),
            (
                "RewriteRule ^ - [E=X:1]\nRewriteRule ^ - [E=%{ENV:Y}:2]",
                "%{ENV:X}",
                "%{ENV:X}",
            ),
            (
                "RewriteCond %{HTTPS} on\nRewriteBase /\nRewriteRule ^ - [E=X:1]",
                "%{ENV:X}",
                "%{ENV:X}",
            ),
            (
                "RewriteRule ^ - [E=X:1]\n<VirtualHost *>\n</VirtualHost>",
                "%{ENV:X}",
                "%{ENV:X}",
            ),
        ] {
            assert_eq!(
                Variables::read(text.as_bytes()).expand(url),
                expanded,
                "{text}"
            );
        }
    }

    #[test]
    fn a_value_has_no_meaning_of_its_own() {
        let variables = Variables::read(b"SetEnvIf Request_URI .* P=a%20b\n");
        assert_eq!(variables.expand("%{ENV:P}"), "a\\%20b");
        let variables = Variables::read(b"RewriteRule .* - [E=SLASH:2F,E=ONE:1]\n");
        let url = "/%%{ENV:SLASH}x\\%%{ENV:SLASH}/$%{ENV:ONE}$1";
        assert_eq!(variables.expand(url), "/\\%2Fx\\%2F/\\$1$1");
    }
}
