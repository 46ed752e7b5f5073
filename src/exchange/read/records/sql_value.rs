//! The values of rows in an SQL dump.

use super::sql_dump::{Token, Tokens, Unclosed};

/// A value of a row.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum SqlValue {
    /// `NULL`.
    Null,
    /// A string or a number, decoded.
    Literal(Vec<u8>),
    /// What a database has to compute: a function, a name, or several literals.
    Expression,
}

impl SqlValue {
    /// Reads the values of a row up to its closing parenthesis; `None` if the dump ends before it.
    ///
    /// # Errors
    ///
    /// If a string is not closed.
    pub(super) fn list(tokens: &mut Tokens<'_>) -> Result<Option<Vec<Self>>, Unclosed> {
        let (mut values, mut value) = (Vec::new(), Vec::new());
        // Of parentheses within a value, as of a function.
        let mut depth = 0_usize;
        loop {
            let token = tokens.next()?;
            match token {
                None => return Ok(None),
                Some(Token::Mark(b')')) if depth == 0 => {
                    values.push(Self::of(&value));
                    return Ok(Some(values));
                }
                Some(Token::Mark(b',')) if depth == 0 => {
                    values.push(Self::of(&value));
                    value.clear();
                    continue;
                }
                Some(Token::Mark(b'(')) => depth += 1,
                Some(Token::Mark(b')')) => depth -= 1,
                _ => {}
            }
            value.extend(token);
        }
    }

    /// Returns the value that tokens represent (MySQL 8.4 Reference Manual, 9.1).
    fn of(tokens: &[Token<'_>]) -> Self {
        let literal = match tokens {
            [] => return Self::Null,
            [null] if null.is_word("null") => return Self::Null,
            [Token::Text(text)] => Some(text.clone()),
            [Token::Word(word)] => match word {
                [b'0', b'x', digits @ ..] => from_hexadecimal(digits),
                _ => is_number(word).then(|| word.to_vec()),
            },
            // A word before a string names its character set.
            [Token::Word([b'_', ..]), own] => match Self::of(std::slice::from_ref(own)) {
                Self::Literal(text) => Some(text),
                Self::Null | Self::Expression => None,
            },
            [Token::Word([b'x' | b'X']), Token::Text(digits)] => from_hexadecimal(digits),
            [Token::Word([b'n' | b'N']), Token::Text(text)] => Some(text.clone()),
            _ => None,
        };
        literal.map_or(Self::Expression, Self::Literal)
    }
}

/// Returns the bytes that hexadecimal digits represent, two each.
fn from_hexadecimal(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |pair: &[u8]| match pair {
        [high, low] => u8::try_from(digit(*high)? * 16 + digit(*low)?).ok(),
        _ => None,
    };
    digits.chunks(2).map(byte).collect()
}

fn is_number(word: &[u8]) -> bool {
    let is_part =
        |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
    word.first()
        .is_some_and(|first| !first.eq_ignore_ascii_case(&b'e'))
        && word.iter().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Vec<SqlValue> {
        let text = format!("{text})");
        let mut tokens = Tokens::new(text.as_bytes());
        SqlValue::list(&mut tokens).unwrap().unwrap()
    }

    #[test]
    fn literals_are_decoded_and_nothing_else_is() {
        let literal = |text: &str| SqlValue::Literal(text.into());
        assert_eq!(
            list(
                "'a', NULL, -1.5e3, 0x61C3A9, x'6162', X'63', _utf8mb4'd', _binary 0x65, N'f', ''"
            ),
            [
                literal("a"),
                SqlValue::Null,
                literal("-1.5e3"),
                literal("aé"),
                literal("ab"),
                literal("c"),
                literal("d"),
                literal("e"),
                literal("f"),
                literal(""),
            ]
        );
        let expressions = [
            "concat('a', 'b')",
            "'a' 'b'",
            "now()",
            "current_timestamp",
            "`keyword`",
            "0x6",
            "x'6g'",
            "'a' collate utf8mb4_bin",
            "1 + 1",
            "lower(concat('a', (1)))",
        ];
        for text in expressions {
            assert_eq!(list(text), [SqlValue::Expression], "{text}");
        }
        assert_eq!(
            list("concat('a,', 'b'), 'c') , ('d'"),
            [SqlValue::Expression, literal("c")]
        );
    }
}
