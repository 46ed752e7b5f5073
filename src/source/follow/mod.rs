//! A table that is fetched: a remote that is followed, or a checkout that is pulled.

mod attempt;
mod committed_table;
mod current_clone;
mod fetch_options;
mod fetches;
mod follower;
mod following;
mod pull;
mod remote_error;
mod report;
mod rounds;
mod schedule;
mod turn;

pub use committed_table::read_table;
pub use fetch_options::FetchOptions;
pub use follower::Follower;
pub use following::Following;
pub use pull::{PullError, Puller, Pulling};
pub use remote_error::RemoteError;
pub use report::{CommitInfo, Fetch, FetchResult, RemoteStatus};
pub use rounds::Observer;
pub use schedule::Schedule;
pub use turn::Turn;
