//! The formats in which links are read, and the choice of their readers.

use super::configuration::{apache, nginx};
use super::records::{beacon, csv, json_lines, kutt, redirects};
use super::rows::{ImportedRow, Options, ReadError, RowError};

/// A format in which links are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportFormat {
    /// Comma-separated values with a header.
    Csv,
    /// One JSON object per line.
    JsonLines,
    /// CSV of YOURLS: the output of its export plugin, or its table.
    Yourls,
    /// CSV of Shlink's web client.
    Shlink,
    /// JSON of Kutt's API.
    Kutt,
    /// An nginx configuration.
    Nginx,
    /// An Apache configuration.
    Apache,
    /// A `_redirects` file.
    Redirects,
    /// A BEACON link dump, or the text that URLTeam publishes.
    Beacon,
    /// CSV of a table of slugs and URLs, with or without a header.
    Psql,
}

impl ImportFormat {
    /// Every format.
    pub const ALL: [Self; 10] = [
        Self::Csv,
        Self::JsonLines,
        Self::Yourls,
        Self::Shlink,
        Self::Kutt,
        Self::Nginx,
        Self::Apache,
        Self::Redirects,
        Self::Beacon,
        Self::Psql,
    ];

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
            Self::Yourls => return csv::read(bytes, &csv::YOURLS, options, take),
            Self::Shlink => return csv::read(bytes, &csv::SHLINK, options, take),
            Self::Psql => return csv::read(bytes, &csv::PSQL, options, take),
            Self::JsonLines => json_lines::read(bytes, origin, take),
            Self::Apache => apache::read(bytes, origin, take),
            Self::Redirects => redirects::read(bytes, origin, take),
            Self::Beacon => beacon::read(bytes, origin, take),
            Self::Kutt => up_to_invalid(bytes, take, |text, take| kutt::read(text, origin, take)),
            Self::Nginx => up_to_invalid(bytes, take, |text, take| nginx::read(text, origin, take)),
        }
        Ok(Vec::new())
    }
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
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::super::Column;
    use super::*;
    use crate::mapping::{BaseUrl, Target};

    /// Reads a file of links under `https://short.code/`.
    pub(crate) fn read_with(
        form: ImportFormat,
        bytes: &[u8],
        columns: &[(Column, String)],
    ) -> Result<(Vec<ImportedRow>, Vec<String>), ReadError> {
        let from = &BaseUrl::parse("https://short.code/").unwrap();
        let mut rows = Vec::new();
        let unread = form.read(bytes, &Options { from, columns }, &mut |row| rows.push(row))?;
        Ok((rows, unread))
    }

    pub(crate) fn read_as(form: ImportFormat, bytes: &[u8]) -> Vec<ImportedRow> {
        read_with(form, bytes, &[]).unwrap().0
    }

    /// Returns the line, the code, the URL and the title of each link.
    pub(crate) fn pairs(rows: &[ImportedRow]) -> Vec<String> {
        let links = rows
            .iter()
            .filter_map(|row| Some((row.line, row.link.as_ref().ok()?)));
        let texts = links.map(|(line, link)| {
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            let title = link.title.as_ref().map(|title| format!(" {title}"));
            format!(
                "{line} {} {}{}",
                text(&link.code),
                text(&link.url),
                text(&title)
            )
        });
        texts.collect()
    }

    /// Returns the line of each refused row, and the reason.
    pub(crate) fn refused(rows: &[ImportedRow]) -> Vec<String> {
        let refused = rows
            .iter()
            .filter_map(|row| Some((row.line, row.link.as_ref().err()?)));
        refused
            .map(|(line, error)| format!("{line}: {error}"))
            .collect()
    }

    #[test]
    fn binary_input_is_reported_and_nothing_of_it_imported() {
        for form in ImportFormat::ALL {
            for bytes in [
                &b"\x00\xFF\xFE\x80"[..],
                b"\xC3\x28;{",
                b"\x7FELF\x02\x01\x01\x00\n\x90",
            ] {
                let Ok((rows, _)) = read_with(form, bytes, &[]) else {
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
    fn an_empty_file_has_no_rows_where_it_may_be_empty() {
        for form in ImportFormat::ALL {
            let read = read_with(form, b"", &[]);
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
            let Ok((rows, _)) = read_with(form, &bytes, &[]) else {
                return Err(TestCaseError::reject("no rows of this form"));
            };
            prop_assert!(rows.is_sorted_by_key(|row| row.line), "{:?} {:?}", form, rows);
            prop_assert!(rows.iter().all(|row| (1..=lines).contains(&row.line)));
        }
    }
}
