//! Reads root by root, and keeps what has to be known across files: ids that were used, files that were read, what is
//! counted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value};

use super::place::Place;
use super::walk::{Found, Kind, OTHER_KIND, Root};
use super::{
    IngestOptions, SourceDocument, SourceItem, bounds::bound, hash::content_hash, json, lines, markdown, plain, record,
    text_file,
};
use crate::domain::{Document, DocumentId, Skip};
use crate::error::Result;

/// One run over the sources.
pub(super) struct Reader<'a> {
    options: &'a IngestOptions,
    visit: &'a mut dyn FnMut(SourceItem) -> Result<()>,
    /// Names of the files that were read, in order.
    files: Vec<String>,
    /// Their paths: roots may lie in one another.
    paths: FxHashSet<PathBuf>,
    /// Where each id was used first: the file, as an index into `files`, and the place in it.
    used: FxHashMap<DocumentId, (u32, Place)>,
    /// Files of kinds that are not read, by extension.
    others: BTreeMap<String, u64>,
    /// Files beyond the limit.
    beyond: u64,
}

impl<'a> Reader<'a> {
    pub(super) fn new(options: &'a IngestOptions, visit: &'a mut dyn FnMut(SourceItem) -> Result<()>) -> Self {
        Self {
            options,
            visit,
            files: Vec::new(),
            paths: FxHashSet::default(),
            used: FxHashMap::default(),
            others: BTreeMap::new(),
            beyond: 0,
        }
    }

    /// Reads what lies below a root.
    pub(super) fn read_root(&mut self, root: &Root) -> Result<()> {
        let root_name = root.canonical_name();
        for found in root.walk() {
            match found {
                Found::Refused { name, reason } => self.unread(name.clone(), name, reason)?,
                Found::Other { extension } => *self.others.entry(extension).or_default() += 1,
                // The files of an outer root that was read before are not read again.
                Found::File { path, .. } if self.paths.contains(&path) => {}
                Found::File { .. } if self.files.len() as u64 >= self.options.files_max => self.beyond += 1,
                Found::File { path, name, kind } => {
                    self.paths.insert(path.clone());
                    self.files.push(name);
                    self.read_file(&root_name, &path, kind)?;
                }
            }
        }
        Ok(())
    }

    /// Reports what was counted.
    pub(super) fn finish(mut self) -> Result<()> {
        for (extension, count) in std::mem::take(&mut self.others) {
            let files = if count == 1 { "file" } else { "files" };
            let source = match extension.as_str() {
                "" => format!("{count} {files} without an extension"),
                extension => format!("{count} {files} .{extension}"),
            };
            (self.visit)(SourceItem::Skip(Skip { source, reason: OTHER_KIND.to_owned() }))?;
        }
        if self.beyond > 0 {
            let reason = format!("beyond the limit of {} files", self.options.files_max);
            self.unread(String::new(), format!("{} files", self.beyond), reason)?;
        }
        Ok(())
    }

    /// Reads the file that was noted last.
    fn read_file(&mut self, root: &str, path: &Path, kind: Kind) -> Result<()> {
        let bytes_max = self.options.document_bytes_max;
        match kind {
            Kind::Text | Kind::Markdown => match text_file::read(path, bytes_max) {
                Ok(text) => self.text(root, text, kind),
                Err(reason) => self.unread_at(Place::File, reason),
            },
            Kind::Json => json::read(path, bytes_max, &mut |place, record| self.record(root, place, record)),
            Kind::JsonLines => lines::read(path, bytes_max, &mut |place, record| self.record(root, place, record)),
        }
    }

    fn text(&mut self, root: &str, text: String, kind: Kind) -> Result<()> {
        let mut document = if kind == Kind::Markdown {
            let markdown::Markdown { title, metadata, text } = markdown::parse(text);
            let media_type = "text/markdown".to_owned();
            Document { media_type, metadata, ..Document::new(self.name(), title, text) }
        } else {
            Document::new(self.name(), plain::title(&text).map(str::to_owned), text)
        };
        document.title = document.title.filter(|title| !title.trim().is_empty());
        self.document(root, Place::File, document)
    }

    fn record(&mut self, root: &str, place: Place, record: Result<Map<String, Value>, String>) -> Result<()> {
        let document = record.and_then(|record| record::to_document(record, &self.name(), self.options));
        match document {
            Ok(document) => self.document(root, place, document),
            Err(reason) => self.unread_at(place, reason),
        }
    }

    fn document(&mut self, root: &str, place: Place, mut document: Document) -> Result<()> {
        if self.options.title_field.is_none() {
            document.title = None;
        }
        if document.text.trim().is_empty() {
            return self.unread_at(place, "it is empty".to_owned());
        }
        if let Some((file, first)) = self.used.get(&document.id) {
            let first = format!("{}{first}", self.files[*file as usize]);
            let reason = format!("id `{}` was already used by {first}", document.source_id);
            let source = format!("{}{place}", self.name());
            return (self.visit)(SourceItem::Skip(Skip { source, reason }));
        }
        match bound(&mut document) {
            Err(reason) => return self.unread_at(place, reason),
            Ok(None) => {}
            Ok(Some(reason)) => {
                let source = format!("{}{place}", self.name());
                (self.visit)(SourceItem::Shortened(Skip { source, reason }))?;
            }
        }
        self.used.insert(document.id, (self.files.len() as u32 - 1, place));
        let content = content_hash(&document);
        (self.visit)(SourceItem::Document(SourceDocument { root: root.to_owned(), content, document }))
    }

    /// Reports what could not be read at a place of the file that is read.
    fn unread_at(&mut self, place: Place, reason: String) -> Result<()> {
        let file = self.name();
        let shown = format!("{file}{place}");
        self.unread(file, shown, reason)
    }

    fn unread(&mut self, source: String, shown: String, reason: String) -> Result<()> {
        (self.visit)(SourceItem::Unread { source, skip: Skip { source: shown, reason } })
    }

    /// Returns the name of the file that is read.
    fn name(&self) -> String {
        self.files.last().cloned().unwrap_or_default()
    }
}
