//! Compilation of the files of a table into the table, reporting every problem.
//!
//! Documents with the same base URL form one site. `admit` checks single entries, `conflicts`
//! decides which entry keeps a code, and `review` finds unusual codes; here documents are assigned
//! to sites.

use std::collections::HashMap;
use std::sync::Arc;

use super::agreed::{agreed_about, agreed_scheme};
use super::conflicts::settle;
use super::entries::Document;
use super::expectation::Expectation;
use super::reviews::review;
use crate::mapping::packed::{Draft, Head, Part, PartedDocument, Site, Table};
use crate::mapping::value::{
    BaseUrl, Diagnostic, MAX_PROBLEMS, Place, Position, Problems, Rule, SourceFile, Timestamp,
};

/// The maximum text of a table, in bytes: its arenas are addressed with 32 bits, and YAML's escapes
/// with percent-encoding turn two bytes into up to nine.
pub const MAX_TABLE_TEXT: u64 = 900_000_000;

/// The result of compiling a table.
#[derive(Debug)]
pub struct Compilation {
    /// The table, unless there was an error.
    pub table: Option<Table>,
    /// The tests written in the table.
    pub expectations: Vec<Expectation>,
    /// Every problem found, in the order of files and lines.
    pub diagnostics: Vec<Diagnostic>,
    /// The files, in the order in which they were given.
    names: Arc<[Arc<str>]>,
    /// How many problems of each file and rule are listed.
    most_problems: usize,
}

/// Compiles the files of one table.
pub fn compile(files: &[SourceFile]) -> Compilation {
    compile_listing(files, MAX_PROBLEMS)
}

/// Compiles the files of one table, and lists as many problems of each file and rule.
pub fn compile_listing(files: &[SourceFile], most_problems: usize) -> Compilation {
    let mut problems = Problems::up_to(most_problems);
    let sizes = files
        .iter()
        .map(|file| (&file.path, file.bytes.len() as u64));
    if let Some(refused) = refuse(sizes) {
        return refused;
    }
    let read = |(number, file)| Document::read(number, file, &mut problems);
    let mut documents: Vec<_> = (0..).zip(files).map(read).collect();
    let names = files.iter().map(|file| Arc::clone(&file.path)).collect();
    build(&names, &mut documents, |_| Vec::new(), problems)
}

/// Compiles documents into a table; `parts_of` returns the pieces of a document, given its number.
pub(super) fn build(
    names: &Arc<[Arc<str>]>,
    documents: &mut [Document<'_>],
    parts_of: impl Fn(usize) -> Vec<Part>,
    mut problems: Problems,
) -> Compilation {
    let groups = group(documents, &mut problems);
    let gather = |group: Group| {
        let (draft, parted) = group.gather(documents, &parts_of);
        GatheredSite {
            group,
            draft,
            documents: parted,
        }
    };
    let sites = groups.into_iter().map(gather).collect();
    build_sites(names, documents, sites, problems)
}

/// Compiles sites, each with its entries, into a table.
pub(super) fn build_sites(
    names: &Arc<[Arc<str>]>,
    documents: &[Document<'_>],
    gathered: Vec<GatheredSite>,
    mut problems: Problems,
) -> Compilation {
    let (mut sites, mut drafts) = (Vec::new(), Vec::new());
    let mut expectations = Vec::new();
    for site in gathered {
        let GatheredSite {
            group,
            mut draft,
            documents: parted,
        } = site;
        let head = group.head(documents, names, &mut problems);
        let mut site = Site::build(head, &mut draft, &parted);
        settle(&mut site, &mut draft, &mut problems);
        sites.push(site);
        drafts.push(draft);
        expectations.extend(group.expectations(documents, &mut problems));
    }
    let mut table = Table::new(sites);
    let position_of = |site: usize, number: usize| drafts[site].codes[number].position;
    let scopes = review(&table, &[], position_of, &mut problems);
    table.set_review_scopes(scopes);
    Compilation::new(table, expectations, problems, Arc::clone(names))
}

/// Returns the compilation of files that are too large to be read, given their paths and sizes.
pub(super) fn refuse<'f>(
    files: impl Iterator<Item = (&'f Arc<str>, u64)> + Clone,
) -> Option<Compilation> {
    let problem = unaddressable(files)?;
    Some(Compilation::refused(vec![problem]))
}

impl Compilation {
    pub(super) fn new(
        table: Table,
        expectations: Vec<Expectation>,
        problems: Problems,
        names: Arc<[Arc<str>]>,
    ) -> Self {
        let most_problems = problems.most();
        let mut diagnostics = problems.into_reported();
        sort(&mut diagnostics, &names);
        let is_sound = !diagnostics.iter().any(Diagnostic::is_error);
        Self {
            table: is_sound.then_some(table),
            expectations,
            diagnostics,
            names,
            most_problems,
        }
    }

    /// Returns the compilation of files that were not read, for the given reasons.
    pub fn refused(reasons: Vec<Diagnostic>) -> Self {
        Self {
            table: None,
            expectations: Vec::new(),
            diagnostics: reasons,
            names: Arc::default(),
            most_problems: MAX_PROBLEMS,
        }
    }

    /// Runs the tests written in the table, and adds those that fail to the diagnostics.
    ///
    /// Without a table no tests are run.
    pub fn run_tests(&mut self, now: Timestamp) {
        let Some(table) = &self.table else { return };
        let failures = self
            .expectations
            .iter()
            .filter_map(|it| it.check(table, now));
        self.diagnostics.extend(failures);
        sort(&mut self.diagnostics, &self.names);
    }

    /// Adds further problems of the table, up to the limit for each file.
    pub fn add(&mut self, found: impl IntoIterator<Item = Diagnostic>) {
        let mut problems = Problems::up_to(self.most_problems);
        for diagnostic in found {
            problems.push(diagnostic);
        }
        self.diagnostics.extend(problems.into_reported());
        sort(&mut self.diagnostics, &self.names);
    }
}

/// The documents of one site, by index.
pub(super) struct Group {
    pub(super) base_url: BaseUrl,
    stated_at: Option<Place>,
    pub(super) documents: Vec<usize>,
}

/// A site with the entries of its documents, which are in pieces.
pub(super) struct GatheredSite {
    pub(super) group: Group,
    pub(super) draft: Draft,
    pub(super) documents: Vec<PartedDocument>,
}

fn unaddressable<'f>(
    mut files: impl Iterator<Item = (&'f Arc<str>, u64)> + Clone,
) -> Option<Diagnostic> {
    let bytes: u64 = files.clone().map(|(_, size)| size).sum();
    let (first, _) = files.next()?;
    (bytes > MAX_TABLE_TEXT).then(|| {
        let place = Place::new(first, Position::START);
        let message = format!("a table can have at most {MAX_TABLE_TEXT} bytes");
        Diagnostic::new(Rule::TableTooLarge, place, message)
            .with_hint("split the table into several, each with its own server")
    })
}

/// Groups documents by base URL, and assigns those without one to the only site.
pub(super) fn group(documents: &[Document<'_>], problems: &mut Problems) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut without_base_url = Vec::new();
    // By host and base path: sites that differ only in scheme or port cannot be distinguished.
    let mut known: HashMap<(String, String), usize> = HashMap::new();
    for (index, document) in documents.iter().enumerate() {
        let Some(stated) = &document.base_url else {
            without_base_url.push(index);
            continue;
        };
        let place = place(document, stated.position);
        let base_url = match BaseUrl::parse(&stated.value) {
            Ok(base_url) => base_url,
            Err(error) => {
                let message = error.to_string();
                let mut diagnostic = Diagnostic::new(error.rule(), place.clone(), message);
                diagnostic.hint = error.hint();
                problems.push(diagnostic);
                groups.push(Group::unknown(vec![index]));
                continue;
            }
        };
        let key = (base_url.host().to_owned(), base_url.path().to_owned());
        match known.get(&key).map(|&at| &mut groups[at]) {
            Some(group) => {
                if group.base_url != base_url {
                    problems.push(indistinct(group, place));
                }
                group.documents.push(index);
            }
            None => {
                known.insert(key, groups.len());
                groups.push(Group {
                    base_url,
                    stated_at: Some(place),
                    documents: vec![index],
                });
            }
        }
    }
    assign_default_site(without_base_url, documents, &mut groups, problems);
    groups
}

/// Assigns the documents that name no site to one.
fn assign_default_site(
    without_base_url: Vec<usize>,
    documents: &[Document<'_>],
    groups: &mut Vec<Group>,
    problems: &mut Problems,
) {
    if let [only] = &mut groups[..] {
        only.documents.extend(without_base_url);
        only.documents.sort_unstable();
        return;
    }
    let (message, hint) = if groups.is_empty() {
        (
            "the key \"base_url\" is missing",
            "add the address that comes before the codes, as in \"base_url: https://short.code/\"",
        )
    } else {
        (
            "the key \"base_url\" is missing, and the table has several sites",
            "name the site that these entries belong to",
        )
    };
    // A document that could not be read may be the one that names the site.
    let unread = |document: &Document<'_>| document.base_url.is_none() && !document.lacks_base_url;
    let is_known = !documents.iter().any(unread);
    for document in without_base_url.iter().map(|&index| &documents[index]) {
        if document.lacks_base_url && is_known {
            let place = place(document, Position::START);
            problems.push(Diagnostic::new(Rule::KeyMissing, place, message).with_hint(hint));
        }
    }
    if !without_base_url.is_empty() {
        groups.push(Group::unknown(without_base_url));
    }
}

impl Group {
    /// Returns a site whose base URL is wrong or missing, compiled only for its further problems.
    fn unknown(documents: Vec<usize>) -> Self {
        Self {
            base_url: BaseUrl::parse("http://unknown.invalid/").expect("a constant URL"),
            stated_at: None,
            documents,
        }
    }

    /// Returns the properties of the site besides its entries.
    pub(super) fn head(
        &self,
        documents: &[Document<'_>],
        names: &Arc<[Arc<str>]>,
        problems: &mut Problems,
    ) -> Head {
        let members = || self.documents.iter().map(|&index| &documents[index]);
        let new_code = members().find_map(|document| document.defaults.new);
        Head {
            base_url: self.base_url.clone(),
            scheme: agreed_scheme(members(), problems),
            about: agreed_about(members(), problems),
            new_code: new_code.unwrap_or_default(),
            files: Arc::clone(names),
            own_files: members().map(|document| document.number).collect(),
        }
    }

    /// Takes the entries of the documents, and their pieces.
    pub(super) fn gather(
        &self,
        documents: &mut [Document<'_>],
        parts_of: impl Fn(usize) -> Vec<Part>,
    ) -> (Draft, Vec<PartedDocument>) {
        let mut draft = Draft::default();
        let mut parted = Vec::new();
        for &index in &self.documents {
            let document = &mut documents[index];
            let moved = draft.append(std::mem::take(&mut document.entries));
            let mut parts = parts_of(index);
            for part in &mut parts {
                if let Part::New(piece) = part {
                    piece.start = moved.of(piece.start);
                }
            }
            parted.push(PartedDocument {
                file: document.number,
                old_file: None,
                defaults: document.defaults,
                parts,
            });
        }
        (draft, parted)
    }

    /// Returns the tests of the documents.
    pub(super) fn expectations(
        &self,
        documents: &[Document<'_>],
        problems: &mut Problems,
    ) -> Vec<Expectation> {
        let documents = self.documents.iter().map(|&index| &documents[index]);
        let read = |document| Expectation::read_all(document, &self.base_url, problems);
        documents.flat_map(read).collect()
    }
}

fn indistinct(group: &Group, place: Place) -> Diagnostic {
    let base_url = group.base_url.as_str();
    let hint = match &group.stated_at {
        Some(first) => format!("{first} has {base_url:?}: write both the same way"),
        None => format!("the other site has {base_url:?}: write both the same way"),
    };
    let message = "two sites differ only in scheme or port";
    Diagnostic::new(Rule::SitesIndistinct, place, message).with_hint(hint)
}

fn place(document: &Document<'_>, position: Position) -> Place {
    Place::new(&document.file, position)
}

fn sort(diagnostics: &mut [Diagnostic], names: &[Arc<str>]) {
    let order: HashMap<&str, usize> = names
        .iter()
        .zip(0..)
        .map(|(name, n)| (&**name, n))
        .collect();
    diagnostics.sort_by_key(|diagnostic| {
        let file = order.get(&*diagnostic.place.file).copied();
        (file, diagnostic.place.position, diagnostic.severity())
    });
}
