//! A process that keeps its hosts in a file is killed at random instants.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use redb::TableDefinition;
use tokio::task::JoinSet;
use waypost::frontier::{
    AliasName, Lease, LeaseState, Redb, RedbTransaction, Reservation, Store, SystemClock,
};

use crate::bench::{millis, named, secs};

/// How often the process is killed.
const KILLS: usize = 50;

/// How often each host is requested.
const TIMES: u64 = 120;

const HOSTS: usize = 30;

/// How long a group pauses if the process dies during a request to it.
const FULL_PAUSE: Duration = millis(40);

/// How often each host was requested: a table of the caller, written with each release.
const ASKED: TableDefinition<&str, u64> = TableDefinition::new("asked");

#[test]
#[ignore = "tests/e2e/frontier runs it, with a seed"]
fn nothing_is_lost_or_doubled_when_the_process_is_killed() {
    let seed = std::env::var("FRONTIER_SEED").expect("FRONTIER_SEED is a number");
    let mut random = Random(seed.parse().expect("FRONTIER_SEED is a number"));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("hosts.redb");
    prepare(&path);

    let mut seen = Seen::default();
    let mut in_the_middle = 0;
    for _ in 0..KILLS {
        let mut process = start(&path);
        let instant = millis(random.below(150));
        std::thread::sleep(instant);
        process.kill().unwrap();
        in_the_middle += usize::from(seen.read(process));
    }
    let process = start(&path);
    assert!(!seen.read(process), "the last one is not killed");
    say(format_args!(
        "killed {KILLS} times, {in_the_middle} of them during a lease"
    ));
    assert!(in_the_middle > 0);

    let store = Redb::open(&path, SystemClock::new(), FULL_PAUSE).unwrap();
    for number in 0..HOSTS {
        let host = name(number);
        assert_eq!(asked(&store, &host), TIMES, "{host}");
        // An answered request is never lost; an unanswered one is repeated.
        assert!(
            seen.released[&host] <= TIMES && TIMES <= seen.leased[&host],
            "{host}"
        );
    }
    let counts = wait(store.counts());
    assert_eq!((counts.queued, counts.busy, counts.busy_aliases), (0, 0, 0));
}

/// The output of the processes.
#[derive(Default)]
struct Seen {
    tokens: BTreeSet<u64>,
    leased: BTreeMap<String, u64>,
    released: BTreeMap<String, u64>,
    /// Groups whose lease the last process did not release.
    left: BTreeSet<String>,
}

impl Seen {
    /// Reads what a process writes until it ends, and returns whether a lease was left.
    fn read(&mut self, mut process: Child) -> bool {
        let mut text = String::new();
        let mut output = process.stdout.take().unwrap();
        output.read_to_string(&mut text).unwrap();
        process.wait().unwrap();
        let mut busy = BTreeSet::new();
        let mut opening = None;
        let before = self.tokens.last().copied();
        // A process that is killed leaves half a line at most.
        for line in text
            .split_inclusive('\n')
            .filter(|line| line.ends_with('\n'))
        {
            let words: Vec<_> = line.split_whitespace().collect();
            match words[..] {
                ["opening", time] => opening = Some(time.parse::<u64>().unwrap()),
                ["leased", time, host, group, token] => {
                    let token = token.parse().unwrap();
                    // The lines of one process may be in a different order from its leases.
                    assert!(before.is_none_or(|before| before < token), "{line}");
                    assert!(self.tokens.insert(token), "{line}");
                    assert!(busy.insert(group.to_owned()), "twice at once: {line}");
                    if self.left.remove(group) {
                        let rested = time.parse::<u64>().unwrap() - opening.unwrap();
                        assert!(
                            u128::from(rested) >= FULL_PAUSE.as_millis(),
                            "too soon: {line}"
                        );
                    }
                    *self.leased.entry(host.to_owned()).or_default() += 1;
                }
                ["releasing", _, _, group, _] => assert!(busy.remove(group), "{line}"),
                ["released", _, host, ..] => {
                    *self.released.entry(host.to_owned()).or_default() += 1;
                }
                // The runner of the tests writes, too.
                _ => {}
            }
        }
        let left = !busy.is_empty();
        self.left = busy;
        left
    }
}

/// Random numbers by a seed (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(0x2545_f491_4f6c_dd1d)
            .wrapping_add(0x9e37_79b9);
        self.0 ^= self.0 >> 29;
        self.0 % bound
    }
}

fn name(number: usize) -> String {
    format!("h{number}.example")
}

fn prepare(path: &Path) {
    let store = Redb::open(path, SystemClock::new(), FULL_PAUSE).unwrap();
    for number in 0..HOSTS {
        let host = named(&name(number));
        if number < 9 {
            let alias = AliasName::parse(["one", "two", "three"][number % 3]).unwrap();
            wait(store.set_alias(&host, Some(&alias)));
        }
        wait(store.add_host(&host, Duration::ZERO));
    }
}

fn wait<T>(future: impl Future<Output = Result<T, waypost::frontier::StoreError>>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(future).unwrap()
}

fn asked(store: &Redb, host: &str) -> u64 {
    let transaction = store.begin_read().unwrap();
    match transaction.open_table(ASKED) {
        Ok(table) => table.get(host).unwrap().map_or(0, |times| times.value()),
        Err(_) => 0,
    }
}

fn start(path: &Path) -> Child {
    let mut program = Command::new(std::env::current_exe().unwrap());
    program
        .args([
            "--ignored",
            "--nocapture",
            "--exact",
            "killed::asks_hosts_until_it_is_killed",
        ])
        .env("WAYPOST_TEST_FILE", path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "a process of another test"]
fn asks_hosts_until_it_is_killed() {
    let Some(path) = std::env::var_os("WAYPOST_TEST_FILE") else {
        return;
    };
    say(format_args!("opening {}", now()));
    let store = Arc::new(Redb::open(&PathBuf::from(path), SystemClock::new(), FULL_PAUSE).unwrap());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut workers = JoinSet::new();
    for _ in 0..8 {
        workers.spawn_on(work(Arc::clone(&store)), runtime.handle());
    }
    runtime.block_on(workers.join_all());
}

async fn work(store: Arc<Redb>) {
    loop {
        // The order of lines is that of leases.
        let lease = match store.reserve_next(secs(60)).await.unwrap() {
            Reservation::Leased(lease) => lease,
            Reservation::Wait(time) => {
                tokio::time::sleep(time.min(millis(1))).await;
                continue;
            }
            Reservation::Empty => return,
        };
        report("leased", &lease);
        let host = lease.host.to_string();
        let times = asked(&store, &host) + 1;
        tokio::time::sleep(millis(2)).await;
        report("releasing", &lease);
        let next_in = (times < TIMES).then_some(Duration::ZERO);
        let released = lease.clone();
        let write = move |transaction: &mut RedbTransaction<'_>| {
            let state = transaction.release(&released, Duration::ZERO, next_in);
            assert_eq!(state, LeaseState::Current);
            (transaction.tables()?.open_table(ASKED)?).insert(host.as_str(), times)?;
            Ok(())
        };
        store.write(write).await.unwrap();
        report("released", &lease);
    }
}

fn report(what: &str, lease: &Lease) {
    let host = lease.host.as_str();
    let group = lease.alias.as_ref().map_or(host, AliasName::as_str);
    say(format_args!(
        "{what} {} {host} {group} {}",
        now(),
        lease.token
    ));
}

fn say(line: std::fmt::Arguments<'_>) {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{line}").unwrap();
}

fn now() -> u128 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_millis()
}
