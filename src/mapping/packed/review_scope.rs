//! What a review of a site must look at: the next version of a site is reviewed without searching the rest.

/// The maximum number of each that are kept with a site: a bound on memory.
const MAX_KEPT: usize = 1 << 12;

/// The entries and codes that may have problems with others of the table; `None` if that may be any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ReviewScope {
    /// The keys of the entries whose targets may lead back into the table.
    pub(crate) keys: Option<Vec<u64>>,
    /// The numbers of the listed codes that requests may also reach by another code, in ascending order.
    pub(crate) codes: Option<Vec<u32>>,
}

impl ReviewScope {
    /// Returns those that are kept until the next version.
    pub(super) fn kept(self) -> Self {
        Self {
            keys: self.keys.filter(|keys| keys.len() <= MAX_KEPT),
            codes: self.codes.filter(|codes| codes.len() <= MAX_KEPT),
        }
    }

    /// Returns the memory in use, in bytes.
    pub(super) fn heap_bytes(&self) -> usize {
        self.keys.as_ref().map_or(0, Vec::capacity) * size_of::<u64>()
            + self.codes.as_ref().map_or(0, Vec::capacity) * size_of::<u32>()
    }
}
