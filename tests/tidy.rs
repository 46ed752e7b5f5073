//! Holds the rules that the compiler does not know: which layer may import which, that the mapping
//! layer stays pure, how files open and are named, that every system can check them out, that
//! commands the documents name exist, and that what is fuzzed has the dependencies of what is
//! shipped.
//!
//! Each rule is a function from text to violations, with a test of its own that shows it catching
//! one. Source is read as tokens, so that comments and strings never count and nested or
//! fully-qualified paths do.

use std::fmt;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The layers, and which others each may import. `docs/architecture.md` draws them.
const LAYERS: &[(&str, &[&str])] = &[
    ("mapping", &[]),
    ("source", &["mapping"]),
    ("edit", &["mapping"]),
    ("exchange", &["mapping"]),
    ("registry", &["source", "edit", "exchange", "mapping"]),
    (
        "server",
        &["registry", "source", "edit", "exchange", "mapping"],
    ),
    (
        "cli",
        &[
            "server", "registry", "source", "edit", "exchange", "mapping",
        ],
    ),
];

/// What the mapping layer may not name: paths that begin with these …
const IMPURE_ROOTS: &[&[&str]] = &[
    &["std", "fs"],
    &["std", "net"],
    &["std", "env"],
    &["std", "process"],
    &["tokio"],
    &["hyper"],
    &["hyper_util"],
    &["git2"],
    &["notify"],
    &["notify_debouncer_full"],
    &["clap"],
    &["tracing"],
    &["prometheus"],
];

/// … and paths that hold these.
const IMPURE_PARTS: &[&[&str]] = &[&["SystemTime", "now"], &["Instant", "now"]];

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

/// The most lines `src/main.rs` may have: everything else belongs in the library.
const MAIN_LINES: usize = 30;

// What is checked.

#[test]
fn layers_import_only_what_lies_below_them() {
    report(each_source(layer_violations));
}

#[test]
fn mapping_does_no_io_and_reads_no_clock() {
    report(each_source(purity_violations));
}

#[test]
fn every_module_opens_by_saying_what_it_is() {
    report(each_source(opening_violations));
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

/// Finds imports of layers that lie above the file's own.
fn layer_violations(file: &str, text: &str) -> Vec<Violation> {
    let module = module_path(file);
    let Some(layer) = module.first() else {
        return Vec::new();
    };
    let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| name == layer) else {
        return vec![Violation::new(
            file,
            1,
            format!("`{layer}` is no layer: add it to the design and to tests/tidy.rs"),
        )];
    };
    let mut found = Vec::new();
    for path in paths(&tokens(&code_only(text))) {
        let Some(target) = path.in_crate(&module) else {
            continue;
        };
        let target = target.first().map_or("*", String::as_str);
        if target != layer && !allowed.contains(&target) {
            let may = match allowed {
                [] => "nothing but itself".to_owned(),
                _ => allowed.join(", "),
            };
            found.push(Violation::new(
                file,
                path.line,
                format!("layer `{layer}` names `{target}`, but may import {may}"),
            ));
        }
    }
    found
}

/// Finds I/O, clocks, the environment and outer-layer crates in the mapping layer.
fn purity_violations(file: &str, text: &str) -> Vec<Violation> {
    if module_path(file).first().map(String::as_str) != Some("mapping") {
        return Vec::new();
    }
    let impure = |path: &UsePath| {
        let named = path.imported || path.segments.len() > 1;
        let root = IMPURE_ROOTS.iter().find(|root| path.starts_with(root));
        let part = IMPURE_PARTS.iter().find(|part| path.contains(part));
        root.or(part)
            .filter(|_| named)
            .map(|found| found.join("::"))
    };
    paths(&tokens(&code_only(text)))
        .iter()
        .filter_map(|path| Some((path.line, impure(path)?)))
        .map(|(line, name)| {
            Violation::new(file, line, format!("mapping is pure, but names `{name}`"))
        })
        .collect()
}

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
    // The command may stand behind others on a line of CI's, but ends where the command ends.
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
    assert!(
        sources.len() > LAYERS.len(),
        "the sources are not where they were"
    );
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

// Reading Rust.

/// Returns the module path of a file: `src/a/b.rs` is `a::b`, `src/a/mod.rs` is `a`.
fn module_path(file: &str) -> Vec<String> {
    let inner = file.strip_prefix("src/").unwrap_or(file);
    let inner = inner.strip_suffix(".rs").unwrap_or(inner);
    let mut module: Vec<_> = inner.split('/').map(str::to_owned).collect();
    module.pop_if(|last| ["mod", "lib", "main"].contains(&last.as_str()));
    module
}

/// One path in the code, from a `use` or written out where it is needed.
#[derive(Debug)]
struct UsePath {
    line: usize,
    segments: Vec<String>,
    /// Names of the inline modules around it.
    within: Vec<String>,
    /// Whether it stands in a `use`.
    imported: bool,
}

impl UsePath {
    fn starts_with(&self, start: &[&str]) -> bool {
        self.segments.len() >= start.len() && self.segments.iter().zip(start).all(|(a, b)| a == b)
    }

    fn contains(&self, part: &[&str]) -> bool {
        self.segments
            .windows(part.len())
            .any(|window| window == part)
    }

    /// Returns the path from the crate's root, if it is written as one into the crate.
    fn in_crate(&self, module: &[String]) -> Option<Vec<String>> {
        let (first, rest) = self.segments.split_first()?;
        if ["crate", "waypost"].contains(&first.as_str()) {
            return (!rest.is_empty()).then(|| rest.to_vec());
        }
        let mut here = [module, &self.within].concat();
        let mut rest = self.segments.as_slice();
        if first == "self" {
            rest = &rest[1..];
        }
        let before = rest.len();
        while let [up, more @ ..] = rest
            && up == "super"
        {
            here.pop();
            rest = more;
        }
        (rest.len() < before && !rest.is_empty()).then(|| [here, rest.to_vec()].concat())
    }
}

/// Blanks comments, strings and character literals, keeping every line where it was.
fn code_only(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = opaque_end(&chars, at);
        if end == at {
            out.push(chars[at]);
            at += 1;
        } else {
            let hidden = chars[at..end].iter();
            out.extend(hidden.map(|c| if *c == '\n' { '\n' } else { ' ' }));
            at = end;
        }
    }
    out
}

/// Returns where the comment or literal that starts at `at` ends, or `at` if none does.
fn opaque_end(chars: &[char], at: usize) -> usize {
    let rest = &chars[at..];
    let find = |from: usize, what: &str| {
        let what: Vec<char> = what.chars().collect();
        let found = rest[from..]
            .windows(what.len())
            .position(|part| part == what);
        found.map_or(chars.len(), |offset| at + from + offset + what.len())
    };
    let in_word = at > 0 && (chars[at - 1].is_alphanumeric() || chars[at - 1] == '_');
    match rest {
        ['/', '/', ..] => at + rest.iter().take_while(|c| **c != '\n').count(),
        ['/', '*', ..] => block_comment_end(chars, at),
        ['"', ..] => quoted_end(chars, at + 1, '"'),
        ['\'', '\\', ..] => quoted_end(chars, at + 1, '\''),
        // `'a'` is a character, `'a` a lifetime.
        ['\'', _, '\'', ..] => at + 3,
        ['r', ..] if !in_word || chars[at - 1] == 'b' || chars[at - 1] == 'c' => {
            let hashes = rest[1..].iter().take_while(|c| **c == '#').count();
            match rest.get(1 + hashes) {
                Some('"') => find(2 + hashes, &format!("\"{}", "#".repeat(hashes))),
                _ => at,
            }
        }
        _ => at,
    }
}

fn block_comment_end(chars: &[char], start: usize) -> usize {
    let mut depth = 0;
    let mut at = start;
    while at < chars.len() {
        match chars[at..] {
            ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
            ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn quoted_end(chars: &[char], mut at: usize, quote: char) -> usize {
    while at < chars.len() && chars[at] != quote {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(chars.len())
}

/// Cuts code into words, `::` and single other characters, each with its line.
fn tokens(code: &str) -> Vec<(usize, String)> {
    let mut tokens: Vec<(usize, String)> = Vec::new();
    for (number, line) in code.lines().enumerate() {
        let mut chars = line.chars().peekable();
        while let Some(first) = chars.next() {
            let mut token = String::from(first);
            if first.is_whitespace() {
                continue;
            } else if first.is_alphanumeric() || first == '_' {
                while let Some(next) = chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
                    token.push(next);
                }
            } else if first == ':' {
                token.extend(chars.next_if_eq(&':'));
            }
            tokens.push((number + 1, token));
        }
    }
    tokens
}

/// Returns every path in the code, those of nested `use` trees written out.
fn paths(tokens: &[(usize, String)]) -> Vec<UsePath> {
    let mut found = Vec::new();
    // What each open brace belongs to: an inline module's name, or nothing of interest.
    let mut braces: Vec<Option<String>> = Vec::new();
    let mut imported = false;
    let mut at = 0;
    while let Some((_, token)) = tokens.get(at) {
        if is_word(token) {
            imported |= token == "use";
            let from = found.len();
            at = tree(tokens, at, &[], &mut found);
            for path in &mut found[from..] {
                path.within = braces.iter().flatten().cloned().collect();
                path.imported = imported;
            }
            continue;
        }
        match token.as_str() {
            "{" => braces.push(match &tokens[..at] {
                [.., (_, keyword), (_, name)] if keyword == "mod" => Some(name.clone()),
                _ => None,
            }),
            "}" => drop(braces.pop()),
            ";" => imported = false,
            _ => {}
        }
        at += 1;
    }
    found
}

/// Reads one path or `use` tree behind `prefix`; returns where it ends.
fn tree(
    tokens: &[(usize, String)],
    start: usize,
    prefix: &[String],
    found: &mut Vec<UsePath>,
) -> usize {
    let mut segments = prefix.to_vec();
    let mut at = start;
    let text = |at: usize| tokens.get(at).map_or("", |(_, token)| token.as_str());
    loop {
        match text(at) {
            "{" if at > 0 && text(at - 1) == "::" => {
                at += 1;
                while !["}", ""].contains(&text(at)) {
                    // Commas, and the `as name` behind an element, read as elements of no interest.
                    at = match is_word(text(at)) && text(at) != "as" || text(at) == "*" {
                        true => tree(tokens, at, &segments, found),
                        false if text(at) == "as" => at + 2,
                        false => at + 1,
                    };
                }
                return at + 1;
            }
            token if token == "*" || is_word(token) => {
                segments.push(token.to_owned());
                at += 1;
                if text(at) == "::" {
                    at += 1;
                    continue;
                }
            }
            _ => {}
        }
        found.push(UsePath {
            line: tokens[start].0,
            segments,
            within: Vec::new(),
            imported: false,
        });
        return at;
    }
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

// That each rule catches what it is for.

/// Returns the lines at which a rule is broken.
fn lines(violations: &[Violation]) -> Vec<usize> {
    violations.iter().map(|found| found.line).collect()
}

#[test]
fn catches_an_import_of_an_upper_layer() {
    let text = "//! A.\nuse crate::server::Live;\nuse crate::mapping::Table;\n";
    let found = layer_violations("src/source/files.rs", text);
    let message = "src/source/files.rs:2: layer `source` names `server`, but may import mapping";
    assert_eq!(
        found.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [message]
    );
    assert!(layer_violations("src/cli/serve.rs", text).is_empty());
    assert_eq!(lines(&layer_violations("src/mapping/value/code.rs", text)), [2]);
}

#[test]
fn catches_nested_renamed_and_glob_imports() {
    let text = "use crate::{\n    mapping::{self as m, Table},\n    server::Live as L,\n    cli,\n};\n\
                use crate::*;\n";
    assert_eq!(
        lines(&layer_violations("src/source/files.rs", text)),
        [3, 4, 6]
    );
}

#[test]
fn catches_fully_qualified_paths() {
    let text = "fn f(x: &crate::server::Live) -> Vec<crate::cli::X> {\n    \
                Vec::<waypost::server::Y>::new()\n}\n";
    assert_eq!(
        lines(&layer_violations("src/mapping/value/code.rs", text)),
        [1, 1, 2]
    );
}

#[test]
fn catches_imports_by_way_of_super() {
    let text = "use super::super::server::Live;\nuse super::server;\n\
                mod tests {\n    use super::super::code;\n    use super::super::super::cli;\n}\n";
    assert_eq!(
        lines(&layer_violations("src/mapping/value/code.rs", text)),
        [1, 5]
    );
    assert_eq!(
        lines(&layer_violations("src/mapping/mod.rs", text)),
        [1, 2, 4, 5]
    );
}

#[test]
fn catches_side_by_side_layers_importing_each_other() {
    let text = "use crate::edit::insert;\n";
    assert_eq!(lines(&layer_violations("src/source/files.rs", text)), [1]);
    let text = "use crate::source::files;\n";
    assert_eq!(lines(&layer_violations("src/edit/insert.rs", text)), [1]);
    assert!(layer_violations("src/registry/decide/register.rs", text).is_empty());
}

#[test]
fn catches_a_layer_that_nobody_designed() {
    assert_eq!(lines(&layer_violations("src/glue/mod.rs", "//! G.\n")), [1]);
    assert_eq!(
        lines(&layer_violations("src/cli/mod.rs", "use crate::glue::X;\n")),
        [1]
    );
}

#[test]
fn leaves_comments_strings_and_visibilities_alone() {
    let text = "//! See [`crate::server`].\n/* crate::cli /* crate::cli */ crate::cli */\n\
                pub(crate) fn f<'a>(s: &'a str) -> char {\n    \
                let _ = (\"crate::server::\\\" crate::cli\", r#\"crate::\"cli\"#, b\"std::fs::x\");\n    \
                '\"'\n}\npub(in crate::mapping) struct X;\n";
    assert_eq!(lines(&layer_violations("src/mapping/value/code.rs", text)), []);
    assert_eq!(lines(&purity_violations("src/mapping/value/code.rs", text)), []);
    // What follows a literal is still read.
    let text = "fn f() { ('\"', '\\'', r\"\\\", crate::cli::X) }\n";
    assert_eq!(lines(&layer_violations("src/mapping/value/code.rs", text)), [1]);
}

#[test]
fn catches_impurity_in_the_mapping_layer_only() {
    let text = "use std::{fmt, fs};\nuse std::net::IpAddr as Ip;\nuse tokio;\n\
                fn f() {\n    std::env::var(\"X\");\n    std::time::SystemTime::now();\n    \
                Instant::now();\n    tracing::info!(\"x\");\n    std::process::exit(1);\n    \
                use hyper_util::rt;\n    let notify = 1;\n    notify + 1;\n}\n";
    let found = purity_violations("src/mapping/value/code.rs", text);
    assert_eq!(lines(&found), [1, 2, 3, 5, 6, 7, 8, 9, 10]);
    assert_eq!(found[0].rule, "mapping is pure, but names `std::fs`");
    assert!(purity_violations("src/source/files.rs", text).is_empty());
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
