//! Outlines of documents in block form, and of pieces of their lists, from the nodes of the fast reader.
//!
//! The result is that of `outline_of_events`.

use super::outline::{EntryOutline, Outline, Pair, Scalar, ScalarForm, code_of};
use crate::mapping::parse::block::Block;
use crate::mapping::parse::{Declined, Located, Node};
use crate::mapping::value::{Position, Scheme};

/// Outlines a document that is known to be valid, or declines it.
pub(super) fn outline(text: &str, scheme: Scheme) -> Result<Outline<'_>, Declined> {
    let mut walk = BlockWalk {
        block: Block::new(text),
        outline: Outline::begin(text, scheme),
    };
    walk.document()?;
    Ok(walk.outline)
}

/// Outlines the entries of a piece that begins at a line, or declines it; `indent` is the column of the
/// dashes, from 0.
pub(super) fn piece(
    text: &str,
    (indent, line): (usize, u32),
    scheme: Scheme,
) -> Result<Outline<'_>, Declined> {
    let mut walk = BlockWalk {
        block: Block::piece(indent, text, line),
        outline: Outline::begin(text, scheme),
    };
    walk.entries()?;
    walk.block.end_piece()?;
    Ok(walk.outline)
}

struct BlockWalk<'t> {
    block: Block<'t>,
    outline: Outline<'t>,
}

impl<'t> BlockWalk<'t> {
    fn document(&mut self) -> Result<(), Declined> {
        if !matches!(self.node()?.value, Node::Mapping) {
            return Err(Declined);
        }
        while let Some(key) = self.block.node()? {
            match &key.value {
                Node::Scalar { text, .. } if text == "mapping" => self.list(key.position)?,
                _ => drop(self.values(key.position)?),
            }
        }
        Ok(())
    }

    /// Reads the list of entries, whose key is at a position.
    fn list(&mut self, key: Position) -> Result<(), Declined> {
        let list = self.node()?;
        if !matches!(list.value, Node::Sequence) {
            return Err(Declined);
        }
        if list.position.line != key.line {
            return self.entries();
        }
        let bracket = self.offset(list.position);
        self.outline.bracket = Some(bracket);
        self.outline.list_end = self.end_of_brackets(bracket)?;
        match self.block.node()? {
            None => Ok(()),
            Some(_) => Err(Declined),
        }
    }

    /// Reads the entries of a list in block form, up to its end.
    fn entries(&mut self) -> Result<(), Declined> {
        while let Some(Located { value, position }) = self.block.node()? {
            match value {
                Node::Mapping => self.entry(position)?,
                _ => return Err(Declined),
            }
        }
        Ok(())
    }

    fn entry(&mut self, position: Position) -> Result<(), Declined> {
        let line_start = self.block.line_start();
        let mut pairs = Vec::new();
        while let Some(Located { value, position }) = self.block.node()? {
            let Node::Scalar { text: key, .. } = value else {
                return Err(Declined);
            };
            let start = self.offset(position) - line_start;
            let key_end = start + key.len();
            let (mut values, is_list, end) = self.values(position)?;
            for value in &mut values {
                value.span.start -= line_start;
                value.span.end -= line_start;
            }
            pairs.push(Pair {
                key,
                span: start..end - line_start,
                key_end,
                is_list,
                values,
            });
        }
        let end = pairs.last().ok_or(Declined)?.span.end;
        self.outline.list_end = line_start + end;
        self.outline.entries.push(EntryOutline {
            code: code_of(&pairs, self.outline.scheme),
            position,
            line_start,
            is_flow: false,
            end,
            pairs,
        });
        Ok(())
    }

    /// Reads the value of the key at a position; returns its texts, whether it is a list or a map, and its
    /// end.
    fn values(&mut self, key: Position) -> Result<(Vec<Scalar<'t>>, bool, usize), Declined> {
        let Located { value, position } = self.node()?;
        let at = self.offset(position);
        if let Node::Scalar { text, .. } = value {
            let scalar = self.scalar(text, at);
            let end = scalar.span.end;
            return Ok((vec![scalar], false, end));
        }
        // A list in block form begins below its key.
        let mut end = match position.line == key.line {
            true => self.end_of_brackets(at)?,
            false => at,
        };
        let (mut values, mut depth) = (Vec::new(), 1);
        while depth > 0 {
            let Some(Located { value, position }) = self.block.node()? else {
                depth -= 1;
                continue;
            };
            match value {
                Node::Scalar { text, .. } => {
                    let scalar = self.scalar(text, self.offset(position));
                    end = end.max(scalar.span.end);
                    values.push(scalar);
                }
                _ => {
                    depth += 1;
                    let at = self.offset(position);
                    if matches!(value, Node::Sequence) && self.is_bracket(at) {
                        end = end.max(self.end_of_brackets(at)?);
                    }
                }
            }
        }
        Ok((values, true, end))
    }

    fn scalar(&self, text: std::borrow::Cow<'t, str>, at: usize) -> Scalar<'t> {
        let (form, quotes) = match self.outline.text.as_bytes().get(at) {
            Some(b'\'') => (ScalarForm::Single, 2),
            Some(b'"') => (ScalarForm::Double, 2),
            _ => (ScalarForm::Plain, 0),
        };
        // A text in quotes has no escapes here.
        let span = at..at + text.len() + quotes;
        Scalar { text, form, span }
    }

    fn is_bracket(&self, at: usize) -> bool {
        self.outline.text.as_bytes().get(at) == Some(&b'[')
    }

    /// Returns the end of a list of words in brackets that begins at an offset.
    fn end_of_brackets(&self, at: usize) -> Result<usize, Declined> {
        let rest = self.outline.text.get(at..).ok_or(Declined)?;
        let bracket = rest.starts_with('[').then(|| rest.find(']')).flatten();
        Ok(at + bracket.ok_or(Declined)? + 1)
    }

    /// Returns the offset of the last node, given its position: only ASCII is before it on its line.
    fn offset(&self, position: Position) -> usize {
        self.block.line_start() + position.column as usize - 1
    }

    /// Returns a node that must be there.
    fn node(&mut self) -> Result<Located<Node<'t>>, Declined> {
        self.block.node()?.ok_or(Declined)
    }
}
