//! The SQL dump of a YOURLS database, by `mysqldump`, `mariadb-dump` or phpMyAdmin: the rows of
//! `INSERT` statements for its table of links.
//!
//! The columns are those of the statement, or else of the table's definition before it, or else those
//! that YOURLS has always had. Other tables are skipped.

use std::collections::HashMap;

use super::sql_dump::{Token, Tokens, Unclosed};
use crate::exchange::read::rows::{ImportedLink, ImportedRow, LinkOrigin, RowError, text};

/// The columns of the table of links, of which a dump may omit the names.
const COLUMNS: [&str; 6] = ["keyword", "url", "title", "timestamp", "ip", "clicks"];

/// How the name of the table of links ends; what comes before it can be configured.
const TABLE_NAME: &str = "url";

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

/// The words with which a part of a table's definition begins that is no column.
const NO_COLUMNS: [&str; 9] = [
    "primary",
    "key",
    "unique",
    "index",
    "constraint",
    "fulltext",
    "spatial",
    "foreign",
    "check",
];

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

/// Reads every row of the table of links.
pub(crate) fn read(bytes: &[u8], origin: LinkOrigin<'_>, take: &mut dyn FnMut(ImportedRow)) {
    let mut dump = Dump {
        tokens: Tokens::new(bytes),
        columns: HashMap::new(),
        origin,
    };
    while let Some(end) = dump.statement(take).transpose() {
        if let Err(Unclosed { line }) = end {
            let link = Err(RowError::OpenQuote);
            return take(ImportedRow { line, link });
        }
    }
}

/// A dump that is being read.
struct Dump<'b, 'o> {
    tokens: Tokens<'b>,
    /// The columns of each table that was defined.
    columns: HashMap<String, Vec<String>>,
    origin: LinkOrigin<'o>,
}

impl<'b> Dump<'b, '_> {
    /// Reads a statement; returns `None` at the end of the dump.
    fn statement(&mut self, take: &mut dyn FnMut(ImportedRow)) -> Result<Option<()>, Unclosed> {
        let Some(first) = self.tokens.next()? else {
            return Ok(None);
        };
        if first.is_word("create") {
            self.definition()?;
        } else if first.is_word("insert") || first.is_word("replace") {
            self.insertion(take)?;
        } else if first != Token::Mark(b';') {
            self.skip_statement()?;
        }
        Ok(Some(()))
    }

    /// Skips the rest of a statement.
    fn skip_statement(&mut self) -> Result<(), Unclosed> {
        while self
            .tokens
            .next()?
            .is_some_and(|it| it != Token::Mark(b';'))
        {}
        Ok(())
    }

    /// Reads `TABLE name (column type …, …) …;`.
    fn definition(&mut self) -> Result<(), Unclosed> {
        let mut name = None;
        let mut columns = Vec::new();
        let (mut depth, mut begins) = (0_usize, false);
        while let Some(token) = self.tokens.next()? {
            match token {
                Token::Mark(b';') => break,
                Token::Mark(b'(') => {
                    depth += 1;
                    begins = depth == 1;
                    continue;
                }
                Token::Mark(b')') => depth = depth.saturating_sub(1),
                Token::Mark(b',') if depth == 1 => {
                    begins = true;
                    continue;
                }
                _ if depth == 1 && begins && !NO_COLUMNS.iter().any(|it| token.is_word(it)) => {
                    columns.extend(token.as_name().map(|it| it.to_lowercase()));
                }
                _ if depth == 0 && columns.is_empty() => name = table_name(&token).or(name),
                _ => {}
            }
            begins = false;
        }
        self.columns.extend(
            name.filter(|_| !columns.is_empty())
                .map(|name| (name, columns)),
        );
        Ok(())
    }

    /// Reads `INTO name (columns) VALUES (row), …;`.
    fn insertion(&mut self, take: &mut dyn FnMut(ImportedRow)) -> Result<(), Unclosed> {
        let mut name = String::new();
        let mut columns = Vec::new();
        loop {
            match self.tokens.next()? {
                None | Some(Token::Mark(b';')) => return Ok(()),
                Some(token) if token.is_word("values") => break,
                Some(Token::Mark(b'(')) => {
                    let named = self.list()?.into_iter().flatten();
                    columns = named
                        .map(|it| String::from_utf8_lossy(&it).to_lowercase())
                        .collect();
                }
                Some(token) => name = table_name(&token).unwrap_or(name),
            }
        }
        let Some(places) = self.places(&name, columns) else {
            return self.skip_statement();
        };
        loop {
            match self.tokens.next()? {
                Some(Token::Mark(b'(')) => {}
                Some(Token::Mark(b',')) => continue,
                Some(Token::Mark(b';')) | None => return Ok(()),
                Some(_) => return self.skip_statement(),
            }
            let line = self.tokens.line();
            let row = self.list()?;
            let link = places
                .link(&row, self.origin)
                .and_then(ImportedLink::checked);
            let link = link.map_err(|error| error.in_field(column_name));
            take(ImportedRow { line, link });
        }
    }

    /// Reads the values up to a closing parenthesis; `None` is `NULL`.
    fn list(&mut self) -> Result<Vec<Option<Vec<u8>>>, Unclosed> {
        let mut values = Vec::new();
        let mut value = None;
        // Of parentheses within a value, as of a function.
        let mut depth = 0_usize;
        loop {
            match self.tokens.next()? {
                Some(Token::Mark(b'(')) => depth += 1,
                Some(Token::Mark(b')')) if depth > 0 => depth -= 1,
                None | Some(Token::Mark(b')')) => {
                    values.push(value);
                    return Ok(values);
                }
                Some(Token::Mark(b',')) if depth == 0 => values.push(value.take()),
                Some(Token::Word(word)) if word.eq_ignore_ascii_case(b"null") => value = None,
                // A word before a string names its character set.
                Some(Token::Text(text) | Token::Name(text)) => value = Some(text),
                Some(Token::Word(word)) => value = Some(word.to_vec()),
                Some(Token::Mark(_)) => {}
            }
        }
    }

    /// Returns where the columns of links are in a row of a table, if it is one of links.
    fn places(&self, table: &str, named: Vec<String>) -> Option<Places> {
        if !table.to_lowercase().ends_with(TABLE_NAME) {
            return None;
        }
        let defined = self.columns.get(table).cloned();
        let columns = match (named.is_empty(), defined) {
            (false, _) => named,
            (true, Some(defined)) => defined,
            (true, None) => COLUMNS.map(str::to_owned).to_vec(),
        };
        let place = |name| columns.iter().position(|column| column == name);
        Some(Places {
            keyword: place("keyword")?,
            url: place("url")?,
            title: place("title"),
            width: columns.len(),
        })
    }
}

/// Returns the name of a table, without that of its database.
fn table_name(token: &Token<'_>) -> Option<String> {
    let name = token.as_name()?;
    let (_, name) = name.rsplit_once('.').unwrap_or(("", &name));
    Some(name.to_owned()).filter(|name| !name.is_empty())
}

/// Where the columns are in a row.
struct Places {
    keyword: usize,
    url: usize,
    title: Option<usize>,
    width: usize,
}

impl Places {
    fn link(
        &self,
        row: &[Option<Vec<u8>>],
        origin: LinkOrigin<'_>,
    ) -> Result<ImportedLink, RowError> {
        if row.len() != self.width {
            let (found, expected) = (row.len(), self.width);
            return Err(RowError::Fields { found, expected });
        }
        let value = |at: usize| text(row[at].as_deref().unwrap_or_default());
        let url = value(self.url)?.to_owned();
        let title = self.title.map(value).transpose()?.unwrap_or_default();
        Ok(ImportedLink {
            site: origin.site(None)?,
            code: Some(origin.code(value(self.keyword)?)?),
            title: Some(title.to_owned()).filter(|title| !title.is_empty() && *title != url),
            url: Some(url),
            ..ImportedLink::default()
        })
    }
}

/// Returns the column of a key of a table.
fn column_name(key: &str) -> Option<String> {
    let name = match key {
        "url" => "url",
        "short-code" => "keyword",
        _ => return None,
    };
    Some(format!("column {name:?}"))
}

#[cfg(test)]
mod tests {
    use super::is_dump;
    use crate::exchange::read::rows::testing::{pairs, read_by, refused};

    #[test]
    fn rows_of_the_table_of_links_are_read() {
        let dump = br#"-- MariaDB dump 10.19
/*!40101 SET NAMES utf8mb4 */;
DROP TABLE IF EXISTS `yourls_log`;
INSERT INTO `yourls_log` VALUES (1,'2024-01-02 03:04:05','a','direct','x','','DE');
CREATE TABLE `yourls_url` (
  `keyword` varchar(100) NOT NULL DEFAULT '',
  `url` text NOT NULL,
  `title` text DEFAULT NULL COMMENT 'a (b), `c`',
  `timestamp` timestamp NOT NULL DEFAULT current_timestamp(),
  `ip` varchar(41) NOT NULL,
  `clicks` int(10) unsigned NOT NULL,
  PRIMARY KEY (`keyword`), KEY `ip` (`ip`)
);
INSERT INTO `yourls_url` VALUES
('a','https://e.org/?a=\'b\'','It''s; \"A" (b), c','2024-01-02 03:04:05','::1',3),
(_utf8mb4'b','https://f.org/',NULL,'2024-01-02 03:04:05','::1',0);
insert ignore into yourls_url (`url`, `keyword`) values ('https://g.org/', 'c'),('x'),('no url','d');
"#;
        let rows = read_by(super::read, dump);
        let found = [
            "15 a https://e.org/?a='b' It's; \"A\" (b), c",
            "16 b https://f.org/",
            "17 c https://g.org/",
        ];
        assert_eq!(pairs(&rows), found);
        let reported = refused(&rows);
        assert_eq!(reported[0], "17: this has 1 fields, expected 2");
        assert!(reported[1].contains("column \"url\""), "{}", reported[1]);
        assert_eq!(reported.len(), 2);
        assert!(is_dump(dump));
    }

    #[test]
    fn names_of_columns_may_be_missing_and_the_prefix_differ() {
        let dump = b"INSERT INTO s_url VALUES ('a','https://e.org/','https://e.org/',NOW(),'',0);";
        assert_eq!(pairs(&read_by(super::read, dump)), ["1 a https://e.org/"]);
        let dump = b"INSERT INTO `yourls_url` VALUES ('a','https://e.org/";
        assert_eq!(
            refused(&read_by(super::read, dump)),
            ["1: a quote that starts here is not closed"]
        );
    }

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

    #[test]
    fn columns_are_in_the_order_of_a_definition_without_backticks() {
        for quote in ["", "`", "\""] {
            let dump = "CREATE TABLE IF NOT EXISTS `y`.`s_url` (`url` text, `keyword` varchar(9) default 'x',\
                        primary key (`keyword`)) comment='a (b)';\n\
                        INSERT INTO `y`.`s_url` VALUES ('https://e.org/','a');"
                .replace('`', quote);
            assert_eq!(
                pairs(&read_by(super::read, dump.as_bytes())),
                ["2 a https://e.org/"]
            );
        }
    }
}
