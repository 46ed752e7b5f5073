//! Commits of a local repository: their content, and the relations between them.

mod ancestry;
mod repository;
mod repository_error;
mod rev_path;
mod tree;
mod tree_path;

pub use ancestry::HistoryStep;
pub use repository::{LocalRepository, Version};
pub use repository_error::RepositoryError;
pub use rev_path::RevPath;
pub use tree::{NameFilter, TreeError, TreeFile, read_files};
pub use tree_path::TreePath;
