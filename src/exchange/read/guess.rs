//! Guesses the format of a file from its name and its beginning.
//!
//! A guess is made only if exactly one format fits, because the links of a wrong import would be
//! published.

use super::import_format::ImportFormat;
use super::records::sql_start;
use super::rows::Column;

/// A key that only the export of golink has.
const GOLINK_KEY: &str = "\"Long\":";

/// How many bytes of a file are examined.
const LOOKED_AT: usize = 64 << 10;

impl ImportFormat {
    /// Returns the format of a file, from its name and its text.
    ///
    /// # Errors
    ///
    /// Returns all formats that it may have, in the order of [`ImportFormat::ALL`]; none if no
    /// known format fits.
    pub fn guess(name: &str, bytes: &[u8]) -> Result<Self, Vec<Self>> {
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let beginning = String::from_utf8_lossy(&bytes[..bytes.len().min(LOOKED_AT)]);
        match of_name(name) {
            Some(Self::JsonLines) if Self::Golink.fits(name, &beginning) => {
                return Ok(Self::Golink);
            }
            Some(format) => return Ok(format),
            None => {}
        }
        let mut fitting = Self::ALL.to_vec();
        fitting.retain(|format| format.fits(name, &beginning));
        match fitting[..] {
            [format] => Ok(format),
            _ => Err(fitting),
        }
    }

    /// Returns whether the beginning of a text has this format.
    fn fits(self, name: &str, text: &str) -> bool {
        let lines = text.lines().map(str::trim);
        let mut lines = lines.filter(|line| !line.is_empty());
        let is_configuration = !text.starts_with(['{', '[']) && !text.starts_with("#FORMAT");
        match self {
            Self::Csv | Self::Yourls | Self::Shlink | Self::Psql => {
                of_table(name, text) == Some(self)
            }
            Self::JsonLines => lines.next().is_some_and(|first| {
                first.starts_with('{')
                    && first.ends_with('}')
                    && ["\"url\"", "\"short-code\""]
                        .iter()
                        .any(|key| first.contains(key))
                    && !first.contains("\"target\"")
                    && !first.contains(GOLINK_KEY)
            }),
            Self::Golink => lines
                .next()
                .is_some_and(|first| first.starts_with('{') && first.contains(GOLINK_KEY)),
            Self::Kutt => text.trim_start().starts_with(['{', '[']) && text.contains("\"target\""),
            Self::Nginx => {
                let words = ["return ", "rewrite ", "map ", "location ", "server "];
                let is_directive = |line: &str| {
                    line.ends_with(['{', ';', '}'])
                        && words.iter().any(|word| line.starts_with(word))
                };
                is_configuration && lines.any(is_directive) && !looks_like_caddyfile(text)
            }
            Self::Apache => {
                let words = ["redirect", "redirectmatch", "rewriterule", "rewriteengine"];
                is_configuration
                    && lines.any(|line| {
                        let word = line.split_whitespace().next().unwrap_or_default();
                        words.iter().any(|it| word.eq_ignore_ascii_case(it))
                    })
            }
            Self::Caddy => !text.starts_with("{\"") && looks_like_caddyfile(text),
            Self::Redirects => {
                let mut rules = lines.filter(|line| !line.starts_with('#'));
                rules.next().is_some_and(|line| {
                    let mut fields = line.split_whitespace();
                    let (from, to) = (fields.next(), fields.next());
                    from.is_some_and(|it| it.starts_with('/'))
                        && to.is_some_and(|it| it.starts_with('/') || it.contains("://"))
                        && !line.ends_with([';', '{'])
                })
            }
            Self::Beacon => {
                text.starts_with("#FORMAT: BEACON")
                    || lines
                        .find(|line| !line.starts_with('#'))
                        .is_some_and(|line| match line.split_once('|') {
                            Some((code, target)) => {
                                !code.contains([',', ';', '\t']) && target.contains("://")
                            }
                            None => false,
                        })
            }
        }
    }
}

/// Returns whether a text has a directive that only a Caddyfile has, or a placeholder in a redirect.
fn looks_like_caddyfile(text: &str) -> bool {
    let words = [
        "redir",
        "handle",
        "handle_path",
        "reverse_proxy",
        "file_server",
        "respond",
    ];
    let is_directive = |line: &str| {
        let mut fields = line.split_whitespace();
        let name = fields.next().unwrap_or_default();
        let is_map = name == "map" && line.contains("} {") && line.ends_with('{');
        (words.contains(&name) || is_map) && !line.ends_with(';')
    };
    text.lines().map(str::trim).any(is_directive)
}

/// Returns the format for which a name is conventional.
fn of_name(name: &str) -> Option<ImportFormat> {
    let name = name.rsplit('/').next().unwrap_or_default();
    let lower = name.to_ascii_lowercase();
    match lower.as_str() {
        "_redirects" => Some(ImportFormat::Redirects),
        ".htaccess" => Some(ImportFormat::Apache),
        "caddyfile" => Some(ImportFormat::Caddy),
        _ if lower.ends_with(".jsonl") || lower.ends_with(".ndjson") => {
            Some(ImportFormat::JsonLines)
        }
        _ if lower.ends_with(".beacon") => Some(ImportFormat::Beacon),
        _ => None,
    }
}

/// Returns the program that writes tables that begin so: with a header or a record, or as an SQL dump.
fn of_table(name: &str, text: &str) -> Option<ImportFormat> {
    if sql_start::is_dump(text.as_bytes()) {
        return text.contains("url").then_some(ImportFormat::Yourls);
    }
    let first = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let separator = [',', ';', '\t']
        .into_iter()
        .find(|it| first.contains(*it))?;
    let fields = first
        .split(separator)
        .map(|field| field.trim_matches([' ', '"']));
    let folded: Vec<String> = fields
        .map(|field| {
            let letters = field.chars().filter(|c| c.is_alphanumeric());
            letters.flat_map(char::to_lowercase).collect()
        })
        .collect();
    if first.starts_with(['{', '[', '<']) {
        return None;
    }
    let has = |wanted: &str| folded.iter().any(|field| field == wanted);
    let is_record = first.contains("://");
    match () {
        () if is_record && folded.len() == 2 => Some(ImportFormat::Psql),
        // The table of YOURLS without a header has its name.
        () if is_record => name.contains("yourls").then_some(ImportFormat::Yourls),
        () if has("keyword") && has("url") => Some(ImportFormat::Yourls),
        () if has("source") && has("target") && has("hits") => Some(ImportFormat::Yourls),
        () if has("shortcode") && has("longurl") && has("visits") => Some(ImportFormat::Shlink),
        () if has("slug") && has("url") && folded.len() == 2 => Some(ImportFormat::Psql),
        () if folded.iter().any(|field| Column::Url.has_name(field)) => Some(ImportFormat::Csv),
        // Its columns may have names that the user knows.
        () => {
            let is_table = name.ends_with(".csv") || name.ends_with(".tsv");
            is_table.then_some(ImportFormat::Csv)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_what_other_programs_write_whatever_its_name() {
        for (bytes, format) in [
            (
                &include_bytes!("../../../tests/data/import/links.csv")[..],
                ImportFormat::Csv,
            ),
            (
                include_bytes!("../../../tests/data/import/staff.csv"),
                ImportFormat::Csv,
            ),
            (
                include_bytes!("../../../tests/data/import/links.jsonl"),
                ImportFormat::JsonLines,
            ),
            (
                include_bytes!("../../../tests/data/import/yourls.csv"),
                ImportFormat::Yourls,
            ),
            (
                include_bytes!("../../../tests/data/import/yourls.tsv"),
                ImportFormat::Yourls,
            ),
            (
                include_bytes!("../../../tests/data/import/yourls.sql"),
                ImportFormat::Yourls,
            ),
            (
                include_bytes!("../../../tests/data/import/golink.jsonl"),
                ImportFormat::Golink,
            ),
            (
                include_bytes!("../../../tests/data/import/shlink.csv"),
                ImportFormat::Shlink,
            ),
            (
                include_bytes!("../../../tests/data/import/kutt.json"),
                ImportFormat::Kutt,
            ),
            (
                include_bytes!("../../../tests/data/import/nginx.conf"),
                ImportFormat::Nginx,
            ),
            (
                include_bytes!("../../../tests/data/import/apache.conf"),
                ImportFormat::Apache,
            ),
            (
                include_bytes!("../../../tests/data/import/Caddyfile"),
                ImportFormat::Caddy,
            ),
            (
                include_bytes!("../../../tests/data/import/_redirects"),
                ImportFormat::Redirects,
            ),
            (
                include_bytes!("../../../tests/data/import/dump.beacon"),
                ImportFormat::Beacon,
            ),
            (
                include_bytes!("../../../tests/data/import/psql.csv"),
                ImportFormat::Psql,
            ),
            (b"abc|https://www.example.org/\n", ImportFormat::Beacon),
        ] {
            assert_eq!(ImportFormat::guess("dump", bytes), Ok(format));
        }
    }

    #[test]
    fn a_conventional_name_decides() {
        for (name, format) in [
            ("site/_redirects", ImportFormat::Redirects),
            (".htaccess", ImportFormat::Apache),
            ("etc/Caddyfile", ImportFormat::Caddy),
            ("links.NDJSON", ImportFormat::JsonLines),
        ] {
            assert_eq!(ImportFormat::guess(name, b""), Ok(format), "{name}");
        }
    }

    #[test]
    fn what_may_be_several_formats_or_none_is_not_guessed() {
        assert_eq!(
            ImportFormat::guess("x", b"\x7FELF\x02\x01"),
            Err(Vec::new())
        );
        assert_eq!(ImportFormat::guess("x", b""), Err(Vec::new()));
        let unknown_header = b"Kurz;Ziel\na;https://e.org/\n";
        assert_eq!(ImportFormat::guess("x", unknown_header), Err(Vec::new()));
        assert_eq!(
            ImportFormat::guess("x.csv", unknown_header),
            Ok(ImportFormat::Csv)
        );
        let titled = b"{\"short-code\":\"a\",\"url\":\"https://e.org/\",\"tags\":[\"Long\"]}\n";
        assert_eq!(
            ImportFormat::guess("x", titled),
            Ok(ImportFormat::JsonLines)
        );
        let sql_word = b"start,https://e.org/\nb,https://f.org/\n";
        assert_eq!(ImportFormat::guess("x", sql_word), Ok(ImportFormat::Psql));
        let nginx = b"server_name s.code;\nlocation = /b { return 302 https://e.org/; }\n";
        assert_eq!(ImportFormat::guess("x", nginx), Ok(ImportFormat::Nginx));
        let both = b"Redirect /a https://e.org/\nlocation /b { return 302 https://e.org/; }\n";
        let formats = vec![ImportFormat::Nginx, ImportFormat::Apache];
        assert_eq!(ImportFormat::guess("x", both), Err(formats));
    }
}
