//! Writers that are killed: at any moment the last version stays readable, and the next run produces what it would have
//! produced without the kill.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use cairn::store::GraphReader as _;
use cairn::{Sources, Workspace};

use super::{Cli, Random, canonical, harbor_files, has_segments, index};

/// What happened to writers.
#[derive(Debug, Default)]
pub(crate) struct Writers {
    /// Those that a signal ended.
    pub(crate) killed: u64,
    /// Those that finished before they were killed.
    pub(crate) finished: u64,
    /// Those of both that began with a version that has segments.
    pub(crate) segmented: u64,
    /// Documents that their runs were to index, in total.
    pub(crate) documents: u64,
}

/// Kills writers of one index at moments spread over a whole run, until `kills` were killed or `time_max` has passed.
///
/// Fails if the last version cannot be read, an unexpected one appears, or a document is lost or duplicated: the final
/// index is compared with one made in a single run.
pub(crate) fn kill_writers(random: &mut Random, kills: u64, time_max: Duration) -> Writers {
    let cli = Cli::new();
    for (name, text) in harbor_files() {
        cli.write(&format!("harbor/{name}"), text);
    }
    cli.json(&["index", "harbor"]);
    edit(&cli, random);
    let started = Instant::now();
    cli.json(&["index", "harbor"]);
    // How long a run of a few changes takes, which is corrected by whether kills come too late.
    let mut usual = started.elapsed();
    let path = cli.folder().join(".cairn");
    assert!(has_segments(&path, 2), "the version has no segments");
    let started = Instant::now();
    let (mut version, mut came) = (2, Writers::default());
    let mut published = contents(&cli);
    while came.killed < kills && started.elapsed() < time_max {
        edit(&cli, random);
        let current = contents(&cli);
        came.documents += current.len() as u64;
        came.segmented += u64::from(has_segments(&path, version));
        let mut writer = cli.command(["index", "harbor"]).stderr(Stdio::null()).spawn().unwrap();
        // The moment itself is tested: there is nothing to wait for.
        thread::sleep(usual.mul_f64(random.below(1000) as f64 / 900.0));
        writer.kill().unwrap();
        let status = writer.wait().unwrap();
        let last = Workspace::open(&path).unwrap().snapshot().unwrap();
        let now = last.version().0;
        if status.signal().is_some() {
            came.killed += 1;
            usual = usual.mul_f64(1.05);
            // It may have finished the version before it was killed.
            assert!(now == version || now == version + 1, "{now} after {version}");
        } else {
            came.finished += 1;
            usual = usual.mul_f64(0.8);
            assert!(status.success(), "{status}");
            // An edit may undo a recorded one, or one that no version had yet.
            let is_undone = now == version && current == published;
            assert!(now == version + 1 || is_undone, "{now} after {version}");
        }
        if now > version {
            published = current;
        }
        version = now;
        assert!(!last.canonical_lines().unwrap().is_empty());
        cli.run(["search", "Heron Bridge"]).succeeded();
    }
    cli.json(&["index", "harbor"]);
    let status = cli.json(&["status"]);
    assert_eq!((status["units"]["pending"].as_u64(), status["units"]["failed"].as_u64()), (Some(0), Some(0)));
    let clean = cli.folder().join("clean");
    index(&clean, &Sources::folder(cli.folder().join("harbor")));
    assert!(canonical(&path) == canonical(&clean), "the index is not that of a run that nobody killed");
    // The remains of killed runs are removed: earlier and unfinished versions.
    assert_eq!(fs::read_dir(path.join("versions")).unwrap().count(), 1);
    came
}

/// Returns the documents by name.
fn contents(cli: &Cli) -> BTreeMap<OsString, String> {
    let files = fs::read_dir(cli.folder().join("harbor")).unwrap().map(Result::unwrap);
    files.map(|file| (file.file_name(), fs::read_to_string(file.path()).unwrap())).collect()
}

/// Changes, adds or removes a document.
fn edit(cli: &Cli, random: &mut Random) {
    let number = random.below(1_000_000);
    let name = format!("harbor/note-{}.txt", random.below(4));
    match random.below(4) {
        0 if cli.folder().join(&name).exists() => fs::remove_file(cli.folder().join(&name)).unwrap(),
        _ => drop(cli.write(&name, format!("Note {number}\n\nHeron Bridge was painted {number} times."))),
    }
}
