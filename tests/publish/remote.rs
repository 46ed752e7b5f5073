//! Without a checkout, through a clone of our own.

use std::cell::Cell;
use std::time::Duration;

use waypost::git::RemoteBranchError;
use waypost::registry::{PublishError, TablePath, publish};

use crate::scene::{NotPublished, Scene, add_line, names};

/// Ends the process that takes a push, once the branch is moved and before it could say so.
const ONCE_MOVED_DIE: &str = "test $1 = committed || exit 0\nkill -9 $PPID";

#[test]
fn puts_one_commit_on_the_tip() {
    let scene = Scene::new();
    scene.push("README.md", "kept");
    let writer = scene.writer(None);
    let published = scene.publish(&writer, |text| Ok(add_line(text, "two")));
    let published = published.unwrap();
    assert_eq!(scene.table(), "one\ntwo");
    assert_eq!(
        scene.remote("show --stat --format=%H|%an|%ae|%cn|%(trailers:only) main"),
        format!(
            "{}|W|w@example.org|W|Short-Link: https://short.code/two\n\n\n \
             mapping.yaml | 1 +\n 1 file changed, 1 insertion(+)",
            published.commit
        )
    );
    drop(writer);
    assert_eq!(names(&scene.root), ["remote.git", "work"]);
}

#[test]
fn computes_again_what_somebody_else_was_faster_with() {
    let scene = Scene::new();
    let writer = scene.writer(None);
    let tries = Cell::new(0);
    let published = scene.publish(&writer, |text| {
        tries.set(tries.get() + 1);
        if tries.get() < 3 {
            scene.push("mapping.yaml", &format!("{text}other {}\n", tries.get()));
        }
        Ok(add_line(text, &format!("mine {}", tries.get())))
    });
    published.unwrap();
    assert_eq!(scene.table(), "one\nother 1\nother 2\nmine 3");
    assert_eq!(scene.commits(), 4);
}

#[test]
fn does_not_bring_back_what_was_taken_back() {
    let scene = Scene::new();
    let before = scene.remote("rev-parse main");
    scene.push("mapping.yaml", "one\nto be taken back\n");
    let writer = scene.writer(None);
    let published = scene.publish(&writer, |text| {
        scene.remote(&format!("update-ref refs/heads/main {}", before.trim()));
        Ok(add_line(text, "mine"))
    });
    published.unwrap();
    assert_eq!(scene.table(), "one\nmine");
    assert_eq!(scene.commits(), 2);
}

#[test]
fn hands_through_what_is_refused_on_the_new_tip() {
    let scene = Scene::new();
    let writer = scene.writer(None);
    let published = scene.publish(&writer, |text| {
        if text.contains("other") {
            return Err(NotPublished::IsThere);
        }
        scene.push("mapping.yaml", "other\n");
        Ok(add_line(text, "mine"))
    });
    assert!(matches!(published, Err(NotPublished::IsThere)));
    assert_eq!(scene.table(), "other");
}

#[test]
fn a_commit_that_somebody_else_made_too_is_not_ours() {
    let scene = Scene::new();
    let [one, other] = [scene.writer(None), scene.writer(None)];
    let tries = Cell::new(0);
    // Both make the very same commit, if it is in the same second, and then it is there already.
    let published = scene.publish(&one, |text| {
        tries.set(tries.get() + 1);
        if text.contains("same") {
            return Err(NotPublished::IsThere);
        }
        // In spite of the first one's turn.
        let table = TablePath::new("mapping.yaml", 1 << 20);
        let first = publish(&mut other.changing(), &table, Duration::ZERO, |_| {
            Ok::<_, PublishError>(add_line(text, "same"))
        });
        first.unwrap();
        Ok(add_line(text, "same"))
    });
    assert!(matches!(published, Err(NotPublished::IsThere)));
    assert_eq!(tries.get(), 2);
    assert_eq!(scene.table(), "one\nsame");
}

#[test]
fn a_refusal_is_reported_in_the_words_of_the_remote() {
    let scene = Scene::new();
    scene.hook("update", "echo 'main is \x1b[31mprotected'; exit 1");
    let writer = scene.writer(None);
    let tries = Cell::new(0);
    let published = scene.publish(&writer, |text| {
        tries.set(tries.get() + 1);
        Ok(add_line(text, "two"))
    });
    let error = published.unwrap_err().to_string();
    let words =
        "the remote refused the push: [remote rejected] (hook declined): main is [31mprotected";
    assert!(error.starts_with(words), "{error}");
    assert_eq!(tries.get(), 1);
    assert_eq!(scene.table(), "one");
}

#[test]
fn finds_what_was_taken_although_the_answer_was_lost() {
    let scene = Scene::new();
    scene.hook("reference-transaction", ONCE_MOVED_DIE);
    let writer = scene.writer(None);
    let published = scene.publish(&writer, |text| Ok(add_line(text, "two")));
    assert_eq!(
        scene.remote("rev-parse main"),
        published.unwrap().commit.to_string()
    );
    assert_eq!(scene.table(), "one\ntwo");
}

#[test]
fn finds_what_was_taken_under_what_came_later() {
    let scene = Scene::new();
    // The hook acts for others who push at once.
    let later = "test -e moved && exit; touch moved
        tree=$(git rev-parse main^{tree})
        next=$(echo later | git -c user.name=L -c user.email=l@l commit-tree -p main $tree)
        git update-ref refs/heads/main $next";
    let hook = ONCE_MOVED_DIE.replace("kill", &format!("{later}\nkill"));
    scene.hook("reference-transaction", &hook);
    let writer = scene.writer(None);
    let published = scene.publish(&writer, |text| Ok(add_line(text, "two")));
    assert_eq!(
        scene.remote("rev-parse main~1"),
        published.unwrap().commit.to_string()
    );
}

#[test]
fn says_that_it_is_unclear_what_became_of_a_push() {
    let scene = Scene::new();
    scene.hook("pre-receive", "kill -9 $PPID");
    let writer = scene.writer(None);
    let published = scene.publish(&writer, |text| Ok(add_line(text, "two")));
    assert!(matches!(
        published,
        Err(NotPublished::Failed(PublishError::Unclear { .. }))
    ));
    assert_eq!(scene.table(), "one");
}

#[test]
fn gives_up_when_its_time_ends() {
    let scene = Scene::new();
    let writer = scene.writer(None);
    let table = TablePath::new("mapping.yaml", 1 << 20);
    let published = publish(&mut writer.changing(), &table, Duration::ZERO, |_| {
        scene.push("mapping.yaml", "other\n");
        Ok::<_, PublishError>(add_line("", "mine"))
    });
    assert!(matches!(
        published,
        Err(PublishError::TooBusy { losses: 1, .. })
    ));
    assert_eq!(scene.table(), "other");
}

#[test]
fn makes_a_branch_for_review_once() {
    let scene = Scene::new();
    for expected in [None, Some("there is a branch links/two already")] {
        let writer = scene.writer(Some("links/two"));
        let published = scene.publish(&writer, |text| Ok(add_line(text, "two")));
        match expected {
            None => assert!(published.is_ok()),
            Some(words) => {
                let error = published.unwrap_err().to_string();
                assert!(error.contains(words), "{error}");
            }
        }
    }
    assert_eq!(scene.table(), "one");
    assert_eq!(scene.remote("show links/two:mapping.yaml"), "one\ntwo");
    assert_eq!(scene.remote("rev-list --count links/two"), "2");
}

#[test]
fn does_not_move_a_branch_for_review_that_is_there() {
    let scene = Scene::new();
    scene.remote("branch theirs main");
    let writer = scene.writer(Some("theirs"));
    let published = scene.publish(&writer, |text| Ok(add_line(text, "two")));
    assert!(matches!(
        published,
        Err(NotPublished::Failed(PublishError::BranchExists { .. }))
    ));
    assert_eq!(
        scene.remote("rev-parse theirs"),
        scene.remote("rev-parse main")
    );
}

#[test]
fn writes_to_branches_only() {
    let scene = Scene::new();
    scene.remote("tag v1 main");
    let commit = scene.remote("rev-parse main");
    for name in ["v1", &commit] {
        let seen = scene.branch(Some(name)).fetch();
        assert!(matches!(seen, Err(RemoteBranchError::NotABranch { .. })));
    }
    let error = scene.branch(Some("mian")).fetch().unwrap_err();
    let error = format!("{:#}", anyhow::Error::from(error));
    assert!(
        error.contains("no branch or tag mian; it has main"),
        "{error}"
    );
}
