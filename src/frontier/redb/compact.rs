//! Releasing unused space of the file.

use std::fs;
use std::path::Path;

use redb::Database;

/// The minimum size of a file that is compacted, in bytes.
const LEAST: u64 = 64 << 20;

/// Compacts a file if at least a tenth of it is free. Each write needs new pages before it frees
/// old ones, and the file grows by doubling, so many writes leave it larger than its rows.
///
/// A crash meanwhile loses nothing.
///
/// # Errors
///
/// If the file cannot be read or written, or is in use.
pub(super) fn compact(database: &mut Database, path: &Path) -> Result<(), redb::Error> {
    compact_above(LEAST, database, path)
}

fn compact_above(least: u64, database: &mut Database, path: &Path) -> Result<(), redb::Error> {
    let size = fs::metadata(path)?.len();
    if size < least {
        return Ok(());
    }
    let transaction = database.begin_write()?;
    let stats = transaction.stats()?;
    transaction.abort()?;
    let used = stats
        .allocated_pages()
        .saturating_mul(u64::try_from(stats.page_size()).unwrap_or(u64::MAX));
    if used / 9 < size / 10 {
        database.compact()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use redb::{ReadableDatabase as _, ReadableTableMetadata as _, TableDefinition};

    use super::*;

    const ROWS: TableDefinition<u64, &[u8]> = TableDefinition::new("rows");

    fn change(database: &Database, work: impl FnOnce(&mut redb::Table<'_, u64, &[u8]>)) {
        let transaction = database.begin_write().unwrap();
        work(&mut transaction.open_table(ROWS).unwrap());
        transaction.commit().unwrap();
    }

    #[test]
    fn a_file_that_is_mostly_free_gets_smaller_and_keeps_its_rows() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state.redb");
        let mut database = Database::create(&path).unwrap();
        change(&database, |table| {
            for key in 0..10_000 {
                table.insert(key, &[7; 1000][..]).unwrap();
            }
        });
        change(&database, |table| {
            table.retain(|key, _| key % 10 == 0).unwrap();
        });
        let size = || fs::metadata(&path).unwrap().len();
        let before = size();
        compact_above(before + 1, &mut database, &path).unwrap();
        assert_eq!(size(), before);
        compact_above(before, &mut database, &path).unwrap();
        assert!(size() < before / 2, "{before} to {}", size());
        let transaction = database.begin_read().unwrap();
        assert_eq!(transaction.open_table(ROWS).unwrap().len().unwrap(), 1000);
        drop(transaction);
        // Compacting no longer helps.
        let after = size();
        compact_above(0, &mut database, &path).unwrap();
        assert!(size() <= after);
    }
}
