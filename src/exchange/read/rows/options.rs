//! The parameters of the reader of a format, in addition to the bytes.

use super::columns::Column;
use super::origin::LinkOrigin;
use crate::mapping::{BaseUrl, Case};

/// The parameters that a format does not contain itself.
#[derive(Debug, Clone, Copy)]
pub struct Options<'o> {
    /// The base URLs of the short links. If there are several, each row must name its own.
    pub from: &'o [&'o BaseUrl],
    /// Whether case counts in the codes of the table.
    pub case: Case,
    /// Columns with their own names; an empty name omits a column.
    pub columns: &'o [(Column, String)],
}

impl Options<'_> {
    pub(crate) fn origin(&self) -> LinkOrigin<'_> {
        LinkOrigin {
            base_urls: self.from,
            case: self.case,
        }
    }
}
