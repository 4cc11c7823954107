//! Publishers, servers and connections that are killed, cut or read concurrently: the open-ended Neo4j tests, and those
//! that `cargo test` leaves out.

use std::process::Command;

use crate::Suite;
use crate::run::{Run, Tally};

/// Minutes for each of the tests, unless `CAIRN_TORTURE_MINUTES` gives another number.
const MINUTES: u64 = 20;
/// The tests, among those that `cargo test` runs for seconds or leaves out.
const TESTS: [&str; 12] = [
    "neo4j::disk",
    "neo4j::kills",
    "neo4j::cuts",
    "neo4j::readers",
    "neo4j::outages",
    "neo4j::paths",
    "neo4j::faults",
    "neo4j::load",
    "neo4j::walking",
    "neo4j::graphrag",
    "neo4j::earlier",
    "neo4j::refusals",
];
/// What they print about their work: the words after a number, and what that number counts.
const SAID: [(&str, &str); 8] = [
    (" edits made", "edits made"),
    (" graphs published", "graphs published"),
    (" pairs compared", "pairs of ends asked for paths by Cypher and in memory"),
    (" publishers killed", "publishers killed"),
    (" servers killed", "servers killed"),
    (" connections cut", "connections cut"),
    (" reads of the graph", "reads beside a publisher"),
    (" versions read", "versions read"),
];

pub(crate) const PART: Suite = Suite {
    name: "publishers",
    promise: "If a publisher, a server or a connection ends at any moment, the next publish completes the graph, and \
        every read is of one version.",
    run,
};

/// `cargo test` compares the two on one collection only.
pub(crate) const PARITY: Suite = Suite {
    name: "parity",
    promise: "`trail` finds at least what the prototype of its walk found, on three collections, with titles and \
        without.",
    run: |run| run_tests(run, &["parity"]),
};

/// `cargo test` makes a few dozen edits.
pub(crate) const EDITS: Suite = Suite {
    name: "edits",
    promise: "After any edits, killed runs and killed publishes, an index, and a clone of its published graph, equal, \
        in export and in what searches find, an index that was made of the final state.",
    run: |run| run_tests(run, &["incremental::edits", "neo4j::edits"]),
};

fn run(run: &Run) -> Tally {
    run_tests(run, &TESTS)
}

/// Runs tests of the other binary for the given time.
fn run_tests(run: &Run, tests: &[&str]) -> Tally {
    let mut tally = Tally::default();
    let minutes = run.count("MINUTES", MINUTES);
    if minutes == 0 {
        tally.leave_out("CAIRN_TORTURE_MINUTES is 0");
        return tally;
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["test", "--test", "it", "--"]).args(tests).args(["--include-ignored", "--nocapture"]);
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env("CAIRN_TEST_MINUTES", minutes.to_string());
    command.env("CAIRN_TEST_SEED", (run.seed & u64::from(u32::MAX)).to_string());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    for line in said.lines() {
        if let Some((_, why)) = line.split_once("LEFT OUT: ") {
            tally.leave_out(why);
        }
        for (words, what) in SAID {
            let number =
                line.split_once(words).and_then(|(before, _)| before.split([' ', ',']).next_back()?.parse().ok());
            if let Some(number) = number {
                tally.count(what, number);
            }
        }
        let is_failure = line.starts_with("test ") && line.ends_with("FAILED");
        // Where a test draws its cases, its message begins with the seed.
        if is_failure || line.starts_with("seed ") {
            tally.offend(line);
        }
    }
    if !output.status.success() && tally.offender_count == 0 {
        tally.offend(format!("the tests ended with {}: {}", output.status, said.lines().last().unwrap_or("")));
    }
    tally
}
