//! What lies below a root, by name: files of the kinds that are read, and what is passed over and why.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use crate::error::{Error, Result};

/// What a file holds, by its extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Plain text.
    Text,
    /// Markdown.
    Markdown,
    /// A record, or an array of records.
    Json,
    /// A record a line.
    JsonLines,
}

impl Kind {
    fn of(path: &Path) -> Option<Self> {
        match extension(path).as_str() {
            "txt" => Some(Self::Text),
            "md" | "markdown" => Some(Self::Markdown),
            "json" => Some(Self::Json),
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            _ => None,
        }
    }
}

/// A file or folder that was named to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Root {
    /// Its absolute path, without links.
    pub(super) path: PathBuf,
    /// What it is called; nothing for the root of a file system.
    name: String,
}

/// What is found at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// A file to read.
    File { path: PathBuf, name: String, kind: Kind },
    /// A file of another kind, by its extension in lower case.
    Other { extension: String },
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
        // As it was named, not as the link behind the name is called; `.` and `..` have no name of their own.
        let name = path.file_name().or_else(|| canonical.file_name()).unwrap_or_default();
        Ok(Self { name: name.to_string_lossy().into_owned(), path: canonical })
    }

    /// Returns its absolute path as text.
    pub(super) fn canonical_name(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// Iterates over what lies below it, by name; folders before and after files as their names are.
    pub(super) fn walk(&self) -> impl Iterator<Item = Found> + '_ {
        let is_root_index = is_index(&self.path);
        let refused = is_root_index.then(|| self.refuse(&self.path, "it is an index"));
        let entries = WalkDir::new(&self.path)
            .sort_by_file_name()
            .into_iter()
            .filter_entry(move |entry| !is_root_index && !is_passed_over(entry));
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
        let name = self.name_of(path);
        Some(match Kind::of(path) {
            Some(kind) => Found::File { name, kind, path: path.to_owned() },
            // Alone it is named, among others it is counted.
            None if entry.depth() == 0 => self.refuse(path, OTHER_KIND),
            None => Found::Other { extension: extension(path) },
        })
    }

    fn refuse_entry(&self, error: &walkdir::Error) -> Found {
        let reason = error.io_error().map_or_else(|| error.to_string(), super::text_file::refused);
        self.refuse(error.path().unwrap_or(&self.path), &reason)
    }

    fn refuse(&self, path: &Path, reason: &str) -> Found {
        Found::Refused { name: self.name_of(path), reason: reason.to_owned() }
    }

    /// Returns what a path below it is called: from its own name on, with forward slashes.
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

/// Says that a file is not of a kind that is read.
pub(super) const OTHER_KIND: &str = "not a kind that is read";

/// Hidden things and indexes below a root; a root that is named is meant.
fn is_passed_over(entry: &DirEntry) -> bool {
    let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
    entry.depth() > 0 && (is_hidden || entry.file_type().is_dir() && is_index(entry.path()))
}

/// An index says by its records that it is one.
fn is_index(path: &Path) -> bool {
    path.join("cairn.db").is_file()
}

fn extension(path: &Path) -> String {
    path.extension().unwrap_or(OsStr::new("")).to_string_lossy().to_lowercase()
}
