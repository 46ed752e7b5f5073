//! From many requests and a table to one change of its files.
//!
//! Compiling a table costs far more than checking a request, so all requests that do not conflict
//! are written and proved together. Those that conflict, because they request the same target or
//! code, or codes of which one may shadow the other, wait for the next pass, in which the first of
//! them is in the table.
//!
//! Invariants: the result is as if the requests had been registered one by one; a fault in one
//! request changes nothing for the others; the number of proofs is bounded, so that faulty requests
//! delay the others only briefly; a table that was compiled is not compiled again.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::addition::{Addition, target_of};
use super::base::Base;
use super::bisection::{Accepted, Bisection, Effort};
use super::proof::ProvedTable;
use super::refusal::RegistrationRefusal;
use super::request::RegistrationRequest;
use crate::edit::OwnCode;
use crate::mapping::{Diagnostic, Neighbourhood, Site, SoundTable, Target, Timestamp};
use crate::registry::text::TextFile;

/// The maximum number of proofs, unless no request is decided by then: each proof compiles the
/// table.
const MOST_PROOFS: u32 = 8;

/// The decision on some requests.
#[derive(Debug)]
pub struct Decision {
    /// The outcome of each request, in order: at least one is known. Those that took too long have
    /// none, and must be submitted again.
    pub outcomes: Vec<Option<Result<Registered, RegistrationRefusal>>>,
    /// The files that change or are new, with their new text: none if nothing is registered.
    pub changed: Vec<TextFile>,
    /// The table with these files: none if nothing is registered.
    pub proved: Option<ProvedTable>,
    /// The warnings that the new entries cause.
    pub warnings: Vec<Diagnostic>,
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
    /// Its target, in canonical form.
    pub target: String,
    /// The trailers of a commit that state that the shadowing by its codes is intended.
    pub trailers: BTreeSet<String>,
}

/// Registers requests in a table that was compiled from these files, so that it has at most
/// `max_bytes` in total.
pub fn register_all(
    files: &[TextFile],
    compiled: &SoundTable,
    requests: &[RegistrationRequest],
    max_bytes: u64,
    now: Timestamp,
) -> Decision {
    let mut passes = Passes {
        requests,
        max_bytes,
        now,
        outcomes: requests.iter().map(|_| None).collect(),
        waiting: (0..requests.len()).collect(),
        proofs: 0,
        warnings: Vec::new(),
    };
    let mut proved: Option<ProvedTable> = None;
    while passes.go_on() {
        let base = match &proved {
            None => Base::new(files, compiled, now),
            Some(proved) => Base::new(&proved.files, &proved.table, now),
        };
        if let Some(next) = passes.pass(&base) {
            proved = Some(next);
        }
    }
    Decision {
        outcomes: passes.outcomes,
        changed: proved.iter().flat_map(|it| changed(files, it)).collect(),
        proved,
        warnings: passes.warnings,
    }
}

/// Returns the files of a proved table that differ from those of the table before.
fn changed(files: &[TextFile], proved: &ProvedTable) -> Vec<TextFile> {
    let before: HashMap<_, _> = files.iter().map(|file| (&file.path, file)).collect();
    let all = proved.files.iter();
    let changed = all.filter(|file| before.get(&file.path) != Some(file));
    changed.cloned().collect()
}

struct Passes<'r> {
    requests: &'r [RegistrationRequest],
    max_bytes: u64,
    now: Timestamp,
    outcomes: Vec<Option<Result<Registered, RegistrationRefusal>>>,
    /// The requests without an outcome, by number, in order.
    waiting: Vec<usize>,
    /// The number of proofs so far.
    proofs: u32,
    warnings: Vec<Diagnostic>,
}

impl Passes<'_> {
    fn go_on(&self) -> bool {
        let is_in_time = self.proofs < MOST_PROOFS || !self.is_any_known();
        !self.waiting.is_empty() && is_in_time
    }

    fn is_any_known(&self) -> bool {
        self.outcomes.iter().any(Option::is_some)
    }

    /// Decides on at least one request; returns the table with those that are registered.
    fn pass(&mut self, base: &Base<'_>) -> Option<ProvedTable> {
        let mut claims = Claims::default();
        let (mut numbers, mut additions) = (Vec::new(), Vec::new());
        let mut later = Vec::new();
        for number in std::mem::take(&mut self.waiting) {
            let request = &self.requests[number];
            let addition = target_of(request).and_then(|target| {
                let highest = |site| claims.highest(site);
                Addition::of(request, target, base.table(), highest, self.now)
            });
            match addition {
                Err(refusal) => self.outcomes[number] = Some(Err(refusal)),
                Ok(addition) if !claims.admit(&addition) => later.push(number),
                Ok(addition) => {
                    numbers.push(number);
                    additions.push(addition);
                }
            }
        }
        let bisection = Bisection {
            base,
            additions: &additions,
            may_shadow: &|position| &self.requests[numbers[position]].may_shadow,
            max_bytes: self.max_bytes,
            now: self.now,
        };
        let bisected = bisection.run(&Effort::AtMost {
            proofs: MOST_PROOFS.saturating_sub(self.proofs),
            is_any_known: self.is_any_known(),
        });
        let bisected = bisected.expect("with that effort, everything is the fault of an entry");
        self.proofs += bisected.proofs;
        for (position, refusal) in bisected.refused {
            self.outcomes[numbers[position]] = Some(Err(refusal));
        }
        if let Some(accepted) = &bisected.accepted {
            for &position in &accepted.numbers {
                let registered = Registered::of(&additions[position], accepted, position);
                self.outcomes[numbers[position]] = Some(Ok(registered));
            }
        }
        later.extend(numbers.iter().filter(|it| self.outcomes[**it].is_none()));
        later.sort_unstable();
        self.waiting = later;
        let accepted = bisected.accepted?;
        self.warnings.extend(accepted.proof.warnings);
        Some(accepted.proof.proved)
    }
}

impl Registered {
    fn of(addition: &Addition<'_>, accepted: &Accepted, number: usize) -> Self {
        let (site, code) = (addition.site, addition.code());
        let target = addition.entry.url.as_ref().map(Target::as_str);
        Self {
            site: site.base_url().as_str().to_owned(),
            short_url: site.short_url(code.as_str()),
            code: code.to_string(),
            target: target.unwrap_or_default().to_owned(),
            trailers: accepted.trailers(number),
        }
    }
}

/// The codes and targets that the additions of one pass have claimed, each with its site's base
/// URL.
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

    /// Claims the codes and the target of an addition, unless they conflict with another one.
    fn admit(&mut self, addition: &Addition<'t>) -> bool {
        let site = addition.site.base_url().as_str();
        let target = addition.entry.url.as_ref().map(Target::as_str);
        let target = (site, target.unwrap_or_default().to_owned());
        let codes = self.codes.entry(site).or_default();
        let compared = addition.codes();
        let compared = compared.map(|code| addition.site.compared_form(code.as_str()).into_owned());
        let compared: Vec<_> = compared.collect();
        let is_near = compared.iter().any(|code| codes.touches(code));
        if is_near || self.targets.contains(&target) {
            return false;
        }
        self.targets.insert(target);
        compared.iter().for_each(|code| codes.insert(code));
        if let OwnCode::Number(_, number) = addition.entry.code {
            let highest = self.highest(addition.site).max(Some(number));
            self.numbers.insert(site, highest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::base::with;
    use super::super::request::RequestedCode;
    use super::*;
    use crate::mapping::SourceFile;
    use crate::registry::text::compile_text;

    fn table(text: &str) -> Vec<TextFile> {
        vec![SourceFile::new("mapping.yaml".into(), text.into()).into()]
    }

    fn request(url: &str, code: RequestedCode) -> RegistrationRequest {
        RegistrationRequest {
            url: url.to_owned(),
            code,
            ..RegistrationRequest::default()
        }
    }

    fn decide(files: &[TextFile], requests: &[RegistrationRequest], max_bytes: u64) -> Decision {
        let compiled = compile_text(files, None).unwrap().into_sound().unwrap();
        register_all(files, &compiled, requests, max_bytes, Timestamp::MIN)
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
            let batch = decide(&files, &these, 1 << 20);
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
            files = with(&files, &batch.changed);
        }
        let text = String::from_utf8(files.remove(0).whole().unwrap().bytes).unwrap();
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
        assert!(compile_text(&table(&text), None).unwrap().table.is_some());
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
        let batch = decide(&text, &requests, 500);
        assert!(matches!(batch.outcomes[0], Some(Ok(_))));
        assert!(matches!(
            batch.outcomes[1],
            Some(Err(RegistrationRefusal::TooLarge { max_bytes: 500 }))
        ));
        assert!(batch.changed[0].size() <= 500);
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
        let batch = decide(&text, &requests[..9], 500);
        assert!(matches!(batch.outcomes[0], Some(Err(_))));
        assert!(matches!(batch.outcomes[1], Some(Ok(_))));
        let batch = decide(&text, &requests, 500);
        assert_eq!(batch.outcomes.iter().flatten().count(), 1);
    }

    #[test]
    fn a_table_with_the_links_is_passed_on() {
        let files = table("base_url: https://s.code/\nmapping: []\ntests: []\n");
        let requests = [
            request("https://a.example/", custom("a")),
            request("https://b.example/", custom("a")),
        ];
        let decision = decide(&files, &requests, 1 << 20);
        let proved = decision.proved.unwrap();
        assert_eq!(proved.files, decision.changed);
        assert_eq!(proved.table.table.len(), 1);
        let refused = decide(&proved.files, &requests[1..], 1 << 20);
        assert!(refused.proved.is_none() && refused.changed.is_empty());
    }
}
