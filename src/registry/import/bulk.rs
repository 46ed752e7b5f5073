//! Imports into local files: all accepted links are written in one step.
//!
//! Either the table gains exactly the new entries, or nothing changes.

use std::path::PathBuf;
use std::sync::Arc;

use super::site_intake::SiteIntake;
use crate::mapping::{BaseUrl, Diagnostic, SourceFile, Timestamp, compile, defaults_of};
use crate::registry::decide::{
    Addition, Base, Bisection, Destination, Effort, MayShadow, RegistrationRefusal, placement,
};
use crate::registry::publish::{LocalError, lock, undone, write};
use crate::source::FileSource;

/// How many entries at fault are searched for: each step of the bisection compiles the table.
const MOST_AT_FAULT: usize = 20;

/// The destination of an import.
#[derive(Debug, Clone, Copy)]
pub struct Import<'i> {
    /// The paths of the table: files and directories.
    pub paths: &'i [PathBuf],
    /// The most bytes of text that the table may have.
    pub max_bytes: u64,
    /// The base URL of the site, if the table has several.
    pub site: Option<&'i str>,
    /// The document, by its path or file name, if the site has several.
    pub file: Option<&'i str>,
    /// The base URL of a new table, in a file at the only path.
    pub made: Option<&'i BaseUrl>,
    /// The entries of the table, as it was before, that may be shadowed.
    pub may_shadow: &'i MayShadow,
    /// Whether this is a dry run, which writes nothing.
    pub is_dry_run: bool,
    /// The current time.
    pub now: Timestamp,
}

/// The result of an import.
#[derive(Debug)]
pub struct Imported {
    /// The file that was written.
    pub path: String,
    /// The number of links added to it.
    pub added: usize,
    /// The number of links that were in the table already, or are duplicates.
    pub known: usize,
    /// The links that were refused at the end, with their lines.
    pub refused: Vec<(usize, RegistrationRefusal)>,
    /// The warnings that the new entries cause.
    pub warnings: Vec<Diagnostic>,
}

/// Imports the links that `fill` takes.
///
/// # Errors
///
/// If the table cannot be read, has errors, or would have some, if it cannot be written, or if
/// `fill` fails; then nothing has changed.
pub fn import_into_files<E: From<LocalError>>(
    import: &Import<'_>,
    fill: impl FnOnce(&mut SiteIntake<'_>) -> Result<(), E>,
) -> Result<Imported, E> {
    let _locks = lock(import.paths)?;
    let source = FileSource::new(import.paths.to_vec(), import.max_bytes);
    let files = match import.made {
        Some(base_url) => vec![empty(&import.paths[0], base_url)],
        None => source.read_once().map_err(LocalError::from)?.files,
    };
    let refused = |refusal| LocalError::Refused(refusal);
    let compiled = compile(&files).into_sound();
    let compiled = compiled.map_err(|found| refused(RegistrationRefusal::TableHasErrors(found)))?;
    let base = Base::new(&files, &compiled, import.now);
    let table = base.table();
    let destination = Destination::Document(import.file.map(str::to_owned));
    let site = placement::site(table, import.site, &destination).map_err(refused)?;
    let path = placement::document(site, import.file).map_err(refused)?;
    let document = files.iter().find(|file| *file.path == *path);
    let document = document.expect("a table is compiled from these files");

    let defaults = defaults_of(document);
    let mut intake = SiteIntake::new(table, site, defaults, import.now);
    fill(&mut intake)?;
    let mut taken = intake.finish().map_err(refused)?;
    taken.drop_defaults(defaults);
    let addition = |entry| Addition {
        site,
        entry,
        path: Arc::clone(&document.path),
        is_new_file: false,
    };
    let additions: Vec<_> = taken.entries.into_iter().map(addition).collect();
    let bisection = Bisection {
        base: &base,
        additions: &additions,
        may_shadow: &|_| import.may_shadow,
        max_bytes: import.max_bytes,
        now: import.now,
    };
    let effort = Effort::Complete {
        faults: MOST_AT_FAULT,
    };
    let bisected = bisection.run(&effort).map_err(refused)?;
    let late = bisected.refused.into_iter();
    taken
        .refused
        .extend(late.map(|(number, refusal)| (taken.lines[number], refusal)));
    let (added, file, warnings) = match bisected.accepted {
        Some(mut it) => (it.numbers.len(), it.written.pop(), it.proof.warnings),
        None => (0, None, Vec::new()),
    };
    // A new table is written even without entries.
    let file = file.or_else(|| import.made.map(|_| document.clone()));
    if let Some(file) = file.filter(|_| !import.is_dry_run) {
        let document = import.made.is_none().then_some(document);
        put(&source, &files, &file, document)?;
    }
    Ok(Imported {
        path: path.to_owned(),
        added,
        known: taken.known,
        refused: taken.refused,
        warnings,
    })
}

/// Returns a table without entries.
fn empty(path: &std::path::Path, base_url: &BaseUrl) -> SourceFile {
    SourceFile {
        path: path.display().to_string().into(),
        bytes: format!("base_url: {}\nmapping: []\n", base_url.as_str()).into_bytes(),
    }
}

/// Writes a proved file, and verifies that the table is then as proved.
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
    Err(undone(
        &[(new, old)],
        LocalError::TakenBack { path: path() },
    ))
}
