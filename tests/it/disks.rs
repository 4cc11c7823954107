//! A full disk: existing data can be read, and readers see the last version.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::Connection;

use crate::support::flips::copy;
use crate::support::{Cli, has_segments, left_out};

/// A small disk in memory, which is unmounted when this value is dropped.
struct Disk {
    folder: tempfile::TempDir,
}

impl Disk {
    /// Mounts one; none if that is not allowed.
    fn new() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let args = ["-t", "tmpfs", "-o", "size=4m", "tmpfs"];
        let mounted = Command::new("mount").args(args).arg(folder.path()).output();
        mounted.is_ok_and(|output| output.status.success()).then_some(Self { folder })
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Fills the disk completely.
    fn fill(&self) {
        let mut file = fs::File::create(self.path().join("filled")).unwrap();
        for size in [1 << 16, 1 << 12, 1] {
            while file.write_all(&vec![0; size]).is_ok() {}
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _unmounted = Command::new("umount").arg(self.path()).output();
    }
}

/// Returns the program with an index of two versions; the second one, which shares segments with the first, is only in
/// the log of the records.
fn with_log(disk: &Disk) -> (Cli, PathBuf) {
    let cli = Cli::new();
    cli.write("notes/mill.md", "# The mill\n\nAda Wren built the mill in 1790.");
    for number in 0..4 {
        cli.write(&format!("notes/quay-{number}.md"), format!("# Quay {number}\n\nIt burned in 180{number}."));
    }
    cli.json(&["index", "notes"]);
    // While the records are open, the log is not written back.
    let reader = Connection::open(cli.folder().join(".cairn/cairn.db")).unwrap();
    reader.query_row("SELECT count(*) FROM documents", [], |row| row.get::<_, i64>(0)).unwrap();
    cli.write("notes/bridge.md", "# The bridge\n\nTom Hale drew the bridge.");
    cli.json(&["index", "notes"]);
    let index = disk.path().join("index");
    copy(&cli.folder().join(".cairn"), &index);
    assert!(has_segments(&index, 2), "the version has no segments");
    fs::remove_file(index.join("cairn.db-shm")).unwrap();
    assert!(fs::metadata(index.join("cairn.db-wal")).unwrap().len() > 0);
    drop(reader);
    (cli, index)
}

#[test]
fn readers_continue_on_a_full_disk_and_see_the_last_version() {
    let Some(disk) = Disk::new() else { return left_out("no file system can be mounted here") };
    let (cli, index) = with_log(&disk);
    disk.fill();
    let index = index.to_str().unwrap();
    for _ in 0..2 {
        let found = cli.json(&["search", "bridge", "--index", index]);
        assert_eq!((&found["version"], &found["hits"][0]["source_id"]), (&2.into(), &"notes/bridge.md".into()));
        assert_eq!(cli.json(&["status", "--index", index])["version"], 2);
        cli.run(["check", "--index", index]).succeeded();
    }
    // Failing to write is reported, but not as damage.
    cli.write("notes/lamp.md", "# The lamp\n\nAda Wren bought a lamp.");
    let said = cli.run(["index", "notes", "--index", index]);
    assert_eq!(said.status, Some(8), "{said:#?}");
    assert_eq!(cli.json(&["search", "bridge", "--index", index])["version"], 2);
}

#[test]
fn records_without_a_log_are_read_as_they_are_where_the_disk_is_full() {
    let Some(disk) = Disk::new() else { return left_out("no file system can be mounted here") };
    let cli = Cli::new();
    cli.write("notes/mill.md", "# The mill\n\nAda Wren built the mill in 1790.");
    cli.json(&["index", "notes"]);
    let index = disk.path().join("index");
    copy(&cli.folder().join(".cairn"), &index);
    disk.fill();
    let found = cli.json(&["search", "mill", "--index", index.to_str().unwrap()]);
    assert_eq!(found["version"], 1);
}
