//! Commits of a local repository: their content, and the relations between them.

mod ancestry;
mod changed_files;
mod past_reader;
mod repository;
mod repository_error;
mod rev_path;
mod tree;
mod tree_path;

pub use ancestry::HistoryStep;
pub use changed_files::ContentId;
pub use past_reader::PastReader;
pub use repository::{LocalRepository, Version};
pub use repository_error::RepositoryError;
pub use rev_path::RevPath;
pub use tree::{FoundFile, NameFilter, TreeError, TreeFile, each_file};
pub use tree_path::TreePath;
