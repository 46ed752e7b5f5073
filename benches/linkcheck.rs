//! What checking a million links on 50,000 hosts takes: how long politeness makes it, the CPU time of
//! a request, the state on disk, memory, the next start; and answers a second from a server.
//!
//! Each stage is a process of its own, so that its memory and its CPU time are its own. Each line is
//! a figure with its goal; nothing fails on a figure.
//!
//! Memory beyond the table is what was resident at most from when the table was compiled, less what was
//! resident then: the text that the table was compiled from is gone, and is not counted.

#![allow(clippy::print_stdout, reason = "the figures are for people to read")]

mod cost;
mod scale;
mod tables;
mod web;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use cost::{cpu_time, forget_peak, peak, resident};
use scale::scale;
use tokio::runtime::Runtime;
use waypost::frontier::{Clock, SystemClock};
use waypost::linkcheck::{
    CheckOptions, CheckState, Checker, FileState, Links, PendingReply, Question, RequestClient,
    Requester, Scope, Trust, UserAgent,
};
use waypost::mapping::{Table, Timestamp};
use web::farm::{self, Farm};
use web::simulation::{SimulatedClock, SimulatedState, SimulatedWeb, answer_time};
use web::{WebSize, answer};

/// Which stage a process is, and the directory of its files.
const STAGE: &str = "WAYPOST_BENCH_STAGE";
const DIRECTORY: &str = "WAYPOST_BENCH_DIRECTORY";

/// How many links there are instead, on a twentieth as many hosts.
const LINKS: &str = "WAYPOST_BENCH_LINKS";

/// The pause of the simulation.
const DELAY: Duration = Duration::from_secs(1);

fn main() {
    let links = env::var(LINKS).ok().and_then(|links| links.parse().ok());
    let links = links.unwrap_or(scale(1_000_000, 2_000));
    let web = WebSize {
        links,
        hosts: links / 20,
    };
    let directory = PathBuf::from(env::var_os(DIRECTORY).unwrap_or_default());
    let file = directory.join("state.redb");
    match env::var(STAGE).as_deref() {
        Ok("schedule") => schedule(web),
        Ok("first-run") => first_run(web, &file),
        Ok("next-run") => next_run(web, &file),
        Ok("answers") => answers(&directory.join("answers.redb")),
        Ok("server") => farm::serve(&runtime()),
        _ => {
            let directory = tempfile::tempdir().expect("files can be created");
            for name in ["schedule", "first-run", "next-run", "answers"] {
                let ended = stage(name, directory.path()).status();
                let is_ok = ended.expect("a process can be started").success();
                assert!(is_ok, "the stage {name} failed");
            }
        }
    }
}

/// Returns the command of a stage, with the environment of the image.
fn stage(name: &str, directory: &Path) -> Command {
    let mut command = Command::new(env::current_exe().expect("this program has a path"));
    command
        .args(env::args_os().skip(1))
        .env(STAGE, name)
        .env(DIRECTORY, directory)
        .env("MALLOC_MMAP_THRESHOLD_", "1048576");
    command
}

fn figure(what: &str, measured: impl std::fmt::Display, goal: &str) {
    println!("| {what} | {measured} | {goal} |");
}

fn runtime() -> Runtime {
    Runtime::new().expect("threads can be started")
}

fn links(table: &Arc<Table>) -> Links {
    Links::of(table, Timestamp::from(SystemTime::now()), |_| true)
}

/// A whole check in simulated time.
fn schedule(web: WebSize) {
    let table = web.table("https");
    let bound = bound(&table);
    let links = links(&table);
    let clock = SimulatedClock::default();
    let options = CheckOptions {
        delay: DELAY,
        ..CheckOptions::default()
    };
    let checker = Arc::new(Checker::new(
        Arc::new(SimulatedState::new(&clock, DELAY)),
        Arc::new(SimulatedWeb(clock.clone())),
        Arc::new(clock.clone()),
        links,
        options,
    ));
    let before = cpu_time();
    let run = checker.run();
    clock.runtime().block_on(run).expect("memory cannot fail");
    let progress = checker.progress();
    assert_eq!(progress.checked, web.links, "each link is checked once");
    let taken = clock.elapsed().as_secs_f64();
    let measured = format!(
        "{:.4} ({taken:.0} s, {} requests)",
        taken / bound.as_secs_f64(),
        progress.requests
    );
    figure("schedule, relative to its bound", measured, "1.02");
    let cpu = (cpu_time() - before) / u32::try_from(progress.requests).expect("they fit");
    figure(
        "CPU time of a request in memory, with the simulation",
        micros(cpu),
        "",
    );
}

/// Returns the time of the slowest host, from its links, its pauses and its answers.
fn bound(table: &Table) -> Duration {
    let mut hosts = std::collections::HashMap::<String, u32>::new();
    for entry in table.sites().iter().flat_map(|site| site.entries()) {
        let target = entry.target().expect("each entry has one");
        let host = target.split('/').nth(2).unwrap_or_default();
        *hosts.entry(host.to_owned()).or_default() += 1;
    }
    let times = hosts.iter().map(|(host, links)| {
        let took = answer_time(host);
        (took + DELAY.max(took * 5)) * *links
    });
    times.max().unwrap_or_default()
}

/// A Web that answers immediately.
struct InstantWeb;

impl Requester for InstantWeb {
    fn send<'a>(&'a self, question: &'a Question) -> PendingReply<'a> {
        Box::pin(async { answer(question, Duration::ZERO) })
    }
}

/// Returns a checker with a state in a file, without pauses.
fn checker(
    file: &Path,
    requester: Arc<dyn Requester>,
    links: Links,
    concurrency: usize,
) -> Arc<Checker> {
    let clock = SystemClock::new();
    let state = FileState::open(file, clock, Duration::ZERO).expect("the file can be opened");
    let options = CheckOptions {
        delay: Duration::ZERO,
        concurrency,
        ..CheckOptions::default()
    };
    let state: Arc<dyn CheckState> = Arc::new(state);
    let clock: Arc<dyn Clock> = Arc::new(clock);
    Arc::new(Checker::new(state, requester, clock, links, options))
}

/// The first check, into a file.
fn first_run(web: WebSize, file: &Path) {
    let table = web.table("https");
    forget_peak();
    let before = (resident(), cpu_time());
    let checker = checker(file, Arc::new(InstantWeb), links(&table), 256);
    runtime()
        .block_on(checker.run())
        .expect("the file can be written");
    let progress = checker.progress();
    assert_eq!(progress.checked, web.links, "each link is checked once");
    let cpu = (cpu_time() - before.1) / u32::try_from(progress.requests).expect("they fit");
    figure("CPU time of a request, written to a file", micros(cpu), "");
    figure(
        "memory beyond the table, first run",
        beyond(before.0),
        "100 MB",
    );
    drop(checker);
    let size = fs::metadata(file).expect("the file is there").len();
    let each = size / web.links as u64;
    figure(
        "state on disk",
        format!("{} ({each} B a link)", megabytes(size)),
        "200 MB",
    );
}

/// The next start, with nothing due.
fn next_run(web: WebSize, file: &Path) {
    let table = web.table("https");
    forget_peak();
    let before = (resident(), cpu_time());
    let started = Instant::now();
    let links = links(&table);
    let gathered = (started.elapsed(), cpu_time());
    let checker = checker(file, Arc::new(InstantWeb), links, 256);
    let opened = (started.elapsed(), cpu_time());
    runtime()
        .block_on(checker.run())
        .expect("the file can be written");
    let total = (started.elapsed(), cpu_time() - before.1);
    let asked = checker.progress().requests;
    assert!(
        asked < web.links / 100,
        "{asked} requests, and nothing was due"
    );
    let parts = format!(
        "{} ({} of CPU: {} for the links of the table, {} for opening the file)",
        seconds(total.0),
        seconds(total.1),
        seconds(gathered.1 - before.1),
        seconds(opened.1 - gathered.1),
    );
    figure("start with that state", parts, "2 s");
    figure(
        "memory beyond the table, next run",
        beyond(before.0),
        "100 MB",
    );
}

/// Answers of a server on loopback, with the state in a file.
fn answers(file: &Path) {
    let hosts = scale(10_000, 20);
    let web = WebSize {
        links: hosts * 4,
        hosts,
    };
    let directory = file.parent().expect("it is in a directory");
    let farm = Farm::start(&mut stage("server", directory));
    let agent = UserAgent::new(None).expect("no contact is wrong");
    let trust = Trust::system().expect("the system trusts something");
    let client =
        RequestClient::new(Arc::new(farm.resolver()), trust, agent).in_scope(Scope::Private);
    let concurrency = CheckOptions::default().concurrency;
    let links = links(&web.table("http"));
    let checker = checker(file, Arc::new(client), links, concurrency);
    let before = (Instant::now(), cpu_time());
    runtime()
        .block_on(checker.run())
        .expect("the file can be written");
    let (taken, cpu) = (before.0.elapsed(), cpu_time() - before.1);
    let progress = checker.progress();
    assert_eq!(progress.checked, web.links, "each link is checked once");
    let rate = progress.requests as f64 / taken.as_secs_f64();
    let cpu = micros(cpu / u32::try_from(progress.requests).expect("they fit"));
    let measured = format!("{rate:.0} ({cpu} of CPU each)");
    figure("answers a second from 10,000 names", measured, "1,000");
}

/// Returns the peak of resident memory since it was reset, beyond the memory at that time.
fn beyond(before: u64) -> String {
    let most = megabytes(peak().saturating_sub(before));
    let now = megabytes(resident().saturating_sub(before));
    format!(
        "at most {most}, {now} at the end; the table is in {}",
        megabytes(before)
    )
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

fn micros(duration: Duration) -> String {
    format!("{:.1} µs", duration.as_secs_f64() * 1e6)
}

fn seconds(duration: Duration) -> String {
    format!("{:.2} s", duration.as_secs_f64())
}
