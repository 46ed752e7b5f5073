//! The layers, and that no folders import each other in a circle.

use std::collections::{BTreeMap, BTreeSet};

use super::imports::Imports;
use super::{files_under, read};

/// The layers, with their arrows: a layer may import each that it reaches. `docs/architecture.md`
/// draws them.
const LAYERS: &[(&str, &[&str])] = &[
    ("mapping", &[]),
    ("git", &[]),
    ("source", &["git", "mapping"]),
    ("history", &["git", "mapping"]),
    ("edit", &["mapping"]),
    ("exchange", &["mapping"]),
    ("frontier", &[]),
    ("linkcheck", &["frontier", "mapping"]),
    ("registry", &["source", "edit", "exchange"]),
    ("server", &["registry", "history", "linkcheck"]),
    ("cli", &["server"]),
];

/// The layers in which no two files import each other, directly or by others.
const DOWNWARD: &[&str] = &["cli", "server"];

/// Files there to which this does not apply: a look back at one table, and at all, need each other.
const ENTANGLED: &[&str] = &["cli::check::history", "cli::check::promised"];

/// What the layer `mapping` may not name: no I/O, clock or environment, no HTTP, Git or command line.
const IMPURE: &[&str] = &[
    "std::env",
    "std::fs",
    "std::net",
    "std::process",
    "clap",
    "git2",
    "hyper",
    "hyper_util",
    "notify",
    "prometheus",
    "tokio",
    "tracing",
    "Instant::now",
    "SystemTime::now",
];

/// Returns the imports of the crate's own source.
fn source() -> Imports {
    let files = files_under("src");
    let files: Vec<_> = files.iter().filter(|file| file.ends_with(".rs")).collect();
    let texts: Vec<_> = files.iter().map(|file| read(file)).collect();
    let named = files.iter().zip(&texts);
    let files: Vec<_> = named
        .map(|(file, text)| (&file["src/".len()..], &text[..]))
        .collect();
    Imports::read(&files)
}

/// Returns the layers that one reaches by arrows, if it is one.
fn reached(layer: &str) -> Option<BTreeSet<&'static str>> {
    let (_, arrows) = LAYERS.iter().find(|(name, _)| *name == layer)?;
    let beyond = arrows.iter().filter_map(|next| reached(next)).flatten();
    Some(arrows.iter().copied().chain(beyond).collect())
}

/// Returns imports that lead to a layer that the importing one may not use.
fn upward(imports: &Imports) -> Vec<String> {
    let mut found = Vec::new();
    for (module, others) in imports.modules() {
        let Some(layer) = module.first() else {
            continue;
        };
        let Some(allowed) = reached(layer) else {
            found.push(format!(
                "`{layer}` is no layer: add it to the design and to LAYERS"
            ));
            continue;
        };
        for other in others {
            let target = other.first().map_or("the crate's root", String::as_str);
            if target != layer && !allowed.contains(target) {
                let (module, other) = (module.join("::"), other.join("::"));
                found.push(format!(
                    "{module} imports {other}, which its layer may not use"
                ));
            }
        }
    }
    found
}

/// Returns the circles of folders, each as the modules that tie it.
fn circles(imports: &Imports) -> Vec<String> {
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

/// Returns the imports by which files of some layers are in a circle.
fn file_circles(imports: &Imports, layers: &[&str]) -> Vec<String> {
    let modules = imports.modules();
    let mut found = Vec::new();
    for (module, others) in &modules {
        let name = module.join("::");
        let layer = module.first().map_or("", String::as_str);
        let is_held = layers.contains(&layer) && !ENTANGLED.contains(&&*name);
        let others = others.iter().filter(|_| is_held);
        let others = others.filter(|other| reaches(&modules, other, module));
        found.extend(others.map(|other| format!("{name} -> {}", other.join("::"))));
    }
    found
}

/// Returns whether a part imports another, directly or by others.
fn reaches<'a>(
    imports: &BTreeMap<&'a [String], BTreeSet<&'a [String]>>,
    start: &'a [String],
    end: &'a [String],
) -> bool {
    let mut seen = BTreeSet::from([start]);
    let mut open = vec![start];
    while let Some(part) = open.pop() {
        for next in imports.get(part).into_iter().flatten() {
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    seen.contains(end)
}

/// Returns what the layer `mapping` names though it is to be pure.
fn impure(imports: &Imports) -> Vec<String> {
    let of_mapping = imports
        .foreign()
        .iter()
        .filter(|(module, _)| module.first().is_some_and(|layer| layer == "mapping"));
    let paths = of_mapping.flat_map(|(module, paths)| {
        paths
            .iter()
            .map(move |path| (module.join("::"), path.join("::")))
    });
    let is_impure = |path: &str| {
        let at_start = |name: &&&str| path == **name || path.starts_with(&format!("{name}::"));
        IMPURE
            .iter()
            .any(|name| at_start(&name) || path.ends_with(&format!("::{name}")))
    };
    let found = paths.filter(|(_, path)| is_impure(path));
    found
        .map(|(module, path)| format!("{module} names {path}, but `mapping` is pure"))
        .collect()
}

#[track_caller]
fn none(found: &[String]) {
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn layers_import_only_what_they_may() {
    none(&upward(&source()));
}

#[test]
fn no_folders_import_each_other() {
    none(&circles(&source()));
}

#[test]
fn files_import_downward() {
    none(&file_circles(&source(), DOWNWARD));
}

#[test]
fn mapping_is_pure() {
    none(&impure(&source()));
}

#[test]
fn what_is_forbidden_is_found() {
    let imports = Imports::read(&[
        (
            "mapping/mod.rs",
            "mod code; pub use code::Code; pub use table::Table; mod table;",
        ),
        (
            "mapping/code.rs",
            "use crate::server::x::Y; fn f() { std::fs::read(\"x\"); }",
        ),
        ("mapping/table/mod.rs", "mod inner;"),
        (
            "mapping/table/inner.rs",
            "use super::super::Code; use std::time::SystemTime; fn f() { SystemTime::now(); }",
        ),
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
    assert_eq!(
        upward(&imports),
        ["mapping::code imports server::x, which its layer may not use"]
    );
    let tied = circles(&imports);
    assert!(tied.contains(&"server::x -> server::y".to_owned()));
    assert!(tied.contains(&"server::y -> server::x".to_owned()));
    let files = file_circles(&imports, &["server"]);
    assert!(files.contains(&"server::x -> server::y".to_owned()));
    // A way up and down between layers is a circle, too.
    assert!(tied.contains(&"server::y -> mapping::code".to_owned()));
    assert_eq!(
        impure(&imports),
        [
            "mapping::code names std::fs::read, but `mapping` is pure",
            "mapping::table::inner names SystemTime::now, but `mapping` is pure",
        ]
    );
}
