//! `waypost import` into a repository: one commit for many links, while others write, too.

use std::fs;
use std::thread;

use waypost::mapping::{SourceFile, compile};

use crate::git::git;
use crate::program::{Ended, TABLE, program, run};
use crate::scene::Scene;

/// How many write at the same time.
const WRITERS: usize = 4;

/// How many links each of them imports.
const ROWS: usize = 50;

/// Imports rows of CSV from a directory, with further arguments.
fn import(scene: &Scene, directory: &str, rows: &str, flags: &[&str]) -> Ended {
    let directory = scene.at(directory);
    let file = scene.at(&format!("{}.csv", thread_name()));
    fs::write(&file, format!("code,url\n{rows}")).unwrap();
    let mut command = program("import", scene, &directory);
    run(command.arg(file).args(["--format", "csv"]).args(flags))
}

/// Returns a name of its own for each test and writer.
fn thread_name() -> String {
    format!("{:?}", thread::current().id()).replace(['(', ')'], "")
}

#[test]
fn many_links_are_one_commit() {
    let scene = Scene::with_table(TABLE);
    let rows = "a,https://a.example/\nb,https://b.example/\n";
    let ended = import(&scene, "work", rows, &["--commit"]);
    ended.says(0, "added 2 links to mapping.yaml\ncommitted as ");
    let work = scene.at("work");
    assert_eq!(
        git(&work, "log -1 --format=%B"),
        "Import 2 short links from csv"
    );
    assert_eq!(git(&work, "status --porcelain"), "");
    assert_eq!(scene.commits(), 1);

    // What is there already is no commit.
    let again = import(&scene, "work", rows, &["--commit"]);
    again.says(0, "added 0 links to mapping.yaml; 2 known already\n");
    assert_eq!(git(&work, "rev-list --count HEAD"), "2");
}

#[test]
fn a_branch_is_pushed_for_review_and_a_dry_run_is_not() {
    let scene = Scene::with_table(TABLE);
    let rows = "a,https://a.example/\n";
    let remote = scene.at("remote.git");
    let remote = remote.to_str().unwrap();
    for flags in [
        &["--push", "--dry-run"][..],
        &["--repo", remote, "--dry-run"],
        &["--branch", "old-links", "--dry-run"],
    ] {
        let ended = import(&scene, "work", rows, flags);
        ended.says(0, "would add 1 link to mapping.yaml\n");
        assert!(ended.out.contains("https://a.example/"), "{}", ended.out);
    }
    assert_eq!(
        scene.remote("for-each-ref --format=%(refname)"),
        "refs/heads/main"
    );
    assert_eq!(scene.commits(), 1);

    import(&scene, "work", rows, &["--branch", "old-links"]).says(0, "pushed");
    assert_eq!(scene.commits(), 1);
    assert!(
        scene
            .remote("show old-links:mapping.yaml")
            .contains("short-code: a")
    );
    import(&scene, "work", rows, &["--repo", remote]).says(0, "added 1 link to mapping.yaml\n");
    assert_eq!(scene.commits(), 2);
    assert!(scene.table().contains("short-code: a"));
}

#[test]
fn allowed_shadowing_is_stated_in_the_commit() {
    let table = format!("{TABLE}  forward: path\n").replace("gnu.org/", "gnu.org/go/");
    let scene = Scene::with_table(&table);
    let rows = "gnu-home/x,https://x.example/\n";
    import(&scene, "work", rows, &["--push"]).says(1, "--allow-shadowing");
    assert_eq!(scene.commits(), 1);
    import(&scene, "work", rows, &["--push", "--allow-shadowing"]).says(0, "added 1 link");
    assert_eq!(
        scene.remote("log -1 --format=%B main"),
        "Import 1 short link from csv\n\nWaypost-Allow: retarget gnu-home/x"
    );
}

#[test]
fn a_new_table_is_committed_with_its_links() {
    let scene = Scene::with_table(TABLE);
    let flags = ["--base-url", "https://new.code/", "--table", "new.yaml"];
    let rows = "a,https://a.example/\n";
    let ended = import(&scene, "work", rows, &[&flags[..], &["--commit"]].concat());
    ended.says(0, "added 1 link to new.yaml\ncommitted as ");
    let work = scene.at("work");
    assert_eq!(git(&work, "diff --name-only HEAD~1 HEAD"), "new.yaml");
    let other = ["--base-url", "https://new.code/", "--table", "other.yaml"];
    let refused = import(&scene, "work", rows, &[&other[..], &["--push"]].concat());
    refused.says(2, "--base-url");
    assert!(!work.join("other.yaml").exists());
}

#[test]
fn an_import_is_decided_again_on_a_branch_that_has_moved() {
    let scene = Scene::with_table(TABLE);
    // While the first push is on its way, somebody else takes one of the codes.
    let taken = "mapping:\n- url: https://other.example/\n  short-code: a\n";
    let text = TABLE.replace("mapping:\n", taken);
    scene.overtake(&text);
    let rows = "a,https://a.example/\nb,https://b.example/\n";
    let ended = import(&scene, "work", rows, &["--push"]);
    // Each row is reported once, as the last attempt had it.
    assert!(
        ended
            .err
            .contains("csv:2: error: the code \"a\" is taken by"),
        "{ended:?}"
    );
    ended.says(1, "added 1 link to mapping.yaml; 1 not taken\n");
    assert_eq!(ended.err.matches("is taken by").count(), 1);
    assert_eq!(scene.commits(), 3);
    assert!(scene.table().contains("https://other.example/"));
    assert!(scene.table().contains("https://b.example/"));
    assert!(!scene.table().contains("https://a.example/"));
}

#[test]
fn many_writers_lose_nothing() {
    let scene = Scene::with_table("base_url: https://short.code/\nmapping: []\n");
    for writer in 0..WRITERS {
        git(&scene.root, &format!("clone --quiet remote.git {writer}"));
    }
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let scene = &scene;
            scope.spawn(move || {
                let own =
                    (0..ROWS).map(|n| format!("w{writer}-{n},https://{writer}.example/{n}\n"));
                // Everybody has these, too.
                let shared = (0..ROWS).map(|n| format!("s{n},https://shared.example/{n}\n"));
                let rows: String = own.chain(shared).collect();
                let remote = scene.at("remote.git");
                let flags = match writer % 2 {
                    0 => vec!["--push"],
                    _ => vec!["--repo", remote.to_str().unwrap()],
                };
                import(scene, &writer.to_string(), &rows, &flags).says(0, "added ");
            });
        }
    });
    assert_eq!(scene.commits(), 1 + WRITERS);
    let compilation = compile(&[SourceFile {
        path: "mapping.yaml".into(),
        bytes: scene.table().into(),
    }]);
    assert_eq!(compilation.diagnostics, []);
    assert_eq!(compilation.table.unwrap().len(), ROWS * (WRITERS + 1));
}
