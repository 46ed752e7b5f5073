//! Who was asked what, and when.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Instant;

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

    /// Returns the requests of each group, in the order in which they began.
    pub(crate) fn groups(&self, group: impl Fn(&str) -> String) -> BTreeMap<String, Vec<Asked>> {
        let mut groups = BTreeMap::<_, Vec<_>>::new();
        for asked in self.all() {
            groups.entry(group(&asked.host)).or_default().push(asked);
        }
        groups
    }
}
