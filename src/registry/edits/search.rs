//! The search for edits that make a table invalid: usually it is valid with all of them; if not,
//! halves are tried until each invalid edit is known.

use std::collections::BTreeMap;

use super::refusal::EditRefusal;

/// The maximum number of proofs: each compiles the table.
const MAX_PROOFS: u32 = 64;

/// The result of a search among numbered edits.
pub(super) struct SearchResult<T> {
    /// The edits that can be made together, and their proof.
    pub(super) accepted: Option<(Vec<usize>, T)>,
    /// Those that cannot be made. Others were not decided.
    pub(super) refused: BTreeMap<usize, EditRefusal>,
}

/// Accepts as many of a number of edits as can be proved together.
pub(super) fn search<T>(
    count: usize,
    mut prove: impl FnMut(&[usize]) -> Result<T, EditRefusal>,
) -> SearchResult<T> {
    let all: Vec<_> = (0..count).collect();
    let mut found = SearchResult {
        accepted: None,
        refused: BTreeMap::new(),
    };
    let mut proofs = 0;
    let mut parts = vec![&all[..]];
    while let Some(part) = parts.pop().filter(|_| proofs < MAX_PROOFS) {
        if part.is_empty() {
            continue;
        }
        let accepted = found.accepted.as_ref();
        let accepted = accepted.map_or(&[][..], |(numbers, _)| numbers);
        let numbers = [accepted, part].concat();
        proofs += 1;
        match (prove(&numbers), part) {
            (Ok(proof), _) => found.accepted = Some((numbers, proof)),
            (Err(refusal), [only]) => {
                found.refused.insert(*only, refusal);
            }
            (Err(_), _) => {
                let (first, second) = part.split_at(part.len() / 2);
                // The first half is tried next.
                parts.extend([second, first]);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_those_at_fault_are_refused() {
        let mut proofs = 0;
        let found = search(100, |numbers| {
            proofs += 1;
            let is_at_fault = |number: &&usize| matches!(number, 3 | 70);
            match numbers.iter().find(is_at_fault) {
                None => Ok(numbers.len()),
                Some(_) => Err(EditRefusal::SideEffects),
            }
        });
        assert_eq!(found.accepted.map(|(_, proof)| proof), Some(98));
        assert_eq!(Vec::from_iter(found.refused.into_keys()), [3, 70]);
        assert!(proofs < 32, "{proofs}");
    }

    #[test]
    fn it_ends_when_most_are_at_fault() {
        let found = search(1000, |_| Err::<(), _>(EditRefusal::SideEffects));
        assert!(found.accepted.is_none());
        assert!(found.refused.len() < 1000 && !found.refused.is_empty());
    }
}
