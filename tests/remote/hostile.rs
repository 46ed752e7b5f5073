//! Remotes that mean harm: what they send is no text.

use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use waypost::source::{
    Credentials, FetchOptions, FetchResult, Following, Pushed, RemoteBranch, RemoteUrl, Transfer,
};

use super::scene::{Followed, Scene, chain};

/// Answers each connection over Git's own protocol, in a thread.
fn serve(answer: impl Fn(&mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for connection in listener.incoming() {
            // One that is hung up on has been answered.
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

fn follow(scene: &Scene, url: &str) -> Followed {
    Followed::start(Following {
        remote: RemoteUrl::parse(url).unwrap(),
        ..scene.following()
    })
}

/// Makes a branch of the remote whose name is not UTF-8.
fn add_branch_in_latin_1(scene: &Scene) {
    let heads = scene.at("remote.git/refs/heads");
    let id = scene.git("rev-parse HEAD");
    fs::write(heads.join(OsStr::from_bytes(b"caf\xE9")), format!("{id}\n")).unwrap();
}

#[test]
fn a_branch_whose_name_is_not_utf_8_stops_nobody() {
    let scene = Scene::new();
    let (by_path, by_name) = (scene.follow(), Scene::new());
    let root = scene.root.clone();
    let url = serve(move |remote| {
        packet(remote)?;
        pipe(
            remote,
            &["upload-pack", "--strict"],
            &root.join("remote.git"),
        )
    });
    assert_eq!(by_path.text(), "one");
    add_branch_in_latin_1(&scene);
    let commit = scene.push("two");
    assert_eq!(by_path.fetch(), FetchResult::Updated);
    assert_eq!(by_path.commit(), commit);
    assert_eq!(follow(&by_name, &url).text(), "two");
    drop(by_path);
    for reference in ["main", "refs/heads/main", &commit] {
        fs::remove_dir_all(scene.at("state")).unwrap();
        assert_eq!(scene.follow_ref(reference).text(), "two");
    }
    let missing = scene.follow_ref("mian").error();
    assert!(missing.contains("it has main"), "{missing}");

    // Where HEAD leads, no text can tell.
    let head = scene.at("remote.git/HEAD");
    fs::write(head, b"ref: refs/heads/caf\xE9\n").unwrap();
    fs::remove_dir_all(scene.at("state")).unwrap();
    assert_eq!(scene.follow().text(), "one");
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

#[test]
fn an_answer_to_a_push_that_is_not_utf_8_is_not_taken_for_a_crash() {
    let scene = Scene::new();
    let tip = scene.git("rev-parse HEAD");
    let (root, old) = (scene.root.clone(), tip.clone());
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
        send(remote, b"ng refs/heads/main gesperrt f\xFCr heute\n")?;
        remote.write_all(b"0000")?;
        copy(remote, &mut std::io::sink())
    });
    let remote = RemoteUrl::parse(&url).unwrap();
    let mut branch =
        RemoteBranch::new(remote, None, scene.transfer(), Credentials::default()).unwrap();
    let seen = branch.fetch().unwrap();
    let repository = branch.repository().unwrap();
    let parent = repository.find_commit(seen.commit).unwrap();
    let who = git2::Signature::now("A", "a@example.org").unwrap();
    let tree = parent.tree().unwrap();
    let commit = (repository.commit(None, &who, &who, "more", &tree, &[&parent])).unwrap();
    match branch.push(commit, "refs/heads/main", Some(seen.commit)) {
        Ok(Pushed::Unclear { reason }) => assert!(reason.contains("UTF-8"), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_process_that_crashes_is_reported_as_that() {
    let scene = Scene::new();
    for (script, said) in [
        ("kill -KILL $$", "was killed (signal: 9 (SIGKILL))"),
        ("kill -SEGV $$", "crashed (signal: 11 (SIGSEGV)"),
        ("exit 7", "ended without an answer (exit status: 7)"),
    ] {
        let program = scene.at("program");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let followed = Followed::start(Following {
            state_dir: None,
            fetch: FetchOptions {
                transfer: Transfer {
                    program,
                    ..scene.transfer()
                },
                ..scene.fetch_options()
            },
            ..scene.following()
        });
        let error = chain(&followed.read().unwrap_err());
        assert!(error.contains(said), "{error}");
    }
}
