//! Recognition of an SQL dump by its first statement.

use super::sql_dump::{Token, Tokens};

/// The first words of statements, each with those of which one is next.
const STATEMENTS: [(&str, &[&str]); 8] = [
    ("insert", INSERTIONS),
    ("replace", INSERTIONS),
    ("create", DEFINITIONS),
    ("drop", DEFINITIONS),
    ("lock", &["table", "tables"]),
    ("unlock", &["table", "tables"]),
    ("start", &["transaction"]),
    ("begin", &["work"]),
];

const INSERTIONS: &[&str] = &["into", "ignore", "delayed", "low_priority", "high_priority"];

const DEFINITIONS: &[&str] = &["table", "database", "schema", "temporary", "view", "or"];

/// Returns whether a text is an SQL dump: whether it begins with a statement. A word alone may also be
/// the first code of a table of values.
pub(crate) fn is_dump(bytes: &[u8]) -> bool {
    let mut tokens = Tokens::new(bytes);
    let mut next = || tokens.next().ok().flatten();
    loop {
        match next() {
            Some(Token::Mark(b';')) => {}
            Some(first) if first.is_word("begin") || first.is_word("commit") => match next() {
                Some(Token::Mark(b';')) => {}
                second => return is_statement(&first, second.as_ref(), None),
            },
            Some(first) => return is_statement(&first, next().as_ref(), next().as_ref()),
            None => return false,
        }
    }
}

/// Returns whether tokens begin a statement.
fn is_statement(first: &Token<'_>, second: Option<&Token<'_>>, third: Option<&Token<'_>>) -> bool {
    let Some(second) = second else {
        return false;
    };
    if first.is_word("use") {
        return matches!(second, Token::Word(_) | Token::Name(_))
            && third == Some(&Token::Mark(b';'));
    }
    if first.is_word("set") {
        // A variable and its value, or a kind of variable and its name.
        let is_value = matches!(
            third,
            Some(Token::Mark(b'=') | Token::Word(_) | Token::Text(_))
        );
        return matches!(second, Token::Word(_)) && is_value;
    }
    let mut statements = STATEMENTS.iter();
    let found = statements.find(|(word, _)| first.is_word(word));
    found.is_some_and(|(_, next)| next.iter().any(|word| second.is_word(word)))
}

#[cfg(test)]
mod tests {
    use super::is_dump;

    #[test]
    fn tables_of_values_are_not_dumps() {
        for text in ["keyword,url\n", "a,https://e.org/\n", "", "source;target"] {
            assert!(!is_dump(text.as_bytes()), "{text}");
        }
        let words = "insert replace create drop set use lock start begin commit";
        for word in words.split(' ') {
            for separator in [",", ";", "\t", "\",\""] {
                let text =
                    format!("{word}{separator}https://e.org/{separator}x\nb;https://f.org/\n");
                assert!(!is_dump(text.as_bytes()), "{text}");
            }
        }
    }

    #[test]
    fn each_statement_begins_a_dump() {
        for text in [
            "SET NAMES utf8mb4;",
            "SET SQL_MODE = \"NO_AUTO_VALUE_ON_ZERO\";",
            "SET @OLD_SQL_NOTES=@@SQL_NOTES;",
            "USE `yourls`;",
            "START TRANSACTION;",
            "BEGIN; INSERT INTO a VALUES (1);",
            "LOCK TABLES `yourls_url` WRITE;",
            "create database yourls;",
            "DROP TABLE IF EXISTS a;",
            "REPLACE INTO a VALUES (1);",
        ] {
            assert!(is_dump(text.as_bytes()), "{text}");
        }
    }
}
