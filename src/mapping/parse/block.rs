//! A fast reader for the form of most tables: keys and lists on lines of their own.
//!
//! It supports a small part of YAML and declines a file at the first line outside that part, so
//! that `yaml.rs` reads the file instead. Anything that it does not decline, it reads exactly like
//! `yaml.rs`: the same nodes at the same positions.
//!
//! The part: block maps and lists; plain and quoted scalars of one line, without escapes; lists of
//! words in brackets; comments. No tabs, no carriage returns, no missing values.

use std::collections::VecDeque;

use memchr::memchr;

use super::block_line::{IndentedLine, nothing_more, plain, printable, split_key};
use super::node::{Located, Node};
use super::stop::Declined;
use crate::mapping::cutting::CutList;
use crate::mapping::value::Position;

/// The maximum nesting of collections here: a table needs four levels.
const MAX_NESTING: usize = 8;

/// The nodes of a file in block form.
pub(crate) struct Block<'t> {
    rest: &'t str,
    /// Where `rest` begins in the text, and where the line that was read last does; with a gap, neither
    /// is of use.
    at: usize,
    line_start: usize,
    /// The number of the line at the start of `rest`, from 1.
    line: u32,
    levels: Vec<Level>,
    /// Whether the last key's value is on the following lines.
    awaits_value: bool,
    has_marker: bool,
    /// The nodes of the lines read so far; `None` ends a collection.
    nodes: VecDeque<Option<Located<Node<'t>>>>,
    /// The list that is skipped.
    gap: Option<SkippedList<'t>>,
}

/// A list that is read as if it were empty.
struct SkippedList<'t> {
    /// The text after the list.
    after: &'t str,
    /// The number of the line after the list.
    line_after: u32,
}

/// An open collection, by the column of its keys or dashes, from 0.
#[derive(Debug, Clone, Copy)]
struct Level {
    kind: Collection,
    indent: usize,
}

/// The kinds of collections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Collection {
    List,
    Map,
}

impl<'t> Block<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self {
            rest: text,
            at: 0,
            line_start: 0,
            line: 1,
            levels: Vec::with_capacity(MAX_NESTING),
            awaits_value: false,
            has_marker: false,
            nodes: VecDeque::new(),
            gap: None,
        }
    }

    /// Reads the text around a list as if the list were empty.
    pub(super) fn around(list: &'t CutList, after: &'t str) -> Self {
        let mut block = Self::new(&list.before);
        block.gap = Some(SkippedList {
            after,
            line_after: list.line_after,
        });
        block
    }

    /// Reads a piece of a list, which begins at a line: its entries, and the end of the list; `indent` is
    /// the column of the dashes, from 0.
    pub(crate) fn piece(indent: usize, text: &'t str, line: u32) -> Self {
        let mut block = Self::new(text);
        block.line = line;
        let level = |kind, indent| Level { kind, indent };
        block.levels.push(level(Collection::Map, 0));
        block.levels.push(level(Collection::List, indent));
        block
    }

    /// Checks that the list of a piece has ended where the piece does.
    pub(crate) fn end_piece(&mut self) -> Result<(), Declined> {
        // Of the map around the list, only the end is left.
        match self.nodes.pop_front() {
            Some(None) if self.nodes.is_empty() && self.rest.is_empty() => Ok(()),
            _ => Err(Declined),
        }
    }

    /// Returns the next node; `None` at the end of a collection.
    pub(crate) fn node(&mut self) -> Result<Option<Located<Node<'t>>>, Declined> {
        loop {
            if let Some(node) = self.nodes.pop_front() {
                return Ok(node);
            }
            if self.is_at_gap() {
                self.pass_gap();
                continue;
            }
            match self.line()? {
                Some(line) => self.read(&line)?,
                None => self.end()?,
            }
        }
    }

    /// Returns where the line of the last node begins in the text, in bytes; the end of a collection has
    /// that of the line after it.
    pub(crate) fn line_start(&self) -> usize {
        self.line_start
    }

    fn is_at_gap(&self) -> bool {
        let is_value = self.awaits_value && self.levels.len() == 1;
        is_value && self.gap.is_some() && self.rest.is_empty()
    }

    fn pass_gap(&mut self) {
        if let Some(gap) = self.gap.take() {
            let (value, position) = (Node::Sequence, Position::START);
            self.nodes.push_back(Some(Located { value, position }));
            self.nodes.push_back(None);
            self.rest = gap.after;
            self.line = gap.line_after;
            self.awaits_value = false;
        }
    }

    /// Returns the next line that contains more than a comment.
    fn line(&mut self) -> Result<Option<IndentedLine<'t>>, Declined> {
        while !self.rest.is_empty() {
            let number = self.line;
            let end = memchr(b'\n', self.rest.as_bytes()).unwrap_or(self.rest.len());
            let line = &self.rest[..end];
            self.rest = self.rest.get(end + 1..).unwrap_or_default();
            self.line += 1;
            self.line_start = self.at;
            self.at += end + 1;
            let text = line.trim_start_matches(' ');
            let indent = line.len() - text.len();
            let begins = !self.levels.is_empty() || self.has_marker;
            if text.is_empty() {
                continue;
            } else if text.starts_with('#') {
                printable(text)?;
            } else if line == "---" && !begins {
                self.has_marker = true;
            } else {
                return Ok(Some(IndentedLine {
                    text,
                    indent,
                    number,
                }));
            }
        }
        Ok(None)
    }

    fn end(&mut self) -> Result<(), Declined> {
        if self.awaits_value || self.levels.is_empty() || self.gap.is_some() {
            return Err(Declined);
        }
        self.nodes.extend(self.levels.drain(..).map(|_| None));
        Ok(())
    }

    fn read(&mut self, line: &IndentedLine<'t>) -> Result<(), Declined> {
        let kind = match line.text.starts_with("- ") {
            true => Collection::List,
            false => Collection::Map,
        };
        self.arrange(line, kind)?;
        if kind == Collection::Map {
            let (key, value) = split_key(line.text).ok_or(Declined)?;
            return self.pair(line, line.indent, key, value);
        }
        let indent = line.item();
        let text = &line.text[indent - line.indent..];
        match split_key(text) {
            Some((key, value)) => {
                self.open(line, Collection::Map, indent, indent)?;
                self.pair(line, indent, key, value)
            }
            None => self.value(line, indent, text),
        }
    }

    /// Ends the collections that a line is not in, and begins the one that it starts; `kind` is the
    /// collection to which the line belongs.
    fn arrange(&mut self, line: &IndentedLine<'t>, kind: Collection) -> Result<(), Declined> {
        let indent = line.indent;
        if self.awaits_value || self.levels.is_empty() {
            // A list may be in the column of its key, a map must not.
            let fits = match self.levels.last() {
                Some(parent) if kind == Collection::List => indent >= parent.indent,
                Some(parent) => indent > parent.indent,
                None => kind == Collection::Map && indent == 0,
            };
            if !fits {
                return Err(Declined);
            }
            self.awaits_value = false;
            // The YAML parser reports a list in its key's column after its first dash.
            let is_flush = self.levels.last().is_some_and(|it| it.indent == indent);
            let column = if is_flush { line.item() } else { indent };
            return self.open(line, kind, indent, column);
        }
        while let Some(level) = self.levels.last() {
            let is_left =
                level.indent == indent && (level.kind, kind) == (Collection::List, Collection::Map);
            if level.indent <= indent && !is_left {
                break;
            }
            self.levels.pop();
            self.nodes.push_back(None);
        }
        match self.levels.last() {
            Some(level) if level.indent == indent && level.kind == kind => Ok(()),
            _ => Err(Declined),
        }
    }

    fn open(
        &mut self,
        line: &IndentedLine<'t>,
        kind: Collection,
        indent: usize,
        column: usize,
    ) -> Result<(), Declined> {
        if self.levels.len() == MAX_NESTING {
            return Err(Declined);
        }
        self.levels.push(Level { kind, indent });
        let node = match kind {
            Collection::List => Node::Sequence,
            Collection::Map => Node::Mapping,
        };
        self.push(line, column, node);
        Ok(())
    }

    fn push(&mut self, line: &IndentedLine<'t>, column: usize, value: Node<'t>) {
        let position = line.position(column);
        self.nodes.push_back(Some(Located { value, position }));
    }

    fn push_plain(&mut self, line: &IndentedLine<'t>, column: usize, text: &'t str) {
        self.push(line, column, Node::scalar(text, true));
    }

    fn pair(
        &mut self,
        line: &IndentedLine<'t>,
        indent: usize,
        key: &'t str,
        value: &'t str,
    ) -> Result<(), Declined> {
        self.push_plain(line, indent, key);
        let text = value.trim_start_matches(' ');
        if text.is_empty() || (text.starts_with('#') && text.len() < value.len()) {
            self.awaits_value = true;
            return printable(text);
        }
        self.value(line, line.indent + line.text.len() - text.len(), text)
    }

    /// Reads a scalar, or a list in brackets, that ends its line.
    fn value(
        &mut self,
        line: &IndentedLine<'t>,
        column: usize,
        text: &'t str,
    ) -> Result<(), Declined> {
        match text.as_bytes().first() {
            Some(&quote @ (b'"' | b'\'')) => {
                let (inner, rest) = text[1..].split_once(char::from(quote)).ok_or(Declined)?;
                printable(inner)?;
                nothing_more(rest)?;
                if quote == b'"' && inner.contains('\\') {
                    return Err(Declined);
                }
                self.push(line, column, Node::scalar(inner, false));
            }
            Some(b'[') => return self.words(line, column, text),
            _ => self.push(line, column, plain(text)?),
        }
        Ok(())
    }

    /// Reads a list of words, as in `[a, b]`.
    fn words(
        &mut self,
        line: &IndentedLine<'t>,
        column: usize,
        text: &'t str,
    ) -> Result<(), Declined> {
        let (inner, rest) = text[1..].split_once(']').ok_or(Declined)?;
        nothing_more(rest)?;
        self.push(line, column, Node::Sequence);
        if !inner.trim_matches(' ').is_empty() {
            let mut at = column + 1;
            for item in inner.split(',') {
                let word = item.trim_matches(' ');
                let is_word = |b: u8| b.is_ascii_alphanumeric() || b"._~/+-".contains(&b);
                if word.is_empty() || word.starts_with('-') || !word.bytes().all(is_word) {
                    return Err(Declined);
                }
                let before = item.len() - item.trim_start_matches(' ').len();
                self.push_plain(line, at + before, word);
                at += item.len() + 1;
            }
        }
        self.nodes.push_back(None);
        Ok(())
    }
}

/// Returns whether this reader accepts a text; for such texts, fuzzing compares it with `yaml.rs`.
#[cfg(fuzzing)]
pub fn is_in_block_form(text: &str) -> bool {
    let (mut block, mut depth) = (Block::new(text), 0);
    loop {
        match block.node() {
            Ok(Some(node)) => {
                depth += usize::from(matches!(node.value, Node::Sequence | Node::Mapping));
            }
            Ok(None) => depth -= 1,
            Err(Declined) => return false,
        }
        if depth == 0 {
            return true;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::report::Report;
    use super::super::stop::Stop;
    use super::super::yaml::Yaml;
    use super::*;
    use crate::mapping::value::Problems;

    /// Returns the nodes of a text in block form.
    fn block(text: &str) -> Result<Vec<String>, Declined> {
        let mut nodes = Block::new(text);
        gather(|| nodes.node())
    }

    /// Returns the nodes of any YAML that a table may hold.
    fn yaml(text: &str) -> Result<Vec<String>, Stop> {
        let (file, mut problems) = (Arc::from("t.yaml"), Problems::default());
        let mut report = Report {
            file: &file,
            problems: &mut problems,
        };
        let mut nodes = Yaml::new(text);
        let root = nodes.root(&mut report)?;
        let mut first = Some(root);
        let read = gather(|| match first.take() {
            Some(root) => Ok(root),
            None => nodes.node(&mut report),
        })?;
        nodes.finish(&mut report)?;
        let reported = problems.into_reported();
        if reported.is_empty() {
            Ok(read)
        } else {
            Err(Stop::Syntax)
        }
    }

    /// Reads a root node to its end.
    fn gather<'t, E>(
        mut next: impl FnMut() -> Result<Option<Located<Node<'t>>>, E>,
    ) -> Result<Vec<String>, E> {
        let (mut nodes, mut depth) = (Vec::new(), 0);
        loop {
            let node = next()?;
            match &node {
                Some(Located {
                    value: Node::Sequence | Node::Mapping,
                    ..
                }) => depth += 1,
                None => depth -= 1,
                Some(_) => {}
            }
            nodes.push(format!("{node:?}"));
            if depth <= 0 {
                return Ok(nodes);
            }
        }
    }

    #[test]
    fn knows_the_form_that_tables_have() {
        for text in [
            include_str!("../../../mapping.yaml"),
            "a: b",
            "---\na: b\n",
            "# c\n\n---\n# d\nbase_url: https://e.org/ # e\nmapping: # f\n- url: 'x y'  #g\n\n  # h\n  \n  \
             short-code: \"no: 'z'\"\n-   url: https://e.org/#b\n    aliases: [a, b/c ,  ~d, e+f]\n    tags: []\n\
             tests:\n  - from: /é\n    to: gone\ndefaults:\n  status: 301\n",
            "a:\n- b\n- -c\n- d: e\nf: g",
            "a:\n  - b\nc: d",
            "a:\n  b:\n    c: d\n  e: f\ng: h",
            "a: b #c\nd: e  #f g\nh: i #\nj: k ##\nl: m # n\no: p #é\nq: 'r' #s\nt: u#v #w",
        ] {
            assert_eq!(block(text).unwrap(), yaml(text).unwrap(), "{text}");
        }
    }

    #[test]
    fn declines_what_it_does_not_know() {
        for text in [
            "",
            "# nothing",
            "a",
            "- a",
            "a:",
            "a:\nb: c",
            "a: b\n  c",
            "a: b\n  c: d",
            "a: |\n  b",
            "a: &b c",
            "a: *b",
            "a: !b c",
            "a: {b: c}",
            "a: [b, [c]]",
            "a: [b",
            "a: [b,]",
            "a: b: c",
            "a: b:",
            "a: 'b''c'",
            "a: \"b\\n\"",
            "a: \"b",
            "a: \"b\"c",
            "a: 'b'#c",
            "a: b\r\n",
            "a:\tb",
            "a: b\tc",
            "a: b # \u{7}",
            "a: \u{85}b",
            "a: b\n---\nc: d",
            "a: b\n...",
            "%YAML 1.2\n---\na: b",
            "? a\n: b",
            "a: b\n\0",
            "a: b\0",
            "a: b # \0",
            "a: b\n<<<<<<< ours",
            "a: b\n|||||||",
            "a: b\n=======",
            "a: b\n>>>>>>> theirs",
            "a:b",
            "a:\n-b",
            "a:\n-\n  b: c",
            "a:\n- - b",
            "a:\n  - b\n - c",
            "a:\n  b: c\n d: e",
            " a: b\nc: d",
            "a: - b",
            "<<: a",
            &format!("{}: a", "b".repeat(1200)),
        ] {
            assert_eq!(block(text), Err(Declined), "{text}");
        }
    }

    /// A file in block form.
    fn file() -> impl Strategy<Value = String> {
        let value = prop_oneof![
            4 => "[a-c~/.é][a-c,#:'\\]-]{0,3}",
            2 => "\"[a-c #:,-]{0,3}\"|'[a-c #:,-]{0,3}'",
            1 => "\\[([a-c](, ?[a-c]){0,2})?\\]",
        ];
        let pair = ("[a-c]:( |  )", value, "( #d?)?").prop_map(|(k, v, c)| format!("{k}{v}{c}"));
        let map = |indent: &'static str| {
            proptest::collection::vec(pair.clone(), 1..3)
                .prop_map(move |pairs| pairs.join(&format!("\n{indent}")))
        };
        let list = |dash: &'static str, indent: &'static str| {
            let item = prop_oneof![3 => map(indent), 1 => "-?[a-c]{1,3}"];
            proptest::collection::vec(item, 1..3)
                .prop_map(move |items| items.iter().map(|item| format!("\n{dash}{item}")).collect())
        };
        let nested = prop_oneof![
            list("- ", "  "),
            list("  - ", "    "),
            list(" -  ", "    "),
            map("  ").prop_map(|map| format!("\n  {map}")),
        ];
        let member = prop_oneof![
            2 => pair.clone(),
            4 => nested.prop_map(|nested: String| format!("a:{nested}")),
            1 => "a: #b?\n *#?\n- b",
            1 => " {0,3}#.{0,2}",
        ];
        ("(---\n)?", proptest::collection::vec(member, 1..4))
            .prop_map(|(start, members)| start + &members.join("\n"))
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            max_global_rejects: 65_536,
            ..ProptestConfig::with_cases(2048)
        })]

        #[test]
        fn reads_what_it_accepts_as_yaml_does(
            mut text in file(),
            edits in proptest::collection::vec(
                (any::<prop::sample::Index>(), any::<bool>(), "[a-c:#'\"\\[\\], \n\t~?!&*{}|>%@`\\\\.-]"),
                0..3,
            ),
        ) {
            for (at, replaces, with) in edits {
                let at = at.index(text.len());
                if text.is_char_boundary(at) && text.is_char_boundary(at + 1) {
                    text.replace_range(at..at + usize::from(replaces), &with);
                }
            }
            let Ok(nodes) = block(&text) else {
                return Err(TestCaseError::reject("declined"));
            };
            prop_assert_eq!(Some(nodes), yaml(&text).ok(), "{}", text);
        }

        #[test]
        fn reads_any_text_it_accepts_as_yaml_does(value in "\\PC{0,12}", comment in "\\PC{0,6}") {
            let texts = [
                format!("a:\n- b: {value} # {comment}\n"),
                format!("a:\n- b: \"{value}\"\n# {comment}\n"),
                format!("a:\n- '{value}'\n"),
            ];
            let accepted: Vec<_> = texts.iter().filter_map(|text| Some((text, block(text).ok()?))).collect();
            prop_assume!(!accepted.is_empty());
            for (text, nodes) in accepted {
                prop_assert_eq!(Some(nodes), yaml(text).ok(), "{}", text);
            }
        }
    }
}
