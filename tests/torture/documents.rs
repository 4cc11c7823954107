//! Damaged and harmful files that workers read: each is indexed or named as left out, and the file beside it is indexed
//! as usual.
//!
//! `CAIRN_TORTURE_DOCUMENTS_FROM` names a folder with more files to damage.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::Suite;
use crate::program::{cairn, watch_for};
use crate::run::{Run, Tally};
use crate::support::documents;

/// Damaged files, unless the environment gives another number.
const FILES: u64 = 200;
/// Time limit for one of them: that of two parsers, by the clock, and the run's own time.
const TIME_MAX: Duration = Duration::from_secs(200);
/// Memory limit of the run, without its workers.
const MEMORY_BYTES_MAX: u64 = 600_000_000;
/// Bytes of a file from a folder at most.
const FILE_BYTES_MAX: u64 = 8 << 20;

pub(crate) const PART: Suite = Suite {
    name: "documents",
    promise: "A damaged or hostile PDF, office file, book, mail or archive is indexed, or reported as left out, and \
        does not harm the file beside it.",
    run,
};

fn run(run: &Run) -> Tally {
    let mut tally = Tally::default();
    for (name, bytes) in documents::hostile() {
        tally.add(check(name, &bytes));
        tally.count("hostile files", 1);
    }
    let mut originals: Vec<(String, Vec<u8>)> =
        documents::all().into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect();
    originals.extend(from_folder());
    let damaged = run.each("documents", run.count("DOCUMENTS", FILES), |_, random, tally| {
        let (name, bytes) = &originals[random.below(originals.len())];
        let is_inside = random.below(2) == 0;
        let bytes =
            if is_inside { documents::damaged_inside(bytes, random) } else { documents::damaged(bytes, random) };
        tally.add(check(name, &bytes));
        tally.count("damaged files", 1);
    });
    tally.add(damaged);
    tally
}

/// Returns the files of the folder, if one is named.
fn from_folder() -> Vec<(String, Vec<u8>)> {
    let Some(folder) = std::env::var_os("CAIRN_TORTURE_DOCUMENTS_FROM") else { return Vec::new() };
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.retain(|path| fs::metadata(path).is_ok_and(|it| it.is_file() && it.len() <= FILE_BYTES_MAX));
    let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    paths.iter().map(|path| (name(path), fs::read(path).unwrap())).collect()
}

/// Indexes a file beside a good one.
fn check(name: &str, bytes: &[u8]) -> Tally {
    let mut tally = Tally::default();
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("notes")).unwrap();
    fs::write(folder.path().join("notes").join(name), bytes).unwrap();
    let text = "The mill of Harl was built in 1802 by Anna Roe and stands by the river Tarn.";
    fs::write(folder.path().join("notes/z.pdf"), documents::pdf(&[&[text; 3]])).unwrap();
    let ran = watch_for(cairn(folder.path(), &["index", "notes", "--json"]), TIME_MAX);
    let took = format!("{:.0} s, {} MB", ran.took.as_secs_f64(), ran.peak_bytes / 1_000_000);
    if let Some(fault) = ran.fault() {
        tally.offend(format!("{name}: {fault}"));
    } else if ran.peak_bytes > MEMORY_BYTES_MAX {
        tally.offend(format!("{name}: {took}"));
    } else if ran.is_done() {
        let report: Value = serde_json::from_slice(&ran.stdout).unwrap_or_default();
        let export = watch_for(cairn(folder.path(), &["export", "--canonical"]), TIME_MAX);
        let export = String::from_utf8_lossy(&export.stdout).into_owned();
        let is_named = report["skips"].to_string().contains(name) || export.contains(&format!("notes/{name}"));
        if !is_named {
            tally.offend(format!("{name}: nothing says what became of it"));
        }
        if !export.contains("notes/z.pdf") {
            tally.offend(format!("{name}: the file beside it is lost: {}", report["skips"]));
        }
    } else {
        tally.offend(format!("{name}: {:?}: {}", ran.end, ran.stderr.trim()));
    }
    tally
}
