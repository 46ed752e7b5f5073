//! A simulated Web: hosts with links, of which few have many, and their answers.

pub(crate) mod farm;
pub(crate) mod simulation;

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use waypost::linkcheck::{Question, Reply, RoundTrip};
use waypost::mapping::{SourceFile, Table, compile};

use crate::tables::Random;

/// How many links there are, and on how many hosts.
#[derive(Clone, Copy)]
pub(crate) struct WebSize {
    pub(crate) links: usize,
    pub(crate) hosts: usize,
}

impl WebSize {
    /// Returns how many links each host has: by Zipf's law with exponent 1, the host of rank n has an
    /// n-th of what the first one has, and each has one at least.
    pub(crate) fn links_of_hosts(self) -> Vec<usize> {
        let harmonic: f64 = (1..=self.hosts).map(|rank| 1.0 / rank as f64).sum();
        let first = self.links as f64 / harmonic;
        let mut links: Vec<_> = (1..=self.hosts)
            .map(|rank| ((first / rank as f64).round() as usize).max(1))
            .collect();
        // Rounding leaves a few too many or too few: the first host has them.
        let others: usize = links[1..].iter().sum();
        links[0] = self.links - others;
        links
    }

    /// Returns a table of these links, of about 75 bytes each, in random order of the hosts.
    pub(crate) fn table(self, scheme: &str) -> Arc<Table> {
        let mut random = Random::new(1);
        let names: Vec<_> = (0..self.hosts)
            .map(|rank| {
                let len = 5 + random.below(8);
                format!("{}-{rank}.example", random.word(len))
            })
            .collect();
        let links = self.links_of_hosts();
        let links = links.iter().zip(&names);
        let mut hosts: Vec<_> = links
            .flat_map(|(links, name)| vec![&**name; *links])
            .collect();
        for at in (1..hosts.len()).rev() {
            hosts.swap(at, random.below(at + 1));
        }
        let mut text = "---\nbase_url: https://short.code/\nmapping:\n".to_owned();
        for (number, host) in hosts.into_iter().enumerate() {
            let (len, page) = (8 + random.below(16), 4 + random.below(16));
            let (section, page) = (random.word(len), random.word(page));
            writeln!(
                text,
                "- url: {scheme}://{host}/{section}/{number}/{page}-1.html"
            )
            .expect("a string takes any text");
        }
        let file = SourceFile {
            path: "mapping.yaml".into(),
            bytes: text.into(),
        };
        Arc::new(compile(&[file]).table.expect("the table has no errors"))
    }
}

/// Returns the answer to a path: 404 for a robots.txt and for the random nonexistent page.
pub(crate) fn status(path: &str) -> u16 {
    match path.ends_with("-1.html") {
        true => 200,
        false => 404,
    }
}

/// Returns the answer to a request after a time.
pub(crate) fn answer(question: &Question, took: Duration) -> RoundTrip {
    let reply = Reply {
        status: status(question.url.url().path()),
        is_whole: true,
        ..Reply::default()
    };
    RoundTrip {
        result: Ok(reply),
        took,
        is_fresh: true,
    }
}
