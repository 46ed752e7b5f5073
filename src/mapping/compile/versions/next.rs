//! Compilation of the next version of a table: unchanged parts are taken from the previous one.
//!
//! The result is equivalent to that of `compile`. Only tables without errors are compiled this way:
//! as soon as one is found, everything is compiled from scratch, so reports of errors need no other
//! code.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::conflicts::{settle, settle_changed};
use super::super::entries::Document;
use super::super::reviews::review;
use super::super::tables::{Compilation, Group, build, group, refuse};
use super::input::{InputFile, TextNeeded};
use super::known_files::KnownFiles;
use super::pieces::PiecedFile;
use super::written_codes::WrittenCodes;
use crate::mapping::cutting::{Cut, TableFile};
use crate::mapping::packed::{ReviewScope, Site, Table};
use crate::mapping::value::{Problems, SourceFile};

/// Compiles the files of one table, of which `before` is an earlier version, and so that a later one
/// can be compiled the same way.
///
/// The more is unchanged, the less is compiled: usually only some hundred entries around each
/// change. The earlier version must have been compiled by this function too, or it does not help.
pub fn compile_after(files: &[SourceFile], before: Option<&Table>) -> Compilation {
    let cuts: Vec<_> = files.iter().map(|file| Cut::of(&file.bytes)).collect();
    let whole = files.iter().zip(&cuts);
    let files: Vec<_> = whole
        .map(|(file, cut)| InputFile::whole(file, cut))
        .collect();
    let compiled = compile_input(&files, before);
    compiled.expect("the text of whole files is there")
}

/// Compiles the files of one table, as [`compile_after`] does, with as much of their text as was read.
///
/// # Errors
///
/// If more of the text is needed. With whole files, there is no error.
pub fn compile_read(
    files: &[TableFile],
    before: Option<&Table>,
) -> Result<Compilation, TextNeeded> {
    let files: Vec<_> = files.iter().map(InputFile::read).collect();
    compile_input(&files, before)
}

fn compile_input(
    files: &[InputFile<'_>],
    before: Option<&Table>,
) -> Result<Compilation, TextNeeded> {
    let sizes = files.iter().map(|file| (file.path, file.cut.size()));
    if let Some(refused) = refuse(sizes) {
        return Ok(refused);
    }
    let names = files.iter().map(|file| Arc::clone(file.path)).collect();
    let mut problems = Problems::default();
    let (mut documents, read) = read(files, before, &mut problems)?;
    let is_known = read.iter().any(|it| it.old_site.is_some());
    match before.filter(|_| is_known) {
        Some(before) => {
            let changed = compile_changes(&names, before, &mut documents, &read, problems)?;
            changed.map_or_else(|| compile_input(files, None), Ok)
        }
        None => {
            let parts_of = |index: usize| read[index].pieces.parts.clone();
            Ok(build(&names, &mut documents, parts_of, problems))
        }
    }
}

/// Compiles documents of which only the unknown pieces were read; `None` if there are errors, or a site
/// has changed so that its pieces do not mean the same.
fn compile_changes(
    names: &Arc<[Arc<str>]>,
    before: &Table,
    documents: &mut [Document<'_>],
    read: &[ReadFile<'_>],
    mut problems: Problems,
) -> Result<Option<Compilation>, TextNeeded> {
    if problems.has_errors() {
        return Ok(None);
    }
    let (mut sites, mut expectations, mut written) = (Vec::new(), Vec::new(), Vec::new());
    // What the review of each site must look at.
    let mut among: Vec<ReviewScope> = Vec::new();
    for group in group(documents, &mut problems) {
        let head = group.head(documents, names, &mut problems);
        if problems.has_errors() {
            return Ok(None);
        }
        let is_same = |old: &Site| {
            *old.base_url() == group.base_url
                && old.scheme() == head.scheme
                && old.about().case() == head.about.case()
        };
        let mut old_sites = old_sites(&group, read, before);
        let old = old_sites.next();
        if !old.is_none_or(is_same) || old_sites.next().is_some() {
            return Ok(None);
        }
        if old.is_some_and(Site::is_worn) {
            return Ok(None);
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
                    return Ok(None);
                }
                among.push(std::mem::take(&mut changed.review_scope));
                let pieces = pieces_of(&group, read);
                WrittenCodes::of_changed(changed, draft, pieces)
            }
            None => {
                among.push(ReviewScope::default());
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
        return Ok(None);
    }
    let mut table = Table::new(sites);
    if !table.has_hosts_of(before) {
        among.clear();
    }
    let position_of = |site: usize, number| written[site].position(&table.sites()[site], number);
    let scopes = review(&table, &among, position_of, &mut problems);
    table.set_review_scopes(scopes);
    if written.iter().any(WrittenCodes::lacks_text) {
        return Err(TextNeeded);
    }
    let names = Arc::clone(names);
    let compilation = Compilation::new(table, expectations, problems, names);
    Ok(Some(compilation))
}

/// The pieces of a file, and the number of the site that it was in, if any of them is known from
/// there.
struct ReadFile<'t> {
    pieces: PiecedFile<'t>,
    old_site: Option<usize>,
}

/// Reads the pieces of files that are not known from an earlier version.
fn read<'t>(
    files: &[InputFile<'t>],
    before: Option<&Table>,
    problems: &mut Problems,
) -> Result<(Vec<Document<'t>>, Vec<ReadFile<'t>>), TextNeeded> {
    let mut known = before.map(KnownFiles::of);
    let (mut documents, mut read) = (Vec::new(), Vec::new());
    for (number, &file) in (0..).zip(files) {
        let old = known.as_ref().and_then(|known| known.find(file.path));
        let changes =
            old.and_then(|(_, old)| PiecedFile::read_changes(number, file, old, problems));
        let (document, pieces) = match changes {
            Some(changes) => changes,
            None => {
                let whole = file.whole.ok_or(TextNeeded)?;
                PiecedFile::read(number, file, whole, problems)
            }
        };
        let old_site = old.filter(|_| pieces.old_file.is_some());
        let old_site = old_site.map(|(site, _)| site);
        if let (Some(known), Some(site), Some(file)) = (&mut known, old_site, pieces.old_file) {
            known.pass(site, file, &pieces.parts);
        }
        documents.push(document);
        read.push(ReadFile { pieces, old_site });
    }
    Ok((documents, read))
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

    use super::super::super::random_edits::{File, a_file, an_edit, apply, source};
    use super::super::super::same_table::assert_same;
    use super::*;
    use crate::mapping::compile;
    use crate::mapping::cutting::Cutter;
    use crate::mapping::packed::Part;
    use crate::mapping::search::{CodeOrder, OrderChange};

    /// Checks the orders of codes that are made from those of an earlier version; returns how many are.
    fn assert_orders_follow(before: &Table, after: &Table) -> usize {
        let mut followed = 0;
        for site in after.sites() {
            let Some(old) = before.counterpart(site) else {
                continue;
            };
            let order = CodeOrder::new(old);
            if let Some(change) = OrderChange::between(old, &order, site) {
                let (found, expected) = (change.apply(&order), CodeOrder::new(site));
                assert_eq!(format!("{found:?}"), format!("{expected:?}"));
                followed += 1;
            }
        }
        followed
    }

    /// Returns how many pieces of a table are known from another version of it, and how many are not.
    fn count(files: &[SourceFile], before: &Table) -> (usize, usize) {
        let cuts: Vec<_> = files.iter().map(|file| Cut::of(&file.bytes)).collect();
        let files: Vec<_> = (files.iter().zip(&cuts))
            .map(|(file, cut)| InputFile::whole(file, cut))
            .collect();
        let (_, read) = read(&files, Some(before), &mut Problems::default()).unwrap();
        let parts = read.iter().flat_map(|file| &file.pieces.parts);
        let (known, new): (Vec<&Part>, Vec<&Part>) =
            parts.partition(|part| matches!(part, Part::Known { .. }));
        (known.len(), new.len())
    }

    /// Returns files as they are read after an earlier version.
    fn as_read(files: &[SourceFile], before: Option<&Table>) -> Vec<TableFile> {
        let known = before.map(KnownFiles::of);
        let read = |file: &SourceFile| {
            let known = known.as_ref().map(|known| known.pieces(&file.path));
            let known = known.unwrap_or_default();
            if known.is_empty() {
                return TableFile::whole(file.clone());
            }
            let mut cutter = Cutter::new(file.bytes.len() as u64, &known);
            for bytes in file.bytes.chunks(1_000) {
                cutter.push(bytes);
            }
            cutter.finish(Arc::clone(&file.path))
        };
        files.iter().map(read).collect()
    }

    #[test]
    fn text_is_needed_only_where_pieces_are_not_enough() {
        let text = |entries: &str| {
            let many = (0..200).map(|it| format!("- url: https://e.org/{it}\n"));
            let many: String = many.collect();
            let text = format!("base_url: https://short.code/\nmapping:\n{many}{entries}");
            vec![SourceFile::new("t.yaml".into(), text.into_bytes())]
        };
        let before = compile_after(&text(""), None).table.unwrap();
        for (entries, is_enough) in [
            ("", true),
            ("- url: https://x.org/\n", true),
            ("- url: https://x.org/", true),
            ("- url: https://e.org/1\n  short-code: a\n", true),
            // An error, and other forms, of which nothing else is kept.
            ("- ur1: https://x.org/\n", false),
            ("- {url: https://x.org/}\n", false),
            ("defaults:\n  status: 301\n", false),
        ] {
            let files = text(entries);
            let read = as_read(&files, Some(&before));
            assert!(read[0].as_whole().is_none());
            match compile_read(&read, Some(&before)) {
                Ok(compiled) => {
                    assert!(is_enough, "{entries}");
                    assert_same(&compiled, &compile(&files));
                }
                Err(TextNeeded) => assert!(!is_enough, "{entries}"),
            }
        }
        // Without the earlier version, of which there are all pieces.
        let read = as_read(&text(""), Some(&before));
        assert_eq!(compile_read(&read, None).err(), Some(TextNeeded));
    }

    #[test]
    fn hosts_of_former_versions_do_not_pile_up() {
        let mut before = None;
        let mut most = 0;
        for round in 0..100 {
            let fixed = (0..40).map(|number| format!("- url: https://e.org/{number}\n"));
            let own = (0..2).map(|number| format!("- url: https://e{round}.org/{number}\n"));
            let entries: String = fixed.chain(own).collect();
            let text = format!("base_url: https://short.code/\nmapping:\n{entries}");
            let files = [SourceFile::new("a.yaml".into(), text.into_bytes())];
            let table = compile_after(&files, before.as_ref()).table.unwrap();
            most = most.max(table.sites()[0].targets.hosts().iter().len());
            before = Some(table);
        }
        assert!((20..=30).contains(&most), "{most}");
    }

    #[test]
    fn pieces_are_read_again_only_where_something_changes() {
        const KINDS: [usize; 5] = [0, 1, 2, 4, 17];
        let file = |entries: &[usize]| File {
            base_url: 0,
            scheme: 0,
            defaults: 0,
            home: 0,
            fallback: 0,
            case: 0,
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
            let after = compile_after(&changed, Some(&before));
            assert_same(&after, &compile(&changed));
            let followed = assert_orders_follow(&before, after.table.as_ref().unwrap());
            // Where half of the entries have moved, their order is made anew.
            assert_eq!(followed, usize::from(change != "moved"), "{change}");
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
                let whole = compile(&source);
                assert_same(&changed, &whole);
                let as_read = compile_read(&as_read(&source, before.as_ref()), before.as_ref());
                if let Ok(as_read) = as_read {
                    assert_same(&as_read, &whole);
                }
                if let (Some(before), Some(after)) = (&before, &changed.table) {
                    assert_orders_follow(before, after);
                    // Also where it was compiled without the earlier one.
                    let anew = compile_after(&source, None).table.unwrap();
                    assert_orders_follow(before, &anew);
                }
                before = changed.table.or(before);
            }
        }
    }
}
