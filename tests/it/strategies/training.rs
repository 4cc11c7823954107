//! Training examples from a recorded run that a scripted model led.

use std::fs;

use serde_json::{Value, json};

use super::led::{QUESTION, indexed, serves};
use crate::support::assert_valid;
use crate::support::chat::ChatServer;

#[test]
fn a_recorded_run_gives_examples_of_what_reached_the_answer_and_asks_nobody() {
    let server = ChatServer::start([serves(|_, _| None)]);
    let cli = indexed();
    cli.configure(format!("[model]\nserver = \"vllm\"\nurl = \"{}\"\n", server.url));
    let question = |id: &str, answer: &str| {
        json!({ "id": id, "question": QUESTION, "supporting": ["notes/mill.txt"], "answers": [answer] }).to_string()
    };
    cli.write("q.jsonl", question("1", "1860"));
    let run = ["--questions", "q.jsonl", "--strategy", "dual", "--model", "vllm:m"];
    cli.run([&["eval", "answers"], &run[..], &["--record", "calls.jsonl"]].concat()).succeeded();
    let asked = server.asked().len();
    let export = |strategy: &'static str, more: &[&str]| {
        let run = ["--questions", "q.jsonl", "--strategy", strategy, "--model", "vllm:m", "--replay", "calls.jsonl"];
        cli.run([&["eval", "training-data"], &run[..], &["--examples", "out.jsonl", "--json"], more].concat())
    };
    let report: Value = serde_json::from_str(&export("dual", &[]).succeeded().stdout).unwrap();
    assert_valid("eval-training-data", &report);
    assert_eq!((&report["questions"], &report["reached"]), (&json!(1), &json!(1)));
    let text = fs::read_to_string(cli.folder().join("out.jsonl")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &lines {
        assert_valid("training-line", line);
    }
    let skills: Vec<&str> = lines.iter().map(|line| line["skill"].as_str().unwrap()).collect();
    assert_eq!(skills, ["reason", "reason", "reason", "seek", "seek", "digest", "digest"]);
    assert_eq!(report["examples"], json!({ "reason": 3, "seek": 2, "digest": 2 }));
    let [user, assistant] = [1, 2].map(|it| lines[0]["messages"][it]["content"].as_str().unwrap());
    assert!(user.contains(QUESTION) && assistant.contains("who was born in Eaststead"), "{user} {assistant}");
    assert_eq!(server.asked().len(), asked);

    // An answer that is not accepted gives no examples.
    cli.write("q.jsonl", question("1", "1861"));
    let report: Value = serde_json::from_str(&export("dual", &[]).succeeded().stdout).unwrap();
    assert_eq!((&report["reached"], &report["examples"]), (&json!(0), &json!({})));
    assert_eq!(fs::read_to_string(cli.folder().join("out.jsonl")).unwrap(), "");
    let other = export("trail", &[]);
    assert!(other.status == Some(3) && other.stdout.is_empty(), "{other:#?}");
}
