//! `cairn index --model`: questions that a model writes, their cost, and passages for which it writes none.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::secrets::assert_nowhere;
use crate::support::chat::{ChatServer, Play, Reply, Thought, said};
use crate::support::{Cli, CommandOutput, assert_valid};

/// Documents of one passage each.
pub(crate) const COUNT: usize = 12;

/// Returns the name of the document that a request is about.
pub(crate) fn name_of(body: &Value) -> String {
    let user = body["messages"][1]["content"].as_str().unwrap();
    user.lines().find_map(|line| line.strip_prefix("Document: ")).unwrap().to_owned()
}

/// Returns a model's correct reply for the document `name`.
pub(crate) fn written(name: &str) -> String {
    let question = |text: String| json!({ "question": text, "keywords": [name] });
    let answered = ["Who built", "When burned"].map(|start| question(format!("{start} {name} by the model?")));
    let raised = ["Who owned", "Who sold", "Who bought", "Who hated"].map(|it| question(format!("{it} {name}?")));
    json!({ "answered": answered, "raised": raised }).to_string()
}

/// A model that writes correct replies.
pub(crate) fn good() -> Play {
    Play::Thinks(Thought::new(|body| Reply { text: written(&name_of(body)), tokens: (500, 100) }))
}

fn name(number: usize) -> String {
    let names = ["Harl", "Pale", "Orn", "Quill", "Tarn", "Wick", "Yarrow", "Dunn", "Fell", "Gale", "Holm", "Ivel"];
    format!("{} Mill", names[number])
}

/// A folder with documents that are not indexed yet.
pub(crate) fn mills() -> Cli {
    let cli = Cli::new();
    for number in 0..COUNT {
        let name = name(number);
        let text = format!("{name}\n\n{name} was built by Ada Lorne in 18{:02}. It burned down twice.", number + 10);
        cli.write(&format!("notes/{number:02}.txt"), text);
    }
    cli
}

/// Indexes with the model of `server`.
pub(crate) fn index(cli: &Cli, server: &ChatServer, more: &[&str]) -> CommandOutput {
    let args = [&["index", "notes", "--model", "played"], more].concat();
    CommandOutput::of(cli.command(args).env("CAIRN_MODEL_URL", &server.url).output().unwrap())
}

#[track_caller]
pub(crate) fn report_of(cli: &Cli, server: &ChatServer, more: &[&str]) -> Value {
    let said = index(cli, server, &[&["--json"], more].concat()).succeeded();
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_valid("index", &report);
    report
}

#[track_caller]
pub(crate) fn status_of(cli: &Cli) -> Value {
    let status = cli.json(&["status"]);
    assert_valid("status", &status);
    status
}

/// Returns how many questions of each origin every document has, by its id.
pub(crate) fn origins(cli: &Cli) -> BTreeMap<String, [usize; 2]> {
    let lines: Vec<Value> = cli.canonical(".cairn").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let documents: BTreeMap<String, String> = lines
        .iter()
        .filter_map(|line| line.get("document"))
        .map(|it| (text(&it["id"]), text(&it["source_id"])))
        .collect();
    let passages: BTreeMap<String, String> = lines
        .iter()
        .filter_map(|line| line.get("passage"))
        .map(|it| (text(&it["id"]), documents[it["document"].as_str().unwrap()].clone()))
        .collect();
    let mut counts: BTreeMap<String, [usize; 2]> = documents.into_values().map(|it| (it, [0, 0])).collect();
    for question in lines.iter().filter_map(|line| line.get("question")) {
        let count = counts.get_mut(&passages[question["passage"].as_str().unwrap()]).unwrap();
        count[usize::from(question["origin"] == "model")] += 1;
    }
    counts
}

/// A document of several passages, the last of which names a buyer.
fn long_mill(buyer: &str) -> String {
    let part = |number: usize| format!("## Part {number}\n\n{}", "Long Mill stood by the river. ".repeat(30));
    let parts: Vec<String> = (0..6).map(part).collect();
    format!("# Long Mill\n\n{}\n\n## End\n\nLong Mill was sold to {buyer}.", parts.join("\n\n"))
}

#[test]
fn questions_of_a_model_stand_in_the_place_of_those_of_rules_and_are_paid_for_once() {
    let (cli, server) = (mills(), ChatServer::start([good()]));
    let report = report_of(&cli, &server, &[]);
    let spent = json!({ "calls": 12, "cached": 0, "usage": { "input_tokens": 6000, "output_tokens": 1200 } });
    let name = report["model"]["model"].as_str().unwrap().to_owned();
    assert_eq!(
        report["model"],
        json!({ "model": name, "written": 12, "failed": [], "left": 0, "spent": spent }),
        "{report}"
    );
    assert!(origins(&cli).values().all(|it| *it == [0, 6]), "{:?}", origins(&cli));
    // It is found by words that only the model's questions have.
    let found = cli.json(&["search", "Who hated Quill Mill?", "--strategy", "hop"]);
    assert_eq!(found["hits"][0]["source_id"], "notes/03.txt", "{found}");

    let first = cli.canonical(".cairn");
    let again = report_of(&cli, &server, &[]);
    assert_eq!((&again["version"], &again["model"]["written"]), (&report["version"], &json!(0)));
    cli.run(["index", "notes"]).succeeded();
    assert_eq!((server.asked().len(), cli.canonical(".cairn")), (12, first));

    let status = status_of(&cli);
    assert_eq!(status["questions"], json!({ "written": 12, "failed": 0, "failures": [] }));
    assert_eq!((&status["spent"][0]["calls"], &status["spent"][0]["model"]), (&json!(12), &json!(name)));
    let shown = cli.run(["status"]).succeeded().stdout;
    assert!(shown.contains("12 calls, 6000 tokens read, 1200 written, price unknown"), "{shown}");
}

#[test]
fn an_index_that_is_rebuilt_uses_kept_replies() {
    let (cli, server) = (mills(), ChatServer::start([good()]));
    index(&cli, &server, &[]).succeeded();
    let first = cli.canonical(".cairn");
    for name in ["cairn.db", "cairn.db-wal", "cairn.db-shm"] {
        let _gone = std::fs::remove_file(cli.folder().join(".cairn").join(name));
    }
    let report = report_of(&cli, &server, &[]);
    let spent = &report["model"]["spent"];
    assert_eq!((&spent["calls"], &spent["cached"], server.asked().len()), (&json!(0), &json!(12), 12));
    assert_eq!(cli.canonical(".cairn"), first);
}

#[test]
fn both_kinds_of_questions_can_stand_side_by_side() {
    let (cli, server) = (mills(), ChatServer::start([good()]));
    cli.run(["index", "notes"]).succeeded();
    let by_rule = origins(&cli);
    let report = report_of(&cli, &server, &["--keep-rule-questions"]);
    assert_eq!(report["model"]["written"], 12);
    for (document, [rule, model]) in origins(&cli) {
        assert_eq!(([rule, 0], model), (by_rule[&document], 6), "{document}");
        assert!(rule > 0);
    }
    // If they are requested in the other form, they are made again.
    cli.run(["cache", "clear"]).succeeded();
    report_of(&cli, &server, &[]);
    assert!(origins(&cli).values().all(|it| *it == [0, 6]));
    assert_eq!(server.asked().len(), 12);
}

#[test]
fn only_what_changed_is_asked_about_with_a_model_and_without_one_nothing_it_wrote_is_lost() {
    let (cli, server) = (mills(), ChatServer::start([good()]));
    cli.write("notes/long.md", long_mill("Ann Orr"));
    index(&cli, &server, &[]).succeeded();
    let asked = server.asked().len();
    assert!(asked > COUNT + 3, "{asked}");
    cli.write("notes/long.md", long_mill("Bea Tull"));
    cli.run(["index", "notes"]).succeeded();
    let counts = origins(&cli)["notes/long.md"];
    assert!(counts[0] > 0 && counts[1] >= 6 * (asked - COUNT - 2), "{counts:?} of {asked}");
    let report = report_of(&cli, &server, &[]);
    assert_eq!((&report["model"]["written"], server.asked().len()), (&json!(1), asked + 1));
    assert_eq!(origins(&cli)["notes/long.md"][0], 0);
}

#[test]
fn a_passage_without_questions_of_the_model_keeps_those_of_rules_is_listed_and_asked_about_again() {
    let cli = mills();
    let fails = Arc::new(AtomicUsize::new(0));
    let failing = Arc::clone(&fails);
    let model = Thought::new(move |body| {
        let name = name_of(body);
        let is_bad = name == "Quill Mill" && failing.fetch_add(1, Ordering::SeqCst) < 2;
        Reply { text: if is_bad { "no questions".to_owned() } else { written(&name) }, tokens: (500, 100) }
    });
    let server = ChatServer::start([Play::Thinks(model)]);
    let report = report_of(&cli, &server, &[]);
    assert_eq!((&report["model"]["written"], server.asked().len()), (&json!(11), COUNT + 1));
    let failed = &report["model"]["failed"][0];
    assert_eq!(failed["source"], "notes/03.txt, passage 1", "{failed}");
    assert!(failed["reason"].as_str().unwrap().contains("no JSON object"), "{failed}");
    let counts = origins(&cli)["notes/03.txt"];
    assert!(counts[0] > 0 && counts[1] == 0, "{counts:?}");
    let status = status_of(&cli);
    assert_eq!((&status["questions"]["failed"], &status["questions"]["failures"][0]), (&json!(1), failed));

    // Unusable replies are kept and not paid for again; once deleted, they are requested again.
    let again = report_of(&cli, &server, &[]);
    assert_eq!((&again["model"]["failed"][0], server.asked().len()), (failed, COUNT + 1));
    cli.run(["cache", "clear"]).succeeded();
    let last = report_of(&cli, &server, &[]);
    assert_eq!((&last["model"]["written"], server.asked().len()), (&json!(1), COUNT + 2));
    assert_eq!(status_of(&cli)["questions"], json!({ "written": 12, "failed": 0, "failures": [] }));
}

#[test]
fn only_useless_replies_are_requested_again_on_demand() {
    let cli = mills();
    let bad = Play::Thinks(Thought::new(|body| {
        let name = name_of(body);
        let is_bad = ["Quill Mill", "Orn Mill"].contains(&name.as_str());
        Reply { text: if is_bad { "no questions".to_owned() } else { written(&name) }, tokens: (500, 100) }
    }));
    let server = ChatServer::start([bad.clone()]);
    let said = index(&cli, &server, &[]).succeeded();
    assert!(said.stderr.contains("`--retry-failed`"), "{said:#?}");
    let asked = server.asked().len();
    assert_eq!(asked, COUNT + 2);

    // If they are as bad as before, both calls of each are made again; from then on, the last reply is kept.
    let expected = |more: &[&str]| {
        let said = index(&cli, &server, &[&["--dry-run", "--json"], more].concat()).succeeded();
        serde_json::from_str::<Value>(&said.stdout).unwrap()["stages"][0]["calls"].clone()
    };
    assert_eq!((expected(&[]), expected(&["--retry-failed"])), (json!(0), json!(2)));
    let report = report_of(&cli, &server, &["--retry-failed"]);
    assert_eq!((report["model"]["failed"].as_array().unwrap().len(), server.asked().len()), (2, asked + 4));
    server.play([good()]);
    assert_eq!(report_of(&cli, &server, &[])["model"]["written"], 0);
    assert_eq!(server.asked().len(), asked + 4);
    let report = report_of(&cli, &server, &["--retry-failed"]);
    assert_eq!((&report["model"]["written"], server.asked().len()), (&json!(2), asked + 6));
    assert_eq!(status_of(&cli)["questions"], json!({ "written": 12, "failed": 0, "failures": [] }));

    // Rebuilding the index uses the replies that replaced the bad ones.
    let first = cli.canonical(".cairn");
    for name in ["cairn.db", "cairn.db-wal", "cairn.db-shm"] {
        let _gone = std::fs::remove_file(cli.folder().join(".cairn").join(name));
    }
    index(&cli, &server, &["--retry-failed"]).succeeded();
    assert_eq!((cli.canonical(".cairn"), server.asked().len()), (first, asked + 6));
}

#[test]
fn at_its_budget_a_run_ends_with_finished_work_and_the_next_continues() {
    let (cli, server) = (mills(), ChatServer::start([good()]));
    let report = report_of(&cli, &server, &["--budget", "5calls"]);
    assert_eq!(
        (server.asked().len(), &report["model"]["written"], &report["model"]["left"]),
        (5, &json!(5), &json!(7))
    );
    let stopped = report["model"]["stopped"].as_str().unwrap();
    assert!(stopped.contains("the budget allows 5 calls"), "{stopped}");
    assert_eq!(origins(&cli).values().filter(|it| **it == [0, 6]).count(), 5);
    cli.run(["search", "Who built Ivel Mill?"]).succeeded();

    // Concurrent calls reserve what they may cost; once they are finished, the remainder is spent.
    let report = report_of(&cli, &server, &["--budget", "5500 tokens"]);
    let (written, stopped) = (report["model"]["written"].as_u64().unwrap(), report["model"]["stopped"].to_string());
    let most: u64 = stopped.split("may take ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(written >= 3 && written * 600 <= 5500 && written * 600 + most > 5500, "{report}");

    let said = index(&cli, &server, &[]).succeeded();
    assert!(said.stderr.contains("wrote the questions of"), "{said:#?}");
    assert_eq!(server.asked().len(), COUNT);
    assert!(origins(&cli).values().all(|it| *it == [0, 6]));
    let said = index(&cli, &server, &["--budget", "2EUR"]);
    assert_eq!(said.status, Some(3), "{said:#?}");
    assert!(said.stderr.contains("needs a price table"), "{said:#?}");
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_server_that_keeps_failing_is_left_alone_and_finished_work_is_indexed() {
    let cli = mills();
    let busy = Play::Responds(500, "", String::new());
    let server = ChatServer::start([good(), busy]);
    cli.configure("[model]\nconcurrency = 4");
    let said = index(&cli, &server, &[]).succeeded();
    assert!(said.stderr.contains("in a row and is not called"), "{said:#?}");
    assert!(said.stderr.contains("the same command continues"), "{said:#?}");
    assert!(server.asked().len() <= 1 + 9 * 5, "{}", server.asked().len());
    let counts = origins(&cli);
    assert_eq!(counts.values().filter(|it| **it == [0, 6]).count(), 1, "{counts:?}");
    assert!(counts.values().all(|it| it[0] + it[1] > 0));
    let server = ChatServer::start([good()]);
    index(&cli, &server, &[]).succeeded();
    assert!(origins(&cli).values().all(|it| *it == [0, 6]));
}

#[test]
fn an_error_that_the_user_must_correct_ends_the_run_and_a_refused_passage_does_not() {
    let cli = mills();
    let refused = |status, said: &str| Play::Responds(status, "", format!("{{\"error\": \"{said}\"}}"));
    let said = index(&cli, &ChatServer::start([refused(401, "no such key")]), &[]);
    assert_eq!(said.status, Some(3), "{said:#?}");
    assert!(said.stderr.contains("no such key"), "{said:#?}");
    let server = ChatServer::start([refused(404, "no such model")]);
    let said = index(&cli, &server, &[]);
    assert!(said.status == Some(3) && said.stderr.contains("no such model"), "{said:#?}");
    assert!(server.asked().len() <= 8, "{}", server.asked().len());
    assert_eq!(cli.run(["search", "Who built Harl Mill?"]).status, Some(4));

    cli.configure("[model]\nconcurrency = 1");
    // No request is made for a passage without words, and it says nothing about the server.
    cli.write("notes/--.txt", "* * *");
    let server = ChatServer::start([refused(400, "too long")]);
    let report = report_of(&cli, &server, &[]);
    assert_eq!((server.asked().len(), &report["model"]["left"]), (5, &json!(7)));
    assert!(report["model"]["stopped"].as_str().unwrap().contains("too long"), "{report}");
    server.play([refused(400, "too long"), good(), refused(400, "too long"), good()]);
    let report = report_of(&cli, &server, &[]);
    assert_eq!((&report["model"]["written"], &report["model"]["left"]), (&json!(10), &json!(0)));
    assert!(report["model"]["failed"][0]["reason"].as_str().unwrap().contains("too long"), "{report}");
    // However many are refused later, the others are requested, and their changes are in the version.
    server.play([refused(400, "too long")]);
    for number in 0..7 {
        cli.write(&format!("notes/new-{number}.txt"), format!("New Mill {number} was built by Ann Orr."));
    }
    let report = report_of(&cli, &server, &[]);
    let failed = report["model"]["failed"].as_array().unwrap().len();
    assert_eq!((failed, &report["model"]["left"], &report["documents"]["added"]), (9, &json!(0), &json!(7)));
    assert_eq!(cli.json(&["search", "New Mill 3"])["hits"][0]["source_id"], "notes/new-3.txt");
}

#[test]
fn what_one_model_wrote_stays_where_another_writes_nothing() {
    let (cli, server) = (mills(), ChatServer::start([good()]));
    cli.write("notes/long.md", long_mill("Ann Orr"));
    index(&cli, &server, &[]).succeeded();
    let count = server.asked().len();
    let first = cli.canonical(".cairn");
    let other = ChatServer::start([Play::Says("no questions".to_owned())]);
    let said = index(&cli, &other, &[]);
    assert_eq!((said.status, cli.canonical(".cairn")), (Some(10), first), "{said:#?}");
    assert_eq!(status_of(&cli)["questions"]["written"], count);
    // An edit elsewhere in a document keeps what the first model wrote.
    let before = origins(&cli)["notes/long.md"];
    cli.write("notes/long.md", long_mill("Bea Tull"));
    cli.run(["index", "notes"]).succeeded();
    assert_eq!(origins(&cli)["notes/long.md"][1], before[1] - 6);
}

#[cfg(unix)]
#[test]
fn a_run_that_is_interrupted_keeps_what_came_and_sends_nothing_more() {
    let cli = mills();
    let slow = Thought::new(|body| {
        thread::sleep(Duration::from_millis(300));
        Reply { text: written(&name_of(body)), tokens: (500, 100) }
    });
    let server = ChatServer::start([Play::Thinks(slow)]);
    cli.configure("[model]\nconcurrency = 2");
    let mut command = cli.command(["index", "notes", "--model", "played"]);
    let run = command.env("CAIRN_MODEL_URL", &server.url).stderr(Stdio::piped()).spawn().unwrap();
    while server.asked().len() < 3 {
        thread::sleep(Duration::from_millis(5));
    }
    let kill = ["-INT", &run.id().to_string()].map(str::to_owned);
    assert!(std::process::Command::new("kill").args(kill).status().unwrap().success());
    let said = CommandOutput::of(run.wait_with_output().unwrap());
    assert_eq!(said.status, Some(130), "{said:#?}");
    let asked = server.asked().len();
    assert!(asked < COUNT, "{asked}");
    server.play([good()]);
    let report = report_of(&cli, &server, &[]);
    assert_eq!((&report["model"]["left"], server.asked().len()), (&json!(0), COUNT));
}

#[test]
fn a_run_is_estimated_and_nothing_is_written_or_asked() {
    let (cli, server) = (mills(), ChatServer::start([good()]));
    let estimate = |more: &[&str]| {
        let args = [&["--dry-run", "--json"], more].concat();
        let estimate: Value = serde_json::from_str(&index(&cli, &server, &args).succeeded().stdout).unwrap();
        assert_valid("estimate", &estimate);
        estimate
    };
    let first = estimate(&[]);
    let stage = &first["stages"][0];
    assert_eq!((&stage["stage"], &stage["calls"], &stage["cached"]), (&json!("questions"), &json!(12), &json!(0)));
    assert_eq!((&first["documents"]["added"], &stage.get("cost")), (&json!(12), &None));
    assert!(!cli.folder().join(".cairn").exists() && server.asked().is_empty());

    let name = stage["model"].as_str().unwrap();
    cli.write(
        ".config/cairn/prices.toml",
        format!("currency = \"USD\"\n[models]\n\"{name}\" = {{ input = 1, output = 10 }}"),
    );
    cli.configure("[model]\nprices = \"prices.toml\"\nindex = \"played\"");
    index(&cli, &server, &["--budget", "5calls"]).succeeded();
    cli.write("notes/00.txt", "Changed.");
    let second = estimate(&[]);
    let stage = &second["stages"][0];
    let pending: u64 = stage["calls"].as_u64().unwrap();
    assert!((7..=8).contains(&pending), "{second}");
    assert_eq!(second["documents"], json!({ "added": 0, "changed": 1, "unchanged": 11, "removed": 0, "skipped": 0 }));
    let usage = &stage["usage"];
    let [read, wrote] = ["input_tokens", "output_tokens"].map(|it| usage[it].as_f64().unwrap());
    let cost = stage["cost"]["amount"].as_f64().unwrap();
    assert!((cost - (read + 10.0 * wrote) / 1e6).abs() < 1e-9, "{second}");

    let said = index(&cli, &server, &["--dry-run"]).succeeded();
    assert!(said.stdout.contains(&format!("questions: {pending} calls to ")), "{said:#?}");
    assert!(said.stdout.contains("no server was called"), "{said:#?}");
    let args = ["index", "notes", "--model", "default", "--dry-run"];
    let said = CommandOutput::of(cli.command(args).env("CAIRN_MODEL_URL", &server.url).output().unwrap()).succeeded();
    assert!(said.stdout.contains(" USD"), "{said:#?}");
    assert_eq!(server.asked().len(), 5);
    let said = cli.run(["index", "notes", "--dry-run"]).succeeded();
    assert!(said.stdout.contains("no server would be called"), "{said:#?}");
}

#[test]
fn a_recorded_run_is_replayed_without_a_server_and_one_that_lacks_a_call_says_which() {
    let (cli, server) = (mills(), ChatServer::start([good()]));
    index(&cli, &server, &["--record", "calls.jsonl"]).succeeded();
    let recorded = cli.canonical(".cairn");
    let said = index(&cli, &server, &["--replay", "calls.jsonl", "--index", "again"]).succeeded();
    assert!(said.stderr.contains("12 passages"), "{said:#?}");
    assert_eq!((cli.canonical("again"), server.asked().len()), (recorded, COUNT));
    cli.write("notes/new.txt", "A new mill was built by Ann Orr.");
    let said = index(&cli, &server, &["--replay", "calls.jsonl", "--index", "again"]);
    assert_eq!(said.status, Some(3), "{said:#?}");
    assert!(said.stderr.contains("(for `index`, key "), "{said:#?}");
}

#[test]
fn a_key_that_goes_to_the_server_at_indexing_is_written_nowhere() {
    const CANARY: &str = "sk-canary-5d21f0";
    let cli = mills();
    let echo = |status| Play::Responds(status, "Retry-After: 3000\r\n", format!("{{\"error\": \"no {CANARY}\"}}"));
    for (play, folder) in [(good(), "good"), (echo(401), "key"), (echo(400), "request"), (echo(429), "busy")] {
        let server = ChatServer::start([play]);
        let record = format!("{folder}.jsonl");
        let args = ["index", "notes", "--model", "played", "-vvv", "--record", &record, "--index", folder];
        let mut command = cli.command(args);
        command.env("CAIRN_MODEL_URL", &server.url).env("CAIRN_MODEL_KEY", CANARY);
        let said = CommandOutput::of(command.output().unwrap());
        assert!(server.asked()[0].head.contains(CANARY), "{said:#?}");
        assert_nowhere(&cli, &said, CANARY);
    }
}

/// A folder with two documents about which a model is asked one after the other, with little time for each call.
pub(crate) fn two_mills() -> Cli {
    let cli = Cli::new();
    for name in ["Harl Mill", "Pale Mill"] {
        cli.write(&format!("notes/{name}.txt"), format!("{name}\n\n{name} was built by Ada Lorne."));
    }
    cli.configure("[model]\ntimeout_s = 2\nconcurrency = 1");
    cli
}

/// Returns every fault of a server, and every unusable reply, to a request for questions.
pub(crate) fn faults() -> Vec<Play> {
    let whole = said(&written("Harl Mill"));
    vec![
        Play::Responds(200, "", whole[..whole.len() / 2].to_owned()),
        Play::Responds(200, "", format!("{whole}{whole}")),
        Play::Responds(200, "", said("").replace("\"stop\"", "\"content_filter\"")),
        Play::Responds(200, "", said("{\"answered\": [").replace("\"stop\"", "\"length\"")),
        Play::Responds(200, "", said("{\"answered\": []}")),
        Play::Responds(200, "", said("{} {}")),
        Play::Responds(200, "", said("")),
        Play::Responds(500, "", String::new()),
        Play::Responds(503, "Retry-After: 0\r\n", String::new()),
        Play::Responds(429, "Retry-After: 0\r\n", String::new()),
        Play::Responds(429, "Retry-After: 90\r\n", String::new()),
        Play::Bytes(10 << 20),
        Play::BreaksOff,
        Play::Closes,
        Play::Drips,
        Play::Silent,
    ]
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn every_fault_of_a_server_ends_in_time_leaves_the_rest_and_loses_nothing() {
    thread::scope(|scope| {
        for play in faults() {
            scope.spawn(move || {
                let shown = format!("{play:?}").chars().take(100).collect::<String>();
                let cli = two_mills();
                let server = ChatServer::start([good(), play]);
                let report = report_of(&cli, &server, &[]);
                let failed = report["model"]["failed"].as_array().unwrap();
                assert_eq!((failed.len(), &report["model"]["written"]), (1, &json!(1)), "{shown}: {report}");
                assert!(report["seconds"].as_f64().unwrap() < 60.0, "{shown}: {report}");
                assert!(server.asked().len() <= 6, "{shown}: {}", server.asked().len());
                let [by_rule, by_model] = origins(&cli)["notes/Pale Mill.txt"];
                assert!(by_rule > 0 && by_model == 0, "{shown}");
                // An unusable reply is kept like any other.
                cli.run(["cache", "clear"]).succeeded();
                let asked = server.asked().len();
                server.play([good()]);
                let report = report_of(&cli, &server, &[]);
                assert_eq!((&report["model"]["written"], server.asked().len()), (&json!(1), asked + 1), "{shown}");
            });
        }
    });
}
