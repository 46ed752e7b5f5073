//! Compilation of the next version of a table: what has not changed is taken from the version before.
//!
//! The result is that of `compile`, in everything that anyone can see. Only tables without errors
//! are compiled this way: as soon as one is found, everything is compiled from nothing, and the
//! reports of errors need no other code.

use std::collections::{BTreeSet, HashMap};

use super::conflicts::{settle, settle_changed};
use super::document::Document;
use super::pieces::{OldDocument, PiecedFile};
use super::review::review;
use super::tables::{Compilation, Group, build, group, names, refuse};
use super::written_codes::WrittenCodes;
use crate::mapping::packed::{Part, Site, Table};
use crate::mapping::value::{Problems, SourceFile};

/// Compiles the files of one table, of which `before` is an earlier version, and so that a later one
/// can be compiled the same way.
///
/// The more of it is the same, the less is compiled: usually all entries but some hundred around each
/// change. The earlier version must have been compiled by this function too, or it does not help.
pub fn compile_after(files: &[SourceFile], before: Option<&Table>) -> Compilation {
    if let Some(refused) = refuse(files) {
        return refused;
    }
    let mut problems = Problems::default();
    let (mut documents, read) = read(files, before, &mut problems);
    let is_known = read.iter().any(|it| it.old_site.is_some());
    match before.filter(|_| is_known) {
        Some(before) => {
            let changed = compile_changes(files, before, &mut documents, &read, problems);
            changed.unwrap_or_else(|| compile_after(files, None))
        }
        None => {
            let parts_of = |index: usize| read[index].pieces.parts.clone();
            build(files, &mut documents, parts_of, problems)
        }
    }
}

/// Compiles documents of which only the unknown pieces were read; `None` if there are errors, or a site
/// has changed so that its pieces do not mean the same.
fn compile_changes(
    files: &[SourceFile],
    before: &Table,
    documents: &mut [Document<'_>],
    read: &[ReadFile<'_>],
    mut problems: Problems,
) -> Option<Compilation> {
    if problems.has_errors() {
        return None;
    }
    let names = names(files);
    let (mut sites, mut expectations, mut written) = (Vec::new(), Vec::new(), Vec::new());
    for group in group(documents, &mut problems) {
        let head = group.head(documents, &names, &mut problems);
        if problems.has_errors() {
            return None;
        }
        let is_same = |old: &Site| *old.base_url() == group.base_url && old.scheme() == head.scheme;
        let mut old_sites = old_sites(&group, read, before);
        let old = old_sites.next();
        if !old.is_none_or(is_same) || old_sites.next().is_some() {
            return None;
        }
        let parts_of = |index: usize| read[index].pieces.parts.clone();
        let (mut draft, mut parted) = group.gather(documents, parts_of);
        let (site, codes) = match old {
            Some(old) => {
                for (document, &index) in parted.iter_mut().zip(&group.documents) {
                    document.old_file = read[index].pieces.old_file;
                }
                let mut changed = old.changed(head, &mut draft, &parted);
                if !settle_changed(&mut changed, old, &draft, &mut problems) {
                    return None;
                }
                let pieces = pieces_of(&group, read);
                WrittenCodes::of_changed(changed, draft, pieces)
            }
            None => {
                let mut site = Site::build(head, &mut draft, &parted);
                settle(&mut site, &mut draft, &mut problems);
                (site, WrittenCodes::New(draft))
            }
        };
        sites.push(site);
        written.push(codes);
        expectations.extend(group.expectations(documents, &mut problems));
    }
    if problems.has_errors() {
        return None;
    }
    let table = Table::new(sites);
    let position_of = |site: usize, number| written[site].position(&table.sites()[site], number);
    review(&table, position_of, &mut problems);
    Some(Compilation::new(table, expectations, problems, names))
}

/// The pieces of a file, and the number of the site that it was in, if any of them is known from
/// there.
struct ReadFile<'t> {
    pieces: PiecedFile<'t>,
    old_site: Option<usize>,
}

/// Reads the pieces of files that are not known from an earlier version.
fn read<'t>(
    files: &'t [SourceFile],
    before: Option<&Table>,
    problems: &mut Problems,
) -> (Vec<Document<'t>>, Vec<ReadFile<'t>>) {
    let mut known = before.map(KnownFiles::of);
    let mut read_one = |(number, file): (u32, &'t SourceFile)| {
        let old = known.as_ref().and_then(|known| known.find(&file.path));
        let changes =
            old.and_then(|(_, old)| PiecedFile::read_changes(number, file, old, problems));
        let (document, pieces) =
            changes.unwrap_or_else(|| PiecedFile::read(number, file, problems));
        let old_site = old.filter(|_| pieces.old_file.is_some());
        let old_site = old_site.map(|(site, _)| site);
        if let (Some(known), Some(site), Some(file)) = (&mut known, old_site, pieces.old_file) {
            known.pass(site, file, &pieces.parts);
        }
        (document, ReadFile { pieces, old_site })
    };
    (0..).zip(files).map(&mut read_one).unzip()
}

/// The files of an earlier version.
struct KnownFiles<'b> {
    before: &'b Table,
    /// The number of each file by its path.
    numbers: HashMap<&'b str, u32>,
    /// The number of the last file with each name: a table in a commit has other paths than in a work
    /// tree.
    names: HashMap<&'b str, u32>,
    /// The number of the site that each file is in, if no pieces were taken over from it.
    sites: HashMap<u32, usize>,
    /// The first piece of each site that may still be taken over.
    first: Vec<usize>,
}

impl<'b> KnownFiles<'b> {
    fn of(before: &'b Table) -> Self {
        let paths = || before.files().iter().map(|path| &**path);
        let sites = before.sites().iter().enumerate();
        let files = sites.flat_map(|(site, it)| it.pieces().files().map(move |file| (file, site)));
        Self {
            before,
            numbers: paths().zip(0..).collect(),
            names: paths().map(name).zip(0..).collect(),
            sites: files.collect(),
            first: vec![0; before.sites().len()],
        }
    }

    /// Returns the document at a path, and the number of its site.
    fn find(&self, path: &str) -> Option<(usize, OldDocument<'b>)> {
        let same = self.numbers.get(path);
        let file = *same.or_else(|| self.names.get(name(path)))?;
        let site = *self.sites.get(&file)?;
        let document = OldDocument {
            site: &self.before.sites()[site],
            file,
            first: self.first[site],
        };
        Some((site, document))
    }

    /// Records that pieces of a file in a site were taken over.
    fn pass(&mut self, site: usize, file: u32, parts: &[Part]) {
        self.sites.remove(&file);
        for part in parts {
            if let Part::Known { number, .. } = part {
                self.first[site] = number + 1;
            }
        }
    }
}

/// Returns the name of the file at a path.
fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the earlier versions of a site from which its pieces are known.
fn old_sites<'b>(
    group: &Group,
    read: &[ReadFile<'_>],
    before: &'b Table,
) -> impl Iterator<Item = &'b Site> {
    let files = group.documents.iter().map(|&index| &read[index]);
    let numbers: BTreeSet<_> = files.filter_map(|file| file.old_site).collect();
    numbers.into_iter().map(|number| &before.sites()[number])
}

/// Returns the pieces of a site in their order, each with its file and its number there.
fn pieces_of<'p, 't>(group: &Group, read: &'p [ReadFile<'t>]) -> Vec<(&'p PiecedFile<'t>, usize)> {
    let files = group.documents.iter().map(|&index| &read[index].pieces);
    let pieces = files.flat_map(|file| (0..file.parts.len()).map(move |part| (file, part)));
    pieces.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;
    use crate::mapping::compile;
    use crate::mapping::value::Scheme;

    /// A file as it is written: its form, its entries, and whether its lines end as on Windows.
    #[derive(Debug, Clone)]
    struct File {
        base_url: usize,
        scheme: usize,
        defaults: usize,
        tests: bool,
        is_indented: bool,
        has_carriage_returns: bool,
        is_moved: bool,
        entries: Vec<(usize, usize)>,
    }

    /// A change of the file at an index.
    #[derive(Debug, Clone)]
    enum Edit {
        Insert(Index, (usize, usize)),
        Remove(Index),
        Replace(Index, (usize, usize)),
        Move(Index, Index, usize),
        BaseUrl(usize),
        Scheme(usize),
        Defaults(usize),
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

    /// Returns the lines of an entry of some kind: most do not conflict with those of other numbers.
    fn entry((kind, number): (usize, usize)) -> String {
        let own = Scheme::Sha256.code(&format!("https://e.org/{number}/"));
        let own = own.as_str();
        match kind {
            0 => format!("- url: https://e.org/{number}/\n  short-code: c{number}\n"),
            1 => format!(
                "- url: https://e.org/{number}/\n  short-code: d{number}\n  forward: path\n"
            ),
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
            12 => format!(
                "# - url: {number}\n\n- url: https://e.org/{number}/{number}\n  aliases:\n  - \"b{number}\"\n"
            ),
            13 => format!("- short-code: g{number}\n  retired: true\n  expires: 2030-01-01\n"),
            14 => {
                format!("- url: https://x.org/{number}\n  status: 307\n  cache-max-age: {number}\n")
            }
            15 => format!("- ur1: https://e.org/{number}\n"),
            16 => format!("- url: >-\n    https://y.org/{number}\n"),
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

    fn apply(edit: Edit, at: Index, files: &mut Vec<(usize, File)>) {
        let at = at.index(files.len());
        let count = files.len();
        let file = &mut files[at].1;
        let entries = &mut file.entries;
        let place =
            |index: Index, entries: &[_]| index.index(entries.len().max(1)).min(entries.len());
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

    fn source(files: &[(usize, File)]) -> Vec<SourceFile> {
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
            60 => 17..18_usize,
            1 => 15..17_usize,
        ];
        (kind, prop_oneof![0..200_usize, 0..25_usize])
    }

    fn a_file(entries: usize) -> impl Strategy<Value = File> {
        let mostly = |rarely: std::ops::Range<usize>| prop_oneof![9 => Just(0), 1 => rarely];
        let entries = prop::collection::vec(an_entry(), 0..entries);
        (
            mostly(0..4),
            mostly(0..3),
            mostly(0..3),
            any::<bool>(),
            any::<bool>(),
            entries,
        )
            .prop_map(
                |(base_url, scheme, defaults, tests, is_indented, mut entries)| {
                    // An entry is there once, and its number has one kind that claims a code.
                    let mut seen = std::collections::HashSet::new();
                    entries.retain(|(kind, number)| seen.insert((*kind > 7, *number)));
                    File {
                        base_url,
                        scheme,
                        defaults,
                        tests,
                        is_indented,
                        has_carriage_returns: false,
                        is_moved: false,
                        entries,
                    }
                },
            )
    }

    fn an_edit() -> impl Strategy<Value = Edit> {
        prop_oneof![
            8 => (any::<Index>(), an_entry()).prop_map(|(at, entry)| Edit::Insert(at, entry)),
            8 => any::<Index>().prop_map(Edit::Remove),
            8 => (any::<Index>(), an_entry()).prop_map(|(at, entry)| Edit::Replace(at, entry)),
            4 => (any::<Index>(), any::<Index>(), 1..20_usize)
                .prop_map(|(from, to, count)| Edit::Move(from, to, count)),
            1 => (0..4_usize).prop_map(Edit::BaseUrl),
            1 => (0..3_usize).prop_map(Edit::Scheme),
            1 => (0..3_usize).prop_map(Edit::Defaults),
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

    /// Returns everything about a site but the numbers of its shapes.
    fn description(site: &Site) -> String {
        let records = site.index.records().iter().map(|record| {
            let shape = site.shapes[record.shape as usize];
            ({ record.key }, { record.target }, { record.line }, shape)
        });
        let listed = site
            .codes
            .listed()
            .iter()
            .zip(0_u32..)
            .map(|(&listed, number)| {
                let text = site.codes.text(listed);
                (text, listed, site.codes.number_of(text) == Some(number))
            });
        let records: Vec<_> = records.collect();
        let listed: Vec<_> = listed.collect();
        format!(
            "{:?}\n{records:?}\n{listed:?}\n{:?}\n{:?}\n{:?}",
            (
                site.base_url(),
                site.scheme(),
                site.new_code(),
                site.about()
            ),
            (
                site.files().collect::<Vec<_>>(),
                site.targets.iter().collect::<Vec<_>>()
            ),
            site.notes,
            (site.code_count(), site.forwarding_depth(), site.shared()),
        )
    }

    fn assert_same(changed: &Compilation, whole: &Compilation) {
        assert_eq!(changed.diagnostics, whole.diagnostics);
        assert_eq!(changed.expectations, whole.expectations);
        let described = |compilation: &Compilation| {
            let table = compilation.table.as_ref();
            table.map(|table| table.sites().iter().map(description).collect::<Vec<_>>())
        };
        assert_eq!(described(changed), described(whole));
    }

    /// Returns how many pieces of a table are known from another version of it, and how many are not.
    fn count(files: &[SourceFile], before: &Table) -> (usize, usize) {
        let (_, read) = read(files, Some(before), &mut Problems::default());
        let parts = read.iter().flat_map(|file| &file.pieces.parts);
        let (known, new): (Vec<&Part>, Vec<&Part>) =
            parts.partition(|part| matches!(part, Part::Known { .. }));
        (known.len(), new.len())
    }

    #[test]
    fn pieces_are_read_again_only_where_something_changes() {
        const KINDS: [usize; 5] = [0, 1, 2, 4, 17];
        let file = |entries: &[usize]| File {
            base_url: 0,
            scheme: 0,
            defaults: 0,
            tests: true,
            is_indented: false,
            has_carriage_returns: false,
            is_moved: false,
            entries: entries
                .iter()
                .map(|number| (KINDS[number % 5], *number))
                .collect(),
        };
        let entries: Vec<_> = (0..400).collect();
        let files = |entries: &[usize]| source(&[(0, file(entries)), (1, file(&[1000, 1001]))]);
        let before = compile_after(&files(&entries), None).table.unwrap();
        let (all, 0) = count(&files(&entries), &before) else {
            panic!("every piece is known in the same table");
        };
        assert!(all > 50, "{all}");
        let changes: [(&str, Vec<usize>); 5] = [
            (
                "inserted",
                [&entries[..200], &[500], &entries[200..]].concat(),
            ),
            ("removed", [&entries[..200], &entries[201..]].concat()),
            ("appended", [&entries[..], &[500]].concat()),
            ("prepended", [&[500], &entries[..]].concat()),
            ("moved", [&entries[200..], &entries[..200]].concat()),
        ];
        for (change, entries) in changes {
            let changed = files(&entries);
            let (known, new) = count(&changed, &before);
            let most = if change == "moved" { all / 2 + 5 } else { 4 };
            assert!(
                new <= most && known + new + 5 > all,
                "{change}: {known}, {new}"
            );
            assert_same(&compile_after(&changed, Some(&before)), &compile(&changed));
        }
        let other = source(&[
            (
                0,
                File {
                    defaults: 1,
                    ..file(&entries)
                },
            ),
            (1, file(&[1000])),
        ]);
        assert_eq!(count(&other, &before).0, 0, "the defaults have changed");
    }

    #[test]
    fn a_table_without_files_is_an_earlier_version() {
        let none = compile_after(&[], None).table.unwrap();
        let file = SourceFile::new(
            "t.yaml".into(),
            "base_url: https://e.org/\nmapping: []\n".into(),
        );
        let some = compile_after(&[file], Some(&none)).table.unwrap();
        assert!(compile_after(&[], Some(&some)).table.unwrap().is_empty());
    }

    /// Returns a file of entries with a private address, in which each is warned of.
    fn private(path: &str, numbers: std::ops::Range<usize>) -> SourceFile {
        let entries = numbers.map(|number| format!("- url: https://10.0.0.1/{number}\n"));
        let entries: String = entries.collect();
        let text = format!("base_url: https://short.code/\nmapping:\n{entries}");
        SourceFile::new(path.into(), text.into_bytes())
    }

    #[test]
    fn warnings_over_the_limit_are_counted_when_earlier_ones_go() {
        let before = compile_after(&[private("t.yaml", 0..1200)], None).table;
        let files = [private("t.yaml", 100..1200)];
        assert_same(&compile_after(&files, before.as_ref()), &compile(&files));
    }

    #[test]
    fn a_file_may_be_divided() {
        let before = compile_after(&[private("t.yaml", 0..20)], None)
            .table
            .unwrap();
        let files = [private("a/t.yaml", 0..10), private("b/t.yaml", 10..20)];
        assert!(count(&files, &before).0 > 0);
        assert_same(&compile_after(&files, Some(&before)), &compile(&files));
    }

    #[test]
    fn the_next_version_of_a_changed_table_is_compiled_the_same_way() {
        let text = |codes: std::ops::Range<usize>| {
            let entries =
                codes.map(|code| format!("- url: https://e.org/{code}\n  short-code: c{code}\n"));
            let text = format!(
                "base_url: https://short.code/\nmapping:\n{}",
                entries.collect::<String>()
            );
            vec![SourceFile::new("t.yaml".into(), text.into_bytes())]
        };
        let mut before = compile_after(&text(0..100), None).table.unwrap();
        for last in 101..110 {
            let (known, new) = count(&text(0..last), &before);
            assert!(known > 5 && new < 3, "{known}, {new}");
            before = compile_after(&text(0..last), Some(&before)).table.unwrap();
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn a_changed_table_is_as_compiled_from_nothing(
            files in prop::collection::vec(a_file(60), 1..3),
            edits in prop::collection::vec((any::<Index>(), an_edit()), 1..8),
        ) {
            let mut files: Vec<_> = files.into_iter().enumerate().collect();
            let mut before = compile_after(&source(&files), None).table;
            for (at, edit) in edits {
                apply(edit, at, &mut files);
                let source = source(&files);
                let changed = compile_after(&source, before.as_ref());
                assert_same(&changed, &compile(&source));
                before = changed.table.or(before);
            }
        }
    }
}
