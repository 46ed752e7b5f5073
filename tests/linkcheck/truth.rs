//! Links whose truth is known, checked several times over simulated days: no link that works is
//! called dead, and each that does not is found.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use waypost::linkcheck::{
    Endings, Failure, Inquiry, Limits, LinkRecord, Observation, Policy, RequestClient, Sibling,
    Verdict, WebUrl,
};
use waypost::mapping::Timestamp;

use crate::farm::{Farm, FarmResolver, Page, Request};
use crate::fixture::{LONG, client_of, follow};

/// Makes a host that has the pages `/a` and `/b` only.
fn host(farm: &Farm, name: &str, answer: impl Fn(&Request) -> Page + Send + Sync + 'static) {
    farm.host(name, move |request| match request.path.as_str() {
        "/a" | "/b" => answer(request),
        _ => Page::status(404),
    });
}

/// Makes hosts whose pages have known verdicts, and returns them with their names.
fn hosts(farm: &Farm) -> Vec<(&'static str, Verdict)> {
    host(farm, "head-405", |request| match request.is_head() {
        true => Page::status(405),
        false => Page::ok("page"),
    });
    host(farm, "head-404", |request| match request.is_head() {
        true => Page::status(404),
        false => Page::ok("page"),
    });
    host(farm, "head-reset", |request| match request.is_head() {
        true => Page::Reset,
        false => Page::ok("page"),
    });
    host(farm, "temporary", |request| match request.path.as_str() {
        "/a" => Page::to(302, "/b"),
        _ => Page::ok("page"),
    });
    host(farm, "permanent", |request| match request.path.as_str() {
        "/a" => Page::to(308, "/b"),
        _ => Page::ok("page"),
    });
    // Down for the first two days, or every other time.
    let asked = AtomicUsize::new(0);
    host(farm, "was-down", move |_| {
        match asked.fetch_add(1, Ordering::Relaxed) {
            0..4 => Page::status(500),
            _ => Page::ok("page"),
        }
    });
    let asked = AtomicUsize::new(0);
    host(farm, "flaps", move |_| {
        match asked.fetch_add(1, Ordering::Relaxed) / 2 % 2 {
            0 => Page::status(502),
            _ => Page::ok("page"),
        }
    });
    host(farm, "challenge", |_| {
        Page::status(403).with("cf-mitigated", "challenge")
    });
    host(farm, "attacked", |_| {
        Page::status(503).with("Server", "cloudflare")
    });
    host(farm, "password", |_| Page::status(401));
    host(farm, "busy", |_| Page::status(429));
    host(farm, "professional", |_| Page::status(999));
    host(farm, "cookie", |_| {
        Page::to(302, "/a").with("Set-Cookie", "seen=1")
    });
    host(farm, "app", |_| Page::to(302, "intent://open"));
    host(farm, "huge-head", |_| Page::huge_head());
    farm.host("missing", |_| Page::status(404));
    farm.host("broken", |_| Page::status(500));
    farm.host("resets", |_| Page::Reset);
    farm.host("garbage", |_| Page::Raw(b"\0\0\0\0\r\n".to_vec()));
    farm.host("silent", |_| Page::Hang);
    farm.host("circle", |_| Page::to(301, "/a"));
    farm.host("gone", |_| Page::status(410));
    farm.host("has-everything", |_| Page::ok("nothing here"));
    farm.host("leads-home", |request| match request.path.as_str() {
        "/" => Page::ok("home"),
        _ => Page::to(302, "/"),
    });
    vec![
        ("live", Verdict::Ok),
        ("head-405", Verdict::Ok),
        ("head-404", Verdict::Ok),
        ("head-reset", Verdict::Ok),
        ("temporary", Verdict::Ok),
        ("permanent", Verdict::Moved),
        ("was-down", Verdict::Ok),
        ("flaps", Verdict::Ok),
        ("challenge", Verdict::Blocked),
        ("attacked", Verdict::Blocked),
        ("password", Verdict::Blocked),
        ("busy", Verdict::Blocked),
        ("professional", Verdict::Blocked),
        ("cookie", Verdict::Blocked),
        ("app", Verdict::Unchecked),
        ("huge-head", Verdict::Unchecked),
        ("private", Verdict::Unchecked),
        ("no-server", Verdict::Failing),
        ("missing", Verdict::Dead),
        ("broken", Verdict::Dead),
        ("resets", Verdict::Dead),
        ("garbage", Verdict::Dead),
        ("silent", Verdict::Dead),
        ("circle", Verdict::Dead),
        ("no-name", Verdict::Dead),
        ("gone", Verdict::Gone),
        ("has-everything", Verdict::SoftNotFound),
        ("leads-home", Verdict::SoftNotFound),
    ]
}

fn resolver(farm: &Farm) -> FarmResolver {
    let metadata = (std::net::Ipv4Addr::new(169, 254, 169, 254), 80);
    farm.resolver()
        .with("private", Ok(vec![metadata.into()]))
        .with("no-server", Err(Failure::NoNameServer))
        .with("no-name", Err(Failure::NoSuchName))
}

/// Checks a target once, as a scheduler does.
async fn check(client: &RequestClient, url: &WebUrl, now: Timestamp, fresh: bool) -> Observation {
    let inquire = |inquiry: Inquiry| match fresh {
        true => inquiry.fresh(),
        false => inquiry,
    };
    let page = inquire(Inquiry::of_page(url.clone()));
    let (mut finding, _) = follow(client, page).await;
    let observation = Observation::of(&finding);
    let Some(sibling) = Sibling::url(url, now).filter(|_| observation.is_success()) else {
        return observation;
    };
    let (sibling, _) = follow(client, Inquiry::of_body(sibling)).await;
    let sibling = Sibling::of(&sibling);
    if sibling.wants_body() {
        (finding, _) = follow(client, inquire(Inquiry::of_body(url.clone()))).await;
    }
    match sibling.is_like(&finding) {
        true => Observation::of(&finding).as_not_found_page(),
        false => Observation::of(&finding),
    }
}

#[tokio::test]
async fn verdicts_are_true_after_some_days() {
    let farm = Farm::start().await;
    let truths = hosts(&farm);
    let client = client_of(&farm, resolver(&farm));
    let impatient = client_of(&farm, resolver(&farm)).within(Limits {
        head: Duration::from_millis(50),
        ..LONG
    });
    let policy = Policy::default();
    for (name, truth) in truths {
        let url = WebUrl::parse(&format!("http://{name}.farm.example/a")).unwrap();
        let client = match name {
            "silent" => &impatient,
            _ => &client,
        };
        let mut record = LinkRecord::default();
        let mut now = 1_795_305_600;
        let mut verdicts = Vec::new();
        // Within an hour, a day, and two times three days.
        for _ in 0..5 {
            let time = Timestamp::from_unix(now);
            let observation = check(client, &url, time, record.wants_fresh(policy)).await;
            record.observe(&observation, time, policy);
            verdicts.push(record.verdict());
            let next = record.next_check(policy, url.as_str(), 1);
            now += i64::try_from(next.as_secs()).unwrap();
        }
        assert_eq!(record.verdict(), truth, "{name}: {verdicts:?}");
        let dead = |verdict: &Verdict| *verdict == Verdict::Dead;
        let was_dead = verdicts[..4].iter().any(dead);
        assert!(!was_dead, "{name}: {verdicts:?}");
    }
}

#[tokio::test]
async fn deep_links_that_all_redirect_to_the_home_page_are_lost() {
    let farm = Farm::start().await;
    farm.host("lost", |request| match request.path.as_str() {
        "/kept" | "/" => Page::ok("page"),
        path if path.starts_with("/old") => Page::to(301, "/"),
        _ => Page::status(404),
    });
    let client = client_of(&farm, resolver(&farm));
    let mut endings = Endings::default();
    let mut lost = Vec::new();
    for path in ["old/1", "kept", "old/2", "", "old/3", "old/1"] {
        let url = WebUrl::parse(&format!("http://lost.farm.example/{path}")).unwrap();
        let (finding, _) = follow(&client, Inquiry::of_page(url)).await;
        lost.push(endings.note(&finding));
    }
    assert_eq!(lost, [false, false, false, false, true, true]);
}
