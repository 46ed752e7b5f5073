//! Comparison of compilations by everything that anyone can see, for tests.

use super::tables::Compilation;
use crate::mapping::packed::Site;

/// Returns everything about a site but the numbers of its entries, shapes and hosts, and the places in memory
/// that follow from those.
fn description(site: &Site) -> String {
    let places: Vec<_> = site.targets.iter().map(|(at, ..)| at).collect();
    let number = |target| places.binary_search(&target).unwrap();
    let target = |at| site.targets.get(at).to_string();
    let targets: Vec<_> = places.iter().map(|at| target(*at)).collect();
    let mut ranks = vec![0; site.numbers_end()];
    let records = site.index.numbers_by_key().enumerate();
    let records = records.map(|(rank, entry)| {
        ranks[entry as usize] = rank;
        let record = site.index.record(entry);
        let shape = site.shapes.of(&record);
        ({ record.key }, number(record.target), shape)
    });
    let records: Vec<_> = records.collect();
    let listed = site
        .codes
        .listed()
        .iter()
        .zip(0_u32..)
        .map(|(&listed, number)| {
            let text = site.codes.text(listed);
            let is_found = site.codes.number_of(text) == Some(number);
            (text, ranks[listed.entry as usize], listed.kind, is_found)
        });
    let listed: Vec<_> = listed.collect();
    let notes = site.entries().map(|entry| {
        let notes: Vec<_> = entry.all_notes().collect();
        (notes, entry.term(), entry.place())
    });
    format!(
        "{:?}\n{records:?}\n{listed:?}\n{:?}\n{:?}\n{:?}",
        (
            site.base_url(),
            site.scheme(),
            site.new_code(),
            site.about()
        ),
        (site.files().collect::<Vec<_>>(), targets),
        notes.collect::<Vec<_>>(),
        (
            (site.code_count(), site.forwarding_depth()),
            (site.shared(), site.review_scope())
        ),
    )
}

/// Checks that two compilations found the same.
pub(super) fn assert_same(changed: &Compilation, whole: &Compilation) {
    assert_eq!(changed.diagnostics, whole.diagnostics);
    assert_eq!(changed.expectations, whole.expectations);
    let described = |compilation: &Compilation| {
        let table = compilation.table.as_ref();
        table.map(|table| table.sites().iter().map(description).collect::<Vec<_>>())
    };
    assert_eq!(described(changed), described(whole));
}
