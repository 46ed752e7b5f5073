//! nginx: `return` and `rewrite` for single paths and for all below one, in servers, locations and `if`
//! blocks, and `map` blocks of paths.
//!
//! nginx decides by its own order, a table by the exact code and then the longest prefix. So the
//! directives are first read as nginx reads them (`blocks`, `instructions`, `maps`), then `server`
//! computes what nginx answers to a path, and [`Links`] accepts only links with which the table answers the
//! same.
//!
//! A map has no status: it is that of the `return` with its variable, or the three digits at the end of
//! the variable's name, as in Waypost's own exports.

mod answers;
mod blocks;
mod candidates;
mod definitions;
mod error_pages;
mod expressions;
mod instructions;
mod interference;
mod maps;
mod names;
mod request;
mod server;
mod unread;
mod variables;

use std::collections::{HashMap, HashSet};

use self::answers::Answers;
use self::blocks::{Block, blocks};
use self::candidates::candidates;
use self::definitions::definitions;
use self::error_pages::ErrorPages;
use self::instructions::{Body, Condition, Instruction, InstructionKind};
use self::maps::{Map, PathWithoutSlash};
use self::names::of_host;
use self::server::{Server, constants};
use self::unread::report_unread;
use self::variables::Variables;
use crate::exchange::read::configuration::links::Links;
use crate::exchange::read::rows::{ImportedRow, LinkOrigin, RowError};

/// Reads every directive.
pub(crate) fn read(text: &str, origin: LinkOrigin<'_>, take: &mut dyn FnMut(ImportedRow)) {
    let blocks = match blocks(text) {
        Ok(blocks) => blocks,
        Err((line, error)) => {
            let link = Err(error);
            return take(ImportedRow { line, link });
        }
    };
    let mut rows = Vec::new();
    let mut refuse = |line, error| {
        let link = Err(error);
        rows.push(ImportedRow { line, link });
    };
    let outermost: Vec<_> = (blocks.into_iter())
        .flat_map(|block| match block.named("http") {
            Some(_) => block.inner,
            None => vec![block],
        })
        .collect();
    let variables = variables(&outermost, &mut refuse);
    let mut used = HashSet::new();
    for block in outermost.iter().filter(|it| it.named("map").is_none()) {
        add_variables(block, &mut used);
    }
    add_lines(&outermost, &mut refuse);
    report_unread(&outermost, &mut refuse);
    let pages = ErrorPages::of(&outermost, &ErrorPages::default());
    let mut servers = vec![Server::of(&outermost, &ErrorPages::default())];
    if outermost.iter().all(|it| it.named("server").is_none()) {
        servers[0].body = with_maps(&variables, &used, &outermost);
    } else {
        report_unused(&outermost, &variables, &used, &mut refuse);
    }
    let host = origin.base_urls.first().map_or("", |it| it.host());
    let named: Vec<_> = outermost
        .iter()
        .filter(|it| it.named("server").is_some())
        .collect();
    let (chosen, others) = of_host(&named, host);
    for (line, reason) in others {
        refuse(line, reason);
    }
    for block in chosen {
        report_unread(&block.inner, &mut refuse);
        servers.push(Server::of(&block.inner, &pages));
    }
    for server in &servers {
        let candidates = candidates(server, &variables);
        let answers = Answers::new(server, &variables, &candidates);
        rows.extend(Links::new(answers, origin).decide(candidates));
    }
    rows.sort_by_key(|row| row.line);
    rows.into_iter().for_each(take);
}

/// Reads the variables whose values are known, and reports the maps of others.
fn variables(outermost: &[Block], refuse: &mut dyn FnMut(usize, RowError)) -> Variables {
    let mut variables = Variables {
        constants: constants(outermost),
        ..Variables::default()
    };
    let mut defined: HashMap<_, usize> = HashMap::new();
    for name in definitions(outermost) {
        *defined.entry(name).or_default() += 1;
    }
    let is_only = |name: &String| defined.get(name) == Some(&1);
    variables.constants.retain(|name, _| is_only(name));
    let path_without_slash = outermost.iter().find_map(PathWithoutSlash::of);
    let path_without_slash = path_without_slash.filter(|it| defined.get(it.variable) == Some(&1));
    for block in outermost.iter().filter(|it| it.named("map").is_some()) {
        let variable = block.words.get(2).and_then(|it| it.strip_prefix('$'));
        let is_own = |it: &PathWithoutSlash<'_>| variable == Some(it.variable);
        if path_without_slash.as_ref().is_some_and(is_own) {
            continue;
        }
        match Map::of(block, path_without_slash.as_ref(), refuse) {
            Some((name, map)) if is_only(&name) => drop(variables.maps.insert(name, map)),
            Some(_) => refuse(
                block.line,
                RowError::NoLink("another directive sets the variable of this map, too"),
            ),
            None => refuse(block.line, RowError::NoLink("this map is not one of paths")),
        }
    }
    let Variables {
        constants, maps, ..
    } = &variables;
    let is_known = |name: &String| constants.contains_key(name) || maps.contains_key(name);
    variables.unknown = defined.into_keys().filter(|it| !is_known(it)).collect();
    variables
}

/// Reports the maps of paths whose values no directive sends.
fn report_unused(
    blocks: &[Block],
    variables: &Variables,
    used: &HashSet<String>,
    refuse: &mut dyn FnMut(usize, RowError),
) {
    for block in blocks {
        let name = block.words.get(2).and_then(|it| it.strip_prefix('$'));
        let is_of_paths = |name: &str| variables.maps.get(name).is_some_and(Map::is_of_paths);
        let is_unused = |name: &str| is_of_paths(name) && !used.contains(name);
        if block.named("map").is_some() && name.is_some_and(is_unused) {
            refuse(
                block.line,
                RowError::NoLink("no directive of this file sends the values of this map"),
            );
        }
    }
}

/// Returns the outermost directives, and those that send the values of maps that are not used: a file may
/// have only the maps.
fn with_maps(variables: &Variables, used: &HashSet<String>, outermost: &[Block]) -> Body {
    let of_paths = variables.maps.iter().filter(|(_, map)| map.is_of_paths());
    let unused = of_paths.filter(|(name, _)| !used.contains(*name));
    let mut unused: Vec<_> = unused.map(|(name, _)| name).collect();
    unused.sort_unstable();
    let sent = unused.into_iter().map(|name| {
        let digits = name.rsplit('_').next().filter(|it| it.len() == 3);
        let sent = Instruction {
            line: 0,
            kind: InstructionKind::Return {
                status: digits.and_then(|it| it.parse().ok()),
                text: Some(format!("${name}")),
            },
        };
        let condition = Condition::IsSet(name.clone());
        Instruction {
            line: 0,
            kind: InstructionKind::If(condition, Body::new(vec![sent])),
        }
    });
    let mut body = Body::of(outermost);
    body.instructions.extend(sent);
    Body::new(body.instructions)
}

/// Adds the names of the variables in all texts of a block.
fn add_variables(block: &Block, used: &mut HashSet<String>) {
    for word in &block.words {
        for after in word.split('$').skip(1) {
            let after = after.strip_prefix('{').unwrap_or(after);
            let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            used.insert(after[..end.unwrap_or(after.len())].to_owned());
        }
    }
    for inner in &block.inner {
        add_variables(inner, used);
    }
}

/// Returns whether an included file is one of those that nginx comes with, which redirect nothing.
fn is_of_no_paths(include: &Block) -> bool {
    let file = include.words.get(1).map_or("", String::as_str);
    file.ends_with("mime.types") || file.ends_with("_params")
}

/// Reports the lines whose effect is not known.
fn add_lines(blocks: &[Block], refuse: &mut dyn FnMut(usize, RowError)) {
    for block in blocks {
        match block.words.first().map(String::as_str) {
            Some("include") if !is_of_no_paths(block) => refuse(
                block.line,
                RowError::NoLink("a file that is included is not read"),
            ),
            Some("error_page") if block.words.iter().any(|it| it.contains("://")) => refuse(
                block.line,
                RowError::NoLink(
                    "a fallback appends the path that is not found, and this leads every such path to one URL",
                ),
            ),
            Some("map") => {}
            _ => add_lines(&block.inner, refuse),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::exchange::read::rows::testing::{pairs, read_by, refused};
    use crate::mapping::{Forward, Status, WrittenRetirement};

    #[test]
    fn maps_are_read() {
        let rows = read_by(
            super::read,
            "map_hash_bucket_size 64;\ngeo $waypost_dollar { default \"$\"; }\n\
              map $uri $waypost_301 {\n    \"/a\" \"https://e.org/${waypost_dollar}x\";\n\
                  \"~^/b\\.c$\" \"https://e.org/\\\"\";\n}\nmap $uri $waypost_410 {\n    \"/d\" 1;\n}\n\
              map $request_uri $new {\n  default \"\"; # none\n  hostnames;\n\
                /e https://e.org/e;\n  \\default https://e.org/;\n}\n\
              server { if ($new) { return 308 $new; } if ($waypost_301) { return 301 $waypost_301; }\n\
              if ($waypost_410) { return 410; } }\n",
        );
        let found = [
            "4 a https://e.org/$x",
            "5 b.c https://e.org/\"",
            "8 d ",
            "13 e https://e.org/e",
        ];
        assert_eq!(pairs(&rows), found);
        let link = |at: usize| rows[at].link.as_ref().unwrap();
        assert_eq!(link(0).status, Some(Status::MovedPermanently));
        assert_eq!(link(2).retired, Some(WrittenRetirement::Always));
        assert_eq!(link(3).status, Some(Status::PermanentRedirect));
        assert_eq!(refused(&rows).len(), 1);
    }

    #[test]
    fn a_map_may_compare_paths_without_the_slash_at_their_ends() {
        for (expression, found) in [
            ("~^(/.*[^/])/\\z", &["2 a https://e.org/"][..]),
            ("~^(/.*[^/])$", &[]),
        ] {
            let text = format!(
                "map $uri $path {{ \"{expression}\" $1; default $uri; }}\n\
                 map $path $waypost_302 {{ \"/a\" \"https://e.org/\"; }}\n"
            );
            let rows = read_by(super::read, &*text);
            assert_eq!(pairs(&rows), found, "{expression}");
            assert_eq!(refused(&rows).is_empty(), !found.is_empty());
        }
        // What leads only the path with the slash elsewhere is compared.
        let rows = read_by(
            super::read,
            "map $uri $path { \"~^(/.*[^/])/\\z\" $1; default $uri; }\n\
             map $path $x { /a https://e.org/; /b https://e.org/b; }\n\
             server { location = /b/ { return 302 https://e.org/other; }\n\
             location / { if ($x) { return 302 $x; } } }\n",
        );
        assert_eq!(pairs(&rows), ["2 a https://e.org/"]);
        assert_eq!(refused(&rows).len(), 2);
    }

    #[test]
    fn locations_and_rewrites_are_read() {
        let rows = read_by(
            super::read,
            "server {\n  listen 80;\n  location = /a { return 301 https://e.org/; }\n\
              location =/b { add_header X y; return https://e.org/b; }\n\
              location ~ ^/c$ { rewrite ^ https://e.org/c? permanent; }\n\
              rewrite ^/d/?$ 'https://e.org/d' redirect;\n  location = /e {\n    return 410;\n  }\n}\n",
        );
        assert_eq!(refused(&rows), [""; 0]);
        let found = [
            "3 a https://e.org/",
            "4 b https://e.org/b",
            "5 c https://e.org/c",
            "6 d https://e.org/d",
            "8 e ",
        ];
        assert_eq!(pairs(&rows), found);
        let forwards: Vec<_> = rows
            .iter()
            .map(|row| row.link.as_ref().unwrap().forward)
            .collect();
        let (query, none) = (Some(Forward::Query), Some(Forward::None));
        assert_eq!(forwards, [none, none, none, query, None]);
    }

    #[test]
    fn all_others_are_reported() {
        let rows = read_by(
            super::read,
            "map $host $x { a b; }\nmap $uri $y {\n  default https://e.org/;\n  ~^/a https://e.org/;\n\
              ~*^/a$ https://e.org/;\n  include more;\n  /v https://$host/;\n}\n\
              server {\n  return 301 https://e.org$request_uri;\n\
              location /p { return 302 https://e.org/; }\n\
              location = /q { if ($arg_x) { return 302 https://e.org/; } }\n\
              rewrite ^/r/(.*)$ https://e.org/$1 permanent;\n  rewrite ^/s$ /t last;\n\
              location = /u { return 200 ok; }\n}\n",
        );
        assert_eq!(refused(&rows).len(), 8, "{rows:#?}");
    }

    /// Returns the codes of the links of a server, and the reasons for the others.
    fn links_of(outside: &str, inside: &str) -> (Vec<String>, Vec<String>) {
        let rows = read_by(
            super::read,
            &*format!("{outside}\nserver {{\n{inside}\n}}\n"),
        );
        (pairs(&rows), refused(&rows))
    }

    #[test]
    fn a_group_that_a_condition_may_set_is_not_known() {
        for condition in [
            "$http_x ~ (.)",
            "$http_x !~* (.)",
            "$bot",
            "$bot = a",
            "$moved",
            "$uri ~ ((?<=x)a)",
        ] {
            let outside = "map $host $bot { ~(.) 1; }\nmap $uri $moved { ~^/(z) 0; }";
            let inside = format!(
                "location ~ ^/a/(.*)$ {{ if ({condition}) {{ set $x 1; }} return 301 https://e.org/$1; }}"
            );
            let (links, reasons) = links_of(outside, &inside);
            assert_eq!(links, [""; 0], "{condition}");
            let reason = "4: the URL depends on a variable: \"https://e.org/$1\"".to_owned();
            assert!(reasons.contains(&reason), "{condition}: {reasons:?}");
        }
        let inside =
            "location ~ ^/a/(.*)$ { if ($http_x = y) { set $x 1; } return 301 https://e.org/$1; }";
        assert_eq!(links_of("", inside).0, ["3 a https://e.org/"]);
    }

    #[test]
    fn a_map_with_expressions_replaces_the_groups_of_a_url() {
        let outside = "map $uri $end { ~^/a/(.)b$ x; /a/c $1; }";
        let inside = "location ~ ^/(a/.*)$ { return 301 https://e.org/$end$1; }\nlocation = /a/c { return 301 https://e.org/$end; }";
        let (links, reasons) = links_of(outside, inside);
        assert_eq!(links, [""; 0]);
        assert_eq!(reasons.len(), 2, "{reasons:?}");
    }

    #[test]
    fn a_condition_that_ends_the_directives_is_not_ignored() {
        let inside = "location = /a { if ($http_x) { break; } return 301 https://e.org/; }";
        let (links, reasons) = links_of("", inside);
        assert_eq!(links, [""; 0]);
        assert_eq!(reasons.len(), 1);
    }

    #[test]
    fn a_link_does_not_depend_on_what_the_query_is() {
        let link = "location = /a { return 301 https://e.org/a; }";
        for key in ["/a?x=1", "~^/a\\?x=1$", "~x=1"] {
            let outside = format!("map $request_uri $new {{ {key} https://e.org/x; }}");
            let inside = format!("if ($new) {{ return 301 $new; }}\n{link}");
            assert_eq!(links_of(&outside, &inside).0, [""; 0], "{key}");
        }
        let outside = "map $args $new { x=1 https://e.org/x; }";
        let inside = format!("if ($new) {{ return 301 $new; }}\n{link}");
        assert_eq!(links_of(outside, &inside).0, [""; 0]);
        let outside = "map $args $more { '' ''; default &$args; }\nmap $request_uri $new { ~^/b\\? https://e.org/x; }";
        let inside = format!(
            "if ($new) {{ return 301 $new; }}\n{link}\nlocation = /c {{ return 301 https://e.org/?c$more; }}"
        );
        let found = ["5 a https://e.org/a", "6 c https://e.org/?c"];
        assert_eq!(links_of(outside, &inside).0, found);
    }

    #[test]
    fn a_map_is_refused_if_its_variable_is_set_elsewhere() {
        for directive in [
            "set $new https://f.org/;",
            "location = /b { set $new https://f.org/; }",
            "auth_request_set $new $upstream_http_x;",
            "if ($http_x ~ (?<new>.*)) { set $y 1; }",
            "location ~ ^/(?P<new>x) { return 404; }",
        ] {
            let outside = "map $uri $new { /a https://e.org/; }";
            let inside = format!("{directive}\nif ($new) {{ return 301 $new; }}");
            let (links, reasons) = links_of(outside, &inside);
            assert_eq!(links, [""; 0], "{directive}");
            assert_eq!(
                reasons[0],
                "1: another directive sets the variable of this map, too"
            );
        }
        let twice = "map $uri $new { /a https://e.org/; }\nmap $uri $new { /a https://f.org/; }";
        let (links, reasons) = links_of(twice, "if ($new) { return 301 $new; }");
        assert_eq!((links.len(), reasons.len()), (0, 3), "{reasons:?}");
    }

    #[test]
    fn a_query_that_is_set_is_not_passed_on() {
        let inside = "set $args '';\nrewrite ^/a$ https://e.org/a permanent;\nrewrite ^/b$ https://e.org/b? permanent;\n\
                      location = /c { return 301 https://e.org/c$is_args$args; }";
        let (links, reasons) = links_of("", inside);
        assert_eq!(links, ["5 b https://e.org/b"]);
        assert_eq!(reasons.len(), 2);
    }

    #[test]
    fn a_page_for_a_status_is_another_answer() {
        for (pages, accepted) in [
            ("error_page 410 /gone.html;", &["a", "b"][..]),
            ("error_page 404 410 =301 https://f.org/;", &["b"]),
            ("error_page 410 https://f.org/;", &["b"]),
            ("error_page 410 @gone;", &["b"]),
            ("error_page 410 =200 /gone.html;", &["b"]),
            ("error_page 410 /b;", &["b"]),
            ("error_page 301 /x.html;", &["a"]),
            ("error_page 302 308 /x.html;", &["a", "b"]),
        ] {
            let inside = "location = /a { return 410; }\nlocation = /b { return 301 https://e.org/; }\n\
                          location = /gone.html { internal; }";
            for (outside, inside) in [
                (pages, inside.to_owned()),
                ("", format!("{pages} {inside}")),
                ("error_page 301 410 /b;", format!("{pages} {inside}")),
            ] {
                let rows = read_by(
                    super::read,
                    &*format!("{outside}\nserver {{\n{inside}\n}}\n"),
                );
                let links = rows.iter().filter_map(|row| row.link.as_ref().ok());
                let codes: Vec<_> = links.filter_map(|link| link.code.as_deref()).collect();
                assert_eq!(codes, accepted, "{outside} {inside}");
                let covered = |it: &String| it.contains("the error_page in line");
                assert!(
                    refused(&rows)
                        .iter()
                        .filter(|it| it.contains("in line"))
                        .all(covered)
                );
            }
        }
        let inside =
            "location = /a { if ($uri ~ a) { error_page 410 =301 https://f.org/; } return 410; }";
        assert_eq!(links_of("", inside).0, [""; 0]);
    }

    #[test]
    fn a_slash_is_added_before_expressions_are_compared() {
        let passed = "location /a/ { proxy_pass http://127.0.0.1:1; }";
        let inside = format!("{passed}\nlocation ~ ^/a$ {{ return 301 https://e.org/; }}");
        let (links, reasons) = links_of("", &inside);
        assert_eq!(links, [""; 0]);
        assert!(reasons[0].contains("line 3 decides"), "{reasons:?}");
        let inside = format!("{passed}\nlocation = /a {{ return 301 https://e.org/; }}");
        assert_eq!(links_of("", &inside).0, ["4 a https://e.org/"]);
        let inside = format!("{passed}\nlocation /a {{ return 301 https://e.org/; }}");
        assert_eq!(links_of("", &inside).0, [""; 0]);
        let inside = "location /b/a/ { fastcgi_pass x; }\nlocation ~ ^/b/(.*)$ { return 301 https://e.org/$1; }";
        assert_eq!(links_of("", inside).0, [""; 0]);
        let inside = "location /a/ { uwsgi_pass x; rewrite ^/a/$ https://e.org/? permanent; }";
        assert_eq!(links_of("", inside).0, ["3 a https://e.org/"]);
    }
}
