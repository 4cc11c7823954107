//! Readers that open an index again and again while one quick version follows another.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use cairn::{Performers, QueryEngine, SearchOptions, Sources, Workspace};

use crate::Suite;
use crate::run::{Run, Tally};
use crate::support::{Cli, block_on, has_segments, index};

/// Concurrent readers.
const READERS: usize = 10;
/// Notes of the collection: so many that a version that changes one shares segments with the version before.
const NOTES: u64 = 12;

pub(crate) const PART: Suite = Suite {
    name: "readers",
    promise: "Whoever opens an index while versions follow one another finds one of them, whole.",
    run,
};

fn run(run: &Run) -> Tally {
    let versions = run.count("VERSIONS", 1_000);
    let cli = Cli::new();
    let path = cli.folder().join(".cairn");
    let write = |edition: u64| {
        let note = edition % NOTES;
        cli.write(&format!("notes/{note}.txt"), format!("Mill {note} burned. This is edition {edition}."));
    };
    // Each version has one note of the next edition, so that the editions of a version follow one another.
    let mut segmented = 0;
    let mut publish = |edition: u64| {
        write(edition);
        let version = index(&path, &Sources::folder(cli.folder().join("notes"))).version;
        segmented += u64::from(has_segments(&path, version));
    };
    (1..NOTES).for_each(write);
    publish(NOTES);
    let done = AtomicBool::new(false);
    let mut tally = Tally::default();
    thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS).map(|_| scope.spawn(|| read(&path, &done))).collect();
        // Also if a version fails: they would read for ever.
        let ended = Ended(&done);
        (NOTES + 1..NOTES + versions).for_each(&mut publish);
        drop(ended);
        for reader in readers {
            tally.add(reader.join().unwrap());
        }
    });
    tally.count("versions made", versions);
    tally.count("of these, with segments", segmented);
    if segmented == 0 && versions > 1 {
        tally.offend("no version has segments");
    }
    let kept = std::fs::read_dir(path.join("versions")).unwrap().count();
    if kept > 2 {
        tally.offend(format!("{kept} versions are on disk at the end"));
    }
    tally
}

/// Says that no more versions come, once it goes.
struct Ended<'d>(&'d AtomicBool);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Opens the index and searches it until all versions are made.
fn read(path: &Path, done: &AtomicBool) -> Tally {
    let mut tally = Tally::default();
    let options = SearchOptions { top_k: 2 * NOTES as usize, ..SearchOptions::default() };
    while !done.load(Ordering::Relaxed) {
        let opened = Workspace::open(path).and_then(|it| QueryEngine::open(&it, Performers::built_in()));
        let found = opened.and_then(|engine| block_on(engine.search("the edition of the mill", &options)));
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                tally.offend(format!("a search failed: {error}"));
                continue;
            }
        };
        let edition = |text: &str| text.rsplit_once("edition ")?.1.strip_suffix('.')?.parse::<u64>().ok();
        let editions: BTreeSet<u64> = found.hits.iter().filter_map(|hit| edition(&hit.text)).collect();
        let last = editions.last().copied().unwrap_or_default();
        if !editions.iter().copied().eq((last + 1).saturating_sub(NOTES)..=last)
            || [editions.len(), found.hits.len()] != [NOTES as usize; 2]
        {
            tally.offend(format!("{} hits of editions {editions:?}", found.hits.len()));
        }
        tally.count("indexes opened and searched", 1);
    }
    tally
}
