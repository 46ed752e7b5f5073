//! Formats that list links: one record, line, rule or page for each code.

mod beacon;
mod csv;
mod html;
mod json_lines;
mod redirects;
mod urlteam;
mod yaml;

pub(crate) use beacon::write as write_beacon;
pub(crate) use csv::write as write_csv_of_site;
pub use csv::write_entries as write_csv;
pub use html::{ExportedPage, PageWithoutPlace, page_losses, pages};
pub(crate) use json_lines::write as write_json_lines;
pub(crate) use redirects::write as write_redirects;
pub(crate) use urlteam::write as write_urlteam;
pub(crate) use yaml::write as write_yaml;
