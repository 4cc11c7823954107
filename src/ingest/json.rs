//! Files that are a record or an array of records, read item by item: an array may be larger than memory, an item not.

use std::cell::Cell;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::place::{Begins, NO_OBJECT, NO_RECORD, Place, Record, Visit, without_line};
use super::text_file::{BYTE_ORDER_MARK, not_utf8, refused};
use super::values::{VALUES_MAX, Values, too_many};
use crate::error::{Error, Result};

/// Calls `visit` for the object in a file, or for each item of the array in it.
pub(super) fn read(path: &Path, bytes_max: u64, visit: &mut Visit<'_>) -> Result<()> {
    match open(path) {
        Ok(file) => read_from(file, &|| first_not_utf8(File::open(path)?), bytes_max, visit),
        Err(error) => visit(Place::File, Err(refused(&error))),
    }
}

/// Calls `visit` for the object in these bytes, or for each item of the array in them.
pub(super) fn read_bytes(bytes: &[u8], bytes_max: u64, visit: &mut Visit<'_>) -> Result<()> {
    let json = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    read_from(json, &|| first_not_utf8(bytes), bytes_max, visit)
}

/// Reads `file`; `not_utf8` finds the first byte in it that is not UTF-8.
fn read_from(
    file: impl BufRead,
    not_utf8: &dyn Fn() -> io::Result<Option<u64>>,
    bytes_max: u64,
    visit: &mut Visit<'_>,
) -> Result<()> {
    let (left, lines) = (Cell::new(bytes_max), Cell::new(1));
    let begins = Begins { line: 0, nth: 0 };
    let mut items = Items { visit, left: &left, lines: &lines, begins, bytes_max, count: 0, stopped: None };
    let mut parser = serde_json::Deserializer::from_reader(Metered { file, left: &left, lines: &lines });
    let parsed = parser.deserialize_any(&mut items).and_then(|()| parser.end());
    let (count, stopped) = (items.count, items.stopped);
    match (stopped, parsed) {
        (Some(error), _) => Err(error),
        (None, Ok(())) if count == 0 => visit(Place::File, Err(NO_RECORD.to_owned())),
        (None, Ok(())) => Ok(()),
        (None, Err(error)) => {
            let reason = if left.get() == 0 {
                format!("a record of more than the {bytes_max} bytes that a document may have")
            } else {
                reason(not_utf8, &error)
            };
            let place = if error.line() > 0 { Place::Line(error.line() as u32) } else { Place::File };
            let kept = if count == 0 { "" } else { "; the records before it were read" };
            visit(place, Err(reason + kept))
        }
    }
}

fn open(path: &Path) -> io::Result<BufReader<File>> {
    let mut file = BufReader::new(File::open(path)?);
    if file.fill_buf()?.starts_with(BYTE_ORDER_MARK) {
        file.consume(BYTE_ORDER_MARK.len());
    }
    Ok(file)
}

fn reason(first_not_utf8: &dyn Fn() -> io::Result<Option<u64>>, error: &serde_json::Error) -> String {
    // The parser checks a string only once it has read all of it, and reports where the string ends.
    match first_not_utf8() {
        Ok(Some(at)) => not_utf8(at),
        _ if error.is_io() => refused(&io::Error::other(error.to_string())),
        _ if error.is_data() => "neither a JSON object nor an array of objects".to_owned(),
        _ => format!("not JSON: {}", without_line(error)),
    }
}

/// Returns the first byte that is not part of UTF-8 text.
fn first_not_utf8(mut file: impl Read) -> io::Result<Option<u64>> {
    let mut buffer = vec![0; 64 << 10];
    // Bytes at the front of the buffer that began a character, and their offset in the file.
    let (mut kept, mut offset) = (0, 0);
    loop {
        let read = file.read(&mut buffer[kept..])?;
        let bytes = &buffer[..kept + read];
        let Err(error) = std::str::from_utf8(bytes) else {
            if read == 0 {
                return Ok(None);
            }
            (kept, offset) = (0, offset + bytes.len() as u64);
            continue;
        };
        let valid = error.valid_up_to();
        offset += valid as u64;
        if error.error_len().is_some() || read == 0 {
            return Ok(Some(offset));
        }
        let end = bytes.len();
        buffer.copy_within(valid..end, 0);
        kept = end - valid;
    }
}

/// A file with a limit on the bytes of each item.
struct Metered<'a, R> {
    file: R,
    left: &'a Cell<u64>,
    /// The line of the next byte, counted from 1.
    lines: &'a Cell<u32>,
}

impl<R: BufRead> Read for Metered<'_, R> {
    /// The parser takes one byte at a time, so that bytes read ahead into a buffer are not counted.
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(bytes)?;
        let ends = bytes.iter().take(read).filter(|byte| **byte == b'\n').count();
        self.lines.set(self.lines.get().saturating_add(ends as u32));
        let left = self.left.get().saturating_sub(read as u64);
        self.left.set(left);
        if left == 0 && read > 0 {
            return Err(io::Error::other("a record is too large"));
        }
        Ok(read)
    }
}

/// Returns the value as a record, unless the limit on values was reached.
fn object(value: Value, left: &Cell<usize>) -> Result<Map<String, Value>, String> {
    match value {
        _ if left.get() == 0 => Err(too_many()),
        Value::Object(record) => Ok(record),
        _ => Err(NO_OBJECT.to_owned()),
    }
}

/// An item, and the line on which it begins: that of its first byte, which the parser has read and nothing after it.
struct Item<'a> {
    values: Values<'a>,
    lines: &'a Cell<u32>,
}

impl<'de> DeserializeSeed<'de> for Item<'_> {
    type Value = (u32, Value);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        let line = self.lines.get();
        Ok((line, self.values.deserialize(deserializer)?))
    }
}

struct Items<'a, 'v> {
    visit: &'a mut Visit<'v>,
    left: &'a Cell<u64>,
    lines: &'a Cell<u32>,
    /// Where the last record begins.
    begins: Begins,
    bytes_max: u64,
    count: u32,
    /// What `visit` returned, if that ended the reading.
    stopped: Option<Error>,
}

impl Items<'_, '_> {
    /// Passes on an item that begins on a line; returns whether to continue.
    fn pass(&mut self, place: Place, line: u32, item: Result<Map<String, Value>, String>) -> bool {
        self.count += 1;
        let nth = if self.begins.line == line { self.begins.nth + 1 } else { 1 };
        self.begins = Begins { line, nth };
        self.stopped = (self.visit)(place, item.map(|fields| Record { fields, begins: self.begins })).err();
        self.stopped.is_none()
    }
}

impl<'de> Visitor<'de> for &mut Items<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or an array of objects")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        let (values, line) = (Cell::new(VALUES_MAX + 1), self.lines.get());
        let record = Values { left: &values }.visit_map(map)?;
        if self.pass(Place::File, line, object(record, &values)) { Ok(()) } else { Err(A::Error::custom("stopped")) }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let values = Cell::new(VALUES_MAX + 1);
        while let Some((line, item)) =
            items.next_element_seed(Item { values: Values { left: &values }, lines: self.lines })?
        {
            let item = object(item, &values);
            values.set(VALUES_MAX + 1);
            let place = Place::Item(self.count + 1);
            if !self.pass(place, line, item) {
                return Err(A::Error::custom("stopped"));
            }
            self.left.set(self.bytes_max);
        }
        Ok(())
    }
}
