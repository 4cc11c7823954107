//! Indexing runs that are killed.

use std::time::Duration;

use crate::Suite;
use crate::run::{Run, Tally};
use crate::support::Random;
use crate::support::killing::kill_writers;

/// Kills of one index, before it is compared with an undisturbed one.
const KILLS_OF_A_SERIES: u64 = 20;

/// What says that runs began with a version that has segments.
const SEGMENTED: &str = "runs after a version with segments";

pub(crate) const PART: Suite = Suite {
    name: "kills",
    promise: "A run killed at any moment loses and duplicates nothing: the last version stays readable, and the next \
        run produces what this one would have.",
    run,
};

fn run(run: &Run) -> Tally {
    let kills = run.count("KILLS", 2_000);
    let series = |_number: u64, random: &mut Random, tally: &mut Tally| {
        let came = kill_writers(random, KILLS_OF_A_SERIES.min(kills), Duration::from_mins(10));
        tally.count("runs killed", came.killed);
        tally.count("runs faster than the kill", came.finished);
        tally.count(SEGMENTED, came.segmented);
        tally.count("documents to be indexed by them", came.documents);
        tally.count("indexes compared with a clean one", 1);
    };
    let mut tally = run.each("kills", kills.div_ceil(KILLS_OF_A_SERIES), series);
    let segmented = tally.done.iter().any(|(what, count)| *what == SEGMENTED && *count > 0);
    if !segmented && kills >= KILLS_OF_A_SERIES {
        tally.offend("no run began with a version that has segments");
    }
    tally
}
