//! Merging by lines, as git does without a driver.

use git2::{MergeFileInput, MergeFileOptions};

use super::sides::Sides;

/// The result of a merge by lines.
pub(super) struct ByLines {
    pub(super) text: Vec<u8>,
    /// Whether there are no conflicts, and so no markers.
    pub(super) is_clean: bool,
}

/// Merges by lines.
///
/// # Errors
///
/// If there is too much text.
pub(super) fn by_lines(sides: Sides<&[u8]>) -> Result<ByLines, git2::Error> {
    merged(sides, MergeFileOptions::new().style_standard(true))
}

/// Merges by lines, and shows the base between the sides.
///
/// # Errors
///
/// If there is too much text.
pub(super) fn with_base(sides: Sides<&[u8]>) -> Result<ByLines, git2::Error> {
    merged(sides, MergeFileOptions::new().style_diff3(true))
}

/// Returns the merged text if each side changed other lines, or only one side changed it.
pub(super) fn clean(sides: Sides<&str>) -> Option<String> {
    if let Some(text) = sides.settled() {
        return Some(text.to_owned());
    }
    let merged = by_lines(sides.map(str::as_bytes)).ok()?;
    let text = merged.is_clean.then_some(merged.text)?;
    String::from_utf8(text).ok()
}

fn merged(sides: Sides<&[u8]>, options: &mut MergeFileOptions) -> Result<ByLines, git2::Error> {
    // This call initialises libgit2; merging alone would not.
    git2::message_prettify("", None)?;
    options.our_label("ours").their_label("theirs");
    let [mut base, mut ours, mut theirs] = std::array::from_fn(|_| MergeFileInput::new());
    let merged = git2::merge_file(
        base.content(sides.base),
        ours.content(sides.ours),
        theirs.content(sides.theirs),
        Some(options),
    )?;
    Ok(ByLines {
        text: merged.content().to_vec(),
        is_clean: merged.is_automergeable(),
    })
}
