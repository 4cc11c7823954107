//! The estimate of a run compared with what a model then charges, and what a killed run loses.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tiktoken_rs::{CoreBPE, o200k_base_singleton};

use super::generating::{good, index, mills, name_of, report_of, written};
use crate::support::chat::{ChatServer, Play, Reply, Thought};
use crate::support::{Cli, CommandOutput, Random, canonical, shared_data};

/// Documents of each collection that are indexed.
const DOCUMENTS: usize = 250;
/// Maximum error of the estimate.
const OFF_MAX: f64 = 0.15;
/// Runs that are killed.
const KILLS: usize = 100;
/// Concurrent calls while runs are killed.
const AT_ONCE: usize = 3;

/// Returns a number below `end` that depends only on a text.
fn drawn(text: &str, end: usize) -> usize {
    usize::from(sum_of(text)) % end
}

fn sum_of(text: &str) -> u8 {
    text.bytes().fold(17_u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte))
}

/// Writes questions from sentences of a passage, in a number between the limits of a request.
fn questions(user: &str) -> String {
    let passage = user.split_once("\n\n").map_or(user, |(_, passage)| passage);
    let words: Vec<&str> = passage.split_whitespace().filter(|word| word.len() > 3 && !word.contains('=')).collect();
    let question = |number: usize, start: &str| {
        // Ten words, like questions about such passages.
        let from = drawn(&format!("{user}{number}{start}"), 200) % words.len().max(1);
        let own: Vec<&str> = words.iter().cycle().skip(from).take(7).copied().collect();
        json!({ "question": format!("{start} {} {number}?", own.join(" ")), "keywords": own[..3] })
    };
    let answered: Vec<Value> = (0..2 + drawn(user, 5)).map(|number| question(number, "What is said of")).collect();
    let raised: Vec<Value> = (0..4 + drawn(&user[1..], 5)).map(|number| question(number, "What came before")).collect();
    json!({ "answered": answered, "raised": raised }).to_string()
}

/// A model and an embedder that charge for everything they are sent and reply, in the tokens of newer `OpenAI` models.
fn charging() -> Play {
    let tokens: &'static CoreBPE = o200k_base_singleton();
    let thought = Thought::new(move |body| {
        let count = |text: &str| tokens.encode_ordinary(text).len();
        let said = body["messages"].as_array().unwrap();
        let said: usize = said.iter().map(|message| count(message["content"].as_str().unwrap()) + 3).sum();
        let schema = count(&body["response_format"]["json_schema"]["schema"].to_string());
        let text = questions(body["messages"][1]["content"].as_str().unwrap());
        let written = count(&text);
        Reply { text, tokens: (said + schema + 3, written) }
    });
    Play::Serves(thought, 16, |text| o200k_base_singleton().encode_ordinary(text).len())
}

#[test]
fn what_a_run_is_said_to_cost_is_what_a_model_then_charges() {
    for bundle in ["2wiki-hippo", "musique-dev", "hotpot-dev"] {
        let Some(folder) = shared_data(bundle) else { return };
        let corpus = fs::read_to_string(folder.join("corpus.jsonl")).unwrap();
        let cli = Cli::new();
        let first: Vec<&str> = corpus.lines().take(DOCUMENTS).collect();
        cli.write("notes/corpus.jsonl", first.join("\n"));
        let server = ChatServer::start([charging()]);
        let embedder = ["--embedder", "server:vectors"];
        let said = index(&cli, &server, &[&embedder[..], &["--dry-run", "--json"]].concat()).succeeded();
        let estimate: Value = serde_json::from_str(&said.stdout).unwrap();
        let report = report_of(&cli, &server, &embedder);
        assert_eq!(report["model"]["failed"], json!([]));
        assert_eq!(estimate["stages"][0]["calls"], report["model"]["spent"]["calls"]);
        for (place, part) in ["model", "vectors"].into_iter().enumerate() {
            let (stage, spent) = (&estimate["stages"][place], &report[part]["spent"]);
            assert_near(&format!("{bundle}: {part}"), &stage["usage"], &spent["usage"]);
            let [expected, charged] = [stage, spent].map(|it| it["calls"].as_f64().unwrap());
            assert!((expected / charged - 1.0).abs() <= OFF_MAX, "{bundle}: {part}: {expected} calls, {charged} made");
        }
    }
}

/// Fails unless the estimate is close to the charge.
#[track_caller]
fn assert_near(part: &str, expected: &Value, charged: &Value) {
    // Most models charge four times as much for the reply as for the prompt.
    let money = |usage: &Value| {
        let [read, written] = ["input_tokens", "output_tokens"].map(|it| usage[it].as_f64().unwrap());
        [read, written, read + 4.0 * written]
    };
    let (expected, charged) = (money(expected), money(charged));
    for (what, (expected, charged)) in ["read", "written", "money"].iter().zip(expected.into_iter().zip(charged)) {
        // An embedder has no output tokens.
        let off = if charged > 0.0 { expected / charged - 1.0 } else { expected };
        println!("{part}: {what}: {expected} said, {charged} charged, {off:+.3}");
        assert!(off.abs() <= OFF_MAX, "{part}: {what}: {expected} said, {charged} charged, {off:+.3}");
    }
}

#[test]
fn without_a_schema_none_is_counted_and_equal_prompts_are_sent_once() {
    let (cli, server) = (mills(), ChatServer::start([good()]));
    cli.write(
        "notes/a.jsonl",
        "{\"id\": 1, \"title\": \"T\", \"text\": \"Same.\"}\n{\"id\": 2, \"title\": \"T\", \"text\": \"Same.\"}",
    );
    let usage = |form: &str| {
        cli.configure(format!("[model]\nform = \"{form}\""));
        let said = index(&cli, &server, &["--dry-run", "--json"]).succeeded();
        let stage = serde_json::from_str::<Value>(&said.stdout).unwrap()["stages"][0].clone();
        assert_eq!((&stage["calls"], &stage["cached"]), (&json!(13), &json!(1)));
        stage["usage"]["input_tokens"].as_u64().unwrap()
    };
    let (with, without) = (usage("schema"), usage("object"));
    assert!(with > without + 13 * 50, "{with} {without}");
    let report = report_of(&cli, &server, &["--budget", "13calls"]);
    assert_eq!((&report["model"]["spent"]["calls"], &report["model"]["left"]), (&json!(13), &json!(0)));
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_run_that_is_killed_again_and_again_pays_at_most_for_the_calls_under_way_twice() {
    let model = Thought::new(|body| {
        std::thread::sleep(Duration::from_millis(15));
        Reply { text: written(&name_of(body)), tokens: (500, 100) }
    });
    let whole = {
        let cli = mills();
        index(&cli, &ChatServer::start([good()]), &[]).succeeded();
        canonical(&cli.folder().join(".cairn"))
    };
    let mut random = Random::new(7);
    let mut kills = 0;
    while kills < KILLS {
        let (cli, server) = (mills(), ChatServer::start([Play::Thinks(model.clone())]));
        cli.configure(format!("[model]\nconcurrency = {AT_ONCE}"));
        let mut own = 0;
        loop {
            let mut command = cli.command(["index", "notes", "--model", "played"]);
            command.env("CAIRN_MODEL_URL", &server.url).stderr(std::process::Stdio::null());
            let mut run = command.spawn().unwrap();
            // Runs get longer, so that a slow machine finishes, too.
            std::thread::sleep(Duration::from_millis((20 + random.below(100) + own * own) as u64));
            if let Some(status) = run.try_wait().unwrap() {
                assert!(status.success(), "{status}");
                break;
            }
            run.kill().unwrap();
            run.wait().unwrap();
            own += 1;
        }
        kills += own;
        let asked = server.asked().len();
        assert!((12..=12 + own * AT_ONCE).contains(&asked), "{asked} calls after {own} kills");
        assert_eq!(canonical(&cli.folder().join(".cairn")), whole);
        // Spending is known, except for calls that were under way.
        let counted = cli.json(&["status"])["spent"][0]["calls"].as_u64().unwrap() as usize;
        assert!((asked.saturating_sub(own * AT_ONCE)..=asked).contains(&counted), "{counted} of {asked}, {own} kills");
    }
}

#[test]
fn hundreds_of_calls_go_out_at_one_time_where_they_may() {
    const CALLS: usize = 200;
    let cli = Cli::new();
    for number in 0..CALLS {
        cli.write(&format!("notes/{number}.txt"), format!("Mill {number}\n\nMill {number} was built in 1820."));
    }
    cli.configure(format!("[model]\nconcurrency = {CALLS}"));
    let came = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&came);
    // No call is answered before all have arrived.
    let model = Thought::new(move |body| {
        counted.fetch_add(1, Ordering::SeqCst);
        let began = Instant::now();
        while counted.load(Ordering::SeqCst) < CALLS && began.elapsed() < Duration::from_mins(1) {
            std::thread::sleep(Duration::from_millis(10));
        }
        Reply { text: written(&name_of(body)), tokens: (500, 100) }
    });
    let server = ChatServer::start([Play::Thinks(model)]);
    let args = ["index", "notes", "--model", "played", "--json"];
    let said = CommandOutput::of(cli.command(args).env("CAIRN_MODEL_URL", &server.url).output().unwrap()).succeeded();
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((&report["model"]["written"], came.load(Ordering::SeqCst)), (&json!(CALLS), CALLS));
    assert!(report["seconds"].as_f64().unwrap() < 60.0, "they did not go out together: {report}");
}
