//! Holds the rules that the compiler does not know: which layer may import which, that files and
//! folders import downward, how files open and are named, that every system can check them out,
//! that the links of documents lead somewhere and the commands that they name exist, that pages have
//! all their texts, and that what is fuzzed has the dependencies of what is shipped.
//!
//! Each rule is a function from text to violations, with a test of its own that shows it catching
//! one.

mod circles;
mod documents;
mod imports;
mod layers;
mod texts;

use std::fmt;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// File and directory names that say nothing of the concept inside.
const EMPTY_NAMES: &[&str] = &[
    "common", "helper", "helpers", "misc", "type", "types", "util", "utils",
];

/// Where the repository keeps files of its own; build output lies elsewhere.
const TRACKED: &[&str] = &[
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

/// Names that Windows reserves for devices, with any extension.
const DEVICES: &[&str] = &["con", "prn", "aux", "nul"];

/// The layers whose messages name no flags.
const FLAGLESS: &[&str] = &[
    "src/edit/",
    "src/exchange/",
    "src/frontier/",
    "src/git/",
    "src/history/",
    "src/linkcheck/",
    "src/mapping/",
    "src/registry/",
    "src/server/",
    "src/source/",
];

/// The options of other programs that lower layers run or mention: Git, and those that it runs.
const FOREIGN_OPTIONS: &[&str] = &[
    "add",
    "cached",
    "ff-only",
    "file",
    "force-with-lease",
    "get",
    "global",
    "hard",
    "intent-to-add",
    "literal-pathspecs",
    "local-env-vars",
    "no-tags",
    "no-write-fetch-head",
    "only",
    "porcelain",
    "push",
    "quiet",
    "refmap",
    "set-upstream-to",
    "symref",
    "type",
    "unshallow",
];

/// The most lines `src/main.rs` may have: everything else belongs in the library.
const MAIN_LINES: usize = 30;

// What is checked.

#[test]
fn every_module_opens_by_saying_what_it_is() {
    report(each_source(opening_violations));
}

#[test]
fn messages_of_lower_layers_name_no_flags() {
    report(each_source(flag_violations));
}

#[test]
fn main_is_thin() {
    report(main_violations(&read("src/main.rs")));
}

#[test]
fn file_names_say_their_concept() {
    let files = ["src", "tests", "benches", "fuzz/src", "fuzz/fuzz_targets"];
    let files = files.iter().flat_map(|dir| files_under(dir));
    report(files.flat_map(|file| name_violations(&file)).collect());
}

#[test]
fn every_file_can_be_checked_out_on_windows() {
    let files = TRACKED.iter().flat_map(|dir| files_under(dir));
    report(files.flat_map(|file| windows_violations(&file)).collect());
}

#[test]
fn commands_in_the_documents_exist() {
    let exists = |path: &str| root().join(path).exists();
    let documents = ["README.md", "CONTRIBUTING.md"];
    report(
        documents
            .iter()
            .flat_map(|file| command_violations(file, &read(file), exists))
            .collect(),
    );
}

#[test]
fn ci_runs_the_test_command_of_the_readme() {
    report(test_command_violations(
        &read("README.md"),
        &read(".ci/run"),
    ));
}

#[test]
fn every_end_to_end_script_is_executable_and_run() {
    let listed = Command::new(root().join("tests/e2e/run"))
        .arg("--list")
        .output()
        .expect("tests/e2e/run is a program");
    let listed = String::from_utf8(listed.stdout).expect("script names are UTF-8");
    let scripts: Vec<_> = fs::read_dir(root().join("tests/e2e"))
        .expect("the directory exists")
        .map(|item| item.expect("the directory can be read").path())
        .filter(|path| path.is_file())
        .map(|path| {
            let name = path.file_name().expect("a file has a name");
            (name.to_string_lossy().into_owned(), is_executable(&path))
        })
        .collect();
    report(script_violations(&scripts, &listed));
}

#[test]
fn what_end_to_end_scripts_leave_out_is_named_and_run_every_night() {
    let scripts: Vec<_> = files_under("tests/e2e")
        .into_iter()
        .filter(|file| !file.contains("/lib/") && file != "tests/e2e/run")
        .map(|file| (read(&file), file))
        .collect();
    let mut found: Vec<_> = scripts
        .iter()
        .flat_map(|(text, file)| left_out_violations(file, text))
        .collect();
    let nightly = ".github/workflows/nightly.yml";
    if !read(nightly).contains("- run: tests/e2e/run --all\n") {
        found.push(Violation::new(
            nightly,
            1,
            "does not run `tests/e2e/run --all`",
        ));
    }
    report(found);
}

#[test]
fn fuzzing_has_the_dependencies_of_what_is_shipped() {
    report(fuzz_violations(
        &read("fuzz/Cargo.toml"),
        &read("Cargo.toml"),
    ));
}

#[test]
fn ci_scripts_are_executable() {
    let files = files_under(".ci");
    let found = files
        .iter()
        .filter(|file| !is_executable(&root().join(file)));
    report(
        found
            .map(|file| Violation::new(file, 1, "is a CI script but not executable"))
            .collect(),
    );
}

// The rules.

/// Finds a module that does not open with `//!`.
fn opening_violations(file: &str, text: &str) -> Vec<Violation> {
    let opens = text.strip_prefix("//! ").is_some_and(|rest| {
        rest.lines()
            .next()
            .is_some_and(|line| !line.trim().is_empty())
    });
    match opens {
        true => Vec::new(),
        false => vec![Violation::new(
            file,
            1,
            "does not open with `//! ` and what the module is",
        )],
    }
}

/// Finds flags of the command line, which only `cli` knows, outside of comments and tests.
fn flag_violations(file: &str, text: &str) -> Vec<Violation> {
    if !FLAGLESS.iter().any(|layer| file.starts_with(layer)) {
        return Vec::new();
    }
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let code = code.lines().enumerate();
    let code = code.filter(|(_, line)| !line.trim_start().starts_with("//"));
    let named = code.filter(|(_, line)| {
        let mut parts = line.split("--");
        let mut before = parts.next().unwrap_or_default();
        parts.any(|after| {
            let starts = !before.ends_with(char::is_alphanumeric);
            before = after;
            let end = after.find(|c: char| !c.is_ascii_lowercase() && c != '-');
            let option = &after[..end.unwrap_or(after.len())];
            starts
                && option.starts_with(|c: char| c.is_ascii_lowercase())
                && !FOREIGN_OPTIONS.contains(&option)
        })
    });
    let rule = "a flag that only `cli` knows";
    named
        .map(|(line, _)| Violation::new(file, line + 1, rule))
        .collect()
}

/// Finds a `main.rs` that does more than call the library.
fn main_violations(text: &str) -> Vec<Violation> {
    let lines = text.lines().count();
    match lines > MAIN_LINES {
        false => Vec::new(),
        true => vec![Violation::new(
            "src/main.rs",
            lines,
            format!(
                "has {lines} lines, at most {MAIN_LINES} are allowed: move code to the library"
            ),
        )],
    }
}

/// Finds empty names in a file's path.
fn name_violations(file: &str) -> Vec<Violation> {
    Path::new(file)
        .components()
        .filter_map(|part| Path::new(part.as_os_str()).file_stem()?.to_str())
        .filter(|stem| EMPTY_NAMES.contains(stem))
        .map(|stem| Violation::new(file, 1, format!("`{stem}` names no concept")))
        .collect()
}

/// Finds names in a file's path that Windows cannot have.
fn windows_violations(file: &str) -> Vec<Violation> {
    let reserved = |name: &str| {
        let stem = name.split('.').next().unwrap_or(name).trim_end();
        let stem = stem.to_ascii_lowercase();
        let port = stem.strip_prefix("com").or(stem.strip_prefix("lpt"));
        DEVICES.contains(&stem.as_str())
            || port.is_some_and(|number| number.len() == 1 && "123456789".contains(number))
    };
    file.split('/')
        .filter(|name| {
            reserved(name)
                || name.ends_with(['.', ' '])
                || name.contains(['<', '>', ':', '"', '\\', '|', '?', '*'])
                || name.contains(|c: char| c.is_ascii_control())
        })
        .map(|name| {
            Violation::new(
                file,
                1,
                format!("Windows cannot have a file named `{name}`"),
            )
        })
        .collect()
}

/// Finds commands in `console` blocks whose script or verb does not exist.
fn command_violations(file: &str, text: &str, exists: impl Fn(&str) -> bool) -> Vec<Violation> {
    let mut found = Vec::new();
    for (line, command) in console_commands(text) {
        let mut words = command
            .split_whitespace()
            .skip_while(|word| *word == "sudo" || is_assignment(word));
        let Some(program) = words.next() else {
            continue;
        };
        let script = program.trim_start_matches("./");
        let name = script.rsplit('/').next().unwrap_or(script);
        if name == "waypost" {
            // One file a verb: its presence is the verb's.
            let verb = words.next().filter(|word| !word.starts_with('-'));
            let source = verb.map(|verb| format!("src/cli/{}.rs", verb.replace('-', "_")));
            if let (Some(verb), Some(source)) = (verb, source)
                && verb != "help"
                && !exists(&source)
            {
                let rule = format!("`waypost {verb}` is no command: there is no {source}");
                found.push(Violation::new(file, line, rule));
            }
        } else if script.contains('/') && !script.starts_with(['/', '~', '$']) && !exists(script) {
            let rule = format!("`{program}` is not in the repository");
            found.push(Violation::new(file, line, rule));
        }
    }
    found
}

/// Finds a README without a test command, or a CI that runs another one.
fn test_command_violations(readme: &str, ci: &str) -> Vec<Violation> {
    let commands = console_commands(readme);
    let Some((line, command)) = commands
        .iter()
        .find(|(_, command)| command.starts_with("cargo test"))
    else {
        return vec![Violation::new(
            "README.md",
            1,
            "names no `$ cargo test` in a console block",
        )];
    };
    // The command may follow others on a line of CI's, but ends where the command ends.
    let runs = ci.lines().map(str::trim).any(|ci_line| {
        !ci_line.starts_with('#')
            && ci_line.split(['|', ';', '\'', '"']).any(|part| {
                let part = part.trim();
                part == *command || part.ends_with(&format!(" {command}"))
            })
    });
    match runs {
        true => Vec::new(),
        false => vec![Violation::new(
            "README.md",
            *line,
            format!("names `{command}`, which .ci/run does not run as written"),
        )],
    }
}

/// Finds end-to-end scripts that are not executable or that the runner leaves out.
fn script_violations(scripts: &[(String, bool)], listed: &str) -> Vec<Violation> {
    let mut found = Vec::new();
    for (name, executable) in scripts {
        let file = format!("tests/e2e/{name}");
        if !executable {
            found.push(Violation::new(
                &file,
                1,
                "is not executable (libraries go to tests/e2e/lib/)",
            ));
        } else if name != "run" && !listed.lines().any(|line| line == name) {
            found.push(Violation::new(&file, 1, "is not run by tests/e2e/run"));
        }
    }
    found
}

/// Finds a script that leaves something out without a line that `tests/e2e/run` prints.
fn left_out_violations(file: &str, text: &str) -> Vec<Violation> {
    let leaves_out = ["E2E_ALL", "$profile"].iter().any(|it| text.contains(it));
    let says_so = text.lines().any(|line| {
        let what = line.strip_prefix("# --all also: ");
        what.is_some_and(|what| !what.is_empty())
    });
    match leaves_out == says_so {
        true => Vec::new(),
        false => vec![Violation::new(
            file,
            1,
            "leaves something to `--all` if and only if a line `# --all also: ` says what",
        )],
    }
}

/// Finds dependencies of the fuzz crate that the shipped one has not, or has with other features.
fn fuzz_violations(fuzz: &str, shipped: &str) -> Vec<Violation> {
    let dependencies = |manifest| {
        let numbered = str::lines(manifest).zip(1..);
        let section = numbered.skip_while(|(line, _)| *line != "[dependencies]");
        let lines = section
            .skip(1)
            .take_while(|(line, _)| !line.starts_with('['));
        lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'))
    };
    let shipped: Vec<_> = dependencies(shipped).map(|(line, _)| line).collect();
    dependencies(fuzz)
        .filter(|(line, _)| !line.starts_with("libfuzzer-sys ") && !shipped.contains(line))
        .map(|(line, at)| {
            let rule = format!("`{line}` does not stand so in Cargo.toml");
            Violation::new("fuzz/Cargo.toml", at, rule)
        })
        .collect()
}

/// A broken rule, and where.
#[derive(Debug, PartialEq, Eq)]
struct Violation {
    file: String,
    line: usize,
    rule: String,
}

impl Violation {
    fn new(file: &str, line: usize, rule: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            line,
            rule: rule.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.rule)
    }
}

/// Fails with every violation, one a line.
#[track_caller]
fn report(violations: Vec<Violation>) {
    let lines: Vec<_> = violations.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "\n{}", lines.join("\n"));
}

// Reading the tree.

#[track_caller]
fn none(found: &[String]) {
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Returns the files under a directory, relative to the repository; none if it does not exist.
fn files_under(dir: &str) -> Vec<String> {
    let Ok(items) = fs::read_dir(root().join(dir)) else {
        return Vec::new();
    };
    let mut files = Vec::new();
    for item in items {
        let item = item.expect("the directory can be read");
        let path = format!("{dir}/{}", item.file_name().to_string_lossy());
        if item.path().is_dir() {
            files.extend(files_under(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn each_source(rule: impl Fn(&str, &str) -> Vec<Violation>) -> Vec<Violation> {
    let files = files_under("src");
    let sources: Vec<_> = files.iter().filter(|file| file.ends_with(".rs")).collect();
    assert!(sources.len() > 100, "the sources are not where they were");
    sources
        .into_iter()
        .flat_map(|file| rule(file, &read(file)))
        .collect()
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o111 != 0)
}

/// Returns the lines that begin with `$ ` in `console` blocks, with their numbers.
fn console_commands(text: &str) -> Vec<(usize, &str)> {
    let mut inside = false;
    let mut commands = Vec::new();
    for (number, line) in text.lines().enumerate() {
        match line.trim().strip_prefix("```") {
            Some(language) => inside = !inside && language == "console",
            None if inside => {
                let command = line.trim().strip_prefix("$ ").map(str::trim);
                commands.extend(command.map(|command| (number + 1, command)));
            }
            None => {}
        }
    }
    commands
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let mut chars = name.chars();
        !name.is_empty() && chars.all(|c| c.is_ascii_uppercase() || c == '_')
    })
}

// That each rule catches what it is for.

/// Returns the lines at which a rule is broken.
fn lines(violations: &[Violation]) -> Vec<usize> {
    violations.iter().map(|found| found.line).collect()
}

#[test]
fn catches_a_module_without_an_opening() {
    for text in [
        "use std::fmt;\n",
        "// Not a module's.\n",
        "\n//! Late.\n",
        "//!\n",
        "",
    ] {
        assert_eq!(
            lines(&opening_violations("src/lib.rs", text)),
            [1],
            "{text:?}"
        );
    }
    assert!(opening_violations("src/lib.rs", "//! What it is.\n").is_empty());
}

#[test]
fn catches_flags_in_messages() {
    let text = "\
// --repo is a flag
name(\"xn--bcher\");
say(\"raise --max-connections\");
say(\"two are
    --many\");
run(\"a -- b\");
say(\"`git reset --hard` or --harder\");
#[cfg(test)]
mod tests {
    given(\"--repo=x\");
}";
    assert_eq!(lines(&flag_violations("src/server/x.rs", text)), [3, 5, 7]);
    assert_eq!(flag_violations("src/cli/x.rs", text), []);
}

#[test]
fn catches_a_main_that_grows() {
    assert!(main_violations(&"x\n".repeat(30)).is_empty());
    assert_eq!(lines(&main_violations(&"x\n".repeat(31))), [31]);
}

#[test]
fn catches_names_without_a_concept() {
    for file in [
        "src/mapping/utils.rs",
        "tests/common/mod.rs",
        "src/types.rs",
    ] {
        assert_eq!(lines(&name_violations(file)), [1], "{file}");
    }
    assert!(name_violations("src/mapping/commonplace.rs").is_empty());
}

#[test]
fn catches_names_that_windows_cannot_have() {
    for file in [
        "tests/tables/err/nul.yaml",
        "docs/AUX",
        "src/com1.x/mod.rs",
        "tests/data/a:b",
        "tests/data/a ",
        "tests/data/b./c",
    ] {
        assert_eq!(lines(&windows_violations(file)), [1], "{file}");
    }
    for file in [
        "src/null.rs",
        ".ci/run",
        "src/com.rs",
        "src/com10.rs",
        "a/.con",
    ] {
        assert!(windows_violations(file).is_empty(), "{file}");
    }
}

#[test]
fn catches_commands_that_do_not_exist() {
    let text = "$ waypost nonsense\n```console\n$ waypost nonsense\n$ A=b ./target/debug/waypost \
                merge-driver x\n$ sudo tests/e2e/gone\nwaypost output\n$ waypost --version\n\
                $ ls /etc/x\n```\n```yaml\n$ waypost nonsense\n```\n```console\n$ waypost bad\n```\n";
    let exists = |path: &str| path == "src/cli/merge_driver.rs";
    assert_eq!(
        lines(&command_violations("README.md", text, exists)),
        [3, 5, 14]
    );
}

#[test]
fn catches_a_ci_that_runs_other_tests_than_the_readme() {
    let readme = "```console\n$ cargo test\n```\n";
    assert!(test_command_violations(readme, "step tests cargo test").is_empty());
    assert!(test_command_violations(readme, "  cargo test | tee out").is_empty());
    for ci in [
        "cargo test --lib",
        "# cargo test",
        "cargo nextest run",
        "cargo tests",
    ] {
        assert_eq!(lines(&test_command_violations(readme, ci)), [2], "{ci}");
    }
    assert_eq!(
        lines(&test_command_violations("cargo test", "cargo test")),
        [1]
    );
}

#[test]
fn catches_end_to_end_scripts_that_are_not_run() {
    let scripts = [("run", true), ("a", true), ("b", true), ("c", false)];
    let scripts = scripts.map(|(name, executable)| (name.to_owned(), executable));
    let found = script_violations(&scripts, "a\n");
    let files: Vec<_> = found.iter().map(|found| found.file.as_str()).collect();
    assert_eq!(files, ["tests/e2e/b", "tests/e2e/c"]);
}

#[test]
fn catches_scripts_that_leave_something_out_silently() {
    let silent = "#!/bin/bash\n((E2E_ALL)) || exit 0\n";
    assert_eq!(lines(&left_out_violations("a", silent)), [1]);
    let empty = "# --all also: nothing at all\n";
    assert_eq!(lines(&left_out_violations("a", empty)), [1]);
    let named = "# --all also: the rest\n((E2E_ALL)) || exit 0\n";
    assert!(left_out_violations("a", named).is_empty());
    assert!(left_out_violations("a", "# --all only: long\n").is_empty());
}

#[test]
fn catches_fuzzing_with_other_dependencies() {
    let shipped =
        "[dependencies]\nurl = \"2.5\"\n\n# Text.\ncrc = \"3\"\n\n[dev-dependencies]\na = \"1\"\n";
    let fuzz = "[dependencies]\nlibfuzzer-sys = \"=0.4.13\"\n\n# Text.\nurl = \"2\"\ncrc = \"3\"\n\
                a = \"1\"\n\n[[bin]]\nname = \"x\"\n";
    assert_eq!(lines(&fuzz_violations(fuzz, shipped)), [5, 7]);
}
