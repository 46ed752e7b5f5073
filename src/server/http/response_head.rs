//! Heads of answers as hyper writes them: the same fields in the same order, names capitalised, and the
//! date last.

use hyper::{HeaderMap, StatusCode};

use super::moment::Moment;

/// Appends the head of an answer.
pub(crate) fn write_head(out: &mut Vec<u8>, status: StatusCode, headers: &HeaderMap, now: &Moment) {
    write_status(out, status);
    for (name, value) in headers {
        write_capitalised(out, name.as_str().as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(&now.end_of_head);
}

/// Appends the first line of an answer.
fn write_status(out: &mut Vec<u8>, status: StatusCode) {
    out.extend_from_slice(b"HTTP/1.1 ");
    out.extend_from_slice(status.as_str().as_bytes());
    out.push(b' ');
    let reason = status.canonical_reason().unwrap_or("<none>");
    out.extend_from_slice(reason.as_bytes());
    out.extend_from_slice(b"\r\n");
}

fn write_capitalised(out: &mut Vec<u8>, name: &[u8]) {
    let start = out.len();
    out.extend_from_slice(name);
    let mut starts_word = true;
    for byte in &mut out[start..] {
        if starts_word {
            byte.make_ascii_uppercase();
        }
        starts_word = *byte == b'-';
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use hyper::header::{CONTENT_LENGTH, HeaderName, HeaderValue, LOCATION};

    use super::*;

    #[test]
    fn writes_fields_in_their_order_and_the_date_last() {
        let mut headers = HeaderMap::new();
        headers.insert(LOCATION, HeaderValue::from_static("https://a.example/"));
        headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
        let odd = HeaderName::from_static("x-a--b");
        headers.insert(odd, HeaderValue::from_static(""));
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let mut out = Vec::new();
        write_head(&mut out, StatusCode::FOUND, &headers, &now.into());
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "HTTP/1.1 302 Found\r\nLocation: https://a.example/\r\nContent-Length: 0\r\nX-A--B: \r\n\
             Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n"
        );
    }
}
