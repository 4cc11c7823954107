//! Shared by the tests: the program, run as users run it, in a folder of its own; the example collection; and the
//! location of the large data.

pub(crate) mod bolt;
pub(crate) mod browser;
pub(crate) mod certificates;
pub(crate) mod chat;
pub(crate) mod corpus;
pub(crate) mod documents;
pub(crate) mod flips;
pub(crate) mod forged;
pub(crate) mod hostile;
#[cfg(unix)]
pub(crate) mod killing;
mod library;
pub(crate) mod neo4j;
pub(crate) mod onnx;
mod random;
mod schema;
pub(crate) mod thinker;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Display;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

pub(crate) use library::{block_on, canonical, engine, index, index_with, workspace};
pub(crate) use random::Random;
pub(crate) use schema::{assert_valid, complaints, schema};

/// Cases that wait concurrently.
const AT_ONCE: usize = 4;

/// The program in a folder of its own, which is deleted when this value is dropped.
pub(crate) struct Cli {
    folder: TempDir,
}

/// The output of one run of the program.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    /// The exit status; none if a signal ended it.
    pub(crate) status: Option<i32>,
    /// Standard output.
    pub(crate) stdout: String,
    /// Standard error.
    pub(crate) stderr: String,
}

impl Cli {
    /// Makes an empty folder.
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    /// Makes an empty folder within another.
    pub(crate) fn new_in(folder: &Path) -> Self {
        Self { folder: TempDir::new_in(folder).unwrap() }
    }

    /// Returns the folder that the program runs in.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file, and the folders above it, and returns its path.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Writes the user's own configuration, which is trusted, and returns its path.
    pub(crate) fn configure(&self, content: impl AsRef<[u8]>) -> PathBuf {
        self.write(".config/cairn/cairn.toml", content)
    }

    /// Returns the program, to be started in the folder. It gets none of the tester's environment variables, so that no
    /// settings affect a test.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
        command.args(args).current_dir(self.folder()).env_clear().env("HOME", self.folder());
        // Without it, Windows programs do not start.
        if let Some(root) = std::env::var_os("SystemRoot") {
            command.env("SystemRoot", root);
        }
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> CommandOutput {
        let output = self.command(args).output().unwrap();
        CommandOutput::of(output)
    }

    /// Runs the program to its end, with this standard input.
    pub(crate) fn run_with_input(&self, args: &[&str], input: &str) -> CommandOutput {
        let mut command = self.command(args);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut program = command.spawn().unwrap();
        program.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        CommandOutput::of(program.wait_with_output().unwrap())
    }

    /// Runs the program with `--json`, which must succeed, and returns its output.
    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let said = self.run([&args[..1], &["--json"], &args[1..]].concat()).succeeded();
        serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {said:#?}"))
    }

    /// Returns the canonical form of an index.
    #[track_caller]
    pub(crate) fn canonical(&self, index: &str) -> String {
        self.run(["export", "--index", index, "--canonical"]).succeeded().stdout
    }

    /// Checks that the program refuses, with and without `--json`: it exits with the status of `kind`, prints no data,
    /// mentions all of `words` and what to do, and does not panic.
    #[track_caller]
    pub(crate) fn refuses(&self, args: &[&str], kind: &str, words: &[&str]) {
        let status = STATUSES.iter().find(|(it, _)| *it == kind).map(|(_, status)| *status);
        let plain = self.run(args);
        let json = self.run([&args[..1], &["--json"], &args[1..]].concat());
        for said in [&plain, &json] {
            assert_eq!(said.status, status, "{args:?}: {said:#?}");
            assert_eq!(said.stdout, "", "{args:?}");
            said.has_not_panicked();
        }
        for word in words {
            assert!(plain.stderr.contains(word), "`{word}` is not said of {args:?}: {plain:#?}");
        }
        let error = json.error();
        assert_eq!(error["kind"], kind, "{args:?}: {error}");
    }
}

/// Exit statuses by the kinds of errors.
const STATUSES: [(&str, i32); 10] = [
    ("input", 3),
    ("no_index", 4),
    ("busy", 5),
    ("incompatible", 6),
    ("corrupt", 7),
    ("io", 8),
    ("internal", 9),
    ("unavailable", 10),
    ("deadline", 11),
    ("cancelled", 130),
];

impl CommandOutput {
    /// Returns the output of a program that has ended.
    pub(crate) fn of(output: std::process::Output) -> Self {
        Self {
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
        }
    }

    /// Returns the error of a program with `--json`: the last line of standard error.
    #[track_caller]
    pub(crate) fn error(&self) -> Value {
        let line = self.stderr.lines().last().unwrap_or_default();
        let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {self:#?}"));
        assert_valid("error", &value);
        value["error"].clone()
    }

    /// Fails if the program panicked.
    #[track_caller]
    pub(crate) fn has_not_panicked(&self) {
        assert!(!self.stderr.contains("panicked") && self.status != Some(101), "{self:#?}");
        assert!(!self.stderr.contains("internal error"), "{self:#?}");
    }

    /// Returns the output if the program succeeded.
    #[track_caller]
    pub(crate) fn succeeded(self) -> Self {
        assert_eq!(self.status, Some(0), "{self:#?}");
        self
    }
}

/// Returns how long an open-ended test runs: `usual`, or `CAIRN_TEST_MINUTES`, which `--test torture` sets.
pub(crate) fn at_most(usual: Duration) -> Duration {
    let said = std::env::var("CAIRN_TEST_MINUTES").ok().and_then(|minutes| minutes.parse().ok());
    said.map_or(usual, Duration::from_mins)
}

/// Returns every file below a folder, by name.
pub(crate) fn files_below(folder: &Path) -> BTreeSet<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { BTreeSet::from([path]) }).collect()
}

/// Returns the seed to begin with: 0, or that of `--test torture`.
pub(crate) fn first_seed() -> u64 {
    std::env::var("CAIRN_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0)
}

/// Returns how many cases a test tries: `usual`, or `tortured` in `--test torture`.
pub(crate) fn sized<T>(usual: T, tortured: T) -> T {
    if at_most(Duration::ZERO).is_zero() { usual } else { tortured }
}

/// Returns whether a version of an index has segments: what it took over, and what came since.
pub(crate) fn has_segments(index: &Path, version: impl Display) -> bool {
    index.join(format!("versions/{version}/segments.bin")).is_file()
}

/// Checks cases a few at a time; each of them waits more than it computes.
pub(crate) fn at_once<T: Send>(cases: impl IntoIterator<Item = T, IntoIter: Send>, check: impl Fn(T) + Sync) {
    let cases = Mutex::new(cases.into_iter());
    let next = || cases.lock().unwrap().next();
    let work = || {
        while let Some(case) = next() {
            check(case);
        }
    };
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(work);
        }
    });
}

/// Returns the folder of the example collection.
pub(crate) fn harbor() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/harbor")
}

/// Returns the files of the example collection, by name.
pub(crate) fn harbor_files() -> Vec<(String, String)> {
    let read = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.unwrap().path();
        (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(&path).unwrap())
    };
    let mut files: Vec<(String, String)> = fs::read_dir(harbor()).unwrap().map(read).collect();
    files.sort();
    files
}

/// Returns those of them that are Markdown.
pub(crate) fn harbor_notes() -> Vec<(String, String)> {
    let mut files = harbor_files();
    files.retain(|(name, _)| Path::new(name).extension() == Some(OsStr::new("md")));
    files
}

/// Reports that a test, or part of one, is left out. Not with `eprintln!`, whose output the runner hides when a test
/// passes.
pub(crate) fn left_out(why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let mut stderr = std::io::stderr();
    writeln!(stderr, "LEFT OUT: `{test}`: {why}").unwrap();
}

/// Returns the folder of a bundle of real data, which is beside the repository because it is too large. If it is
/// missing, reports which test is left out.
pub(crate) fn shared_data(bundle: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data").join(bundle);
    if path.is_dir() {
        return Some(path);
    }
    left_out(&format!("it needs the folder ../shared/data/{bundle}"));
    None
}

#[test]
fn the_program_runs_in_a_folder_of_its_own() {
    let cli = Cli::new();
    let path = cli.write("notes/a.txt", "A");
    assert_eq!(fs::read(&path).unwrap(), b"A");
    assert!(path.starts_with(cli.folder()));
    let said = cli.run(["--version"]).succeeded();
    assert_eq!(said.stderr, "", "{}", said.stdout);
    assert!(Cli::new().folder() != cli.folder());
}
