//! Files beside an index that are read completely or not at all: sections, and a checksum over all of them.

use std::path::Path;

use crate::error::Result;
use crate::workspace::sections::{self, Contents, Sections};

/// The section with the checksum of all others.
const CHECKSUM: &str = "copy.checksum";

/// Writes sections and their checksum.
pub(super) fn write(path: &Path, parts: &[(&str, &[u8])]) -> Result<()> {
    let checksum = checksum(parts.iter().map(|it| it.1));
    let parts = parts.iter().copied().chain([(CHECKSUM, &checksum[..])]);
    let parts: Vec<_> = parts.map(|(name, bytes)| (name, Contents::Bytes(bytes))).collect();
    sections::write(path, &parts).map(drop)
}

/// Returns whether sections are what was written.
pub(super) fn is_whole(sections: &Sections) -> bool {
    let all = sections.iter().filter(|(name, _)| *name != CHECKSUM).map(|it| it.1);
    section(sections, CHECKSUM).is_some_and(|due| due == checksum(all))
}

/// Returns a section.
pub(super) fn section<'a>(sections: &'a Sections, name: &str) -> Option<&'a [u8]> {
    Some(sections.at(sections.range(name)?))
}

fn checksum<'a>(parts: impl Iterator<Item = &'a [u8]>) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    *hasher.finalize().as_bytes()
}
