//! Files describe what they are, have names that every system permits, and use nothing that belongs to
//! another layer.

use super::{files_under, none, read, sources};

/// File and directory names that say nothing of the concept inside.
const EMPTY_NAMES: &[&str] = &[
    "common", "helper", "helpers", "misc", "type", "types", "util", "utils",
];

/// Names that Windows reserves for devices, with any extension; so are `com1` and `lpt1` to 9.
const DEVICES: &[&str] = &["con", "prn", "aux", "nul"];

/// What the layer `mapping` may not name: no I/O, clock or environment. Of other crates, it may use
/// what `fuzz/Cargo.toml` has.
const IMPURE: &[&str] = &[
    "std::env",
    "std::fs",
    "std::io",
    "std::net",
    "std::process",
    "Instant::now",
    "SystemTime::now",
];

/// The options of other programs that lower layers run or mention: Git, and those that it runs.
const FOREIGN_OPTIONS: &str = "add auto cached ff-only file force-with-lease get git-dir global hard \
    intent-to-add list literal-pathspecs local-env-vars name-only no-tags no-write-fetch-head only \
    porcelain push quiet refmap set-upstream-to stdin symref type unshallow";

/// Returns the code of a file with the numbers of its lines, without comments and tests at its end.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines = (1..).zip(code.lines());
    lines.filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// Returns the flags of the command line that a line names.
fn flags(line: &str) -> impl Iterator<Item = &str> {
    let starts = line.match_indices("--").filter(|(at, _)| {
        let before = line[..*at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && c != '-')
    });
    let options = starts.map(|(at, _)| {
        let option = &line[at + 2..];
        let end = option.find(|c: char| !c.is_ascii_lowercase() && c != '-');
        &option[..end.unwrap_or(option.len())]
    });
    options.filter(|option| {
        option.starts_with(|c: char| c.is_ascii_lowercase())
            && !FOREIGN_OPTIONS.split(' ').any(|it| it == *option)
    })
}

/// Returns whether a name says nothing, or is one that Windows cannot have.
fn is_bad_name(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end();
    let stem = stem.to_ascii_lowercase();
    let port = stem.strip_prefix("com").or(stem.strip_prefix("lpt"));
    EMPTY_NAMES.contains(&stem.as_str())
        || DEVICES.contains(&stem.as_str())
        || port.is_some_and(|number| matches!(number.as_bytes(), [b'1'..=b'9']))
        || name.ends_with(['.', ' '])
        || name.contains(|c: char| c.is_ascii_control() || r#"<>:"\|?*"#.contains(c))
}

#[test]
fn every_module_opens_by_saying_what_it_is() {
    let files = sources();
    let silent = files.iter().filter(|(_, text)| !text.starts_with("//! "));
    none(&silent.map(|(file, _)| file.clone()).collect::<Vec<_>>());
}

#[test]
fn layers_below_the_command_line_name_no_flags() {
    let files = sources();
    let lower = files.iter().filter(|(file, _)| {
        let file = file.strip_prefix("src/").unwrap_or(file);
        file.contains('/') && !file.starts_with("cli/")
    });
    let found = lower.flat_map(|(file, text)| {
        let lines = code(text).filter(|(_, line)| flags(line).next().is_some());
        lines.map(move |(number, _)| format!("{file}:{number}: a flag that only `cli` knows"))
    });
    none(&found.collect::<Vec<_>>());
}

#[test]
fn mapping_is_pure() {
    let files = sources();
    let mapping = files
        .iter()
        .filter(|(file, _)| file.starts_with("src/mapping/"));
    let found = mapping.flat_map(|(file, text)| {
        let impure = |line: &str| IMPURE.iter().any(|name| line.contains(name));
        let lines = code(text).filter(move |(_, line)| impure(line));
        lines.map(move |(number, line)| format!("{file}:{number}: {line}"))
    });
    none(&found.collect::<Vec<_>>());
}

#[test]
fn main_is_thin() {
    let lines = read("src/main.rs").lines().count();
    assert!(
        lines <= 30,
        "src/main.rs has {lines} lines: move code to the library"
    );
}

#[test]
fn names_say_their_concept_and_suit_every_system() {
    let roots = [
        ".ci",
        ".github",
        "benches",
        "deploy",
        "docs",
        "examples",
        "fuzz/fuzz_targets",
        "fuzz/src",
        "src",
        "templates",
        "tests",
    ];
    let mut files = roots.into_iter().flat_map(files_under).collect::<Vec<_>>();
    files.retain(|file| file.split('/').any(is_bad_name));
    none(&files);
}

#[test]
fn what_is_forbidden_is_found() {
    for (line, found) in [
        ("name(\"xn--bcher\"); run(\"a -- b\");", &[][..]),
        ("say(\"raise --max-connections\");", &["max-connections"]),
        ("    --many\");", &["many"]),
        ("say(\"`git reset --hard` or --harder\");", &["harder"]),
    ] {
        assert_eq!(flags(line).collect::<Vec<_>>(), found, "{line}");
    }
    for name in [
        "utils.rs", "common", "nul.yaml", "AUX", "com1.x", "a:b", "a ", "b.",
    ] {
        assert!(is_bad_name(name), "{name}");
    }
    for name in [
        "commonplace.rs",
        "null.rs",
        ".ci",
        "com.rs",
        "com10.rs",
        ".con",
    ] {
        assert!(!is_bad_name(name), "{name}");
    }
    let text = "a\n// b\nc\n#[cfg(test)]\nmod tests {\n}\n";
    assert_eq!(code(text).collect::<Vec<_>>(), [(1, "a"), (3, "c")]);
}
