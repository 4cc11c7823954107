//! A file of named arrays that opens without parsing: `graph.bin`, `texts.bin`, `vectors.bin`, copies of structures.
//!
//! ```text
//! 0   magic "CAIRNSEC"
//! 8   INDEX_FORMAT, then 0x01020304 in the byte order of the arrays, then the number of sections, then 0   (u32 each)
//! 24  a table: name (32 bytes, padded with zeros), offset, length   (u64 each)
//! …   the sections, each at a multiple of 8 bytes, padded with zeros
//! ```
//!
//! Numbers of the header are little-endian. Nothing in a file is trusted: offsets, lengths and names are checked when
//! it is opened, so later reads stay inside it.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::mapping::Mapping;
use super::stamp::{Blocks, Stamp, Stamping};
use super::version_files::HeldFile;
use super::{FileAccess, INDEX_FORMAT, INDEX_FORMAT_MIN};
use crate::error::{Error, Result};
use crate::files;

const MAGIC: &[u8; 8] = b"CAIRNSEC";
const BYTE_ORDER: u32 = 0x0102_0304;
const HEADER_BYTES: usize = 24;
const NAME_BYTES: usize = 32;
const ENTRY_BYTES: usize = NAME_BYTES + 16;
/// More than any file of ours has; a larger number is damage.
const SECTION_COUNT_MAX: usize = 1024;
const ALIGNMENT: usize = 8;
/// Bytes that are gathered before they are hashed and written: hashes of many bytes cost a fraction of those of few.
pub(super) const BUFFER_BYTES: usize = 1 << 18;

/// Writes the bytes of a section.
pub(crate) type Gather<'a> = dyn Fn(&mut dyn Write) -> io::Result<()> + 'a;

/// The contents of a section.
#[derive(Clone, Copy)]
pub(crate) enum Contents<'a> {
    /// Raw bytes.
    Bytes(&'a [u8]),
    /// So many bytes, gathered while they are written.
    Gathered(usize, &'a Gather<'a>),
}

impl Contents<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Gathered(bytes, _) => *bytes,
        }
    }

    fn write(&self, file: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Bytes(bytes) => file.write_all(bytes),
            Self::Gathered(_, gather) => gather(file),
        }
    }
}

/// Writes `sections` to `path`, under another name first, and syncs them; returns the stamp of the file.
pub(crate) fn write(path: &Path, sections: &[(&str, Contents<'_>)]) -> Result<Stamp> {
    Ok(write_synced(path, sections, Stamping::new)?.stamp())
}

/// As [`write()`]; also returns the stamps of its parts.
pub(super) fn write_with_blocks(path: &Path, sections: &[(&str, Contents<'_>)]) -> Result<(Stamp, Blocks)> {
    Ok(write_synced(path, sections, Stamping::with_blocks)?.stamps())
}

fn write_synced(
    path: &Path,
    sections: &[(&str, Contents<'_>)],
    stamping: impl Fn(File) -> Stamping<File>,
) -> Result<Stamping<File>> {
    let unfinished = path.with_extension("tmp");
    let file = stamping(files::create_own(&unfinished)?);
    let written = write_file(file, sections).map_err(Error::io("write", &unfinished))?;
    files::rename_own(&unfinished, path)?;
    Ok(written)
}

fn write_file(file: Stamping<File>, sections: &[(&str, Contents<'_>)]) -> io::Result<Stamping<File>> {
    let mut file = BufWriter::with_capacity(BUFFER_BYTES, file);
    file.write_all(MAGIC)?;
    file.write_all(&INDEX_FORMAT.to_le_bytes())?;
    file.write_all(&BYTE_ORDER.to_ne_bytes())?;
    file.write_all(&(sections.len() as u32).to_le_bytes())?;
    file.write_all(&[0; 4])?;
    let mut offset = HEADER_BYTES + sections.len() * ENTRY_BYTES;
    for (name, contents) in sections {
        let mut padded = [0; NAME_BYTES];
        let Some(start) = padded.get_mut(..name.len()) else {
            return Err(io::Error::other(format!("the name `{name}` is longer than {NAME_BYTES} bytes")));
        };
        start.copy_from_slice(name.as_bytes());
        file.write_all(&padded)?;
        file.write_all(&(offset as u64).to_le_bytes())?;
        file.write_all(&(contents.len() as u64).to_le_bytes())?;
        offset += contents.len().next_multiple_of(ALIGNMENT);
    }
    for (_, contents) in sections {
        contents.write(&mut file)?;
        file.write_all(&[0; ALIGNMENT][..contents.len().next_multiple_of(ALIGNMENT) - contents.len()])?;
    }
    let file = file.into_inner()?;
    file.inner().sync_all()?;
    Ok(file)
}

/// A file of sections, open.
#[derive(Debug)]
pub(crate) struct Sections {
    path: PathBuf,
    bytes: Bytes,
    table: Vec<(String, Range<usize>)>,
}

/// The owner of the bytes.
#[derive(Debug)]
enum Bytes {
    /// A file of a version.
    OfVersion(Arc<HeldFile>),
    /// A file that is not part of an index.
    Read(Mapping),
}

impl Bytes {
    fn all(&self) -> &[u8] {
        match self {
            Self::OfVersion(file) => file.bytes(),
            Self::Read(mapping) => mapping.bytes(),
        }
    }
}

impl Sections {
    /// Reads a file of ours that is not part of an index.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let missing = || Error::io("open", path)(io::ErrorKind::NotFound.into());
        let file = files::open_own(path)?.ok_or_else(missing)?;
        let mapping = Mapping::of(&file, FileAccess::Read).map_err(Error::io("read", path))?;
        Self::with(path, Bytes::Read(mapping))
    }

    /// Takes a file of a version.
    pub(super) fn of(file: &Arc<HeldFile>) -> Result<Self> {
        // The table of sections is in the first block, which is checked unless the whole file was.
        file.check_part(0..file.bytes().len().min(1))?;
        Self::with(file.path(), Bytes::OfVersion(Arc::clone(file)))
    }

    fn with(path: &Path, bytes: Bytes) -> Result<Self> {
        let table = read_table(bytes.all())
            .map_err(|reason| Error::Corrupt { path: path.to_owned(), reason: reason.to_owned() })?;
        Ok(Self { path: path.to_owned(), bytes, table })
    }

    /// Checks the part of the file at `range` against what was written.
    pub(super) fn check(&self, range: Range<usize>) -> Result<()> {
        match &self.bytes {
            Bytes::OfVersion(file) => file.check_part(range),
            Bytes::Read(_) => Ok(()),
        }
    }

    /// Returns the position of the section `name`.
    pub(crate) fn range(&self, name: &str) -> Option<Range<usize>> {
        self.table.iter().find(|(it, _)| it == name).map(|(_, range)| range.clone())
    }

    /// Iterates over all sections, in file order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.table.iter().map(|(name, range)| (name.as_str(), self.at(range.clone())))
    }

    /// Returns the bytes at a range that [`Self::range`] gave.
    pub(crate) fn at(&self, range: Range<usize>) -> &[u8] {
        self.bytes.all().get(range).unwrap_or_default()
    }

    /// Returns the items at a range that [`Self::array`] found whole.
    pub(crate) fn items<T: bytemuck::AnyBitPattern>(&self, range: Range<usize>) -> &[T] {
        bytemuck::try_cast_slice(self.at(range)).unwrap_or_default()
    }

    /// Returns the position of the section `name`, which must be a whole number of `T`.
    pub(crate) fn array<T: bytemuck::AnyBitPattern>(&self, name: &str) -> Result<Range<usize>> {
        let range = self.range(name).ok_or_else(|| self.corrupt(format!("it has no section `{name}`")))?;
        match bytemuck::try_cast_slice::<u8, T>(self.at(range.clone())) {
            Ok(_) => Ok(range),
            Err(_) => {
                Err(self.corrupt(format!("section `{name}` has {} bytes, no whole number of items", range.len())))
            }
        }
    }

    /// Returns an error that names this file.
    pub(crate) fn corrupt(&self, reason: impl Into<String>) -> Error {
        Error::Corrupt { path: self.path.clone(), reason: reason.into() }
    }
}

fn read_table(bytes: &[u8]) -> Result<Vec<(String, Range<usize>)>, &'static str> {
    let header = bytes.get(..HEADER_BYTES).ok_or("it is shorter than its header")?;
    if &header[..8] != MAGIC {
        return Err("it does not begin as a file of an index");
    }
    if !(INDEX_FORMAT_MIN..=INDEX_FORMAT).contains(&u32_at(header, 8)) {
        return Err("it has another format than its index");
    }
    if header[12..16] != BYTE_ORDER.to_ne_bytes() {
        return Err("it was made on a machine of another byte order");
    }
    let count = u32_at(header, 16) as usize;
    if count > SECTION_COUNT_MAX {
        return Err("its table of sections is damaged");
    }
    let entries = bytes.get(HEADER_BYTES..HEADER_BYTES + count * ENTRY_BYTES).ok_or("its table of sections is cut")?;
    entries.chunks_exact(ENTRY_BYTES).map(|entry| read_entry(entry, bytes.len())).collect()
}

fn read_entry(entry: &[u8], file_bytes: usize) -> Result<(String, Range<usize>), &'static str> {
    let name = entry[..NAME_BYTES].split(|byte| *byte == 0).next().unwrap_or_default();
    let name = std::str::from_utf8(name).map_err(|_| "a section has a damaged name")?;
    let start = u64_at(entry, NAME_BYTES);
    let end = start.checked_add(u64_at(entry, NAME_BYTES + 8)).ok_or("a section ends nowhere")?;
    if end > file_bytes as u64 {
        return Err("it is cut: a section ends beyond it");
    }
    if !start.is_multiple_of(ALIGNMENT as u64) {
        return Err("a section is not aligned");
    }
    Ok((name.to_owned(), start as usize..end as usize))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|it| it.try_into().ok()).map_or(0, u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|it| it.try_into().ok()).map_or(0, u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn written(folder: &Path) -> PathBuf {
        let path = folder.join("file.bin");
        let numbers = [1u32, 2, 3];
        let text = Contents::Gathered(3, &|file| file.write_all(b"ab").and_then(|()| file.write_all(b"c")));
        let bytes = |bytes| Contents::Bytes(bytes);
        write(&path, &[("numbers", bytes(bytemuck::cast_slice(&numbers))), ("none", bytes(b"")), ("text", text)])
            .unwrap();
        path
    }

    #[test]
    fn sections_come_back_aligned_and_whole() {
        let folder = tempfile::tempdir().unwrap();
        let sections = Sections::read(&written(folder.path())).unwrap();
        assert_eq!(sections.items::<u32>(sections.array::<u32>("numbers").unwrap()), [1, 2, 3]);
        assert_eq!(sections.items::<u64>(sections.array::<u64>("none").unwrap()), [0; 0]);
        assert_eq!(sections.at(sections.range("text").unwrap()), b"abc");
        assert!(sections.array::<u64>("numbers").is_err());
        assert!(sections.array::<u8>("other").is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_cut_or_changed_anywhere_is_corrupt_or_opens_and_never_panics() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path());
        let whole = std::fs::read(&path).unwrap();
        for length in 0..whole.len() - 8 {
            std::fs::write(&path, &whole[..length]).unwrap();
            let error = Sections::read(&path).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{length}");
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0xff;
            std::fs::write(&path, &changed).unwrap();
            if let Ok(sections) = Sections::read(&path) {
                for name in ["numbers", "none", "text"] {
                    let _found = sections.array::<u32>(name).map(|range| sections.items::<u32>(range).len());
                }
            }
        }
    }

    #[test]
    fn a_name_that_does_not_fit_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let name = "x".repeat(NAME_BYTES + 1);
        assert!(write(&folder.path().join("file.bin"), &[(&name, Contents::Bytes(b""))]).is_err());
    }
}
