//! Readers beside a publisher: each sees one version.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cairn::neo4j::{PublishOptions, Session, canonical_lines, publish};
use cairn::{Document, Sources, Workspace};

use crate::support::neo4j::database;
use crate::support::{at_most, block_on, index};

/// Maximum reads while others publish.
const READS: usize = 20_000;
/// Minimum versions that must have been seen; `--test torture` continues.
const SEEN_LEAST: usize = 3;

/// A small collection in which every document names the edition. Documents are added and removed.
fn edition(number: usize) -> Sources {
    let text = |it: usize| format!("Mill {it} was built by Ada Lorne. This is edition {number}.");
    let title = |it: usize| Some(format!("Mill {it}"));
    Sources::documents((0..4).map(|it| Document::new(format!("mill-{it}"), title(it), text(it))))
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn every_read_is_of_one_version_while_others_are_published() {
    let Some(database) = database() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let publish_edition = |number: usize| {
        index(&path, &edition(number));
        let workspace = Workspace::open(&path).unwrap();
        block_on(publish(&workspace, &database.target(), &PublishOptions::default())).unwrap();
    };
    publish_edition(0);
    let (reads, done) = (AtomicUsize::new(0), AtomicBool::new(false));
    let seen = Mutex::new(BTreeSet::new());
    let read = || {
        block_on(async {
            let session = Session::connect(&database.target()).await.unwrap();
            while !done.load(Ordering::Relaxed) {
                let lines = canonical_lines(&session).await.unwrap();
                let passages = lines.iter().filter(|line| line.starts_with("{\"passage\"")).count();
                let edition = |line: &String| {
                    let (_, after) = line.split_once("This is edition ")?;
                    Some(after.split('.').next().unwrap_or_default().to_owned())
                };
                let editions: BTreeSet<String> = lines.iter().filter_map(edition).collect();
                assert_eq!((passages, editions.len()), (4, 1), "{lines:#?}");
                seen.lock().unwrap().extend(editions);
                reads.fetch_add(1, Ordering::Relaxed);
            }
        });
    };
    thread::scope(|scope| {
        let readers = [(); 4].map(|()| scope.spawn(read));
        let (mut number, began) = (0, Instant::now());
        let is_enough = || {
            let is_late = began.elapsed() > at_most(Duration::ZERO);
            seen.lock().unwrap().len() >= SEEN_LEAST && (is_late || reads.load(Ordering::Relaxed) >= READS)
        };
        while !is_enough() && readers.iter().all(|it| !it.is_finished()) {
            number += 1;
            publish_edition(number);
        }
        done.store(true, Ordering::Relaxed);
    });
    let seen = seen.into_inner().unwrap();
    println!("{} reads of the graph, {} versions read", reads.into_inner(), seen.len());
    assert!(seen.len() >= SEEN_LEAST, "{} editions were seen", seen.len());
}
