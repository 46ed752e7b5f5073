//! Where the table is in a repository that `--repo` names.

/// The table's path in the repository.
#[derive(Debug, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Git")]
pub(crate) struct InRepository {
    /// The table in the repository: a file or a directory
    #[arg(
        long,
        value_name = "PATH",
        env = "WAYPOST_PATH",
        default_value = "mapping.yaml",
        requires = "repo"
    )]
    pub(crate) path: String,
}
