//! The environment variables that have the same value for every request: those that `SetEnvIf` sets for all
//! paths, in a directory or above it.
//!
//! Every other way to set a variable makes its value unknown.

use std::collections::BTreeMap;

use super::lines::{joined_lines, words};

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

/// The variables of a directory, by their names in lower case; `None` if the value depends on the
/// request.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Variables(BTreeMap<String, Option<String>>);

impl Variables {
    /// Reads a file.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let mut variables = Self::default();
        let mut sections = 0_usize;
        for (_, line) in joined_lines(bytes) {
            let line = String::from_utf8_lossy(&line);
            let words = words(&line);
            let [name, rest @ ..] = &words[..] else {
                continue;
            };
            let name = name.to_ascii_lowercase();
            match name.as_str() {
                it if it.starts_with("</") => sections = sections.saturating_sub(1),
                it if it.starts_with('<') => sections += 1,
                "rewriterule" => variables.set_by_flags(rest.get(2).map(String::as_str)),
                _ => variables.set_by_directive(&name, rest, sections),
            }
        }
        variables
    }

    /// Adds the variables of a directory above, which count where this one has no others.
    pub(crate) fn inherit(&mut self, above: &Self) {
        for (name, value) in &above.0 {
            let own = self.0.entry(name.clone());
            own.or_insert_with(|| value.clone());
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the URL of a rule with the values of known variables, in which nothing has a meaning
    /// of its own.
    pub(crate) fn expand(&self, url: &str) -> String {
        const START: &str = "%{ENV:";
        let mut expanded = String::with_capacity(url.len());
        let mut rest = url;
        while let Some(at) = rest.find(START) {
            let (before, found) = rest.split_at(at);
            expanded += before;
            let end = found.find('}').unwrap_or(found.len());
            let name = found.get(START.len()..end).unwrap_or_default();
            let value = self.0.get(&name.to_ascii_lowercase());
            match value {
                Some(Some(value)) if !before.ends_with('\\') && end < found.len() => {
                    for c in value.chars() {
                        expanded.extend(matches!(c, '$' | '%' | '\\').then_some('\\'));
                        expanded.push(c);
                    }
                    rest = &found[end + 1..];
                }
                _ => {
                    expanded += START;
                    rest = &found[START.len()..];
                }
            }
        }
        expanded + rest
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
            let (variable, value) = word.split_once('=').unwrap_or((word, "1"));
            // `$1` is what the expression matched.
            let is_known =
                is_always && !variable.starts_with('!') && !value.contains(['$', '\\', '"']);
            self.set(variable, is_known.then_some(value));
        }
    }

    /// Notes the variables that a rule sets.
    fn set_by_flags(&mut self, flags: Option<&str>) {
        for flag in flags
            .unwrap_or_default()
            .trim_matches(['[', ']'])
            .split(',')
        {
            let Some((name, value)) = flag.split_once('=') else {
                continue;
            };
            if ["e", "env"].contains(&&*name.trim().to_ascii_lowercase()) {
                self.set(value.split(':').next().unwrap_or_default().trim(), None);
            }
        }
    }

    fn set(&mut self, name: &str, value: Option<&str>) {
        let name = name.trim_start_matches('!').to_ascii_lowercase();
        // What a rule sets counts whether it is before or after.
        let value = match self.0.get(&name) {
            Some(None) => None,
            _ => value.map(str::to_owned),
        };
        self.0.insert(name, value);
    }
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
    fn a_value_has_no_meaning_of_its_own() {
        let variables = Variables::read(b"SetEnvIf Request_URI .* P=a%20b\n");
        assert_eq!(variables.expand("%{ENV:P}"), "a\\%20b");
    }
}
