//! Edits that are committed, with their commit messages.

use super::program::TABLE;
use crate::fixture::Fixture;

/// Runs the program as a user with a Git identity, and returns what it reported.
fn run(fixture: &Fixture, args: &str) -> String {
    let path = std::env::var("PATH").unwrap();
    let environment = [
        ("WAYPOST_GIT_AUTHOR", "A <a@example.org>"),
        ("PATH", &*path),
    ];
    let report = fixture.waypost_with(".", args, &environment);
    assert!(report.starts_with("status 0\n"), "{args} {report}");
    report
}

#[test]
fn a_commit_states_what_is_intended_and_passes_the_check() {
    let fixture = Fixture::committed(TABLE);
    let report = run(&fixture, "retarget b https://new.example/ --commit");
    assert!(!report.contains("declare the change"), "{report}");
    assert_eq!(
        fixture.git("log -1 --format=%B"),
        "Retarget b\n\nShort-Link: https://short.code/b\nWaypost-Allow: retarget -x\n\
         Waypost-Allow: retarget b\nWaypost-Allow: retarget bb"
    );
    run(&fixture, "retire gnu-home --drop-url --commit");
    run(&fixture, "restore old --commit");
    let set = "set old --alias older --expires 2031-12-31 --commit";
    run(&fixture, set);
    let subjects = "Change old\nRestore old\nRetire gnu-home\nRetarget b\nlinks";
    assert_eq!(fixture.git("log --format=%s"), subjects);

    // Neither a change that is already made nor a dry run makes a commit.
    let again = run(&fixture, set);
    assert!(again.contains("nothing to change"), "{again}");
    assert!(!again.contains("committed"), "{again}");
    let dry = run(&fixture, "retire old --commit --dry-run");
    assert!(dry.contains("1 retired\n"), "{dry}");
    assert_eq!(fixture.git("log --format=%s"), subjects);
    assert_eq!(fixture.git("status --porcelain"), "");
    run(&fixture, "check --history");
}
