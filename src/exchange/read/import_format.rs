//! The formats in which links are read, and the choice of their readers.

use super::configuration::{apache, caddy, nginx};
use super::records::{beacon, csv, golink, json_lines, kutt, redirects, sql_start, yourls_sql};
use super::rows::{ConfigurationTree, ImportedRow, Options, ReadError, RowError};

/// A format in which links are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportFormat {
    /// Comma-separated values with a header.
    Csv,
    /// One JSON object per line.
    JsonLines,
    /// YOURLS: the CSV of its export plugin or of its table, or an SQL dump.
    Yourls,
    /// CSV of Shlink's web client.
    Shlink,
    /// JSON of Kutt's API.
    Kutt,
    /// The export of golink.
    Golink,
    /// An nginx configuration.
    Nginx,
    /// An Apache configuration.
    Apache,
    /// A Caddyfile.
    Caddy,
    /// A `_redirects` file.
    Redirects,
    /// A BEACON link dump, or the text that URLTeam publishes.
    Beacon,
    /// CSV of a table of slugs and URLs, with or without a header.
    Psql,
}

impl ImportFormat {
    /// Every format.
    pub const ALL: [Self; 12] = [
        Self::Csv,
        Self::JsonLines,
        Self::Yourls,
        Self::Shlink,
        Self::Kutt,
        Self::Golink,
        Self::Nginx,
        Self::Apache,
        Self::Caddy,
        Self::Redirects,
        Self::Beacon,
        Self::Psql,
    ];

    /// Returns whether a row may contain the base URL of its short link, so that a file may have links
    /// of several sites.
    pub fn may_name_sites(self) -> bool {
        matches!(
            self,
            Self::Csv | Self::JsonLines | Self::Shlink | Self::Kutt
        )
    }

    /// Reads every row, in the order of the file; returns the names of columns that are not read.
    ///
    /// # Errors
    ///
    /// Fails if the columns cannot be determined.
    pub fn read(
        self,
        bytes: &[u8],
        options: &Options<'_>,
        take: &mut dyn FnMut(ImportedRow),
    ) -> Result<Vec<String>, ReadError> {
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let origin = options.origin();
        match self {
            Self::Csv => return csv::read(bytes, &csv::PLAIN, options, take),
            Self::Yourls if sql_start::is_dump(bytes) => yourls_sql::read(bytes, origin, take),
            Self::Yourls => return csv::read(bytes, &csv::YOURLS, options, take),
            Self::Shlink => return csv::read(bytes, &csv::SHLINK, options, take),
            Self::Psql => return csv::read(bytes, &csv::PSQL, options, take),
            Self::JsonLines => json_lines::read(bytes, origin, take),
            Self::Golink => golink::read(bytes, origin, take),
            Self::Apache => apache::read(bytes, origin, take),
            Self::Redirects => redirects::read(bytes, origin, take),
            Self::Beacon => beacon::read(bytes, origin, take),
            Self::Kutt => up_to_invalid(bytes, take, |text, take| kutt::read(text, origin, take)),
            Self::Caddy => up_to_invalid(bytes, take, |text, take| caddy::read(text, origin, take)),
            Self::Nginx => up_to_invalid(bytes, take, |text, take| nginx::read(text, origin, take)),
        }
        Ok(Vec::new())
    }
}

/// Reads the Apache configurations of a tree, whose lines are numbered as if they were one file.
pub fn read_tree(
    tree: &ConfigurationTree,
    options: &Options<'_>,
    take: &mut dyn FnMut(ImportedRow),
) {
    apache::read_tree(tree, options.origin(), take);
}

/// Reads a file up to the first byte that is not text, which is reported.
fn up_to_invalid(
    bytes: &[u8],
    take: &mut dyn FnMut(ImportedRow),
    read: impl FnOnce(&str, &mut dyn FnMut(ImportedRow)),
) {
    match std::str::from_utf8(bytes) {
        Ok(text) => read(text, take),
        Err(error) => {
            let valid = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
            read(valid, take);
            let line = valid.bytes().filter(|byte| *byte == b'\n').count() + 1;
            let link = Err(RowError::NotUtf8);
            take(ImportedRow { line, link });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::rows::testing::with_options;
    use super::*;
    use crate::mapping::Target;

    /// Reads a file of links under `https://short.code/`.
    fn read_with(
        form: ImportFormat,
        bytes: &[u8],
    ) -> Result<(Vec<ImportedRow>, Vec<String>), ReadError> {
        let (rows, unread) = with_options(&[], |options, take| form.read(bytes, options, take));
        Ok((rows, unread?))
    }

    #[test]
    fn binary_input_is_reported_and_nothing_of_it_imported() {
        for form in ImportFormat::ALL {
            for bytes in [
                &b"\x00\xFF\xFE\x80"[..],
                b"\xC3\x28;{",
                b"\x7FELF\x02\x01\x01\x00\n\x90",
            ] {
                let Ok((rows, _)) = read_with(form, bytes) else {
                    continue;
                };
                assert!(!rows.is_empty(), "{form:?}");
                let urls = rows
                    .iter()
                    .filter_map(|row| row.link.as_ref().ok()?.url.as_ref());
                assert_eq!(
                    urls.filter(|url| Target::parse(url).is_ok()).count(),
                    0,
                    "{form:?}"
                );
            }
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_row() {
        for (form, text) in [
            (ImportFormat::Csv, "url\nhttps://e.org/\n"),
            (ImportFormat::Beacon, "a|https://e.org/\n"),
        ] {
            let marked = format!("\u{FEFF}{text}");
            assert_eq!(
                read_with(form, marked.as_bytes()),
                read_with(form, text.as_bytes())
            );
        }
    }

    #[test]
    fn an_empty_file_has_no_rows_where_it_may_be_empty() {
        for form in ImportFormat::ALL {
            let read = read_with(form, b"");
            match form {
                ImportFormat::Csv | ImportFormat::Shlink => {
                    assert_eq!(read, Err(ReadError::NoHeader))
                }
                ImportFormat::Kutt => assert_eq!(read.unwrap().0.len(), 1),
                _ => assert_eq!(read, Ok((Vec::new(), Vec::new())), "{form:?}"),
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]

        #[test]
        fn lines_are_of_the_file(
            form in prop::sample::select(ImportFormat::ALL.to_vec()),
            header in "|code,url\n|Short code,Long URL\n",
            text in prop_oneof![
                any::<Vec<u8>>(),
                "(url|code|[a-z/~^$:|\"'{}\\[\\];,\\\\ \r\n#]){0,60}".prop_map(String::into_bytes),
            ],
        ) {
            let bytes = [header.as_bytes(), &text].concat();
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
            let Ok((rows, _)) = read_with(form, &bytes) else {
                return Err(TestCaseError::reject("no rows of this form"));
            };
            prop_assert!(rows.is_sorted_by_key(|row| row.line), "{:?} {:?}", form, rows);
            prop_assert!(rows.iter().all(|row| (1..=lines).contains(&row.line)));
        }
    }
}
