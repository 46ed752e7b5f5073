//! Hostile remotes: what they send is endless, takes memory, or is not text.

use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use sha1::{Digest as _, Sha1};
use waypost::git::{
    CommitId, Credentials, Pushed, RemoteBranch, RemoteBranchError, RemoteUrl, Secret, Transfer,
    chain,
};
use waypost::source::{FetchOptions, FetchResult, Following};

use super::fixture::{Fixture, Followed};

const ID: &str = "1111111111111111111111111111111111111111";

/// Answers each connection over Git's own protocol, in a thread.
fn serve(answer: impl Fn(&mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for connection in listener.incoming() {
            // A closed connection has been answered.
            let _ = answer(&mut connection.unwrap());
        }
    });
    format!("git://{address}/remote.git")
}

/// Reads one packet; a flush is empty.
fn packet(from: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = usize::from_str_radix(&String::from_utf8_lossy(&length), 16).unwrap();
    let mut text = vec![0; length.saturating_sub(4)];
    from.read_exact(&mut text)?;
    Ok(text)
}

fn send(to: &mut impl Write, text: &[u8]) -> std::io::Result<()> {
    write!(to, "{:04x}", text.len() + 4)?;
    to.write_all(text)
}

/// Offers one branch and reads the client's request, up to where the pack begins.
fn offer(remote: &mut TcpStream) -> std::io::Result<()> {
    packet(remote)?;
    send(
        remote,
        format!("{ID} HEAD\0ofs-delta shallow symref=HEAD:refs/heads/main\n").as_bytes(),
    )?;
    send(remote, format!("{ID} refs/heads/main\n").as_bytes())?;
    remote.write_all(b"0000")?;
    loop {
        let said = packet(remote)?;
        if said.starts_with(b"deepen") {
            send(remote, format!("shallow {ID}").as_bytes())?;
            remote.write_all(b"0000")?;
        }
        if said.starts_with(b"done") {
            return send(remote, b"NAK\n");
        }
    }
}

/// The head of an object in a pack (gitformat-pack(5)).
fn object_head(kind: u8, size: u64) -> Vec<u8> {
    let mut head = vec![kind << 4 | (size & 15) as u8];
    head.extend(varint(size >> 4).iter().filter(|_| size >> 4 > 0));
    if size >> 4 > 0 {
        head[0] |= 0x80;
    }
    head
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = (number & 0x7F) as u8;
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A pack of a few kilobytes with an object that takes 2 GiB: a copy of another one, many times.
fn delta_bomb() -> Vec<u8> {
    const BASE: usize = 0xFF_FFFF;
    const COPIES: usize = 128;
    let base = vec![0; BASE];
    let mut delta = varint(BASE as u64);
    delta.extend(varint((BASE * COPIES) as u64));
    // Copy from 0, three bytes of length (gitformat-pack(5), "Instruction to copy from base").
    delta.extend([0xF0, 0xFF, 0xFF, 0xFF].repeat(COPIES));
    let name = Sha1::digest([format!("blob {BASE}\0").as_bytes(), &base].concat());

    let mut pack = b"PACK\0\0\0\x02\0\0\0\x02".to_vec();
    pack.extend(object_head(3, BASE as u64));
    pack.extend(deflated(&base));
    pack.extend(object_head(7, delta.len() as u64));
    pack.extend(name);
    pack.extend(deflated(&delta));
    let sum = Sha1::digest(&pack);
    pack.extend(sum);
    pack
}

/// Follows a remote that may send 16 MiB.
fn follow(fixture: &Fixture, url: &str, timeout: Duration) -> Followed {
    let transfer = Transfer {
        max_bytes: 16 << 20,
        timeout,
        ..fixture.transfer()
    };
    Followed::start(Following {
        remote: RemoteUrl::parse(url).unwrap(),
        fetch: FetchOptions {
            transfer,
            ..fixture.fetch_options()
        },
        ..fixture.following()
    })
}

/// The bytes of all files in a directory.
fn size(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
    entries
        .map(|entry| match entry.file_type().unwrap().is_dir() {
            true => size(&entry.path()),
            false => entry.metadata().unwrap().len(),
        })
        .sum()
}

const LONG: Duration = Duration::from_secs(60);

fn send_no_end_of_a_pack(remote: &mut TcpStream) -> std::io::Result<()> {
    offer(remote)?;
    remote.write_all(b"PACK\0\0\0\x02\0\0\0\x02")?;
    remote.write_all(&object_head(3, 1 << 40))?;
    // Blocks that are not compressed (RFC 1951, section 3.2.4).
    remote.write_all(&[0x78, 0x01])?;
    let block = [&[0x00, 0xFF, 0xFF, 0x00, 0x00][..], &[b'x'; 0xFFFF]].concat();
    loop {
        remote.write_all(&block)?;
    }
}

#[test]
fn a_pack_without_end_meets_the_bound_and_leaves_nothing() {
    let fixture = Fixture::new();
    let url = serve(send_no_end_of_a_pack);
    let followed = follow(&fixture, &url, LONG);
    for _ in 0..2 {
        let error = followed.fetch_error();
        assert!(error.contains("\"max fetch bytes\""), "{error}");
        assert_eq!(followed.last().result, FetchResult::Failed);
        assert!(size(&fixture.at("state")) < 1 << 20);
    }
}

#[test]
fn a_fetch_that_was_killed_leaves_nothing_in_a_clone_or_a_checkout() {
    let fixture = Fixture::new();
    let url = serve(|remote| {
        offer(remote)?;
        remote.write_all(b"PACK\0\0\0\x02\0\0\0\x02")?;
        remote.write_all(&object_head(3, 1 << 40))?;
        remote.read_exact(&mut [0])
    });
    let followed = follow(&fixture, &url, Duration::from_secs(2));
    assert_eq!(followed.fetch(), FetchResult::TimedOut);
    assert!(size(&fixture.at("state")) < 1 << 20);
}

#[test]
fn references_without_end_meet_the_bound() {
    let fixture = Fixture::new();
    let url = serve(|remote| {
        packet(remote)?;
        send(remote, format!("{ID} HEAD\0ofs-delta shallow\n").as_bytes())?;
        let name = "x".repeat(1_000);
        for number in 0_u64.. {
            let line = format!("{ID} refs/heads/{number}/{name}\n");
            send(remote, line.as_bytes())?;
        }
        Ok(())
    });
    let followed = follow(&fixture, &url, LONG);
    let error = followed.fetch_error();
    assert!(error.contains("\"max fetch bytes\""), "{error}");
}

#[test]
fn a_small_pack_of_large_objects_meets_the_bound() {
    let fixture = Fixture::new();
    let bomb = delta_bomb();
    assert!(bomb.len() < 64 << 10);
    let url = serve(move |remote| {
        offer(remote)?;
        remote.write_all(&bomb)
    });
    let followed = follow(&fixture, &url, LONG);
    let error = followed.fetch_error();
    assert!(error.contains("\"max fetch bytes\""), "{error}");
    assert!(size(&fixture.at("state")) < 1 << 20);
}

#[test]
fn a_bound_does_not_keep_others_out() {
    let fixture = Fixture::new();
    let followed = follow(&fixture, &fixture.url("remote.git").to_string(), LONG);
    assert_eq!(followed.text(), "one");
    fixture.push("two");
    assert_eq!(followed.fetch(), FetchResult::Updated);
    // More than a bound of one byte.
    let tight = Followed::start(Following {
        state_dir: None,
        fetch: FetchOptions {
            transfer: Transfer {
                max_bytes: 1,
                ..fixture.transfer()
            },
            ..fixture.fetch_options()
        },
        ..fixture.following()
    });
    let error = tight.error();
    assert!(error.contains("\"max fetch bytes\""), "{error}");
}

/// Makes a branch of the remote whose name is not UTF-8.
fn add_branch_in_latin_1(fixture: &Fixture) {
    let heads = fixture.at("remote.git/refs/heads");
    let id = fixture.git("rev-parse HEAD");
    fs::write(heads.join(OsStr::from_bytes(b"caf\xE9")), format!("{id}\n")).unwrap();
}

#[test]
fn a_branch_whose_name_is_not_utf_8_is_ignored() {
    let fixture = Fixture::new();
    let (by_path, by_name) = (fixture.follow(), Fixture::new());
    let root = fixture.root.clone();
    let url = serve(move |remote| {
        packet(remote)?;
        pipe(
            remote,
            &["upload-pack", "--strict"],
            &root.join("remote.git"),
        )
    });
    assert_eq!(by_path.text(), "one");
    add_branch_in_latin_1(&fixture);
    let commit = fixture.push("two");
    assert_eq!(by_path.fetch(), FetchResult::Updated);
    assert_eq!(by_path.commit(), commit);
    assert_eq!(follow(&by_name, &url, LONG).text(), "two");
    drop(by_path);
    for reference in ["main", "refs/heads/main", &commit] {
        fs::remove_dir_all(fixture.at("state")).unwrap();
        assert_eq!(fixture.follow_ref(reference).text(), "two");
    }
    let missing = fixture.follow_ref("mian").error();
    assert!(missing.contains("it has main"), "{missing}");

    // The target of HEAD cannot be shown as text.
    let head = fixture.at("remote.git/HEAD");
    fs::write(head, b"ref: refs/heads/caf\xE9\n").unwrap();
    fs::remove_dir_all(fixture.at("state")).unwrap();
    assert_eq!(fixture.follow().text(), "one");
}

/// Lets a command of Git answer.
fn pipe(remote: &TcpStream, command: &[&str], directory: &Path) -> std::io::Result<()> {
    let (mut input, mut output) = (remote.try_clone()?, remote.try_clone()?);
    let mut git = Command::new("git")
        .args(command)
        .arg(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut stdin = git.stdin.take().unwrap();
    thread::spawn(move || copy(&mut input, &mut stdin));
    copy(&mut git.stdout.take().unwrap(), &mut output)?;
    git.wait()?;
    remote.shutdown(Shutdown::Both)
}

/// Passes bytes on as they come: `io::copy` between these may wait for more of them.
fn copy(from: &mut impl Read, to: &mut impl Write) -> std::io::Result<()> {
    let mut bytes = [0; 4096];
    loop {
        match from.read(&mut bytes)? {
            0 => return Ok(()),
            length => to.write_all(&bytes[..length])?,
        }
    }
}

/// Pushes a commit to a remote that answers so about its branch, after it has received it.
fn pushed(
    fixture: &Fixture,
    credentials: Credentials,
    answer: impl Fn() -> &'static [u8] + Send + Sync + 'static,
) -> Result<Pushed, RemoteBranchError> {
    let (root, old) = (fixture.root.clone(), fixture.git("rev-parse HEAD"));
    let url = serve(move |remote| {
        if packet(remote)?.starts_with(b"git-upload-pack") {
            return pipe(remote, &["upload-pack"], &root.join("remote.git"));
        }
        send(
            remote,
            format!("{old} refs/heads/main\0report-status\n").as_bytes(),
        )?;
        remote.write_all(b"0000")?;
        while !packet(remote)?.is_empty() {}
        send(remote, b"unpack ok\n")?;
        send(remote, answer())?;
        remote.write_all(b"0000")?;
        copy(remote, &mut std::io::sink())
    });
    let remote = RemoteUrl::parse(&url).unwrap();
    let branch = RemoteBranch::new(remote, None, fixture.transfer(), credentials).unwrap();
    let seen = branch.fetch().unwrap();
    let repository = branch.repository().unwrap();
    let repository = repository.lock().unwrap();
    let parent = repository.find_commit(seen.commit.into()).unwrap();
    let who = git2::Signature::now("A", "a@example.org").unwrap();
    let tree = parent.tree().unwrap();
    let commit = (repository.commit(None, &who, &who, "more", &tree, &[&parent])).unwrap();
    branch.push(
        &CommitId::from(commit).into(),
        "refs/heads/main",
        Some(seen.commit),
    )
}

#[test]
fn an_answer_to_a_push_that_is_not_utf_8_is_not_taken_for_a_crash() {
    let answer: &[u8] = b"ng refs/heads/main gesperrt f\xFCr heute\n";
    match pushed(&Fixture::new(), Credentials::default(), move || answer) {
        Ok(Pushed::Unclear { reason }) => assert!(reason.contains("UTF-8"), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_push_that_was_taken_has_not_failed_because_its_credentials_are_gone() {
    let fixture = Fixture::new();
    let file = fixture.at("password");
    fs::write(&file, "secret").unwrap();
    let credentials = Credentials {
        password: Some(Secret::File(file.clone())),
        ..Credentials::default()
    };
    let ended = pushed(&fixture, credentials, move || {
        fs::remove_file(&file).unwrap();
        b"ok refs/heads/main\n"
    });
    assert!(matches!(ended, Ok(Pushed::Landed { .. })), "{ended:?}");
}

#[test]
fn a_process_that_crashes_is_reported_as_that() {
    let fixture = Fixture::new();
    for (script, said) in [
        ("kill -KILL $$", "was killed (signal: 9 (SIGKILL))"),
        ("kill -SEGV $$", "crashed (signal: 11 (SIGSEGV)"),
        ("kill -XFSZ $$", "\"max fetch bytes\""),
        ("exit 7", "ended without an answer (exit status: 7)"),
    ] {
        let program = fixture.at("program");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let followed = Followed::start(Following {
            state_dir: None,
            fetch: FetchOptions {
                transfer: Transfer {
                    program,
                    ..fixture.transfer()
                },
                ..fixture.fetch_options()
            },
            ..fixture.following()
        });
        let error = chain(&followed.read().unwrap_err());
        assert!(error.contains(said), "{error}");
    }
}
