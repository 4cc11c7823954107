//! What a file of a version must be: its size and checksum, kept in the records, checked before the file is relied on.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::mapping::Mapping;
use crate::error::{Error, Result};

/// Bytes of a file that are read at a time.
const PIECE_BYTES: usize = 1 << 20;

/// Size and checksum of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    /// Its length.
    pub(super) bytes: u64,
    /// Its blake3 hash, in hexadecimal digits.
    pub(super) blake3: String,
}

/// A file of a version, by its path inside the version's folder, with forward slashes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StampedFile {
    /// Where it lies.
    pub(super) path: String,
    /// What it must be.
    #[serde(flatten)]
    pub(super) stamp: Stamp,
}

impl Stamp {
    /// Returns the stamp of the file at `path`, as it is. It is read in pieces: a file that was just written would
    /// count as memory of this process if it were mapped.
    pub(super) fn of(path: &Path) -> Result<Self> {
        let stamp = || -> io::Result<Self> {
            let (mut file, mut hasher) = (File::open(path)?, blake3::Hasher::new());
            let (mut piece, mut bytes) = (vec![0; PIECE_BYTES], 0);
            loop {
                match file.read(&mut piece) {
                    Ok(0) => return Ok(Self { bytes, blake3: hasher.finalize().to_hex().to_string() }),
                    Ok(count) => {
                        hasher.update(&piece[..count]);
                        bytes += count as u64;
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
        };
        stamp().map_err(Error::io("open", path))
    }

    fn of_bytes(bytes: &[u8]) -> Self {
        Self { bytes: bytes.len() as u64, blake3: blake3::hash(bytes).to_hex().to_string() }
    }

    /// Checks that the file at `path` is what was written.
    pub(super) fn check(&self, path: &Path, depth: Depth) -> Result<()> {
        let mapping = Mapping::open(path).map_err(Error::io("open", path))?;
        let corrupt = |reason| Err(Error::Corrupt { path: path.to_owned(), reason });
        let bytes = mapping.bytes().len() as u64;
        if bytes != self.bytes {
            return corrupt(format!("it has {bytes} bytes; {} were written", self.bytes));
        }
        if depth == Depth::Contents && Self::of_bytes(mapping.bytes()) != *self {
            return corrupt("its contents are not what was written".to_owned());
        }
        Ok(())
    }
}

/// How much of a file is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// Its size.
    Size,
    /// Every byte.
    Contents,
}

/// Makes sure that a file or folder is on the disk.
pub(super) fn sync(path: &Path) -> Result<()> {
    // Windows opens no folder as a file, and needs none to be synced.
    if cfg!(windows) && path.is_dir() {
        return Ok(());
    }
    File::open(path).and_then(|file| file.sync_all()).map_err(Error::io("sync", path))
}

/// Returns whether an error says that a file is not there.
pub(super) fn is_missing(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changed_by_a_byte_or_in_length_is_corrupt() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, b"abc").unwrap();
        let stamp = Stamp::of(&path).unwrap();
        assert!(stamp.check(&path, Depth::Contents).is_ok());
        for (contents, depth) in [("abd", Depth::Contents), ("ab", Depth::Size), ("", Depth::Contents)] {
            std::fs::write(&path, contents).unwrap();
            assert!(matches!(stamp.check(&path, depth), Err(Error::Corrupt { .. })), "{contents}");
        }
        std::fs::remove_file(&path).unwrap();
        assert!(stamp.check(&path, Depth::Size).is_err_and(|error| is_missing(&error)));
    }
}
