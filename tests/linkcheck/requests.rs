//! One request: what is sent, over which connection, and the outcome of each kind of reply.

use std::time::Duration;

use waypost::linkcheck::{Failure, Limits, MAX_PAGE_BYTES, Question};

use crate::farm::{Farm, Page};
use crate::fixture::{LONG, client, get, head, question, send};

#[tokio::test]
async fn a_request_is_honest_and_asks_for_nothing_else() {
    let farm = Farm::start().await;
    farm.host("a", |request| {
        let names = ["accept", "accept-encoding", "host", "user-agent"];
        let mut sent: Vec<_> = request.fields.keys().map(String::as_str).collect();
        sent.sort_unstable();
        assert_eq!(sent, names);
        assert_eq!(request.fields["host"], "a.farm.example:8080");
        assert_eq!(request.fields["accept-encoding"], "identity");
        let agent = &request.fields["user-agent"];
        assert!(agent.starts_with("waypost/") && agent.ends_with(" (+https://links.example/)"));
        Page::ok("page").with("Set-Cookie", "a=b")
    });
    let client = client(&farm);
    let mut session = client.session();
    for wants_body in [false, true] {
        let url = "http://a.farm.example:8080/x?y=z#fragment";
        let round_trip = session.send(&question(url, wants_body)).await;
        let reply = round_trip.result.unwrap();
        assert_eq!((reply.status, reply.sets_cookie), (200, true));
        assert!(reply.is_whole);
        assert_eq!(reply.body, if wants_body { "page" } else { "" });
    }
    assert_eq!(farm.log.of("a"), ["HEAD /x?y=z", "GET /x?y=z"]);
}

#[tokio::test]
async fn a_connection_is_used_again_for_its_host_alone() {
    let farm = Farm::start().await;
    let client = client(&farm);
    let mut session = client.session();
    let mut fresh = Vec::new();
    for (url, wants_fresh) in [
        ("http://a.farm.example/1", false),
        ("http://a.farm.example/2", false),
        ("http://b.farm.example/3", false),
        ("http://b.farm.example/4", true),
        ("http://b.farm.example:81/5", false),
    ] {
        let round_trip = session
            .send(&Question {
                wants_fresh,
                ..get(url)
            })
            .await;
        assert!(round_trip.result.is_ok(), "{url}");
        fresh.push(round_trip.is_fresh);
    }
    assert_eq!(fresh, [true, false, true, true, true]);
    let asked = farm.log.all();
    assert_eq!(asked[0].connection, asked[1].connection);
    let mut connections: Vec<_> = asked.iter().map(|asked| asked.connection).collect();
    connections.dedup();
    assert_eq!(connections.len(), 4);
}

#[tokio::test]
async fn a_failure_on_a_used_connection_is_known_as_one() {
    let farm = Farm::start().await;
    farm.host("a", |request| match request.number {
        0 => Page::ok("first"),
        _ => Page::Reset,
    });
    let client = client(&farm);
    let mut session = client.session();
    let url = "http://a.farm.example/";
    assert!(session.send(&head(url)).await.result.is_ok());
    let second = session.send(&head(url)).await;
    assert_eq!(second.result, Err(Failure::Closed));
    assert!(!second.is_fresh);
    // It was not requested again for that.
    assert_eq!(farm.log.of("a").len(), 2);
    let third = session.send(&head(url)).await;
    assert!(third.is_fresh && third.result.is_ok());
}

#[tokio::test]
async fn what_follows_a_reply_costs_only_the_connection() {
    let farm = Farm::start().await;
    farm.host("chatty", |request| match request.path.as_str() {
        "/more" => Page::Drip {
            first: b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage".to_vec(),
            then: b'x',
        },
        _ => Page::ok("page"),
    });
    let client = client(&farm);
    for wants_body in [false, true] {
        let mut session = client.session();
        for path in ["more", "next"] {
            let url = format!("http://chatty.farm.example/{path}");
            let question = question(&url, wants_body);
            let mut round_trip = session.send(&question).await;
            // The bytes may arrive only after the next request is sent.
            if round_trip.result.is_err() && !round_trip.is_fresh {
                round_trip = session.send(&question).await;
            }
            let reply = round_trip.result.unwrap();
            assert_eq!(reply.body, if wants_body { "page" } else { "" });
        }
    }
}

#[tokio::test]
async fn each_kind_of_broken_answer_is_distinguished() {
    let farm = Farm::start().await;
    farm.host("broken", |request| match request.path.as_str() {
        "/reset" => Page::Reset,
        "/closed" => Page::Raw(Vec::new()),
        "/half" => Page::Raw(b"HTTP/1.1 200 OK\r\nContent-".to_vec()),
        "/garbage" => Page::Raw(b"220 mail.example ESMTP\r\n".to_vec()),
        "/huge" => Page::huge_head(),
        path => panic!("{path}"),
    });
    let client = client(&farm);
    for (path, failure) in [
        ("reset", Failure::Closed),
        ("closed", Failure::Closed),
        ("half", Failure::Closed),
        ("garbage", Failure::Malformed),
        ("huge", Failure::HeadTooLarge),
    ] {
        for wants_body in [false, true] {
            let url = format!("http://broken.farm.example/{path}");
            let result = send(&client, question(&url, wants_body)).await;
            assert_eq!(result, Err(failure), "{path}");
        }
    }
}

#[tokio::test]
async fn what_browsers_tolerate_is_tolerated() {
    let farm = Farm::start().await;
    farm.host("sloppy", |request| {
        let head: &[u8] = match request.path.as_str() {
            "/folded" => b"HTTP/1.1 200 OK\r\nX-A: b,\r\n c\r\nContent-Length: 0\r\n\r\n",
            "/space" => b"HTTP/1.1 200 OK\r\nX-A : b\r\nContent-Length: 0\r\n\r\n",
            "/invalid" => b"HTTP/1.1 200 OK\r\nX A: b\r\n\xff\xfe: c\r\nContent-Length: 0\r\n\r\n",
            "/old" => b"HTTP/1.0 200\r\n\r\npage",
            "/line-feeds" => b"HTTP/1.1 200 OK\nContent-Length: 0\n\n",
            "/interim" => b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
            path => panic!("{path}"),
        };
        Page::Raw(head.to_vec())
    });
    let client = client(&farm);
    for path in ["folded", "space", "invalid", "old", "line-feeds", "interim"] {
        let url = format!("http://sloppy.farm.example/{path}");
        let reply = send(&client, get(&url)).await;
        assert_eq!(reply.map(|reply| reply.status), Ok(200), "{path}");
    }
}

#[tokio::test]
async fn nothing_takes_for_ever() {
    let farm = Farm::start().await;
    farm.host("slow", |request| match request.path.as_str() {
        "/hang" => Page::Hang,
        "/drip-head" => Page::Drip {
            first: b"HTTP/1.1 200 OK\r\nX-Drip: ".to_vec(),
            then: b'x',
        },
        "/interim" => Page::Drip {
            first: b"HTTP/1.1 100 Continue\r\n\r\n".repeat(500),
            then: b'H',
        },
        "/drip-body" => Page::Drip {
            first: b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nfirst".to_vec(),
            then: b'x',
        },
        path => panic!("{path}"),
    });
    let short = Duration::from_millis(300);
    let limits = |limits| client(&farm).within(limits);
    let url = |path: &str| format!("http://slow.farm.example/{path}");
    let head_is_short = limits(Limits {
        head: short,
        ..LONG
    });
    let whole_is_short = limits(Limits {
        whole: short,
        ..LONG
    });
    for client in [&head_is_short, &whole_is_short] {
        for path in ["hang", "drip-head", "interim"] {
            let result = send(client, get(&url(path))).await;
            assert!(
                matches!(result, Err(Failure::AnswerTimeout | Failure::Malformed)),
                "{path}: {result:?}"
            );
        }
    }
    // A page whose head has arrived is there; what arrives of it in time is kept. The limit leaves
    // the head time on the slowest machine.
    let whole = 10 * short;
    let patient = limits(Limits { whole, ..LONG });
    let reply = send(&patient, get(&url("drip-body"))).await.unwrap();
    assert_eq!(reply.status, 200);
    assert!(reply.body.starts_with(b"first") && !reply.is_whole);
}

#[tokio::test]
async fn of_a_large_page_only_the_beginning_is_read() {
    let farm = Farm::start().await;
    let body = "0123456789abcdef".repeat(MAX_PAGE_BYTES / 16);
    let (whole, larger) = (body.clone(), format!("{body}!"));
    farm.host("large", move |request| match request.path.as_str() {
        "/whole" => Page::ok(&whole),
        _ => Page::ok(&larger),
    });
    let client = client(&farm);
    let mut session = client.session();
    for (path, is_whole) in [("whole", true), ("larger", false), ("whole", true)] {
        let url = format!("http://large.farm.example/{path}");
        let reply = session.send(&get(&url)).await.result.unwrap();
        assert_eq!(reply.body, body, "{path}");
        assert_eq!(reply.is_whole, is_whole, "{path}");
    }
    // Only a connection whose page was read to the end is used again.
    let asked = farm.log.all();
    assert_eq!(asked[0].connection, asked[1].connection);
    assert_ne!(asked[1].connection, asked[2].connection);
}

#[tokio::test]
async fn fields_that_matter_are_read() {
    let farm = Farm::start().await;
    farm.host("fields", |request| match request.path.as_str() {
        "/moved" => Page::to(301, "/new path"),
        "/latin" => Page::Raw(b"HTTP/1.1 302 Found\r\nLocation: /\xe4\r\n\r\n".to_vec()),
        "/busy" => Page::status(429).with("Retry-After", "120"),
        "/wall" => Page::status(403).with("CF-Mitigated", "challenge"),
        path => panic!("{path}"),
    });
    let client = client(&farm);
    let send = |path: &str| send(&client, head(&format!("http://fields.farm.example/{path}")));
    let moved = send("moved").await.unwrap();
    assert_eq!(moved.location.as_deref(), Some("/new path"));
    let latin = send("latin").await.unwrap();
    assert_eq!(latin.location.as_deref(), Some("/ä"));
    let busy = send("busy").await.unwrap();
    assert_eq!(busy.retry_after, Some(Duration::from_secs(120)));
    assert!(!busy.is_wall && busy.location.is_none() && !busy.sets_cookie);
    assert!(send("wall").await.unwrap().is_wall);
}
