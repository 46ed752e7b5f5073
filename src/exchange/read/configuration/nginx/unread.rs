//! The directives of locations that are not read: those inside of other locations, and those with names, to which
//! only nginx itself leads.

use super::blocks::Block;
use super::server::INSIDE;
use crate::exchange::read::rows::RowError;

const NAMED: RowError =
    RowError::NoLink("a location with a name, to which try_files or error_page leads, is not read");

/// Reports the redirects in such locations of a server.
pub(super) fn report_unread(server: &[Block], refuse: &mut dyn FnMut(usize, RowError)) {
    for block in server {
        let Some(words) = block.named("location") else {
            continue;
        };
        if words.first().is_some_and(|it| it.starts_with('@')) {
            report(&block.inner, &NAMED, refuse);
            continue;
        }
        let inner = block.inner.iter();
        for location in inner.filter(|it| it.named("location").is_some()) {
            report(&location.inner, &INSIDE, refuse);
        }
    }
}

fn report(blocks: &[Block], reason: &RowError, refuse: &mut dyn FnMut(usize, RowError)) {
    for block in blocks {
        if is_redirect(block) {
            refuse(block.line, reason.clone());
        }
        report(&block.inner, reason, refuse);
    }
}

/// Returns whether a directive is meant to redirect, or says that a path is gone.
fn is_redirect(block: &Block) -> bool {
    let words: Vec<_> = block.words.iter().map(String::as_str).collect();
    match words[..] {
        ["rewrite", ..] => true,
        ["return", first, ..] => match first.parse::<u16>() {
            Ok(status) => matches!(status, 300..400 | 410),
            Err(_) => true,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::exchange::read::configuration::nginx::read;
    use crate::exchange::read::rows::testing::{pairs, read_by, refused};

    #[test]
    fn redirects_of_locations_inside_of_others_are_reported() {
        for own in ["", "return 404;", "return 301 https://e.org/a;"] {
            let rows = read_by(
                read,
                &*format!(
                    "server {{\nlocation /a {{ {own}\nlocation /a/b {{\nreturn 301 https://e.org/2;\n\
                     location /a/b/c {{\nif ($x) {{ rewrite ^ https://e.org/3; }}\nreturn 404;\n}} }} }} }}"
                ),
            );
            assert_eq!(pairs(&rows), [""; 0], "{own}");
            let inside = refused(&rows)
                .into_iter()
                .filter(|it| !it.starts_with("2:"));
            let lines: Vec<_> = inside.map(|it| it[..2].to_owned()).collect();
            assert_eq!(lines, ["4:", "6:"], "{own}");
        }
    }

    /// nginx chooses them before it compares the expressions of the server, but for plain prefixes.
    #[test]
    fn locations_inside_of_others_precede_expressions() {
        for (inner, is_before) in [
            ("= /x/q", true),
            ("^~ /x/q", true),
            ("~ q$", true),
            ("~* \\.PHP$", true),
            ("/x/q", false),
            ("/x/q { location = /x/q/z", true),
            ("~ ^/y", false),
        ] {
            let end = "}".repeat(inner.matches('{').count());
            for expression in ["^/x/", "^/x/q(/z|[.]php)?/?$"] {
                let rows = read_by(
                    read,
                    &*format!(
                        "server {{\nlocation /x/ {{ location {inner} {{ root /a; }} {end} }}\n\
                         location ~ {expression} {{ return 301 https://e.org/; }} }}"
                    ),
                );
                assert_eq!(
                    refused(&rows).is_empty(),
                    !is_before,
                    "{inner} {expression}: {:?}",
                    refused(&rows)
                );
            }
        }
    }

    #[test]
    fn redirects_of_locations_with_names_are_reported() {
        let rows = read_by(
            read,
            "server {\ntry_files $uri @go;\nlocation = /a { return 301 https://e.org/; }\n\
             location @go {\nreturn 301 https://e.org/1;\n}\n\
             error_page 418 = @x;\nlocation @x { rewrite ^/b$ https://e.org/2 permanent; }\n}",
        );
        assert_eq!(pairs(&rows), ["3 a https://e.org/"]);
        let lines: Vec<_> = refused(&rows).iter().map(|it| it[..2].to_owned()).collect();
        assert_eq!(lines, ["5:", "8:"]);
    }
}
