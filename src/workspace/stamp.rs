//! The expected size and checksums of a file of a version, kept in the records and checked before the file is used.

use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::Path;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::files;

/// Bytes of a file that are read at a time, and that one checksum of [`Blocks`] is of.
const BLOCK_BYTES: usize = 1 << 20;

/// Size and checksum of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    /// Its length.
    pub(super) bytes: u64,
    /// Its blake3 hash, in hexadecimal digits.
    pub(super) blake3: String,
}

/// Checksums of the parts of a file, so that a part can be checked without the rest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Blocks {
    /// Bytes of a block; the last may have fewer.
    bytes: u64,
    /// The blake3 hash of each, in hexadecimal digits, one after the other.
    blake3: String,
}

/// A file of a version, by its path inside the version's folder, with forward slashes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StampedFile {
    /// Its path.
    pub(super) path: String,
    /// Its expected size and checksum.
    #[serde(flatten)]
    pub(super) stamp: Stamp,
    /// The expected checksums of its parts, for a file that is checked on use and not when opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) blocks: Option<Blocks>,
}

impl Stamp {
    /// Returns the stamp of the file at `path`, as it is.
    pub(super) fn of(path: &Path) -> Result<Self> {
        let (mut bytes, mut hasher) = (0, blake3::Hasher::new());
        each_block(path, &mut |block| {
            bytes += block.len() as u64;
            hasher.update(block);
        })?;
        Ok(Self { bytes, blake3: hasher.finalize().to_hex().to_string() })
    }

    /// Checks that these bytes, of the file at `path`, are as many as were written.
    pub(super) fn check_size(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        if bytes.len() as u64 == self.bytes {
            return Ok(());
        }
        let reason = format!("it has {} bytes; {} were written", bytes.len(), self.bytes);
        Err(Error::Corrupt { path: path.to_owned(), reason })
    }

    /// Checks that these bytes, of the file at `path`, are what was written.
    pub(super) fn check(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        self.check_size(path, bytes)?;
        if blake3::hash(bytes).to_hex().as_str() == self.blake3 {
            return Ok(());
        }
        Err(Error::Corrupt { path: path.to_owned(), reason: "its contents are not what was written".to_owned() })
    }
}

/// A file that is stamped while it is written.
pub(super) struct Stamping<W> {
    inner: W,
    bytes: u64,
    hasher: blake3::Hasher,
    /// The stamps of its blocks, if they are wanted, and the block that is not whole yet.
    blocks: Option<(Blocks, blake3::Hasher)>,
}

impl<W> Stamping<W> {
    pub(super) fn new(inner: W) -> Self {
        Self { inner, bytes: 0, hasher: blake3::Hasher::new(), blocks: None }
    }

    /// Also stamps its blocks.
    pub(super) fn with_blocks(inner: W) -> Self {
        let blocks = Blocks { bytes: BLOCK_BYTES as u64, blake3: String::new() };
        Self { blocks: Some((blocks, blake3::Hasher::new())), ..Self::new(inner) }
    }

    /// Returns the file.
    pub(super) const fn inner(&self) -> &W {
        &self.inner
    }

    /// Returns the stamp of all that was written.
    pub(super) fn stamp(self) -> Stamp {
        self.stamps().0
    }

    /// Returns the stamp of all that was written, and those of its blocks.
    pub(super) fn stamps(self) -> (Stamp, Blocks) {
        let stamp = Stamp { bytes: self.bytes, blake3: self.hasher.finalize().to_hex().to_string() };
        let (mut blocks, last) =
            self.blocks.unwrap_or_else(|| (Blocks { bytes: 0, blake3: String::new() }, blake3::Hasher::new()));
        if last.count() > 0 {
            blocks.blake3.push_str(&last.finalize().to_hex());
        }
        (stamp, blocks)
    }

    fn add(&mut self, mut bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.hasher.update(bytes);
        let Some((blocks, block)) = &mut self.blocks else { return };
        while !bytes.is_empty() {
            let missing = BLOCK_BYTES - block.count() as usize;
            let (piece, rest) = bytes.split_at(missing.min(bytes.len()));
            block.update(piece);
            if piece.len() == missing {
                blocks.blake3.push_str(&block.finalize().to_hex());
                block.reset();
            }
            bytes = rest;
        }
    }
}

impl<W: Write> Write for Stamping<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // As much as is still at hand when it is hashed.
        let bytes = bytes.get(..BLOCK_BYTES).unwrap_or(bytes);
        let written = self.inner.write(bytes)?;
        self.add(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl Blocks {
    /// Returns whether these are checksums of all of a file of `bytes` bytes.
    pub(super) fn are_of(&self, bytes: u64) -> bool {
        self.bytes > 0
            && self.blake3.is_ascii()
            && self.blake3.len() as u64 == bytes.div_ceil(self.bytes).saturating_mul(HASH_DIGITS as u64)
    }

    /// Checks the blocks of `file` that `part` touches, in parallel; returns the first that is not what was written.
    pub(super) fn check(&self, file: &[u8], part: Range<usize>) -> Result<(), Range<usize>> {
        let bytes = usize::try_from(self.bytes).unwrap_or(usize::MAX).max(1);
        let check = |number: usize| {
            let block = number * bytes..number.saturating_add(1).saturating_mul(bytes).min(file.len());
            let due = self.blake3.get(number * HASH_DIGITS..(number + 1) * HASH_DIGITS);
            let is_due = |found: &[u8]| due == Some(blake3::hash(found).to_hex().as_str());
            if file.get(block.clone()).is_some_and(is_due) { Ok(()) } else { Err(block) }
        };
        let numbers = if part.is_empty() { 0..0 } else { part.start / bytes..part.end.div_ceil(bytes) };
        numbers.into_par_iter().map(check).collect::<Vec<_>>().into_iter().collect()
    }
}

/// Calls `visit` with each block of the file at `path`. It is read in pieces: a file that was just written would count
/// as memory of this process if it were mapped.
fn each_block(path: &Path, visit: &mut dyn FnMut(&[u8])) -> Result<()> {
    let (mut file, mut block) = (files::open(path)?, Vec::with_capacity(BLOCK_BYTES));
    loop {
        block.clear();
        Read::by_ref(&mut file).take(BLOCK_BYTES as u64).read_to_end(&mut block).map_err(Error::io("read", path))?;
        if block.is_empty() {
            return Ok(());
        }
        visit(&block);
    }
}

/// Hexadecimal digits of a hash.
const HASH_DIGITS: usize = 2 * blake3::OUT_LEN;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changed_by_a_byte_or_in_length_is_corrupt() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, b"abc").unwrap();
        let stamp = Stamp::of(&path).unwrap();
        assert!(stamp.check(&path, b"abc").is_ok());
        for contents in ["abd", "ab", "abcd", ""] {
            assert!(matches!(stamp.check(&path, contents.as_bytes()), Err(Error::Corrupt { .. })), "{contents}");
        }
        assert!(stamp.check_size(&path, b"abd").is_ok());
        assert!(stamp.check_size(&path, b"ab").is_err());
    }

    #[test]
    fn each_block_is_checked_where_it_is_touched_and_only_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for length in [0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 3 * BLOCK_BYTES + 5] {
            let mut contents: Vec<u8> = (0..length).map(|at| (at / 1000) as u8).collect();
            std::fs::write(&path, &contents).unwrap();
            let mut stamping = Stamping::with_blocks(Vec::new());
            // In pieces that end where no block does.
            contents.chunks(700_001).for_each(|piece| stamping.write_all(piece).unwrap());
            assert_eq!(stamping.inner(), &contents);
            let (stamp, blocks) = stamping.stamps();
            assert_eq!(stamp, Stamp::of(&path).unwrap());
            assert!(stamp.check(&path, &contents).is_ok());
            assert!(blocks.are_of(length as u64) && !blocks.are_of((length + BLOCK_BYTES) as u64));
            assert_eq!(blocks.check(&contents, 0..length), Ok(()));
            let Some(last) = length.checked_sub(1) else { continue };
            contents[last] ^= 1;
            let damaged = last / BLOCK_BYTES * BLOCK_BYTES..length;
            assert_eq!(blocks.check(&contents, 0..length), Err(damaged.clone()));
            assert_eq!(blocks.check(&contents, last..length), Err(damaged.clone()));
            assert_eq!(blocks.check(&contents, 0..damaged.start), Ok(()));
            // Bytes without a checksum are never accepted.
            contents[last] ^= 1;
            contents.extend_from_slice(&vec![0; BLOCK_BYTES]);
            assert!(blocks.check(&contents, 0..contents.len()).is_err());
        }
    }
}
