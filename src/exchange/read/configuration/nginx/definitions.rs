//! The variables that the directives of a configuration define, wherever they are.

use super::blocks::Block;
use super::variables::only_variable;

/// Returns the name of the variable that each directive, and each named group of an expression, defines;
/// one that several define more than once.
pub(super) fn definitions(blocks: &[Block]) -> Vec<String> {
    let mut names = Vec::new();
    for block in blocks {
        let words: Vec<_> = block.words.iter().map(String::as_str).collect();
        let defined = match words[..] {
            ["map" | "geo" | "split_clients", .., last] => only_variable(last),
            // `set`, `auth_request_set`, `js_set`, `perl_set`, `js_var` and others.
            [name, first, ..] if name.contains("set") || name.ends_with("_var") => {
                only_variable(first)
            }
            _ => None,
        };
        names.extend(defined.map(str::to_owned));
        for word in words {
            names.extend(named_groups(word).map(str::to_owned));
        }
        names.extend(definitions(&block.inner));
    }
    names
}

/// Returns the names of the groups of an expression, which become variables.
fn named_groups(text: &str) -> impl Iterator<Item = &str> {
    text.split("(?").skip(1).filter_map(|after| {
        let after = after.strip_prefix('P').unwrap_or(after);
        let (close, rest) = match after.split_at_checked(1)? {
            ("<", rest) => ('>', rest),
            ("'", rest) => ('\'', rest),
            _ => return None,
        };
        let (name, _) = rest.split_once(close)?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        name.chars().all(is_name).then_some(name)
    })
}
