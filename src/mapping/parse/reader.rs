//! A cursor over the nodes of a YAML file that knows the maps of a table.
//!
//! Unknown, repeated and merge keys are reported as problems, and reading continues after them. The
//! nodes come from `block` for the form of most tables, and from `yaml` for the rest.

use std::sync::Arc;

use super::block::Block;
use super::node::{Located, Node};
use super::report::Report;
use super::stop::Stop;
use super::yaml::Yaml;
use crate::mapping::cutting::CutList;
use crate::mapping::value::{Position, Problems, Rule};

/// The keys without which a table cannot be read; their places in wrong maps are remembered.
const REQUIRED: [&str; 2] = ["url", "mapping"];

/// Returns whether a key belongs to another map.
type BelongsElsewhere = fn(&str) -> bool;

/// The keys of a map read so far, for up to 16 known ones.
#[derive(Default)]
pub(crate) struct SeenKeys {
    positions: [Option<Position>; 16],
    /// The known keys of which a misspelling was reported.
    intended: [bool; 16],
    /// The keys that belong to other maps, and what to do with one that is found here.
    misplaced: Option<(BelongsElsewhere, &'static str)>,
}

impl SeenKeys {
    /// Returns the keys of a map that may contain keys of other maps by mistake, with a hint for
    /// these.
    pub(crate) fn beside(belongs_elsewhere: BelongsElsewhere, hint: &'static str) -> Self {
        Self {
            misplaced: Some((belongs_elsewhere, hint)),
            ..Self::default()
        }
    }

    /// Returns the position of the known key with the given index.
    pub(crate) fn position(&self, index: usize) -> Option<Position> {
        self.positions.get(index).copied().flatten()
    }

    /// Returns whether the known key with the given index is present, even if misspelt.
    pub(crate) fn is_intended(&self, index: usize) -> bool {
        self.position(index).is_some() || self.intended.get(index).is_some_and(|it| *it)
    }
}

/// Reads one file.
pub(crate) struct Reader<'t, 'p> {
    nodes: Nodes<'t>,
    report: Report<'p>,
    /// The last place of each required key in a map that was skipped.
    skipped: [Option<Position>; REQUIRED.len()],
}

enum Nodes<'t> {
    Block(Block<'t>),
    Yaml(Box<Yaml<'t>>),
}

impl<'t, 'p> Reader<'t, 'p> {
    /// Reads any YAML.
    pub(crate) fn yaml(file: &'p Arc<str>, text: &'t str, problems: &'p mut Problems) -> Self {
        let nodes = Nodes::Yaml(Box::new(Yaml::new(text)));
        let report = Report { file, problems };
        Self::of(nodes, report)
    }

    /// Reads block form, or declines.
    pub(crate) fn block(file: &'p Arc<str>, text: &'t str, problems: &'p mut Problems) -> Self {
        let nodes = Nodes::Block(Block::new(text));
        let report = Report { file, problems };
        Self::of(nodes, report)
    }

    /// Reads the block form around a list, or declines; `after` is the text after it.
    pub(crate) fn around(
        file: &'p Arc<str>,
        list: &'t CutList,
        after: &'t str,
        problems: &'p mut Problems,
    ) -> Self {
        let nodes = Nodes::Block(Block::around(list, after));
        Self::of(nodes, Report { file, problems })
    }

    /// Reads the entries of a piece of block form, which begins at a line, or declines; `indent` is the
    /// column of the dashes, from 0.
    pub(crate) fn piece(
        file: &'p Arc<str>,
        indent: usize,
        (text, line): (&'t str, u32),
        problems: &'p mut Problems,
    ) -> Self {
        let nodes = Nodes::Block(Block::piece(indent, text, line));
        Self::of(nodes, Report { file, problems })
    }

    fn of(nodes: Nodes<'t>, report: Report<'p>) -> Self {
        Self {
            nodes,
            report,
            skipped: [None; REQUIRED.len()],
        }
    }

    /// Returns the place of a required key in a map that was skipped at or after a position.
    pub(crate) fn skipped_since(&self, start: Position, key: &str) -> Option<Position> {
        let index = REQUIRED.iter().position(|it| *it == key)?;
        self.skipped[index].filter(|position| *position >= start)
    }

    /// Returns the report for the problems of the file.
    pub(crate) fn report(&mut self) -> &mut Report<'p> {
        &mut self.report
    }

    /// Reports a problem.
    pub(crate) fn problem(&mut self, rule: Rule, position: Position, message: impl Into<String>) {
        self.report.problem(rule, position, message, None);
    }

    /// Reports a problem and what to do about it.
    pub(crate) fn problem_with_hint(
        &mut self,
        rule: Rule,
        position: Position,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.report.problem_with_hint(rule, position, message, hint);
    }

    /// Moves to the root node of the only document; `None` if the file is empty.
    pub(crate) fn root(&mut self) -> Result<Option<Located<Node<'t>>>, Stop> {
        match &mut self.nodes {
            Nodes::Block(block) => Ok(block.node()?),
            Nodes::Yaml(yaml) => yaml.root(&mut self.report),
        }
    }

    /// Reads the rest after the root node: a second document is not allowed.
    pub(crate) fn finish(&mut self) -> Result<(), Stop> {
        match &mut self.nodes {
            // Block form ends with its root node.
            Nodes::Block(_) => Ok(()),
            Nodes::Yaml(yaml) => yaml.finish(&mut self.report),
        }
    }

    /// Checks, after its entries were read, that a piece contains nothing else.
    pub(crate) fn end_piece(&mut self) -> Result<(), Stop> {
        match &mut self.nodes {
            Nodes::Block(block) => Ok(block.end_piece()?),
            Nodes::Yaml(_) => Err(Stop::Declined),
        }
    }

    /// Returns the next node; `None` at the end of the current collection.
    pub(crate) fn node(&mut self) -> Result<Option<Located<Node<'t>>>, Stop> {
        match &mut self.nodes {
            Nodes::Block(block) => Ok(block.node()?),
            Nodes::Yaml(yaml) => yaml.node(&mut self.report),
        }
    }

    /// Skips the rest of a node whose start was read.
    pub(crate) fn skip(&mut self, node: &Node<'_>) -> Result<(), Stop> {
        let mut depth = usize::from(matches!(node, Node::Sequence | Node::Mapping));
        while depth > 0 {
            let Some(Located { value, position }) = self.node()? else {
                depth -= 1;
                continue;
            };
            match value {
                Node::Sequence | Node::Mapping => depth += 1,
                Node::Scalar { text, .. } => {
                    if let Some(key) = REQUIRED.iter().position(|key| *key == text) {
                        self.skipped[key] = Some(position);
                    }
                }
                Node::Alias => {}
            }
        }
        Ok(())
    }

    /// Returns the next known key of a map, positioned before its value; `None` at its end.
    ///
    /// Unknown and repeated keys are reported, and their values skipped.
    pub(crate) fn key<K: Copy>(
        &mut self,
        known: &[(&'static str, K)],
        seen: &mut SeenKeys,
    ) -> Result<Option<Located<K>>, Stop> {
        loop {
            let Some(Located { value, position }) = self.node()? else {
                return Ok(None);
            };
            let Node::Scalar { text, plain, .. } = &value else {
                if !matches!(value, Node::Alias) {
                    self.problem(
                        Rule::KeyNotAWord,
                        position,
                        format!("a key must be a word, found {}", value.noun()),
                    );
                }
                self.skip(&value)?;
                self.skip_value()?;
                continue;
            };
            let Some(index) = known.iter().position(|(name, _)| name == text) else {
                let misplaced = seen
                    .misplaced
                    .filter(|(is_elsewhere, _)| is_elsewhere(text));
                if let Some((_, hint)) = misplaced {
                    let message = format!("the key {text:?} does not belong here");
                    self.problem_with_hint(Rule::KeyUnknown, position, message, hint);
                } else if let Some(intended) = self.unknown_key(position, text, *plain, known) {
                    seen.intended[intended] = true;
                }
                self.skip_value()?;
                continue;
            };
            if let Some(first) = seen.positions[index] {
                self.problem_with_hint(
                    Rule::KeyTwice,
                    position,
                    format!("the key {text:?} appears twice"),
                    format!("it is already on line {}: keep one", first.line),
                );
                self.skip_value()?;
                continue;
            }
            seen.positions[index] = Some(position);
            let value = known[index].1;
            return Ok(Some(Located { value, position }));
        }
    }

    fn skip_value(&mut self) -> Result<(), Stop> {
        match self.node()? {
            Some(node) => self.skip(&node.value),
            None => Ok(()),
        }
    }

    /// Reports an unknown key; returns the index of the known one that was probably intended, if
    /// any.
    fn unknown_key<K>(
        &mut self,
        position: Position,
        key: &str,
        plain: bool,
        known: &[(&'static str, K)],
    ) -> Option<usize> {
        if plain && key == "<<" {
            self.problem_with_hint(
                Rule::YamlMergeKey,
                position,
                "merge keys (<<) are not allowed in a table",
                "write the keys out, or set them under \"defaults\"",
            );
            return None;
        }
        let rule = Rule::KeyUnknown;
        let shown: String = key.chars().take(60).collect();
        let message = format!("unknown key {shown:?}");
        let spelling = key.to_lowercase().replace(['_', ' '], "-");
        let nearest = known
            .iter()
            .enumerate()
            .map(|(index, &(name, _))| {
                let distance = strsim::damerau_levenshtein(&spelling, &name.replace('_', "-"));
                (distance, index)
            })
            .min();
        match nearest.map(|(distance, index)| (distance, index, known[index].0)) {
            Some((distance, index, name)) if key.len() < 40 && distance <= 1 + name.len() / 4 => {
                self.problem_with_hint(rule, position, message, format!("did you mean {name:?}?"));
                Some(index)
            }
            _ => {
                let names: Vec<_> = known.iter().map(|&(name, _)| name).collect();
                self.problem_with_hint(
                    rule,
                    position,
                    message,
                    format!("possible keys: {}", names.join(", ")),
                );
                None
            }
        }
    }
}
