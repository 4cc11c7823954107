//! Reads whole files, within a limit.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The byte order mark before text in some files, which UTF-8 does not need.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns the first bytes of a file, at most `bytes_max`.
pub(super) fn head(path: &Path, bytes_max: usize) -> Result<Vec<u8>, String> {
    let mut head = Vec::with_capacity(bytes_max);
    let file = File::open(path).map_err(|error| refused(&error))?;
    file.take(bytes_max as u64).read_to_end(&mut head).map_err(|error| refused(&error))?;
    Ok(head)
}

/// Returns the bytes of a file of at most `bytes_max` bytes, or why it cannot be read.
pub(super) fn bytes(path: &Path, bytes_max: u64) -> Result<Vec<u8>, String> {
    let mut file = File::open(path).map_err(|error| refused(&error))?;
    let length = file.metadata().map_err(|error| refused(&error))?.len();
    if length > bytes_max {
        return Err(too_large(length, bytes_max));
    }
    let mut bytes = Vec::with_capacity(length as usize);
    // The file may grow while it is read.
    file.by_ref().take(bytes_max + 1).read_to_end(&mut bytes).map_err(|error| refused(&error))?;
    if bytes.len() as u64 > bytes_max {
        return Err(too_large(bytes.len() as u64, bytes_max));
    }
    Ok(bytes)
}

/// The reason for what the operating system refuses, in its words.
pub(super) fn refused(error: &io::Error) -> String {
    format!("cannot be read: {error}")
}

/// The reason for text that stops being UTF-8 at a byte.
pub(super) fn not_utf8(at: u64) -> String {
    format!("not UTF-8 text, from byte {at}")
}

/// The reason for something larger than `bytes_max`.
pub(super) fn too_large(bytes: u64, bytes_max: u64) -> String {
    format!("{bytes} bytes; a document may have {bytes_max}")
}
