//! Replies whose connection fails at the end, and calls that end without a reply: what was paid for is kept or
//! reported.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::asking::{QUESTION, ask, indexed};
use super::generating::{index, report_of, status_of, two_mills, written};
use super::{faults, served};
use crate::support::chat::{Afterwards, Answers, ChatServer, Play, said, streamed};
use crate::support::{CommandOutput, at_once, block_on, engine};

fn answer() -> String {
    json!({ "can_answer": true, "short": "", "sentences": [{ "text": "Ada Lorne built Harl Mill.", "passages": [1] }] })
        .to_string()
}

/// A complete body in a response that promises more.
fn whole_body(afterwards: Afterwards) -> Play {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n";
    Play::Sends(format!("{head}{}", said(&answer())), afterwards)
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_reply_that_came_whole_is_kept_though_its_connection_stays_open_or_breaks() {
    let finish = r#"{"choices": [{"delta": {}, "finish_reason": "stop"}]}"#;
    let answer = answer();
    let (one, other) = answer.split_at(40);
    let stream = |end: &[&str], afterwards| Play::Sends(streamed(&[one, other], end), afterwards);
    for (play, flags) in [
        (stream(&[finish, "[DONE]"], Afterwards::Open), ["--stream"]),
        (stream(&[finish], Afterwards::Open), ["--stream"]),
        (stream(&[finish], Afterwards::Reset), ["--stream"]),
        (whole_body(Afterwards::Open), ["--no-stream"]),
        (whole_body(Afterwards::Reset), ["--no-stream"]),
    ] {
        let shown = format!("{play:?}").replace('\\', "");
        let (cli, server) = (indexed(), ChatServer::start([play]));
        let began = Instant::now();
        let said = ask(&cli, &server, &flags).succeeded();
        assert!(said.stdout.starts_with("Ada Lorne built Harl Mill. [1]"), "{shown}: {said:#?}");
        assert!(began.elapsed() < Duration::from_secs(30), "{shown}");
        ask(&cli, &server, &flags).succeeded();
        assert_eq!(server.asked().len(), 1, "{shown}");
    }
}

#[test]
fn what_a_gateway_may_have_done_is_charged_and_not_sent_again() {
    for status in [502, 504, 524] {
        let cli = two_mills();
        let server = ChatServer::start([Play::Responds(status, "", String::new())]);
        let report = report_of(&cli, &server, &["--budget", "1calls"]);
        assert_eq!(server.asked().len(), 1, "{status}");
        assert_eq!((&report["model"]["spent"]["lost"], &report["model"]["left"]), (&json!(1), &json!(1)), "{report}");
    }
}

#[test]
fn calls_without_a_reply_are_reported_at_an_unknown_cost() {
    let cli = two_mills();
    let server = ChatServer::start([Play::Closes]);
    let said = index(&cli, &server, &[]).succeeded();
    assert!(said.stderr.contains("0 calls, 2 calls without a reply that may have cost something"), "{said:#?}");
    assert_eq!(status_of(&cli)["spent"][0]["lost"], 2);
    let shown = cli.run(["status"]).succeeded().stdout;
    assert!(shown.contains("2 calls without a reply"), "{shown}");

    let (cli, server) = (indexed(), ChatServer::start([Play::BreaksOff]));
    let said = ask(&cli, &server, &[]).succeeded();
    assert!(said.stderr.contains("1 call without a reply that may have cost something"), "{said:#?}");
    // A call that a deadline cuts off is counted, too.
    let (cli, server) = (indexed(), ChatServer::start([Play::Silent]));
    let said = ask(&cli, &server, &["--deadline", "3"]).succeeded();
    assert!(said.stderr.contains("1 call without a reply"), "{said:#?}");
}

#[test]
fn what_a_server_says_of_a_fault_is_said_wherever_it_says_it() {
    let error = r#"{"error": {"message": "as played", "code": 400}}"#;
    let streamed = streamed(&["{"], &[r#"{"error": {"message": "as played"}}"#]);
    for (play, flag) in [
        (Play::Responds(200, "", error.to_owned()), "--no-stream"),
        (Play::Responds(200, "", r#"{"error": "as played"}"#.to_owned()), "--no-stream"),
        (Play::Sends(streamed, Afterwards::Open), "--stream"),
    ] {
        let (cli, server) = (indexed(), ChatServer::start([play]));
        let said = ask(&cli, &server, &[flag]).succeeded();
        assert!(said.stderr.contains("as played"), "{said:#?}");
        assert_eq!(server.asked().len(), 1);
    }
    // A busy gateway may say so only in the body.
    let busy = Play::Responds(200, "", r#"{"error": {"message": "later", "code": 429}}"#.to_owned());
    let (cli, server) = (indexed(), ChatServer::start([busy, Play::Says(answer())]));
    let said = ask(&cli, &server, &[]).succeeded();
    assert!(said.stdout.starts_with("Ada Lorne built Harl Mill. [1]"), "{said:#?}");
}

/// A server that handles one call at a time, each for some time, in the order in which they came.
fn serial(milliseconds: u64) -> Play {
    let (came, next, is_next) = (AtomicU64::new(0), Mutex::new(0), Condvar::new());
    Play::Answers(Answers::new(move |body: &Value| {
        let place = came.fetch_add(1, Ordering::Relaxed);
        let mut next = is_next.wait_while(next.lock().unwrap(), |next| *next != place).unwrap();
        std::thread::sleep(Duration::from_millis(milliseconds));
        *next += 1;
        is_next.notify_all();
        said(&written(&super::generating::name_of(body)))
    }))
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_server_that_takes_one_call_at_a_time_is_not_asked_for_more_than_it_can_do_in_time() {
    // First with the default, since no number is set. Then with a number that is set: time counts from when earlier
    // calls are answered.
    let indexes_all = |settings: &str| {
        let cli = super::generating::mills();
        cli.configure(format!("[model]\ntimeout_s = 10\n{settings}"));
        let server = ChatServer::start([serial(1_000)]);
        let report = report_of(&cli, &server, &[]);
        assert_eq!((&report["model"]["written"], &report["model"]["failed"]), (&json!(12), &json!([])), "{report}");
        assert_eq!(server.asked().len(), 12, "{settings}");
    };
    at_once(["", "concurrency = 12"], indexes_all);
}

#[test]
fn a_question_that_a_fault_interrupts_is_answered_by_quotation_and_counts_the_call() {
    let cli = indexed();
    let engine = engine(&cli.folder().join(".cairn"));
    for play in faults() {
        let server = ChatServer::start([play]);
        let answer = block_on(served(&engine, &server).ask(QUESTION, &cairn::AskOptions::default())).unwrap();
        let spent = &answer.writing.unwrap().spent;
        assert!(spent.calls + spent.lost > 0 || !server.asked().is_empty());
    }
}

#[test]
fn a_recording_is_not_written_over_and_says_what_to_do() {
    let (cli, server) = (indexed(), ChatServer::start([Play::Says(answer())]));
    cli.write("calls.jsonl", "kept");
    let args = ["ask", QUESTION, "--model", "played", "--record", "calls.jsonl"];
    let said = CommandOutput::of(cli.command(args).env("CAIRN_MODEL_URL", &server.url).output().unwrap());
    assert_eq!((said.status, server.asked().len()), (Some(3), 0), "{said:#?}");
    assert!(said.stderr.contains("calls.jsonl") && said.stderr.contains("another"), "{said:#?}");
    assert_eq!(std::fs::read_to_string(cli.folder().join("calls.jsonl")).unwrap(), "kept");
}

#[test]
fn a_run_says_beforehand_whether_it_fits_into_a_budget() {
    let (cli, server) = (two_mills(), ChatServer::start([Play::Silent]));
    let fits = |budget: &str| index(&cli, &server, &["--dry-run", "--budget", budget]).succeeded().stdout;
    assert!(fits("1e6tok").contains("fits into the budget"), "{}", fits("1e6tok"));
    assert!(fits("1calls").contains("does not fit into the budget"), "{}", fits("1calls"));
    assert_eq!(server.asked().len(), 0);
}
