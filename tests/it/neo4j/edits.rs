//! Any sequence of edits, runs and publishes, some of them killed, leads to the graph of the final state.
#![cfg(unix)]

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use cairn::Sources;

use crate::incremental::edits::{Collection, found, kill, kill_a_run};
use crate::support::neo4j::{Database, database};
use crate::support::{Cli, Random, at_most, canonical, first_seed, index};

use super::assert_whole;

/// Edits of one collection, before its graph is compared.
const STEPS: usize = 8;
/// Minimum collections; `--test torture` continues.
const COLLECTIONS_LEAST: u64 = 2;

/// The status of what is refused.
const REFUSED: i32 = 3;

/// What was tried.
#[derive(Default)]
struct Tried {
    edits: usize,
    publishes: usize,
    /// Publishes that were killed.
    killed: usize,
}

/// Edits, indexes and publishes a collection to an empty database; a clone must equal an index of the final state.
fn check(database: &Database, seed: u64, tried: &mut Tried) {
    let cli = Cli::new();
    let [source, path, cloned, fresh] = ["harbor", ".cairn", "cloned", "fresh"].map(|name| cli.folder().join(name));
    let sources = Sources::folder(&source);
    let publish = ["publish", "--neo4j", &database.uri];
    let mut random = Random::new(seed);
    let mut collection = Collection::new();
    collection.write(&source);
    index(&path, &sources);
    let began = Instant::now();
    cli.json(&publish);
    // How long a publish of a change takes becomes known when a kill comes too late.
    let mut usual = began.elapsed();
    let (mut done, mut is_unfinished) = (Vec::new(), false);
    for _ in 0..STEPS {
        done.push(collection.edit(&mut random).0);
        collection.write(&source);
        tried.edits += 1;
        match random.below(5) {
            // The next run has several edits.
            0 => {}
            1 => {
                done.push("a killed run");
                kill_a_run(&source, &path, &mut random);
                is_unfinished = true;
            }
            _ => {
                done.push("a run");
                index(&path, &sources);
                is_unfinished = false;
            }
        }
        // What a killed run did is not published before a run finishes it.
        let is_right = |status: ExitStatus| status.success() || (is_unfinished && status.code() == Some(REFUSED));
        let mut command = cli.command(publish);
        let status = match random.below(4) {
            0 => continue,
            1 => {
                done.push("a publish");
                command.output().unwrap().status
            }
            _ => {
                done.push("a killed publish");
                kill(&mut command, usual, &mut random)
            }
        };
        let was_killed = status.signal().is_some();
        usual = usual.mul_f64(if was_killed { 1.1 } else { 0.7 });
        tried.publishes += usize::from(status.success());
        tried.killed += usize::from(was_killed);
        assert!(was_killed || is_right(status), "seed {seed}: {done:?}: {status}");
    }
    index(&path, &sources);
    cli.json(&publish);
    tried.publishes += 1;
    assert_whole(&cli, database);
    cli.run(["clone", &database.uri, "cloned"]).succeeded();
    index(&fresh, &sources);
    assert!(canonical(&cloned) == canonical(&fresh), "seed {seed}: {done:?}");
    assert_eq!(found(&cloned), found(&fresh), "seed {seed}: {done:?}");
}

/// `--test torture` goes on for as long as it is given.
#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn after_any_edits_and_publishes_a_clone_of_the_graph_is_the_index_of_the_final_state() {
    let began = Instant::now();
    let mut tried = Tried::default();
    let mut seed = first_seed();
    while seed < first_seed() + COLLECTIONS_LEAST || began.elapsed() < at_most(Duration::ZERO) {
        // An empty one for each.
        let Some(database) = database() else { return };
        check(&database, seed, &mut tried);
        seed += 1;
    }
    let Tried { edits, publishes, killed } = tried;
    assert!(publishes > 2 && killed > 0, "{publishes} publishes, {killed} killed");
    println!("{edits} edits made, {publishes} graphs published, {killed} publishers killed");
}
