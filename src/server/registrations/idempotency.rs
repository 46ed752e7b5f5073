//! Repeatable requests: `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header).
//!
//! A client that got no answer repeats its request with the same key, and gets the first answer.
//! Answers are kept for a day, in memory: after a restart the table shows what is registered. Keys
//! belong to one token, and are stored as hashes, so that all take the same amount of memory.
//!
//! A fleet shares its keys, but not its answers: a replica that has not answered a request itself
//! learns which link it registered, and must find it in the table.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hyper::HeaderMap;
use sha2::{Digest as _, Sha256};

use super::response::ApiResponse;
use super::tokens::Bearer;
use crate::server::fleet::{Fleet, KeyClaim, KeyClaimed, RegisteredLink};
use crate::server::http::Sha256Digest;

/// How long an answer is kept.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// The most answers that are kept.
const MAX_KEPT: usize = 10_000;

/// The most bytes of all answers together: a kilobyte each, and most have less.
const MAX_BYTES: usize = 10_000_000;

/// The longest key, in bytes.
const MAX_KEY: usize = 255;

/// The name of the header.
const HEADER: &str = "idempotency-key";

/// The kept answers.
#[derive(Clone, Default)]
pub(super) struct IdempotencyMemory(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    requests: HashMap<Sha256Digest, KeyedRequest>,
    /// In order of arrival. Requests that are not in the map any more ended without an answer.
    order: VecDeque<(Instant, Sha256Digest)>,
    /// The bytes of all answers.
    bytes: usize,
}

struct KeyedRequest {
    began: Instant,
    body: Sha256Digest,
    /// `None` while it is under way.
    answer: Option<ApiResponse>,
}

/// The state of a request.
pub(super) enum KeyState {
    /// New: the request may proceed, and must record its answer.
    New(Ticket),
    /// Another replica has answered it with a new link: it may proceed if that is not found.
    Registered(Ticket, RegisteredLink),
    /// It is under way.
    UnderWay,
    /// It was answered.
    Answered(Box<ApiResponse>),
    /// Its key was used for another body.
    Differs,
}

/// A request that is under way. If dropped without an answer, it is forgotten.
pub(super) struct Ticket {
    memory: IdempotencyMemory,
    key: Sha256Digest,
    began: Instant,
    /// Its claim in the fleet.
    claim: Option<KeyClaim>,
}

/// Returns the key of a request, if it has one.
///
/// The draft requires quotes, and clients omit them, so both forms are accepted.
///
/// # Errors
///
/// Fails if there are several, or if it is empty, too long or contains characters that are not
/// visible.
pub(super) fn key(headers: &HeaderMap) -> Result<Option<&[u8]>, ()> {
    let mut values = headers.get_all(HEADER).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    let key = value.as_bytes();
    let is_visible = key.iter().all(u8::is_ascii_graphic);
    match values.next() {
        None if is_visible && (1..=MAX_KEY).contains(&key.len()) => Ok(Some(key)),
        _ => Err(()),
    }
}

impl IdempotencyMemory {
    /// Looks up a request by its key, here and in the fleet, and records that it is under way if it is
    /// new.
    pub(super) async fn begin_in(
        &self,
        fleet: Option<&Fleet>,
        bearer: &Bearer,
        key: &[u8],
        body: &[u8],
    ) -> KeyState {
        match (self.begin(bearer, key, body, Instant::now()), fleet) {
            (KeyState::New(ticket), Some(fleet)) => {
                let body = Sha256::digest(body).into();
                let claimed = fleet.claim(&ticket.key, &body).await;
                ticket.claimed(claimed)
            }
            (known, _) => known,
        }
    }

    /// Looks up a request by its key, and records that it is under way if it is new.
    pub(super) fn begin(&self, bearer: &Bearer, key: &[u8], body: &[u8], now: Instant) -> KeyState {
        let key = Sha256::new().chain_update(bearer.token).chain_update(key);
        let key: Sha256Digest = key.finalize().into();
        let body: Sha256Digest = Sha256::digest(body).into();
        let mut kept = self.kept();
        kept.forget(now);
        match kept.requests.get(&key) {
            Some(known) if known.body != body => return KeyState::Differs,
            Some(KeyedRequest { answer: None, .. }) => return KeyState::UnderWay,
            Some(KeyedRequest {
                answer: Some(answer),
                ..
            }) => return KeyState::Answered(Box::new(answer.clone())),
            None => {}
        }
        let request = KeyedRequest {
            began: now,
            body,
            answer: None,
        };
        kept.requests.insert(key, request);
        kept.order.push_back((now, key));
        KeyState::New(Ticket {
            memory: self.clone(),
            key,
            began: now,
            claim: None,
        })
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// Removes old requests, and the oldest to make room for one more.
    fn forget(&mut self, now: Instant) {
        while let Some((began, key)) = self.order.front().copied() {
            let is_old = now.saturating_duration_since(began) >= KEPT;
            if !is_old && self.order.len() < MAX_KEPT && self.bytes <= MAX_BYTES {
                return;
            }
            self.order.pop_front();
            self.remove(&key, began);
        }
    }

    /// Removes a request, but not a later one with the same key.
    fn remove(&mut self, key: &Sha256Digest, began: Instant) {
        if self.requests.get(key).is_some_and(|it| it.began == began) {
            let removed = self.requests.remove(key);
            self.bytes -= removed.and_then(|it| it.answer).map_or(0, |it| it.bytes());
        }
    }
}

impl Ticket {
    /// Returns the state of a request that is new here, from its state in the fleet.
    fn claimed(mut self, claimed: KeyClaimed) -> KeyState {
        match claimed {
            KeyClaimed::New(claim, registered) => {
                self.claim = Some(claim);
                match registered {
                    Some(link) => KeyState::Registered(self, link),
                    None => KeyState::New(self),
                }
            }
            KeyClaimed::Unknown => KeyState::New(self),
            KeyClaimed::InProgress => KeyState::UnderWay,
            KeyClaimed::Differs => KeyState::Differs,
        }
    }

    /// Keeps the answer, if it is worth keeping.
    pub(super) fn answered(mut self, answer: &ApiResponse) {
        if let Some(claim) = self.claim.take()
            && answer.is_final()
        {
            claim.answered(answer.registered.as_deref());
        }
        let mut kept = self.memory.kept();
        if answer.is_final()
            && let Some(request) = kept.requests.get_mut(&self.key)
            && request.began == self.began
        {
            request.answer = Some(answer.clone());
            kept.bytes += answer.bytes();
            kept.forget(self.began);
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut kept = self.memory.kept();
        let request = kept.requests.get(&self.key);
        if request.is_some_and(|it| it.answer.is_none()) {
            kept.remove(&self.key, self.began);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::problem_type::ProblemType;
    use super::*;

    fn bearer(token: u8) -> Bearer {
        Bearer {
            is_admin: false,
            owner: "ada".into(),
            token: [token; 32],
        }
    }

    fn begin(memory: &IdempotencyMemory, key: &str, body: &str) -> KeyState {
        memory.begin(&bearer(1), key.as_bytes(), body.as_bytes(), Instant::now())
    }

    fn ticket(known: KeyState) -> Ticket {
        match known {
            KeyState::New(ticket) => ticket,
            _ => panic!("it is known"),
        }
    }

    #[test]
    fn the_same_again_gets_the_same_answer() {
        let memory = IdempotencyMemory::default();
        let first = ticket(begin(&memory, "k", "a"));
        assert!(matches!(begin(&memory, "k", "a"), KeyState::UnderWay));
        assert!(matches!(begin(&memory, "k", "b"), KeyState::Differs));
        first.answered(&ProblemType::CodeTaken.answer());
        let KeyState::Answered(answer) = begin(&memory, "k", "a") else {
            panic!("it is not known");
        };
        assert_eq!(answer.status, ProblemType::CodeTaken.status());
        assert!(matches!(begin(&memory, "k", "b"), KeyState::Differs));
        let other = memory.begin(&bearer(2), b"k", b"a", Instant::now());
        assert!(matches!(other, KeyState::New(_)), "of another token");
    }

    #[test]
    fn what_may_come_out_otherwise_is_not_kept() {
        let memory = IdempotencyMemory::default();
        drop(ticket(begin(&memory, "k", "a")));
        ticket(begin(&memory, "k", "a")).answered(&ProblemType::RemoteDown.answer());
        ticket(begin(&memory, "k", "b"));
    }

    #[test]
    fn what_the_fleet_knows_decides() {
        let memory = IdempotencyMemory::default();
        let claimed = |claimed| ticket(begin(&memory, "k", "a")).claimed(claimed);
        let state = claimed(KeyClaimed::InProgress);
        assert!(matches!(state, KeyState::UnderWay));
        assert!(matches!(claimed(KeyClaimed::Differs), KeyState::Differs));
        // Neither has begun here; with an unavailable fleet, one begins as without a fleet.
        let begun = ticket(claimed(KeyClaimed::Unknown));
        assert!(matches!(begin(&memory, "k", "a"), KeyState::UnderWay));
        begun.answered(&ProblemType::CodeTaken.answer());
        assert!(matches!(begin(&memory, "k", "a"), KeyState::Answered(_)));
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let memory = IdempotencyMemory::default();
        let first = ticket(begin(&memory, "0", ""));
        for n in 1..=MAX_KEPT {
            ticket(begin(&memory, &n.to_string(), "")).answered(&ProblemType::CodeTaken.answer());
        }
        assert!(memory.kept().requests.len() <= MAX_KEPT);
        assert!(memory.kept().order.len() <= MAX_KEPT);
        // It continued, was forgotten, and began again: its end is not the end of the second.
        let second = ticket(begin(&memory, "0", ""));
        first.answered(&ProblemType::CodeTaken.answer());
        assert!(matches!(begin(&memory, "0", ""), KeyState::UnderWay));
        drop(second);
        let tomorrow = Instant::now() + KEPT;
        drop(memory.begin(&bearer(1), b"x", b"", tomorrow));
        assert!(memory.kept().requests.is_empty());
    }

    #[test]
    fn many_large_answers_take_no_more_room() {
        let memory = IdempotencyMemory::default();
        let large = ApiResponse::document(&"x".repeat(MAX_BYTES / 4));
        for n in 0..9 {
            ticket(begin(&memory, &n.to_string(), "")).answered(&large);
            let kept = memory.kept();
            assert!(kept.bytes <= MAX_BYTES);
            let answers = kept.requests.values().filter_map(|it| it.answer.as_ref());
            assert_eq!(kept.bytes, answers.map(ApiResponse::bytes).sum::<usize>());
        }
        assert!(matches!(begin(&memory, "8", ""), KeyState::Answered(_)));
        assert!(matches!(begin(&memory, "0", ""), KeyState::New(_)));
    }

    #[test]
    fn a_key_is_one_and_visible() {
        let of = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(HEADER, value.parse().unwrap());
            }
            key(&headers).map(|key| key.map(<[u8]>::to_vec))
        };
        assert_eq!(of(&[]), Ok(None));
        assert_eq!(of(&["\"8e03978e\""]), Ok(Some(b"\"8e03978e\"".to_vec())));
        for values in [&["a", "b"][..], &[""], &["a b"], &[&"k".repeat(256)]] {
            assert_eq!(of(values), Err(()), "{values:?}");
        }
    }
}
