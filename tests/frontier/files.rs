//! The store in a file: which files it opens, and tables of its caller beside it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use redb::{Database, ReadableDatabase, TableDefinition};
use waypost::frontier::{
    LeaseState, Redb, RedbError, RedbTransaction, Reservation, Store, StoreError, SystemClock,
};

use crate::bench::{DEFAULT_PAUSE, named, secs};

const NOTES: TableDefinition<&str, u64> = TableDefinition::new("notes");

fn open(path: &Path) -> Result<Redb, RedbError> {
    Redb::open(path, SystemClock::new(), DEFAULT_PAUSE)
}

fn wait<T>(future: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(future)
}

fn note(store: &Redb) -> Option<u64> {
    let transaction = store.begin_read().unwrap();
    let table = transaction.open_table(NOTES).ok()?;
    table.get("note").unwrap().map(|value| value.value())
}

#[test]
fn a_second_process_is_refused_and_the_next_one_is_not() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("hosts.redb");
    let store = open(&path).unwrap();
    wait(store.add_host(&named("a.example"), secs(0))).unwrap();
    let error = open(&path).err().unwrap();
    assert!(matches!(error, RedbError::InUse { .. }), "{error:?}");
    assert!(
        error
            .to_string()
            .ends_with("another process is using this file")
    );
    drop(store);
    let store = open(&path).unwrap();
    assert_eq!(wait(store.counts()).unwrap().queued, 1);
}

#[test]
fn a_foreign_file_is_refused_and_not_changed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes.txt");
    for text in ["a", &"This is no database.\n".repeat(1000)] {
        fs::write(&path, text).unwrap();
        let error = open(&path).err().unwrap();
        assert!(matches!(error, RedbError::Foreign { .. }), "{error:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    let path = directory.path().join("other.redb");
    let other = Database::create(&path).unwrap();
    let transaction = other.begin_write().unwrap();
    transaction
        .open_table(NOTES)
        .unwrap()
        .insert("note", 1)
        .unwrap();
    transaction.commit().unwrap();
    drop(other);
    let error = open(&path).err().unwrap();
    assert!(matches!(error, RedbError::Foreign { .. }), "{error:?}");
    let other = Database::create(&path).unwrap();
    let transaction = other.begin_read().unwrap();
    assert_eq!(transaction.list_tables().unwrap().count(), 1);
}

#[test]
fn a_file_of_another_version_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("hosts.redb");
    drop(open(&path).unwrap());
    let later = Database::create(&path).unwrap();
    let transaction = later.begin_write().unwrap();
    let meta = TableDefinition::<&[u8], &[u8]>::new("frontier-meta");
    let mut rows = transaction.open_table(meta).unwrap();
    let next = 3_u64.to_be_bytes();
    rows.insert(&b"format"[..], &next[..]).unwrap();
    drop(rows);
    transaction.commit().unwrap();
    drop(later);
    let error = open(&path).err().unwrap();
    assert!(matches!(error, RedbError::Format { .. }), "{error:?}");
}

#[test]
fn a_file_of_the_first_format_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("hosts.redb");
    let earlier = Database::create(&path).unwrap();
    let transaction = earlier.begin_write().unwrap();
    let meta = TableDefinition::<&str, u64>::new("frontier-meta");
    let mut rows = transaction.open_table(meta).unwrap();
    rows.insert("format", 1).unwrap();
    drop(rows);
    transaction.commit().unwrap();
    drop(earlier);
    let error = open(&path).err().unwrap();
    assert!(matches!(error, RedbError::Format { .. }), "{error:?}");
}

#[test]
fn a_directory_and_a_missing_directory_are_errors() {
    let directory = tempfile::tempdir().unwrap();
    for path in [
        directory.path().to_owned(),
        directory.path().join("none/hosts.redb"),
    ] {
        let error = open(&path).err().unwrap();
        assert!(matches!(error, RedbError::Unreadable { .. }), "{error:?}");
    }
}

#[test]
fn a_damaged_file_is_an_error_or_read_in_full() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("hosts.redb");
    let store = open(&path).unwrap();
    for number in 0..200 {
        wait(store.add_host(&named(&format!("h{number}.example")), secs(0))).unwrap();
    }
    drop(store);
    let whole = fs::read(&path).unwrap();
    let mut refused = 0;
    for number in 0..64 {
        let mut damaged = whole.clone();
        let at = damaged.len() * number / 64;
        if number % 2 == 0 {
            damaged.truncate(at.max(1));
        } else {
            damaged[at..]
                .iter_mut()
                .take(600)
                .for_each(|byte| *byte ^= 0x5a);
        }
        fs::write(&path, &damaged).unwrap();
        match open(&path) {
            // The damage was in an unused part of the file.
            Ok(store) => assert_eq!(wait(store.counts()).unwrap().queued, 200, "damage {number}"),
            Err(_) => refused += 1,
        }
    }
    assert!(refused >= 32, "{refused}");
}

#[test]
fn tables_of_the_caller_are_written_with_a_release() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("hosts.redb");
    let store = open(&path).unwrap();
    wait(store.add_host(&named("a.example"), secs(0))).unwrap();
    let Ok(Reservation::Leased(lease)) = wait(store.reserve_next(secs(60))) else {
        panic!("a host is due");
    };
    let write = |value| {
        let lease = lease.clone();
        move |transaction: &mut RedbTransaction<'_>| {
            let state = transaction.release(&lease, Duration::ZERO, None);
            transaction.add_host(&named("b.example"), secs(1));
            (transaction.tables()?.open_table(NOTES)?).insert("note", value)?;
            Ok(state)
        }
    };
    // A failed operation is undone on both sides.
    let first = write(1);
    let failed: Result<(), _> = wait(store.write(move |transaction| {
        first(transaction)?;
        Err(redb::Error::LockPoisoned(std::panic::Location::caller()))
    }));
    assert!(matches!(failed, Err(StoreError::Failed(_))), "{failed:?}");
    assert_eq!(note(&store), None);
    let counts = wait(store.counts()).unwrap();
    assert_eq!((counts.busy, counts.queued), (1, 0));

    let done = wait(store.write(write(2))).unwrap();
    assert_eq!(done, LeaseState::Current);
    drop(store);
    let store = open(&path).unwrap();
    assert_eq!(note(&store), Some(2));
    let counts = wait(store.counts()).unwrap();
    assert_eq!((counts.busy, counts.queued), (0, 1));
}
