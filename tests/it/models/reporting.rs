//! `cairn index --model --reports`: reports about topics that a model writes, when they are written again, and what
//! replaces missing ones.

use serde_json::{Value, json};

use super::generating::{index, mills, report_of, status_of};
use crate::support::chat::{ChatServer, Play, Reply, Thought};
use crate::support::{Cli, assert_valid};

const REPORTS: &[&str] = &["--reports", "--rule-questions"];
const TITLE: &str = "Ada Lorne and her mills";

/// A model that gives this report on every topic, citing these sentences.
fn says(title: &'static str, sentences: Value) -> Play {
    Play::Thinks(Thought::new(move |_| {
        let findings = json!([{ "text": "Ada Lorne built mills.", "sentences": sentences }]);
        let said = json!({ "title": title, "summary": "She built mills.", "findings": findings, "rating": 7 });
        Reply { text: said.to_string(), tokens: (500, 100) }
    }))
}

#[track_caller]
fn topics(cli: &Cli) -> Vec<Value> {
    let topics = cli.json(&["topics"]);
    assert_valid("topics", &topics);
    topics["topics"].as_array().unwrap().clone()
}

/// `layers`, an overview, entities and the page all show what a model wrote.
#[track_caller]
fn assert_shown_by_all(cli: &Cli) {
    let answer = cli.json(&["ask", "What are these documents about?"]);
    assert_valid("answer", &answer);
    let community = &answer["ledger"]["layers"]["communities"][0];
    assert_eq!((&community["title"], &community["summary"]), (&json!(TITLE), &json!("She built mills.")), "{answer:#}");
    let finding = &community["report"][0];
    assert_eq!(finding["text"], "Ada Lorne built mills.");
    assert!(finding["citations"][0]["quote"].as_str().unwrap().contains("Mill"), "{community:#}");
    assert!(answer["text"].as_str().unwrap().starts_with(TITLE), "{answer:#}");
    // A report on all documents is not shown if some are left out.
    let args = ["ask", "What are these documents about?", "--filter", "title!=Harl Mill"];
    let community = cli.json(&args)["ledger"]["layers"]["communities"][0].clone();
    assert_eq!((&community["title"], community.get("summary")), (&json!(TITLE), None), "{community:#}");
    let said = cli.run(["entities", "show", "Ada Lorne", "--json"]).succeeded();
    let shown: Value = serde_json::from_str(&said.stdout).unwrap();
    assert!(shown["entities"][0]["topics"].as_array().unwrap().contains(&json!(TITLE)), "{shown:#}");
    let summary = cli.json(&["report"]);
    let page = std::fs::read_to_string(cli.folder().join(summary["out"].as_str().unwrap())).unwrap();
    for text in [TITLE, "She built mills.", "Written by a language model", "Ada Lorne built mills."] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn a_report_is_shown_with_its_sentences_and_written_again_only_where_content_changed() {
    let (cli, server) = (mills(), ChatServer::start([says(TITLE, json!([1, 2]))]));
    let report = report_of(&cli, &server, REPORTS);
    let count = report["reported"]["written"].as_u64().unwrap();
    assert!(count > 0 && server.asked().len() as u64 == count, "{report}");
    let first = topics(&cli);
    let shown = &first[0]["report"];
    assert_eq!((&shown["title"], &shown["rating"]), (&json!(TITLE), &json!(7.0)), "{first:?}");
    let cited = shown["findings"][0]["citations"].as_array().unwrap();
    assert!(!cited.is_empty() && cited[0]["quote"].as_str().unwrap().contains("Mill"), "{cited:?}");
    assert_eq!(first[0]["title"], TITLE);
    let said = cli.run(["topics"]).succeeded();
    assert!(said.stdout.contains(TITLE) && said.stdout.contains("She built mills."), "{said:#?}");
    assert!(said.stdout.contains("; by a language model)"), "{said:#?}");
    assert!(said.stderr.contains("found by rule; a language model wrote about"), "{said:#?}");
    assert_shown_by_all(&cli);
    for line in cli.canonical(".cairn").lines() {
        assert_valid("export", &serde_json::from_str(line).unwrap());
    }

    // Unchanged content costs nothing and makes no version, with or without a model.
    let again = report_of(&cli, &server, REPORTS);
    assert_eq!((&again["version"], &again["reported"]["written"]), (&report["version"], &json!(0)));
    cli.run(["index", "notes"]).succeeded();
    assert_eq!((topics(&cli), server.asked().len() as u64), (first, count));
    assert_eq!(status_of(&cli)["reports"], json!({ "written": count, "failed": 0, "failures": [] }));

    // A report is kept as long as the members are the same, and written again if a text changes.
    cli.write("notes/03.txt", "Quill Mill\n\nQuill Mill was built by Ada Lorne in 1813. It burned down thrice.");
    cli.run(["index", "notes"]).succeeded();
    assert_eq!(topics(&cli)[0]["report"]["title"], TITLE);
    server.play([says("Mills, written anew", json!([1]))]);
    cli.write("notes/00.txt", "Harl Mill\n\nHarl Mill was built by Ada Lorne and Tom Reed in 1810, for Ann Orr.");
    let report = report_of(&cli, &server, REPORTS);
    assert_eq!((&report["reported"]["written"], server.asked().len() as u64), (&json!(1), count + 1));
    assert_eq!(topics(&cli)[0]["report"]["title"], "Mills, written anew");
    cli.run(["check"]).succeeded();
}

#[test]
fn without_a_report_that_can_be_used_rules_serve_and_nothing_is_asked_again() {
    // It cites sentences that were not shown, or says nothing.
    let (cli, server) = (mills(), ChatServer::start([says(TITLE, json!([900]))]));
    let said = index(&cli, &server, &[REPORTS, &["--json"]].concat());
    assert_eq!(said.status, Some(10), "all that came was of no use: {said:#?}");
    let shown = topics(&cli);
    assert!(shown.iter().all(|it| it.get("report").is_none() && it["title"].is_string()), "{shown:?}");
    let asked = server.asked().len();
    let status = status_of(&cli);
    let failure = &status["reports"]["failures"][0];
    assert!(failure["source"].as_str().unwrap().starts_with("the topic `"), "{status}");
    assert!(failure["reason"].as_str().unwrap().contains("no finding names a sentence"), "{status}");
    let version = status["version"].clone();
    index(&cli, &server, REPORTS);
    assert_eq!((server.asked().len(), &status_of(&cli)["version"]), (asked, &version));

    let expected = |more: &[&str]| {
        let args = [REPORTS, &["--dry-run", "--json"], more].concat();
        let estimate: Value = serde_json::from_str(&index(&cli, &server, &args).succeeded().stdout).unwrap();
        assert_valid("estimate", &estimate);
        (estimate["stages"][0]["stage"].clone(), estimate["stages"][0]["cached"].as_u64().unwrap())
    };
    assert_eq!(expected(&[]), (json!("reports"), status["reports"]["failed"].as_u64().unwrap()));
    server.play([says(TITLE, json!([1]))]);
    let report = report_of(&cli, &server, &[REPORTS, &["--retry-failed"]].concat());
    assert_eq!(report["reported"]["written"], status["reports"]["failed"]);
    assert_eq!(topics(&cli)[0]["report"]["title"], TITLE);
}
