//! JSON lines, as Waypost writes them: one object per entry, with the keys of a table.
//!
//! An unknown key is an error, because its value would be lost.

use serde::Deserialize;

use super::parsed::parsed;
use crate::exchange::read::rows::{ImportedLink, ImportedRow, LinkOrigin, RowError, row, rows};
use crate::mapping::{MediaType, OwnedVariant, Target, WrittenRetirement};

/// A line.
#[derive(Deserialize)]
#[serde(
    rename_all = "kebab-case",
    deny_unknown_fields,
    expecting = "an object"
)]
struct ParsedLine {
    #[serde(rename = "base_url")]
    base_url: Option<String>,
    url: Option<String>,
    short_code: Option<String>,
    number: Option<u64>,
    #[serde(default)]
    aliases: Vec<String>,
    status: Option<u16>,
    forward: Option<String>,
    cache_max_age: Option<u32>,
    title: Option<String>,
    owner: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    expires: Option<String>,
    retired: Option<Since>,
    archive: Option<String>,
    below: Option<String>,
    #[serde(default)]
    variants: Vec<ParsedVariant>,
}

/// A variant of an entry.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
struct ParsedVariant {
    accept: Vec<String>,
    url: String,
    below: Option<String>,
}

/// `true`, or a time.
#[derive(Deserialize)]
#[serde(untagged)]
enum Since {
    Always(bool),
    From(String),
}

/// Reads every line.
pub(crate) fn read(bytes: &[u8], origin: LinkOrigin<'_>, take: &mut dyn FnMut(ImportedRow)) {
    rows(bytes, take, |text| {
        let line: ParsedLine = parsed(text, &[])?;
        let link = line.link(origin).and_then(ImportedLink::checked);
        let named = link.map_err(|error| error.in_field(|key| Some(format!("key {key:?}"))));
        named.map(Some)
    });
}

impl ParsedLine {
    fn link(self, origin: LinkOrigin<'_>) -> Result<ImportedLink, RowError> {
        let site = self.base_url.map(|it| origin.site_with(&it)).transpose()?;
        let status = self.status.map(|status| status.to_string());
        Ok(ImportedLink {
            site: origin.site(site)?,
            url: self.url,
            code: self.short_code,
            number: self.number,
            aliases: self.aliases,
            status: row::status(&status.unwrap_or_default())?,
            forward: row::forward(&self.forward.unwrap_or_default())?,
            cache_max_age: self.cache_max_age,
            title: self.title,
            owner: self.owner,
            tags: self.tags,
            expires: row::expires(&self.expires.unwrap_or_default())?,
            retired: match self.retired {
                Some(Since::Always(true)) => Some(WrittenRetirement::Always),
                Some(Since::From(time)) => row::retired(&time)?,
                Some(Since::Always(false)) | None => None,
            },
            archive: self.archive,
            below: self.below,
            variants: (self.variants.into_iter())
                .map(ParsedVariant::variant)
                .collect::<Result<_, _>>()?,
            deviations: Vec::new(),
        })
    }
}

impl ParsedVariant {
    fn variant(self) -> Result<OwnedVariant, RowError> {
        let media_type =
            |text: &String| MediaType::parse(text).map_err(|_| RowError::value("accept", text));
        let types: Vec<_> = (self.accept.iter())
            .map(media_type)
            .collect::<Result<_, _>>()?;
        if types.is_empty() {
            return Err(RowError::value("accept", ""));
        }
        let target = |key, url: &str| row::target(key, url).map(Target::into_owned);
        Ok(OwnedVariant {
            types,
            target: target("url", &self.url)?,
            below: (self.below.as_deref())
                .map(|it| target("below", it))
                .transpose()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::exchange::read::rows::ImportedLink;
    use crate::exchange::read::rows::testing::{read_by, refused};
    use crate::mapping::{Forward, MediaType, OwnedVariant, Status, Target, WrittenRetirement};

    #[test]
    fn every_key_is_read() {
        let rows = read_by(
            super::read,
            b"{\"base_url\":\"https://short.code/\",\"short-code\":\"a\",\"url\":\"https://e.org/\",\
              \"aliases\":[\"b\"],\"status\":301,\"forward\":\"path\",\"cache-max-age\":0,\
              \"title\":\"T\",\"owner\":\"o\",\"tags\":[\"x,y\"],\"expires\":\"2030-01-01\",\
              \"retired\":true,\"archive\":\"https://web.archive.org/\",\"below\":\"https://b.org/\",\
              \"variants\":[{\"accept\":[\"a/b\",\"A/C\"],\"url\":\"https://V.org\",\"below\":\"https://W.org\"}]}\r\n\
              \n{\"url\":\"https://f.org/\",\"number\":7}\n",
        );
        let all = ImportedLink {
            url: Some("https://e.org/".to_owned()),
            code: Some("a".to_owned()),
            number: None,
            site: 0,
            aliases: vec!["b".to_owned()],
            status: Some(Status::MovedPermanently),
            forward: Some(Forward::Path),
            cache_max_age: Some(0),
            title: Some("T".to_owned()),
            owner: Some("o".to_owned()),
            tags: vec!["x,y".to_owned()],
            expires: "2030-01-01".parse().ok(),
            retired: Some(WrittenRetirement::Always),
            archive: Some("https://web.archive.org/".to_owned()),
            below: Some("https://b.org/".to_owned()),
            variants: vec![OwnedVariant {
                types: ["a/b", "a/c"]
                    .map(|it| MediaType::parse(it).unwrap())
                    .into(),
                target: Target::parse("https://v.org/").unwrap().into_owned(),
                below: Target::parse("https://w.org/").ok(),
            }],
            deviations: Vec::new(),
        };
        assert_eq!((rows[0].line, &rows[0].link), (1, &Ok(all)));
        assert_eq!(
            (rows[1].line, rows[1].link.as_ref().unwrap().number),
            (3, Some(7))
        );
    }

    #[test]
    fn what_is_not_known_is_reported_with_its_line() {
        let rows = read_by(
            super::read,
            b"nonsense\n{\"url\":\"https://e.org/\",\"clicks\":1}\n{\"status\":200}\n\
              {\"expires\":\"soon\"}\n{\"base_url\":\"https://other.code/\"}\n\xFF\n{\"url\":\"https://e.org/\"}\n",
        );
        let reported = refused(&rows);
        assert_eq!(reported.len(), 6);
        assert!(reported[1].contains("clicks"), "{}", reported[1]);
        assert_eq!(reported[2], "3: \"status\" cannot be \"200\"");
        assert_eq!(reported[3], "4: \"expires\" cannot be \"soon\"");
        assert_eq!(
            reported[4],
            "5: \"https://other.code/\" is not under https://short.code/"
        );
        assert_eq!(reported[5], "6: this is not UTF-8");
    }
}
