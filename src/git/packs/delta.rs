//! Deltas: how an object is built from parts of another one (gitformat-pack(5), "Deltified
//! representation").

use super::pack_error::PackError;

/// The longest part that one instruction copies.
const MAX_COPY: u64 = 0xFF_FFFF;

/// The longest text that one instruction inserts.
const MAX_INSERT: usize = 0x7F;

/// The most steps of a combined delta, of 24 bytes each, in a process that serves; what takes more is left
/// to libgit2.
pub(super) const MAX_STEPS: usize = 1 << 20;

/// How an object is built from parts of another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Delta {
    base_size: u64,
    result_size: u64,
    steps: Vec<DeltaStep>,
    /// The texts that are inserted, one after the other.
    inserted: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeltaStep {
    /// A part of the base.
    Copy { from: u64, length: u64 },
    /// A part of the inserted texts.
    Insert { from: usize, length: usize },
}

impl DeltaStep {
    /// Returns the number of resulting bytes.
    pub(super) fn length(self) -> u64 {
        match self {
            Self::Copy { length, .. } => length,
            Self::Insert { length, .. } => length as u64,
        }
    }
}

impl Delta {
    /// Parses a delta to an object of at most `max` bytes, whose parts are all in its base.
    pub(super) fn parse(bytes: &[u8], max: u64) -> Result<Self, PackError> {
        let mut rest = bytes;
        let mut delta = Self::between(number(&mut rest)?, number(&mut rest)?);
        if delta.result_size > max {
            return Err(PackError::TooLarge(delta.result_size));
        }
        let mut length = 0_u64;
        while let Some((&code, after)) = rest.split_first() {
            rest = after;
            match code {
                0 => return Err(damaged()),
                0x80.. => {
                    let mut field = |bits: std::ops::Range<u32>| {
                        let mut value = 0;
                        for (index, bit) in bits.enumerate() {
                            if code >> bit & 1 != 0 {
                                let (&byte, after) = rest.split_first().ok_or_else(damaged)?;
                                rest = after;
                                value |= u64::from(byte) << (8 * index);
                            }
                        }
                        Ok::<u64, PackError>(value)
                    };
                    let from = field(0..4)?;
                    let copied = match field(4..7)? {
                        0 => 0x1_0000,
                        length => length,
                    };
                    if from + copied > delta.base_size {
                        return Err(damaged());
                    }
                    length += copied;
                    // What is too long is not kept.
                    if length > delta.result_size {
                        return Err(damaged());
                    }
                    delta.copy(from, copied);
                }
                inserted => {
                    let inserted = usize::from(inserted);
                    let text = rest.get(..inserted).ok_or_else(damaged)?;
                    rest = &rest[inserted..];
                    length += inserted as u64;
                    delta.insert(text);
                }
            }
        }
        match length == delta.result_size {
            true => Ok(delta),
            false => Err(damaged()),
        }
    }

    /// Begins a delta between objects of these sizes.
    pub(crate) fn between(base_size: u64, result_size: u64) -> Self {
        Self {
            base_size,
            result_size,
            steps: Vec::new(),
            inserted: Vec::new(),
        }
    }

    /// Returns the size of the resulting object.
    pub(super) fn result_size(&self) -> u64 {
        self.result_size
    }

    /// Returns the size of the base.
    pub(super) fn base_size(&self) -> u64 {
        self.base_size
    }

    /// Returns the steps, one after the other.
    pub(super) fn steps(&self) -> &[DeltaStep] {
        &self.steps
    }

    /// Returns the texts to which the steps refer.
    pub(super) fn inserted_bytes(&self) -> &[u8] {
        &self.inserted
    }

    /// Returns whether each copied part begins where the one before it ends, or after it.
    pub(super) fn copies_in_order(&self) -> bool {
        let mut end = 0;
        self.steps.iter().all(|step| match *step {
            DeltaStep::Insert { .. } => true,
            DeltaStep::Copy { from, length } => {
                let follows = from >= end;
                end = from + length;
                follows
            }
        })
    }

    /// Returns the memory in use, in bytes.
    pub(super) fn heap_bytes(&self) -> usize {
        self.inserted.capacity() + self.steps.capacity() * size_of::<DeltaStep>()
    }

    /// Builds the object from its base.
    pub(super) fn apply(&self, base: &[u8]) -> Result<Vec<u8>, PackError> {
        if base.len() as u64 != self.base_size {
            return Err(damaged());
        }
        let too_large = || PackError::TooLarge(self.result_size);
        let size = usize::try_from(self.result_size).map_err(|_| too_large())?;
        let mut result = Vec::new();
        result.try_reserve_exact(size).map_err(|_| too_large())?;
        for step in &self.steps {
            match *step {
                // Within the base, which was checked when it was parsed.
                DeltaStep::Copy { from, length } => {
                    result.extend_from_slice(&base[from as usize..(from + length) as usize]);
                }
                DeltaStep::Insert { from, length } => {
                    result.extend_from_slice(&self.inserted[from..from + length]);
                }
            }
        }
        Ok(result)
    }

    /// Returns the delta from this one's base to the result of applying `next` to this one's
    /// result.
    pub(super) fn then(&self, next: &Self) -> Result<Self, PackError> {
        self.then_within(next, usize::MAX)
    }

    /// As [`then`](Self::then), unless it takes more steps than `max`: two small deltas can have one
    /// with a step for each byte of a large object.
    pub(super) fn then_within(&self, next: &Self, max: usize) -> Result<Self, PackError> {
        if next.base_size != self.result_size {
            return Err(damaged());
        }
        let mut end = 0;
        let ends: Vec<u64> = (self.steps.iter())
            .map(|step| {
                end += step.length();
                end
            })
            .collect();
        let mut whole = Self::between(self.base_size, next.result_size);
        for step in &next.steps {
            if whole.steps.len() > max {
                return Err(PackError::TooLarge(next.result_size));
            }
            match *step {
                DeltaStep::Insert { from, length } => {
                    whole.insert(&next.inserted[from..from + length]);
                }
                DeltaStep::Copy { mut from, length } => {
                    let until = from + length;
                    let mut index = ends.partition_point(|end| *end <= from);
                    while from < until && whole.steps.len() <= max {
                        let step = self.steps[index];
                        let skipped = from - (ends[index] - step.length());
                        let taken = ends[index].min(until) - from;
                        match step {
                            DeltaStep::Copy { from, .. } => whole.copy(from + skipped, taken),
                            DeltaStep::Insert { from, .. } => {
                                let from = from + skipped as usize;
                                whole.insert(&self.inserted[from..from + taken as usize]);
                            }
                        }
                        from += taken;
                        index += 1;
                    }
                }
            }
        }
        match whole.steps.len() > max {
            true => Err(PackError::TooLarge(next.result_size)),
            false => Ok(whole),
        }
    }

    /// Returns the number of bytes that are not in the base.
    pub(crate) fn inserted(&self) -> usize {
        self.inserted.len()
    }

    /// Returns it in the form of a pack.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for mut size in [self.base_size, self.result_size] {
            while size > 0x7F {
                bytes.push((size & 0x7F) as u8 | 0x80);
                size >>= 7;
            }
            bytes.push(size as u8);
        }
        for step in &self.steps {
            match *step {
                DeltaStep::Copy { from, length } => {
                    let until = from + length;
                    for from in (from..until).step_by(MAX_COPY as usize) {
                        push_copy(&mut bytes, from, (until - from).min(MAX_COPY));
                    }
                }
                DeltaStep::Insert { from, length } => {
                    for text in self.inserted[from..from + length].chunks(MAX_INSERT) {
                        bytes.push(text.len() as u8);
                        bytes.extend_from_slice(text);
                    }
                }
            }
        }
        bytes
    }

    /// Appends a part of the base.
    pub(crate) fn copy(&mut self, from: u64, length: u64) {
        if let Some(DeltaStep::Copy {
            from: before,
            length: so_far,
        }) = self.steps.last_mut()
            && *before + *so_far == from
        {
            *so_far += length;
        } else {
            self.steps.push(DeltaStep::Copy { from, length });
        }
    }

    /// Sets the size of the result to that of the steps.
    #[cfg(test)]
    pub(super) fn sized(self) -> Self {
        let result_size = self.steps.iter().map(|step| step.length()).sum();
        Self {
            result_size,
            ..self
        }
    }

    /// Appends a text.
    pub(crate) fn insert(&mut self, text: &[u8]) {
        let from = self.inserted.len();
        self.inserted.extend_from_slice(text);
        if let Some(DeltaStep::Insert { length, .. }) = self.steps.last_mut() {
            // The texts are in the order of the steps.
            *length += text.len();
        } else {
            self.steps.push(DeltaStep::Insert {
                from,
                length: text.len(),
            });
        }
    }
}

fn push_copy(bytes: &mut Vec<u8>, from: u64, length: u64) {
    let at = bytes.len();
    bytes.push(0x80);
    let fields = [(from, 4, 0), (length, 3, 4)];
    for (value, count, first_bit) in fields {
        for index in 0..count {
            let byte = (value >> (8 * index)) as u8;
            if byte != 0 {
                bytes[at] |= 1 << (first_bit + index);
                bytes.push(byte);
            }
        }
    }
}

fn number(rest: &mut &[u8]) -> Result<u64, PackError> {
    let mut value = 0;
    for shift in (0..57).step_by(7) {
        let (&byte, after) = rest.split_first().ok_or_else(damaged)?;
        *rest = after;
        value |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(damaged())
}

fn damaged() -> PackError {
    PackError::Damaged("a delta that does not fit its base")
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Parts of a base of this size, and texts between them.
    fn parts(base_size: usize) -> impl Strategy<Value = Vec<Result<(usize, usize), Vec<u8>>>> {
        let copy = (0..base_size, 1..200_usize)
            .prop_map(move |(from, length)| Ok((from, length.min(base_size - from))));
        let insert = vec(any::<u8>(), 1..300).prop_map(Err);
        vec(prop_oneof![copy, insert], 0..12)
    }

    fn delta_of(base: &[u8], parts: &[Result<(usize, usize), Vec<u8>>]) -> (Delta, Vec<u8>) {
        let mut result = Vec::new();
        let mut delta = Delta::between(base.len() as u64, 0);
        for part in parts {
            match part {
                Ok((from, length)) => {
                    result.extend_from_slice(&base[*from..from + length]);
                    delta.copy(*from as u64, *length as u64);
                }
                Err(text) => {
                    result.extend_from_slice(text);
                    delta.insert(text);
                }
            }
        }
        delta.result_size = result.len() as u64;
        (delta, result)
    }

    proptest! {
        #[test]
        fn two_deltas_make_one(
            base in vec(any::<u8>(), 300..301),
            first in parts(300),
            second in vec(any::<[u16; 2]>(), 0..8),
        ) {
            let (first, middle) = delta_of(&base, &first);
            let second: Vec<_> = second
                .into_iter()
                .filter(|_| !middle.is_empty())
                .map(|[from, length]| {
                    let from = usize::from(from) % middle.len();
                    match length % 3 {
                        0 => Err(vec![b'x'; usize::from(length % 200) + 1]),
                        _ => Ok((from, (usize::from(length) % 500 + 1).min(middle.len() - from))),
                    }
                })
                .collect();
            let (second, end) = delta_of(&middle, &second);
            prop_assert_eq!(&first.apply(&base).unwrap(), &middle);
            let whole = first.then(&second).unwrap();
            let steps = whole.steps.len();
            prop_assert!(first.then_within(&second, steps).is_ok());
            if let Some(fewer) = steps.checked_sub(1) {
                prop_assert!(first.then_within(&second, fewer).is_err());
            }
            prop_assert_eq!(&whole.apply(&base).unwrap(), &end);
            let read = Delta::parse(&whole.to_bytes(), 1 << 20).unwrap();
            prop_assert_eq!(read.apply(&base).unwrap(), end);
        }

        #[test]
        fn any_bytes_are_a_delta_or_not(bytes in vec(any::<u8>(), 0..60)) {
            if let Ok(delta) = Delta::parse(&bytes, 1 << 20)
                && delta.base_size < 1 << 20
            {
                let base = vec![0; delta.base_size as usize];
                prop_assert_eq!(delta.apply(&base).unwrap().len() as u64, delta.result_size());
            }
        }
    }

    #[test]
    fn long_parts_are_copied_in_several_instructions() {
        let base = vec![7; 0x100_0002];
        let (delta, result) = delta_of(&base, &[Ok((1, 0x100_0001)), Ok((0, 0x1_0000))]);
        let read = Delta::parse(&delta.to_bytes(), 1 << 30).unwrap();
        assert_eq!(read.apply(&base).unwrap(), result);
        let refused = Delta::parse(&delta.to_bytes(), 1 << 24);
        assert!(matches!(refused, Err(PackError::TooLarge(_))));
    }
}
