//! `cairn ask --check-citations`: a model judges what the sentences of an answer cite.

use cairn::AskOptions;
use cairn::domain::{AnswerKind, CitationCheck};
use cairn::query::UNCHECKED;
use serde_json::{Value, json};

use super::asking::{QUESTION, ask, good, indexed};
use super::{faults, served};
use crate::support::chat::{ChatServer, Play};
use crate::support::{assert_valid, block_on, engine};

#[track_caller]
fn checked(plays: Vec<Play>) -> (Value, ChatServer) {
    let server = ChatServer::start(plays);
    let said = ask(&indexed(), &server, &["--json", "--check-citations"]).succeeded();
    let answer: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_valid("answer", &answer);
    (answer, server)
}

#[test]
fn the_verdict_of_a_model_takes_precedence_over_that_of_the_rule() {
    let (answer, server) =
        checked(vec![good(), Play::Says(json!({ "verdicts": [{ "sentence": 1, "borne_out": false }] }).to_string())]);
    let writing = &answer["writing"];
    assert_eq!((&writing["checked_by"], &writing["sentences"][0]["is_supported"]), (&json!("model"), &json!(false)));
    assert_eq!(writing["spent"]["calls"], 2);
    let asked = &server.asked()[1].body;
    assert_eq!(asked["response_format"]["json_schema"]["name"], "citations");
    let user = asked["messages"][1]["content"].as_str().unwrap();
    assert!(user.contains("\n1. Ada Lorne built Harl Mill. [1]\n"), "{user}");

    let said = ask(&indexed(), &ChatServer::start([good()]), &["--check-citations", "--stream"]);
    assert_eq!(said.status, Some(2), "{said:#?}");
}

#[test]
fn without_a_models_verdict_the_rules_one_counts_and_the_reason_is_given() {
    let verdicts = json!({ "verdicts": [{ "sentence": 2, "borne_out": true }] }).to_string();
    for play in [Play::Says("It is.".to_owned()), Play::Says(verdicts), Play::Closes] {
        let (answer, _server) = checked(vec![good(), play]);
        let writing = &answer["writing"];
        assert_eq!((&answer["kind"], &writing["checked_by"]), (&json!("written"), &json!("rule")));
        assert_eq!(writing["sentences"][0]["is_supported"], true);
        let notes = answer["ledger"]["notes"].as_array().unwrap();
        let is_said = |note: &Value| note.as_str().unwrap().starts_with("citations were checked by rule: ");
        assert!(notes.iter().any(is_said), "{notes:?}");
    }
}

/// Whether the fault occurs when the answer is written or when it is judged.
#[test]
fn every_fault_of_a_server_leaves_quotations_or_the_verdict_of_the_rule() {
    let cli = indexed();
    let engine = engine(&cli.folder().join(".cairn"));
    let options = AskOptions { citation_check: CitationCheck::Model, ..AskOptions::default() };
    let asked = |plays: Vec<Play>| {
        let server = ChatServer::start(plays);
        block_on(served(&engine, &server).ask(QUESTION, &options)).unwrap()
    };
    let quoted = block_on(engine.ask(QUESTION, &options)).unwrap();
    for fault in faults() {
        let shown = format!("{fault:?}").chars().take(200).collect::<String>();
        let answer = asked(vec![fault.clone()]);
        assert_eq!((&answer.text, answer.kind), (&quoted.text, AnswerKind::Extractive), "{shown}");
        assert!(answer.writing.unwrap().degraded.is_some(), "{shown}");
        let answer = asked(vec![good(), fault]);
        let writing = answer.writing.unwrap();
        assert_eq!((answer.kind, writing.checked_by), (AnswerKind::Written, CitationCheck::Rule), "{shown}");
        assert!(writing.sentences[0].is_supported, "{shown}");
        assert!(answer.ledger.notes.iter().any(|note| note.starts_with(UNCHECKED)), "{shown}");
    }
}

#[test]
fn where_nothing_was_written_nothing_is_judged() {
    let abstains = Play::Says(json!({ "can_answer": false, "sentences": [] }).to_string());
    let (answer, server) = checked(vec![abstains]);
    assert_eq!((&answer["kind"], server.asked().len()), (&json!("nothing"), 1));
}
