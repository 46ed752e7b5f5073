//! Goals: where a code leads, and the paths below it.

use std::rc::Rc;

use crate::mapping::packed::{Entry, TargetParts};

/// The destination of a code: a target, or nothing; and the URL to which paths below it are appended, if
/// they are.
///
/// There is one for each code of a history. So it is a single text: the target and, after a line break,
/// which no URL contains, the URL for paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Goal(Option<Rc<str>>);

impl Goal {
    /// Returns the destination of the codes of an entry.
    pub(crate) fn of(entry: Entry<'_>) -> Self {
        let Some(target) = entry.target_parts() else {
            return Self::default();
        };
        let text = match entry.path_target() {
            Some(below) => format!("{target}\n{below}"),
            None => target.to_string(),
        };
        Self(Some(text.into()))
    }

    /// Returns whether it is the destination of the codes of an entry.
    pub(super) fn is_of(&self, entry: Entry<'_>) -> bool {
        self.target() == entry.target_parts() && self.below() == entry.path_target()
    }

    /// Returns the target.
    pub(super) fn target(&self) -> Option<TargetParts<'_>> {
        let text = self.0.as_deref()?;
        let target = text.split_once('\n').map_or(text, |(target, _)| target);
        Some(TargetParts::of(target))
    }

    /// Returns the URL to which paths are appended.
    pub(super) fn below(&self) -> Option<TargetParts<'_>> {
        let (_, below) = self.0.as_deref()?.split_once('\n')?;
        Some(TargetParts::of(below))
    }

    /// Returns whether the paths below a code of an entry, which has the same target, lead where they did,
    /// if they led anywhere.
    pub(super) fn is_kept_below(&self, entry: Entry<'_>) -> bool {
        keeps_paths(self.target(), self.below(), entry.path_target())
    }
}

/// Returns whether paths below a code whose target stays lead where they did, if they led anywhere, given
/// the URLs to which they were and are appended.
///
/// Paths that were appended to the target need no longer be: `forward` may be changed.
pub(crate) fn keeps_paths<U: PartialEq>(target: Option<U>, was: Option<U>, is: Option<U>) -> bool {
    match (was, is) {
        (None, _) => true,
        (Some(was), Some(is)) => was == is,
        (was, None) => was == target,
    }
}
