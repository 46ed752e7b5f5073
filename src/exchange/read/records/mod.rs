//! Formats with one record per link.

pub(crate) mod beacon;
mod code_and_link;
pub(crate) mod csv;
pub(crate) mod golink;
pub(crate) mod json_lines;
pub(crate) mod kutt;
mod parsed;
mod quotes;
pub(crate) mod redirects;
mod sql_dump;
pub(crate) mod sql_start;
mod sql_value;
pub(crate) mod yourls_sql;

pub(crate) use csv::NO_TEXT;
