//! Every file and folder of an index replaced by something else with its name, and foreign files beside them.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{OUTSIDE, chosen, templates, withstands};
use crate::run::{Run, Tally};
use crate::template::Template;

/// What may replace a file or folder.
const WAYS: [&str; 14] = [
    "nothing",
    "an empty file",
    "an empty folder",
    "a pipe",
    "a socket",
    "a link to a pipe",
    "a link to itself",
    "a link to nothing",
    "a link to the endless device",
    "a link to the full device",
    "a link to a file outside",
    "a link to a folder outside",
    "a link to itself, moved outside",
    "a file of a terabyte",
];

/// What may be in an index of a version `N` without belonging there.
const BESIDE: [&str; 27] = [
    "cairn.db-wal",
    "cairn.db-shm",
    "cairn.db-journal",
    "cairn.db-new",
    "cairn.db-new-journal",
    "cairn.db-new-wal",
    "replies.db",
    "replies.db-wal",
    "vectors.part",
    "vectors.tmp",
    "versions/0",
    "versions/2",
    "versions/3",
    "versions/9",
    "versions/.tmp-1",
    "versions/.tmp-2",
    "versions/.tmp-3",
    "versions/18446744073709551615",
    "versions/1x",
    "versions/N/more",
    "versions/N/text/passages/.tantivy-writer.lock",
    "versions/N/text/passages/.tantivy-meta.lock",
    "versions/N/text/added-passages",
    "versions/N/text/added-sentences",
    "versions/N/segments.bin",
    "versions/N/names.tmp",
    "notes",
];

pub(super) fn run(run: &Run) -> Tally {
    let templates = templates();
    let mut cases: Vec<(&Template, PathBuf, &str)> = Vec::new();
    for template in &templates {
        for place in places(template) {
            cases.extend(WAYS.map(|way| (template, place.clone(), way)));
        }
    }
    let cases = chosen(run, cases);
    run.each("crafted-places", cases.len() as u64, |number, _, tally| {
        let (template, place, way) = &cases[number as usize];
        try_one(template, place, way, tally);
    })
}

/// Returns the folder of an index, everything in it, and what may be beside that.
fn places(template: &Template) -> BTreeSet<PathBuf> {
    let index = template.path().join(".cairn");
    let entries = walkdir::WalkDir::new(&index).into_iter().map(|entry| entry.unwrap().into_path());
    let mut places: BTreeSet<_> = entries.map(|path| path.strip_prefix(&index).unwrap().to_owned()).collect();
    places.extend(BESIDE.map(|place| PathBuf::from(place.replace("versions/N", template.version_name()))));
    places
}

fn try_one(template: &Template, place: &Path, way: &str, tally: &mut Tally) {
    let folder = template.copy();
    let path = if place.as_os_str().is_empty() {
        folder.path().join(".cairn")
    } else {
        folder.path().join(".cairn").join(place)
    };
    let outside = folder.path().join(OUTSIDE);
    let moved = outside.join("moved");
    if fs::symlink_metadata(&path).is_ok() {
        fs::rename(&path, &moved).unwrap();
    } else {
        fs::create_dir(&moved).unwrap();
    }
    match way {
        "nothing" => {}
        "an empty file" => fs::write(&path, "").unwrap(),
        "an empty folder" => fs::create_dir(&path).unwrap(),
        "a pipe" => pipe(&path),
        "a socket" => drop(UnixListener::bind(&path).ok()),
        "a link to a pipe" => {
            pipe(&outside.join("pipe"));
            symlink(outside.join("pipe"), &path).unwrap();
        }
        "a link to itself" => symlink(&path, &path).unwrap(),
        "a link to nothing" => symlink(outside.join("absent"), &path).unwrap(),
        "a link to the endless device" => symlink("/dev/zero", &path).unwrap(),
        "a link to the full device" => symlink("/dev/full", &path).unwrap(),
        "a link to a file outside" => symlink(outside.join("keep.txt"), &path).unwrap(),
        "a link to a folder outside" => symlink(&outside, &path).unwrap(),
        "a link to itself, moved outside" => symlink(&moved, &path).unwrap(),
        "a file of a terabyte" => File::create(&path).unwrap().set_len(1 << 40).unwrap(),
        other => panic!("nobody knows how to make {other}"),
    }
    withstands(template, folder.path(), &format!(".cairn/{}: {way}", place.display()), tally);
    // A link to a file is opened and may be read; its target must neither change nor disappear.
    if way == "nothing" {
        return;
    }
    if fs::symlink_metadata(&moved).is_err() {
        tally.offend(format!(".cairn/{}: {way}: what was moved outside is gone", place.display()));
    }
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}
