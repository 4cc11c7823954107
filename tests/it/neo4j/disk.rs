//! A server whose disk is full.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::neo4j::server;
use crate::support::{Cli, left_out};

use super::write_harbor;

/// Free space on the full disk: enough for the graph, which goes into existing files, and too little for its indexes.
const FREE: u64 = 800 << 10;

/// A small disk in memory, which is unmounted when this value is dropped.
struct Disk(PathBuf);

impl Disk {
    /// Mounts it; reports what is left out if that is not allowed.
    fn mount(at: &Path) -> Option<Self> {
        fs::create_dir_all(at).unwrap();
        let mut mount = Command::new("mount");
        let mounted = mount.args(["-t", "tmpfs", "-o", "size=160m", "tmpfs"]).arg(at).output();
        if mounted.is_ok_and(|it| it.status.success()) {
            return Some(Self(at.to_owned()));
        }
        left_out("it needs leave to mount a small disk");
        None
    }

    /// Fills it except for [`FREE`].
    fn fill(&self) -> PathBuf {
        let free = Command::new("df").args(["--block-size=1", "--output=avail"]).arg(&self.0).output().unwrap();
        let free = String::from_utf8(free.stdout).unwrap();
        let free: u64 = free.lines().last().unwrap().trim().parse().unwrap();
        let ballast = self.0.join("ballast");
        let mut file = File::create(&ballast).unwrap();
        let block = vec![0; 1 << 20];
        let mut due = usize::try_from(free.saturating_sub(FREE)).unwrap();
        while due > 0 {
            let length = due.min(block.len());
            file.write_all(&block[..length]).unwrap();
            due -= length;
        }
        ballast
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily: a server that was killed may still be ending.
        let _ended = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

mod long_tests {
    use super::*;

    #[test]
    #[ignore = "it starts a server of its own: `--test torture` runs it"]
    fn a_server_whose_disk_is_full_is_named_and_publishing_again_ends_in_the_same_graph() {
        let home = tempfile::tempdir().unwrap();
        let Some(disk) = Disk::mount(&home.path().join("data")) else { return };
        // The transaction log has this size from the start, as with any setting.
        let Some(server) = server(home.path(), "db.tx_log.rotation.size=8m") else { return };
        let cli = Cli::new();
        write_harbor(&cli);
        cli.json(&["index", "harbor"]);
        let publish = ["publish", "--neo4j", &server.uri()];

        let ballast = disk.fill();
        let words = ["indexes could not be filled: cairn_", "hint: check the server's log for a full disk"];
        cli.refuses(&publish, "io", &words);
        // The graph itself is there, and a check says what is missing.
        let exported = || cli.run(["export", "--canonical", "--neo4j", &server.uri()]).succeeded().stdout;
        assert!(exported() == cli.canonical(".cairn"));
        let said = cli.run(["check", "--neo4j", &server.uri()]);
        assert!(said.status == Some(7) && said.stderr.contains("cairn_"), "{said:#?}");

        fs::remove_file(ballast).unwrap();
        let report = cli.json(&publish);
        assert!(report["written"] == 0 && report["index_seconds"].is_number(), "{report}");
        cli.run(["check", "--neo4j", &server.uri()]).succeeded();
        assert!(exported() == cli.canonical(".cairn"));
    }
}
