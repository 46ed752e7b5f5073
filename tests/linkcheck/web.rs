//! A Web that only exists in memory, and checks of tables against it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use waypost::frontier::{Clock, SystemClock};
use waypost::linkcheck::{
    CheckOptions, CheckState, Checker, Failure, Links, MemoryState, PendingReply, Question, Reply,
    Requester, RoundTrip, Verdict,
};
use waypost::mapping::{SourceFile, Timestamp, compile};

pub(crate) const DELAY: Duration = Duration::from_millis(30);
pub(crate) const DAY: Duration = Duration::from_secs(86_400);

/// The system's clock, which a test sets forward; and that of a server with it.
#[derive(Clone)]
pub(crate) struct Forward {
    clock: SystemClock,
    ahead: Arc<AtomicU64>,
    also: Arc<dyn Fn(Duration) + Send + Sync>,
}

impl Forward {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// Returns a clock; how far it is ahead is passed on.
    pub(crate) fn with(also: impl Fn(Duration) + Send + Sync + 'static) -> Self {
        also(Duration::ZERO);
        Self {
            clock: SystemClock::new(),
            ahead: Arc::default(),
            also: Arc::new(also),
        }
    }

    /// Returns the clock for a checker.
    pub(crate) fn shared(&self) -> Arc<dyn Clock> {
        Arc::new(self.clone())
    }

    pub(crate) fn pass(&self, time: Duration) {
        let before = self.ahead.fetch_add(time.as_secs(), Ordering::SeqCst);
        (self.also)(Duration::from_secs(before) + time);
    }
}

impl Clock for Forward {
    fn now(&self) -> Duration {
        self.clock.now() + Duration::from_secs(self.ahead.load(Ordering::SeqCst))
    }
}

/// One request, with its content and time.
#[derive(Debug, Clone)]
pub(crate) struct Logged {
    pub(crate) host: String,
    pub(crate) url: String,
    pub(crate) is_head: bool,
    pub(crate) begun: Instant,
    pub(crate) ended: Instant,
}

type Answer = dyn Fn(&str, bool) -> Result<Reply, Failure> + Send + Sync;

/// A Web: the answer to each URL, and the requests.
pub(crate) struct Web {
    answer: Box<Answer>,
    pub(crate) log: Mutex<Vec<Logged>>,
}

impl Web {
    pub(crate) fn new(
        answer: impl Fn(&str, bool) -> Result<Reply, Failure> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            answer: Box::new(answer),
            log: Mutex::default(),
        })
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        let mut log = self.log.lock().unwrap().clone();
        log.sort_by_key(|it| it.begun);
        let line = |it: Logged| format!("{} {}", if it.is_head { "HEAD" } else { "GET" }, it.url);
        log.into_iter().map(line).collect()
    }

    /// Fails if any group of hosts had two requests at once, or one too soon.
    #[track_caller]
    pub(crate) fn assert_polite(&self, group: impl Fn(&str) -> String) {
        let mut log = self.log.lock().unwrap().clone();
        log.sort_by_key(|it| it.begun);
        let mut last = HashMap::<String, Logged>::new();
        for it in log {
            if let Some(before) = last.insert(group(&it.host), it.clone()) {
                assert!(it.begun >= before.ended + DELAY, "{before:?}, then {it:?}");
            }
        }
    }
}

impl Requester for Web {
    fn send<'a>(&'a self, question: &'a Question) -> PendingReply<'a> {
        Box::pin(async move {
            let begun = Instant::now();
            tokio::time::sleep(Duration::from_millis(1)).await;
            let url = question.url.as_str().to_owned();
            let result = (self.answer)(&url, !question.wants_body);
            self.log.lock().unwrap().push(Logged {
                host: question.url.url().host_str().unwrap().to_owned(),
                url,
                is_head: !question.wants_body,
                begun,
                ended: Instant::now(),
            });
            RoundTrip {
                result,
                took: begun.elapsed(),
                is_fresh: true,
            }
        })
    }
}

pub(crate) fn status(status: u16) -> Result<Reply, Failure> {
    let is_whole = true;
    Ok(Reply {
        status,
        is_whole,
        ..Reply::default()
    })
}

pub(crate) fn to(status: u16, location: &str) -> Result<Reply, Failure> {
    Ok(Reply {
        status,
        location: Some(location.to_owned()),
        is_whole: true,
        ..Reply::default()
    })
}

pub(crate) fn page(text: &str) -> Result<Reply, Failure> {
    Ok(Reply {
        status: 200,
        body: text.to_owned().into(),
        is_whole: true,
        ..Reply::default()
    })
}

/// Most hosts have no robots.txt, and answer 404 for missing pages.
pub(crate) fn usual(url: &str) -> Option<Result<Reply, Failure>> {
    let is_sibling = url.rsplit('/').next().is_some_and(|name| name.len() == 16);
    (url.ends_with("/robots.txt") || is_sibling).then(|| status(404))
}

pub(crate) fn links(targets: &[&str]) -> Links {
    let entries: String = targets.iter().map(|it| format!("- url: {it}\n")).collect();
    let text = format!("base_url: https://short.code/\nmapping:\n{entries}");
    let file = SourceFile {
        path: "t.yaml".into(),
        bytes: text.into(),
    };
    let compilation = compile(&[file]);
    let table = compilation
        .table
        .unwrap_or_else(|| panic!("{:?}", compilation.diagnostics));
    Links::of(
        &Arc::new(table),
        Timestamp::from_unix(1_795_219_200),
        |_| true,
    )
}

pub(crate) fn options() -> CheckOptions {
    CheckOptions {
        delay: DELAY,
        ..CheckOptions::default()
    }
}

pub(crate) fn checker(
    state: &Arc<dyn CheckState>,
    clock: &Arc<dyn Clock>,
    web: &Arc<Web>,
    targets: &[&str],
    options: CheckOptions,
) -> Arc<Checker> {
    let requester: Arc<dyn Requester> = Arc::clone(web) as _;
    Arc::new(Checker::new(
        Arc::clone(state),
        requester,
        Arc::clone(clock),
        links(targets),
        options,
    ))
}

pub(crate) async fn verdict(checker: &Checker, url: &str) -> Option<Verdict> {
    let record = checker.record(url).await.unwrap();
    record.map(|record| record.verdict())
}

pub(crate) async fn verdicts(checker: &Checker, urls: &[&str]) -> Vec<Option<Verdict>> {
    let records = checker.records(urls).await.unwrap().into_iter();
    records.map(|it| it.map(|it| it.verdict())).collect()
}

pub(crate) fn in_memory() -> (Forward, Arc<dyn CheckState>) {
    let forward = Forward::new();
    let state = Arc::new(MemoryState::new(forward.clone(), DELAY));
    (forward, state)
}
