//! `cairn index --model --summaries`: what the members of clusters have in common according to a model, when it is
//! asked again, and what replaces missing summaries.

use serde_json::{Value, json};

use super::generating::{index, mills, report_of, status_of};
use crate::support::chat::{ChatServer, Play, Reply, Thought};
use crate::support::{Cli, assert_valid};

const SUMMARIES: &[&str] = &["--summaries", "--rule-questions"];
const NAMES: [&str; 2] = ["Mills of Ada Lorne", "Fires"];

/// A model that gives this summary of every cluster, citing these sentences.
fn says(name: &'static str, sentences: Value) -> Play {
    Play::Thinks(Thought::new(move |body| {
        assert_eq!(body["response_format"]["json_schema"]["name"], "summarize");
        let summary = |name: &str, kind: &str| {
            let description = format!("{name} it is.");
            json!({ "name": name, "type": kind, "description": description, "sentences": sentences })
        };
        let said = json!({ "summaries": [summary(name, "Place"), summary(NAMES[1], "disaster")] });
        Reply { text: said.to_string(), tokens: (500, 100) }
    }))
}

/// Returns the summary entities by which a question enters the hierarchy.
#[track_caller]
fn entered(cli: &Cli, more: &[&str]) -> Vec<Value> {
    let args = ["ask", "Which mills burned down?", "--strategy", "layers", "--layers-entry", "entities"];
    let answer = cli.json(&[&args[..], more].concat());
    assert_valid("answer", &answer);
    let entities = answer["ledger"]["layers"]["entities"].as_array().unwrap();
    entities.iter().filter(|it| it["layer"].as_u64() > Some(0)).cloned().collect()
}

#[test]
fn a_summary_is_shown_with_its_sentences_and_written_again_only_where_content_changed() {
    let (cli, server) = (mills(), ChatServer::start([says(NAMES[0], json!([1, 2]))]));
    let report = report_of(&cli, &server, SUMMARIES);
    let count = report["summarized"]["written"].as_u64().unwrap();
    assert!(count > 0 && server.asked().len() as u64 == count && report.get("reported").is_none(), "{report}");
    assert_eq!(status_of(&cli)["summaries"], json!({ "written": count, "failed": 0, "failures": [] }));
    let found = entered(&cli, &[]);
    assert!(!found.is_empty());
    for it in &found {
        assert_eq!(it["name"], json!(NAMES.join("; ")), "{it:#}");
        assert_eq!(it["summary"][1]["text"], "Fires it is.");
        assert!(it["summary"][0]["citations"][0]["quote"].as_str().unwrap().contains("Mill"), "{it:#}");
    }
    let export = cli.canonical(".cairn");
    let said: Vec<Value> = export.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &said {
        assert_valid("export", line);
    }
    let said: Vec<&Value> = said.iter().filter_map(|line| line.get("summary_description")).collect();
    assert_eq!(said.len() as u64, count);
    // A type that was not requested is dropped.
    let aspects = &said[0]["aspects"];
    assert_eq!((&aspects[0]["type"], aspects[1].get("type")), (&json!("place"), None), "{aspects:#}");

    // Unchanged content costs nothing and makes no version, with or without a model.
    let again = report_of(&cli, &server, SUMMARIES);
    assert_eq!((&again["version"], &again["summarized"]["written"]), (&report["version"], &json!(0)));
    cli.run(["index", "notes"]).succeeded();
    assert_eq!((entered(&cli, &[]), server.asked().len() as u64), (found, count));

    // It is asked again if the text of a member changes.
    server.play([says("Mills, said anew", json!([1]))]);
    cli.write("notes/00.txt", "Harl Mill\n\nHarl Mill was built by Ada Lorne and Tom Reed in 1810, for Ann Orr.");
    let report = report_of(&cli, &server, SUMMARIES);
    assert!(report["summarized"]["written"].as_u64().unwrap() > 0, "{report}");
    assert!(entered(&cli, &[]).iter().any(|it| it["name"].as_str().unwrap().starts_with("Mills, said anew")));
    cli.run(["check"]).succeeded();
}

#[test]
fn without_a_summary_that_can_be_used_rules_serve_and_nothing_is_asked_again() {
    // It cites sentences that were not shown.
    let (cli, server) = (mills(), ChatServer::start([says(NAMES[0], json!([900]))]));
    let said = index(&cli, &server, &[SUMMARIES, &["--json"]].concat());
    assert_eq!(said.status, Some(10), "all that came was of no use: {said:#?}");
    assert!(entered(&cli, &[]).iter().all(|it| it.get("summary").is_none()));
    let (asked, status) = (server.asked().len(), status_of(&cli));
    let failure = &status["summaries"]["failures"][0];
    assert!(failure["source"].as_str().unwrap().starts_with("the cluster `"), "{status}");
    assert!(failure["reason"].as_str().unwrap().contains("none of `summaries` has"), "{status}");
    index(&cli, &server, SUMMARIES);
    assert_eq!((server.asked().len(), &status_of(&cli)["version"]), (asked, &status["version"]));

    let args = [SUMMARIES, &["--dry-run", "--json"]].concat();
    let estimate: Value = serde_json::from_str(&index(&cli, &server, &args).succeeded().stdout).unwrap();
    assert_valid("estimate", &estimate);
    let stage = &estimate["stages"][0];
    assert_eq!((&stage["stage"], &stage["cached"]), (&json!("summaries"), &status["summaries"]["failed"]));
    server.play([says(NAMES[0], json!([1]))]);
    let report = report_of(&cli, &server, &[SUMMARIES, &["--retry-failed"]].concat());
    assert_eq!(report["summarized"]["written"], status["summaries"]["failed"]);
    // What a filter leaves out is not shown in summaries either.
    let all = entered(&cli, &[]);
    let cited = all[0]["summary"][0]["citations"][0]["document"].as_str().unwrap();
    let left = entered(&cli, &["--filter", &format!("title!={cited}")]);
    let of_it = format!("\"document\":\"{cited}\"");
    assert!(left.iter().all(|it| !it.to_string().contains(&of_it)), "{left:?}");
    let summarized = |all: &[Value]| all.iter().filter(|it| it.get("summary").is_some()).count();
    assert!(summarized(&left) < summarized(&all), "{left:?}");
}
