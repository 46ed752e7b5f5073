//! How long a request takes to resolve: each kind of request, in tables of several sizes.
//!
//! The requested entry is random, so that large tables are not measured from a warm cache.
//! With `WAYPOST_BENCH_LARGE=1` there is also a table of ten million entries.

mod scale;
mod tables;
mod traffic;

use std::cell::LazyCell;
use std::env;
use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use scale::scale;
use traffic::{Kind, NOW};
use waypost::mapping;

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3))
        .configure_from_args();
    let mut sizes = scale(vec![1_000, 100_000, 1_000_000], vec![1_000]);
    if env::var_os("WAYPOST_BENCH_LARGE").is_some_and(|large| large == "1") {
        sizes.push(10_000_000);
    }
    for entries in sizes {
        resolve(&mut criterion, entries);
    }
    criterion.final_summary();
}

fn resolve(criterion: &mut Criterion, entries: usize) {
    // Made only if a filter on the command line leaves something to measure.
    let table = LazyCell::new(|| traffic::table(entries));
    let mut group = criterion.benchmark_group("resolve");
    group.throughput(Throughput::Elements(1));
    for kind in Kind::ALL {
        let requests = LazyCell::new(|| kind.requests(&table, scale(200_000, 1_000)));
        // Each sample continues where the last one ended, so that the first requests differ.
        let mut next = 0;
        group.bench_function(BenchmarkId::new(kind.name(), entries), |bencher| {
            let (table, requests) = (&*table, &*requests);
            bencher.iter(|| {
                next = (next + 1) % requests.len();
                let request = requests[next].as_request();
                black_box(table.resolve(black_box(&request), NOW));
            });
        });
    }
    group.finish();
}
