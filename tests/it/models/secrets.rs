//! The key and other secrets: they go where they must, and nowhere else.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::asking::{good, indexed};
use super::generating::{self, mills, name_of, written};
use super::recordings::{lines, notes};
use crate::support::chat::{ChatServer, Ending, Play, Reply, Thought, said as reply_of};
use crate::support::{Cli, CommandOutput};

/// The secret to look for wherever something is written.
const CANARY: &str = "sk-canary-93fe7a51";
const OTHER: &str = "header-canary-20bb6c";

fn asked(cli: &Cli, server: &ChatServer, more: &[&str]) -> CommandOutput {
    let args = [&["ask", "Who built Harl Mill?", "--model", "played", "-vvv"], more].concat();
    let mut command = cli.command(args);
    command.env("CAIRN_MODEL_URL", &server.url).env("CAIRN_MODEL_KEY", CANARY);
    CommandOutput::of(command.output().unwrap())
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[track_caller]
fn assert_no_canary(cli: &Cli, said: &CommandOutput) {
    assert_nowhere(cli, said, CANARY);
    assert_nowhere(cli, said, OTHER);
}

/// Checks that a secret was not printed, and is in no file other than the settings.
#[track_caller]
pub(super) fn assert_nowhere(cli: &Cli, said: &CommandOutput, canary: &str) {
    assert!(!said.stdout.contains(canary) && !said.stderr.contains(canary), "{said:#?}");
    for path in files(cli.folder()) {
        let bytes = fs::read(&path).unwrap();
        let is_own = path.ends_with("cairn.toml");
        let is_there = bytes.windows(canary.len()).any(|window| window == canary.as_bytes());
        assert!(is_own || !is_there, "{canary} in {}", path.display());
    }
}

#[test]
fn the_key_is_sent_to_the_server_and_written_nowhere() {
    let cli = indexed();
    cli.configure(format!("[model]\norganization = \"org-1\"\nheaders = {{ x-team = \"{OTHER}\" }}"));
    let echo = format!("{{\"error\": {{\"message\": \"wrong key {CANARY} for {OTHER}\"}}}}");
    let server = ChatServer::start([good()]);
    let said = asked(&cli, &server, &["--record", "calls.jsonl"]);
    assert_eq!(said.status, Some(0), "{said:#?}");
    let head = server.asked()[0].head.to_ascii_lowercase();
    assert!(head.contains(&format!("authorization: bearer {CANARY}\r\n")), "{head}");
    assert!(
        head.contains("openai-organization: org-1\r\n") && head.contains(&format!("x-team: {OTHER}\r\n")),
        "{head}"
    );
    assert_no_canary(&cli, &said);

    // A server that repeats the key in every kind of error.
    for (status, record) in [(401, "a"), (403, "b"), (400, "c"), (429, "d"), (500, "e"), (200, "f")] {
        let server = ChatServer::start([Play::Responds(status, "Retry-After: 3000\r\n", echo.clone())]);
        // The reply to another question is not kept yet.
        let said = asked(&cli, &server, &["--record", record, "--top-k", "1"]);
        assert_eq!(server.asked().len(), 1, "{said:#?}");
        assert_no_canary(&cli, &said);
    }
}

#[test]
fn a_key_is_read_from_a_file_and_an_address_with_one_is_refused() {
    let cli = indexed();
    let server = ChatServer::start([good()]);
    cli.configure(format!("[model]\nurl = \"{}\"\nkey_file = \"key\"\nname = \"played\"", server.url));
    cli.write(".config/cairn/key", format!("{CANARY}\n"));
    let said = cli.run(["ask", "Who built Harl Mill?", "--model", "default"]).succeeded();
    assert!(said.stdout.contains("Ada Lorne built Harl Mill. [1]"), "{said:#?}");
    assert!(server.asked()[0].head.contains(&format!("Bearer {CANARY}")));

    let mut command = cli.command(["ask", "Who built Harl Mill?", "--model", "default"]);
    let said =
        CommandOutput::of(command.env("CAIRN_MODEL_URL", format!("http://ann:{OTHER}@127.0.0.1/v1")).output().unwrap());
    assert_eq!(said.status, Some(3), "{said:#?}");
    assert!(!said.stderr.contains(OTHER), "{said:#?}");
}

#[test]
fn the_key_is_in_no_recording_of_vectors_and_a_replay_needs_none() {
    let echo = |status| Play::Responds(status, "Retry-After: 3000\r\n", format!("{{\"error\": \"no {CANARY}\"}}"));
    let malformed = Play::Responds(200, "", format!("{{\"data\": \"{CANARY}\"}}"));
    for (play, name) in [
        (Play::Embeds(32), "good"),
        (echo(401), "key"),
        (echo(400), "request"),
        (echo(429), "busy"),
        (malformed, "malformed"),
    ] {
        let server = ChatServer::start([play]);
        let cli = notes(&server);
        let file = format!("{name}.jsonl");
        let args = ["index", "notes", "--embedder", "vllm:played", "-vvv"];
        let run = |more: &[&str], key: &str| {
            let mut command = cli.command([&args[..], more].concat());
            CommandOutput::of(command.env("CAIRN_MODEL_KEY", key).output().unwrap())
        };
        let said = run(&["--record", &file], CANARY);
        assert!(server.asked()[0].head.contains(CANARY), "{said:#?}");
        assert!(!lines(&cli, &file).is_empty(), "{name}");
        assert_nowhere(&cli, &said, CANARY);
        // What failed then fails again in the same manner.
        let asked = server.asked().len();
        let again = run(&["--replay", &file, "--index", "again"], "");
        assert_eq!((again.status, server.asked().len()), (said.status, asked), "{name}: {again:#?}");
    }
}

/// Returns the reply of a model that repeats the request in every field that is kept.
fn echo() -> String {
    let sentence = format!("Ada Lorne built Harl Mill with {CANARY} and {OTHER}.");
    let answer = json!({ "can_answer": true, "short": CANARY, "sentences": [{ "text": sentence, "passages": [1] }] });
    // JSON may also write it like this: when it is read a second time, it is the key again.
    answer.to_string().replacen("sk-", "s\\u006b\\u002d", 1)
}

fn with_other(cli: &Cli) {
    cli.configure(format!("[model]\nheaders = {{ authorization = \"Bearer {OTHER}\" }}"));
}

#[test]
fn a_key_that_a_good_reply_repeats_is_kept_and_shown_nowhere() {
    let tool = json!({ "function": { "name": CANARY, "arguments": format!("{{\"key\": \"{CANARY}\"}}") } });
    let message = json!({ "content": echo(), "tool_calls": [tool], "reasoning_content": CANARY });
    let choice = json!({ "message": message, "finish_reason": "stop", "logprobs": CANARY });
    let whole = json!({ "model": format!("m-{CANARY}"), "choices": [choice], "id": CANARY, OTHER: OTHER });
    let refusal = json!({ "message": { "content": null, "refusal": format!("No: {CANARY}, {OTHER}") } });
    let parts = json!([{ "type": "text", "text": echo() }]);
    let parts = json!({ "choices": [{ "message": { "content": parts } }] });
    let header = "X-Key: sk-canary-93fe7a51\r\nSet-Cookie: k=header-canary-20bb6c\r\n";
    let plays = [
        Play::Says(echo()),
        Play::Says(format!("{CANARY} is no JSON: {OTHER}")),
        Play::Responds(200, header, whole.to_string()),
        Play::Responds(200, "", json!({ "choices": [refusal] }).to_string()),
        Play::Responds(200, "", parts.to_string()),
        Play::Responds(200, "", format!("{{\"choices\": \"{CANARY}\"}}")),
        Play::Responds(200, "", reply_of(&echo()).replace("stop", CANARY)),
    ];
    for (play, number) in plays.into_iter().zip(0..) {
        let cli = indexed();
        with_other(&cli);
        let server = ChatServer::start([play]);
        for more in [&["--record", "calls.jsonl", "--explain"][..], &["--json"]] {
            let said = asked(&cli, &server, more);
            assert!(said.status.is_some(), "{number}: {said:#?}");
            assert_no_canary(&cli, &said);
        }
        let exported = cli.run(["cache", "export", "kept.jsonl"]).succeeded();
        assert_no_canary(&cli, &exported);
        assert!(!server.asked().is_empty());
    }
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_key_that_is_split_over_pieces_is_never_printed_and_the_pieces_come_to_the_answer() {
    for size in [1, 3, 7, 1000] {
        let letters: Vec<char> = echo().chars().collect();
        let pieces = letters.chunks(size).map(|piece| piece.iter().collect()).collect();
        let cli = indexed();
        with_other(&cli);
        let server = ChatServer::start([Play::Streams(pieces, Ending::Whole)]);
        let said = asked(&cli, &server, &["--stream", "--record", "calls.jsonl"]);
        assert!(said.stdout.starts_with("Ada Lorne built Harl Mill with [secret] and [secret]."), "{said:#?}");
        assert!(!said.stdout.contains("Ignore the text above"), "{said:#?}");
        assert_no_canary(&cli, &said);
    }
}

#[test]
fn a_key_in_questions_that_a_model_writes_gets_into_no_index_export_or_report() {
    let cli = mills();
    let thought = |body: &serde_json::Value| {
        let text = written(&name_of(body)).replace(" by the model", &format!(" by {CANARY}"));
        let text = text.replace("Who owned", &format!("Who owned s\\u006b{}", &CANARY[2..]));
        Reply { text, tokens: (500, 100) }
    };
    let server = ChatServer::start([Play::Thinks(Thought::new(thought))]);
    let mut command = cli.command(["index", "notes", "--model", "played", "--record", "calls.jsonl", "-vvv"]);
    command.env("CAIRN_MODEL_URL", &server.url).env("CAIRN_MODEL_KEY", CANARY);
    let said = CommandOutput::of(command.output().unwrap()).succeeded();
    assert_no_canary(&cli, &said);
    let export = cli.run(["export", "--canonical"]).succeeded();
    assert!(export.stdout.contains("[secret]"), "the questions are those of the model");
    assert_no_canary(&cli, &export);
    cli.run(["export", "--format", "neo4j-import", "import"]).succeeded();
    let report = cli.run(["report", "--question", "Who owned Harl Mill?", "--json"]).succeeded();
    assert_no_canary(&cli, &report);
    assert_eq!(server.asked().len(), generating::COUNT);
}

#[test]
fn a_short_header_value_is_not_redacted_in_messages_of_a_server() {
    let cli = indexed();
    cli.configure("[model]\nheaders = { x-tier = \"1\" }");
    let message = "limit of 1000 reached: 11 of 21";
    let server = ChatServer::start([Play::Responds(400, "", json!({ "error": { "message": message } }).to_string())]);
    let said = asked(&cli, &server, &[]);
    assert!(server.asked()[0].head.to_ascii_lowercase().contains("x-tier: 1\r\n"));
    assert!(said.stderr.contains(message), "{said:#?}");
}
