//! The fetching process inherits nothing that the service manager passed to its parent.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;

use crate::served::{Place, Served, copy, handing_on, socket, until};

#[test]
fn a_fetch_inherits_neither_sockets_nor_their_variables() {
    let place = Place::new();
    // A remote that never answers keeps the fetch alive.
    let (remote, address) = socket();
    remote.set_nonblocking(true).unwrap();
    let (kept, _) = socket();
    let (mut command, _manager) = place.managed();
    command
        .stdin(copy(&kept))
        .env("LISTEN_FDNAMES", "public")
        .env("WATCHDOG_USEC", "60000000")
        .env("WAYPOST_REPO", format!("git://{address}/links"))
        .stdout(Stdio::null());
    let server = Served::begin(command, &handing_on(1));
    // Once the remote gets a request, the child is fully set up.
    let _asked = until(|| remote.accept().ok());
    let parent = server.child.id().to_string();
    let child = until(|| child_of(&parent));
    let sockets_of = |pid: &str| -> BTreeSet<_> {
        let open = fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
        open.filter_map(|fd| fs::read_link(fd.unwrap().path()).ok())
            .filter(|target| target.to_string_lossy().starts_with("socket:"))
            .collect()
    };
    // Its only socket is the one to the remote, under several descriptors.
    assert_eq!(sockets_of(&child).len(), 1);
    let variables = fs::read(format!("/proc/{child}/environ")).unwrap();
    let variables = String::from_utf8(variables).unwrap();
    let names: Vec<_> = variables
        .split('\0')
        .filter_map(|line| Some(line.split_once('=')?.0))
        .collect();
    assert!(names.contains(&"PATH"), "{names:?}");
    for prefix in ["LISTEN_", "NOTIFY_", "WATCHDOG_"] {
        assert!(
            !names.iter().any(|name| name.starts_with(prefix)),
            "{names:?}"
        );
    }
}

fn child_of(parent: &str) -> Option<String> {
    let all = fs::read_dir("/proc").unwrap().flatten();
    all.map(|item| item.file_name().to_string_lossy().into_owned())
        .find(|pid| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            // The parent follows the name in parentheses and the state.
            let rest = stat.rsplit(')').next().unwrap_or_default();
            rest.split_whitespace().nth(1) == Some(parent)
        })
}
