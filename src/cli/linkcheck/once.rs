//! One check of all that is due, its report, and what is fixed then.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;

use super::args::Args;
use super::conclusions::Conclusions;
use super::proposals::Proposals;
use super::{look_up, outage, progress, setup};
use crate::cli::report::{self, Findings, Levels};
use crate::cli::terminal::Error;
use crate::linkcheck::Checker;
use crate::mapping::{Compilation, SourceFile, Table};

/// A table that is checked, and what it was compiled from.
pub(super) struct Compiled {
    pub(super) files: Vec<SourceFile>,
    /// Without the table.
    pub(super) compilation: Compilation,
    pub(super) table: Arc<Table>,
}

/// Checks what is due, looks dead links up in the archive if one is asked, and returns all that is
/// known then.
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

/// Reports what is known of the links of a table, and fixes what can be fixed. It waits for Git.
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
    let proposals =
        (args.fixing.fix).then(|| Proposals::of(conclusions, &table, setup::policy(args)));
    compilation.diagnostics = conclusions.diagnostics();
    compilation.expectations.clear();
    let findings = Findings::new(files, compilation, Levels::denying(args.deny.clone()));
    let finished = report::finish(&findings, &conclusions.summary(), |out| {
        args.format.write(&findings, conclusions, out)
    });
    // A verdict that is denied keeps nothing from being fixed.
    if let (Some(proposals), Ok(()) | Err(Error::Reported)) = (proposals, &finished) {
        let is_for_people = args.format.is_for_people();
        (args.fixing).run(&args.table.paths, proposals, is_for_people)?;
    }
    finished
}
