//! The size and the type of an object, without its content.

use git2::{Error, ErrorClass, ErrorCode, ObjectType, Odb, Oid};

use crate::git::unwinding::caught;

/// Returns the size of an object in bytes, and its type.
///
/// # Errors
///
/// If there is no such object, or its header is damaged.
pub(crate) fn header(odb: &Odb<'_>, id: Oid) -> Result<(u64, ObjectType), Error> {
    // git2 panics if the type is none of the four.
    let found = caught(|| odb.read_header(id));
    let (size, kind) = found.map_err(|_| damaged(id))??;
    Ok((size as u64, kind))
}

fn damaged(id: Oid) -> Error {
    let message = format!("the type of the object {id} is damaged");
    Error::new(ErrorCode::GenericError, ErrorClass::Odb, message)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use git2::Repository;

    use super::*;
    use crate::git::testing::pack_alone;

    #[test]
    fn an_unknown_type_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let repository = Repository::init_bare(directory.path()).unwrap();
        let blob = repository.blob(b"a\n").unwrap();
        let odb = repository.odb().unwrap();
        assert_eq!(header(&odb, blob).unwrap(), (2, ObjectType::Blob));

        let path = pack_alone(&repository, blob);
        let objects = directory.path().join("objects");
        let (folder, file) = (&blob.to_string()[..2], &blob.to_string()[2..]);
        fs::remove_file(objects.join(folder).join(file)).unwrap();
        // The type is three bits of the byte after the header of the pack (gitformat-pack(5)); 5 is
        // reserved.
        let mut bytes = fs::read(&path).unwrap();
        bytes[12] = bytes[12] & 0b1000_1111 | 5 << 4;
        fs::remove_file(&path).unwrap();
        fs::write(&path, bytes).unwrap();

        let repository = Repository::open(directory.path()).unwrap();
        let error = header(&repository.odb().unwrap(), blob).unwrap_err();
        assert_eq!(error, damaged(blob));
    }
}
