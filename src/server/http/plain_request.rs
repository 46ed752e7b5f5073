//! Plain requests: the form of nearly all requests for short links, read in place.
//!
//! A plain request is a `GET` or `HEAD` in HTTP/1.1 for a path, with one host, without content and
//! without a field that changes how the connection goes on. Everything else, and any doubtful case,
//! is left to hyper.
//!
//! Invariant: [`parse`] recognises nothing that hyper and [`request::read`](super::request::read)
//! refuse or read otherwise.

use std::mem::MaybeUninit;
use std::str;

use httparse::{Header, Status};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};

use super::request::{byte_table, is_of_a_host};
use crate::mapping;

/// The most header fields of a plain request; browsers send about twenty.
const FIELDS: usize = 40;

/// Space for the fields of a request while it is read.
pub(crate) type FieldSpace<'b> = [MaybeUninit<Header<'b>>; FIELDS];

/// Returns space for the fields of a request.
pub(crate) const fn field_space<'b>() -> FieldSpace<'b> {
    [const { MaybeUninit::uninit() }; FIELDS]
}

/// A plain request.
#[derive(Debug)]
pub(crate) struct PlainRequest<'s, 'b> {
    /// Whether the answer has no content.
    pub(crate) is_head: bool,
    /// The raw path.
    pub(crate) path: &'b str,
    query: Option<&'b str>,
    /// ASCII.
    host: &'b [u8],
    fields: &'s [Header<'b>],
}

/// The result of parsing the first bytes from a client.
#[derive(Debug)]
pub(crate) enum Parsed<'s, 'b> {
    /// A plain request of the given length.
    Plain(PlainRequest<'s, 'b>, usize),
    /// A part of a request.
    Partial,
    /// Something that hyper must read.
    Other,
}

/// Reads the request that bytes begin with; none of them may be a line feed without a carriage return
/// before it.
pub(crate) fn parse<'s, 'b>(bytes: &'b [u8], space: &'s mut FieldSpace<'b>) -> Parsed<'s, 'b> {
    let mut request = httparse::Request::new(&mut []);
    let length = match request.parse_with_uninit_headers(bytes, space) {
        Ok(Status::Complete(length)) => length,
        Ok(Status::Partial) => return Parsed::Partial,
        Err(_) => return Parsed::Other,
    };
    let plain = match (request.method, request.path, request.version) {
        (Some(method @ ("GET" | "HEAD")), Some(target), Some(1)) => {
            PlainRequest::new(method == "HEAD", target, request.headers)
        }
        _ => None,
    };
    // A client may send empty lines ahead of a request, which are left to hyper, too.
    match plain {
        Some(plain) if !matches!(bytes[0], b'\r' | b'\n') => Parsed::Plain(plain, length),
        _ => Parsed::Other,
    }
}

impl<'s, 'b> PlainRequest<'s, 'b> {
    fn new(is_head: bool, target: &'b str, fields: &'s [Header<'b>]) -> Option<Self> {
        let (path, query) = match all(target, is_of_a_path) {
            true => (target, None),
            false => {
                let (path, query) = target.split_once('?')?;
                let is_plain = all(path, is_of_a_path) && all(query, is_of_a_query);
                (path, is_plain.then_some(Some(query))?)
            }
        };
        if !path.starts_with('/') {
            return None;
        }
        let host = host(fields)?;
        Some(Self {
            is_head,
            path,
            query,
            host,
            fields,
        })
    }

    /// Returns the part that a table decides on.
    pub(crate) fn asked(&self) -> mapping::Request<'b> {
        mapping::Request {
            host: str::from_utf8(self.host).ok(),
            ..self.asked_of_any_host()
        }
    }

    /// Returns the part that a table decides on which answers for any host; the host is not read.
    pub(crate) fn asked_of_any_host(&self) -> mapping::Request<'b> {
        mapping::Request {
            host: None,
            path: self.path,
            query: self.query,
            // An entry for which this matters is left to hyper.
            accept: None,
        }
    }

    /// Returns all fields; `None` if one is not fit for a header.
    pub(crate) fn headers(&self) -> Option<HeaderMap> {
        let mut headers = HeaderMap::with_capacity(self.fields.len());
        for field in self.fields {
            let name = HeaderName::from_bytes(field.name.as_bytes()).ok()?;
            headers.append(name, HeaderValue::from_bytes(field.value).ok()?);
        }
        Some(headers)
    }
}

/// Returns the host, if there is exactly one and each field is of a plain request.
fn host<'b>(fields: &[Header<'b>]) -> Option<&'b [u8]> {
    let mut host = None;
    for field in fields {
        match class(field.name) {
            FieldClass::Host if host.is_none() => host = Some(field.value),
            FieldClass::Connection if field.value.eq_ignore_ascii_case(b"keep-alive") => {}
            FieldClass::Other => {}
            FieldClass::Host | FieldClass::Connection | FieldClass::Framing => return None,
        }
    }
    host.filter(|host| !host.is_empty() && all(host, is_of_a_host))
}

/// Returns whether all bytes of a short text are of a kind. Without an early exit, which would take longer
/// than to look at the rest.
fn all(text: impl AsRef<[u8]>, is_of_a_kind: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_ref().iter();
    bytes.fold(true, |all, byte| all & is_of_a_kind(*byte))
}

/// The meaning of a field for this module.
enum FieldClass {
    Host,
    Connection,
    /// It determines the length of the request, or what follows it.
    Framing,
    /// It affects at most the form of the answer.
    Other,
}

fn class(name: &str) -> FieldClass {
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    // The length alone rules out nearly all fields.
    match name.len() {
        4 if is("host") => FieldClass::Host,
        10 if is("connection") => FieldClass::Connection,
        6 if is("expect") => FieldClass::Framing,
        7 if is("upgrade") || is("trailer") => FieldClass::Framing,
        14 if is("content-length") => FieldClass::Framing,
        17 if is("transfer-encoding") => FieldClass::Framing,
        _ => FieldClass::Other,
    }
}

/// Returns whether a byte may be in a path (RFC 3986 section 3.3); `%` stays as it is.
fn is_of_a_path(byte: u8) -> bool {
    const TABLE: [bool; 256] = byte_table(b"-._~!$&'()*+,;=:@%/");
    TABLE[byte as usize]
}

/// Returns whether a byte may be in a query (RFC 3986 section 3.4).
fn is_of_a_query(byte: u8) -> bool {
    byte == b'?' || is_of_a_path(byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(bytes: &str) -> Option<usize> {
        match parse(bytes.as_bytes(), &mut field_space()) {
            Parsed::Plain(_, length) => Some(length),
            Parsed::Partial | Parsed::Other => None,
        }
    }

    #[test]
    fn reads_a_request_and_where_it_ends() {
        let bytes = b"GET /a/b%20?q=?x HTTP/1.1\r\nAccept: */*\r\nhost: a.example:80\r\n\r\nGET /";
        let mut space = field_space();
        let Parsed::Plain(plain, length) = parse(bytes, &mut space) else {
            panic!("it is plain");
        };
        assert_eq!(length, bytes.len() - 5);
        assert!(!plain.is_head);
        let asked = plain.asked();
        assert_eq!(asked.host, Some("a.example:80"));
        assert_eq!(asked.path, "/a/b%20");
        assert_eq!(asked.query, Some("q=?x"));
        let asked = plain.asked_of_any_host();
        assert_eq!(
            (asked.host, asked.path, asked.query),
            (None, "/a/b%20", Some("q=?x"))
        );
        let headers = plain.headers().unwrap();
        assert_eq!(headers["accept"], "*/*");
        assert_eq!(headers["host"], "a.example:80");
    }

    #[test]
    fn waits_for_the_end_of_a_head() {
        let whole = "HEAD /a HTTP/1.1\r\nHost: a\r\nConnection: Keep-Alive\r\n\r\n";
        for end in 1..whole.len() {
            let mut space = field_space();
            let parsed = parse(&whole.as_bytes()[..end], &mut space);
            assert!(matches!(parsed, Parsed::Partial), "{:?}", &whole[..end]);
        }
        assert_eq!(length(whole), Some(whole.len()));
    }

    #[test]
    fn leaves_what_is_unusual_to_hyper() {
        for line in [
            "GET a HTTP/1.1",
            "GET * HTTP/1.1",
            "GET http://a/x HTTP/1.1",
            "GET /#f HTTP/1.1",
            "GET /a\u{e9} HTTP/1.1",
            "GET /{} HTTP/1.1",
            "GET /x?a=\"b\" HTTP/1.1",
            "GET /x HTTP/1.0",
            "OPTIONS /x HTTP/1.1",
            "POST /x HTTP/1.1",
            "get /x HTTP/1.1",
            "\r\nGET /x HTTP/1.1",
        ] {
            assert_eq!(
                length(&format!("{line}\r\nHost: a\r\n\r\n")),
                None,
                "{line}"
            );
        }
        for fields in [
            "",
            "Host:\r\n",
            "Host: a\r\nHost: a\r\n",
            "Host: a b\r\n",
            "Host: u@a\r\n",
            "Host: a\r\nConnection: close\r\n",
            "Host: a\r\nConnection: keep-alive, upgrade\r\n",
            "Host: a\r\nUpgrade: h2c\r\n",
            "Host: a\r\nExpect: 100-continue\r\n",
            "Host: a\r\nContent-Length: 0\r\n",
            "Host: a\r\nTransfer-Encoding: chunked\r\n",
            "Host: a\r\nTrailer: x\r\n",
            "Host : a\r\n",
            "Host: a\r\n folded: x\r\n",
            "Host: a\r\nx: \0\r\n",
        ] {
            let request = format!("GET /x HTTP/1.1\r\n{fields}\r\n");
            assert_eq!(length(&request), None, "{fields}");
        }
        let many = "x: y\r\n".repeat(FIELDS);
        assert_eq!(
            length(&format!("GET /x HTTP/1.1\r\nHost: a\r\n{many}\r\n")),
            None
        );
    }
}
