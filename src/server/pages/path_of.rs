//! The path of a URL: pages link to short links on the host that the client used, which may not be the
//! table's.

/// Returns the part of an absolute URL after the authority.
pub(crate) fn path_of(url: &str) -> &str {
    let authority = url.find("://").map_or(0, |at| at + 3);
    let path = url[authority..]
        .find('/')
        .map_or(url.len(), |at| authority + at);
    &url[path..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_what_follows_the_authority() {
        assert_eq!(path_of("https://short.code/a/b"), "/a/b");
        assert_eq!(path_of("https://short.code:8443/go/a"), "/go/a");
        assert_eq!(path_of("https://short.code"), "");
    }
}
