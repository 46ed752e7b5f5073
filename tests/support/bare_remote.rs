//! A bare repository `remote.git` in a directory, and the checkout `work` of a user who pushes to
//! it.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use waypost::git::{RemoteUrl, Transfer};

use crate::git::git;

/// Creates both, without a commit.
pub(crate) fn create(root: &Path) {
    git(root, "init --quiet --bare remote.git");
    git(root, "init --quiet work");
    git(&root.join("work"), "remote add origin ../remote.git");
}

/// Pushes files from the checkout to the branch `main`.
pub(crate) fn push(root: &Path, files: &[(&str, &str)]) {
    let work = root.join("work");
    for (name, text) in files {
        fs::write(work.join(name), text).unwrap();
    }
    git(&work, "add --all .");
    git(&work, "commit --quiet -m other");
    git(&work, "push --quiet --set-upstream origin main");
}

/// Lets the remote run a script as a hook.
pub(crate) fn hook(root: &Path, name: &str, script: &str) {
    let path = root.join("remote.git/hooks").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Returns its address.
pub(crate) fn url(root: &Path) -> RemoteUrl {
    RemoteUrl::parse(root.join("remote.git").to_str().unwrap()).unwrap()
}

/// Returns how it is fetched and pushed to: by this program, with limits that no test reaches.
pub(crate) fn transfer(root: &Path) -> Transfer {
    Transfer {
        program: env!("CARGO_BIN_EXE_waypost").into(),
        timeout: Duration::from_secs(60),
        timeout_total: Duration::from_secs(600),
        temp: root.to_owned(),
        home: None,
        max_bytes: 1 << 30,
    }
}
