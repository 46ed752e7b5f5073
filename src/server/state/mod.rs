//! The state shared by the parts of a server: the live table, the metrics, and the source of
//! tables, with its errors.

mod code_orders;
mod dump_slots;
mod ended;
mod fetch_metrics;
mod link_checks;
mod link_metrics;
mod live;
mod load;
mod log_drops;
mod metrics;
mod picture_slots;
mod reloaded;
mod search_slots;
mod shared;

pub(crate) use code_orders::CodeOrderChanges;
pub(crate) use dump_slots::DumpSlots;
pub(crate) use ended::RegistrationResult;
pub use fetch_metrics::FetchMetrics;
pub(crate) use link_checks::LinkChecks;
pub use link_checks::{LinkChecking, LinkStore, OpeningState};
pub(crate) use live::{LastError, LastReload, Live, Snapshot};
pub use load::{Fetching, LoadError, Source};
pub use log_drops::LogDrops;
pub(crate) use metrics::{Metrics, OpenConnection};
pub(crate) use picture_slots::PictureSlots;
pub(crate) use reloaded::Reloaded;
pub(crate) use search_slots::SearchSlots;
pub(crate) use shared::Shared;
