//! Vectors of a version that is not written yet, kept as they arrive, so that an interrupted run does not compute, or
//! pay for, any of them twice. The file is removed once the version exists.
//!
//! It has a header that names the embedder, then entries of one size, each with a checksum: a key, which identifies the
//! text, and the vector in 8 bits. An incomplete last entry is cut off.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;

use super::WorkspaceOptions;
use crate::error::{Error, Result};
use crate::files;
use crate::graph::vectors::{QuantizedVectors, Vectors};

/// The magic bytes of the header.
const MAGIC: &[u8; 8] = b"CaVecs01";
/// Bytes of a key.
const KEY: usize = 32;
/// Bytes of a scale.
const SCALE: usize = size_of::<f32>();
/// Bytes of a checksum.
const SUM: usize = 8;

/// The digest of a vector's text.
pub(crate) type VectorKey = [u8; KEY];

/// Vectors of a version that is not written yet.
#[derive(Debug)]
pub struct FreshVectors {
    path: PathBuf,
    head: Vec<u8>,
    file: Option<File>,
}

impl FreshVectors {
    pub(super) fn new(path: PathBuf, pin: &WorkspaceOptions) -> Self {
        let pinned = blake3::hash(format!("{} {}", pin.dimension, pin.embedder).as_bytes());
        Self { path, head: [MAGIC, pinned.as_bytes().as_slice()].concat(), file: None }
    }

    /// Returns the vectors of an earlier run, and prepares for more. Vectors of another embedder are discarded.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be read or written.
    pub fn take_up(&mut self, dimension: usize) -> Result<(Vec<VectorKey>, QuantizedVectors)> {
        let Some(bytes) = self.bytes()? else { return Ok((Vec::new(), QuantizedVectors::new(dimension))) };
        let Some((keys, vectors)) = self.entries(&bytes, dimension) else {
            files::remove_own(&self.path)?;
            return Ok((Vec::new(), QuantizedVectors::new(dimension)));
        };
        let whole = self.head.len() + keys.len() * (KEY + SCALE + dimension + SUM);
        self.file = Some(files::append_own_after(&self.path, whole as u64)?);
        Ok((keys, vectors))
    }

    /// Returns which texts have vectors of this embedder from an earlier run. Nothing is written.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be read.
    pub fn keys(&self, dimension: usize) -> Result<Vec<VectorKey>> {
        let bytes = self.bytes()?.unwrap_or_default();
        Ok(self.entries(&bytes, dimension).unwrap_or_default().0)
    }

    fn bytes(&self) -> Result<Option<Vec<u8>>> {
        files::read_own(&self.path)
    }

    /// Returns the entries of a file, up to the first incomplete one; none if it is of another embedder.
    fn entries(&self, bytes: &[u8], dimension: usize) -> Option<(Vec<VectorKey>, QuantizedVectors)> {
        let (mut keys, mut vectors) = (Vec::new(), QuantizedVectors::new(dimension));
        let entries = bytes.strip_prefix(self.head.as_slice())?;
        for entry in entries.chunks_exact(KEY + SCALE + dimension + SUM) {
            let (said, sum) = entry.split_at(entry.len() - SUM);
            if checksum(said) != sum {
                break;
            }
            let (key, row) = said.split_at(KEY);
            keys.extend(VectorKey::try_from(key));
            vectors.push_bytes(row);
        }
        Some((keys, vectors))
    }

    /// Keeps the last of `vectors`, one a key.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be written.
    pub fn keep(&mut self, keys: &[VectorKey], vectors: &Vectors<'_>) -> Result<()> {
        let mut bytes = if self.file.is_none() { self.head.clone() } else { Vec::new() };
        for (key, row) in keys.iter().zip(vectors.len().saturating_sub(keys.len())..) {
            let start = bytes.len();
            bytes.extend_from_slice(key);
            bytes.extend_from_slice(&vectors.scale(row as u32).to_le_bytes());
            bytes.extend(vectors.codes(row as u32).iter().map(|code| code.cast_unsigned()));
            bytes.extend(checksum(&bytes[start..]));
        }
        let wrong = |error| Error::io("write", &self.path)(error);
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(files::create_own(&self.path)?),
        };
        file.write_all(&bytes).and_then(|()| file.sync_data()).map_err(wrong)
    }
}

fn checksum(bytes: &[u8]) -> [u8; SUM] {
    let mut sum = [0; SUM];
    sum.copy_from_slice(&blake3::hash(bytes).as_bytes()[..SUM]);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(path: &std::path::Path, embedder: &str) -> FreshVectors {
        let pin = WorkspaceOptions { embedder: embedder.to_owned(), dimension: 2 };
        FreshVectors::new(path.to_owned(), &pin)
    }

    fn vectors(rows: &[[f32; 2]]) -> QuantizedVectors {
        let mut vectors = QuantizedVectors::new(2);
        for row in rows {
            vectors.push(row);
        }
        vectors
    }

    #[test]
    fn what_was_kept_is_taken_up_as_far_as_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors.part");
        let mut fresh = at(&path, "a");
        assert_eq!(fresh.take_up(2).unwrap().0, [] as [VectorKey; 0]);
        let all = vectors(&[[1.0, 0.0], [0.6, 0.8], [0.0, -1.0]]);
        fresh.keep(&[[1; 32]], &vectors(&[[1.0, 0.0]]).view()).unwrap();
        fresh.keep(&[[2; 32], [3; 32]], &all.view()).unwrap();
        drop(fresh);
        assert_eq!(at(&path, "a").keys(2).unwrap(), [[1; 32], [2; 32], [3; 32]]);
        assert_eq!(at(&path, "b").keys(2).unwrap(), [] as [VectorKey; 0]);
        assert_eq!(at(&path, "a").take_up(2).unwrap(), (vec![[1; 32], [2; 32], [3; 32]], all));

        // It is cut within the last entry, and then continued from there.
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        let mut fresh = at(&path, "a");
        assert_eq!(fresh.take_up(2).unwrap().0, [[1; 32], [2; 32]]);
        fresh.keep(&[[4; 32]], &vectors(&[[0.0, 1.0]]).view()).unwrap();
        assert_eq!(at(&path, "a").take_up(2).unwrap().0, [[1; 32], [2; 32], [4; 32]]);

        // A bit of the second entry is changed.
        let mut bytes = std::fs::read(&path).unwrap();
        let second = at(&path, "a").head.len() + KEY + SCALE + 2 + SUM + KEY;
        bytes[second] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(at(&path, "a").take_up(2).unwrap().0, [[1; 32]]);
        assert_eq!(at(&path, "b").take_up(2).unwrap().0, [] as [VectorKey; 0]);
        assert!(!path.exists());
    }
}
