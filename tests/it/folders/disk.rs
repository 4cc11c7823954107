//! When data reaches the disk, and what happens when the disk fails: the program runs under `strace`, which shows
//! system calls and makes chosen ones fail.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::indexed;
use crate::support::{Cli, CommandOutput, has_segments, left_out};

/// Runs the program under `strace` with these options; returns the output of both, or none if `strace` is missing or
/// may not trace.
fn traced(cli: &Cli, options: &[&str], args: &[&str]) -> Option<(CommandOutput, String)> {
    let trace = cli.folder().join("trace");
    let works = Command::new("strace").args(["-o", "/dev/null", "true"]).output();
    if !works.is_ok_and(|it| it.status.success()) {
        left_out("it needs `strace`, and the right to trace");
        return None;
    }
    let program = cli.command(args);
    let mut command = Command::new("strace");
    command.args(["-f", "-y", "-o"]).arg(&trace).args(options).arg(program.get_program()).args(program.get_args());
    command.current_dir(cli.folder()).env_clear().env("HOME", cli.folder()).env("RAYON_NUM_THREADS", "1");
    let said = CommandOutput::of(command.output().unwrap());
    Some((said, fs::read_to_string(trace).unwrap()))
}

#[test]
fn a_version_is_on_the_disk_with_every_folder_before_it_has_its_name() {
    let cli = indexed();
    for number in 0..12 {
        cli.write(&format!("notes/{number}.md"), format!("Note {number}."));
    }
    cli.run(["index", "notes"]).succeeded();
    let before = files_of(&cli.folder().join(".cairn/versions/2"));
    // So few that the terms and vectors of all others are taken over.
    cli.write("notes/more.md", "More.");
    let options = ["-e", "trace=fsync,fdatasync,rename,renameat,renameat2"];
    let Some((said, trace)) = traced(&cli, &options, &["index", "notes"]) else { return };
    said.succeeded();
    let named = trace.lines().position(|line| line.contains("rename") && line.contains("versions/.tmp-3\""));
    let named = named.unwrap_or_else(|| panic!("the version is never named: {trace}"));
    let is_synced = |path: &str, lines: &[&str]| {
        let end = format!("{path}>");
        lines.iter().any(|line| line.contains("sync(") && line.contains(&end))
    };
    let lines: Vec<&str> = trace.lines().collect();
    for folder in ["/text/passages", "/text/sentences", "/text/added-passages", "/text/added-sentences", "/text", ""] {
        assert!(is_synced(&format!("versions/.tmp-3{folder}"), &lines[..named]), "{folder}: {trace}");
    }
    let files = files_of(&cli.folder().join(".cairn/versions/3"));
    // Both versions share their vectors.
    let shared: Vec<&PathBuf> = files.iter().filter(|it| before.contains_key(it.0)).map(|it| it.1).collect();
    assert_eq!(shared, [&cli.folder().join(".cairn/versions/3/vectors.bin")]);
    for path in files.values() {
        let name = path.strip_prefix(cli.folder().join(".cairn/versions/3")).unwrap().to_str().unwrap();
        // It is written under another name, which the trace shows, unless it is there already.
        let stem = name.strip_suffix(".bin").filter(|_| !shared.contains(&path));
        let name = stem.map_or_else(|| name.to_owned(), |stem| format!("{stem}.tmp"));
        assert!(is_synced(&format!("versions/.tmp-3/{name}"), &lines[..named]), "{name}: {trace}");
    }
    assert!(is_synced(".cairn/versions", &lines[named..]), "{trace}");
}

/// Returns the files in a folder, by inode.
fn files_of(folder: &Path) -> BTreeMap<u64, PathBuf> {
    let files = super::listed(folder).into_iter().filter(|it| it.1.is_some());
    files.map(|(path, _)| (fs::metadata(&path).unwrap().ino(), path)).collect()
}

/// Returns the program with an index that was made by a run over a changed note: its version has segments.
fn indexed_after_a_change() -> Cli {
    let cli = indexed();
    for number in 0..12 {
        cli.write(&format!("notes/{number}.md"), format!("Note {number}."));
    }
    cli.json(&["index", "notes"]);
    cli.write("notes/0.md", "Another note.");
    cli.json(&["index", "notes"]);
    assert!(has_segments(&cli.folder().join(".cairn"), 3), "the version has no segments");
    cli
}

/// Each call in turn fails with an error of a failing disk.
#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_failing_disk_is_reported_and_the_current_version_stays() {
    [indexed(), indexed_after_a_change()].iter().for_each(fail_each_sync);
}

fn fail_each_sync(cli: &Cli) {
    let before = (cli.canonical(".cairn"), cli.json(&["status"])["version"].clone());
    cli.write("notes/more.md", "More of the mill.");
    let (index, kept) = (cli.folder().join(".cairn"), cli.folder().join("kept"));
    fs::rename(&index, &kept).unwrap();
    let (mut failed_count, mut last) = (0, 0);
    for call in ["fsync", "fdatasync"] {
        for number in 1..200 {
            let _first = fs::remove_dir_all(&index);
            assert!(Command::new("cp").arg("-r").args([&kept, &index]).status().unwrap().success());
            let inject = format!("inject={call}:error=EIO:when={number}");
            let Some((said, trace)) =
                traced(cli, &["-e", &format!("trace={call}"), "-e", &inject], &["index", "notes"])
            else {
                return;
            };
            if !trace.contains("(INJECTED)") {
                assert_eq!(said.status, Some(0), "{said:#?}");
                last += number;
                break;
            }
            failed_count += 1;
            said.has_not_panicked();
            let (now, version) = (cli.canonical(".cairn"), cli.json(&["status"])["version"].clone());
            if said.status == Some(0) {
                continue;
            }
            assert_eq!(said.status, Some(8), "{call} {number}: {said:#?}");
            assert!(said.stderr.contains("hint: "), "{said:#?}");
            assert_eq!((&now, &version), (&before.0, &before.1), "{call} {number}: {said:#?}");
        }
    }
    assert!(failed_count > 10 && last > 10, "{failed_count} calls failed, {last} were made");
}

/// Whoever wants files to be read, not mapped, must not be killed when somebody truncates one.
#[test]
fn no_file_of_a_version_is_mapped_where_that_is_refused() {
    let cli = indexed_after_a_change();
    let maps = |args: &[&str]| {
        let (said, trace) = traced(&cli, &["-e", "trace=mmap"], args)?;
        said.succeeded();
        // Nobody else uses an unfinished version: the text index maps what it has written of it.
        let is_finished = |line: &str| line.contains(".cairn/versions/") && !line.contains(".cairn/versions/.tmp-");
        Some(trace.lines().any(is_finished))
    };
    match maps(&["search", "mill"]) {
        None => return,
        Some(false) => return left_out("it needs a local disk, whose files are mapped"),
        Some(true) => {}
    }
    let commands: [&[&str]; 8] = [
        &["search", "mill"],
        &["ask", "Who mapped the Tarn?"],
        &["path", "document:Mill", "document:Tarn"],
        &["index", "notes"],
        &["check"],
        &["doctor"],
        &["export", "--canonical"],
        &["report", "--question", "Who mapped the Tarn?"],
    ];
    for args in commands {
        assert_eq!(maps(&[args, &["--no-mmap"]].concat()), Some(false), "{args:?}");
    }
    cli.write("notes/more.md", "More of the mill.");
    assert_eq!(maps(&["index", "notes", "--no-mmap"]), Some(false));
}
