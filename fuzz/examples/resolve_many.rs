//! Resolves requests of one kind, and does nothing else: `tests/e2e/instructions` counts what each
//! takes.
//!
//! Usage: `resolve_many KIND REQUESTS`. The table and the requests are made first, and are the same
//! however many of them are then resolved.

#[path = "../../benches/tables/mod.rs"]
mod tables;
#[path = "../../benches/traffic/mod.rs"]
mod traffic;

use std::env;
use std::hint::black_box;

use traffic::{Kind, NOW};
use waypost_fuzz::mapping;

const ENTRIES: usize = 10_000;

fn main() {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let [kind, count] = &arguments[..] else {
        panic!("usage: resolve_many KIND REQUESTS");
    };
    let kind = Kind::ALL.into_iter().find(|known| known.name() == kind);
    let kind = kind.expect("KIND is one that is benchmarked");
    let count = count.parse().expect("REQUESTS is a number");

    let table = traffic::table(ENTRIES);
    let requests = kind.requests(&table, ENTRIES);
    for request in requests.iter().cycle().take(count) {
        black_box(table.resolve(black_box(&request.as_request()), NOW));
    }
}
