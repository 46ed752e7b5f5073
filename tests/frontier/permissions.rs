//! The permissions of a user in the documentation are those that the scripts need, and no more.

use std::collections::BTreeSet;
use std::fs;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/linkcheck.md");
const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/frontier/valkey/lua");

/// Returns the permissions of the user in the documentation: keys and commands.
pub(crate) fn documented() -> Vec<String> {
    let page = fs::read_to_string(PAGE).unwrap();
    let user = page
        .lines()
        .find(|line| line.starts_with("user waypost on "));
    let (_, permissions) = user.unwrap().split_once(" ~").unwrap();
    format!("~{permissions}")
        .split(' ')
        .map(str::to_owned)
        .collect()
}

#[test]
fn users_can_run_the_commands_of_the_scripts_and_no_others() {
    let mut needed = BTreeSet::from(["evalsha", "ping", "script|load"].map(str::to_owned));
    for script in fs::read_dir(SCRIPTS).unwrap() {
        let text = fs::read_to_string(script.unwrap().path()).unwrap();
        let calls = text.split("redis.call('").skip(1);
        needed.extend(calls.map(|call| call.split('\'').next().unwrap().to_lowercase()));
    }
    let permissions = documented();
    assert_eq!(permissions[..2], ["~{waypost}:*", "-@all"]);
    let commands = permissions[2..]
        .iter()
        .map(|it| it.strip_prefix('+').unwrap().to_owned());
    assert_eq!(commands.collect::<BTreeSet<_>>(), needed);
}
