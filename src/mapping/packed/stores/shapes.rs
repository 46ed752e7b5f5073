//! The shapes of entries: most tables have some dozen, which records number with one byte. The numbers
//! of all others are listed.

use std::collections::HashMap;

use super::arena::{Text, index};
use super::kept::Kept;
use super::record::{Record, Shape, ShapeNumber};

/// The number of shapes that may be there without entries.
const MIN_FORMER: usize = 64;

/// Shapes by number, mostly without repetition; in the next version of a site they keep their numbers, even
/// if no entry has them any longer.
#[derive(Debug, Default)]
pub(crate) struct Shapes {
    all: Vec<Shape>,
    /// How many entries have each.
    counts: Vec<u32>,
    /// The numbers of shapes that do not fit in records, by targets in ascending order.
    listed: Vec<(Text, u32)>,
}

impl Shapes {
    /// Returns the shape of an entry.
    #[inline]
    pub(crate) fn of(&self, record: &Record) -> &Shape {
        &self.all[self.number_of(record)]
    }

    /// Returns the number of the shape of an entry.
    #[inline]
    pub(crate) fn number_of(&self, record: &Record) -> usize {
        match record.shape.first() {
            Some(number) => number,
            None => self.listed_number(record.target),
        }
    }

    #[cold]
    fn listed_number(&self, target: Text) -> usize {
        let at = self.listed.binary_search_by_key(&target, |it| it.0);
        self.listed[at.expect("a shape without a short number is listed")].1 as usize
    }

    /// Returns the shapes that entries have.
    pub(crate) fn used(&self) -> impl Iterator<Item = &Shape> {
        let all = self.all.iter().zip(&self.counts);
        all.filter(|(_, count)| **count > 0).map(|(shape, _)| shape)
    }

    /// Returns whether most shapes are of former versions.
    pub(crate) fn has_former(&self) -> bool {
        self.all.len() > MIN_FORMER + 2 * self.used().count()
    }

    /// Returns the number of entries whose code encodes the hash of their target.
    pub(crate) fn hashed_count(&self) -> usize {
        let all = self.all.iter().zip(&self.counts);
        let hashed = all.filter(|(shape, _)| shape.is_hashed);
        hashed.map(|(_, count)| *count as usize).sum()
    }

    /// Counts the entries again, after some were removed.
    pub(crate) fn recount(&mut self, records: impl Iterator<Item = Record>) {
        self.counts.fill(0);
        for record in records {
            let number = self.number_of(&record);
            self.counts[number] += 1;
        }
    }

    /// Returns the memory in use, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.all.capacity() * size_of::<Shape>()
            + self.counts.capacity() * size_of::<u32>()
            + self.listed.capacity() * size_of::<(Text, u32)>()
    }
}

/// Shapes that get numbers.
#[derive(Debug, Default)]
pub(crate) struct DraftShapes {
    shapes: Shapes,
    numbers: HashMap<Shape, u32>,
    /// The numbers of the two shapes that were last looked up in `numbers`: most entries have one of them.
    recent: [Option<u32>; 2],
}

impl DraftShapes {
    /// Begins with the shapes of a former version, whose entries keep theirs, given where the targets that
    /// were kept are now.
    pub(crate) fn after(before: &Shapes, kept: &Kept) -> Self {
        let listed = before.listed.iter();
        let listed = listed
            .filter_map(|&(target, number)| Some((Text::at(kept.of(target.offset())?), number)));
        Self {
            shapes: Shapes {
                all: before.all.clone(),
                counts: before.counts.clone(),
                listed: listed.collect(),
            },
            numbers: before.all.iter().copied().zip(0..).collect(),
            recent: [None; 2],
        }
    }

    /// Counts an entry with the shape of a number less: it was removed.
    pub(crate) fn leave(&mut self, number: usize) {
        self.shapes.counts[number] -= 1;
    }

    /// Returns the number of a shape.
    pub(crate) fn number(&mut self, shape: Shape) -> u32 {
        let is_it = |number: &u32| self.shapes.all[*number as usize] == shape;
        if let Some(number) = self.recent.into_iter().flatten().find(is_it) {
            return number;
        }
        let number = *self.numbers.entry(shape).or_insert_with(|| {
            self.shapes.all.push(shape);
            self.shapes.counts.push(0);
            index(self.shapes.all.len() - 1)
        });
        self.recent = [Some(number), self.recent[0]];
        number
    }

    /// Gives an entry the shape with a number; returns the part that its record stores.
    pub(crate) fn assign(&mut self, target: Text, number: u32) -> ShapeNumber {
        self.shapes.counts[number as usize] += 1;
        let short = ShapeNumber::new(number);
        if short == ShapeNumber::MANY {
            self.shapes.listed.push((target, number));
        }
        short
    }

    /// Returns the shape of an entry.
    pub(crate) fn of(&self, record: &Record) -> &Shape {
        self.shapes.of(record)
    }

    /// Returns all shapes, in the order of their numbers.
    pub(crate) fn all(&self) -> &[Shape] {
        &self.shapes.all
    }

    /// Returns the number of the shape of an entry.
    pub(crate) fn number_of(&self, record: &Record) -> usize {
        self.shapes.number_of(record)
    }

    /// Returns the shapes for changing them; existing numbers stay valid, but a changed shape is
    /// not found by content.
    pub(crate) fn all_mut(&mut self) -> &mut [Shape] {
        self.numbers.clear();
        self.recent = [None; 2];
        &mut self.shapes.all
    }

    /// Returns the places of the targets whose shapes are listed, for changing them.
    pub(crate) fn listed_mut(&mut self) -> &mut [(Text, u32)] {
        &mut self.shapes.listed
    }

    /// Returns the shapes in memory, once all entries have theirs.
    pub(crate) fn complete(mut self) -> Shapes {
        self.shapes.all.shrink_to_fit();
        self.shapes.counts.shrink_to_fit();
        self.shapes.listed.shrink_to_fit();
        self.shapes.listed.sort_unstable_by_key(|it| it.0);
        self.shapes
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::Unsaid;
    use super::*;
    use crate::mapping::value::{Forward, Status};

    #[test]
    fn a_shape_keeps_its_number() {
        let shape = |column| Shape {
            column,
            url: None,
            status: Status::default(),
            forward: Forward::None,
            max_age: 0,
            unsaid: Unsaid {
                status: true,
                forward: true,
                max_age: true,
            },
            is_hashed: true,
            has_codes: false,
            has_notes: false,
            has_below: false,
            has_term: false,
            has_variants: false,
            variants_have_below: false,
        };
        let mut shapes = DraftShapes::default();
        // Some are remembered, and some are no longer.
        for column in [0, 0, 1, 0, 1, 1, 2, 0, 3, 1, 2, 3, 0] {
            assert_eq!(shapes.number(shape(column)), column, "{column}");
        }
        assert_eq!(shapes.all().len(), 4);
    }
}
