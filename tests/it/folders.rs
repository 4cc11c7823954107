//! Foreign content in the folder of an index: links, pipes, folders, other people's files. Nothing outside the folder
//! is touched, nothing hangs, and what cannot be used is named.

mod disk;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::{Cli, CommandOutput};

/// A program in a folder with an index of two documents.
fn indexed() -> Cli {
    let cli = Cli::new();
    cli.write("notes/mill.md", "# Mill\n\nThe mill of Ada Lorne stands by the river Tarn. It was built in 1890.");
    cli.write("notes/tarn.txt", "Tarn\n\nThe Tarn is a river. Ada Lorne mapped it in 1889.");
    cli.json(&["index", "notes"]);
    cli
}

/// Returns every path below a folder, with the contents of files.
fn listed(folder: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let kind = entry.file_type().unwrap();
            found.push((entry.path(), kind.is_file().then(|| fs::read(entry.path()).unwrap())));
            if kind.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

/// Runs the program and fails if it does not end in time.
#[track_caller]
fn run_within(cli: &Cli, time: Duration, args: &[&str]) -> CommandOutput {
    let mut command = cli.command(args);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > time {
            child.kill().unwrap();
            panic!("{args:?} has not ended within {time:?}: {:?}", child.wait_with_output().unwrap());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    CommandOutput::of(child.wait_with_output().unwrap())
}

#[test]
fn what_is_not_part_of_an_index_stays_and_is_named() {
    let cli = indexed();
    let foreign = [".cairn/versions/thesis/chapter.md", ".cairn/versions/1/notes.txt", ".cairn/versions/old.tar"];
    for path in foreign {
        cli.write(path, "years of work");
    }
    for text in ["One.", "Two.", "Three."] {
        cli.write("notes/more.md", text);
        let said = cli.run(["index", "notes"]).succeeded();
        assert!(said.stderr.contains("is not part of the index and was left as it was"), "{said:#?}");
    }
    for path in foreign {
        assert_eq!(fs::read_to_string(cli.folder().join(path)).unwrap(), "years of work", "{path}");
    }
    assert_eq!(fs::read_dir(cli.folder().join(".cairn/versions/1")).unwrap().count(), 1);
    cli.write(".cairn/versions/5/thesis.md", "years of work");
    cli.write("notes/more.md", "Four.");
    cli.refuses(&["index", "notes"], "input", &["5/thesis.md", "not part of an index", "move it elsewhere"]);
    assert_eq!(cli.json(&["status"])["version"], 4);
}

#[test]
fn an_edited_document_of_the_demo_is_kept() {
    let cli = Cli::new();
    let path = cli.write("cairn-demo/harbor/sarrow.md", "# Sarrow\n\nMy own island.");
    let said = cli.run(["demo"]).succeeded();
    assert!(said.stderr.contains("1 document in cairn-demo/harbor with a text that is not the demo's"), "{said:#?}");
    assert_eq!(fs::read_to_string(path).unwrap(), "# Sarrow\n\nMy own island.");
}

#[test]
fn a_deadline_covers_opening() {
    let cli = indexed();
    // An exclusive lock on the records keeps readers waiting.
    let holder = rusqlite::Connection::open(cli.folder().join(".cairn/cairn.db")).unwrap();
    holder.pragma_update_and_check(None, "locking_mode", "EXCLUSIVE", |_| Ok(())).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE; UPDATE manifest SET changed = changed; COMMIT").unwrap();
    for command in ["search", "ask"] {
        let said = run_within(&cli, Duration::from_secs(6), &[command, "--deadline", "1", "mill"]);
        assert_eq!(said.status, Some(11), "{said:#?}");
        assert!(said.stderr.contains("while opening the index"), "{said:#?}");
    }
    drop(holder);
    run_within(&cli, Duration::from_mins(1), &["search", "--deadline", "30", "mill"]).succeeded();
}

#[test]
fn an_index_that_is_read_into_memory_answers_as_one_that_is_mapped() {
    let cli = indexed();
    let mapped = cli.json(&["search", "mill of Ada Lorne"]);
    assert_eq!(cli.json(&["search", "--no-mmap", "mill of Ada Lorne"]), mapped);
    cli.write("cairn.toml", "no_mmap = true\n");
    assert_eq!(cli.json(&["search", "mill of Ada Lorne"]), mapped);
}

#[test]
fn reading_an_index_changes_nothing_in_it() {
    let cli = indexed();
    let before = listed(&cli.folder().join(".cairn"));
    let commands: [&[&str]; 8] = [
        &["search", "mill"],
        &["ask", "Who mapped the Tarn?"],
        &["path", "document:Mill", "document:Tarn"],
        &["status"],
        &["check"],
        &["doctor"],
        &["export", "--canonical"],
        &["report", "--question", "Who mapped the Tarn?"],
    ];
    for args in commands {
        cli.run(args).succeeded();
        assert!(listed(&cli.folder().join(".cairn")) == before, "{args:?} changed something");
    }
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;

    fn fifo(path: &Path) {
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    /// Makes a folder with somebody's files, some of them with names that we use.
    fn elsewhere(cli: &Cli) -> PathBuf {
        cli.write("elsewhere/thesis/chapter.md", "years of work");
        cli.write("elsewhere/6/graph.bin", "x");
        cli.write("elsewhere/.tmp-2/texts.bin", "x");
        cli.write("elsewhere/graph.bin", "x");
        cli.folder().join("elsewhere")
    }

    #[test]
    fn versions_behind_a_link_are_refused_and_nothing_there_is_touched() {
        let cli = indexed();
        let other = elsewhere(&cli);
        let versions = cli.folder().join(".cairn/versions");
        fs::rename(&versions, other.join("moved")).unwrap();
        for target in [other.clone(), other.join("moved"), other.join("absent")] {
            symlink(&target, &versions).unwrap();
            let before = listed(&other);
            cli.refuses(&["index", "notes"], "input", &["versions` is a symbolic link", "--index DIR", "hint: "]);
            cli.refuses(&["search", "mill"], "input", &["versions` is a symbolic link"]);
            cli.write("notes/more.md", format!("More of {}.", target.display()));
            cli.refuses(&["index", "notes"], "input", &["versions` is a symbolic link"]);
            assert_eq!(listed(&other), before);
            fs::remove_file(&versions).unwrap();
        }
        fs::rename(other.join("moved"), &versions).unwrap();
        cli.json(&["index", "notes"]);
    }

    #[test]
    fn links_among_the_versions_are_neither_followed_nor_removed() {
        let cli = indexed();
        let other = elsewhere(&cli);
        let (before, versions) = (listed(&other), cli.folder().join(".cairn/versions"));
        symlink(&other, versions.join("7")).unwrap();
        symlink(&other, versions.join(".tmp-7")).unwrap();
        for text in ["One.", "Two."] {
            cli.write("notes/more.md", text);
            let report = cli.json(&["index", "notes"]);
            assert!(report["warnings"].to_string().contains("versions/.tmp-7` and 1 more"), "{report}");
        }
        // The number of the next version.
        symlink(&other, versions.join("4")).unwrap();
        cli.write("notes/more.md", "Three.");
        cli.refuses(&["index", "notes"], "input", &["versions/4", "move it elsewhere"]);
        fs::remove_file(versions.join("4")).unwrap();
        // The version that is read.
        fs::rename(versions.join("3"), other.join("3")).unwrap();
        symlink(other.join("3"), versions.join("3")).unwrap();
        cli.refuses(&["search", "mill"], "input", &["versions/3` is a symbolic link"]);
        fs::remove_file(versions.join("3")).unwrap();
        fs::rename(other.join("3"), versions.join("3")).unwrap();
        assert_eq!(listed(&other), before);
        cli.json(&["search", "mill"]);
    }

    /// `SQLite` applies a journal at once: it truncates and overwrites the database as the journal says, and deletes
    /// files that it names.
    #[test]
    fn a_foreign_journal_beside_the_records_is_not_applied() {
        let cli = indexed();
        let index = cli.folder().join(".cairn");
        let before = fs::read(index.join("cairn.db")).unwrap();
        // The journal of a database with one page of 4,096 bytes: ours would be truncated to that.
        let mut journal = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7".to_vec();
        for number in [0_u32, 7, 1, 512, 4_096] {
            journal.extend(number.to_be_bytes());
        }
        journal.resize(512, 0);
        fs::write(index.join("cairn.db-journal"), &journal).unwrap();
        for args in [&["search", "mill"][..], &["status"], &["check"], &["index", "notes"]] {
            cli.refuses(args, "input", &["cairn.db-journal` is not part of an index", "move it elsewhere"]);
        }
        assert_eq!(fs::read(index.join("cairn.db")).unwrap(), before);
        fs::remove_file(index.join("cairn.db-journal")).unwrap();
        cli.json(&["search", "mill"]);
    }

    /// Whether the folder itself is a link is its user's choice.
    #[test]
    fn the_folder_of_an_index_may_be_a_link() {
        let cli = indexed();
        fs::rename(cli.folder().join(".cairn"), cli.folder().join("index")).unwrap();
        symlink("index", cli.folder().join(".cairn")).unwrap();
        cli.write("notes/more.md", "More.");
        assert_eq!(cli.json(&["index", "notes"])["version"], 2);
        cli.json(&["search", "more"]);
    }

    /// Returns every path that can be a file of an index, including those that exist only at times.
    fn files_of(cli: &Cli) -> Vec<PathBuf> {
        let index = cli.folder().join(".cairn");
        let mut files: Vec<PathBuf> = listed(&index).into_iter().filter(|it| it.1.is_some()).map(|it| it.0).collect();
        for name in ["cairn.db-wal", "cairn.db-shm", "cairn.db-journal", "replies.db", "vectors.part", "lock"] {
            files.push(index.join(name));
        }
        files.sort();
        files.dedup();
        assert!(files.len() > 18, "{files:?}");
        files
    }

    #[test]
    fn something_in_place_of_a_file_is_named_at_once_and_left_alone() {
        type Put<'a> = &'a dyn Fn(&Path);
        let cli = indexed();
        let thesis = cli.write("elsewhere/thesis.txt", "years of work");
        let kinds: [(&str, Put<'_>); 3] = [
            ("a named pipe", &fifo),
            ("a folder", &|path| fs::create_dir(path).unwrap()),
            ("a symbolic link", &|path| symlink(&thesis, path).unwrap()),
        ];
        let kept = cli.folder().join("kept");
        for (number, path) in files_of(&cli).into_iter().enumerate() {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let is_there = path.exists();
            // The next version reads matches and names, but does not need them.
            let is_read = !["lock", "vectors.part", "replies.db", "matches.bin", "names.bin"].contains(&name.as_str());
            if is_there {
                fs::rename(&path, &kept).unwrap();
            }
            // Every file is replaced by a pipe, and alternately by each other kind.
            for (kind, put) in [kinds[0], kinds[1 + number % 2]] {
                put(&path);
                let search = run_within(&cli, Duration::from_secs(10), &["search", "--deadline", "1", "mill"]);
                let index = run_within(&cli, Duration::from_secs(20), &["index", "notes"]);
                search.has_not_panicked();
                index.has_not_panicked();
                let said = format!("{name}` is {kind}; a file has to be there");
                if is_read {
                    assert_eq!(search.status, Some(3), "{name} is {kind}: {search:#?}");
                    assert!(search.stderr.contains(&said) && search.stderr.contains("hint: "), "{search:#?}");
                    assert_eq!(index.status, Some(3), "{name} is {kind}: {index:#?}");
                } else {
                    search.succeeded();
                }
                if fs::remove_file(&path).is_err() {
                    fs::remove_dir(&path).unwrap();
                }
            }
            if is_there {
                fs::rename(&kept, &path).unwrap();
            }
        }
        assert_eq!(fs::read_to_string(&thesis).unwrap(), "years of work");
        cli.json(&["search", "mill"]);
    }

    #[test]
    fn a_pipe_in_the_place_of_a_named_file_is_refused_at_once() {
        let cli = indexed();
        let pipe = cli.folder().join("pipe");
        fifo(&pipe);
        let commands: [&[&str]; 6] = [
            &["status", "--config", "pipe"],
            &["search", "--weights", "pipe", "mill"],
            &["eval", "retrieval", "--questions", "pipe"],
            &["eval", "compare", "--questions", "pipe", "pipe", "pipe"],
            &["cache", "import", "pipe"],
            &["ask", "mill", "--model", "openai:m", "--replay", "pipe"],
        ];
        for args in commands {
            let said = run_within(&cli, Duration::from_secs(10), args);
            assert_eq!(said.status, Some(3), "{args:?}: {said:#?}");
            assert!(said.stderr.contains("pipe` is a named pipe"), "{args:?}: {said:#?}");
        }
        fs::rename(&pipe, cli.folder().join("cairn.toml")).unwrap();
        let said = run_within(&cli, Duration::from_secs(10), &["status"]);
        assert_eq!(said.status, Some(3), "{said:#?}");
    }

    #[test]
    fn the_demo_writes_through_no_link() {
        let cli = Cli::new();
        let thesis = cli.write("elsewhere/sarrow.md", "years of work");
        symlink("elsewhere", cli.folder().join("cairn-demo")).unwrap();
        assert_eq!(cli.run(["demo"]).status, Some(3));
        fs::remove_file(cli.folder().join("cairn-demo")).unwrap();
        fs::create_dir_all(cli.folder().join("cairn-demo/harbor")).unwrap();
        symlink(&thesis, cli.folder().join("cairn-demo/harbor/sarrow.md")).unwrap();
        assert_eq!(cli.run(["demo"]).status, Some(3));
        assert_eq!(fs::read_to_string(&thesis).unwrap(), "years of work");
        assert_eq!(listed(&cli.folder().join("elsewhere")).len(), 1);
    }
}
