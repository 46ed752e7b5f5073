//! Merging by lines, as git does without a driver.

use git2::{FileFavor, MergeFileInput, MergeFileOptions};

use super::Sides;
use super::piece::{Clash, Piece};

/// What a merge by lines came to.
pub(super) struct ByLines {
    pub(super) text: Vec<u8>,
    /// No line clashes: there are no markers.
    pub(super) is_clean: bool,
}

/// Merges by lines. With a side to favour, that side's lines stand where lines clash, without
/// markers.
///
/// # Errors
///
/// If there is too much text.
pub(super) fn by_lines(
    sides: Sides<&[u8]>,
    favor: Option<FileFavor>,
) -> Result<ByLines, git2::Error> {
    // Only this lets libgit2 set itself up; merging alone would not.
    git2::message_prettify("", None)?;
    let mut options = MergeFileOptions::new();
    options.our_label("ours").their_label("theirs");
    options.style_standard(true);
    options.favor(favor.unwrap_or(FileFavor::Normal));
    let [mut base, mut ours, mut theirs] = std::array::from_fn(|_| MergeFileInput::new());
    let merged = git2::merge_file(
        base.content(sides.base),
        ours.content(sides.ours),
        theirs.content(sides.theirs),
        Some(&mut options),
    )?;
    Ok(ByLines {
        text: merged.content().to_vec(),
        is_clean: merged.is_automergeable(),
    })
}

/// Returns a text of which each side changed other lines, or that one side changed.
pub(super) fn settled(sides: Sides<&str>) -> Option<String> {
    if let Some(text) = sides.settled() {
        return Some(text.to_owned());
    }
    let merged = by_lines(sides.map(str::as_bytes), None).ok()?;
    let text = merged.is_clean.then_some(merged.text)?;
    String::from_utf8(text).ok()
}

/// Merges lines of a document that are not of its entries.
///
/// # Errors
///
/// If there is too much text.
pub(super) fn lines_of(sides: Sides<&str>) -> Result<Piece, String> {
    if let Some(text) = settled(sides) {
        return Ok(Piece::Agreed(text));
    }
    let merged = |favor| {
        let merged = by_lines(sides.map(str::as_bytes), favor).map_err(|it| it.to_string())?;
        String::from_utf8(merged.text).map_err(|it| it.to_string())
    };
    Ok(Piece::Clash(Clash {
        marked: merged(None)?,
        ours: merged(Some(FileFavor::Ours))?,
        theirs: merged(Some(FileFavor::Theirs))?,
        why: "both sides changed these lines".to_owned(),
    }))
}
