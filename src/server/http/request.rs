//! The parts of an HTTP request that decide its outcome, checked before any other code uses them.
//!
//! hyper refuses input that is not HTTP. This module adds the checks that RFC 9112 section 3.2 and
//! RFC 9113 section 8.3.1 require of a server beyond that: one valid host, and a target in a form
//! that the method allows. It also refuses input that hyper accepts although a proxy in front of it
//! may read it differently: a line that ends in a line feed alone, and transfer codings other than
//! a single `chunked`. `X-Forwarded-Host` and similar fields are not read: anyone can send them.

use hyper::header::{ACCEPT, CONTENT_LENGTH, HOST, ORIGIN, TRANSFER_ENCODING};
use hyper::http::uri::Scheme;
use hyper::{HeaderMap, Method, Request, Uri, Version};

use crate::mapping::{self, AcceptFields};

use super::lines::BareLineFeed;

/// The origin of a browser's request. `none`, a request by a person and not by a page, is never a
/// POST.
const SEC_FETCH_SITE: &str = "sec-fetch-site";

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The host is missing, ambiguous or invalid, or no client may send the target, or another
    /// server may see another end of the request.
    BadRequest,
    /// The method concerns a proxy or the server as a whole.
    Method,
}

/// Returns the part of a request that the table decides on.
///
/// The host is that of an absolute target, which the `Host` field must not override (RFC 9112
/// section 3.2.2), otherwise that of the field. In HTTP/2 the `:authority` makes the target
/// absolute, and a field that differs from it is an attempt to mislead one of two servers.
pub(crate) fn read<B>(request: &Request<B>) -> Result<mapping::Request<'_>, Refused> {
    let field = host_field(request.headers(), request.version())?;
    let uri = request.uri();
    if is_ambiguous(request) {
        return Err(Refused::BadRequest);
    }
    if request.method() == Method::CONNECT {
        return Err(Refused::Method);
    }
    if uri.path() == "*" {
        // Only OPTIONS has this form.
        return Err(match *request.method() {
            Method::OPTIONS => Refused::Method,
            _ => Refused::BadRequest,
        });
    }
    let host = match (absolute(uri)?, field) {
        (Some(authority), Some(field)) if request.version() >= Version::HTTP_2 => {
            if !is_same(authority, field) {
                return Err(Refused::BadRequest);
            }
            Some(authority)
        }
        // HTTP/2 does not need the field, but needs one of the two.
        (None, None) if request.version() >= Version::HTTP_2 => return Err(Refused::BadRequest),
        (Some(authority), _) => Some(authority),
        (None, field) => field,
    };
    Ok(mapping::Request {
        host,
        path: uri.path(),
        query: uri.query(),
        accept: Some(request.headers()),
    })
}

/// Reads the fields when an entry has variants.
impl AcceptFields for HeaderMap {
    fn for_each(&self, read: &mut dyn FnMut(&[u8])) {
        for value in self.get_all(ACCEPT) {
            read(value.as_bytes());
        }
    }
}

/// Returns whether any page in a browser makes a request: browsers send these fields, and other
/// clients have no reason to (Fetch Metadata; RFC 6454).
pub(crate) fn is_from_a_page(headers: &HeaderMap) -> bool {
    headers.contains_key(ORIGIN) || headers.contains_key(SEC_FETCH_SITE)
}

/// Returns whether a page of this server makes a request: browsers state the origin of a posted
/// form. Those that send no `Sec-Fetch-Site`, as for addresses without TLS, send the page's origin,
/// whose host must be that of the request.
pub(crate) fn is_from_own_page<B>(request: &Request<B>) -> bool {
    let headers = request.headers();
    let only = |name: &str| {
        let mut values = headers.get_all(name).iter();
        let value = values.next()?;
        Some(value.to_str().ok().filter(|_| values.next().is_none()))
    };
    if let Some(site) = only(SEC_FETCH_SITE) {
        return site == Some("same-origin");
    }
    let origin = only(ORIGIN.as_str()).flatten();
    let authority = origin.and_then(|origin| {
        let secure = origin.strip_prefix("https://");
        secure.or_else(|| origin.strip_prefix("http://"))
    });
    let host = read(request).ok().and_then(|asked| asked.host);
    authority.is_some_and(|authority| {
        host.is_some_and(|host| is_same(authority, host.strip_suffix(":80").unwrap_or(host)))
    })
}

/// Returns whether a proxy may have seen another request in the same bytes.
fn is_ambiguous<B>(request: &Request<B>) -> bool {
    let headers = request.headers();
    let codings = headers.get_all(TRANSFER_ENCODING);
    let mut codings = codings.iter().map(|coding| coding.as_bytes());
    match codings.next() {
        // The line feed may be part of its content, and the connection ends after it anyway.
        Some(coding) => !coding.eq_ignore_ascii_case(b"chunked") || codings.next().is_some(),
        None => {
            request.extensions().get::<BareLineFeed>().is_some()
                && headers
                    .get(CONTENT_LENGTH)
                    .is_none_or(|length| length == "0")
        }
    }
}

/// Returns the `Host` field, which HTTP/1.1 requires and no version may repeat.
fn host_field(headers: &HeaderMap, version: Version) -> Result<Option<&str>, Refused> {
    let mut values = headers.get_all(HOST).iter();
    let Some(host) = values.next() else {
        return match version {
            Version::HTTP_11 => Err(Refused::BadRequest),
            _ => Ok(None),
        };
    };
    if values.next().is_some() || !host.as_bytes().iter().all(|byte| is_of_a_host(*byte)) {
        return Err(Refused::BadRequest);
    }
    // A client without a host name sends an empty field.
    let host = host.to_str().map_err(|_| Refused::BadRequest)?;
    Ok((!host.is_empty()).then_some(host))
}

/// Returns the authority of an absolute target, `None` if the target is only a path.
fn absolute(uri: &Uri) -> Result<Option<&str>, Refused> {
    if !uri.path().starts_with('/') {
        return Err(Refused::BadRequest);
    }
    let Some(authority) = uri.authority() else {
        return Ok(None);
    };
    let scheme = uri.scheme().ok_or(Refused::BadRequest)?;
    let authority = authority.as_str();
    if (*scheme == Scheme::HTTP || *scheme == Scheme::HTTPS) && authority.bytes().all(is_of_a_host)
    {
        Ok(Some(authority))
    } else {
        Err(Refused::BadRequest)
    }
}

/// Returns whether two hosts are equal under `https`.
fn is_same(authority: &str, field: &str) -> bool {
    let [authority, field] =
        [authority, field].map(|host| host.strip_suffix(":443").unwrap_or(host));
    authority.eq_ignore_ascii_case(field)
}

/// Returns whether a byte may occur in `uri-host [ ":" port ]` (RFC 3986 section 3.2).
pub(super) fn is_of_a_host(byte: u8) -> bool {
    const TABLE: [bool; 256] = byte_table(b"-._~%!$&'()*+,;=:[]");
    TABLE[byte as usize]
}

/// Returns for each byte whether it is a letter, a digit or one of some signs.
pub(super) const fn byte_table(signs: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let mut at = 0;
    while at < signs.len() {
        table[signs[at] as usize] = true;
        at += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host_of(target: &str, hosts: &[&str], version: Version) -> Result<Option<String>, Refused> {
        let mut request = Request::builder().uri(target).version(version);
        for host in hosts {
            request = request.header(HOST, *host);
        }
        let request = request.body(()).unwrap();
        read(&request).map(|read| read.host.map(str::to_owned))
    }

    #[test]
    fn takes_the_host_of_an_absolute_target() {
        let found = host_of("http://a.example:80/x", &["b.example"], Version::HTTP_11);
        assert_eq!(found, Ok(Some("a.example:80".to_owned())));
    }

    #[test]
    fn wants_one_host_of_http_1_1_and_at_most_one_of_1_0() {
        let refused = Err(Refused::BadRequest);
        assert_eq!(host_of("/x", &[], Version::HTTP_11), refused);
        assert_eq!(host_of("/x", &["a", "a"], Version::HTTP_11), refused);
        assert_eq!(host_of("/x", &["a", "b"], Version::HTTP_10), refused);
        assert_eq!(host_of("http://a/x", &[], Version::HTTP_11), refused);
        assert_eq!(host_of("/x", &[], Version::HTTP_10), Ok(None));
        assert_eq!(host_of("/x", &[""], Version::HTTP_11), Ok(None));
    }

    #[test]
    fn http_2_has_an_authority_or_a_field_and_both_agree() {
        let refused = Err(Refused::BadRequest);
        let of = |target, hosts: &[&str]| host_of(target, hosts, Version::HTTP_2);
        let found = Ok(Some("a.example".to_owned()));
        assert_eq!(of("https://a.example/x", &[]), found);
        assert_eq!(of("https://a.example/x", &["A.example:443"]), found);
        assert_eq!(of("/x", &["a.example"]), found);
        assert_eq!(of("https://a.example/x", &["b.example"]), refused);
        assert_eq!(of("https://a.example/x", &["a.example:444"]), refused);
        assert_eq!(of("https://a.example/x", &["a.example"; 2]), refused);
        assert_eq!(of("https://u@a.example/x", &[]), refused);
        assert_eq!(of("/x", &[]), refused);
        assert_eq!(of("/x", &[""]), refused);
    }

    #[test]
    fn refuses_hosts_that_are_none() {
        for host in [
            "a b", "a/b", "user@a", "a?b", "a#b", "a\\b", "<a>", "\u{e4}",
        ] {
            let found = host_of("/x", &[host], Version::HTTP_11);
            assert_eq!(found, Err(Refused::BadRequest), "{host:?}");
        }
    }

    #[test]
    fn a_form_is_of_the_host_that_it_is_sent_to() {
        let is_own = |fields: &[(&str, &str)]| {
            let mut request = Request::builder()
                .uri("/-/propose")
                .header(HOST, "s.code:8443");
            for (name, value) in fields {
                request = request.header(*name, *value);
            }
            is_from_own_page(&request.body(()).unwrap())
        };
        for own in [
            &[("sec-fetch-site", "same-origin")][..],
            // A proxy in front may use another name for this server.
            &[
                ("sec-fetch-site", "same-origin"),
                ("origin", "https://s.code"),
            ],
            &[("origin", "https://s.code:8443")],
            &[("origin", "http://S.code:8443")],
        ] {
            assert!(is_own(own), "{own:?}");
        }
        for other in [
            &[][..],
            &[("sec-fetch-site", "cross-site")],
            &[
                ("sec-fetch-site", "same-site"),
                ("origin", "https://s.code:8443"),
            ],
            &[("sec-fetch-site", "none")],
            &[
                ("sec-fetch-site", "same-origin"),
                ("sec-fetch-site", "cross-site"),
            ],
            &[("origin", "null")],
            &[("origin", "https://evil.example")],
            &[("origin", "https://s.code:8443.evil.example")],
            &[("origin", "https://s.code")],
            &[("origin", "ftp://s.code:8443")],
            &[
                ("origin", "https://s.code:8443"),
                ("origin", "https://s.code:8443"),
            ],
            &[("referer", "https://s.code:8443/-/propose")],
        ] {
            assert!(!is_own(other), "{other:?}");
        }
    }

    #[test]
    fn wants_to_know_where_a_request_ends() {
        let outcome = |codings: &[&str], length: bool, bare: bool| {
            let mut request = Request::builder().uri("/x").header(HOST, "a");
            for coding in codings {
                request = request.header(TRANSFER_ENCODING, *coding);
            }
            if length {
                request = request.header(CONTENT_LENGTH, "3");
            }
            let mut request = request.body(()).unwrap();
            if bare {
                request.extensions_mut().insert(BareLineFeed);
            }
            read(&request).map(|_| ())
        };
        let refused = Err(Refused::BadRequest);
        assert_eq!(outcome(&["Chunked"], false, false), Ok(()));
        assert_eq!(outcome(&["chunked"], false, true), Ok(()));
        assert_eq!(outcome(&[], true, true), Ok(()));
        assert_eq!(outcome(&[], false, true), refused);
        for codings in [
            &["gzip, chunked"][..],
            &["chunked, chunked"],
            &["chunked", "chunked"],
            &["gzip", "chunked"],
        ] {
            assert_eq!(outcome(codings, false, false), refused, "{codings:?}");
        }
    }

    #[test]
    fn refuses_targets_that_no_client_sends_to_a_server() {
        for target in [
            "x",
            "a.example:80",
            "ftp://a.example/x",
            "http://u@a.example/x",
            "*",
        ] {
            let found = host_of(target, &["a"], Version::HTTP_11);
            assert_eq!(found, Err(Refused::BadRequest), "{target:?}");
        }
    }
}
