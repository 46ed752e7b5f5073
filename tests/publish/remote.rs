//! Without a checkout, through a clone of our own.

use std::cell::Cell;
use std::fs;
use std::time::Duration;

use waypost::git::RemoteBranchError;
use waypost::registry::{PublishError, TablePath, publish};

use crate::fixture::{Fixture, NotPublished, add_line, names};

/// Ends the process that receives a push, after the branch is moved and before it reports that.
const ONCE_MOVED_DIE: &str = "test $1 = committed || exit 0\nkill -9 $PPID";

#[test]
fn puts_one_commit_on_the_tip() {
    let fixture = Fixture::new();
    fixture.push("README.md", "kept");
    let writer = fixture.writer(None);
    let published = fixture.publish(&writer, |text| Ok(add_line(text, "two")));
    let published = published.unwrap();
    assert_eq!(fixture.table(), "one\ntwo");
    assert_eq!(
        fixture.remote("show --stat --format=%H|%an|%ae|%cn|%(trailers:only) main"),
        format!(
            "{}|W|w@example.org|W|Short-Link: https://short.code/two\n\n\n \
             mapping.yaml | 1 +\n 1 file changed, 1 insertion(+)",
            published.commit
        )
    );
    drop(writer);
    assert_eq!(names(&fixture.root), ["remote.git", "work"]);
}

#[test]
fn computes_again_what_somebody_else_was_faster_with() {
    let fixture = Fixture::new();
    let writer = fixture.writer(None);
    let tries = Cell::new(0);
    let published = fixture.publish(&writer, |text| {
        tries.set(tries.get() + 1);
        if tries.get() < 3 {
            fixture.push("mapping.yaml", &format!("{text}other {}\n", tries.get()));
        }
        Ok(add_line(text, &format!("mine {}", tries.get())))
    });
    published.unwrap();
    assert_eq!(fixture.table(), "one\nother 1\nother 2\nmine 3");
    assert_eq!(fixture.commits(), 4);
}

#[test]
fn does_not_bring_back_what_was_taken_back() {
    let fixture = Fixture::new();
    let before = fixture.remote("rev-parse main");
    fixture.push("mapping.yaml", "one\nto be taken back\n");
    let writer = fixture.writer(None);
    let published = fixture.publish(&writer, |text| {
        fixture.remote(&format!("update-ref refs/heads/main {}", before.trim()));
        Ok(add_line(text, "mine"))
    });
    published.unwrap();
    assert_eq!(fixture.table(), "one\nmine");
    assert_eq!(fixture.commits(), 2);
}

#[test]
fn hands_through_what_is_refused_on_the_new_tip() {
    let fixture = Fixture::new();
    let writer = fixture.writer(None);
    let published = fixture.publish(&writer, |text| {
        if text.contains("other") {
            return Err(NotPublished::IsThere);
        }
        fixture.push("mapping.yaml", "other\n");
        Ok(add_line(text, "mine"))
    });
    assert!(matches!(published, Err(NotPublished::IsThere)));
    assert_eq!(fixture.table(), "other");
}

#[test]
fn a_commit_that_somebody_else_made_too_is_not_ours() {
    let fixture = Fixture::new();
    let [one, other] = [fixture.writer(None), fixture.writer(None)];
    let tries = Cell::new(0);
    // Both make the very same commit, if it is in the same second, and then it is there already.
    let published = fixture.publish(&one, |text| {
        tries.set(tries.get() + 1);
        if text.contains("same") {
            return Err(NotPublished::IsThere);
        }
        // Although it is the first one's turn.
        let table = TablePath::new("mapping.yaml", 1 << 20);
        let first = publish(&mut other.changing(), &table, Duration::ZERO, |_| {
            Ok::<_, PublishError>(add_line(text, "same"))
        });
        first.unwrap();
        Ok(add_line(text, "same"))
    });
    assert!(matches!(published, Err(NotPublished::IsThere)));
    assert_eq!(tries.get(), 2);
    assert_eq!(fixture.table(), "one\nsame");
}

/// Returns the error of an edit that the remote refuses, and how often it was made.
fn refused(fixture: &Fixture) -> (String, u32) {
    let tries = Cell::new(0);
    let published = fixture.publish(&fixture.writer(None), |text| {
        tries.set(tries.get() + 1);
        Ok(add_line(text, "two"))
    });
    (published.unwrap_err().to_string(), tries.get())
}

#[test]
fn a_refusal_is_reported_in_the_words_of_the_remote() {
    let fixture = Fixture::new();
    fixture.hook("update", "echo 'main is \x1b[31mprotected'; exit 1");
    let (error, tries) = refused(&fixture);
    let words =
        "the remote refused the push: [remote rejected] (hook declined): main is [31mprotected";
    assert!(error.starts_with(words), "{error}");
    assert_eq!(tries, 1);
    assert_eq!(fixture.table(), "one");
}

#[test]
fn a_race_that_nobody_else_wins_is_a_refusal() {
    let fixture = Fixture::new();
    // As of a process that was killed.
    fs::write(fixture.at("remote.git/refs/heads/main.lock"), "").unwrap();
    let (error, tries) = refused(&fixture);
    let words = "the remote refused the push: cannot lock ref 'refs/heads/main': Unable to create";
    assert!(error.starts_with(words), "{error}");
    assert_eq!(tries, 12);
    assert_eq!(fixture.table(), "one");
}

#[test]
fn a_race_that_is_lost_to_nobody_ends() {
    let fixture = Fixture::new();
    fs::write(fixture.at("remote.git/refs/heads/main.lock"), "").unwrap();
    fixture.hook(
        "update",
        "echo 'it is at another commit, but expected here'",
    );
    let (error, tries) = refused(&fixture);
    assert!(error.contains("but expected here"), "{error}");
    assert_eq!(tries, 12);
    assert_eq!(fixture.table(), "one");
}

#[test]
fn finds_a_commit_that_was_accepted_without_an_answer() {
    let fixture = Fixture::new();
    fixture.hook("reference-transaction", ONCE_MOVED_DIE);
    let writer = fixture.writer(None);
    let published = fixture.publish(&writer, |text| Ok(add_line(text, "two")));
    assert_eq!(
        fixture.remote("rev-parse main"),
        published.unwrap().commit.to_string()
    );
    assert_eq!(fixture.table(), "one\ntwo");
}

#[test]
fn finds_what_was_taken_under_what_came_later() {
    let fixture = Fixture::new();
    // The hook acts for others who push at once.
    let later = "test -e moved && exit; touch moved
        tree=$(git rev-parse main^{tree})
        next=$(echo later | git -c user.name=L -c user.email=l@l commit-tree -p main $tree)
        git update-ref refs/heads/main $next";
    let hook = ONCE_MOVED_DIE.replace("kill", &format!("{later}\nkill"));
    fixture.hook("reference-transaction", &hook);
    let writer = fixture.writer(None);
    let published = fixture.publish(&writer, |text| Ok(add_line(text, "two")));
    assert_eq!(
        fixture.remote("rev-parse main~1"),
        published.unwrap().commit.to_string()
    );
}

#[test]
fn reports_that_the_result_of_a_push_is_unknown() {
    let fixture = Fixture::new();
    fixture.hook("pre-receive", "kill -9 $PPID");
    let writer = fixture.writer(None);
    let published = fixture.publish(&writer, |text| Ok(add_line(text, "two")));
    assert!(matches!(
        published,
        Err(NotPublished::Failed(PublishError::Unclear { .. }))
    ));
    assert_eq!(fixture.table(), "one");
}

#[test]
fn gives_up_when_its_time_ends() {
    let fixture = Fixture::new();
    let writer = fixture.writer(None);
    let table = TablePath::new("mapping.yaml", 1 << 20);
    let published = publish(&mut writer.changing(), &table, Duration::ZERO, |_| {
        fixture.push("mapping.yaml", "other\n");
        Ok::<_, PublishError>(add_line("", "mine"))
    });
    assert!(matches!(
        published,
        Err(PublishError::TooBusy { losses: 1, .. })
    ));
    assert_eq!(fixture.table(), "other");
}

#[test]
fn makes_a_branch_for_review_once() {
    let fixture = Fixture::new();
    for expected in [None, Some("the branch links/two already exists")] {
        let writer = fixture.writer(Some("links/two"));
        let published = fixture.publish(&writer, |text| Ok(add_line(text, "two")));
        match expected {
            None => assert!(published.is_ok()),
            Some(words) => {
                let error = published.unwrap_err().to_string();
                assert!(error.contains(words), "{error}");
            }
        }
    }
    assert_eq!(fixture.table(), "one");
    assert_eq!(fixture.remote("show links/two:mapping.yaml"), "one\ntwo");
    assert_eq!(fixture.remote("rev-list --count links/two"), "2");
}

#[test]
fn does_not_move_a_branch_for_review_that_is_there() {
    let fixture = Fixture::new();
    fixture.remote("branch theirs main");
    let writer = fixture.writer(Some("theirs"));
    let published = fixture.publish(&writer, |text| Ok(add_line(text, "two")));
    assert!(matches!(
        published,
        Err(NotPublished::Failed(PublishError::BranchExists { .. }))
    ));
    assert_eq!(
        fixture.remote("rev-parse theirs"),
        fixture.remote("rev-parse main")
    );
}

#[test]
fn writes_to_branches_only() {
    let fixture = Fixture::new();
    fixture.remote("tag v1 main");
    let commit = fixture.remote("rev-parse main");
    for name in ["v1", &commit] {
        let seen = fixture.branch(Some(name)).fetch();
        assert!(matches!(seen, Err(RemoteBranchError::NotABranch { .. })));
    }
    let error = fixture.branch(Some("mian")).fetch().unwrap_err();
    let error = format!("{:#}", anyhow::Error::from(error));
    assert!(
        error.contains("no branch or tag mian; it has main"),
        "{error}"
    );
}
