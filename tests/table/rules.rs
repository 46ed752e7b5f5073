//! Rules: their examples are right, and each is tried somewhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use waypost::edit::{NewEntry, OwnCode, format, insert};
use waypost::linkcheck::Verdict;
use waypost::mapping::{
    Author, Code, Diagnostic, Example, Origin, Outline, Owners, Proposal, Rule, SourceFile,
    Statements, Table, Target, Timestamp, breaches, compile, near_ends,
};

use super::git::git;

type Rules = BTreeSet<Rule>;

fn file(path: &str, bytes: &[u8]) -> SourceFile {
    SourceFile {
        path: path.into(),
        bytes: bytes.into(),
    }
}

/// Returns the rules that an example breaks when it is compiled, tested, compared, formatted and
/// extended; `None` if it is not a table.
fn broken_by(example: &Example) -> Option<Rules> {
    let document = |text: &[u8]| vec![file("t.yaml", text)];
    let files = match example {
        Example::Words(_) => return None,
        Example::Change {
            published,
            proposed,
        } => return Some(broken_by_change(published, proposed)),
        Example::Proposal {
            owners,
            author,
            published,
            proposed,
        } => {
            let mut broken = broken_by_change(published, proposed);
            broken.extend(broken_by_author(owners, author, published, proposed));
            return Some(broken);
        }
        Example::Entries(text) => document(Example::document(text).as_bytes()),
        Example::Document(text) => document(text.as_bytes()),
        Example::Bytes(bytes) => document(bytes),
        Example::Files(files) => {
            let files = files.iter();
            files
                .map(|(name, text)| file(name, text.as_bytes()))
                .collect()
        }
    };
    let mut compilation = compile(&files);
    compilation.run_tests(Timestamp::from_unix(1_795_219_200));
    let mut broken = rules(&compilation.diagnostics);
    if let [file] = &files[..] {
        let url = Target::parse("https://new.example/").unwrap();
        let entry = NewEntry::new(url, OwnCode::Custom(Code::custom("new").unwrap()));
        broken.extend(format(file).err().iter().flat_map(|it| rules(it)));
        if let Ok(outline) = Outline::of(file) {
            let obstacle = insert(&outline, &[&entry]).err();
            broken.extend(obstacle.map(|it| it.in_file(&file.path).rule));
        }
    }
    Some(broken)
}

fn table(entries: &str) -> Table {
    let compilation = compile(&[file("t.yaml", Example::document(entries).as_bytes())]);
    compilation.table.unwrap_or_else(|| panic!("{entries}"))
}

fn broken_by_change(published: &str, proposed: &str) -> Rules {
    let origin = Origin {
        commit: String::new(),
        day: String::new(),
    };
    let (old, new) = (table(published), table(proposed));
    let broken = breaches(&old, &origin, &new, &Statements::default());
    let broken = broken.iter().map(|it| it.diagnostic.rule);
    let near = near_ends(&old, &new, Timestamp::from_unix(1_795_219_200));
    broken.chain(rules(&near)).collect()
}

fn broken_by_author(owners: &str, author: &str, published: &str, proposed: &str) -> Rules {
    let (owners, problems) = Owners::read(&file("owners.yaml", owners.as_bytes()));
    assert!(problems.is_empty(), "{problems:?}");
    let (published, proposed) = (table(published), table(proposed));
    let author = Author {
        name: author,
        owners: &owners,
    };
    rules(&author.refused_changes(&Proposal {
        before: Some(&published),
        current: Some(&published),
        after: &proposed,
    }))
}

fn rules(diagnostics: &[Diagnostic]) -> Rules {
    diagnostics.iter().map(|it| it.rule).collect()
}

#[test]
fn a_wrong_example_breaks_its_rule_alone_and_a_right_one_none() {
    let mut wrong = Vec::new();
    for &rule in Rule::ALL {
        let description = rule.description();
        let mut expected = Rules::from([rule]);
        if rule == Rule::CodeHidesFullStop {
            expected.insert(Rule::CodeEndsInFullStop);
        }
        if let Some(broken) = broken_by(&description.wrong).filter(|it| *it != expected) {
            wrong.push(format!("{rule}, wrong example: {broken:?}"));
        }
        if let Some(broken) = broken_by(&description.right).filter(|it| !it.is_empty()) {
            wrong.push(format!("{rule}, right example: {broken:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the rules in the expectations under a folder, which other tests compare.
fn expected_under(folder: &Path) -> Rules {
    let mut found = Rules::new();
    for item in fs::read_dir(folder).unwrap() {
        let path = item.unwrap().path();
        if path.is_dir() {
            found.append(&mut expected_under(&path));
        } else if path.extension().is_some_and(|it| it == "expected") {
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            let names = text
                .lines()
                .filter_map(|line| line.strip_prefix("  rule: "));
            let rule = |name| Rule::from_name(name).unwrap_or_else(|| panic!("{path:?}: {name}"));
            found.extend(names.map(rule));
        }
    }
    found
}

#[test]
fn every_rule_is_tried() {
    let mut tried = Rules::new();
    for folder in ["tests/tables", "tests/edit/refused", "tests/pairs"] {
        tried.append(&mut expected_under(Path::new(folder)));
    }
    // These need what is no table in a file.
    tried.append(&mut broken_by_size());
    tried.append(&mut broken_by_a_link());
    // These need an author: tests/commands has proposals.
    for rule in Rule::ALL {
        let description = rule.description();
        if let Example::Proposal { .. } = description.wrong {
            tried.extend(broken_by(&description.wrong).unwrap());
        }
    }
    tried.extend(
        Author {
            name: "a",
            owners: &Owners::default(),
        }
        .refused_change_of(&"o".into())
        .map(|it| it.rule),
    );
    // These need what hosts answer: tests/linkcheck has the verdicts.
    tried.extend(Verdict::ALL.iter().filter_map(|verdict| verdict.rule()));
    let untried: Vec<_> = Rule::ALL.iter().filter(|it| !tried.contains(it)).collect();
    assert!(untried.is_empty(), "{untried:?}");
}

/// A table of which nothing is read, so its bytes are never in memory.
fn broken_by_size() -> Rules {
    let file = SourceFile {
        path: "t.yaml".into(),
        bytes: vec![0; 900_000_001],
    };
    rules(&compile(&[file]).diagnostics)
}

/// A symbolic link in a repository, where published links are checked.
fn broken_by_a_link() -> Rules {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    fs::write(
        at.join("table"),
        "base_url: https://short.code/\nmapping: []\n",
    )
    .unwrap();
    std::os::unix::fs::symlink("table", at.join("mapping.yaml")).unwrap();
    git(at, "init --quiet");
    git(at, "add .");
    git(at, "commit --quiet -m link");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_waypost"))
        .args(["check", "--base", "HEAD", "--format", "json"])
        .current_dir(at)
        .env_clear()
        .output()
        .unwrap();
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let diagnostics = document["diagnostics"].as_array().unwrap().iter();
    diagnostics
        .map(|it| Rule::from_name(it["rule"].as_str().unwrap()).unwrap())
        .collect()
}
