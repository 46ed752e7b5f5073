//! A fetched table: a remote that is followed in a clone of our own, or a checkout that is
//! pulled.

mod attempt;
mod committed_table;
mod current_clone;
mod fetch_options;
mod fetches;
mod follower;
mod following;
mod housekeeping;
mod pull;
mod remote_error;
mod report;
mod rounds;
mod schedule;
mod turn;

pub use current_clone::CommitTable;
pub use fetch_options::FetchOptions;
pub use follower::Follower;
pub use following::Following;
pub use pull::{PullError, Puller, Pulling};
pub use remote_error::RemoteError;
pub use report::{CommitInfo, Fetch, FetchResult, RemoteStatus};
pub use rounds::FetchObserver;
pub use schedule::Schedule;
pub use turn::Turn;
