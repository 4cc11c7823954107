//! Reads documents whose parsers can panic, hang or exhaust memory, in processes that can do no harm.
//!
//! [`Workers`] starts a few processes of a program that the caller names and hands them files; [`serve()`] is the main
//! loop of such a process. If a process dies, hangs or exceeds a limit, that is the failure of its file, with the
//! reason: the file is tried once more with a fallback, and others are not affected. Without a program, nothing is read
//! here.

mod convert;
mod frame;
mod limits;
mod message;
mod parse;
mod process;
mod serve;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub use convert::become_converter;
pub(crate) use convert::{PLACEHOLDER, convert};
use message::Retry;
pub(crate) use message::{Format, Give, Job, LeftOut, Parser, Piece, Refusal};
use process::{Broken, Next, Worker};
pub use serve::serve;

use super::Rows;
use crate::error::Result;

/// Maximum idle workers: the nesting depth of files.
const IDLE_MAX: usize = 4;
/// Jobs of one worker, before a new one takes its place.
const JOBS_MAX: u32 = 256;
/// Seconds of CPU time for a file, and for each MiB of it.
const CPU_SECONDS: u64 = 20;
const CPU_SECONDS_PER_MIB: u64 = 2;
/// How many times longer than its CPU time a worker may take: other programs use the machine, too.
const WAIT_FACTOR: u32 = 4;
/// Attempts to read a file with one parser if a worker with earlier jobs ended, or was killed.
const TRIES_MAX: u32 = 4;
/// How many times the limit of one document the results of a file may take together.
const TOTAL_FACTOR: u64 = 16;

/// Maximum pieces of a file.
const PIECES_MAX: u64 = 1_000_000;

/// The reason for files that cannot be read without a worker program.
const NO_PROGRAM: &str = "such files are read only in a separate process, and no worker program was named";

/// The workers of a run.
pub(crate) struct Workers {
    program: Option<PathBuf>,
    /// The most bytes of a document's text, and of a file inside a file.
    bytes_max: u64,
    idle: Mutex<Vec<Worker>>,
}

/// A file to read.
#[derive(Debug, Clone)]
pub(crate) struct File<'a> {
    pub(crate) format: Format,
    /// Its name, with its extension.
    pub(crate) name: &'a str,
    pub(crate) bytes: Vec<u8>,
    pub(crate) rows: Rows,
}

/// How one attempt ended.
enum Ended {
    Done,
    Refused(Refusal),
    Broken(Broken),
}

impl Workers {
    /// Takes the program that becomes a worker when it is started with the argument `worker`.
    pub(crate) fn new(program: Option<&Path>, bytes_max: u64) -> Self {
        Self { program: program.map(Path::to_owned), bytes_max, idle: Mutex::default() }
    }

    /// Reads a file, and passes on the results in order. Returns why it could not be read, or not completely.
    ///
    /// # Errors
    ///
    /// Those of `visit`, which end it.
    pub(crate) fn read(
        &self,
        file: File<'_>,
        visit: &mut dyn FnMut(Piece) -> Result<()>,
    ) -> Result<std::result::Result<(), String>> {
        let Some(program) = self.program.clone() else { return Ok(Err(NO_PROGRAM.to_owned())) };
        let File { format, name, bytes, rows } = file;
        let mib = (bytes.len() >> 20) as u64;
        let job = |parser| Job {
            format,
            parser,
            name: name.to_owned(),
            rows,
            bytes_max: self.bytes_max,
            bytes_total_max: self.bytes_max.saturating_mul(TOTAL_FACTOR),
            cpu_seconds: CPU_SECONDS + CPU_SECONDS_PER_MIB * mib,
        };
        let bytes = Arc::new(bytes);
        let mut given = 0;
        let first = match self.with_parser(&program, &job(Parser::First), &bytes, &mut given, visit)? {
            Ok(()) => return Ok(Ok(())),
            Err(refusal) => refusal,
        };
        // Once pieces were passed on, another parser cannot continue: it would divide the file differently.
        if given > 0 || !parse::has_fallback(format) || first.retry == Retry::Useless {
            return Ok(Err(first.reason));
        }
        let second = self.with_parser(&program, &job(Parser::Fallback), &bytes, &mut given, visit)?;
        Ok(second.map_err(|second| {
            let says_more = second.retry == Retry::Useful && second.reason != first.reason;
            if says_more { format!("{}; a second parser: {}", first.reason, second.reason) } else { second.reason }
        }))
    }

    /// Reads a file with one parser. The end of a worker does not count against the file if the worker had read others
    /// before, or was killed from outside: the result depends only on the file.
    fn with_parser(
        &self,
        program: &Path,
        job: &Job,
        bytes: &Arc<Vec<u8>>,
        given: &mut u64,
        visit: &mut dyn FnMut(Piece) -> Result<()>,
    ) -> Result<std::result::Result<(), Refusal>> {
        for attempt in 1.. {
            let idle = if attempt == 1 { self.idle.lock().ok().and_then(|mut idle| idle.pop()) } else { None };
            let started = idle.map_or_else(|| Worker::start(program, self.bytes_max), Ok);
            let mut worker = match started {
                Ok(worker) => worker,
                Err(Broken::Killed) if attempt < TRIES_MAX => continue,
                Err(broken) => return Ok(Err(Refusal::of_all(reason(&broken)))),
            };
            let had_worked = worker.jobs_done > 0;
            match attempt_with(&mut worker, job, bytes, given, visit)? {
                Ended::Done => {
                    self.keep(worker);
                    return Ok(Ok(()));
                }
                Ended::Refused(refusal) => return Ok(Err(refusal)),
                Ended::Broken(Broken::Killed) if attempt < TRIES_MAX => {}
                Ended::Broken(_) if had_worked && attempt < TRIES_MAX => {}
                Ended::Broken(broken) => return Ok(Err(Refusal::damaged(reason(&broken)))),
            }
        }
        Ok(Err(Refusal::damaged(reason(&Broken::Killed))))
    }

    fn keep(&self, worker: Worker) {
        if let Ok(mut idle) = self.idle.lock()
            && worker.jobs_done < JOBS_MAX
            && idle.len() < IDLE_MAX
        {
            idle.push(worker);
        }
    }
}

/// Gives a job to a worker. The first `given` pieces were already passed on by an earlier worker.
fn attempt_with(
    worker: &mut Worker,
    job: &Job,
    bytes: &Arc<Vec<u8>>,
    given: &mut u64,
    visit: &mut dyn FnMut(Piece) -> Result<()>,
) -> Result<Ended> {
    let mut left = Duration::from_secs(job.cpu_seconds) * WAIT_FACTOR;
    let mut bytes_left = job.bytes_total_max;
    let mut count = 0;
    worker.give(job.clone(), Arc::clone(bytes));
    loop {
        let piece = match worker.next(&mut left) {
            Ok(Next::Piece(piece)) => piece,
            Ok(Next::Done) => return Ok(Ended::Done),
            Ok(Next::Refused(refusal)) => return Ok(Ended::Refused(bounded(&refusal))),
            Err(Broken::Late(_)) => {
                return Ok(Ended::Broken(Broken::Late(Duration::from_secs(job.cpu_seconds) * WAIT_FACTOR)));
            }
            Err(broken) => return Ok(Ended::Broken(broken)),
        };
        let length = match &piece {
            Piece::Document { extracted, .. } => extracted.text.len(),
            Piece::Member { bytes, .. } => bytes.len(),
            Piece::Left(_) => 0,
        };
        match bytes_left.checked_sub(length as u64) {
            Some(rest) => bytes_left = rest,
            None => return Ok(Ended::Broken(Broken::Lied("too much output".to_owned()))),
        }
        count += 1;
        if count > PIECES_MAX {
            return Ok(Ended::Broken(Broken::Lied("too many parts".to_owned())));
        }
        if count > *given {
            *given = count;
            visit(piece)?;
        }
    }
}

/// Maximum characters of a reason.
const REASON_CHARS_MAX: usize = 300;

fn bounded(refusal: &Refusal) -> Refusal {
    Refusal { reason: refusal.reason.chars().take(REASON_CHARS_MAX).collect(), retry: refusal.retry }
}

fn reason(broken: &Broken) -> String {
    match broken {
        Broken::NotStarted(why) => format!("the process that reads such files does not start: {why}"),
        Broken::Died(why) => why.clone(),
        Broken::Killed => "the process that read it was killed repeatedly".to_owned(),
        Broken::Late(time) => format!("its parser took longer than {} s", time.as_secs()),
        Broken::Lied(what) => format!("its parser broke the protocol, so it may be compromised: {what}"),
    }
}

/// Parses bytes as the output of a worker; returns whether it is valid. For fuzzing.
#[cfg(any(test, fuzzing))]
pub(crate) fn is_worker_output(mut output: &[u8]) -> bool {
    const BYTES_MAX: u64 = 1 << 20;
    let mut frame = || match frame::read(&mut output, BYTES_MAX) {
        Ok(Some(frame)) => Ok(frame),
        Ok(None) => Err(Broken::Died("it stopped responding".to_owned())),
        Err(error) => Err(Broken::Lied(error.to_string())),
    };
    loop {
        match process::decode(&mut frame) {
            Ok(Next::Piece(_)) => {}
            Ok(Next::Done | Next::Refused(_)) => return true,
            Err(_) => return false,
        }
    }
}

/// Reads a file in this process, with one of the parsers that never panic; returns whether it can be read. For fuzzing.
#[cfg(any(test, fuzzing))]
pub(crate) fn reads(kind: u8, bytes: &[u8]) -> bool {
    const FORMATS: [Format; 6] = [Format::Odt, Format::Zip, Format::Gzip, Format::Mail, Format::Mbox, Format::Tar];
    let job = Job {
        format: FORMATS[usize::from(kind) % FORMATS.len()],
        parser: Parser::First,
        name: "a.gz".to_owned(),
        rows: Rows::Together,
        bytes_max: 1 << 20,
        bytes_total_max: 1 << 24,
        cpu_seconds: CPU_SECONDS,
    };
    parse::parse(&job, bytes, &mut |_| Ok(())).is_ok()
}
