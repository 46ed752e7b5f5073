//! Permanence: a short link once published is a promise.
//!
//! What breaks it is an error: a code that is gone, or that leads elsewhere. The ways out are to
//! retire the entry, which keeps the code taken, or to state that the code is meant to lead
//! elsewhere. What is retired stays so or returns; its code is never given to another target.

use std::collections::HashSet;

use super::{Change, ChangeKind, Diagnostic, Entry, Table, compare};

/// What is stated to be meant.
#[derive(Debug, Clone, Default)]
pub struct Allowances {
    codes: HashSet<String>,
}

impl Allowances {
    /// Allows codes, each as it is written in the table, to lead elsewhere.
    pub fn to_retarget(codes: impl IntoIterator<Item = String>) -> Self {
        Self {
            codes: codes.into_iter().collect(),
        }
    }

    fn has(&self, change: &Change<'_>) -> bool {
        self.codes.contains(&*change.code)
    }
}

/// Returns an error for each promise of the old table that the new one breaks.
///
/// What is gone from the new table is told at its place in the old one.
pub fn breaches(old: &Table, new: &Table, allowed: &Allowances) -> Vec<Diagnostic> {
    let changes = compare(old, new);
    let breaches = changes.iter().filter_map(|change| breach(change, allowed));
    breaches.collect()
}

fn breach(change: &Change<'_>, allowed: &Allowances) -> Option<Diagnostic> {
    let (code, old) = (&change.code, change.old?);
    let was_retired = old.term().retired.is_some();
    let (message, hint) = match (change.kind, change.new) {
        (ChangeKind::Renamed, Some(new)) => (
            format!("the code {code:?} was published, and is gone"),
            format!(
                "the same target has the code {:?} now: add {code:?} to its \"aliases\"",
                new.code()
            ),
        ),
        (ChangeKind::Retargeted, Some(_)) if was_retired => (
            format!("the code {code:?} is retired, and given to another target"),
            format!("{}; take another code", led_to(old)),
        ),
        // The target may be another one, though nobody can tell.
        (ChangeKind::Unretired, Some(_)) if !old.has_target() && !allowed.has(change) => (
            format!("the code {code:?} is retired without a target, and given one"),
            "take another code, or state the change if this is the target it had".to_owned(),
        ),
        (ChangeKind::Retargeted, Some(new)) if !new.is_retired() && !allowed.has(change) => (
            format!("the code {code:?} was published, and leads elsewhere now"),
            format!(
                "{}; take another code for the new target, or state the change",
                led_to(old)
            ),
        ),
        (ChangeKind::Removed | ChangeKind::AliasLost, _) => (
            format!("the code {code:?} was published, and is gone"),
            format!(
                "{}; restore it, with \"retired: true\" if it shall lead nowhere",
                led_to(old)
            ),
        ),
        _ => return None,
    };
    Some(Diagnostic::error(change.place()?, message).with_hint(hint))
}

fn led_to(old: Entry<'_>) -> String {
    match old.target() {
        Some(target) => format!("it led to {target}"),
        None => "it was retired".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{SourceFile, compile};

    fn table(entries: &str) -> Table {
        let file = SourceFile {
            path: "t.yaml".into(),
            bytes: format!("base_url: https://short.code/\nmapping:\n{entries}").into(),
        };
        let compilation = compile(&[file]);
        compilation
            .table
            .unwrap_or_else(|| panic!("{:#?}", compilation.diagnostics))
    }

    fn told(old: &str, new: &str, allowed: &[&str]) -> Vec<String> {
        let allowed = Allowances::to_retarget(allowed.iter().map(|&code| code.to_owned()));
        let breaches = breaches(&table(old), &table(new), &allowed);
        breaches.iter().map(|it| it.message.clone()).collect()
    }

    const A: &str = "- url: https://a.example/\n  short-code: x\n";
    const B: &str = "- url: https://b.example/\n  short-code: x\n";
    const OTHER: &str = "- url: https://other.example/\n";

    #[test]
    fn a_code_that_is_gone_is_an_error_whatever_is_stated() {
        let gone = ["the code \"x\" was published, and is gone"];
        assert_eq!(told(A, OTHER, &[]), gone);
        assert_eq!(told(A, OTHER, &["x"]), gone);
        let renamed = "- url: https://a.example/\n  short-code: y\n";
        assert_eq!(told(A, renamed, &[]), gone);
        let with_alias = "- url: https://a.example/\n  short-code: y\n  aliases: [x]\n";
        assert!(told(A, with_alias, &[]).is_empty());
        assert_eq!(told(with_alias, renamed, &[]), gone);
    }

    #[test]
    fn a_code_may_lead_elsewhere_only_if_that_is_stated() {
        let elsewhere = ["the code \"x\" was published, and leads elsewhere now"];
        assert_eq!(told(A, B, &[]), elsewhere);
        assert_eq!(told(A, B, &["y"]), elsewhere);
        assert!(told(A, B, &["x"]).is_empty());
    }

    #[test]
    fn whoever_takes_a_code_by_an_alias_is_told() {
        let taken = format!("{OTHER}  aliases: [x]\n");
        assert_eq!(
            told(A, &taken, &[]),
            ["the code \"x\" was published, and leads elsewhere now"]
        );
    }

    #[test]
    fn retiring_is_the_way_out() {
        let retired = format!("{A}  retired: true\n");
        assert!(told(A, &retired, &[]).is_empty());
        assert!(told(A, "- short-code: x\n  retired: true\n", &[]).is_empty());
        assert!(told(&retired, A, &[]).is_empty());
    }

    #[test]
    fn a_retired_code_is_never_given_to_another_target() {
        let retired = format!("{A}  retired: true\n");
        let given = ["the code \"x\" is retired, and given to another target"];
        assert_eq!(told(&retired, B, &[]), given);
        assert_eq!(told(&retired, B, &["x"]), given);
        assert_eq!(told(&retired, &format!("{B}  retired: true\n"), &[]), given);
        assert_eq!(
            told(&retired, OTHER, &[]),
            ["the code \"x\" was published, and is gone"]
        );
    }

    #[test]
    fn a_code_without_a_target_returns_only_if_that_is_stated() {
        let dropped = "- short-code: x\n  retired: true\n";
        assert_eq!(
            told(dropped, A, &[]),
            ["the code \"x\" is retired without a target, and given one"]
        );
        assert!(told(dropped, A, &["x"]).is_empty());
    }

    #[test]
    fn another_scheme_takes_every_auto_code_away() {
        let crc = "- url: https://other.example/\ncode-scheme: crc64-xz\n";
        let told = told(OTHER, crc, &[]);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].ends_with("was published, and is gone"), "{told:?}");
    }
}
