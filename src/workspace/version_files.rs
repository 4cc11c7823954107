//! The files of a version, each opened once: the file that is checked is the one that is used, whatever its name refers
//! to later.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::mapping::Mapping;
use super::records::VersionRow;
use super::stamp::StampedFile;
use super::versions::{VersionFile, expect_folders};
use super::{ADDED_VECTORS, FileAccess, MATCHES, NAMES, VECTORS};
use crate::error::{Error, Result};
use crate::files;

/// A file of a version: its bytes, and its stamp.
#[derive(Debug)]
pub(super) struct HeldFile {
    path: PathBuf,
    mapping: Mapping,
    /// What tells it from every other file.
    identity: Option<(u64, u64)>,
    due: StampedFile,
    /// The result of checking all of it, if done.
    whole: OnceLock<Option<Damage>>,
}

/// Why a file is not what was written.
type Damage = String;

impl HeldFile {
    pub(super) fn open(folder: &Path, due: &StampedFile, access: FileAccess) -> Result<Self> {
        let path = folder.join(&due.path);
        let missing = || Error::Corrupt { path: path.clone(), reason: "it is not there".to_owned() };
        let file = files::open_own(&path)?.ok_or_else(missing)?;
        let mapping = Mapping::of(&file, access).map_err(Error::io("open", &path))?;
        due.stamp.check_size(&path, mapping.bytes())?;
        Ok(Self { path, mapping, identity: files::identity(&file), due: due.clone(), whole: OnceLock::new() })
    }

    /// Returns the path of the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether a path leads to this file, not to another with the same name.
    pub(super) fn is_at(&self, path: &Path) -> bool {
        files::identity_of_own(path) == self.identity
    }

    /// Returns its stamp.
    pub(super) fn due(&self) -> &StampedFile {
        &self.due
    }

    /// Returns its bytes. Those that no check has covered yet may be damaged.
    pub(super) fn bytes(&self) -> &[u8] {
        self.mapping.bytes()
    }

    /// Gives back the memory of its pages; those that are used again are mapped again.
    pub(super) fn release(&self) {
        self.mapping.release();
    }

    /// Checks all of it, and remembers the result.
    pub(super) fn check(&self) -> Result<()> {
        let damage = self.whole.get_or_init(|| self.find_damage());
        damage.as_ref().map_or(Ok(()), |reason| Err(self.corrupt(reason)))
    }

    fn find_damage(&self) -> Option<Damage> {
        let bytes = self.bytes();
        match &self.due.blocks {
            Some(blocks) => blocks.check(bytes, 0..bytes.len()).err().map(damaged_block),
            None => self
                .due
                .stamp
                .check(&self.path, bytes)
                .err()
                .map(|_| "its contents are not what was written".to_owned()),
        }
    }

    /// Checks a part of it, and the rest of its blocks.
    pub(super) fn check_part(&self, part: Range<usize>) -> Result<()> {
        match &self.due.blocks {
            Some(blocks) if self.whole.get().is_none() => {
                blocks.check(self.bytes(), part).map_err(|block| self.corrupt(&damaged_block(block)))
            }
            _ => self.check(),
        }
    }

    fn corrupt(&self, reason: &str) -> Error {
        Error::Corrupt { path: self.path.clone(), reason: reason.to_owned() }
    }
}

fn damaged_block(block: Range<usize>) -> Damage {
    format!("bytes {} to {} are not what was written", block.start, block.end)
}

/// The files of a version, open and checked, but for those of the vectors: their parts are checked when they are used,
/// so that a large index opens at once. Those of matches and names are not opened: the next version alone reads them.
#[derive(Debug)]
pub(super) struct VersionFiles {
    folder: PathBuf,
    files: BTreeMap<String, Arc<HeldFile>>,
}

impl VersionFiles {
    /// Opens the files of the version that `row` describes, in `folder`.
    pub(super) fn open(folder: &Path, row: &VersionRow, access: FileAccess) -> Result<Self> {
        Self::check_names(folder, row)?;
        expect_folders(folder)?;
        let open = |due: &StampedFile| {
            let file = HeldFile::open(folder, due, access)?;
            if ![VECTORS, ADDED_VECTORS].contains(&due.path.as_str()) || due.blocks.is_none() {
                file.check()?;
            }
            Ok((due.path.clone(), Arc::new(file)))
        };
        // In parallel; the first failure in their order is reported.
        let files = row
            .files
            .par_iter()
            .filter(|due| ![MATCHES, NAMES].contains(&due.path.as_str()))
            .map(open)
            .collect::<Vec<_>>()
            .into_iter()
            .collect::<Result<_>>()?;
        Ok(Self { folder: folder.to_owned(), files })
    }

    /// Checks that the records name only files that we write, so that no name leads out of the folder.
    pub(super) fn check_names(folder: &Path, row: &VersionRow) -> Result<()> {
        let is_ours = |file: &StampedFile| {
            let are_whole = file.blocks.as_ref().is_none_or(|blocks| blocks.are_of(file.stamp.bytes));
            are_whole && VersionFile::parse(&file.path).is_some()
        };
        match row.files.iter().find(|file| !is_ours(file)) {
            None => Ok(()),
            Some(file) => {
                let reason = format!("the records say of it what cannot be: `{}`", file.path.escape_debug());
                Err(Error::Corrupt { path: folder.to_owned(), reason })
            }
        }
    }

    /// Returns the file at `path` inside the folder.
    pub(super) fn file(&self, path: &str) -> Result<Arc<HeldFile>> {
        self.find(path).ok_or_else(|| Error::Corrupt {
            path: self.folder.join(path),
            reason: "the records do not name it".to_owned(),
        })
    }

    /// Returns the file at `path` inside the folder, if the version has one.
    pub(super) fn find(&self, path: &str) -> Option<Arc<HeldFile>> {
        self.files.get(path).map(Arc::clone)
    }

    /// Returns the files below the folder at `path`, by their names there.
    pub(super) fn below(&self, path: &str) -> BTreeMap<PathBuf, Arc<HeldFile>> {
        below(self.files.values(), path)
    }

    /// Checks every byte of every file, and gives back the memory that this took.
    pub(super) fn check(&self) -> Result<()> {
        self.files.values().try_for_each(|file| {
            file.check()?;
            file.release();
            Ok(())
        })
    }
}

/// Returns the files of a version that are below the folder at `path`, by their names there.
pub(super) fn below<'f>(
    files: impl IntoIterator<Item = &'f Arc<HeldFile>>,
    path: &str,
) -> BTreeMap<PathBuf, Arc<HeldFile>> {
    let named = |file: &Arc<HeldFile>| {
        let name = file.due().path.strip_prefix(path)?.strip_prefix('/')?;
        Some((PathBuf::from(name), Arc::clone(file)))
    };
    files.into_iter().filter_map(named).collect()
}

/// Returns the faults of the files of the version that `row` describes, after checking every byte: one error per file
/// that is missing, misplaced or not what was written.
pub(super) fn damage_of_version(folder: &Path, row: &VersionRow) -> Vec<Error> {
    if let Err(error) = VersionFiles::check_names(folder, row).and_then(|()| expect_folders(folder)) {
        return vec![error];
    }
    let check = |due: &StampedFile| HeldFile::open(folder, due, FileAccess::Read).and_then(|file| file.check()).err();
    row.files.iter().filter_map(check).collect()
}
