//! `waypost import` into a repository: one commit for many links, while others write, too.

use std::fs;
use std::thread;

use waypost::mapping::{SourceFile, compile};

use crate::fixture::Fixture;
use crate::git::git;
use crate::program::{Ended, TABLE, program, run};

/// How many write at the same time.
const WRITERS: usize = 4;

/// How many links each of them imports.
const ROWS: usize = 50;

/// Imports rows of CSV from a directory, with further arguments.
fn import(fixture: &Fixture, directory: &str, rows: &str, flags: &[&str]) -> Ended {
    let directory = fixture.at(directory);
    let file = fixture.at(&format!("{}.csv", thread_name()));
    fs::write(&file, format!("code,url\n{rows}")).unwrap();
    let mut command = program("import", fixture, &directory);
    run(command.arg(file).args(["--format", "csv"]).args(flags))
}

/// Returns a name of its own for each test and writer.
fn thread_name() -> String {
    format!("{:?}", thread::current().id()).replace(['(', ')'], "")
}

#[test]
fn many_links_are_one_commit() {
    let fixture = Fixture::with_table(TABLE);
    let rows = "a,https://a.example/\nb,https://b.example/\n";
    let ended = import(&fixture, "work", rows, &["--commit"]);
    ended.says(0, "added 2 links to mapping.yaml\ncommitted as ");
    let work = fixture.at("work");
    assert_eq!(
        git(&work, "log -1 --format=%B"),
        "Import 2 short links from csv"
    );
    assert_eq!(git(&work, "status --porcelain"), "");
    assert_eq!(fixture.commits(), 1);

    // Links that exist already make no commit.
    let again = import(&fixture, "work", rows, &["--commit"]);
    again.says(0, "added 0 links to mapping.yaml; 2 already in the table\n");
    assert_eq!(git(&work, "rev-list --count HEAD"), "2");
}

#[test]
fn a_branch_is_pushed_for_review_and_a_dry_run_is_not() {
    let fixture = Fixture::with_table(TABLE);
    let rows = "a,https://a.example/\n";
    let remote = fixture.at("remote.git");
    let remote = remote.to_str().unwrap();
    for flags in [
        &["--push", "--dry-run"][..],
        &["--repo", remote, "--dry-run"],
        &["--branch", "old-links", "--dry-run"],
    ] {
        let ended = import(&fixture, "work", rows, flags);
        ended.says(0, "would add 1 link to mapping.yaml\n");
        assert!(ended.out.contains("https://a.example/"), "{}", ended.out);
    }
    assert_eq!(
        fixture.remote("for-each-ref --format=%(refname)"),
        "refs/heads/main"
    );
    assert_eq!(fixture.commits(), 1);

    import(&fixture, "work", rows, &["--branch", "old-links"]).says(0, "pushed");
    assert_eq!(fixture.commits(), 1);
    assert!(
        fixture
            .remote("show old-links:mapping.yaml")
            .contains("short-code: a")
    );
    import(&fixture, "work", rows, &["--repo", remote]).says(0, "added 1 link to mapping.yaml\n");
    assert_eq!(fixture.commits(), 2);
    assert!(fixture.table().contains("short-code: a"));
}

#[test]
fn allowed_shadowing_is_stated_in_the_commit() {
    let table = format!("{TABLE}  forward: path\n").replace("gnu.org/", "gnu.org/go/");
    let fixture = Fixture::with_table(&table);
    let rows = "gnu-home/x,https://x.example/\n";
    import(&fixture, "work", rows, &["--push"]).says(1, "--allow-shadowing");
    assert_eq!(fixture.commits(), 1);
    import(&fixture, "work", rows, &["--push", "--allow-shadowing"]).says(0, "added 1 link");
    assert_eq!(
        fixture.remote("log -1 --format=%B main"),
        "Import 1 short link from csv\n\nWaypost-Allow: retarget gnu-home/x"
    );
}

#[test]
fn a_new_table_is_committed_with_its_links() {
    let fixture = Fixture::with_table(TABLE);
    let flags = ["--base-url", "https://new.code/", "--table", "new.yaml"];
    let rows = "a,https://a.example/\n";
    let ended = import(
        &fixture,
        "work",
        rows,
        &[&flags[..], &["--commit"]].concat(),
    );
    ended.says(0, "added 1 link to new.yaml\ncommitted as ");
    let work = fixture.at("work");
    assert_eq!(git(&work, "diff --name-only HEAD~1 HEAD"), "new.yaml");
    let other = ["--base-url", "https://new.code/", "--table", "other.yaml"];
    let refused = import(&fixture, "work", rows, &[&other[..], &["--push"]].concat());
    refused.says(2, "--base-url");
    assert!(!work.join("other.yaml").exists());
}

#[test]
fn an_import_is_decided_again_on_a_branch_that_has_moved() {
    let fixture = Fixture::with_table(TABLE);
    // During the first push, another user takes one of the codes.
    let taken = "mapping:\n- url: https://other.example/\n  short-code: a\n";
    let text = TABLE.replace("mapping:\n", taken);
    fixture.overtake(&text);
    let rows = "a,https://a.example/\nb,https://b.example/\n";
    let ended = import(&fixture, "work", rows, &["--push"]);
    // Each row is reported once, as the last attempt had it.
    assert!(
        ended
            .err
            .contains("csv:2: error: the code \"a\" is taken by"),
        "{ended:?}"
    );
    ended.says(1, "added 1 link to mapping.yaml; 1 not imported\n");
    assert_eq!(ended.err.matches("is taken by").count(), 1);
    assert_eq!(fixture.commits(), 3);
    assert!(fixture.table().contains("https://other.example/"));
    assert!(fixture.table().contains("https://b.example/"));
    assert!(!fixture.table().contains("https://a.example/"));
}

#[test]
fn many_writers_lose_nothing() {
    let fixture = Fixture::with_table("base_url: https://short.code/\nmapping: []\n");
    for writer in 0..WRITERS {
        git(&fixture.root, &format!("clone --quiet remote.git {writer}"));
    }
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let fixture = &fixture;
            scope.spawn(move || {
                let own =
                    (0..ROWS).map(|n| format!("w{writer}-{n},https://{writer}.example/{n}\n"));
                // All writers import these, too.
                let shared = (0..ROWS).map(|n| format!("s{n},https://shared.example/{n}\n"));
                let rows: String = own.chain(shared).collect();
                let remote = fixture.at("remote.git");
                let flags = match writer % 2 {
                    0 => vec!["--push"],
                    _ => vec!["--repo", remote.to_str().unwrap()],
                };
                import(fixture, &writer.to_string(), &rows, &flags).says(0, "added ");
            });
        }
    });
    assert_eq!(fixture.commits(), 1 + WRITERS);
    let compilation = compile(&[SourceFile {
        path: "mapping.yaml".into(),
        bytes: fixture.table().into(),
    }]);
    assert_eq!(compilation.diagnostics, []);
    assert_eq!(compilation.table.unwrap().len(), ROWS * (WRITERS + 1));
}
