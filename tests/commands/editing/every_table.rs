//! Random edits of random tables by the program: exactly what was asked for changes, and every other
//! byte of the file stays.

use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};
use proptest::test_runner::{Config, TestRunner};
use waypost::mapping::{Forward, Retired, SourceFile, Status, Table, Timestamp, compile};
use waypost::registry::EntryContent;

/// How an entry is written; `N` is its name.
const FORMS: [&str; 6] = [
    "- url: https://N.example/\n",
    "- url: https://N.example/ # C\n  short-code: N\n  aliases: [N-2] # MORE\n",
    "- {url: https://N.example/, short-code: N, title: 't', status: 301}\n",
    "- title: >-\n    a\n\n  url: 'https://N.example/'\n  short-code: N\n  aliases:\n  - N-2 # TWO\n  - N-3\n  forward: query\n",
    "\n# ABOUT\n- short-code: N\n  retired: 2020-01-01\n",
    "- url: https://N.example/\n  short-code: N\n  owner: o\n  retired: 2020-01-01 # WHY\n  expires: 2031-12-31\n",
];

/// The command, and its effect on the entry.
#[derive(Debug, Clone)]
struct Edit {
    args: Vec<String>,
    /// The keys that it may write or remove.
    keys: Vec<&'static str>,
    expected: fn(&mut EntryContent, &[String]) -> bool,
}

/// Returns the values of a flag.
fn values<'a>(args: &'a [String], flag: &str) -> Vec<&'a str> {
    let pairs = args.windows(2).filter(|pair| pair[0] == flag);
    pairs.map(|pair| pair[1].as_str()).collect()
}

/// Changes an entry as `set` with these arguments should; returns whether that is possible.
fn set(entry: &mut EntryContent, args: &[String]) -> bool {
    let text = |flag: &str| values(args, flag).first().map(|it| (*it).to_owned());
    entry.title = text("--title").or(entry.title.take());
    entry.owner = text("--owner").or(entry.owner.take());
    entry.archive = text("--archive").or(entry.archive.take());
    let tags = values(args, "--tag");
    if !tags.is_empty() {
        entry.tags = tags.into_iter().map(str::to_owned).collect();
    }
    let aliases = values(args, "--alias").into_iter().map(str::to_owned);
    entry.aliases.extend(aliases);
    if let Some(status) = text("--status") {
        entry.status = Status::from_code(status.parse().unwrap());
    }
    if let Some(forward) = text("--forward") {
        entry.forward = Forward::ALL.into_iter().find(|it| it.name() == forward);
    }
    if let Some(seconds) = text("--cache-max-age") {
        entry.cache_max_age = seconds.parse().ok();
    }
    if let Some(date) = text("--expires") {
        entry.expires = Timestamp::parse_end(&date);
    }
    for key in values(args, "--unset") {
        match key {
            "title" => entry.title = None,
            "owner" => entry.owner = None,
            "tags" => entry.tags.clear(),
            "aliases" => entry.aliases.clear(),
            "status" => entry.status = Some(Status::Found),
            "forward" => entry.forward = Some(Forward::None),
            "cache-max-age" => entry.cache_max_age = Some(60),
            "expires" => entry.expires = None,
            "archive" => entry.archive = None,
            _ => unreachable!("{key}"),
        }
    }
    names_no_copy_of_nothing(entry)
}

/// Returns whether an entry without a target names no archived copy of it.
fn names_no_copy_of_nothing(entry: &EntryContent) -> bool {
    entry.target.is_some() || entry.archive.is_none()
}

fn retarget(entry: &mut EntryContent, args: &[String]) -> bool {
    let target = Some(args[2].clone());
    let is_refused = entry.retired.is_some() && entry.target != target;
    entry.target = target;
    !is_refused
}

fn retire(entry: &mut EntryContent, args: &[String]) -> bool {
    if let Some(date) = values(args, "--on").first() {
        entry.retired = Timestamp::parse_start(date).map(Retired::From);
    } else if entry.retired.is_none() {
        // Today, whatever that is.
        entry.retired = Some(Retired::From(Timestamp::MIN));
    }
    if let Some(url) = values(args, "--archive").first() {
        entry.archive = Some((*url).to_owned());
    }
    if args.iter().any(|arg| arg == "--drop-url") {
        entry.target = None;
        entry.below = None;
        entry.archive = None;
        entry.title = None;
    }
    if entry.target.is_none() {
        entry.retired = Some(Retired::Always);
    }
    names_no_copy_of_nothing(entry)
}

fn restore(entry: &mut EntryContent, _: &[String]) -> bool {
    entry.retired = None;
    entry.target.is_some()
}

/// Arguments of `set`: a key, and what sets it or removes it.
fn keys_to_set() -> impl Strategy<Value = Vec<(&'static str, Vec<String>)>> {
    let flag = |key, flag: &str, value: &str| (key, vec![flag.to_owned(), value.to_owned()]);
    let text = select(vec!["a", "no", "# x", "it's", "a: b", "1e5", " é"]);
    (text, "[p-z]{3}", any::<bool>(), vec(any::<bool>(), 9)).prop_flat_map(
        move |(text, code, is_long, unset)| {
            let (status, forward) = match is_long {
                true => ("308", "path"),
                false => ("302", "none"),
            };
            let all = [
                flag("title", "--title", text),
                flag("owner", "--owner", text),
                (
                    "tags",
                    ["--tag", text, "--tag", "z"].map(str::to_owned).to_vec(),
                ),
                flag("aliases", "--alias", &code),
                flag("status", "--status", status),
                flag("forward", "--forward", forward),
                flag("cache-max-age", "--cache-max-age", "5"),
                flag("expires", "--expires", "2032-02-29"),
                flag("archive", "--archive", "https://archive.example/a"),
            ];
            let given = all.into_iter().zip(&unset);
            let given: Vec<_> = given
                .map(|((key, args), unset)| match unset {
                    true => flag(key, "--unset", key),
                    false => (key, args),
                })
                .collect();
            subsequence(given, 1..5)
        },
    )
}

fn edit() -> impl Strategy<Value = Edit> {
    let words = |words: &[&str]| -> Vec<String> { words.iter().map(|it| (*it).into()).collect() };
    prop_oneof![
        3 => keys_to_set().prop_map(move |given| {
            let mut args = words(&["set", "CODE"]);
            args.extend(given.iter().flat_map(|(_, args)| args.clone()));
            if args.iter().any(|arg| arg == "--unset") {
                args.push("--allow-alias-loss".to_owned());
            }
            Edit { args, keys: given.iter().map(|(key, _)| *key).collect(), expected: set }
        }),
        2 => "https://[a-z]\\.example/[a-z#,']{0,3}/".prop_map(move |url| Edit {
            args: words(&["retarget", "CODE", &url]),
            keys: vec!["url", "short-code"],
            expected: retarget,
        }),
        2 => subsequence(vec!["--drop-url", "--on", "--archive"], 0..=3).prop_map(move |flags| {
            let mut args = words(&["retire", "CODE"]);
            let drops = flags.contains(&"--drop-url");
            // A takedown names no copy.
            for flag in flags.into_iter().filter(|it| !drops || *it != "--archive") {
                args.extend(match flag {
                    "--on" => words(&["--on", "2021-03-04"]),
                    "--archive" => words(&["--archive", "https://archive.example/b"]),
                    flag => words(&[flag]),
                });
            }
            let keys = vec!["url", "below", "short-code", "retired", "archive", "title"];
            Edit { args, keys, expected: retire }
        }),
        1 => Just(Edit {
            args: words(&["restore", "CODE"]),
            keys: vec!["retired"],
            expected: restore,
        }),
    ]
}

/// Returns the lines of an entry that are not of some keys, nor comments, without what is before a
/// key.
fn others<'t>(entry: &'t str, keys: &[&str]) -> Vec<&'t str> {
    if let Some((_, inside)) = entry.split_once("- {") {
        let pairs = inside.trim_end().trim_end_matches('}').split(", ");
        // Further items of a list have no key.
        let is_other = |pair: &&str| {
            let key = pair.split_once(':').map(|(key, _)| key);
            key.is_some_and(|key| !keys.contains(&key))
        };
        return pairs.filter(is_other).collect();
    }
    let mut key = "";
    let mut kept = Vec::new();
    for line in entry.lines() {
        let margin = line.len() - line.trim_start_matches(['-', ' ']).len();
        let bare = &line[margin..];
        if bare.starts_with('#') {
            continue;
        }
        if margin == 2
            && let Some((name, _)) = bare.split_once(':')
        {
            key = name;
        }
        if !keys.contains(&key) {
            kept.push(bare);
        }
    }
    kept
}

fn compiled(text: &str) -> Table {
    let file = SourceFile {
        path: "mapping.yaml".into(),
        bytes: text.into(),
    };
    compile(&[file]).table.unwrap()
}

/// Returns the values of all entries, in the order of the text.
fn contents(text: &str) -> Vec<EntryContent> {
    let table = compiled(text);
    table.sites()[0].entries().map(EntryContent::of).collect()
}

/// A retirement as of today is compared as such.
fn undated(mut content: EntryContent) -> EntryContent {
    let today = Timestamp::parse_start("2026-01-01");
    if let Some(Retired::From(time)) = content.retired
        && (Some(time) > today || time == Timestamp::MIN)
    {
        content.retired = Some(Retired::From(Timestamp::MIN));
    }
    content
}

#[test]
fn only_the_requested_property_changes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mapping.yaml");
    let strategy = (
        vec(select(FORMS.to_vec()), 2..7),
        vec((any::<Index>(), 0..3_usize, edit()), 1..4),
        any::<[bool; 2]>(),
    );
    let (made, refused) = (Cell::new(0), Cell::new(0));
    let mut runner = TestRunner::new(Config {
        failure_persistence: None,
        ..Config::with_cases(48)
    });
    let ran = runner.run(&strategy, |(forms, edits, [is_crlf, is_open])| {
        let written = |text: &str| match is_crlf {
            true => text.replace('\n', "\r\n"),
            false => text.to_owned(),
        };
        let names = ('a'..).map(String::from);
        let entries = forms.iter().zip(names);
        let mut blocks: Vec<String> = entries
            .map(|(form, name)| written(&form.replace('N', &name)))
            .collect();
        let head = written("# Links\nbase_url: https://s.code/\nmapping:\n");
        let end = if is_open { "" } else { "tests: [] # none\n" };
        let last = blocks.len() - 1;
        if is_open {
            let bare = blocks[last].trim_end().to_owned();
            blocks[last] = bare;
        }
        for (index, name, edit) in edits {
            let number = index.index(blocks.len());
            let text = format!("{head}{}{end}", blocks.concat());
            fs::write(&path, &text).unwrap();
            let mut expected = contents(&text);
            let entry = &mut expected[number];
            let code = entry.code.clone();
            let link = match (name, entry.aliases.first()) {
                (0, Some(alias)) => alias.clone(),
                (1, _) => format!("https://s.code/{code}"),
                _ => code,
            };
            let before = entry.clone();
            let is_possible = (edit.expected)(entry, &edit.args);
            // No comment is lost within a list.
            let loses_comment = entry.aliases.is_empty() && blocks[number].contains(" # TWO");
            let is_possible = is_possible && !loses_comment;
            let (status, report) = run(directory.path(), &edit.args, &link);
            let now = fs::read_to_string(&path).unwrap();
            let context = format!("{:?} {link}: {report}\n{text}\n{now}", edit.args);
            if status == 1 && !is_possible {
                prop_assert_eq!(now, text, "{}", context);
                refused.set(refused.get() + 1);
                continue;
            }
            prop_assert_eq!((status, is_possible), (0, true), "{}", &context);
            let is_same = undated(before) == undated(expected[number].clone());
            prop_assert!(is_same || now != text, "{}", &context);
            made.set(made.get() + usize::from(now != text));

            let after = contents(&now);
            // The values of all entries.
            let found = after.into_iter().map(undated);
            let expected: Vec<_> = expected.into_iter().map(undated).collect();
            prop_assert_eq!(found.collect::<Vec<_>>(), expected, "{}", &context);
            // The bytes around the entry, and its other keys.
            let around = [
                format!("{head}{}", blocks[..number].concat()),
                format!("{}{end}", blocks[number + 1..].concat()),
            ];
            let block = now.strip_prefix(&around[0]);
            let block = block.and_then(|rest| rest.strip_suffix(&around[1]));
            prop_assert!(block.is_some(), "{}", &context);
            let block = block.unwrap().to_owned();
            // The only capitals are those of comments, which stay unless they are about what is
            // taken down.
            let is_capital = |text: &&str| text.starts_with(|c: char| c.is_ascii_uppercase());
            let comments = |text: &str| text.split("# ").skip(1).filter(is_capital).count();
            let was = comments(&blocks[number]);
            let is = comments(&block);
            let drops = edit.args.iter().any(|arg| arg == "--drop-url");
            prop_assert!(is == was || drops && is < was, "{}", &context);
            let kept = others(&blocks[number], &edit.keys);
            prop_assert_eq!(others(&block, &edit.keys), kept, "{}", &context);
            prop_assert_eq!(
                block.matches('\n').count(),
                {
                    let breaks = if is_crlf { "\r\n" } else { "\n" };
                    block.matches(breaks).count()
                },
                "{}",
                &context
            );
            blocks[number] = block;
        }
        Ok(())
    });
    ran.unwrap();
    // Ensures that some edits are refused, but not all.
    assert!(made.get() > 40 && refused.get() > 0, "{made:?} {refused:?}");
}

/// Runs the program on a link in a directory; returns its exit status and what it reported.
fn run(directory: &Path, args: &[String], link: &str) -> (i32, String) {
    let args = args.iter().map(|arg| match arg.as_str() {
        "CODE" => link,
        arg => arg,
    });
    let mut command = Command::new(env!("CARGO_BIN_EXE_waypost"));
    command.args(args).current_dir(directory).env_clear();
    let output = command.stdin(Stdio::null()).output().unwrap();
    let report = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().unwrap(), report)
}
