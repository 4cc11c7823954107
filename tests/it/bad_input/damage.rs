//! Parts of an index cut, lost or changed: searching reports the damage, and indexing again rebuilds everything from
//! the records.

use std::fs;
use std::path::Path;

use super::{files_below, indexed};
use crate::support::Cli;

/// Damages the file at `path`: cuts it, removes it, or changes a byte of it.
fn damage(path: &Path, how: usize) {
    let mut bytes = fs::read(path).unwrap();
    match how % 3 {
        0 => fs::write(path, &bytes[..bytes.len() / 2]).unwrap(),
        1 => fs::remove_file(path).unwrap(),
        _ => {
            let at = bytes.len() / 2;
            bytes[at] ^= 0x10;
            fs::write(path, bytes).unwrap();
        }
    }
}

/// Each part is damaged in one of several ways; the tests of each part check that it detects all of them.
#[test]
fn every_derived_part_is_made_again_from_the_records() {
    let cli = indexed();
    let before = cli.canonical(".cairn");
    let parts = |cli: &Cli, version: u64| {
        let folder = cli.folder().join(".cairn/versions").join(version.to_string());
        let name = |path: std::path::PathBuf| path.strip_prefix(&folder).unwrap().to_owned();
        files_below(&folder).into_iter().map(name).collect::<Vec<_>>()
    };
    let count = parts(&cli, 1).len();
    assert!(count > 10, "{count} parts");
    for number in 0..count {
        let version = number as u64 + 1;
        // Names of parts differ between versions; their order does not.
        let part = parts(&cli, version).swap_remove(number);
        damage(&cli.folder().join(".cairn/versions").join(version.to_string()).join(&part), number);
        let name = part.file_name().unwrap().to_str().unwrap();
        let said = cli.run(["search", "mill"]);
        if ["matches.bin", "names.bin"].contains(&name) {
            // This part is only used by the next version.
            assert_eq!(said.status, Some(0), "{said:#?}");
            let said = cli.run(["check"]);
            assert!(said.status == Some(7) && format!("{said:?}").contains(name), "{said:#?}");
            cli.run(["check", "--repair"]).succeeded();
            continue;
        }
        assert_eq!((said.status, said.stdout.as_str()), (Some(7), ""), "{name}: {said:#?}");
        for word in ["damaged", name, "hint: run `", "index` again"] {
            assert!(said.stderr.contains(word), "{word}: {said:#?}");
        }
        let report = cli.json(&["index", "notes"]);
        assert_eq!(report["version"], version + 1, "{name}: {report}");
        assert_eq!(report["documents"]["unchanged"], 2, "{name}: {report}");
    }
    assert_eq!(cli.canonical(".cairn"), before);
    fs::remove_dir_all(cli.folder().join(".cairn/versions")).unwrap();
    cli.refuses(&["search", "mill"], "corrupt", &["damaged", "index` again"]);
    cli.json(&["index", "notes"]);
    assert_eq!(cli.canonical(".cairn"), before);
}

#[test]
fn lost_or_damaged_records_are_named_and_can_be_recreated_elsewhere() {
    let cli = indexed();
    let path = cli.folder().join(".cairn/cairn.db");
    let whole = fs::read(&path).unwrap();
    let damaged: [(&str, Vec<u8>); 4] = [
        ("empty", Vec::new()),
        ("no database", b"no database at all, but long enough to be one".repeat(100)),
        ("cut", whole[..whole.len() / 2].to_vec()),
        ("changed", whole.iter().enumerate().map(|(at, byte)| if at > 100 { byte ^ 0x55 } else { *byte }).collect()),
    ];
    for (what, bytes) in damaged {
        fs::write(&path, bytes).unwrap();
        for args in [&["search", "mill"][..], &["status"], &["index", "notes"]] {
            let words = ["damaged", "cairn.db", "remove the folder", "index the documents again"];
            cli.refuses(args, "corrupt", &words);
        }
        assert!(cli.folder().join(".cairn/versions/1").is_dir(), "{what}");
    }
    fs::remove_file(&path).unwrap();
    cli.refuses(&["search", "mill"], "corrupt", &["cairn.db`: it is not there", "index the documents again"]);
    cli.refuses(&["status"], "corrupt", &["cairn.db`: it is not there"]);
    // What is left of an index does not prevent a new one.
    let report = cli.json(&["index", "notes"]);
    assert_eq!((&report["documents"]["added"], &report["version"]), (&2.into(), &1.into()));
    assert_eq!(cli.json(&["search", "mill"])["hits"][0]["source_id"], "notes/mill.md");
}

/// Damage that the database does not detect is read as text; any other is an error. Nothing panics.
#[test]
fn records_changed_anywhere_never_make_the_program_panic() {
    let cli = indexed();
    let path = cli.folder().join(".cairn/cairn.db");
    let whole = fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(whole.len() / 16 + 1).chain([18, 60, 101]) {
        let mut changed = whole.clone();
        changed[at] ^= 0xff;
        fs::write(&path, changed).unwrap();
        for args in [&["status"][..], &["search", "mill"], &["index", "notes"]] {
            let said = cli.run(args);
            said.has_not_panicked();
            assert!(matches!(said.status, Some(0 | 6 | 7 | 8)), "{at}: {args:?}: {said:#?}");
        }
    }
}

#[test]
fn a_lost_lock_is_created_again() {
    let cli = indexed();
    let lock = cli.folder().join(".cairn/lock");
    fs::remove_file(&lock).unwrap();
    cli.run(["search", "mill"]).succeeded();
    cli.run(["index", "notes"]).succeeded();
    assert!(lock.is_file());
    fs::write(lock, "anything").unwrap();
    cli.run(["index", "notes"]).succeeded();
}
