//! Comma-separated values (RFC 4180): a header that names the columns, and one record per link.
//!
//! Semicolons or tabs may separate the values, too, as in spreadsheets and databases. A record with
//! a different number of fields than the header is refused, because the missing one is unknown.

use csv::{ByteRecord, Reader, ReaderBuilder};

use super::code_and_link::{agreed, path_of};
use super::quotes;
use crate::exchange::read::rows::{
    Column, ColumnPlaces, Deviation, ImportedLink, ImportedRow, LinkOrigin, Options, ReadError,
    RowError, ShortLink, excerpt, is_served, row, shown, text,
};
use crate::mapping::WrittenRetirement;

/// The status of a link that is retired: Gone (RFC 9110, section 15.5.11).
const GONE: &str = "410";

/// An empty tag.
pub(crate) const NO_TEXT: &str = "\"\"";

/// The conventions that differ between programs.
pub(crate) struct Dialect {
    /// The separator of tags.
    pub(crate) tags: char,
    /// The columns, if there is no header.
    pub(crate) without_header: &'static [Column],
    /// How many fields a record may have without a header.
    pub(crate) widths: &'static [usize],
    /// `NULL` and `\N` mean no value except as a code, and a title that equals the URL means no
    /// title.
    pub(crate) is_of_database: bool,
    /// The code is the path of the short link, as its URL has it.
    pub(crate) has_paths: bool,
    /// How the program answers each link otherwise than a table.
    pub(crate) deviations: &'static [Deviation],
}

/// The form that Waypost and most programs write.
pub(crate) const PLAIN: Dialect = Dialect {
    tags: ',',
    without_header: &[],
    widths: &[],
    is_of_database: false,
    has_paths: false,
    deviations: &[],
};

/// The export of Shlink's web client.
pub(crate) const SHLINK: Dialect = Dialect {
    tags: '|',
    without_header: &[],
    widths: &[],
    is_of_database: false,
    has_paths: true,
    deviations: &[Deviation::Query],
};

/// The export of a YOURLS plugin, or its table of links.
pub(crate) const YOURLS: Dialect = Dialect {
    tags: ',',
    without_header: &[Column::Code, Column::Url, Column::Title],
    // Without a title, with it, and with time, address and clicks.
    widths: &[2, 3, 6],
    is_of_database: true,
    has_paths: false,
    deviations: &[],
};

/// The output of `\copy short_url to … csv`.
pub(crate) const PSQL: Dialect = Dialect {
    tags: ',',
    without_header: &[Column::Code, Column::Url],
    widths: &[2],
    is_of_database: false,
    has_paths: false,
    deviations: &[],
};

/// Reads every record; returns the names of columns that are not read.
pub(crate) fn read(
    bytes: &[u8],
    dialect: &Dialect,
    options: &Options<'_>,
    take: &mut dyn FnMut(ImportedRow),
) -> Result<Vec<String>, ReadError> {
    let Some((delimiter, layout, first)) = layout(bytes, dialect, options)? else {
        return Ok(Vec::new());
    };
    let mut reader = reader(bytes, delimiter);
    let mut record = ByteRecord::new();
    // Reading from memory never fails.
    while let Ok(true) = reader.read_byte_record(&mut record) {
        let (start, line) = start(bytes, &record);
        let is_header = layout.width.is_some() && start == first.start;
        if is_header {
            continue;
        }
        let whole = bytes[start..reader.position().byte() as usize].trim_ascii_end();
        let escapes = dialect.is_of_database && delimiter == b'\t';
        let link = match quotes::are_sound(whole, delimiter) {
            false => Err(RowError::Quotes {
                last_line: line + memchr::memchr_iter(b'\n', whole).count(),
            }),
            true if escapes && has_escapes(&record, &layout) => Err(RowError::NoLink(
                "databases write a backslash in such a file as two, and other programs do not: export an \
                 SQL dump or CSV",
            )),
            true => link(&record, &layout, dialect, options.origin())
                .and_then(ImportedLink::checked)
                .map_err(|error| error.in_field(|key| first.name(&layout, key))),
        };
        take(ImportedRow { line, link });
    }
    Ok(first.unread)
}

/// Returns whether the code or the URL of a record has a backslash.
fn has_escapes(record: &ByteRecord, layout: &ColumnPlaces) -> bool {
    let fields = [Column::Code, Column::Url].map(|it| layout.place(it));
    let mut fields = fields.into_iter().flatten().filter_map(|at| record.get(at));
    fields.any(|field| field.contains(&b'\\') && field != b"\\N")
}

/// The first record.
#[derive(Default)]
struct First {
    /// Its offset.
    start: usize,
    /// Its fields, if it is a header.
    header: Vec<String>,
    /// The names of columns that are not read.
    unread: Vec<String>,
}

impl First {
    /// Returns the column of a key: by its name in the header, or else its number.
    fn name(&self, layout: &ColumnPlaces, key: &str) -> Option<String> {
        let column = Column::from_name(key)?;
        let place = match (layout.place(column), column) {
            // The code is a part of the short link.
            (None, Column::Code) => layout.place(Column::ShortUrl)?,
            (place, _) => place?,
        };
        Some(match self.header.get(place) {
            Some(name) => format!("column {:?}", excerpt(name)),
            None => format!("column {}", place + 1),
        })
    }
}

/// Returns a reader of all records, of whatever length; none of them is taken for a header.
fn reader(bytes: &[u8], delimiter: u8) -> Reader<&[u8]> {
    ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(bytes)
}

/// Detects the field separator and the columns; `None` if there is no record.
fn layout(
    bytes: &[u8],
    dialect: &Dialect,
    options: &Options<'_>,
) -> Result<Option<(u8, ColumnPlaces, First)>, ReadError> {
    let mut best: Option<(u8, ColumnPlaces, First)> = None;
    let mut names = String::new();
    for delimiter in [b',', b';', b'\t'] {
        let mut reader = reader(bytes, delimiter);
        let mut record = ByteRecord::new();
        let Ok(true) = reader.read_byte_record(&mut record) else {
            return match dialect.without_header {
                [] => Err(ReadError::NoHeader),
                _ => Ok(None),
            };
        };
        let header: Vec<_> = record
            .iter()
            .map(|name| text(name).unwrap_or_default())
            .collect();
        if !dialect.without_header.is_empty() && header.iter().any(|it| it.contains("://")) {
            continue;
        }
        if delimiter == b',' {
            names = shown(&header);
        }
        let found = match ColumnPlaces::of(&header, options.columns) {
            Ok(found) => found,
            Err(
                error
                @ (ReadError::SeveralCodeColumns { .. } | ReadError::SeveralUrlColumns { .. }),
            ) => {
                return Err(error);
            }
            Err(error) if delimiter == b'\t' && best.is_none() => return Err(error),
            Err(_) => continue,
        };
        if best
            .as_ref()
            .is_none_or(|(_, layout, _)| found.known() > layout.known())
        {
            let unread = found.unread(&header);
            let first = First {
                start: start(bytes, &record).0,
                header: header.iter().map(|name| (*name).to_owned()).collect(),
                unread,
            };
            best = Some((delimiter, found, first));
        }
    }
    if let Some(best) = best
        && best.1.place(Column::Url).is_some()
    {
        let is_chosen = options.columns.iter().any(|(it, _)| *it == Column::Code);
        if !best.1.has_codes() && !is_chosen && !best.2.unread.is_empty() {
            return Err(ReadError::NoCodeColumn { header: names });
        }
        return Ok(Some(best));
    }
    if dialect.without_header.is_empty() || !options.columns.is_empty() {
        return Err(ReadError::NoUrlColumn { header: names });
    }
    let delimiter = match bytes.split(|byte| *byte == b'\n').next() {
        Some(line) if line.contains(&b'\t') => b'\t',
        _ => b',',
    };
    let layout = ColumnPlaces::fixed(dialect.without_header);
    Ok(Some((delimiter, layout, First::default())))
}

/// Returns where a record begins, and its line: blank lines before it do not belong to it.
fn start(bytes: &[u8], record: &ByteRecord) -> (usize, usize) {
    let (at, line) = record
        .position()
        .map_or((0, 1), |it| (it.byte(), it.line()));
    let (at, line) = (at as usize, line as usize);
    let rest = bytes.get(at..).unwrap_or_default();
    let breaks = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    let (mut start, mut lines) = (at, line);
    for byte in breaks {
        start += 1;
        lines += usize::from(*byte == b'\n');
    }
    (start, lines)
}

fn link(
    record: &ByteRecord,
    layout: &ColumnPlaces,
    dialect: &Dialect,
    origin: LinkOrigin<'_>,
) -> Result<ImportedLink, RowError> {
    let is_expected = match layout.width {
        Some(width) => record.len() == width,
        None => dialect.widths.contains(&record.len()),
    };
    if !is_expected {
        let expected = layout.width.unwrap_or(dialect.without_header.len());
        let found = record.len();
        return Err(RowError::Fields { found, expected });
    }
    for &(at, restriction) in &layout.restrictions {
        let value = text(record.get(at).unwrap_or_default())?;
        if !restriction.allows(value) {
            return Err(RowError::Restricted {
                value: excerpt(value.trim()),
                column: at + 1,
            });
        }
    }
    let field = |column| match layout.place(column).and_then(|at| record.get(at)) {
        None => Ok(""),
        Some(b"\\N" | b"NULL") if dialect.is_of_database && column != Column::Code => Ok(""),
        Some(field) => text(field),
    };
    let word = |column| field(column).map(str::trim);
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let number = |key, text: &str| match text {
        "" => Ok(None),
        text => text
            .parse()
            .map(Some)
            .map_err(|_| RowError::value(key, text)),
    };
    let (code, short_url) = (word(Column::Code)?, word(Column::ShortUrl)?);
    let some_link = |text: &str, read: &dyn Fn(&str) -> Result<ShortLink, RowError>| match text {
        "" => Ok(None),
        text => read(text).map(Some),
    };
    let own = some_link(code, &|text| match layout.has_own_codes {
        true => origin.short_link(text),
        false => origin.short_url(text),
    })?;
    let whole = some_link(short_url, &|text| origin.short_url(text))?;
    let short_link = match (own, whole) {
        (Some(own), Some(whole)) => {
            let path = dialect.has_paths.then(|| path_of(short_url));
            Some(agreed(&own, whole, path)?)
        }
        (own, whole) => own.or(whole),
    };
    let site = short_link.as_ref().and_then(|it| it.site);
    let site = match (site, word(Column::Domain)?) {
        (site, "") => site,
        (None, domain) => {
            let site = origin.site_of_host(domain)?;
            if !dialect.has_paths && !code.is_empty() && !origin.is_at_root(site) {
                return Err(origin.elsewhere(&format!("{domain}/{code}")));
            }
            Some(site)
        }
        (Some(site), domain) if origin.has_host(site, domain) => Some(site),
        (Some(_), _) => {
            return Err(RowError::NoLink("the domain is not that of the short link"));
        }
    };
    let url = word(Column::Url)?;
    let title = field(Column::Title)?;
    let cache_max_age = word(Column::CacheMaxAge)?;
    let is_gone = word(Column::Status)? == GONE;
    let status = word(Column::Status)?;
    // A link that is served has the status of the table.
    let status = if is_gone || is_served(status) {
        ""
    } else {
        status
    };
    let retired = row::retired(word(Column::Retired)?)?;
    let is_between = |c: char| {
        c.is_whitespace() || layout.has_alias_links && matches!(c, ',' | ';' | '[' | ']' | '"')
    };
    let aliases = word(Column::Aliases)?.split(is_between);
    let aliases =
        aliases
            .filter(|text| !text.is_empty())
            .map(|text| match layout.has_alias_links {
                true => origin.short_url(text).map(|it| it.code),
                false => Ok(text.to_owned()),
            });
    let mut aliases = aliases.collect::<Result<Vec<_>, _>>()?;
    if layout.has_alias_links {
        let code = short_link.as_ref().map(|it| &it.code);
        aliases.retain(|alias| Some(alias) != code);
    }
    Ok(ImportedLink {
        site: origin.site(site)?,
        url: some(url),
        code: short_link.map(|it| it.code),
        number: number("number", word(Column::Number)?)?,
        aliases,
        status: row::status(status)?,
        forward: row::forward(word(Column::Forward)?)?,
        cache_max_age: number("cache-max-age", cache_max_age)?
            .map(u32::try_from)
            .transpose()
            .map_err(|_| RowError::value("cache-max-age", cache_max_age))?,
        title: some(title).filter(|title| !dialect.is_of_database || title != url),
        owner: some(field(Column::Owner)?),
        tags: tags(field(Column::Tags)?, dialect.tags),
        expires: row::expires(word(Column::Expires)?)?,
        retired: retired.or(is_gone.then_some(WrittenRetirement::Always)),
        archive: some(word(Column::Archive)?),
        below: some(word(Column::Below)?),
        variants: Vec::new(),
        deviations: dialect.deviations.to_vec(),
    })
}

/// A tag that is being read from a list.
#[derive(Default)]
struct Tag {
    text: String,
    /// The length up to its last escaped character, which is not trimmed.
    kept: usize,
}

impl Tag {
    fn push(&mut self, c: char) {
        if !(self.text.is_empty() && c.is_whitespace()) {
            self.text.push(c);
        }
    }

    fn keep(&mut self, c: char) {
        self.text.push(c);
        self.kept = self.text.len();
    }

    /// Returns the tag's text; `None` if nothing is between two commas.
    fn finish(mut self) -> Option<String> {
        let end = self.text.trim_end().len().max(self.kept);
        self.text.truncate(end);
        match &*self.text {
            "" => None,
            NO_TEXT if self.kept == 0 => Some(String::new()),
            _ => Some(self.text),
        }
    }
}

/// Splits tags and trims white space around them; a backslash keeps the next character.
fn tags(text: &str, separator: char) -> Vec<String> {
    let mut tags = vec![Tag::default()];
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == separator {
            tags.push(Tag::default());
        } else if let Some(tag) = tags.last_mut() {
            match c {
                '\\' if separator == ',' => chars.next().into_iter().for_each(|c| tag.keep(c)),
                c => tag.push(c),
            }
        }
    }
    tags.into_iter().filter_map(Tag::finish).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::read::rows::testing::{pairs, refused, with_options};
    use crate::mapping::{BaseUrl, Case, Forward, Status};

    fn read_with(
        dialect: &Dialect,
        bytes: &[u8],
        columns: &[(Column, String)],
    ) -> Result<(Vec<ImportedRow>, Vec<String>), ReadError> {
        let (rows, unread) =
            with_options(columns, |options, take| read(bytes, dialect, options, take));
        Ok((rows, unread?))
    }

    fn read_as(dialect: &Dialect, bytes: &[u8]) -> Vec<ImportedRow> {
        read_with(dialect, bytes, &[]).unwrap().0
    }

    #[test]
    fn our_own_form_is_read_whole() {
        let rows = read_as(
            &PLAIN,
            b"short-code,url,aliases,status,forward,cache-max-age,title,owner,tags,expires,\
              retired,archive\r\n\
              a,https://e.org/,b c/d,301,path,0,\"T, \"\"t\"\"\nt\",o,\"x,y\\,z\",2030-01-01,true,\
              https://web.archive.org/\r\n\r\n\
              d,https://f.org/,,,,,,,,,,\r\n",
        );
        let link = rows[0].link.as_ref().unwrap();
        assert_eq!(link.aliases, ["b", "c/d"]);
        assert_eq!(link.status, Some(Status::MovedPermanently));
        assert_eq!(link.forward, Some(Forward::Path));
        assert_eq!(link.cache_max_age, Some(0));
        assert_eq!(link.title.as_deref(), Some("T, \"t\"\nt"));
        assert_eq!(link.tags, ["x", "y,z"]);
        assert_eq!(link.expires, "2030-01-01".parse().ok());
        assert_eq!(link.retired, Some(WrittenRetirement::Always));
        assert_eq!(link.archive.as_deref(), Some("https://web.archive.org/"));
        assert_eq!(pairs(&rows)[1], "5 d https://f.org/");
    }

    #[test]
    fn other_programs_are_understood() {
        let rows = read_as(
            &SHLINK,
            b"createdAt,domain,shortCode,shortUrl,longUrl,title,tags,visits\n\
              2024-01-02T03:04:05+00:00,short.code,a,https://short.code/a,https://e.org/,T,x|y z,7\n\
              2024-01-02T03:04:05+00:00,s.test,b,https://s.test/b,https://e.org/,,,7\n",
        );
        assert_eq!(pairs(&rows), ["2 a https://e.org/ T"]);
        assert_eq!(rows[0].link.as_ref().unwrap().tags, ["x", "y z"]);
        assert_eq!(
            refused(&rows),
            ["3: \"https://s.test/b\" is not under https://short.code/"]
        );

        let rows = read_as(
            &YOURLS,
            b"source,target,hits\r\n/a/,https://e.org/,\"\"\r\n",
        );
        assert_eq!(pairs(&rows), ["2 a https://e.org/"]);
        let rows = read_as(
            &YOURLS,
            b"ozh\thttps://e.org/\thttps://e.org/\t2024-01-02 03:04:05\t::1\t3\n\
              NULL\thttps://f.org/\tNULL\t2024-01-02 03:04:05\t::1\t0\n",
        );
        assert_eq!(
            pairs(&rows),
            ["1 ozh https://e.org/", "2 NULL https://f.org/"]
        );

        for text in ["slug,url\na,https://e.org/\n", "a,https://e.org/\n"] {
            let rows = read_as(&PSQL, text.as_bytes());
            assert_eq!(pairs(&rows).len(), 1);
            assert!(pairs(&rows)[0].ends_with("a https://e.org/"));
        }
    }

    #[test]
    fn a_link_that_is_gone_is_retired() {
        let rows = read_as(
            &PLAIN,
            b"short-code,url,status,retired\na,https://e.org/,410,\nb,,410,2024-01-02\nc,https://e.org/,301,\n",
        );
        let links: Vec<_> = rows.iter().map(|row| row.link.as_ref().unwrap()).collect();
        assert!(
            links
                .iter()
                .all(|link| link.status.is_some() == link.retired.is_none())
        );
        assert_eq!(links[0].retired, Some(WrittenRetirement::Always));
        assert!(matches!(links[1].retired, Some(WrittenRetirement::From(_))));
        let header = b"status,url\n404,https://e.org/\n";
        assert_eq!(
            refused(&read_as(&PLAIN, header)),
            ["2: \"status\" cannot be \"404\""]
        );
    }

    #[test]
    fn semicolons_and_tabs_part_fields_too() {
        for text in [
            "Slug;Ziel;Long URL\na;x,y;https://e.org/\n",
            "Slug\tZiel\tLong URL\na\tx,y\thttps://e.org/\n",
        ] {
            assert_eq!(
                pairs(&read_as(&PLAIN, text.as_bytes())),
                ["2 a https://e.org/"]
            );
        }
    }

    #[test]
    fn columns_can_be_named() {
        let text = b"kurz,ziel\na,https://e.org/\n";
        let named = [
            (Column::Code, "Kurz".to_owned()),
            (Column::Url, "ziel".to_owned()),
        ];
        let (rows, _) = read_with(&PLAIN, text, &named).unwrap();
        assert_eq!(pairs(&rows), ["2 a https://e.org/"]);
        let error = read_with(&PLAIN, text, &[]).unwrap_err();
        assert_eq!(
            error,
            ReadError::NoUrlColumn {
                header: "kurz, ziel".to_owned()
            }
        );
        let error = read_with(&PLAIN, text, &[(Column::Url, "x".to_owned())]).unwrap_err();
        assert!(matches!(error, ReadError::NoSuchColumn { .. }));
    }

    #[test]
    fn what_is_not_read_is_reported() {
        let (rows, unread) =
            read_with(&PLAIN, b"url,visits,shortCode\nhttps://e.org/,1,a\n", &[]).unwrap();
        assert_eq!(
            (pairs(&rows).len(), &unread[..]),
            (1, &["visits".to_owned()][..])
        );
    }

    #[test]
    fn damaged_records_are_refused_with_their_lines() {
        let rows = read_as(
            &PLAIN,
            b"code,url,status\n\na,https://e.org/\nb,https://e.org/,\xFF\nc,https://e.org/,200\n\
              d,https://e.org/,,\ne,https://e.org/,\nf,\"https://e.org/,\ng,https://e.org/,\n",
        );
        assert_eq!(pairs(&rows), ["7 e https://e.org/"]);
        assert_eq!(
            refused(&rows),
            [
                "3: this has 2 fields, expected 3",
                "4: this is not UTF-8",
                "5: \"status\" cannot be \"200\"",
                "6: this has 4 fields, expected 3",
                "8: the quotes of this row are not closed, or not doubled within a field; it is read up \
                 to line 9, and no link of these lines is imported",
            ]
        );
    }

    #[test]
    fn rows_that_stray_quotes_enclose_are_reported() {
        let text = "code,url,notes\na,https://e.org/a,\"27 inch\nb,https://e.org/b,x\n\
                    c,https://e.org/c,the \"new\" one\nd,https://e.org/d,\"two\nlines\"\n";
        let (rows, _) = read_with(&PLAIN, text.as_bytes(), &[]).unwrap();
        assert_eq!(pairs(&rows), ["5 d https://e.org/d"]);
        let [refused] = &refused(&rows)[..] else {
            panic!("one row is refused");
        };
        assert!(
            refused.starts_with("2: the quotes of this row"),
            "{refused}"
        );
        assert!(refused.contains("up to line 4"), "{refused}");
    }

    #[test]
    fn restricted_links_and_those_of_other_hosts_are_refused() {
        let text = "domain,slug,url,Password,ios\nshort.code,a,https://e.org/,,\n\
                    SHORT.CODE,b,https://e.org/,false,\nother.code,c,https://e.org/,,\n\
                    ,d,https://e.org/,secret,\n,e,https://e.org/,,https://f.org/\n";
        let (rows, unread) = read_with(&PLAIN, text.as_bytes(), &[]).unwrap();
        assert_eq!(pairs(&rows), ["2 a https://e.org/", "3 b https://e.org/"]);
        assert_eq!(
            refused(&rows),
            [
                "4: \"other.code\" is not under https://short.code/",
                "5: column 4 restricts this link, or leads some requests elsewhere, which a table \
                 cannot: \"secret\"",
                "6: column 5 restricts this link, or leads some requests elsewhere, which a table \
                 cannot: \"https://f.org/\"",
            ]
        );
        assert_eq!(unread, [""; 0]);
    }

    #[test]
    fn links_that_are_not_served_are_refused() {
        let text = "slug,url,Is Active,deleted_at,max clicks\n\
                    a,https://e.org/,true,,\nb,https://e.org/,,NULL,0\n\
                    c,https://e.org/,false,,\nd,https://e.org/,1,2026-01-01,\n\
                    e,https://e.org/,t,,5\nf,https://e.org/,f,,\n";
        let (rows, unread) = read_with(&PLAIN, text.as_bytes(), &[]).unwrap();
        assert_eq!(pairs(&rows), ["2 a https://e.org/", "3 b https://e.org/"]);
        let columns = refused(&rows).into_iter().map(|it| it[..11].to_owned());
        let columns: Vec<_> = columns.collect();
        assert_eq!(
            columns,
            ["4: column 3", "5: column 4", "6: column 5", "7: column 3"]
        );
        assert_eq!(unread, [""; 0]);
    }

    #[test]
    fn without_a_header_the_number_of_fields_is_known() {
        let text = b"a,https://e.org/?x=1,2\n";
        assert_eq!(
            refused(&read_as(&PSQL, text)),
            ["1: this has 3 fields, expected 2"]
        );
        let text = b"a,https://e.org/?x=1,2,title\n";
        assert_eq!(
            refused(&read_as(&YOURLS, text)),
            ["1: this has 4 fields, expected 3"]
        );
    }

    #[test]
    fn a_short_link_of_another_host_is_no_code() {
        let of = |header: &str| {
            let text =
                format!("url,{header}\nhttps://e.org/,bit.ly/x\nhttps://e.org/,short.code/y\n");
            let (rows, _) = read_with(&PLAIN, text.as_bytes(), &[]).unwrap();
            (pairs(&rows).join(", "), refused(&rows).len())
        };
        for header in ["Bitlink", "Short URL", "source", "slug"] {
            assert_eq!(of(header), ("3 y https://e.org/".to_owned(), 1), "{header}");
        }
        assert_eq!(of("short-code").1, 0);
    }

    #[test]
    fn further_short_links_of_bitly_are_aliases() {
        let text = "link,long_url,custom_bitlinks\nhttps://short.code/a,https://e.org/,short.code/b;short.code/a\n\
                    https://short.code/c,https://e.org/,other.code/d\n";
        let (rows, _) = read_with(&PLAIN, text.as_bytes(), &[]).unwrap();
        assert_eq!(rows[0].link.as_ref().unwrap().aliases, ["b"]);
        assert_eq!(refused(&rows).len(), 1);
    }

    #[test]
    fn a_header_that_leaves_the_codes_open_is_refused() {
        let read = |text: &str, columns: &[(Column, String)]| {
            read_with(&PLAIN, text.as_bytes(), columns).map(|(rows, _)| pairs(&rows))
        };
        let text = "name,url\nx,https://e.org/\n";
        let header = "name, url".to_owned();
        assert_eq!(read(text, &[]), Err(ReadError::NoCodeColumn { header }));
        for (name, found) in [("name", "2 x https://e.org/"), ("", "2  https://e.org/")] {
            let columns = [(Column::Code, name.to_owned())];
            assert_eq!(read(text, &columns), Ok(vec![found.to_owned()]));
        }
        assert_eq!(
            read("url,title\nhttps://e.org/,T\n", &[]),
            Ok(vec!["2  https://e.org/ T".to_owned()])
        );
    }

    #[test]
    fn a_domain_and_a_code_are_a_short_link() {
        let text = "domain,code,link,url\nother.code,,https://short.code/a,https://e.org/\n\
                    short.code,,https://short.code/b,https://e.org/\n";
        let (rows, _) = read_with(&PLAIN, text.as_bytes(), &[]).unwrap();
        assert_eq!(pairs(&rows), ["3 b https://e.org/"]);
        let base_url = &BaseUrl::parse("https://short.code/go/").unwrap();
        let options = Options {
            from: &[base_url],
            case: Case::Exact,
            columns: &[],
        };
        let mut rows = Vec::new();
        let text = "domain,code,url\nshort.code,b,https://e.org/\n";
        read(text.as_bytes(), &PLAIN, &options, &mut |row| rows.push(row)).unwrap();
        let reported = ["2: \"short.code/b\" is not under https://short.code/go/"];
        assert_eq!(refused(&rows), reported);
    }

    #[test]
    fn values_of_databases_are_not_misread() {
        let text = b"a\thttps://e.org/\\\\d\tT\nb\thttps://e.org/\tT\n";
        let rows = read_as(&YOURLS, text);
        assert_eq!(pairs(&rows), ["2 b https://e.org/ T"]);
        assert_eq!(
            pairs(&read_as(
                &PSQL,
                b"url,https://e.org/\na.io/x,https://f.org/\n"
            ))
            .len(),
            2
        );
    }

    #[test]
    fn tags_are_split_as_they_were_joined() {
        assert_eq!(tags("a, b\\,c\\\\,,d\\", ','), ["a", "b,c\\", "d"]);
        assert_eq!(tags("a\\|b,c", '|'), ["a\\", "b,c"]);
        assert_eq!(
            tags("\\ a\\ , \\  \\ ,\"\", \\\"\"", ','),
            [" a ", "   ", "", "\"\""]
        );
        assert_eq!(tags("", ','), [""; 0]);
    }
}
