//! What the reader of a format is given besides the bytes.

use super::columns::Column;
use super::origin::LinkOrigin;
use crate::mapping::BaseUrl;

/// The parameters that a format does not contain itself.
#[derive(Debug, Clone, Copy)]
pub struct Options<'o> {
    /// The base URL of the short links.
    pub from: &'o BaseUrl,
    /// Columns with names of their own; an empty name omits a column.
    pub columns: &'o [(Column, String)],
}

impl Options<'_> {
    pub(crate) fn origin(&self) -> LinkOrigin<'_> {
        LinkOrigin {
            base_url: self.from,
        }
    }
}
