//! What a commit may hold where the table should be.

use waypost::source::Following;

use super::scene::{Followed, Scene};

#[test]
fn a_path_that_is_missing_may_appear() {
    let scene = Scene::new();
    let followed = scene.follow_path("links/table.yaml");
    let error = followed.error();
    assert!(error.contains("holds no links/table.yaml"), "{error}");
    scene.write("work/links/table.yaml", "here");
    scene.push("x");
    followed.fetch();
    assert_eq!(followed.text(), "here");
}

#[test]
fn a_directory_is_its_yaml_files_in_order() {
    let scene = Scene::new();
    for name in [
        "b.yaml",
        "a.yml",
        ".hidden.yaml",
        "notes.txt",
        "deep/c.yaml",
    ] {
        scene.write(&format!("work/links/{name}"), name);
    }
    scene.write("work/none/readme.md", "");
    scene.push("x");
    for (path, expected) in [
        ("links", &["links/a.yml", "links/b.yaml"][..]),
        ("links/", &["links/a.yml", "links/b.yaml"]),
        (".", &["mapping.yaml"]),
        ("./links/deep/c.yaml", &["./links/deep/c.yaml"]),
    ] {
        let reading = scene.follow_path(path).read().unwrap();
        let paths: Vec<&str> = reading.files.iter().map(|file| &*file.path).collect();
        assert_eq!(paths, expected);
    }
    let error = scene.follow_path("none").error();
    assert!(error.contains("no *.yaml or *.yml file in none"), "{error}");
    let error = scene.follow_path("mapping.yaml/x").error();
    assert!(error.contains("holds no mapping.yaml/x"), "{error}");
}

#[test]
fn a_table_too_large_is_refused() {
    let scene = Scene::new();
    scene.write("work/mapping.yaml", &"x".repeat(100));
    scene.git("add .");
    scene.git("commit --quiet -m large");
    scene.git("push --quiet origin HEAD");
    for (max, fits) in [(100, true), (99, false)] {
        let followed = Followed::start(Following {
            max_bytes: max,
            ..scene.following()
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
    let scene = Scene::new();
    std::os::unix::fs::symlink("mapping.yaml", scene.at("work/link.yaml")).unwrap();
    std::os::unix::fs::symlink("elsewhere", scene.at("work/dir")).unwrap();
    scene.write(
        "work/large.yaml",
        "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
    );
    scene.write("work/links/a.yaml", "");
    std::os::unix::fs::symlink("a.yaml", scene.at("work/links/b.yaml")).unwrap();
    scene.git_in(
        "work",
        "-c protocol.file.allow=always submodule --quiet add ../remote.git sub",
    );
    scene.push("x");
    for (path, named) in [
        ("link.yaml", "link.yaml is a symbolic link"),
        ("dir/table.yaml", "dir is a symbolic link"),
        ("links", "links/b.yaml is a symbolic link"),
        ("large.yaml", "large.yaml is a Git LFS pointer"),
        ("sub", "sub is a submodule"),
        ("sub/mapping.yaml", "sub is a submodule"),
    ] {
        let error = scene.follow_path(path).error();
        assert!(error.contains(named), "{error}");
        assert!(error.contains("commit the table itself"), "{error}");
    }
}

/// They are one object in the repository, and each of them is read and compiled.
#[test]
fn identical_files_count_as_often_as_they_are_there() {
    let scene = Scene::new();
    for n in 0..10 {
        scene.write(&format!("work/links/{n}.yaml"), "0123456789");
    }
    scene.push("x");
    let limited = |max_bytes| {
        Followed::start(Following {
            path: "links".to_owned(),
            max_bytes,
            ..scene.following()
        })
    };
    let error = limited(99).error();
    assert!(
        error.contains("larger than 99 bytes at links/9.yaml: it has 100"),
        "{error}"
    );
    limited(100).read().unwrap();
}
