//! JSON of one link, read into the keys that a format has.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::exchange::read::rows::RowError;

/// Parses an object, of which some keys are required; an error names the key of a wrong value.
pub(super) fn parsed<T: DeserializeOwned>(text: &str, required: &[&str]) -> Result<T, RowError> {
    serde_json::from_str(text).map_err(|error| {
        let mut reported = RowError::json(&error);
        if let RowError::Json { message, field } = &mut reported
            && error.is_data()
        {
            let key = key_at_fault::<T>(text, required);
            let key = key.filter(|key| !message.contains(&format!("`{key}`")));
            *field = key.map(|key| format!("key {key:?}"));
        }
        reported
    })
}

/// Returns how messages name the key of a file that has the value of a table's key, given pairs of both.
pub(super) fn named(names: &[(&str, &str)], key: &str) -> Option<String> {
    let found = names.iter().find(|(own, _)| *own == key);
    found.map(|(_, name)| format!("key {name:?}"))
}

/// Returns the first key whose value is wrong on its own.
fn key_at_fault<T: DeserializeOwned>(text: &str, required: &[&str]) -> Option<String> {
    let object: Map<String, Value> = serde_json::from_str(text).ok()?;
    let is_wrong = |(key, value): &(String, Value)| {
        let empty = |key: &&str| ((*key).to_owned(), Value::from(""));
        let mut alone: Map<_, _> = required.iter().map(empty).collect();
        alone.insert(key.clone(), value.clone());
        serde_json::from_value::<T>(Value::Object(alone)).is_err()
    };
    object.into_iter().find(is_wrong).map(|(key, _)| key)
}
