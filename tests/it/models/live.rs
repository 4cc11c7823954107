//! `cairn eval live`: methods side by side with a real model, within a budget; a run continues where another one ended.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::asking::indexed;
use crate::support::chat::{ChatServer, Play, Reply, Thought};
use crate::support::{Cli, CommandOutput, assert_valid};

/// Methods that use different skills.
const ROWS: &str = "--rows=bm25,trail-pick,decomposition";

/// A model that performs every skill that is requested, in a few words.
fn thinks() -> Play {
    Play::Thinks(Thought::new(|body: &Value| {
        let text = match body["response_format"]["json_schema"]["name"].as_str().unwrap_or_default() {
            "answer" => json!({
                "can_answer": true, "short": "Eaststead",
                "sentences": [{ "text": "Ada Lorne was born in Eaststead.", "passages": [1] }],
            }),
            "pick" => json!({ "passages": [1] }),
            "decompose" => json!({ "parts": ["Who built Harl Mill?", "Where was #1 born?"] }),
            "read" => json!({ "answers": [] }),
            _ => json!({}),
        };
        Reply { text: text.to_string(), tokens: (100, 10) }
    }))
}

fn run(cli: &Cli, server: &ChatServer, more: &[&str]) -> CommandOutput {
    let args = ["eval", "live", "--questions", "q.jsonl", "--output", "live", "--model", "played"];
    CommandOutput::of(cli.command([&args, more].concat()).env("CAIRN_MODEL_URL", &server.url).output().unwrap())
}

fn asked() -> Cli {
    let cli = indexed();
    let supporting = ["notes/mill.txt", "notes/ada.txt"];
    let question = |id: &str, question: &str| {
        json!({ "id": id, "question": question, "answers": ["Eaststead"], "supporting": supporting }).to_string()
    };
    let questions = [
        question("1", "Where was the builder of Harl Mill born?"),
        question("2", "In which town was the engineer of Harl Mill born?"),
    ];
    cli.write("q.jsonl", questions.join("\n"));
    cli
}

#[test]
fn a_run_that_ends_at_its_budget_continues_and_pays_for_nothing_twice() {
    let (cli, server) = (asked(), ChatServer::start([thinks()]));
    let first = run(&cli, &server, &[ROWS, "--budget", "3calls"]).succeeded();
    assert!(first.stdout.contains("ended early: the budget allows 3 calls"), "{first:#?}");
    assert!(first.stdout.contains("questions left: the same command continues"), "{first:#?}");
    assert_eq!(server.asked().len(), 3);
    // The question whose line a killed run was writing is asked again.
    let lines = std::fs::read_to_string(cli.folder().join("live/bm25.jsonl")).unwrap();
    cli.write("live/bm25.jsonl", format!("{}\n{{\"question_id\":\"2\",\"corp", lines.lines().next().unwrap()));
    let said = run(&cli, &server, &[ROWS, "--json"]).succeeded();
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_valid("eval-live", &report);
    assert_eq!(report["left"], 0);
    let asked = server.asked();
    let distinct: BTreeSet<String> = asked.iter().map(|it| it.body.to_string()).collect();
    assert_eq!(distinct.len(), asked.len(), "what another method asked too is not asked again");
    let rows = report["rows"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["row"].as_str().unwrap()).collect();
    assert_eq!(names, ["bm25", "decomposition", "trail-pick"]);
    assert_eq!((&rows[2]["exact_match"], &rows[2]["finding_calls"]), (&json!(100.0), &json!(1.0)));
    let again = run(&cli, &server, &[ROWS, "--budget", "0calls"]).succeeded();
    assert!(again.stdout.contains("trail-pick") && !again.stdout.contains("ended early"), "{again:#?}");
    assert_eq!(server.asked().len(), asked.len());
}

#[test]
fn a_question_that_was_changed_is_asked_again_and_others_are_not() {
    let (cli, server) = (asked(), ChatServer::start([thinks()]));
    run(&cli, &server, &["--rows", "bm25"]).succeeded();
    assert_eq!(server.asked().len(), 2);
    let questions = std::fs::read_to_string(cli.folder().join("q.jsonl")).unwrap();
    cli.write("q.jsonl", questions.replace("In which town", "In which place"));
    run(&cli, &server, &["--rows", "bm25"]).succeeded();
    let asked = server.asked();
    assert_eq!(asked.len(), 3);
    assert!(asked[2].body.to_string().contains("In which place"), "{}", asked[2].body);
}

#[test]
fn the_walk_of_the_paper_lets_the_model_say_what_a_question_names() {
    let (cli, server) = (asked(), ChatServer::start([thinks()]));
    run(&cli, &server, &["--rows", "hop-paper", "--limit", "1"]).succeeded();
    let first = &server.asked()[0].body;
    assert_eq!(first["response_format"]["json_schema"]["name"], "entities");
}

#[test]
fn unknown_methods_and_lines_of_another_model_are_refused() {
    let (cli, server) = (asked(), ChatServer::start([thinks()]));
    let refused = run(&cli, &server, &["--rows=best"]);
    assert!(refused.status == Some(3) && refused.stderr.contains("expected one of bm25, dense"), "{refused:#?}");
    run(&cli, &server, &[ROWS, "--limit", "1"]).succeeded();
    let other = run(&cli, &ChatServer::start([thinks()]), &[ROWS]);
    assert!(other.status == Some(3) && other.stderr.contains("give another folder"), "{other:#?}");
}

#[test]
fn a_question_that_the_server_fails_at_is_left_for_later_and_the_others_are_asked() {
    let (cli, server) = (asked(), ChatServer::start([Play::BreaksOff, thinks()]));
    let first = run(&cli, &server, &["--rows", "bm25"]).succeeded();
    assert!(first.stdout.contains("left for later: the connection broke"), "{first:#?}");
    assert!(first.stdout.contains("1 question left: the same command continues"), "{first:#?}");
    let second = run(&cli, &server, &["--rows", "bm25"]).succeeded();
    assert!(!second.stdout.contains("left"), "{second:#?}");
    assert_eq!(server.asked().len(), 3);
}

#[test]
fn a_table_has_calls_tokens_and_money_of_a_question() {
    let (cli, server) = (asked(), ChatServer::start([thinks()]));
    let name = server.url.trim_start_matches("http://").trim_end_matches("/v1");
    cli.configure("[model]\nprices = \"prices.toml\"");
    cli.write(
        ".config/cairn/prices.toml",
        format!("currency = \"USD\"\n[models]\n\"{name}:played\" = {{ input = 1, output = 10 }}"),
    );
    let said = run(&cli, &server, &["--rows", "trail-pick"]).succeeded();
    let row = said.stdout.lines().find(|line| line.starts_with("trail-pick")).unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    // One pick and one answer; each reads 100 tokens and writes 10.
    assert_eq!((cells[7], cells[8], &cells[10..12]), ("2.0", "220", &["0.00040", "USD"][..]), "{said:#?}");

    let answers = ["eval", "answers", "--questions", "q.jsonl", "--model", "played", "--pick"];
    cli.run(["cache", "clear"]).succeeded();
    let said =
        CommandOutput::of(cli.command(answers).env("CAIRN_MODEL_URL", &server.url).output().unwrap()).succeeded();
    assert!(said.stdout.contains("model: 2.00 calls, 220 tokens, 0.00040 USD a question; in all 4 calls"), "{said:#?}");
}
