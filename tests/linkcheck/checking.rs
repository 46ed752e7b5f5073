//! Whole checks of a table.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use waypost::frontier::{AliasName, Host};
use waypost::linkcheck::{CheckOptions, CheckState, Checker, Failure, Reply, Verdict};

use crate::engines::{Engine, reopened};
use crate::interposed::Interposed;
use crate::watching::until;
use crate::web::{
    DAY, DELAY, Forward, Web, checker, options, page, status, to, usual, verdict, verdicts,
};

pub(crate) async fn each_target_gets_its_verdict_politely(engine: Engine) {
    let web = Web::new(|url, is_head| match url {
        "https://a.example/ok" | "https://a.example/new" | "https://b.example/there" => page("x"),
        "https://a.example/missing" => status(404),
        "https://a.example/gone" => status(410),
        "https://a.example/moved" => to(301, "/new"),
        "https://a.example/away" => to(302, "https://b.example/there"),
        "https://a.example/wall" => status(403),
        "https://a.example/head" if is_head => status(405),
        "https://a.example/head" => page("x"),
        "https://no.example/robots.txt" => page("User-agent: *\nDisallow: /secret"),
        "https://down.example/robots.txt" => Err(Failure::NoSuchName),
        "https://slow.example/robots.txt" => page("User-agent: *\nCrawl-delay: 1000"),
        url => usual(url).unwrap_or_else(|| panic!("{url}")),
    });
    let expected = [
        ("https://a.example/ok", Verdict::Ok),
        ("https://a.example/missing", Verdict::Failing),
        ("https://a.example/gone", Verdict::Gone),
        ("https://a.example/moved", Verdict::Moved),
        ("https://a.example/away", Verdict::Ok),
        ("https://a.example/wall", Verdict::Blocked),
        ("https://a.example/head", Verdict::Ok),
        ("https://no.example/secret", Verdict::RobotsDisallowed),
        ("https://down.example/x", Verdict::Failing),
        ("https://slow.example/x", Verdict::Unchecked),
    ];
    let targets = expected.map(|(target, _)| target);
    let Engine { state, clock, .. } = &engine;
    let checker = checker(state, clock, &web, &targets, options());
    checker.run().await.unwrap();
    for (target, expected) in expected {
        assert_eq!(verdict(&checker, target).await, Some(expected), "{target}");
    }
    web.assert_polite(str::to_owned);
    let asked = web.asked();
    for once in [
        "GET https://a.example/robots.txt",
        "GET https://b.example/robots.txt",
    ] {
        assert_eq!(
            asked.iter().filter(|it| *it == once).count(),
            1,
            "{asked:?}"
        );
    }
    assert!(
        !asked
            .iter()
            .any(|it| it.contains("secret") || it.ends_with("slow.example/x"))
    );
    let counts = state.store().counts().await.unwrap();
    assert_eq!((counts.busy, counts.busy_aliases), (0, 0));
}

pub(crate) async fn a_link_is_dead_after_three_strikes_over_days(engine: Engine) {
    let web = Web::new(|url, _| usual(url).unwrap_or_else(|| status(404)));
    let Engine {
        state,
        clock,
        forward,
        ..
    } = &engine;
    let targets = ["https://a.example/x"];
    let mut verdicts = Vec::new();
    for _ in 0..3 {
        let checker = checker(state, clock, &web, &targets, options());
        checker.run().await.unwrap();
        verdicts.extend(verdict(&checker, targets[0]).await);
        // Nothing is due at once.
        let asked = web.asked().len();
        checker.run().await.unwrap();
        assert_eq!(web.asked().len(), asked);
        forward.pass(3 * DAY);
    }
    use Verdict::{Dead, Failing};
    assert_eq!(verdicts, [Failing, Failing, Dead]);
}

pub(crate) async fn members_of_an_alias_take_turns(engine: Engine) {
    let web = Web::new(|url, _| usual(url).unwrap_or_else(|| page("x")));
    let Engine { state, clock, .. } = &engine;
    let targets = [
        "https://a.example/1",
        "https://a.example/2",
        "https://b.example/1",
        "https://c.example:8443/1",
    ];
    let checker = checker(state, clock, &web, &targets, options());
    let alias = AliasName::parse("all").unwrap();
    let member = |name| (Host::parse(name).unwrap(), alias.clone());
    let members = ["a.example", "b.example", "c.example"].map(member);
    checker.set_aliases(&members).await.unwrap();
    checker.run().await.unwrap();
    assert_eq!(verdict(&checker, targets[3]).await, Some(Verdict::Ok));
    web.assert_polite(|_| "all".to_owned());
}

pub(crate) async fn a_robots_txt_elsewhere_is_waited_for(engine: Engine) {
    let web = Web::new(|url, _| match url {
        "http://a.example/robots.txt" => to(301, "https://www.a.example/robots.txt"),
        "https://www.a.example/robots.txt" => page("User-agent: *\nDisallow: /no"),
        url => usual(url).unwrap_or_else(|| page("x")),
    });
    let Engine { state, clock, .. } = &engine;
    let targets = ["http://a.example/no", "http://a.example/yes"];
    let checker = checker(state, clock, &web, &targets, options());
    checker.run().await.unwrap();
    assert_eq!(
        verdicts(&checker, &targets).await,
        [Some(Verdict::RobotsDisallowed), Some(Verdict::Ok)]
    );
}

pub(crate) async fn a_crawl_delay_counts_from_the_robots_txt_on(engine: Engine) {
    let web = Web::new(|url, _| match url {
        "https://a.example/robots.txt" => page("User-agent: *\nCrawl-delay: 1"),
        _ => page("x"),
    });
    let Engine { state, clock, .. } = &engine;
    let checker = checker(state, clock, &web, &["https://a.example/"], options());
    checker.run().await.unwrap();
    let log = web.log.lock().unwrap();
    let [robots, home] = &log[..] else {
        panic!("{log:?}")
    };
    assert!(home.begun >= robots.ended + Duration::from_secs(1));
}

pub(crate) async fn a_crawl_delay_counts_also_if_the_robots_txt_is_elsewhere(engine: Engine) {
    let web = Web::new(|url, _| match url {
        "https://a.example/robots.txt" => to(301, "https://b.example/robots.txt"),
        "https://b.example/robots.txt" => page("User-agent: *\nCrawl-delay: 1"),
        _ => page("x"),
    });
    let Engine { state, clock, .. } = &engine;
    let checker = checker(state, clock, &web, &["https://a.example/"], options());
    checker.run().await.unwrap();
    let log = web.log.lock().unwrap();
    let [hop, _, home] = &log[..] else {
        panic!("{log:?}")
    };
    assert!(home.begun >= hop.ended + Duration::from_secs(1));
}

pub(crate) async fn a_robots_txt_that_fails_is_fetched_again_soon(engine: Engine) {
    let fails = Arc::new(AtomicBool::new(true));
    let now = Arc::clone(&fails);
    let web = Web::new(move |url, _| match url {
        "https://a.example/robots.txt" if now.load(Ordering::SeqCst) => status(503),
        url => usual(url).unwrap_or_else(|| page("x")),
    });
    let Engine {
        state,
        clock,
        forward,
        ..
    } = &engine;
    let target = "https://a.example/";
    let mut found = Vec::new();
    for _ in 0..2 {
        let checker = checker(state, clock, &web, &[target], options());
        // The pause after such an answer is longer than a test.
        let running = Arc::clone(&checker);
        let run = tokio::spawn(async move { running.run().await });
        until("the robots.txt", async || web.asked().len() > found.len()).await;
        forward.pass(Duration::from_secs(40));
        run.await.unwrap().unwrap();
        found.push(verdict(&checker, target).await.unwrap());
        fails.store(false, Ordering::SeqCst);
        forward.pass(Duration::from_secs(3700));
    }
    assert_eq!(found, [Verdict::RobotsDisallowed, Verdict::Ok]);
}

pub(crate) async fn a_host_that_accepts_any_name_is_not_believed(engine: Engine) {
    let web = Web::new(|url, _| match url {
        url if url.ends_with("/robots.txt") => status(404),
        "https://a.example/there" => page("really"),
        _ => page("nothing here"),
    });
    let Engine { state, clock, .. } = &engine;
    let targets = [
        "https://a.example/there",
        "https://a.example/lost",
        "https://a.example/",
    ];
    let checker = checker(state, clock, &web, &targets, options());
    checker.run().await.unwrap();
    let expected = [Verdict::Ok, Verdict::SoftNotFound, Verdict::Ok];
    assert_eq!(verdicts(&checker, &targets).await, expected.map(Some));
}

pub(crate) async fn no_check_waits_for_a_long_block(engine: Engine) {
    let refuses = Arc::new(AtomicBool::new(true));
    let now = Arc::clone(&refuses);
    let web = Web::new(move |url, _| match url {
        "https://a.example/1" | "https://a.example/2" if now.load(Ordering::SeqCst) => Ok(Reply {
            status: 429,
            retry_after: Some(Duration::from_secs(7200)),
            is_whole: true,
            ..Reply::default()
        }),
        url => usual(url).unwrap_or_else(|| page("x")),
    });
    let Engine {
        state,
        clock,
        forward,
        ..
    } = &engine;
    let targets = [
        "https://a.example/1",
        "https://a.example/2",
        "https://b.example/",
    ];
    let checking = || checker(state, clock, &web, &targets, options());
    let first = checking();
    first.run().await.unwrap();
    assert_eq!(
        verdicts(&first, &targets).await,
        [Some(Verdict::Blocked), None, Some(Verdict::Ok)]
    );
    let asked = web.asked().len();
    let again = checking();
    again.run().await.unwrap();
    assert_eq!(web.asked().len(), asked);
    refuses.store(false, Ordering::SeqCst);
    forward.pass(Duration::from_secs(7300));
    let later = checking();
    later.run().await.unwrap();
    assert_eq!(verdicts(&later, &targets).await, [Some(Verdict::Ok); 3]);
}

pub(crate) async fn a_check_ends_in_time_and_the_next_one_goes_on(engine: Engine) {
    let web = Web::new(|url, _| usual(url).unwrap_or_else(|| page("x")));
    let Engine { state, clock, .. } = &engine;
    let targets: Vec<_> = (0..30)
        .map(|it| format!("https://a.example/{it}"))
        .collect();
    let targets: Vec<_> = targets.iter().map(String::as_str).collect();
    let short = CheckOptions {
        max_time: Some(DELAY * 5),
        ..options()
    };
    let first = checker(state, clock, &web, &targets, short);
    first.run().await.unwrap();
    let known = async |checker: &Checker| {
        let all = verdicts(checker, &targets).await;
        all.into_iter().flatten().count()
    };
    assert!(known(&first).await < 30);
    let second = checker(state, clock, &web, &targets, options());
    second.run().await.unwrap();
    assert_eq!(known(&second).await, 30);
    web.assert_polite(str::to_owned);
    for target in &targets {
        let wanted = format!("HEAD {target}");
        assert_eq!(web.asked().iter().filter(|it| **it == wanted).count(), 1);
    }
}

#[tokio::test]
async fn a_file_keeps_what_is_known_also_of_links_that_come_back() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.redb");
    let forward = Forward::new();
    let clock = forward.shared();
    let web = Web::new(|url, _| usual(url).unwrap_or_else(|| status(404)));
    let (both, one) = (
        ["https://a.example/1", "https://a.example/2"],
        ["https://a.example/1"],
    );
    let mut asked = Vec::new();
    for targets in [&both[..], &one[..], &one[..], &both[..], &both[..]] {
        let state: Arc<dyn CheckState> = Arc::new(reopened(&path, forward.clone()).await);
        let checker = checker(&state, &clock, &web, targets, options());
        checker.run().await.unwrap();
        let records = checker.records(&both).await.unwrap().into_iter();
        let strikes: Vec<_> = records.map(|it| it.map(|it| it.strikes())).collect();
        asked.push((strikes[0], strikes[1]));
        forward.pass(4 * DAY);
    }
    // It is requested again when it is back, and its earlier results still count.
    let expected = [
        (Some(1), Some(1)),
        (Some(2), None),
        (Some(3), None),
        (Some(3), Some(2)),
        (Some(3), Some(3)),
    ];
    assert_eq!(asked, expected);
}

#[tokio::test]
async fn a_clock_that_was_ahead_leaves_no_link_unchecked() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.redb");
    let web = Web::new(|url, _| usual(url).unwrap_or_else(|| status(404)));
    let targets = ["https://a.example/1", "https://b.example/2"];
    let check = async |ahead: Duration| {
        let forward = Forward::new();
        forward.pass(ahead);
        let clock = forward.shared();
        let file = Arc::new(reopened(&path, forward).await);
        let state = Interposed::before(file);
        // What is moved together is moved one by one if another worker has a part of it.
        state.takes_first.store(true, Ordering::SeqCst);
        let state: Arc<dyn CheckState> = Arc::new(state);
        let checker = checker(&state, &clock, &web, &targets, options());
        checker.run().await.unwrap();
        let records = checker.records(&targets).await.unwrap().into_iter();
        let strikes = records.map(|it| it.map(|it| it.strikes()));
        (Vec::from_iter(strikes), checker.progress().checked)
    };
    let strikes = |count| vec![Some(count); 2];
    assert_eq!(check(3650 * DAY).await, (strikes(1), 2));
    // Results may have wrong times, but are kept; from then on, checks continue as usual.
    assert_eq!(check(Duration::ZERO).await, (strikes(1), 2));
    assert_eq!(check(Duration::ZERO).await, (strikes(1), 0));
    assert_eq!(check(4 * DAY).await, (strikes(2), 2));
}
