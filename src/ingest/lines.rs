//! Files with one record per line, read line by line.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use rayon::prelude::*;
use serde::de::DeserializeSeed as _;
use serde_json::{Map, Value};

use super::place::{Begins, NO_OBJECT, NO_RECORD, Place, Record, Visit, without_line};
use super::text_file::{BYTE_ORDER_MARK, not_utf8, refused, too_large};
use super::values::{VALUES_MAX, Values, too_many};
use crate::error::Result;

/// Calls `visit` for each line of a file.
pub(super) fn read(path: &Path, bytes_max: u64, visit: &mut Visit<'_>) -> Result<()> {
    match File::open(path) {
        Ok(file) => read_from(&mut BufReader::new(file), bytes_max, visit),
        Err(error) => visit(Place::File, Err(refused(&error))),
    }
}

/// Bytes of lines that are parsed together, on all processors.
const BATCH_BYTES: u64 = 1 << 20;

/// Calls `visit` for each line of what is read.
pub(super) fn read_from(file: &mut impl BufRead, bytes_max: u64, visit: &mut Visit<'_>) -> Result<()> {
    let (mut next, mut offset, mut is_empty) = (1, 0, true);
    loop {
        let (lines, end) = read_batch(file, bytes_max, (&mut next, &mut offset));
        let parsed = lines.into_par_iter().map(|line| (line.number, line.parse(bytes_max)));
        for (number, parsed) in parsed.collect::<Vec<_>>() {
            let Some(parsed) = parsed else { continue };
            is_empty = false;
            visit(Place::Line(number), parsed.map(|fields| Record { fields, begins: Begins::line(number) }))?;
        }
        match end {
            None => {}
            Some(Ok(())) if is_empty => return visit(Place::File, Err(NO_RECORD.to_owned())),
            Some(Ok(())) => return Ok(()),
            Some(Err(error)) => return visit(Place::Line(next), Err(refused(&error))),
        }
    }
}

/// A line of a file.
struct Line {
    number: u32,
    /// The byte of the file at which it begins.
    offset: u64,
    /// How many bytes it has.
    read: u64,
    /// It, unless it is too long.
    bytes: Vec<u8>,
}

/// Reads some lines; also returns how reading ended, if it did. `next` and `offset` are the number of the next line and
/// the byte at which it begins.
fn read_batch(
    file: &mut impl BufRead,
    bytes_max: u64,
    (next, offset): (&mut u32, &mut u64),
) -> (Vec<Line>, Option<io::Result<()>>) {
    let (mut lines, before) = (Vec::new(), *offset);
    while *offset - before < BATCH_BYTES {
        let mut bytes = Vec::new();
        let read = match read_line(file, bytes_max, &mut bytes) {
            Ok(0) => return (lines, Some(Ok(()))),
            Ok(read) => read,
            Err(error) => return (lines, Some(Err(error))),
        };
        lines.push(Line { number: *next, offset: *offset, read, bytes });
        *next = next.saturating_add(1);
        *offset += read;
    }
    (lines, None)
}

impl Line {
    /// Returns the record in it, or why there is none; nothing if it is blank.
    fn parse(&self, bytes_max: u64) -> Option<Result<Map<String, Value>, String>> {
        if self.read > self.bytes.len() as u64 {
            return Some(Err(too_large(self.read, bytes_max)));
        }
        let is_first = self.number == 1;
        let bytes = self.bytes.strip_prefix(BYTE_ORDER_MARK).filter(|_| is_first).unwrap_or(&self.bytes);
        let begins = self.offset + (self.bytes.len() - bytes.len()) as u64;
        (!bytes.trim_ascii().is_empty()).then(|| parse_line(bytes, begins))
    }
}

/// Reads a line of any length, keeps it if it has at most `bytes_max` bytes, and returns how many it has.
fn read_line(file: &mut impl BufRead, bytes_max: u64, line: &mut Vec<u8>) -> io::Result<u64> {
    let mut read = file.by_ref().take(bytes_max + 1).read_until(b'\n', line)? as u64;
    if read <= bytes_max || line.ends_with(b"\n") {
        return Ok(read);
    }
    *line = Vec::new();
    loop {
        let buffer = file.fill_buf()?;
        if buffer.is_empty() {
            return Ok(read);
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(buffer.len(), |end| end + 1);
        file.consume(used);
        read += used as u64;
        if end.is_some() {
            return Ok(read);
        }
    }
}

/// Parses a line that begins at byte `offset` of its file.
fn parse_line(line: &[u8], offset: u64) -> Result<Map<String, Value>, String> {
    let text = std::str::from_utf8(line).map_err(|error| not_utf8(offset + error.valid_up_to() as u64))?;
    let left = Cell::new(VALUES_MAX + 1);
    let mut parser = serde_json::Deserializer::from_str(text.trim_end());
    let parsed = Values { left: &left }.deserialize(&mut parser).and_then(|value| parser.end().map(|()| value));
    match parsed {
        Ok(_) if left.get() == 0 => Err(too_many()),
        Ok(Value::Object(record)) => Ok(record),
        Ok(_) => Err(NO_OBJECT.to_owned()),
        Err(error) => Err(format!("not JSON: {}", without_line(&error))),
    }
}
