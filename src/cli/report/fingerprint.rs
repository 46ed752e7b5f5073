//! Fingerprints, by which a Git host recognizes a problem in the next version of a table.
//!
//! They depend on the file, the rule and the text of the line, but not on the line's number or on a
//! message that may name other lines. Problems that are equal in all of these are numbered.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

use crate::git::hex;

/// Assigns fingerprints to the problems of one table, in order.
#[derive(Default)]
pub(crate) struct Fingerprints {
    given: HashMap<String, usize>,
    /// The last line, and below its digests by rule: a line may be a whole table, and every
    /// problem may be on that one line.
    line: (String, u32),
    of_line: HashMap<String, String>,
}

impl Fingerprints {
    /// Returns the fingerprint of the next problem, on the line of that number: 64 hexadecimal
    /// digits.
    pub(crate) fn next(&mut self, path: &str, rule: &str, number: u32, line: &str) -> String {
        if (&*self.line.0, self.line.1) != (path, number) {
            self.line = (path.to_owned(), number);
            self.of_line.clear();
        }
        let first = match self.of_line.get(rule) {
            Some(known) => known.clone(),
            None => {
                let first = digest(&[path, rule, line.trim()]);
                self.of_line.insert(rule.to_owned(), first.clone());
                first
            }
        };
        let count = self.given.entry(first.clone()).or_default();
        *count += 1;
        match *count {
            1 => first,
            count => digest(&[&first, &count.to_string()]),
        }
    }
}

fn digest(parts: &[&str]) -> String {
    hex(&Sha256::digest(parts.join("\0")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_that_look_alike_differ() {
        let mut prints = Fingerprints::default();
        let reported = [
            (1, "- url: x"),
            (2, "  - url: x"),
            (2, "  - url: x"),
            (4, "- url: y"),
        ];
        let mut reported = reported
            .map(|(number, line)| prints.next("a.yaml", "rule", number, line))
            .to_vec();
        reported.push(prints.next("b.yaml", "rule", 4, "- url: x"));
        reported.push(prints.next("a.yaml", "other", 4, "- url: x"));
        let mut apart = reported.clone();
        apart.sort();
        apart.dedup();
        assert_eq!(apart.len(), reported.len());
        // The next check assigns the same ones.
        let mut prints = Fingerprints::default();
        assert_eq!(prints.next("a.yaml", "rule", 9, "- url: x"), reported[0]);
        assert_eq!(prints.next("a.yaml", "rule", 9, "- url: x"), reported[1]);
    }
}
