//! Requests of every kind, at random, to a table that has entries for each.
//!
//! A program that includes this has `mapping` at its root, so that it works on the crate and on the
//! mapping layer alone.

use crate::mapping::{Outcome, Request, SourceFile, Table, Timestamp, Via, compile};
use crate::tables::{self, Random};

/// When the requests are made; no entry of the table ends.
pub(crate) const NOW: Timestamp = Timestamp::from_unix(1_800_000_000);

/// The kind of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    AutoCode,
    CustomCode,
    ForwardPath,
    ForwardQuery,
    StandardAlphabet,
    Repaired,
    Miss,
}

/// A request without its host: the table has one site.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    path: String,
    query: Option<&'static str>,
}

/// Returns a compiled table: of ten entries one has a custom code, one forwards paths, one queries.
pub(crate) fn table(entries: usize) -> Table {
    let text = tables::table(entries, |number, random| match kind_of(number) {
        Kind::CustomCode => format!("\n  short-code: {}-{number}", random.word(6)),
        Kind::ForwardPath => format!("\n  short-code: docs-{number}\n  forward: path"),
        Kind::ForwardQuery => "\n  forward: query".to_owned(),
        _ => String::new(),
    });
    let file = SourceFile {
        path: "mapping.yaml".into(),
        bytes: text.into_bytes(),
    };
    compile(&[file]).table.expect("the entries are sound")
}

/// Returns what the entry of that number in the table is for.
fn kind_of(entry: usize) -> Kind {
    match entry % 10 {
        0 => Kind::CustomCode,
        1 => Kind::ForwardPath,
        2 => Kind::ForwardQuery,
        _ => Kind::AutoCode,
    }
}

impl Kind {
    pub(crate) const ALL: [Self; 7] = [
        Self::AutoCode,
        Self::CustomCode,
        Self::ForwardPath,
        Self::ForwardQuery,
        Self::StandardAlphabet,
        Self::Repaired,
        Self::Miss,
    ];

    /// Returns its name, in words joined by `-`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::AutoCode => "auto-code",
            Self::CustomCode => "custom-code",
            Self::ForwardPath => "forward-path",
            Self::ForwardQuery => "forward-query",
            Self::StandardAlphabet => "standard-alphabet",
            Self::Repaired => "repaired",
            Self::Miss => "miss",
        }
    }

    /// Returns requests of this kind to random entries of [`table`]: about `count`, as none is
    /// followed by itself.
    pub(crate) fn requests(self, table: &Table, count: usize) -> Vec<Sent> {
        let entries = table.sites().iter().flat_map(|site| site.entries());
        let codes: Vec<_> = entries
            .zip(0..)
            .filter(|(entry, number)| self.asks_for(*number, &entry.code()))
            .map(|(entry, _)| entry.code())
            .collect();
        let mut random = Random::new(2);
        let ask = |_| {
            let code = &codes[random.below(codes.len())];
            self.ask(code, &mut random)
        };
        let mut requests: Vec<_> = (0..count).map(ask).collect();
        requests.dedup();
        for request in &requests {
            let outcome = table.resolve(&request.as_request(), NOW);
            assert!(
                self.gets(&outcome),
                "{self:?}: {request:?} gets {outcome:?}"
            );
        }
        requests
    }

    /// Returns whether requests of this kind ask for an entry.
    fn asks_for(self, number: usize, code: &str) -> bool {
        match self {
            Self::AutoCode | Self::CustomCode | Self::ForwardPath | Self::ForwardQuery => {
                kind_of(number) == self
            }
            Self::StandardAlphabet => {
                kind_of(number) == Self::AutoCode && code.contains(['-', '_'])
            }
            Self::Repaired | Self::Miss => kind_of(number) == Self::AutoCode,
        }
    }

    fn ask(self, code: &str, random: &mut Random) -> Sent {
        let path = match self {
            Self::AutoCode | Self::CustomCode | Self::ForwardQuery => format!("/{code}"),
            Self::ForwardPath => format!("/{code}/vec/struct.Vec.html"),
            Self::StandardAlphabet => format!("/{}", code.replace('-', "+").replace('_', "/")),
            Self::Repaired => format!("/{code})."),
            // As long as an auto code: it is looked for in both alphabets.
            Self::Miss => format!("/{}", random.word(8)),
        };
        let query = (self == Self::ForwardQuery).then_some("utm_source=poster&lang=en");
        Sent { path, query }
    }

    /// Returns whether this is what requests of this kind get.
    fn gets(self, outcome: &Outcome<'_>) -> bool {
        let via = match outcome {
            Outcome::Redirect(redirect) => redirect.via,
            Outcome::NotFound(_) => return self == Self::Miss,
            _ => return false,
        };
        match self {
            Self::AutoCode | Self::CustomCode | Self::ForwardQuery | Self::StandardAlphabet => {
                via == Via::Code
            }
            Self::ForwardPath => via == Via::Forward,
            Self::Repaired => via == Via::Repair,
            Self::Miss => false,
        }
    }
}

impl Sent {
    pub(crate) fn as_request(&self) -> Request<'_> {
        Request {
            host: None,
            path: &self.path,
            query: self.query,
            accept: None,
        }
    }
}
