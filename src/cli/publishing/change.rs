//! Changes: what every way of publishing needs to know of one.

use std::path::PathBuf;

use crate::cli::terminal::Error;
use crate::registry::{Branch, Published, TablePath, UserCheckout};

/// A change that can be decided on a table, and made in it.
pub(crate) trait Change {
    /// What was decided.
    type Decided;

    /// Why nothing was.
    type Error: From<Error>;

    /// Makes it in files, which are also committed in a checkout; returns whether anything was
    /// written, too.
    fn in_files(
        &self,
        paths: &[PathBuf],
        checkout: Option<&UserCheckout>,
    ) -> Result<(Self::Decided, bool), Self::Error>;

    /// Makes it on a branch.
    fn on_branch(
        &self,
        branch: &mut impl Branch,
        table: &TablePath,
    ) -> Result<(Self::Decided, Option<Published>), Self::Error>;
}
