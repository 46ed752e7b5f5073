//! Which paths a compiled expression may match, given how they begin.

use std::collections::HashSet;

use regex_automata::nfa::thompson::{NFA, State};
use regex_automata::util::look::Look;
use regex_automata::util::primitives::StateID;

/// Returns whether a match may lie in a text that begins so, if anything may follow.
///
/// What follows is not followed in detail, so that this may be true of more than can match.
pub(super) fn may_match_below(nfa: &NFA, start: &[u8]) -> bool {
    may_match_before(nfa, start, |_| true)
}

/// Returns the same if only some bytes may follow.
pub(super) fn may_match_before(nfa: &NFA, start: &[u8], follows: impl Fn(u8) -> bool) -> bool {
    let mut states = HashSet::new();
    for (at, byte) in start.iter().enumerate() {
        let looks = |look| look != Look::End && (look != Look::Start || at == 0);
        states.insert(nfa.start_anchored());
        let closure = closure(nfa, &states, looks);
        if closure
            .iter()
            .any(|it| matches!(nfa.state(*it), State::Match { .. }))
        {
            return true;
        }
        states = (closure.iter())
            .filter_map(|it| match nfa.state(*it) {
                State::ByteRange { trans } => trans.matches_byte(*byte).then_some(trans.next),
                State::Sparse(trans) => trans.matches_byte(*byte),
                State::Dense(trans) => trans.matches_byte(*byte),
                _ => None,
            })
            .collect();
    }
    states.insert(nfa.start_anchored());
    loop {
        let reached = closure(nfa, &states, |look| look != Look::Start || start.is_empty());
        if reached
            .iter()
            .any(|it| matches!(nfa.state(*it), State::Match { .. }))
        {
            return true;
        }
        let mut next = reached.clone();
        for state in &reached {
            match nfa.state(*state) {
                State::ByteRange { trans } if (trans.start..=trans.end).any(&follows) => {
                    next.insert(trans.next);
                }
                State::Sparse(trans) => {
                    let bytes = (0..=u8::MAX).filter(|byte| follows(*byte));
                    next.extend(bytes.filter_map(|byte| trans.matches_byte(byte)));
                }
                State::Dense(trans) => {
                    let bytes = (0..=u8::MAX).filter(|byte| follows(*byte));
                    next.extend(bytes.filter_map(|byte| trans.matches_byte(byte)));
                }
                _ => {}
            }
        }
        if next.len() == states.len() {
            return false;
        }
        states = next;
    }
}

/// Returns the states that are reached without a further byte, by assertions that may hold.
fn closure(nfa: &NFA, states: &HashSet<StateID>, holds: impl Fn(Look) -> bool) -> HashSet<StateID> {
    let mut all = HashSet::new();
    let mut open: Vec<_> = states.iter().copied().collect();
    while let Some(id) = open.pop() {
        if !all.insert(id) {
            continue;
        }
        match nfa.state(id) {
            State::Look { look, next } if holds(*look) => open.push(*next),
            State::Union { alternates } => open.extend(alternates.iter()),
            State::BinaryUnion { alt1, alt2 } => open.extend([*alt1, *alt2]),
            State::Capture { next, .. } => open.push(*next),
            _ => {}
        }
    }
    all
}
