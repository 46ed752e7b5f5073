//! Proposals that are sent with a token: branches for review, and what is refused.

use std::fs;

use crate::fixture::{ADA, BOB, EMPTY, Fixture, status};
use crate::support::{Reply, quiet, until};

const OWN: &str = "Sec-Fetch-Site: same-origin\r\n";
const LINK: &str = "url=https%3A%2F%2FE.org&code=gnu-home&title=A+%22b%22&tags=x%2C+y";

/// Posts the form with these header lines.
async fn post(fixture: &Fixture, headers: &str, body: &str) -> Reply {
    let length = body.len();
    let request = format!(
        "POST /-/propose HTTP/1.1\r\nHost: short.code\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\
         Accept: text/html\r\n{headers}\r\n{body}"
    );
    fixture.server.say(request).await
}

/// Sends a proposal from a page of the server.
async fn send(fixture: &Fixture, token: &str, form: &str) -> Reply {
    post(fixture, OWN, &format!("{form}&token={token}")).await
}

/// Returns the branches of the remote beside the one that is followed.
fn branches(fixture: &Fixture) -> Vec<String> {
    let listed = fixture.remote("for-each-ref --format=%(refname:short) refs/heads");
    let others = listed.lines().filter(|name| *name != "main");
    others.map(str::to_owned).collect()
}

fn between(text: &str, before: &str, after: &str) -> String {
    let start = text
        .find(before)
        .unwrap_or_else(|| panic!("{before}: {text}"));
    let rest = &text[start + before.len()..];
    rest[..rest.find(after).unwrap()].to_owned()
}

#[tokio::test]
async fn a_proposal_becomes_a_branch_for_review() {
    let about = "repository: https://codeberg.org/example/links\n";
    let table = EMPTY.replace("mapping", &format!("{about}mapping"));
    let fixture = Fixture::with_table(&table).await;
    let form = fixture
        .server
        .get(&format!("/-/propose?{LINK}"))
        .await
        .text();
    assert!(
        form.contains("<form action=\"/-/propose\" method=\"post\">"),
        "{form}"
    );
    let field = between(&form, "<input id=\"token\"", ">");
    for part in ["type=\"password\"", "autocomplete=\"off\"", "required"] {
        assert!(field.contains(part), "{field}");
    }
    assert!(form.contains("<input type=\"hidden\" name=\"title\" value=\"A &#34;b&#34;\">"));

    let reply = send(&fixture, ADA, LINK).await;
    assert_eq!(status(&reply), 201, "{}", reply.text());
    let [branch] = &branches(&fixture)[..] else {
        panic!("{:?}", branches(&fixture));
    };
    assert!(branch.starts_with("propose-gnu-home-"), "{branch}");
    let text = reply.text();
    assert!(text.contains(&format!("<code>{branch}</code>")), "{text}");
    let review = between(&text, "id=\"review\" href=\"", "\"");
    let expected = format!("https://codeberg.org/example/links/compare/main...{branch}");
    assert_eq!(review, expected);
    assert!(!text.contains("id=\"token\"") && !text.contains(ADA));
    // The shown lines are those of the branch.
    assert!(text.contains("  owner: ada\n"), "{text}");
    for (name, value) in [
        ("cache-control", "no-store"),
        ("referrer-policy", "same-origin"),
    ] {
        assert_eq!(reply.header(name).as_deref(), Some(value));
    }
    let policy = reply.header("content-security-policy").unwrap();
    assert!(policy.contains("form-action 'self'"), "{policy}");

    // One commit on what is followed, whose branch stays as it is.
    assert_eq!(
        fixture.remote(&format!("rev-list --count main..{branch}")),
        "1"
    );
    let proposed = fixture.remote(&format!("show {branch}:mapping.yaml"));
    let entry = "- url: https://e.org/\n  short-code: gnu-home\n  title: A \"b\"\n  owner: ada\n";
    assert!(proposed.contains(entry), "{proposed}");
    let message = fixture.remote(&format!("log -1 --format=%B {branch}"));
    let expected = "Add gnu-home\n\nShort-Link: https://short.code/gnu-home\nProposed-By: ada";
    assert_eq!(message, expected);
    assert_eq!(fixture.table(), table.trim_end());
    assert_eq!(status(&fixture.server.get("/gnu-home").await), 404);
    assert_eq!(fixture.counted("proposed").await, 1.0);

    // Sent again, it gets the same branch; a proposal of another owner gets another one.
    let again = send(&fixture, ADA, LINK).await;
    assert_eq!(status(&again), 201);
    assert!(again.text().contains("was already in the repository"));
    assert_eq!(branches(&fixture), std::slice::from_ref(branch));
    let json = "Accept: application/json\r\n";
    let body = format!("{LINK}&token={BOB}");
    let other = post(&fixture, &format!("{OWN}{json}"), &body).await;
    assert_eq!(status(&other), 201);
    assert_eq!(branches(&fixture).len(), 2);
}

#[tokio::test]
async fn in_a_directory_the_branch_has_a_new_file() {
    let fixture = Fixture::of(quiet(), ".", &[("all.yaml", EMPTY)]).await;
    let reply = send(&fixture, ADA, "url=https://e.org/&code=a/b").await;
    assert_eq!(status(&reply), 201, "{}", reply.text());
    let [branch] = &branches(&fixture)[..] else {
        panic!("{:?}", branches(&fixture));
    };
    let changed = fixture.remote(&format!("diff --name-status main {branch}"));
    assert_eq!(changed, "A\ta%2Fb.yaml");
    // No page of the repository is known: only the branch is named.
    assert!(!reply.text().contains("id=\"review\""));
}

#[tokio::test]
async fn a_followed_repository_says_that_it_has_an_issue_form() {
    let table = EMPTY.replace("mapping", "repository: https://github.com/o/r\nmapping");
    let fixture = Fixture::with_table(&table).await;
    let path = format!("/-/propose?{LINK}");
    assert!(
        !fixture
            .server
            .get(&path)
            .await
            .text()
            .contains("send-issue")
    );
    let forms = fixture.root.join("work/.github/ISSUE_TEMPLATE");
    fs::create_dir_all(&forms).unwrap();
    fs::write(forms.join("propose-link.yml"), "name: x\n").unwrap();
    fixture.push(&table);
    fixture.server.reload().await;
    let text = fixture.server.get(&path).await.text();
    assert!(
        text.contains("/issues/new?template=propose-link.yml&#38;title="),
        "{text}"
    );
}

#[tokio::test]
async fn it_is_decided_on_the_newest_table() {
    let fixture = Fixture::new().await;
    let newer =
        "base_url: https://short.code/\nmapping:\n- {url: 'https://x.org/', short-code: taken}\n";
    fixture.push(newer);
    let reply = send(&fixture, ADA, "url=https://e.org/&code=taken").await;
    assert_eq!(status(&reply), 422);
    assert!(reply.text().contains("<code>taken</code> is taken"));
    assert_eq!(branches(&fixture), [""; 0]);
    // What was found there is live now.
    until(async || status(&fixture.server.get("/taken").await) == 302).await;
    let reply = send(&fixture, ADA, "url=https://e.org/&code=free").await;
    assert_eq!(status(&reply), 201);
}

#[tokio::test]
async fn only_a_page_of_the_server_can_send() {
    let fixture = Fixture::new().await;
    let body = format!("{LINK}&token={ADA}");
    for headers in [
        "",
        "Origin: https://evil.example\r\n",
        "Origin: null\r\n",
        "Sec-Fetch-Site: cross-site\r\nOrigin: https://short.code\r\n",
        "Sec-Fetch-Site: same-site\r\n",
        "Sec-Fetch-Site: none\r\n",
        "Referer: https://short.code/-/propose\r\n",
    ] {
        let reply = post(&fixture, headers, &body).await;
        assert_eq!(status(&reply), 403, "{headers}");
        assert!(!reply.text().contains("gnu-home"));
        let page = "<h1>This form is not from this site</h1>";
        assert!(reply.text().contains(page), "{}", reply.text());
    }
    assert_eq!(branches(&fixture), [""; 0]);
    let reply = post(&fixture, "Origin: https://short.code\r\n", &body).await;
    assert_eq!(status(&reply), 201);
}

#[tokio::test]
async fn a_wrong_token_sends_nothing_and_is_shown_nowhere() {
    let fixture = Fixture::new().await;
    for token in ["", "wrong-secret", "ada", "%00"] {
        let reply = send(&fixture, token, LINK).await;
        assert_eq!(status(&reply), 403, "{token}");
        let text = reply.text();
        assert!(text.contains("The token is not valid."), "{text}");
        // It can be entered again, beside what was entered already.
        assert!(text.contains("id=\"token\"") && text.contains("value=\"gnu-home\""));
        assert!(!text.contains("wrong-secret"), "{text}");
    }
    assert_eq!(branches(&fixture), [""; 0]);
    assert_eq!(fixture.counted("unauthorized").await, 4.0);
    // A revoked token is an invalid one.
    fs::write(fixture.root.join("tokens"), "# none\n").unwrap();
    until(async || status(&send(&fixture, ADA, LINK).await) == 403).await;
}

#[tokio::test]
async fn a_token_in_an_address_counts_for_nothing() {
    let fixture = Fixture::new().await;
    let path = format!("/-/propose?{LINK}&token={ADA}");
    let text = fixture.server.get(&path).await.text();
    assert!(!text.contains(ADA), "{text}");
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: short.code\r\nConnection: close\r\n{OWN}\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n\r\nurl"
    );
    let reply = fixture.server.say(request).await;
    assert_eq!(status(&reply), 422);
    assert_eq!(branches(&fixture), [""; 0]);
}

#[tokio::test]
async fn requests_that_are_no_form_are_refused() {
    let fixture = Fixture::new().await;
    let head = format!(
        "POST /-/propose HTTP/1.1\r\nHost: short.code\r\nConnection: close\r\n\
         Accept: text/html\r\n{OWN}"
    );
    let length = |bytes: usize| format!("Content-Length: {bytes}\r\n\r\n");
    let media_type = |it: &str| format!("Content-Type: {it}\r\n");
    for (media_type, body, expected) in [
        (media_type("application/json"), "{}".to_owned(), 415),
        (
            media_type("multipart/form-data; boundary=x"),
            "--x--".to_owned(),
            415,
        ),
        (String::new(), LINK.to_owned(), 415),
        (
            media_type("application/x-www-form-urlencoded"),
            "a".repeat(64 * 1024 + 1),
            413,
        ),
        (
            media_type("application/x-www-form-urlencoded; charset=utf-8"),
            format!("token={ADA}"),
            422,
        ),
    ] {
        let request = format!("{head}{media_type}{}{body}", length(body.len()));
        let reply = fixture.server.say(request).await;
        assert_eq!(status(&reply), expected, "{media_type}");
        let heading = match expected {
            413 => "<h1>This form is too large</h1>",
            415 => "<h1>This is not a form</h1>",
            _ => "<h1>Propose a link</h1>",
        };
        assert!(reply.text().contains(heading), "{}", reply.text());
    }
    let reply = fixture
        .server
        .ask("PUT", "/-/propose", "Content-Length: 0\r\n")
        .await;
    assert_eq!(status(&reply), 405);
    assert_eq!(reply.header("allow").as_deref(), Some("GET, HEAD, POST"));
    let reply = fixture
        .server
        .ask("POST", "/-/other", "Content-Length: 0\r\n")
        .await;
    assert_eq!(status(&reply), 404);
}

#[tokio::test]
async fn what_the_remote_refuses_is_not_sent() {
    let fixture = Fixture::new().await;
    fixture.hook("pre-receive", "echo internal words; exit 1");
    let reply = send(&fixture, ADA, LINK).await;
    assert_eq!(status(&reply), 502);
    assert!(!reply.text().contains("internal"));
    fixture.hook("pre-receive", "exit 0");
    let (here, away) = (
        fixture.root.join("remote.git"),
        fixture.root.join("away.git"),
    );
    fs::rename(&here, &away).unwrap();
    let reply = send(&fixture, ADA, LINK).await;
    assert_eq!(status(&reply), 503);
    assert_eq!(reply.header("retry-after").as_deref(), Some("5"));
    fs::rename(&away, &here).unwrap();
    assert_eq!(fixture.counted("failed").await, 2.0);
    assert_eq!(status(&send(&fixture, ADA, LINK).await), 201);
}

#[tokio::test]
async fn an_owner_sends_only_a_few_at_once() {
    let fixture = Fixture::new().await;
    fixture.hold();
    let one = async |number: u32| {
        let form = format!("url=https://e.org/{number}&code=c{number}");
        let status = status(&send(&fixture, ADA, &form).await);
        if status == 429 {
            fixture.release();
        }
        status
    };
    let (a, b, c, d, e, f) = tokio::join!(one(0), one(1), one(2), one(3), one(4), one(5));
    let mut statuses = [a, b, c, d, e, f];
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 201, 201, 201, 429, 429]);
    assert_eq!(branches(&fixture).len(), 4);
    assert_eq!(fixture.counted("limited").await, 2.0);
}

#[tokio::test]
async fn private_addresses_are_refused_where_registrations_refuse_them() {
    let fixture = Fixture::refusing_private(EMPTY).await;
    let reply = send(&fixture, ADA, "url=http://127.0.0.1/&code=c").await;
    assert_eq!(status(&reply), 422);
    assert!(reply.text().contains("The address is private"));
    assert_eq!(branches(&fixture), [""; 0]);
    assert_eq!(status(&send(&fixture, ADA, LINK).await), 201);
}
