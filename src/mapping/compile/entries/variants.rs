//! The variants of entries as written.

use std::borrow::Cow;

use crate::mapping::parse::{Located, Node, Reader, SeenKeys, Stop};
use crate::mapping::value::{Position, Rule};

/// A variant as written.
#[derive(Debug)]
pub(super) struct WrittenVariant<'t> {
    pub(super) types: Vec<Located<Cow<'t, str>>>,
    pub(super) url: Option<Located<Cow<'t, str>>>,
    pub(super) below: Option<Located<Cow<'t, str>>>,
}

/// The variants of an entry as written.
#[derive(Debug)]
pub(super) struct WrittenVariants<'t> {
    /// The position of their key.
    pub(super) position: Position,
    pub(super) all: Vec<WrittenVariant<'t>>,
}

#[derive(Debug, Clone, Copy)]
enum VariantKey {
    Accept,
    Url,
    Below,
}

const VARIANT_KEYS: &[(&str, VariantKey)] = &[
    ("accept", VariantKey::Accept),
    ("url", VariantKey::Url),
    ("below", VariantKey::Below),
];

const FORM: &str = "write \"- accept: text/turtle\", and below it \"url: https://…\"";

/// The number of keys that every variant has, the first of all.
const NEEDED_KEYS: usize = 2;

impl<'t> WrittenVariants<'t> {
    /// Returns whether the entry decides for some variant where paths below its codes lead.
    pub(super) fn some_lack_below(&self) -> bool {
        self.all.iter().any(|variant| variant.below.is_none())
    }

    /// Reads the variants of an entry, whose key is at a position, and reports every problem of their
    /// form.
    pub(super) fn read(
        reader: &mut Reader<'t, '_>,
        position: Position,
    ) -> Result<Option<Self>, Stop> {
        if !reader.list_like("variants", FORM)? {
            return Ok(None);
        }
        let mut all = Vec::new();
        while let Some(Located { value, position }) = reader.node()? {
            if matches!(value, Node::Mapping) {
                all.push(WrittenVariant::read(reader, position)?);
                continue;
            }
            if !matches!(value, Node::Alias) {
                let message = format!("a variant must be a map of keys, found {}", value.noun());
                reader.problem_with_hint(Rule::ValueWrongType, position, message, FORM);
            }
            reader.skip(&value)?;
        }
        Ok(Some(Self { position, all }))
    }
}

impl<'t> WrittenVariant<'t> {
    fn read(reader: &mut Reader<'t, '_>, position: Position) -> Result<Self, Stop> {
        let (mut types, mut url, mut below) = (Vec::new(), None, None);
        let mut seen = SeenKeys::default();
        while let Some(key) = reader.key(VARIANT_KEYS, &mut seen)? {
            match key.value {
                VariantKey::Accept => types = reader.text_or_texts("accept")?,
                VariantKey::Url => url = reader.url("url")?,
                VariantKey::Below => below = reader.url("below")?,
            }
        }
        for (index, (key, _)) in VARIANT_KEYS[..NEEDED_KEYS].iter().enumerate() {
            if !seen.is_intended(index) {
                let message = format!("a variant needs the key {key:?}");
                reader.problem(Rule::KeyMissing, position, message);
            }
        }
        Ok(Self { types, url, below })
    }
}
