//! Many registrations at the same time.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::task::JoinSet;

use crate::fixture::{ADA, BOB, EMPTY, Fixture, problem, status};
use crate::support::{Reply, soon, until};

/// How many of one owner may wait: `MAX_OF_OWNER` in `src/server/registrations/queue.rs`.
const PLACES: usize = 256;

fn numbered(n: usize) -> String {
    format!(r#"{{"url": "https://e.org/{n}", "number": "next"}}"#)
}

/// Has `bob` send all bodies at the same time.
fn together(fixture: &Arc<Fixture>, bodies: Vec<String>) -> JoinSet<(usize, Reply)> {
    let mut clients = JoinSet::new();
    for (n, body) in bodies.into_iter().enumerate() {
        let fixture = Arc::clone(fixture);
        clients.spawn(async move { (n, fixture.register_as(BOB, "", &body).await) });
    }
    clients
}

/// Returns the answers, in the order of the bodies.
async fn answers(clients: JoinSet<(usize, Reply)>) -> Vec<Reply> {
    let mut replies = soon(clients.join_all()).await;
    replies.sort_by_key(|(n, _)| *n);
    replies.into_iter().map(|(_, reply)| reply).collect()
}

/// Keeps the remote from taking a first registration, which is being pushed when this returns.
async fn held(fixture: &Arc<Fixture>) -> JoinSet<(usize, Reply)> {
    fixture.hold();
    let first = together(fixture, vec![numbered(0)]);
    fixture.until_held().await;
    first
}

#[tokio::test]
async fn those_that_wait_share_a_commit() {
    let fixture = Arc::new(Fixture::new().await);
    let first = held(&fixture).await;
    let body = |n| match n {
        // One URL for all, one code for two, and requests that are invalid on their own.
        0..=3 => r#"{"url": "https://same.example/", "get_or_create": true}"#.to_owned(),
        4 | 5 => format!(r#"{{"url": "https://c.example/{n}", "short_code": "c"}}"#),
        6 => r#"{"url": "https://short.code/"}"#.to_owned(),
        _ => numbered(n),
    };
    let rest = together(&fixture, (0..20).map(body).collect());
    // Not all of them need to have been read by then, but all could.
    until(async || fixture.server.metric("waypost_connections").await == Some(21.0)).await;
    fixture.release();
    assert_eq!(answers(first).await[0].json()["code"], "1");
    let rest = answers(rest).await;
    assert!(fixture.commits() < 8, "{}", fixture.commits());

    let statuses = |range: std::ops::Range<usize>| {
        let mut statuses: Vec<_> = rest[range].iter().map(status).collect();
        statuses.sort_unstable();
        statuses
    };
    assert_eq!(statuses(0..4), [200, 200, 200, 201]);
    assert_eq!(statuses(4..6), [201, 409]);
    assert_eq!(statuses(6..7), [422]);
    let codes = rest[7..]
        .iter()
        .map(|reply| reply.json()["code"].to_string());
    assert_eq!(codes.collect::<BTreeSet<_>>().len(), 13);
    let messages = fixture.remote("log --format=%B main");
    assert!(messages.contains(" short links\n"), "{messages}");
    assert_eq!(messages.matches("Registered-By: bob").count(), 16);
}

#[tokio::test]
async fn one_owner_leaves_room_for_others() {
    let fixture = Arc::new(Fixture::new().await);
    let first = held(&fixture).await;
    // With the first, one too many.
    let mut rest = together(&fixture, (1..=PLACES).map(numbered).collect());
    let (_, limited) = soon(rest.join_next()).await.unwrap().unwrap();
    assert_eq!((status(&limited), &*problem(&limited)), (429, "too-many"));
    assert_eq!(limited.header("retry-after").unwrap(), "1");
    let body = r#"{"url": "https://ada.example/"}"#;
    let ada = async { fixture.register(body).await };
    let (ada, ()) = tokio::join!(ada, async { fixture.release() });
    assert_eq!(status(&ada), 201);
    assert_eq!(status(&answers(first).await[0]), 201);
    let rest = answers(rest).await;
    assert!(rest.iter().all(|reply| status(reply) == 201));
    assert_eq!(rest.len(), PLACES - 1);
    assert_eq!(fixture.counted("limited").await, 1.0);
}

#[tokio::test]
async fn those_that_take_too_long_are_decided_in_later_groups() {
    let full = format!("# {}\n{}", "x".repeat((1 << 20) - 3_000), EMPTY);
    let fixture = Arc::new(Fixture::with_table(&full).await);
    let first = held(&fixture).await;
    let large = |n| {
        let title = "t".repeat(1_000);
        format!(
            r#"{{"url": "https://large.example/{n}", "title": "{title}", "tags": ["{title}", "{title}"]}}"#
        )
    };
    let bob = together(&fixture, (0..40).map(large).collect());
    until(async || fixture.server.metric("waypost_connections").await == Some(41.0)).await;
    let body = r#"{"url": "https://ada.example/"}"#;
    let ada = async { fixture.register(body).await };
    let (ada, ()) = tokio::join!(ada, async { fixture.release() });
    assert_eq!(status(&ada), 201);
    assert_eq!(status(&answers(first).await[0]), 201);
    let bob = answers(bob).await;
    assert!(bob.iter().all(|reply| status(reply) == 422));
    assert!(!fixture.table().contains("large.example"));
}

#[tokio::test]
async fn of_codes_that_differ_only_in_case_one_is_registered() {
    let folded = EMPTY.replace("mapping:", "case: fold\nmapping:");
    let fixture = Arc::new(Fixture::with_table(&folded).await);
    let first = held(&fixture).await;
    let body = |n: usize| {
        let code = ["code", "Code", "CODE", "cODE", "coDE"][n];
        format!(r#"{{"url": "https://c.example/{n}", "short_code": "{code}"}}"#)
    };
    let rest = together(&fixture, (0..5).map(body).collect());
    until(async || fixture.server.metric("waypost_connections").await == Some(6.0)).await;
    fixture.release();
    assert_eq!(status(&answers(first).await[0]), 201);
    let mut statuses: Vec<_> = answers(rest).await.iter().map(status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409, 409, 409, 409]);
    let again = fixture.register(r#"{"url": "https://d.example/", "short_code": "CODe"}"#);
    assert_eq!(problem(&again.await), "code-taken");
    assert_eq!(status(&fixture.server.get("/CoDe").await), 302);
}

#[tokio::test]
async fn nothing_is_taken_over_within_a_group() {
    let fixture = Arc::new(Fixture::new().await);
    let first = held(&fixture).await;
    let send = |token: &'static str, body: &'static str| {
        let fixture = Arc::clone(&fixture);
        async move { fixture.register_as(token, "", body).await }
    };
    let waiting = |connections: f64| {
        let fixture = Arc::clone(&fixture);
        async move {
            until(async || fixture.server.metric("waypost_connections").await == Some(connections))
                .await;
        }
    };
    // One after the other, but in one group: the first of each owner before the second of any.
    let prefix = r#"{"url": "https://a.example/", "short_code": "team", "forward": "path"}"#;
    let ours = tokio::spawn(send(ADA, prefix));
    waiting(2.0).await;
    let own = tokio::spawn(send(
        ADA,
        r#"{"url": "https://o.example/", "short_code": "team/own"}"#,
    ));
    waiting(3.0).await;
    let theirs = tokio::spawn(send(
        BOB,
        r#"{"url": "https://b.example/", "short_code": "team/x"}"#,
    ));
    waiting(4.0).await;
    fixture.release();
    assert_eq!(status(&answers(first).await[0]), 201);
    let statuses = [soon(ours).await, soon(own).await, soon(theirs).await];
    let [ours, own, theirs] = statuses.map(Result::unwrap);
    match status(&theirs) {
        // The request that was sent first need not be read first.
        201 => assert_eq!(problem(&ours), "shadowing"),
        _ => {
            assert_eq!(problem(&theirs), "shadowing");
            assert_eq!([status(&ours), status(&own)], [201, 201]);
        }
    }
}
