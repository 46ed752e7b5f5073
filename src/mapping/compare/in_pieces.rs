//! Tests that what is found between two tables does not depend on the pieces that they share.

use proptest::prelude::*;
use proptest::sample::Index;

use crate::mapping::compile::random_edits::{a_file, an_edit, apply, source};
use crate::mapping::value::SourceFile;
use crate::mapping::{
    Origin, Statement, Statements, Table, Timestamp, breaches, compare, compile, compile_after,
    near_ends, shadowed,
};

use super::SitePair;

/// Returns everything that is found between two tables, in its order.
fn found(old: &Table, new: &Table) -> Vec<String> {
    let origin = Origin {
        commit: "COMMIT".to_owned(),
        day: "DAY".to_owned(),
    };
    let stated: Statements = (0..100)
        .map(|number| Statement::retarget(&format!("c{number}")))
        .collect();
    let changes = compare(old, new).into_iter().map(|it| {
        let (before, after) = (it.before(), it.after());
        let old = it.old.map(|old| old.place());
        let what = (it.kind, &it.code, before, after, it.is_takedown);
        format!("{what:?} {old:?} {:?}", it.place())
    });
    let broken = breaches(old, &origin, new, &stated).into_iter();
    let broken = broken.map(|it| format!("{:?} {:?}", it.link, it.diagnostic));
    let shadowed = shadowed(old, new).into_iter().map(|it| {
        let (old, new) = (it.old.place(), it.new.place());
        format!("{} {} {old} {new}", it.code, it.path)
    });
    let now = Timestamp::from_unix(1_890_000_000);
    let ends = near_ends(old, new, now).into_iter();
    let ends = ends.map(|it| format!("{it:?}"));
    changes.chain(broken).chain(shadowed).chain(ends).collect()
}

/// Returns a table of numbered entries, one of which has a title.
fn numbered(count: usize, title: &str) -> Vec<SourceFile> {
    let entry = |number: usize| match number {
        70 => format!("- url: https://e.org/70\n  title: {title}\n"),
        _ => format!("- url: https://e.org/{number}\n  short-code: c{number}\n"),
    };
    let entries: String = (0..count).map(entry).collect();
    let text = format!("base_url: https://short.code/\nmapping:\n{entries}");
    vec![SourceFile::new("t.yaml".into(), text.into_bytes())]
}

#[test]
fn entries_of_common_pieces_are_not_visited() {
    let old = compile_after(&numbered(400, "A"), None).table.unwrap();
    let new = compile_after(&numbered(400, "B"), Some(&old))
        .table
        .unwrap();
    let pair = SitePair::of(old.sites().first(), new.sites().first());
    let (old_ones, new_ones) = (pair.old_entries().count(), pair.new_entries().count());
    assert!(old_ones < 30 && new_ones < 30, "{old_ones} {new_ones}");
    assert_eq!(compare(&old, &new).len(), 1);
    // Tables that are not in pieces are visited in full.
    let whole = compile(&numbered(400, "A")).table.unwrap();
    let pair = SitePair::of(whole.sites().first(), new.sites().first());
    assert_eq!(pair.old_entries().count(), 400);
    assert_eq!(compare(&whole, &new).len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_found_does_not_depend_on_pieces(
        files in prop::collection::vec(a_file(60), 1..3),
        edits in prop::collection::vec((any::<Index>(), an_edit()), 1..6),
    ) {
        let mut files: Vec<_> = files.into_iter().enumerate().collect();
        let mut versions: Vec<(Table, Table)> = Vec::new();
        let mut add = |files: &[SourceFile]| {
            let before = versions.last().map(|(pieced, _)| pieced);
            let pieced = compile_after(files, before).table;
            versions.extend(pieced.zip(compile(files).table));
        };
        add(&source(&files));
        for (at, edit) in edits {
            apply(edit, at, &mut files);
            add(&source(&files));
        }
        for (old, whole_old) in &versions {
            for (new, whole_new) in &versions {
                prop_assert_eq!(found(old, new), found(whole_old, whole_new));
            }
        }
    }
}
