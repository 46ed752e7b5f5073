//! What reserving and releasing a host costs, with 50,000 hosts that are all due.
//!
//! In memory and in a file it is the CPU time of all threads; the file is written by 64 workers, who
//! share its transactions. With a server, which `WAYPOST_TEST_VALKEY` names, it is the time that eight
//! workers with a connection each take together.

mod cost;
mod scale;

use std::sync::Arc;
use std::time::Duration;

use cost::cpu_time;
use criterion::{Criterion, Throughput};
use scale::scale;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use waypost::frontier::{AliasName, Host, Memory, Redb, Reservation, Store, SystemClock};

/// How long a lease lasts: no benchmark takes that long.
const BUSY_TIMEOUT: Duration = Duration::from_secs(3600);

fn main() {
    let mut criterion = Criterion::default().sample_size(10).configure_from_args();
    let runtime = Runtime::new().expect("threads can be started");
    let hosts = scale(50_000, 100);

    let memory = [Arc::new(Memory::new(SystemClock::new(), Duration::ZERO))];
    runtime.block_on(fill(&memory, hosts));
    measure(&mut criterion, "memory", &runtime, &memory, cpu_time);

    let directory = tempfile::tempdir().expect("files can be created");
    let path = directory.path().join("hosts.redb");
    let file = Redb::open(&path, SystemClock::new(), Duration::ZERO).expect("a new file");
    let file = Arc::new(file);
    let workers: Vec<_> = (0..64).map(|_| Arc::clone(&file)).collect();
    runtime.block_on(fill(&workers, hosts));
    measure(&mut criterion, "redb", &runtime, &workers, cpu_time);

    #[cfg(feature = "valkey")]
    if let Ok(url) = std::env::var("WAYPOST_TEST_VALKEY") {
        let shard = format!("bench-{}", std::process::id());
        let connect = || {
            let address = waypost::valkey::ServerAddress::parse(&url).expect("an address");
            let store =
                waypost::frontier::Valkey::connect(address.with_shard(&shard), Duration::ZERO);
            Arc::new(runtime.block_on(store).expect("a server"))
        };
        let workers: Vec<_> = (0..8).map(|_| connect()).collect();
        runtime.block_on(fill(&workers, hosts));
        let started = std::time::Instant::now();
        measure(&mut criterion, "valkey", &runtime, &workers, || {
            started.elapsed()
        });
    }
    criterion.final_summary();
}

/// Adds hosts, one in ten as a member of an alias with a hundred members.
async fn fill<S: Store + 'static>(workers: &[Arc<S>], hosts: usize) {
    let mut tasks = JoinSet::new();
    for (number, store) in workers.iter().enumerate() {
        let (store, share) = (Arc::clone(store), workers.len());
        tasks.spawn(async move {
            for number in (number..hosts).step_by(share) {
                let host = Host::parse(&format!("host-{number}.example")).expect("a host");
                if number % 10 == 0 {
                    let alias = AliasName::parse(&format!("alias-{}", number / 1000));
                    let alias = alias.expect("an alias");
                    store
                        .set_alias(&host, Some(&alias))
                        .await
                        .expect("it is kept");
                }
                store
                    .add_host(&host, Duration::ZERO)
                    .await
                    .expect("it is kept");
            }
        });
    }
    tasks.join_all().await;
}

fn measure<S: Store + 'static>(
    criterion: &mut Criterion,
    name: &str,
    runtime: &Runtime,
    workers: &[Arc<S>],
    clock: impl Fn() -> Duration,
) {
    let mut group = criterion.benchmark_group("frontier");
    group.throughput(Throughput::Elements(1));
    group.bench_function(format!("reserve-and-release/{name}"), |bencher| {
        bencher.iter_custom(|pairs| {
            let before = clock();
            runtime.block_on(reserve_and_release(workers, pairs));
            clock() - before
        });
    });
    group.finish();
}

async fn reserve_and_release<S: Store + 'static>(workers: &[Arc<S>], pairs: u64) {
    let mut tasks = JoinSet::new();
    let share = pairs.div_ceil(workers.len() as u64);
    for store in workers {
        let store = Arc::clone(store);
        tasks.spawn(async move {
            for _ in 0..share {
                let lease = match store.reserve_next(BUSY_TIMEOUT).await.expect("it is kept") {
                    Reservation::Leased(lease) => lease,
                    other => unreachable!("thousands are due: {other:?}"),
                };
                let again = Some(Duration::ZERO);
                let released = store.release(&lease, Duration::ZERO, again).await;
                released.expect("it is kept");
            }
        });
    }
    tasks.join_all().await;
}
