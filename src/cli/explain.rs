//! `waypost explain`: explains a rule.
//!
//! The descriptions are those of `mapping::Rule`; here they become text for a terminal and Markdown,
//! which code-scanning services show and `docs/rules.md` consists of.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::arguments::rule::RuleParser;
use super::terminal::Error;
use crate::mapping::{Example, Rule};

/// Explain a rule, with a wrong and a right example
///
/// Each problem that `check` reports violates one rule, which its machine-readable formats name.
/// Without RULE, lists all rules.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  waypost explain                      list all rules
  waypost explain code-taken           explain one rule

Exit status: 0 done; 2 there is no such rule.")]
pub(super) struct Args {
    /// The rule's name
    #[arg(value_name = "RULE", value_parser = RuleParser::any(), hide_possible_values = true)]
    rule: Option<Rule>,
}

pub(super) fn run(args: &Args) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    match args.rule {
        Some(rule) => out.write_all(text(rule).as_bytes())?,
        None => out.write_all(list().as_bytes())?,
    }
    Ok(())
}

/// Returns a line for each rule: its name, its severity and its meaning.
fn list() -> String {
    let names = Rule::ALL.iter().map(|rule| rule.name().len());
    let width = names.max().unwrap_or_default();
    let mut list = String::new();
    for rule in Rule::ALL {
        let (name, severity) = (rule.name(), rule.severity().as_str());
        let meaning = plain(rule.description().meaning);
        // A String takes any text.
        let _ = writeln!(list, "{name:width$}  {severity:7}  {meaning}");
    }
    list
}

/// Returns the explanation of a rule for a terminal.
pub(super) fn text(rule: Rule) -> String {
    let it = rule.description();
    let title = format!("{} ({})", it.name, it.severity);
    let wrong = indented(&it.wrong);
    let right = indented(&it.right);
    let texts = [it.meaning, it.explanation, it.remedy].map(plain);
    let [meaning, explanation, remedy] = texts;
    format!(
        "{title}\n\n{meaning}\n{explanation}\n\nWrong:\n\n{wrong}\nRight:\n\n{right}\nWhat to do:\n\n{remedy}\n"
    )
}

/// Returns a text of Markdown for a terminal.
pub(super) fn plain(text: &str) -> String {
    text.replace('`', "\"")
}

fn indented(example: &Example) -> String {
    let text = example.text();
    let lines = text.lines().map(|line| format!("  {line}\n"));
    lines.collect()
}

/// Returns the explanation of a rule as a section of Markdown without its heading.
pub(super) fn markdown(rule: Rule) -> String {
    let it = rule.description();
    let wrong = fenced(&it.wrong);
    let right = fenced(&it.right);
    format!(
        "{}\n{}\n\nWrong:\n\n{wrong}\nRight:\n\n{right}\n{}\n",
        it.meaning, it.explanation, it.remedy
    )
}

fn fenced(example: &Example) -> String {
    let language = match example {
        Example::Words(_) => "text",
        _ => "yaml",
    };
    format!("```{language}\n{}```\n", example.text())
}

#[cfg(test)]
mod tests {
    use std::{env, fs};

    use super::*;
    use crate::mapping::Severity;

    const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/rules.md");

    fn page() -> String {
        let mut page = "\
# Rules

<!-- Generated from src/mapping/value/diagnostics/rule: `WAYPOST_REWRITE=1 cargo test --lib explain` rewrites it. -->

Each problem that [`waypost check`](checking.md) reports breaks one of these rules.
The formats for machines name the rule of each problem, `waypost check --allow RULE` and `--deny RULE` select rules, and `waypost explain RULE` prints the text of this page.
The name of a rule never changes.

An error keeps a table from being loaded, and a warning does not.
Some errors only concern a command: `test-failed`, `file-symlink`, `published-…`, `retired-code-…` and `owner-…` fail a check, and `layout-…` are reported by commands that change a table.\n`link-…` concern answers of the hosts of targets, and only [`waypost linkcheck`](linkcheck.md) reports them.
An example that begins with `- ` shows the entries of a table, without the lines `base_url: https://short.code/` and `mapping:` above them.
In some examples, bytes that cannot be shown are escaped, as in `\\xe9`.

| rule | severity | meaning |
| --- | --- | --- |
"
        .to_owned();
        for rule in Rule::ALL {
            let (name, severity) = (rule.name(), rule.severity());
            let meaning = rule.description().meaning;
            page += &format!("| [`{name}`](#{name}) | {severity} | {meaning} |\n");
        }
        for &rule in Rule::ALL {
            let severity = match rule.severity() {
                Severity::Error => "An error.",
                Severity::Warning => "A warning.",
            };
            page += &format!("\n## {rule}\n\n{severity}\n{}", markdown(rule));
        }
        page
    }

    #[test]
    fn the_page_of_rules_is_generated() {
        if env::var_os("WAYPOST_REWRITE").is_some() {
            fs::write(PAGE, page()).unwrap();
        }
        assert!(
            fs::read_to_string(PAGE).unwrap_or_default() == page(),
            "docs/rules.md differs: WAYPOST_REWRITE=1 rewrites it"
        );
    }
}
