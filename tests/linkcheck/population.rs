//! Two thousand links over six weeks: none that works is called dead, however often its host is down
//! for days, and each that is lost is found.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use waypost::frontier::Clock;
use waypost::linkcheck::{CertificateProblem, CheckOptions, Failure, Policy, Reply, Verdict};

use crate::web::{Web, checker, in_memory, page, status, to};

const HOUR: Duration = Duration::from_secs(3600);

/// A link's host is down for at most so many hours, and then works for at least as many.
const OUTAGE: usize = 120;

/// When a link is lost that was there before.
const DEATH: usize = 300;

/// How many checks there are.
const CHECKS: usize = 23;

type Answer = Result<Reply, Failure>;

/// The true state of a link, whatever its host answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Truth {
    Works,
    Lost,
    /// It is lost some time after the first checks.
    Dies,
}

/// The purpose of a request, and its time.
struct Request<'r> {
    host: usize,
    path: &'r str,
    is_head: bool,
    hour: usize,
    /// A number that is different for each request, and the same in each run.
    number: usize,
}

/// A kind of hosts: how many there are with four links each, what is true of these, and what it answers.
type Kind = (&'static str, usize, Truth, fn(&Request<'_>) -> Answer);

const KINDS: [Kind; 46] = [
    ("plain", 100, Truth::Works, |it| there(it)),
    ("head-404", 8, Truth::Works, |it| head(it, status(404))),
    ("head-405", 8, Truth::Works, |it| head(it, status(405))),
    ("head-403", 8, Truth::Works, |it| head(it, status(403))),
    ("head-500", 8, Truth::Works, |it| head(it, status(500))),
    ("head-closed", 8, Truth::Works, |it| {
        head(it, Err(Failure::Closed))
    }),
    ("head-late", 8, Truth::Works, |it| {
        head(it, Err(Failure::AnswerTimeout))
    }),
    ("found", 8, Truth::Works, |it| elsewhere(it, 302)),
    ("moved", 8, Truth::Works, |it| elsewhere(it, 301)),
    ("down", 40, Truth::Works, |it| {
        outage(it).unwrap_or_else(|| there(it))
    }),
    ("pages-down", 32, Truth::Works, |it| match it.path {
        "/robots.txt" => status(404),
        _ => outage(it).unwrap_or_else(|| there(it)),
    }),
    ("behind-redirect", 16, Truth::Works, |it| match it.path {
        path if path.starts_with("/page") => to(302, &format!("/to{path}")),
        path if path.starts_with("/to") => outage(it).unwrap_or_else(|| page(path)),
        _ => status(404),
    }),
    ("no-name-server", 12, Truth::Works, |_| {
        Err(Failure::NoNameServer)
    }),
    ("local", 8, Truth::Works, |_| Err(Failure::Local)),
    ("wall-401", 8, Truth::Works, |it| wall(it, status(401))),
    ("wall-403", 12, Truth::Works, |it| wall(it, status(403))),
    ("wall-451", 8, Truth::Works, |it| wall(it, status(451))),
    ("wall-999", 8, Truth::Works, |it| wall(it, status(999))),
    ("wall-403-or-down", 8, Truth::Works, |it| match outage(it) {
        Some(down) => down,
        None => wall(it, status(403)),
    }),
    ("challenge", 8, Truth::Works, |it| wall(it, challenge(404))),
    ("cookies", 8, Truth::Works, |it| wall(it, cookie(it.path))),
    ("expired", 8, Truth::Works, |_| {
        Err(Failure::Certificate(CertificateProblem::Expired))
    }),
    ("old-tls", 8, Truth::Works, |_| {
        Err(Failure::TlsIncompatible)
    }),
    ("private", 8, Truth::Works, |_| Err(Failure::PrivateAddress)),
    ("huge-head", 8, Truth::Works, |it| {
        wall(it, Err(Failure::HeadTooLarge))
    }),
    ("app", 4, Truth::Works, |it| wall(it, to(302, "app://open"))),
    ("robots", 8, Truth::Works, |it| match it.path {
        "/robots.txt" => page("User-agent: *\nDisallow: /page"),
        _ => status(404),
    }),
    ("any-name", 8, Truth::Works, |it| match it.path {
        "/robots.txt" => status(404),
        path if path.starts_with("/page") => page(path),
        _ => page("nothing here"),
    }),
    ("missing", 24, Truth::Lost, |_| status(404)),
    ("broken", 8, Truth::Lost, |it| wall(it, status(500))),
    ("closed", 8, Truth::Lost, |_| Err(Failure::Closed)),
    ("refused", 8, Truth::Lost, |_| Err(Failure::Refused)),
    ("no-name", 16, Truth::Lost, |_| Err(Failure::NoSuchName)),
    ("timeout", 8, Truth::Lost, |_| Err(Failure::ConnectTimeout)),
    ("hangs", 8, Truth::Lost, |it| {
        wall(it, Err(Failure::AnswerTimeout))
    }),
    ("garbage", 8, Truth::Lost, |it| {
        wall(it, Err(Failure::Malformed))
    }),
    ("no-tls", 8, Truth::Lost, |_| Err(Failure::Tls)),
    ("circle", 8, Truth::Lost, |it| wall(it, to(302, it.path))),
    ("to-nothing", 8, Truth::Lost, |it| match it.path {
        path if path.starts_with("/page") => to(301, &format!("/gone{path}")),
        _ => status(404),
    }),
    ("decays", 16, Truth::Lost, |it| wall(it, failure(it.number))),
    ("gone", 8, Truth::Lost, |it| wall(it, status(410))),
    ("everything", 8, Truth::Lost, |it| match it.path {
        "/robots.txt" => status(404),
        _ => page("nothing here"),
    }),
    ("leads-home", 8, Truth::Lost, |it| match it.path {
        "/robots.txt" => status(404),
        "/" => page("home"),
        _ => to(301, "/"),
    }),
    ("dies", 16, Truth::Dies, |it| match it.hour {
        0..DEATH => there(it),
        _ => status(404),
    }),
    ("host-dies", 12, Truth::Dies, |it| match it.hour {
        0..DEATH => there(it),
        _ => Err(Failure::NoSuchName),
    }),
    ("moves-home", 12, Truth::Dies, |it| {
        match (it.hour, it.path) {
            (0..DEATH, _) => there(it),
            (_, "/") => page("home"),
            (_, "/robots.txt") => status(404),
            _ => to(301, "/"),
        }
    }),
];

/// Answers for pages that are there, and for others.
fn there(request: &Request<'_>) -> Answer {
    match request.path {
        path if path.starts_with("/page") => page(path),
        _ => status(404),
    }
}

/// Answers for pages in some way.
fn wall(request: &Request<'_>, answer: Answer) -> Answer {
    match request.path {
        path if path.starts_with("/page") => answer,
        _ => status(404),
    }
}

fn head(request: &Request<'_>, answer: Answer) -> Answer {
    match request.is_head {
        true => wall(request, answer),
        false => there(request),
    }
}

fn elsewhere(request: &Request<'_>, code: u16) -> Answer {
    match request.path {
        path if path.starts_with("/page") => to(code, &format!("/new{path}")),
        path if path.starts_with("/new") => page(path),
        _ => status(404),
    }
}

fn challenge(code: u16) -> Answer {
    let mut answer = status(code)?;
    answer.is_wall = true;
    Ok(answer)
}

fn cookie(path: &str) -> Answer {
    let mut answer = to(302, path)?;
    answer.sets_cookie = true;
    Ok(answer)
}

/// Returns one of the ways in which a host can be down.
fn failure(number: usize) -> Answer {
    match number % 9 {
        0 => status(404),
        1 => status(500),
        2 => status(502),
        3 => Err(Failure::Closed),
        4 => Err(Failure::Refused),
        5 => Err(Failure::ConnectTimeout),
        6 => Err(Failure::NoSuchName),
        7 => Err(Failure::TlsTimeout),
        _ => Err(Failure::Unreachable),
    }
}

/// Returns how a host is down, if it is: after each time in which it works, for one to five days.
fn outage(request: &Request<'_>) -> Option<Answer> {
    let mut end = mixed(request.host) % OUTAGE;
    for number in 0.. {
        let start = end + OUTAGE + mixed(request.host + number) % 100;
        // The first one may have begun before the first check.
        let start = if number == 0 { end } else { start };
        if request.hour < start {
            return None;
        }
        end = start + 24 + mixed(request.host * 31 + number) % (OUTAGE - 24);
        if request.hour < end {
            return Some(failure(mixed(request.host * 17 + number)));
        }
    }
    None
}

/// Returns a number that looks random.
fn mixed(number: usize) -> usize {
    let mixed = (number as u64)
        .wrapping_add(1)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33) as usize
}

/// Returns the kind of a host and its number.
fn kind_of(host: &str) -> (&'static Kind, usize) {
    let name = host.strip_suffix(".example").unwrap();
    let (kind, number) = name.rsplit_once('-').unwrap();
    let kind = KINDS.iter().find(|(name, ..)| *name == kind).unwrap();
    (kind, number.parse().unwrap())
}

fn targets() -> Vec<String> {
    let hosts = KINDS.iter().flat_map(|(name, hosts, ..)| {
        (0..*hosts).map(move |host| format!("{name}-{host}.example"))
    });
    let pages = |host: String| (1..=4).map(move |page| format!("https://{host}/page/{page}"));
    hosts.flat_map(pages).collect()
}

#[tokio::test]
async fn no_link_that_works_is_called_dead_and_each_that_is_lost_is_found() {
    let hour = Arc::new(AtomicUsize::new(0));
    let (now, number) = (Arc::clone(&hour), AtomicUsize::new(0));
    let web = Web::new(move |url, is_head| {
        let (host, path) = url
            .strip_prefix("https://")
            .unwrap()
            .split_once('/')
            .unwrap();
        let (kind, host) = kind_of(host);
        (kind.3)(&Request {
            host,
            path: &format!("/{path}"),
            is_head,
            hour: now.load(Ordering::SeqCst),
            number: mixed(number.fetch_add(1, Ordering::SeqCst)),
        })
    });
    let targets = targets();
    let targets: Vec<_> = targets.iter().map(String::as_str).collect();
    assert!(targets.len() >= 2000);
    let (clock, state) = in_memory();
    let options = CheckOptions {
        delay: Duration::ZERO,
        concurrency: 256,
        policy: Policy::default(),
        ..CheckOptions::default()
    };
    let shared = Arc::new(clock.clone()) as Arc<dyn Clock>;
    let checker = checker(&state, &shared, &web, &targets, options);
    let pass = |hours: usize| {
        hour.fetch_add(hours, Ordering::SeqCst);
        clock.pass(HOUR * u32::try_from(hours).unwrap());
    };
    // Three checks over six days, and then one every other day.
    for check in 1..=CHECKS {
        if check > 1 {
            pass(if check <= 3 { 73 } else { 48 });
        }
        checker.run().await.unwrap();
        let (mut live, mut dead_live) = (0, Vec::new());
        let (mut lost, mut missed) = (0, Vec::new());
        let records = checker.records(&targets).await.unwrap();
        for (target, record) in targets.iter().zip(records) {
            let record = record.unwrap();
            let host = target.split('/').nth(2).unwrap();
            let truth = kind_of(host).0.2;
            // What has just been lost cannot have been found.
            let is_lost = truth == Truth::Lost
                || truth == Truth::Dies && hour.load(Ordering::SeqCst) > DEATH + 28 * 24;
            let is_found = matches!(
                record.verdict(),
                Verdict::Dead | Verdict::Gone | Verdict::SoftNotFound
            );
            let history = || {
                format!(
                    "{target}: {} {:?}",
                    record.verdict(),
                    Vec::from_iter(record.history())
                )
            };
            match truth {
                Truth::Works => {
                    live += 1;
                    if record.verdict() == Verdict::Dead {
                        dead_live.push(history());
                    }
                }
                _ if is_lost => {
                    lost += 1;
                    if !is_found {
                        missed.push(history());
                    }
                }
                _ => {}
            }
        }
        assert_eq!(dead_live, [""; 0], "check {check}");
        if check == 3 || check == CHECKS {
            let found = lost - missed.len();
            writeln!(
                std::io::stdout(),
                "{check} checks of {} links: 0 of {live} that work called dead, {found} of {lost} lost ones found",
                targets.len()
            )
            .unwrap();
            assert!(missed.len() * 100 <= lost, "{missed:?}");
        }
    }
}
