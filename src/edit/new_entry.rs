//! New entries: their contents, and how they are written as YAML.
//!
//! Keys have a fixed order, one on each line; lists are in brackets.

use std::borrow::Cow;
use std::fmt;

use super::scalar::{list, scalar};
use super::variant_lines::{pair, variant_lines};
use crate::mapping::{
    Code, Forward, OwnedVariant, Scheme, Status, Target, WrittenDate, WrittenRetirement,
};

/// An entry that is not in a table yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEntry {
    /// The target, which is written in canonical form; `None` only if the entry is retired and its
    /// code is explicit.
    pub url: Option<Target<'static>>,
    /// Its own code.
    pub code: OwnCode,
    /// Its aliases.
    pub aliases: Vec<Code>,
    /// The title.
    pub title: Option<String>,
    /// The person or team responsible for it.
    pub owner: Option<String>,
    /// The tags.
    pub tags: Vec<String>,
    /// The redirect status, if set.
    pub status: Option<Status>,
    /// The parts of a request that are forwarded to the target, if set.
    pub forward: Option<Forward>,
    /// The URL to which paths below its codes are appended, which is written in canonical form.
    pub below: Option<Target<'static>>,
    /// The time for which a redirect may be cached, in seconds, if set.
    pub cache_max_age: Option<u32>,
    /// The end of its validity.
    pub expires: Option<WrittenDate>,
    /// The start of its retirement.
    pub retired: Option<WrittenRetirement>,
    /// The variants.
    pub variants: Vec<OwnedVariant>,
    /// An archived copy of the target.
    pub archive: Option<Target<'static>>,
}

/// The origin of an entry's own code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnCode {
    /// Derived from its target, and not written.
    Auto,
    /// Written explicitly.
    Custom(Code),
    /// The code of a number, and the number, which is written.
    Number(Code, u64),
}

impl NewEntry {
    /// Returns an entry with only a target and a code.
    pub fn new(url: Target<'static>, code: OwnCode) -> Self {
        Self {
            url: Some(url),
            code,
            aliases: Vec::new(),
            title: None,
            owner: None,
            tags: Vec::new(),
            status: None,
            forward: None,
            below: None,
            cache_max_age: None,
            expires: None,
            retired: None,
            variants: Vec::new(),
            archive: None,
        }
    }

    /// Returns its own code, in a document with the given scheme.
    pub fn own_code(&self, scheme: Scheme) -> Cow<'_, Code> {
        match &self.code {
            OwnCode::Auto => {
                let url = self.url.as_ref().map(Target::as_str);
                Cow::Owned(scheme.code(url.unwrap_or_default()))
            }
            OwnCode::Custom(code) | OwnCode::Number(code, _) => Cow::Borrowed(code),
        }
    }

    /// Returns its keys and values as written, in order. The lines of a value on lines of its own follow
    /// a line break each, and are indented relative to its key.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&'static str, String)> {
        let code = match &self.code {
            OwnCode::Auto => None,
            OwnCode::Custom(code) => Some(("short-code", scalar(code.as_str()))),
            OwnCode::Number(_, number) => Some(("number", number.to_string())),
        };
        let text = |text: &Option<String>| text.as_deref().map(scalar);
        let url = |url: &Option<Target<'_>>| url.as_ref().map(|it| scalar(it.as_str()));
        let pairs = [
            url(&self.url).map(|it| ("url", it)),
            url(&self.below).map(|it| ("below", it)),
            code,
            list(self.aliases.iter().map(Code::as_str)).map(|it| ("aliases", it)),
            text(&self.title).map(|it| ("title", it)),
            text(&self.owner).map(|it| ("owner", it)),
            list(self.tags.iter().map(String::as_str)).map(|it| ("tags", it)),
            self.status.map(|it| ("status", it.code().to_string())),
            self.forward.map(|it| ("forward", it.name().to_owned())),
            (self.cache_max_age).map(|it| ("cache-max-age", it.to_string())),
            self.expires.as_ref().map(|it| ("expires", it.to_string())),
            self.retired.as_ref().map(|it| ("retired", it.to_string())),
            (!self.variants.is_empty()).then(|| ("variants", variant_lines(&self.variants))),
            url(&self.archive).map(|it| ("archive", it)),
        ];
        pairs.into_iter().flatten()
    }
}

/// Writes the entry as an item of an unindented list, without a line break after the last line.
impl fmt::Display for NewEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (key, value)) in self.pairs().enumerate() {
            let before = if number == 0 { "- " } else { "\n  " };
            write!(f, "{before}{}", pair(key, &value, "\n  "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::mapping::{MediaType, SourceFile, compile};

    fn entry() -> NewEntry {
        let url = Target::parse("https://e.org/").unwrap();
        NewEntry::new(url, OwnCode::Auto)
    }

    #[test]
    fn keys_have_one_order() {
        let code = Code::number(62).unwrap();
        let entry = NewEntry {
            code: OwnCode::Number(code, 62),
            aliases: vec![Code::custom("no").unwrap(), Code::custom("-x").unwrap()],
            title: Some("Git: the database".to_owned()),
            owner: Some("@ada".to_owned()),
            tags: vec!["a b".to_owned(), "été".to_owned()],
            status: Status::from_code(301),
            forward: Some(Forward::Query),
            below: Target::parse("https://b.example/").ok(),
            cache_max_age: Some(0),
            expires: "2026-12-31".parse().ok(),
            retired: Some(WrittenRetirement::Always),
            variants: vec![
                OwnedVariant {
                    types: vec![MediaType::parse("text/turtle").unwrap()],
                    target: Target::parse("https://e.org/ttl").unwrap(),
                    below: None,
                },
                OwnedVariant {
                    types: ["a/b", "a/c+d"]
                        .map(|it| MediaType::parse(it).unwrap())
                        .into(),
                    target: Target::parse("https://e.org/d:").unwrap(),
                    below: Target::parse("https://e.org/d/").ok(),
                },
            ],
            archive: Target::parse("https://archive.example/").ok(),
            ..entry()
        };
        assert_eq!(
            entry.to_string(),
            "- url: https://e.org/\n  below: https://b.example/\n  number: 62\n  aliases: [\"no\", \"-x\"]\n  \
             title: \"Git: the database\"\n  owner: \"@ada\"\n  tags: [\"a b\", été]\n  status: 301\n  \
             forward: query\n  cache-max-age: 0\n  expires: 2026-12-31\n  retired: true\n  \
             variants:\n  - accept: text/turtle\n    url: https://e.org/ttl\n  \
             - accept: [a/b, a/c+d]\n    url: \"https://e.org/d:\"\n    below: https://e.org/d/\n  \
             archive: https://archive.example/"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]

        #[test]
        fn what_is_written_is_read(
            title in "\\PC{1,8}|[-\"'#:a \\[\\]{},&*!|>%@`?\\\\~.0e]{1,6}|(?s:.){1,4}",
            tags in prop::collection::vec("[-\"'#:a1 \\[\\]{},\\\\~.e]{1,5}|(?s:.){1,3}", 0..3),
            code in "[-a-c0-9._~]{1,4}|true|NO|1e[0-9]",
        ) {
            let Ok(code) = Code::custom(&code) else {
                return Err(TestCaseError::reject("no code"));
            };
            let entry = NewEntry {
                code: OwnCode::Custom(code.clone()),
                title: Some(title.clone()),
                tags: tags.clone(),
                ..entry()
            };
            let text = format!("base_url: https://s.code/\nmapping:\n{entry}\n");
            let compiled = compile(&[SourceFile { path: "t".into(), bytes: text.clone().into() }]);
            let table = compiled.table;
            prop_assert!(table.is_some(), "{}{:?}", text, compiled.diagnostics);
            let table = table.unwrap();
            let read = table.sites()[0].lookup(code.as_str()).unwrap();
            prop_assert_eq!(read.title(), Some(&*title), "{}", text);
            prop_assert_eq!(read.tags().collect::<Vec<_>>(), tags, "{}", text);
            let others: serde_json::Value = serde_yaml::from_str(&text).unwrap();
            prop_assert_eq!(&others["mapping"][0]["title"], &serde_json::json!(title), "{}", text);
            prop_assert_eq!(&others["mapping"][0]["short-code"], &serde_json::json!(code.as_str()));
        }
    }
}
