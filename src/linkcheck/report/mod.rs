//! Results for the links of a table: in 16 bytes a link for pages and metrics (`index`), and as a
//! line of JSON (`reported_link`).

mod conclusion;
mod day;
mod index;
mod known;
mod listing;
mod reported_link;
mod summary;

pub use self::conclusion::Conclusion;
pub use self::day::Day;
pub use self::index::VerdictCounts;
pub use self::known::KnownLinks;
pub use self::listing::troubled_links;
pub use self::reported_link::ReportedLink;
pub use self::summary::LinkSummary;
