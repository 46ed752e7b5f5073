//! The SQL dump of a YOURLS database, by `mysqldump`, `mariadb-dump` or phpMyAdmin: the rows of
//! `INSERT` statements for its table of links.
//!
//! The columns are those of the statement, or else of the table's definition before it, or else those
//! that YOURLS has always had. Other tables are skipped.
//!
//! A statement that changes links after they were inserted, which no tool writes, would have to be computed
//! as a database does: then no link is read.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::sql_dump::{Token, Tokens, Unclosed, sets_mode};
use super::sql_value::SqlValue;
use crate::exchange::read::rows::{ImportedLink, ImportedRow, LinkOrigin, RowError, excerpt, text};

/// The columns of the table of links, of which a dump may omit the names.
const COLUMNS: [&str; 6] = ["keyword", "url", "title", "timestamp", "ip", "clicks"];

/// How the name of the table of links ends; what comes before it can be configured.
const TABLE_NAME: &str = "url";

/// The first words of statements that change rows which are there, each with the word at which the names of
/// tables end.
const CHANGES: [(&str, &str); 6] = [
    ("update", "set"),
    ("delete", "where"),
    ("truncate", ";"),
    ("rename", ";"),
    ("drop", ";"),
    ("load", "fields"),
];

/// The first words of statements that may change any row.
const OPAQUE: [&str; 4] = ["call", "execute", "rollback", "with"];

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

/// Reads every row of the table of links.
pub(crate) fn read(bytes: &[u8], origin: LinkOrigin<'_>, take: &mut dyn FnMut(ImportedRow)) {
    let mut checked = Dump::new(bytes, origin);
    checked.read(&mut |_| {});
    let hidden = checked.tokens.changes_at().iter();
    checked.changed_at.extend(hidden);
    let mode_at = checked.tokens.mode_at();
    if let Some(line) = checked.other_quotes_at.or(mode_at) {
        let link = Err(RowError::NoLink(
            "with NO_BACKSLASH_ESCAPES, strings have another meaning: dump the database without this mode",
        ));
        return take(ImportedRow { line, link });
    }
    if checked.links_at.len() > 1 {
        let line = checked.links_at.values().copied().max().unwrap_or(1);
        let names: Vec<_> = checked.links_at.into_keys().collect();
        let link = Err(RowError::Tables(excerpt(&names.join(", "))));
        return take(ImportedRow { line, link });
    }
    if checked.links_at.is_empty() && checked.changed_at.is_empty() && !checked.defines_links() {
        let link = Err(RowError::NoLink(
            "this dump has no table of links: its name would end in \"url\", and its columns be \"keyword\" \
             and \"url\"",
        ));
        return take(ImportedRow { line: 1, link });
    }
    let changed = &checked.changed_at;
    if changed.is_empty() {
        return Dump::new(bytes, origin).read(take);
    }
    for &line in changed {
        let link = Err(RowError::NoLink(
            "this changes links that are there: load the dump into a database, dump that, and import the result",
        ));
        take(ImportedRow { line, link });
    }
}

/// A dump that is being read.
struct Dump<'b, 'o> {
    tokens: Tokens<'b>,
    /// The columns of each table that was defined.
    columns: HashMap<String, Vec<String>>,
    /// The names of the tables of which rows were read.
    filled: HashSet<String>,
    /// The database that was selected; empty if none.
    database: String,
    /// The tables of which links were read, with their databases, and the line of the first of each.
    links_at: BTreeMap<String, usize>,
    /// The keywords of the rows that were read.
    keywords: HashSet<SqlValue>,
    /// The lines of statements and rows that change links which were read before.
    changed_at: Vec<usize>,
    /// The line of a statement after which a backslash in a string is one.
    other_quotes_at: Option<usize>,
    origin: LinkOrigin<'o>,
}

impl<'b, 'o> Dump<'b, 'o> {
    fn new(bytes: &'b [u8], origin: LinkOrigin<'o>) -> Self {
        Self {
            tokens: Tokens::new(bytes),
            columns: HashMap::new(),
            filled: HashSet::new(),
            database: String::new(),
            links_at: BTreeMap::new(),
            keywords: HashSet::new(),
            changed_at: Vec::new(),
            other_quotes_at: None,
            origin,
        }
    }

    /// Reads all statements.
    fn read(&mut self, take: &mut dyn FnMut(ImportedRow)) {
        while let Some(end) = self.statement(take).transpose() {
            if let Err(Unclosed { line }) = end {
                let link = Err(RowError::OpenQuote);
                return take(ImportedRow { line, link });
            }
        }
    }

    /// Reads a statement; returns `None` at the end of the dump.
    fn statement(&mut self, take: &mut dyn FnMut(ImportedRow)) -> Result<Option<()>, Unclosed> {
        let Some(first) = self.tokens.next()? else {
            return Ok(None);
        };
        if first.is_word("create") {
            self.definition()?;
        } else if first.is_word("insert") || first.is_word("replace") {
            if !self.insertion(first.is_word("replace"), take)? {
                let line = self.tokens.line();
                let link = Err(RowError::NoLink(
                    "the file ends before the end of this statement",
                ));
                take(ImportedRow { line, link });
            }
        } else if first.is_word("use") {
            let name = self.tokens.next()?;
            let name = name.as_ref().and_then(Token::as_name);
            self.database = name.map_or_else(String::new, Cow::into_owned);
            self.skip_statement()?;
        } else if first.is_word("delimiter") {
            self.routines();
        } else if first.is_word("set") {
            self.setting()?;
        } else if OPAQUE.iter().any(|word| first.is_word(word)) {
            self.changed_at.push(self.tokens.line());
            self.skip_statement()?;
        } else if let Some((_, end)) = CHANGES.iter().find(|(word, _)| first.is_word(word)) {
            self.change(first.is_word("load") || first.is_word("rename"), end)?;
        } else if first != Token::Mark(b';') {
            self.skip_statement()?;
        }
        Ok(Some(()))
    }

    /// Skips the rest of a statement; returns whether it ends before the dump.
    fn skip_statement(&mut self) -> Result<bool, Unclosed> {
        while let Some(token) = self.tokens.next()? {
            if token == Token::Mark(b';') {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads a statement that sets variables.
    fn setting(&mut self) -> Result<(), Unclosed> {
        let line = self.tokens.line();
        while let Some(token) = self.tokens.next()?
            && token != Token::Mark(b';')
        {
            let value = match &token {
                Token::Text(text) | Token::Name(text) => text,
                Token::Word(word) => *word,
                Token::Mark(_) => continue,
            };
            if sets_mode(value) {
                self.other_quotes_at.get_or_insert(line);
            }
        }
        Ok(())
    }

    /// Skips the definitions of routines and triggers up to where a statement ends with a semicolon again.
    fn routines(&mut self) {
        let line = self.tokens.line();
        if self.tokens.rest_of_line() != b";" && !self.tokens.skip_to_line(b"delimiter") {
            self.changed_at.push(line);
        }
    }

    /// Reads a statement that changes rows of tables, whose names come before a word; of a table without rows
    /// only if that `counts`, too.
    fn change(&mut self, counts: bool, end: &str) -> Result<(), Unclosed> {
        let line = self.tokens.line();
        let mut is_of_links = false;
        while let Some(token) = self.tokens.next()? {
            if token == Token::Mark(b';') {
                break;
            }
            if token.is_word(end) {
                self.skip_statement()?;
                break;
            }
            let name = table_name(&token).filter(|_| !matches!(token, Token::Text(_)));
            // A dump begins with dropping or emptying what it fills.
            is_of_links |= name
                .is_some_and(|it| is_of_links_named(&it) && (counts || self.filled.contains(&it)));
        }
        if is_of_links {
            self.changed_at.push(line);
        }
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

    /// Reads `INTO name (columns) VALUES (row), …;`; returns whether it ends before the dump.
    fn insertion(
        &mut self,
        replaces: bool,
        take: &mut dyn FnMut(ImportedRow),
    ) -> Result<bool, Unclosed> {
        let begin = self.tokens.line();
        let mut name = String::new();
        let mut database = self.database.clone();
        let mut columns = Vec::new();
        loop {
            match self.tokens.next()? {
                None => return Ok(false),
                Some(Token::Mark(b';')) => return Ok(true),
                Some(token) if token.is_word("values") || token.is_word("value") => break,
                Some(token) if token.is_word("set") || token.is_word("select") => {
                    self.changed_at
                        .extend(is_of_links_named(&name).then_some(begin));
                    return self.skip_statement();
                }
                Some(Token::Mark(b'(')) => {
                    columns = self.column_names()?;
                }
                Some(token) => {
                    match database_name(&token).as_deref() {
                        Some("") => database.clone_from(&name),
                        Some(own) => own.clone_into(&mut database),
                        None => {}
                    }
                    name = table_name(&token).unwrap_or(name);
                }
            }
        }
        let Some(places) = self.places(&name, columns) else {
            return self.skip_statement();
        };
        let full_name = match &*database {
            "" => name.clone(),
            database => format!("{database}.{name}"),
        };
        self.links_at.entry(full_name).or_insert(begin);
        self.filled.insert(name);
        loop {
            match self.tokens.next()? {
                Some(Token::Mark(b'(')) => {}
                Some(Token::Mark(b',')) => continue,
                Some(Token::Mark(b';')) => return Ok(true),
                None => return Ok(false),
                // `ON DUPLICATE KEY UPDATE`.
                Some(_) => {
                    self.changed_at.push(begin);
                    return self.skip_statement();
                }
            }
            let line = self.tokens.line();
            let Some(row) = SqlValue::list(&mut self.tokens)? else {
                return Ok(false);
            };
            if let Some(keyword) = row.get(places.keyword)
                && !self.keywords.insert(keyword.clone())
                && replaces
            {
                self.changed_at.push(line);
            }
            let link = places
                .link(&row, self.origin)
                .and_then(ImportedLink::checked);
            let link = link.map_err(|error| error.in_field(column_name));
            take(ImportedRow { line, link });
        }
    }

    /// Reads the names of columns up to a closing parenthesis.
    fn column_names(&mut self) -> Result<Vec<String>, Unclosed> {
        let mut names = Vec::new();
        loop {
            match self.tokens.next()? {
                None | Some(Token::Mark(b')')) => return Ok(names),
                Some(token) => names.extend(token.as_name().map(|it| it.to_lowercase())),
            }
        }
    }

    /// Returns whether a table of links was defined.
    fn defines_links(&self) -> bool {
        let mut tables = self.columns.keys();
        tables.any(|table| self.places(table, Vec::new()).is_some())
    }

    /// Returns where the columns of links are in a row of a table, if it is one of links.
    fn places(&self, table: &str, named: Vec<String>) -> Option<Places> {
        if !is_of_links_named(table) {
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

/// Returns the name of a database that is before a dot, in the same word; empty if it is in the token before.
fn database_name(token: &Token<'_>) -> Option<String> {
    let Token::Word(name) = token else {
        return None;
    };
    let name = String::from_utf8_lossy(name);
    Some(name.rsplit_once('.')?.0.to_owned())
}

/// Returns whether a table with this name is one of links.
fn is_of_links_named(table: &str) -> bool {
    table.to_lowercase().ends_with(TABLE_NAME)
}

/// Where the columns are in a row.
struct Places {
    keyword: usize,
    url: usize,
    title: Option<usize>,
    width: usize,
}

impl Places {
    fn link(&self, row: &[SqlValue], origin: LinkOrigin<'_>) -> Result<ImportedLink, RowError> {
        if row.len() != self.width {
            let (found, expected) = (row.len(), self.width);
            return Err(RowError::Fields { found, expected });
        }
        let value = |at: usize| match &row[at] {
            SqlValue::Null => Ok(""),
            SqlValue::Literal(literal) => text(literal),
            SqlValue::Expression => Err(RowError::NoLink(
                "this has a value that only a database can compute",
            )),
        };
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
    fn of_a_dump_that_changes_links_later_none_is_read() {
        let rows = "INSERT INTO y_url VALUES ('a','https://e.org/','',NOW(),'',0);\n";
        for change in [
            "UPDATE `y`.`y_url` SET url = 'https://f.org/' WHERE keyword = 'a';",
            "update low_priority y_url set url = 'https://f.org/';",
            "DELETE FROM y_url WHERE keyword = 'a';",
            "TRUNCATE TABLE y_url;",
            "DROP TABLE y_url;",
            "RENAME TABLE y_url TO y_old;",
            "LOAD DATA INFILE 'x' INTO TABLE y_url FIELDS TERMINATED BY ',';",
            "INSERT INTO y_url SET keyword = 'b', url = 'https://f.org/';",
            "INSERT INTO y_url (keyword, url) SELECT keyword, url FROM old;",
            "INSERT INTO y_url (keyword, url) VALUES ('b', 'x') ON DUPLICATE KEY UPDATE url = 'x';",
            "REPLACE INTO y_url (keyword, url) VALUES ('a', 'https://f.org/');",
            "WITH x AS (SELECT 1) UPDATE y_url SET url = 'https://f.org/';",
            "CALL anything();",
            "ROLLBACK;",
            "/*!50000 , ('b','https://e.org/','',NOW(),'',0) */;",
            "DELIMITER $$\nCALL x()$$",
            "/*!40000 INSERT INTO y_url VALUES ('b','https://e.org/','',NOW(),'',0) */;",
            "/*M!100100 update y_url SET url = '' */;",
        ] {
            let found = read_by(super::read, format!("{rows}{change}").as_bytes());
            let reported = refused(&found);
            assert_eq!(found.len(), 1, "{change}: {found:?}");
            assert!(reported[0].starts_with("2: this changes links"), "{change}");
        }
        for other in [
            "UPDATE y_log SET url = 'https://f.org/';",
            "DELETE FROM y_log WHERE y_url = 'a';",
            "DROP TABLE IF EXISTS y_options;",
            "INSERT INTO y_options SET url = 'a';",
            "REPLACE INTO y_url (keyword, url) VALUES ('b', 'https://f.org/');",
            "ALTER TABLE `y_url` ADD PRIMARY KEY (`keyword`);",
            "/*!40000 ALTER TABLE `y_url` ENABLE KEYS */;",
            "/* INSERT INTO y_url VALUES */;",
            "SET SQL_MODE = 'NO_AUTO_VALUE_ON_ZERO'; COMMIT;",
            "DELIMITER $$\nCREATE TRIGGER t BEGIN SET @n = 1; UPDATE y_url SET url = ''; END$$\nDELIMITER ;\nCOMMIT;",
        ] {
            let found = read_by(super::read, format!("{rows}{other}").as_bytes());
            assert_eq!(pairs(&found)[0], "1 a https://e.org/", "{other}");
        }
    }

    #[test]
    fn of_a_dump_with_the_links_of_several_tables_none_is_read() {
        let insert = |table: &str, code: &str| {
            format!("INSERT INTO {table} VALUES ('{code}','https://e.org/','',NOW(),'',0);\n")
        };
        for (first, second, tables) in [
            ("siteone_url", "sitetwo_url", "siteone_url, sitetwo_url"),
            ("one.y_url", "two.y_url", "one.y_url, two.y_url"),
            ("`one`.`y_url`", "two.`y_url`", "one.y_url, two.y_url"),
        ] {
            let dump = insert(first, "a") + &insert(second, "b") + &insert(first, "c");
            let found = read_by(super::read, dump.as_bytes());
            let reported = format!("2: this dump has the links of several tables: {tables}");
            assert_eq!(refused(&found), [reported]);
            assert_eq!(found.len(), 1);
        }
        let dump = format!(
            "USE `one`;\n{}USE two;\n{}",
            insert("y_url", "a"),
            insert("y_url", "b")
        );
        let found = read_by(super::read, dump.as_bytes());
        let reported = ["4: this dump has the links of several tables: one.y_url, two.y_url"];
        assert_eq!(refused(&found), reported);
        let dump = format!(
            "USE one;\n{}{}{}",
            insert("y_url", "a"),
            insert("`one`.y_url", "b"),
            "INSERT INTO other_url (id, url) VALUES (1, 'https://e.org/');\n"
        );
        assert_eq!(pairs(&read_by(super::read, dump.as_bytes())).len(), 2);
    }

    #[test]
    fn a_dump_that_ends_within_an_insertion_is_reported() {
        let rows = "INSERT INTO y_url (keyword, url) VALUES\n('a','https://e.org/')";
        for (end, line) in [
            ("", 2),
            (",", 2),
            (",\n(", 3),
            (",\n('b','https://f.org/'", 3),
        ] {
            let found = read_by(super::read, format!("{rows}{end}").as_bytes());
            assert_eq!(pairs(&found), ["2 a https://e.org/"]);
            let reported = format!("{line}: the file ends before the end of this statement");
            assert_eq!(refused(&found), [reported]);
        }
        for cut in ["INSERT INTO y_url", "INSERT INTO y_log VALUES (1),"] {
            assert_eq!(refused(&read_by(super::read, cut.as_bytes())).len(), 1);
        }
    }

    #[test]
    fn a_dump_that_cannot_be_understood_is_refused_once() {
        for (dump, reason) in [
            (
                "INSERT INTO links (keyword,url) VALUES ('a','https://e.org/');",
                "1: this dump has no table of links",
            ),
            (
                "INSERT INTO y_url (keyword,link) VALUES ('a','https://e.org/');",
                "1: this dump has no table of links",
            ),
            (
                "SET sql_mode='ANSI,no_backslash_escapes';\nINSERT INTO y_url VALUES ('a','https://e.org/\\d','',NOW(),'',0);",
                "1: with NO_BACKSLASH_ESCAPES",
            ),
        ] {
            let rows = read_by(super::read, dump.as_bytes());
            let reported = refused(&rows);
            assert_eq!(rows.len(), 1, "{dump}");
            assert!(reported[0].starts_with(reason), "{reported:?}");
        }
        for mode in [
            "SET sql_mode=NO_BACKSLASH_ESCAPES;",
            "/*!40101 SET SQL_MODE='NO_BACKSLASH_ESCAPES' */;",
        ] {
            let dump =
                format!("{mode} INSERT INTO y_url VALUES ('a','https://e.org/','',NOW(),'',0);");
            assert_eq!(
                refused(&read_by(super::read, dump.as_bytes())).len(),
                1,
                "{mode}"
            );
        }
        let dump =
            b"TRUNCATE TABLE y_url; INSERT INTO y_url VALUES ('a','https://e.org/','',NOW(),'',0);";
        assert_eq!(
            pairs(&read_by(super::read, &dump[..])),
            ["1 a https://e.org/"]
        );
        let empty = b"CREATE TABLE y_url (keyword text, url text);";
        assert_eq!(read_by(super::read, &empty[..]), []);
    }

    #[test]
    fn what_a_database_would_compute_is_no_code_and_no_url() {
        let dump = b"INSERT INTO y_url VALUES (concat('a','b'),'https://e.org/','',NOW(),'',0),\n\
            ('b','https://' 'e.org/','',NOW(),'',0),(0x63,x'68747470733a2f2f652e6f72672f','',NOW(),'',0);";
        let rows = read_by(super::read, dump);
        assert_eq!(pairs(&rows), ["2 c https://e.org/"]);
        assert_eq!(refused(&rows).len(), 2);
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
