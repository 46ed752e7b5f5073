//! Lines that Apache refuses, and with them all requests below their directory, because of where they are
//! or what they contain.
//!
//! Only those are known that concern rules, access and files of `.htaccess`; which other directives exist
//! depends on the modules of a server.

use super::rule::is_known;
use crate::exchange::read::configuration::expression_text;

/// Where a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FilePlace {
    /// In a tree of `.htaccess` files.
    InTree,
    /// Unknown: it may be a part of the configuration of a server.
    Unknown,
}

/// Directives of servers, which may not be in `.htaccess`.
const OF_SERVERS: [&str; 29] = [
    "alias",
    "aliasmatch",
    "allowoverride",
    "allowoverridelist",
    "customlog",
    "define",
    "documentroot",
    "errorlog",
    "include",
    "includeoptional",
    "listen",
    "loadmodule",
    "loglevel",
    "proxypass",
    "proxypassmatch",
    "proxypassreverse",
    "proxyrequests",
    "rewritelock",
    "rewritelog",
    "rewriteloglevel",
    "rewritemap",
    "scriptalias",
    "scriptaliasmatch",
    "serveradmin",
    "serveralias",
    "servername",
    "serverroot",
    "undefine",
    "use",
];

/// Sections of servers, which may not be in `.htaccess`.
const SECTIONS_OF_SERVERS: [&str; 7] = [
    "directory",
    "directorymatch",
    "location",
    "locationmatch",
    "proxy",
    "proxymatch",
    "virtualhost",
];

/// Directives of mod_rewrite and mod_alias whose names begin with the name of another.
const OF_RULES: [&str; 9] = [
    "redirect",
    "redirectmatch",
    "redirectpermanent",
    "redirecttemp",
    "rewritebase",
    "rewritecond",
    "rewriteengine",
    "rewriteoptions",
    "rewriterule",
];

const OPTIONS: [&str; 9] = [
    "all",
    "execcgi",
    "followsymlinks",
    "includes",
    "includesnoexec",
    "indexes",
    "multiviews",
    "none",
    "symlinksifownermatch",
];

/// Returns whether Apache refuses a directive, whose name is in lower case, in a section.
pub(super) fn is_refused(
    place: FilePlace,
    section: Option<&str>,
    name: &str,
    words: &[&str],
) -> bool {
    let is_of_server = OF_SERVERS.contains(&name);
    let first = words.first().copied().unwrap_or_default();
    match name {
        _ if is_of_server => place == FilePlace::InTree,
        "errordocument" => {
            let status: Option<u16> = first.parse().ok();
            words.len() != 2 || !status.is_some_and(|it| is_known(&it))
        }
        "options" => {
            let has_sign = |word: &&&str| word.starts_with(['+', '-']);
            let signed = words.iter().filter(has_sign).count();
            let is_known = |word: &&str| {
                let word = word.trim_start_matches(['+', '-']).to_ascii_lowercase();
                OPTIONS.contains(&&*word)
            };
            (signed > 0 && signed < words.len()) || !words.iter().all(is_known)
        }
        "setenvif" | "setenvifnocase" => {
            words.len() < 3
                || words
                    .get(1)
                    .is_some_and(|it| expression_text::is_refused(it))
        }
        "browsermatch" | "browsermatchnocase" => {
            words.len() < 2 || expression_text::is_refused(first)
        }
        "require" => first.eq_ignore_ascii_case("not") && section != Some("requireall"),
        "rewriteengine" | "directoryslash" | "expiresactive" => {
            words.len() != 1 || !is_one_of(first, &["on", "off"])
        }
        "acceptpathinfo" => words.len() != 1 || !is_one_of(first, &["on", "off", "default"]),
        "serversignature" => words.len() != 1 || !is_one_of(first, &["on", "off", "email"]),
        "addtype" | "addcharset" | "addhandler" | "addencoding" | "addlanguage" => words.len() < 2,
        "adddefaultcharset" | "forcetype" => words.len() != 1,
        "setenv" => !(1..=2).contains(&words.len()),
        "unsetenv" => words.is_empty(),
        "header" => is_refused_header(words),
        _ => {
            let is_of_rules = name.starts_with("redirect") || name.starts_with("rewrite");
            is_of_rules && !OF_RULES.contains(&name)
        }
    }
}

/// Returns whether Apache refuses the words after `Header`: a condition, an action, a name, and what the action
/// needs (`header_cmd` in mod_headers.c).
fn is_refused_header(words: &[&str]) -> bool {
    let is_condition = |it: &&&str| is_one_of(it, &["always", "onsuccess"]);
    let [action, rest @ ..] = &words[words.iter().take_while(is_condition).count()..] else {
        return true;
    };
    match action.to_ascii_lowercase().as_str() {
        "unset" | "echo" => rest.is_empty(),
        "set" | "setifempty" | "append" | "merge" | "add" | "note" => rest.len() < 2,
        "edit" | "edit*" => rest.len() < 3,
        _ => true,
    }
}

fn is_one_of(word: &str, values: &[&str]) -> bool {
    values.iter().any(|it| it.eq_ignore_ascii_case(word))
}

/// Returns whether Apache refuses a section with this name, which is in lower case, and argument.
pub(super) fn is_refused_section(place: FilePlace, name: &str, argument: &str) -> bool {
    match name {
        "files" | "filesmatch" if argument.is_empty() => true,
        "filesmatch" => expression_text::is_refused(argument.trim_matches(['"', '\''])),
        _ => place == FilePlace::InTree && SECTIONS_OF_SERVERS.contains(&name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::read::configuration::apache::rules::lines::words;

    /// What Apache 2.4 answered to a rule in the same file: 500 or not.
    #[test]
    fn what_apache_refuses_is_known() {
        for (line, section, is_expected) in [
            ("ServerName a.example", None, true),
            ("RewriteMap a txt:/a", None, true),
            ("Include a", None, true),
            ("RewriteRules ^a$ /b", None, true),
            ("RedirectTo /a /b", None, true),
            ("Options +Indexes FollowSymLinks", None, true),
            ("Options Indexes -MultiViews", None, true),
            ("Options Unknown", None, true),
            ("Options +indexes -MultiViews", None, false),
            ("Options Indexes FollowSymLinks", None, false),
            ("Options", None, false),
            ("Require not ip 192.0.2.1", None, true),
            ("Require not ip 192.0.2.1", Some("requireany"), true),
            ("Require not ip 192.0.2.1", Some("requirenone"), true),
            ("Require not ip 192.0.2.1", Some("requireall"), false),
            ("Require all granted", None, false),
            ("ErrorDocument 404", None, true),
            ("ErrorDocument 404 a b", None, true),
            ("ErrorDocument 404 \"a b\"", None, false),
            ("RewriteEngine", None, true),
            ("RewriteEngine maybe", None, true),
            ("RewriteEngine ON", None, false),
            ("RewriteBase /", None, false),
            ("AddType a/b .c", None, false),
            ("AddType a/b", None, true),
            ("ForceType", None, true),
            ("ErrorDocument 999 /x", None, true),
            ("DirectorySlash maybe", None, true),
            ("AcceptPathInfo default", None, false),
            ("ServerSignature email", None, false),
            ("SetEnv X y z", None, true),
            ("SetEnv X", None, false),
            ("Header", None, true),
            ("Header set X", None, true),
            ("Header foo X y", None, true),
            ("Header always set X y", None, false),
            ("Header unset X", None, false),
            ("Header append Vary Accept env=x", None, false),
            ("SetEnvIf Request_URI", None, true),
            ("SetEnvIf Request_URI ^", None, true),
            ("SetEnvIf Request_URI ( X=1", None, true),
            ("SetEnvIfNoCase Request_URI ^ X", None, false),
            ("BrowserMatch (x X=1", None, true),
            ("BrowserMatch x X=1", None, false),
        ] {
            let found = words(line);
            let found: Vec<_> = found.iter().map(String::as_str).collect();
            let name = found[0].to_ascii_lowercase();
            let is_found = is_refused(FilePlace::InTree, section, &name, &found[1..]);
            assert_eq!(is_found, is_expected, "{line} in {section:?}");
        }
        assert!(!is_refused(FilePlace::Unknown, None, "servername", &["a"]));
        for (place, name, argument, is_expected) in [
            (FilePlace::InTree, "directory", "/", true),
            (FilePlace::Unknown, "directory", "/", false),
            (FilePlace::InTree, "files", "a", false),
            (FilePlace::InTree, "files", "", true),
            (FilePlace::InTree, "filesmatch", "(", true),
            (FilePlace::InTree, "filesmatch", "\\.ttl$", false),
        ] {
            let is_found = is_refused_section(place, name, argument);
            assert_eq!(is_found, is_expected, "<{name} {argument}>");
        }
    }
}
