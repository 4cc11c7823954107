//! Unpacks files inside an office file, within limits.

use std::borrow::Cow;
use std::io::{Cursor, Read as _};

use zip::ZipArchive;

use crate::ingest::worker::Refusal;

/// Bytes of one unpacked file at most.
const PART_BYTES_MAX: u64 = 192 << 20;

/// An office file that is a zip archive.
pub(super) struct Package<'a>(ZipArchive<Cursor<&'a [u8]>>);

impl<'a> Package<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, Refusal> {
        ZipArchive::new(Cursor::new(bytes))
            .map(Self)
            .map_err(|error| Refusal::damaged(format!("it cannot be unpacked: {error}")))
    }

    /// Returns the names of the files inside, in order.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.0.file_names().flatten().map(Cow::into_owned).collect();
        names.sort_unstable();
        names
    }

    /// Returns the text of a file inside; none if it does not exist.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, Refusal> {
        let Ok(file) = self.0.by_name(name) else { return Ok(None) };
        let mut bytes = Vec::new();
        let damaged = |error: std::io::Error| Refusal::damaged(format!("`{name}` in it cannot be unpacked: {error}"));
        file.take(PART_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(damaged)?;
        if bytes.len() as u64 > PART_BYTES_MAX {
            return Err(Refusal::of_all(format!("`{name}` in it has more than {PART_BYTES_MAX} bytes")));
        }
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }
}
