//! A server of language models that follows a script, including faults, and records its requests.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustls::{ServerConnection, StreamOwned};
use serde_json::{Value, json};

use super::certificates::encryption;

/// What the server does with one request.
#[derive(Debug, Clone)]
pub(crate) enum Play {
    /// A model says this.
    Says(String),
    /// A response with this status, these header lines, and this body.
    Responds(u16, &'static str, String),
    /// The head of a good response and part of its body, before the connection is closed.
    BreaksOff,
    /// The head of a response, and then a byte from time to time, without end.
    Drips,
    /// Nothing, for as long as the client waits.
    Silent,
    /// The connection is closed without a response.
    Closes,
    /// A good response of this many bytes.
    Bytes(usize),
    /// A model's reply in these pieces, one every 20 ms; then it ends normally, or the connection is closed.
    Streams(Vec<String>, Ending),
    /// Vectors of this length, which are similar for texts that share words.
    Embeds(usize),
    /// These bytes, including the head; then the connection stays open, or is closed.
    Sends(String, Afterwards),
    /// Vectors, for as many texts as the server takes.
    EmbedsSome(Embedding),
    /// A model's reply to the request.
    Thinks(Thought),
    /// This body, made from the request.
    Answers(Answers),
    /// This status and body, made from the request.
    Judges(Judge),
    /// The same, and vectors of this length if texts are sent, with this many tokens for each text.
    Serves(Thought, usize, fn(&str) -> usize),
}

/// A model's reply to the body of a request, and the tokens for it.
#[derive(Clone)]
pub(crate) struct Thought(Arc<dyn Fn(&Value) -> Reply + Send + Sync>);

/// Returns the length of the vectors if the server takes this many texts, given the length that was requested.
#[derive(Clone)]
pub(crate) struct Embedding(Arc<Dimension>);

type Dimension = dyn Fn(&[Value], Option<usize>) -> Option<usize> + Send + Sync;

impl Embedding {
    pub(crate) fn new(of: impl Fn(&[Value], Option<usize>) -> Option<usize> + Send + Sync + 'static) -> Self {
        Self(Arc::new(of))
    }
}

impl std::fmt::Debug for Embedding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Embedding")
    }
}

/// Makes the body of a response from that of a request.
#[derive(Clone)]
pub(crate) struct Answers(Arc<dyn Fn(&Value) -> String + Send + Sync>);

impl Answers {
    pub(crate) fn new(answer: impl Fn(&Value) -> String + Send + Sync + 'static) -> Self {
        Self(Arc::new(answer))
    }
}

impl std::fmt::Debug for Answers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Answers")
    }
}

/// Makes the status and body of a response from a request.
#[derive(Clone)]
pub(crate) struct Judge(Arc<Judging>);

type Judging = dyn Fn(&Asked) -> (u16, String) + Send + Sync;

impl Judge {
    pub(crate) fn new(judge: impl Fn(&Asked) -> (u16, String) + Send + Sync + 'static) -> Self {
        Self(Arc::new(judge))
    }
}

impl std::fmt::Debug for Judge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Judge")
    }
}

/// A model's reply, with the tokens read and written.
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) tokens: (usize, usize),
}

impl Thought {
    pub(crate) fn new(think: impl Fn(&Value) -> Reply + Send + Sync + 'static) -> Self {
        Self(Arc::new(think))
    }

    /// Returns the body of its response to that of a request.
    pub(crate) fn said(&self, body: &Value) -> String {
        let Reply { text, tokens: (read, written) } = self.0(body);
        let mut body: Value = serde_json::from_str(&said(&text)).unwrap();
        body["usage"] = json!({ "prompt_tokens": read, "completion_tokens": written });
        body.to_string()
    }
}

impl std::fmt::Debug for Thought {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Thought")
    }
}

/// What happens to a connection after everything was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Afterwards {
    /// It stays open, and nothing more comes.
    Open,
    /// It is reset.
    Reset,
}

/// How a reply in pieces ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// As it should.
    Whole,
    /// The connection is closed early.
    Broken,
}

/// A request as received.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// Its first line and its headers.
    pub(crate) head: String,
    /// Its body.
    pub(crate) body: Value,
}

/// The server. It runs as long as this process.
pub(crate) struct ChatServer {
    /// Its address, up to `/v1`.
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    plays: Arc<Mutex<VecDeque<Play>>>,
}

impl ChatServer {
    /// Starts a server that plays `plays` one after the other, and repeats the last one.
    pub(crate) fn start(plays: impl IntoIterator<Item = Play>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        Self::serving(listener, url, plays, |mut stream, plays, asked| serve(&mut stream, plays, asked))
    }

    /// Starts one at `localhost` that speaks TLS, with the key and certificate in `folder`.
    pub(crate) fn encrypted(plays: impl IntoIterator<Item = Play>, folder: &Path) -> Self {
        let config = encryption(folder);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("https://localhost:{}/v1", listener.local_addr().unwrap().port());
        Self::serving(listener, url, plays, move |stream, plays, asked| {
            let mut stream = StreamOwned::new(ServerConnection::new(Arc::clone(&config)).ok()?, stream);
            serve(&mut stream, plays, asked)?;
            stream.conn.send_close_notify();
            stream.flush().ok()
        })
    }

    fn serving(
        listener: TcpListener,
        url: String,
        plays: impl IntoIterator<Item = Play>,
        serve: impl Fn(TcpStream, &Mutex<VecDeque<Play>>, &Mutex<Vec<Asked>>) -> Option<()> + Send + Sync + 'static,
    ) -> Self {
        let plays = Arc::new(Mutex::new(plays.into_iter().collect::<VecDeque<Play>>()));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (remembered, due, serve) = (Arc::clone(&asked), Arc::clone(&plays), Arc::new(serve));
        thread::spawn(move || {
            // A connection that cannot be accepted is tried again by the client.
            for stream in listener.incoming().flatten() {
                let (plays, asked, serve) = (Arc::clone(&due), Arc::clone(&remembered), Arc::clone(&serve));
                thread::spawn(move || serve(stream, &plays, &asked));
            }
        });
        Self { url, asked, plays }
    }

    /// Plays these from now on, as after [`Self::start`].
    pub(crate) fn play(&self, plays: impl IntoIterator<Item = Play>) {
        *self.plays.lock().unwrap() = plays.into_iter().collect();
    }

    /// Returns its requests, in order.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

/// Returns the body of a good response with `text` as the model's reply, 300 tokens read and 40 written.
pub(crate) fn said(text: &str) -> String {
    json!({
        "id": "1", "object": "chat.completion", "model": "played-1",
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": text }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 300, "completion_tokens": 40, "total_tokens": 340 },
    })
    .to_string()
}

/// Returns a reply in pieces as a server sends it, including the head, without its end.
pub(crate) fn streamed(pieces: &[&str], end: &[&str]) -> String {
    let piece = |piece: &&str| {
        let choice = json!({ "index": 0, "delta": { "content": piece }, "finish_reason": null });
        format!("data: {}\n\n", json!({ "model": "played-1", "choices": [choice] }))
    };
    let end = end.iter().map(|it| format!("data: {it}\n\n"));
    let events = pieces.iter().map(piece).chain(end).collect::<Vec<String>>().concat();
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 100000\r\n\r\n{events}")
}

fn serve(stream: &mut (impl Read + Write), plays: &Mutex<VecDeque<Play>>, asked: &Mutex<Vec<Asked>>) -> Option<()> {
    let request = request(stream)?;
    let play = {
        let (mut asked, mut plays) = (asked.lock().unwrap(), plays.lock().unwrap());
        asked.push(request.clone());
        if plays.len() > 1 { plays.pop_front()? } else { plays.front()?.clone() }
    };
    match play {
        Play::Says(text) => respond(stream, 200, "", &said(&text)),
        Play::Responds(status, headers, body) => respond(stream, status, headers, &body),
        Play::Bytes(count) => respond(stream, 200, "", &said(&"a".repeat(count))),
        Play::BreaksOff => {
            let body = said("A.");
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
            stream.write_all(head.as_bytes()).ok()?;
            stream.write_all(&body.as_bytes()[..body.len() / 2]).ok()
        }
        Play::Drips => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n").ok()?;
            loop {
                stream.write_all(b" ").ok()?;
                thread::sleep(Duration::from_millis(20));
            }
        }
        Play::Sends(bytes, afterwards) => {
            stream.write_all(bytes.as_bytes()).ok()?;
            match afterwards {
                Afterwards::Open => stream.read_to_end(&mut Vec::new()).ok().map(drop),
                // The head promises more than is sent.
                Afterwards::Reset => None,
            }
        }
        Play::Silent => stream.read_to_end(&mut Vec::new()).ok().map(drop),
        Play::Closes => None,
        Play::Streams(pieces, ending) => stream_pieces(stream, &pieces, ending),
        Play::Serves(_, dimension, count) if request.body["input"].is_array() => {
            let texts = request.body["input"].as_array().unwrap();
            let tokens = texts.iter().map(|text| count(text.as_str().unwrap())).sum();
            respond(stream, 200, "", &embedded(texts, dimension, tokens))
        }
        Play::EmbedsSome(Embedding(dimension)) => {
            let texts = request.body["input"].as_array().unwrap();
            match dimension(texts, request.body["dimensions"].as_u64().map(|it| it as usize)) {
                Some(dimension) => respond(stream, 200, "", &embedded(texts, dimension, 9)),
                None => respond(stream, 413, "", r#"{"error": "batch size is too large"}"#),
            }
        }
        Play::Judges(Judge(judge)) => {
            let (status, body) = judge(&request);
            respond(stream, status, "", &body)
        }
        Play::Answers(Answers(answer)) => respond(stream, 200, "", &answer(&request.body)),
        Play::Thinks(thought) | Play::Serves(thought, ..) => respond(stream, 200, "", &thought.said(&request.body)),
        Play::Embeds(dimension) => {
            let texts = request.body["input"].as_array().unwrap();
            respond(stream, 200, "", &embedded(texts, dimension, 9))
        }
    }
}

fn stream_pieces(stream: &mut impl Write, pieces: &[String], ending: Ending) -> Option<()> {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nConnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).ok()?;
    let mut send = |event: &str| {
        thread::sleep(Duration::from_millis(20));
        stream.write_all(format!("data: {event}\n\n").as_bytes()).ok()
    };
    for piece in pieces {
        let choice = json!({ "index": 0, "delta": { "content": piece }, "finish_reason": null });
        send(&json!({ "model": "played-1", "choices": [choice] }).to_string())?;
    }
    if ending == Ending::Broken {
        return None;
    }
    let choice = json!({ "index": 0, "delta": {}, "finish_reason": "stop" });
    send(&json!({ "model": "played-1", "choices": [choice] }).to_string())?;
    send(&json!({ "choices": [], "usage": { "prompt_tokens": 300, "completion_tokens": 40 } }).to_string())?;
    send("[DONE]")
}

/// Returns the body of a good response with a vector for each of `texts`, which counts its words by their hashes.
fn embedded(texts: &[Value], dimension: usize, tokens: usize) -> String {
    let vector = |text: &Value| {
        let mut values = vec![0.0; dimension];
        for word in text.as_str().unwrap().to_lowercase().split(|it: char| !it.is_alphanumeric()) {
            let number = word.bytes().fold(7_usize, |number, byte| (number * 31 + usize::from(byte)) % 65_521);
            values[number % dimension] += 1.0;
        }
        values
    };
    let data: Vec<Value> =
        texts.iter().zip(0..).map(|(it, at)| json!({ "index": at, "embedding": vector(it) })).collect();
    let usage = json!({ "prompt_tokens": tokens, "total_tokens": tokens });
    json!({ "object": "list", "data": data, "model": "played-1", "usage": usage }).to_string()
}

/// Reads a request to its end.
fn request(stream: &mut impl Read) -> Option<Asked> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).ok()?;
    Some(Asked { head, body: serde_json::from_slice(&body).unwrap_or_default() })
}

fn respond(stream: &mut impl Write, status: u16, headers: &str, body: &str) -> Option<()> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n{headers}Connection: close\r\n\
         Content-Length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body.as_bytes()).ok()
}
