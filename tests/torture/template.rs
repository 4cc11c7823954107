//! Folders with documents and an index of them, which cases copy.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::program::{READS, Ran, files_below, must};
use crate::run::Tally;
use crate::support::flips::copy;
use crate::support::harbor_files;

/// The folder of the notes of a template.
const NOTES: &str = "notes";
/// Short notes of a collection that changes: so many that two runs over one note each share segments with the version
/// before.
const QUAYS: usize = 9;
/// A note that changes, and a term that no other has.
const CHANGED: [&str; 2] = ["quay-0.txt", "gasworks"];
/// The file that only versions with segments have.
const SEGMENTS: &str = "segments.bin";
/// A note that a case adds, and its text.
const NEW: [&str; 2] = ["new.txt", "Toll Tower\n\nToll Tower stands by Heron Bridge."];

/// How the version of a template was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Made {
    /// By one run.
    AtOnce,
    /// By a run over one changed note, after another: it has segments.
    FromChange,
}

/// A folder with documents and an index of them, which cases copy.
pub(crate) struct Template {
    folder: TempDir,
    made: Made,
}

impl Template {
    /// Makes two indexes of the first `notes` documents of the demo collection, one made at once and one from a change.
    pub(crate) fn both(notes: usize) -> [Self; 2] {
        [Made::AtOnce, Made::FromChange].map(|made| Self::of_notes(notes, made))
    }

    /// Makes an index of as many documents.
    pub(crate) fn of_notes(notes: usize, made: Made) -> Self {
        let template = Self { folder: TempDir::new().unwrap(), made };
        let write = |name: &str, text: &str| fs::write(template.path().join(NOTES).join(name), text).unwrap();
        fs::create_dir(template.path().join(NOTES)).unwrap();
        // Documents that name one another, so that there are mentions and edges.
        let mut files = harbor_files();
        files.sort_by_key(|(name, text)| (!text.contains("Heron Bridge"), name.clone()));
        for (name, text) in files.into_iter().take(notes) {
            write(&name, &text);
        }
        if made == Made::FromChange {
            for number in 1..QUAYS {
                let text = format!("Quay {number}\n\nThe quay burned in 180{number}. It stands again.");
                write(&format!("quay-{number}.txt"), &text);
            }
            let [name, term] = CHANGED;
            write(name, &format!("Quay 0\n\nThe quay was sold for its {term}."));
            template.must(&["index", NOTES]);
            write(name, "Quay 0\n\nThe quay was sold to Ada Lorne.");
        }
        template.must(&["index", NOTES]);
        template.assert_made();
        template
    }

    /// Fails if the version has no segments, or none of its texts is gone, although it was made from a change.
    fn assert_made(&self) {
        let segments = self.version().join(SEGMENTS);
        match self.made {
            Made::AtOnce => assert!(self.version().is_dir() && !segments.exists(), "{}", segments.display()),
            Made::FromChange => {
                let term = CHANGED[1].as_bytes();
                let bytes = fs::read(&segments).unwrap();
                // Terms are stems.
                let is_gone = bytes.windows(term.len() - 1).any(|it| it == &term[..term.len() - 1]);
                assert!(is_gone, "no term is gone from {}", segments.display());
                let added = self.version().join("added-vectors.bin");
                assert!(added.is_file(), "the version shares no vectors: {}", added.display());
                let next = self.with_new();
                must(next.path(), &["index", NOTES]);
                let path = next.path().join(".cairn/versions/3").join(SEGMENTS);
                assert!(path.is_file(), "a run after the change makes no segments: {}", path.display());
            }
        }
    }

    /// Returns the folder of the version.
    pub(crate) fn version(&self) -> PathBuf {
        self.path().join(".cairn").join(self.version_name())
    }

    /// Returns its path in the index.
    pub(crate) fn version_name(&self) -> &'static str {
        match self.made {
            Made::AtOnce => "versions/1",
            Made::FromChange => "versions/2",
        }
    }

    /// Counts a case on this template, if it has segments, and returns what to say of it.
    pub(crate) fn tell(&self, tally: &mut Tally) -> &'static str {
        match self.made {
            Made::AtOnce => "made at once",
            Made::FromChange => {
                tally.count("cases on a version with segments", 1);
                "with segments"
            }
        }
    }

    /// Makes a copy with one more note, which is not indexed yet.
    pub(crate) fn with_new(&self) -> TempDir {
        let folder = self.copy();
        add_new(folder.path());
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a command that must succeed.
    #[track_caller]
    pub(crate) fn must(&self, args: &[&str]) -> Ran {
        must(self.path(), args)
    }

    /// Makes a copy.
    pub(crate) fn copy(&self) -> TempDir {
        let folder = TempDir::new().unwrap();
        copy(self.path(), folder.path());
        folder
    }

    /// Returns the files of the index, by their paths in its folder, and no others.
    pub(crate) fn index_files(&self) -> Vec<PathBuf> {
        let index = self.path().join(".cairn");
        let mut files = files_below(&index);
        for path in &mut files {
            *path = path.strip_prefix(&index).unwrap().to_owned();
        }
        files
    }

    /// Returns what each read of the index prints.
    pub(crate) fn answers(&self) -> Vec<String> {
        READS.iter().map(|args| self.must(args).answer()).collect()
    }
}

/// Adds a note to a folder with an index.
pub(crate) fn add_new(folder: &Path) {
    let [name, text] = NEW;
    fs::write(folder.join(NOTES).join(name), text).unwrap();
}
