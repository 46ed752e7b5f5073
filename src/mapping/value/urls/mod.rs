//! URLs of a table: base URLs, targets, and what is to be warned about.

mod base_url;
mod caution;
mod intended_url;
mod reach;
mod site_target;
pub(in crate::mapping) mod target;

pub use base_url::{BaseUrl, BaseUrlError};
pub use caution::direction_control;
pub use reach::Reach;
pub use site_target::SiteTarget;
pub(in crate::mapping::value) use target::can_be_extended;
pub use target::{MAX_TARGET_BYTES, Target, TargetError};
