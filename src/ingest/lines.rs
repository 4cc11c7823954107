//! Files with one record per line, read line by line.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

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

/// Calls `visit` for each line of what is read.
pub(super) fn read_from(file: &mut impl BufRead, bytes_max: u64, visit: &mut Visit<'_>) -> Result<()> {
    let mut line = Vec::new();
    let mut offset = 0;
    let mut is_empty = true;
    for number in 1.. {
        line.clear();
        let read = match read_line(file, bytes_max, &mut line) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) => return visit(Place::Line(number), Err(refused(&error))),
        };
        let bytes = if number == 1 { line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&line) } else { &line };
        if read > line.len() as u64 {
            is_empty = false;
            visit(Place::Line(number), Err(too_large(read, bytes_max)))?;
        } else if !bytes.trim_ascii().is_empty() {
            is_empty = false;
            let parsed = parse_line(bytes, offset + (line.len() - bytes.len()) as u64);
            visit(Place::Line(number), parsed.map(|fields| Record { fields, begins: Begins::line(number) }))?;
        }
        offset += read;
    }
    if is_empty { visit(Place::File, Err(NO_RECORD.to_owned())) } else { Ok(()) }
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
