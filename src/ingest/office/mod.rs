//! Documents of office programs: Word, `PowerPoint`, `OpenDocument` text and slides. Runs in a worker: the contents of
//! a file may be a thousand times as large when unpacked.

mod ooxml;
mod open_document;
mod package;
mod plain;
mod xml;

pub(super) use ooxml::read as read_ooxml;
pub(super) use open_document::read as read_open_document;

use super::worker::Refusal;

/// Refuses a file that is encrypted.
fn encrypted() -> Refusal {
    Refusal::of_all("it is encrypted: open it with its password and save it without one, then index that")
}
