//! The cost of indexing with a language model, without that of the model: a book of 189 KB, with a model that replies
//! at once; the same again; and a thousand passages with a model that takes three seconds, all requested concurrently.
//!
//! ```text
//! cargo bench --bench overhead -- DATA
//! ```
//!
//! `DATA` is a JSON Lines file whose records have a `text`; the book consists of the first texts. The model is another
//! process, which is not counted.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

/// Bytes of the book.
const BOOK_BYTES: usize = 189_000;
/// Passages about which a slow model is asked concurrently.
const AT_ONCE: usize = 1_000;
/// The time that it takes for a reply.
const SLOW_MS: u64 = 3_000;
/// The argument that makes this program the model.
const SERVE: &str = "serve";
/// Clock ticks per second in which Linux counts the time of processes.
const TICKS_PER_SECOND: f64 = 100.0;

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    match args.as_slice() {
        [serve, delay] if serve == SERVE => serve_replies(Duration::from_millis(delay.parse()?)),
        [data] => measure(Path::new(data)),
        _ => {
            println!("nothing done; usage: cargo bench --bench overhead -- DATA");
            Ok(())
        }
    }
}

fn measure(data: &Path) -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let work = folder.path();
    fs::write(work.join("book.txt"), book(data)?)?;
    let model = Model::start(0)?;
    let first = cairn(work, &["index", "book.txt"], &model)?;
    let asked = model.asked()?;
    println!("book: {BOOK_BYTES} bytes, {asked} calls, {first}");
    let again = cairn(work, &["index", "book.txt"], &model)?;
    println!("again: {} calls, {again}", model.asked()? - asked);

    let slow = Model::start(SLOW_MS)?;
    for number in 0..AT_ONCE {
        let text = format!("Mill {number}\n\nMill {number} was built in 1820 by Ada Lorne.");
        fs::create_dir_all(work.join("mills"))?;
        fs::write(work.join(format!("mills/{number}.txt")), text)?;
    }
    fs::write(work.join("cairn.toml"), format!("[model]\nconcurrency = {AT_ONCE}\n"))?;
    let run = cairn(work, &["index", "mills", "--index", "slow"], &slow)?;
    println!("slow: {} calls of {SLOW_MS} ms at one time, {run}", slow.asked()?);
    Ok(())
}

/// Returns the first texts of a file, as many as fill a book.
fn book(data: &Path) -> Result<String, Failure> {
    let mut book = String::new();
    for line in BufReader::new(fs::File::open(data)?).lines() {
        let record: Value = serde_json::from_str(&line?)?;
        book.push_str(record["text"].as_str().ok_or("a record without a text")?);
        book.push_str("\n\n");
        if book.len() >= BOOK_BYTES {
            break;
        }
    }
    book.truncate((0..=BOOK_BYTES.min(book.len())).rev().find(|end| book.is_char_boundary(*end)).unwrap_or(0));
    Ok(book)
}

/// Runs the program with a model to its end, and returns the cost.
fn cairn(folder: &Path, args: &[&str], model: &Model) -> Result<String, Failure> {
    let before = children_seconds();
    let started = Instant::now();
    let mut run = Command::new(env!("CARGO_BIN_EXE_cairn"))
        .args(args)
        .args(["--model", "scripted"])
        .current_dir(folder)
        .env("CAIRN_MODEL_URL", format!("http://127.0.0.1:{}/v1", model.port))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let mut peak = 0;
    while run.try_wait()?.is_none() {
        peak = peak_megabytes(run.id()).max(peak);
        thread::sleep(Duration::from_millis(2));
    }
    let seconds = started.elapsed().as_secs_f64();
    if !run.wait()?.success() {
        return Err("the program failed".into());
    }
    Ok(format!("{:.2} CPU s, {seconds:.2} s, {peak} MB", children_seconds() - before))
}

/// Returns the CPU seconds of the child processes that have ended, if the system reports them.
fn children_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(13).take(2).filter_map(|field| field.parse::<f64>().ok());
    ticks.sum::<f64>() / TICKS_PER_SECOND
}

/// Returns the peak memory of a process so far, if the system reports it.
fn peak_megabytes(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|it| it.parse::<u64>().ok()).unwrap_or_default() / 1024
}

/// A model in a separate process.
struct Model {
    process: Child,
    port: u16,
}

impl Model {
    fn start(delay_ms: u64) -> Result<Self, Failure> {
        let mut process = Command::new(std::env::current_exe()?)
            .args([SERVE, &delay_ms.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        Ok(Self { process, port: line.trim().parse()? })
    }

    /// Returns the number of calls so far.
    fn asked(&self) -> Result<usize, Failure> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.write_all(b"GET /calls HTTP/1.1\r\n\r\n")?;
        let mut said = String::new();
        stream.read_to_string(&mut said)?;
        Ok(said.rsplit("\r\n").next().unwrap_or_default().parse()?)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let _gone = self.process.kill();
        let _status = self.process.wait();
    }
}

/// Replies to every call after a delay, until this process ends.
fn serve_replies(delay: Duration) -> Result<(), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?.port());
    let calls = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        let (mut stream, calls) = (stream?, Arc::clone(&calls));
        thread::spawn(move || reply(&mut stream, delay, &calls));
    }
    Ok(())
}

/// Answers the requests of a connection, one after the other.
fn reply(stream: &mut TcpStream, delay: Duration, calls: &AtomicUsize) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let (mut first, mut length) = (String::new(), 0);
        reader.read_line(&mut first).ok().filter(|count| *count > 0)?;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let header = line.trim().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            length = header.strip_prefix("content-length: ").and_then(|it| it.parse().ok()).unwrap_or(length);
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        if first.starts_with("GET") {
            return write!(stream, "HTTP/1.1 200 OK\r\n\r\n{}", calls.load(Ordering::SeqCst)).ok();
        }
        calls.fetch_add(1, Ordering::SeqCst);
        thread::sleep(delay);
        let said = said(&body)?;
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
        write!(stream, "{head}Content-Length: {}\r\n\r\n{said}", said.len()).ok()?;
    }
}

/// Returns a response with ten questions, made of words of the passage in the request.
fn said(body: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let user = body["messages"][1]["content"].as_str()?;
    let words: Vec<&str> = user.split_whitespace().filter(|word| word.len() > 3 && !word.contains('=')).collect();
    let question = |number: usize| {
        let own: Vec<&str> = words.iter().cycle().skip(number * 7).take(7).copied().collect();
        json!({ "question": format!("What is said of {} {number}?", own.join(" ")), "keywords": own.get(..3) })
    };
    let all: Vec<Value> = (0..10).map(question).collect();
    let text = json!({ "answered": all[..4], "raised": all[4..] }).to_string();
    let message = json!({ "role": "assistant", "content": text });
    let choice = json!({ "index": 0, "message": message, "finish_reason": "stop" });
    let usage = json!({ "prompt_tokens": 600, "completion_tokens": 330 });
    Some(json!({ "id": "1", "model": "scripted", "choices": [choice], "usage": usage }).to_string())
}
