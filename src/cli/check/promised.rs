//! The part of a check that looks back at published links, which must still work.
//!
//! A base is one earlier table; `history` visits all of them.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use clap::ArgGroup;
use clap::builder::BoolishValueParser;

use super::history;
use crate::cli::complain;
use crate::mapping::{
    Broken, Diagnostic, Origin, Statement, Statements, TRAILER, Table, breaches, compile,
};
use crate::source::{CommitId, Committed, CommittedError, RevPath, TreePath, Version};

#[derive(Debug, clap::Args)]
#[group(skip)]
#[command(group = ArgGroup::new("past").args(["base", "history"]).multiple(true))]
pub(super) struct Args {
    /// Hold the table to what was published where HEAD, or the REV of --rev, parted from this
    /// branch, tag or commit
    #[arg(long, value_name = "REV", env = "WAYPOST_BASE")]
    base: Option<String>,

    /// Hold the table to all that was ever published in the commits that lead to HEAD, or to the
    /// REV of --rev
    #[arg(long, env = "WAYPOST_HISTORY", value_parser = BoolishValueParser::new())]
    history: bool,

    /// A code that is meant to lead elsewhere, or its short link; may be repeated
    ///
    /// Commits say the same with a line at the end of their message: `Waypost-Allow: retarget CODE`.
    #[arg(
        long,
        value_name = "CODE",
        env = "WAYPOST_ALLOW_RETARGET",
        value_delimiter = ',',
        allow_hyphen_values = true,
        requires = "past"
    )]
    allow_retarget: Vec<String>,
}

/// A table's position among the commits of a repository.
pub(super) struct Lineage {
    pub(super) repository: Committed,
    /// The commit that contains the table, or that the table is to follow.
    pub(super) tip: CommitId,
    paths: Vec<TreePath>,
    max_bytes: u64,
}

/// The content at the paths of a table in one commit.
pub(super) enum Published {
    Nothing,
    /// A table that is not served.
    Unsound,
    Sound(Table),
}

impl Args {
    /// Returns whether a look back was requested.
    pub(super) fn look_back(&self) -> bool {
        self.base.is_some() || self.history
    }

    /// Returns an error for each promise that a table breaks.
    pub(super) fn broken(
        &self,
        table: &Table,
        lineage: &Lineage,
    ) -> anyhow::Result<Vec<Diagnostic>> {
        let stated = self.allow_retarget.iter();
        let stated: Statements = stated.map(|link| Statement::retarget(link)).collect();
        let mut broken = match &self.base {
            Some(base) => lineage.broken_since(base, table, &stated)?,
            None => Vec::new(),
        };
        if self.history {
            let reported: HashSet<_> = broken.iter().map(|it| it.link.clone()).collect();
            let ever = history::broken(lineage, table, &stated)?;
            broken.extend(ever.into_iter().filter(|it| !reported.contains(&it.link)));
        }
        Ok(broken.into_iter().map(|it| it.diagnostic).collect())
    }
}

impl Lineage {
    /// Finds the repository around the paths of a table in a work tree.
    pub(super) fn of_work_tree(paths: &[PathBuf], max_bytes: u64) -> Result<Self, CommittedError> {
        let first = paths.first().map_or(Path::new("."), PathBuf::as_path);
        let repository = Committed::around(first)?;
        let paths = paths.iter().map(|path| repository.path(path));
        Ok(Self {
            tip: repository.commit("HEAD")?,
            paths: paths.collect::<Result<_, _>>()?,
            max_bytes,
            repository,
        })
    }

    /// Takes a table from its commit.
    pub(super) fn of_commit(table: RevPath, max_bytes: u64) -> Self {
        Self {
            tip: table.commit,
            paths: vec![table.path],
            max_bytes,
            repository: table.repository,
        }
    }

    pub(super) fn version(&self, commit: CommitId) -> Result<Version, CommittedError> {
        self.repository.version(commit, &self.paths)
    }

    /// Compiles the table in a commit.
    pub(super) fn table_at(&self, commit: CommitId) -> Result<Published, CommittedError> {
        let read = self
            .repository
            .read_all(commit, &self.paths, self.max_bytes);
        match read {
            Ok(files) if files.is_empty() => Ok(Published::Nothing),
            Ok(files) => Ok(compile(&files)
                .table
                .map_or(Published::Unsound, Published::Sound)),
            Err(error) if error.is_no_table() => Ok(Published::Unsound),
            Err(error) => Err(error),
        }
    }

    /// Returns the description of a commit for users.
    pub(super) fn origin(&self, commit: CommitId) -> Result<Origin, CommittedError> {
        let time = self.repository.time(commit)?.to_string();
        Ok(Origin {
            commit: commit.short(),
            day: time.split('T').next().unwrap_or_default().to_owned(),
        })
    }

    /// Returns the promises of the table at the merge base that a table breaks.
    fn broken_since(
        &self,
        base: &str,
        table: &Table,
        stated: &Statements,
    ) -> anyhow::Result<Vec<Broken>> {
        let repository = &self.repository;
        let rev = repository.commit(base)?;
        let base = repository.merge_base(rev, self.tip)?;
        let Some((commit, old)) = self.last_sound(base)? else {
            return Ok(Vec::new());
        };
        // If branches were merged both ways, the base lacks some commits of REV, whose statements
        // are used up.
        let mut stating = repository.since(rev, self.tip)?;
        stating.extend(repository.since(commit, base)?);
        let mut stated = stated.clone();
        for commit in stating {
            for text in repository.trailers(commit, TRAILER)? {
                match Statement::read(&text) {
                    Some(read) => stated.state(0, read),
                    None => complain(&format!(
                        "the commit {} says {:?}, which states nothing: \
                         write it as in \"{TRAILER}: retarget CODE\"",
                        commit.short(),
                        format!("{TRAILER}: {text}"),
                    )),
                }
            }
        }
        let origin = self.origin(commit)?;
        let mut broken = breaches(&old, &origin, table, &stated);
        // If there are several bases, the chosen one may lack a statement that is in another. A
        // breach that REV already has is not caused by this change.
        if !broken.is_empty()
            && repository.has_several_bases(rev, self.tip)?
            && let Published::Sound(theirs) = self.table_at(rev)?
        {
            let anew = breaches(&theirs, &origin, table, &stated);
            let anew: HashSet<_> = anew.into_iter().map(|it| it.link).collect();
            broken.retain(|it| anew.contains(&it.link));
        }
        Ok(broken)
    }

    /// Returns the table that was served at a base: if the one there has errors, the last valid one
    /// before it.
    fn last_sound(&self, base: CommitId) -> anyhow::Result<Option<(CommitId, Table)>> {
        let mut unsound = None;
        let mut next = Some(base);
        while let Some(commit) = next {
            let version = Some(self.version(commit)?);
            if version != unsound {
                match self.table_at(commit)? {
                    Published::Sound(table) => {
                        if commit != base {
                            complain(&format!(
                                "the table has errors at the base {}: compared with that of {}, \
                                 the last that has none",
                                base.short(),
                                commit.short()
                            ));
                        }
                        return Ok(Some((commit, table)));
                    }
                    Published::Nothing => break,
                    Published::Unsound => unsound = version,
                }
            }
            next = self.repository.first_parent(commit)?;
        }
        complain(&match unsound {
            None => format!(
                "nothing was published at the base {}: the table is checked by itself",
                base.short()
            ),
            Some(_) => format!(
                "no table without errors was published up to the base {}: the table is checked \
                 by itself",
                base.short()
            ),
        });
        Ok(None)
    }
}
