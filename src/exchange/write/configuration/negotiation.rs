//! Content negotiation by regular expressions: which variant a request chooses, for servers that cannot
//! compare the qualities in `Accept`.
//!
//! The expressions are in an order, and the first that matches decides. They ask for each tenth from the highest
//! down which type has at least that quality, so two qualities with the same first decimal place count as equal
//! (docs/decisions/0047). In everything else they decide as `mapping` does: members of the list that are not
//! well-formed are left out, and parameters other than `q` are ignored.
//!
//! Invariant: no expression has a quotation mark, or two backslashes after each other, which servers read in different
//! ways; none looks ahead or behind, which some do not support; and each is tried in linear time.

use std::collections::HashMap;

use crate::mapping::{Entry, Timestamp};

use crate::exchange::write::rows::SortedEntries;
use crate::exchange::write::rows::matching;

/// The least qualities that are distinguished, from the highest down: the letter or digit that stands for each, and an
/// expression for the qualities from there on. The last is everything that is not 0.
const LEVELS: [(char, &str); 11] = [
    ('a', "1(?:\\.0{0,3})?"),
    ('9', "(?:1(?:\\.0{0,3})?|0\\.9[0-9]{0,2})"),
    ('8', "(?:1(?:\\.0{0,3})?|0\\.[89][0-9]{0,2})"),
    ('7', "(?:1(?:\\.0{0,3})?|0\\.[7-9][0-9]{0,2})"),
    ('6', "(?:1(?:\\.0{0,3})?|0\\.[6-9][0-9]{0,2})"),
    ('5', "(?:1(?:\\.0{0,3})?|0\\.[5-9][0-9]{0,2})"),
    ('4', "(?:1(?:\\.0{0,3})?|0\\.[4-9][0-9]{0,2})"),
    ('3', "(?:1(?:\\.0{0,3})?|0\\.[3-9][0-9]{0,2})"),
    ('2', "(?:1(?:\\.0{0,3})?|0\\.[2-9][0-9]{0,2})"),
    ('1', "(?:1(?:\\.0{0,3})?|0\\.[1-9][0-9]{0,2})"),
    (
        '0',
        "(?:1(?:\\.0{0,3})?|0\\.(?:[1-9][0-9]{0,2}|0[1-9][0-9]?|00[1-9]))",
    ),
];

/// Matches any quality.
const ANY: &str = "(?:1(?:\\.0{0,3})?|0(?:\\.[0-9]{0,3})?)";

/// Stands for a page that the request does not accept, or does not name.
pub(super) const NO_PAGE: char = '-';

/// The ranges that include a page, the most specific first.
const PAGE: [&str; 3] = ["text/html", "text/*", "*/*"];

/// The lists of types among which entries of a site choose.
pub(super) struct Negotiations<'t> {
    numbers: HashMap<Vec<Vec<&'t str>>, usize>,
    lists: Vec<Vec<Vec<&'t str>>>,
}

impl<'t> Negotiations<'t> {
    /// Returns those of the entries of a site that are not gone at `now`.
    pub(super) fn of(order: &SortedEntries<'t>, now: Timestamp) -> Self {
        let (mut numbers, mut lists) = (HashMap::new(), Vec::new());
        for entry in order.entries() {
            if entry.has_variants() && !entry.is_gone(now) {
                numbers.entry(types(entry)).or_insert_with_key(|types| {
                    lists.push(types.clone());
                    lists.len()
                });
            }
        }
        Self { numbers, lists }
    }

    /// Returns whether no entry has variants.
    pub(super) fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// Returns each list, the types of each variant, with its number, from 1.
    pub(super) fn lists(&self) -> impl Iterator<Item = (usize, &[Vec<&'t str>])> {
        let lists = self.lists.iter().enumerate();
        lists.map(|(number, types)| (number + 1, &**types))
    }

    /// Returns the number of the list of an entry, if it has variants and is not gone.
    pub(super) fn number(&self, entry: Entry<'t>) -> Option<usize> {
        let types = entry.has_variants().then(|| types(entry))?;
        self.numbers.get(&types).copied()
    }
}

fn types(entry: Entry<'_>) -> Vec<Vec<&str>> {
    let variants = entry.variants();
    variants.map(|it| it.types().collect()).collect()
}

/// Returns expressions for `Accept`, each with the letter or digit of the quality that a page has if it is the first
/// that matches; if none does, that is [`NO_PAGE`].
pub(super) fn page_qualities() -> impl Iterator<Item = (String, char)> {
    PAGE.iter().flat_map(|range| {
        let levels = LEVELS.iter().chain(&[(NO_PAGE, ANY)]);
        levels.map(|(level, quality)| (format!("(?i)^{}", member(&[*range], quality)), *level))
    })
}

/// Returns expressions for the quality of a page, a space and `Accept`, each with the number of the variant, from 1,
/// that the request chooses if it is the first that matches. The number is 0 if it chooses none, as if none matches.
pub(super) fn choices(variants: &[Vec<&str>]) -> impl Iterator<Item = (String, usize)> {
    LEVELS.iter().flat_map(move |(level, quality)| {
        let variants = variants.iter().enumerate().map(move |(number, types)| {
            let expression = format!("(?i)^[0-9a-] {}", member(types, quality));
            (expression, number + 1)
        });
        variants.chain([(format!("^{level}"), 0)])
    })
}

/// Returns an expression for the start of a list that has a member with one of these types or ranges and one of these
/// qualities; a member without a quality has the highest one.
fn member(types: &[&str], quality: &str) -> String {
    let types: Vec<_> = types.iter().map(|it| matching(it)).collect();
    let types = types.join("|");
    // RFC 9110 sections 5.6.2, 5.6.4 and 5.6.6, without regard to case: tokens and their initials other than `q`,
    // quoted strings, parameters.
    let token = r"[!#-\x27*+.0-9^-z|~-]";
    let other = r"[!#-\x27*+.0-9^-pr-z|~-]";
    let quoted = r"\x22(?:[^\x22\x5c]|\x5c.)*\x22";
    let value = format!("(?:{token}+|{quoted})");
    let before = format!(r"[^\x22,]*(?:{quoted}[^\x22,]*)*,");
    let others = format!(r"(?:;[ \x09]*(?:(?:{other}|{token}{{2,}})={value}[ \x09]*)?)*");
    let rest = format!(r"(?:;[ \x09]*(?:{token}+={value}[ \x09]*)?)*");
    format!(
        r"(?:{before})*[ \x09]*(?:{types})[ \x09]*{others}(?:;[ \x09]*q={quality}[ \x09]*{rest})?(?:,|$)"
    )
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;
    use regex_automata::nfa::thompson::pikevm::PikeVM;
    use regex_automata::util::syntax;

    use super::*;
    use crate::exchange::write::rows::testing::site_of;
    use crate::mapping::{Outcome, Request, Table};

    const ENTRY: &str = "\
- url: https://e.org/0
  short-code: a
  variants:
  - {accept: text/turtle, url: 'https://e.org/1'}
  - {accept: [application/ld+json, application/json], url: 'https://e.org/2'}
  - {accept: application/xhtml+xml, url: 'https://e.org/3'}
";

    /// The expressions of a server, compiled.
    struct Server {
        page: Vec<(PikeVM, char)>,
        choices: Vec<(PikeVM, usize)>,
    }

    /// A table, and a server for it.
    static SERVED: LazyLock<(Table, Server)> = LazyLock::new(|| {
        let table = site_of(ENTRY);
        let server = Server::of(&table);
        (table, server)
    });

    impl Server {
        fn of(table: &Table) -> Self {
            let order = SortedEntries::of(&table.sites()[0]);
            let negotiations = Negotiations::of(&order, Timestamp::MIN);
            let (_, types) = negotiations.lists().next().unwrap();
            Self {
                page: page_qualities()
                    .map(|(it, level)| (compiled(&it), level))
                    .collect(),
                choices: choices(types)
                    .map(|(it, number)| (compiled(&it), number))
                    .collect(),
            }
        }

        fn choice(&self, accept: &str) -> usize {
            let page = first(&self.page, accept).unwrap_or(NO_PAGE);
            first(&self.choices, &format!("{page} {accept}")).unwrap_or(0)
        }
    }

    fn compiled(expression: &str) -> PikeVM {
        let config = syntax::Config::new().unicode(false).utf8(false);
        PikeVM::builder().syntax(config).build(expression).unwrap()
    }

    fn first<T: Copy>(expressions: &[(PikeVM, T)], text: &str) -> Option<T> {
        let mut matching = expressions.iter();
        let found = matching.find(|(it, _)| it.is_match(&mut it.create_cache(), text));
        found.map(|(_, value)| *value)
    }

    /// Returns the number at the end of the location that Waypost sends.
    fn served(table: &Table, accept: &str) -> usize {
        let request = Request {
            host: None,
            path: "/a",
            query: None,
            accept: Some(&accept),
        };
        match table.resolve(&request, Timestamp::MIN) {
            Outcome::Redirect(it) => it
                .location
                .to_string()
                .rsplit('/')
                .next()
                .unwrap()
                .parse()
                .unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn expressions_choose_as_requests_do() {
        let (table, server) = &*SERVED;
        for accept in [
            "",
            "*/*",
            "text/turtle",
            "TEXT/Turtle ; Q=0.5",
            "text/turtle;q=0",
            "text/turtle;q=0.000, */*;q=0.1",
            "text/turtle;q=0.001",
            "text/turtle;q=0.8, application/json",
            "text/turtle;q=0.8, text/html",
            "text/turtle;q=0.8, text/*",
            "text/turtle;q=0.8, text/html;q=0, */*",
            "text/turtle;q=0.8;q=1, text/html;q=0.9",
            "text/turtle;qq=\"q=1, text/turtle\";q=0.1, text/html;q=0.5",
            "x;y=\"\\\", text/turtle\", application/json;q=0.1",
            "x;y=\"open, text/turtle",
            "text/turtle;q=1.1, application/json;q=0.1",
            "text/turtle;q, application/json;q=0.1",
            ",,text/turtle;;q=0.5;,",
            "text/turtle2, xtext/turtle",
            "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            "application/json;q=0.2, application/ld+json;q=0.3, text/turtle;q=0.2",
        ] {
            assert_eq!(server.choice(accept), served(table, accept), "{accept}");
        }
    }

    #[test]
    fn qualities_with_the_same_tenth_are_equal() {
        let (table, server) = &*SERVED;
        for (accept, number, expected) in [
            ("text/turtle;q=0.81, application/json;q=0.85", 1, 2),
            ("text/turtle;q=0.8, text/html;q=0.85", 1, 0),
            ("text/turtle;q=0.05, application/json;q=0.09", 1, 2),
            ("text/turtle;q=0.79, application/json;q=0.8", 2, 2),
        ] {
            assert_eq!(server.choice(accept), number, "{accept}");
            assert_eq!(served(table, accept), expected, "{accept}");
        }
    }

    proptest! {
        #[test]
        fn tenths_decide_as_all_places_do(
            members in prop::collection::vec(
                (
                    prop::sample::select(&[
                        "text/turtle", "application/LD+json", "application/json", "application/xhtml+xml",
                        "text/html", "text/*", "*/*", "text/plain", "bad member",
                    ][..]),
                    prop::sample::select(&["", ";x=y", " ; qs=1", ";p=\",;\\\"\"", ";", ";bad"][..]),
                    prop::sample::select(&["", ";q=1", ";q=0.000", ";q=.3", ";q=2"][..]),
                    0_u8..16,
                ),
                0..6,
            ),
        ) {
            let (table, server) = &*SERVED;
            let members: Vec<_> = members.iter().map(|(name, parameter, other, tenth)| match tenth {
                0..=9 => format!("{name}{parameter};q=0.{tenth}"),
                _ => format!("{name}{parameter}{other}"),
            }).collect();
            let accept = members.join(", ");
            prop_assert_eq!(server.choice(&accept), served(table, &accept), "{}", accept);
        }
    }
}
