//! Importing into files that stand here: all that can be taken is written in one step.
//!
//! What was written is the table and the new entries, by what both mean, or nothing has changed.

use std::path::PathBuf;

use super::bisection::{Bisected, Bisection};
use super::intake::Intake;
use crate::mapping::{BaseUrl, Diagnostic, Outline, SourceFile, Timestamp};
use crate::registry::decide::{Before, Destination, MayShadow, Refusal, placement};
use crate::registry::publish::{LocalError, lock, undone, write};
use crate::source::FileSource;

/// Where links are imported.
#[derive(Debug, Clone, Copy)]
pub struct Import<'i> {
    /// The paths of the table: files and directories.
    pub paths: &'i [PathBuf],
    /// How much text the table may have.
    pub max_bytes: u64,
    /// The base URL of the site, if the table has several.
    pub site: Option<&'i str>,
    /// The document, by its path or file name, if the site has several.
    pub file: Option<&'i str>,
    /// The base URL of a table that is made, in a file of the only path.
    pub made: Option<&'i BaseUrl>,
    /// Which entries of the table, as it was before, may be shadowed.
    pub may_shadow: &'i MayShadow,
    /// Nothing is written.
    pub is_rehearsal: bool,
    /// What time it is.
    pub now: Timestamp,
}

/// What came of an import.
#[derive(Debug)]
pub struct Imported {
    /// The file that was written.
    pub path: String,
    /// How many links came into it.
    pub added: usize,
    /// How many were there already, or came twice.
    pub known: usize,
    /// Those that could not be taken in the end, with their lines.
    pub refused: Vec<(usize, Refusal)>,
    /// What is odd about the table since.
    pub warnings: Vec<Diagnostic>,
}

/// Imports what `fill` takes.
///
/// # Errors
///
/// If the table cannot be read, has errors, or would have some, if it cannot be written, or if
/// `fill` fails; then nothing has changed.
pub fn import_into_files<E: From<LocalError>>(
    import: &Import<'_>,
    fill: impl FnOnce(&mut Intake<'_>) -> Result<(), E>,
) -> Result<Imported, E> {
    let _locks = lock(import.paths)?;
    let source = FileSource::new(import.paths.to_vec(), import.max_bytes);
    let files = match import.made {
        Some(base_url) => vec![empty(&import.paths[0], base_url)],
        None => source.read_once().map_err(LocalError::from)?.files,
    };
    let refused = |refusal| LocalError::Refused(refusal);
    let before = Before::of(&files, import.max_bytes, import.now).map_err(refused)?;
    let table = &before.table;
    let destination = Destination::Document(import.file.map(str::to_owned));
    let site = placement::site(table, import.site, &destination).map_err(refused)?;
    let path = placement::document(site, import.file).map_err(refused)?;
    let document = files.iter().find(|file| *file.path == *path);
    let document = document.expect("a table is compiled from these files");

    let outline = Outline::of(document);
    let defaults = outline
        .map_err(|problems| refused(Refusal::CannotInsertAny { problems }))?
        .defaults;
    let mut intake = Intake::new(table, site, defaults, import.now);
    fill(&mut intake)?;
    let mut batch = intake.finish().map_err(refused)?;
    batch.drop_defaults(defaults);
    let sieve = Bisection {
        before: &before,
        site,
        document,
        now: import.now,
        may_shadow: import.may_shadow,
    };
    let Bisected { file, warnings, .. } = sieve.sift(&mut batch).map_err(refused)?;
    let imported = Imported {
        path: path.to_owned(),
        added: batch.entries.len(),
        known: batch.known,
        refused: batch.refused,
        warnings,
    };
    let is_changed = imported.added > 0 || import.made.is_some();
    if is_changed && !import.is_rehearsal {
        let document = import.made.is_none().then_some(document);
        put(&source, &files, &file, document)?;
    }
    Ok(imported)
}

/// Returns a table without entries.
fn empty(path: &std::path::Path, base_url: &BaseUrl) -> SourceFile {
    SourceFile {
        path: path.display().to_string().into(),
        bytes: format!("base_url: {}\nmapping: []\n", base_url.as_str()).into_bytes(),
    }
}

/// Writes a file that was proved, and sees that the table is then what was proved.
fn put(
    source: &FileSource,
    files: &[SourceFile],
    new: &SourceFile,
    old: Option<&SourceFile>,
) -> Result<(), LocalError> {
    let path = || new.path.to_string();
    if !write(new, old)? {
        return Err(LocalError::Contended { path: path() });
    }
    let is_proved = |read: &[SourceFile]| {
        read.len() == files.len()
            && read
                .iter()
                .zip(files)
                .all(|(read, file)| match read.path == new.path {
                    true => read.bytes == new.bytes,
                    false => read == file,
                })
    };
    if source.read_once().is_ok_and(|read| is_proved(&read.files)) {
        return Ok(());
    }
    Err(undone(new, old, LocalError::TakenBack { path: path() }))
}
