//! The encoding of a file: UTF-16 and Windows-1252, which spreadsheets write, converted to UTF-8.

use std::borrow::Cow;
use std::fmt;

/// The characters of the bytes 0x80 to 0x9F in Windows-1252, which is Latin-1 otherwise; a NUL where
/// there is none (WHATWG Encoding Standard, index windows-1252).
const WINDOWS: [char; 32] = [
    '€', '\0', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\0', 'Ž', '\0', '\0', '‘',
    '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\0', 'ž', 'Ÿ',
];

/// An encoding that is not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-16, most significant byte last.
    Utf16Le,
    /// UTF-16, most significant byte first.
    Utf16Be,
    /// Latin-1, with the additions of Windows.
    Windows1252,
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Utf16Le | Self::Utf16Be => "UTF-16",
            Self::Windows1252 => "Latin-1 (Windows-1252)",
        })
    }
}

/// Returns a file in UTF-8, with its original encoding if that was another one.
///
/// A file that is evidently not text in any of them is returned unchanged, and so is one that is
/// partly UTF-8: its readers report the invalid lines.
pub fn in_utf8(bytes: &[u8]) -> (Cow<'_, [u8]>, Option<Encoding>) {
    let converted = match encoding(bytes) {
        None => None,
        Some(Encoding::Windows1252) => from_windows(bytes).map(|it| (it, Encoding::Windows1252)),
        Some(encoding) => from_utf16(bytes, encoding).map(|it| (it, encoding)),
    };
    match converted {
        Some((text, encoding)) => (Cow::Owned(text.into_bytes()), Some(encoding)),
        None => (Cow::Borrowed(bytes), None),
    }
}

fn encoding(bytes: &[u8]) -> Option<Encoding> {
    match bytes {
        [0xFF, 0xFE, ..] => return Some(Encoding::Utf16Le),
        [0xFE, 0xFF, ..] => return Some(Encoding::Utf16Be),
        // Without a mark: the first two characters are ASCII.
        [a, 0, b, 0, ..] if *a != 0 && *b != 0 => return Some(Encoding::Utf16Le),
        [0, a, 0, b, ..] if *a != 0 && *b != 0 => return Some(Encoding::Utf16Be),
        _ => {}
    }
    let mut chunks = bytes.utf8_chunks().peekable();
    let is_utf8 = chunks.peek().is_none_or(|first| first.invalid().is_empty());
    let is_partly_utf8 = || bytes.utf8_chunks().any(|it| !it.valid().is_ascii());
    (!is_utf8 && !is_partly_utf8()).then_some(Encoding::Windows1252)
}

fn from_utf16(bytes: &[u8], encoding: Encoding) -> Option<String> {
    let units = bytes.chunks(2).map(|pair| match (pair, encoding) {
        ([low, high], Encoding::Utf16Le) => u16::from_le_bytes([*low, *high]),
        ([high, low], _) => u16::from_be_bytes([*high, *low]),
        // Half a character at the end is invalid.
        _ => 0xD800,
    });
    let text: Result<String, _> = char::decode_utf16(units).collect();
    let text = text.ok().filter(|text| !text.contains('\0'))?;
    Some(
        text.strip_prefix('\u{FEFF}')
            .map(str::to_owned)
            .unwrap_or(text),
    )
}

fn from_windows(bytes: &[u8]) -> Option<String> {
    let characters = bytes.iter().map(|&byte| {
        let character = match byte {
            0x80..=0x9F => WINDOWS[usize::from(byte - 0x80)],
            _ => char::from(byte),
        };
        let is_text = !character.is_control() || "\t\r\n\u{c}".contains(character);
        is_text.then_some(character)
    });
    characters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> (String, Option<Encoding>) {
        let (bytes, encoding) = in_utf8(bytes);
        (String::from_utf8_lossy(&bytes).into_owned(), encoding)
    }

    fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    }

    #[test]
    fn converts_what_spreadsheets_write() {
        let text = "slug,url\né,https://e.org/😀\n";
        for (mark, known) in [("\u{FEFF}", true), ("", false)] {
            let marked = format!("{mark}{text}");
            let little = utf16(&marked, u16::to_le_bytes);
            assert_eq!(
                read(&little),
                (text.to_owned(), Some(Encoding::Utf16Le)),
                "{known}"
            );
            let big = utf16(&marked, u16::to_be_bytes);
            assert_eq!(
                read(&big),
                (text.to_owned(), Some(Encoding::Utf16Be)),
                "{known}"
            );
        }
        let latin = (
            "url,title\nx,B\u{fc}ro \u{2013} 5 \u{20ac}\n".to_owned(),
            Some(Encoding::Windows1252),
        );
        assert_eq!(read(b"url,title\nx,B\xFCro \x96 5 \x80\n"), latin);
    }

    #[test]
    fn keeps_utf8_and_what_is_no_text() {
        for bytes in [
            &b""[..],
            b"plain",
            "é".as_bytes(),
            b"\xEF\xBB\xBFplain",
            // Partly UTF-8: the second line has one bad byte.
            b"\xC3\xA9\n\xFC",
            b"\x7FELF\x02\x01\x01\x00\n\x90",
            b"\xFF\xFEa",
            b"\xFF\xFE\x00\xD8",
            b"a\x81b",
        ] {
            assert_eq!(in_utf8(bytes), (Cow::Borrowed(bytes), None), "{bytes:?}");
        }
    }
}
