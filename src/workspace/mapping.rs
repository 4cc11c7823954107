//! A file as a slice of bytes, mapped or read: the only place where `unsafe` is allowed for that.
//!
//! # Why it is sound
//!
//! A mapped slice must not change while it is borrowed. Every file that is mapped here belongs to a finished version of
//! an index. Such a file is written under another name, synced, and renamed into place; after that no code of this
//! program opens it for writing, and it is never truncated: a version that is no longer needed is *deleted*, which
//! leaves the pages of existing mappings intact. The mapping is read-only, and the slice lives no longer than the
//! [`Mapping`] that owns the pages. Files on file systems where another machine may change them are read instead of
//! mapped. The remaining risk is another program on this machine that writes to the folder of an index while it is
//! read, or truncates a file there, which ends a process that maps it by SIGBUS; [`FileAccess::Read`] is for those who
//! cannot rule that out. Contents are checked against their checksum before anything relies on them.
//!
//! Pages of a mapping may be given back while slices of it are borrowed, which `memmap2` leaves to the caller: for
//! memory that comes back as zeros, that would be wrong. This memory never does. The mapping is shared, of a file, and
//! read-only, so a page that was given back is mapped again from the file when it is used next, and no byte of it ever
//! has another value.
//!
//! A mapping starts at a page boundary, and a file that is read is stored in words of 8 bytes, so offsets that are
//! aligned in the file are aligned in memory.
#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, Read as _};

use memmap2::Mmap;
#[cfg(unix)]
use memmap2::UncheckedAdvice;

use super::FileAccess;
use crate::files;

/// Bytes of a word of a file that is read.
const WORD: usize = size_of::<u64>();

/// A file of a finished version, held read-only.
#[derive(Debug)]
pub(super) enum Mapping {
    /// Mapped; never an empty file, which cannot be.
    Pages(Mmap),
    /// Read: so many bytes of these words.
    Words(Vec<u64>, usize),
}

impl Mapping {
    /// Holds an open file.
    pub(super) fn of(file: &File, access: FileAccess) -> io::Result<Self> {
        let bytes = file.metadata()?.len();
        if bytes > 0 && access == FileAccess::Auto && files::is_on_local_disk(file) {
            // SAFETY: the file is immutable once it has its name, and only ever deleted; see the proof above.
            return unsafe { Mmap::map(file) }.map(Self::Pages);
        }
        Self::read(file, usize::try_from(bytes).map_err(|_| io::ErrorKind::OutOfMemory)?)
    }

    /// Reads a file that had so many bytes. If it was truncated in the meantime, the rest is missing.
    fn read(mut file: &File, bytes: usize) -> io::Result<Self> {
        let mut words = Vec::new();
        let count = bytes.div_ceil(WORD);
        // Too little memory is an error, not the end of the process.
        words.try_reserve_exact(count).map_err(|_| io::ErrorKind::OutOfMemory)?;
        words.resize(count, 0);
        let mut held = 0;
        let room = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut words)[..bytes];
        while held < bytes {
            match file.read(&mut room[held..]) {
                Ok(0) => break,
                Ok(count) => held += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Self::Words(words, held))
    }

    /// Gives back the memory of the pages that were used. Those that are used again are mapped again.
    pub(super) fn release(&self) {
        #[cfg(unix)]
        if let Self::Pages(pages) = self {
            // SAFETY: `Mmap::map` makes a shared mapping of a file, here of one that is immutable: its pages come back
            // as they were; see the proof above. A system that refuses keeps them.
            let _released = unsafe { pages.unchecked_advise(UncheckedAdvice::DontNeed) };
        }
    }

    /// Returns the bytes of the file.
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Pages(pages) => pages,
            Self::Words(words, bytes) => bytemuck::cast_slice(words).get(..*bytes).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [FileAccess; 2] = [FileAccess::Auto, FileAccess::Read];

    #[test]
    fn a_mapping_holds_what_reading_returns_and_outlives_the_name() {
        let folder = tempfile::tempdir().unwrap();
        for (contents, access) in
            [&b""[..], b"x", &vec![7; 100_000]].into_iter().flat_map(|it| BOTH.map(|access| (it, access)))
        {
            let path = folder.path().join("file");
            std::fs::write(&path, contents).unwrap();
            let mapping = Mapping::of(&File::open(&path).unwrap(), access).unwrap();
            assert_eq!(mapping.bytes(), std::fs::read(&path).unwrap());
            std::fs::remove_file(&path).unwrap();
            assert_eq!(mapping.bytes(), contents);
            mapping.release();
            assert_eq!(mapping.bytes(), contents);
        }
    }

    #[test]
    fn a_mapping_starts_where_a_page_or_a_word_starts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, [1; 16]).unwrap();
        for access in BOTH {
            let mapping = Mapping::of(&File::open(&path).unwrap(), access).unwrap();
            assert!(bytemuck::try_cast_slice::<u8, u64>(mapping.bytes()).is_ok());
        }
    }

    /// Without this, an update would hold all files of the last version in memory at once.
    #[test]
    #[cfg(target_os = "linux")]
    fn pages_that_are_given_back_are_in_memory_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pages");
        std::fs::write(&path, vec![7; 1 << 20]).unwrap();
        let mapping = Mapping::of(&File::open(&path).unwrap(), FileAccess::Auto).unwrap();
        if matches!(mapping, Mapping::Words(..)) {
            return;
        }
        let resident = || {
            let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
            let own = maps.lines().skip_while(|line| !line.ends_with(path.to_str().unwrap()));
            own.map_while(|line| (!line.starts_with("VmFlags")).then_some(line))
                .find_map(|line| line.strip_prefix("Rss:"))
                .map(|rss| rss.trim().to_owned())
        };
        assert!(mapping.bytes().iter().all(|byte| *byte == 7));
        assert!(resident().is_some_and(|rss| rss != "0 kB"));
        mapping.release();
        assert_eq!(resident().as_deref(), Some("0 kB"));
        assert!(mapping.bytes().iter().all(|byte| *byte == 7));
    }

    /// With a mapped file, SIGBUS would end this process here.
    #[test]
    fn what_was_read_stays_when_the_file_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let contents = vec![7; 100_000];
        std::fs::write(&path, &contents).unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        let mapping = Mapping::of(&file, FileAccess::Read).unwrap();
        file.set_len(0).unwrap();
        assert_eq!(mapping.bytes(), contents);
    }

    #[test]
    fn a_file_that_was_cut_while_it_was_read_is_held_as_far_as_it_goes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, [7; 10]).unwrap();
        assert_eq!(Mapping::read(&File::open(&path).unwrap(), 100).unwrap().bytes(), [7; 10]);
    }

    #[test]
    fn memory_that_is_not_there_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let file = File::create_new(&path).unwrap();
        let error = Mapping::read(&file, usize::MAX / 2).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::OutOfMemory);
    }
}
