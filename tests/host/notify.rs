//! What the service manager receives.

use crate::served::{Place, Served, TABLE, get};

#[test]
fn it_hears_of_the_whole_life() {
    let place = Place::new();
    let (command, manager) = place.managed();
    let server = Served::start(command);
    let first = manager.hear();
    assert_eq!(first[0], "READY=1");
    let status = first[1].strip_prefix("STATUS=serving 1 link of sha256:");
    assert_eq!(status.unwrap().len(), 12, "{first:?}");
    // Anyone who knows that it is ready can connect.
    assert_eq!(get(&server.public, "/x"), "HTTP/1.1 302 Found");

    place.write(&format!(
        "{TABLE}- {{url: 'https://e.example/2', short-code: y}}\n"
    ));
    server.signal("HUP");
    let reloading = manager.hear();
    assert_eq!(reloading[0], "RELOADING=1");
    let since = reloading[1].strip_prefix("MONOTONIC_USEC=").unwrap();
    assert!(since.parse::<u64>().unwrap() > 0);
    assert_eq!(get(&server.public, "/x"), "HTTP/1.1 302 Found");
    // File events may have announced the new table first, but readiness is reported after it is live.
    let reloaded = loop {
        let heard = manager.hear();
        if heard[0] == "READY=1" {
            break heard;
        }
    };
    assert!(reloaded[1].starts_with("STATUS=serving 2 links of sha256:"));
    assert_eq!(get(&server.public, "/y"), "HTTP/1.1 302 Found");

    server.signal("TERM");
    assert_eq!(manager.hear(), ["STOPPING=1", "STATUS=draining"]);
    assert!(server.end().success());
}

#[test]
fn it_hears_why_a_table_is_not_live_on_one_line() {
    let place = Place::new();
    let (command, manager) = place.managed();
    let server = Served::start(command);
    let served = manager.hear()[1].replace("STATUS=serving ", "");
    place.write(&format!("{TABLE}- {{url: 'nothing'}}\n- {{url: ''}}\n"));
    server.signal("HUP");
    let report = loop {
        let heard = manager.hear();
        if heard[0] == "READY=1" {
            break heard[1].clone();
        }
    };
    assert!(
        report.starts_with("STATUS=table rejected: mapping.yaml:4:"),
        "{report}"
    );
    assert!(report.contains("(and 1 more)"), "{report}");
    assert!(report.ends_with(&format!(", keeping {served}")), "{report}");
}

#[test]
fn a_server_that_waits_for_its_table_notifies_that_it_is_ready() {
    let place = Place::new();
    place.write("mapping: 1\n");
    let (mut command, manager) = place.managed();
    command.env("WAYPOST_WAIT", "true");
    let server = Served::start(command);
    let report = manager.hear();
    assert_eq!(report[0], "READY=1");
    assert!(
        report[1].starts_with("STATUS=waiting for a table: table rejected: mapping.yaml:1:"),
        "{report:?}"
    );
    assert_eq!(
        get(&server.admin, "/readyz"),
        "HTTP/1.1 503 Service Unavailable"
    );
    place.write(TABLE);
    server.signal("HUP");
    while !manager
        .hear()
        .iter()
        .any(|line| line.starts_with("STATUS=serving 1 link"))
    {}
}

#[test]
fn it_hears_that_the_server_lives() {
    let place = Place::new();
    let (mut command, manager) = place.managed();
    command.env("WATCHDOG_USEC", "20000");
    let server = Served::start(command);
    for _ in 0..5 {
        while manager.hear_all() != ["WATCHDOG=1"] {}
    }
    // Variables for another process are ignored.
    drop(server);
    let place = Place::new();
    let (mut command, manager) = place.managed();
    command
        .env("WATCHDOG_USEC", "20000")
        .env("WATCHDOG_PID", "1");
    let server = Served::start(command);
    assert_eq!(manager.hear_all()[0], "READY=1");
    server.signal("TERM");
    assert_eq!(manager.hear_all()[0], "STOPPING=1");
}

#[test]
fn a_manager_that_is_gone_does_no_harm() {
    let place = Place::new();
    let (command, manager) = place.managed();
    drop(manager);
    let server = Served::start(command);
    place.write(&TABLE.replace("code: x", "code: z"));
    server.signal("HUP");
    crate::served::until(|| (get(&server.public, "/z") == "HTTP/1.1 302 Found").then_some(()));
    server.signal("TERM");
    assert!(server.end().success());
}

#[cfg(target_os = "linux")]
#[test]
fn a_manager_may_listen_at_a_name_without_a_file() {
    let place = Place::new();
    let (command, manager) = place.managed_without_a_file();
    let _server = Served::start(command);
    assert_eq!(manager.hear()[0], "READY=1");
}
