//! Publishers and servers that are killed: publishing again gives the same graph.
#![cfg(unix)]

use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use cairn::neo4j::{Session, Target, canonical_lines};

use crate::support::neo4j::{bare_database, database, rows, server};
use crate::support::{Cli, Random, at_most, block_on, canonical};

use super::{assert_whole, indexed_mill, write_harbor};

/// Minimum publishers that are killed; `--test torture` continues.
const KILLS_LEAST: usize = 3;
/// Minimum servers that are killed.
const SERVERS_LEAST: usize = 1;

/// Empties a database, keeping its schema.
const FORGET: &str = "MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS";

/// Changes, adds or removes a few documents.
fn edit(cli: &Cli, random: &mut Random) {
    for _ in 0..3 {
        let number = random.below(1_000_000);
        let path = cli.folder().join(format!("harbor/note-{}.txt", random.below(6)));
        if random.below(3) == 0 && path.exists() {
            std::fs::remove_file(path).unwrap();
        } else {
            std::fs::write(path, format!("Note {number}\n\nHeron Bridge was painted {number} times.")).unwrap();
        }
    }
    cli.json(&["index", "harbor"]);
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn after_a_publisher_is_killed_at_any_moment_the_next_publish_completes_the_graph() {
    let Some(database) = database() else { return };
    let seed = 11;
    let mut random = Random::new(seed);
    let cli = Cli::new();
    write_harbor(&cli);
    cli.json(&["index", "harbor"]);
    // The server is slow the first time; the second time shows how long a publish takes.
    cli.json(&["publish", "--neo4j", &database.uri]);
    database.rows(FORGET);
    let began = Instant::now();
    cli.json(&["publish", "--neo4j", &database.uri]);
    let whole = began.elapsed();
    let (mut killed, mut finished) = (0, 0);
    // How long a publish of a few changes takes becomes known when a kill comes too late.
    let mut usual = whole;
    let began = Instant::now();
    while killed < KILLS_LEAST || began.elapsed() < at_most(Duration::ZERO) {
        // Some are completed at once, some only after further changes.
        if random.below(4) > 0 {
            edit(&cli, &mut random);
        }
        let is_first_load = random.below(8) == 0;
        if is_first_load {
            // From an empty database, with all steps of a first load.
            database.rows(FORGET);
        }
        let mut command = cli.command(["publish", "--neo4j", &database.uri]);
        let mut publisher = command.stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        // The moment itself is tested: there is nothing to wait for.
        let longest = if is_first_load { whole } else { usual };
        thread::sleep(longest.mul_f64(random.below(1000) as f64 / 1000.0));
        publisher.kill().unwrap();
        let status = publisher.wait().unwrap();
        if status.signal().is_some() {
            killed += 1;
            usual = usual.mul_f64(1.1);
        } else {
            finished += 1;
            usual = usual.mul_f64(if is_first_load { 1.0 } else { 0.7 });
            assert!(status.success(), "seed {seed}: {status}");
        }
        if random.below(4) == 0 {
            cli.json(&["publish", "--neo4j", &database.uri]);
            assert_whole(&cli, &database);
        }
    }
    println!("{killed} publishers killed, {finished} finished");
    cli.json(&["publish", "--neo4j", &database.uri]);
    assert_whole(&cli, &database);
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn an_index_without_its_constraint_is_no_obstacle() {
    let Some(database) = bare_database() else { return };
    let cli = indexed_mill();
    // What a server leaves if it is killed while it creates the constraint.
    database.rows("CREATE INDEX cairn_own FOR (n:_Cairn) ON (n.id, n.cairnSince)");
    cli.json(&["publish", "--neo4j", &database.uri]);
    assert_whole(&cli, &database);
    assert_eq!(database.count("SHOW CONSTRAINTS YIELD name WHERE name = 'cairn_own' RETURN count(*) AS n"), 1);
}

mod long_tests {
    use super::*;

    #[test]
    #[ignore = "it starts a server of its own: `--test torture` runs it"]
    fn a_server_that_is_killed_is_published_to_again_and_holds_the_same() {
        let seed = 13;
        let mut random = Random::new(seed);
        let home = tempfile::tempdir().unwrap();
        let Some(mut server) = server(home.path(), "") else { return };
        let cli = Cli::new();
        write_harbor(&cli);
        cli.json(&["index", "harbor"]);
        let (mut round, began) = (0, Instant::now());
        while round < SERVERS_LEAST || began.elapsed() < at_most(Duration::ZERO) {
            let mut command = cli.command(["publish", "--neo4j", &server.uri()]);
            let mut publisher = command.stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
            thread::sleep(Duration::from_millis(100 + random.below(1_500) as u64));
            server.kill();
            server.resume();
            // If the server is back in time, publishing continues by itself; otherwise, the next publish completes it.
            if round % 3 == 1 {
                publisher.kill().unwrap();
            }
            publisher.wait().unwrap();
            cli.json(&["publish", "--neo4j", &server.uri()]);
            let target = Target::parse(&server.uri()).unwrap();
            let held = block_on(async { canonical_lines(&Session::connect(&target).await?).await }).unwrap();
            assert!(held == canonical(&cli.folder().join(".cairn")), "seed {seed}, round {round}");
            assert_eq!(rows(&server.uri(), "MATCH (n) WHERE n.cairnUntil IS NOT NULL RETURN n").len(), 0);
            edit(&cli, &mut random);
            round += 1;
        }
        println!("{round} servers killed");
    }
}
