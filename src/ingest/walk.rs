//! Walks the tree below a root, by name: files, and skipped paths with reasons.

use std::io;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::passed_over::{Rules, is_index};
use crate::error::{Error, Result};

/// A file or folder that was named to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Root {
    /// Its absolute path, without links.
    pub(super) path: PathBuf,
    /// Its name; empty for the root of a file system.
    name: String,
}

/// What a walk finds at one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// A file, with the last extensions of its name in lower case, the last one first.
    File {
        path: PathBuf,
        name: String,
        extensions: Vec<String>,
        /// Whether it was named itself, rather than a folder above it.
        is_root: bool,
    },
    /// Something that cannot be read.
    Refused { name: String, reason: String },
}

impl Root {
    /// Finds a root.
    pub(super) fn find(path: &Path) -> Result<Self> {
        let canonical = path.canonicalize().map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => Error::MissingPath { path: path.to_owned() },
            _ => Error::Io { action: "open", path: path.to_owned(), source },
        })?;
        // The name that was given, not that of the target of a link; `.` and `..` have no name of their own.
        let name = path.file_name().or_else(|| canonical.file_name()).unwrap_or_default();
        Ok(Self { name: name.to_string_lossy().into_owned(), path: canonical })
    }

    /// Returns its absolute path as text.
    pub(super) fn canonical_name(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// Iterates over everything below it that is not skipped, sorted by name, files and folders together.
    pub(super) fn walk<'r>(
        &'r self,
        rules: &'r mut Rules<'_>,
        depth_max: Option<usize>,
    ) -> impl Iterator<Item = Found> + 'r {
        let is_root_index = is_index(&self.path);
        let refused = is_root_index.then(|| self.refuse(&self.path, "it is an index"));
        let walk = WalkDir::new(&self.path).sort_by_file_name().max_depth(depth_max.unwrap_or(usize::MAX));
        let entries = walk.into_iter().filter_entry(move |entry| !is_root_index && !rules.pass_over(entry));
        refused.into_iter().chain(entries.filter_map(|entry| self.found(entry)))
    }

    fn found(&self, entry: walkdir::Result<DirEntry>) -> Option<Found> {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => return Some(self.refuse_entry(&error)),
        };
        let path = entry.path();
        let kind = entry.file_type();
        if kind.is_dir() {
            return None;
        }
        if kind.is_symlink() {
            return Some(self.refuse(path, "links are not followed"));
        }
        if !kind.is_file() {
            return Some(self.refuse(path, "neither a file nor a folder"));
        }
        let (name, extensions, is_root) = (self.name_of(path), extensions(path), entry.depth() == 0);
        Some(Found::File { path: path.to_owned(), name, extensions, is_root })
    }

    fn refuse_entry(&self, error: &walkdir::Error) -> Found {
        let reason = error.io_error().map_or_else(|| error.to_string(), super::text_file::refused);
        self.refuse(error.path().unwrap_or(&self.path), &reason)
    }

    fn refuse(&self, path: &Path, reason: &str) -> Found {
        Found::Refused { name: self.name_of(path), reason: reason.to_owned() }
    }

    /// Returns the name of a path below it, starting with its own name and with forward slashes.
    fn name_of(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.path).unwrap_or(path);
        let mut name = self.name.clone();
        for part in below.components() {
            if !name.is_empty() {
                name.push('/');
            }
            name.push_str(&part.as_os_str().to_string_lossy());
        }
        name
    }
}

/// Returns the last extensions of a name in lower case, the last one first.
pub(super) fn extensions(path: &Path) -> Vec<String> {
    let of = |path: &Path| path.extension().map(|it| it.to_string_lossy().to_lowercase());
    let inner = path.file_stem().and_then(|stem| of(Path::new(stem)));
    of(path).into_iter().chain(inner).collect()
}
