//! Neither folders nor the files of one folder import each other in a circle.

use std::collections::{BTreeMap, BTreeSet};

use super::imports::Imports;
use super::none;

/// Returns the circles of folders, each as the imports that tie it.
fn of_folders(imports: &Imports) -> Vec<String> {
    let mut folders = BTreeMap::<_, BTreeSet<_>>::new();
    let mut ties = Vec::new();
    for (module, others) in imports.modules() {
        let from = imports.folder(module);
        for other in others {
            let to = imports.folder(other);
            if from != to {
                folders.entry(from).or_default().insert(to);
                ties.push((
                    from,
                    to,
                    format!("{} -> {}", module.join("::"), other.join("::")),
                ));
            }
        }
    }
    let in_circle = ties
        .iter()
        .filter(|(from, to, _)| reaches(&folders, to, from));
    in_circle.map(|(_, _, tie)| tie.clone()).collect()
}

/// Returns the circles of files in one folder, each as the imports that tie it.
///
/// The `mod.rs` of a folder is one of its files. Re-exports and what only tests import tie nothing.
fn of_files(imports: &Imports) -> Vec<String> {
    let mut files = imports.modules_outside_tests();
    for (module, others) in &mut files {
        others.retain(|other| imports.folder(other) == imports.folder(module));
    }
    let ties = files
        .iter()
        .flat_map(|(from, others)| others.iter().map(move |to| (*from, *to)));
    let in_circle = ties.filter(|(from, to)| reaches(&files, to, from));
    let described = in_circle.map(|(from, to)| format!("{} -> {}", from.join("::"), to.join("::")));
    described.collect()
}

/// Returns whether one node of a graph leads to another.
fn reaches<'a>(
    graph: &BTreeMap<&'a [String], BTreeSet<&'a [String]>>,
    start: &'a [String],
    end: &[String],
) -> bool {
    let mut seen = BTreeSet::from([start]);
    let mut open = vec![start];
    while let Some(node) = open.pop() {
        for next in graph.get(node).into_iter().flatten() {
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    seen.contains(end)
}

#[test]
fn no_folders_import_each_other() {
    none(&of_folders(&Imports::of_the_crate()));
}

#[test]
fn no_files_of_a_folder_import_each_other() {
    none(&of_files(&Imports::of_the_crate()));
}

#[test]
fn circles_of_folders_are_found() {
    let imports = Imports::read(&[
        ("mapping/mod.rs", "mod code; pub use code::Code;"),
        ("mapping/code.rs", "use crate::server::x::Y;"),
        ("server/mod.rs", "mod x; mod y;"),
        (
            "server/x/mod.rs",
            "pub(super) struct Y; #[cfg(test)] mod tests { use super::super::y; use super::*; }",
        ),
        (
            "server/y/mod.rs",
            "use super::x::{self, Y}; use crate::mapping::Code;",
        ),
    ]);
    let tied = of_folders(&imports);
    for tie in [
        "server::x -> server::y",
        "server::y -> server::x",
        // A way up and down between layers is a circle, too.
        "server::y -> mapping::code",
    ] {
        assert!(tied.contains(&tie.to_owned()), "{tie}: {tied:?}");
    }
}

#[test]
fn circles_of_files_are_found() {
    let imports = Imports::read(&[
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
        ("text/mod.rs", "mod text; mod lines; pub use text::Text;"),
        (
            "text/text.rs",
            "#[cfg(test)] mod tests { use super::super::lines::Lines; }",
        ),
        ("text/lines.rs", "use super::Text;"),
    ]);
    assert_eq!(
        of_files(&imports),
        [
            "edit -> edit::part",
            "edit::merge -> edit::sides",
            "edit::part -> edit",
            "edit::sides -> edit::merge",
        ]
    );
}
