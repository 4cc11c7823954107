//! The files of a database that `SQLite` keeps in the folder of an index. It opens them by name and follows links, so
//! they are checked first, and nothing else removes them.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::files;

/// The suffixes of `SQLite` for the files beside a database; the database itself is removed last, so that an
/// interrupted removal never leaves it without its log.
const COMPANIONS: [&str; 4] = ["-journal", "-wal", "-shm", ""];
/// The suffix of a database while it is created.
const UNFINISHED: &str = "-new";

/// Returns whether a file in the folder of an index is called as one of the database `database` is.
pub(super) fn is_file_of(name: &str, database: &str) -> bool {
    let rest = name.strip_prefix(database).map(|rest| rest.strip_prefix(UNFINISHED).unwrap_or(rest));
    rest.is_some_and(|rest| COMPANIONS.contains(&rest))
}

/// Checks that the database and its companions are files, not links, and that there is no journal beside it. Our
/// databases have a log, not a journal. One that is there was planted, or belongs to an incomplete copy: `SQLite` would
/// replay it at once, truncate and fill the database with it, and remove the files that it names.
pub(super) fn expect_files(database: &Path) -> Result<()> {
    companions(database).try_for_each(|path| files::expect_file(&path).map(drop))?;
    let journal = with_suffix(database, "-journal");
    let bytes = files::bytes_of_own(&journal)?;
    if bytes == 0 { Ok(()) } else { Err(Error::Foreign { path: journal }) }
}

/// Removes a database with its companions.
pub(super) fn remove(database: &Path) -> Result<()> {
    companions(database).try_for_each(|path| files::remove_own(&path).map(drop))
}

/// Removes the leftovers of a run that was killed while it created the database.
pub(super) fn remove_unfinished(database: &Path) -> Result<()> {
    remove(&unfinished(database))
}

/// Returns the name of a database while it is created.
pub(super) fn unfinished(database: &Path) -> PathBuf {
    with_suffix(database, UNFINISHED)
}

/// Returns the log of a database.
pub(super) fn log(database: &Path) -> PathBuf {
    with_suffix(database, "-wal")
}

fn companions(database: &Path) -> impl Iterator<Item = PathBuf> {
    COMPANIONS.iter().map(|suffix| with_suffix(database, suffix))
}

fn with_suffix(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_names_that_a_database_has_are_taken_for_its_files() {
        let ours = ["", "-journal", "-wal", "-shm", "-new", "-new-journal", "-new-wal", "-new-shm"];
        for suffix in ours {
            assert!(is_file_of(&format!("cairn.db{suffix}"), "cairn.db"), "{suffix}");
        }
        for name in ["cairn.db-newer", "cairn.db.bak", "cairn.db-new-new", "cairn.dbx", "mine.db", "cairn"] {
            assert!(!is_file_of(name, "cairn.db"), "{name}");
        }
    }

    #[test]
    fn only_the_remains_of_an_interrupted_creation_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("cairn.db");
        for name in ["cairn.db", "cairn.db-wal", "cairn.db-new", "cairn.db-new-journal", "cairn.db-new.txt"] {
            std::fs::write(folder.path().join(name), "x").unwrap();
        }
        remove_unfinished(&database).unwrap();
        let mut left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
        left.sort_unstable();
        assert_eq!(left, ["cairn.db", "cairn.db-new.txt", "cairn.db-wal"]);
    }

    #[test]
    fn a_database_with_a_journal_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("cairn.db");
        let journal = folder.path().join("cairn.db-journal");
        // An empty one is none.
        std::fs::write(&journal, "").unwrap();
        assert!(expect_files(&database).is_ok());
        std::fs::write(&journal, b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7").unwrap();
        assert!(matches!(expect_files(&database), Err(Error::Foreign { path }) if path == journal));
    }
}
