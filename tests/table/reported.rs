//! Diagnostics as the expectations next to tables hold them: as printed, and the rule.

use waypost::mapping::Diagnostic;

/// Returns a diagnostic with its rule, each line with its line break.
pub(crate) fn reported(diagnostic: &Diagnostic) -> String {
    format!("{diagnostic}\n  rule: {}\n", diagnostic.rule)
}
