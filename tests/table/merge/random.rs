//! Properties of any merge: it loses and invents nothing.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use waypost::edit::{Merged, merge};
use waypost::mapping::{Outline, SourceFile};

use super::model::{Fact, Item, LISTS, Model, codes, story};

/// The content of a text, as the parser of tables sees it.
fn facts(text: &[u8]) -> BTreeSet<Fact> {
    let file = SourceFile {
        path: "t.yaml".into(),
        bytes: text.to_vec(),
    };
    let outline = Outline::of(&file).unwrap();
    let mut facts = BTreeSet::new();
    for entry in &outline.entries {
        for pair in &entry.pairs {
            let fact = |value: &str| {
                (
                    entry.code.to_string(),
                    pair.key.to_string(),
                    value.to_owned(),
                )
            };
            facts.extend(pair.values.iter().map(|value| fact(&value.text)));
        }
    }
    facts
}

fn comments(text: &[u8]) -> Vec<String> {
    let text = str::from_utf8(text).unwrap();
    // A `#` within a word begins none (YAML 1.2.2, section 6.6).
    let is_after_space = |before: &str| before.chars().next_back().is_none_or(char::is_whitespace);
    let comments = text.lines().filter_map(|line| {
        let mut signs = line.match_indices('#').map(|(at, _)| line.split_at(at));
        let (_, comment) = signs.find(|(before, _)| is_after_space(before))?;
        Some(comment.trim_end().to_owned())
    });
    let mut comments: Vec<_> = comments.collect();
    comments.sort();
    comments
}

/// What both sides have, and what one side has that was not there before.
fn three_way<T: Ord + Clone>(sets: [BTreeSet<T>; 3]) -> BTreeSet<T> {
    let [base, ours, theirs] = sets;
    let all = ours.union(&theirs);
    all.filter(|it| ours.contains(it) == theirs.contains(it) || !base.contains(it))
        .cloned()
        .collect()
}

/// The expected result of a merge.
#[derive(Debug, PartialEq)]
enum Expected {
    Clean,
    Conflict,
    /// It depends on how lines lie.
    Either,
}

fn expected(story: &[Model; 3]) -> Expected {
    let facts = three_way(story.each_ref().map(Model::facts));
    let all = codes(&facts);
    if all.iter().collect::<BTreeSet<_>>().len() < all.len() {
        return Expected::Conflict;
    }
    let mut expected = Expected::Clean;
    let known = story.each_ref().map(Model::facts);
    let names: BTreeSet<_> = known.iter().flatten().map(|(code, ..)| code).collect();
    for code in names {
        let [base, ours, theirs] = story.each_ref().map(|model| model.entry(code));
        let says = |item: Option<&Item>| {
            item.map(|it| (it.keys.clone(), it.comment.clone(), it.remark.clone()))
        };
        let (Some(ours), Some(theirs)) = (ours, theirs) else {
            if base.is_some()
                && [ours, theirs]
                    .iter()
                    .flatten()
                    .any(|it| says(Some(it)) != says(base))
            {
                return Expected::Conflict;
            }
            continue;
        };
        let keys = ours
            .keys
            .keys()
            .chain(theirs.keys.keys())
            .filter(|key| !LISTS.contains(&&***key));
        for key in keys {
            let was = base.and_then(|it| it.keys.get(key));
            let (here, there) = (ours.keys.get(key), theirs.keys.get(key));
            if here != there && here != was && there != was {
                return Expected::Conflict;
            }
        }
        // A list that one side removed and the other changed.
        for key in LISTS {
            let was = base.and_then(|it| it.keys.get(key));
            let (here, there) = (ours.keys.get(key), theirs.keys.get(key));
            if was.is_some()
                && here != there
                && (here.or(there) != was)
                && (here.is_none() || there.is_none())
            {
                return Expected::Conflict;
            }
        }
        for comment in [
            |it: &Item| it.comment.clone(),
            |it: &Item| it.remark.clone(),
        ] {
            let was = base.and_then(comment);
            let (here, there) = (comment(ours), comment(theirs));
            if here != there && here != was && there != was {
                expected = Expected::Either;
            }
        }
    }
    // A heading that both sides changed or removed.
    let headings = |model: &Model| {
        let headings = model.items.iter().filter(|item| item.code.is_none());
        headings
            .map(|item| item.comment.clone())
            .collect::<BTreeSet<_>>()
    };
    let [base, ours, theirs] = story.each_ref().map(headings);
    if base
        .iter()
        .any(|it| !ours.contains(it) && !theirs.contains(it))
    {
        expected = Expected::Either;
    }
    // An empty list is written in another way.
    if story.iter().any(|model| model.facts().is_empty()) || facts.is_empty() {
        return Expected::Either;
    }
    expected
}

fn merged(story: [&Model; 3]) -> Merged {
    let [base, ours, theirs] = story.map(Model::file);
    merge(&base, &ours, &theirs).unwrap()
}

/// A document with everything that is hard to split into entries.
const HARD: &str = "\
--- # here
base_url: https://short.code/
mapping: # all
    # deep

# Fairs

- url: 'https://e.org/a'  # é
    # deeper
  short-code: \"a\"
  tags:
  - x # one

  - \"y,z\"
# of b
-   aliases: [ c, 'd' ] # both
    url: https://e.org/b
    title: two
      lines
    # end of b

   # not of b

# Books
# and more

- number: 63
  retired:
    true
- title: \"#

    - url: x\"
  url: https://e.org/e
- url: https://e.org/f
# end

tests:
- {from: /a, to: https://e.org/a}
# of b
- from: /c
  to: https://e.org/b
";

/// A change that ignores the structure of tables: of some characters, or of a line.
type Damage = (Index, bool, String);

fn damaged(text: &str, damages: &[Damage]) -> Vec<u8> {
    let mut text = text.to_owned();
    for (at, is_line, with) in damages {
        let lines: Vec<_> = text.split_inclusive('\n').map(str::to_owned).collect();
        if *is_line {
            let mut lines = lines;
            let line = lines.remove(at.index(lines.len()));
            if !with.contains('#') {
                lines.insert(at.index(lines.len() + 1) / 2, line);
            }
            text = lines.concat();
        } else {
            let at = at.index(text.len());
            if text.is_char_boundary(at) && text.is_char_boundary(at + 1) {
                text.replace_range(at..at + with.len() % 2, with);
            }
        }
    }
    text.into_bytes()
}

fn damages(most: usize) -> impl Strategy<Value = Vec<Damage>> {
    // Mostly such that the result is still a table.
    let with = prop_oneof![5 => "[ab #]{1,2}", 1 => "[a:#'\"\\[{|>\n\r\t ?-]{1,2}"];
    vec((any::<Index>(), any::<bool>(), with), 0..most)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(768))]

    #[test]
    fn arbitrary_edits_of_a_text_lose_nothing(sides in [damages(2), damages(4), damages(4)]) {
        let base = damaged(HARD, &sides[0]);
        let text = String::from_utf8(base).unwrap();
        let versions = [vec![], sides[1].clone(), sides[2].clone()].map(|it| damaged(&text, &it));
        let [base, ours, theirs] = versions.clone().map(|bytes| SourceFile { path: "t.yaml".into(), bytes });
        let result = merge(&base, &ours, &theirs).unwrap();
        prop_assume!(result.conflicts.is_empty());
        let shown = [&versions[..], std::slice::from_ref(&result.text)].concat();
        let shown: Vec<_> = shown.iter().map(|it| String::from_utf8_lossy(it)).collect();
        let shown = shown.join("\n=======\n");
        if [&base, &ours, &theirs].iter().all(|file| Outline::of(file).is_ok()) {
            let law = three_way(versions.each_ref().map(|it| facts(it)));
            prop_assert_eq!(facts(&result.text), law, "{}", shown);
        }
        if result.by_lines.is_none() {
            // Comments of either side that are not in the base are there, and none else.
            let sets = versions.each_ref().map(|it| comments(it).into_iter().collect::<BTreeSet<_>>());
            for comment in comments(&result.text) {
                prop_assert!(sets.iter().any(|set| set.contains(&comment)), "{}\n{}", comment, shown);
            }
            for set in &sets[1..] {
                for comment in set.difference(&sets[0]) {
                    prop_assert!(comments(&result.text).contains(comment), "{}\n{}", comment, shown);
                }
            }
        }
    }

    #[test]
    fn a_merge_loses_and_invents_nothing(story in story()) {
        let [base, ours, theirs] = &story;
        let result = merged([base, ours, theirs]);
        let shown = [base, ours, theirs].map(|it| String::from_utf8(it.file().bytes).unwrap());
        let shown = format!("{}\n{}\n->\n{}{result:?}", shown.join("\n----\n"), "", String::from_utf8_lossy(&result.text));
        match expected(&story) {
            Expected::Clean => prop_assert!(result.conflicts.is_empty() && result.by_lines.is_none(), "{}", shown),
            Expected::Conflict => prop_assert!(!result.conflicts.is_empty(), "{}", shown),
            Expected::Either => {}
        }
        if result.conflicts.is_empty() {
            let law = three_way(story.each_ref().map(Model::facts));
            prop_assert_eq!(facts(&result.text), law, "{}", shown);
            let law = three_way(story.each_ref().map(Model::comments));
            prop_assert_eq!(comments(&result.text), law.into_iter().collect::<Vec<_>>(), "{}", shown);
        } else {
            // All that each side has is there to choose from.
            let found = comments(&result.text);
            for comment in three_way(story.each_ref().map(Model::comments)) {
                prop_assert!(found.contains(&comment), "{}\n{}", comment, shown);
            }
        }
        let mirrored = merged([base, theirs, ours]);
        prop_assert_eq!(result.conflicts.is_empty(), mirrored.conflicts.is_empty(), "{}", shown);
        if result.conflicts.is_empty() {
            prop_assert_eq!(facts(&result.text), facts(&mirrored.text), "{}", shown);
        }
    }

    #[test]
    fn a_side_that_changed_nothing_gives_way(story in story()) {
        let [base, side, _] = &story;
        for merged in [merged([base, side, base]), merged([base, base, side]), merged([base, side, side])] {
            prop_assert_eq!(merged.text, side.file().bytes);
            prop_assert_eq!(merged.conflicts, []);
        }
    }
}
