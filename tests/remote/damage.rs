//! What is served when the remote, the clone or the disk is damaged, and after restarts.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use waypost::git::{RemoteUrl, Transfer};
use waypost::source::{FetchOptions, FetchResult, Following};

use super::scene::{Followed, Scene};

fn packs(clone: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(clone.join("objects/pack")).unwrap();
    entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "pack"))
        .collect()
}

fn break_packs(clone: &Path) {
    for pack in packs(clone) {
        let mut bytes = fs::read(&pack).unwrap();
        let middle = bytes.len() - 40;
        bytes[12..middle].fill(0xAA);
        fs::set_permissions(&pack, fs::Permissions::from_mode(0o644)).unwrap();
        fs::write(&pack, bytes).unwrap();
    }
}

#[test]
fn a_restart_serves_the_last_commit_though_the_remote_is_down() {
    let scene = Scene::new();
    let one = scene.follow().commit();
    fs::rename(scene.at("remote.git"), scene.at("away.git")).unwrap();
    let followed = scene.follow();
    assert_eq!(followed.commit(), one);
    assert_eq!(followed.fetch(), FetchResult::Failed);
    assert_eq!(followed.text(), "one");
    fs::rename(scene.at("away.git"), scene.at("remote.git")).unwrap();
    assert_eq!(followed.fetch(), FetchResult::Unchanged);
}

#[test]
fn without_a_state_there_is_nothing_until_the_remote_is_up() {
    let scene = Scene::new();
    fs::rename(scene.at("remote.git"), scene.at("away.git")).unwrap();
    let followed = scene.follow();
    let error = followed.error();
    assert!(error.contains("no table from file://"), "{error}");
    assert!(error.contains("remote.git"), "{error}");
    fs::rename(scene.at("away.git"), scene.at("remote.git")).unwrap();
    assert_eq!(followed.fetch(), FetchResult::Updated);
    assert_eq!(followed.text(), "one");
}

#[test]
fn the_state_of_another_remote_is_not_served() {
    let scene = Scene::new();
    assert_eq!(scene.follow().text(), "one");
    scene.create("other.git", "other");
    let followed = Followed::start(Following {
        remote: scene.url("other.git"),
        ..scene.following()
    });
    let error = followed.error();
    assert!(error.contains("empty"), "{error}");
}

#[test]
fn a_corrupt_pack_leads_to_a_fresh_clone() {
    let scene = Scene::new();
    assert_eq!(scene.follow().text(), "one");
    let old = scene.clone_dir();
    break_packs(&old);
    let followed = scene.follow();
    assert_eq!(followed.text(), "one");
    assert_eq!(followed.fetch(), FetchResult::Unchanged);
    assert_ne!(scene.clone_dir(), old);
    drop(followed);

    // While it is served, and then the remote changes.
    let followed = scene.follow();
    assert_eq!(followed.fetch(), FetchResult::Unchanged);
    break_packs(&scene.clone_dir());
    scene.push("two");
    assert_eq!(followed.fetch(), FetchResult::Updated);
    assert_eq!(followed.text(), "two");
}

#[test]
fn a_clone_that_lost_its_files_is_replaced() {
    let scene = Scene::new();
    assert_eq!(scene.follow().text(), "one");
    for lost in ["HEAD", "config", "objects"] {
        let clone = scene.clone_dir();
        let _ = fs::remove_file(clone.join(lost));
        let _ = fs::remove_dir_all(clone.join(lost));
        let followed = scene.follow();
        assert_eq!(followed.text(), "one", "{lost}");
        assert!(followed.fetch().is_success(), "{lost}");
    }
}

#[test]
fn what_a_killed_fetch_left_is_removed() {
    let scene = Scene::new();
    let followed = scene.follow();
    assert_eq!(followed.text(), "one");
    let clone = scene.clone_dir();
    let left = [
        "refs/waypost/tip.lock",
        "config.lock",
        "packed-refs.lock",
        "shallow.lock",
        "objects/pack/pack_git2_0123456789abcdef",
    ];
    for name in left {
        File::create(clone.join(name)).unwrap();
    }
    scene.push("two");
    assert_eq!(followed.fetch(), FetchResult::Updated);
    assert_eq!(followed.text(), "two");
    assert_eq!(scene.clone_dir(), clone);
    assert!(left.iter().all(|name| !clone.join(name).exists()));
}

#[test]
fn a_half_made_clone_does_not_count() {
    let scene = Scene::new();
    fs::create_dir_all(scene.at("state/clone-0/objects")).unwrap();
    fs::write(scene.at("state/state.json"), "{\"remote\":").unwrap();
    let followed = scene.follow();
    assert_eq!(followed.text(), "one");
    assert_eq!(followed.fetch(), FetchResult::Unchanged);
    assert_ne!(scene.clone_dir(), scene.at("state/clone-0"));
}

#[test]
fn one_process_uses_a_state_directory() {
    let scene = Scene::new();
    let _followed = scene.follow();
    let Err(error) = Followed::try_start(scene.following()) else {
        panic!("the directory is used twice");
    };
    assert!(
        error.to_string().contains("another process uses"),
        "{error}"
    );
}

#[test]
fn a_private_state_goes_at_the_end() {
    let scene = Scene::new();
    fs::create_dir(scene.at("temp")).unwrap();
    let followed = Followed::start(Following {
        state_dir: None,
        fetch: FetchOptions {
            transfer: Transfer {
                temp: scene.at("temp"),
                ..scene.transfer()
            },
            ..scene.fetch_options()
        },
        ..scene.following()
    });
    assert_eq!(followed.text(), "one");
    assert_eq!(fs::read_dir(scene.at("temp")).unwrap().count(), 1);
    drop(followed);
    assert_eq!(fs::read_dir(scene.at("temp")).unwrap().count(), 0);
}

#[test]
fn a_state_that_belongs_to_another_user_names_the_fix() {
    let scene = Scene::new();
    assert_eq!(scene.follow().text(), "one");
    if chown(scene.clone_dir(), Some(12_345), None).is_err() {
        // Only root can give files away.
        return;
    }
    let Err(error) = Followed::try_start(scene.following()) else {
        panic!("another user's clone is used");
    };
    let error = error.to_string();
    assert!(
        error.contains("belongs to user 12345") && error.contains("chown"),
        "{error}"
    );
}

#[test]
fn an_address_that_says_nothing_meets_the_deadline() {
    let scene = Scene::new();
    // Connections are accepted by the system and never answered.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let followed = Followed::start(Following {
        remote: RemoteUrl::parse(&format!("git://{address}/remote.git")).unwrap(),
        fetch: scene.fetch_within(Duration::from_millis(700)),
        ..scene.following()
    });
    let error = followed.error();
    assert!(error.contains("\"git timeout\""), "{error}");
    assert_eq!(followed.last().result, FetchResult::TimedOut);
}

#[test]
fn a_remote_that_drips_meets_the_deadline() {
    use std::io::Write as _;
    let scene = Scene::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        // The length of a packet, then an endless one.
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            std::thread::spawn(move || {
                for byte in b"fff0".iter().chain(std::iter::repeat(&b'a')) {
                    if connection.write_all(&[*byte]).is_err() {
                        return;
                    }
                    std::thread::sleep(Duration::from_millis(100));
                }
            });
        }
    });
    let followed = Followed::start(Following {
        remote: RemoteUrl::parse(&format!("git://{address}/remote.git")).unwrap(),
        fetch: scene.fetch_within(Duration::from_secs(1)),
        ..scene.following()
    });
    assert!(followed.read().is_err());
    assert_eq!(followed.last().result, FetchResult::TimedOut);
}

#[test]
fn a_process_that_dies_is_reported_with_its_last_words() {
    let scene = Scene::new();
    let (script, program) = (scene.at("script"), scene.at("program"));
    // More than a pipe holds, so that it would wait if nobody read that.
    let flood = "head -c 1000000 /dev/zero >&2";
    let text = format!("#!/bin/sh\nread -r job\necho 'out of memory' >&2\n{flood}\nexit 9\n");
    fs::write(&script, text).unwrap();
    // Written by another process: what another test starts at this moment would hold it open.
    let mut install = Command::new("install");
    let install = install.args(["-m", "700"]).args([&script, &program]);
    assert!(install.status().unwrap().success());
    let fetch = scene.fetch_options();
    let followed = Followed::start(Following {
        fetch: FetchOptions {
            transfer: Transfer {
                program,
                ..scene.transfer()
            },
            ..fetch
        },
        ..scene.following()
    });
    let error = followed.error();
    assert!(
        error.contains("ended without an answer (exit status: 9): out of memory"),
        "{error}"
    );
}

#[test]
fn dropping_a_follower_does_not_wait_for_the_remote() {
    let scene = Scene::new();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let followed = Followed::start(Following {
        remote: RemoteUrl::parse(&format!("git://{address}/remote.git")).unwrap(),
        fetch: scene.fetch_within(Duration::from_secs(3_600)),
        ..scene.following()
    });
    // Somebody is connected.
    let (mut connection, _) = silent.accept().unwrap();
    drop(followed);
    // The process that fetched is gone: its end of the connection is closed. A timeout is an error.
    connection
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    match connection.read_to_end(&mut Vec::new()) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}"),
    }
    // And the clone is free for the next one.
    assert_eq!(scene.follow().text(), "one");
}
