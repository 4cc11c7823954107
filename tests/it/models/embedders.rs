//! Embedders behind a server: requests, faults, and indexes that are pinned to one.

use std::fs;

use cairn::domain::ChatError;
use cairn::embed::{Embedder as _, ServerEmbedder, ServerOptions};
use cairn::llm::{Endpoint, Limits};
use cairn::{Error, ErrorKind, Workspace};
use serde_json::json;

use super::{ATTEMPTS, check_faults, played};
use crate::support::chat::{Asked, ChatServer, Play};
use crate::support::{Cli, CommandOutput, block_on};

const CANARY: &str = "sk-canary-5b1d0c77";

fn embed(url: &str, dimension: usize, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error> {
    let (endpoint, retries) = played(url);
    let options = ServerOptions { retries, ..ServerOptions::default() };
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    let embedder = ServerEmbedder::pinned(endpoint, dimension, options)?;
    block_on(async move {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        Ok(embedder.embed(&texts).await?.iter().map(|it| it.values().to_vec()).collect())
    })
}

/// A folder with two documents.
fn notes() -> Cli {
    let cli = Cli::new();
    cli.write("notes/mill.txt", "Harl Mill\n\nHarl Mill was built by Ada Lorne. It burned down twice.");
    cli.write("notes/ada.txt", "Ada Lorne\n\nAda Lorne was born in Eaststead in 1801.");
    cli
}

fn run(cli: &Cli, server: &ChatServer, args: &[&str]) -> CommandOutput {
    let mut command = cli.command(args);
    CommandOutput::of(command.env("CAIRN_EMBEDDER_URL", &server.url).output().unwrap())
}

/// Returns settings with the server as `vllm`, so that its embedder has the same name at any address.
fn settings(server: &ChatServer) -> String {
    format!("[model]\nserver = \"vllm\"\nembedder_url = \"{}\"\n", server.url)
}

/// Returns the length of the index's vectors.
fn dimension(cli: &Cli) -> usize {
    Workspace::open(cli.folder().join(".cairn")).unwrap().status().unwrap().dimension
}

/// A fault that retries do not overcome.
fn fault() -> Play {
    Play::Responds(404, "", r#"{"error": "as played"}"#.to_owned())
}

/// Returns the texts that a server was sent.
fn sent(server: &ChatServer) -> Vec<String> {
    let texts = |body: &serde_json::Value| body["input"].as_array().unwrap().clone();
    let all = server.asked().into_iter().flat_map(|asked| texts(&asked.body));
    all.map(|text| text.as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_fault_of_a_server_of_vectors_has_its_type_and_is_tried_again_only_where_it_cost_nothing() {
    let responds = |status, body: &str| Play::Responds(status, "", body.to_owned());
    let vectors = |values: &str| responds(200, &format!(r#"{{"data": [{{"index": 0, "embedding": {values}}}]}}"#));
    let error = r#"{"error": {"message": "as played"}}"#;
    let cases = [
        (responds(429, error), "rate_limited", ATTEMPTS),
        (responds(500, "<html>down</html>"), "server", ATTEMPTS),
        (responds(503, ""), "server", ATTEMPTS),
        // llama.cpp's server refuses like this if it was not started for vectors.
        (responds(501, error), "request", 1),
        (responds(401, error), "key", 1),
        (responds(404, error), "request", 1),
        (responds(200, r#"{"data": []}"#), "vectors", 1),
        (vectors("[1, 2]"), "vectors", 1),
        (vectors("[1, 2, 3, 4]"), "vectors", 1),
        (vectors("[]"), "vectors", 1),
        (vectors("[0, 0, 0]"), "vectors", 1),
        (vectors("[1, null, 2]"), "vectors", 1),
        (vectors("[1, 1e39, 2]"), "malformed", 1),
        (vectors("[1, NaN, 2]"), "malformed", 1),
        (vectors("[1, 1e999, 2]"), "malformed", 1),
        (vectors("\"AACAPw==\""), "malformed", 1),
        (responds(200, r#"{"data": [{"index": 0, "embedding": [1, 2, 3]}"#), "malformed", 1),
        (responds(200, r#"{"data": [{"index": 1, "embedding": [1, 2, 3]}]}"#), "malformed", 1),
        (responds(200, "<html>a portal</html>"), "malformed", 1),
        (Play::Bytes(40 << 20), "too_large", 1),
        (Play::BreaksOff, "interrupted", 1),
        (Play::Closes, "interrupted", 1),
        (Play::Drips, "timeout", 1),
        (Play::Silent, "timeout", 1),
    ];
    check_faults(cases, |url| {
        let error = embed(url, 3, &["Who?"]).unwrap_err();
        let kind = error.kind();
        let Error::EmbedderServer { source, .. } = error else { panic!("{error:?}") };
        let expect = if source.needs_correction() { ErrorKind::Input } else { ErrorKind::Unavailable };
        assert_eq!(kind, expect, "{source}");
        source
    });
}

#[test]
fn texts_go_out_once_each_in_bounded_calls_and_come_back_in_order() {
    let server = ChatServer::start([Play::Embeds(32)]);
    let texts: Vec<String> = (0..200).map(|number| format!("number {}", number % 150)).collect();
    let mut texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    texts.push(" \n");
    let vectors = embed(&server.url, 32, &texts).unwrap();
    assert_eq!(vectors.len(), 201);
    assert_eq!(vectors[3], vectors[153]);
    assert!(vectors[200].iter().all(|value| *value == 0.0));
    for (vector, text) in vectors[..200].iter().zip(&texts).step_by(40) {
        assert_eq!(*vector, embed(&server.url, 32, &[text]).unwrap()[0], "{text}");
        assert!((vector.iter().map(|value| value * value).sum::<f32>() - 1.0).abs() < 1e-5);
    }
    let calls: Vec<usize> = server.asked().iter().map(|it| it.body["input"].as_array().unwrap().len()).collect();
    let mut calls = calls[..3].to_vec();
    calls.sort_unstable();
    assert_eq!(calls, [22, 64, 64]);
    let asked = &server.asked()[0];
    assert!(asked.head.starts_with("POST /v1/embeddings HTTP/1.1\r\n"), "{}", asked.head);
    assert_eq!((&asked.body["model"], &asked.body["encoding_format"]), (&json!("played"), &json!("float")));
}

#[test]
fn the_length_of_vectors_is_learnt_when_an_embedder_is_opened() {
    let server = ChatServer::start([Play::Embeds(7)]);
    let open = |url: &str| block_on(ServerEmbedder::open(Endpoint::at(url, "played"), ServerOptions::default()));
    assert_eq!(open(&server.url).unwrap().dimension(), 7);
    let server = ChatServer::start([Play::Responds(200, "", r#"{"data": [{"embedding": []}]}"#.to_owned())]);
    let error = open(&server.url).unwrap_err();
    assert!(matches!(error, Error::EmbedderServer { source: ChatError::Vectors { .. }, .. }), "{error:?}");
}

#[test]
fn an_index_keeps_using_the_server_that_made_it() {
    let (cli, server) = (notes(), ChatServer::start([Play::Embeds(32)]));
    run(&cli, &server, &["index", "notes", "--embedder", "server:played"]).succeeded();
    let made = server.asked().len();
    let status = cli.json(&["status"]);
    assert!(status["embedder"].as_str().unwrap().ends_with(":played"), "{status}");
    assert_eq!(dimension(&cli), 32);

    // Confirm the address permanently.
    cli.configure(format!("[model]\nconfirmed = [\"{}\"]", server.url));
    let found = cli.json(&["search", "Who built Harl Mill?", "--strategy", "dense"]);
    assert_eq!(found["hits"][0]["name"], "Harl Mill", "{found}");
    assert_eq!(server.asked().len(), made + 1);

    // No text is embedded twice.
    let before = sent(&server).len();
    cli.write("notes/far.txt", "Pale Hill\n\nPale Hill is far away.");
    cli.run(["index", "notes"]).succeeded();
    let again = sent(&server).split_off(before);
    assert!(!again.is_empty() && again.iter().all(|text| text.contains("Pale Hill")), "{again:?}");
}

#[test]
fn an_index_changes_to_a_server_and_back_where_it_is_told_to() {
    let (cli, server) = (notes(), ChatServer::start([Play::Embeds(32)]));
    cli.run(["index", "notes"]).succeeded();
    let plain = cli.canonical(".cairn");
    let refused = run(&cli, &server, &["index", "notes", "--embedder", "server:played"]);
    assert_eq!(refused.status, Some(6), "{refused:#?}");
    run(&cli, &server, &["index", "--re-embed", "--embedder", "server:played"]).succeeded();
    assert_eq!(dimension(&cli), 32);
    cli.run(["index", "--re-embed", "--embedder", "builtin"]).succeeded();
    assert_eq!(cli.canonical(".cairn"), plain);
}

#[test]
fn another_model_behind_the_same_name_is_reported_and_can_be_accepted() {
    let (cli, server) = (notes(), ChatServer::start([Play::Embeds(32)]));
    cli.configure(settings(&server));
    cli.run(["index", "notes", "--embedder", "vllm:played"]).succeeded();
    let other = ChatServer::start([Play::Embeds(16)]);
    let settings = settings(&other);
    cli.configure(format!("embedder = \"vllm:played\"\n{settings}"));
    cli.refuses(&["search", "Who built Harl Mill?"], "unavailable", &["16 values", "--re-embed"]);
    cli.refuses(&["index", "notes", "--embedder", "vllm:played"], "incompatible", &["of 16 values"]);
    cli.run(["index", "--re-embed", "--embedder", "vllm:played"]).succeeded();
    assert_eq!(dimension(&cli), 16);
    cli.run(["search", "Who built Harl Mill?"]).succeeded();
}

#[test]
fn a_server_that_is_away_or_gives_no_vectors_is_an_error_that_says_so() {
    let good = Play::Embeds(32);
    let bad = Play::Responds(404, "", r#"{"error": "no such model"}"#.to_owned());
    let (cli, server) = (notes(), ChatServer::start([good.clone(), good.clone(), good.clone(), good, bad]));
    let said = run(&cli, &server, &["index", "notes", "--embedder", "server:played"]);
    assert_eq!(said.status, Some(3), "{said:#?}");
    assert!(said.stderr.contains("no such model") && said.stderr.contains("hint: "), "{said:#?}");
    let said = cli.run(["index", "notes", "--embedder", "server:played"]);
    assert!(said.status == Some(3) && said.stderr.contains("CAIRN_EMBEDDER_URL"), "{said:#?}");
}

#[test]
fn words_are_found_while_the_server_is_away() {
    let (cli, server) = (notes(), ChatServer::start([Play::Embeds(32)]));
    cli.configure(settings(&server));
    cli.run(["index", "notes", "--embedder", "vllm:played"]).succeeded();
    let away = ChatServer::start([Play::Closes]);
    cli.configure(format!("embedder = \"vllm:played\"\n{}", settings(&away)));
    let found = cli.json(&["search", "Who built Harl Mill?", "--strategy", "lexical"]);
    assert_eq!(found["hits"][0]["name"], "Harl Mill", "{found}");
    assert_eq!(away.asked().len(), 0);
    let said = cli.run(["search", "Who built Harl Mill?"]);
    assert_eq!((said.status, away.asked().len()), (Some(10), 1), "{said:#?}");
    assert!(said.stderr.contains("`--strategy lexical`"), "{said:#?}");
}

#[test]
fn vectors_that_arrived_before_a_run_failed_are_not_requested_again() {
    // Replies for the probe, the titles, the passages, and the sentences; the requests for questions fail.
    let good = Play::Embeds(32);
    let (cli, server) = (notes(), ChatServer::start(std::iter::repeat_n(good.clone(), 4).chain([fault()])));
    let args = ["index", "notes", "--embedder", "vllm:played"];
    cli.configure(settings(&server));
    let said = cli.run(args);
    assert_eq!((said.status, server.asked().len()), (Some(3), 5), "{said:#?}");
    let questions = server.asked()[4].body["input"].as_array().unwrap().len();
    let part = cli.folder().join(".cairn/vectors.part");
    assert!(part.exists());

    let whole = ChatServer::start([good]);
    cli.configure(settings(&whole));
    cli.run(args).succeeded();
    let [before, after] = [&server, &whole].map(sent);
    assert!(after[1..].iter().all(|text| !before[1..before.len() - questions].contains(text)), "{after:?}");
    assert!(!part.exists());
    // The result is that of an index without faults.
    let other = [&args[..], &["--index", "other"]].concat();
    cli.run(other).succeeded();
    assert_eq!(cli.canonical(".cairn"), cli.canonical("other"));
}

#[test]
fn a_call_that_fails_loses_no_vector_of_the_calls_beside_it() {
    let cli = Cli::new();
    let sentences = (0..200).map(|number| format!("The red mill number {number} stands beside the old harbor. "));
    cli.write("notes/mills.txt", format!("Mills\n\n{}", sentences.collect::<String>()));
    // Replies for the probe, the title, and the passages; then four concurrent calls for sentences.
    let good = Play::Embeds(32);
    let plays = std::iter::repeat_n(good.clone(), 4).chain([fault(), good.clone()]);
    let server = ChatServer::start(plays);
    let args = ["index", "notes", "--embedder", "vllm:played"];
    cli.configure(settings(&server));
    let said = cli.run(args);
    assert_eq!((said.status, server.asked().len()), (Some(3), 7), "{said:#?}");

    let whole = ChatServer::start([good]);
    cli.configure(settings(&whole));
    cli.run(args).succeeded();
    let texts = |asked: &Asked| asked.body["input"].as_array().unwrap().clone();
    let (before, again) = (server.asked(), whole.asked());
    let again: Vec<_> = again[1..].iter().flat_map(texts).collect();
    for (call, number) in before.iter().zip(0..).skip(1) {
        let asked_again = texts(call).iter().filter(|text| again.contains(text)).count();
        assert_eq!(asked_again, if number == 4 { texts(call).len() } else { 0 }, "call {number}");
    }
    let other = [&args[..], &["--index", "other"]].concat();
    cli.run(other).succeeded();
    assert_eq!(cli.canonical(".cairn"), cli.canonical("other"));
}

#[test]
fn after_a_fault_no_further_call_is_made() {
    let texts: Vec<String> = (0..130).map(|number| format!("number {number}")).collect();
    let came = |concurrency: usize, plays: Vec<Play>| {
        let server = ChatServer::start(plays);
        let limits = Limits { concurrency, ..Limits::default() };
        let options = ServerOptions { limits, ..ServerOptions::default() };
        let embedder = ServerEmbedder::pinned(Endpoint::at(&server.url, "played"), 32, options).unwrap();
        let texts = texts.clone();
        let part = block_on(async move {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            embedder.embed_partly(&texts, &mut |_| ()).await
        });
        let fault = part.fault.unwrap();
        assert!(matches!(fault, Error::EmbedderServer { source: ChatError::Request { .. }, .. }), "{fault:?}");
        let came: Vec<usize> = (0..130).filter(|place| part.vectors[*place].is_some()).collect();
        (came, server.asked().len())
    };
    let good = Play::Embeds(32);
    assert_eq!(came(1, vec![good.clone(), fault(), good.clone()]), ((0..64).collect(), 2));
    assert_eq!(came(1, vec![fault(), good.clone()]), (vec![], 1));
    let (vectors, calls) = came(3, vec![good.clone(), fault(), good]);
    assert!(calls == 3 && [66, 128].contains(&vectors.len()), "{vectors:?}");
}

#[test]
fn the_key_goes_to_a_server_that_was_named_and_not_to_one_that_an_index_names() {
    let (cli, server) = (notes(), ChatServer::start([Play::Embeds(32)]));
    let keyed = |args: &[&str], url: &str| {
        let mut command = cli.command(args);
        CommandOutput::of(command.env("CAIRN_EMBEDDER_URL", url).env("CAIRN_MODEL_KEY", CANARY).output().unwrap())
    };
    let said = keyed(&["index", "notes", "--embedder", "server:played", "-vvv"], &server.url).succeeded();
    let bearer = format!("authorization: bearer {CANARY}");
    assert!(server.asked().iter().all(|asked| asked.head.to_ascii_lowercase().contains(&bearer)));
    assert!(!said.stdout.contains(CANARY) && !said.stderr.contains(CANARY), "{said:#?}");
    for entry in fs::read_dir(cli.folder().join(".cairn")).unwrap() {
        let path = entry.unwrap().path();
        let bytes = if path.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        assert!(!bytes.windows(CANARY.len()).any(|it| it == CANARY.as_bytes()), "{}", path.display());
    }

    let before = server.asked().len();
    let said = keyed(&["search", "Who built Harl Mill?"], "http://elsewhere/v1");
    assert_eq!((said.status, server.asked().len()), (Some(3), before), "{said:#?}");
    // A confirmed server is asked even if another one is set, but only that one gets the key.
    cli.configure(format!("[model]\nconfirmed = [\"{}\"]", server.url));
    keyed(&["search", "Who built Harl Mill?"], "http://elsewhere/v1").succeeded();
    let asked = server.asked().split_off(before);
    assert!(!asked.is_empty() && asked.iter().all(|it| !it.head.contains(CANARY)), "{asked:?}");
}
