//! The fast path: whatever bytes arrive, a server answers as one does that sends all through hyper.

use std::collections::HashSet;
use std::net::SocketAddr;

use proptest::prelude::*;
use proptest::sample::select;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use waypost::server::Config;

use crate::conformance::{CASES, NEXT};
use crate::support::{Running, head_of, quiet, soon, until};

const TABLE: &str = "\
base_url: https://short.code/
home: https://e.example/welcome
mapping:
- {url: 'https://e.example/', short-code: x}
- {url: 'https://e.example/post', short-code: kept, status: 307}
- {url: 'https://e.example/p/', short-code: p, forward: path-and-query}
- {url: 'https://e.example/soon', short-code: soon, expires: 2999-01-01T00:00:00Z}
- {url: 'https://framasoft.org/'}
- {url: 'https://e.example/v', short-code: v, variants: [{accept: text/turtle, url: 'https://e.example/ttl'}]}
- {url: 'https://e.example/gone', short-code: gone, expires: 2001-01-01T00:00:00Z}
";

/// A server as it is, and one without the fast path, with the same table.
struct Pair {
    fast: Running,
    plain: Running,
}

impl Pair {
    async fn start() -> Self {
        Self::with(TABLE).await
    }

    async fn with(table: &str) -> Self {
        let without = Config {
            fast_path: false,
            ..quiet()
        };
        let with = Config {
            fast_path: true,
            ..quiet()
        };
        Self {
            fast: Running::configured(with, table).await,
            plain: Running::configured(without, table).await,
        }
    }

    /// Sends the same bytes in the same pieces to both, and returns what each answers, without dates.
    async fn answers(&self, pieces: &[&[u8]]) -> [Vec<u8>; 2] {
        let both = [self.fast.public, self.plain.public].map(|server| answer(server, pieces));
        let [fast, plain] = both;
        tokio::join!(fast, plain).into()
    }

    /// Waits until the connections have ended, and returns what both counted.
    async fn counted(&self) -> [Vec<String>; 2] {
        let of = async |server: &Running| {
            until(async || server.metric("waypost_connections").await == Some(0.0)).await;
            let metrics = server.operate("GET", "/metrics", "").await.text();
            let lines = metrics.lines();
            let counts = lines.filter(|line| {
                line.starts_with("waypost_requests_total")
                    || line.starts_with("waypost_request_duration_seconds_count")
            });
            counts.map(str::to_owned).collect::<Vec<_>>()
        };
        [of(&self.fast).await, of(&self.plain).await]
    }
}

/// Returns all that a server sends until it closes, and how it closes, without dates.
async fn answer(server: SocketAddr, pieces: &[&[u8]]) -> Vec<u8> {
    let mut stream = soon(TcpStream::connect(server)).await.unwrap();
    stream.set_nodelay(true).unwrap();
    for piece in pieces {
        // The server may have closed already, which is part of what is compared.
        if stream.write_all(piece).await.is_err() {
            break;
        }
        tokio::task::yield_now().await;
    }
    let _ = stream.shutdown().await;
    let mut bytes = Vec::new();
    let end = soon(tokio::io::copy(&mut stream, &mut bytes)).await;
    let mut answer = undated(&bytes);
    answer.extend_from_slice(if end.is_ok() { b"<end>" } else { b"<reset>" });
    answer
}

/// Returns answers without the values of their dates.
fn undated(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let mut parts = text.split("\r\nDate: ");
    let mut undated = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        undated.push_str("\r\nDate: ");
        undated.push_str(part.get("Sun, 06 Nov 1994 08:49:37 GMT".len()..).unwrap());
    }
    undated.into_bytes()
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[tokio::test]
async fn conformance_cases_are_answered_alike() {
    let pair = Pair::start().await;
    for (name, _, bytes, _) in CASES {
        let bytes = bytes.replace("{next}", NEXT);
        let [fast, plain] = pair.answers(&[bytes.as_bytes()]).await;
        assert_eq!(shown(&fast), shown(&plain), "{name}");
        // After a plain request, too, which is answered on the fast path.
        let after = format!("GET /x HTTP/1.1\r\nHost: a\r\n\r\n{bytes}");
        let [fast, plain] = pair.answers(&[after.as_bytes()]).await;
        assert_eq!(shown(&fast), shown(&plain), "{name}, second");
    }
    let [fast, plain] = pair.counted().await;
    assert_eq!(fast, plain);
}

#[tokio::test]
async fn a_head_may_be_split_anywhere() {
    let pair = Pair::start().await;
    let requests = "GET /x HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n\
                    HEAD /nothing HTTP/1.1\r\nHost: a\r\n\r\n\
                    GET /x+ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    for at in 0..requests.len() {
        let (first, second) = requests.as_bytes().split_at(at);
        let [fast, plain] = pair.answers(&[first, second]).await;
        assert_eq!(shown(&fast), shown(&plain), "{at}");
    }
}

#[tokio::test]
async fn unknown_paths_lead_elsewhere_alike() {
    let fallback = "https://short.code/\nfallback: https://old.example/l/\n";
    let pair = Pair::with(&TABLE.replace("https://short.code/\n", fallback)).await;
    for path in [
        "/",
        "/x",
        "/gone",
        "/nothing?q",
        "/nothing/%2e%2e",
        "/%ff",
        "/\u{e4}\"<",
        "//e",
        "/-/",
        "/-x",
    ] {
        for method in ["GET", "HEAD", "POST"] {
            let request =
                format!("{method} {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
            let [fast, plain] = pair.answers(&[request.as_bytes()]).await;
            assert_eq!(shown(&fast), shown(&plain), "{method} {path}");
        }
    }
    let [fast, plain] = pair.counted().await;
    assert_eq!(fast, plain);
}

#[tokio::test]
async fn codes_in_any_case_are_answered_alike() {
    let folded = TABLE.replace("mapping:", "case: fold\nmapping:");
    let pair = Pair::with(&folded).await;
    for (path, status) in [
        ("/X", "302"),
        ("/KEPT/", "307"),
        ("/P/a?b", "302"),
        ("/X+", "200"),
        ("/X.", "302"),
        ("/V", "302"),
        ("/GONE", "410"),
        ("/T0P0jmYA", "404"),
        ("/t0P0JMya", "302"),
    ] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        let [fast, plain] = pair.answers(&[request.as_bytes()]).await;
        assert_eq!(shown(&fast), shown(&plain), "{path}");
        assert!(
            shown(&fast).starts_with(&format!("HTTP/1.1 {status} ")),
            "{path}"
        );
    }
    let [fast, plain] = pair.counted().await;
    assert_eq!(fast, plain);
}

#[test]
fn any_requests_are_answered_alike() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let pair = runtime.block_on(Pair::start());
    proptest!(|(requests in requests(), piece in 1_usize..400)| {
        // What arrives together with a bare line feed is refused, so then all must.
        let has_bare_feed = requests.windows(2).any(|two| two[1] == b'\n' && two[0] != b'\r');
        let piece = if has_bare_feed { requests.len().max(1) } else { piece };
        let pieces: Vec<_> = requests.chunks(piece).collect();
        // What else hyper does with broken requests depends on that, too: it reads no part of a head
        // again before it is whole, and may answer in two ways. The fast path may pass on several
        // pieces as one.
        let whole = [&requests[..]];
        let mut seen = [HashSet::new(), HashSet::new()];
        let alike = (0..30).any(|_| {
            let answers = runtime.block_on(pair.answers(&pieces));
            for (seen, answer) in seen.iter_mut().zip(answers) {
                seen.insert(shown(&answer));
            }
            if seen[0].is_disjoint(&seen[1]) {
                let [_, plain] = runtime.block_on(pair.answers(&whole));
                seen[1].insert(shown(&plain));
            }
            !seen[0].is_disjoint(&seen[1])
        });
        prop_assert!(alike, "{}\n{seen:#?}", shown(&requests));
    });
}

/// Returns requests of which most are plain, as bytes of which some may be changed.
fn requests() -> impl Strategy<Value = Vec<u8>> {
    let method = select(vec![
        "GET", "GET", "GET", "HEAD", "POST", "OPTIONS", "get", "G",
    ]);
    let path = select(vec![
        "/x",
        "/x",
        "/kept",
        "/v",
        "/v?q",
        "/p/a%20b/c?q=1",
        "/p",
        "/p/../x",
        "/soon",
        "/t0P0JMya",
        "/t0P0JMy",
        "/x.",
        "/x+",
        "/gone",
        "/",
        "/nothing",
        "/nothing?q",
        "/healthz",
        "/-/links",
        "//x",
        "/%78",
        "/x#f",
        "/\u{e9}",
        "*",
        "x",
        "http://short.code/x",
        "/{x}",
        "/x?a=\"b\"",
        "/a\\b",
        "/x?%",
    ]);
    let version = select(vec![
        "HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/2.0",
    ]);
    let field = select(vec![
        "Host: short.code",
        "Host: short.code",
        "Host: short.code",
        "host:a:80",
        "HOST: \ta \t",
        "Host:",
        "Host: a b",
        "Host: [::1]:8",
        "Accept: text/html",
        "Accept: application/json",
        "Accept: text/turtle",
        "Accept: text/turtle;q=0.5, text/html;q=0.6",
        "Accept-Language: de",
        "Connection: keep-alive",
        "Connection: Keep-Alive",
        "Connection: close",
        "connection: close, x",
        "Content-Length: 0",
        "Content-Length: 2",
        "Transfer-Encoding: chunked",
        "Expect: 100-continue",
        "Upgrade: h2c",
        "User-Agent: \u{e9}",
        "A: ",
        "A:b",
        "A : b",
        " folded",
        "Cookie: a=b",
        "Trailer: x",
        "TE: trailers",
        "Keep-Alive: 5",
        "If-None-Match: \"x\"",
    ]);
    let end = select(vec![
        "\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\n",
    ]);
    let fields = proptest::collection::vec(field, 0..5);
    let request =
        (method, path, version, fields, end).prop_map(|(method, path, version, fields, end)| {
            let mut request = format!("{method} {path} {version}{end}Host: a{end}");
            // One in a few has no host of its own; others have one too many.
            if fields
                .iter()
                .any(|field| field.to_ascii_lowercase().starts_with("host"))
            {
                request = format!("{method} {path} {version}{end}");
            }
            for field in fields {
                request.push_str(field);
                request.push_str(end);
            }
            request + end
        });
    let requests = proptest::collection::vec(request, 1..6);
    let change = proptest::option::weighted(0.3, (any::<prop::sample::Index>(), any::<u8>()));
    let cut = proptest::option::weighted(0.2, any::<prop::sample::Index>());
    (requests, change, cut).prop_map(|(requests, change, cut)| {
        let mut bytes = requests.concat().into_bytes();
        if let Some((at, byte)) = change {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        bytes
    })
}

#[tokio::test]
async fn requests_that_arrive_together_see_one_reload_between_them() {
    let server = Running::start(TABLE).await;
    let mut stream = server.connect().await;
    let request = b"GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
    let split = request.len() + 10;
    let both = [&request[..], request].concat();
    soon(stream.write_all(&both[..split])).await.unwrap();
    let first = head_of(&mut stream).await;
    assert_eq!(first.header("location").unwrap(), "https://e.example/");

    // The second has begun to arrive, and is answered from the table that is live at its end.
    server.replace_table(&TABLE.replace("https://e.example/'", "https://new.example/'"));
    server.reload().await;
    soon(stream.write_all(&both[split..])).await.unwrap();
    let second = head_of(&mut stream).await;
    assert_eq!(second.header("location").unwrap(), "https://new.example/");
}

#[tokio::test]
async fn a_connection_of_hyper_begins_with_what_was_read() {
    let server = Running::start(TABLE).await;
    let plain = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
    let other = "POST /kept HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n";
    let last = "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    let answers = server
        .say(format!("{plain}{other}12345{plain}{last}"))
        .await;
    let answers = answers.to_string();
    assert_eq!(answers.matches("HTTP/1.1 302 Found\r\n").count(), 3);
    assert_eq!(
        answers
            .matches("HTTP/1.1 307 Temporary Redirect\r\n")
            .count(),
        1
    );
}
