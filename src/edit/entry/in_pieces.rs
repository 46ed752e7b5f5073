//! Edits of an entry of a list in pieces: only the piece with the entry is read.

use std::ops::Range;

use super::edited_text::EditedText;
use super::key_edit::KeyEdit;
use crate::edit::window::ListPieces;
use crate::mapping::{EntryOutline, Position};

/// Returns what replaces which parts of a file, in order, when the entry at a position gets the edits
/// that `keys_of` returns for it; nothing if that does not change the text.
///
/// `None` if the text is not there, or the entry cannot be changed this way: then it may be possible in
/// the whole document, and if it is not, the reason is found there.
pub fn edit_in_pieces(
    list: &ListPieces<'_>,
    position: Position,
    keys_of: impl FnOnce(&EntryOutline<'_>) -> Vec<KeyEdit>,
) -> Option<Vec<(Range<usize>, String)>> {
    let piece = list.piece_of_line(position.line)?;
    let window = list.window(piece..piece + 1)?;
    let outline = window.outline()?;
    let is_it = |entry: &EntryOutline<'_>| {
        let line = window.line_in_file(entry.position.line);
        (line, entry.position.column) == (position.line, position.column)
    };
    let number = outline.entries.iter().position(is_it)?;
    let mut text = EditedText::of(&outline).ok()?;
    text.edit(number, &keys_of(&outline.entries[number])).ok()?;
    let parts = text.into_parts().into_iter();
    let parts = parts.map(|(range, new)| (window.range_in_file(range), new));
    Some(parts.collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::edit::insert::insert;
    use crate::edit::insert_in_pieces::insert_in_pieces;
    use crate::edit::new_entry::{NewEntry, OwnCode};
    use crate::mapping::{
        Code, Cut, Cutter, KnownFiles, Outline, SourceFile, Table, Target, compile_after,
    };

    /// Returns a document with a list of entries: each has a number and decides what is above it.
    fn document(numbers: &[u8], above: &[u8], margin: &str, end: &str) -> String {
        let mut text = "base_url: https://s.example/\nmapping:\n".to_owned();
        for (number, above) in numbers.iter().zip(above.iter().cycle()) {
            let above = match above % 40 {
                0 => "\n# Heading.\n\n".to_owned(),
                1..=4 => format!("{margin}# Above.\n"),
                5..=8 => format!("{margin}  # Deep.\n"),
                9 => "\n# One.\n# Two.\n".to_owned(),
                10..20 => "\n".to_owned(),
                _ => String::new(),
            };
            text += &format!("{above}{margin}- url: https://e.example/{number}\n");
            let code = format!("{margin}  short-code: {:03}\n", number);
            match number % 4 {
                0 => text += &format!("{code}{margin}  tags: [a, b]  # Tags.\n"),
                1 => text += &format!("{margin}  aliases:\n{margin}    - {number}a\n{code}"),
                2 => text += &code,
                _ => text += &format!("{code}# Between.\n\n{margin}  title: T\n"),
            }
        }
        text.push_str(end);
        text
    }

    fn documents() -> impl Strategy<Value = String> {
        let numbers = vec(any::<u8>(), 1..60);
        let above = vec(any::<u8>(), 1..60);
        let is_plain = any::<bool>();
        (
            numbers,
            above,
            is_plain,
            any::<bool>(),
            0..2_usize,
            0..4_usize,
        )
            .prop_map(
                |(mut numbers, mut above, is_plain, is_sorted, margin, end)| {
                    let mut seen = BTreeSet::new();
                    numbers.retain(|number| seen.insert(*number));
                    if is_sorted {
                        numbers.sort_unstable();
                    }
                    if is_plain {
                        let first = above[0] % 40;
                        above = vec![if (10..20).contains(&first) { 10 } else { 30 }];
                    }
                    let end = ["", "# End.\n", "\n# End.\n\ntests: []\n", "tests: []"][end];
                    document(&numbers, &above, ["", "  "][margin], end)
                },
            )
    }

    struct Compiled {
        file: SourceFile,
        cut: Cut,
        table: Table,
    }

    fn compiled(text: &str) -> Compiled {
        let file = SourceFile::new(Arc::from("t.yaml"), text.into());
        let compilation = compile_after(std::slice::from_ref(&file), None);
        let table = compilation.table.unwrap();
        let cut = Cut::of(&file.bytes);
        assert!(table.sites()[0].is_in_pieces("t.yaml", &cut), "{text}");
        Compiled { file, cut, table }
    }

    fn with(text: &str, parts: &[(Range<usize>, String)]) -> String {
        let mut text = text.to_owned();
        for (range, new) in parts.iter().rev() {
            text.replace_range(range.clone(), new);
        }
        text
    }

    #[test]
    fn an_insertion_is_left_to_the_whole_document_where_gaps_are_not_known() {
        let numbers: Vec<_> = (0..100).collect();
        let above: Vec<_> = (0..100).map(|it| if it == 50 { 0 } else { 30 }).collect();
        let text = document(&numbers, &above, "", "tests: []\n");
        let Compiled { cut, table, .. } = compiled(&text);
        let known = KnownFiles::of(&table).pieces("t.yaml");
        let mut cutter = Cutter::new(text.len() as u64, &known);
        cutter.push(text.as_bytes());
        let again = cutter.finish("t.yaml".into()).cut;
        assert_eq!(again.with_gaps_of(&cut), cut);

        let site = &table.sites()[0];
        let read = |range| text.get(range).map(str::to_owned);
        let url = Target::parse("https://new.example/").unwrap();
        let code = OwnCode::Custom(Code::custom("020x").unwrap());
        let entry = NewEntry::new(url.into_owned(), code);
        let is_sorted_from = |piece| site.is_sorted_from("t.yaml", piece);
        let inserted = |cut: &Cut| {
            let scheme = site.scheme();
            let list = ListPieces {
                cut,
                scheme,
                read: &read,
            };
            insert_in_pieces(&list, &[&entry], &is_sorted_from)
        };
        assert!(inserted(&cut).is_some());
        assert!(inserted(&again).is_none());
    }

    proptest! {
        #[test]
        fn the_result_is_that_of_the_whole_document(
            text in documents(),
            new in vec(any::<u8>(), 1..5),
            edited: prop::sample::Index,
            key in 0..4_usize,
        ) {
            let Compiled { file, cut, table } = compiled(&text);
            let site = &table.sites()[0];
            let read = |range| text.get(range).map(str::to_owned);
            let list = ListPieces { cut: &cut, scheme: site.scheme(), read: &read };
            let outline = Outline::of(&file).unwrap();

            let new: BTreeSet<_> = new.into_iter().collect();
            let entry = |number: &u8| {
                let url = format!("https://new.example/{number}");
                let url = Target::parse(&url).unwrap();
                let code = Code::custom(&format!("{number:03}x")).unwrap();
                NewEntry::new(url.into_owned(), OwnCode::Custom(code))
            };
            let new: Vec<_> = new.iter().rev().map(entry).collect();
            let new: Vec<_> = new.iter().collect();
            let is_sorted_from = |piece| site.is_sorted_from("t.yaml", piece);
            let parts = insert_in_pieces(&list, &new, &is_sorted_from).unwrap();
            prop_assert_eq!(with(&text, &parts), insert(&outline, &new).unwrap());

            let number = edited.index(outline.entries.len());
            let keys = [
                KeyEdit::text("title", Some("New")),
                KeyEdit::text("url", Some("https://new.example/")),
                KeyEdit::erased("short-code"),
                KeyEdit::texts("tags", vec!["a".to_owned(), "b".to_owned(), "c".to_owned()]),
            ];
            let keys = &keys[key..=key];
            let mut whole = EditedText::of(&outline).unwrap();
            whole.edit(number, keys).unwrap();
            let position = outline.entries[number].position;
            let parts = edit_in_pieces(&list, position, |entry| {
                assert_eq!(entry.code, outline.entries[number].code);
                keys.to_vec()
            });
            prop_assert_eq!(with(&text, &parts.unwrap()), whole.text());
        }
    }
}
