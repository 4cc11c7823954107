//! The worker's side: jobs in, pieces out, one after another.

use std::any::Any;
use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::frame::{self, Tag, invalid};
use super::limits;
use super::message::{Head, Job, Piece, Refusal};
use super::parse::parse;

/// Bytes of the stack on which documents are parsed: some are deeply nested.
const STACK_BYTES: usize = 32 << 20;
/// Maximum characters of a parser's panic message.
const PANIC_CHARS_MAX: usize = 160;

/// Serves jobs until `input` ends, in a process that gives up everything that it does not need: memory beyond 768 MiB,
/// opening files and connections, starting processes.
///
/// This is a complete worker program: pass it the process's standard input, and a standard output to which nothing else
/// writes.
///
/// # Errors
///
/// If the limits cannot be set, or a frame cannot be read or written.
pub fn serve<I, O>(mut input: I, mut output: O) -> io::Result<()>
where
    I: Read + Send + 'static,
    O: Write + Send + 'static,
{
    let serving = move || {
        limits::confine()?;
        frame::write(&mut output, Tag::Hello, frame::HELLO.as_bytes())?;
        while answer_next(&mut input, &mut output)? {}
        Ok(())
    };
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(serving)?;
    thread.join().unwrap_or_else(|panic| Err(io::Error::other(panic_message(&*panic))))
}

/// Answers one job; returns whether there may be another.
fn answer_next(input: &mut impl Read, output: &mut impl Write) -> io::Result<bool> {
    let Some(first) = frame::read(input, 0)? else { return Ok(false) };
    if first.tag != Tag::Job {
        return Err(invalid("a job was to come"));
    }
    let job: Job = serde_json::from_slice(&first.payload)?;
    // The sender of a job is trusted; its contents are not.
    let bytes = match frame::read(input, u64::from(u32::MAX))? {
        Some(bytes) if bytes.tag == Tag::Bytes => bytes.payload,
        _ => return Err(invalid("the bytes of a job were to come")),
    };
    limits::allow_cpu(job.cpu_seconds)?;
    let mut out = Out { output, failed: None, given: 0, total_max: job.bytes_total_max };
    let parsed = catch_unwind(AssertUnwindSafe(|| parse(&job, &bytes, &mut |piece| out.give(&piece))));
    if let Some(error) = out.failed {
        return Err(error);
    }
    match parsed {
        Ok(Ok(())) => frame::write(output, Tag::Done, b"")?,
        Ok(Err(refusal)) => refuse(output, &refusal)?,
        Err(panic) => {
            refuse(output, &Refusal::damaged(format!("its parser failed: {}", panic_message(&*panic))))?;
            // After a panic, a parser's state cannot be trusted.
            return Ok(false);
        }
    }
    Ok(true)
}

fn refuse(output: &mut impl Write, refusal: &Refusal) -> io::Result<()> {
    frame::write(output, Tag::Refused, &serde_json::to_vec(refusal)?)
}

/// The output for pieces.
struct Out<'a, O> {
    output: &'a mut O,
    failed: Option<io::Error>,
    /// Bytes written so far.
    given: u64,
    total_max: u64,
}

impl<O: Write> Out<'_, O> {
    fn give(&mut self, piece: &Piece) -> Result<(), Refusal> {
        self.given += match piece {
            Piece::Document { extracted, .. } => extracted.text.len() as u64,
            Piece::Member { bytes, .. } => bytes.len() as u64,
            Piece::Left(_) => 0,
        };
        if self.given > self.total_max {
            let reason = format!("it holds more than {} bytes; the part before that was read", self.total_max);
            return Err(Refusal::of_all(reason));
        }
        self.write(piece).map_err(|error| {
            let refusal = Refusal::of_all(error.to_string());
            self.failed = Some(error);
            refusal
        })
    }

    fn write(&mut self, piece: &Piece) -> io::Result<()> {
        match piece {
            Piece::Document { within, extracted } => {
                let head = Head {
                    within: within.clone(),
                    title: extracted.title.clone(),
                    media_type: extracted.media_type.clone(),
                    metadata: extracted.metadata.clone(),
                    positions: extracted.positions.clone(),
                };
                frame::write(self.output, Tag::Document, &serde_json::to_vec(&head)?)?;
                frame::write(self.output, Tag::Text, extracted.text.as_bytes())
            }
            Piece::Member { name, bytes } => {
                frame::write(self.output, Tag::Member, name.as_bytes())?;
                frame::write(self.output, Tag::Bytes, bytes)
            }
            Piece::Left(left) => frame::write(self.output, Tag::Left, &serde_json::to_vec(left)?),
        }
    }
}

/// Returns the message of a panic.
pub(super) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("no reason given").chars().take(PANIC_CHARS_MAX).collect()
}
