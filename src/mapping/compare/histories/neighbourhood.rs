//! Neighbourhoods: which codes are too far apart to shadow each other.
//!
//! This is decided by spelling alone, and errs on the side of near: whether near codes do shadow
//! each other is decided by [`shadowed`](crate::mapping::compare::shadowed).

use std::collections::HashSet;

/// Codes of one site, by their neighbourhoods.
#[derive(Debug, Default)]
pub struct Neighbourhood {
    /// The codes, without the characters that repairs add and remove.
    cores: HashSet<String>,
    /// The cores and their prefixes that end at a slash.
    starts: HashSet<String>,
}

impl Neighbourhood {
    /// Adds a code.
    pub fn insert(&mut self, code: &str) {
        let core = core(code);
        self.starts.extend(starts(&core).map(str::to_owned));
        self.cores.insert(core);
    }

    /// Returns whether a code may shadow one of these, or one of these may shadow it.
    pub fn touches(&self, code: &str) -> bool {
        let core = core(code);
        self.starts.contains(&core) || starts(&core).any(|start| self.cores.contains(start))
    }
}

/// Returns a code without the characters that repairs add and remove at the end of a segment, and
/// with a slash where the standard-alphabet spelling of an auto code has one.
fn core(code: &str) -> String {
    let segments = code.split(['/', '_']);
    let segments = segments.map(|segment| segment.trim_end_matches(['.', '-']));
    let segments: Vec<_> = segments.filter(|segment| !segment.is_empty()).collect();
    segments.join("/")
}

/// Returns the prefixes of a core: the empty text, whole segments, and the core itself.
fn starts(core: &str) -> impl Iterator<Item = &str> {
    let slashes = core.match_indices('/').map(|(slash, _)| &core[..slash]);
    [""].into_iter().chain(slashes).chain([core])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_shadow_each_other_is_near() {
        for (one, other) in [
            ("a", "a"),
            ("a", "a/b"),
            ("a.", "a./b"),
            ("a", "a.."),
            ("abcdefg", "abcdefg_"),
            ("abcdefg-", "abcdefg_"),
            ("cI", "cI_6xOyY"),
            ("cI/6x", "cI_6x_yY"),
            ("...", "a"),
        ] {
            for (one, other) in [(one, other), (other, one)] {
                let mut near = Neighbourhood::default();
                near.insert(one);
                assert!(near.touches(other), "{one} {other}");
            }
        }
        let mut near = Neighbourhood::default();
        near.insert("team/a-1");
        for far in ["team/a-2", "team/b", "teams", "a", "team/a"] {
            assert!(!near.touches(far), "{far}");
        }
    }
}
