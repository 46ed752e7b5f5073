//! What is served while a remote changes.

use std::sync::Arc;

use waypost::source::{FetchOptions, FetchResult, Following};

use super::fixture::{Fixture, Followed};

#[test]
fn follows_the_default_branch() {
    let fixture = Fixture::new();
    let followed = fixture.follow();
    assert_eq!(followed.text(), "one");
    let two = fixture.push("two");
    assert_eq!(followed.fetch(), FetchResult::Updated);
    assert_eq!(followed.text(), "two");
    assert_eq!(followed.commit(), two);
    assert_eq!(followed.fetch(), FetchResult::Unchanged);

    let status = followed.follower.status();
    assert_eq!(status.seen_as.unwrap(), "refs/heads/main");
    assert_eq!(status.tip.unwrap().to_string(), two);
    assert_eq!(status.served.unwrap().id.to_string(), two);
    assert!(status.last_success.is_some());
}

#[test]
fn hints_only_at_another_commit() {
    let fixture = Fixture::new();
    let followed = fixture.follow();
    let known = followed.read().unwrap().fingerprint;
    assert!(!followed.follower.may_differ_from(&known));
    followed.fetch();
    assert!(!followed.follower.may_differ_from(&known));
    fixture.push("two");
    followed.fetch();
    assert!(followed.follower.may_differ_from(&known));
}

#[test]
fn goes_with_head_when_the_branch_is_renamed() {
    let fixture = Fixture::new();
    let followed = fixture.follow();
    assert_eq!(followed.text(), "one");
    fixture.git_in("remote.git", "branch -m main trunk");
    fixture.git("branch -m main trunk");
    fixture.push("two");
    assert_eq!(followed.fetch(), FetchResult::Updated);
    assert_eq!(followed.text(), "two");
    assert_eq!(
        followed.follower.status().seen_as.unwrap(),
        "refs/heads/trunk"
    );
}

#[test]
fn follows_another_branch_after_a_restart() {
    let fixture = Fixture::new();
    fixture.git("switch --quiet -c next");
    fixture.push("next");
    let followed = fixture.follow_ref("main");
    assert_eq!(followed.text(), "one");
    drop(followed);
    let followed = fixture.follow_ref("next");
    assert_eq!(followed.text(), "next");
}

#[test]
fn follows_tags_annotated_or_not() {
    for create in ["tag v1", "tag -a -m annotated v1"] {
        let fixture = Fixture::new();
        let one = fixture.git("rev-parse HEAD");
        fixture.git(create);
        fixture.git("push --quiet origin v1");
        fixture.push("two");
        let followed = fixture.follow_ref("v1");
        assert_eq!(followed.text(), "one");
        assert_eq!(followed.commit(), one);
        assert_eq!(followed.fetch(), FetchResult::Unchanged);

        fixture.git(&format!("{create} --force"));
        fixture.git("push --quiet --force origin v1");
        assert_eq!(followed.fetch(), FetchResult::Updated);
        assert_eq!(followed.text(), "two");
    }
}

#[test]
fn stays_at_a_commit() {
    let fixture = Fixture::new();
    let one = fixture.git("rev-parse HEAD");
    fixture.push("two");
    let followed = fixture.follow_ref(&one);
    assert_eq!(followed.text(), "one");
    assert_eq!(followed.fetch(), FetchResult::Unchanged);
    drop(followed);

    let missing = fixture.follow_ref(&"1".repeat(40));
    assert!(
        missing
            .error()
            .contains("no branch or tag of the remote holds"),
        "{}",
        missing.error()
    );
}

#[test]
fn converges_after_a_force_push_and_a_rewind() {
    let fixture = Fixture::new();
    let one = fixture.git("rev-parse HEAD");
    fixture.push("two");
    let followed = fixture.follow();
    assert_eq!(followed.text(), "two");
    fixture.git("reset --quiet --hard HEAD~");
    fixture.push("three");
    assert_eq!(followed.fetch(), FetchResult::Updated);
    assert_eq!(followed.text(), "three");
    fixture.git(&format!("push --quiet --force origin {one}:main"));
    assert_eq!(followed.fetch(), FetchResult::Updated);
    assert_eq!(followed.text(), "one");
}

#[test]
fn keeps_the_last_commit_while_the_branch_is_gone() {
    let fixture = Fixture::new();
    let followed = fixture.follow_ref("main");
    assert_eq!(followed.text(), "one");
    fixture.git_in("remote.git", "update-ref refs/heads/other main");
    fixture.git_in("remote.git", "update-ref -d refs/heads/main");
    let error = followed.fetch_error();
    assert!(
        error.contains("no branch or tag main; it has other"),
        "{error}"
    );
    assert_eq!(followed.text(), "one");
    fixture.push("two");
    assert_eq!(followed.fetch(), FetchResult::Updated);
    assert_eq!(followed.text(), "two");
}

#[test]
fn follows_a_repository_that_was_replaced() {
    let fixture = Fixture::new();
    let followed = fixture.follow();
    assert_eq!(followed.text(), "one");
    std::fs::remove_dir_all(fixture.at("remote.git")).unwrap();
    assert_eq!(followed.fetch(), FetchResult::Failed);
    assert_eq!(followed.text(), "one");
    std::fs::remove_dir_all(fixture.at("work")).unwrap();
    fixture.create("remote.git", "work");
    let error = followed.fetch_error();
    assert!(error.contains("empty"), "{error}");
    fixture.push("new");
    assert_eq!(followed.fetch(), FetchResult::Updated);
    assert_eq!(followed.text(), "new");
}

#[test]
fn falls_back_to_the_last_good_commit_until_there_is_a_newer_one() {
    let fixture = Fixture::new();
    let followed = fixture.follow();
    followed
        .follower
        .accepted(&followed.read().unwrap().revision);
    assert!(!followed.follower.fall_back());
    fixture.push("bad");
    followed.fetch();
    drop(followed);

    let followed = fixture.follow();
    assert_eq!(followed.text(), "bad");
    assert!(followed.follower.fall_back());
    assert_eq!(followed.text(), "one");
    assert_eq!(followed.fetch(), FetchResult::Unchanged);
    assert_eq!(followed.text(), "one");
    fixture.push("good");
    followed.fetch();
    assert_eq!(followed.text(), "good");
}

#[test]
fn a_commit_that_is_not_trusted_is_refused() {
    use waypost::git::{CommitId, Refusal, Verify};
    struct OnlyGood;
    impl Verify for OnlyGood {
        fn verify(&self, repository: &git2::Repository, commit: CommitId) -> Result<(), Refusal> {
            let commit = repository.find_commit(commit.into()).unwrap();
            match commit.message() {
                Ok("bad\n") => Err(Refusal("it is bad".to_owned())),
                _ => Ok(()),
            }
        }
    }
    let fixture = Fixture::new();
    let followed = Followed::start(Following {
        fetch: FetchOptions {
            verifier: Arc::new(OnlyGood),
            ..fixture.fetch_options()
        },
        ..fixture.following()
    });
    let one = followed.commit();
    let bad = fixture.push("bad");
    assert_eq!(followed.fetch(), FetchResult::Refused);
    assert!(followed.last().error.unwrap().contains("it is bad"));
    assert_eq!(followed.last().tip.unwrap().to_string(), bad);
    assert_eq!(followed.commit(), one);
    fixture.push("three");
    assert_eq!(followed.fetch(), FetchResult::Updated);
    assert_eq!(followed.text(), "three");
}

#[test]
fn fetches_a_path_without_its_history() {
    let fixture = Fixture::new();
    for n in 0..5 {
        fixture.push(&format!("old{n}"));
    }
    let followed = fixture.follow();
    assert_eq!(followed.text(), "old4");
    assert_eq!(fixture.commits_kept(), 1);
    fixture.commit("between");
    fixture.push("new");
    assert_eq!(followed.fetch(), FetchResult::Updated);
    assert_eq!(followed.text(), "new");
    assert_eq!(fixture.commits_kept(), 2);
    drop(followed);

    // A commit at the tip of no branch.
    let old = fixture.git("rev-parse HEAD~3");
    std::fs::remove_dir_all(fixture.at("state")).unwrap();
    let pinned = fixture.follow_ref(&old);
    assert_eq!(pinned.commit(), old);
    assert_eq!(fixture.commits_kept(), 1);
}
