//! `waypost explain`: the descriptions of rules.

use std::process::{Command, Output};

use insta::assert_snapshot;
use waypost::mapping::Rule;

fn waypost(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_waypost"))
        .args(args)
        .env_clear()
        .output()
        .unwrap()
}

/// Returns standard output or, if the status is that of wrong usage, standard error.
fn explain(args: &[&str], status: i32) -> String {
    let output = waypost(&[&["explain"], args].concat());
    assert_eq!(output.status.code(), Some(status), "{output:?}");
    let printed = match status {
        2 => output.stderr,
        _ => output.stdout,
    };
    String::from_utf8(printed).unwrap()
}

#[test]
fn a_rule_is_explained_with_examples() {
    assert_snapshot!(explain(&["code-taken"], 0));
}

#[test]
fn every_rule_is_listed_on_a_line() {
    let text = explain(&[], 0);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), Rule::ALL.len());
    for (line, rule) in lines.iter().zip(Rule::ALL) {
        let mut words = line.split_whitespace();
        assert_eq!(words.next(), Some(rule.name()));
        assert_eq!(words.next(), Some(rule.severity().as_str()));
    }
}

#[test]
fn of_an_unknown_rule_the_nearest_is_named() {
    let message = explain(&["code_takn"], 2);
    assert!(message.contains("did you mean 'code-taken'?"), "{message}");
    let message = explain(&["nonsense"], 2);
    assert!(message.contains("'waypost explain' lists all"), "{message}");
}

#[test]
fn completions_name_the_rules() {
    for shell in ["bash", "zsh"] {
        let output = waypost(&["completions", shell]);
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(script.contains("url-private-address"), "{shell}");
    }
}
