//! What is served when the remote, the clone or the disk is damaged, and after restarts.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use waypost::git::{RemoteUrl, Transfer};
use waypost::source::{FetchOptions, FetchResult, Following};

use super::fixture::{Fixture, Followed, packs};

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
    let fixture = Fixture::new();
    let one = fixture.follow().commit();
    fs::rename(fixture.at("remote.git"), fixture.at("away.git")).unwrap();
    let followed = fixture.follow();
    assert_eq!(followed.commit(), one);
    assert_eq!(followed.fetch(), FetchResult::Failed);
    assert_eq!(followed.text(), "one");
    fs::rename(fixture.at("away.git"), fixture.at("remote.git")).unwrap();
    assert_eq!(followed.fetch(), FetchResult::Unchanged);
}

#[test]
fn without_a_state_there_is_nothing_until_the_remote_is_up() {
    let fixture = Fixture::new();
    fs::rename(fixture.at("remote.git"), fixture.at("away.git")).unwrap();
    let followed = fixture.follow();
    let error = followed.error();
    assert!(error.contains("no table from file://"), "{error}");
    assert!(error.contains("remote.git"), "{error}");
    fs::rename(fixture.at("away.git"), fixture.at("remote.git")).unwrap();
    assert_eq!(followed.fetch(), FetchResult::Updated);
    assert_eq!(followed.text(), "one");
}

#[test]
fn the_state_of_another_remote_is_not_served() {
    let fixture = Fixture::new();
    assert_eq!(fixture.follow().text(), "one");
    fixture.create("other.git", "other");
    let followed = Followed::start(Following {
        remote: fixture.url("other.git"),
        ..fixture.following()
    });
    let error = followed.error();
    assert!(error.contains("empty"), "{error}");
}

#[test]
fn a_corrupt_pack_leads_to_a_fresh_clone() {
    let fixture = Fixture::new();
    assert_eq!(fixture.follow().text(), "one");
    let old = fixture.clone_dir();
    break_packs(&old);
    let followed = fixture.follow();
    assert_eq!(followed.text(), "one");
    assert_eq!(followed.fetch(), FetchResult::Unchanged);
    assert_ne!(fixture.clone_dir(), old);
    drop(followed);

    // While it is served, and then the remote changes.
    let followed = fixture.follow();
    assert_eq!(followed.fetch(), FetchResult::Unchanged);
    break_packs(&fixture.clone_dir());
    fixture.push("two");
    assert_eq!(followed.fetch(), FetchResult::Updated);
    assert_eq!(followed.text(), "two");
}

#[test]
fn a_clone_that_lost_its_files_is_replaced() {
    let fixture = Fixture::new();
    assert_eq!(fixture.follow().text(), "one");
    for lost in ["HEAD", "config", "objects"] {
        let clone = fixture.clone_dir();
        let _ = fs::remove_file(clone.join(lost));
        let _ = fs::remove_dir_all(clone.join(lost));
        let followed = fixture.follow();
        assert_eq!(followed.text(), "one", "{lost}");
        assert!(followed.fetch().is_success(), "{lost}");
    }
}

#[test]
fn what_a_killed_fetch_left_is_removed() {
    let fixture = Fixture::new();
    let followed = fixture.follow();
    assert_eq!(followed.text(), "one");
    let clone = fixture.clone_dir();
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
    fixture.push("two");
    assert_eq!(followed.fetch(), FetchResult::Updated);
    assert_eq!(followed.text(), "two");
    assert_eq!(fixture.clone_dir(), clone);
    assert!(left.iter().all(|name| !clone.join(name).exists()));
}

#[test]
fn a_half_made_clone_does_not_count() {
    let fixture = Fixture::new();
    fs::create_dir_all(fixture.at("state/clone-0/objects")).unwrap();
    fs::write(fixture.at("state/state.json"), "{\"remote\":").unwrap();
    let followed = fixture.follow();
    assert_eq!(followed.text(), "one");
    assert_eq!(followed.fetch(), FetchResult::Unchanged);
    assert_ne!(fixture.clone_dir(), fixture.at("state/clone-0"));
}

#[test]
fn one_process_uses_a_state_directory() {
    let fixture = Fixture::new();
    let _followed = fixture.follow();
    let Err(error) = Followed::try_start(fixture.following()) else {
        panic!("the directory is used twice");
    };
    assert!(
        error.to_string().contains("another process uses"),
        "{error}"
    );
}

#[test]
fn a_private_state_goes_at_the_end() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.at("temp")).unwrap();
    let followed = Followed::start(Following {
        state_dir: None,
        fetch: FetchOptions {
            transfer: Transfer {
                temp: fixture.at("temp"),
                ..fixture.transfer()
            },
            ..fixture.fetch_options()
        },
        ..fixture.following()
    });
    assert_eq!(followed.text(), "one");
    assert_eq!(fs::read_dir(fixture.at("temp")).unwrap().count(), 1);
    drop(followed);
    assert_eq!(fs::read_dir(fixture.at("temp")).unwrap().count(), 0);
}

#[test]
fn a_state_that_belongs_to_another_user_names_the_fix() {
    let fixture = Fixture::new();
    assert_eq!(fixture.follow().text(), "one");
    if chown(fixture.clone_dir(), Some(12_345), None).is_err() {
        // Only root can give files away.
        return;
    }
    let Err(error) = Followed::try_start(fixture.following()) else {
        panic!("another user's clone is used");
    };
    let error = error.to_string();
    assert!(
        error.contains("belongs to user 12345") && error.contains("chown"),
        "{error}"
    );
}

#[test]
fn a_silent_server_meets_the_deadline() {
    let fixture = Fixture::new();
    // Connections are accepted by the system and never answered.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let followed = Followed::start(Following {
        remote: RemoteUrl::parse(&format!("git://{address}/remote.git")).unwrap(),
        fetch: fixture.fetch_within(Duration::from_millis(700)),
        ..fixture.following()
    });
    let error = followed.error();
    assert!(error.contains("\"git timeout\""), "{error}");
    assert_eq!(followed.last().result, FetchResult::TimedOut);
}

#[test]
fn a_remote_that_drips_meets_the_deadline() {
    use std::io::Write as _;
    let fixture = Fixture::new();
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
        fetch: fixture.fetch_within(Duration::from_secs(1)),
        ..fixture.following()
    });
    assert!(followed.read().is_err());
    assert_eq!(followed.last().result, FetchResult::TimedOut);
}

/// Sends a packet of a reference now and then, without end.
fn drip(fixture: &Fixture, pause: Duration) -> RemoteUrl {
    use std::io::Write as _;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let commit = fixture.git("rev-parse HEAD");
    std::thread::spawn(move || {
        let (mut connection, _) = listener.accept().unwrap();
        for number in 0.. {
            let line = format!("{commit} refs/heads/{number:030}\n");
            let line = format!("{:04x}{line}", line.len() + 4);
            if connection.write_all(line.as_bytes()).is_err() {
                return;
            }
            std::thread::sleep(pause);
        }
    });
    RemoteUrl::parse(&format!("git://{address}/remote.git")).unwrap()
}

#[test]
fn a_remote_that_is_fast_enough_meets_only_the_deadline_of_the_whole() {
    let fixture = Fixture::new();
    for (pause, timeout, setting) in [
        // 800 and 80,000 bytes a second.
        (Duration::from_millis(100), 1, "\"git timeout\""),
        (Duration::from_millis(1), 1, "\"git timeout total\""),
    ] {
        let followed = Followed::start(Following {
            remote: drip(&fixture, pause),
            state_dir: None,
            fetch: FetchOptions {
                transfer: Transfer {
                    timeout: Duration::from_secs(timeout),
                    timeout_total: Duration::from_secs(3),
                    ..fixture.transfer()
                },
                ..fixture.fetch_options()
            },
            ..fixture.following()
        });
        let error = followed.error();
        assert!(error.contains(setting), "{error}");
        assert_eq!(followed.last().result, FetchResult::TimedOut);
    }
}

#[test]
fn a_process_that_dies_is_reported_with_its_last_words() {
    let fixture = Fixture::new();
    let (script, program) = (fixture.at("script"), fixture.at("program"));
    // More than a pipe holds, so that it would wait if that were not read.
    let flood = "head -c 1000000 /dev/zero >&2";
    let text = format!("#!/bin/sh\nread -r job\necho 'out of memory' >&2\n{flood}\nexit 9\n");
    fs::write(&script, text).unwrap();
    // Written by another process: what another test starts at this moment would hold it open.
    let mut install = Command::new("install");
    let install = install.args(["-m", "700"]).args([&script, &program]);
    assert!(install.status().unwrap().success());
    let fetch = fixture.fetch_options();
    let followed = Followed::start(Following {
        fetch: FetchOptions {
            transfer: Transfer {
                program,
                ..fixture.transfer()
            },
            ..fetch
        },
        ..fixture.following()
    });
    let error = followed.error();
    assert!(
        error.contains("ended without an answer (exit status: 9): out of memory"),
        "{error}"
    );
}

#[test]
fn dropping_a_follower_does_not_wait_for_the_remote() {
    let fixture = Fixture::new();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let followed = Followed::start(Following {
        remote: RemoteUrl::parse(&format!("git://{address}/remote.git")).unwrap(),
        fetch: fixture.fetch_within(Duration::from_secs(3_600)),
        ..fixture.following()
    });
    // A client is connected.
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
    // The clone is then available to the next process.
    assert_eq!(fixture.follow().text(), "one");
}
