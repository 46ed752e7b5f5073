//! The documentation, compared with the program: each command in it runs, and prints the text below
//! it.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use waypost::mapping::Rule;

use crate::console::{Example, Server, examples, run, waypost};

#[test]
fn the_readme_shows_what_happens() {
    let mut server = None;
    for Example { command, output } in examples("README.md") {
        let run = command.strip_prefix("cargo run --release -- ");
        let args = run.or(command.strip_prefix("waypost "));
        if let Some(args) = args.filter(|args| args.starts_with("serve")) {
            server = Some(Server::start(&mut waypost(args)));
        } else if let Some(args) = command.strip_prefix("curl ") {
            assert_eq!(server.as_ref().unwrap().curl(args), output, "{command}");
        } else if let Some(args) = command.strip_prefix("waypost ") {
            let got = waypost(args).output().unwrap();
            let printed = [got.stdout, got.stderr].concat();
            assert_eq!(String::from_utf8(printed).unwrap(), output, "{command}");
        } else {
            // The command that runs this test, which CI verifies.
            assert_eq!(command, "cargo test");
        }
    }
    assert!(server.is_some());
}

#[test]
fn the_page_on_checking_shows_what_happens() {
    // An example may show any version of the program.
    let version = |version| format!("\"version\": \"{version}\"");
    for Example { command, output } in examples("docs/checking.md") {
        let args = command.strip_prefix("waypost ").unwrap();
        let got = waypost(args).output().unwrap();
        let printed = String::from_utf8([got.stdout, got.stderr].concat()).unwrap();
        let printed = printed.replace(&version(env!("CARGO_PKG_VERSION")), &version("0.1.0"));
        assert_eq!(printed, output, "{command}");
    }
}

#[test]
fn the_page_on_registering_shows_what_happens() {
    let directory = tempfile::tempdir().unwrap();
    fs::copy("mapping.yaml", directory.path().join("mapping.yaml")).unwrap();
    follow("docs/registering.md", directory.path());
}

#[test]
fn the_page_on_editing_shows_what_happens() {
    let directory = tempfile::tempdir().unwrap();
    fs::copy("mapping.yaml", directory.path().join("mapping.yaml")).unwrap();
    follow("docs/editing.md", directory.path());
}

#[test]
fn the_page_on_imports_shows_what_happens() {
    let directory = tempfile::tempdir().unwrap();
    fs::copy("mapping.yaml", directory.path().join("mapping.yaml")).unwrap();
    for item in fs::read_dir("tests/data/import").unwrap() {
        let path = item.unwrap().path();
        if path.is_file() {
            fs::copy(&path, directory.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    follow("docs/importing.md", directory.path());
}

/// Runs the commands of a document in a directory: each goes on from what the ones before have left.
fn follow(document: &str, directory: &Path) {
    for Example { command, output } in examples(document) {
        assert_eq!(run(&command, directory, &[]), output, "{command}");
    }
}

#[test]
fn the_page_on_exports_shows_what_happens() {
    for Example { command, output } in examples("docs/exchange.md") {
        let args = command.strip_prefix("waypost ").unwrap();
        let got = waypost(args).output().unwrap();
        let printed = String::from_utf8([got.stdout, got.stderr].concat()).unwrap();
        assert_eq!(printed.replace('\r', ""), output, "{command}");
    }
}

#[test]
fn the_readme_lists_every_command() {
    let readme = fs::read_to_string("README.md").unwrap();
    let listed = readme.lines().filter_map(|line| {
        let (verb, what) = line.strip_prefix("| `waypost ")?.split_once("` | ")?;
        Some(format!("{verb}: {}", what.trim_end_matches(" |")))
    });
    let help = waypost("--help").output().unwrap().stdout;
    let help = String::from_utf8(help).unwrap();
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let verbs: Vec<_> = commands
        .map_while(|line| line.trim_start().split_once("  "))
        .map(|(verb, _)| verb)
        .filter(|verb| *verb != "help")
        .collect();
    let listed: Vec<_> = listed.collect();
    assert_eq!(verbs.len(), listed.len(), "{verbs:?} {listed:?}");
    for (verb, listed) in verbs.iter().zip(&listed) {
        assert!(listed.starts_with(&format!("{verb}: ")), "{verb} {listed}");
    }
}

#[test]
fn the_format_reference_shows_codes_that_are_right() {
    let [example] = &examples("docs/mapping-format.md")[..] else {
        panic!("another example: hold it to the program too");
    };
    let url = example
        .command
        .strip_prefix("printf %s ")
        .unwrap()
        .split(' ')
        .next()
        .unwrap();
    let code = waypost(&format!("code {url}")).output().unwrap().stdout;
    assert_eq!(String::from_utf8(code).unwrap(), example.output);
}

#[test]
fn the_format_reference_shows_the_canonical_form() {
    let reference = fs::read_to_string("docs/mapping-format.md").unwrap();
    let (_, section) = reference.split_once("\n## Canonical form\n").unwrap();
    let blocks = section.split("```yaml\n").skip(1);
    let blocks: Vec<_> = blocks.map(|it| it.split_once("```").unwrap().0).collect();
    let [before, after] = blocks[..] else {
        panic!("other examples: hold them to the program too");
    };
    let file = waypost::mapping::SourceFile {
        path: "t.yaml".into(),
        bytes: before.into(),
    };
    assert_eq!(waypost::edit::format(&file).unwrap(), after);
}

#[test]
fn the_format_reference_and_the_schema_know_the_same_keys() {
    let schema = fs::read_to_string("docs/mapping.schema.json").unwrap();
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    let reference = fs::read_to_string("docs/mapping-format.md").unwrap();
    let rows: Vec<_> = reference
        .lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .collect();
    let places = [
        &schema["properties"],
        &schema["$defs"]["entry"]["properties"],
    ];
    let keys = places
        .iter()
        .flat_map(|place| place.as_object().unwrap().keys());
    for key in keys {
        let documented = rows.iter().any(|row| {
            let names = row.split(" | ").next().unwrap();
            names.split(", ").any(|name| name.trim_matches('`') == key)
        });
        assert!(documented, "{key} is not in the reference");
    }
}

#[test]
fn the_schema_knows_the_keys_of_the_reader() {
    let unknown = "base_url: https://short.code/\nxxxxxxxxxxxxxxxxxxxx: 1\nmapping:\n- xxxxxxxxxxxxxxxxxxxx: 1\n";
    let file = waypost::mapping::SourceFile {
        path: "t.yaml".into(),
        bytes: unknown.into(),
    };
    let schema = fs::read_to_string("docs/mapping.schema.json").unwrap();
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    let places = [
        &schema["properties"],
        &schema["$defs"]["entry"]["properties"],
    ];
    let report = waypost::mapping::compile(&[file]).diagnostics;
    let hints = report.iter().filter(|d| d.rule == Rule::KeyUnknown);
    for (hint, place) in hints.map(|d| d.hint.as_deref().unwrap()).zip(places) {
        let mut known: Vec<_> = hint
            .strip_prefix("possible keys: ")
            .unwrap()
            .split(", ")
            .collect();
        known.sort_unstable();
        let mut keys: Vec<_> = place
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        keys.sort_unstable();
        assert_eq!(known, keys);
    }
}

/// Checks that a document names only flags that `serve` has.
fn names_flags_that_there_are(document: &str, at_least: usize) {
    let text = fs::read_to_string(document).unwrap();
    let help = String::from_utf8(waypost("serve --help").output().unwrap().stdout).unwrap();
    let flags: Vec<_> = text
        .split('`')
        .filter(|code| code.starts_with("--"))
        .map(|code| code.split(' ').next().unwrap())
        .collect();
    assert!(flags.len() >= at_least, "{flags:?}");
    for flag in flags {
        assert!(help.contains(flag), "{flag} is not a flag of serve");
    }
}

#[test]
fn operations_name_flags_that_there_are() {
    names_flags_that_there_are("docs/operations.md", 6);
}

#[test]
fn the_page_on_registrations_names_flags_that_there_are() {
    names_flags_that_there_are("docs/registrations.md", 3);
}

#[test]
#[cfg(feature = "tls")]
fn the_page_on_tls_names_flags_that_there_are() {
    names_flags_that_there_are("docs/tls.md", 5);
}

#[test]
#[cfg(feature = "tls")]
fn variables_for_bare_hosts_are_those_of_serve() {
    let help = String::from_utf8(waypost("serve --help").output().unwrap().stdout).unwrap();
    for file in ["docs/hosts.md", "deploy/systemd/default"] {
        let text = fs::read_to_string(file).unwrap();
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let variables: Vec<_> = words
            .filter(|word| word.starts_with("WAYPOST_"))
            .map(|word| word.strip_suffix("_FILE").unwrap_or(word))
            .collect();
        assert!(variables.len() > 5, "{file}: {variables:?}");
        for variable in variables {
            assert!(help.contains(variable), "{file}: {variable} is none");
        }
    }
}
