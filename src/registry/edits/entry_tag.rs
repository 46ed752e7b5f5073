//! Tags of entries: short texts that differ whenever entries do, for clients that edit what they have
//! read.

use std::fmt;

use sha2::{Digest as _, Sha256};

use super::content::EntryContent;
use crate::mapping::{Entry, Retired, Timestamp};

/// Identifies the content of an entry: 128 bits of a SHA-256.
///
/// It depends neither on other entries nor on the entry's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryTag(u128);

impl EntryTag {
    /// Returns the tag of an entry.
    pub fn of(entry: Entry<'_>) -> Self {
        Self::of_content(&EntryContent::of(entry))
    }

    /// Reads a tag as it is displayed.
    pub fn parse(text: &str) -> Option<Self> {
        let is_hexadecimal = text.len() == 32 && text.bytes().all(|it| it.is_ascii_hexdigit());
        let tag = u128::from_str_radix(text, 16).ok()?;
        is_hexadecimal.then_some(Self(tag))
    }

    pub(super) fn of_content(content: &EntryContent) -> Self {
        let EntryContent {
            code,
            target,
            below,
            aliases,
            title,
            owner,
            tags,
            status,
            forward,
            cache_max_age,
            expires,
            retired,
            archive,
            variants,
        } = content;
        let time = |time: &Timestamp| time.to_string();
        let numbers = format!(
            "{:?} {:?} {cache_max_age:?} {} {}",
            status.map(|it| it.code()),
            forward.map(|it| it.name()),
            expires.as_ref().map(time).unwrap_or_default(),
            match retired {
                None => String::new(),
                Some(Retired::Always) => "always".to_owned(),
                Some(Retired::From(since)) => time(since),
            }
        );
        let mut hash = Sha256::new();
        let mut list = |texts: &mut dyn Iterator<Item = &str>| {
            for text in texts {
                hash.update((text.len() as u64).to_le_bytes());
                hash.update(text);
            }
            // No text has this length.
            hash.update(u64::MAX.to_le_bytes());
        };
        list(&mut [code.as_str(), &numbers].into_iter());
        for text in [target, title, owner, archive] {
            list(&mut text.iter().map(String::as_str));
        }
        // Other entries keep their tags.
        if let Some(below) = below {
            list(&mut [below.as_str()].into_iter());
        }
        for texts in [aliases, tags] {
            list(&mut texts.iter().map(String::as_str));
        }
        // The tags of entries without variants are those of earlier versions.
        if !variants.is_empty() {
            list(&mut variants.iter().map(String::as_str));
        }
        let digest: [u8; 32] = hash.finalize().into();
        let (first, _) = digest.split_at(16);
        Self(u128::from_be_bytes(
            first.try_into().expect("it has sixteen bytes"),
        ))
    }
}

impl fmt::Display for EntryTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::mapping::{SourceFile, compile};

    fn tags(entries: &str) -> Vec<String> {
        let text = format!("base_url: https://s.code/\nmapping:\n{entries}");
        let file = SourceFile {
            path: "t.yaml".into(),
            bytes: text.into(),
        };
        let table = compile(&[file]).table.unwrap();
        let mut entries: Vec<_> = table.sites()[0].entries().collect();
        entries.sort_by_key(|entry| entry.place());
        entries
            .into_iter()
            .map(|it| EntryTag::of(it).to_string())
            .collect()
    }

    #[test]
    fn every_difference_changes_a_tag() {
        let values = [
            "title: ab",
            "owner: ab",
            "tags: [ab]",
            "tags: [a, b]",
            "aliases: [a]",
            "status: 301",
            "forward: query",
            "cache-max-age: 1",
            "expires: 2030-01-01",
            "retired: true",
            "retired: 2030-01-01",
            "archive: https://ab.example/",
            "variants: [{accept: a/b, url: https://ab.example/}]",
            "variants: [{accept: [a/b, a/c], url: https://ab.example/}]",
            "variants: [{accept: a/b, url: https://ac.example/}]",
        ];
        let one = |line: &str| {
            tags(&format!(
                "- url: https://e.org/\n  short-code: e\n  {line}\n"
            ))
        };
        let all: HashSet<_> = values
            .into_iter()
            .chain(["title: a"])
            .flat_map(one)
            .collect();
        assert_eq!(all.len(), values.len() + 1);
    }

    #[test]
    fn neither_its_form_nor_its_place_changes_a_tag() {
        let plain = tags("- url: https://e.org/\n  tags: [a]\n");
        let moved = tags("- url: https://a.org/\n- {tags: ['a'], url: 'https://e.org/'}\n");
        assert_eq!(plain[0], moved[1]);
        assert_eq!(EntryTag::parse(&plain[0]).unwrap().to_string(), plain[0]);
        for text in [
            "",
            "a",
            &format!("+{}", &plain[0][1..]),
            &format!("{}0", plain[0]),
        ] {
            assert_eq!(EntryTag::parse(text), None, "{text}");
        }
    }
}
