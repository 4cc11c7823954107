//! The position of a record, and the message about an invalid one.

use std::fmt;

use serde_json::{Map, Value};

use crate::error::Result;

/// Takes a record with its place, or the reason why there is none at that place.
pub(super) type Visit<'a> = dyn FnMut(Place, Result<Record, String>) -> Result<()> + 'a;

/// A record of a file, and where it begins.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Record {
    pub(super) fields: Map<String, Value>,
    pub(super) begins: Begins,
}

/// Where a record begins, which distinguishes it from all others of its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Begins {
    /// The line, counted from 1.
    pub(super) line: u32,
    /// How many records begin on that line up to this one, itself included.
    pub(super) nth: u32,
}

impl Begins {
    /// Returns the beginning of the first record on a line.
    pub(super) const fn line(line: u32) -> Self {
        Self { line, nth: 1 }
    }
}

impl fmt::Display for Begins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self { line, nth: 1 } => write!(f, ":{line}"),
            Self { line, nth } => write!(f, ":{line}#{nth}"),
        }
    }
}

/// Returns whether this address identifies a record without an id: it names a JSON file and where the record begins.
pub(crate) fn is_of_record_without_id(address: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let is_place = |place: &str| match place.split_once('#') {
        Some((line, nth)) => is_number(line) && is_number(nth),
        None => is_number(place),
    };
    let is_json = |file: &str| [".json", ".ndjson"].iter().any(|ending| file.to_ascii_lowercase().contains(ending));
    address.rsplit_once(':').is_some_and(|(file, place)| is_json(file) && is_place(place))
}

/// A place in a file, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The whole file.
    File,
    /// A line.
    Line(u32),
    /// An item of the array that the file is.
    Item(u32),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => Ok(()),
            Self::Line(line) => write!(f, ":{line}"),
            Self::Item(item) => write!(f, ", item {item}"),
        }
    }
}

pub(super) const NO_RECORD: &str = "it holds no record";
pub(super) const NO_OBJECT: &str = "not a JSON object";

/// Returns the parser's message with only the column: the line is part of the place.
pub(super) fn without_line(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => format!("{} at column {}", &text[..end], error.column()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_without_an_id_is_known_by_its_address() {
        for (address, expect) in [
            ("notes/a.jsonl:2", true),
            ("docs.zip!a.JSON:1#3", true),
            ("notes/a.jsonl", false),
            ("notes/a.jsonl#2", false),
            ("notes/a.md:2", false),
            ("notes/a.json:2x", false),
            ("notes/a.json:", false),
            ("notes/a.json:1#", false),
        ] {
            assert_eq!(is_of_record_without_id(address), expect, "{address}");
        }
    }
}
