//! `--decompose`: a model decomposes a question, and finds what later parts need in passages; and `--max-calls`, which
//! limits the calls of a question.

use std::time::Instant;

use serde_json::{Value, json};

use super::asking::good;
use crate::support::chat::{ChatServer, Play, said};
use crate::support::{Cli, CommandOutput, assert_valid, at_once};

/// A question whose second step the whole question does not name.
const QUESTION: &str = "When did the mill burn down whose builder was born in Eaststead?";

fn indexed() -> Cli {
    let cli = Cli::new();
    cli.write(
        "notes/mill.txt",
        "Harl Mill\n\nHarl Mill was built by Ada Lorne. Harl Mill closed after a fire in 1860.",
    );
    cli.write("notes/ada.txt", "Ada Lorne\n\nAda Lorne, an engineer and builder, was born in Eaststead in 1801.");
    cli.write("notes/weir.txt", "Pale Weir\n\nPale Weir was built by Tom Reed. It burned down in 1850, as mills do.");
    cli.run(["index", "notes"]).succeeded();
    cli
}

fn parts(parts: &[&str]) -> Play {
    Play::Says(json!({ "parts": parts }).to_string())
}

fn reads(answers: &[(&str, i64)]) -> Play {
    let answers: Vec<Value> =
        answers.iter().map(|(text, passage)| json!({ "text": text, "passage": passage })).collect();
    Play::Says(json!({ "answers": answers }).to_string())
}

fn taken_apart() -> Play {
    parts(&["Who was born in Eaststead?", "Which mill did #1 build?"])
}

fn run(cli: &Cli, server: &ChatServer, args: &[&str]) -> CommandOutput {
    let args = [args, &["--model", "played"]].concat();
    CommandOutput::of(cli.command(args).env("CAIRN_MODEL_URL", &server.url).output().unwrap())
}

#[track_caller]
fn found(cli: &Cli, server: &ChatServer, more: &[&str]) -> Value {
    let said = run(cli, server, &[&["search", QUESTION, "--json"], more].concat()).succeeded();
    let found = serde_json::from_str(&said.stdout).unwrap();
    assert_valid("search", &found);
    found
}

fn names(found: &Value) -> Vec<&str> {
    found["hits"].as_array().unwrap().iter().map(|hit| hit["name"].as_str().unwrap()).collect()
}

/// Returns the skills that the server was asked for, in order.
fn skills(server: &ChatServer) -> Vec<String> {
    let name = |body: &Value| body["response_format"]["json_schema"]["name"].as_str().unwrap_or("?").to_owned();
    server.asked().iter().map(|asked| name(&asked.body)).collect()
}

#[test]
fn each_part_is_looked_for_with_the_answer_that_it_needs() {
    let cli = indexed();
    let server = ChatServer::start([taken_apart(), reads(&[("Ada Lorne", 1)])]);
    let found = found(&cli, &server, &["--decompose"]);
    assert_eq!(skills(&server), ["decompose", "read"]);
    let said = server.asked()[1].body["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(
        said.contains("===\nQuestion: Who was born in Eaststead?\n===") && said.contains("[1] Ada Lorne\n"),
        "{said}"
    );
    let ledger = &found["ledger"];
    let [first, second] = &ledger["parts"].as_array().unwrap()[..] else { panic!("{ledger}") };
    assert_eq!(first["asked"], json!(["Who was born in Eaststead?"]));
    assert_eq!((&first["answers"][0]["text"], &first["answers"][0]["by"]), (&json!("Ada Lorne"), &json!("model")));
    assert_eq!(second["asked"], json!(["Which mill did Ada Lorne build?"]));
    assert_eq!(ledger["asked"], json!([QUESTION, "Who was born in Eaststead?", "Which mill did Ada Lorne build?"]));
    let mut best = names(&found)[..2].to_vec();
    best.sort_unstable();
    assert_eq!(best, ["Ada Lorne", "Harl Mill"]);
    assert_eq!((&ledger["work"]["spent"]["calls"], &ledger["work"]["stop"]), (&json!(2), &json!("finished")));
    server.play([good()]);
    let said = run(&cli, &server, &["ask", QUESTION, "--decompose", "--explain"]).succeeded();
    assert!(said.stdout.contains("Divided into parts"), "{said:#?}");
    assert!(said.stdout.contains("Who was born in Eaststead?  read by the model: Ada Lorne"), "{said:#?}");
}

#[test]
fn a_rule_reads_on_request_and_once_calls_are_used_up() {
    let cli = indexed();
    for (more, stop) in [(["--decompose=rule", "--top-k=3"], "finished"), (["--decompose", "--max-calls=1"], "calls")] {
        cli.run(["cache", "clear"]).succeeded();
        let server = ChatServer::start([taken_apart()]);
        let found = found(&cli, &server, &more);
        assert_eq!(skills(&server), ["decompose"]);
        let answers = &found["ledger"]["parts"][0]["answers"];
        assert_eq!((&answers[0]["text"], &answers[0]["by"]), (&json!("Ada Lorne"), &json!("rule")), "{answers}");
        assert_eq!(found["ledger"]["work"]["stop"], stop);
    }
}

#[test]
fn auto_makes_the_best_of_the_calls_and_asks_nothing_without_a_number() {
    let cli = indexed();
    let picks = || Play::Says(json!({ "passages": [2] }).to_string());
    let cases: [(&[&str], Vec<Play>, &[&str]); 5] = [
        (&["search"], vec![], &[]),
        (&["search", "--max-calls", "1"], vec![picks()], &["pick"]),
        (
            &["search", "--max-calls", "3"],
            vec![taken_apart(), reads(&[("Ada Lorne", 1)]), picks()],
            &["decompose", "read", "pick"],
        ),
        // One call is reserved for the answer.
        (&["ask", "--max-calls", "1"], vec![good()], &["answer"]),
        (&["ask", "--max-calls", "2"], vec![picks(), good()], &["pick", "answer"]),
    ];
    for (args, plays, expect) in cases {
        cli.run(["cache", "clear"]).succeeded();
        let server = ChatServer::start(plays);
        run(&cli, &server, &[&args[..1], &[QUESTION], &args[1..]].concat()).succeeded();
        assert_eq!(skills(&server), expect, "{args:?}");
    }
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_useless_model_leaves_the_results_of_the_search() {
    let cli = indexed();
    let plain = cli.json(&["search", QUESTION]);
    let nonsense = [
        parts(&[]),
        parts(&["Which mill did #1 build?", "Who?"]),
        parts(&["a"; 40]),
        // Well-formed parts, but of another question.
        parts(&["Who founded Rome?", "Where is Pale Weir?", "Who is Tom Reed?", "Is #3 an engineer?", "Who? ", "Why?"]),
        Play::Says("First, who was born there?".to_owned()),
        Play::Closes,
        Play::BreaksOff,
        Play::Bytes(10 << 20),
        Play::Responds(500, "Retry-After: 0\r\n", String::new()),
    ];
    for play in nonsense {
        cli.run(["cache", "clear"]).succeeded();
        let shown = format!("{play:?}").chars().take(100).collect::<String>();
        let server = ChatServer::start([play]);
        let found = found(&cli, &server, &["--decompose"]);
        assert_eq!(names(&found), names(&plain), "{shown}");
        let skill = &found["ledger"]["work"]["skills"]["decompose"];
        assert_eq!((&skill["asked"], &skill["unusable"]), (&json!(1), &json!(1)), "{shown}");
        assert!(skill["last"].is_string() && found["ledger"].get("parts").is_none(), "{shown}: {found}");
    }
    // A single part is the question itself.
    let server = ChatServer::start([parts(&[QUESTION])]);
    assert_eq!(names(&found(&cli, &server, &["--decompose"])), names(&plain));
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_useless_reader_is_replaced_by_the_rule() {
    // None of these can be confirmed: a guess, a passage that does not exist, an instruction that was obeyed.
    let responds = |status, body: &str| Play::Responds(status, "Retry-After: 0\r\n", body.to_owned());
    let wrong = [reads(&[("Tom Hardy", 1)]), reads(&[("Ada Lorne", 9)]), reads(&[]), Play::Says("Ada".to_owned())];
    let whole = said("{\"answers\": [");
    let faults = [
        Play::Closes,
        Play::BreaksOff,
        Play::Bytes(10 << 20),
        Play::Silent,
        Play::Drips,
        responds(400, ""),
        responds(429, ""),
        responds(500, ""),
        responds(503, ""),
        responds(200, "<html>"),
        responds(200, ""),
        responds(200, &whole[..whole.len() / 2]),
        responds(200, &whole.repeat(2)),
        responds(200, &whole.replace("\"stop\"", "\"length\"")),
        responds(200, &whole.replace("\"stop\"", "\"content_filter\"")),
    ];
    // At most one repair, or as many calls as retries allow.
    let plays = wrong.into_iter().map(|play| (play, 3)).chain(faults.into_iter().map(|play| (play, 6)));
    at_once(plays, |(play, calls_max)| {
        let cli = indexed();
        cli.configure("[model]\ntimeout_s = 2");
        let server = ChatServer::start([taken_apart(), play]);
        let found = found(&cli, &server, &["--decompose"]);
        let answers = &found["ledger"]["parts"][0]["answers"];
        assert_eq!((&answers[0]["text"], &answers[0]["by"]), (&json!("Ada Lorne"), &json!("rule")), "{answers}");
        assert!(server.asked().len() <= calls_max, "{} calls", server.asked().len());
    });
}

#[test]
fn calls_end_where_they_may_and_the_trace_says_why() {
    let cli = indexed();
    let server = ChatServer::start([taken_apart(), Play::Says("Ada".to_owned())]);
    // Repairing what was read would be the third call.
    let found = found(&cli, &server, &["--decompose", "--max-calls", "2"]);
    assert_eq!(server.asked().len(), 2);
    assert_eq!(found["ledger"]["work"]["stop"], "calls");
    cli.run(["cache", "clear"]).succeeded();
    server.play([taken_apart(), Play::Says("Ada".to_owned())]);
    let said = run(&cli, &server, &["search", QUESTION, "--decompose", "--max-calls", "2"]).succeeded();
    assert!(said.stderr.contains("no more calls: the calls allowed for the question are used up"), "{said:#?}");
}

#[test]
fn a_model_that_never_answers_costs_its_share_of_the_time_and_not_the_search() {
    let cli = indexed();
    let plain = cli.json(&["search", QUESTION]);
    let server = ChatServer::start([Play::Silent]);
    let began = Instant::now();
    let found = found(&cli, &server, &["--decompose", "--pick", "--deadline", "4"]);
    assert!(began.elapsed().as_secs() < 30, "{:?}", began.elapsed());
    assert_eq!((names(&found), &found["ledger"]["work"]["stop"]), (names(&plain), &json!("deadline")));
    assert_eq!(found["ledger"]["pick"]["degraded"], "its time is used up");
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn what_was_recorded_is_said_again_to_an_evaluation() {
    let cli = indexed();
    let question = json!({
        "id": "1", "question": QUESTION, "supporting": ["notes/mill.txt", "notes/ada.txt"],
        "decomposition": [
            { "question": "Who was born in Eaststead?", "answer": "Ada Lorne" },
            { "question": "Which mill did #1 build?", "answer": "Harl Mill" },
        ],
    });
    cli.write("questions.jsonl", question.to_string());
    let eval = ["eval", "retrieval", "--questions", "questions.jsonl", "--decompose", "--pick"];
    let recorded = ["--recorded", "questions.jsonl", "--simulate", "1"];
    let said = cli.run([&eval[..], &recorded, &["--json"]].concat()).succeeded();
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_valid("eval-retrieval", &report);
    assert_eq!(report["work"]["calls_per_question"], 3.0);
    let skills: Vec<&str> = report["work"]["skills"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(skills, ["decompose", "pick", "read"]);
    assert_eq!(report["metrics"]["recall@2"]["mean"], 100.0);
    let note = report["notes"][0].as_str().unwrap();
    assert!(note.starts_with("no model was asked: recorded replies are replayed; a judge"), "{note}");
    assert_eq!(cli.run([&eval[..], &["--simulate", "1.2"]].concat()).status, Some(3));
    let answers = ["eval", "answers", "--questions", "questions.jsonl", "--simulate", "1"];
    assert_eq!(cli.run(answers).status, Some(2));
    // There is no model, simulated or real.
    let refused = cli.run(eval);
    assert_eq!(refused.status, Some(2), "{refused:#?}");
    assert!(refused.stderr.contains("--simulate <P>"), "{refused:#?}");
}

#[test]
fn with_the_settings_of_the_paper_parts_take_turns_and_nothing_is_answered() {
    let cli = indexed();
    let server = ChatServer::start([taken_apart()]);
    let found = found(&cli, &server, &["--strategy", "hybrid", "--paper", "--decompose"]);
    assert_eq!(skills(&server), ["decompose"]);
    let asked = json!([QUESTION, "Who was born in Eaststead?", "Which mill did build?"]);
    assert_eq!(found["ledger"]["asked"], asked);
    assert_eq!(names(&found)[..2], ["Ada Lorne", "Harl Mill"]);
}
