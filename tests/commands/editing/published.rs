//! Edits that are committed, with what their commits say.

use super::program::TABLE;
use crate::scene::Scene;

/// Runs the program as somebody whom Git knows, and returns what it reported.
fn run(scene: &Scene, args: &str) -> String {
    let path = std::env::var("PATH").unwrap();
    let environment = [
        ("WAYPOST_GIT_AUTHOR", "A <a@example.org>"),
        ("PATH", &*path),
    ];
    let report = scene.waypost_with(".", args, &environment);
    assert!(report.starts_with("status 0\n"), "{args} {report}");
    report
}

#[test]
fn a_commit_states_what_is_intended_and_passes_the_check() {
    let scene = Scene::committed(TABLE);
    let report = run(&scene, "retarget b https://new.example/ --commit");
    assert!(!report.contains("state in the message"), "{report}");
    assert_eq!(
        scene.git("log -1 --format=%B"),
        "Retarget b\n\nShort-Link: https://short.code/b\nWaypost-Allow: retarget -x\n\
         Waypost-Allow: retarget b\nWaypost-Allow: retarget bb"
    );
    run(&scene, "retire gnu-home --drop-url --commit");
    run(&scene, "restore old --commit");
    let set = "set old --alias older --expires 2031-12-31 --commit";
    run(&scene, set);
    let subjects = "Change old\nRestore old\nRetire gnu-home\nRetarget b\nlinks";
    assert_eq!(scene.git("log --format=%s"), subjects);

    // What is so already is no commit, and neither is a dry run.
    let again = run(&scene, set);
    assert!(again.contains("nothing to change"), "{again}");
    assert!(!again.contains("committed"), "{again}");
    let dry = run(&scene, "retire old --commit --dry-run");
    assert!(dry.contains("1 retired\n"), "{dry}");
    assert_eq!(scene.git("log --format=%s"), subjects);
    assert_eq!(scene.git("status --porcelain"), "");
    run(&scene, "check --history");
}
