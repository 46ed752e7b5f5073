//! The patterns by which OpenSSH's files name hosts and namespaces (ssh_config(5), "PATTERNS").

/// Matches a list of patterns (ssh_config(5), "PATTERNS"): one must match, and none after `!`.
pub(super) fn matches_list(text: &str, patterns: &str) -> bool {
    let mut found = false;
    for pattern in patterns.split(',') {
        match pattern.strip_prefix('!') {
            Some(pattern) if matches(text.as_bytes(), pattern.as_bytes()) => return false,
            Some(_) => {}
            None => found |= matches(text.as_bytes(), pattern.as_bytes()),
        }
    }
    found
}

/// Matches a pattern in which `*` matches any text and `?` any character.
fn matches(text: &[u8], pattern: &[u8]) -> bool {
    let (mut t, mut p) = (0, 0);
    // Where to continue if the text after the last star does not match: one character later.
    let mut star = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                p += 1;
                star = Some((p, t));
            }
            Some(c) if *c == b'?' || *c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match &mut star {
                Some((after, from)) => {
                    *from += 1;
                    (p, t) = (*after, *from);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_match_other_text() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("*", "anything", true),
            ("a*b", "ab", true),
            ("a*b", "a-b-b", true),
            ("a*b", "a-b-c", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*.example.org", "git.example.org", true),
            ("*.example.org", "example.org", false),
            ("", "", true),
            ("", "a", false),
        ] {
            assert_eq!(matches_list(text, pattern), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn what_is_excluded_matches_in_no_place_of_a_list() {
        assert!(matches_list("b", "a,b"));
        assert!(!matches_list("b", "a,b,!b"));
        assert!(!matches_list("b", "!b,*"));
        assert!(matches_list("c", "!b,*"));
        assert!(!matches_list("c", "!b"));
    }
}
