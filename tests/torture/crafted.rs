//! Indexes from an attacker: files with matching checksums and wrong contents, records with odd values, links, pipes
//! and devices in place of files.

mod files;
mod places;
mod tables;

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::Suite;
use crate::program::{READS, cairn, watch_for};
use crate::run::{Run, Tally};
use crate::template::{Template, add_new};

/// Documents of the index that is forged.
const NOTES: usize = 5;
/// Longer than any command on such a small index takes.
const HANGS_AFTER: Duration = Duration::from_secs(20);
/// A folder that does not belong to the index, and its contents.
const OUTSIDE: &str = "outside";
const KEPT: [(&str, &str); 3] = [("keep.txt", "kept"), ("9/graph.bin", "kept"), (".tmp-3/file", "kept")];

pub(crate) const FILES: Suite = Suite {
    name: "crafted-files",
    promise: "A derived file with a forged checksum makes no command crash, hang or use unbounded memory.",
    run: files::run,
};

pub(crate) const TABLES: Suite = Suite {
    name: "crafted-tables",
    promise: "Records with any values make no command crash, hang, use unbounded memory or touch anything outside the \
        index.",
    run: tables::run,
};

pub(crate) const PLACES: Suite = Suite {
    name: "crafted-places",
    promise: "A link, pipe, device, folder or hole in place of a file makes no command crash or hang, and nothing \
        outside the index is touched.",
    run: places::run,
};

/// Returns the indexes to be forged, each with a folder beside it that must stay untouched.
fn templates() -> [Template; 2] {
    let templates = Template::both(NOTES);
    for template in &templates {
        for (name, text) in KEPT {
            let path = template.path().join(OUTSIDE).join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }
    templates
}

/// Returns as many cases as were asked for, spread over all.
fn chosen<T>(run: &Run, cases: Vec<T>) -> Vec<T> {
    let most = run.count("CRAFTED", 0);
    let stride = if most == 0 { 1 } else { cases.len().div_ceil(most as usize).max(1) };
    cases.into_iter().step_by(stride).collect()
}

/// Runs every command on a forged copy of the index of `template`, and notes what none of them must do.
fn withstands(template: &Template, folder: &Path, forged: &str, tally: &mut Tally) {
    tally.count("forged indexes", 1);
    let forged = format!("{forged}, {}", template.tell(tally));
    let mut say = |args: &[&str], said: &str| tally.offend(format!("{forged}: `cairn {}`: {said}", args.join(" ")));
    let mut commands = 0;
    let mut put = |args: &[&str]| {
        commands += 1;
        if let Some(fault) = watch_for(cairn(folder, args), HANGS_AFTER).fault() {
            say(args, &fault);
        }
    };
    for args in READS {
        put(args);
    }
    put(&["doctor", "--json"]);
    put(&["check"]);
    add_new(folder);
    put(&["index", "notes"]);
    put(&["search", "Toll Tower"]);
    if let Some(name) = KEPT.iter().find_map(|(name, text)| {
        let read = fs::read_to_string(folder.join(OUTSIDE).join(name));
        (read.ok().as_deref() != Some(*text)).then_some(name)
    }) {
        say(&[], &format!("{OUTSIDE}/{name} is no longer what it was"));
    }
    tally.count("commands on them", commands);
}
