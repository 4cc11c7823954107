//! One bit of an index is changed: everything that reads it gives the same result as before or reports damage, and no
//! run publishes what is in no document.
//!
//! [`Original::judge`] checks this; callers choose how often and where.

use std::fs;
use std::path::{Path, PathBuf};

use cairn::{
    Document, ErrorKind, FileAccess, IndexOptions, Performers, QueryEngine, Result, SearchOptions, Sources, Workspace,
    WorkspaceOptions,
};

use super::random::Random;

/// A bit of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Flip {
    /// The file, inside the index.
    pub(crate) file: PathBuf,
    /// Its byte, from 0.
    pub(crate) byte: usize,
    /// The bit in that byte, from 0.
    pub(crate) bit: u8,
}

impl Flip {
    /// Chooses a bit of a file.
    pub(crate) fn of(index: &Path, file: &Path, random: &mut Random) -> Self {
        let bytes = fs::metadata(index.join(file)).unwrap().len();
        let byte = random.below(usize::try_from(bytes).unwrap());
        Self { file: file.to_owned(), byte, bit: u8::try_from(random.below(8)).unwrap() }
    }

    /// Changes the bit.
    pub(crate) fn apply(&self, index: &Path) {
        let path = index.join(&self.file);
        let mut bytes = fs::read(&path).unwrap();
        bytes[self.byte] ^= 1 << self.bit;
        fs::write(path, bytes).unwrap();
    }
}

/// What happened after a bit was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Nothing depends on it.
    Harmless,
    /// The check names it, and a run repaired it.
    Mended,
    /// The check names it, and so does a run, which keeps the version.
    Refused,
}

/// An intact index, its contents, and the contents after one more document.
pub(crate) struct Original {
    index: PathBuf,
    documents: Vec<Document>,
    said: Vec<String>,
    said_with_new: Vec<String>,
}

impl Original {
    /// Takes an index of these documents, which nobody else writes to.
    pub(crate) fn of(index: &Path, documents: Vec<Document>) -> Self {
        let said = read(index).unwrap();
        let folder = tempfile::tempdir().unwrap();
        copy(index, folder.path());
        add(folder.path(), vec![new_document()]).unwrap();
        let said_with_new = read(folder.path()).unwrap();
        assert_ne!(said, said_with_new);
        Self { index: index.to_owned(), documents, said, said_with_new }
    }

    /// Returns the files of the index that are not empty, by their paths in it.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.index.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(std::result::Result::unwrap) {
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                } else if entry.metadata().unwrap().len() > 0 {
                    found.push(entry.path().strip_prefix(&self.index).unwrap().to_owned());
                }
            }
        }
        found.sort();
        found
    }

    /// Changes a bit of a copy and returns what happened, or which promise was broken. The following run has all
    /// documents, or only the new one.
    pub(crate) fn judge(&self, flip: &Flip, has_sources: bool) -> Result<Outcome, String> {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path();
        copy(&self.index, index);
        flip.apply(index);
        let read_before = read(index);
        let is_whole = Workspace::check_at(index, FileAccess::default()).is_ok_and(|report| report.is_whole());
        let is_as_before = read_before.as_ref().is_ok_and(|said| *said == self.said);
        if is_whole && !is_as_before {
            return Err(format!("the check finds nothing, and reading gives {:?}", read_before.map(|it| it.len())));
        }
        let mut documents = vec![new_document()];
        if has_sources {
            documents.extend(self.documents.iter().cloned());
        }
        match add(index, documents) {
            Ok(()) => {
                let said = read(index).map_err(|error| format!("a run went well, and then: {error}"))?;
                if said != self.said_with_new {
                    return Err("a run published something else".to_owned());
                }
                Ok(if is_whole { Outcome::Harmless } else { Outcome::Mended })
            }
            Err(error) => {
                if !matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Incompatible) {
                    return Err(format!("a run ended as {:?}: {error:?}", error.kind()));
                }
                if is_whole {
                    return Err(format!("the check finds nothing, and a run says: {error}"));
                }
                if is_as_before && read(index).ok() != Some(self.said.clone()) {
                    return Err(format!("a run that failed took the version away: {error}"));
                }
                Ok(Outcome::Refused)
            }
        }
    }
}

fn new_document() -> Document {
    Document::new("new", Some("The lamp".to_owned()), "Ada Wren bought a lamp for the mill. It burned for a year.")
}

/// Returns the contents of an index: its canonical form, and the answers to some questions.
fn read(index: &Path) -> Result<Vec<String>> {
    let workspace = Workspace::open(index)?;
    let mut said = workspace.snapshot()?.canonical_lines()?;
    let engine = QueryEngine::open(&workspace, Performers::built_in())?;
    for question in ["Who built the mill?", "harbor bridge", "Which lamp burns?"] {
        let found = super::block_on(engine.search(question, &SearchOptions::default()))?;
        said.extend(found.hits.iter().map(|hit| format!("{} {:?} {}", hit.passage, hit.score, hit.text)));
    }
    Ok(said)
}

fn add(index: &Path, documents: Vec<Document>) -> Result<()> {
    let performers = Performers::built_in();
    let mut workspace = Workspace::open_or_create(index, &WorkspaceOptions::of(&performers))?;
    let sources = Sources::Documents(documents);
    super::block_on(cairn::index(&mut workspace, &sources, &performers, &IndexOptions::default())).map(drop)
}

/// Copies a folder and all that is in it.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(std::result::Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}
