//! What a commit may have in place of a table.

use waypost::source::Following;

use super::fixture::{Fixture, Followed};

#[test]
fn a_path_that_is_missing_may_appear() {
    let fixture = Fixture::new();
    let followed = fixture.follow_path("links/table.yaml");
    let error = followed.error();
    assert!(
        error.contains("does not contain links/table.yaml"),
        "{error}"
    );
    fixture.write("work/links/table.yaml", "here");
    fixture.push("x");
    followed.fetch();
    assert_eq!(followed.text(), "here");
}

#[test]
fn a_directory_is_its_yaml_files_in_order() {
    let fixture = Fixture::new();
    for name in [
        "b.yaml",
        "a.yml",
        ".hidden.yaml",
        "notes.txt",
        "deep/c.yaml",
    ] {
        fixture.write(&format!("work/links/{name}"), name);
    }
    fixture.write("work/none/readme.md", "");
    fixture.push("x");
    for (path, expected) in [
        ("links", &["links/a.yml", "links/b.yaml"][..]),
        ("links/", &["links/a.yml", "links/b.yaml"]),
        (".", &["mapping.yaml"]),
        ("./links/deep/c.yaml", &["./links/deep/c.yaml"]),
    ] {
        let reading = fixture.follow_path(path).read().unwrap();
        let paths: Vec<&str> = reading.files.iter().map(|file| &*file.path).collect();
        assert_eq!(paths, expected);
    }
    let error = fixture.follow_path("none").error();
    assert!(error.contains("no *.yaml or *.yml file in none"), "{error}");
    let error = fixture.follow_path("mapping.yaml/x").error();
    assert!(error.contains("does not contain mapping.yaml/x"), "{error}");
}

#[test]
fn a_table_too_large_is_refused() {
    let fixture = Fixture::new();
    fixture.write("work/mapping.yaml", &"x".repeat(100));
    fixture.git("add .");
    fixture.git("commit --quiet -m large");
    fixture.git("push --quiet origin HEAD");
    for (max, fits) in [(100, true), (99, false)] {
        let followed = Followed::start(Following {
            max_bytes: max,
            ..fixture.following()
        });
        assert_eq!(followed.read().is_ok(), fits);
        if !fits {
            let error = followed.error();
            assert!(
                error.contains("larger than 99 bytes at mapping.yaml"),
                "{error}"
            );
        }
    }
}

#[test]
fn what_is_no_file_is_refused_by_name() {
    let fixture = Fixture::new();
    std::os::unix::fs::symlink("mapping.yaml", fixture.at("work/link.yaml")).unwrap();
    std::os::unix::fs::symlink("elsewhere", fixture.at("work/dir")).unwrap();
    fixture.write(
        "work/large.yaml",
        "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
    );
    fixture.write("work/links/a.yaml", "");
    std::os::unix::fs::symlink("a.yaml", fixture.at("work/links/b.yaml")).unwrap();
    fixture.git_in(
        "work",
        "-c protocol.file.allow=always submodule --quiet add ../remote.git sub",
    );
    fixture.push("x");
    for (path, named) in [
        ("link.yaml", "link.yaml is a symbolic link"),
        ("dir/table.yaml", "dir is a symbolic link"),
        ("links", "links/b.yaml is a symbolic link"),
        ("large.yaml", "large.yaml is a Git LFS pointer"),
        ("sub", "sub is a submodule"),
        ("sub/mapping.yaml", "sub is a submodule"),
    ] {
        let error = fixture.follow_path(path).error();
        assert!(error.contains(named), "{error}");
        assert!(error.contains("commit the table itself"), "{error}");
    }
}

/// They are one object in the repository, and each of them is read and compiled.
#[test]
fn identical_files_count_as_often_as_they_are_there() {
    let fixture = Fixture::new();
    for n in 0..10 {
        fixture.write(&format!("work/links/{n}.yaml"), "0123456789");
    }
    fixture.push("x");
    let limited = |max_bytes| {
        Followed::start(Following {
            path: "links".to_owned(),
            max_bytes,
            ..fixture.following()
        })
    };
    let error = limited(99).error();
    assert!(
        error.contains("larger than 99 bytes at links/9.yaml: it has 100"),
        "{error}"
    );
    limited(100).read().unwrap();
}
