//! What the tests share: the program run as a user runs it, in a folder of its own, and the way to the large data.

pub(crate) mod corpus;
mod schema;

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

pub(crate) use schema::{assert_valid, complaints, schema};

/// The program in a folder of its own, which goes when this value goes.
pub(crate) struct Cli {
    folder: TempDir,
}

/// What one run of the program said.
#[derive(Debug)]
pub(crate) struct Said {
    /// The exit status; none where a signal ended it.
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

    /// Returns the program, to be started in the folder. It sees no variable of the one who tests, so that nobody's
    /// settings decide a test.
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
    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Said {
        let output = self.command(args).output().unwrap();
        Said {
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
        }
    }
}

impl Said {
    /// Returns what was said, if the program ended with success.
    #[track_caller]
    pub(crate) fn succeeded(self) -> Self {
        assert_eq!(self.status, Some(0), "{self:#?}");
        self
    }
}

/// Returns the folder of one bundle of real data, which lies beside the repository and is too large for it. Where it
/// is missing, says which test is left out.
pub(crate) fn shared_data(bundle: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data").join(bundle);
    if path.is_dir() {
        return Some(path);
    }
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    // Not `eprintln!`, which the runner keeps to itself when a test passes.
    let mut stderr = std::io::stderr();
    writeln!(stderr, "LEFT OUT: `{test}` needs the folder ../shared/data/{bundle}").unwrap();
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
