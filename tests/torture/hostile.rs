//! Documents of the largest size that is read, in shapes that are difficult for parsers: each is indexed or named as
//! left out, within the promised memory and time. A file of millions of documents takes longer: only its memory is
//! checked, for as long as one document may take.

use std::time::Duration;

use tempfile::TempDir;

use crate::Suite;
use crate::program::{End, cairn, is_for_release, watch_for};
use crate::run::{Run, Tally};
use crate::support::hostile::SHAPES;

/// Megabytes of the largest document, as in `docs/limits.md`.
const MIB: u64 = 64;
/// Limits of memory, and of time in a release build.
const MEMORY_BYTES_MAX: u64 = 1_000_000_000;
const TIME_MAX: Duration = Duration::from_mins(2);
/// The extension of files of many documents.
const MANY_DOCUMENTS: &str = "jsonl";
/// How much longer a build with debug assertions and little optimization may take.
const DEBUG_FACTOR: u32 = 4;

pub(crate) const PART: Suite = Suite {
    name: "hostile",
    promise: "A document of 64 MiB of any shape is indexed, or reported as left out, in 2 minutes and 1 GB of memory.",
    run,
};

fn run(run: &Run) -> Tally {
    let bytes = run.count("HOSTILE_MIB", MIB) << 20;
    let time_max = if is_for_release() { TIME_MAX } else { TIME_MAX * DEBUG_FACTOR };
    let mut tally = Tally::default();
    if bytes != MIB << 20 {
        tally.leave_out(format!("documents of {MIB} MiB: these had {} MiB", bytes >> 20));
    }
    if !is_for_release() {
        tally.leave_out(format!(
            "the time of a build for release: {} minutes were allowed here",
            time_max.as_secs() / 60
        ));
    }
    for shape in SHAPES {
        let (name, folder) = (shape.name, TempDir::new().unwrap());
        let path = shape.write(folder.path(), bytes as usize).unwrap();
        let file = path.file_name().unwrap().to_str().unwrap();
        let ran = watch_for(cairn(folder.path(), &["index", file]), time_max);
        let is_unfinished = shape.extension == MANY_DOCUMENTS && ran.end == End::TimedOut;
        tally.count(if is_unfinished { "files of documents, watched for that long" } else { "hostile documents" }, 1);
        let took = format!("{:.0} s, {} MB", ran.took.as_secs_f64(), ran.peak_bytes / 1_000_000);
        println!("  {name}: {:?}, {took}", ran.end);
        if let Some(fault) = ran.fault().filter(|_| !is_unfinished) {
            tally.offend(format!("{name}: {fault}"));
        } else if ran.peak_bytes > MEMORY_BYTES_MAX {
            tally.offend(format!("{name}: {took}"));
        } else if !ran.is_done() && !is_unfinished && !ran.stderr.contains(file) {
            tally.offend(format!("{name}: nothing says which document it was: {}", ran.stderr.trim()));
        }
        // The result can be read, by a program with the same memory limit.
        if ran.is_done() {
            let read = watch_for(cairn(folder.path(), &["search", "mill"]), time_max);
            if !read.is_done() {
                tally.offend(format!("{name}: searching it ends with {:?}: {}", read.end, read.stderr.trim()));
            }
        }
    }
    tally
}
