//! Single bits flipped in every file of an index.

use std::fs;

use crate::Suite;
use crate::program::{End, READS, cairn, must, watch};
use crate::run::{Run, Tally};
use crate::support::Random;
use crate::template::{Template, add_new};

/// Documents of the index.
const NOTES: usize = 6;
/// The file whose damage a run could publish.
const RECORDS: &str = "cairn.db";

pub(crate) const PART: Suite = Suite {
    name: "flips",
    promise: "A flipped bit in any file of an index changes neither export nor answers, or `cairn check` reports it; \
        no run publishes it, and nothing crashes.",
    run,
};

/// The correct contents of the damaged index.
struct Right {
    template: Template,
    answers: Vec<String>,
    /// The export after a run with one more document.
    next: Vec<u8>,
    has_check: bool,
}

fn run(run: &Run) -> Tally {
    let mut tally = Tally::default();
    for template in Template::both(NOTES) {
        tally.add(flips(run, template));
    }
    tally
}

/// Flips bits in every file of the index of `template`.
fn flips(run: &Run, template: Template) -> Tally {
    let answers = template.answers();
    let after = template.with_new();
    must(after.path(), &["index", "notes"]);
    let next = must(after.path(), &["export", "--canonical"]).stdout;
    let has_check = watch(cairn(template.path(), &["check"])).is_done();
    let mut tally = Tally::default();
    if !has_check {
        tally.leave_out("`cairn check` of an index: this program has none, so that damage may only be told by readers");
    }
    let right = Right { template, answers, next, has_check };
    let flips = run.count("FLIPS", 500);
    for file in right.template.index_files() {
        let name = file.to_str().unwrap().to_owned();
        let bytes = fs::read(right.template.path().join(".cairn").join(&name)).unwrap();
        if bytes.is_empty() {
            continue;
        }
        let part = format!("flips of {}", stem(&name));
        tally.add(run.each(&part, flips, |_, random, tally| flip(&right, &name, &bytes, random, tally)));
        tally.count("files", 1);
    }
    tally
}

/// Returns the name of a file without what differs between runs, so that a seed always gives the same flips.
fn stem(name: &str) -> String {
    let parts = name.split(['/', '.']).filter(|part| part.len() < 32);
    parts.collect::<Vec<_>>().join(".")
}

fn flip(right: &Right, name: &str, bytes: &[u8], random: &mut Random, tally: &mut Tally) {
    let (at, bit) = (random.below(bytes.len()), random.below(8));
    tally.count("bits flipped", 1);
    let made = right.template.tell(tally);
    let what = format!("{}, bit {bit} of byte {at} of {}, {made}", stem(name), bytes.len());
    let mut flipped = bytes.to_vec();
    flipped[at] ^= 1 << bit;
    let folder = right.template.copy();
    let path = folder.path().join(".cairn").join(name);
    fs::write(&path, &flipped).unwrap();
    let mut is_reported = false;
    if right.has_check {
        let ran = watch(cairn(folder.path(), &["check"]));
        is_reported = !ran.is_done();
        if let Some(fault) = ran.fault() {
            tally.offend(format!("{what}: `cairn check`: {fault}"));
        }
    }
    let (mut is_changed, mut is_told) = (false, false);
    for (args, answer) in READS.iter().zip(&right.answers) {
        let ran = watch(cairn(folder.path(), args));
        if let Some(fault) = ran.fault() {
            tally.offend(format!("{what}: `cairn {}`: {fault}", args.join(" ")));
        }
        is_told |= !ran.is_done();
        if ran.is_done() && ran.answer() != *answer {
            is_changed = true;
            if !is_reported {
                tally.offend(format!("{what}: `cairn {}` says something else, and nothing tells", args.join(" ")));
            }
        }
    }
    if right.has_check && is_told && !is_reported {
        tally.offend(format!("{what}: readers refuse the index, and `cairn check` finds nothing"));
    }
    let found = if is_reported || is_told { "reported" } else { "without effect" };
    tally.count(found, 1);
    if is_changed {
        tally.count("changed what is read", 1);
    }
    if name == RECORDS {
        publish(right, &folder, &what, tally);
    }
}

/// Damage to the records must not become a version.
fn publish(right: &Right, folder: &tempfile::TempDir, what: &str, tally: &mut Tally) {
    add_new(folder.path());
    let ran = watch(cairn(folder.path(), &["index", "notes"]));
    if let Some(fault) = ran.fault() {
        tally.offend(format!("{what}: `cairn index`: {fault}"));
    }
    tally.count("runs on damaged records", 1);
    if ran.end != End::Status(0) {
        tally.count("of them refused", 1);
        return;
    }
    let after = watch(cairn(folder.path(), &["export", "--canonical"]));
    if after.stdout != right.next {
        tally.offend(format!("{what}: a run published what no document says, with status 0"));
    }
}
