//! The commands and scripts that documents name exist.

use super::{files_under, none, read, root};

/// Where commands are, one file each.
const COMMANDS: [&str; 3] = ["src/cli", "src/cli/editing", "src/cli/programs"];

/// Where scripts are that documents name.
const SCRIPTS: &[&str] = &[".ci/", "deploy/", "tests/"];

/// Returns what the commands of a document name that does not exist, each with the number of its line.
fn missing(text: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let command = line.trim_start().strip_prefix("$ ").unwrap_or_default();
        let mut words = command.split_whitespace().peekable();
        while let Some(word) = words.next() {
            let word = word.trim_start_matches("./");
            let verb = words.peek().filter(|_| word.ends_with("waypost"));
            let verb = verb.filter(|it| it.chars().all(|c| c == '-' || c.is_ascii_lowercase()));
            let files = match verb {
                _ if SCRIPTS.iter().any(|dir| word.starts_with(dir)) => vec![word.to_owned()],
                Some(verb) if verb.starts_with('-') => continue,
                Some(verb) => {
                    let file = verb.replace('-', "_");
                    COMMANDS.map(|dir| format!("{dir}/{file}.rs")).to_vec()
                }
                None => continue,
            };
            let is_pattern = files[0].contains('*');
            if !is_pattern && !files.iter().any(|file| exists(file)) {
                found.push(format!("{number}: there is no {}", files[0]));
            }
        }
    }
    found
}

#[test]
fn commands_in_the_documents_exist() {
    let documents = files_under("docs").into_iter();
    let documents = documents.filter(|file| file.ends_with(".md"));
    let top = ["README.md", "CONTRIBUTING.md"].map(str::to_owned);
    let found = documents.chain(top).flat_map(|file| {
        let missing = missing(&read(&file), |path| root().join(path).exists());
        missing
            .into_iter()
            .map(move |what| format!("{file}:{what}"))
    });
    none(&found.collect::<Vec<_>>());
}

#[test]
fn commands_that_do_not_exist_are_found() {
    let text = "$ A=b ./target/debug/waypost merge-driver x\n$ sudo tests/e2e/gone\n\
                waypost output\n$ waypost --version\n  $ a | waypost bad\n";
    let found = missing(text, |path| path == "src/cli/programs/merge_driver.rs").join(", ");
    let expected = "2: there is no tests/e2e/gone, 5: there is no src/cli/bad.rs";
    assert_eq!(found, expected);
}
