//! The program under observation: how it ended, its output, and what no input may make it do.

use std::fs::{self, File};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// After this time, the program counts as hanging.
const HANGS_AFTER: Duration = Duration::from_mins(1);
/// How often it is polled.
const POLL: Duration = Duration::from_millis(2);
/// The limit of the program's address space, so that excessive memory use fails here and does not affect other
/// programs.
const MEMORY_KIB_MAX: u64 = 3 << 20;

/// Commands that read an index; each reads other parts of it.
pub(crate) const READS: [&[&str]; 7] = [
    &["export", "--canonical"],
    &["search", "Heron Bridge", "--json"],
    &["ask", "Who designed Heron Bridge?", "--json"],
    &["path", "Heron Bridge", "Brackwater", "--json"],
    &["topics", "--json"],
    &["entities", "list", "--json"],
    &["status", "--json"],
];

/// How the program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Status(i32),
    Signal(i32),
    /// It did not end, and was killed.
    TimedOut,
}

/// The result of one run of the program.
#[derive(Debug, Clone)]
pub(crate) struct Ran {
    pub(crate) end: End,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
    /// Its peak memory, as far as it was observed; 0 if the system does not report it.
    pub(crate) peak_bytes: u64,
}

impl Ran {
    pub(crate) fn is_done(&self) -> bool {
        self.end == End::Status(0)
    }

    /// Returns what no input may cause: a panic, a signal, a hang, an error that blames the program.
    pub(crate) fn fault(&self) -> Option<String> {
        let is_known = matches!(self.end, End::Status(0 | 2..=8 | 10 | 11 | 130));
        let is_panic = self.stderr.contains("panicked") || self.stderr.contains("internal error");
        // An error without a message helps nobody.
        let is_mute = self.end != End::Status(0) && self.stderr.trim().is_empty();
        if is_known && !is_panic && !is_mute {
            return None;
        }
        let tail: String = self.stderr.chars().rev().take(300).collect::<Vec<_>>().into_iter().rev().collect();
        Some(format!("{:?} after {:.1} s: {}", self.end, self.took.as_secs_f64(), tail.trim().replace('\n', " | ")))
    }

    /// Returns its output, without what differs between equal answers: times.
    pub(crate) fn answer(&self) -> String {
        match serde_json::from_slice::<Value>(&self.stdout) {
            Ok(mut value) => {
                strip(&mut value);
                value.to_string()
            }
            Err(_) => String::from_utf8_lossy(&self.stdout).into_owned(),
        }
    }
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !name.ends_with("_ms") && !name.ends_with("seconds") && name != "bytes");
            fields.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

/// Returns the program: `CAIRN_TORTURE_PROGRAM`, a release build of the same sources, or the one that was built with
/// the tests.
pub(crate) fn path() -> PathBuf {
    std::env::var_os("CAIRN_TORTURE_PROGRAM").map_or_else(|| env!("CARGO_BIN_EXE_cairn").into(), PathBuf::from)
}

/// Returns whether the program is a release build.
pub(crate) fn is_for_release() -> bool {
    !cfg!(debug_assertions) || std::env::var_os("CAIRN_TORTURE_PROGRAM").is_some()
}

/// Returns the program, to be run in `folder`, with a memory limit. It gets none of the tester's environment variables.
pub(crate) fn cairn(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new("sh");
    let limited = format!("ulimit -v {MEMORY_KIB_MAX}; exec \"$0\" \"$@\"");
    command.args(["-c", &limited]).arg(path()).args(args);
    bare(&mut command, folder);
    command
}

/// Gives a command a folder, and none of our environment variables.
pub(crate) fn bare(command: &mut Command, folder: &Path) {
    command.current_dir(folder).env_clear().env("HOME", folder).env("PATH", "/usr/local/bin:/usr/bin:/bin");
}

/// Runs a command to its end, or kills it if it hangs.
pub(crate) fn watch(command: Command) -> Ran {
    watch_for(command, HANGS_AFTER)
}

/// Runs a command to its end, or kills it after `time_max`.
pub(crate) fn watch_for(mut command: Command, time_max: Duration) -> Ran {
    // Files, because nobody has to read them while the program writes.
    let said = TempDir::new().unwrap();
    let (stdout, stderr) = (said.path().join("stdout"), said.path().join("stderr"));
    // It and everything that it starts form a group, which can be killed as a whole.
    command.stdin(Stdio::null()).process_group(0);
    command.stdout(File::create(&stdout).unwrap()).stderr(File::create(&stderr).unwrap());
    let began = Instant::now();
    let mut child = command.spawn().unwrap();
    let mut peak_bytes = 0;
    let end = loop {
        peak_bytes = peak_bytes.max(peak(&child));
        if let Some(status) = child.try_wait().unwrap() {
            break status.code().map_or_else(|| End::Signal(status.signal().unwrap_or(0)), End::Status);
        }
        if began.elapsed() > time_max {
            let group = format!("kill -9 -{}", child.id());
            Command::new("sh").args(["-c", &group]).status().unwrap();
            child.wait().unwrap();
            break End::TimedOut;
        }
        thread::sleep(POLL);
    };
    let took = began.elapsed();
    let stderr = String::from_utf8_lossy(&fs::read(stderr).unwrap()).into_owned();
    Ran { end, stdout: fs::read(stdout).unwrap(), stderr, took, peak_bytes }
}

/// Returns the peak memory of a process so far.
fn peak(child: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}

/// Runs a command that must succeed.
#[track_caller]
pub(crate) fn must(folder: &Path, args: &[&str]) -> Ran {
    must_with(folder, args, &[])
}

/// The same, with these environment variables.
#[track_caller]
pub(crate) fn must_with(folder: &Path, args: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command = cairn(folder, args);
    command.envs(variables.iter().copied());
    let ran = watch(command);
    assert!(ran.is_done(), "{args:?}: {:?}: {}", ran.end, ran.stderr);
    ran
}

/// Returns the files below a folder, sorted; links are not followed.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().map(Result::unwrap);
    entries.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path).collect()
}

/// Returns whether a system program is available.
pub(crate) fn has(program: &str, arg: &str) -> bool {
    Command::new(program).arg(arg).output().is_ok_and(|output| output.status.success())
}
