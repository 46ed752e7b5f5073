//! Where entries are written: a file and a line.
//!
//! Entries are in blocks, which begin with each piece of a document, so an entry needs only the
//! distance from there; and entries after an inserted line move with their block.

use super::arena::Text;

/// The blocks of entries, in written order.
#[derive(Debug, Default)]
pub(crate) struct Lines(Vec<LineBlock>);

/// Entries of a file that are at most 65,535 lines apart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LineBlock {
    /// The target of its first entry.
    pub(crate) start: Text,
    /// The line from which those of its entries count.
    pub(crate) line: u32,
    /// The number of the file.
    pub(crate) file: u32,
}

impl LineBlock {
    /// Returns the number of a line in the block, if it can have that line.
    fn distance(&self, line: u32, file: u32) -> Option<u16> {
        let distance = line.checked_sub(self.line).filter(|_| file == self.file)?;
        u16::try_from(distance).ok()
    }
}

impl Lines {
    /// Begins a block.
    pub(crate) fn begin(&mut self, start: Text, line: u32, file: u32) {
        self.0.push(LineBlock { start, line, file });
    }

    /// Begins blocks, of which the last one may get entries.
    pub(crate) fn extend(&mut self, blocks: &[LineBlock]) {
        self.0.extend_from_slice(blocks);
    }

    /// Adds the next entry, in a new block if it is not in reach of the last one; returns the number of
    /// its line in its block.
    pub(crate) fn add(&mut self, target: Text, line: u32, file: u32) -> u16 {
        let last = self.0.last();
        let distance = last.and_then(|last| last.distance(line, file));
        distance.unwrap_or_else(|| {
            self.begin(target, line, file);
            0
        })
    }

    /// Returns the block of an entry, given its target.
    pub(crate) fn of(&self, target: Text) -> LineBlock {
        let next = self.0.partition_point(|block| block.start <= target);
        self.0[next - 1]
    }

    /// Returns the blocks.
    pub(crate) fn blocks(&self) -> &[LineBlock] {
        &self.0
    }

    /// Returns the blocks for changing them.
    pub(crate) fn blocks_mut(&mut self) -> &mut Vec<LineBlock> {
        &mut self.0
    }

    /// Returns a function that does the same as [`of`](Self::of) for entries in written order, faster.
    pub(crate) fn in_order(&self) -> impl FnMut(Text) -> LineBlock {
        let mut at = 0;
        move |target| {
            while self.0.get(at + 1).is_some_and(|next| next.start <= target) {
                at += 1;
            }
            self.0[at]
        }
    }

    /// Releases the memory that was reserved for more.
    pub(crate) fn shrink(&mut self) {
        self.0.shrink_to_fit();
    }

    /// Returns the memory in use, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.0.capacity() * size_of::<LineBlock>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::arena::Arena;
    use super::*;

    #[test]
    fn every_line_of_every_file_is_found_again() {
        let mut arena = Arena::default();
        let mut lines = Lines::default();
        let mut entries = Vec::new();
        for (file, line) in [
            (0, 1),
            (0, 65_536),
            (0, 65_537),
            (1, 3),
            (1, 4),
            (2, 5),
            (2, u32::MAX - 1),
            (2, u32::MAX),
            (3, 7),
        ] {
            let target = arena.store("");
            entries.push((target, lines.add(target, line, file), line, file));
        }
        let mut in_order = lines.in_order();
        for (target, distance, line, file) in entries {
            for block in [lines.of(target), in_order(target)] {
                assert_eq!((block.line + u32::from(distance), block.file), (line, file));
            }
        }
        assert_eq!(lines.blocks().len(), 6);
    }
}
