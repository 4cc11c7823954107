//! A file as a slice of bytes, without reading it: the one place where `unsafe` is allowed for that.
//!
//! # Why it is sound
//!
//! A mapped slice must not change while it is borrowed. Every file that is mapped here belongs to a finished version of
//! an index. Such a file is written under another name, synced, and renamed into place; after that no code of this
//! program opens it for writing, and it is never truncated: a version that is no longer needed is *deleted*, which
//! leaves the pages of those who still map it as they are. The mapping is read-only and private to this process, and
//! the slice lives no longer than the [`Mapping`] that owns the pages. What is left is another program that writes into
//! the folder of an index while it is read; the same holds for every program that maps a file, and contents are checked
//! against their checksum before anything relies on them.
//!
//! The base of a mapping is the start of a page, so that offsets that are aligned in the file are aligned in memory.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::Mmap;

/// A file of a finished version, mapped read-only.
#[derive(Debug)]
pub(super) struct Mapping {
    /// Nothing for an empty file, which cannot be mapped.
    pages: Option<Mmap>,
}

impl Mapping {
    /// Maps the file at `path`.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        if file.metadata()?.len() == 0 {
            return Ok(Self { pages: None });
        }
        // SAFETY: the file is immutable once it has its name, and only ever deleted; see the proof above.
        let pages = unsafe { Mmap::map(&file) }?;
        Ok(Self { pages: Some(pages) })
    }

    /// Returns the bytes of the file.
    pub(super) fn bytes(&self) -> &[u8] {
        self.pages.as_deref().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_holds_what_reading_returns_and_outlives_the_name() {
        let folder = tempfile::tempdir().unwrap();
        for contents in [&b""[..], b"x", &vec![7; 100_000]] {
            let path = folder.path().join("file");
            std::fs::write(&path, contents).unwrap();
            let mapping = Mapping::open(&path).unwrap();
            assert_eq!(mapping.bytes(), std::fs::read(&path).unwrap());
            std::fs::remove_file(&path).unwrap();
            assert_eq!(mapping.bytes(), contents);
        }
    }

    #[test]
    fn a_mapping_starts_where_a_page_starts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, [1; 16]).unwrap();
        let mapping = Mapping::open(&path).unwrap();
        assert!(bytemuck::try_cast_slice::<u8, u64>(mapping.bytes()).is_ok());
    }
}
