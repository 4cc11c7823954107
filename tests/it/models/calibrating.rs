//! Scores of rerankers as probabilities: how they are fitted, how a search uses them, and what is refused.

use std::fs;

use serde_json::{Value, json};

use crate::support::chat::{ChatServer, Judge, Play};
use crate::support::{Cli, assert_valid};

/// Mills, and questions about each of them.
const MILLS: [&str; 12] =
    ["Harl", "Vell", "Osk", "Tarn", "Wick", "Dunn", "Marl", "Keld", "Finn", "Gray", "Lund", "Pell"];

const CALIBRATE: [&str; 6] = ["eval", "calibrate", "--questions", "questions.jsonl", "--strategy", "hybrid"];

/// Scores a passage high if the question names its mill, and the first mill's passage always.
fn scores() -> Play {
    Play::Judges(Judge::new(|asked| {
        let Some(texts) = asked.body["documents"].as_array() else { return (200, "{}".to_owned()) };
        let query = asked.body["query"].as_str().unwrap();
        let score = |text: &Value| {
            let mill = MILLS.iter().find(|mill| text.as_str().unwrap().contains(**mill)).unwrap();
            if query.contains(mill) || *mill == MILLS[0] { 4.5 } else { -3.0 }
        };
        let one = |(index, text)| json!({ "index": index, "relevance_score": score(text) });
        (200, json!({ "results": texts.iter().enumerate().map(one).collect::<Vec<_>>() }).to_string())
    }))
}

fn indexed() -> Cli {
    let cli = Cli::new();
    let record = |mill: &&str| {
        let text = format!("{mill} Mill was built by {mill} Lorne on the {mill}water, a river near {mill}ford.");
        json!({ "id": mill, "title": format!("{mill} Mill"), "text": text }).to_string()
    };
    let question = |mill: &&str| {
        let question = format!("Who built {mill} Mill on the river?");
        json!({ "id": mill, "question": question, "supporting": [mill] }).to_string()
    };
    let lines = |line: &dyn Fn(&&str) -> String| MILLS.iter().map(line).collect::<Vec<_>>().join("\n");
    cli.write("notes.jsonl", lines(&record));
    cli.write("questions.jsonl", lines(&question));
    cli.run(["index", "notes.jsonl"]).succeeded();
    cli
}

/// Returns what `eval calibrate` prints as JSON.
fn calibrated(cli: &Cli, more: &[&str]) -> Value {
    let said = cli.run([&CALIBRATE[..], more, &["--json"]].concat()).succeeded();
    let report = serde_json::from_str(&said.stdout).unwrap();
    assert_valid("eval-calibrate", &report);
    report
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn scores_of_a_server_become_probabilities_and_a_search_leaves_out_what_is_improbable() {
    let (cli, server) = (indexed(), ChatServer::start([scores()]));
    cli.configure(format!("[model.reranker]\nurl = '{}'\n", server.url));
    let report = calibrated(&cli, &["--reranker", "server:m", "--output", "curve.json"]);
    let of = |of: &str, what: &str| report[of][what].as_f64().unwrap();
    assert!(of("held_out", "log_loss") < of("constant", "log_loss"), "{report}");
    assert!(of("held_out", "calibration_error") < 0.1 && report["questions"] == 12, "{report}");
    let curve: Value = serde_json::from_slice(&fs::read(cli.folder().join("curve.json")).unwrap()).unwrap();
    assert_valid("calibration", &curve);
    assert_eq!(curve, report["calibration"]);
    let questions = fs::read_to_string(cli.folder().join("questions.jsonl")).unwrap();
    cli.write("one.jsonl", questions.lines().next().unwrap());
    let refused = [("one.jsonl", "hybrid", "each half needs"), ("questions.jsonl", "level", "joined by their places")];
    for (questions, strategy, reason) in refused {
        let args = ["eval", "calibrate", "--questions", questions, "--strategy", strategy, "--reranker", "server:m"];
        let said = cli.run(args);
        assert!(said.status != Some(0) && said.stderr.contains(reason), "{said:#?}");
    }
    let said = cli.run([&CALIBRATE[..], &["--reranker", "server:m"]].concat()).succeeded().stdout;
    assert!(said.contains("held-out half") && said.contains("in sample"), "{said}");
    assert!(said.contains("1.00 calls, ") && said.contains("m: 144 passages scored with 12 calls"), "{said}");
    let work = &report["work"];
    assert_eq!((&work["spent"]["calls"], &work["reranking"]["passages"]), (&json!(12), &json!(144)), "{work}");

    let search = ["search", "Who built Vell Mill on the river?", "--strategy", "hybrid", "--reranker", "server:m"];
    let found = |more: &[&str]| cli.json(&[&search[..], more].concat());
    let names = |found: &Value| {
        let hits = found["hits"].as_array().unwrap();
        hits.iter().map(|hit| hit["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (plain, read) = (found(&[]), found(&["--calibration", "curve.json"]));
    assert_eq!((names(&plain), plain["hits"][0]["score"].as_f64()), (names(&read), Some(4.5)));
    let probabilities: Vec<f64> =
        read["hits"].as_array().unwrap().iter().map(|hit| hit["score"].as_f64().unwrap()).collect();
    assert!(probabilities[0] > 0.3 && probabilities[9] < 0.2 && probabilities[9] > 0.0, "{probabilities:?}");
    let few = found(&["--calibration", "curve.json", "--relevance-min", "0.25"]);
    assert!(names(&few).contains(&"Vell Mill".to_owned()) && names(&few).len() == 2, "{few}");
    assert!(few["ledger"]["notes"].to_string().contains("have a relevance of at least 0.25"), "{few}");
    assert_eq!(names(&found(&["--calibration", "curve.json", "--relevance-min", "1"])).len(), 1, "the best stays");

    // If nothing is scored, nothing is left out.
    server.play([Play::Responds(503, "", "busy".to_owned())]);
    let unscored = found(&["--calibration", "curve.json", "--relevance-min", "1"]);
    assert_eq!(names(&unscored).len(), 10, "{unscored}");
    for (more, words) in [
        (&["--reranker", "rule", "--calibration", "curve.json"][..], "its scores mean something else"),
        (&["--reranker", "server:m", "--calibration", "curve.json", "--relevance-min", "2"], "between 0 and 1"),
        (&["--reranker", "rule", "--calibration", "questions.jsonl"], "questions.jsonl"),
    ] {
        let refused = cli.run([&search[..4], more].concat());
        assert!(refused.status != Some(0) && refused.stderr.contains(words), "{more:?}: {refused:#?}");
    }
    let unscored = cli.run([&CALIBRATE[..], &["--reranker", "server:m"]].concat());
    assert!(unscored.status == Some(3) && unscored.stderr.contains("too few scores"), "{unscored:#?}");
}

#[test]
fn the_rule_is_calibrated_without_a_model_and_so_is_the_verdict_of_one() {
    let cli = indexed();
    let report = calibrated(&cli, &["--reranker", "rule"]);
    assert_eq!((&report["calibration"]["reranker"], &report["unscored"]), (&json!("rule"), &json!(0)));
    assert!(report.get("work").is_none(), "nobody is asked: {report}");
    let report = calibrated(&cli, &["--reranker", "model", "--simulate", "0.9"]);
    assert_eq!(report["calibration"]["reranker"], "simulated:0.9");
    assert!(report["notes"].to_string().contains("no model was asked"), "{report}");
    assert_eq!(report["work"]["skills"]["judge"]["asked"], 12, "{report}");
    let none = cli.run(CALIBRATE);
    assert!(none.status == Some(3) && none.stderr.contains("without one"), "{none:#?}");
}
