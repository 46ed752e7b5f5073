//! `waypost export`: each form of a table with every feature, and what comes back of those that
//! carry all of it.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use insta::assert_snapshot;
use proptest::prelude::*;
use waypost::exchange::ExportFormat;
use waypost::mapping::{Site, SourceFile, Table, Timestamp, compare, compile};

use crate::transcript::transcript;

/// A table in which every feature occurs; all expiries are far in the past or in the future.
const TABLE: &str = "tests/data/exchange/mapping.yaml";

fn run(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_waypost"));
    command.arg("export").args(args).env_clear();
    command.output().unwrap()
}

/// Runs the program, and returns its status and both outputs.
fn report(args: &[&str]) -> String {
    // The line endings that RFC 4180 requires would not be visible.
    transcript(run(args)).replace('\r', "␍")
}

#[test]
fn every_form_carries_what_it_can_and_reports_the_rest() {
    for format in [
        "csv",
        "jsonl",
        "yaml",
        "beacon",
        "urlteam",
        "nginx",
        "caddy",
        "redirects",
        "apache",
    ] {
        let report = report(&["--table", TABLE, "--format", format]);
        assert_snapshot!(format, report);
    }
}

#[test]
fn servers_find_codes_in_any_case_if_the_table_does() {
    let table = "tests/data/exchange/folding.yaml";
    for format in ["nginx", "caddy", "apache", "jsonl"] {
        let report = report(&["--table", table, "--format", format]);
        // The lines that choose among variants are the same in every case.
        let lines = report
            .lines()
            .filter(|it| !it.contains("x22") && !it.contains("WAYPOST_"));
        let lines: Vec<_> = lines.collect();
        assert_snapshot!(format!("folding_{format}"), lines.join("\n"));
    }
}

#[test]
fn a_static_site_has_a_page_a_code() {
    let directory = tempfile::tempdir().unwrap();
    let site = directory.path().join("site");
    let path = site.to_str().unwrap();
    let all = report(&["--table", TABLE, "--format", "html", path]);
    let mut shown = all.clone();
    for file in files_under(&site) {
        let name = file.strip_prefix(&site).unwrap().display();
        let text = fs::read_to_string(&file).unwrap();
        // Every page has the same style.
        let text = text.replace(waypost::html::STYLE, "");
        shown += &format!("--- {name}\n{text}");
    }
    assert_snapshot!("html", shown);

    let again = report(&["--table", TABLE, "--format", "html", path]);
    let refused =
        "status 1\n--- stdout\n--- stderr\nwaypost: TEMP is not empty: name a new directory\n";
    assert_eq!(again.replace(path, "TEMP"), refused);
}

#[test]
fn usage_that_cannot_work_exits_with_2() {
    let sites = "tests/tables/ok/several-sites";
    for args in [
        &["--format", "html"][..],
        &["--format", "xml"],
        &[],
        &["--format", "csv", "somewhere"],
        &["--format", "csv", "--table", sites],
    ] {
        assert_eq!(run(args).status.code(), Some(2), "{args:?}");
    }
    // The requested site does not exist.
    let csv = ["--format", "csv", "--table", sites];
    let unknown = [&csv[..], &["--site", "https://nowhere.example/"]].concat();
    assert_eq!(run(&unknown).status.code(), Some(1));
    let refused = run(&["--format", "csv", "--table", "tests/tables/err/tab.yaml"]);
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(
        run(&["--format", "csv", "--table", "nowhere"])
            .status
            .code(),
        Some(3)
    );
}

#[test]
fn of_several_sites_the_named_one_is_written() {
    let sites = "tests/tables/ok/several-sites";
    let table = table_of(Path::new(sites));
    for site in table.sites() {
        let base_url = site.base_url().as_str();
        let output = run(&["--format", "yaml", "--table", sites, "--site", base_url]);
        assert_eq!(
            output.stdout,
            written(site, ExportFormat::Yaml).into_bytes()
        );
    }
    let unknown = report(&["--format", "yaml", "--table", sites, "--site", "https://x/"]);
    assert!(
        unknown.contains("has no site \"https://x/\", only"),
        "{unknown}"
    );
    let report = report(&["--format", "yaml", "--table", sites]);
    assert!(
        report.contains("name one of the sites with --site: https://"),
        "{report}"
    );
}

#[test]
fn what_is_written_as_yaml_is_the_same_table_in_canonical_form() {
    let mut tables: Vec<_> = fs::read_dir("tests/tables/ok").unwrap().collect();
    tables.retain(|it| {
        !it.as_ref()
            .unwrap()
            .path()
            .to_str()
            .unwrap()
            .ends_with(".expected")
    });
    let tables = tables.into_iter().map(|it| it.unwrap().path());
    let mut sites = 0;
    for path in tables.chain(["tests/data/obo".into(), TABLE.into()]) {
        let table = table_of(&path);
        let files: Vec<_> = (table.sites().iter().enumerate())
            .map(|(number, site)| file(&number.to_string(), written(site, ExportFormat::Yaml)))
            .collect();
        let compilation = compile(&files);
        let again = compilation.table.unwrap_or_else(|| {
            panic!("{path:?}: {:#?}", compilation.diagnostics);
        });
        assert!(
            compare(&table, &again).is_empty(),
            "{path:?}: {:?}",
            compare(&table, &again)
        );
        for (before, after) in table.sites().iter().zip(again.sites()) {
            assert_eq!(before.base_url(), after.base_url());
            assert_eq!(before.scheme(), after.scheme());
            assert_eq!(before.new_code(), after.new_code());
            sites += 1;
        }
        for file in &files {
            let formatted = waypost::edit::format(file);
            assert_eq!(
                formatted.map(String::into_bytes).as_ref(),
                Ok(&file.bytes),
                "{path:?}"
            );
        }
    }
    assert!(sites > 30, "{sites}");
}

proptest! {
    #[test]
    fn any_text_survives(title in "\\PC{0,12}|[ -~]{0,12}|.{0,6}", tags in prop::collection::vec(".{1,6}", 0..3)) {
        let quoted = |text: &str| serde_json::to_string(text).unwrap().replace('\u{7f}', "\\u007f");
        let tags: Vec<_> = tags.iter().map(|tag| quoted(tag)).collect();
        let text = format!(
            "base_url: https://short.code/\nmapping:\n- url: https://e.org/\n  title: {}\n  tags: [{}]\n",
            quoted(&title),
            tags.join(", "),
        );
        let Some(table) = compile(&[file("t", text)]).table else {
            return Err(TestCaseError::reject("the table has errors"));
        };
        let again = written(&table.sites()[0], ExportFormat::Yaml);
        let compilation = compile(&[file("t", again.clone())]);
        let again = compilation.table.unwrap_or_else(|| panic!("{again}"));
        prop_assert!(compare(&table, &again).is_empty());
    }
}

fn written(site: &Site, format: ExportFormat) -> String {
    let mut text = Vec::new();
    format
        .write(site, Timestamp::from_unix(0), &mut text)
        .unwrap();
    String::from_utf8(text).unwrap()
}

fn file(name: &str, text: String) -> SourceFile {
    SourceFile {
        path: format!("{name}.yaml").into(),
        bytes: text.into_bytes(),
    }
}

fn table_of(path: &Path) -> Table {
    let mut paths = vec![path.to_owned()];
    if path.is_dir() {
        paths = files_under(path);
        paths.retain(|path| path.extension().is_some_and(|it| it == "yaml"));
    }
    let read = |path: &PathBuf| SourceFile {
        path: path.to_str().unwrap().into(),
        bytes: fs::read(path).unwrap(),
    };
    let files: Vec<_> = paths.iter().map(read).collect();
    compile(&files).table.unwrap()
}

fn files_under(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for item in fs::read_dir(directory).unwrap() {
        let path = item.unwrap().path();
        match path.is_dir() {
            true => files.extend(files_under(&path)),
            false => files.push(path),
        }
    }
    files.sort();
    files
}
