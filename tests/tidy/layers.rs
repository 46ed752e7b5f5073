//! The layers, and that they import only what they may.

use std::collections::BTreeSet;

use super::imports::Imports;
use super::none;

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
    ("frontier", &[]),
    ("linkcheck", &["frontier", "mapping"]),
    ("registry", &["source", "edit", "exchange"]),
    ("server", &["registry", "history", "linkcheck"]),
    ("cli", &["server"]),
];

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

#[test]
fn layers_import_only_what_they_may() {
    none(&upward(&Imports::of_the_crate()));
}

#[test]
fn mapping_is_pure() {
    none(&impure(&Imports::of_the_crate()));
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
    assert_eq!(
        impure(&imports),
        [
            "mapping::code names std::fs::read, but `mapping` is pure",
            "mapping::table::inner names SystemTime::now, but `mapping` is pure",
        ]
    );
}
