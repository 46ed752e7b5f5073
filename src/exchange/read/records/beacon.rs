//! BEACON link dumps (<https://gbv.github.io/beaconspec/>): meta fields, then one link per line.
//!
//! Prefix and target are URI patterns with `{ID}` or `{+ID}`. The second of two tokens is the
//! target if it looks like one and the dump has no pattern for targets; otherwise it is an
//! annotation, which becomes the title. The text that URLTeam publishes is such a dump without meta
//! fields.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::exchange::read::rows::{ImportedLink, ImportedRow, LinkOrigin, RowError, rows};

/// The characters that `{ID}` copies unchanged: the unreserved ones (RFC 3986 section 2.3).
const SIMPLE: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The characters that `{+ID}` copies unchanged: also the reserved ones, and percent-encoded ones.
const RESERVED: &AsciiSet = &SIMPLE
    .remove(b'%')
    .remove(b':')
    .remove(b'/')
    .remove(b'?')
    .remove(b'#')
    .remove(b'[')
    .remove(b']')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=');

/// A URI pattern; the identifier itself if there is no pattern.
#[derive(Default)]
struct Pattern(Option<String>);

impl Pattern {
    fn expand(&self, id: &str) -> String {
        let Some(pattern) = &self.0 else {
            return id.to_owned();
        };
        let simple = || utf8_percent_encode(id, SIMPLE).to_string();
        let reserved = || utf8_percent_encode(id, RESERVED).to_string();
        if !pattern.contains("{ID}") && !pattern.contains("{+ID}") {
            return pattern.clone() + &simple();
        }
        pattern
            .replace("{ID}", &simple())
            .replace("{+ID}", &reserved())
    }
}

/// The meta fields that determine links.
#[derive(Default)]
struct Meta {
    prefix: Pattern,
    target: Pattern,
    message: Option<String>,
    /// Whether the meta fields have ended.
    is_over: bool,
}

/// Reads every line.
pub(crate) fn read(bytes: &[u8], origin: LinkOrigin<'_>, take: &mut dyn FnMut(ImportedRow)) {
    let mut meta = Meta::default();
    rows(bytes, take, |line| match line.strip_prefix('#') {
        Some(field) if !meta.is_over => {
            meta.set(field);
            Ok(None)
        }
        _ => {
            meta.is_over = true;
            meta.link(line, origin).map(Some)
        }
    });
}

impl Meta {
    fn set(&mut self, field: &str) {
        let Some((name, value)) = field.split_once(':') else {
            return;
        };
        let value = Some(normalised(value)).filter(|value| !value.is_empty());
        match name.trim().to_ascii_uppercase().as_str() {
            "PREFIX" => self.prefix = Pattern(value),
            "TARGET" => self.target = Pattern(value.filter(|value| value != "{+ID}")),
            "MESSAGE" => self.message = value,
            _ => {}
        }
    }

    fn link(&self, line: &str, origin: LinkOrigin<'_>) -> Result<ImportedLink, RowError> {
        let tokens: Vec<_> = line.split('|').map(normalised).collect();
        let is_url = |token: &str| {
            let scheme = token.split_once(':').map_or("", |(scheme, _)| scheme);
            scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
        };
        let (source, annotation, target) = match &tokens[..] {
            [source] => (source, "", source),
            [source, target] if self.target.0.is_none() && is_url(target) => (source, "", target),
            [_, annotation, _] if self.target.0.is_none() && is_url(annotation) => {
                return Err(RowError::NoLink(
                    "two of these may be the URL: one with a \"|\" must be written with %7C",
                ));
            }
            [source, annotation] => (source, &**annotation, source),
            [source, annotation, target] if target.is_empty() => (source, &**annotation, source),
            [source, annotation, target] => (source, &**annotation, target),
            more => {
                let (found, expected) = (more.len(), 3);
                return Err(RowError::Fields { found, expected });
            }
        };
        let title = match &self.message {
            Some(message) => message.replace("{annotation}", annotation),
            None => annotation.to_owned(),
        };
        Ok(ImportedLink {
            code: Some(origin.code(&self.prefix.expand(source))?),
            url: Some(self.target.expand(target)),
            title: Some(normalised(&title)).filter(|title| !title.is_empty()),
            ..ImportedLink::default()
        })
    }
}

/// Returns a text with each run of white space as a single space, and none at the ends.
fn normalised(text: &str) -> String {
    let words: Vec<_> = text.split_ascii_whitespace().collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use crate::exchange::read::rows::testing::{pairs, read_by, refused};

    #[test]
    fn our_own_form_is_read() {
        let rows = read_by(
            super::read,
            "#FORMAT: BEACON\n#PREFIX: https://short.code/{+ID}\n#TARGET: {+ID}\n\n\
             a/b|https://e.org/?c=d%7Ce\né|https://f.org/\n"
                .as_bytes(),
        );
        let found = ["5 a/b https://e.org/?c=d%7Ce", "6 é https://f.org/"];
        assert_eq!(pairs(&rows), found);
    }

    #[test]
    fn patterns_are_filled_in() {
        let rows = read_by(
            super::read,
            b"#prefix : http://short.code/\r\n#TARGET: http://e.org/x?id={ID}&z\r\n\
              #MESSAGE: Hits: {annotation}\r\n\r\n a \r\nb|12\r\nc| 3  4|d/e f\r\n",
        );
        assert_eq!(
            pairs(&rows),
            [
                "5 a http://e.org/x?id=a&z Hits:",
                "6 b http://e.org/x?id=b&z Hits: 12",
                "7 c http://e.org/x?id=d%2Fe%20f&z Hits: 3 4",
            ]
        );
    }

    #[test]
    fn dumps_without_meta_fields_are_read() {
        let rows = read_by(
            super::read,
            b"https://short.code/a|A title|https://e.org/\nb|https://f.org/|\nc|https://g.org/\n\
              https://other.code/d|https://g.org/\na|b|c|d\n",
        );
        assert_eq!(pairs(&rows)[0], "1 a https://e.org/ A title");
        assert_eq!(pairs(&rows)[1], "3 c https://g.org/");
        let reported = [
            "2: two of these may be the URL: one with a \"|\" must be written with %7C",
            "4: \"https://other.code/d\" is not under https://short.code/",
            "5: this has 4 fields, expected 3",
        ];
        assert_eq!(refused(&rows), reported);
    }
}
