//! One check of all due links, its report, and the fixes.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;

use super::args::Args;
use super::conclusions::Conclusions;
use super::link_fixes::LinkFixes;
use super::{look_up, outage, progress, setup};
use crate::cli::report::{self, Findings, Levels};
use crate::cli::terminal::Error;
use crate::linkcheck::Checker;
use crate::mapping::{Compilation, SourceFile, Table};

/// A table that is checked, and its sources.
pub(super) struct Compiled {
    pub(super) files: Vec<SourceFile>,
    /// Without the table.
    pub(super) compilation: Compilation,
    pub(super) table: Arc<Table>,
}

/// Checks the links that are due, looks up dead links in an archive if requested, and returns all
/// results.
pub(super) async fn check(args: &Args, checker: Checker) -> Result<Conclusions, Error> {
    let checker = &Arc::new(checker);
    let deadline = args.max_time.and_then(|it| Instant::now().checked_add(it));
    let checked = tokio::select! {
        checked = progress::show(checker, checker.run()) => checked,
        never = outage::report(checker) => never,
    };
    checked.context("cannot keep the results of link checks")?;
    let wants = |verdict| args.format.reports(verdict);
    let mut conclusions = Conclusions::of(checker, &checker.links(), wants)
        .await
        .context("cannot read the results of link checks")?;
    if let Some(archive) = args.fixing.archive() {
        let scope = setup::scope(args);
        look_up::run(checker, &archive, &mut conclusions, scope, deadline)
            .await
            .context("cannot keep the results of link checks")?;
    }
    Ok(conclusions)
}

/// Reports the results for the links of a table, and fixes what can be fixed. Waits for Git.
pub(super) fn report(
    args: &Args,
    conclusions: &Conclusions,
    compiled: Compiled,
) -> Result<(), Error> {
    let Compiled {
        files,
        mut compilation,
        table,
    } = compiled;
    let fixes = (args.fixing.fix).then(|| LinkFixes::of(conclusions, &table, setup::policy(args)));
    compilation.diagnostics = conclusions.diagnostics();
    compilation.expectations.clear();
    let findings = Findings::new(files, compilation, Levels::denying(args.deny.clone()));
    let finished = report::finish(&findings, &conclusions.summary(), |out| {
        args.format.write(&findings, conclusions, out)
    });
    // A denied verdict does not prevent fixes.
    if let (Some(fixes), Ok(()) | Err(Error::Reported)) = (fixes, &finished) {
        let is_for_people = args.format.is_for_people();
        (args.fixing).run(&args.table.paths, fixes, is_for_people)?;
    }
    finished
}
