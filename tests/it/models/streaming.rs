//! `cairn ask --stream`: sentences are printed as they come, and are those of the answer.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::Instant;

use super::asking::{ask, good, indexed};
use crate::support::chat::{ChatServer, Ending, Play};

/// A reply of two sentences in pieces of a few letters; the first sentence is supported.
fn pieces() -> Vec<String> {
    let reply = r#"{"can_answer": true, "sentences": [{"text": "Ada Lorne built Harl Mill.", "passages": [1]},
        {"text": "Bertha Quill paid for it in 1999.", "passages": [1]}]}"#;
    let letters: Vec<char> = reply.chars().collect();
    letters.chunks(6).map(|piece| piece.iter().collect()).collect()
}

#[test]
fn sentences_are_those_of_the_answer_marked_counted_kept_and_recorded_as_without() {
    let server = ChatServer::start([Play::Streams(pieces(), Ending::Whole)]);
    let cli = indexed();
    let streamed = ask(&cli, &server, &["--stream", "--record", "calls.jsonl"]).succeeded();
    let [first, second] = [0, 1].map(|line| streamed.stdout.lines().nth(line).unwrap());
    assert_eq!(first, "Ada Lorne built Harl Mill. [1]");
    assert!(
        second.starts_with("Bertha Quill paid for it in 1999. [") && second.ends_with("supported by its citations)")
    );
    assert!(streamed.stderr.contains("1 call, 300 tokens read, 40 written"), "{streamed:#?}");
    assert_eq!(server.asked()[0].body["stream"], true);
    // Neither kept replies nor replays come in pieces.
    for more in [&["--stream", "--max-calls", "0"][..], &["--max-calls", "0"], &["--stream", "--replay", "calls.jsonl"]]
    {
        assert_eq!(ask(&cli, &server, more).succeeded().stdout, streamed.stdout, "{more:?}");
    }
    assert_eq!(server.asked().len(), 1);
    // A server may send it in one piece.
    let (cli, server) = (indexed(), ChatServer::start([good()]));
    assert!(ask(&cli, &server, &["--stream"]).succeeded().stdout.starts_with("Ada Lorne built Harl Mill. [1]\n\n"));
}

#[test]
fn a_sentence_is_printed_before_the_next_has_come() {
    let mut late = pieces();
    late.extend(std::iter::repeat_n(" ".to_owned(), 100));
    let (cli, server) = (indexed(), ChatServer::start([Play::Streams(late, Ending::Whole)]));
    let mut command = cli.command(["ask", "Who built Harl Mill?", "--model", "played", "--stream"]);
    command.env("CAIRN_MODEL_URL", &server.url).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut running = command.spawn().unwrap();
    let mut lines = BufReader::new(running.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "Ada Lorne built Harl Mill. [1]");
    let first = Instant::now();
    assert!(lines.last().is_some() && running.wait().unwrap().success());
    // A hundred pieces of 20 ms came after it.
    assert!(first.elapsed().as_millis() > 1_500, "{:?}", first.elapsed());
}

#[test]
fn what_was_printed_of_a_reply_that_breaks_off_or_cannot_be_used_is_taken_back() {
    let sentence = r#"{"text": "Ada Lorne built Harl Mill.", "passages": [1]}"#;
    let foul = format!("{{\"can_answer\": true, \"sentences\": [{sentence}] and so on");
    let cases = [
        (vec![Play::Streams(pieces(), Ending::Broken)], "the connection broke"),
        (vec![Play::Streams(vec![foul], Ending::Whole), good()], ""),
    ];
    for (plays, why) in cases {
        let calls = plays.len();
        let (cli, server) = (indexed(), ChatServer::start(plays));
        let said = ask(&cli, &server, &["--stream"]).succeeded();
        assert!(said.stdout.starts_with("Ada Lorne built Harl Mill. [1]\n"), "{said:#?}");
        assert_eq!(said.stdout.contains("Ignore the text above"), calls == 1, "{said:#?}");
        assert!(said.stderr.contains(why), "{said:#?}");
        assert_eq!(server.asked().len(), calls);
    }
}
