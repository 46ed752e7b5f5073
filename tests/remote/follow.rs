//! What is served while a remote changes.

use std::sync::Arc;

use waypost::source::{FetchOptions, FetchResult, Following};

use super::scene::{Followed, Scene};

#[test]
fn follows_the_default_branch() {
    let scene = Scene::new();
    let followed = scene.follow();
    assert_eq!(followed.text(), "one");
    let two = scene.push("two");
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
    let scene = Scene::new();
    let followed = scene.follow();
    let known = followed.read().unwrap().fingerprint;
    assert!(!followed.follower.may_differ_from(&known));
    followed.fetch();
    assert!(!followed.follower.may_differ_from(&known));
    scene.push("two");
    followed.fetch();
    assert!(followed.follower.may_differ_from(&known));
}

#[test]
fn goes_with_head_when_the_branch_is_renamed() {
    let scene = Scene::new();
    let followed = scene.follow();
    assert_eq!(followed.text(), "one");
    scene.git_in("remote.git", "branch -m main trunk");
    scene.git("branch -m main trunk");
    scene.push("two");
    assert_eq!(followed.fetch(), FetchResult::Updated);
    assert_eq!(followed.text(), "two");
    assert_eq!(
        followed.follower.status().seen_as.unwrap(),
        "refs/heads/trunk"
    );
}

#[test]
fn follows_another_branch_after_a_restart() {
    let scene = Scene::new();
    scene.git("switch --quiet -c next");
    scene.push("next");
    let followed = scene.follow_ref("main");
    assert_eq!(followed.text(), "one");
    drop(followed);
    let followed = scene.follow_ref("next");
    assert_eq!(followed.text(), "next");
}

#[test]
fn follows_tags_annotated_or_not() {
    for create in ["tag v1", "tag -a -m annotated v1"] {
        let scene = Scene::new();
        let one = scene.git("rev-parse HEAD");
        scene.git(create);
        scene.git("push --quiet origin v1");
        scene.push("two");
        let followed = scene.follow_ref("v1");
        assert_eq!(followed.text(), "one");
        assert_eq!(followed.commit(), one);
        assert_eq!(followed.fetch(), FetchResult::Unchanged);

        scene.git(&format!("{create} --force"));
        scene.git("push --quiet --force origin v1");
        assert_eq!(followed.fetch(), FetchResult::Updated);
        assert_eq!(followed.text(), "two");
    }
}

#[test]
fn stays_at_a_commit() {
    let scene = Scene::new();
    let one = scene.git("rev-parse HEAD");
    scene.push("two");
    let followed = scene.follow_ref(&one);
    assert_eq!(followed.text(), "one");
    assert_eq!(followed.fetch(), FetchResult::Unchanged);
    drop(followed);

    let missing = scene.follow_ref(&"1".repeat(40));
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
    let scene = Scene::new();
    let one = scene.git("rev-parse HEAD");
    scene.push("two");
    let followed = scene.follow();
    assert_eq!(followed.text(), "two");
    scene.git("reset --quiet --hard HEAD~");
    scene.push("three");
    assert_eq!(followed.fetch(), FetchResult::Updated);
    assert_eq!(followed.text(), "three");
    scene.git(&format!("push --quiet --force origin {one}:main"));
    assert_eq!(followed.fetch(), FetchResult::Updated);
    assert_eq!(followed.text(), "one");
}

#[test]
fn keeps_the_last_commit_while_the_branch_is_gone() {
    let scene = Scene::new();
    let followed = scene.follow_ref("main");
    assert_eq!(followed.text(), "one");
    scene.git_in("remote.git", "update-ref refs/heads/other main");
    scene.git_in("remote.git", "update-ref -d refs/heads/main");
    let error = followed.fetch_error();
    assert!(
        error.contains("no branch or tag main; it has other"),
        "{error}"
    );
    assert_eq!(followed.text(), "one");
    scene.push("two");
    assert_eq!(followed.fetch(), FetchResult::Updated);
    assert_eq!(followed.text(), "two");
}

#[test]
fn follows_a_repository_that_was_replaced() {
    let scene = Scene::new();
    let followed = scene.follow();
    assert_eq!(followed.text(), "one");
    std::fs::remove_dir_all(scene.at("remote.git")).unwrap();
    assert_eq!(followed.fetch(), FetchResult::Failed);
    assert_eq!(followed.text(), "one");
    std::fs::remove_dir_all(scene.at("work")).unwrap();
    scene.create("remote.git", "work");
    let error = followed.fetch_error();
    assert!(error.contains("empty"), "{error}");
    scene.push("new");
    assert_eq!(followed.fetch(), FetchResult::Updated);
    assert_eq!(followed.text(), "new");
}

#[test]
fn a_clone_that_has_grown_is_replaced() {
    let scene = Scene::new();
    let followed = scene.follow();
    assert_eq!(followed.text(), "one");
    let old = scene.clone_dir();
    for n in 0..70 {
        std::fs::write(old.join(format!("objects/pack/pack-{n}.pack")), "").unwrap();
    }
    scene.push("two");
    assert_eq!(followed.fetch(), FetchResult::Updated);
    assert_ne!(scene.clone_dir(), old);
    assert_eq!(followed.text(), "two");
}

#[test]
fn falls_back_to_the_last_good_commit_until_there_is_a_newer_one() {
    let scene = Scene::new();
    let followed = scene.follow();
    followed
        .follower
        .accepted(&followed.read().unwrap().revision);
    assert!(!followed.follower.fall_back());
    scene.push("bad");
    followed.fetch();
    drop(followed);

    let followed = scene.follow();
    assert_eq!(followed.text(), "bad");
    assert!(followed.follower.fall_back());
    assert_eq!(followed.text(), "one");
    assert_eq!(followed.fetch(), FetchResult::Unchanged);
    assert_eq!(followed.text(), "one");
    scene.push("good");
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
    let scene = Scene::new();
    let followed = Followed::start(Following {
        fetch: FetchOptions {
            verifier: Arc::new(OnlyGood),
            ..scene.fetch_options()
        },
        ..scene.following()
    });
    let one = followed.commit();
    let bad = scene.push("bad");
    assert_eq!(followed.fetch(), FetchResult::Refused);
    assert!(followed.last().error.unwrap().contains("it is bad"));
    assert_eq!(followed.last().tip.unwrap().to_string(), bad);
    assert_eq!(followed.commit(), one);
    scene.push("three");
    assert_eq!(followed.fetch(), FetchResult::Updated);
    assert_eq!(followed.text(), "three");
}
