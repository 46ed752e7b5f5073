//! From many requests and a table to one change of its files.
//!
//! Compiling a table costs far more than checking a request, so all requests that do not conflict
//! are written and proved together. Those that conflict, because they request the same target or
//! code, or codes of which one may shadow the other, wait for the next round, in which the first of
//! them is in the table.
//!
//! Invariants: the result is as if the requests had been registered one by one; a fault in one
//! request changes nothing for the others; the number of rounds is bounded, so that faulty requests
//! delay the others only briefly.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::draft::{Draft, target_of};
use super::drafts;
use super::proof::{Base, Shadowing, with};
use super::refusal::RegistrationRefusal;
use super::request::RegistrationRequest;
use crate::edit::OwnCode;
use crate::mapping::{Neighbourhood, Site, SourceFile, Timestamp};

/// The maximum number of rounds, unless nothing is decided by then: each compiles the table once,
/// and once more if something was written.
const MOST_ROUNDS: u32 = 8;

/// The result of a batch of requests.
#[derive(Debug)]
pub struct Batch {
    /// The outcome of each request, in order: at least one is known. Those that took too long have
    /// none, and are to be submitted again.
    pub outcomes: Vec<Option<Result<Registered, RegistrationRefusal>>>,
    /// The files that change or are new, with their new text: none if all requests were refused.
    pub files: Vec<SourceFile>,
}

/// A link that is registered once the files are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registered {
    /// The base URL of its site.
    pub site: String,
    /// Its code.
    pub code: String,
    /// The short link.
    pub short_url: String,
    /// The trailers of a commit that state that the shadowing by its codes is intended.
    pub trailers: BTreeSet<String>,
}

/// Registers requests in a table of these files, of at most `max_bytes` in total.
///
/// # Errors
///
/// Returns the problems of the table if it already has errors.
pub fn register_all(
    files: &[SourceFile],
    requests: &[RegistrationRequest],
    max_bytes: u64,
    now: Timestamp,
) -> Result<Batch, RegistrationRefusal> {
    let mut rounds = Rounds {
        outcomes: requests.iter().map(|_| None).collect(),
        waiting: (0..requests.len()).collect(),
        together: usize::MAX,
        gone: 0,
    };
    let mut changed = files.to_vec();
    while rounds.go_on() {
        let before = Base::of(&changed, max_bytes, now)?;
        let written = rounds.write(&before, requests, now);
        changed = with(&changed, &written);
    }
    let before: HashMap<_, _> = files.iter().map(|file| (&file.path, file)).collect();
    changed.retain(|file| before.get(&file.path) != Some(&file));
    Ok(Batch {
        outcomes: rounds.outcomes,
        files: changed,
    })
}

struct Rounds {
    outcomes: Vec<Option<Result<Registered, RegistrationRefusal>>>,
    /// The requests without an outcome, by number, in order.
    waiting: Vec<usize>,
    /// How many requests may be combined in one round.
    together: usize,
    /// The number of rounds so far.
    gone: u32,
}

impl Rounds {
    fn go_on(&self) -> bool {
        let is_in_time = self.gone < MOST_ROUNDS || self.outcomes.iter().all(Option::is_none);
        !self.waiting.is_empty() && is_in_time
    }

    /// Runs rounds until requests are written; returns the files that changed, if any.
    fn write(
        &mut self,
        before: &Base<'_>,
        requests: &[RegistrationRequest],
        now: Timestamp,
    ) -> Vec<SourceFile> {
        while self.go_on() {
            if let Some(written) = self.go(before, requests, now) {
                return written;
            }
        }
        Vec::new()
    }

    /// Decides at least one request, or halves the number of requests per round.
    fn go(
        &mut self,
        before: &Base<'_>,
        requests: &[RegistrationRequest],
        now: Timestamp,
    ) -> Option<Vec<SourceFile>> {
        self.gone += 1;
        let mut claims = Claims::default();
        let mut put = Vec::new();
        let mut drafts = Vec::new();
        let mut later = Vec::new();
        for number in std::mem::take(&mut self.waiting) {
            if drafts.len() == self.together {
                later.push(number);
                continue;
            }
            let request = &requests[number];
            let draft = target_of(request).and_then(|target| {
                let highest = |site| claims.highest(site);
                Draft::of(request, target, &before.table, highest, now)
            });
            match draft {
                Err(refusal) => self.outcomes[number] = Some(Err(refusal)),
                Ok(draft) if !claims.admit(&draft) => later.push(number),
                Ok(draft) => {
                    put.push(number);
                    drafts.push(draft);
                }
            }
        }
        if drafts.is_empty() {
            return None;
        }
        let added: Vec<_> = drafts.iter().map(|it| (it.site, &it.entry)).collect();
        let written = drafts::write(&before.table, before.files, &drafts)
            .and_then(|written| Ok((before.prove(&written, &added, now)?, written)));
        let written = match written {
            Ok((proof, written)) => {
                let mut refusals = BTreeMap::new();
                for shadowing in &proof.shadowings {
                    let number = put[shadowing.number];
                    if let Some(refusal) = shadowing.refusal(&requests[number].may_shadow) {
                        refusals.entry(number).or_insert(refusal);
                    }
                }
                if refusals.is_empty() {
                    for (number, draft) in put.iter().zip(&drafts) {
                        self.outcomes[*number] = Some(Ok(Registered::of(draft)));
                    }
                    for Shadowing {
                        number, trailer, ..
                    } in proof.shadowings
                    {
                        if let Some(Ok(registered)) = &mut self.outcomes[put[number]] {
                            registered.trailers.insert(trailer);
                        }
                    }
                    self.together = self.together.saturating_mul(2);
                    Some(written)
                } else {
                    // The others are tried without them in the next round.
                    later.extend(put.into_iter().filter(|it| !refusals.contains_key(it)));
                    later.sort_unstable();
                    for (number, refusal) in refusals {
                        self.outcomes[number] = Some(Err(refusal));
                    }
                    None
                }
            }
            Err(refusal) => {
                match put[..] {
                    // If one is at fault, the next may be, too.
                    [only] => {
                        self.outcomes[only] = Some(Err(refusal));
                        self.together = 1;
                    }
                    // Some of them are at fault, but perhaps not in the first half.
                    _ => {
                        self.together = put.len() / 2;
                        later.extend(put);
                        later.sort_unstable();
                    }
                }
                None
            }
        };
        self.waiting = later;
        written
    }
}

impl Registered {
    fn of(draft: &Draft<'_>) -> Self {
        Self {
            site: draft.site.base_url().as_str().to_owned(),
            code: draft.code.to_string(),
            short_url: draft.site.short_url(draft.code.as_str()),
            trailers: BTreeSet::new(),
        }
    }
}

/// The codes and targets that the drafts of one round have claimed, each with its site's base URL.
#[derive(Default)]
struct Claims<'t> {
    targets: HashSet<(&'t str, String)>,
    codes: HashMap<&'t str, Neighbourhood>,
    /// The highest number of each site.
    numbers: HashMap<&'t str, Option<u64>>,
}

impl<'t> Claims<'t> {
    /// Returns the highest number of a site.
    fn highest(&mut self, site: &'t Site) -> Option<u64> {
        let known = self.numbers.entry(site.base_url().as_str());
        *known.or_insert_with(|| site.highest_number())
    }

    /// Claims what a draft requests, unless that conflicts with another draft.
    fn admit(&mut self, draft: &Draft<'t>) -> bool {
        let site = draft.site.base_url().as_str();
        let target = (site, draft.target.as_str().to_owned());
        let codes = self.codes.entry(site).or_default();
        let is_near = draft.codes().any(|code| codes.touches(code.as_str()));
        if is_near || self.targets.contains(&target) {
            return false;
        }
        self.targets.insert(target);
        draft.codes().for_each(|code| codes.insert(code.as_str()));
        if let OwnCode::Number(_, number) = draft.entry.code {
            let highest = self.highest(draft.site).max(Some(number));
            self.numbers.insert(site, highest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::request::RequestedCode;
    use super::*;
    use crate::mapping::compile;

    fn table(text: &str) -> Vec<SourceFile> {
        vec![SourceFile {
            path: "mapping.yaml".into(),
            bytes: text.into(),
        }]
    }

    fn request(url: &str, code: RequestedCode) -> RegistrationRequest {
        RegistrationRequest {
            url: url.to_owned(),
            code,
            ..RegistrationRequest::default()
        }
    }

    fn custom(code: &str) -> RequestedCode {
        RequestedCode::Custom(code.to_owned())
    }

    /// Registers requests, resubmitting those that took too long; returns their codes or refusals,
    /// and the text.
    fn registered(text: &str, requests: &[RegistrationRequest]) -> (Vec<String>, String) {
        let mut files = table(text);
        let mut reported = vec![String::new(); requests.len()];
        let mut waiting: Vec<usize> = (0..requests.len()).collect();
        while !waiting.is_empty() {
            let these: Vec<_> = waiting.iter().map(|&it| requests[it].clone()).collect();
            let batch = register_all(&files, &these, 1 << 20, Timestamp::MIN).unwrap();
            assert!(batch.outcomes.iter().any(Option::is_some));
            let mut left = Vec::new();
            for (number, outcome) in waiting.into_iter().zip(batch.outcomes) {
                match outcome {
                    Some(Ok(registered)) => reported[number] = registered.code,
                    Some(Err(refusal)) => reported[number] = refusal.to_string(),
                    None => left.push(number),
                }
            }
            waiting = left;
            files = with(&files, &batch.files);
        }
        let text = String::from_utf8(files.remove(0).bytes).unwrap();
        (reported, text)
    }

    const EMPTY: &str = "base_url: https://s.code/\nmapping: []\n";

    #[test]
    fn ends_as_if_they_came_one_by_one() {
        let (reported, text) = registered(
            EMPTY,
            &[
                request("https://a.example/", RequestedCode::NextNumber),
                request("https://b.example/", custom("b")),
                request("https://A.example", RequestedCode::Any),
                request("https://c.example/", custom("b")),
                request("https://d.example/", RequestedCode::NextNumber),
                request("https://e.example/", RequestedCode::Number(9)),
                request("https://f.example/", RequestedCode::NextNumber),
                request("no URL", RequestedCode::Any),
            ],
        );
        assert_eq!(reported[..2], ["1", "b"]);
        assert_eq!(reported[2], "ERR-000-02-00: URL already registered");
        assert!(reported[3].starts_with("the code \"b\" is taken by the entry at mapping.yaml:"));
        assert_eq!(reported[4..7], ["2", "9", "a"]);
        assert_eq!(text.matches("- url:").count(), 5);
        assert!(compile(&table(&text)).table.is_some());
    }

    #[test]
    fn one_that_would_break_the_table_breaks_nothing_for_others() {
        // The table's test expects `taken` to lead nowhere.
        let text = "base_url: https://s.code/\nmapping: []\n\
                    tests:\n- from: /taken\n  to: not-found\n";
        let mut requests: Vec<_> = (0..9)
            .map(|n| request(&format!("https://e.org/{n}"), RequestedCode::NextNumber))
            .collect();
        requests[5].code = custom("taken");
        let (reported, text) = registered(text, &requests);
        assert_eq!(reported[5], "the table would have errors");
        let others = reported
            .iter()
            .filter(|reported| reported.parse::<u64>().is_ok());
        assert_eq!(others.count(), 8);
        assert!(!text.contains("e.org/5"));
    }

    #[test]
    fn what_would_be_too_large_is_refused() {
        let text = table(EMPTY);
        let large = RegistrationRequest {
            title: Some("t".repeat(500)),
            ..request("https://large.example/", custom("large"))
        };
        let requests = [request("https://a.example/", custom("a")), large];
        let batch = register_all(&text, &requests, 500, Timestamp::MIN).unwrap();
        assert!(matches!(batch.outcomes[0], Some(Ok(_))));
        assert!(matches!(
            batch.outcomes[1],
            Some(Err(RegistrationRefusal::TooLarge { max_bytes: 500 }))
        ));
        assert!(batch.files[0].bytes.len() <= 500);
    }

    #[test]
    fn those_at_fault_do_not_hold_up_the_rest_for_long() {
        let text = table(EMPTY);
        let large = (0..256).map(|n| RegistrationRequest {
            title: Some("t".repeat(500)),
            ..request(&format!("https://e.org/{n}"), RequestedCode::NextNumber)
        });
        let mut requests: Vec<_> = large.collect();
        requests.insert(1, request("https://sound.example/", custom("sound")));
        let batch = register_all(&text, &requests[..9], 500, Timestamp::MIN).unwrap();
        assert!(matches!(batch.outcomes[0], Some(Err(_))));
        assert!(matches!(batch.outcomes[1], Some(Ok(_))));
        let batch = register_all(&text, &requests, 500, Timestamp::MIN).unwrap();
        assert_eq!(batch.outcomes.iter().flatten().count(), 1);
    }

    #[test]
    fn a_table_with_errors_takes_nothing() {
        let requests = [request("https://a.example/", RequestedCode::Any)];
        let refused = register_all(&table("mapping: 1\n"), &requests, 1 << 20, Timestamp::MIN);
        assert!(matches!(
            refused,
            Err(RegistrationRefusal::TableHasErrors(_))
        ));
    }
}
