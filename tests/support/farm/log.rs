//! Which host got which request, and when.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// One request that arrived.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) host: String,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) user_agent: String,
    /// The number of its connection.
    pub(crate) connection: usize,
    /// When its head had arrived, and when it was answered or given up.
    pub(crate) began: Instant,
    pub(crate) ended: Option<Instant>,
}

#[derive(Debug, Default)]
pub(crate) struct Log {
    asked: Mutex<Vec<Asked>>,
}

impl Log {
    /// Notes a request that begins, and returns its number.
    pub(super) fn begin(&self, asked: Asked) -> usize {
        let mut all = self.asked.lock().unwrap();
        all.push(asked);
        all.len() - 1
    }

    /// Notes that a request has ended.
    pub(super) fn end(&self, number: usize) {
        self.asked.lock().unwrap()[number].ended = Some(Instant::now());
    }

    /// Returns all requests, in the order in which they began.
    pub(crate) fn all(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// Returns the requests to a host, as method and path.
    pub(crate) fn of(&self, name: &str) -> Vec<String> {
        let host = format!("{name}.farm.example");
        let all = self.all();
        let asked = all.iter().filter(|asked| asked.host == host);
        asked
            .map(|asked| format!("{} {}", asked.method, asked.path))
            .collect()
    }

    /// Returns the requests that came too soon: before the one before them to the same group of hosts
    /// had ended, or less than a delay after it had.
    pub(crate) fn too_soon(&self, group: impl Fn(&str) -> String, delay: Duration) -> Vec<Asked> {
        let mut free = HashMap::new();
        let mut found = Vec::new();
        for asked in self.all() {
            let free = free.entry(group(&asked.host)).or_insert(Some(asked.began));
            if free.is_none_or(|free| asked.began < free) {
                found.push(asked.clone());
            }
            // One that began later may end earlier.
            let rested = asked.ended.map(|ended| ended + delay);
            *free = rested.map(|rested| free.map_or(rested, |free| free.max(rested)));
        }
        found
    }
}

#[test]
fn requests_that_come_too_soon_are_found() {
    let start = Instant::now();
    let second = Duration::from_secs(1);
    let log = Log::default();
    for (host, began, ended) in [
        ("a", 0, Some(1)),
        ("b", 0, Some(5)),
        ("a", 3, Some(4)),
        ("b", 6, Some(7)),
        ("a", 5, None),
        ("c", 7, Some(7)),
        ("a", 60, Some(60)),
    ] {
        log.begin(Asked {
            host: host.to_owned(),
            method: "HEAD".to_owned(),
            path: format!("/{began}"),
            user_agent: String::new(),
            connection: 0,
            began: start + began * second,
            ended: ended.map(|ended| start + ended * second),
        });
    }
    let found = |group: fn(&str) -> String| -> Vec<_> {
        let found = log.too_soon(group, 2 * second);
        found
            .into_iter()
            .map(|asked| format!("{}{}", asked.host, asked.path))
            .collect()
    };
    // A request that has not ended is still in the log.
    assert_eq!(found(str::to_owned), ["b/6", "a/5", "a/60"]);
    let together = found(|_| "group".to_owned());
    assert_eq!(together, ["b/0", "a/3", "b/6", "a/5", "c/7"]);
}
