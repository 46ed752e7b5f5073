//! Rows that have both a code and the whole short link: which code is imported.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use crate::exchange::read::rows::{RowError, ShortLink};

/// Returns the short link of a row, given its code and the whole short link; for programs whose codes
/// are paths from the root of the host, which have the path of the base URL, also that path.
///
/// # Errors
///
/// Fails if the code is not that of the short link.
pub(super) fn agreed(
    own: &ShortLink,
    whole: ShortLink,
    path: Option<&str>,
) -> Result<ShortLink, RowError> {
    let is_of_site = own.site.is_none() || own.site == whole.site;
    let code = decoded(&own.code);
    let is_path = path.is_some_and(|path| decoded(path) == code);
    match is_of_site && (code == *whole.code || own.code == whole.code || is_path) {
        true => Ok(whole),
        false => Err(RowError::NoLink("the code is not that of the short link")),
    }
}

/// Returns the path of a short link, with or without its scheme, without the slashes around it.
pub(super) fn path_of(short_link: &str) -> &str {
    let rest = short_link.split_once("://");
    let rest = rest.map_or(short_link, |(_, rest)| rest);
    let path = rest.split_once('/').map_or("", |(_, path)| path);
    path.strip_suffix('/').unwrap_or(path)
}

fn decoded(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8_lossy()
}

#[cfg(test)]
mod tests {
    use super::super::csv::{Dialect, PLAIN, SHLINK, read};
    use crate::exchange::read::rows::testing::{pairs, refused};
    use crate::exchange::read::rows::{ImportedRow, Options};
    use crate::mapping::{BaseUrl, Case};

    /// Returns the rows of codes and short links under `https://short.code/s/`.
    fn rows(dialect: &Dialect, codes: &[[&str; 2]]) -> Vec<ImportedRow> {
        let row = |[code, link]: &[&str; 2]| format!("{code},{link},https://e.org/\n");
        let text = codes.iter().map(row).collect::<String>();
        let text = format!("shortCode,shortUrl,longUrl\n{text}");
        let from = &BaseUrl::parse("https://short.code/s/").unwrap();
        let options = Options {
            from: &[from],
            case: Case::Exact,
            columns: &[],
        };
        let mut rows = Vec::new();
        read(text.as_bytes(), dialect, &options, &mut |row| {
            rows.push(row);
        })
        .unwrap();
        rows
    }

    #[test]
    fn a_path_of_shlink_is_read_as_the_code_of_its_short_link() {
        let found = rows(
            &SHLINK,
            &[
                ["s/abc", "https://short.code/s/abc"],
                ["s/caf%C3%A9", "https://short.code/s/caf%C3%A9"],
                ["def", "https://short.code/s/def"],
                ["s/g/", "short.code/s/g/"],
            ],
        );
        let own = [
            "2 abc https://e.org/",
            "3 café https://e.org/",
            "4 def https://e.org/",
            "5 g https://e.org/",
        ];
        assert_eq!(pairs(&found), own);
    }

    #[test]
    fn a_code_that_is_not_that_of_the_short_link_is_refused() {
        for (dialect, code) in [(&SHLINK, "other"), (&PLAIN, "other"), (&PLAIN, "s/abc")] {
            let found = rows(dialect, &[[code, "https://short.code/s/abc"]]);
            let reported = ["2: the code is not that of the short link"];
            assert_eq!(refused(&found), reported, "{code}");
        }
        let found = rows(&PLAIN, &[["caf%C3%A9", "https://short.code/s/caf%C3%A9"]]);
        assert_eq!(pairs(&found), ["2 café https://e.org/"]);
    }
}
