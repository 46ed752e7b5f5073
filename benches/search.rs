//! How long a search takes: in tables whose entries have a URL alone, and in tables whose entries
//! have all that can be searched.
//!
//! A word that is nowhere makes it look at all entries; a page of a listing ends soon.

mod scale;
mod tables;

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion};
use scale::scale;
use tables::Random;
use waypost::mapping::{CodeOrder, Filter, SourceFile, Table, Timestamp, compile};

const NOW: Timestamp = Timestamp::from_unix(1_790_000_000);

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3))
        .sample_size(10)
        .configure_from_args();
    let entries = scale(1_000_000, 1_000);
    let keys = |number: usize, random: &mut Random| {
        let (title, owner, tag) = (random.word(24), random.word(6), random.word(5));
        format!(
            "\n  short-code: {}-{number}\n  aliases: [{}/{number}]\n  title: {title}\n  \
             owner: {owner}\n  tags: [{tag}]",
            random.word(8),
            random.word(6)
        )
    };
    search(
        &mut criterion,
        "plain",
        &tables::table(entries, |_, _| String::new()),
    );
    search(&mut criterion, "full", &tables::table(entries, keys));
    criterion.final_summary();
}

fn search(criterion: &mut Criterion, kind: &str, yaml: &str) {
    let table = compiled(yaml);
    let site = &table.sites()[0];
    let order = CodeOrder::new(site);
    let mut group = criterion.benchmark_group("search");
    let entries = site.len();
    group.bench_function(
        BenchmarkId::new(format!("{kind}/sort"), entries),
        |bencher| {
            bencher.iter(|| black_box(CodeOrder::new(site)));
        },
    );
    for (name, filter) in [
        ("first page", Filter::default()),
        ("no such word", Filter::default().text("zzzzz.no")),
        (
            "no such words",
            Filter::default().text("example https zzzzz.no"),
        ),
        ("no such tag", Filter::default().tag("no")),
    ] {
        group.bench_function(
            BenchmarkId::new(format!("{kind}/{name}"), entries),
            |bencher| {
                bencher.iter(|| {
                    let entries = order.search(site, filter.clone(), None, NOW, || true);
                    black_box(entries.take(50).count())
                });
            },
        );
    }
    group.finish();
}

fn compiled(yaml: &str) -> Table {
    let file = SourceFile {
        path: "t.yaml".into(),
        bytes: yaml.as_bytes().into(),
    };
    let compiled = compile(&[file]);
    compiled.table.expect("the table has no errors")
}
