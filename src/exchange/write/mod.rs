//! Writers of tables in foreign formats, given a site.

mod configuration;
mod export_format;
mod records;
mod rows;

pub use configuration::alike_but_for_case;
pub use export_format::ExportFormat;
pub use records::{ExportedPage, PageWithoutPlace, page_losses, pages, write_csv};
pub use rows::{Feature, Losses};
