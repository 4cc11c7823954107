//! The messages of errors, and which of them are damage.

use rusqlite::ffi;
use tantivy::directory::error::OpenReadError;

use super::*;

#[test]
fn too_little_memory_and_a_disk_that_fails_are_no_damage_and_no_fault_of_the_program() {
    let sqlite = |code| Error::records("open")(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
    let memory = || io::Error::from(io::ErrorKind::OutOfMemory);
    let read = OpenReadError::wrap_io_error(memory(), PathBuf::from("a.idx"));
    let out_of_memory =
        [sqlite(ffi::SQLITE_NOMEM), Error::io("open", "graph.bin")(memory()), Error::text_index("open")(read.into())];
    for error in out_of_memory {
        assert_eq!(error.kind(), ErrorKind::Io, "{error}");
    }
    for code in [ffi::SQLITE_NOMEM, ffi::SQLITE_IOERR_NOMEM] {
        assert!(sqlite(code).is_out_of_memory(), "{code}");
    }
    assert!(Error::io("open", "graph.bin")(memory()).is_out_of_memory());
    for code in [ffi::SQLITE_IOERR_FSYNC, ffi::SQLITE_IOERR_DIR_FSYNC, ffi::SQLITE_FULL, ffi::SQLITE_IOERR_WRITE] {
        assert_eq!(sqlite(code).kind(), ErrorKind::Io, "{code}");
    }
    assert_eq!(sqlite(ffi::SQLITE_CORRUPT).kind(), ErrorKind::Corrupt);
}
