//! Which module of the crate imports from which, with re-exports resolved to where a thing is
//! defined.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{Attribute, ItemMod, ItemUse, UseTree, VisRestricted, Visibility};

/// The names of a path, from the crate's root.
pub(crate) type Names = Vec<String>;

/// The modules of a crate and what they import.
#[derive(Debug, Default)]
pub(crate) struct Imports {
    /// The modules that are files.
    modules: BTreeSet<Names>,
    /// Those that are the `mod.rs` of a folder.
    folders: BTreeSet<Names>,
    /// What modules re-export, and where they have it from.
    exported: BTreeMap<Names, Names>,
    /// Each module with a path that it names, and whether tests name it.
    named: BTreeSet<(Names, Names, bool)>,
}

/// A module imports something of another one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Import<'a> {
    pub(crate) from: &'a [String],
    pub(crate) to: &'a [String],
    pub(crate) is_for_tests: bool,
}

impl Imports {
    /// Reads files: paths relative to `src`, and their text.
    pub(crate) fn read<'f>(files: impl IntoIterator<Item = (&'f str, &'f str)> + Clone) -> Self {
        let mut imports = Self::default();
        for (file, _) in files.clone() {
            imports.modules.insert(module(file));
            if file.ends_with("/mod.rs") {
                imports.folders.insert(module(file));
            }
        }
        for (file, text) in files {
            let syntax = syn::parse_file(text).unwrap_or_else(|error| panic!("{file}: {error}"));
            let mut reader = Reader {
                imports: &mut imports,
                module: module(file),
                here: module(file),
                is_in_tests: false,
            };
            reader.visit_file(&syntax);
        }
        imports
    }

    /// Returns every import of another module.
    pub(crate) fn all(&self) -> impl Iterator<Item = Import<'_>> {
        let imports = self.named.iter().map(|(from, path, is_for_tests)| Import {
            from,
            to: self.defining(path),
            is_for_tests: *is_for_tests,
        });
        imports.filter(|import| import.from != import.to)
    }

    /// Returns the folder of a module: itself or the nearest above that is the `mod.rs` of one.
    pub(crate) fn folder<'a>(&self, module: &'a [String]) -> &'a [String] {
        let mut folders = prefixes(module);
        folders
            .find(|folder| self.folders.contains(*folder))
            .unwrap_or_default()
    }

    /// Returns the module that defines what a path names.
    fn defining<'a>(&'a self, mut path: &'a [String]) -> &'a [String] {
        // No chain of re-exports is longer than all of them.
        for _ in 0..self.exported.len() {
            match prefixes(path).find_map(|start| self.origin(start, path)) {
                Some(origin) => path = origin,
                None => break,
            }
        }
        let mut modules = prefixes(path);
        modules
            .find(|start| self.modules.contains(*start))
            .unwrap_or_default()
    }

    /// Returns where the start of a path is re-exported from, if it is.
    ///
    /// A function may have the name of a module; a longer path leads into the module.
    fn origin(&self, start: &[String], path: &[String]) -> Option<&Names> {
        let is_module = start.len() < path.len() && self.modules.contains(start);
        self.exported.get(start).filter(|_| !is_module)
    }
}

/// Reads what one file names.
struct Reader<'a> {
    imports: &'a mut Imports,
    module: Names,
    /// The module that is being read: the file's own, or one written inside it.
    here: Names,
    is_in_tests: bool,
}

impl Reader<'_> {
    /// Returns a path from the crate's root, if it leads into this crate.
    fn in_crate(&self, path: &[String]) -> Option<Names> {
        let is_name = |name: &&String| ["crate", "self", "super"].contains(&name.as_str());
        let (starts, rest) = path.split_at(path.iter().take_while(is_name).count());
        let ups = starts.iter().filter(|name| *name == "super").count();
        let base = match starts.first().map(String::as_str) {
            Some("crate") => &[],
            Some(_) => &self.here[..self.here.len() - ups],
            None => &self.here[..],
        };
        let path = [base, rest].concat();
        let is_child = || self.imports.modules.contains(&path[..=base.len()]);
        (!starts.is_empty() || is_child()).then_some(path)
    }

    fn name(&mut self, path: Names) {
        // Not what is written in this file under a name of its own.
        if self.here == self.module || !path.starts_with(&self.here) {
            let named = (self.module.clone(), path, self.is_in_tests);
            self.imports.named.insert(named);
        }
    }
}

impl Visit<'_> for Reader<'_> {
    fn visit_item_mod(&mut self, item: &ItemMod) {
        let is_around = self.is_in_tests;
        self.is_in_tests |= item.attrs.iter().any(is_for_tests);
        self.here.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.here.pop();
        self.is_in_tests = is_around;
    }

    fn visit_item_use(&mut self, item: &ItemUse) {
        for (path, name) in leaves(&item.tree) {
            let Some(path) = self.in_crate(&path) else {
                continue;
            };
            match item.vis {
                Visibility::Inherited => self.name(path),
                _ => {
                    let exported = [&self.here[..], &[name]].concat();
                    self.imports.exported.insert(exported, path);
                }
            }
        }
    }

    /// Imports nothing: `pub(in crate::…)` only says who may.
    fn visit_vis_restricted(&mut self, _: &VisRestricted) {}

    fn visit_path(&mut self, path: &syn::Path) {
        let names = path.segments.iter().map(|part| part.ident.to_string());
        let names: Names = names.collect();
        if let Some(path) = self.in_crate(&names).filter(|_| names.len() > 1) {
            self.name(path);
        }
        visit::visit_path(self, path);
    }
}

/// Returns whether an attribute compiles its item only for tests.
fn is_for_tests(attribute: &Attribute) -> bool {
    let condition = attribute.parse_args::<syn::Path>();
    attribute.path().is_ident("cfg") && condition.is_ok_and(|it| it.is_ident("test"))
}

/// Returns the path of a file's module: `a/b.rs` is `a::b`, `a/mod.rs` is `a`.
fn module(file: &str) -> Names {
    let stem = file.strip_suffix(".rs").unwrap_or(file);
    let mut names: Names = stem.split('/').map(str::to_owned).collect();
    names.pop_if(|last| matches!(last.as_str(), "mod" | "lib" | "main"));
    names
}

/// Returns the paths that a `use` names, each with the name that it gets.
fn leaves(tree: &UseTree) -> Vec<(Names, String)> {
    let one = |name: String, given: String| vec![(vec![name], given)];
    match tree {
        UseTree::Path(path) => {
            let outer = path.ident.to_string();
            let joined = leaves(&path.tree).into_iter().map(|(path, name)| {
                if path != ["self"] {
                    return ([vec![outer.clone()], path].concat(), name);
                }
                let name = if name == "self" { outer.clone() } else { name };
                (vec![outer.clone()], name)
            });
            joined.collect()
        }
        UseTree::Name(name) => one(name.ident.to_string(), name.ident.to_string()),
        UseTree::Rename(rename) => one(rename.ident.to_string(), rename.rename.to_string()),
        UseTree::Glob(_) => one("*".to_owned(), "*".to_owned()),
        UseTree::Group(group) => group.items.iter().flat_map(leaves).collect(),
    }
}

/// Returns the starts of a path, the longest first.
fn prefixes(path: &[String]) -> impl Iterator<Item = &[String]> {
    (1..=path.len()).rev().map(|end| &path[..end])
}
