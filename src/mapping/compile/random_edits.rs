//! Random tables and random changes of them, for tests of incremental compilation and comparison.

use proptest::prelude::*;
use proptest::sample::Index;

use crate::mapping::value::{Scheme, SourceFile};

/// A file as it is written: its form, its entries, and whether its lines end as on Windows.
#[derive(Debug, Clone)]
pub(in crate::mapping) struct File {
    pub(super) base_url: usize,
    pub(super) scheme: usize,
    pub(super) defaults: usize,
    pub(super) home: usize,
    pub(super) fallback: usize,
    pub(super) case: usize,
    pub(super) tests: bool,
    pub(super) is_indented: bool,
    pub(super) has_carriage_returns: bool,
    pub(super) is_moved: bool,
    pub(super) entries: Vec<(usize, usize)>,
}

/// A change of the file at an index.
#[derive(Debug, Clone)]
pub(in crate::mapping) enum Edit {
    Insert(Index, (usize, usize)),
    Remove(Index),
    Replace(Index, (usize, usize)),
    Move(Index, Index, usize),
    BaseUrl(usize),
    Scheme(usize),
    Defaults(usize),
    Home(usize),
    Fallback(usize),
    Case(usize),
    Tests,
    Indent,
    CarriageReturns,
    Truncate(Index),
    AddFile(Box<File>),
    RemoveFile,
    RenameFile,
    MoveFile,
}

const BASE_URLS: [&str; 4] = [
    "base_url: https://short.code/\n",
    "base_url: https://other.code/x/\n",
    "base_url: http://short.code/\n",
    "",
];

const SCHEMES: [&str; 3] = ["", "code-scheme: crc64-xz\n", "code-scheme: sha256\n"];

const DEFAULTS: [&str; 3] = [
    "",
    "defaults:\n  status: 301\n  cache-max-age: 7\n",
    "defaults:\n  forward: path\n  new: number\n",
];

const HOMES: [&str; 5] = [
    "",
    "home: https://e.org/home\n",
    "home: https://short.code/c1\n",
    "home: https://other.code/x/\n",
    "home: https://E.org\n",
];

const FALLBACKS: [&str; 4] = [
    "",
    "fallback: https://e.org/old/\n",
    "fallback: https://other.code/x/\n",
    "fallback: https://e.org/old\n",
];

const CASES: [&str; 3] = ["", "case: fold\n", "case: exact\n"];

/// Returns the lines of an entry of some kind: most do not conflict with those of other numbers.
fn entry((kind, number): (usize, usize)) -> String {
    let own = Scheme::Sha256.code(&format!("https://e.org/{number}/"));
    let own = own.as_str();
    match kind {
        0 => format!("- url: https://e.org/{number}/\n  short-code: c{number}\n"),
        1 => {
            let url = [
                "https://b.org/",
                "https://short.code/",
                "https://short.code/c1/",
            ][number / 4 % 3];
            let below = format!("below: {url}");
            let taken = ["forward: path", "forward: all", &below][number % 3];
            format!("- url: https://e.org/{number}/\n  short-code: d{number}\n  {taken}\n")
        }
        2 => format!(
            "- url: https://a.org/{number}/\n  aliases: [a{number}, c{number}/x, c{number}.]\n"
        ),
        3 => format!("- number: {number}\n  url: https://n.org/\n  title: N # {number}\n"),
        4 => format!(
            "- url: https://t.org/{number}\n  title: T{number}\n  tags: [x, y{number}]\n  owner: o\n"
        ),
        5 => format!(
            "- url: https://r.org/{number}\n  retired: 2020-01-0{}\n",
            number % 9 + 1
        ),
        6 => format!(
            "- url: https://short.code/c{}\n  short-code: l{number}\n",
            number + 1
        ),
        7 => format!(
            "- url: https://short.code/l{}\n  short-code: c{number}\n",
            number + 1
        ),
        8 => format!("- url: http://10.0.0.{number}/\n"),
        9 => format!("- url: https://E.org/{number}\n"),
        10 => format!(
            "- url: https://f.org/{number}/\n  short-code: {}\n",
            &own[..7]
        ),
        11 => format!(
            "- url: https://s.org/{number}/\n  aliases: [c{number}.]\n  short-code: {}\n",
            own.replace('-', "+").replace('_', "/")
        ),
        12 => {
            // Where case does not count, it is in conflict with an alias of another kind.
            let alias = if number % 8 == 0 { 'A' } else { 'b' };
            format!(
                "# - url: {number}\n\n- url: https://e.org/{number}/{number}\n  aliases:\n  - \"{alias}{number}\"\n"
            )
        }
        13 => format!("- short-code: g{number}\n  retired: true\n  expires: 2030-01-01\n"),
        14 => {
            format!("- url: https://x.org/{number}\n  status: 307\n  cache-max-age: {number}\n")
        }
        15 => format!("- ur1: https://e.org/{number}\n"),
        16 => format!("- url: >-\n    https://y.org/{number}\n"),
        17 => {
            let (ttl, next) = (number % 2, number + 1);
            let (own, of_variant) = [
                ("", String::new()),
                ("  below: https://v.org/\n", String::new()),
                (
                    "  below: https://v.org/\n",
                    format!("    below: https://short.code/v{next}/\n"),
                ),
                (
                    "  forward: all\n",
                    "    below: https://v.org/n3/\n".to_owned(),
                ),
                ("  below: https://v.org/\n  forward: all\n", String::new()),
            ][number / 4 % 5]
                .clone();
            format!(
                "- url: https://v.org/{number}/\n  short-code: v{number}\n{own}  variants:\n  \
                 - accept: text/turtle\n    url: https://v.org/{ttl}.ttl\n  \
                 - accept: [text/n3, a/b+c]\n    url: https://short.code/v{next}\n{of_variant}"
            )
        }
        _ => format!("- url: https://e.org/{number}/\n"),
    }
}

fn text(file: &File) -> String {
    let mut entries: String = file.entries.iter().map(|it| entry(*it)).collect();
    if file.is_indented {
        let lines = entries.lines().map(|line| format!("  {line}\n"));
        entries = lines.collect();
    }
    let mapping = match file.entries.is_empty() {
        true => "mapping: []\n",
        false => "mapping:\n",
    };
    let tests = match file.tests {
        true => "# tests\ntests:\n- from: /c1\n  to: gone\n",
        false => "",
    };
    let text = [
        BASE_URLS[file.base_url],
        SCHEMES[file.scheme],
        DEFAULTS[file.defaults],
        HOMES[file.home],
        FALLBACKS[file.fallback],
        CASES[file.case],
        mapping,
        &entries,
        tests,
    ];
    let text = text.concat();
    match file.has_carriage_returns {
        true => text.replace('\n', "\r\n"),
        false => text,
    }
}

pub(in crate::mapping) fn apply(edit: Edit, at: Index, files: &mut Vec<(usize, File)>) {
    let at = at.index(files.len());
    let count = files.len();
    let file = &mut files[at].1;
    let entries = &mut file.entries;
    let place = |index: Index, entries: &[_]| index.index(entries.len().max(1)).min(entries.len());
    match edit {
        Edit::Insert(index, entry) => entries.insert(place(index, entries), entry),
        Edit::Remove(index) if !entries.is_empty() => {
            entries.remove(index.index(entries.len()));
        }
        Edit::Replace(index, entry) if !entries.is_empty() => {
            let at = index.index(entries.len());
            entries[at] = entry;
        }
        Edit::Move(from, to, count) if !entries.is_empty() => {
            let from = from.index(entries.len());
            let end = (from + count).min(entries.len());
            let moved: Vec<_> = entries.drain(from..end).collect();
            let to = place(to, entries);
            entries.splice(to..to, moved);
        }
        Edit::Truncate(index) => entries.truncate(place(index, entries)),
        Edit::BaseUrl(number) => file.base_url = number,
        Edit::Scheme(number) => file.scheme = number,
        Edit::Defaults(number) => file.defaults = number,
        Edit::Home(number) => file.home = number,
        Edit::Fallback(number) => file.fallback = number,
        Edit::Case(number) => file.case = number,
        Edit::Tests => file.tests ^= true,
        Edit::Indent => file.is_indented ^= true,
        Edit::CarriageReturns => file.has_carriage_returns ^= true,
        Edit::AddFile(file) => files.insert(at, (count + 10, *file)),
        Edit::RemoveFile if count > 1 => {
            files.remove(at);
        }
        Edit::RenameFile => files[at].0 += 100,
        Edit::MoveFile => file.is_moved ^= true,
        _ => {}
    }
}

pub(in crate::mapping) fn source(files: &[(usize, File)]) -> Vec<SourceFile> {
    let source = |(name, file): &(usize, File)| SourceFile {
        path: match file.is_moved {
            true => format!("links/{}.yaml", name % 100).into(),
            false => format!("{name}.yaml").into(),
        },
        bytes: text(file).into_bytes(),
    };
    files.iter().map(source).collect()
}

fn an_entry() -> impl Strategy<Value = (usize, usize)> {
    // Some kinds are errors, or make a file be read as a whole: they are rare.
    let kind = prop_oneof![
        200 => 0..8_usize,
        20 => 8..15_usize,
        60 => 18..19_usize,
        20 => 17..18_usize,
        1 => 15..17_usize,
    ];
    (kind, prop_oneof![0..200_usize, 0..25_usize])
}

pub(in crate::mapping) fn a_file(entries: usize) -> impl Strategy<Value = File> {
    let mostly = |rarely: std::ops::Range<usize>| prop_oneof![9 => Just(0), 1 => rarely];
    let entries = prop::collection::vec(an_entry(), 0..entries);
    (
        mostly(0..4),
        mostly(0..3),
        mostly(0..3),
        mostly(0..5),
        mostly(0..4),
        prop_oneof![4 => Just(0), 1 => Just(1), 1 => Just(2)],
        any::<bool>(),
        any::<bool>(),
        entries,
    )
        .prop_map(
            |(
                base_url,
                scheme,
                defaults,
                home,
                fallback,
                case,
                tests,
                is_indented,
                mut entries,
            )| {
                // An entry is there once, and its number has one kind that claims a code.
                let mut seen = std::collections::HashSet::new();
                entries.retain(|(kind, number)| seen.insert((*kind > 7, *number)));
                File {
                    base_url,
                    scheme,
                    defaults,
                    home,
                    fallback,
                    case,
                    tests,
                    is_indented,
                    has_carriage_returns: false,
                    is_moved: false,
                    entries,
                }
            },
        )
}

pub(in crate::mapping) fn an_edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        8 => (any::<Index>(), an_entry()).prop_map(|(at, entry)| Edit::Insert(at, entry)),
        8 => any::<Index>().prop_map(Edit::Remove),
        8 => (any::<Index>(), an_entry()).prop_map(|(at, entry)| Edit::Replace(at, entry)),
        4 => (any::<Index>(), any::<Index>(), 1..20_usize)
            .prop_map(|(from, to, count)| Edit::Move(from, to, count)),
        1 => (0..4_usize).prop_map(Edit::BaseUrl),
        1 => (0..3_usize).prop_map(Edit::Scheme),
        1 => (0..3_usize).prop_map(Edit::Defaults),
        1 => (0..5_usize).prop_map(Edit::Home),
        1 => (0..4_usize).prop_map(Edit::Fallback),
        1 => (0..3_usize).prop_map(Edit::Case),
        1 => Just(Edit::Tests),
        1 => Just(Edit::Indent),
        1 => Just(Edit::CarriageReturns),
        1 => any::<Index>().prop_map(Edit::Truncate),
        1 => a_file(20).prop_map(|file| Edit::AddFile(Box::new(file))),
        1 => Just(Edit::RemoveFile),
        1 => Just(Edit::RenameFile),
        1 => Just(Edit::MoveFile),
    ]
}
