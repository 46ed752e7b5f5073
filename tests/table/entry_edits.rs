//! Changing the keys of entries, which leaves everything else as it was, byte for byte.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use waypost::edit::{EditedText, KeyEdit, NewValue};
use waypost::mapping::{MediaType, Outline, OwnedVariant, Pair, SourceFile, Target};

fn file(text: &str) -> SourceFile {
    SourceFile {
        path: "t.yaml".into(),
        bytes: text.into(),
    }
}

/// Changes the entry with that number.
fn change(text: &str, entry: usize, edits: &[KeyEdit]) -> Result<String, String> {
    let file = file(text);
    let outline = Outline::of(&file).map_err(|problems| problems[0].to_string())?;
    let obstacle = |obstacle: waypost::edit::Obstacle| obstacle.in_file(&file.path).to_string();
    let mut edited = EditedText::of(&outline).map_err(obstacle)?;
    edited.edit(entry, edits).map_err(obstacle)?;
    Ok(edited.text())
}

/// Reads `key=value`: a list if the value is in brackets, and nothing to remove the key.
fn edit(written: &'static str) -> KeyEdit {
    let (key, value) = written.split_once('=').unwrap();
    let list = value.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    match (list, key) {
        (Some(list), _) => {
            let texts = list.split(' ').filter(|text| !text.is_empty());
            KeyEdit::texts(key, texts.map(str::to_owned).collect())
        }
        (None, "status" | "retired" | "expires") => {
            KeyEdit::word(key, Some(value).filter(|it| !it.is_empty()))
        }
        (None, _) => KeyEdit::text(key, Some(value).filter(|it| !it.is_empty())),
    }
}

fn changed(text: &str, edits: &[&'static str]) -> String {
    let edits: Vec<_> = edits.iter().map(|written| edit(written)).collect();
    change(text, 0, &edits).unwrap()
}

#[test]
fn a_value_is_replaced_where_it_is_written() {
    let url: &[_] = &["url=https://new.example/"];
    for (old, edits, new) in [
        (
            "- url: https://e.org/ # c",
            url,
            "- url: https://new.example/ # c",
        ),
        (
            "- url: 'https://e.org/'",
            url,
            "- url: 'https://new.example/'",
        ),
        (
            "- \"url\":  \"https://e.org/\"",
            url,
            "- \"url\":  \"https://new.example/\"",
        ),
        (
            "- url:\thttps://e.org/",
            url,
            "- url:\thttps://new.example/",
        ),
        (
            "- url: # c\n    https://e.org/",
            url,
            "- url: # c\n    https://new.example/",
        ),
        (
            "- url: >-\n    https://e.org/\n\n# c\n- url: https://f.org/",
            url,
            "- url: https://new.example/\n\n# c\n- url: https://f.org/",
        ),
        (
            "- {url: https://e.org/, title: 'a'}",
            &["url=https://new.example/", "title=it's"],
            "- {url: \"https://new.example/\", title: 'it''s'}",
        ),
        (
            "- url: https://e.org/\n  title: a\n    b # c\n  tags: [a, # d\n    b]",
            &["title=#1"],
            "- url: https://e.org/\n  title: \"#1\" # c\n  tags: [a, # d\n    b]",
        ),
        (
            "- url: https://e.org/\n  tags:\n  - a\n  - b\n  owner: o",
            &["tags=[a x:y]"],
            "- url: https://e.org/\n  tags: [a, \"x:y\"]\n  owner: o",
        ),
        (
            "- url: https://e.org/\n  tags: [a,\n    b] # c",
            &["tags=[z]", "status="],
            "- url: https://e.org/\n  tags: [z] # c",
        ),
        (
            "- url: https://e.org/\n  status: 301\n  expires: 2030-01-01",
            &["status=308", "expires=2031-01-01"],
            "- url: https://e.org/\n  status: 308\n  expires: 2031-01-01",
        ),
    ] {
        let (old, new) = (format!("mapping:\n{old}"), format!("mapping:\n{new}"));
        assert_eq!(changed(&old, edits), new);
    }
}

#[test]
fn a_key_is_added_where_it_belongs() {
    let both: &[_] = &["archive=https://a.example/", "short-code=x"];
    for (old, edits, new) in [
        (
            "- url: https://e.org/ # c\n  # about the title\n  title: t\n  # end\n",
            both,
            "- url: https://e.org/ # c\n  short-code: x\n  # about the title\n  title: t\n  \
             archive: https://a.example/\n  # end\n",
        ),
        (
            "- url: https://e.org/",
            both,
            "- url: https://e.org/\n  short-code: x\n  archive: https://a.example/",
        ),
        (
            "-\n   retired: true\n   number: 1\n\n# c\n",
            &["url=https://e.org/", "title=t"],
            "-\n   url: https://e.org/\n   retired: true\n   number: 1\n   title: t\n\n# c\n",
        ),
        (
            "-   url: https://e.org/\n    title: |-\n      a\n\n      b\n\n    status: 301\n",
            &["owner=o", "short-code=x"],
            "-   url: https://e.org/\n    short-code: x\n    title: |-\n      a\n\n      b\n    owner: o\n\n    \
             status: 301\n",
        ),
        (
            "- {title: t, url: https://e.org/}\n",
            both,
            "- {title: t, url: https://e.org/, short-code: x, archive: \"https://a.example/\"}\n",
        ),
        (
            "- {\n    url: https://e.org/, # c\n  }\n",
            both,
            "- {\n    url: https://e.org/, short-code: x, archive: \"https://a.example/\", # c\n  }\n",
        ),
        (
            "  - {retired: true, number: 1}",
            &["url=https://e.org/"],
            "  - {url: \"https://e.org/\", retired: true, number: 1}",
        ),
    ] {
        let (old, new) = (format!("mapping:\n{old}"), format!("mapping:\n{new}"));
        assert_eq!(changed(&old, edits), new);
        let crlf = |text: &str| format!("\u{feff}{}", text.replace('\n', "\r\n"));
        assert_eq!(changed(&crlf(&old), edits), crlf(&new));
    }
    let old = "mapping: [{url: https://e.org/}, {url: https://f.org/}]\n";
    let new = "mapping: [{url: https://e.org/, title: t}, {url: https://f.org/}]\n";
    assert_eq!(changed(old, &["title=t"]), new);
}

#[test]
fn a_new_line_ends_like_the_one_above() {
    let old =
        "mapping:\r\n- url: https://e.org/\n  title: t\r\n- url: https://f.org/\r\n  tags:\n  - a";
    let added = "mapping:\r\n- url: https://e.org/\n  short-code: x\n  title: t\r\n  owner: o\r\n\
                 - url: https://f.org/\r\n  tags:\n  - a";
    assert_eq!(changed(old, &["short-code=x", "owner=o"]), added);
    let appended = change(old, 1, &[edit("tags=[a b]"), edit("number=1")]).unwrap();
    let end = "- url: https://f.org/\r\n  number: \"1\"\r\n  tags:\n  - a\n  - b";
    assert!(appended.ends_with(end), "{appended:?}");
}

#[test]
fn a_key_is_removed_and_the_comment_on_its_line_stays() {
    for (old, edits, new) in [
        (
            "- url: https://e.org/\n  # about the title\n  title: t # c\n  owner: o\n",
            &["title="] as &[_],
            "- url: https://e.org/\n  # about the title\n  # c\n  owner: o\n",
        ),
        (
            "- url: https://e.org/\n  tags:\n  - a\n  - b   #c\n  status: 301\n  owner: o # d",
            &["tags=[]", "status=", "owner="],
            "- url: https://e.org/\n  #c\n  # d",
        ),
        (
            "- title: t # c\n\n  # d\n  url: https://e.org/\n  owner: o",
            &["title=", "owner="],
            "# c\n# d\n- url: https://e.org/\n",
        ),
        (
            "  -\n    title: t # c\n    owner: o # d\n    url: https://e.org/",
            &["title=", "owner="],
            "  -\n    # c\n    # d\n    url: https://e.org/",
        ),
        (
            "- url: https://e.org/ # c\n  number: 1 # d\n",
            &["url=", "number=", "short-code=x", "retired=true"],
            "# c\n- short-code: x\n  retired: true # d\n",
        ),
        (
            "- {title: t, owner: o, url: https://e.org/, status: 301, number: 1}\n",
            &["title=", "owner=", "status=", "number=", "tags=[a b]"],
            "- {url: https://e.org/, tags: [a, b]}\n",
        ),
        (
            "- {url: https://e.org/, title: t, owner: o, number: 1}\n",
            &["title=", "owner=", "aliases=[a]"],
            "- {url: https://e.org/, number: 1, aliases: [a]}\n",
        ),
    ] {
        let (old, new) = (format!("mapping:\n{old}"), format!("mapping:\n{new}"));
        assert_eq!(changed(&old, edits), new);
    }
}

#[test]
fn a_key_is_erased_with_the_comment_on_its_line() {
    let edits = ["title", "url"].map(KeyEdit::erased);
    for (old, new) in [
        (
            "- url: https://e.org/ # c\n  short-code: a # d\n  # e\n  title: t # f\n",
            "- short-code: a # d\n  # e\n",
        ),
        (
            "- url: https://e.org/ # c\n  # d\n  title: t # e",
            "# d\n- short-code: a",
        ),
    ] {
        let (old, new) = (format!("mapping:\n{old}"), format!("mapping:\n{new}"));
        let has_code = old.contains("short-code");
        let code = (!has_code).then(|| edit("short-code=a"));
        let edits: Vec<_> = edits.iter().cloned().chain(code).collect();
        assert_eq!(change(&old, 0, &edits).unwrap(), new);
    }
}

#[test]
fn comments_inside_a_value_are_erased_with_it() {
    let erased = |text: &str| change(text, 0, &[KeyEdit::erased("variants")]);
    let head = "mapping:\n- url: https://e.org/ # u\n  number: 1\n";
    let list = "  variants: # a\n  # b\n  - accept: a/b # c\n    # d\n    url: https://v.org/ # e\n\n    # f\n";
    for after in [
        "",
        "  # g\n  owner: o # h\n",
        "# i\n- url: https://f.org/\n",
    ] {
        let removed = erased(&format!("{head}{list}{after}"));
        assert_eq!(removed, Ok(format!("{head}{after}")));
    }
    // As the first key, and in an entry that gets all others.
    let first = "mapping:\n- variants: # a\n  - accept: a/b\n    # b\n    url: https://v.org/\n    # c\n  # d\n";
    let removed = erased(&format!("{first}  url: https://e.org/\n"));
    let expected = "mapping:\n# d\n- url: https://e.org/\n".to_owned();
    assert_eq!(removed, Ok(expected));
    let mut all = ["variants", "url"].map(KeyEdit::erased).to_vec();
    all.push(edit("short-code=a"));
    let list = list.replace("\n\n", "\n");
    let removed = change(&format!("mapping:\n- url: https://e.org/\n{list}"), 0, &all);
    let expected = "mapping:\n- short-code: a\n".to_owned();
    assert_eq!(removed, Ok(expected));
    // In braces, all between the brackets.
    let flow = "mapping:\n- {url: https://e.org/, variants: [ # a\n    {accept: a/b, # b\n    url: 'https://v.org/'}], owner: o}\n";
    let expected = "mapping:\n- {url: https://e.org/, owner: o}\n".to_owned();
    assert_eq!(erased(flow), Ok(expected));
    // Without that, no comment may be lost.
    let kept = KeyEdit::texts("variants", Vec::new());
    assert!(change(&format!("{head}{list}"), 0, &[kept]).is_err());
}

#[test]
fn comments_between_keys_in_braces_are_erased_with_the_keys() {
    let edits = ["url", "title"].map(KeyEdit::erased);
    for (old, new) in [
        (
            "{url: https://e.org/, # a\n   short-code: s, # b\n   title: t # c\n  }",
            "{short-code: s # b\n   \n  }",
        ),
        (
            "{url: https://e.org/, # a\n   # b\n   short-code: s, title: t} # c",
            "{\n   # b\n   short-code: s} # c",
        ),
        (
            "{short-code: s,\n   url: https://e.org/ # a\n   , # b\n   title: t # c\n   , # d\n   owner: o}",
            "{short-code: s,\n   owner: o}",
        ),
        (
            "{short-code: s, owner: o, url: https://e.org/, # a\n   title: t # b\n   }",
            "{short-code: s, owner: o\n   }",
        ),
        (
            "{short-code: s # b\n   , url: https://e.org/, title: t, }",
            "{short-code: s # b\n    , }",
        ),
    ] {
        let changed = change(&format!("mapping:\n- {old}\n"), 0, &edits);
        assert_eq!(changed, Ok(format!("mapping:\n- {new}\n")), "{old}");
    }
    let all = [edits.to_vec(), vec![edit("short-code=s")]].concat();
    let old = "mapping:\n- {url: https://e.org/, # a\n   title: t # b\n  }\n";
    let new = "mapping:\n- {short-code: s\n  }\n".to_owned();
    assert_eq!(change(old, 0, &all), Ok(new));
}

#[test]
fn variants_are_set_as_a_whole() {
    let variant = |accept: &[&str], url: &str, below: Option<&str>| OwnedVariant {
        types: accept
            .iter()
            .map(|it| MediaType::parse(it).unwrap())
            .collect(),
        target: Target::parse(url).unwrap().into_owned(),
        below: below.map(|it| Target::parse(it).unwrap().into_owned()),
    };
    let variants = vec![
        variant(&["a/b"], "https://v.org/", None),
        variant(&["a/c", "a/d+e"], "https://w.org/", Some("https://x.org/")),
    ];
    let set = [KeyEdit::variants(variants)];
    let lines = "  variants:\n  - accept: a/b\n    url: https://v.org/\n  - accept: [a/c, a/d+e]\n    \
                 url: https://w.org/\n    below: https://x.org/\n";
    let head = "mapping:\n- url: https://e.org/ # u\n  number: 1\n";
    for before in [
        "",
        "  variants:\n  - accept: a/x\n    url: https://x.org/\n",
        "  variants: [{accept: a/x, url: 'https://x.org/'}]\n",
        "  variants:\n    [{accept: a/x, url: 'https://x.org/'}]\n",
        "  variants: []\n",
    ] {
        for after in ["", "  archive: https://z.org/ # z\n"] {
            let changed = change(&format!("{head}{before}{after}"), 0, &set);
            assert_eq!(changed, Ok(format!("{head}{lines}{after}")), "{before}");
        }
    }
    let changed = change(&head.replace('\n', "\r\n"), 0, &set);
    assert_eq!(changed, Ok(format!("{head}{lines}").replace('\n', "\r\n")));
    let comment = format!("{head}  variants:\n  # c\n  - accept: a/x\n    url: https://x.org/\n");
    assert!(change(&comment, 0, &set).is_err());
    let flow = "[{accept: a/b, url: \"https://v.org/\"}, \
                {accept: [a/c, a/d+e], url: \"https://w.org/\", below: \"https://x.org/\"}]";
    for before in ["", ", variants: [{accept: a/x, url: 'https://x.org/'}]"] {
        let old = format!("mapping:\n- {{url: https://e.org/, number: 1{before}}}\n");
        let new = format!("mapping:\n- {{url: https://e.org/, number: 1, variants: {flow}}}\n");
        assert_eq!(change(&old, 0, &set), Ok(new));
    }
}

#[test]
fn variants_are_removed_as_a_whole() {
    let entry = "mapping:\n- url: https://e.org/\n  number: 1\n";
    let lists = [
        "  variants:\n  - accept: a/b\n    url: https://v.org/\n  - accept: [a/c, a/d+e]\n    url: https://w.org/\n",
        "  variants:\n  - url: https://v.org/\n    accept: [a/c, a/d+e]\n",
        "  variants: [{accept: a/b, url: https://v.org/}]\n",
    ];
    for list in lists {
        let edits = [KeyEdit::erased("variants")];
        for after in ["", "  owner: o\n"] {
            let removed = change(&format!("{entry}{list}{after}"), 0, &edits);
            let expected = format!("{entry}{after}");
            assert_eq!(removed, Ok(expected), "{list}");
            let title = format!("{entry}  title: t\n{list}{after}");
            assert_eq!(
                changed(&format!("{entry}{list}{after}"), &["title=t"]),
                title
            );
        }
    }
}

#[test]
fn what_cannot_be_changed_safely_is_not_changed() {
    for (old, written, message) in [
        (
            "mapping: [url: https://e.org/]",
            "title=t",
            "plainly in a block or in braces",
        ),
        (
            "mapping:\n- ? url\n  : https://e.org/",
            "title=t",
            "plainly in a block",
        ),
        (
            "mapping:\n- url: https://e.org/\n  tags: [a, # c\n    b]",
            "tags=[x]",
            "a comment within what is to be changed would be lost",
        ),
        (
            "mapping:\n- url: https://e.org/\n  tags:\n  - a # c\n  - b",
            "tags=",
            "a comment within",
        ),
        (
            "mapping:\n- {url: https://e.org/, # c\n   title: t}",
            "title=",
            "a comment within",
        ),
        (
            "mapping:\n- url: >- # c\n    https://e.org/",
            "url=https://new.example/",
            "a comment within",
        ),
        (
            "mapping:\n- url: https://e.org/\n  title:  |-   # é\n    a",
            "title=t",
            "a comment within",
        ),
        (
            "mapping:\n- url: https://e.org/\n  tags:\n  - |-\n    a",
            "tags=[x]",
            "a list with block scalars",
        ),
        (
            "mapping:\r- url: https://e.org/",
            "title=t",
            "a carriage return without a line feed",
        ),
        ("mapping:\n- &a url: https://e.org/", "title=t", "anchor"),
        ("mapping:\n- url: https://e.org/\n- *a", "title=t", "alias"),
        (
            "mapping:\n- https://e.org/",
            "title=t",
            "an entry must be a map of keys",
        ),
    ] {
        let error = change(old, 0, &[edit(written)]).unwrap_err();
        assert!(error.contains(message), "{old}\n{error}");
    }
}

type Keys = BTreeMap<String, Vec<String>>;

/// Returns the keys of an entry.
fn keys(outline: &Outline<'_>, entry: usize) -> Keys {
    let texts = |values: &[waypost::mapping::Scalar<'_>]| {
        values.iter().map(|value| value.text.to_string()).collect()
    };
    let pairs = outline.entries[entry].pairs.iter();
    pairs
        .map(|pair| (pair.key.to_string(), texts(&pair.values)))
        .collect()
}

/// Changes entries of a text, and checks that exactly that has changed; returns whether any could
/// be.
fn check(text: &str, edits: &[(usize, Vec<KeyEdit>)]) -> Result<bool, TestCaseError> {
    let file = file(text);
    let Ok(old) = Outline::of(&file) else {
        return Err(TestCaseError::reject("no document"));
    };
    let Ok(mut edited) = EditedText::of(&old) else {
        return Ok(false);
    };
    let mut expected: Vec<_> = (0..old.entries.len()).map(|it| keys(&old, it)).collect();
    let mut done = BTreeMap::new();
    for (entry, edits) in edits {
        if done.contains_key(entry) || edited.edit(*entry, edits).is_err() {
            continue;
        }
        done.insert(*entry, edits);
        for edit in edits {
            match &edit.value {
                None => expected[*entry].remove(edit.key),
                Some(NewValue::Text(text) | NewValue::Word(text)) => {
                    expected[*entry].insert(edit.key.to_owned(), vec![text.clone()])
                }
                Some(NewValue::Texts(texts)) => {
                    expected[*entry].insert(edit.key.to_owned(), texts.clone())
                }
                Some(NewValue::Variants(variants)) => {
                    let texts = variants.iter().flat_map(|it| {
                        let types = it.types.iter().map(MediaType::as_str);
                        let below = it.below.iter().flat_map(|it| ["below", it.as_str()]);
                        let accept = ["accept"].into_iter().chain(types);
                        accept.chain(["url", it.target.as_str()]).chain(below)
                    });
                    let texts = texts.map(str::to_owned).collect();
                    expected[*entry].insert(edit.key.to_owned(), texts)
                }
            };
        }
    }
    let new_text = edited.text();
    // Comments are the only text in capitals.
    let comments = |text: &str| text.matches("# C").count();
    let mut all = done.values().flat_map(|edits| edits.iter());
    let is_kept = comments(&new_text) == comments(text) || all.any(|edit| edit.erases_comments);
    prop_assert!(is_kept, "{text}\n---\n{new_text}");
    if done.is_empty() {
        prop_assert_eq!(&new_text, text);
    }
    let new_file = SourceFile {
        path: "t.yaml".into(),
        bytes: new_text.clone().into(),
    };
    let new = Outline::of_sound(&new_file, old.scheme);
    let context = format!("{text}\n---\n{new_text}\n{done:?}");
    prop_assert!(new.is_ok(), "{}", context);
    let new = new.unwrap();
    prop_assert_eq!(new.entries.len(), expected.len(), "{}", context);
    let mut at = 0;
    for (number, expected) in expected.iter().enumerate() {
        prop_assert_eq!(&keys(&new, number), expected, "{}", context);
        let (old_entry, new_entry) = (&old.entries[number], &new.entries[number]);
        // Every key that is not named is written as it was.
        for pair in &old_entry.pairs {
            let is_edited = done
                .get(&number)
                .is_some_and(|edits| edits.iter().any(|it| it.key == pair.key));
            if !is_edited {
                let again = new_entry
                    .pairs
                    .iter()
                    .find(|it| it.key == pair.key)
                    .unwrap();
                let line_break = |outline: &Outline<'_>, line_start: usize, pair: &Pair<'_>| {
                    let (text, rest) = outline.text.split_at(line_start + pair.span.end);
                    let ends = text.trim_end().len()..text.len();
                    let rest = format!("{}{rest}", &text[ends]);
                    let line = rest.split_inclusive('\n').next().unwrap_or_default();
                    line.ends_with('\n').then(|| line.ends_with("\r\n"))
                };
                let before = line_break(&old, old_entry.line_start, pair);
                let after = line_break(&new, new_entry.line_start, again);
                // In braces, the lines of two keys may become one.
                let is_kept = before.is_none() || before == after || old_entry.is_flow;
                prop_assert!(is_kept, "{}", context);
                let old = &old.text[old_entry.line_start..][pair.span.clone()];
                let new = &new.text[new_entry.line_start..][again.span.clone()];
                prop_assert_eq!(new.trim_end(), old.trim_end(), "{}", context);
            }
        }
        // And so is all between two entries that are not changed.
        if !done.contains_key(&number) {
            let own = &old.text[old_entry.line_start..old_entry.line_start + old_entry.end];
            let found = new.text[at..].find(own.trim_end());
            prop_assert!(found.is_some(), "{}", context);
            at += found.unwrap() + own.trim_end().len();
        }
    }
    Ok(!done.is_empty())
}

fn any_url() -> impl Strategy<Value = String> {
    "https://n\\.example/[a-z#,:'*\\[\\]]{0,4}"
}

fn variant((types, url, below): (Vec<String>, String, Option<String>)) -> Option<OwnedVariant> {
    let types = types.iter().map(|it| MediaType::parse(it).ok());
    let target = |url: &str| Target::parse(url).ok().map(Target::into_owned);
    Some(OwnedVariant {
        types: types.collect::<Option<_>>()?,
        target: target(&url)?,
        below: below.as_deref().and_then(target),
    })
}

fn any_edit() -> impl Strategy<Value = KeyEdit> {
    let text = "[a-z#: '\"\\\\,{}\\[\\]&*!|>%@`-]{1,6}|true|2024|https://n\\.example/[a-z#,]{0,3}";
    let key = select(vec!["url", "short-code", "title", "owner", "archive"]);
    let list = select(vec!["aliases", "tags"]);
    prop_oneof![
        6 => (key, prop::option::weighted(0.7, text)).prop_map(|(key, text)| KeyEdit::text(key, text)),
        3 => (list, vec(text, 0..3)).prop_map(|(key, texts)| KeyEdit::texts(key, texts)),
        2 => prop::option::of(select(vec![301, 302, 308])).prop_map(|it| KeyEdit::word("status", it)),
        2 => prop::option::of(Just("true")).prop_map(|it| KeyEdit::word("retired", it)),
        1 => select(vec!["url", "title"]).prop_map(KeyEdit::erased),
        1 => vec((vec("[a-z]{1,3}/[a-z+#]{1,3}", 1..3), any_url(), prop::option::of(any_url())), 0..3)
            .prop_map(|variants| KeyEdit::variants(variants.into_iter().filter_map(variant).collect())),
    ]
}

/// Edits of different keys.
fn any_edits() -> impl Strategy<Value = Vec<KeyEdit>> {
    vec(any_edit(), 1..4).prop_map(|mut edits| {
        edits.sort_by_key(|edit| edit.key);
        edits.dedup_by_key(|edit| edit.key);
        edits
    })
}

/// A text that a person wrote in one of YAML's forms, as the value of a key that is indented.
fn any_value(margin: &'static str) -> impl Strategy<Value = String> {
    let comment = || select(vec!["", "", " # C", "  #"]);
    prop_oneof![
        5 => ("[a-z]{1,4}( [a-z#]{1,3})?", comment()).prop_map(|(text, c)| format!(" {text}{c}")),
        2 => ("[a-z# ]{1,5}", comment()).prop_map(|(text, c)| format!(" '{text}'{c}")),
        2 => ("[a-z#: ]{1,5}", comment()).prop_map(|(text, c)| format!("\t\"{text}\"{c}")),
        1 => "[a-z]{1,3}".prop_map(move |text| format!(" {text}\n{margin}  more")),
        1 => "[a-z]{1,3}".prop_map(move |text| format!(" # C\n{margin} {text}")),
        1 => (select(vec!["|-", ">-", "|-  # C", " |-   # C", "|2-"]), "[a-z#]{1,3}", select(vec!["", "\n", "\n\n"]))
            .prop_map(move |(mark, text, end)| format!(" {mark}\n{margin}  {text}{end}")),
    ]
}

fn any_list(margin: &'static str) -> impl Strategy<Value = String> {
    prop_oneof![
        2 => Just(" [a, 'b c']".to_owned()),
        1 => Just(format!(" [a, # C\n{margin}  b]")),
        1 => Just(format!("\n{margin}- a\n{margin}-   b")),
        1 => Just(format!(" # C\n{margin}  - a # C\n{margin}  # C\n{margin}  - \"b\"")),
        1 => Just(" []".to_owned()),
    ]
}

fn any_entry() -> impl Strategy<Value = String> {
    let margin = "    ";
    let pairs = (
        prop::option::weighted(0.5, any_value(margin)),
        prop::option::weighted(0.3, any_value(margin)),
        prop::option::weighted(0.4, any_list(margin)),
        prop::option::weighted(0.3, Just(" 301 # C".to_owned())),
        any::<bool>(),
        vec(any::<prop::sample::Index>(), 4),
    );
    let block = (
        pairs,
        select(vec!["  - ", "  -\n    "]),
        select(vec!["", "    # C\n", "\n", "# C\n"]),
    )
        .prop_map(
            move |((title, owner, tags, status, is_first, order), dash, below)| {
                let mut all = Vec::new();
                for (key, value) in [
                    ("title", title),
                    ("'owner'", owner),
                    ("tags", tags),
                    ("status", status),
                ] {
                    all.extend(value.map(|value| format!("{key}:{value}")));
                }
                for (at, index) in order.iter().enumerate() {
                    if at < all.len() {
                        let other = index.index(all.len());
                        all.swap(at, other);
                    }
                }
                let at = if is_first { 0 } else { all.len() };
                all.insert(at, "url: https://e.org/N".to_owned());
                format!("{dash}{}\n{below}", all.join(&format!("\n{margin}")))
            },
        );
    let flow = vec(
        select(vec![
            "title: t",
            "\"owner\":\"o, #\"",
            "tags: [a, 'b']",
            "status: 301",
        ]),
        0..4,
    )
    .prop_flat_map(|mut pairs| {
        pairs.sort_unstable();
        pairs.dedup();
        let count = pairs.len();
        (
            Just(pairs),
            0..=count,
            select(vec![", ", ",", ",\n    ", ", # C\n    "]),
            any::<bool>(),
        )
    })
    .prop_map(|(mut pairs, at, comma, trailing)| {
        pairs.insert(at, "url: https://e.org/N");
        format!(
            "  - {{ {}{} }} # C\n",
            pairs.join(comma),
            if trailing { "," } else { "" }
        )
    });
    prop_oneof![3 => block, 1 => flow]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn exactly_the_edited_keys_change(
        entries in vec(any_entry(), 1..5),
        edits in vec((any::<prop::sample::Index>(), any_edits()), 1..4),
        line_breaks in select(vec![&["\n"] as &[_], &["\r\n"], &["\n", "\r\n", "\r\n"]]),
        is_open in any::<bool>(),
    ) {
        let numbered = entries.iter().enumerate();
        let entries: String = numbered.map(|(at, it)| it.replace("/N", &format!("/{at}"))).collect();
        let text = format!("base_url: https://s.code/ # c\nmapping:\n{entries}");
        let lines = text.split('\n').zip(line_breaks.iter().cycle());
        let mut text: String = lines.map(|(line, end)| format!("{line}{end}")).collect();
        if is_open {
            text.truncate(text.trim_end().len());
        }
        let count = text.matches("https://e.org/").count();
        let edits: Vec<_> = edits.into_iter().map(|(entry, edits)| (entry.index(count), edits)).collect();
        check(&text, &edits)?;
    }

    #[test]
    fn so_do_those_of_the_tables_that_compile(
        edits in vec((any::<prop::sample::Index>(), any_edits()), 1..4),
        which in any::<prop::sample::Index>(),
    ) {
        let tables = tables();
        let (text, count) = &tables[which.index(tables.len())];
        let edits = edits.into_iter().map(|(entry, edits)| (entry.index(*count), edits));
        check(text, &edits.collect::<Vec<_>>())?;
    }
}

/// Returns the tables that compile, with the numbers of their entries.
fn tables() -> Vec<(String, usize)> {
    let mut paths: Vec<_> = fs::read_dir("tests/tables/ok")
        .unwrap()
        .map(|it| it.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "yaml"))
        .collect();
    paths.sort();
    let texts = paths.iter().map(|path| fs::read_to_string(path).unwrap());
    let counted = texts.map(|text| {
        let count = Outline::of(&file(&text)).unwrap().entries.len();
        (text, count)
    });
    counted.filter(|(_, count)| *count > 0).collect()
}
