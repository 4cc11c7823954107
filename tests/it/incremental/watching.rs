//! `cairn index --watch`: what changes is indexed, one line a version, until Ctrl-C.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use crate::support::{Cli, harbor_notes};

/// How long to wait for a line on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// A run with `--watch`.
struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Watching {
    fn begin(cli: &Cli, args: &[&str]) -> Self {
        let mut child = cli.command([&["index", "--watch"], args].concat()).stderr(Stdio::piped()).spawn().unwrap();
        let (tell, lines) = mpsc::channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        thread::spawn(move || stderr.lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
        let watching = Self { child, lines };
        watching.line_with("watching for changes");
        watching
    }

    /// Returns the next line that contains `part`.
    fn line_with(&self, part: &str) -> String {
        self.lines_to(part).pop().unwrap()
    }

    /// Returns all lines to the next one that contains `part`.
    fn lines_to(&self, part: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => lines.push(line),
                Err(error) => panic!("{error}: no line has `{part}` after {lines:#?}"),
            }
            if lines.last().unwrap().contains(part) {
                return lines;
            }
        }
    }

    /// Interrupts it, and returns its status and what it printed in the meantime.
    fn interrupt(mut self) -> (Option<i32>, Vec<String>) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        let status = self.child.wait().unwrap();
        (status.code(), self.lines.iter().collect())
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _status = self.child.wait();
    }
}

fn notes() -> Cli {
    let cli = Cli::new();
    for (name, text) in harbor_notes().iter().take(6) {
        cli.write(&format!("notes/{name}"), text);
    }
    cli
}

#[test]
fn files_that_change_come_or_go_are_indexed_and_others_are_not() {
    let cli = notes();
    cli.write("notes/.gitignore", "build/\n");
    // The index is inside the watched folder.
    let watching = Watching::begin(&cli, &["notes", "--index", "notes/kept.cairn"]);
    cli.write("notes/build/a.md", "# Left out\n\nNobody reads this.");
    cli.write("notes/.hidden/a.md", "# Hidden\n\nNobody reads this.");
    // As editors save: a new file, renamed.
    cli.write("notes/new.md~", "# Wren Quay\n\nWren Quay is the quay of Port Halven.");
    fs::rename(cli.folder().join("notes/new.md~"), cli.folder().join("notes/new.md")).unwrap();
    let said = watching.line_with(" added, ");
    assert!(said.contains("(1 added, 0 changed, 0 removed)") && said.contains("version 2"), "{said}");
    fs::remove_file(cli.folder().join("notes/new.md")).unwrap();
    watching.line_with("(0 added, 0 changed, 1 removed)");
    // Many changes at once give one version, or few.
    for number in 0..200 {
        cli.write(&format!("notes/many/{number}.md"), format!("# Berth {number}\n\nBerth {number} is at the quay."));
    }
    while !watching.line_with(" added, ").starts_with("206 documents") {}
    let (status, after) = watching.interrupt();
    assert_eq!(status, Some(0));
    assert!(after.iter().all(|line| !line.contains("error")), "{after:#?}");
    let status = cli.json(&["status", "--index", "notes/kept.cairn"]);
    assert_eq!(status["counts"]["documents"], 206);
    assert!(status["version"].as_u64().unwrap() < 14, "{status}");
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_folder_that_disappears_and_comes_back_is_still_watched() {
    let cli = notes();
    let watching = Watching::begin(&cli, &["notes"]);
    let (here, there) = (cli.folder().join("notes"), cli.folder().join("away"));
    fs::rename(&here, &there).unwrap();
    watching.line_with("waiting until every PATH exists again");
    cli.write("away/new.md", "# Wren Quay\n\nWren Quay is the quay of Port Halven.");
    fs::rename(&there, &here).unwrap();
    watching.line_with("7 documents (1 added, 0 changed, 0 removed)");
    cli.write("notes/new.md", "# Wren Quay\n\nWren Quay is the old quay of Port Halven.");
    watching.line_with("7 documents (0 added, 1 changed, 0 removed)");
    // Another folder in its place, at once.
    let copy = cli.folder().join("copy");
    crate::support::flips::copy(&here, &copy);
    fs::remove_dir_all(&here).unwrap();
    fs::rename(&copy, &here).unwrap();
    thread::sleep(Duration::from_secs(2));
    cli.write("notes/other.md", "# Tern Quay\n\nTern Quay is the other quay of Port Halven.");
    watching.line_with("8 documents (1 added, 0 changed, 0 removed)");
    assert_eq!(watching.interrupt().0, Some(0));
}

#[test]
fn what_changes_while_another_run_writes_is_indexed_once_that_has_ended() {
    let cli = notes();
    let watching = Watching::begin(&cli, &["notes"]);
    let lock = fs::File::options().write(true).open(cli.folder().join(".cairn/lock")).unwrap();
    lock.lock().unwrap();
    cli.write("notes/new.md", "# Wren Quay\n\nWren Quay is the quay of Port Halven.");
    watching.line_with("another run is writing the index");
    lock.unlock().unwrap();
    // One line a version: stages are for a terminal.
    let lines = watching.lines_to("7 documents (1 added, 0 changed, 0 removed)");
    assert_eq!(lines.len(), 1, "{lines:#?}");
    assert_eq!(watching.interrupt().0, Some(0));
}

#[test]
fn a_link_that_leads_elsewhere_is_followed_there() {
    let cli = notes();
    cli.write("other/new.md", "# Wren Quay\n\nWren Quay is the quay of Port Halven.");
    let link = cli.folder().join("current");
    std::os::unix::fs::symlink("notes", &link).unwrap();
    let watching = Watching::begin(&cli, &["current", "--remove"]);
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("other", &link).unwrap();
    watching.line_with("1 added, ");
    cli.write("other/more.md", "# Tern Quay\n\nTern Quay is the other quay of Port Halven.");
    watching.line_with("1 added, ");
    assert_eq!(watching.interrupt().0, Some(0));
}

#[test]
fn an_empty_folder_is_watched() {
    let cli = Cli::new();
    fs::create_dir(cli.folder().join("notes")).unwrap();
    let watching = Watching::begin(&cli, &["notes"]);
    cli.write("notes/new.md", "# Wren Quay\n\nWren Quay is the quay of Port Halven.");
    watching.line_with("1 document (1 added, 0 changed, 0 removed)");
    assert_eq!(watching.interrupt().0, Some(0));
}

#[test]
fn failures_are_reported_and_rules_and_links_are_respected() {
    let cli = notes();
    let outside = cli.folder().join("outside");
    fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, cli.folder().join("notes/link")).unwrap();
    let watching = Watching::begin(&cli, &["notes"]);
    fs::write(outside.join("a.md"), "# Outside\n\nNobody reads this.").unwrap();
    // Most of a folder is kept, since it may not be mounted.
    let names: Vec<String> = harbor_notes().iter().take(5).map(|(name, _)| format!("notes/{name}")).collect();
    for name in &names {
        fs::rename(cli.folder().join(name), outside.join(name.rsplit('/').next().unwrap())).unwrap();
    }
    let said = watching.line_with("warning: ");
    assert!(said.contains("5 of the 6 documents"), "{said}");
    for name in &names {
        fs::rename(outside.join(name.rsplit('/').next().unwrap()), cli.folder().join(name)).unwrap();
    }
    let left_out = names[0].rsplit('/').next().unwrap();
    cli.write("notes/.ignore", format!("{left_out}\n"));
    watching.line_with("5 documents (0 added, 0 changed, 1 removed)");
    assert_eq!(watching.interrupt().0, Some(0));
}

#[test]
fn each_version_is_an_object_of_its_own() {
    let cli = notes();
    let mut child = cli
        .command(["index", "--watch", "notes", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> serde_json::Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["version"], 1);
    cli.write("notes/new.md", "# Wren Quay\n\nWren Quay is the quay of Port Halven.");
    let report = next();
    assert_eq!((&report["version"], &report["documents"]["added"]), (&2.into(), &1.into()));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn what_cannot_be_watched_is_refused() {
    let cli = notes();
    let said = cli.run(["index", "-", "--watch"]);
    assert!(said.stderr.contains("standard input cannot"), "{said:#?}");
    let said = cli.run(["index", "nowhere", "--watch"]);
    assert!(said.stderr.contains("nowhere"), "{said:#?}");
    let said = cli.run(["index", "notes", "--watch", "--dry-run"]);
    assert!(said.stderr.contains("cannot be used with"), "{said:#?}");
}
