//! Layers import only what they may, and neither folders nor the files of one folder import each
//! other in a circle.

use std::collections::{BTreeMap, BTreeSet};

use super::imports::{Import, Imports};
use super::{none, sources};

/// The layers, with their arrows: a layer may import each that it reaches. `docs/architecture.md`
/// draws them.
const LAYERS: &[(&str, &[&str])] = &[
    ("mapping", &[]),
    ("git", &[]),
    ("source", &["git", "mapping"]),
    ("history", &["git", "mapping"]),
    ("edit", &["mapping"]),
    ("html", &["mapping"]),
    ("exchange", &["html", "mapping"]),
    ("valkey", &[]),
    ("frontier", &["valkey"]),
    ("linkcheck", &["frontier", "mapping"]),
    ("registry", &["source", "edit", "exchange"]),
    ("server", &["registry", "history", "linkcheck"]),
    ("cli", &["server"]),
];

/// Returns a layer and those that it reaches by arrows; nothing if there is no such layer.
fn reached(layer: &str) -> BTreeSet<&'static str> {
    let found = LAYERS.iter().find(|(name, _)| *name == layer);
    let beyond = |(name, arrows): &(&'static str, &[&str])| {
        let beyond = arrows.iter().flat_map(|next| reached(next));
        beyond.chain([*name]).collect::<Vec<_>>()
    };
    found.into_iter().flat_map(beyond).collect()
}

/// Returns imports that lead to a layer that the importing one may not use.
fn upward(imports: &Imports) -> Vec<String> {
    let layer = |module: &[String]| module.first().map_or("", String::as_str).to_owned();
    let of_layers = imports.all().filter(|import| !import.from.is_empty());
    let upward = of_layers.filter(|import| {
        let allowed = reached(&layer(import.from));
        !allowed.contains(layer(import.to).as_str())
    });
    upward.map(described).collect()
}

/// Returns the imports that tie folders to circles.
fn circles_of_folders(imports: &Imports) -> Vec<String> {
    circles(imports.all(), |module| imports.folder(module))
}

/// Returns the imports that tie the files of one folder to circles.
///
/// The `mod.rs` of a folder is one of its files. Re-exports and what only tests import tie nothing.
fn circles_of_files(imports: &Imports) -> Vec<String> {
    let beside = |import: &Import<'_>| {
        !import.is_for_tests && imports.folder(import.from) == imports.folder(import.to)
    };
    circles(imports.all().filter(beside), |module| module)
}

/// Returns the imports between different parts that are in a circle of parts.
fn circles<'a>(
    imports: impl Iterator<Item = Import<'a>>,
    part: impl Fn(&'a [String]) -> &'a [String],
) -> Vec<String> {
    let ties: Vec<_> = imports
        .map(|import| (part(import.from), part(import.to), import))
        .filter(|(from, to, _)| from != to)
        .collect();
    let mut graph = BTreeMap::<_, BTreeSet<_>>::new();
    for (from, to, _) in &ties {
        graph.entry(*from).or_default().insert(*to);
    }
    let reaches = |start: &'a [String], end: &[String]| {
        let mut seen = BTreeSet::from([start]);
        let mut open = vec![start];
        while let Some(node) = open.pop() {
            let next = graph.get(node).into_iter().flatten().copied();
            open.extend(next.filter(|next| seen.insert(*next)));
        }
        seen.contains(end)
    };
    let in_circle = ties.iter().filter(|(from, to, _)| reaches(to, from));
    let described: BTreeSet<_> = in_circle.map(|(_, _, import)| described(*import)).collect();
    described.into_iter().collect()
}

fn described(import: Import<'_>) -> String {
    format!("{} -> {}", import.from.join("::"), import.to.join("::"))
}

#[test]
fn imports_lead_downward() {
    let files = sources();
    let files = files
        .iter()
        .map(|(file, text)| (&file["src/".len()..], &text[..]));
    let imports = Imports::read(files);
    none(&upward(&imports));
    none(&circles_of_folders(&imports));
    none(&circles_of_files(&imports));
}

#[test]
fn upward_imports_and_circles_of_folders_are_found() {
    let imports = Imports::read([
        ("mapping/mod.rs", "mod code; pub use code::Code;"),
        ("mapping/code.rs", "fn f() { crate::server::x::y() }"),
        ("server/mod.rs", "mod x; mod y;"),
        (
            "server/x/mod.rs",
            "pub(super) struct Y; #[cfg(test)] mod tests { use super::super::y; use super::*; }",
        ),
        (
            "server/y/mod.rs",
            "use super::x::{self, Y}; use crate::mapping::Code;",
        ),
        ("unknown.rs", "use super::mapping::Code;"),
    ]);
    let found = ["mapping::code -> server::x", "unknown -> mapping::code"];
    assert_eq!(upward(&imports), found);
    let found = [
        // A way up and down between layers is a circle, too.
        "mapping::code -> server::x",
        "server::x -> server::y",
        "server::y -> mapping::code",
        "server::y -> server::x",
    ];
    assert_eq!(circles_of_folders(&imports), found);
}

#[test]
fn circles_of_files_are_found() {
    let imports = Imports::read([
        (
            "edit/mod.rs",
            "mod merge; mod part; mod sides; pub use merge::merge; pub use sides::Sides; \
             use part::Part; pub struct Merged;",
        ),
        // A function has the name of its module.
        ("edit/merge.rs", "use super::Sides; pub fn merge() {}"),
        (
            "edit/sides.rs",
            "use super::merge::merge; pub struct Sides;",
        ),
        ("edit/part.rs", "use super::Merged; pub struct Part;"),
        (
            "edit/order.rs",
            "use super::sides::Sides; use crate::text::Text;",
        ),
        (
            "text/mod.rs",
            "mod text; mod lines; use lines::Lines; pub use text::Text;",
        ),
        (
            "text/text.rs",
            "#[cfg(test)] mod tests { use super::super::lines::Lines; }",
        ),
        (
            "text/lines.rs",
            "use super::Text; pub(in crate::text) struct Lines;",
        ),
    ]);
    let found = [
        "edit -> edit::part",
        "edit::merge -> edit::sides",
        "edit::part -> edit",
        "edit::sides -> edit::merge",
    ];
    assert_eq!(circles_of_files(&imports), found);
}
