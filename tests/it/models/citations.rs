//! `cairn ask --check-citations`: a model judges what the sentences of an answer cite.

use serde_json::{Value, json};

use super::asking::{ask, good, indexed};
use crate::support::assert_valid;
use crate::support::chat::{ChatServer, Play};

#[track_caller]
fn checked(plays: Vec<Play>) -> (Value, ChatServer) {
    let server = ChatServer::start(plays);
    let said = ask(&indexed(), &server, &["--json", "--check-citations"]).succeeded();
    let answer: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_valid("answer", &answer);
    (answer, server)
}

#[test]
fn the_verdict_of_a_model_goes_before_that_of_the_rule() {
    let (answer, server) = checked(vec![good(), Play::Says(json!({ "borne_out": [false] }).to_string())]);
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
fn where_a_model_gives_no_verdict_the_rules_holds_and_it_is_said_why() {
    let verdicts = json!({ "borne_out": [true, true] }).to_string();
    for play in [Play::Says("It is.".to_owned()), Play::Says(verdicts), Play::Closes] {
        let (answer, _server) = checked(vec![good(), play]);
        let writing = &answer["writing"];
        assert_eq!((&answer["kind"], &writing["checked_by"]), (&json!("written"), &json!("rule")));
        assert_eq!(writing["sentences"][0]["is_supported"], true);
        let note = answer["ledger"]["notes"][0].as_str().unwrap();
        assert!(note.starts_with("citations were checked by rule: "), "{note}");
    }
}

#[test]
fn where_nothing_was_written_nothing_is_judged() {
    let abstains = Play::Says(json!({ "can_answer": false, "sentences": [] }).to_string());
    let (answer, server) = checked(vec![abstains]);
    assert_eq!((&answer["kind"], server.asked().len()), (&json!("nothing"), 1));
}
