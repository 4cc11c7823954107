//! The key and other secrets: where they go, and that they go nowhere else.

use std::fs;
use std::path::{Path, PathBuf};

use super::asking::{good, indexed};
use super::recordings::{lines, notes};
use crate::support::chat::{ChatServer, Play};
use crate::support::{Cli, Said};

/// What is looked for wherever something is written.
const CANARY: &str = "sk-canary-93fe7a51";
const OTHER: &str = "header-canary-20bb6c";

fn asked(cli: &Cli, server: &ChatServer, more: &[&str]) -> Said {
    let args = [&["ask", "Who built Harl Mill?", "--model", "played", "-vvv"], more].concat();
    let mut command = cli.command(args);
    command.env("CAIRN_MODEL_URL", &server.url).env("CAIRN_MODEL_KEY", CANARY);
    Said::of(command.output().unwrap())
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[track_caller]
fn assert_no_canary(cli: &Cli, said: &Said) {
    assert_nowhere(cli, said, CANARY);
    assert_nowhere(cli, said, OTHER);
}

/// Checks that a secret was not printed, and is in no file but the settings.
#[track_caller]
pub(super) fn assert_nowhere(cli: &Cli, said: &Said, canary: &str) {
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

    // A server that repeats it, in every way it can say no.
    for (status, record) in [(401, "a"), (403, "b"), (400, "c"), (429, "d"), (500, "e"), (200, "f")] {
        let server = ChatServer::start([Play::Responds(status, "Retry-After: 3000\r\n", echo.clone())]);
        // Another question's reply is not kept yet.
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
    let said = Said::of(command.env("CAIRN_MODEL_URL", format!("http://ann:{OTHER}@127.0.0.1/v1")).output().unwrap());
    assert_eq!(said.status, Some(3), "{said:#?}");
    assert!(!said.stderr.contains(OTHER), "{said:#?}");
}

#[test]
fn the_key_is_in_no_recording_of_vectors_and_a_replay_needs_none() {
    let echo = |status| Play::Responds(status, "Retry-After: 3000\r\n", format!("{{\"error\": \"no {CANARY}\"}}"));
    for (play, name) in [(Play::Embeds(32), "good"), (echo(401), "key"), (echo(400), "request"), (echo(429), "busy")] {
        let server = ChatServer::start([play]);
        let cli = notes(&server);
        let file = format!("{name}.jsonl");
        let args = ["index", "notes", "--embedder", "vllm:played", "-vvv"];
        let run = |more: &[&str], key: &str| {
            let mut command = cli.command([&args[..], more].concat());
            Said::of(command.env("CAIRN_MODEL_KEY", key).output().unwrap())
        };
        let said = run(&["--record", &file], CANARY);
        assert!(server.asked()[0].head.contains(CANARY), "{said:#?}");
        assert!(!lines(&cli, &file).is_empty(), "{name}");
        assert_nowhere(&cli, &said, CANARY);
        // What failed then fails again, and in the same way.
        let asked = server.asked().len();
        let again = run(&["--replay", &file, "--index", "again"], "");
        assert_eq!((again.status, server.asked().len()), (said.status, asked), "{name}: {again:#?}");
    }
}
