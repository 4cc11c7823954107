//! Hours of kills, failing system calls, flipped bits, forged indexes, hostile documents and mutated inputs, each
//! thousands of times, with a report card at the end.
//!
//! ```text
//! cargo test --test torture -- --ignored                every part
//! cargo test --test torture -- --ignored kills crafted  those whose names contain a word
//! ```
//!
//! `cargo test` compiles it and runs nothing. It has a runner of its own because the report card covers all parts,
//! which tests of the usual runner could not wait for. How often each part tries is set in the environment, see
//! [`run::Run::count`].
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod card;
mod crafted;
mod documents;
mod flips;
mod hostile;
mod kills;
mod mutated;
mod program;
mod publishers;
mod readers;
mod run;
mod seeds;
mod syscalls;
mod template;

// What only the other tests use is not dead code there.
#[allow(dead_code, unused_imports, reason = "shared with the tests that `cargo test` runs")]
#[path = "../it/support/mod.rs"]
mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

use card::Card;
use run::{Run, Tally};

/// A promise to users, and what tries to break it.
pub(crate) struct Suite {
    /// The name by which it is selected.
    pub(crate) name: &'static str,
    /// The promise.
    pub(crate) promise: &'static str,
    /// The function that tries to break it.
    pub(crate) run: fn(&Run) -> Tally,
}

/// The parts, beginning with those that find most.
const PARTS: [Suite; 14] = [
    kills::PART,
    publishers::EDITS,
    readers::PART,
    syscalls::WRITING,
    syscalls::READING,
    flips::PART,
    crafted::FILES,
    crafted::TABLES,
    crafted::PLACES,
    mutated::PART,
    hostile::PART,
    documents::PART,
    publishers::PART,
    publishers::PARITY,
];

fn main() -> ExitCode {
    let mut words = Vec::new();
    let mut is_asked = false;
    let mut is_list = false;
    for arg in std::env::args().skip(1) {
        match arg.as_str() {
            "--ignored" | "--include-ignored" => is_asked = true,
            "--list" => is_list = true,
            "--seeds" => {
                for path in seeds::write() {
                    println!("{}", path.display());
                }
                return ExitCode::SUCCESS;
            }
            // Meant for the usual runner: `cargo test -- --nocapture` starts every test binary with it.
            flag if flag.starts_with('-') => {}
            _ => words.push(arg),
        }
    }
    let is_chosen = |part: &&Suite| words.is_empty() || words.iter().any(|word| part.name.contains(word.as_str()));
    if is_list {
        for part in &PARTS {
            println!("{}: test", part.name);
        }
        return ExitCode::SUCCESS;
    }
    if !is_asked {
        println!("torture: {} parts left out; run them with --ignored", PARTS.len());
        return ExitCode::SUCCESS;
    }
    let run = Run::from_environment();
    println!("seed {}, {} at a time", run.seed, run.threads);
    let mut card = Card::new(&run);
    PARTS.iter().filter(|part| !is_chosen(part)).for_each(|part| card.leave_out(part, "it was not asked for"));
    PARTS.iter().filter(is_chosen).for_each(|part| card.leave_out(part, "the run was ended before it"));
    for part in PARTS.iter().filter(is_chosen) {
        println!("\n{}: {}", part.name, part.promise);
        let began = Instant::now();
        let tally = catch_unwind(AssertUnwindSafe(|| (part.run)(&run))).unwrap_or_else(|panic| broken_off(&*panic));
        card.add(part, tally, began.elapsed());
        // After each part, so that a run that is ended early has its card, too.
        card.write();
    }
    let path = card.write();
    println!("\n{}\nwritten to {}", card.text(), path.display());
    if card.has_offenders() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Returns the result of a part that panicked.
fn broken_off(panic: &(dyn std::any::Any + Send)) -> Tally {
    let said = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    let mut tally = Tally::default();
    tally.offend(format!("the part broke off: {}", said.unwrap_or("no reason")));
    tally
}
