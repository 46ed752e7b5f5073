//! Arbitrary bytes as a file to import: reading them never panics, and rows come in the order of the
//! lines of the file, none of which they leave.

#![no_main]

use libfuzzer_sys::fuzz_target;
use waypost_fuzz::mapping::{BaseUrl, Case};
use waypost_fuzz::read::{ImportFormat, Options};

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, bytes)) = bytes.split_first() else {
        return;
    };
    // A letter first, from `a` on; so a seed is a letter and a file.
    let form = ImportFormat::ALL[usize::from(first.wrapping_sub(b'a')) % ImportFormat::ALL.len()];
    let from = BaseUrl::parse("https://short.code/go/").expect("it is one");
    let options = Options {
        from: &[&from],
        case: Case::Exact,
        columns: &[],
    };
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
    let mut last = 1;
    let read = form.read(bytes, &options, &mut |row| {
        assert!(
            (last..=lines).contains(&row.line),
            "{form:?}: line {} behind {last}, of {lines}",
            row.line
        );
        last = row.line;
    });
    // Only CSV can fail as a whole, because of its header.
    let is_csv = matches!(
        form,
        ImportFormat::Csv | ImportFormat::Yourls | ImportFormat::Shlink | ImportFormat::Psql
    );
    assert!(read.is_ok() || is_csv);
});
