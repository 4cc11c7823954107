//! Servers that are paused, killed, restarted, or have lost an index, while an engine stays open.
#![cfg(unix)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cairn::{Answer, ErrorKind, QueryEngine, Result};
use tokio::runtime::Runtime;

use crate::support::Cli;
use crate::support::bolt::{Cut, Proxy};
use crate::support::neo4j::{Server, database_to_reshape, harbor_database, server};

use super::answering::QUESTIONS;
use super::faults::{open, told};
use super::{indexed_mill, published, write_harbor};

/// The deadline of a question while the server is paused.
const DEADLINE: Duration = Duration::from_millis(500);
/// How much later the error may come: far less than anything else waits.
const LATE_MAX: Duration = Duration::from_secs(5);
/// When a question without a deadline is given up if nobody answers any more.
const GIVEN_UP_MAX: Duration = Duration::from_secs(15);
/// How long a server or an index may take to come back.
const BACK_MAX: Duration = Duration::from_mins(3);

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

/// A server that can be paused and resumed, stopped and restarted, as its clients see it.
trait Outages {
    fn pause(&mut self);
    fn go_on(&mut self);
    fn end(&mut self);
    fn come_back(&mut self);
}

impl Outages for Server {
    fn pause(&mut self) {
        Self::pause(self);
    }

    fn go_on(&mut self) {
        Self::go_on(self);
    }

    fn end(&mut self) {
        self.kill();
    }

    fn come_back(&mut self) {
        self.resume();
    }
}

impl Outages for Proxy {
    fn pause(&mut self) {
        self.after(0, Cut::Held);
    }

    fn go_on(&mut self) {
        self.release();
    }

    fn end(&mut self) {
        self.after(0, Cut::Gone);
    }

    fn come_back(&mut self) {
        self.release();
    }
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn connections_that_are_held_up_or_lost_give_errors_in_time_and_right_answers_after() {
    let Some((database, cli)) = harbor_database() else { return };
    let mut proxy = Proxy::start_whole(&database.uri);
    let uri = proxy.uri.clone();
    gives_errors_in_time_and_right_answers_after(&cli, &uri, &mut proxy);
}

fn gives_errors_in_time_and_right_answers_after(cli: &Cli, uri: &str, server: &mut dyn Outages) {
    let runtime = runtime();
    let engine = runtime.block_on(open(uri));
    let ask = |deadline| runtime.block_on(told(&engine, QUESTIONS[0], deadline));
    let expected = ask(None).unwrap();

    // While it is paused, its connections stay open and accept data.
    server.pause();
    // More often than there are connections.
    for _ in 0..5 {
        let began = Instant::now();
        let error = ask(Some(DEADLINE)).expect_err("nobody answers");
        assert_eq!(error.kind(), ErrorKind::Deadline, "{error}");
        assert!(began.elapsed() < DEADLINE + LATE_MAX, "{:?}", began.elapsed());
    }
    let began = Instant::now();
    let said = cli.run(["ask", QUESTIONS[0], "--neo4j", uri, "--deadline", "0.5"]);
    assert!(said.status == Some(11) && said.stderr.contains("opening the index"), "{said:#?}");
    assert!(began.elapsed() < DEADLINE + LATE_MAX, "{:?}", began.elapsed());
    server.go_on();
    assert_eq!(ask(None).unwrap(), expected);

    // This engine is asked continuously while the server goes and comes back, the other one before and after.
    let busy = runtime.block_on(open(uri));
    let outage = Arc::new(Outage::default());
    let asking = runtime.spawn(asked_until_back(busy, Arc::clone(&outage)));
    let began = Instant::now();
    while !outage.is_answered.load(Ordering::SeqCst) && began.elapsed() < BACK_MAX {
        thread::sleep(Duration::from_millis(10));
    }
    server.end();
    outage.is_killed.store(true, Ordering::SeqCst);
    let began = Instant::now();
    let error = ask(None).expect_err("nobody is there");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(began.elapsed() < GIVEN_UP_MAX, "{:?}", began.elapsed());
    let began = Instant::now();
    while !outage.has_failed.load(Ordering::SeqCst) && began.elapsed() < BACK_MAX {
        thread::sleep(Duration::from_millis(10));
    }
    server.come_back();
    assert_eq!(ask(None).unwrap(), expected);
    let (right, failed): (Vec<_>, Vec<_>) = runtime.block_on(asking).unwrap().into_iter().partition(Result::is_ok);
    assert!(right.len() > 1 && !failed.is_empty(), "{} right, {} failed", right.len(), failed.len());
    for answer in right {
        assert_eq!(answer.unwrap(), expected);
    }
    for error in failed.into_iter().map(Result::unwrap_err) {
        assert!(matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Deadline), "{error}");
    }
}

/// The progress of an outage.
#[derive(Default)]
struct Outage {
    /// Whether a question was answered.
    is_answered: AtomicBool,
    /// Whether the server was killed after that.
    is_killed: AtomicBool,
    /// Whether a question has failed after that.
    has_failed: AtomicBool,
}

/// Asks continuously until the server was killed, a question has failed, and the server is back.
async fn asked_until_back(engine: QueryEngine, outage: Arc<Outage>) -> Vec<Result<Answer>> {
    let began = Instant::now();
    let mut answers = Vec::new();
    let mut has_failed = false;
    while began.elapsed() < BACK_MAX {
        let is_killed = outage.is_killed.load(Ordering::SeqCst);
        answers.push(told(&engine, QUESTIONS[0], Some(DEADLINE)).await);
        let is_right = answers.last().is_some_and(Result::is_ok);
        outage.is_answered.fetch_or(is_right, Ordering::SeqCst);
        if has_failed && is_right {
            break;
        }
        has_failed |= is_killed && !is_right;
        outage.has_failed.store(has_failed, Ordering::SeqCst);
    }
    answers
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn an_index_that_was_dropped_is_named_until_it_is_made_again() {
    let Some(database) = database_to_reshape() else { return };
    let cli = indexed_mill();
    published(&cli, &database);
    let runtime = runtime();
    let engine = runtime.block_on(open(&database.uri));
    let ask = || runtime.block_on(told(&engine, "Who built Harl Mill?", None));
    let expected = ask().unwrap();
    database.rows("DROP INDEX cairn_incoming_embedding");
    let error = ask().expect_err("an index is not there");
    let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
    assert!(error.kind() == ErrorKind::Corrupt && cause.ends_with("cairn_incoming_embedding"), "{error}: {cause}");
    cli.json(&["check", "--neo4j", &database.uri, "--repair"]);
    // It may not be filled yet.
    let began = Instant::now();
    let mut answered = ask();
    while answered.as_ref().is_err_and(|error| error.kind() == ErrorKind::Corrupt) && began.elapsed() < BACK_MAX {
        answered = ask();
    }
    assert_eq!(Answer { version: expected.version, ..answered.unwrap() }, expected);
}

mod long_tests {
    use super::*;

    #[test]
    #[ignore = "it starts a server of its own: `--test torture` runs it"]
    fn a_server_that_is_paused_or_killed_gives_errors_in_time_and_right_answers_after() {
        let home = tempfile::tempdir().unwrap();
        let Some(mut server) = server(home.path(), "") else { return };
        let cli = Cli::new();
        write_harbor(&cli);
        cli.json(&["index", "harbor"]);
        let uri = server.uri();
        cli.json(&["publish", "--neo4j", &uri]);
        gives_errors_in_time_and_right_answers_after(&cli, &uri, &mut server);
    }
}
