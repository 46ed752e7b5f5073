//! The outcome of a push to a repository on the same machine, whatever that does with it.

use std::fs;

use waypost::git::{Credentials, RemoteBranch, RemoteUrl};
use waypost::registry::Published;

use crate::bare_remote;
use crate::fixture::{Fixture, NotPublished, Writer, add_line, refusal};
use crate::program::{TABLE, add, run};

/// Adds a line to the table of a fixture.
fn publish(fixture: &Fixture, writer: &Writer) -> Result<Published, NotPublished> {
    fixture.publish(writer, |text| Ok(add_line(text, "two")))
}

#[test]
fn the_words_of_hooks_are_passed_on_whatever_they_end_with() {
    let fixture = Fixture::new();
    fixture.hook("pre-receive", "echo one moment >&2");
    fixture.hook(
        "post-receive",
        "echo See https://git.example.org/new; exit 1",
    );
    let published = publish(&fixture, &fixture.writer(None)).unwrap();
    assert_eq!(published.said, "one moment See https://git.example.org/new");
    assert_eq!(fixture.table(), "one\ntwo");
}

#[test]
fn words_without_end_are_cut() {
    let fixture = Fixture::new();
    fixture.hook("update", "head -c 3000000 /dev/zero | tr '\\0' x; exit 1");
    let reason = refusal(publish(&fixture, &fixture.writer(None)));
    assert!(reason.starts_with("[remote rejected] (hook declined)"));
    assert!(reason.len() < 10_000, "{}", reason.len());
    assert_eq!(fixture.table(), "one");
}

#[test]
fn what_cannot_be_stored_is_refused() {
    let fixture = Fixture::new();
    fixture.remote("config receive.maxInputSize 100");
    let reason = refusal(publish(&fixture, &fixture.writer(None)));
    assert!(reason.contains("unpacker error"), "{reason}");
    assert_eq!(fixture.table(), "one");
    // None of the objects is left.
    let kept = fs::read_dir(fixture.at("remote.git/objects")).unwrap();
    let names = kept.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.filter(|name| name.contains("incoming")).count(), 0);
}

#[test]
fn a_branch_that_is_checked_out_is_not_moved() {
    let fixture = Fixture::new();
    let remote = RemoteUrl::parse(fixture.at("work").to_str().unwrap()).unwrap();
    let transfer = bare_remote::transfer(&fixture.root);
    let branch = RemoteBranch::new(remote, None, transfer, Credentials::default()).unwrap();
    let reason = refusal(publish(&fixture, &Writer::to(branch)));
    assert!(
        reason.contains("branch is currently checked out"),
        "{reason}"
    );
}

#[test]
fn a_small_change_of_a_large_table_is_stored_whole() {
    for limit in ["1", "1000"] {
        let text: String = (0..20_000).map(|n| format!("line {n}\n")).collect();
        let fixture = Fixture::with_table(&text);
        // Packs are kept, or taken apart.
        fixture.remote(&format!("config receive.unpackLimit {limit}"));
        let writer = fixture.writer(None);
        for line in ["two", "three"] {
            let change = |text: &str| Ok(add_line(&text.replace("line 7\n", ""), line));
            fixture.publish(&writer, change).unwrap();
        }
        let expected = text.replace("line 7\n", "") + "two\nthree";
        assert_eq!(fixture.table(), expected);
        fixture.remote("fsck --strict");
    }
}

#[test]
fn another_address_in_the_configuration_is_pushed_to() {
    let fixture = Fixture::with_table(TABLE);
    let alias = fixture.at("alias.git");
    let text = format!(
        "[user]\nname = P\nemail = p@example.org\n[url \"{}\"]\ninsteadOf = {}\n",
        fixture.at("remote.git").display(),
        alias.display()
    );
    fs::write(fixture.at(".gitconfig"), text).unwrap();
    let mut command = add(&fixture, &fixture.root);
    command.args(["https://example.org/", "--repo"]).arg(alias);
    run(&mut command).says(0, "");
    assert!(fixture.table().contains("https://example.org/"));
}
