//! Edits of an entry of an arbitrary document: the keys that are named change, and no others.

#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use waypost_fuzz::edit::entry::{EditedText, KeyEdit, NewValue};
use waypost_fuzz::mapping::{Outline, SourceFile};

const KEYS: [&str; 6] = ["url", "short-code", "title", "aliases", "tags", "archive"];

/// The content of an entry.
type Keys = BTreeMap<String, Vec<String>>;

fuzz_target!(|bytes: &[u8]| {
    // The first line holds the number of the entry and its edits: the rest is the document.
    let end = bytes.iter().position(|byte| *byte == b'\n');
    let (first, document) = bytes.split_at(end.map_or(0, |end| end + 1));
    let Ok(first) = str::from_utf8(first) else {
        return;
    };
    let mut words = first.split_ascii_whitespace();
    let number = words.next().and_then(|word| word.parse::<usize>().ok());
    let edits: BTreeMap<_, _> = words
        .filter_map(edit)
        .map(|edit| (edit.key, edit))
        .collect();
    let edits = Vec::from_iter(edits.into_values());
    let old_file = file(document.to_vec());
    let Ok(old) = Outline::of(&old_file) else {
        return;
    };
    let Some(number) = number.filter(|number| *number < old.entries.len()) else {
        return;
    };
    let Ok(mut edited) = EditedText::of(&old) else {
        return;
    };
    if edited.edit(number, &edits).is_err() {
        assert_eq!(
            edited.text().as_bytes(),
            document,
            "a refusal changes nothing"
        );
        return;
    }
    let new_file = file(edited.text().into_bytes());
    let new = Outline::of_sound(&new_file, old.scheme).expect("the result is YAML");
    let mut expected = Vec::from_iter((0..old.entries.len()).map(|entry| keys(&old, entry)));
    for edit in edits {
        match edit.value {
            None => expected[number].remove(edit.key),
            Some(NewValue::Text(text) | NewValue::Word(text)) => {
                expected[number].insert(edit.key.to_owned(), vec![text])
            }
            Some(NewValue::Texts(texts)) => expected[number].insert(edit.key.to_owned(), texts),
            Some(NewValue::Variants(_)) => unreachable!("no edit here sets them"),
        };
    }
    let found = Vec::from_iter((0..new.entries.len()).map(|entry| keys(&new, entry)));
    assert_eq!(found, expected, "{}", new.text);
});

fn file(bytes: Vec<u8>) -> SourceFile {
    SourceFile {
        path: "a.yaml".into(),
        bytes,
    }
}

/// Reads `KEY=VALUE`, which removes the key if the value is empty.
fn edit(word: &str) -> Option<KeyEdit> {
    let (name, value) = word.split_once('=')?;
    let key = KEYS.into_iter().find(|key| *key == name)?;
    let texts = value.split(',').filter(|text| !text.is_empty());
    Some(match key {
        "aliases" | "tags" => KeyEdit::texts(key, texts.map(str::to_owned).collect()),
        _ => KeyEdit::text(key, Some(value).filter(|value| !value.is_empty())),
    })
}

fn keys(outline: &Outline<'_>, entry: usize) -> Keys {
    let pairs = outline.entries[entry].pairs.iter();
    let keys = pairs.map(|pair| {
        let texts = pair.values.iter().map(|value| value.text.to_string());
        (pair.key.to_string(), texts.collect())
    });
    keys.collect()
}
