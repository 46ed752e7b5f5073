//! Which module of the crate imports from which, with re-exports resolved to where a thing is
//! defined.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{Attribute, ItemMod, ItemUse, UseTree, Visibility};

use super::{files_under, read};

/// The names of a path: of a module from the crate's root, or of a thing of another crate.
pub(crate) type Names = Vec<String>;

/// The modules of a crate and what they import.
#[derive(Debug, Default)]
pub(crate) struct Imports {
    /// Each module with the paths of this crate that it names.
    named: BTreeMap<Names, BTreeSet<Names>>,
    /// The same without what only its tests name.
    named_outside_tests: BTreeMap<Names, BTreeSet<Names>>,
    /// Each module with the paths of other crates that it names.
    foreign: BTreeMap<Names, BTreeSet<Names>>,
    /// What modules re-export, and where they have it from.
    exported: BTreeMap<Names, Names>,
    /// The modules that are the `mod.rs` of a folder.
    folders: BTreeSet<Names>,
}

impl Imports {
    /// Reads the crate's own source.
    pub(crate) fn of_the_crate() -> Self {
        let files = files_under("src");
        let files: Vec<_> = files.iter().filter(|file| file.ends_with(".rs")).collect();
        let texts: Vec<_> = files.iter().map(|file| read(file)).collect();
        let named = files.iter().zip(&texts);
        let files: Vec<_> = named
            .map(|(file, text)| (&file["src/".len()..], &text[..]))
            .collect();
        Self::read(&files)
    }

    /// Reads files: paths relative to `src`, and their text.
    pub(crate) fn read(files: &[(&str, &str)]) -> Self {
        let mut imports = Self::default();
        for (file, _) in files {
            let module = module(file);
            if file.ends_with("/mod.rs") {
                imports.folders.insert(module.clone());
            }
            imports.named.insert(module, BTreeSet::new());
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

    /// Returns each module with the modules that it imports from, others than itself.
    pub(crate) fn modules(&self) -> BTreeMap<&[String], BTreeSet<&[String]>> {
        self.defining_each(&self.named)
    }

    /// Returns the same as [`modules`](Self::modules), without what only tests import.
    pub(crate) fn modules_outside_tests(&self) -> BTreeMap<&[String], BTreeSet<&[String]>> {
        self.defining_each(&self.named_outside_tests)
    }

    fn defining_each<'a>(
        &'a self,
        named: &'a BTreeMap<Names, BTreeSet<Names>>,
    ) -> BTreeMap<&'a [String], BTreeSet<&'a [String]>> {
        let mut modules = BTreeMap::new();
        for (module, paths) in named {
            let defining = paths.iter().map(|path| self.defining(path));
            let others = defining.filter(|other| *other != module.as_slice());
            modules.insert(module.as_slice(), others.collect());
        }
        modules
    }

    /// Returns the folder of a module: itself or the nearest above that is the `mod.rs` of one.
    pub(crate) fn folder<'a>(&self, module: &'a [String]) -> &'a [String] {
        let ends = (1..=module.len()).rev();
        let mut folders = ends.map(|end| &module[..end]);
        folders
            .find(|folder| self.folders.contains(*folder))
            .unwrap_or_default()
    }

    /// Returns each module with the paths of other crates that it names.
    pub(crate) fn foreign(&self) -> &BTreeMap<Names, BTreeSet<Names>> {
        &self.foreign
    }

    /// Returns the module that defines what a path names.
    fn defining<'a>(&'a self, path: &'a [String]) -> &'a [String] {
        let mut path = path;
        // No chain of re-exports is longer than all of them.
        for _ in 0..self.exported.len() {
            match prefixes(path).find_map(|start| self.origin(start, path)) {
                Some(origin) => path = origin,
                None => break,
            }
        }
        let modules = prefixes(path).find(|start| self.named.contains_key(*start));
        modules.unwrap_or_default()
    }

    /// Returns where the start of a path is re-exported from, if it is.
    ///
    /// A function may have the name of a module; a longer path leads into the module.
    fn origin(&self, start: &[String], path: &[String]) -> Option<&Names> {
        let is_module = start.len() < path.len() && self.named.contains_key(start);
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
        let child = [&self.here[..], &path[..1]].concat();
        if self.imports.named.contains_key(&child) {
            return Some([&self.here[..], path].concat());
        }
        match path[0].as_str() {
            "crate" => Some(path[1..].to_vec()),
            "self" => Some([&self.here[..], &path[1..]].concat()),
            "super" => {
                let ups = path.iter().take_while(|name| *name == "super").count();
                let base = self
                    .here
                    .len()
                    .checked_sub(ups)
                    .expect("super of the crate's root");
                Some([&self.here[..base], &path[ups..]].concat())
            }
            _ => None,
        }
    }

    fn name(&mut self, path: &[String]) {
        let of_module = |of: &mut BTreeMap<Names, BTreeSet<Names>>, path| {
            of.entry(self.module.clone()).or_default().insert(path);
        };
        match self.in_crate(path) {
            // What is written in this file under a name of its own.
            Some(path) if path.starts_with(&self.here) && self.here != self.module => {}
            Some(path) => {
                if !self.is_in_tests {
                    of_module(&mut self.imports.named_outside_tests, path.clone());
                }
                of_module(&mut self.imports.named, path);
            }
            None => of_module(&mut self.imports.foreign, path.to_vec()),
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
            match self.in_crate(&path) {
                Some(origin) if !matches!(item.vis, Visibility::Inherited) => {
                    let exported = [&self.here[..], &[name]].concat();
                    self.imports.exported.insert(exported, origin);
                }
                _ => self.name(&path),
            }
        }
    }

    fn visit_path(&mut self, path: &syn::Path) {
        let names: Names = path
            .segments
            .iter()
            .map(|part| part.ident.to_string())
            .collect();
        if names.len() > 1 {
            self.name(&names);
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
    let one = |name: &syn::Ident| vec![name.to_string()];
    match tree {
        UseTree::Path(path) => {
            let inner = leaves(&path.tree).into_iter();
            let outer = path.ident.to_string();
            let joined = inner.map(|(path, name)| match path[0].as_str() {
                "self" => (
                    vec![outer.clone()],
                    if name == "self" { outer.clone() } else { name },
                ),
                _ => ([vec![outer.clone()], path].concat(), name),
            });
            joined.collect()
        }
        UseTree::Name(name) => vec![(one(&name.ident), name.ident.to_string())],
        UseTree::Rename(rename) => vec![(one(&rename.ident), rename.rename.to_string())],
        UseTree::Glob(_) => vec![(vec!["*".to_owned()], "*".to_owned())],
        UseTree::Group(group) => group.items.iter().flat_map(leaves).collect(),
    }
}

/// Returns the starts of a path, the longest first.
fn prefixes(path: &[String]) -> impl Iterator<Item = &[String]> {
    (1..=path.len()).rev().map(|end| &path[..end])
}
