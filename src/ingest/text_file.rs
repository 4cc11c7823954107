//! Reads whole files, within a limit.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// What stands before text in some files to tell the order of its bytes, which UTF-8 does not need.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns the first bytes of a file, so many at most.
pub(super) fn head(path: &Path, bytes_max: usize) -> Result<Vec<u8>, String> {
    let mut head = Vec::with_capacity(bytes_max);
    let file = File::open(path).map_err(|error| refused(&error))?;
    file.take(bytes_max as u64).read_to_end(&mut head).map_err(|error| refused(&error))?;
    Ok(head)
}

/// Returns the bytes of a file of at most `bytes_max` bytes, or why they cannot be had.
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

/// Says that the operating system refused, in its words.
pub(super) fn refused(error: &io::Error) -> String {
    format!("cannot be read: {error}")
}

/// Says where text ends to be UTF-8.
pub(super) fn not_utf8(at: u64) -> String {
    format!("not UTF-8 text, from byte {at}")
}

/// Says how large something is that may be no larger than `bytes_max`.
pub(super) fn too_large(bytes: u64, bytes_max: u64) -> String {
    format!("{bytes} bytes; a document may have {bytes_max}")
}
