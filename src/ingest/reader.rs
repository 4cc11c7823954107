//! Reads root by root, with state across files: ids in use, files read, counts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::encoding::{self, Decoded};
use super::extracted::{Extracted, Part};
use super::formats::{self, Format, HEAD_BYTES, Input, Parser};
use super::passed_over::Rules;
use super::place::{Place, Record};
use super::walk::{Found, Root, extensions};
use super::worker::Workers;
use super::{
    IngestOptions, SourceDocument, SourceItem, bounds::bound, hash::content_hash, json, lines, record, text_file,
};
use crate::domain::{Document, DocumentId, Skip};
use crate::error::Result;

/// The reason for files of unsupported kinds.
const OTHER_KIND: &str = "unsupported kind of file";
/// The reason for files that their owner excludes.
pub(crate) const IGNORED: &str = "named by .gitignore or .ignore";

/// Where the bytes of a file come from.
pub(super) enum Content<'a> {
    /// On disk.
    File(&'a Path),
    /// In memory.
    Bytes(Vec<u8>),
}

/// One run over the sources.
pub(super) struct Reader<'a> {
    pub(super) options: &'a IngestOptions,
    pub(super) visit: &'a mut dyn FnMut(SourceItem) -> Result<()>,
    /// The processes that read formats whose parsers could do harm.
    pub(super) workers: Arc<Workers>,
    /// Names of the files that were read, in order.
    pub(super) files: Vec<String>,
    /// Which of them is being read, as an index, and how many other files it is inside.
    pub(super) current: usize,
    pub(super) depth: usize,
    /// Their paths: roots may contain one another.
    paths: FxHashSet<PathBuf>,
    /// Where each id was first used: the file, as an index into `files`, and the place in it.
    used: FxHashMap<DocumentId, (u32, Place)>,
    /// Files of kinds that are not read, by extension.
    pub(super) others: BTreeMap<String, u64>,
    /// Files beyond the limit.
    pub(super) beyond: u64,
    /// Files and folders excluded by ignore files.
    ignored: u64,
}

impl<'a> Reader<'a> {
    pub(super) fn new(options: &'a IngestOptions, visit: &'a mut dyn FnMut(SourceItem) -> Result<()>) -> Self {
        Self {
            options,
            visit,
            workers: Arc::new(Workers::new(options.worker.as_deref(), options.document_bytes_max)),
            files: Vec::new(),
            current: 0,
            depth: 0,
            paths: FxHashSet::default(),
            used: FxHashMap::default(),
            others: BTreeMap::new(),
            beyond: 0,
            ignored: 0,
        }
    }

    /// Reads everything below a root.
    pub(super) fn read_root(&mut self, root: &Root) -> Result<()> {
        let root_name = root.canonical_name();
        let walk = &self.options.walk;
        let mut rules = Rules::of(&root.path, walk)?;
        for found in root.walk(&mut rules, walk.depth_max) {
            match found {
                Found::Refused { name, reason } => self.unread(name.clone(), name, reason)?,
                // Files of an outer root that was read before are not read again.
                Found::File { path, .. } if self.paths.contains(&path) => {}
                Found::File { path, name, extensions, is_root } => {
                    self.found(&root_name, path, name, extensions, is_root)?;
                }
            }
        }
        self.ignored += rules.ignored;
        Ok(())
    }

    /// Reports what was counted, the most frequent kinds first.
    pub(super) fn finish(mut self) -> Result<()> {
        let mut others: Vec<(String, u64)> = std::mem::take(&mut self.others).into_iter().collect();
        others.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        for (extension, count) in others {
            let files = if count == 1 { "file" } else { "files" };
            let source = match extension.as_str() {
                "" => format!("{count} {files} without an extension"),
                extension => format!("{count} {files} .{extension}"),
            };
            (self.visit)(SourceItem::Skip(Skip { source, reason: OTHER_KIND.to_owned() }))?;
        }
        if self.ignored > 0 {
            let entries = if self.ignored == 1 { "file or folder" } else { "files and folders" };
            let source = format!("{} {entries}", self.ignored);
            (self.visit)(SourceItem::Skip(Skip { source, reason: IGNORED.to_owned() }))?;
        }
        if self.beyond > 0 {
            let reason = format!("beyond the limit of {} files", self.options.files_max);
            self.unread(String::new(), format!("{} files", self.beyond), reason)?;
        }
        Ok(())
    }

    fn found(&mut self, root: &str, path: PathBuf, name: String, extensions: Vec<String>, is_root: bool) -> Result<()> {
        let format = match text_file::head(&path, HEAD_BYTES) {
            Ok(_) if self.has_converter(&extensions) => Some(&formats::CONVERTED),
            Ok(head) => formats::find(&head, &extensions),
            // A file whose name has a known extension would be missed; of others nobody knows.
            Err(reason) => match formats::find(b"", &extensions) {
                Some(_) => return self.unread(name.clone(), name, reason),
                None => None,
            },
        };
        match format {
            // As a root it is named; among other files it is counted.
            None if is_root => self.unread(name.clone(), name, OTHER_KIND.to_owned()),
            None => {
                let extension = extensions.into_iter().next();
                *self.others.entry(extension.unwrap_or_default()).or_default() += 1;
                Ok(())
            }
            Some(_) if self.files.len() as u64 >= self.options.files_max => {
                self.beyond += 1;
                Ok(())
            }
            Some(format) => {
                self.enter(name);
                let read = self.read_file(root, Content::File(&path), format);
                self.paths.insert(path);
                read
            }
        }
    }

    /// Reads bytes as the contents of the file `name`.
    pub(super) fn read_bytes(&mut self, root: &str, name: &str, bytes: Vec<u8>) -> Result<()> {
        let head = bytes.get(..HEAD_BYTES).unwrap_or(&bytes);
        self.enter(name.to_owned());
        match formats::find(head, &extensions(Path::new(name))) {
            Some(format) => self.read_file(root, Content::Bytes(bytes), format),
            None => self.unread_at(Place::File, OTHER_KIND.to_owned()),
        }
    }

    /// Makes a file the current one; it is read next.
    pub(super) fn enter(&mut self, name: String) {
        self.current = self.files.len();
        self.files.push(name);
    }

    /// Reads the current file.
    pub(super) fn read_file(&mut self, root: &str, content: Content<'_>, format: &'static Format) -> Result<()> {
        let bytes_max = self.options.document_bytes_max;
        let mut record = |place: Place, it| self.record(root, place, it);
        match (format.parser, &content) {
            (Parser::Json, Content::File(path)) => return json::read(path, bytes_max, &mut record),
            (Parser::Json, Content::Bytes(bytes)) => return json::read_bytes(bytes, bytes_max, &mut record),
            (Parser::JsonLines, Content::File(path)) => return lines::read(path, bytes_max, &mut record),
            (Parser::JsonLines, Content::Bytes(bytes)) => {
                return lines::read_from(&mut bytes.as_slice(), bytes_max, &mut record);
            }
            (Parser::Converted, Content::File(path)) => return self.converted(root, path, format),
            (Parser::Text(_) | Parser::Bytes(_) | Parser::Guarded(_) | Parser::Converted | Parser::Off(_), _) => {}
        }
        let bytes = match content {
            Content::File(path) => text_file::bytes(path, bytes_max),
            Content::Bytes(bytes) if bytes.len() as u64 > bytes_max => {
                Err(text_file::too_large(bytes.len() as u64, bytes_max))
            }
            Content::Bytes(bytes) => Ok(bytes),
        };
        if let Parser::Guarded(guarded) = format.parser {
            return match bytes {
                Ok(bytes) => self.guarded(root, bytes, format, guarded),
                Err(reason) => self.unread_at(Place::File, reason),
            };
        }
        let parts = bytes.and_then(|bytes| self.parse(bytes, format));
        let whole = |content| vec![Part { address: String::new(), content }];
        parts.unwrap_or_else(|reason| whole(Err(reason))).into_iter().try_for_each(|part| self.part(root, part, format))
    }

    fn parse(&self, bytes: Vec<u8>, format: &Format) -> Result<Vec<Part>, String> {
        match format.parser {
            Parser::Text(parse) => {
                parse_text(bytes, parse).map(|it| vec![Part { address: String::new(), content: Ok(it) }])
            }
            Parser::Bytes(parse) => {
                let name = self.name();
                parse(Input { name: &name, bytes, options: self.options, media_type: format.media_type })
            }
            Parser::Off(feature) => {
                Err(format!("this build of Cairn does not read such files: its feature `{feature}` is off"))
            }
            Parser::Converted => Err("converters read files on disk alone".to_owned()),
            // These are read piece by piece.
            Parser::Json | Parser::JsonLines | Parser::Guarded(_) => Ok(Vec::new()),
        }
    }

    /// Passes on a document of the current file, or why there is none.
    pub(super) fn part(&mut self, root: &str, part: Part, format: &Format) -> Result<()> {
        let Part { address, content } = part;
        let Extracted { title, text, media_type, metadata, positions } = match content {
            Ok(extracted) => extracted,
            Err(reason) => {
                let file = self.name();
                let shown = format!("{file}{address}");
                return self.unread(file, shown, reason);
            }
        };
        let title = title.filter(|title| !title.trim().is_empty());
        let media_type = if media_type.is_empty() { format.media_type.to_owned() } else { media_type };
        let source_id = format!("{}{address}", self.name());
        let document = Document { media_type, positions, metadata, ..Document::new(source_id, title, text) };
        self.document(root, Place::File, document)
    }

    fn record(&mut self, root: &str, place: Place, record: Result<Record, String>) -> Result<()> {
        let document = record.and_then(|record| record::to_document(record, &self.name(), self.options));
        match document {
            Ok(document) => self.document(root, place, document),
            Err(reason) => self.unread_at(place, reason),
        }
    }

    /// Passes on a document at a place in the current file.
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
        self.used.insert(document.id, (self.current as u32, place));
        let content = content_hash(&document);
        (self.visit)(SourceItem::Document(SourceDocument { root: root.to_owned(), content, document }))
    }

    /// Reports what could not be read at a place in the current file.
    pub(super) fn unread_at(&mut self, place: Place, reason: String) -> Result<()> {
        let file = self.name();
        let shown = format!("{file}{place}");
        self.unread(file, shown, reason)
    }

    pub(super) fn unread(&mut self, source: String, shown: String, reason: String) -> Result<()> {
        (self.visit)(SourceItem::Unread { source, skip: Skip { source: shown, reason } })
    }

    /// Returns the name of the current file.
    pub(super) fn name(&self) -> String {
        self.files.get(self.current).cloned().unwrap_or_default()
    }
}

/// Decodes and parses a text. An encoding other than UTF-8 is noted in the metadata.
pub(super) fn parse_text(
    bytes: Vec<u8>,
    parse: impl FnOnce(String) -> Result<Extracted, String>,
) -> Result<Extracted, String> {
    let Decoded { text, encoding } = encoding::decode(bytes)?;
    let mut extracted = parse(text)?;
    if let Some(encoding) = encoding {
        extracted.metadata.insert("encoding".to_owned(), encoding.to_owned());
    }
    Ok(extracted)
}
