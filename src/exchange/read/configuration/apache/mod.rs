//! Apache: `Redirect`, `RedirectMatch` and `RewriteRule`, in one file or in the directories of a tree.
//!
//! Apache takes the first rule that matches; a table takes the exact code, and then the longest
//! prefix. So the rules are first read as Apache reads them (`rules`), then `server` computes what
//! Apache answers to a path, and `links` accepts only links with which the table answers the same;
//! `negotiation` turns conditions on `Accept` into variants.

mod agreement;
mod answer;
mod below_rules;
mod below_variants;
mod claims;
mod clients;
mod comparison;
mod links;
mod negotiation;
mod outcomes;
mod prefixes;
mod probes;
mod rules;
mod server;
mod spellings;

use std::collections::{BTreeMap, HashMap, HashSet};

use self::claims::Claims;
use self::links::Links;
use self::rules::directory::Directory;
use self::rules::lines::{joined_lines, words};
use self::rules::matchers::Matchers;
use self::rules::refused_lines::FilePlace;
use self::rules::variables::Variables;
use self::server::{Server, ancestors};
use crate::exchange::read::rows::{ConfigurationFile, ConfigurationTree, ImportedRow, LinkOrigin};

/// Reads one file: the configuration of a server if the path of a rule must begin with a slash,
/// otherwise that of the root directory.
pub(crate) fn read(bytes: &[u8], origin: LinkOrigin<'_>, take: &mut dyn FnMut(ImportedRow)) {
    let matchers = &mut Matchers::default();
    let place = FilePlace::Unknown;
    let directory = Directory::read(bytes, place, 1, &Variables::read(bytes), matchers, origin);
    let slash = if is_of_server(bytes) { "/" } else { "" };
    let directories = BTreeMap::from([(String::new(), directory)]);
    let server = (directories, HashSet::new(), HashSet::new());
    read_server(server, slash, origin, &|line| format!("line {line}"), take);
}

/// Reads the files of a tree, each with the rules of its directory. The lines of all files are
/// numbered as if they were one.
pub(crate) fn read_tree(
    tree: &ConfigurationTree,
    origin: LinkOrigin<'_>,
    take: &mut dyn FnMut(ImportedRow),
) {
    let mut matchers = Matchers::default();
    let files = tree.files().iter();
    let variables: HashMap<&str, _> = files
        .map(|file| (&*file.directory, Variables::read(&file.bytes)))
        .collect();
    let read = |file: &ConfigurationFile| {
        let own = variables.get(&*file.directory);
        let mut known = own.cloned().unwrap_or_default();
        for above in ancestors(&file.directory) {
            if let Some(above) = variables.get(above) {
                known.inherit(above);
            }
        }
        let mut directory = Directory::read(
            &file.bytes,
            FilePlace::InTree,
            file.first_line,
            &known,
            &mut matchers,
            origin,
        );
        // The rules of the directory above would be read with other values here.
        let has_variables = own.is_some_and(|it| !it.is_empty());
        if has_variables && !directory.has_rewriting {
            directory.broken.get_or_insert(file.first_line);
        }
        (file.directory.clone(), directory)
    };
    let directories = tree.files().iter().map(read).collect();
    let server = (directories, tree.others.clone(), tree.folders.clone());
    read_server(server, "", origin, &|line| tree.place(line), take);
}

type Parts = (
    BTreeMap<String, Directory>,
    HashSet<String>,
    HashSet<String>,
);

fn read_server(
    (mut directories, files, folders): Parts,
    slash: &'static str,
    origin: LinkOrigin<'_>,
    place: &dyn Fn(usize) -> String,
    take: &mut dyn FnMut(ImportedRow),
) {
    let mut claims = Claims::new(origin);
    for directory in directories.values_mut() {
        for (line, error) in directory.problems.drain(..) {
            claims.refuse(line, error);
        }
    }
    // A file alone may be a part of a configuration that turns rules on.
    let is_on = folders.is_empty();
    let server = Server::new(directories, files, folders, slash, is_on, origin);
    let claims = Links::new(&server, place, claims).decide();
    claims.rows().into_iter().for_each(take);
}

/// Returns whether a file is the configuration of a server, where the path of a rule begins with a
/// slash.
fn is_of_server(bytes: &[u8]) -> bool {
    let mut lines = joined_lines(bytes);
    lines.any(|(_, line)| {
        let line = String::from_utf8_lossy(&line);
        match &words(&line)[..] {
            [name, expression, ..] if name.eq_ignore_ascii_case("rewriterule") => {
                expression.starts_with("^/") && !expression.starts_with("^/?")
            }
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use crate::exchange::read::rows::testing::{pairs, read_by, refused};
    use crate::mapping::{Forward, Status, WrittenRetirement};

    #[test]
    fn literal_lines_are_read() {
        let rows = read_by(
            super::read,
            b"ServerName short.code\n<VirtualHost *:80>\nRewriteEngine On\n\
              Redirect /a https://e.org/\n\
              Redirect 301 \"/b\" \"https://e.org/?x=%20y\"\n\
              \tredirect permanent /docs/ \\\n   https://docs.e.org/\n\
              RedirectTemp /c https://e.org/c\n\
              Redirect gone /d\n\
              RedirectMatch seeother ^/e\\.f/?$ https://e.org/\\$1\n\
              RewriteRule \"^/?g$\" \"https://e.org/\\%20\\%?\\\\\" [R=308,NE,QSD,L]\n\
              RewriteRule ^h$ - [G]\n</VirtualHost>\n",
        );
        let partly = "only the path itself is imported: what is below leads elsewhere, and so does the slash alone";
        assert_eq!(
            refused(&rows),
            [4, 5, 8, 9].map(|line| format!("{line}: {partly}"))
        );
        let links: Vec<_> = rows
            .iter()
            .filter_map(|row| row.link.as_ref().ok())
            .collect();
        let found = [
            "4 a https://e.org/",
            "5 b https://e.org/?x=%20y",
            "6 docs https://docs.e.org/",
            "8 c https://e.org/c",
            "9 d ",
            "10 e.f https://e.org/$1",
            "11 g https://e.org/%20%?\\",
            "12 h ",
        ];
        assert_eq!(pairs(&rows), found);
        let forwards: Vec<_> = links.iter().map(|link| link.forward).collect();
        let (query, none) = (Some(Forward::Query), Some(Forward::None));
        let whole = Some(Forward::PathAndQuery);
        assert_eq!(
            forwards,
            [query, none, whole, query, None, query, none, None]
        );
        assert_eq!(links[1].status, Some(Status::MovedPermanently));
        assert_eq!(links[5].status, Some(Status::SeeOther));
        assert_eq!(links[4].retired, Some(WrittenRetirement::Always));
    }

    #[test]
    fn includes_are_reported() {
        for line in [
            "Include conf/links.conf",
            "IncludeOptional conf/*.conf",
            "Use Links a b",
        ] {
            let text = format!("{line}\nRedirectMatch ^/a$ https://e.org/\n");
            let rows = read_by(super::read, text.as_bytes());
            assert_eq!(pairs(&rows), ["2 a https://e.org/"], "{line}");
            assert!(
                refused(&rows)[0].starts_with("1: what is included"),
                "{line}"
            );
        }
    }

    #[test]
    fn what_changes_the_rules_around_it_is_respected() {
        let a = |to: &str| format!("RewriteRule ^a/?$ https://e.org/{to} [R,L]\n");
        let absent = |lines: &str| format!("<IfModule mod_absent.c>\n{lines}</IfModule>\n");
        let two = format!("{}{}", a("1"), a("2"));
        for (text, links) in [
            // It is not known whether a section applies.
            (
                format!("<IfVersion < 2>\n{}</IfVersion>\n{}", a("1"), a("2")),
                "",
            ),
            (
                format!("<IfModule mod_rewrite.c>\n{}</IfModule>\n", a("1")),
                "a 1",
            ),
            // Its conditions are those of the rule after it, and so are those before it.
            (absent("RewriteCond %{REQUEST_URI} ^/zz\n") + &two, ""),
            (
                format!(
                    "RewriteCond %{{REQUEST_URI}} ^/zz\n{}{two}",
                    absent(&a("3"))
                ),
                "",
            ),
            // So is what a rule before skips.
            (
                format!("RewriteRule ^a/?$ - [S=1]\n{}{two}", absent(&a("3"))),
                "",
            ),
            (absent("RewriteEngine On\n") + &a("1"), ""),
            ("Redirect /a https://e.org/${X}\n".to_owned(), ""),
            ("Redirect /${X} https://e.org/1\n".to_owned() + &a("2"), ""),
            ("Options Indexes\n".to_owned() + &a("1"), ""),
            ("Options -FollowSymLinks\n".to_owned() + &a("1"), ""),
            ("Options +Indexes -MultiViews\n".to_owned() + &a("1"), "a 1"),
            (
                "Options Indexes FollowSymLinks\n".to_owned() + &a("1"),
                "a 1",
            ),
            ("Require all denied\n".to_owned() + &a("1"), ""),
            ("Require all granted\n".to_owned() + &a("1"), "a 1"),
            (
                format!(
                    "<RequireAll>\nRequire valid-user\n</RequireAll>\n{}",
                    a("1")
                ),
                "",
            ),
            (
                format!("<Files x>\nRequire all denied\n</Files>\n{}", a("1")),
                "a 1",
            ),
            (
                format!("<Files \"a\">\nRequire all denied\n</Files>\n{}", a("1")),
                "",
            ),
            (
                format!(
                    "<FilesMatch \"^\\.ht\">\nRequire all denied\n</FilesMatch>\n{}",
                    a("1")
                ),
                "a 1",
            ),
            (
                format!(
                    "<FilesMatch \".*\">\nRequire all denied\n</FilesMatch>\n{}",
                    a("1")
                ),
                "",
            ),
            (absent("Require all denied\n") + &a("1"), ""),
            (absent("Options -FollowSymLinks\n") + &a("1"), ""),
            ("Options +MultiViews\n".to_owned() + &a("1"), ""),
            ("Order allow,deny\n".to_owned() + &a("1"), ""),
            (
                "Order allow,deny\nAllow from 10.0.0.1\n".to_owned() + &a("1"),
                "",
            ),
            (
                "Order allow,deny\nAllow from all\n".to_owned() + &a("1"),
                "a 1",
            ),
            // An inner section does not end the outer one.
            (
                absent(&("<IfModule mod_rewrite.c>\n</IfModule>\n".to_owned() + &a("1"))) + &a("2"),
                "",
            ),
            ("</IfModule>\n".to_owned() + &a("1"), ""),
            (
                "<IfModule mod_rewrite.c\n</IfModule>\n".to_owned() + &a("1"),
                "",
            ),
            (a("1") + "<IfModule mod_rewrite.c>\n", ""),
            // What is in these sections is applied before what is outside.
            (
                a("1") + "<Files \"a\">\nRewriteRule ^ https://e.org/2 [R,L]\n</Files>\n",
                "",
            ),
            (
                a("1") + "<If \"true\">\nRewriteRule ^ https://e.org/2 [R,L]\n</If>\n",
                "",
            ),
            // The own host without [R] is no redirect.
            ("RewriteRule ^a$ https://short.code/b [L]\n".to_owned(), ""),
            ("ProxyPass /a http://127.0.0.1/\n".to_owned() + &a("1"), ""),
            (
                "ErrorDocument 410 https://e.org/2\n".to_owned() + &a("1").replace("[R", "[G"),
                "",
            ),
            (
                "ErrorDocument 410 /gone\n".to_owned() + &a("1").replace("[R", "[G"),
                "a ",
            ),
            ("Options +Indexes FollowSymLinks\n".to_owned() + &a("1"), ""),
            ("RewriteRules ^b$ /c\n".to_owned() + &a("1"), ""),
            (
                "<Files \"a\">\nOrder allow,deny\n</Files>\n".to_owned() + &a("1"),
                "",
            ),
            // Apache keeps the question mark.
            ("RedirectMatch ^/a$ https://e.org/1?\n".to_owned(), ""),
            (
                "ErrorDocument 302 https://e.org/2\n".to_owned() + &a("1"),
                "",
            ),
            (
                "Header always set Location https://e.org/2\n".to_owned() + &a("1"),
                "",
            ),
            // Apache escapes the second question mark.
            (a("1?x=1?"), ""),
            (a("1?x=1").replace("[R", "[R=gone"), "a 1?x=1"),
            (a("1").replace("[R", "[G,R"), ""),
            (a("1").replace("[R", "[PT,R"), ""),
            (a("1").replace("[R,L]", "[R,L,]"), ""),
            (
                "Redirect /a https://e.org/1 # note\n".to_owned() + &a("2"),
                "",
            ),
            ("Redirect 410 /b https://e.org/1\n".to_owned() + &a("2"), ""),
            (
                "Redirect +301 /b https://e.org/1\n".to_owned() + &a("2"),
                "",
            ),
            ("Redirect 301 /b\n".to_owned() + &a("2"), ""),
        ] {
            let rows = read_by(super::read, format!("RewriteEngine On\n{text}").as_bytes());
            let found = pairs(&rows).into_iter();
            let found: Vec<_> = found
                .map(|it| it.split_once(' ').unwrap().1.replace("https://e.org/", ""))
                .collect();
            assert_eq!(found.join(", "), links, "{text}");
            assert_eq!(refused(&rows).is_empty(), !links.is_empty(), "{text}");
        }
    }

    #[test]
    fn a_joined_line_with_bytes_that_are_not_utf_8_is_one_error() {
        let rows = read_by(
            super::read,
            b"\nRedirect /a \\\nhttps://e\xff.org/ \\\n \nRedirect /b \\\n  https://e.org \\",
        );
        // It may be for any path.
        assert_eq!(refused(&rows).len(), 2);
        assert_eq!(rows.iter().map(|row| row.line).collect::<Vec<_>>(), [2, 5]);
    }

    #[test]
    fn a_line_that_begins_with_no_name_breaks_its_directory() {
        let text =
            "RewriteEngine on\nRewriteRule ^a$ https://e.org/ [R]\n^(.*)$ https://e.org/ [R]\n";
        let rows = read_by(super::read, text.as_bytes());
        assert_eq!(pairs(&rows), [""; 0]);
        assert_eq!(refused(&rows).len(), 2, "{rows:?}");
    }

    #[test]
    fn all_others_are_reported() {
        let lines = [
            "Redirect /a/ https://e.org/b",
            "Redirect 404 /a https://e.org/",
            "Redirect /a",
            "RedirectMatch ^/a/(.*)$ https://e.org/$1",
            "RedirectMatch ^/a$ https://e.org/$0",
            "RewriteRule ^a$ /b [L]",
            "RewriteRule ^a$ https://e.org/%{QUERY_STRING} [R]",
            "RewriteCond %{HTTP_HOST} x",
            "RewriteRule ^a$ https://e.org/ [R]",
            "<Location /x>",
            "Redirect /a https://e.org/",
            "</Location>",
        ];
        let rows = read_by(super::read, lines.join("\r\n").as_bytes());
        assert_eq!(refused(&rows).len(), 9, "{rows:?}");
    }

    /// Returns the accepted links of a file, each with what it forwards, and the refused lines.
    fn decided(text: &str) -> (Vec<String>, Vec<usize>) {
        let rows = read_by(super::read, text.as_bytes());
        let accepted = rows.iter().filter_map(|row| row.link.as_ref().ok());
        let accepted = accepted.map(|link| {
            let forward = link.forward.map_or("gone", Forward::name);
            format!("{} {forward}", link.code.as_deref().unwrap_or_default())
        });
        let refused = rows.iter().filter(|row| row.link.is_err());
        (accepted.collect(), refused.map(|row| row.line).collect())
    }

    #[test]
    fn rules_of_the_directory_above_may_be_applied_instead() {
        let text =
            "<IfModule !mod_rewrite.c>\nRewriteBase /d\n</IfModule>\nRedirect /a https://e.org/\n";
        let accepted: Vec<String> = Vec::new();
        assert_eq!(decided(text), (accepted, vec![4]));
    }

    #[test]
    fn a_rule_after_one_that_covers_it_is_refused() {
        for (rules, accepted, refused) in [
            // A notice for all paths, which a table does not have, hides the links after it.
            (
                "^.*$ https://e.org/notice [R,L]\n^a$ https://e.org/a [R,L]",
                &[][..],
                &[1, 2][..],
            ),
            (
                "^a$ https://e.org/1 [R,L]\n^a$ https://e.org/2 [R,L]",
                &["a query"],
                &[2],
            ),
            (
                "^a/(.*)$ https://e.org/$1 [R,L]\n^a/b$ https://e.org/b2 [R,L]",
                &["a path-and-query"],
                &[2],
            ),
            // Apache answers a/b/ by the second rule.
            (
                "^a/.*$ https://e.org/1 [R,L]\n^b(/.*)?$ https://e.org/2? [R,L]",
                &["a all-and-query", "b all"],
                &[],
            ),
            (
                "^a/b$ https://e.org/1 [R,L]\n^a(/.*)?$ https://e.org/1 [R,L]",
                &["a/b query", "a all-and-query"],
                &[],
            ),
            (
                "^a.b/(.*)$ https://e.org/$1 [R,L]\n^a.b/(.*)$ https://e.org/$1 [R,L]",
                &["a.b path-and-query"],
                &[1, 2],
            ),
            (
                "^a/b$ https://e.org/1 [R,L]\n^a/(.*)$ https://e.org/$1 [R,L]",
                &["a/b query", "a path-and-query"],
                &[],
            ),
            // The slash alone has a rule of its own.
            (
                "^a/b$ https://e.org/1 [R,L]\n^a/b/(.*)$ https://e.org/$1 [R,L]",
                &[],
                &[1, 2],
            ),
            (
                "^a/b/?$ https://e.org/1 [R,L]\n^a/(.*)$ https://e.org/$1 [R,L]",
                &["a/b query", "a path-and-query"],
                &[],
            ),
            (
                "^(a|b)/?$ https://e.org/$1 [r=301,l]\n^a/?$ https://e.org/a [R=301,L]",
                &["a query", "b query"],
                &[],
            ),
            // Apache answers 500 to all, because it does not know the status 3.
            (
                "^a$ https://e.org/1 [R=3-7,L]\n^b$ https://e.org/2 [R,L]",
                &[],
                &[1, 2],
            ),
            ("^a$ https://e.org/ [R=302x,L]", &["a query"], &[]),
            (
                "^a$ https://e.org/1 [R]\n1$ https://e.org/2 [R]",
                &["1 query"],
                &[1, 2],
            ),
            (
                "^a$ https://e.org/ [P]\n^b$ - [F]\n^c$ https://e.org/ [NC,R]\n^d$ x [R]",
                &[],
                &[1, 2, 3, 4],
            ),
            ("^a/(.+)$ https://e.org/$1 [R,L]", &[], &[1]),
            (
                "^a$ https://e.org/%20 [R,NE,L]\n^b$ https://e.org/a|b [R,L] # a note",
                &["a query", "b query"],
                &[],
            ),
            ("^a.b$ https://e.org/ [R,L]", &["a.b query"], &[1]),
            (
                "^$ https://e.org/ [R,L]\n^(.*)$ https://e.org/$1 [R,L]",
                &[],
                &[1, 2],
            ),
        ] {
            let lines = rules.lines().map(|rule| format!("RewriteRule {rule}\n"));
            let (found, lines) = decided(&lines.collect::<String>());
            assert_eq!(
                (&found[..], &lines[..]),
                (
                    &accepted
                        .iter()
                        .map(|it| (*it).to_owned())
                        .collect::<Vec<_>>()[..],
                    refused
                ),
                "{rules}"
            );
        }
    }

    #[test]
    fn a_code_and_the_paths_below_it_may_lead_to_two_urls() {
        let below = |rules: &str| -> Vec<String> {
            let rows = read_by(super::read, rules.as_bytes());
            let shown = rows.iter().map(|row| match &row.link {
                Ok(link) => format!("{:?} {:?}", link.url, link.below),
                Err(error) => error.to_string(),
            });
            shown.collect()
        };
        let exact = "RewriteRule ^a/?$ https://e.org/1 [R,L]\n";
        let both = r#"Some("https://e.org/1") Some("https://e.org/d/")"#;
        for prefix in ["^a/(.*)$", "^a/?(.*)$"] {
            let rules = format!("{exact}RewriteRule {prefix} https://e.org/d/$1 [R,L]\n");
            assert_eq!(below(&rules), [both], "{prefix}");
        }
        let alone = r#"Some("https://e.org/1") None"#;
        let unlike = "the code itself has another status, or differs in whether it gets the query: \
                      an entry has one for both (below)";
        for flags in ["R=301,L", "R,L,QSD"] {
            let rules = format!("{exact}RewriteRule ^a/(.*)$ https://e.org/d/$1 [{flags}]\n");
            assert_eq!(below(&rules), [alone, unlike], "{flags}");
        }
        // The slash alone leads to the other URL.
        let rules = "RewriteRule ^a$ https://e.org/1 [R,L]\n\
                     RewriteRule ^a/(.*)$ https://e.org/d/$1 [R,L]\n";
        assert_eq!(below(rules).len(), 2);
        assert!(below(rules).iter().all(|it| !it.starts_with("Some")));
        // A code below is an exception.
        let rules = format!(
            "RewriteRule ^a/b/?$ https://e.org/2 [R,L]\n{exact}\
             RewriteRule ^a/(.*)$ https://e.org/d/$1 [R,L]\n"
        );
        assert_eq!(below(&rules), [r#"Some("https://e.org/2") None"#, both]);
    }

    #[test]
    fn a_prefix_needs_an_answer_for_every_client() {
        let rule = "RewriteRule ^a/(.*)$ https://e.org/$1 [R,L]\n";
        let conditional = format!("RewriteCond %{{HTTP_USER_AGENT}} x\n{rule}");
        assert_eq!(decided(&conditional), (vec![], vec![2]));
        let both = format!("{conditional}{rule}");
        let prefix = "a path-and-query".to_owned();
        assert_eq!(decided(&both), (vec![prefix], vec![]));
    }

    #[test]
    fn a_condition_counts_unless_the_same_follows_without_it() {
        let same = "RewriteCond %{HTTP_USER_AGENT} x\nRewriteRule ^a/?$ https://e.org/ [R,L]\n\
                    RewriteRule ^a/?$ https://e.org/ [R,L]\n";
        assert_eq!(decided(same), (vec!["a query".to_owned()], vec![]));
        let other = same.replacen("https://e.org/", "https://f.org/", 1);
        assert_eq!(decided(&other), (vec![], vec![2, 3]));
    }

    /// Returns virtual hosts, each with what ends its first line and with its lines.
    fn hosts(all: &[(&str, &str)]) -> String {
        let hosts = all.iter().map(|(start, rest)| {
            format!("<VirtualHost *:{start}\nRewriteEngine On\n{rest}</VirtualHost>\n")
        });
        hosts.collect()
    }

    #[test]
    fn only_the_rules_of_the_own_virtual_host_are_imported() {
        let rule = |to: &str| format!("RewriteRule ^/a/?$ https://e.org/{to} [R,L]\n");
        let named = |name: &str, to: &str| format!("ServerName {name}\n{}", rule(to));
        for (name, is_own) in [
            ("short.code", true),
            ("https://SHORT.code:443", true),
            ("x.code\nServerAlias *.x.code sh?rt.*", true),
            ("hort.code", false),
        ] {
            let text = hosts(&[
                ("80>", &named("other.code", "1")),
                ("80>", &named(name, "2")),
            ]);
            let rows = read_by(super::read, text.as_bytes());
            let links = pairs(&rows).join(", ");
            assert_eq!(
                links.ends_with("a https://e.org/2"),
                is_own,
                "{name}: {links}"
            );
            assert_eq!(refused(&rows).len(), if is_own { 1 } else { 2 }, "{name}");
        }
    }

    #[test]
    fn rules_of_the_server_are_not_inherited() {
        let text = "RewriteEngine On\nRewriteRule ^/a/?$ https://e.org/1 [R,L]\n<VirtualHost *>\n\
                    ServerName other.code\nRewriteRule ^/b/?$ https://e.org/2 [R,L]\n</VirtualHost>\n";
        let rows = read_by(super::read, text.as_bytes());
        assert_eq!(pairs(&rows), [""; 0]);
        let text = text.replace("other.code\n", "other.code\nRewriteEngine On\n");
        let rows = read_by(super::read, text.as_bytes());
        assert_eq!(pairs(&rows), ["6 b https://e.org/2"]);
        // Nor by one without rules, but `Redirect` is.
        let text = "RewriteEngine On\nRewriteRule ^/a/?$ https://e.org/1 [R,L]\n\
                    RedirectMatch ^/b/?$ https://e.org/2\n\
                    <VirtualHost *>\nServerName short.code\n</VirtualHost>\n";
        let rows = read_by(super::read, text.as_bytes());
        assert_eq!(pairs(&rows), ["3 b https://e.org/2"]);
    }

    #[test]
    fn the_last_status_of_a_rule_counts_and_one_without_digits_changes_none() {
        for (flags, expected) in [
            ("R=301,R", Some(301)),
            ("R=303,redirect", Some(303)),
            ("R=301,R=", Some(301)),
            ("R,R=301", Some(301)),
            ("R= 301", Some(302)),
            ("R=404,R", None),
            ("R=403,R", None),
            ("R=410,R=301", None),
        ] {
            let text =
                format!("RewriteEngine On\nRewriteRule ^a/?$ https://e.org/ \"[{flags}]\"\n");
            let rows = read_by(super::read, text.as_bytes());
            let links = rows.iter().filter_map(|row| row.link.as_ref().ok());
            let found: Vec<_> = links.map(|link| link.status.unwrap().code()).collect();
            assert_eq!(found.first().copied(), expected, "{flags}");
        }
    }

    #[test]
    fn of_a_file_that_apache_refuses_nothing_is_read() {
        let rule = "RewriteEngine On\nRewriteRule ^a/?$ https://e.org/ [R,L]\n";
        for line in [
            "Redirect 301 /b e.org",
            "RedirectPermanent /b \"\"",
            "RewriteRule ^b$ https://e.org/ [R,NV]",
            "RewriteRule ^b$ https://e.org/ [R,BNE]",
            "RewriteRule ^b$ \"https://e.org/a\\\"b\" [R]",
            "<IfModule mod_rewrite.c>\n</IfModule >",
            "<FilesMatch \"(\">\n</FilesMatch>",
            "Header set X",
        ] {
            for text in [format!("{rule}{line}\n"), format!("{line}\n{rule}")] {
                let rows = read_by(super::read, text.as_bytes());
                assert_eq!(pairs(&rows), [""; 0], "{text}");
            }
        }
    }

    #[test]
    fn a_host_without_a_name_has_that_of_the_server() {
        let rule = |to: &str| format!("RewriteRule ^/a/?$ https://e.org/{to} [R,L]\n");
        let named = format!("ServerName short.code\n{}", rule("2"));
        let text = hosts(&[("80>", &rule("1")), ("80>", &named)]);
        let rows = read_by(super::read, text.as_bytes());
        assert_eq!(pairs(&rows), ["8 a https://e.org/2"]);
        let rows = read_by(
            super::read,
            format!("ServerName short.code\n{text}").as_bytes(),
        );
        assert_eq!(pairs(&rows), [""; 0]);
    }

    #[test]
    fn of_several_hosts_that_of_the_port_counts() {
        let rule = |to: &str| {
            format!("ServerName short.code\nRewriteRule ^/a/?$ https://e.org/{to} [R,L]\n")
        };
        let text = hosts(&[("80>", &rule("1")), ("443>", &rule("2"))]);
        let rows = read_by(super::read, text.as_bytes());
        assert_eq!(pairs(&rows), ["9 a https://e.org/2"]);
    }
}
