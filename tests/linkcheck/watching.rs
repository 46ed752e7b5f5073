//! Checks that go on: while the table changes, and while the state cannot be reached.

use std::future::pending;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{Barrier, oneshot};
use tokio::task::JoinHandle;
use waypost::frontier::StoreError;
use waypost::linkcheck::{
    CheckOptions, CheckState, Checker, KnownLinks, LinkRecord, LinkSummary, PendingReply, Question,
    RequestResult, Requester, Verdict,
};

use crate::engines::Engine;
use crate::interposed::Interposed;
use crate::web::{DAY, Web, checker, links, options, page, status, to, usual, verdict, verdicts};

/// A check that goes on until it is stopped.
struct Watching {
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<(), StoreError>>,
}

impl Watching {
    fn start(checker: &Arc<Checker>) -> Self {
        let (stop, stopped) = oneshot::channel::<()>();
        let checker = Arc::clone(checker);
        let stopped = async {
            stopped.await.unwrap();
        };
        let task = tokio::spawn(async move { checker.watch(stopped).await });
        Self { stop, task }
    }

    async fn stop(self) {
        self.stop.send(()).unwrap();
        self.task.await.unwrap().unwrap();
    }
}

/// Waits until a condition holds.
pub(crate) async fn until(what: &str, condition: impl AsyncFn() -> bool) {
    for _ in 0..6000 {
        if condition().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("in a minute, {what} did not come to be");
}

pub(crate) async fn an_observer_is_notified_of_what_is_written(engine: Engine) {
    let web = Web::new(|url, _| usual(url).unwrap_or_else(|| status(410)));
    let Engine { state, clock, .. } = &engine;
    let targets = ["https://a.example/1", "https://b.example/2"];
    let known = Arc::<KnownLinks>::default();
    known.replace(&links(&targets));
    let checker = checker(state, clock, &web, &targets, options());
    let checker = Arc::into_inner(checker).unwrap();
    let observed = Arc::clone(&known);
    let checker = checker.with_observer(move |url, _, record| observed.observe(url, record));
    let checker = Arc::new(checker);
    checker.run().await.unwrap();
    for target in targets {
        let record = checker.record(target).await.unwrap().unwrap();
        assert_eq!(known.summary(target), LinkSummary::from(&record));
        assert_eq!(record.verdict(), Verdict::Gone);
    }
}

pub(crate) async fn a_check_that_goes_on_follows_the_table_and_asks_again(engine: Engine) {
    let Engine {
        state,
        clock,
        forward,
        ..
    } = &engine;
    let web = Web::new(|url, _| usual(url).unwrap_or_else(|| status(404)));
    let [one, two, three] = [
        "https://a.example/1",
        "https://a.example/2",
        "https://b.example/3",
    ];
    let checker = checker(state, clock, &web, &[one, two], options());
    let watching = Watching::start(&checker);
    let times = |url: &str| {
        let asked = web.asked().into_iter();
        asked.filter(|it| *it == format!("HEAD {url}")).count()
    };
    let known = async || verdicts(&checker, &[one, two]).await == [Some(Verdict::Failing); 2];
    until("the first check", known).await;

    checker.set_links(links(&[one, three])).await.unwrap();
    assert_eq!(checker.links().len(), 2);
    let known = async || verdict(&checker, three).await == Some(Verdict::Failing);
    until("the check of the new link", known).await;
    assert_eq!((times(one), times(two), times(three)), (1, 1, 1));

    // An hour later all that does not work is due, but only what is in the table is requested.
    forward.pass(Duration::from_secs(3700));
    // Anything that changes the queue has it looked at.
    checker.set_links(links(&[one, three])).await.unwrap();
    until("the second check", async || {
        times(one) == 2 && times(three) == 2
    })
    .await;
    let parked = async || verdict(&checker, two).await.is_none();
    until("the end of what is not in the table", parked).await;
    watching.stop().await;
    assert_eq!(times(two), 1);
    let counts = checker.hosts().await.unwrap();
    assert_eq!((counts.busy, counts.queued), (0, 2));

    // It is back: its earlier results count.
    checker.set_links(links(&[two])).await.unwrap();
    checker.run().await.unwrap();
    let record = checker.record(two).await.unwrap().unwrap();
    assert_eq!((times(two), record.strikes()), (2, 1));
}

pub(crate) async fn the_time_left_is_that_of_the_slowest_host(engine: Engine) {
    let Engine { state, clock, .. } = &engine;
    let web = Web::new(|url, _| match url {
        "https://slow.example/robots.txt" => page("User-agent: *\nCrawl-delay: 100"),
        url => usual(url).unwrap_or_else(|| page("x")),
    });
    let targets = ["https://slow.example/1", "https://slow.example/2"];
    let checker = checker(state, clock, &web, &targets, options());
    let watching = Arc::clone(&checker);
    let run = tokio::spawn(async move { watching.run().await });
    let hundreds = Duration::from_secs(200);
    let known = async || checker.progress().left >= hundreds;
    until("the time of both links", known).await;
    run.abort();
}

/// A Web that never answers.
struct Silence;

impl Requester for Silence {
    fn send<'a>(&'a self, _: &'a Question) -> PendingReply<'a> {
        Box::pin(pending())
    }
}

pub(crate) async fn a_check_that_is_stopped_releases_its_hosts(engine: Engine) {
    let Engine { state, clock, .. } = &engine;
    let checker = Arc::new(Checker::new(
        Arc::clone(state),
        Arc::new(Silence),
        Arc::clone(clock),
        links(&["https://a.example/", "https://b.example/"]),
        options(),
    ));
    let watching = Watching::start(&checker);
    let busy = async || checker.hosts().await.unwrap().busy == 2;
    until("a request to each host", busy).await;
    watching.stop().await;
    let counts = checker.hosts().await.unwrap();
    assert_eq!((counts.busy, counts.queued), (0, 2));
}

pub(crate) async fn each_conclusion_is_passed_on_with_what_was_known_before(engine: Engine) {
    let web = Web::new(|url, _| usual(url).unwrap_or_else(|| status(404)));
    let Engine {
        state,
        clock,
        forward,
        ..
    } = &engine;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let target = "https://a.example/x";
    for _ in 0..2 {
        let observed = Arc::clone(&seen);
        let checker = Checker::new(
            Arc::clone(state),
            Arc::clone(&web) as Arc<dyn Requester>,
            Arc::clone(clock),
            links(&[target]),
            options(),
        );
        let checker = checker.with_observer(move |url, before, after| {
            let strikes = (before.map(LinkRecord::strikes), after.strikes());
            observed.lock().unwrap().push((url.to_owned(), strikes));
        });
        Arc::new(checker).run().await.unwrap();
        forward.pass(4 * DAY);
    }
    let expected = [(None, 1), (Some(1), 2)].map(|it| (target.to_owned(), it));
    assert_eq!(*seen.lock().unwrap(), expected);
}

pub(crate) async fn requests_are_counted_by_their_result(engine: Engine) {
    let web = Web::new(|url, _| match url {
        "https://a.example/moved" => to(301, "/there"),
        "https://a.example/there" => page("x"),
        "https://a.example/broken" => status(500),
        "https://down.example/robots.txt" => Err(waypost::linkcheck::Failure::NoSuchName),
        url => usual(url).unwrap(),
    });
    let Engine { state, clock, .. } = &engine;
    let targets = [
        "https://a.example/moved",
        "https://a.example/broken",
        "https://down.example/",
    ];
    let checker = checker(state, clock, &web, &targets, options());
    checker.run().await.unwrap();
    let counts = RequestResult::ALL.map(|it| checker.requests(it));
    // Both robots.txt and the name that the host cannot know; `HEAD` and `GET` of the broken one.
    assert_eq!(counts, [1, 1, 2, 2, 1]);
    assert_eq!(checker.progress().requests, web.asked().len());
}

pub(crate) async fn a_check_waits_for_a_state_that_cannot_be_reached(engine: Engine) {
    let web = Web::new(|url, _| usual(url).unwrap_or_else(|| page("x")));
    let Engine {
        state: inner,
        clock,
        ..
    } = &engine;
    let interposed = Arc::new(Interposed::before(Arc::clone(inner)));
    let state: Arc<dyn CheckState> = Arc::clone(&interposed) as _;
    let targets: Vec<_> = (0..10)
        .map(|it| format!("https://a.example/{it}"))
        .collect();
    let targets: Vec<_> = targets.iter().map(String::as_str).collect();
    let checker = checker(&state, clock, &web, &targets, options());
    let mut outage = checker.outage();
    let running = Arc::clone(&checker);
    let run = tokio::spawn(async move { running.run().await });
    until("a request", async || web.asked().len() > 2).await;
    interposed.is_down.store(true, Ordering::SeqCst);
    let failed = async |times| interposed.failed.load(Ordering::SeqCst) > times;
    until("an attempt", async || failed(1).await).await;
    assert!(outage.borrow_and_update().is_some());
    // All attempts meet the same outage.
    until("several attempts", async || failed(3).await).await;
    assert!(!outage.has_changed().unwrap());
    interposed.is_down.store(false, Ordering::SeqCst);
    run.await.unwrap().unwrap();
    assert!(outage.borrow().is_none());
    assert_eq!(
        verdicts(&checker, &targets).await,
        vec![Some(Verdict::Ok); 10]
    );
    for target in &targets {
        let wanted = format!("HEAD {target}");
        assert_eq!(web.asked().iter().filter(|it| **it == wanted).count(), 1);
    }
    web.assert_polite(str::to_owned);
}

pub(crate) async fn a_check_can_be_stopped_while_its_state_cannot_be_reached(engine: Engine) {
    let Engine {
        state: inner,
        clock,
        ..
    } = &engine;
    let interposed = Arc::new(Interposed::before(Arc::clone(inner)));
    let state: Arc<dyn CheckState> = Arc::clone(&interposed) as _;
    let web = Web::new(|url, _| usual(url).unwrap_or_else(|| page("x")));
    let checker = checker(&state, clock, &web, &["https://a.example/"], options());
    interposed.is_down.store(true, Ordering::SeqCst);
    let watching = Watching::start(&checker);
    let failed = async || interposed.failed.load(Ordering::SeqCst) > 1;
    until("several attempts", failed).await;
    watching.stop().await;
    assert!(web.asked().is_empty());
}

pub(crate) async fn what_was_not_due_before_an_answer_may_be_due_after_it(engine: Engine) {
    let web = Web::new(|url, _| usual(url).unwrap_or_else(|| page("x")));
    let mut interposed = Interposed::before(Arc::clone(&engine.state));
    interposed.is_late = true;
    let state: Arc<dyn CheckState> = Arc::new(interposed);
    let targets = ["https://a.example/", "https://a.example/1"];
    // Less than a check waits by itself for news from others.
    let options = CheckOptions {
        max_time: Some(Duration::from_secs(8)),
        ..options()
    };
    let checker = checker(&state, &engine.clock, &web, &targets, options);
    checker.run().await.unwrap();
    let ok = vec![Some(Verdict::Ok); targets.len()];
    assert_eq!(verdicts(&checker, &targets).await, ok);
}

pub(crate) async fn visits_that_end_at_once_lose_nothing_that_the_other_one_wrote(engine: Engine) {
    let web = Web::new(|url, _| match url {
        "https://a.example/2" => to(302, "https://c.example/"),
        url if url.starts_with("https://a.example/") && url.len() == 19 => {
            to(302, "https://b.example/")
        }
        url => usual(url).unwrap_or_else(|| page("x")),
    });
    let Engine {
        state: inner,
        clock,
        ..
    } = &engine;
    let mut interposed = Interposed::before(Arc::clone(inner));
    interposed.endings = Some((Barrier::new(2), 0.into()));
    let state: Arc<dyn CheckState> = Arc::new(interposed);
    let targets = [1, 2, 3, 4].map(|it| format!("https://a.example/{it}"));
    let targets = targets.each_ref().map(String::as_str);
    // Two links of a host end at different hosts, at the same time.
    let both = checker(&state, clock, &web, &targets[..2], options());
    both.run().await.unwrap();
    // The third link that ends at a page shows that it is what the host has instead of them.
    let all = checker(&state, clock, &web, &targets, options());
    all.run().await.unwrap();
    let mut found = verdicts(&all, &targets[2..]).await;
    found.sort_by_key(|it| it.map(Verdict::name));
    assert_eq!(found, [Some(Verdict::Ok), Some(Verdict::SoftNotFound)]);
}
