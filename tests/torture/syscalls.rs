//! System calls that fail, one after the other, under the program: disks that are full or broken, too many open files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Suite;
use crate::program::{End, READS, Ran, bare, cairn, files_below, has, must, path, watch};
use crate::run::{Run, Tally};
use crate::template::{Template, add_new};

/// Calls that write to the disk, and calls that read it, each with the errors that it may give.
const CALLS: [(&str, &[&str]); 19] = [
    ("openat", &["EIO", "ENOSPC", "EMFILE"]),
    ("read", &["EIO"]),
    ("pread64", &["EIO"]),
    ("write", &["EIO", "ENOSPC"]),
    ("pwrite64", &["EIO", "ENOSPC"]),
    ("fsync", &["EIO", "ENOSPC"]),
    ("fdatasync", &["EIO", "ENOSPC"]),
    ("ftruncate", &["EIO"]),
    ("fallocate", &["ENOSPC"]),
    ("rename", &["EIO", "ENOSPC"]),
    ("renameat", &["EIO", "ENOSPC"]),
    ("unlink", &["EIO"]),
    ("unlinkat", &["EIO"]),
    ("mkdir", &["EIO", "ENOSPC"]),
    ("getdents64", &["EIO"]),
    ("statx", &["EIO"]),
    ("newfstatat", &["EIO"]),
    ("fcntl", &["ENOLCK"]),
    ("flock", &["ENOLCK"]),
];
/// Calls after which a full disk stays full.
const FULL: [&str; 5] = ["write", "pwrite64", "fsync", "fdatasync", "ftruncate"];
/// A failing mapping of memory ends any program; a failing mapping of a file need not.
const MAPPINGS: (&str, &[&str]) = ("mmap", &["EIO", "ENOMEM", "ENODEV"]);

/// Documents of the index.
const NOTES: usize = 6;

pub(crate) const WRITING: Suite = Suite {
    name: "syscalls-writing",
    promise: "Whatever the system refuses to a run, it ends with an error that says so; the last version stays \
        readable, and the next run produces what this one would have.",
    run: writing,
};

pub(crate) const READING: Suite = Suite {
    name: "syscalls-reading",
    promise: "Whatever the system refuses to a reader, it gives the right answer or an error, and never calls an \
        intact index damaged.",
    run: reading,
};

/// One call of one kind that fails.
struct Fault {
    call: &'static str,
    error: &'static str,
    /// In the form of `strace`: which call of each thread, and whether later ones fail, too.
    when: String,
    /// The only files that are affected, if not all.
    files: Vec<String>,
}

impl Fault {
    fn command(&self, folder: &Path, args: &[&str]) -> Command {
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-o", "/dev/null", "-e", "signal=none"]);
        command.arg("-e").arg(format!("trace={}", self.call));
        command.arg("-e").arg(format!("inject={}:error={}:when={}", self.call, self.error, self.when));
        for file in &self.files {
            command.arg("-P").arg(folder.join(file));
        }
        command.arg(path()).args(args);
        bare(&mut command, folder);
        command
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "inject={}:error={}:when={}", self.call, self.error, self.when)?;
        if self.files.is_empty() { Ok(()) } else { write!(f, " -P {}", self.files.join(" -P ")) }
    }
}

/// Returns every fault of a command in a copy of `template`, or `cases_max` of them, spread over all.
fn faults(template: &Template, args: &[&str], cases_max: u64) -> Vec<Fault> {
    let folder = template.copy();
    let log = folder.path().join("strace.log");
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o"]).arg(&log).arg(path()).args(args);
    bare(&mut command, folder.path());
    assert!(watch(command).is_done(), "strace cannot trace");
    // Each thread counts its own calls.
    let mut counts = BTreeMap::<(String, String), usize>::new();
    for line in fs::read_to_string(log).unwrap().lines() {
        let Some((thread, call)) = line.split_once(' ') else { continue };
        let name = call.trim_start().split('(').next().unwrap_or_default();
        *counts.entry((name.to_owned(), thread.to_owned())).or_default() += 1;
    }
    let most = |call: &str| counts.iter().filter(|((name, _), _)| name == call).map(|(_, count)| *count).max();
    let mut faults = Vec::new();
    for (call, errors) in CALLS {
        for number in 1..=most(call).unwrap_or(0) {
            for error in errors {
                faults.push(Fault { call, error, when: number.to_string(), files: Vec::new() });
            }
            if FULL.contains(&call) {
                faults.push(Fault { call, error: "ENOSPC", when: format!("{number}+"), files: Vec::new() });
            }
        }
    }
    for file in files_below(&template.path().join(".cairn")) {
        let file = file.strip_prefix(template.path()).unwrap().to_str().unwrap().to_owned();
        for error in MAPPINGS.1 {
            for when in ["1", "2", "1+"] {
                faults.push(Fault { call: MAPPINGS.0, error, when: when.to_owned(), files: vec![file.clone()] });
            }
        }
    }
    let stride = if cases_max == 0 { 1 } else { faults.len().div_ceil(cases_max as usize).max(1) };
    faults.into_iter().step_by(stride).collect()
}

/// Returns whether strace works, and notes it if not.
fn is_possible(tally: &mut Tally) -> bool {
    let is_there = has("strace", "-V");
    if !is_there {
        tally.leave_out("it needs strace, to let system calls fail");
    }
    is_there
}

/// The system's loader fails before the program starts; and the runtime relies on the counter that wakes it, which is
/// not a file and never fails, but is written like one. A thread that cannot write cannot even report it: as each
/// thread counts its own calls, another one has to report that.
fn is_outside(fault: &Fault, ran: &Ran) -> bool {
    let said = ["error while loading shared libraries", "cannot execute", "failed to wake I/O driver"];
    let is_asleep = fault.call == "write" && fault.when.ends_with('+') && ran.end == End::TimedOut;
    let is_mute = fault.call == "write" && ran.stderr.is_empty() && ran.end == End::Status(8);
    is_asleep || is_mute || said.iter().any(|it| ran.stderr.contains(it))
}

fn writing(run: &Run) -> Tally {
    let mut tally = Tally::default();
    if !is_possible(&mut tally) {
        return tally;
    }
    for template in Template::both(NOTES) {
        tally.add(writing_to(run, &template));
    }
    tally
}

/// Lets each call fail of a run that adds a note to the index of `template`.
fn writing_to(run: &Run, template: &Template) -> Tally {
    let old = template.must(&["export", "--canonical"]).stdout;
    add_new(template.path());
    let clean = template.copy();
    must(clean.path(), &["index", "notes"]);
    let new = must(clean.path(), &["export", "--canonical"]).stdout;
    assert!(old != new);
    let faults = faults(template, &["index", "notes"], run.count("SYSCALLS", 0).div_ceil(2));
    run.each("syscalls-writing", faults.len() as u64, |number, _, tally| {
        let fault = &faults[number as usize];
        let folder = template.copy();
        let ran = watch(fault.command(folder.path(), &["index", "notes"]));
        count(tally, fault, &ran);
        let made = template.tell(tally);
        if is_outside(fault, &ran) {
            return;
        }
        let mut offend = |said: &str| tally.offend(format!("{fault} of `cairn index notes`, {made}: {said}"));
        if let Some(said) = ran.fault() {
            offend(&said);
        }
        let kept = watch(cairn(folder.path(), &["export", "--canonical"]));
        // A document that could not be read is named and left out; the rest is indexed.
        let is_old = !ran.is_done() || ran.stderr.contains("cannot be read");
        let is_right = kept.stdout == new || (kept.stdout == old && is_old);
        if !kept.is_done() || !is_right {
            offend(&format!("{:?}: the version after it is not right: {}", ran.end, kept.stderr.trim()));
        }
        let again = watch(cairn(folder.path(), &["index", "notes"]));
        let after = watch(cairn(folder.path(), &["export", "--canonical"]));
        if !again.is_done() || after.stdout != new {
            offend(&format!("the run after it ends with {:?}: {}", again.end, again.stderr.trim()));
        }
        let left = left_behind(folder.path());
        if !left.is_empty() {
            offend(&format!("still there after the run after it: {left}"));
        }
    })
}

fn count(tally: &mut Tally, fault: &Fault, ran: &Ran) {
    tally.count("calls that failed", 1);
    let how = if is_outside(fault, ran) {
        "outside of the program"
    } else if ran.is_done() {
        "runs that did without the call"
    } else {
        "runs that ended with an error"
    };
    tally.count(how, 1);
}

/// Returns what a finished run should have removed.
fn left_behind(folder: &Path) -> String {
    let names = files_below(&folder.join(".cairn")).into_iter().map(|path| {
        let path = path.strip_prefix(folder.join(".cairn")).unwrap().to_owned();
        path.to_string_lossy().into_owned()
    });
    let is_left = |name: &String| {
        let is_of_version = name.starts_with("versions/") && !name.contains(".tmp");
        !is_of_version && !["cairn.db", "lock"].contains(&name.as_str())
    };
    names.filter(is_left).collect::<Vec<_>>().join(", ")
}

fn reading(run: &Run) -> Tally {
    let mut tally = Tally::default();
    if !is_possible(&mut tally) {
        return tally;
    }
    for template in Template::both(NOTES) {
        tally.add(reading_of(run, &template));
    }
    tally
}

/// Lets each call fail of everything that reads the index of `template`.
fn reading_of(run: &Run, template: &Template) -> Tally {
    let answers = template.answers();
    let mut cases = Vec::new();
    let most = run.count("SYSCALLS", 0).div_ceil(2 * READS.len() as u64);
    for (args, answer) in READS.iter().zip(&answers) {
        cases.extend(faults(template, args, most).into_iter().map(|fault| (args, answer, fault)));
    }
    run.each("syscalls-reading", cases.len() as u64, |number, _, tally| {
        let (args, answer, fault) = &cases[number as usize];
        let folder = template.copy();
        let ran = watch(fault.command(folder.path(), args));
        count(tally, fault, &ran);
        let made = template.tell(tally);
        if is_outside(fault, &ran) {
            return;
        }
        let wrong = if let Some(said) = ran.fault() {
            said
        } else if ran.is_done() && ran.answer() != **answer {
            "another answer, and status 0".to_owned()
        } else if ran.end == End::Status(7) {
            format!("what the system refuses is called damage: {}", ran.stderr.trim())
        } else {
            return;
        };
        tally.offend(format!("{fault} of `cairn {}`, {made}: {wrong}", args.join(" ")));
    })
}
