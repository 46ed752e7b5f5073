//! How fast tables compile, in bytes per second: those that people write, from nothing and after a
//! change, and those that an attacker would write; and how fast codes are derived.

mod scale;
mod tables;

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput};
use scale::scale;
use waypost::mapping::{Scheme, SourceFile, compile, compile_after};

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_secs(1))
        .configure_from_args();
    tables(&mut criterion);
    changed_tables(&mut criterion);
    hostile_tables(&mut criterion);
    codes(&mut criterion);
    criterion.final_summary();
}

fn tables(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("compile");
    for entries in scale(vec![1_000, 100_000], vec![100]) {
        for (name, files) in [
            ("block-form", one(plain(entries))),
            ("any-yaml", one(plain_but_for_one_line(entries))),
            ("custom-codes", one(with_custom_codes(entries))),
            ("all-keys", one(with_all_keys(entries))),
            ("many-files", split(&plain(entries), 100)),
        ] {
            let diagnostics = compile(&files).diagnostics;
            assert!(diagnostics.is_empty(), "{name}: {diagnostics:?}");
            measure(&mut group, name, entries, &files);
        }
    }
    group.finish();
}

fn plain(entries: usize) -> String {
    tables::table(entries, |_, _| String::new())
}

/// Returns the same table with a map in flow style, which only the general YAML reader supports.
fn plain_but_for_one_line(entries: usize) -> String {
    plain(entries).replacen("mapping:", "defaults: {status: 302}\nmapping:", 1)
}

fn with_custom_codes(entries: usize) -> String {
    tables::table(entries, |number, random| {
        format!("\n  short-code: {}-{number}", random.word(6))
    })
}

fn with_all_keys(entries: usize) -> String {
    tables::table(entries, |number, random| {
        let word = random.word(6);
        format!(
            "
  short-code: {word}-{number}
  aliases: [{word}/{number}, {word}.{number}]
  status: 301
  forward: path-and-query
  title: The {word} of {number}
  owner: {word}@example.org
  tags: [{word}, poster]
  cache-max-age: 3600
  expires: 2099-12-31
  retired: 2099-06-30
  archive: https://archive.example/{word}/{number}"
        )
    })
}

/// Tables with one entry more in the middle, compiled after the version before.
fn changed_tables(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("compile-changed");
    for entries in scale(vec![100_000, 1_000_000], vec![100]) {
        for (name, text) in [
            ("block-form", plain(entries)),
            ("custom-codes", with_custom_codes(entries)),
            ("all-keys", with_all_keys(entries)),
        ] {
            let middle = text.len() / 2;
            let start = text[middle..].find("\n- ").map(|at| middle + at + 1);
            let (head, tail) = text.split_at(start.expect("there are entries after the middle"));
            let changed = format!("{head}- url: https://changed.example/\n{tail}");
            let before = compile_after(&one(text.clone()), None).table;
            let before = before.expect("the table has no errors");
            let files = one(changed);
            group.throughput(Throughput::Bytes(files[0].bytes.len() as u64));
            group.bench_function(BenchmarkId::new(name, entries), |bencher| {
                bencher.iter_with_large_drop(|| compile_after(black_box(&files), Some(&before)));
            });
        }
    }
    group.finish();
}

/// Tables of a few megabytes, with input that makes careless parsers slow; all but one are refused.
fn hostile_tables(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("compile-hostile");
    let times = scale(100_000, 100);
    for (name, text) in [
        ("deep-nesting", "{a: ".repeat(times)),
        ("one-code-for-all", one_code_for_all(times)),
        ("one-long-line", one_long_line(times)),
        ("alias-bomb", alias_bomb(times)),
        (
            "conflict-markers",
            "<<<<<<< ours\n=======\n>>>>>>> theirs\n".repeat(times),
        ),
    ] {
        measure(&mut group, name, times, &one(text));
    }
    group.finish();
}

fn one_code_for_all(entries: usize) -> String {
    tables::table(entries, |_, _| "\n  short-code: same".to_owned())
}

/// Returns a table whose entries are all on one line, in flow style.
fn one_long_line(entries: usize) -> String {
    let entry = |number| format!("{{url: 'https://example.org/{number}'}}");
    let entries: Vec<_> = (0..entries).map(entry).collect();
    let entries = entries.join(", ");
    format!("base_url: https://short.code/\nmapping: [{entries}]\n")
}

/// Returns a large scalar with very many aliases.
fn alias_bomb(aliases: usize) -> String {
    let large = "a".repeat(10 * aliases);
    let aliases = "\n- url: *u".repeat(aliases);
    format!(
        "base_url: https://short.code/\nmapping:\n- url: &u https://example.org/{large}{aliases}\n"
    )
}

fn codes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("code");
    let url = "https://www.example.org/wiki/Uniform_Resource_Locator";
    group.throughput(Throughput::Bytes(url.len() as u64));
    for scheme in Scheme::ALL {
        group.bench_function(scheme.name(), |bencher| {
            bencher.iter(|| black_box(scheme.code(black_box(url))));
        });
    }
    group.finish();
}

/// Returns a table of one file.
fn one(text: String) -> Vec<SourceFile> {
    vec![SourceFile {
        path: "mapping.yaml".into(),
        bytes: text.into_bytes(),
    }]
}

/// Returns the same table in files of so many entries, each a line.
fn split(table: &str, entries: usize) -> Vec<SourceFile> {
    let lines: Vec<_> = table.lines().collect();
    let (head, lines) = lines.split_at(3);
    let chunks = lines.chunks(entries).zip(0..);
    chunks
        .map(|(lines, number)| SourceFile {
            path: format!("{number:06}.yaml").into(),
            bytes: format!("{}\n{}\n", head.join("\n"), lines.join("\n")).into_bytes(),
        })
        .collect()
}

fn measure(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    entries: usize,
    files: &[SourceFile],
) {
    let bytes: usize = files.iter().map(|file| file.bytes.len()).sum();
    group.throughput(Throughput::Bytes(bytes as u64));
    group.bench_function(BenchmarkId::new(name, entries), |bencher| {
        bencher.iter_with_large_drop(|| compile(black_box(files)));
    });
}
