//! What a search costs, in CPU time: in a table whose entries have a URL alone, in one whose entries
//! have all that can be searched, and in one that is not written in ASCII.
//!
//! Searches that find little scan all entries; a page of frequent matches ends early.

mod cost;
mod scale;
mod tables;

use std::hint::black_box;
use std::time::Duration;

use cost::cpu_time;
use criterion::{BenchmarkId, Criterion};
use scale::scale;
use tables::Random;
use waypost::mapping::{CodeOrder, Filter, LinkState, SourceFile, Table, Timestamp, compile};

const NOW: Timestamp = Timestamp::from_unix(1_790_000_000);

/// How many links a page has.
const PAGE: usize = 50;

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(2))
        .sample_size(10)
        .configure_from_args();
    let entries = scale(1_000_000, 1_000);
    search(
        &mut criterion,
        "plain",
        &tables::table(entries, |_, _| String::new()),
    );
    search(
        &mut criterion,
        "full",
        &tables::table(entries, |number, random| {
            let title = random.word(24);
            keys(number, random, &title)
        }),
    );
    search(
        &mut criterion,
        "unicode",
        &tables::table(entries, |number, random| {
            let title: String = (0..24)
                .map(|_| char::from_u32('а' as u32 + random.below(32) as u32).unwrap_or('а'))
                .collect();
            keys(number, random, &title)
        }),
    );
    criterion.final_summary();
}

/// Returns all keys that can be searched, and an end of validity for an entry in a hundred, which is
/// past for half of those.
fn keys(number: usize, random: &mut Random, title: &str) -> String {
    let expires = match number % 200 {
        0 => "\n  expires: 2020-01-01",
        100 => "\n  expires: 2090-01-01",
        _ => "",
    };
    let (code, alias) = (random.word(8), random.word(6));
    let (owner, tag) = (random.below(1_000), random.below(10_000));
    // One half each.
    let frequent = ["even", "odd"][number % 2];
    format!(
        "\n  short-code: {code}-{number}\n  aliases: [{alias}/{number}]\n  title: {title} {frequent}\n  \
         owner: owner-{owner}\n  tags: [tag-{tag}, {frequent}]{expires}"
    )
}

fn search(criterion: &mut Criterion, kind: &str, yaml: &str) {
    let table = compiled(yaml);
    let site = &table.sites()[0];
    let entries = site.len();
    let order = CodeOrder::new(site);
    let mut group = criterion.benchmark_group("search");
    let mut measure = |name: &str, work: &dyn Fn() -> usize| {
        let id = BenchmarkId::new(format!("{kind}/{name}"), entries);
        group.bench_function(id, |bencher| {
            bencher.iter_custom(|rounds| {
                let before = cpu_time();
                for _ in 0..rounds {
                    black_box(work());
                }
                cpu_time() - before
            });
        });
    };
    measure("sort", &|| CodeOrder::new(site).heap_bytes());
    let all = Filter::default;
    let some = entries / 2;
    for (name, filter) in [
        ("first page", all()),
        ("frequent word", all().text("example")),
        ("rare word", all().text(&format!("/{some}/"))),
        ("no such word", all().text("zzzzz.no")),
        ("no such URL", all().text("https://example.no/")),
        ("no such letter", all().text("ß")),
        (
            "frequent words and no such",
            all().text("example https zzzzz.no"),
        ),
        ("frequent words, never together", all().text("even odd")),
        ("single letters", all().text("q x z y j ! w v k ß")),
        ("tag", all().tag("tag-17")),
        ("no such tag", all().tag("no")),
        ("owner", all().owner("owner-17")),
        ("expired", all().state(LinkState::Expired)),
        ("retired", all().state(LinkState::Retired)),
        (
            "all conditions",
            all()
                .text("example even")
                .tag("odd")
                .owner("owner-17")
                .state(LinkState::Live),
        ),
    ] {
        let found = || order.search(site, filter.clone(), None, NOW, || true);
        measure(name, &|| found().take(PAGE + 1).count());
    }
    // The last half of all entries, of which few have the word.
    let middle = order
        .search(site, all(), None, NOW, || true)
        .nth(entries / 2);
    let middle = middle.map(|entry| entry.code().into_owned());
    let after = || {
        order.search(site, all().text("zzzzz.no"), middle.as_deref(), NOW, || {
            true
        })
    };
    measure("no such word after the middle", &|| after().count());
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
