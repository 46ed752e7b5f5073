//! Compilation of files, of which only the text of unknown pieces is read.

use super::text_file::TextFile;
use crate::mapping::{Compilation, KnownFiles, Table, TableFile, TextNeeded, compile_read};

/// Compiles the files of a table, of which `before` is an earlier version; `None` if their text is not
/// there any more.
pub(crate) fn compile_text(files: &[TextFile], before: Option<&Table>) -> Option<Compilation> {
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
