//! Commits whose loading ends the process: what the next process does then.
//!
//! A killed process is a follower that is dropped in the middle of a load: what it leaves in the
//! state directory is the same.

use std::sync::Arc;

use waypost::git::chain;
use waypost::server::{Config, HookSecret, LoadError, RemoteSource, Server};
use waypost::source::{Follower, Following};

use crate::fixture::{Fixture, Followed};
use crate::support::{Running, quiet, until};

fn table(code: &str) -> String {
    format!(
        "base_url: https://w.example/\nmapping:\n- {{url: 'https://e.example/', short-code: {code}}}\n"
    )
}

/// A repository whose first commit, with the code `old`, was served before, and whose second, with
/// the code `new`, has just been fetched.
fn served_before() -> Fixture {
    let fixture = Fixture::new();
    push(&fixture, "old");
    let followed = fixture.follow();
    let revision = followed.read().unwrap().revision;
    followed.follower.accepted(&revision);
    push(&fixture, "new");
    followed.fetch();
    fixture
}

fn push(fixture: &Fixture, code: &str) {
    fixture.write("work/mapping.yaml", &table(code));
    fixture.git("add --all .");
    fixture.git("commit --quiet -m links");
    fixture.git("push --quiet --force origin HEAD");
}

/// Dies while it loads the current commit.
fn killed(fixture: &Fixture) {
    let followed = fixture.follow();
    let before = std::fs::read(fixture.at("state/attempt.json")).ok();
    if followed.follower.read().is_err() {
        assert!(followed.follower.fall_back());
        followed.follower.read().unwrap();
        followed.follower.end_attempt();
        assert!(followed.follower.retry());
        followed.follower.read().unwrap();
    }
    let after = std::fs::read(fixture.at("state/attempt.json")).unwrap();
    assert_ne!(before, Some(after), "nothing was recorded");
}

/// Runs a server while `look` is at it. It is gone afterwards, without a chance to end in order.
fn serving(config: Config, following: Following, look: impl AsyncFnOnce(&Running, &Arc<Follower>)) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let remote = RemoteSource::start(following).unwrap();
        let follower = Arc::clone(remote.follower());
        let directory = tempfile::tempdir().unwrap();
        let server = Running::on(config, directory, remote).await;
        look(&server, &follower).await;
    });
}

async fn refresh(follower: &Arc<Follower>) {
    let follower = Arc::clone(follower);
    let refreshing = tokio::task::spawn_blocking(move || follower.refresh());
    refreshing.await.unwrap();
}

/// Which of the two codes are served.
async fn codes(server: &Running) -> [bool; 2] {
    let mut served = [false; 2];
    for (served, code) in served.iter_mut().zip(["/old", "/new"]) {
        *served = server.get(code).await.status_line().contains("302");
    }
    served
}

#[test]
fn after_one_unclean_end_the_last_good_one_is_served_first_and_the_new_one_then_tried() {
    let fixture = served_before();
    killed(&fixture);
    let followed = fixture.follow();
    let error = followed.error();
    assert!(
        error.contains("the last good commit is served first"),
        "{error}"
    );
    drop(followed);

    serving(quiet(), fixture.following(), async |server, follower| {
        until(async || codes(server).await == [false, true]).await;
        until(async || server.status().await["last_error"].is_null()).await;
        assert!(!follower.is_in_doubt());
        assert!(!fixture.at("state/attempt.json").exists());
    });
}

#[test]
fn after_two_it_waits_until_a_reload_is_requested() {
    let fixture = served_before();
    killed(&fixture);
    killed(&fixture);
    for _ in 0..2 {
        serving(quiet(), fixture.following(), async |server, follower| {
            assert_eq!(codes(server).await, [true, false]);
            let error = server.status().await["last_error"]["message"].to_string();
            assert!(error.contains("ended unexpectedly 2 times"), "{error}");
            let successful = server.metric("waypost_table_last_reload_successful").await;
            assert_eq!(successful, Some(0.0));
            // A fetch without new commits changes nothing.
            refresh(follower).await;
            assert_eq!(codes(server).await, [true, false]);
            assert!(follower.is_in_doubt());
        });
    }

    serving(quiet(), fixture.following(), async |server, follower| {
        let reloaded = server.reload().await;
        assert!(reloaded.status_line().contains("200"), "{reloaded}");
        assert_eq!(codes(server).await, [false, true]);
        assert!(server.status().await["last_error"].is_null());
        assert!(!follower.is_in_doubt());
    });
}

/// A Git host sends a hook for each push to any branch, and a recorded one can be sent again.
#[test]
fn a_hook_is_no_request_for_a_reload() {
    let fixture = served_before();
    killed(&fixture);
    killed(&fixture);
    let config = Config {
        hook: HookSecret::new("secret"),
        ..quiet()
    };
    serving(config, fixture.following(), async |server, follower| {
        let looks = async || {
            let name = "waypost_reload_duration_seconds_count";
            server.metric(name).await.unwrap()
        };
        let before = looks().await;
        let hook = "POST /-/hook HTTP/1.1\r\nHost: w.example\r\nConnection: close\r\n\
            X-Gitlab-Token: secret\r\nContent-Length: 2\r\n\r\n{}";
        let reply = server.say(hook).await;
        assert!(reply.status_line().contains("202"), "{reply}");
        until(async || looks().await > before).await;
        assert_eq!(codes(server).await, [true, false]);
        assert!(follower.is_in_doubt());
        let error = server.status().await["last_error"]["message"].to_string();
        assert!(error.contains("ended unexpectedly 2 times"), "{error}");
    });
}

#[test]
fn or_until_the_branch_moves() {
    let fixture = served_before();
    killed(&fixture);
    killed(&fixture);
    serving(quiet(), fixture.following(), async |server, follower| {
        assert_eq!(codes(server).await, [true, false]);
        push(&fixture, "newer");
        follower.fetch_now();
        until(async || server.get("/newer").await.status_line().contains("302")).await;
        until(async || server.status().await["last_error"].is_null()).await;
    });
}

#[test]
fn or_until_there_is_more_memory() {
    let fixture = served_before();
    killed(&fixture);
    killed(&fixture);
    let following = Following {
        memory: Some(1 << 40),
        ..fixture.following()
    };
    serving(quiet(), following, async |server, _| {
        until(async || codes(server).await == [false, true]).await;
    });
}

/// A reload that is killed while an older table is served counts as well as one at the start.
#[test]
fn a_reload_is_on_record_while_it_runs() {
    let fixture = served_before();
    let followed = fixture.follow();
    let revision = followed.read().unwrap().revision;
    followed.follower.accepted(&revision);
    push(&fixture, "newer");
    followed.fetch();
    followed.follower.read().unwrap();
    drop(followed);

    let followed = fixture.follow();
    assert!(followed.follower.is_in_doubt());
    assert!(followed.follower.read().is_err());
    assert!(followed.follower.fall_back());
    assert_eq!(followed.text(), table("new"));
}

#[test]
fn without_a_good_one_it_is_reported_and_not_tried_again() {
    let fixture = Fixture::new();
    push(&fixture, "new");
    killed(&fixture);
    killed(&fixture);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let refused = runtime.block_on(async {
        let remote = RemoteSource::start(fixture.following()).unwrap();
        Server::load(quiet(), remote).await.err().unwrap()
    });
    drop(runtime);
    assert!(matches!(refused, LoadError::Unreadable(_)), "{refused}");
    let error = chain(&refused);
    assert!(error.contains("attempt.json is removed"), "{error}");

    // One that may wait for a table is up, and takes the next one.
    let config = Config {
        wait: true,
        ..quiet()
    };
    serving(config, fixture.following(), async |server, follower| {
        until(async || !server.status().await["last_error"].is_null()).await;
        let ready = server.operate("GET", "/readyz", "").await;
        assert!(ready.status_line().contains("503"), "{ready}");
        push(&fixture, "newer");
        follower.fetch_now();
        until(async || server.get("/newer").await.status_line().contains("302")).await;
    });
}

/// Otherwise each start would end before a fetch could bring the fix.
#[test]
fn without_a_good_one_it_is_looked_whether_the_branch_has_moved() {
    let fixture = Fixture::new();
    killed(&fixture);
    killed(&fixture);
    fixture.push("two");
    assert_eq!(fixture.follow().text(), "two");
}

#[test]
fn an_orderly_end_in_the_middle_of_a_load_does_not_count() {
    let fixture = served_before();
    for _ in 0..3 {
        let followed = fixture.follow();
        followed.follower.read().unwrap();
        followed.follower.close();
    }
    assert_eq!(fixture.follow().text(), table("new"));
}

#[test]
fn a_last_good_commit_that_is_no_longer_trusted_is_not_served() {
    use waypost::git::{CommitId, Refusal, Verify};
    use waypost::source::FetchOptions;
    struct OnlyNewest(String);
    impl Verify for OnlyNewest {
        fn verify(&self, _: &git2::Repository, commit: CommitId) -> Result<(), Refusal> {
            match commit.to_string() == self.0 {
                true => Ok(()),
                false => Err(Refusal("it is old".to_owned())),
            }
        }
    }
    let fixture = served_before();
    killed(&fixture);
    let newest = fixture.git("rev-parse HEAD");
    let followed = Followed::start(Following {
        fetch: FetchOptions {
            verifier: Arc::new(OnlyNewest(newest)),
            ..fixture.fetch_options()
        },
        ..fixture.following()
    });
    assert!(!followed.follower.fall_back());
    assert_eq!(followed.text(), table("new"));
}
