//! Many programs that add to one remote at the same time.

use std::collections::BTreeSet;
use std::thread;

use waypost::mapping::{SourceFile, compile};

use crate::fixture::Fixture;
use crate::git::git;
use crate::program::{add, run};

/// How many write at the same time.
const WRITERS: usize = 8;

/// URLs whose derived code is the same: `tests/vectors/codes.json`.
const COLLIDING: [&str; 4] = [
    "https://example.com/22889216",
    "https://example.com/30923436",
    "https://example.com/14416896",
    "https://example.com/19863740",
];

/// What each writer adds: URLs of its own with the next number, those that all add, and those whose
/// codes collide.
fn requests(writer: usize) -> Vec<Vec<String>> {
    let own = (0..3).map(|n| {
        let url = format!("https://example.org/{writer}/{n}");
        vec![url, "--number=next".to_owned()]
    });
    let shared = (0..2).map(|n| vec![format!("https://example.org/shared/{n}")]);
    let colliding = COLLIDING[writer % COLLIDING.len()].to_owned();
    let mut all: Vec<_> = own.chain(shared).chain([vec![colliding]]).collect();
    all.rotate_left(writer % 6);
    all
}

#[test]
fn nothing_is_lost_doubled_or_numbered_twice() {
    let fixture = Fixture::with_table("base_url: https://short.code/\nmapping: []\n");
    for writer in 0..WRITERS {
        git(&fixture.root, &format!("clone --quiet remote.git {writer}"));
    }

    let links: Vec<String> = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                scope.spawn({
                    let fixture = &fixture;
                    move || write(fixture, writer)
                })
            })
            .collect();
        (writers.into_iter())
            .flat_map(|writer| writer.join().unwrap())
            .collect()
    });

    // Every link was given once, and there is a commit for each.
    let expected = WRITERS * 3 + 2 + COLLIDING.len();
    assert_eq!(links.len(), expected);
    assert_eq!(links.iter().collect::<BTreeSet<_>>().len(), expected);
    assert_eq!(fixture.commits(), 1 + expected);
    // Each of the commits has a valid table with one entry more than the one before.
    let commits = fixture.remote("rev-list --reverse main");
    for (entries, commit) in commits.lines().enumerate() {
        let compilation = compile(&[SourceFile {
            path: "mapping.yaml".into(),
            bytes: fixture
                .remote(&format!("show {commit}:mapping.yaml"))
                .into(),
        }]);
        assert_eq!(compilation.diagnostics, []);
        assert_eq!(compilation.table.unwrap().len(), entries);
    }
    let table = fixture.table();
    let mut numbers: Vec<usize> = (table.lines())
        .filter_map(|line| line.trim().strip_prefix("number: "))
        .map(|number| number.parse().unwrap())
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=WRITERS * 3).collect::<Vec<_>>());
}

/// Adds all of a writer's requests, half of the writers without a checkout, and returns the links.
fn write(fixture: &Fixture, writer: usize) -> Vec<String> {
    let mut links = Vec::new();
    for request in requests(writer) {
        let mut command = add(fixture, &fixture.at(&writer.to_string()));
        command.args(&request);
        match writer % 2 {
            0 => command.arg("--push"),
            _ => command.arg("--repo").arg(fixture.at("remote.git")),
        };
        let ended = run(&mut command);
        match ended.status {
            0 => links.push(ended.out.trim().to_owned()),
            _ => ended.says(1, "ERR-000-02-00: URL already registered"),
        }
    }
    links
}
