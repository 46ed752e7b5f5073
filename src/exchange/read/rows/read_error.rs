//! Why a file in a foreign format cannot be read at all.

use thiserror::Error;

/// Why a file cannot be read at all.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReadError {
    /// The file is empty, but needs at least a header.
    #[error("it is empty and has no header")]
    NoHeader,
    /// The header names no column of URLs.
    #[error("no column of URLs: {header}")]
    NoUrlColumn {
        /// The beginning of the header.
        header: String,
    },
    /// Several columns of the header may be that of the targets.
    #[error("the columns {names} may all be that of the URLs")]
    SeveralUrlColumns {
        /// Their names.
        names: String,
    },
    /// The header names no column of codes, and has others that may be one.
    #[error("no column of short codes: {header}")]
    NoCodeColumn {
        /// The beginning of the header.
        header: String,
    },
    /// Several columns of the header may be that of the codes; one of them may be that of the status.
    #[error("the columns {names} may all be that of the short codes")]
    SeveralCodeColumns {
        /// Their names.
        names: String,
    },
    /// The header has no column with a requested name.
    #[error("no column {name:?}: {header}")]
    NoSuchColumn {
        /// The name.
        name: String,
        /// The beginning of the header.
        header: String,
    },
}
