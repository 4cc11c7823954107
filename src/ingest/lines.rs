//! Files with one record per line, read line by line.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::mpsc;
use std::thread;

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

/// Bytes of lines that are parsed together.
const BATCH_BYTES: u64 = 256 << 10;

/// What lines hold, each with its number.
type Parsed = Vec<(u32, Result<Map<String, Value>, String>)>;

/// Calls `visit` for each line of what is read. While `visit` works on some lines, the next are parsed on another
/// thread.
pub(super) fn read_from(file: &mut (impl BufRead + Send), bytes_max: u64, visit: &mut Visit<'_>) -> Result<()> {
    let mut is_empty = true;
    let mut take = |parsed: Parsed| {
        parsed.into_iter().try_for_each(|(number, parsed)| {
            is_empty = false;
            visit(Place::Line(number), parsed.map(|fields| Record { fields, begins: Begins::line(number) }))
        })
    };
    let mut lines = Lines { file, bytes_max, next: 1, offset: 0, end: None };
    take(lines.parse_batch())?;
    let lines = if lines.end.is_some() {
        lines
    } else {
        thread::scope(|scope| {
            // Of any file, two batches are in memory.
            let (sender, batches) = mpsc::sync_channel(0);
            let parsing = scope.spawn(move || {
                while lines.end.is_none() && sender.send(lines.parse_batch()).is_ok() {}
                lines
            });
            let taken = batches.into_iter().try_for_each(&mut take);
            let lines = parsing.join().unwrap_or_else(|panic| resume_unwind(panic));
            taken.map(|()| lines)
        })?
    };
    match lines.end {
        Some(Err(error)) => visit(Place::Line(lines.next), Err(refused(&error))),
        _ if is_empty => visit(Place::File, Err(NO_RECORD.to_owned())),
        _ => Ok(()),
    }
}

/// The lines of a file.
struct Lines<'f, F> {
    file: &'f mut F,
    bytes_max: u64,
    /// The number of the next line, and the byte at which it begins.
    next: u32,
    offset: u64,
    /// How reading ended, if it did.
    end: Option<io::Result<()>>,
}

impl<F: BufRead> Lines<'_, F> {
    /// Reads and parses some lines; blank ones are left out.
    fn parse_batch(&mut self) -> Parsed {
        let (mut parsed, mut line, first) = (Parsed::new(), Vec::new(), self.offset);
        while self.offset - first < BATCH_BYTES {
            line.clear();
            match read_line(self.file, self.bytes_max, &mut line) {
                Ok(0) => {
                    self.end = Some(Ok(()));
                    break;
                }
                Ok(read) => {
                    parsed.extend(self.parse(&line, read).map(|it| (self.next, it)));
                    self.next = self.next.saturating_add(1);
                    self.offset += read;
                }
                Err(error) => {
                    self.end = Some(Err(error));
                    break;
                }
            }
        }
        parsed
    }

    /// Returns the record on the next line, which has `read` bytes, or why there is none; nothing if it is blank.
    fn parse(&self, line: &[u8], read: u64) -> Option<Result<Map<String, Value>, String>> {
        if read > line.len() as u64 {
            return Some(Err(too_large(read, self.bytes_max)));
        }
        let bytes = line.strip_prefix(BYTE_ORDER_MARK).filter(|_| self.next == 1).unwrap_or(line);
        let begins = self.offset + (line.len() - bytes.len()) as u64;
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
