//! Compilation of files, of which only the text of unknown pieces is read; without an earlier version, it
//! is read piece by piece, and not kept.

use super::text_file::TextFile;
use crate::mapping::{
    Compilation, FirstReading, KnownFiles, Table, TableFile, TextNeeded, compile_read,
};
use crate::source::Threads;

/// Compiles the files of a table, of which `before` is an earlier version; `None` if their text is not
/// there any more.
pub(crate) fn compile_text(files: &[TextFile], before: Option<&Table>) -> Option<Compilation> {
    if before.is_none()
        && let Some(compilation) = compile_first(files)
    {
        return Some(compilation);
    }
    compile_new_text(files, before)
}

/// Compiles files as [`compile_text`] does, from all text that the earlier version does not have, which is
/// kept meanwhile.
pub(super) fn compile_new_text(files: &[TextFile], before: Option<&Table>) -> Option<Compilation> {
    let known = before.map(KnownFiles::of);
    let pieces = |file: &TextFile| {
        let known = known.as_ref();
        known
            .map(|known| known.pieces(&file.path))
            .unwrap_or_default()
    };
    let read = files.iter().map(|file| file.to_compile(&pieces(file)));
    let read: Vec<TableFile> = read.collect::<Option<_>>()?;
    if let Ok(compilation) = compile_read(&read, before) {
        return Some(compilation);
    }
    drop(read);
    let whole = files.iter().map(TextFile::to_compile_whole);
    let whole: Vec<TableFile> = whole.collect::<Option<_>>()?;
    let compiled: Result<_, TextNeeded> = compile_read(&whole, before);
    Some(compiled.expect("the text of whole files is there"))
}

/// Compiles the first version of a table while it is read; `None` if its text is needed as a whole, or is
/// not there any more.
fn compile_first(files: &[TextFile]) -> Option<Compilation> {
    if files.iter().any(|file| file.cut().pieces().is_empty()) {
        return None;
    }
    let first = FirstReading::default();
    first.begin();
    let mut read = Vec::with_capacity(files.len());
    for file in files {
        let bytes = |range| file.read(range).ok_or(TextNeeded);
        let workers = Threads::for_file(file.size());
        let is_read = first.read_cut(&file.path, file.cut(), bytes, &workers);
        if !is_read.is_ok_and(|is_read| is_read) {
            return None;
        }
        read.push(file.without_text());
    }
    first.compile(&read).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::SourceFile;

    #[test]
    fn a_new_piece_that_is_not_utf_8_is_reported() {
        let mut bytes = b"base_url: https://short.code/\nmapping:\n".to_vec();
        for entry in 0..500 {
            bytes.extend(format!("- url: https://e.org/{entry}\n").into_bytes());
        }
        let file = |bytes: &[u8]| {
            let file = SourceFile::new("t.yaml".into(), bytes.to_vec());
            vec![TextFile::from(file)]
        };
        let before = compile_text(&file(&bytes), None).unwrap().table.unwrap();
        bytes.extend(b"- url: https://e.org/caf\xE9\n");
        let after = compile_text(&file(&bytes), Some(&before)).unwrap();
        let rules: Vec<_> = after.diagnostics.iter().map(|it| it.rule.name()).collect();
        assert!(after.table.is_none());
        assert_eq!(rules, ["file-not-utf-8"]);
    }
}
