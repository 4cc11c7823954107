//! Rerankers behind a server: requests, faults, and how a search uses scores.

use std::fs;
use std::sync::Mutex;

use cairn::Error;
use cairn::domain::ChatError;
use cairn::embed::{RerankServerOptions, Reranker as _, ServerReranker};
use serde_json::{Value, json};

use super::{ATTEMPTS, check_faults, played};
use crate::support::chat::{ChatServer, Judge, Play, Reply, Thought};
use crate::support::{Cli, block_on};

const QUESTION: &str = "Who built Harl Mill?";
const CANARY: &str = "sk-canary-7d20a1f4";

fn score(url: &str, texts: &[&str]) -> Result<Vec<f32>, Error> {
    let (endpoint, retries) = played(url);
    let options = RerankServerOptions { retries, ..RerankServerOptions::default() };
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    let reranker = ServerReranker::new(endpoint, options)?;
    block_on(async move { reranker.score(QUESTION, &texts).await.scores })
}

/// Scores texts by the position of `word` in them, best first, with the texts, as servers do.
fn scores(word: &'static str) -> Play {
    Play::Judges(Judge::new(move |asked| {
        let Some(texts) = asked.body["documents"].as_array() else { return (200, "{}".to_owned()) };
        let score = |text: &Value| if text.as_str().unwrap().contains(word) { 0.9 } else { 0.1 };
        let mut all: Vec<Value> = texts
            .iter()
            .enumerate()
            .map(|(at, text)| json!({ "index": at, "relevance_score": score(text), "document": { "text": text } }))
            .collect();
        all.sort_by(|a, b| b["relevance_score"].as_f64().unwrap().total_cmp(&a["relevance_score"].as_f64().unwrap()));
        (200, json!({ "id": "r", "results": all, "meta": { "billed_units": { "search_units": 1 } } }).to_string())
    }))
}

fn indexed(server: &ChatServer) -> Cli {
    let cli = Cli::new();
    cli.write("notes/mill.txt", "Harl Mill\n\nHarl Mill was built by Ada Lorne. It burned down twice.");
    cli.write("notes/ada.txt", "Ada Lorne\n\nAda Lorne was born in Eaststead in 1801.");
    cli.write("notes/weir.txt", "Pale Weir\n\nPale Weir was built by Tom Reed.");
    cli.run(["index", "notes"]).succeeded();
    cli.write("key.txt", CANARY);
    let key_file = cli.folder().join("key.txt");
    cli.configure(format!("[model.reranker]\nurl = '{}'\nkey_file = '{}'\n", server.url, key_file.display()));
    cli
}

fn search<'a>(reranker: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["search", QUESTION, "--reranker", reranker], more].concat()
}

#[test]
fn passages_are_ordered_by_the_scores_of_a_server() {
    let server = ChatServer::start([scores("Pale Weir")]);
    let cli = indexed(&server);
    let plain = cli.json(&["search", QUESTION]);
    assert_eq!(plain["hits"][0]["name"], "Harl Mill");
    let found = cli.json(&search("server:bge-reranker", &[]));
    assert_eq!(found["hits"][0]["name"], "Pale Weir", "{found}");
    assert_eq!(found["hits"].as_array().unwrap().len(), 3);
    let asked = server.asked();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].head.starts_with("POST /v1/rerank HTTP/1.1"), "{}", asked[0].head);
    assert!(asked[0].head.to_lowercase().contains(&format!("authorization: bearer {CANARY}")));
    let body = &asked[0].body;
    assert_eq!((&body["model"], &body["query"]), (&json!("bge-reranker"), &json!(QUESTION)));
    let texts = body["documents"].as_array().unwrap();
    assert!(texts.len() == 3 && texts[0].as_str().unwrap().contains("Harl Mill was built"), "{body}");
    assert_eq!(body.as_object().unwrap().len(), 3, "nothing that one of the servers refuses: {body}");
    assert!(found["ledger"]["notes"].to_string().contains("were judged by the reranker"), "{found}");
}

#[test]
fn more_texts_than_a_call_takes_go_out_in_several() {
    let server = ChatServer::start([scores("it")]);
    let texts: Vec<String> = (0..230).map(|it| if it == 217 { "it".to_owned() } else { it.to_string() }).collect();
    let scored = score(&server.url, &texts.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    assert_eq!((scored.len(), scored[217]), (230, 0.9));
    assert_eq!(scored.iter().filter(|it| **it < 0.5).count(), 229);
    let counts: Vec<usize> = server.asked().iter().map(|it| it.body["documents"].as_array().unwrap().len()).collect();
    assert_eq!(counts, [100, 100, 30]);
    assert!(score(&server.url, &[]).unwrap().is_empty());
}

#[test]
fn every_fault_of_a_server_of_scores_has_its_type_and_is_tried_again_only_where_it_cost_nothing() {
    let responds = |status, body: &str| Play::Responds(status, "", body.to_owned());
    let results = |results: &str| responds(200, &format!("{{\"results\": {results}}}"));
    let error = r#"{"message": "as played"}"#;
    let cases = [
        (responds(429, error), "rate_limited", ATTEMPTS),
        (responds(503, ""), "server", ATTEMPTS),
        (responds(401, error), "key", 1),
        (responds(404, error), "request", 1),
        (responds(400, error), "request", 1),
        (results("[]"), "malformed", 1),
        (results(r#"[{"index": 0, "relevance_score": 1}]"#), "malformed", 1),
        (results(r#"[{"index": 0, "relevance_score": 1}, {"index": 0, "relevance_score": 1}]"#), "malformed", 1),
        (results(r#"[{"index": 0, "relevance_score": 1}, {"index": 7, "relevance_score": 1}]"#), "malformed", 1),
        (results(r#"[{"index": 0, "relevance_score": 1}, {"index": 1, "relevance_score": null}]"#), "malformed", 1),
        (results(r#"[{"index": 0, "relevance_score": 1}, {"index": 1, "relevance_score": 1e999}]"#), "malformed", 1),
        (responds(200, r#"{"error": {"message": "as played"}}"#), "malformed", 1),
        (responds(200, "<html>a portal</html>"), "malformed", 1),
        (Play::Bytes(10 << 20), "too_large", 1),
        (Play::BreaksOff, "interrupted", 1),
        (Play::Drips, "timeout", 1),
        (Play::Silent, "timeout", 1),
    ];
    check_faults(cases, |url| match score(url, &["a", "b"]) {
        Err(Error::RerankerServer { source, .. }) => source,
        other => panic!("{other:?}"),
    });
    let nowhere = score("http://127.0.0.1:1/v1", &["a"]).unwrap_err();
    assert!(matches!(nowhere, Error::RerankerServer { source: ChatError::Unreachable { .. }, .. }), "{nowhere:?}");
}

#[test]
fn where_a_server_gives_nothing_the_order_is_that_of_the_search_and_it_says_so() {
    let server = ChatServer::start([Play::Closes]);
    let cli = indexed(&server);
    let plain = cli.json(&["search", QUESTION]);
    let too_long = Play::Responds(400, "", r#"{"message": "the text is too long"}"#.to_owned());
    for play in [Play::Closes, too_long, Play::Responds(200, "", r#"{"results": []}"#.to_owned())] {
        server.play([play]);
        let found = cli.json(&search("server:m", &[]));
        assert_eq!(found["hits"], plain["hits"]);
        let notes = found["ledger"]["notes"].to_string();
        assert!(notes.contains("without the reranker") && !notes.contains(CANARY), "{notes}");
    }
    // An error that the user has to correct is reported.
    let said = format!("the key {CANARY} is none");
    server.play([Play::Responds(401, "", json!({ "message": said }).to_string())]);
    cli.refuses(&search("server:m", &[]), "input", &["reranker"]);
    let refused = cli.run(search("server:m", &[]));
    assert!(!refused.stderr.contains(CANARY), "{refused:#?}");
}

#[test]
fn calls_to_a_reranker_count_in_those_that_a_question_may_take_and_are_in_the_trace() {
    let server = ChatServer::start([scores("Pale Weir")]);
    let cli = indexed(&server);
    let plain = cli.json(&["search", QUESTION]);
    let found = cli.json(&search("server:m", &["--max-calls", "1"]));
    assert_eq!(found["hits"][0]["name"], "Pale Weir");
    let reranking = &found["ledger"]["reranking"];
    assert_eq!((&reranking["passages"], &reranking["spent"]["calls"]), (&json!(3), &json!(1)), "{found}");
    for limit in [["--max-calls", "0"], ["--max-tokens", "5"]] {
        let kept = cli.json(&search("server:m", &limit));
        assert_eq!(kept["hits"], plain["hits"], "{limit:?}");
        assert!(kept["ledger"]["notes"].to_string().contains("without the reranker"), "{kept}");
        assert_eq!(kept["ledger"]["reranking"]["spent"]["calls"], 0);
    }
    assert_eq!(server.asked().len(), 1);
    // One passage more than a call takes requires another call; calls are sent together or not at all.
    for number in 0..110 {
        cli.write(&format!("notes/{number}.txt"), format!("Mill {number}\n\nMill {number} was built in {number}."));
    }
    cli.run(["index", "notes"]).succeeded();
    let many = |calls| search("server:m", &[]).into_iter().chain(["--rerank", "110", "--max-calls", calls]);
    let short = cli.json(&many("1").collect::<Vec<_>>());
    assert!(short["ledger"]["notes"].to_string().contains("the calls allowed for the question are used up"), "{short}");
    assert_eq!((short["ledger"]["reranking"].is_null(), server.asked().len()), (true, 1));
    let whole = cli.json(&many("2").collect::<Vec<_>>());
    assert_eq!((&whole["ledger"]["reranking"]["spent"]["calls"], server.asked().len()), (&json!(2), 3));
    assert_eq!(cli.run(["search", QUESTION, "--max-calls", "1"]).status, Some(2), "there is nobody to call");
}

#[test]
fn a_call_is_kept_for_the_answer_before_a_reranker_may_take_it() {
    let server = ChatServer::start([scores("it")]);
    let cli = indexed(&server);
    let settings = fs::read_to_string(cli.folder().join(".config/cairn/cairn.toml")).unwrap();
    cli.configure(format!("{settings}\n[model]\nserver = \"vllm\"\nurl = \"{}\"\n", server.url));
    let ask = |calls| {
        let asked = ["ask", QUESTION, "--strategy", "trail", "--reranker", "server:m"];
        let args = [&asked[..], &["--model", "vllm:m", "--max-calls", calls, "--json"]].concat();
        serde_json::from_str::<Value>(&cli.run(args).stdout).unwrap()
    };
    let one = ask("1");
    assert!(one["ledger"]["notes"].to_string().contains("are used up"), "{one}");
    assert!(server.asked().iter().all(|asked| asked.head.contains("/chat/completions")), "the call is the answer's");
    let two = ask("2");
    assert_eq!(two["ledger"]["reranking"]["spent"]["calls"], 1, "{two}");
}

#[test]
fn calls_that_were_not_made_since_one_before_them_failed_are_left_for_the_answer() {
    let built = json!({ "text": "Harl Mill was built by Ada Lorne.", "passages": [1] });
    let whole = json!({ "can_answer": true, "short": "", "sentences": [built] }).to_string();
    let told = Mutex::new(0);
    let model = Thought::new(move |_| {
        let mut told = told.lock().unwrap();
        *told += 1;
        // The first reply has to be repaired.
        Reply { text: if *told == 1 { "Ada Lorne did.".to_owned() } else { whole.clone() }, tokens: (50, 5) }
    });
    let server = ChatServer::start([Play::Judges(Judge::new(move |asked| {
        if asked.head.contains("/rerank") { (400, "{}".to_owned()) } else { (200, model.said(&asked.body)) }
    }))]);
    let cli = indexed(&server);
    let settings = fs::read_to_string(cli.folder().join(".config/cairn/cairn.toml")).unwrap();
    cli.configure(format!("{settings}\n[model]\nserver = \"vllm\"\nurl = \"{}\"\n", server.url));
    for number in 0..110 {
        cli.write(&format!("notes/{number}.txt"), format!("Mill {number}\n\nMill {number} was built in {number}."));
    }
    cli.run(["index", "notes"]).succeeded();
    let asked = ["ask", QUESTION, "--strategy", "trail", "--reranker", "server:m", "--rerank", "110"];
    // Two calls of the reranker, the second of which is not made, and two for the answer.
    let answer = cli.json(&[&asked[..], &["--model", "vllm:m", "--max-calls", "3"]].concat());
    assert!(answer["ledger"]["notes"].to_string().contains("without the reranker"), "{answer}");
    assert_eq!((&answer["kind"], server.asked().len()), (&json!("written"), 3), "{answer}");
}

#[test]
fn calls_to_a_reranker_are_recorded_and_replayed_without_server_and_key() {
    let server = ChatServer::start([scores("Pale Weir")]);
    let cli = indexed(&server);
    let first = cli.json(&search("server:m", &["--record", "calls.jsonl"]));
    let recorded = fs::read_to_string(cli.folder().join("calls.jsonl")).unwrap();
    let line: Value = serde_json::from_str(&recorded).unwrap();
    assert_eq!(
        (&line["reranker"], line["pairs"].as_array().unwrap().len()),
        (&first["ledger"]["reranking"]["reranker"], 3)
    );
    assert!(!recorded.contains("Harl") && !recorded.contains(CANARY), "{recorded}");
    fs::remove_file(cli.folder().join("key.txt")).unwrap();
    let again = cli.json(&search("server:m", &["--replay", "calls.jsonl"]));
    assert_eq!((again, server.asked().len()), (first, 1));
    // What was not scored in the recorded run is reported.
    let other = ["search", "Where is Eaststead?", "--reranker", "server:m", "--replay", "calls.jsonl"];
    cli.refuses(&other, "input", &["the score of text 1 (`", "is not in the recording"]);
    let of_other = search("server:other", &["--replay", "calls.jsonl"]);
    cli.refuses(&of_other, "input", &["is not in the recording"]);
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn a_reranker_needs_a_server() {
    let server = ChatServer::start([scores("it")]);
    let cli = indexed(&server);
    cli.refuses(&search("cohere:rerank-v3.5", &[]), "input", &["SERVER:MODEL", "onnx:DIR"]);
    cli.configure(String::new());
    cli.refuses(&search("server:m", &[]), "input", &["[model.reranker]"]);
    assert!(server.asked().is_empty());
}
