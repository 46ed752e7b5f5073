//! Where answers end in the bytes of a server, and how large they are, before anything is reserved for
//! them: a server, or anyone who may publish messages on it, can announce and send any size.
//!
//! Only version 2 of the protocol is understood, which is what connections use
//! (<https://redis.io/docs/latest/develop/reference/protocol-spec/>).

use std::io;

use thiserror::Error;

/// The least size of a value, in bytes.
const LEAST_VALUE: u64 = 3;

/// The bytes are not an answer of version 2 of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("this is no answer of a Valkey or Redis server")]
pub(super) struct NotAnAnswer;

/// An answer is larger than this maximum, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("an answer has more than {0} bytes")]
pub(super) struct TooLarge(pub(super) u64);

impl From<NotAnAnswer> for io::Error {
    fn from(error: NotAnAnswer) -> Self {
        Self::new(io::ErrorKind::InvalidData, error)
    }
}

impl From<TooLarge> for io::Error {
    fn from(error: TooLarge) -> Self {
        Self::new(io::ErrorKind::InvalidData, error)
    }
}

/// Finds the ends of answers in a stream of bytes.
pub(super) struct AnswerScanner {
    place: Place,
    /// The values of this answer that have not begun.
    left: u64,
    /// The bytes of this answer that have arrived or were announced.
    size: u64,
}

/// What the next byte belongs to.
enum Place {
    /// The type of a value.
    Type,
    /// The text of a simple value, until its line ends.
    Text,
    /// The number of bytes of a string, or of values of an array.
    Number { of_bytes: bool, read: NumberRead },
    /// The rest of a string and its line end.
    Bytes { left: u64 },
}

/// A number that is read digit by digit.
#[derive(Default)]
struct NumberRead {
    is_negative: bool,
    value: Option<u64>,
    has_return: bool,
}

/// What was found in some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scanned {
    /// How many of them belong to this answer.
    pub(super) used: usize,
    /// Whether the answer ends with them.
    pub(super) is_end: bool,
    /// The size of the answer in bytes, as far as it has arrived or was announced.
    pub(super) size: u64,
}

impl AnswerScanner {
    pub(super) fn new() -> Self {
        Self {
            place: Place::Type,
            left: 1,
            size: 0,
        }
    }

    /// Reads bytes up to the end of an answer; the next call begins with the next answer.
    pub(super) fn scan(&mut self, bytes: &[u8]) -> Result<Scanned, NotAnAnswer> {
        let mut rest = bytes;
        let mut is_end = false;
        while !is_end && let Some((&first, after)) = rest.split_first() {
            match &mut self.place {
                // Most of a long answer is passed over at once.
                Place::Bytes { left } => {
                    let passed =
                        usize::try_from(*left).map_or(rest.len(), |left| left.min(rest.len()));
                    *left -= passed as u64;
                    rest = &rest[passed..];
                    if *left == 0 {
                        is_end = self.end_value();
                    }
                    continue;
                }
                Place::Type => {
                    self.left -= 1;
                    self.place = match first {
                        b'+' | b'-' | b':' => Place::Text,
                        b'$' | b'*' => Place::Number {
                            of_bytes: first == b'$',
                            read: NumberRead::default(),
                        },
                        _ => return Err(NotAnAnswer),
                    };
                }
                Place::Text if first == b'\n' => is_end = self.end_value(),
                Place::Text => {}
                Place::Number { of_bytes, read } => {
                    let of_bytes = *of_bytes;
                    if let Some(number) = read.next(first)? {
                        is_end = self.announce(of_bytes, number);
                    }
                }
            }
            self.size = self.size.saturating_add(1);
            rest = after;
        }
        let scanned = Scanned {
            used: bytes.len() - rest.len(),
            is_end,
            size: self
                .size
                .saturating_add(self.left.saturating_mul(LEAST_VALUE)),
        };
        if is_end {
            *self = Self::new();
        }
        Ok(scanned)
    }

    /// Continues with what a number announces, none for a null; returns whether the answer ends here.
    fn announce(&mut self, of_bytes: bool, number: Option<u64>) -> bool {
        match number {
            Some(number) if of_bytes => {
                let left = number.saturating_add(2);
                self.size = self.size.saturating_add(left);
                self.place = Place::Bytes { left };
                false
            }
            values => {
                self.left = self.left.saturating_add(values.unwrap_or(0));
                self.end_value()
            }
        }
    }

    /// Returns whether the answer ends with this value.
    fn end_value(&mut self) -> bool {
        self.place = Place::Type;
        self.left == 0
    }
}

impl NumberRead {
    /// Reads a byte; at the end of the line, returns the number, or none for a null.
    #[expect(
        clippy::option_option,
        reason = "there may be no number yet, or it may be a null"
    )]
    fn next(&mut self, byte: u8) -> Result<Option<Option<u64>>, NotAnAnswer> {
        match byte {
            b'\n' if self.has_return => {
                let value = self.value.ok_or(NotAnAnswer)?;
                return match (self.is_negative, value) {
                    (false, value) => Ok(Some(Some(value))),
                    (true, 1) => Ok(Some(None)),
                    (true, _) => Err(NotAnAnswer),
                };
            }
            _ if self.has_return => return Err(NotAnAnswer),
            b'\r' => self.has_return = true,
            b'-' if !self.is_negative && self.value.is_none() => self.is_negative = true,
            b'0'..=b'9' => {
                let value = self.value.unwrap_or(0).checked_mul(10);
                let value = value.and_then(|value| value.checked_add(u64::from(byte - b'0')));
                self.value = Some(value.ok_or(NotAnAnswer)?);
            }
            _ => return Err(NotAnAnswer),
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the lengths of the answers in some bytes, read in pieces.
    fn lengths<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<usize>, NotAnAnswer> {
        let mut scanner = AnswerScanner::new();
        let (mut lengths, mut length) = (Vec::new(), 0);
        for mut piece in pieces {
            while !piece.is_empty() {
                let scanned = scanner.scan(piece)?;
                length += scanned.used;
                piece = &piece[scanned.used..];
                if scanned.is_end {
                    assert_eq!(scanned.size, length as u64);
                    lengths.push(std::mem::take(&mut length));
                }
            }
        }
        assert_eq!(length, 0, "an answer without its end");
        Ok(lengths)
    }

    #[test]
    fn each_kind_of_answer_ends_where_it_ends() {
        let answers = [
            &b"+OK\r\n"[..],
            b"-ERR no\r\n",
            b":-12\r\n",
            b"$5\r\na\r\nbc\r\n",
            b"$0\r\n\r\n",
            b"$-1\r\n",
            b"*0\r\n",
            b"*-1\r\n",
            b"*3\r\n$7\r\nmessage\r\n*2\r\n:1\r\n$-1\r\n+x\r\n",
        ];
        let stream = answers.concat();
        let expected: Vec<_> = answers.iter().map(|answer| answer.len()).collect();
        assert_eq!(lengths([&stream[..]]).unwrap(), expected);
        assert_eq!(lengths(stream.chunks(1)).unwrap(), expected);
    }

    #[test]
    fn an_announced_size_counts_before_it_has_arrived() {
        for (begun, least) in [
            (&b"$536870912\r\n"[..], 536_870_912),
            (b"*1000000000\r\n", 3_000_000_000),
            (b"*2\r\n*9999999999999\r\n", 29_999_999_999_999),
        ] {
            let scanned = AnswerScanner::new().scan(begun).unwrap();
            assert!(!scanned.is_end && scanned.size >= least, "{scanned:?}");
        }
    }

    #[test]
    fn other_bytes_are_no_answer() {
        for bytes in [
            &b"HTTP/1.1 400 Bad Request\r\n"[..],
            b"%1\r\n",
            b">2\r\n",
            b"$\r\n",
            b"$-2\r\n",
            b"$1a\r\n",
            b"$1\rx",
            b"*1\n",
            b"$99999999999999999999\r\n",
        ] {
            assert_eq!(
                lengths([bytes]),
                Err(NotAnAnswer),
                "{}",
                bytes.escape_ascii()
            );
        }
    }

    fn answer() -> impl Strategy<Value = Vec<u8>> {
        let line = r"[-+][a-z ]{1,9}\r\n|:-?[0-9]{1,9}\r\n".prop_map(String::into_bytes);
        let string = prop::collection::vec(any::<u8>(), 0..30).prop_map(|bytes| {
            [format!("${}\r\n", bytes.len()).as_bytes(), &bytes, b"\r\n"].concat()
        });
        let value = prop_oneof![line, string, Just(b"$-1\r\n".to_vec())];
        value.prop_recursive(3, 20, 5, |value| {
            prop::collection::vec(value, 0..5).prop_map(|values| {
                [
                    format!("*{}\r\n", values.len()).into_bytes(),
                    values.concat(),
                ]
                .concat()
            })
        })
    }

    proptest! {
        #[test]
        fn answers_end_where_the_parser_ends_them(
            answers in prop::collection::vec(answer(), 1..6),
            piece in 1_usize..20,
        ) {
            let stream = answers.concat();
            let expected: Vec<_> = answers.iter().map(Vec::len).collect();
            prop_assert_eq!(lengths(stream.chunks(piece)).unwrap(), expected);
            for answer in &answers {
                prop_assert!(redis::parse_redis_value(answer).is_ok());
            }
        }
    }
}
