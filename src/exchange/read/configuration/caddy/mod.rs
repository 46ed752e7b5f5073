//! Caddy: `redir`, `respond` and `error` for single paths and for all below one, in sites, `handle`,
//! `handle_path` and `route`, and `map` directives of paths.
//!
//! Caddy sorts the directives of a block, and the first that matches decides; a table takes the exact code, and
//! then the longest prefix. So the file is first read as Caddy reads it (`blocks`, `expanded`, `body`), then `site`
//! computes what Caddy answers to a path, and [`Links`] accepts only links with which the table answers the same.

mod actions;
mod addresses;
mod answers;
mod blocks;
mod body;
mod candidates;
mod expanded;
mod maps;
mod matchers;
mod path_set;
mod placeholders;
mod request;
mod site;
mod tokens;

use std::collections::HashSet;

use self::actions::{GroupKind, is_known};
use self::addresses::Addresses;
use self::answers::Answers;
use self::blocks::{Block, blocks};
use self::body::{Body, Scope};
use self::candidates::candidates;
use self::expanded::{Directive, Expansion};
use self::maps::Map;
use self::matchers::Named;
use self::placeholders::Variables;
use self::request::only_placeholder;
use self::site::Site;
use crate::exchange::read::configuration::links::Links;
use crate::exchange::read::rows::{ImportedRow, LinkOrigin, RowError};

const ORDER: RowError =
    RowError::NoLink("with the option `order`, directives are applied in another order");

/// Reads every directive.
pub(crate) fn read(text: &str, origin: LinkOrigin<'_>, take: &mut dyn FnMut(ImportedRow)) {
    let blocks = match blocks(text) {
        Ok(blocks) => blocks,
        Err((line, error)) => {
            let link = Err(error);
            return take(ImportedRow { line, link });
        }
    };
    let mut expansion = Expansion::default();
    let mut rows = Vec::new();
    let sites = sites(&blocks, &mut expansion, origin, &mut rows);
    for (_, directives) in &sites {
        let (mut found, keys) = links(directives, &mut expansion, origin);
        for ImportedRow { line, link } in &mut found {
            if let Ok(link) = link
                && !keys.contains(line)
            {
                link.note_any_case(origin.case);
            }
        }
        rows.extend(found);
    }
    for (line, error) in std::mem::take(&mut expansion.refused) {
        let link = Err(error);
        rows.push(ImportedRow { line, link });
    }
    for row in &mut rows {
        row.line = expansion.lines[row.line];
    }
    rows.sort_by_key(|row| row.line);
    rows.dedup();
    rows.into_iter().for_each(take);
}

/// Returns the directives of each site that has the host of the links; of each, if none has. Lines are numbers of
/// directives.
fn sites<'b>(
    blocks: &'b [Block],
    expansion: &mut Expansion<'b>,
    origin: LinkOrigin<'_>,
    rows: &mut Vec<ImportedRow>,
) -> Vec<(Addresses, Vec<Directive>)> {
    let mut refuse = |line, error| {
        let link = Err(error);
        rows.push(ImportedRow { line, link });
    };
    let blocks = match blocks.split_first() {
        Some((options, rest)) if options.words.is_empty() => {
            let order = options.inner().iter().find(|it| it.name() == "order");
            if let Some(order) = order {
                refuse(expansion.number(order.line), ORDER);
                return Vec::new();
            }
            rest
        }
        _ => blocks,
    };
    for block in blocks {
        let name = block.name();
        if let Some(snippet) = name.strip_prefix('(').and_then(|it| it.strip_suffix(')')) {
            expansion.add(snippet, block.inner());
        }
    }
    let mut found: Vec<(usize, Addresses, &[Block])> = Vec::new();
    let mut pending: Vec<String> = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        if block.name().starts_with(['(', '&']) {
            continue;
        }
        // A file that others import begins with a directive.
        if found.is_empty() && is_known(block.name()) {
            let number = expansion.number(block.line);
            found.push((number, Addresses::default(), &blocks[at..]));
            break;
        }
        let mut words = std::mem::take(&mut pending);
        words.extend(block.words.iter().cloned());
        let addresses = Addresses::of(&Block {
            words: words.clone(),
            ..Block::default()
        });
        let number = expansion.number(block.line);
        match &block.inner {
            Some(inner) => found.push((number, addresses, inner)),
            None if block.name() == "import" => {
                refuse(
                    number,
                    RowError::NoLink("a file that is imported is not read"),
                );
            }
            None if words.last().is_some_and(|it| it.ends_with(',')) => pending = words,
            // A file of one site needs no braces.
            None if found.is_empty() => {
                found.push((number, addresses, &blocks[at + 1..]));
                break;
            }
            None => refuse(number, RowError::NoLink("this is no site: it has no block")),
        }
    }
    let base_url = origin.base_urls.first();
    let host = base_url.map_or("", |it| it.host());
    let scheme = base_url.and_then(|it| it.as_str().split_once("://"));
    let scheme = scheme.map_or("", |(scheme, _)| scheme);
    let is_named = found.iter().any(|(_, it, _)| it.has(scheme, host));
    let mut sites = Vec::new();
    for (number, addresses, inner) in found {
        if is_named && !addresses.has(scheme, host) {
            refuse(number, RowError::NoLink("this site has another address"));
        } else if addresses.have_path() {
            refuse(
                number,
                RowError::NoLink("an address with a path is not read"),
            );
        } else {
            let directives = expansion.of(inner);
            sites.push((addresses, directives));
        }
    }
    sites
}

/// Returns the links of a site, and the numbers of the keys of its maps, which have one spelling.
fn links(
    directives: &[Directive],
    expansion: &mut Expansion<'_>,
    origin: LinkOrigin<'_>,
) -> (Vec<ImportedRow>, HashSet<usize>) {
    let mut refuse = |number, error| expansion.refused.push((number, error));
    let mut keys = HashSet::new();
    let variables = variables(directives, &mut keys, &mut refuse);
    let error_pages = directives.iter().filter(|it| it.name() == "handle_errors");
    let has_error_pages = error_pages.clone().next().is_some();
    error_pages.for_each(|it| refuse_inner(it, &mut refuse));
    let scope = Scope {
        host: origin.base_urls.first().map_or("", |it| it.host()),
        named: Named::new(),
        has_error_pages,
    };
    let site = Site {
        body: Body::of(directives, &scope, GroupKind::Handle),
        variables,
        origin,
    };
    let candidates = candidates(&site);
    let answers = Answers::new(&site, &expansion.lines, &candidates);
    (Links::new(answers, origin).decide(candidates), keys)
}

/// Reads the maps of a site: those for all requests, and the names that others define.
fn variables(
    directives: &[Directive],
    keys: &mut HashSet<usize>,
    refuse: &mut dyn FnMut(usize, RowError),
) -> Variables {
    let mut variables = Variables::default();
    for directive in directives {
        if directive.name() != "map" {
            add_unknown(&directive.inner, &mut variables);
            continue;
        }
        match Map::of(directive, refuse) {
            Some(map) => {
                keys.extend(map.mappings.iter().map(|it| it.number));
                variables.add(map);
            }
            None => {
                refuse(
                    directive.number,
                    RowError::NoLink(
                        "this map is not one of all requests, or depends on what the query is",
                    ),
                );
                add_destinations(directive, &mut variables);
            }
        }
    }
    variables.forget_maps_of_queries();
    variables
}

/// Reports the redirects and the answers inside of a directive for errors.
fn refuse_inner(errors: &Directive, refuse: &mut dyn FnMut(usize, RowError)) {
    for inner in &errors.inner {
        if matches!(inner.name(), "redir" | "respond" | "error") {
            let reason = "what handle_errors answers is not read";
            refuse(inner.number, RowError::NoLink(reason));
        }
        refuse_inner(inner, refuse);
    }
}

fn add_unknown(directives: &[Directive], variables: &mut Variables) {
    for directive in directives {
        match directive.name() {
            "map" => add_destinations(directive, variables),
            _ => add_unknown(&directive.inner, variables),
        }
    }
}

fn add_destinations(map: &Directive, variables: &mut Variables) {
    for name in map.arguments().iter().filter_map(|it| only_placeholder(it)) {
        variables.add_unknown(name);
    }
}

#[cfg(test)]
mod tests {
    use crate::exchange::read::rows::LinkOrigin;
    use crate::exchange::read::rows::testing::{pairs, read_by, refused};
    use crate::mapping::{BaseUrl, Case, Forward};

    /// Returns the codes of the links of a site, and the reasons for the others.
    fn links_of(directives: &str) -> (Vec<String>, Vec<String>) {
        let rows = read_by(super::read, &*format!("short.code {{\n{directives}\n}}\n"));
        (pairs(&rows), refused(&rows))
    }

    #[test]
    fn a_link_does_not_depend_on_what_the_query_is() {
        let rest = "@new not vars {new} \"\"\nredir @new {new}\nredir /a https://e.org/a";
        for map in [
            "{query} {new} {\nx=1 https://e.org/x\n}",
            "{query} {new} {\n~x https://e.org/x\n}",
            "{uri} {new} {\n/a?x=1 https://e.org/x\n}",
            "\"{path} {uri}\" {new} {\n`~ /a\\?x=1$` https://e.org/x\n}",
            "\"{uri} {path}\" {new} {\n`~\\?x=1` https://e.org/x\n}",
            "{query} {q} {\n~^.+$ $0\n}\nmap {q} {new} {\nx=1 https://e.org/x\n}",
        ] {
            let (links, reasons) = links_of(&format!("map {map}\n{rest}"));
            assert_eq!(links, [""; 0], "{map}: {reasons:?}");
        }
        let map = "map {query} {q} {\n`~^(.+)$` ?$1\ndefault \"\"\n}\nmap {uri} {new} {\n`~^/b\\?x=1$` https://e.org/x\n}";
        let (links, reasons) = links_of(&format!("{map}\n{rest}\nredir /c https://e.org/c{{q}}"));
        assert_eq!(links.len(), 2, "{links:?} {reasons:?}");
    }

    #[test]
    fn fewer_values_than_placeholders_are_read() {
        let map = "map {path} {status} {to} {\n/a 301 https://e.org/\n/b 410\ndefault 404\n}";
        let (links, reasons) = links_of(&format!(
            "{map}\nroute {{\n@link not vars {{to}} \"\"\nredir @link {{to}} {{status}}\n\
             @gone vars {{status}} 410\nrespond @gone 410\n}}"
        ));
        assert_eq!(links, ["3 a https://e.org/", "11 b "], "{reasons:?}");
        assert_eq!(reasons, [""; 0]);
    }

    #[test]
    fn redirects_are_read() {
        let (links, reasons) = links_of(
            "redir /a https://e.org/ permanent\nredir /b/* https://e.org{uri}\n\
             handle_path /c/* {\nredir https://e.org/c{uri}\n}\n\
             @d path /d /e/f\nredir @d /b/x 308\nrespond /g 410\nerror /h 410",
        );
        let found = [
            "2 a https://e.org/",
            "3 b https://e.org/b/",
            "5 c https://e.org/c/",
            "8 d https://short.code/b/x",
            "8 e/f https://short.code/b/x",
            "9 g ",
            "10 h ",
        ];
        assert_eq!(
            (&links[..], &reasons[..]),
            (&found.map(str::to_owned)[..], &[][..])
        );
        let rows = read_by(
            super::read,
            "redir.code\nredir /a/* https://e.org{uri}\nredir /b https://e.org/?{query}\n",
        );
        let forwards = rows
            .iter()
            .filter_map(|row| row.link.as_ref().ok()?.forward);
        let expected = [Forward::PathAndQuery, Forward::Query];
        assert_eq!(forwards.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_query_as_the_fragment_is_no_link() {
        let (links, reasons) = links_of("redir /a https://e.org/a#{query}");
        assert_eq!(links, [""; 0]);
        assert_eq!(reasons, ["2: a short link does not depend on the query"]);
    }

    #[test]
    fn directives_for_errors_are_reported() {
        let (links, reasons) = links_of(
            "redir /a https://e.org/a\nhandle_errors {\nredir /b https://e.org/b\n\
             handle /c {\nredir https://e.org/c\n}\nrewrite * /x\n}",
        );
        assert_eq!(links, ["2 a https://e.org/a"]);
        let reason = "what handle_errors answers is not read";
        assert_eq!(reasons, [4, 6].map(|line| format!("{line}: {reason}")));
    }

    #[test]
    fn links_in_any_case_are_noted() {
        let text = "short.code {\nredir /a https://e.org/a\nredir /1 https://e.org/1\n}\n";
        for (case, expected) in [(Case::Exact, [1, 0]), (Case::Fold, [0, 0])] {
            let from = &BaseUrl::parse("https://short.code/").unwrap();
            let origin = LinkOrigin {
                base_urls: &[from],
                case,
            };
            let mut noted = Vec::new();
            super::read(text, origin, &mut |row| {
                noted.extend(row.link.map(|link| link.deviations.len()));
            });
            assert_eq!(noted, expected);
        }
    }

    #[test]
    fn a_file_that_others_import_is_read() {
        let rows = read_by(
            super::read,
            "redir /a https://e.org/a\nredir /b https://e.org/b 301\n",
        );
        assert_eq!(pairs(&rows), ["1 a https://e.org/a", "2 b https://e.org/b"]);
    }

    #[test]
    fn the_order_is_that_of_caddy() {
        for (directives, expected) in [
            // The longest path is first, whatever is written first; with a slash after it, the other.
            (
                "redir /a/* https://e.org/1\nredir /a/bc https://e.org/2",
                &[][..],
            ),
            // Of the same length, the first.
            (
                "redir /a/* https://e.org/1\nredir /a/b https://e.org/2",
                &["2 a https://e.org/1"],
            ),
            (
                "redir /a/b https://e.org/2\nredir /a/* https://e.org/1",
                &[],
            ),
            // In a route, as it is written.
            (
                "route {\nredir /a/* https://e.org/1\nredir /a/bc https://e.org/2\n}",
                &["3 a https://e.org/1"],
            ),
            // It depends on the version.
            ("redir /a https://e.org/1\nredir /a* https://e.org/2", &[]),
            (
                "redir /abc https://e.org/1\n@b path /b /abc\nredir @b https://e.org/2",
                &["4 b https://e.org/2"],
            ),
            // A redirect precedes what handles, whatever the paths.
            (
                "handle /a {\nredir https://e.org/1\n}\nredir /a* https://e.org/2",
                &["5 a https://e.org/2"],
            ),
            (
                "respond /a 410\nredir /a https://e.org/",
                &["3 a https://e.org/"],
            ),
            (
                "try_files {path} /index.php\nredir /a https://e.org/\nfile_server",
                &["3 a https://e.org/"],
            ),
            (
                "rewrite /b /a\nhandle /a {\nredir https://e.org/\n}",
                &["4 a https://e.org/"],
            ),
            ("redir /a https://e.org/\nplugin", &[]),
            // The second one is applied, too, because Caddy merges their routes.
            (
                "handle {\nredir /a https://e.org/1\n}\nhandle {\nredir /b https://e.org/2\n}",
                &[],
            ),
            // In a route, they are not exclusive.
            (
                "route {\nhandle /a* {\nredir /b https://e.org/1\n}\nhandle /a/* {\nredir https://e.org/2\n}\n}",
                &[],
            ),
            // The prefix stays removed.
            (
                "handle_path /a/* {\nredir /b https://e.org/1\n}\nrespond /b/* 410",
                &[],
            ),
        ] {
            let (links, reasons) = links_of(directives);
            assert_eq!(links, expected, "{directives} {reasons:?}");
        }
    }

    #[test]
    fn a_directive_that_decides_other_paths_precedes() {
        // The first one also leads /a/cx, which no link has.
        let (links, _) = links_of(
            "@m path /a/b /a/b/ /a/c*\nroute {\nredir @m https://e.org/1\nredir /a/* https://e.org/2\n}",
        );
        assert_eq!(links, ["4 a/b https://e.org/1", "4 a/c https://e.org/1"]);
    }

    #[test]
    fn maps_are_read() {
        let (links, reasons) = links_of(
            "map {path} {to} {status} {\n/a https://e.org/a 301\n/b/c https://e.org/{query} 302\n\
             ~^/d$ https://e.org/d 303\n~^/e/(.*)$ https://e.org/$1 301\ndefault \"\" 302\n}\n\
             @set not vars {to} \"\"\nredir @set {to} {status}",
        );
        assert_eq!(links, ["3 a https://e.org/a", "5 d https://e.org/d"]);
        assert_eq!(reasons.len(), 2, "{reasons:?}");
    }

    #[test]
    fn all_others_are_reported() {
        for directive in [
            "redir /a https://{host}/",
            "redir /a https://e.org/ html",
            "redir /a",
            "redir /a* https://e.org{uri}",
            "redir /a%20b https://e.org/",
            "redir https://e.org{uri}",
            "@h header X y\nredir @h https://e.org/",
            "import other",
            "redir /a {$TARGET}",
            "map {host} {x} {\na b\n}\nredir /a https://e.org/{x}",
        ] {
            let (links, reasons) = links_of(directive);
            assert_eq!(links, [""; 0], "{directive}");
            assert!(!reasons.is_empty(), "{directive}");
        }
    }

    #[test]
    fn only_the_site_of_the_links_is_read() {
        let text = "{\n\tdebug\n}\n(s) {\n\tredir {args[0]} https://e.org/{args.1}\n}\n\
                    http://short.code {\n\tredir https://short.code{uri}\n}\n\
                    other.code,\nanother.code {\n\tredir /a https://f.org/\n}\n\
                    short.code, www.short.code {\n\timport s /a 1\n\timport s /b 2\n}\n";
        let rows = read_by(super::read, text);
        assert_eq!(
            pairs(&rows),
            ["15 a https://e.org/1", "16 b https://e.org/2"]
        );
        assert_eq!(refused(&rows).len(), 2, "{rows:?}");
        let ordered = read_by(
            super::read,
            "{\norder redir last\n}\na.b {\nredir /a https://e.org/\n}",
        );
        assert_eq!((pairs(&ordered).len(), refused(&ordered).len()), (0, 1));
    }
}
