//! Frames: messages between a worker and the process that started it, each with a tag and a length.
//!
//! Each side treats the other as hostile: a length is compared with what the tag allows before anything is read, and
//! memory grows only with received bytes.

use std::io::{self, ErrorKind, Read, Write};

/// The kind of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    /// From a worker that is ready: [`HELLO`].
    Hello,
    /// To a worker: a [`Job`](super::message::Job) as JSON; its bytes follow.
    Job,
    /// Bytes of a file, in either direction: of a job, or of a file inside.
    Bytes,
    /// From a worker: everything about a document except its text, as JSON; its text follows.
    Document,
    /// From a worker: text in UTF-8.
    Text,
    /// From a worker: the name of a file inside the file; its bytes follow.
    Member,
    /// From a worker: something inside the file that is left out, as JSON.
    Left,
    /// From a worker: the job is done.
    Done,
    /// From a worker: the file cannot be read, as JSON.
    Refused,
}

/// The greeting of a worker, which shows that the program is a worker of this version.
pub(super) const HELLO: &str = concat!("cairn worker ", env!("CARGO_PKG_VERSION"));

const TAGS: [Tag; 9] =
    [Tag::Hello, Tag::Job, Tag::Bytes, Tag::Document, Tag::Text, Tag::Member, Tag::Left, Tag::Done, Tag::Refused];

/// Bytes of a name, a reason or a greeting at most.
const SHORT_BYTES_MAX: u64 = 64 << 10;
/// Bytes of a document without its text at most: its metadata and its positions.
const HEAD_BYTES_MAX: u64 = 16 << 20;

/// A frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) tag: Tag,
    pub(super) payload: Vec<u8>,
}

impl Tag {
    /// Returns the maximum bytes of a frame with this tag, if a file may have `bytes_max`.
    const fn bytes_max(self, bytes_max: u64) -> u64 {
        match self {
            Self::Hello | Self::Job | Self::Member | Self::Left | Self::Refused => SHORT_BYTES_MAX,
            Self::Document => HEAD_BYTES_MAX,
            Self::Bytes | Self::Text => bytes_max,
            Self::Done => 0,
        }
    }
}

/// Writes a frame.
///
/// # Errors
///
/// If it cannot be written, or its length does not fit in the header.
pub(super) fn write(output: &mut impl Write, tag: Tag, payload: &[u8]) -> io::Result<()> {
    let length = u32::try_from(payload.len()).map_err(|_| invalid("a frame of more than 4 GiB"))?;
    output.write_all(&[tag as u8])?;
    output.write_all(&length.to_le_bytes())?;
    output.write_all(payload)?;
    output.flush()
}

/// Reads a frame; none if the other side has closed the stream. Bytes and texts may have `bytes_max`.
///
/// # Errors
///
/// If it cannot be read, is not a frame, or is longer than its tag allows.
pub(super) fn read(input: &mut impl Read, bytes_max: u64) -> io::Result<Option<Frame>> {
    let mut head = [0; 5];
    match input.read(&mut head[..1])? {
        0 => return Ok(None),
        _ => input.read_exact(&mut head[1..])?,
    }
    let [tag, length @ ..] = head;
    let tag = *TAGS.get(usize::from(tag)).ok_or_else(|| invalid("a frame of no known kind"))?;
    let length = u64::from(u32::from_le_bytes(length));
    if length > tag.bytes_max(bytes_max) {
        return Err(invalid(&format!("{length} bytes where {} may come", tag.bytes_max(bytes_max))));
    }
    let mut payload = Vec::new();
    let read = input.take(length).read_to_end(&mut payload)?;
    if read as u64 != length {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(Frame { tag, payload }))
}

pub(super) fn invalid(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let mut bytes = Vec::new();
        for tag in TAGS {
            let payload: &[u8] = if tag == Tag::Done { b"" } else { b"text" };
            write(&mut bytes, tag, payload).unwrap();
        }
        let mut input = &bytes[..];
        for tag in TAGS {
            let payload = if tag == Tag::Done { Vec::new() } else { b"text".to_vec() };
            assert_eq!(read(&mut input, 10).unwrap(), Some(Frame { tag, payload }));
        }
        assert_eq!(read(&mut input, 10).unwrap(), None);
    }

    #[test]
    fn an_invalid_frame_is_refused_before_it_takes_memory() {
        let frame = |tag: u8, length: u32, rest: &[u8]| [&[tag][..], &length.to_le_bytes(), rest].concat();
        let said = |bytes: &[u8]| read(&mut &bytes[..], 10).unwrap_err().to_string();
        assert!(said(&frame(99, 0, b"")).contains("no known kind"));
        assert_eq!(said(&frame(Tag::Text as u8, 11, b"")), "11 bytes where 10 may come");
        assert_eq!(said(&frame(Tag::Bytes as u8, u32::MAX, b"")), "4294967295 bytes where 10 may come");
        assert_eq!(said(&frame(Tag::Done as u8, 1, b"x")), "1 bytes where 0 may come");
        for cut in [frame(Tag::Text as u8, 9, b"text"), vec![Tag::Text as u8, 1]] {
            assert_eq!(read(&mut &cut[..], 10).unwrap_err().kind(), ErrorKind::UnexpectedEof);
        }
    }
}
