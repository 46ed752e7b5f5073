//! The URL that a person probably intended who wrote a scheme twice, or not with a colon and two slashes.

/// Returns whether a host and what follows it are a second scheme: `https://https://example.org/`, in
/// which it has lost its colon when it was made canonical, or one of its slashes.
///
/// `rest` is what follows the first scheme and its slashes. A host of the name `https` is no mistake
/// unless a colon without a port or an empty segment of the path follows.
pub(super) fn has_second_scheme(rest: &str) -> bool {
    let after = without_scheme(rest);
    after.is_some_and(|it| it.starts_with(":/") || it.starts_with("//"))
}

/// Returns whether a host and what follows it are a scheme other than `http`: `https://ftp://example.org/`.
pub(super) fn begins_with_scheme(rest: &str) -> bool {
    let scheme = rest.split_once("://").map(|(scheme, _)| scheme);
    let is_of_scheme = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-');
    scheme.is_some_and(|it| !it.is_empty() && it.bytes().all(is_of_scheme))
}

/// Returns the URL without repeated schemes, with two slashes after the last scheme; it may not be
/// valid.
pub(super) fn intended_url(text: &str) -> Option<String> {
    let mut scheme = None;
    let mut rest = text;
    while let Some(after) = without_scheme(rest) {
        if !after.starts_with([':', ';', '/']) {
            break;
        }
        scheme = Some(rest[..rest.len() - after.len()].to_ascii_lowercase());
        rest = after.trim_start_matches([':', ';', '/', '\\']);
    }
    Some(format!("{}://{rest}", scheme?))
}

/// Returns what follows `http` or `https` in any case.
fn without_scheme(text: &str) -> Option<&str> {
    ["https", "http"].into_iter().find_map(|scheme| {
        let (begin, rest) = text.split_at_checked(scheme.len())?;
        begin.eq_ignore_ascii_case(scheme).then_some(rest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_scheme_is_found() {
        for rest in ["https://e.org/", "http//e.org", "HTTPS:/e.org", "https:///"] {
            assert!(has_second_scheme(rest), "{rest}");
        }
        for rest in [
            "https/",
            "https",
            "https:443/",
            "https/a//b",
            "httpsx://e.org/",
            "e.org/https://f.org/",
        ] {
            assert!(!has_second_scheme(rest), "{rest}");
        }
    }

    #[test]
    fn another_scheme_is_found() {
        for rest in ["ftp://e.org/", "view-source://e.org", "x://"] {
            assert!(begins_with_scheme(rest), "{rest}");
        }
        for rest in ["e.org://a", "://a", "ftp/a://b", "ftp:21//a", "ftp"] {
            assert!(!begins_with_scheme(rest), "{rest}");
        }
    }

    #[test]
    fn the_intended_url_has_the_last_scheme() {
        for (text, intended) in [
            ("https://https://e.org/a", "https://e.org/a"),
            ("http://https//e.org/", "https://e.org/"),
            ("https://HTTP:/e.org/", "http://e.org/"),
            (
                "https:/e.org/https://f.org/",
                "https://e.org/https://f.org/",
            ),
            ("https:///e.org/", "https://e.org/"),
            ("https:e.org/", "https://e.org/"),
            ("https//e.org/", "https://e.org/"),
            ("http;//e.org/", "http://e.org/"),
            ("https://https://https://e.org", "https://e.org"),
        ] {
            assert_eq!(intended_url(text).as_deref(), Some(intended), "{text}");
        }
        for text in ["e.org", "ftp://e.org", "httpsx:/e.org"] {
            assert_eq!(intended_url(text), None, "{text}");
        }
    }
}
