//! One worker, seen from the process that started it: a child that a document may have taken over.
//!
//! Three threads serve it: one writes to it, one reads frames from it, and one keeps the end of its error output. A
//! caller waits for a piece on a channel with a timeout, and a child that is late is killed, which ends the threads.

use std::io::{self, Read, Write as _};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::frame::{self, Frame, HELLO, Tag};
use super::limits::{NO_RESERVE, WORKER_BYTES_MAX};
use super::message::{Head, Job, LeftOut, Piece, Refusal};
use crate::domain::{PositionMark, Positions};
use crate::ingest::extracted::Extracted;

/// Time that a worker may take to start.
const START: Duration = Duration::from_secs(20);
/// How many bytes of a worker's error output are kept, from its end.
const SAID_BYTES_MAX: usize = 4 << 10;
/// The argument that makes the program a worker.
const ARGUMENT: &str = "worker";

/// Why a worker gave no further results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Broken {
    /// It could not be started, or is not a worker.
    NotStarted(String),
    /// It died in a manner that the file may have caused.
    Died(String),
    /// It was killed, but not by us.
    Killed,
    /// It took too long, so we killed it.
    Late(Duration),
    /// It broke the protocol.
    Lied(String),
}

/// The next message of a worker.
pub(super) enum Next {
    Piece(Piece),
    Done,
    Refused(Refusal),
}

/// A worker that was started.
pub(super) struct Worker {
    child: Child,
    jobs: Option<SyncSender<(Job, Arc<Vec<u8>>)>>,
    frames: Receiver<io::Result<Frame>>,
    said: Arc<Mutex<Vec<u8>>>,
    threads: Vec<JoinHandle<()>>,
    /// Jobs done so far.
    pub(super) jobs_done: u32,
}

impl Worker {
    /// Starts a worker that may send at most `bytes_max` bytes of text in a frame.
    pub(super) fn start(program: &Path, bytes_max: u64) -> Result<Self, Broken> {
        let not_started = |error: io::Error| Broken::NotStarted(error.to_string());
        let mut child = Command::new(std::path::absolute(program).map_err(not_started)?)
            .arg(ARGUMENT)
            .env_clear()
            // One heap: those that threads reserve for themselves would count as memory.
            .envs([("MALLOC_ARENA_MAX", "1"), NO_RESERVE])
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(not_started)?;
        let (Some(input), Some(output), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Broken::NotStarted("it has no pipes".to_owned()));
        };
        let said = Arc::new(Mutex::new(Vec::new()));
        let (jobs, to_write) = sync_channel(1);
        let (read, frames) = sync_channel(1);
        let kept = Arc::clone(&said);
        let threads = vec![
            std::thread::spawn(move || write_jobs(input, &to_write)),
            std::thread::spawn(move || read_frames(output, bytes_max, &read)),
            std::thread::spawn(move || keep_last(errors, &kept)),
        ];
        let mut worker = Self { child, jobs: Some(jobs), frames, said, threads, jobs_done: 0 };
        let mut time = START;
        match worker.frame(&mut time) {
            Ok(Frame { tag: Tag::Hello, payload }) if payload == HELLO.as_bytes() => Ok(worker),
            Ok(_) => Err(Broken::NotStarted("it is not a worker of this version".to_owned())),
            Err(Broken::Late(time)) => Err(Broken::NotStarted(format!("it did not respond within {time:?}"))),
            Err(Broken::Died(why)) => Err(Broken::NotStarted(why)),
            Err(other) => Err(other),
        }
    }

    /// Gives it a job; the previous one must be done.
    pub(super) fn give(&mut self, job: Job, bytes: Arc<Vec<u8>>) {
        if let Some(jobs) = &self.jobs {
            // If nobody takes it, the child is gone, which the next frame will show.
            let _taken = jobs.send((job, bytes));
        }
    }

    /// Waits at most `left` for the next message, and subtracts the time that this took.
    pub(super) fn next(&mut self, left: &mut Duration) -> Result<Next, Broken> {
        let next = decode(&mut || self.frame(left))?;
        if matches!(next, Next::Done) {
            self.jobs_done += 1;
        }
        Ok(next)
    }

    fn frame(&mut self, left: &mut Duration) -> Result<Frame, Broken> {
        let began = Instant::now();
        let received = self.frames.recv_timeout(*left);
        let waited = *left;
        *left = left.saturating_sub(began.elapsed());
        match received {
            Ok(Ok(frame)) => Ok(frame),
            Ok(Err(error)) if error.kind() == io::ErrorKind::InvalidData => Err(Broken::Lied(error.to_string())),
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => Err(self.death()),
            Err(RecvTimeoutError::Timeout) => Err(Broken::Late(waited)),
        }
    }

    /// Says how a child ended that closed its output.
    fn death(&mut self) -> Broken {
        // It may have closed its output and keep running.
        let deadline = Instant::now() + Duration::from_secs(2);
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(2)),
                Ok(None) | Err(_) => break None,
            }
        };
        // Its last error output is complete once the stream is closed.
        if status.is_some()
            && let Some(errors) = self.threads.pop()
        {
            let _ended = errors.join();
        }
        let said = self.said.lock().map(|said| String::from_utf8_lossy(&said).into_owned()).unwrap_or_default();
        death(status, &said)
    }
}

/// Combines frames into the next message of a worker.
pub(super) fn decode(frame: &mut dyn FnMut() -> Result<Frame, Broken>) -> Result<Next, Broken> {
    let Frame { tag, payload } = frame()?;
    let lied = |error: serde_json::Error| Broken::Lied(error.to_string());
    Ok(match tag {
        Tag::Document => {
            let head: Head = serde_json::from_slice(&payload).map_err(lied)?;
            let text = text_of(frame()?)?;
            let positions = checked(head.positions, &text)?;
            let Head { within, title, media_type, metadata, .. } = head;
            let extracted = Extracted { title, text, media_type, metadata, positions };
            Next::Piece(Piece::Document { within, extracted })
        }
        Tag::Member => {
            let name = String::from_utf8(payload).map_err(|_| Broken::Lied("a name is no text".to_owned()))?;
            match frame()? {
                Frame { tag: Tag::Bytes, payload } => Next::Piece(Piece::Member { name, bytes: payload }),
                _ => return Err(Broken::Lied("no bytes after a name".to_owned())),
            }
        }
        Tag::Left => Next::Piece(Piece::Left(serde_json::from_slice::<LeftOut>(&payload).map_err(lied)?)),
        Tag::Refused => Next::Refused(serde_json::from_slice(&payload).map_err(lied)?),
        Tag::Done => Next::Done,
        Tag::Hello | Tag::Job | Tag::Bytes | Tag::Text => {
            return Err(Broken::Lied(format!("{tag:?} where something else was to come")));
        }
    })
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.jobs = None;
        // It may already be gone.
        let _killed = self.child.kill();
        let _ended = self.child.wait();
    }
}

fn write_jobs(mut input: ChildStdin, jobs: &Receiver<(Job, Arc<Vec<u8>>)>) {
    while let Ok((job, bytes)) = jobs.recv() {
        let written = serde_json::to_vec(&job)
            .map_err(io::Error::from)
            .and_then(|job| frame::write(&mut input, Tag::Job, &job))
            .and_then(|()| frame::write(&mut input, Tag::Bytes, &bytes))
            .and_then(|()| input.flush());
        // If a child no longer reads, its output shows why.
        if written.is_err() {
            return;
        }
    }
}

fn read_frames(mut output: ChildStdout, bytes_max: u64, frames: &SyncSender<io::Result<Frame>>) {
    loop {
        let frame = frame::read(&mut output, bytes_max);
        let is_last = frame.is_err();
        let Some(frame) = frame.transpose() else { return };
        if frames.send(frame).is_err() || is_last {
            return;
        }
    }
}

fn keep_last(mut errors: ChildStderr, said: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 1 << 10];
    while let Ok(count @ 1..) = errors.read(&mut buffer) {
        let Ok(mut said) = said.lock() else { return };
        said.extend_from_slice(&buffer[..count]);
        let beyond = said.len().saturating_sub(SAID_BYTES_MAX);
        said.drain(..beyond);
    }
}

fn text_of(frame: Frame) -> Result<String, Broken> {
    if frame.tag != Tag::Text {
        return Err(Broken::Lied("no text after a document".to_owned()));
    }
    String::from_utf8(frame.payload).map_err(|_| Broken::Lied("a text is no text".to_owned()))
}

/// Returns the positions if all of them are within the text.
fn checked(positions: Positions, text: &str) -> Result<Positions, Broken> {
    let (Positions::Lines(marks) | Positions::Pages(marks)) = &positions else { return Ok(positions) };
    let in_text = |mark: &PositionMark| text.is_char_boundary(mark.offset as usize);
    if marks.iter().all(in_text) && marks.windows(2).all(|pair| pair[0].offset < pair[1].offset) {
        Ok(positions)
    } else {
        Err(Broken::Lied("places that are not in its text".to_owned()))
    }
}

/// Says how a child ended, from its exit status and last error output.
fn death(status: Option<ExitStatus>, said: &str) -> Broken {
    let Some(status) = status else { return Broken::Died("its parser stopped responding".to_owned()) };
    match signal(status) {
        Some(SIGKILL) => Broken::Killed,
        Some(SIGXCPU) => Broken::Died("its parser used more CPU time than allowed".to_owned()),
        _ if said.contains("memory allocation of") => {
            Broken::Died(format!("its parser needs more memory than the allowed {} MiB", WORKER_BYTES_MAX >> 20))
        }
        _ if said.contains("has overflowed its stack") => Broken::Died("it nests too deeply for its parser".to_owned()),
        Some(signal) => Broken::Died(format!("its parser crashed (signal {signal})")),
        None => {
            let last = said.trim().lines().last().unwrap_or("no reason given");
            Broken::Died(format!("its parser ended: {}", last.chars().take(200).collect::<String>()))
        }
    }
}

const SIGKILL: i32 = 9;
const SIGXCPU: i32 = 24;

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_status: ExitStatus) -> Option<i32> {
    None
}
