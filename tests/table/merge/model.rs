//! A model of a document: its content, its layout, and how people change it.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use waypost::mapping::SourceFile;

/// A code, a key, and a value or an item of it.
pub(crate) type Fact = (String, String, String);

/// A document.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    pub(crate) items: Vec<Item>,
    pub(crate) form: Form,
}

/// How a document is written.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Form {
    is_deep: bool,
    is_crlf: bool,
    is_open: bool,
    is_marked: bool,
    is_quoted: bool,
    has_lists_in_block: bool,
}

/// An entry with its comment; or, without a code, a comment that heads a section.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Item {
    pub(crate) code: Option<String>,
    has_gap: bool,
    /// No two comments are equal.
    pub(crate) comment: Option<String>,
    /// The comment after the URL.
    pub(crate) remark: Option<String>,
    /// Keys and their values; items of lists are separated by commas.
    pub(crate) keys: BTreeMap<String, String>,
}

/// A change that a person makes.
#[derive(Debug, Clone)]
pub(crate) enum Edit {
    Add(Index, Option<u8>, u8, bool),
    Remove(Index),
    Set(Index, &'static str, &'static str),
    Drop(Index, &'static str),
    Comment(Index),
    Remark(Index),
    Swap(Index, Index),
    Sort,
    Gap(Index),
    Write(Form),
}

pub(crate) const LISTS: [&str; 2] = ["aliases", "tags"];

fn form() -> impl Strategy<Value = Form> {
    vec(prop::bool::weighted(0.3), 6).prop_map(|is| Form {
        is_deep: is[0],
        is_crlf: is[1],
        is_open: is[2],
        is_marked: is[3],
        is_quoted: is[4],
        has_lists_in_block: is[5],
    })
}

fn edit() -> impl Strategy<Value = Edit> {
    let value = prop::sample::select(vec![
        ("url", "https://e.org/1"),
        ("url", "https://e.org/2"),
        ("status", "301"),
        ("status", "308"),
        ("title", "one"),
        ("title", "two words"),
        ("retired", "true"),
        ("aliases", "z1"),
        ("aliases", "z2"),
        ("aliases", "z3"),
        ("tags", "x"),
        ("tags", "on"),
    ]);
    let key = prop::sample::select(vec!["title", "status", "aliases", "tags"]);
    let at = any::<Index>;
    prop_oneof![
        6 => (at(), prop::option::weighted(0.85, 0..14u8), 0..3u8, any::<bool>())
            .prop_map(|(at, code, url, comment)| Edit::Add(at, code, url, comment)),
        2 => at().prop_map(Edit::Remove),
        4 => (at(), value).prop_map(|(at, (key, value))| Edit::Set(at, key, value)),
        1 => (at(), key).prop_map(|(at, key)| Edit::Drop(at, key)),
        1 => at().prop_map(Edit::Comment),
        1 => at().prop_map(Edit::Remark),
        1 => (at(), at()).prop_map(|(one, other)| Edit::Swap(one, other)),
        1 => Just(Edit::Sort),
        1 => at().prop_map(Edit::Gap),
        1 => form().prop_map(Edit::Write),
    ]
}

/// A document, and the changes on either side.
pub(crate) fn story() -> impl Strategy<Value = [Model; 3]> {
    let edits = |most| vec(edit(), 0..most);
    (form(), vec(edit(), 8..24), edits(6), edits(6)).prop_map(|(form, before, ours, theirs)| {
        let mut base = Model {
            items: Vec::new(),
            form,
        };
        base.edit(&before, 'b');
        let side = |edits: &[Edit], name| {
            let mut side = base.clone();
            side.edit(edits, name);
            side
        };
        [base.clone(), side(&ours, 'o'), side(&theirs, 't')]
    })
}

impl Model {
    fn edit(&mut self, edits: &[Edit], side: char) {
        for (number, edit) in edits.iter().enumerate() {
            self.edit_once(edit, format!("# {side}{number}"));
        }
    }

    fn edit_once(&mut self, edit: &Edit, comment: String) {
        let count = self.items.len();
        if let Edit::Add(at, code, url, has_comment) = edit {
            let code = code.map(|code| format!("c{code}"));
            if code
                .as_ref()
                .is_some_and(|code| self.codes().contains(code))
            {
                return;
            }
            let keys = match &code {
                Some(_) => vec![("url".to_owned(), format!("https://e.org/{url}"))],
                None => Vec::new(),
            };
            let item = Item {
                has_gap: false,
                comment: (*has_comment || code.is_none()).then_some(comment),
                code,
                remark: None,
                keys: keys.into_iter().collect(),
            };
            return self.items.insert(at.index(count + 1), item);
        }
        if let Edit::Write(form) = edit {
            self.form = *form;
        }
        if let Edit::Sort = edit {
            for section in self.items.split_mut(|item| item.code.is_none()) {
                section.sort_by(|a, b| a.code.cmp(&b.code));
            }
        }
        if count == 0 {
            return;
        }
        match edit {
            Edit::Remove(at) => {
                self.items.remove(at.index(count));
            }
            Edit::Swap(one, other) => self.items.swap(one.index(count), other.index(count)),
            Edit::Gap(at) => self.items[at.index(count)].has_gap ^= true,
            Edit::Comment(at) => {
                let item = &mut self.items[at.index(count)];
                let stays = item.code.is_none() || item.comment.is_none();
                item.comment = stays.then_some(comment);
            }
            Edit::Set(at, "aliases", alias) if self.codes().contains(*alias) => {
                let _ = at;
            }
            Edit::Set(at, key, value) => {
                let item = &mut self.items[at.index(count)];
                if item.code.is_some() {
                    let said = item.keys.entry((*key).to_owned()).or_default();
                    if LISTS.contains(key) && !said.is_empty() {
                        if !said.split(',').any(|it| it == *value) {
                            *said += &format!(",{value}");
                        }
                    } else {
                        *said = (*value).to_owned();
                    }
                }
            }
            Edit::Drop(at, key) => {
                self.items[at.index(count)].keys.remove(*key);
            }
            Edit::Remark(at) => {
                let item = &mut self.items[at.index(count)];
                item.remark = item.code.is_some().then_some(comment);
            }
            Edit::Add(..) | Edit::Write(_) | Edit::Sort => {}
        }
    }

    fn codes(&self) -> BTreeSet<String> {
        codes(&self.facts()).into_iter().collect()
    }

    pub(crate) fn facts(&self) -> BTreeSet<Fact> {
        let mut facts = BTreeSet::new();
        for item in &self.items {
            let Some(code) = &item.code else { continue };
            facts.insert((code.clone(), "short-code".to_owned(), code.clone()));
            for (key, said) in &item.keys {
                let is_list = LISTS.contains(&&**key);
                let values = said.split(|c| is_list && c == ',');
                facts.extend(values.map(|it| (code.clone(), key.clone(), it.to_owned())));
            }
        }
        facts
    }

    pub(crate) fn comments(&self) -> BTreeSet<String> {
        let comments = self.items.iter().flat_map(|it| [&it.comment, &it.remark]);
        comments.flatten().cloned().collect()
    }

    pub(crate) fn entry(&self, code: &str) -> Option<&Item> {
        self.items
            .iter()
            .find(|item| item.code.as_deref() == Some(code))
    }

    pub(crate) fn file(&self) -> SourceFile {
        let form = self.form;
        let indent = if form.is_deep { "  " } else { "" };
        let mut text = "base_url: https://short.code/\n".to_owned();
        let is_empty = self.items.iter().all(|item| item.code.is_none());
        text += if is_empty {
            "mapping: []\n"
        } else {
            "mapping:\n"
        };
        for item in &self.items {
            let gap = if item.has_gap { "\n" } else { "" };
            let Some(code) = &item.code else {
                let comment = item.comment.as_deref().unwrap_or_default();
                text += &format!("\n{indent}{comment}\n\n");
                continue;
            };
            text += gap;
            if let Some(comment) = &item.comment {
                text += &format!("{indent}{comment}\n");
            }
            let quote = if form.is_quoted { "\"" } else { "" };
            text += &format!("{indent}- short-code: {quote}{code}{quote}\n");
            for (key, said) in &item.keys {
                text += &format!("{indent}  {key}:");
                if !LISTS.contains(&&**key) {
                    let quote = if form.is_quoted && key == "title" {
                        "'"
                    } else {
                        ""
                    };
                    text += &format!(" {quote}{said}{quote}");
                } else if form.has_lists_in_block {
                    let items = said.split(',').map(|it| format!("\n{indent}  - {it}"));
                    text += &items.collect::<String>();
                } else {
                    text += &format!(" [{}]", said.replace(',', ", "));
                }
                if let Some(remark) = item.remark.as_ref().filter(|_| key == "url") {
                    text += &format!("  {remark}");
                }
                text += "\n";
            }
        }
        if form.is_open {
            text.truncate(text.trim_end().len());
        }
        if form.is_crlf {
            text = text.replace('\n', "\r\n");
        }
        if form.is_marked {
            text.insert(0, '\u{feff}');
        }
        SourceFile {
            path: "t.yaml".into(),
            bytes: text.into_bytes(),
        }
    }
}

/// Returns all codes that facts give, as often as they do.
pub(crate) fn codes(facts: &BTreeSet<Fact>) -> Vec<String> {
    let codes = facts
        .iter()
        .filter(|(_, key, _)| key == "short-code" || key == "aliases");
    codes.map(|(_, _, code)| code.clone()).collect()
}
