//! Real processes: readers beside a writer, a writer that is killed or interrupted, two writers, a reader that closes
//! its output.
#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use cairn::{SearchOptions, SearchResult};
use serde_json::Value;

use crate::support::killing::kill_writers;
use crate::support::{Cli, CommandOutput, Random, assert_valid, block_on, engine, harbor_files, harbor_notes};

/// Runs of the writer that are killed.
const KILLS: u64 = 10;
/// Time limit for killing, in case the machine is slow.
const KILLING_TIME_MAX: Duration = Duration::from_secs(10);

/// Returns the editions that the texts of the found passages name.
fn editions(found: &SearchResult) -> BTreeSet<u64> {
    let edition = |text: &str| {
        let (_, after) = text.rsplit_once("This is edition ").unwrap_or_else(|| panic!("no edition in {text}"));
        after.trim_end_matches('.').parse().unwrap()
    };
    found.hits.iter().map(|hit| edition(hit.text.trim())).collect()
}

/// Writes a collection in which every passage names the edition.
fn write_edition(cli: &Cli, edition: u64) {
    for (name, text) in harbor_notes().iter().take(8) {
        let first = text.lines().find(|line| line.len() > 80).unwrap();
        let first = first.split_inclusive(". ").take(2).collect::<String>();
        cli.write(&format!("notes/{name}"), format!("# {name}\n\n{} This is edition {edition}.", first.trim()));
    }
    // Documents are added and removed between editions.
    let own = cli.folder().join("notes").join(format!("own-{}.txt", edition - 1));
    if own.exists() {
        fs::remove_file(own).unwrap();
    }
    cli.write(&format!("notes/own-{edition}.txt"), format!("A note of its own. This is edition {edition}."));
}

/// Editions by version, as readers saw them.
type Seen = Mutex<BTreeMap<u64, BTreeSet<u64>>>;

fn note(seen: &Seen, found: &SearchResult) {
    assert_eq!(found.hits.len(), 9);
    let editions = editions(found);
    seen.lock().unwrap_or_else(PoisonError::into_inner).entry(found.version.0).or_default().extend(editions);
}

#[test]
fn every_answer_is_of_one_version_while_others_are_published() {
    const EDITIONS: u64 = 6;
    const QUERY: &str = "edition of the note on the island";
    let cli = Cli::new();
    write_edition(&cli, 1);
    assert_eq!(cli.json(&["index", "notes"])["version"], 1);
    let path = cli.folder().join(".cairn");
    let options = SearchOptions { top_k: 50, ..SearchOptions::default() };
    let old = engine(&path);
    let (seen, done) = (Seen::default(), AtomicBool::new(false));
    thread::scope(|scope| {
        let processes = || {
            let mut count = 0;
            while !done.load(Ordering::Relaxed) || count == 0 {
                let found = cli.json(&["search", QUERY, "--top-k", "50"]);
                assert_valid("search", &found);
                note(&seen, &serde_json::from_value(found).unwrap());
                count += 1;
            }
        };
        let engines = || {
            while !done.load(Ordering::Relaxed) {
                note(&seen, &block_on(engine(&path).search(QUERY, &options)).unwrap());
                note(&seen, &block_on(old.search(QUERY, &options)).unwrap());
                assert_eq!(old.version().0, 1);
            }
        };
        let readers = [scope.spawn(processes), scope.spawn(engines)];
        for edition in 2..=EDITIONS {
            write_edition(&cli, edition);
            let report = cli.json(&["index", "notes"]);
            assert_eq!(report["version"], edition, "{report}");
        }
        done.store(true, Ordering::Relaxed);
        for reader in readers {
            reader.join().unwrap();
        }
    });
    note(&seen, &block_on(engine(&path).search(QUERY, &options)).unwrap());
    note(&seen, &block_on(old.search(QUERY, &options)).unwrap());
    let seen = seen.into_inner().unwrap();
    assert!(seen.len() >= 3, "{seen:?}");
    for (version, editions) in seen {
        assert_eq!(editions, BTreeSet::from([version]), "version {version}");
    }
}

/// When a writer is killed at moments spread over a whole run, the last finished version is complete, and a run that
/// may finish gives the same result as without the kills. `--test torture` does the same thousands of times.
#[test]
fn a_writer_that_is_killed_at_any_moment_leaves_the_last_version_readable() {
    let came = kill_writers(&mut Random::new(7), KILLS, KILLING_TIME_MAX);
    assert!(came.killed >= KILLS / 2, "{came:?}");
}

/// A writer that was stopped while reading.
struct Stopped {
    child: Child,
    stderr: BufReader<std::process::ChildStderr>,
}

impl Stopped {
    /// Starts a run over more documents than it can finish after it reports that it reads.
    fn start(cli: &Cli) -> Self {
        let mut lines = String::new();
        for id in 0..DOCUMENTS {
            writeln!(lines, r#"{{"id": {id}, "title": "Mill {id}", "text": "Mill {id} was built by Ada Lorne."}}"#)
                .unwrap();
        }
        cli.write("notes/mills.jsonl", lines);
        let mut command = cli.command(["index", "notes", "--json"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        assert_eq!(line, "reading …\n");
        let stopped = Self { child, stderr };
        stopped.signal("STOP");
        stopped
    }

    fn signal(&self, name: &str) {
        let status = Command::new("sh").args(["-c", &format!("kill -{name} {}", self.child.id())]).status().unwrap();
        assert!(status.success());
    }

    /// Lets it continue and waits until it ends.
    fn end(mut self) -> CommandOutput {
        self.signal("CONT");
        let mut stderr = String::new();
        self.stderr.read_to_string(&mut stderr).unwrap();
        let output = self.child.wait_with_output().unwrap();
        CommandOutput { stderr, ..CommandOutput::of(output) }
    }
}

const DOCUMENTS: u64 = 3_000;

#[test]
fn an_interrupted_writer_ends_cleanly_and_the_next_run_continues() {
    let cli = Cli::new();
    let writer = Stopped::start(&cli);
    cli.refuses(&["index", "notes"], "busy", &["another run is writing"]);
    writer.signal("INT");
    let said = writer.end();
    assert_eq!((said.status, said.stdout.as_str()), (Some(130), ""), "{said:#?}");
    assert!(said.stderr.contains("finishing the work in progress"), "{said:#?}");
    let error = said.error();
    assert_eq!((error["kind"].as_str(), error["message"].as_str().is_some()), (Some("cancelled"), true));
    assert!(error["hint"].as_str().unwrap().contains("the same command continues"), "{error}");
    cli.refuses(&["search", "mill"], "no_index", &["no finished version yet"]);
    let pending = cli.json(&["status"])["units"]["pending"].as_u64().unwrap();
    assert!(pending > 0 && pending < DOCUMENTS, "{pending}");
    let report = cli.json(&["index", "notes"]);
    let documents = ["added", "unchanged"].map(|it| report["documents"][it].as_u64().unwrap());
    assert_eq!(documents, [DOCUMENTS - pending, pending]);
}

/// Those that the allocator asks for would be cleared whole, 2 MiB, and most of that would not be used.
#[test]
#[cfg(target_os = "linux")]
fn the_program_has_huge_pages_only_for_a_large_index() {
    let cli = Cli::new();
    let is_allowed = || {
        let running = Stopped::start(&cli);
        let status = std::fs::read_to_string(format!("/proc/{}/status", running.child.id())).unwrap();
        running.end().succeeded();
        status.contains("THP_enabled:\t1\n")
    };
    assert!(!is_allowed());
    // The database itself has no use for what lies beyond its end, and it takes no room on the disk.
    let records = std::fs::OpenOptions::new().write(true).open(cli.folder().join(".cairn/cairn.db")).unwrap();
    records.set_len(300 << 20).unwrap();
    assert!(is_allowed());
}

#[test]
fn of_two_writers_one_is_told_to_wait_and_the_other_finishes() {
    let cli = Cli::new();
    let first = Stopped::start(&cli);
    let second = cli.run(["index", "notes"]);
    assert_eq!((second.status, second.stdout.as_str()), (Some(5), ""), "{second:#?}");
    for word in ["another run is writing the index at `.cairn`", "hint: wait for it to end"] {
        assert!(second.stderr.contains(word), "{second:#?}");
    }
    let said = first.end().succeeded();
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(report["documents"]["added"], DOCUMENTS);
}

#[test]
fn the_output_may_be_closed_early() {
    let cli = Cli::new();
    for (name, text) in harbor_files() {
        cli.write(&format!("harbor/{name}"), text);
    }
    cli.json(&["index", "harbor"]);
    assert!(cli.canonical(".cairn").len() > 256 << 10, "more than a pipe holds");
    for args in
        [&["export", "--canonical"][..], &["status"], &["search", "Heron Bridge"], &["--help"], &["ask", "Heron?"]]
    {
        let mut child = cli.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        if args[0] == "export" {
            stdout.read_line(&mut String::new()).unwrap();
        }
        drop(stdout);
        let said = CommandOutput::of(child.wait_with_output().unwrap());
        assert_eq!(said.status, Some(0), "{args:?}: {said:#?}");
        said.has_not_panicked();
        assert!(!said.stderr.contains("error"), "{args:?}: {said:#?}");
    }
}
