//! Tables in foreign formats, for export and import: one file per format; and a short link as a QR
//! code.
//!
//! The readers, under [`read`], are separate (docs/decisions/0009). A writer is given a site and
//! writes it entry by entry, in the order of codes, so that the same table always produces the same
//! text and a million entries are never in memory twice.
//!
//! # Invariants
//!
//! - Nothing here reads a clock or touches a file.
//! - Features that a format cannot represent are counted by [`Losses`], and a row that cannot be
//!   imported is reported: nothing is dropped silently.

mod qr_code;
pub mod read;
mod write;

pub use qr_code::qr_svg;
pub use write::{
    ExportFormat, ExportedPage, Feature, Losses, PageWithoutPlace, alike_but_for_case, page_losses,
    pages, write_csv,
};
