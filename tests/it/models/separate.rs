//! `cairn index --separate-questions`: one call for each of the two kinds of questions of a passage.

use std::process::Stdio;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::generating::{
    COUNT, faults, good, index, mills, name_of, origins, report_of, status_of, two_mills, written,
};
use crate::support::CommandOutput;
use crate::support::chat::{ChatServer, Play, Reply, Thought};

const APART: &str = "--separate-questions";

/// Returns whether a request asks for out-coming questions.
fn is_second(body: &Value) -> bool {
    body["messages"][0]["content"].as_str().unwrap().contains("leads to and does not answer")
}

/// Returns a model's questions of one kind about a document.
fn one_kind(body: &Value, kind: &str) -> String {
    let both: Value = serde_json::from_str(&written(&name_of(body))).unwrap();
    json!({ "questions": both[kind] }).to_string()
}

/// A model that writes the requested kind of questions; about the document `half`, only in-coming ones.
fn apart(half: &'static str) -> Play {
    Play::Thinks(Thought::new(move |body| {
        let kind = if is_second(body) && name_of(body) != half { "raised" } else { "answered" };
        Reply { text: one_kind(body, kind), tokens: (300, 60) }
    }))
}

/// The same for every document, after a pause.
fn slowly(pause: Duration) -> Play {
    Play::Thinks(Thought::new(move |body| {
        thread::sleep(pause);
        let kind = if is_second(body) { "raised" } else { "answered" };
        Reply { text: one_kind(body, kind), tokens: (300, 60) }
    }))
}

#[test]
fn both_kinds_are_asked_for_in_a_call_each_and_are_what_one_call_gives() {
    let (cli, server) = (mills(), ChatServer::start([good()]));
    index(&cli, &server, &["--index", "together"]).succeeded();
    server.play([apart("")]);
    let report = report_of(&cli, &server, &[APART]);
    assert_eq!((&report["model"]["written"], server.asked().len()), (&json!(12), 3 * COUNT));
    assert_eq!(report["model"]["spent"]["calls"], 24);
    assert_eq!(cli.canonical(".cairn"), cli.canonical("together"));

    // It is paid for once; requested in the other form, it is another prompt.
    let again = report_of(&cli, &server, &[APART]);
    assert_eq!((&again["version"], server.asked().len()), (&report["version"], 3 * COUNT));
    let expected = |more: &[&str]| {
        let said = index(&cli, &server, &[&["--dry-run", "--json"], more].concat()).succeeded();
        let estimate: Value = serde_json::from_str(&said.stdout).unwrap();
        let stage = &estimate["stages"][0];
        [stage["calls"].clone(), stage["cached"].clone()]
    };
    assert_eq!((expected(&[APART]), expected(&[])), ([json!(0), json!(0)], [json!(12), json!(0)]));
    let refused = cli.run(["index", "notes", APART]);
    assert!(refused.status == Some(2) && refused.stderr.contains("--model"), "{refused:#?}");
}

#[test]
fn two_calls_a_passage_are_foreseen() {
    let (cli, server) = (mills(), ChatServer::start([apart("")]));
    let stage = |more: &[&str]| {
        let said = index(&cli, &server, &[&["--dry-run", "--json"], more].concat()).succeeded();
        serde_json::from_str::<Value>(&said.stdout).unwrap()["stages"][0].clone()
    };
    let (one, two) = (stage(&[]), stage(&[APART]));
    assert_eq!((&one["calls"], &two["calls"]), (&json!(12), &json!(24)));
    assert_eq!(one["usage"]["output_tokens"], two["usage"]["output_tokens"]);
    let read = |stage: &Value| stage["usage"]["input_tokens"].as_u64().unwrap();
    assert!(read(&two) > read(&one) * 3 / 2, "{one} {two}");

    // Once there are replies, they show how long the next ones will be.
    index(&cli, &server, &[APART]).succeeded();
    cli.write("notes/new.txt", "Nook Mill was built by Ada Lorne.");
    let usage = &stage(&[APART])["usage"];
    assert_eq!(usage["output_tokens"], 2 * 60);
}

#[test]
fn a_passage_with_one_kind_alone_keeps_what_rules_made_and_is_listed() {
    let (cli, server) = (mills(), ChatServer::start([apart("Quill Mill")]));
    let report = report_of(&cli, &server, &[APART]);
    // The second kind repeats the first one: it is requested once more, and then given up.
    assert_eq!((&report["model"]["written"], server.asked().len()), (&json!(11), 2 * COUNT + 1));
    let reason = report["model"]["failed"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("`questions` has 0 different questions; at least 4 are needed"), "{report}");
    let [by_rule, by_model] = origins(&cli)["notes/03.txt"];
    assert!(by_rule > 0 && by_model == 0);
    assert_eq!(status_of(&cli)["questions"]["failures"][0], report["model"]["failed"][0]);
    server.play([apart("")]);
    let report = report_of(&cli, &server, &[APART, "--retry-failed"]);
    assert_eq!((&report["model"]["written"], server.asked().len()), (&json!(1), 2 * COUNT + 3));
    assert!(origins(&cli).values().all(|it| *it == [0, 6]));
}

#[test]
fn a_first_call_is_not_paid_for_again_where_the_budget_ended_before_the_second() {
    let (cli, server) = (mills(), ChatServer::start([apart("")]));
    cli.configure("[model]\nconcurrency = 1");
    let report = report_of(&cli, &server, &[APART, "--budget", "5calls"]);
    assert_eq!((&report["model"]["written"], &report["model"]["left"]), (&json!(2), &json!(10)));
    assert_eq!((&report["model"]["spent"]["calls"], server.asked().len()), (&json!(5), 5));
    let report = report_of(&cli, &server, &[APART]);
    assert_eq!((&report["model"]["left"], server.asked().len()), (&json!(0), 2 * COUNT));
    let spent = status_of(&cli)["spent"][0]["calls"].clone();
    assert_eq!(spent, 24);
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn every_fault_at_the_second_call_leaves_the_passage_as_it_was() {
    thread::scope(|scope| {
        for play in faults() {
            scope.spawn(move || {
                let shown = format!("{play:?}").chars().take(100).collect::<String>();
                let cli = two_mills();
                let server = ChatServer::start([apart(""), apart(""), apart(""), play]);
                let report = report_of(&cli, &server, &[APART]);
                let failed = report["model"]["failed"].as_array().unwrap();
                assert_eq!((failed.len(), &report["model"]["written"]), (1, &json!(1)), "{shown}: {report}");
                assert!(server.asked().len() <= 8, "{shown}: {}", server.asked().len());
                let [by_rule, by_model] = origins(&cli)["notes/Pale Mill.txt"];
                assert!(by_rule > 0 && by_model == 0, "{shown}");
                // The cost of the failed passage counts.
                let spent = report["model"]["spent"]["calls"].as_u64().unwrap();
                assert!(spent >= 3, "{shown}: {report}");
            });
        }
    });
}

#[test]
fn what_is_refused_at_the_second_call_ends_the_run_with_the_first_kept_and_counted() {
    let (cli, refused) = (mills(), Play::Responds(401, "", r#"{"error": "no such key"}"#.to_owned()));
    cli.configure("[model]\nconcurrency = 1");
    let server = ChatServer::start([apart(""), refused]);
    let said = index(&cli, &server, &[APART]);
    assert!(said.status == Some(3) && said.stderr.contains("no such key"), "{said:#?}");
    server.play([apart("")]);
    let report = report_of(&cli, &server, &[APART]);
    // The two from before, one of them refused.
    assert_eq!((&report["model"]["written"], server.asked().len()), (&json!(12), 2 * COUNT + 1));
    assert_eq!(status_of(&cli)["spent"][0]["calls"], 24);
}

#[test]
fn a_repeated_request_is_sent_once_if_the_budget_delays_its_second_call() {
    let (cli, server) = (mills(), ChatServer::start([Play::Says("no questions".to_owned())]));
    // It stops after some passages; later runs do the rest.
    for _ in 0..COUNT {
        index(&cli, &server, &[APART]);
    }
    let first = server.asked().len();
    server.play([slowly(Duration::from_millis(30))]);
    // Concurrent calls reserve more than remains for all of their second calls, and continue when there is room.
    let report = report_of(&cli, &server, &[APART, "--retry-failed", "--budget", "16000 tokens"]);
    let asked: Vec<Value> = server.asked()[first..].iter().map(|it| it.body["messages"].clone()).collect();
    let distinct: std::collections::BTreeSet<String> = asked.iter().map(Value::to_string).collect();
    assert_eq!((distinct.len(), asked.len()), (2 * COUNT, 2 * COUNT), "{report}");
    assert_eq!(report["model"]["written"], 12, "{report}");
}

#[cfg(unix)]
#[test]
fn after_an_interruption_no_second_call_is_begun() {
    let cli = mills();
    let server = ChatServer::start([slowly(Duration::from_millis(400))]);
    cli.configure("[model]\nconcurrency = 2");
    let mut command = cli.command(["index", "notes", "--model", "played", APART]);
    let run = command.env("CAIRN_MODEL_URL", &server.url).stderr(Stdio::piped()).spawn().unwrap();
    while server.asked().len() < 2 {
        thread::sleep(Duration::from_millis(5));
    }
    let kill = ["-INT", &run.id().to_string()].map(str::to_owned);
    assert!(std::process::Command::new("kill").args(kill).status().unwrap().success());
    let said = CommandOutput::of(run.wait_with_output().unwrap());
    assert_eq!((said.status, server.asked().len()), (Some(130), 2), "{said:#?}");
    server.play([apart("")]);
    let report = report_of(&cli, &server, &[APART]);
    assert_eq!((&report["model"]["written"], server.asked().len()), (&json!(12), 2 * COUNT));
}
