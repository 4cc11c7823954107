//! The cost of vectors from a server: estimated, limited by the same budget as a language model, and counted.

use serde_json::{Value, json};

use super::generating::{name_of, written};
use crate::support::chat::{ChatServer, Play, Reply, Thought};
use crate::support::{Cli, CommandOutput, assert_valid};

/// Length of a vector.
const DIMENSION: usize = 32;

/// A server that writes questions and makes vectors, and counts a token for each word.
fn server() -> ChatServer {
    let thought = Thought::new(|body| Reply { text: written(&name_of(body)), tokens: (500, 100) });
    ChatServer::start([Play::Serves(thought, DIMENSION, |text| text.split_whitespace().count())])
}

/// A folder with some documents, and prices for both models of `server`.
fn notes(server: &ChatServer) -> Cli {
    let cli = Cli::new();
    for number in 0..40 {
        let text =
            format!("Mill {number}\n\nMill {number} was built by Ada Lorne in 18{number}. It burned down twice.");
        cli.write(&format!("notes/{number:02}.txt"), text);
    }
    let prices = "currency = \"USD\"\n[models]\n\"vllm:played\" = { input = 1.0, output = 10.0 }\n\
                  \"vllm:vectors\" = { input = 0.5 }\n";
    cli.write(".config/cairn/prices.toml", prices);
    let url = &server.url;
    let settings = format!("[model]\nserver = \"vllm\"\nurl = \"{url}\"\nconcurrency = 2\nprices = \"prices.toml\"\n");
    cli.configure(settings);
    cli
}

const WITH_VECTORS: &[&str] = &["index", "notes", "--embedder", "vllm:vectors"];
const WITH_BOTH: &[&str] = &["index", "notes", "--embedder", "vllm:vectors", "--model", "vllm:played"];

#[track_caller]
fn report(cli: &Cli, args: &[&str], more: &[&str]) -> Value {
    let said = cli.run([args, &["--json"], more].concat()).succeeded();
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_valid("index", &report);
    report
}

#[track_caller]
fn estimate(cli: &Cli, args: &[&str]) -> Value {
    let said = cli.run([args, &["--dry-run", "--json"]].concat()).succeeded();
    let estimate: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_valid("estimate", &estimate);
    estimate
}

/// Returns the number of calls to a server, and the texts that it was sent for vectors.
fn calls_and_texts(server: &ChatServer) -> (u64, Vec<String>) {
    let asked = server.asked();
    let texts = asked.iter().filter_map(|it| it.body["input"].as_array()).flatten();
    (asked.len() as u64, texts.map(|text| text.as_str().unwrap().to_owned()).collect())
}

#[test]
fn calls_for_vectors_are_estimated_and_nothing_is_asked() {
    let server = server();
    let cli = notes(&server);
    let first = estimate(&cli, WITH_VECTORS);
    let stage = &first["stages"][0];
    assert_eq!((&stage["stage"], &stage["model"]), (&json!("vectors"), &json!("vllm:vectors")));
    assert!(server.asked().is_empty() && !cli.folder().join(".cairn").exists());

    let report = report(&cli, WITH_VECTORS, &[]);
    let (calls, texts) = calls_and_texts(&server);
    assert_eq!((stage["calls"].as_u64(), report["vectors"]["spent"]["calls"].as_u64()), (Some(calls), Some(calls)));
    assert_eq!((&stage["texts"], &report["vectors"]["left"]), (&report["vectors"]["made"], &json!(0)));
    let words: usize = texts.iter().map(|text| text.split_whitespace().count()).sum();
    let spent = &report["vectors"]["spent"];
    assert_eq!(spent["usage"]["input_tokens"], words);
    assert!((spent["cost"]["amount"].as_f64().unwrap() - words as f64 * 0.5e-6).abs() < 1e-12, "{spent}");
    let (read, cost) = (&stage["usage"]["input_tokens"], stage["cost"]["amount"].as_f64().unwrap());
    assert!((cost - read.as_f64().unwrap() * 0.5e-6).abs() < 1e-12, "{stage}");

    // The index knows the rest: nothing is left to do, and the estimate for one file is exact.
    assert_eq!(estimate(&cli, &["index", "notes"])["stages"][0]["calls"], 0);
    // If the embedder is named, it is asked for the length of its vectors.
    assert_eq!(estimate(&cli, WITH_VECTORS)["stages"][0]["calls"], 1);
    cli.write("notes/00.txt", "Mill 0\n\nMill 0 is no more.");
    let stage = estimate(&cli, &["index", "notes"])["stages"][0].clone();
    assert_eq!(server.asked().len() as u64, calls);
    let said = cli.run(["index", "notes", "--json"]).succeeded();
    let again: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(stage["calls"], again["vectors"]["spent"]["calls"]);
    assert_eq!(stage["texts"], again["vectors"]["made"]);

    let status = cli.json(&["status"]);
    let (calls, _) = calls_and_texts(&server);
    let spent = &status["spent"][0];
    assert_eq!((&spent["model"], &spent["calls"]), (&json!("vllm:vectors"), &json!(calls)));
}

#[test]
fn both_stages_and_their_sum_are_estimated_and_the_estimate_suffices() {
    let server = server();
    let cli = notes(&server);
    let said = cli.run([WITH_BOTH, &["--dry-run"]].concat()).succeeded().stdout;
    for line in ["questions: 40 calls to vllm:played, ", " to vllm:vectors for ", "in all: ", " USD"] {
        assert!(said.contains(line), "{line}: {said}");
    }
    let stages = estimate(&cli, WITH_BOTH)["stages"].clone();
    let calls: u64 = stages.as_array().unwrap().iter().map(|stage| stage["calls"].as_u64().unwrap()).sum();
    let report = report(&cli, WITH_BOTH, &["--budget", &format!("{calls}calls")]);
    assert_eq!((&report["model"]["left"], &report["vectors"]["left"]), (&json!(0), &json!(0)), "{report}");
    assert!(server.asked().len() as u64 <= calls);
}

#[test]
fn a_model_and_an_embedder_share_a_budget_and_vectors_come_before_questions() {
    let server = server();
    let cli = notes(&server);
    let vectors = estimate(&cli, WITH_VECTORS)["stages"][0]["calls"].as_u64().unwrap();
    let budget = format!("{}calls", vectors + 10);
    let first = report(&cli, WITH_BOTH, &["--budget", &budget]);
    let (calls, _) = calls_and_texts(&server);
    assert!(calls <= vectors + 10, "{calls}");
    let written = first["model"]["written"].as_u64().unwrap();
    assert!((10..=11).contains(&written), "{first}");
    assert!(first["model"]["stopped"].as_str().unwrap().contains("the budget allows"), "{first}");
    // The model's questions differ from those of rules, and are about as many.
    assert!(first["vectors"]["left"].as_u64().unwrap() < 100, "{first}");
    assert_eq!(cli.json(&["search", "Who built Mill 7?", "--strategy", "dense"])["hits"][0]["name"], "Mill 7");
    let status = cli.json(&["status"]);
    let spent: Vec<u64> = status["spent"].as_array().unwrap().iter().map(|it| it["calls"].as_u64().unwrap()).collect();
    assert_eq!(spent.iter().sum::<u64>(), calls);
}

#[test]
fn at_a_budget_what_has_no_vector_is_found_by_words_and_later_runs_buy_the_rest_once() {
    let server = server();
    let cli = notes(&server);
    let budgets = ["0.0005USD", "100tok", "1calls"];
    let mut left = u64::MAX;
    for (run, budget) in budgets.iter().enumerate() {
        let before = server.asked().len();
        let args = if run == 0 { WITH_VECTORS } else { &["index", "notes"] };
        let report = report(&cli, args, &["--budget", budget]);
        let vectors = &report["vectors"];
        assert!(vectors["stopped"].as_str().unwrap().contains("the budget allows"), "{budget}: {report}");
        assert_eq!((&report["counts"]["without_vectors"], &report["is_new_version"]), (&vectors["left"], &json!(true)));
        assert!(vectors["left"].as_u64().unwrap() < left, "{budget}: {report}");
        left = vectors["left"].as_u64().unwrap();
        let spent = &vectors["spent"];
        let over = match run {
            0 => spent["cost"]["amount"].as_f64().unwrap() > 0.0005,
            1 => spent["usage"]["input_tokens"].as_u64().unwrap() > 100,
            _ => server.asked().len() != before + 1,
        };
        assert!(!over, "{budget}: {report}");
        let found = cli.json(&["search", "Who built Mill 31?", "--strategy", "lexical"]);
        assert_eq!(found["hits"][0]["name"], "Mill 31");
        let shown = cli.run(["status"]).succeeded().stdout;
        assert!(shown.contains(&format!("none yet for {left} texts")), "{shown}");
        assert_eq!(cli.json(&["search", "Who built Mill 31?"])["hits"].as_array().unwrap().len(), 10);
    }
    // An index that lacks vectors cannot be published anywhere.
    let said = cli.run(["export", "--format", "neo4j-import", "import"]);
    assert!(said.status == Some(3) && said.stderr.contains("lacks vectors"), "{said:#?}");

    let expected = estimate(&cli, &["index", "notes"])["stages"][0].clone();
    let last = report(&cli, &["index", "notes"], &[]);
    assert_eq!((&expected["texts"], &expected["calls"]), (&json!(left), &last["vectors"]["spent"]["calls"]));
    assert_eq!((&last["vectors"]["left"], &last["counts"].get("without_vectors")), (&json!(0), &None));
    let (_, texts) = calls_and_texts(&server);
    let passages: Vec<&String> = texts.iter().filter(|text| text.starts_with("Mill 31. ")).collect();
    assert_eq!(passages.len(), 1, "{passages:?}");
    cli.run([WITH_VECTORS, &["--index", "other"]].concat()).succeeded();
    assert_eq!(cli.canonical(".cairn"), cli.canonical("other"));
    let said = cli.run(["index", "notes"]).succeeded();
    assert!(said.stderr.contains("nothing changed"), "{said:#?}");
}

#[test]
fn a_run_says_plainly_what_it_could_not_buy_and_never_that_nothing_changed() {
    let server = server();
    let cli = notes(&server);
    let said = cli.run([WITH_VECTORS, &["--budget", "4calls"]].concat()).succeeded();
    assert!(said.stderr.contains("texts: the budget allows 4 calls"), "{said:#?}");
    assert!(said.stderr.contains("the same command continues"), "{said:#?}");
    let said = cli.run(["index", "notes"]).succeeded();
    assert!(said.stderr.contains("version 2") && !said.stderr.contains("nothing changed"), "{said:#?}");
    assert!(said.stderr.contains("vllm:vectors made the vectors of "), "{said:#?}");
}

#[test]
fn an_index_that_has_all_its_vectors_keeps_them_until_those_of_another_embedder_are_there() {
    let server = server();
    let cli = notes(&server);
    cli.run(["index", "notes"]).succeeded();
    let before = cli.canonical(".cairn");
    let re_embed = ["index", "--re-embed", "--embedder", "vllm:vectors"];
    let expected = estimate(&cli, &re_embed)["stages"][0]["calls"].as_u64().unwrap();
    assert!(server.asked().is_empty());
    let refused = cli.run([&re_embed[..], &["--budget", "4calls"]].concat());
    assert_eq!((refused.status, server.asked().len()), (Some(3), 4), "{refused:#?}");
    for words in ["the budget allows 4 calls", "the same command continues"] {
        assert!(refused.stderr.contains(words), "{refused:#?}");
    }
    assert_eq!(cli.json(&["status"])["embedder"], "static-256i8");
    assert_eq!(cli.json(&["search", "Who built Mill 7?", "--strategy", "dense"])["hits"][0]["name"], "Mill 7");
    assert_eq!(cli.canonical(".cairn"), before);
    let report = report(&cli, &re_embed, &[]);
    // Both runs ask for the length of the vectors.
    assert_eq!(server.asked().len() as u64, expected + 1, "{report}");
    let said = cli.run(["index", "notes", "--dry-run", "--embedder", "builtin"]);
    assert_eq!(said.status, Some(6), "{said:#?}");
}

#[test]
fn a_budget_of_money_without_a_price_of_the_embedder_is_refused_before_anything_is_paid() {
    let server = server();
    let cli = notes(&server);
    cli.write(
        ".config/cairn/prices.toml",
        "currency = \"USD\"\n[models]\n\"vllm:played\" = { input = 1.0, output = 10.0 }\n",
    );
    let said = cli.run([WITH_BOTH, &["--budget", "1USD"]].concat());
    assert_eq!((said.status, server.asked().len()), (Some(3), 0), "{said:#?}");
    assert!(said.stderr.contains("price of `vllm:vectors` is unknown"), "{said:#?}");
    let said = cli.run([WITH_BOTH, &["--dry-run"]].concat()).succeeded().stdout;
    assert!(said.lines().any(|it| it.starts_with("vectors: ") && it.ends_with("price unknown")), "{said}");
    assert!(said.lines().any(|it| it.starts_with("in all: ") && it.ends_with("price unknown")), "{said}");
}

#[test]
fn what_a_failed_run_spent_on_vectors_is_counted_and_what_a_question_takes_is_not() {
    let server = server();
    let cli = notes(&server);
    cli.run(WITH_VECTORS).succeeded();
    let calls = || cli.json(&["status"])["spent"][0]["calls"].as_u64().unwrap();
    let spent = calls();
    cli.run(["search", "Who built Mill 7?"]).succeeded();
    assert_eq!(calls(), spent);
    cli.write("notes/new.txt", "Mill 99\n\nMill 99 was built by Ann Orr. It stands.");
    let fault = Play::Responds(400, "", r#"{"error": "as played"}"#.to_owned());
    let good = Play::Embeds(DIMENSION);
    server.play([good.clone(), good.clone(), fault]);
    assert_eq!(CommandOutput::of(cli.command(["index", "notes"]).output().unwrap()).status, Some(3));
    assert_eq!(calls(), spent + 2);
}
