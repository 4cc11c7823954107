//! One writer per index: a lock on a file in its folder, which the operating system releases when the process ends.

use std::fs::{File, TryLockError};
use std::path::Path;

use super::LOCK;
use crate::error::{Error, Result};
use crate::files::{self, Readers};

/// The right to write the index; released when dropped, or when the process ends in any way.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

impl Drop for Lock {
    /// Closing the file would suffice, except for a process that another thread is starting: until it executes the new
    /// program, it holds every file of this one.
    fn drop(&mut self) {
        if let Err(error) = self.file.unlock() {
            tracing::debug!(%error, "the lock is lifted when the file is closed");
        }
    }
}

impl Lock {
    /// Takes the lock of the index in `folder`, at once or not at all.
    pub(super) fn take(folder: &Path) -> Result<Self> {
        let path = folder.join(LOCK);
        let file = files::append_own(&path, Readers::Usual)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file }),
            Err(TryLockError::WouldBlock) => Err(Error::Busy { path: folder.to_owned() }),
            Err(TryLockError::Error(source)) => Err(Error::Io { action: "lock", path, source }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_writer_is_busy_until_the_first_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let first = Lock::take(folder.path()).unwrap();
        assert!(matches!(Lock::take(folder.path()), Err(Error::Busy { path }) if path == folder.path()));
        drop(first);
        assert!(Lock::take(folder.path()).is_ok());
    }
}
