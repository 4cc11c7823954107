//! Recordings of vectors: whole runs with an embedder behind a server are repeated without it.

use std::fs;

use serde_json::{Value, json};

use super::generating::{name_of, written};
use crate::support::Cli;
use crate::support::chat::{ChatServer, Play, Reply, Thought};

/// Notes, and settings with the server as `vllm` for both models.
pub(super) fn notes(server: &ChatServer) -> Cli {
    let cli = Cli::new();
    cli.write("notes/mill.txt", "Harl Mill\n\nHarl Mill was built by Ada Lorne. It burned down twice.");
    cli.write("notes/ada.txt", "Ada Lorne\n\nAda Lorne was born in Eaststead in 1801.");
    cli.configure(format!("[model]\nserver = \"vllm\"\nurl = \"{}\"\n", server.url));
    cli
}

/// Returns the notes and their index; the calls that made it are in `made.jsonl`.
fn recorded() -> (Cli, ChatServer) {
    let server = ChatServer::start([Play::Embeds(32)]);
    let cli = notes(&server);
    cli.run(["index", "notes", "--embedder", "vllm:played", "--record", "made.jsonl"]).succeeded();
    (cli, server)
}

pub(super) fn lines(cli: &Cli, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(cli.folder().join(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns a command's JSON output, without times.
#[track_caller]
pub(super) fn printed(cli: &Cli, args: &[&str]) -> Value {
    let said = cli.run([args, &["--json"]].concat()).succeeded();
    let mut printed = serde_json::from_str(&said.stdout).unwrap();
    without_times(&mut printed);
    printed
}

/// Removes times from the output.
fn without_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !name.contains("seconds") && !name.ends_with("_ms") && !name.ends_with("_us"));
            fields.values_mut().for_each(without_times);
        }
        Value::Array(values) => values.iter_mut().for_each(without_times),
        _ => {}
    }
}

#[test]
fn a_run_with_a_server_of_vectors_is_replayed_without_it_and_one_that_lacks_a_text_says_which() {
    let server = ChatServer::start([Play::Embeds(32)]);
    let cli = notes(&server);
    let args = ["index", "notes", "--embedder", "vllm:played"];
    let first = printed(&cli, &[&args[..], &["--record", "made.jsonl"]].concat());
    let (recorded, asked) = (cli.canonical(".cairn"), server.asked().len());
    let calls = lines(&cli, "made.jsonl");
    assert_eq!(calls.len(), asked);
    assert!(calls.iter().all(|call| call["embedder"] == "vllm:played"), "{calls:?}");
    assert!(!fs::read_to_string(cli.folder().join("made.jsonl")).unwrap().contains("Lorne"));

    server.play([Play::Closes]);
    let replay = [&args[..], &["--replay", "made.jsonl", "--index", "again"]].concat();
    let again = printed(&cli, &replay);
    assert_eq!((&again, cli.canonical("again")), (&first, recorded));
    assert_eq!(again["vectors"]["spent"]["calls"], json!(asked));

    cli.write("notes/hill.txt", "Pale Hill\n\nPale Hill is far away.");
    cli.refuses(&replay, "input", &["`vllm:played`", "the vector of text ", "(`Pale Hill", "is not in the recording"]);
    assert_eq!(server.asked().len(), asked);
}

#[test]
fn questions_to_an_index_that_is_pinned_to_a_server_are_recorded_and_replayed_without_a_language_model() {
    let (cli, server) = recorded();
    let questions = json!({ "id": "1", "question": "Who built Harl Mill?", "supporting": ["notes/mill.txt"] });
    cli.write("questions.jsonl", questions.to_string());
    for (name, args) in [
        ("search", &["search", "Who built Harl Mill?", "--strategy", "dense"][..]),
        ("ask", &["ask", "Who built Harl Mill?"]),
        ("eval", &["eval", "retrieval", "--questions", "questions.jsonl"]),
    ] {
        let file = format!("{name}.jsonl");
        let said = |more: &[&str]| printed(&cli, &[args, more].concat());
        let first = said(&["--record", &file]);
        let asked = server.asked().len();
        assert!(!lines(&cli, &file).is_empty(), "{name}");
        assert_eq!(said(&["--replay", &file]), first, "{name}");
        assert_eq!(server.asked().len(), asked, "{name}");
    }
    let other = ["search", "Where is Eaststead?", "--strategy", "dense", "--replay", "search.jsonl"];
    cli.refuses(&other, "input", &["text 1 (`Where is Eaststead?`)"]);
    // A search by words needs no vectors.
    cli.run(["search", "Where is Eaststead?", "--strategy", "lexical", "--replay", "search.jsonl"]).succeeded();
}

#[test]
fn calls_to_a_model_and_to_an_embedder_are_in_one_file() {
    let writes = Thought::new(|body| Reply { text: written(&name_of(body)), tokens: (10, 5) });
    let server = ChatServer::start([Play::Serves(writes, 16, str::len)]);
    let cli = notes(&server);
    let args = ["index", "notes", "--model", "vllm:played", "--embedder", "vllm:played"];
    let first = printed(&cli, &[&args[..], &["--record", "made.jsonl"]].concat());
    let calls = lines(&cli, "made.jsonl");
    let vectors = calls.iter().filter(|call| call.get("embedder").is_some()).count();
    assert!(vectors > 0 && vectors < calls.len(), "{calls:?}");
    let asked = server.asked().len();
    let again = printed(&cli, &[&args[..], &["--replay", "made.jsonl", "--index", "again"]].concat());
    assert_eq!((again, cli.canonical("again")), (first, cli.canonical(".cairn")));
    assert_eq!(server.asked().len(), asked);
}

#[test]
fn a_recording_without_vectors_is_read_and_lacks_the_first_text() {
    let (cli, server) = recorded();
    let sentences = json!([{ "text": "Ada Lorne built Harl Mill.", "passages": [1] }]);
    let answer = json!({ "can_answer": true, "sentences": sentences }).to_string();
    server.play([Play::Serves(Thought::new(move |_| Reply { text: answer.clone(), tokens: (9, 5) }), 32, str::len)]);
    let args = ["ask", "Who built Harl Mill?", "--model", "vllm:played"];
    cli.run([&args[..], &["--record", "calls.jsonl"]].concat()).succeeded();
    let whole = fs::read_to_string(cli.folder().join("calls.jsonl")).unwrap();
    let chat: String = whole.split_inclusive('\n').filter(|line| line.contains("\"purpose\"")).collect();
    cli.write("old.jsonl", chat);
    let asked = server.asked().len();
    let lexical = ["--strategy", "lexical", "--replay", "old.jsonl"];
    cli.refuses(&[&args[..], &["--replay", "old.jsonl"]].concat(), "input", &["the vector of text 1 (`"]);
    let said = cli.run([&args[..], &lexical].concat());
    assert!(!said.stderr.contains("is not a recorded call"), "{said:#?}");
    assert_eq!(server.asked().len(), asked);
}

#[test]
fn a_recording_of_nothing_says_so_and_none_is_written_over() {
    let cli = Cli::new();
    cli.write("notes/mill.txt", "Harl Mill\n\nHarl Mill was built by Ada Lorne.");
    let said = cli.run(["index", "notes", "--record", "made.jsonl"]).succeeded();
    assert!(said.stderr.contains("note: nothing is recorded"), "{said:#?}");
    let said = cli.run(["search", "Who built Harl Mill?", "--record", "made.jsonl"]);
    assert_eq!(said.status, Some(3), "{said:#?}");
    let said = cli.run(["search", "Who built Harl Mill?", "--replay", "made.jsonl"]).succeeded();
    assert!(said.stdout.contains("Harl Mill"), "{said:#?}");
}
