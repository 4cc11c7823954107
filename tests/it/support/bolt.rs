//! Bolt without Neo4j: a scripted peer, a host that answers nobody, and a proxy that cuts or delays a connection at a
//! message.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

const HELLO: u8 = 0x01;
const RUN: u8 = 0x10;
const PULL: u8 = 0x3F;
const SUCCESS: u8 = 0x70;
const RECORD: u8 = 0x71;
const FAILURE: u8 = 0x7F;

/// What a peer answers.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// A server of this version.
    Version(&'static str),
    /// A server that refuses every statement with this code.
    Refuses(&'static str),
    /// A server that closes the connection on the first statement.
    Closes,
    /// A host that accepts a connection and sends nothing.
    Silent,
}

/// Starts a peer and returns its address. It runs as long as this process.
pub(crate) fn peer(answer: Answer) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let answer = answer.clone();
            thread::spawn(move || serve(&mut stream.unwrap(), &answer));
        }
    });
    format!("bolt://{address}")
}

fn serve(stream: &mut TcpStream, answer: &Answer) -> Option<()> {
    stream.read_exact(&mut [0; 20]).ok()?;
    if matches!(answer, Answer::Silent) {
        // Until the client gives up.
        return stream.read_to_end(&mut Vec::new()).ok().map(drop);
    }
    stream.write_all(&[0, 0, 4, 4]).ok()?;
    while let Some(message) = message(stream) {
        let reply = match (message[1], answer) {
            (RUN, Answer::Closes) => return None,
            (RUN, Answer::Refuses(code)) => failure(code),
            (RUN, Answer::Version(_)) => structure(SUCCESS, &map(&[("fields", &list(&[text("version")]))])),
            (PULL, Answer::Version(version)) => {
                send(stream, &structure(RECORD, &list(&[text(version)])))?;
                structure(SUCCESS, &map(&[]))
            }
            (HELLO, _) => structure(SUCCESS, &map(&[("server", &text("Neo4j/5.0.0"))])),
            _ => structure(SUCCESS, &map(&[])),
        };
        send(stream, &reply)?;
    }
    None
}

/// Reads a message: chunks, each with its length, up to one of length 0.
fn message(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut message = Vec::new();
    loop {
        let mut length = [0; 2];
        stream.read_exact(&mut length).ok()?;
        let length = u16::from_be_bytes(length) as usize;
        if length == 0 {
            return Some(message);
        }
        let start = message.len();
        message.resize(start + length, 0);
        stream.read_exact(&mut message[start..]).ok()?;
    }
}

fn send(stream: &mut TcpStream, message: &[u8]) -> Option<()> {
    let mut framed = Vec::new();
    for chunk in message.chunks(usize::from(u16::MAX)) {
        framed.extend((chunk.len() as u16).to_be_bytes());
        framed.extend(chunk);
    }
    framed.extend([0, 0]);
    stream.write_all(&framed).ok()
}

fn structure(tag: u8, field: &[u8]) -> Vec<u8> {
    [&[0xB1, tag], field].concat()
}

fn failure(code: &str) -> Vec<u8> {
    structure(FAILURE, &map(&[("code", &text(code)), ("message", &text("as the test says"))]))
}

fn map(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut bytes = vec![0xA0 + entries.len() as u8];
    for (key, value) in entries {
        bytes.extend([&text(key)[..], *value].concat());
    }
    bytes
}

fn list(items: &[Vec<u8>]) -> Vec<u8> {
    [&[0x90 + items.len() as u8][..], &items.concat()].concat()
}

fn text(text: &str) -> Vec<u8> {
    [&[0xD0, text.len() as u8], text.as_bytes()].concat()
}

/// How a statement with rows begins.
const ROWS: &[u8] = b"UNWIND $rows";

/// A proxy before a server, which cuts or delays one connection or all of them.
pub(crate) struct Proxy {
    pub(crate) uri: String,
    passing: Arc<Passing>,
}

/// The state of a proxy.
#[derive(Default)]
struct Passing {
    messages: AtomicUsize,
    connections: AtomicUsize,
    /// The message that a fault affects, and the fault.
    fault: Mutex<Option<(usize, Cut)>>,
    released: Condvar,
}

/// What happens to a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Its connection is cut before it reaches the server.
    Before,
    /// Its connection is cut afterwards, before the answer is back.
    After,
    /// It and all later ones, of any connection, are delayed until they are released.
    Held,
    /// From then on there is no connection, as if the server had ended, until it is released.
    Gone,
    /// The first of it and all later ones that has rows is refused, as by a server without memory for them.
    Refused,
}

impl Proxy {
    /// Starts a proxy that applies `cut` to message `number`, counted over all connections.
    pub(crate) fn start(server: &str, number: usize, cut: Cut) -> Self {
        let proxy = Self::start_whole(server);
        *proxy.passing.fault.lock().unwrap() = Some((number, cut));
        proxy
    }

    /// Starts a proxy that passes everything on.
    pub(crate) fn start_whole(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let uri = format!("bolt://{}", listener.local_addr().unwrap());
        let server = server.trim_start_matches("bolt://").to_owned();
        let passing = Arc::<Passing>::default();
        let shared = Arc::clone(&passing);
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, server) = (client.unwrap(), TcpStream::connect(&server).unwrap());
                for stream in [&client, &server] {
                    // Messages are sent one by one: none waits for the confirmation of the one before.
                    stream.set_nodelay(true).unwrap();
                }
                let passing = Arc::clone(&shared);
                if passing.fault_at(passing.messages.load(Ordering::SeqCst)) == Some(Cut::Gone) {
                    continue;
                }
                passing.connections.fetch_add(1, Ordering::SeqCst);
                let (mut down, mut up) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                let answers = thread::spawn(move || {
                    let _copied = std::io::copy(&mut down, &mut up);
                    let _closed = up.shutdown(Shutdown::Both);
                });
                thread::spawn(move || {
                    pass(&mut &client, &mut &server, &passing, answers);
                    let _closed = (client.shutdown(Shutdown::Both), server.shutdown(Shutdown::Both));
                });
            }
        });
        Self { uri, passing }
    }

    /// Returns how many messages went through.
    pub(crate) fn seen(&self) -> usize {
        self.passing.messages.load(Ordering::SeqCst)
    }

    /// Returns how many connections were made.
    pub(crate) fn connections(&self) -> usize {
        self.passing.connections.load(Ordering::SeqCst)
    }

    /// Applies `cut` after `messages` more.
    pub(crate) fn after(&self, messages: usize, cut: Cut) {
        *self.passing.fault.lock().unwrap() = Some((self.seen() + messages, cut));
    }

    /// Passes everything on from now on, beginning with delayed messages.
    pub(crate) fn release(&self) {
        *self.passing.fault.lock().unwrap() = None;
        self.passing.released.notify_all();
    }
}

impl Passing {
    /// Counts a message and returns its fault, once it is no longer delayed.
    fn admit(&self) -> Option<Cut> {
        let number = self.messages.fetch_add(1, Ordering::SeqCst);
        let is_held = |fault: &mut Option<(usize, Cut)>| matches!(fault, Some((at, Cut::Held)) if number >= *at);
        drop(self.released.wait_while(self.fault.lock().unwrap(), is_held).unwrap());
        self.fault_at(number)
    }

    /// Returns whether it refuses a message, once.
    fn refuses(&self, message: &[u8]) -> bool {
        let mut fault = self.fault.lock().unwrap();
        let has_rows = || message.windows(ROWS.len()).any(|bytes| bytes == ROWS);
        let is_due = matches!(*fault, Some((at, Cut::Refused)) if self.messages.load(Ordering::SeqCst) > at);
        let is_refused = is_due && has_rows();
        if is_refused {
            *fault = None;
        }
        is_refused
    }

    /// Returns the fault of a message.
    fn fault_at(&self, number: usize) -> Option<Cut> {
        let is_met = |(at, cut): &(usize, Cut)| number == *at || *cut == Cut::Gone && number > *at;
        self.fault.lock().unwrap().filter(is_met).map(|(_, cut)| cut)
    }
}

/// Passes messages on until the connection ends or is to be cut.
fn pass(
    client: &mut &TcpStream,
    server: &mut &TcpStream,
    passing: &Passing,
    answers: thread::JoinHandle<()>,
) -> Option<()> {
    let mut greeting = [0; 20];
    client.read_exact(&mut greeting).ok()?;
    server.write_all(&greeting).ok()?;
    let mut client = client.try_clone().ok()?;
    let mut server = server.try_clone().ok()?;
    while let Some(message) = message(&mut client) {
        let cut = passing.admit();
        if passing.refuses(&message) {
            send(&mut client, &failure("Neo.TransientError.General.MemoryPoolOutOfMemoryError"))?;
            continue;
        }
        if matches!(cut, Some(Cut::Before | Cut::Gone)) {
            return None;
        }
        if cut == Some(Cut::After) {
            // Nothing of the answer must come back.
            client.shutdown(Shutdown::Both).ok()?;
        }
        send(&mut server, &message)?;
        if cut == Some(Cut::After) {
            // The server is finished when its answer cannot be delivered. Then its side is closed, too.
            let _answered = answers.join();
            return None;
        }
    }
    None
}

/// Returns the address of a host that drops packets: its queue of connections is full, and nobody accepts one, as long
/// as the second value lives.
pub(crate) fn unanswered() -> (String, (TcpListener, Vec<TcpStream>)) {
    const QUEUED_MAX: usize = 10_000;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let next = |_| TcpStream::connect_timeout(&address, Duration::from_millis(300)).ok();
    let queued: Vec<TcpStream> = (0..QUEUED_MAX).map_while(next).collect();
    (format!("bolt://{address}"), (listener, queued))
}
