//! `waypost import`: each form as other programs write it, what is reported of the rest, and that what
//! `export` writes comes back.

#![allow(clippy::unwrap_used)]

use std::cell::Cell;
use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use proptest::prelude::*;
use tempfile::TempDir;
use waypost::exchange::ExportFormat;
use waypost::exchange::read::{ImportFormat, ImportedLink, Options};
use waypost::mapping::{
    Case, Change, ChangeKind, Outcome, Request, SourceFile, Table, Timestamp, compare, compile,
};
use waypost::registry::{
    ImportRun, Intake, LocalError, MayShadow, NewTable, import_in_files, import_in_new_file,
};

/// A directory with a table, or with none yet.
struct Fixture {
    directory: TempDir,
}

impl Fixture {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self { directory }
    }

    fn with(text: &str) -> Self {
        let fixture = Self::new();
        fs::write(fixture.table(), text).unwrap();
        fixture
    }

    fn table(&self) -> PathBuf {
        self.directory.path().join("mapping.yaml")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.table()).unwrap()
    }

    /// Runs the program, and returns its status and both outputs.
    fn import(&self, args: &[&str], stdin: &[u8]) -> String {
        let path = self.table();
        let mut command = Command::new(env!("CARGO_BIN_EXE_waypost"));
        command.arg("import").args(args).env_clear();
        command.env("WAYPOST_TABLE", &path);
        command.stdin(Stdio::piped());
        command.stdout(Stdio::piped());
        command.stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A program that does not read its input may be gone before it is written.
        let _ = child.stdin.take().unwrap().write_all(stdin);
        let output = child.wait_with_output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert_eq!(stdout.is_empty(), !args.contains(&"--dry-run"), "{stdout}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        let both = format!("{stdout}{stderr}");
        let both = both.replace(path.to_str().unwrap(), "mapping.yaml");
        format!("status {}\n{both}", output.status.code().unwrap())
    }
}

#[test]
fn each_form_is_read_and_the_rest_reported() {
    for (format, file) in [
        ("csv", "links.csv"),
        ("jsonl", "links.jsonl"),
        ("yourls", "yourls.csv"),
        ("yourls", "yourls.tsv"),
        ("yourls", "yourls.sql"),
        ("golink", "golink.jsonl"),
        ("csv", "bitly.csv"),
        ("csv", "dub.csv"),
        ("shlink", "shlink.csv"),
        ("kutt", "kutt.json"),
        ("nginx", "nginx.conf"),
        ("apache", "apache.conf"),
        ("caddy", "Caddyfile"),
        ("redirects", "_redirects"),
        ("beacon", "dump.beacon"),
        ("psql", "psql.csv"),
    ] {
        let fixture = Fixture::new();
        let file = format!("tests/data/import/{file}");
        let args = [
            "--base-url",
            "https://short.code/",
            "--format",
            format,
            &file,
        ];
        let report = fixture.import(&args, b"");
        let name = file.rsplit('/').next().unwrap();
        assert_snapshot!(name, format!("{report}---\n{}", fixture.text()));
    }
}

#[test]
fn another_format_is_reported_once() {
    let table = "base_url: https://short.code/\nmapping: []\n";
    let fixture = Fixture::with(table);
    for (format, file, other) in [
        ("csv", "golink.jsonl", "golink"),
        ("kutt", "yourls.sql", "yourls"),
        ("yourls", "nginx.conf", "nginx"),
        ("nginx", "Caddyfile", "caddy"),
        ("caddy", "_redirects", "redirects"),
    ] {
        let file = format!("tests/data/import/{file}");
        let report = fixture.import(&["--format", format, &file], b"");
        assert_eq!(
            report,
            format!(
                "status 1\nwaypost: {file}: no row of this file can be read as {format}: it looks like \
                 {other}\n  hint: read it with --format {other}\n"
            )
        );
        assert_eq!(fixture.text(), table);
    }
}

#[test]
fn what_is_there_stays_and_comes_first() {
    let table = "# ours\nbase_url: https://short.code/\nmapping:\n- url: https://e.org/  # first\n  \
                 short-code: b\n- url: 'https://f.org/'\n  short-code: d";
    let fixture = Fixture::with(table);
    let rows =
        b"short-code,url\nc,https://c.org/\nb,https://e.org/\nd,https://e.org/\na,https://f.org/\n";
    let dry = fixture.import(&["-", "--format", "csv", "--dry-run"], rows);
    assert_eq!(fixture.text(), table);
    let report = fixture.import(&["-", "--format", "csv"], rows);
    let shown = "status 1\n2 added\n  a: https://f.org/\n    at mapping.yaml:4:3\n  \
                 c: https://c.org/\n    at mapping.yaml:8:3\n";
    let dry = dry.replace("would add", "added");
    assert_eq!(dry, report.replace("status 1\n", shown));
    assert_snapshot!(report, @r#"
    status 1
    <stdin>:4: error: the code "d" is taken by the entry at mapping.yaml:6:3
      hint: it leads to https://f.org/: choose another code
    mapping.yaml:10:8: warning: this URL already has the code "a"
      hint: it is first at mapping.yaml:4:3: further codes go under its "aliases"
    added 2 links to mapping.yaml; 1 already in the table; 1 not imported
    "#);
    assert_snapshot!(fixture.text(), @r"
    # ours
    base_url: https://short.code/
    mapping:
    - url: https://f.org/
      short-code: a
    - url: https://e.org/  # first
      short-code: b
    - url: https://c.org/
      short-code: c
    - url: 'https://f.org/'
      short-code: d
    ");
    // The second import changes nothing.
    let before = fixture.text();
    fixture.import(&["-", "--format", "csv"], rows);
    assert_eq!(fixture.text(), before);
}

#[test]
fn a_link_with_other_variants_is_not_there_already() {
    let table = "base_url: https://short.code/\nmapping:\n- url: https://e.org/\n  short-code: a\n";
    let fixture = Fixture::with(table);
    let link = |more: &str| format!("{{\"short-code\":\"a\",\"url\":\"https://e.org/\"{more}}}\n");
    let report = fixture.import(&["--format", "jsonl", "-"], link("").as_bytes());
    assert!(report.contains("1 already in the table"), "{report}");
    let variants = r#","variants":[{"accept":["a/b"],"url":"https://e.org/b"}]"#;
    let report = fixture.import(&["--format", "jsonl", "-"], link(variants).as_bytes());
    assert!(report.contains("1 not imported"), "{report}");
    assert_eq!(fixture.text(), table);
}

#[test]
fn urls_that_cannot_be_used_are_refused_with_their_reason() {
    let fixture = Fixture::with("base_url: https://short.code/\nmapping: []\n");
    let variant = r#""variants":[{"accept":["a/b"],"url":"https://e.org/b""#;
    let url = r#""url":"https://e.org/""#;
    let rows = [
        format!(r#"{{"short-code":"a",{url},"below":"https://e.org/b"}}"#),
        r#"{"short-code":"b","retired":true,"below":"https://e.org/b/"}"#.to_owned(),
        r#"{"short-code":"c","retired":true,"archive":"https://e.org/c"}"#.to_owned(),
        format!(r#"{{"short-code":"d","retired":true,{variant}}}]}}"#),
        format!(r#"{{"short-code":"e",{url},{variant},"below":"https://e.org/b/"}}]}}"#),
        format!(r#"{{"short-code":"f",{url},"forward":"path",{variant}}}]}}"#),
        format!(
            r#"{{"short-code":"g",{url},"below":"https://e.org/b/",{variant},"below":"https://e.org/c"}}]}}"#
        ),
        format!(
            r#"{{"short-code":"h",{url},"forward":"all",{variant},"below":"https://e.org/b/"}}]}}"#
        ),
    ];
    let report = fixture.import(&["--format", "jsonl", "-"], rows.join("\n").as_bytes());
    assert_snapshot!(report, @r##"
    status 1
    <stdin>:1: error: the path cannot be forwarded to a target that ends like this
      hint: end the URL in "/", "=", ":" or "#"
    <stdin>:1: the same on 2 further lines: 6, 7
    <stdin>:2: error: there is "below", but no URL
      hint: add the URL, or leave out what was taken down
    <stdin>:3: error: there is "archive", but no URL
      hint: add the URL, or leave out what was taken down
    <stdin>:4: error: there is "variants", but no URL
      hint: add the URL, or leave out what was taken down
    <stdin>:5: error: only a variant says where paths below the code lead
      hint: add "below", for all other requests
    added 1 link to mapping.yaml; 7 not imported
    "##);
    assert_eq!(
        fixture.text(),
        "base_url: https://short.code/\nmapping:\n- url: https://e.org/\n  short-code: h\n  forward: all\n  \
         variants:\n  - accept: a/b\n    url: https://e.org/b\n    below: https://e.org/b/\n"
    );
    let defaults = "base_url: https://short.code/\ndefaults: {forward: path}\nmapping: []\n";
    let fixture = Fixture::with(defaults);
    let row = rows[0].replace("/b\"", "/b/\"");
    let report = fixture.import(&["--format", "jsonl", "-"], row.as_bytes());
    assert_snapshot!(report, @r#"
    status 1
    <stdin>:1: error: "below" excludes a "forward" that is about paths, and the defaults of its file set this forwarding
      hint: give it "forward: none"
    added 0 links to mapping.yaml; 1 not imported
    "#);
}

#[test]
fn a_takedown_is_not_undone() {
    let fixture = Fixture::with(
        "base_url: https://short.code/\nmapping:\n- short-code: KiuH6GHM\n  retired: true\n\
         - url: https://gone.org/\n  short-code: gone\n  retired: true\n",
    );
    let before = fixture.text();
    let rows = b"code,url\n,https://taken.org/\nx,https://taken.org/\ngone,https://gone.org/\n\
                 ,https://gone.org/\n";
    let report = fixture.import(&["-", "--format", "csv"], rows);
    assert_snapshot!(report, @r#"
    status 1
    <stdin>:2: error: ERR-000-02-00: URL already registered
      hint: its link https://short.code/KiuH6GHM at mapping.yaml:3:3 is retired or expired, and no import brings it back
    <stdin>:2: the same on 1 further line: 3
    <stdin>:4: error: the code "gone" is taken by the entry at mapping.yaml:5:3
      hint: it is retired or expired, and its code stays taken: choose another
    <stdin>:5: error: ERR-000-02-00: URL already registered
      hint: its link https://short.code/gone at mapping.yaml:5:3 is retired or expired, and no import brings it back
    added 0 links to mapping.yaml; 4 not imported
    "#);
    assert_eq!(fixture.text(), before);
}

#[test]
fn what_would_break_the_table_is_reported_and_all_else_imported() {
    let fixture = Fixture::with(
        "base_url: https://short.code/\ndefaults: {forward: path, status: 301}\nmapping: []\n\
         tests:\n- from: /t\n  to: not-found\n",
    );
    let rows = b"code,url,forward,status\n\
        a,https://a.org/,,302\n\
        self,http://short.code/self?x,none,\n\
        ,https://short.code/a,none,\n\
        x,https://short.code/y,none,\n\
        y,https://short.code/x,none,\n\
        b,https://b.org/x,,\n\
        t,https://t.org/,path,\n\
        c,https://c.org/,path,301\n";
    let report = fixture.import(&["-", "--format", "csv"], rows);
    assert_snapshot!(report, @r#"
    status 1
    <stdin>:3: error: the URL is already a short link of this table
      hint: register the URL that it leads to instead
    <stdin>:3: the same on 1 further line: 4
    <stdin>:6: error: the table would have errors: the target leads into a loop of short links
      hint: https://short.code/y → https://short.code/x → https://short.code/y: change the target of one of them
    <stdin>:7: error: the path cannot be forwarded to a target that ends like this, and the defaults of its file set this forwarding
      hint: give it "forward: none"
    <stdin>:8: error: the table would have errors: the test of "/t" fails: expected not-found, got https://t.org/
    mapping.yaml:9:8: warning: the target is a short link that this table does not have
      hint: change the target of this entry, or add that link
    added 3 links to mapping.yaml; 5 not imported
    "#);
    assert_snapshot!(fixture.text(), @r"
    base_url: https://short.code/
    defaults: {forward: path, status: 301}
    mapping:
    - url: https://a.org/
      short-code: a
      status: 302
    - url: https://c.org/
      short-code: c
    - url: https://short.code/y
      short-code: x
      forward: none
    tests:
    - from: /t
      to: not-found
    ");
}

#[test]
fn nothing_is_written_unless_all_of_it_is_valid() {
    let table = "base_url: https://short.code/\nmapping:\n- url: https://e.org/\n  short-code: a\n";
    let broken = table.replace("url: https", "uri: https");
    for (table, rows, status) in [
        (
            &broken[..],
            &b"short-code,url\nz,https://z.org/\n"[..],
            "status 1\n",
        ),
        (table, b"short-code,ziel\nz,https://z.org/\n", "status 1\n"),
        (
            table,
            b"\x7FELF\x02\x01\x01\x00\x00\n\x00\xFF\n",
            "status 1\n",
        ),
        (
            "{base_url: 'https://short.code/', mapping: []}",
            b"url\nhttps://z.org/\n",
            "status 1\n",
        ),
    ] {
        let fixture = Fixture::with(table);
        let report = fixture.import(&["-", "--format", "csv"], rows);
        assert!(report.starts_with(status), "{report}");
        assert_eq!(fixture.text(), table, "{report}");
    }
}

#[test]
fn a_table_is_made_even_if_nothing_comes_into_it() {
    for (format, input, report) in [
        (
            "csv",
            &b"url\n"[..],
            "status 0\nadded 0 links to mapping.yaml\n",
        ),
        ("jsonl", b"", "status 0\nadded 0 links to mapping.yaml\n"),
        (
            "csv",
            b"",
            "status 1\nwaypost: <stdin>: it is empty and has no header\n",
        ),
    ] {
        let fixture = Fixture::new();
        let args = ["-", "--format", format, "--base-url", "https://short.code/"];
        assert_eq!(fixture.import(&args, input), report);
        let text = fs::read_to_string(fixture.table());
        match report.starts_with("status 0") {
            true => assert_eq!(
                text.unwrap(),
                "base_url: https://short.code/\nmapping: []\n"
            ),
            false => assert!(text.is_err()),
        }
    }
    let report = Fixture::with("base_url: https://short.code/\nmapping: []\n")
        .import(&["-", "--format", "kutt"], b" \n");
    assert!(
        report.starts_with("status 1\n<stdin>:1: error: "),
        "{report}"
    );
}

#[test]
fn a_file_that_may_not_be_written_is_not() {
    let table = "base_url: https://short.code/\nmapping: []\n";
    let fixture = Fixture::with(table);
    fs::set_permissions(fixture.table(), Permissions::from_mode(0o444)).unwrap();
    let report = fixture.import(&["-", "--format", "csv"], b"url\nhttps://z.org/\n");
    assert!(report.starts_with("status 3\n"), "{report}");
    assert_eq!(fixture.text(), table);
}

#[test]
fn a_link_of_the_base_url_belongs_into_its_home() {
    let fixture = Fixture::with("base_url: https://short.code/\nmapping: []\n");
    let rows = b"Short link,Destination URL\nhttps://short.code,https://e.org/\nhttps://short.code/a,https://e.org/a\n";
    assert_snapshot!(fixture.import(&["-", "--format", "csv"], rows), @r#"
    status 1
    <stdin>:2: error: this is the base URL itself, not a code
      hint: write where it leads as "home" of the table
    added 1 link to mapping.yaml; 1 not imported
    "#);
}

#[test]
fn spoilt_rows_spoil_no_others() {
    let long = format!("https://e.org/{}", "x".repeat(1 << 20));
    let rows = format!(
        "short-code,url\r\n\
        a,{long}\r\n{long},https://e.org/\r\nb\0,https://e.org/\r\nc,https://e.org/\0\r\n\
        d,https://e.org/\x1b[2J\r\ne,https://e.org/e\r\n"
    );
    let fixture = Fixture::with("base_url: https://short.code/\nmapping: []\n");
    let mut rows = rows.into_bytes();
    rows.extend(b"f,https://e.org/\xFF\r\n");
    let report = fixture.import(&["-", "--format", "csv"], &rows);
    assert_snapshot!(report, @r#"
    status 1
    <stdin>:2: error: a URL can have at most 8192 bytes, this one has 1048590 (column "url")
    <stdin>:3: error: "https://e.org/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…" is not under https://short.code/
      hint: name the base URL where the links come from, as in --from https://e.org/, or give the table a site with it
    <stdin>:4: error: '\0' is not allowed in a short code (column "short-code")
      hint: use letters, digits, "-", ".", "_", "~", and "/" between segments
    <stdin>:5: error: the URL contains the control character '\0' (column "url")
      hint: leave it out, or percent-encode it if the target needs it
    <stdin>:6: error: the URL contains the control character '\u{1b}' (column "url")
      hint: leave it out, or percent-encode it if the target needs it
    <stdin>:8: error: this is not UTF-8
    added 1 link to mapping.yaml; 6 not imported
    "#);
}

#[test]
fn usage_that_cannot_work_exits_with_2() {
    let fixture = Fixture::with("base_url: https://short.code/\nmapping: []\n");
    for args in [
        &["-", "--format", "xml"][..],
        &["-"],
        &["--format", "csv"],
        &["-", "--format", "csv", "--base-url", "https://short.code/"],
        &["-", "--format", "csv", "--base-url", "short.code"],
        &["-", "--format", "csv", "--column", "ziel=url"],
        &["-", "--format", "csv", "--column", "url"],
        &["-", "--format", "csv", "--column", "url=ziel"],
        &["-", "--format", "csv", "--table", "-"],
    ] {
        let report = fixture.import(args, b"url\nhttps://z.org/\n");
        assert!(report.starts_with("status 2\n"), "{args:?}: {report}");
    }
    let report = Fixture::new().import(&["-", "--format", "csv"], b"url\nhttps://z.org/\n");
    assert!(report.starts_with("status 3\n"), "{report}");
    assert!(
        fixture
            .import(&["nowhere", "--format", "csv"], b"")
            .starts_with("status 3\n")
    );
}

#[test]
fn links_of_another_base_url_are_taken_when_it_is_named() {
    let fixture = Fixture::with("base_url: https://short.code/\nmapping: []\n");
    let dump = b"#PREFIX: https://old.example/go/\n\na|https://e.org/\n";
    let report = fixture.import(&["-", "--format", "beacon"], dump);
    assert!(report.contains("hint: name the base URL"), "{report}");
    let args = [
        "-",
        "--format",
        "beacon",
        "--from",
        "https://old.example/go/",
    ];
    assert_eq!(
        fixture.import(&args, dump),
        "status 0\nadded 1 link to mapping.yaml\n"
    );
    assert!(
        fixture
            .text()
            .ends_with("mapping:\n- url: https://e.org/\n  short-code: a\n")
    );
}

#[test]
fn a_table_that_would_be_too_large_is_left_as_it_is() {
    let table = "base_url: https://short.code/\nmapping: []\n";
    let fixture = Fixture::with(table);
    for (count, fits) in [(10, false), (1, true)] {
        let imported = import_in_files(
            &[fixture.table()],
            200,
            &run(&|intake| {
                for number in 0..count {
                    let link = ImportedLink {
                        url: Some(format!("https://e.org/{number}")),
                        ..ImportedLink::default()
                    };
                    intake.take(number, link).unwrap();
                }
                Ok(())
            }),
            None,
        );
        assert_eq!(imported.is_ok(), fits, "{imported:?}");
        assert_eq!(fixture.text() == table, !fits);
    }
}

fn run<'r>(
    fill: &'r dyn Fn(&mut Intake<'_>) -> Result<(), LocalError>,
) -> ImportRun<'r, LocalError> {
    ImportRun {
        fill,
        names_sites: false,
        site: None,
        file: None,
        may_shadow: &MayShadow::None,
        format: "csv",
        is_dry_run: false,
        now: Timestamp::from_unix(0),
    }
}

/// Exports a table and imports it again into a new one, with how many rows were refused.
fn round_trip(table: &Table, format: ExportFormat, form: ImportFormat) -> (Table, usize) {
    let site = &table.sites()[0];
    let mut written = Vec::new();
    format
        .write(site, Timestamp::from_unix(0), &mut written)
        .unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.yaml");
    let refused = Cell::new(0);
    let imported = import_in_new_file(
        &path,
        NewTable {
            base_url: site.base_url(),
            // In any case, a short code might be that of a number, which is found only as it is.
            case: Case::Exact,
        },
        1 << 30,
        &run(&|intake| {
            let options = Options {
                case: intake.case(),
                from: &[site.base_url()],
                columns: &[],
            };
            let read = form.read(&written, &options, &mut |row| {
                let taken = row.link.map(|link| intake.take(row.line, link));
                refused.set(refused.get() + usize::from(!matches!(taken, Ok(Ok(())))));
            });
            read.unwrap();
            Ok(())
        }),
        None,
    );
    imported.unwrap();
    (table_of(&path), refused.get())
}

fn table_of(path: &Path) -> Table {
    compiled(
        fs::read_to_string(path)
            .unwrap_or_else(|_| "base_url: https://short.code/\nmapping: []\n".to_owned()),
    )
    .unwrap()
}

fn compiled(text: String) -> Option<Table> {
    let file = SourceFile {
        path: "t.yaml".into(),
        bytes: text.into_bytes(),
    };
    compile(&[file]).table
}

/// The formats that can represent a whole table.
const WHOLE: [(ExportFormat, ImportFormat); 2] = [
    (ExportFormat::Csv, ImportFormat::Csv),
    (ExportFormat::JsonLines, ImportFormat::JsonLines),
];

/// The formats that represent codes, URLs, statuses and gone links.
const BARE: [(ExportFormat, ImportFormat); 4] = [
    (ExportFormat::Caddy, ImportFormat::Caddy),
    (ExportFormat::Nginx, ImportFormat::Nginx),
    (ExportFormat::Apache, ImportFormat::Apache),
    (ExportFormat::Redirects, ImportFormat::Redirects),
];

#[test]
fn what_carries_a_whole_table_brings_it_back() {
    let mut tables = 0;
    for item in fs::read_dir("tests/tables/ok").unwrap() {
        let path = item.unwrap().path();
        if path.extension().is_some_and(|it| it == "yaml") {
            let text = fs::read(&path).unwrap();
            let file = SourceFile {
                path: "t.yaml".into(),
                bytes: text,
            };
            check_whole(&compile(&[file]).table.unwrap());
            tables += 1;
        }
    }
    assert!(tables > 20, "{tables}");
    check_whole(&table_of(Path::new("tests/data/exchange/mapping.yaml")));
}

fn check_whole(table: &Table) {
    for (format, form) in WHOLE {
        let (again, refused) = round_trip(table, format, form);
        let mut changes = compare(table, &again);
        if format == ExportFormat::Csv {
            // It reports them as lost, with the forwarding that is only for them.
            let is_lost = |it: &Change<'_>| match it.kind {
                ChangeKind::VariantsRetargeted => true,
                ChangeKind::Forward => it.old.is_some_and(|it| it.has_variants()),
                _ => false,
            };
            changes.retain(|it| !is_lost(it));
        }
        assert!(
            changes.is_empty() && refused == 0,
            "{format:?}: {refused} {}",
            report(&changes)
        );
    }
}

#[test]
fn what_servers_negotiate_is_refused() {
    let table = table_of(Path::new("tests/data/exchange/mapping.yaml"));
    for (format, form) in [
        (ExportFormat::Nginx, ImportFormat::Nginx),
        (ExportFormat::Apache, ImportFormat::Apache),
    ] {
        let (again, refused) = round_trip(&table, format, form);
        assert!(refused > 0, "{format:?}");
        let mut found = 0;
        for entry in again.sites()[0].entries() {
            let code = entry.code();
            let path = format!("/{code}");
            let leads = |table: &Table, accept| led(table, &path, accept);
            for accept in ["*/*", "text/turtle", "application/json;q=0.5"] {
                let before = leads(&table, accept);
                assert_eq!(leads(&again, accept), before, "{format:?} {code} {accept}");
            }
            found += 1;
        }
        assert!(found > 20, "{format:?}: {found}");
    }
}

/// Returns where a path leads for a value of `Accept`; `None` if nowhere.
fn led(table: &Table, path: &str, accept: &str) -> Option<String> {
    let request = Request {
        host: None,
        path,
        query: None,
        accept: Some(&accept),
    };
    match table.resolve(&request, Timestamp::from_unix(0)) {
        Outcome::Redirect(redirect) => Some(redirect.location.into()),
        _ => None,
    }
}

/// Returns the differences.
fn report(changes: &[Change<'_>]) -> String {
    let report = changes
        .iter()
        .map(|it| format!("{:?} {}", it.kind, it.code));
    report.collect::<Vec<_>>().join(", ")
}

fn yaml(text: &str) -> String {
    serde_json::to_string(text)
        .unwrap()
        .replace('\u{7f}', "\\u007f")
}

/// Paths and queries with characters that are special to some program.
const URL: &str = "https://e\\.org/(:splat)?[a-z0-9/?&=$%20{}|!'()*+,;:@~.#\\[\\]^\"\\\\-]{0,12}";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_text_comes_back(
        title in "\\PC{1,8}|[ -~]{1,12}|\\P{Cc}{1,4}|NULL",
        tags in prop::collection::vec("[ -~]{0,6}|[a-zé \\\\\"',;|\u{a0}]{0,4}", 0..3),
        url in URL,
    ) {
        let tags: Vec<_> = tags.iter().map(|tag| yaml(tag)).collect();
        let text = format!(
            "base_url: https://short.code/\nmapping:\n- url: {}\n  short-code: a\n  title: {}\n  tags: [{}]\n",
            yaml(&url), yaml(&title), tags.join(", "),
        );
        let Some(table) = compiled(text) else {
            return Err(TestCaseError::reject("the table has errors"));
        };
        for (format, form) in WHOLE {
            let (again, refused) = round_trip(&table, format, form);
            let changes = compare(&table, &again);
            prop_assert!(changes.is_empty() && refused == 0, "{:?}: {}", format, report(&changes));
        }
    }

    #[test]
    fn bare_links_come_back(
        links in prop::collection::btree_map("[a-cA-C.~_-]{1,2}(/[é0-9]{1,2})?", (URL, "30[12378]"), 1..4),
    ) {
        let mut text = "base_url: https://short.code/go/\nmapping:\n".to_owned();
        // mod_rewrite sends neither an empty query nor an ampersand at the end of one.
        let is_changed = |url: &str| url.ends_with('?') || url.contains('?') && url.ends_with('&');
        let is_changed_by_apache = links.values().any(|(url, _)| is_changed(url));
        // A Caddyfile cannot have this without naming an environment variable.
        let is_changed_by_caddy = links.values().any(|(url, _)| url.contains("{$"));
        for (code, (url, status)) in links {
            text += &format!("- {{url: {}, short-code: {}, status: {status}}}\n", yaml(&url), yaml(&code));
        }
        let Some(table) = compiled(text.clone()) else {
            return Err(TestCaseError::reject("the table has errors"));
        };
        for (format, form) in BARE {
            let is_changed = match form {
                ImportFormat::Apache => is_changed_by_apache,
                ImportFormat::Caddy => is_changed_by_caddy,
                _ => false,
            };
            if is_changed {
                continue;
            }
            let (again, refused) = round_trip(&table, format, form);
            let changes = compare(&table, &again);
            prop_assert!(changes.is_empty() && refused == 0, "{:?}: {} {}", format, text, report(&changes));
        }
    }

    #[test]
    fn links_without_a_status_come_back(
        links in prop::collection::btree_map("[a-cA-C.~_-]{1,2}(/[é0-9]{1,2})?", URL, 1..4),
    ) {
        let mut text = "base_url: https://short.code/go/\nmapping:\n".to_owned();
        for (code, url) in links {
            // BEACON encodes a bar.
            let url = url.replace('|', "%7C");
            text += &format!("- {{url: {}, short-code: {}}}\n", yaml(&url), yaml(&code));
        }
        let Some(table) = compiled(text.clone()) else {
            return Err(TestCaseError::reject("the table has errors"));
        };
        for format in [ExportFormat::Beacon, ExportFormat::UrlTeam] {
            let (again, refused) = round_trip(&table, format, ImportFormat::Beacon);
            let changes = compare(&table, &again);
            prop_assert!(changes.is_empty() && refused == 0, "{:?}: {} {}", format, text, report(&changes));
        }
    }
}

#[test]
fn published_paths_of_the_table_are_not_taken_over() {
    let table = "base_url: https://short.code/\nmapping:\n- url: https://bank.example/\n  \
                 short-code: bank\n  forward: path\n- url: https://d.org/\n  short-code: team/d\n";
    // A prefix and its exception come together, in whichever order.
    let rows = b"short-code,url,forward\nbank/login,https://e.org/1,\nnew/x,https://e.org/2,\n\
                 new,https://e.org/3/,path\nnew/y,https://e.org/4,\nteam,https://e.org/5/,path\n";
    let fixture = Fixture::with(table);
    assert_snapshot!(fixture.import(&["-", "--format", "csv"], rows), @r#"
    status 1
    <stdin>:2: error: the code "bank/login" would change where "bank/login" leads, which "bank" at mapping.yaml:3:3 answers
      hint: choose another code, or allow it with --allow-shadowing
    <stdin>:6: error: the code "team" would change where "team/d)" leads, which "team/d" at mapping.yaml:6:3 answers
      hint: choose another code, or allow it with --allow-shadowing
    mapping.yaml:10:15: warning: the code "new/x" is below "new", which forwards its path
      hint: this entry takes precedence: "new" never receives that path
    mapping.yaml:12:15: warning: the code "new/y" is below "new", which forwards its path
      hint: this entry takes precedence: "new" never receives that path
    added 3 links to mapping.yaml; 2 not imported
    "#);
    let fixture = Fixture::with(table);
    let report = fixture.import(&["-", "--format", "csv", "--allow-shadowing"], rows);
    assert!(report.starts_with("status 0\n"), "{report}");
    let stated = "added 5 links to mapping.yaml\n\
                  declare the change in the commit message:\n\
                  Waypost-Allow: retarget bank/login\nWaypost-Allow: retarget team\n";
    assert!(report.ends_with(stated), "{report}");
}

const EMPTY: &str = "base_url: https://short.code/\nmapping: []\n";

#[test]
fn a_format_that_is_evident_need_not_be_named() {
    let fixture = Fixture::with(EMPTY);
    let report = fixture.import(&["tests/data/import/staff.csv"], b"");
    let taken = "tests/data/import/staff.csv: read as csv; --format selects another format\n";
    assert!(report.contains(taken), "{report}");
    assert!(fixture.text().contains("short-code: staff"), "{report}");
    let dump = b"gnu|https://www.gnu.org/\n";
    let report = fixture.import(&["-"], dump);
    assert!(
        report.starts_with("status 0\n<stdin>: read as beacon;"),
        "{report}"
    );
    // A given format is used as it is.
    let report = fixture.import(&["-", "--format", "beacon"], dump);
    assert!(!report.contains("taken as"), "{report}");

    let before = fixture.text();
    let both = b"Redirect /a https://e.org/\nlocation /b { return 302 https://e.org/; }\n";
    assert_snapshot!(fixture.import(&["-"], both), @r"
    status 2
    waypost: <stdin>: this file may have several formats: name it with --format: nginx, apache
    ");
    assert_snapshot!(fixture.import(&["-"], b"some words"), @r"
    status 2
    waypost: <stdin>: the format of this file cannot be detected: name it with --format: csv, jsonl, yourls, shlink, kutt, golink, nginx, apache, caddy, redirects, beacon, psql
    ");
    assert_eq!(fixture.text(), before);
}

#[test]
fn files_of_spreadsheets_are_converted() {
    for (encoding, bytes) in [
        (
            "Latin-1 (Windows-1252)",
            b"slug,url,title\nb,https://e.org/,B\xFCro \x96 hier\n".to_vec(),
        ),
        (
            "UTF-16",
            "\u{feff}slug;url;title\r\nb;https://e.org/;Büro – hier\r\n"
                .encode_utf16()
                .flat_map(u16::to_le_bytes)
                .collect(),
        ),
    ] {
        let fixture = Fixture::with(EMPTY);
        let report = fixture.import(&["-"], &bytes);
        let note = format!("status 0\n<stdin>: converted from {encoding}\n");
        assert!(report.starts_with(&note), "{report}");
        assert!(
            fixture.text().contains("title: Büro – hier"),
            "{}",
            fixture.text()
        );
    }
    // Of a file that is partly UTF-8, the other lines are reported.
    let fixture = Fixture::with(EMPTY);
    let report = fixture.import(
        &["-", "--format", "csv"],
        b"slug,url\n\xC3\xA9,https://e.org/\nb\xFC,https://f.org/\n",
    );
    assert!(
        report.contains("<stdin>:3: error: this is not UTF-8"),
        "{report}"
    );
}

#[test]
fn odd_files_are_read_or_refused_by_name() {
    let utf16 = |text: &str| -> Vec<u8> {
        let units = text.encode_utf16();
        units.flat_map(u16::to_le_bytes).collect()
    };
    let cut = [&utf16("\u{feff}slug,url\na,https://e.org/\n")[..], b"\0"].concat();
    let utf32: Vec<u8> = "\u{feff}slug,url\na,https://e.org/\n"
        .chars()
        .flat_map(|c| u32::from(c).to_le_bytes())
        .collect();
    for (input, taken, message) in [
        // Line breaks of old Macs, and the line for a spreadsheet before the header.
        (
            &b"slug,url\ra,https://e.org/\rb+,https://f.org/\r"[..],
            1,
            "<stdin>:3: error: '+'",
        ),
        (
            b"sep=;\r\nslug;url\r\na;https://e.org/\r\nb+;https://f.org/\r\n",
            1,
            "<stdin>:4: error: '+'",
        ),
        (
            &utf16("slug\turl\r\na\thttps://e.org/\r\n"),
            1,
            "converted from UTF-16",
        ),
        (&cut, 0, "this is not text"),
        (&utf32, 0, "this is not text"),
        (b"\x1f\x8b\x08\x00data", 0, "this is not text"),
        (
            b"[{\"short-code\":\"a\",\"url\":\"https://e.org/\"}]",
            0,
            "cannot be detected",
        ),
        (
            b"<a href=\"https://e.org/\">a, b</a>",
            0,
            "cannot be detected",
        ),
        (b"", 0, "cannot be detected"),
    ] {
        let fixture = Fixture::with(EMPTY);
        let report = fixture.import(&["-"], input);
        assert!(report.contains(message), "{message}: {report}");
        assert_eq!(fixture.text().matches("- url").count(), taken, "{report}");
    }
    // A message uses the terms of the format, not those of our source.
    let fixture = Fixture::with(EMPTY);
    let report = fixture.import(&["-", "--format", "jsonl"], b"\"short-code\"\n");
    assert!(report.contains("expected an object"), "{report}");
}

#[test]
fn a_reason_is_reported_once_with_the_lines_that_share_it() {
    let fixture = Fixture::with(EMPTY);
    let mut rows = "code,url,Gültig bis\n".to_owned();
    for number in 0..9 {
        rows += &format!("a{number},example.org/{number},\n");
    }
    rows += "b,https://e.org/,morgen\n";
    let args = ["-", "--format", "csv", "--column", "expires=Gültig bis"];
    assert_snapshot!(fixture.import(&args, rows.as_bytes()), @r#"
    status 1
    <stdin>:2: error: the URL is not absolute (column "url")
      hint: did you mean "https://example.org/0"?
    <stdin>:2: the same on 8 further lines: 3, 4, 5, 6, 7, …
    <stdin>:11: error: "expires" cannot be "morgen" (column "Gültig bis")
    added 0 links to mapping.yaml; 10 not imported
    "#);
    let two = [&args[..], &["--max-problems", "2"]].concat();
    assert_snapshot!(fixture.import(&two, rows.as_bytes()), @r#"
    status 1
    <stdin>:2: error: the URL is not absolute (column "url")
      hint: did you mean "https://example.org/0"?
    <stdin>:3: error: the URL is not absolute (column "url")
      hint: did you mean "https://example.org/1"?
    <stdin>:2: the same on 7 further lines
    <stdin>:11: error: "expires" cannot be "morgen" (column "Gültig bis")
    added 0 links to mapping.yaml; 10 not imported
    "#);
    let all = [&args[..], &["--max-problems", "all"]].concat();
    let report = fixture.import(&all, rows.as_bytes());
    for line in 2..=11 {
        let place = format!("<stdin>:{line}: error: ");
        assert_eq!(report.matches(&place).count(), 1, "{report}");
    }
    assert!(!report.contains("further"), "{report}");
}

#[test]
fn a_rule_of_which_a_part_is_imported_is_a_warning_and_counts_once() {
    let fixture = Fixture::with(EMPTY);
    let rules = "RewriteEngine On\n\
                 RewriteRule ^a/?$ https://e.org/a [R,L]\n\
                 RewriteRule ^(a|b)/?$ https://e.org/k [R,L]\n\
                 RewriteRule ^(r|s.t|u)(.*)$ https://e.org/r [R,L]\n\
                 RewriteRule ^n.1/?$ https://e.org/n [R,L]\n\
                 RewriteRule ^a/?$ https://e.org/never [R,L]\n";
    let args = ["-", "--format", "apache"];
    assert_snapshot!(fixture.import(&args, rules.as_bytes()), @r#"
    status 1
    <stdin>:3: warning: line 2 decides what is answered to this path, or to some of these paths
    <stdin>:4: warning: this redirects all paths that begin with a text: only the path itself and those below it are imported, and the slash alone may lead elsewhere
    <stdin>:4: warning: a dot that is not escaped matches any character: only the dot is imported
    <stdin>:4: the same on 1 further line: 5
    <stdin>:6: error: line 2 decides what is answered to this path, or to some of these paths
    mapping.yaml:15:8: warning: this URL already has the code "r"
      hint: it is first at mapping.yaml:12:3: further codes go under its "aliases"
    mapping.yaml:18:8: warning: this URL already has the code "r"
      hint: it is first at mapping.yaml:12:3: further codes go under its "aliases"
    added 6 links to mapping.yaml; 3 imported in part; 1 not imported
    "#);
    // Nothing is imported of a rule whose code is taken.
    let rules = "RewriteEngine On\nRewriteRule ^n.1/?$ https://f.org/ [R,L]\n";
    assert_snapshot!(fixture.import(&args, rules.as_bytes()), @r#"
    status 1
    <stdin>:2: error: the code "n.1" is taken by the entry at mapping.yaml:9:3
      hint: it leads to https://e.org/n: choose another code
    <stdin>:2: warning: a dot that is not escaped matches any character: only the dot is imported
    added 0 links to mapping.yaml; 1 not imported
    "#);
}

#[test]
fn links_of_another_site_of_the_table_name_it() {
    let fixture = two_sites();
    let rows = b"shortUrl,longUrl\nhttps://one.code/a,https://a.org/\nhttps://two.code/b,https://b.org/\nhttps://two.code/c,https://c.org/\n";
    let args = ["-", "--format", "shlink", "--site", "https://one.code/"];
    assert_snapshot!(fixture.import(&args, rows), @r#"
    status 1
    <stdin>:3: error: "https://two.code/b" is not under https://one.code/
      hint: its site is in this table: import the links of https://two.code/ with --site https://two.code/
    <stdin>:3: the same on 1 further line: 4
    note: 1 link: the other program passes on the query of a request; a table does so with "forward: query"
    added 1 link to mapping.yaml/one.yaml; 2 not imported
    "#);
}

/// Returns a table of two sites in a directory.
fn two_sites() -> Fixture {
    let fixture = Fixture::new();
    fs::create_dir(fixture.table()).unwrap();
    for site in ["one", "two"] {
        let text = format!("base_url: https://{site}.code/\nmapping: []\n");
        fs::write(fixture.table().join(format!("{site}.yaml")), text).unwrap();
    }
    fixture
}

#[test]
fn links_go_to_the_sites_that_they_name() {
    let fixture = two_sites();
    let rows = b"shortCode,shortUrl,longUrl\n\
        a,https://one.code/a,https://a.org/\nb,http://two.code/b,https://b.org/\n\
        a,https://two.code/a,https://a.org/\n\
        c,https://s.example/c,https://c.org/\nd,https://s.example/d,https://d.org/\n\
        e,https://s.example/e,https://e.org/\n";
    assert_snapshot!(fixture.import(&["-", "--format", "shlink"], rows), @r#"
    status 1
    <stdin>:5: error: "https://s.example/c" is not under https://one.code/ or https://two.code/
      hint: name the base URL where the links come from, as in --from https://s.example/ --site URL, or give the table a site with it
    <stdin>:5: the same on 2 further lines: 6, 7
    note: 3 links: the other program passes on the query of a request; a table does so with "forward: query"
    added 1 link to mapping.yaml/one.yaml, 2 links to mapping.yaml/two.yaml; 3 not imported
    "#);
    let two = fs::read_to_string(fixture.table().join("two.yaml")).unwrap();
    assert!(two.ends_with(
        "mapping:\n- url: https://a.org/\n  short-code: a\n- url: https://b.org/\n  short-code: b\n"
    ));

    // The other forms with whole short links, and what has only a code.
    let fixture = two_sites();
    let rows = b"{\"base_url\":\"https://two.code/\",\"short-code\":\"x\",\"url\":\"https://x.org/\"}\n\
        {\"short-code\":\"y\",\"url\":\"https://y.org/\"}\n{\"short-code\":\"z\",\"url\":\"https://z.org/\"}\n";
    assert_snapshot!(fixture.import(&["-", "--format", "jsonl"], rows), @r"
    status 1
    <stdin>:2: error: this has a code, but not the base URL of its short link, and there are several sites
      hint: name the site of the links with --site
    <stdin>:2: the same on 1 further line: 3
    added 1 link to mapping.yaml/two.yaml; 2 not imported
    ");
    let page = b"{\"data\": [{\"address\": \"k\", \"target\": \"https://k.org/\", \"link\": \"https://one.code/k\"}]}";
    let report = fixture.import(&["-", "--format", "kutt"], page);
    assert!(
        report.ends_with("added 1 link to mapping.yaml/one.yaml\n"),
        "{report}"
    );
    // A format without short links goes to one site.
    let report = fixture.import(&["-", "--format", "psql"], b"p,https://p.org/\n");
    assert!(report.contains("hint: name one with --site"), "{report}");
}

#[test]
fn the_column_or_key_that_is_wrong_is_named() {
    for (format, input, message) in [
        (
            "csv",
            "code,\"Long, URL\"\n\"a\",\"example.org\"\n",
            "2: error: the URL is not absolute (column \"Long, URL\")",
        ),
        (
            "csv",
            "Short URL,url\nhttps://short.code/a+,https://e.org/\n",
            "2: error: '+' is not allowed in a short code (column \"Short URL\")",
        ),
        (
            "csv",
            "code,url,Archive\na,https://e.org/,web.archive.org\n",
            "2: error: the URL is not absolute (column \"Archive\")",
        ),
        (
            "csv",
            "code,url,aliases\na,https://e.org/,b c+\n",
            "2: error: '+' is not allowed in a short code (column \"aliases\")",
        ),
        (
            "psql",
            "a,example.org\n",
            "1: error: the URL is not absolute (column 2)",
        ),
        (
            "jsonl",
            "{\"short-code\":\"a\",\"url\":\"example.org\"}\n",
            "1: error: the URL is not absolute (key \"url\")",
        ),
        (
            "jsonl",
            "{\"short-code\":\"a\",\"url\":5}\n",
            "1: error: this is not the JSON of a link: invalid type: integer `5`, expected a string \
             (key \"url\")",
        ),
        (
            "jsonl",
            "{\"url\" \"https://e.org/\"}\n",
            "1: error: this is not the JSON of a link: expected `:` (column 8)",
        ),
        (
            "kutt",
            "{\"data\": [\n{\"address\": \"a\", \"target\": \"example.org\"}]}",
            "2: error: the URL is not absolute (key \"target\")",
        ),
        (
            "kutt",
            "{\"data\": [\n{\"address\": 7, \"target\": \"https://e.org/\"}]}",
            "2: error: this is not the JSON of a link: invalid type: integer `7`, expected a string \
             (key \"address\")",
        ),
    ] {
        let fixture = Fixture::with(EMPTY);
        let report = fixture.import(&["-", "--format", format], input.as_bytes());
        assert!(report.contains(message), "{message}\n{report}");
    }
}

#[test]
fn a_thousand_bad_rows_of_any_form_are_one_message() {
    let rows = |row: &dyn Fn(usize) -> String| (0..1000).map(row).collect::<String>();
    for (format, input) in [
        (
            "csv",
            format!("code,url\n{}", rows(&|n| format!("c{n},example.org/{n}\n"))),
        ),
        (
            "csv",
            format!(
                "code,url,expires\n{}",
                rows(&|n| format!("c{n},https://e.org/,{n}.5.\n"))
            ),
        ),
        (
            "jsonl",
            rows(&|n| format!("{{\"short-code\":\"c{n}\",\"url\":{n}}}\n")),
        ),
        (
            "jsonl",
            rows(&|n| format!("{{\"short-code\":\"c{n}\" 1}}\n")),
        ),
        (
            "yourls",
            format!(
                "keyword,url\n{}",
                rows(&|n| format!("c{n}+,https://e.org/\n"))
            ),
        ),
        (
            "shlink",
            format!(
                "shortUrl,longUrl\n{}",
                rows(&|n| format!("https://s.example/{n},https://e.org/\n"))
            ),
        ),
        (
            "kutt",
            format!(
                "{{\"data\": [{{\"address\": \"a\", \"target\": \"https://e.org/\"}}{}]}}",
                rows(&|n| format!(",\n{{\"address\": {n}, \"target\": \"https://e.org/\"}}"))
            ),
        ),
        (
            "nginx",
            rows(&|n| format!("location = /c{n} {{ return 301 https://$host/{n}; }}\n")),
        ),
        (
            "apache",
            rows(&|n| format!("RedirectMatch ^/c{n}/[0-9]+$ https://e.org/\n")),
        ),
        (
            "caddy",
            rows(&|n| format!("redir /c{n} https://{{host}}/{n}\n")),
        ),
        (
            "redirects",
            rows(&|n| format!("/c{n}/:id https://e.org/{n}\n")),
        ),
        ("beacon", rows(&|n| format!("c{n}|example.org/{n}|x|y|z\n"))),
        ("psql", rows(&|n| format!("c{n},example.org/{n}\n"))),
    ] {
        let fixture = Fixture::with(EMPTY);
        let report = fixture.import(&["-", "--format", format], input.as_bytes());
        assert!(
            report.contains("the same on 999 further lines: "),
            "{format}: {report}"
        );
        assert!(report.lines().count() < 8, "{format}: {report}");
        assert!(report.contains("; 1000 not imported"), "{format}: {report}");
    }
}

#[test]
fn a_link_outside_the_path_of_its_site_names_no_site() {
    let fixture = Fixture::with("base_url: https://short.code/go/\nmapping: []\n");
    let rows = b"shortUrl,longUrl\nhttps://short.code/b,https://b.org/\n";
    let report = fixture.import(&["-", "--format", "shlink"], rows);
    assert!(
        report.contains("is not under https://short.code/go/"),
        "{report}"
    );
    assert!(!report.contains("--site"), "{report}");
}
