//! The command line, as its users see it: status, standard output and standard error.
//!
//! Each case is a snapshot; `INSTA_UPDATE=always cargo test --test commands` writes them anew.

#![allow(clippy::unwrap_used)]

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Command, Stdio};

use insta::assert_snapshot;

use crate::transcript::transcript;

/// The commands that the help lists.
const VERBS: [&str; 20] = [
    "init",
    "serve",
    "check",
    "explain",
    "fmt",
    "diff",
    "merge-driver",
    "code",
    "resolve",
    "list",
    "add",
    "set",
    "retarget",
    "retire",
    "restore",
    "import",
    "export",
    "linkcheck",
    "healthcheck",
    "completions",
];

/// Runs the program in the repository, and returns its status and both outputs.
fn run(args: &[&str]) -> String {
    run_with(args, "", &[])
}

fn run_with(args: &[&str], stdin: &str, environment: &[(&str, &str)]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_waypost"));
    command
        .args(args)
        .env_clear()
        .envs(environment.iter().copied());
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A program that does not read its input may be gone before it is written.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    transcript(child.wait_with_output().unwrap())
}

#[test]
fn an_argument_that_is_not_text_is_a_usage_error() {
    let output = Command::new(env!("CARGO_BIN_EXE_waypost"))
        .args(["healthcheck", "http://127.0.0.1/"])
        .arg(OsStr::from_bytes(b"\xff"))
        .env_clear()
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.starts_with("error: unexpected argument"), "{stderr}");
}

#[test]
fn help_teaches() {
    assert_snapshot!(run(&["--help"]));
    for verb in VERBS {
        // The documented help is that of the program with all its features.
        if !cfg!(feature = "tls") && ["serve", "healthcheck"].contains(&verb) {
            continue;
        }
        assert_snapshot!(format!("help_{verb}"), run(&[verb, "--help"]));
    }
}

#[test]
fn usage_errors_exit_with_2() {
    for args in [
        &["walk"][..],
        &[],
        &["fmt"],
        &["code"],
        &["code", "--scheme", "md5", "https://example.org/"],
        &["check", "--deny", "errors"],
        &["check", "--allow-retarget", "gnu-home"],
        &["check", "--base", "HEAD", "-"],
        &["diff"],
        &["diff", "--format", "xml", "main"],
        &["linkcheck", "--base", "HEAD", "-"],
        &["linkcheck", "--strikes", "1"],
        &["linkcheck", "--deny", "code-taken"],
        &["linkcheck", "--contact", "a b"],
        &["linkcheck", "--base", "HEAD", "--state", "x"],
        &["linkcheck", "--fix", "--base", "HEAD"],
        &["linkcheck", "--fix", "-"],
        &["linkcheck", "--fix", "--commit", "a.yaml", "b.yaml"],
        &["linkcheck", "--dry-run"],
        &["linkcheck", "--archive=ftp://archive.example/"],
        &["serve", "--poll-interval", "0s"],
        &["serve", "--listen", "nowhere"],
        &["resolve", "--at", "tomorrow", "gnu-home"],
        &["completions", "cmd"],
        &["explain", "code-takn"],
        &["healthcheck", "ftp://127.0.0.1/"],
    ] {
        assert!(
            run(args).starts_with("status 2\n"),
            "{args:?} {}",
            run(args)
        );
    }
}

#[test]
fn check_accepts_the_sample() {
    assert_snapshot!(run(&["check"]));
}

#[test]
fn check_reports_every_problem_at_its_place() {
    assert_snapshot!(run(&["check", "tests/tables/err/unknown-keys.yaml"]));
}

#[test]
fn check_runs_the_tests_of_a_table() {
    assert_snapshot!(run(&["check", "tests/tables/ok/failing-tests.yaml"]));
}

#[test]
fn check_makes_warnings_count_with_a_flag() {
    let table = "tests/tables/ok/warn-duplicate-target.yaml";
    assert!(run(&["check", table]).starts_with("status 0\n"));
    assert_snapshot!(run(&["check", "--deny", "warnings", table]));
}

#[test]
fn check_reads_standard_input_and_several_paths_as_one_table() {
    let text = "mapping:\n- url: https://framasoft.org/\n  short-code: gnu-home\n";
    assert_snapshot!(run_with(&["check", "mapping.yaml", "-"], text, &[]));
}

#[test]
fn check_takes_its_table_from_the_environment() {
    let table = [("WAYPOST_TABLE", "tests/tables/ok/numbers.yaml")];
    assert_snapshot!(run_with(&["check"], "", &table));
}

#[test]
fn empty_variables_count_as_not_set() {
    let empty = [("WAYPOST_TABLE", ""), ("WAYPOST_DENY", ""), ("PORT", "")];
    assert!(run_with(&["check"], "", &empty).starts_with("status 0\n"));
}

#[test]
fn variables_that_do_not_go_with_the_flags_count_as_not_set() {
    let table = "base_url: https://s.example/\nmapping: []\n";
    let works = |args: &str, variables: &[(&str, &str)]| {
        let workspace = tempfile::tempdir().unwrap();
        fs::write(workspace.path().join("mapping.yaml"), table).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_waypost"));
        let command = command.args(args.split(' ')).current_dir(workspace.path());
        let output = command.env_clear().envs(variables.iter().copied()).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{args} {variables:?} {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let add = "add https://e.org/";
    let remote = [("WAYPOST_REF", "main"), ("WAYPOST_PATH", "links")];
    works(add, &remote);
    let code = works(&format!("{add} --code zz"), &[("WAYPOST_NUMBER", "7")]);
    assert_eq!(code, "https://s.example/zz\n");
    let file = ("WAYPOST_FILE", "mapping.yaml");
    works(&format!("{add} --fragment --table ."), &[file]);
    works(add, &[file, ("WAYPOST_FRAGMENT", "false")]);
    works("check", &[("WAYPOST_ALLOW_RETARGET", "zz")]);
    works("check mapping.yaml", &[("WAYPOST_TABLE", "nowhere.yaml")]);
    works("export", &[("WAYPOST_EXPORT_FORMAT", "csv"), remote[0]]);
    // The flag overrides one variable, and the others have no meaning without it.
    let all = [remote[0], remote[1], ("WAYPOST_REPO", "nowhere")];
    works(&format!("{add} --table mapping.yaml"), &all);
    // Together they apply, in whichever order the flags are defined.
    let report = run_with(&["add", "https://e.org/"], "", &all);
    assert!(
        report.contains("nowhere: no repository is there"),
        "{report}"
    );

    // Here the flag names another table than the variable.
    let report = run_with(
        &["add", "https://e.org/", "--repo", "nowhere"],
        "",
        &[("WAYPOST_TABLE", "mapping.yaml"), ("WAYPOST_COMMIT", "1")],
    );
    assert!(
        report.contains("nowhere: no repository is there"),
        "{report}"
    );
}

#[test]
fn errors_from_variables_name_them() {
    for (args, variables, expected) in [
        (
            "add https://e.org/",
            &[("WAYPOST_NUMBER", "7"), ("WAYPOST_CODE", "a")][..],
            "--code <CODE> comes from the variable WAYPOST_CODE\n\
             waypost: --number <N|next> comes from the variable WAYPOST_NUMBER\n",
        ),
        (
            "add https://e.org/",
            &[("WAYPOST_STATUS", "9")],
            "--status <CODE> comes from the variable WAYPOST_STATUS\n",
        ),
        (
            "export",
            &[("WAYPOST_EXPORT_FORMAT", "html")],
            "required arguments were not provided:\n  <DIR>",
        ),
        (
            "serve",
            &[("WAYPOST_TLS_CERT", "a.pem")],
            "--tls-cert and --tls-key require each other",
        ),
    ] {
        if !cfg!(feature = "tls") && args == "serve" {
            continue;
        }
        let args: Vec<_> = args.split(' ').collect();
        let report = run_with(&args, "", variables);
        assert!(
            report.starts_with("status 2\n") && report.contains(expected),
            "{report}"
        );
    }
    let report = run_with(&["add", "--status", "9"], "", &[("WAYPOST_STATUS", "301")]);
    assert!(!report.contains("WAYPOST_STATUS"), "{report}");
}

#[test]
fn check_reports_what_it_cannot_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("link.yaml");
    std::os::unix::fs::symlink("nowhere.yaml", &path).unwrap();
    let report =
        |path: &str| run(&["check", path]).replace(directory.path().to_str().unwrap(), "TEMP");
    assert_snapshot!("check_dangling_link", report(path.to_str().unwrap()));
    assert_snapshot!("check_missing", report("TEMP/missing.yaml"));
    let empty = directory.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    assert_snapshot!("check_empty_directory", report(empty.to_str().unwrap()));
    let pipe = directory.path().join("pipe.yaml");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    assert_snapshot!("check_named_pipe", report(pipe.to_str().unwrap()));
}

const UNSORTED: &str = "\
base_url: https://short.code/
mapping:
- url: https://www.rust-lang.org/
  short-code: rust
# Not a truth value.
- url: https://www.gnu.org/
  short-code: no
";

#[test]
fn fmt_filters_standard_input() {
    assert_snapshot!(run_with(&["fmt", "-"], UNSORTED, &[]));
    assert_snapshot!(
        "fmt_checks_standard_input",
        run_with(&["fmt", "--check", "-"], UNSORTED, &[])
    );
}

#[test]
fn fmt_replaces_what_is_not_formatted() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::write(at("a.yaml"), UNSORTED).unwrap();
    fs::write(at("b.yaml"), "mapping: []\n").unwrap();
    let path = directory.path().to_str().unwrap();
    let report = |args: &[&str]| run(args).replace(path, "TEMP");

    assert_snapshot!(
        "fmt_names_what_would_change",
        report(&["fmt", "--check", path])
    );
    assert_eq!(fs::read_to_string(at("a.yaml")).unwrap(), UNSORTED);
    assert_snapshot!("fmt_names_what_changed", report(&["fmt", path]));
    let done = "status 0\n--- stdout\n--- stderr\n";
    assert_eq!(report(&["fmt", "--check", path]), done);
    assert_eq!(report(&["fmt", path]), done);
    // By itself it is not a table.
    assert!(report(&["fmt", at("b.yaml").to_str().unwrap()]).starts_with("status 1\n"));
}

#[test]
fn fmt_touches_nothing_where_something_is_wrong() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let path = directory.path().to_str().unwrap();
    for (name, wrong) in [
        (
            "fmt_error",
            "mapping:\n- url: https://example.org/\n  short-code: rust\n",
        ),
        ("fmt_refused", "mapping: [{url: https://example.org/}]\n"),
    ] {
        fs::write(at("a.yaml"), UNSORTED).unwrap();
        fs::write(at("b.yaml"), wrong).unwrap();
        assert_snapshot!(name, run(&["fmt", path]).replace(path, "TEMP"));
        assert_eq!(fs::read_to_string(at("a.yaml")).unwrap(), UNSORTED);
    }
    assert!(run(&["fmt", "nowhere.yaml"]).starts_with("status 3\n"));
}

#[test]
fn code_prints_codes_alone() {
    assert_snapshot!(run(&[
        "code",
        "https://framasoft.org/",
        "https://example.com/32257267"
    ]));
    assert_snapshot!(
        "code_crc64",
        run(&["code", "--scheme", "crc64-xz", "https://framasoft.org/"])
    );
}

#[test]
fn code_hashes_the_bytes_as_written_and_says_so() {
    assert_snapshot!(run(&["code", "https://Framasoft.org"]));
}

#[test]
fn code_refuses_what_is_no_target() {
    assert_snapshot!(run(&["code", "framasoft.org", "javascript:alert(1)"]));
}

#[test]
fn resolve_prints_the_target_alone() {
    for (name, link) in [
        ("custom", "gnu-home"),
        ("auto", "t0P0JMya"),
        ("short_url", "https://short.code/t0P0JMya"),
        ("without_scheme", "short.code/t0P0JMya"),
        ("path", "/t0P0JMya"),
        ("alias", "wiki"),
        ("forward", "std/vec/struct.Vec.html"),
        ("repaired", "gnu-home)."),
        ("preview", "gnu-home+"),
    ] {
        assert_snapshot!(format!("resolve_{name}"), run(&["resolve", link]));
    }
}

#[test]
fn resolve_reports_what_is_not_there() {
    assert_snapshot!("resolve_similar", run(&["resolve", "gnu-hoem"]));
    assert_snapshot!(
        "resolve_nothing_similar",
        run(&["resolve", "zzzzzzzzzzzzzzz"])
    );
    // One auto code in 64 begins like a flag.
    assert_snapshot!("resolve_hyphen", run(&["resolve", "-55yIza0"]));
    assert_snapshot!("resolve_landing", run(&["resolve", "https://short.code/"]));
    let with_home = [
        "resolve",
        "--table",
        "tests/tables/ok/home.yaml",
        "https://short.code/go/",
    ];
    assert_snapshot!("resolve_home", run(&with_home));
    let with_fallback = [
        "resolve",
        "--table",
        "tests/tables/ok/fallback.yaml",
        "unknown?q",
    ];
    assert_snapshot!("resolve_fallback", run(&with_fallback));
    let rooted = run(&["resolve", "https://short.code./gnu-home"]);
    assert!(rooted.starts_with("status 0\n"), "{rooted}");
    let target = run(&["resolve", "https://www.gnu.org/"]);
    assert_snapshot!("resolve_target", target);
    assert_snapshot!(
        "resolve_elsewhere",
        run(&["resolve", "https://e.example/x"])
    );
}

#[test]
fn resolve_asks_for_another_time() {
    let table = "tests/tables/ok/life.yaml";
    for (name, at) in [("before", "2029-12-31"), ("after", "2030-01-02")] {
        let args = ["resolve", "--table", table, "--at", at, "soon"];
        assert_snapshot!(format!("resolve_{name}"), run(&args));
    }
    let args = ["resolve", "--table", table, "always"];
    assert_snapshot!("resolve_retired", run(&args));
}

#[test]
fn resolve_negotiates_the_content() {
    let table = "tests/tables/ok/variants.yaml";
    for (name, accept) in [
        ("turtle", "text/turtle"),
        ("page", "text/html, text/turtle;q=0.9"),
    ] {
        let args = ["resolve", "--table", table, "--accept", accept, "o"];
        assert_snapshot!(format!("resolve_{name}"), run(&args));
    }
}

#[test]
fn resolve_looks_in_every_site() {
    let table = "tests/tables/ok/several-sites";
    let in_one = ["resolve", "--table", table, "VDxGgZ3y2qk"];
    assert_snapshot!("resolve_in_one_site", run(&in_one));
    let in_two = ["resolve", "--table", table, "t0P0JMya"];
    assert_snapshot!("resolve_in_two_sites", run(&in_two));
    let elsewhere = ["resolve", "--table", table, "https://c.example/t0P0JMya"];
    assert_snapshot!("resolve_in_no_site", run(&elsewhere));
}

#[test]
fn resolve_refuses_a_table_with_errors() {
    let args = ["resolve", "--table", "tests/tables/err/tab.yaml", "frama"];
    assert_snapshot!(run(&args));
}

#[test]
fn serve_reports_why_it_cannot_start() {
    let start = |table| {
        run(&[
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--admin-listen",
            "127.0.0.1:0",
            "--table",
            table,
        ])
    };
    assert_snapshot!("serve_bad_table", start("tests/tables/err/tab.yaml"));
    assert_snapshot!("serve_no_table", start("nowhere.yaml"));
}

#[test]
fn serve_refuses_a_log_filter_that_is_none() {
    let refused = run_with(&["serve"], "", &[("WAYPOST_LOG", "h2=loud")]);
    assert!(
        refused.starts_with("status 2\n") && refused.contains("TARGET=LEVEL"),
        "{refused}"
    );
    assert!(
        refused.contains("comes from the variable WAYPOST_LOG"),
        "{refused}"
    );
}

#[test]
#[cfg(feature = "tls")]
fn serve_reports_why_it_cannot_speak_tls() {
    let start = |tls: &[&str]| {
        let here = ["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"];
        run(&[&["serve"], &here[..], tls].concat())
    };
    let lone = start(&["--tls-cert", "a.pem"]);
    assert!(
        lone.starts_with("status 2\n") && lone.contains("--tls-cert and --tls-key"),
        "{lone}"
    );
    let lone = start(&["--https-redirect-listen", "127.0.0.1:0"]);
    assert!(
        lone.starts_with("status 2\n") && lone.contains("--tls-cert and --tls-key"),
        "{lone}"
    );
    let pair = |file| start(&["--tls-cert", file, "--tls-key", file]);
    assert_snapshot!("serve_no_certificate", pair("nowhere.pem"));
    assert_snapshot!("serve_bad_certificate", pair("Cargo.toml"));
}

#[test]
fn serve_reports_why_it_cannot_check_links() {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().to_str().unwrap();
    let start = |more: &[&str]| {
        let here = ["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"];
        run(&[&["serve"], &here[..], more].concat())
    };
    let lone = start(&["--linkcheck"]);
    assert!(
        lone.starts_with("status 2\n") && lone.contains("--state-dir"),
        "{lone}"
    );
    let nothing_to_keep = start(&["--state-dir", state]);
    assert!(
        nothing_to_keep.starts_with("status 2\n") && nothing_to_keep.contains("--linkcheck"),
        "{nothing_to_keep}"
    );
    #[cfg(feature = "valkey")]
    {
        let nowhere = start(&["--linkcheck", "--linkcheck-store", "nowhere"]);
        assert!(
            nowhere.starts_with("status 2\n") && nowhere.contains("not the address of a server"),
            "{nowhere}"
        );
    }
    let checking = ["--linkcheck", "--state-dir", state];
    let bad_contact = start(&[&checking[..], &["--linkcheck-contact", "two\nlines"]].concat());
    assert!(bad_contact.starts_with("status 2\n"), "{bad_contact}");
    let aliases = directory.path().join("aliases.yaml");
    std::fs::write(&aliases, "a: [x.example]\nb: [x.example]\n").unwrap();
    let aliases = ["--linkcheck-aliases", aliases.to_str().unwrap()];
    let in_two = start(&[&checking[..], &aliases].concat());
    assert!(
        in_two.starts_with("status 2\n") && in_two.contains("both a and b"),
        "{in_two}"
    );
    let file = directory.path().join("linkcheck.redb");
    std::fs::write(&file, "this is something else").unwrap();
    let foreign = start(&checking);
    assert!(
        foreign.starts_with("status 3\n")
            && foreign.contains("this is not a state file of the link checker"),
        "{foreign}"
    );
    let kept = std::fs::read_to_string(&file).unwrap();
    assert_eq!(kept, "this is something else");
}

#[test]
fn healthcheck_fails_without_an_answer() {
    // Nothing listens on the port that was just released.
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let report = run(&["healthcheck", &format!("http://127.0.0.1:{port}/healthz")]);
    assert!(
        report.starts_with("status 3\n--- stdout\n--- stderr\nwaypost: cannot request"),
        "{report}"
    );
}

#[test]
fn completions_name_every_verb() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run(&["completions", shell]);
        assert!(script.starts_with("status 0\n"));
        for verb in VERBS {
            assert!(script.contains(verb), "{shell} {verb}");
        }
    }
}

#[test]
fn a_signal_ends_the_wait_for_the_first_fetch() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let temp = tempfile::tempdir().unwrap();
    let url = format!("git://{}/links.git", silent.local_addr().unwrap());
    let mut child = Command::new(env!("CARGO_BIN_EXE_waypost"))
        .args(["serve", "--repo", &url, "--git-timeout", "1h"])
        .args(["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"])
        .env_clear()
        .env("TMPDIR", temp.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let _fetch = silent.accept().unwrap();
    let kill = format!("kill {}", child.id());
    assert!(
        Command::new("sh")
            .args(["-c", &kill])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(child.wait().unwrap().code(), Some(0));
    // The temporary clone is gone.
    assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 0);
}

#[test]
fn manual_pages_say_what_the_help_says() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    assert_eq!(run(&["man", path]), "status 0\n--- stdout\n--- stderr\n");
    let page = |name: &str| fs::read_to_string(directory.path().join(name)).unwrap();
    let program = page("waypost.1");
    let verbs = [
        ("init", "--forge"),
        ("serve", "--drain-timeout"),
        ("check", "--deny"),
        ("explain", "code-taken"),
        ("fmt", "--check"),
        ("diff", "--format"),
        ("merge-driver", "--install"),
        ("code", "--scheme"),
        ("resolve", "--at"),
        ("add", "--get-or-create"),
        ("import", "--dry-run"),
        ("export", "--site"),
        ("list", "--owner"),
        ("set", "--unset"),
        ("retarget", "--dry-run"),
        ("retire", "--drop-url"),
        ("restore", "--push"),
        ("linkcheck", "--strike-interval"),
        ("healthcheck", "--timeout"),
        ("completions", "--help"),
    ];
    for (verb, flag) in verbs {
        let listed = format!("waypost-{verb}(1)").replace('-', "\\-");
        assert!(program.contains(&listed), "{verb}");
        let text = page(&format!("waypost-{verb}.1"));
        assert!(run(&[verb, "--help"]).contains(flag), "{verb}");
        assert!(text.contains(&flag.replace('-', "\\-")), "{verb}: {text}");
    }
    assert!(page("waypost-serve.1").contains("WAYPOST_DRAIN_TIMEOUT"));
    // A command that is not for people has no page.
    let pages = fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(pages, verbs.len() + 1);
    let nowhere = run(&["man", &format!("{path}/nowhere")]);
    assert!(nowhere.starts_with("status 3\n"), "{nowhere}");
}

#[test]
fn standard_input_that_is_too_large_names_the_flag() {
    let args = ["check", "-", "--max-table-bytes", "10"];
    let report = run_with(&args, "base_url: https://short.code/\n", &[]);
    assert!(report.starts_with("status 3\n"), "{report}");
    assert!(
        report.contains("--max-table-bytes") && report.contains("<stdin>"),
        "{report}"
    );
}

#[test]
fn a_closed_output_is_no_failure() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = Command::new(env!("CARGO_BIN_EXE_waypost"))
        .args(["code", "https://framasoft.org/"])
        .env_clear()
        .stdout(writer)
        .output()
        .unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}
