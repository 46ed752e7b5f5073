//! What tests of several folders prepare.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use git2::{Buf, Oid, Repository};

/// Stores a blob in a pack of its own, and returns the pack.
pub(super) fn pack_alone(repository: &Repository, blob: Oid) -> PathBuf {
    let packs = repository.path().join("objects/pack");
    let list = || -> Vec<_> {
        let names = fs::read_dir(&packs).unwrap();
        let paths = names.map(|entry| entry.unwrap().path());
        paths
            .filter(|it| it.extension() == Some("pack".as_ref()))
            .collect()
    };
    let before = list();
    let (odb, mut pack) = (repository.odb().unwrap(), Buf::new());
    let mut builder = repository.packbuilder().unwrap();
    builder.insert_object(blob, None).unwrap();
    builder.write_buf(&mut pack).unwrap();
    let mut writer = odb.packwriter().unwrap();
    writer.write_all(&pack).unwrap();
    writer.commit().unwrap();
    list().into_iter().find(|it| !before.contains(it)).unwrap()
}
