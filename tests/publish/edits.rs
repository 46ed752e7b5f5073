//! Editing entries: in a person's checkout, and on a branch that others move.

use std::fs;

use waypost::mapping::{Target, compile};
use waypost::registry::{
    CommitIdentity, EditError, EditRight, EditRun, EditedEntry, EntryContent, EntryEdit,
    EntryValue, ExpectedContent, MayShadow, TablePath, UserCheckout, edit_in_files, edit_on_branch,
};

use crate::fixture::{FOREVER, Fixture};
use crate::git::git;

const TABLE: &str = "\
base_url: https://short.code/
mapping:
- url: https://a.example/
- url: https://b.example/
  short-code: b
";

/// Returns the code that is derived from the first target.
fn derived() -> String {
    waypost::mapping::Scheme::Sha256
        .code("https://a.example/")
        .to_string()
}

/// Gives an entry another target, if it still leads to the one before.
fn retarget(code: &str, before: Option<EntryContent>, to: &str) -> EntryEdit {
    EntryEdit {
        site: Some("https://short.code/".to_owned()),
        link: code.to_owned(),
        right: EditRight::Any,
        expected: before.map_or(ExpectedContent::Any, |it| {
            ExpectedContent::Content(Box::new(it))
        }),
        values: vec![EntryValue::Url(Target::parse(to).unwrap().into_owned())],
        may_shadow: MayShadow::None,
        may_lose_aliases: false,
        may_share_target: false,
    }
}

fn run<'r>(edits: &'r [EntryEdit], is_dry_run: bool) -> EditRun<'r> {
    fn subject(entries: &[&EditedEntry]) -> String {
        format!("Change {} entries", entries.len())
    }
    EditRun {
        edits,
        subject: &subject,
        is_dry_run,
    }
}

/// Returns the values of an entry of a table.
fn content(text: &str, code: &str) -> EntryContent {
    let file = waypost::mapping::SourceFile {
        path: "mapping.yaml".into(),
        bytes: text.into(),
    };
    let table = compile(&[file]).table.unwrap();
    EntryContent::of(table.sites()[0].lookup(code).unwrap())
}

#[test]
fn files_of_a_checkout_are_committed_together() {
    let (fixture, derived) = (Fixture::with_table(TABLE), derived());
    let work = fixture.at("work");
    fixture.push(
        "more.yaml",
        "mapping:\n- url: https://c.example/\n  short-code: c\n",
    );
    fs::write(work.join("notes.md"), "staged").unwrap();
    git(&work, "add notes.md");
    let author = CommitIdentity {
        name: "W".to_owned(),
        email: "w@example.org".to_owned(),
    };
    let checkout = || UserCheckout::around(&work, Some(author.clone()), FOREVER).unwrap();
    let paths = [work.join("mapping.yaml"), work.join("more.yaml")];
    let edits = [
        retarget(&derived, None, "https://a.example/new"),
        retarget("c", None, "https://c.example/new"),
    ];
    let dry = edit_in_files(&paths, 1 << 20, &run(&edits, true), Some(&checkout())).unwrap();
    assert_eq!(dry.changed.len(), 2);
    assert_eq!(git(&work, "status --porcelain"), "A  notes.md");

    let edited = edit_in_files(&paths, 1 << 20, &run(&edits, false), Some(&checkout())).unwrap();
    assert_eq!(edited.changed_entries().count(), 2);
    assert_eq!(git(&work, "status --porcelain"), "A  notes.md");
    assert_eq!(
        git(&work, "log -1 --format=%B"),
        format!(
            "Change 2 entries\n\nShort-Link: https://short.code/{derived}\nWaypost-Allow: retarget {derived}\n\
             Short-Link: https://short.code/c\nWaypost-Allow: retarget c"
        )
    );
    assert_eq!(
        git(&work, "diff HEAD~1 HEAD --name-only"),
        "mapping.yaml\nmore.yaml"
    );

    // A hook that refuses leaves every file as it was.
    let hook = work.join(".git/hooks/pre-commit");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\necho no\nexit 1\n").unwrap();
    fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let again = [
        retarget("b", None, "https://b.example/new"),
        retarget("c", None, "https://c.example/newer"),
    ];
    let refused = edit_in_files(&paths, 1 << 20, &run(&again, false), Some(&checkout()));
    assert!(matches!(refused, Err(EditError::Local(_))));
    assert_eq!(git(&work, "status --porcelain"), "A  notes.md");
}

#[test]
fn edits_are_made_again_on_a_branch_that_has_moved() {
    let (fixture, derived) = (Fixture::with_table(TABLE), derived());
    // During the first push, another user changes one of the two entries.
    let changed = TABLE.replace("https://b.example/", "https://b.example/other");
    fixture.overtake(&changed);
    let edits = [
        retarget(
            &derived,
            Some(content(TABLE, &derived)),
            "https://a.example/new",
        ),
        retarget("b", Some(content(TABLE, "b")), "https://b.example/new"),
    ];
    let table = TablePath::new("mapping.yaml", 1 << 20);
    let writer = fixture.writer(None);
    let (decision, published) =
        edit_on_branch(&mut writer.changing(), &table, &run(&edits, false), FOREVER).unwrap();
    assert!(published.is_some());
    assert!(decision.outcomes[0].is_ok());
    let refusal = decision.outcomes[1].as_ref().unwrap_err().to_string();
    assert_eq!(
        refusal,
        "the entry at mapping.yaml:4:3 has changed in the meantime"
    );
    assert_eq!(
        fixture.table(),
        format!(
            "base_url: https://short.code/\nmapping:\n- url: https://a.example/new\n  short-code: {derived}\n\
             - url: https://b.example/other\n  short-code: b"
        )
    );
    assert_eq!(fixture.commits(), 3);
    assert_eq!(
        fixture.remote("log -1 --format=%B main"),
        format!(
            "Change 1 entries\n\nShort-Link: https://short.code/{derived}\nWaypost-Allow: retarget {derived}"
        )
    );

    // An edit that changes nothing makes no commit.
    let same = [retarget("b", None, "https://b.example/other")];
    let (_, published) =
        edit_on_branch(&mut writer.changing(), &table, &run(&same, false), FOREVER).unwrap();
    assert!(published.is_none());
    let more = [retarget("b", None, "https://b.example/new")];
    let (decision, published) =
        edit_on_branch(&mut writer.changing(), &table, &run(&more, true), FOREVER).unwrap();
    assert!(published.is_none() && decision.changed.len() == 1);
    assert_eq!(fixture.commits(), 3);
}
