//! The variants in the body of a request: a list of objects with the keys of a table.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::body::{BodyReader, MAX_UNKNOWN, pointer};
use crate::mapping::{MediaType, OwnedVariant, Target};

/// The keys of a variant.
const KEYS: [&str; 3] = ["accept", "url", "below"];

impl BodyReader {
    /// Takes the variants of a link; none for `null`.
    pub(super) fn variants(&mut self) -> Vec<OwnedVariant> {
        let list = match self.take("variants") {
            None => return Vec::new(),
            Some(Value::Array(list)) => list,
            Some(_) => {
                self.note("variants", "is not a list of objects");
                return Vec::new();
            }
        };
        let mut known = HashSet::new();
        let variants = list.into_iter().enumerate().filter_map(|(number, value)| {
            let at = format!("/variants/{number}");
            match value {
                Value::Object(keys) => self.variant(&at, &keys, &mut known),
                _ => {
                    self.note_at(&at, "is not an object", None);
                    None
                }
            }
        });
        variants.collect()
    }

    /// Reads one variant at a pointer, whose types must differ from the known ones.
    fn variant(
        &mut self,
        at: &str,
        keys: &Map<String, Value>,
        known: &mut HashSet<String>,
    ) -> Option<OwnedVariant> {
        let unknown = keys.keys().filter(|key| !KEYS.contains(&key.as_str()));
        for key in unknown.take(MAX_UNKNOWN) {
            let at = format!("{at}{}", pointer(key));
            self.note_at(&at, "is not a key of a variant", None);
        }
        let types = self.media_types(&format!("{at}/accept"), keys.get("accept"), known);
        let target = self.url_of_variant(&format!("{at}/url"), keys.get("url"));
        if keys.get("url").is_none_or(Value::is_null) {
            self.note_at(&format!("{at}/url"), "is missing", None);
        }
        let below = self.url_of_variant(&format!("{at}/below"), keys.get("below"));
        Some(OwnedVariant {
            types: types?,
            target: target?,
            below,
        })
    }

    /// Reads a media type, or a list of at least one.
    fn media_types(
        &mut self,
        at: &str,
        value: Option<&Value>,
        known: &mut HashSet<String>,
    ) -> Option<Vec<MediaType>> {
        let texts: Option<Vec<&str>> = match value {
            Some(Value::String(text)) => Some(vec![text]),
            Some(Value::Array(list)) => list.iter().map(Value::as_str).collect(),
            _ => None,
        };
        let Some(texts) = texts.filter(|texts| !texts.is_empty()) else {
            self.note_at(at, "is neither a media type nor a list of them", None);
            return None;
        };
        let types = texts.into_iter().map(|text| match MediaType::parse(text) {
            Ok(it) if known.insert(it.as_str().to_owned()) => Some(it),
            Ok(it) => {
                let message = format!("names the media type {:?} again", it.as_str());
                self.note_at(at, message, None);
                None
            }
            Err(error) => {
                self.note_at(at, error.to_string(), Some(error.hint().to_owned()));
                None
            }
        });
        // Each is read, so that all errors are reported.
        let types: Vec<_> = types.collect();
        types.into_iter().collect()
    }

    fn url_of_variant(&mut self, at: &str, value: Option<&Value>) -> Option<Target<'static>> {
        match value? {
            Value::Null => None,
            Value::String(text) => self.check_url(at, text),
            _ => {
                self.note_at(at, "is not a text", None);
                None
            }
        }
    }
}
