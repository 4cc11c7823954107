//! Reads files and folders as documents. Reading is bounded, in an order that depends only on names, and never fails as
//! a whole because of one file: a file that cannot be read is a [`Skip`] that says where and why.
//!
//! A file's content decides its format, then its name (`formats`). A parser turns it into [`Extracted`] documents.

#![cfg_attr(
    not(all(feature = "epub", feature = "mail", feature = "office", feature = "pdf", feature = "sheets")),
    allow(dead_code, unused_imports, unused_variables, reason = "what formats share that are left out")
)]

#[cfg(feature = "archives")]
mod archive;
mod blocks;
mod bounds;
mod called;
mod encoding;
#[cfg(feature = "epub")]
mod epub;
mod extracted;
mod formats;
mod guarded;
mod guarded_formats;
mod hash;
#[cfg(feature = "html")]
mod html;
mod json;
mod lines;
#[cfg(feature = "mail")]
mod mail;
mod markdown;
mod markup;
mod notebook;
#[cfg(feature = "office")]
mod office;
mod passed_over;
#[cfg(feature = "pdf")]
mod pdf;
mod place;
mod plain;
mod reader;
mod record;
#[cfg(feature = "sheets")]
mod sheets;
mod source;
#[cfg(feature = "tables")]
mod table;
mod text_file;
mod values;
mod walk;
mod worker;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use bounds::{
    ID_BYTES_MAX, KEY_BYTES_MAX, METADATA_BYTES_MAX, METADATA_MAX, TITLE_CHARS_MAX, URI_BYTES_MAX, VALUE_BYTES_MAX,
    bound,
};
pub(crate) use called::SEVERAL;
pub use called::{Called, read_called};
pub use extracted::{Extracted, Part};
pub use hash::content_hash;
pub(crate) use passed_over::Territory;
pub use passed_over::WalkOptions;
pub(crate) use place::is_of_record_without_id;
pub(crate) use reader::IGNORED;
pub(crate) use worker::PLACEHOLDER;
pub use worker::{become_converter, serve as serve_worker};
#[cfg(any(test, fuzzing))]
pub(crate) use worker::{is_worker_output, reads};

use crate::domain::{Document, Skip};
use crate::error::Result;

/// The field of a record that usually holds its id. A record without it is identified by its file and line.
pub const ID_FIELD: &str = "id";

/// What becomes of the rows of a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rows {
    /// All of them are one document.
    #[default]
    Together,
    /// Each is a document.
    Each,
}

/// Options for reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IngestOptions {
    /// The field of a record with its id: text or a number. If it is [`ID_FIELD`], a record without it gets
    /// `file:line`, the line on which it begins, and `file:line#2` if it is the second that begins there; with another
    /// field, such a record is skipped.
    pub id_field: String,
    /// The field of a record with its title; none for no titles, in which case no file has one either.
    pub title_field: Option<String>,
    /// The field of a record that holds its text.
    pub text_field: String,
    /// What becomes of the rows of a table.
    pub rows: Rows,
    /// Which files of a folder are read.
    pub walk: WalkOptions,
    /// The most bytes of one document: of a file of text, or of a record. More is skipped.
    pub document_bytes_max: u64,
    /// The most files of one run. More are skipped.
    pub files_max: u64,
    /// The program that reads documents whose parsers could do harm, such as PDF, in processes of its own: the program
    /// `cairn`, or one that calls [`serve_worker`] when its argument is `worker`. Without one they are skipped.
    pub worker: Option<PathBuf>,
    /// Programs that convert files of other kinds to text, by extension in lower case: a command and its arguments, in
    /// which `{}` stands for the file. They run under the limits of a worker, and need one.
    pub converters: BTreeMap<String, Vec<String>>,
}

impl Default for IngestOptions {
    fn default() -> Self {
        Self {
            id_field: ID_FIELD.to_owned(),
            title_field: Some("title".to_owned()),
            text_field: "text".to_owned(),
            rows: Rows::Together,
            walk: WalkOptions::default(),
            document_bytes_max: 64 << 20,
            files_max: 1_000_000,
            worker: None,
            converters: BTreeMap::new(),
        }
    }
}

/// A document as a source has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceDocument {
    /// The root that it was found under: its absolute path, without links.
    pub root: String,
    /// Hash of all that the source says.
    pub content: [u8; 32],
    /// The document.
    pub document: Document,
}

/// An item of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceItem {
    /// A document.
    Document(SourceDocument),
    /// Parts of the next document that a limit left out, but none of its text.
    Shortened(Skip),
    /// Something that was left out, and can be: nothing that an index holds comes from it.
    Skip(Skip),
    /// Something that could not be read completely this time: its earlier documents are not gone.
    Unread {
        /// The name of the file or folder, as in the `uri` of documents; empty if unknown.
        source: String,
        /// A source that was left out, and why.
        skip: Skip,
    },
}

/// Calls `visit` with every document and every skip below `roots`, root by root, by name.
///
/// What [`WalkOptions`] leave out is passed over, and so are folders that are an index. Links below a root are not
/// followed.
/// Files of other kinds are counted by extension and reported at the end. Of documents with one id the first counts.
///
/// # Errors
///
/// [`crate::Error::MissingPath`] if a root is not there, before anything is visited; and the errors of `visit`, which
/// end it.
pub fn read_sources(
    roots: &[PathBuf],
    options: &IngestOptions,
    visit: &mut dyn FnMut(SourceItem) -> Result<()>,
) -> Result<()> {
    let roots = roots.iter().map(|root| walk::Root::find(root)).collect::<Result<Vec<_>>>()?;
    let mut reader = reader::Reader::new(options, visit);
    roots.iter().try_for_each(|root| reader.read_root(root))?;
    reader.finish()
}

/// Calls `visit` with the contents of a file called `name`, as [`read_sources`] does for one on disk.
///
/// # Errors
///
/// Those of `visit`, which end it.
pub fn read_bytes(
    name: &str,
    bytes: Vec<u8>,
    options: &IngestOptions,
    visit: &mut dyn FnMut(SourceItem) -> Result<()>,
) -> Result<()> {
    let mut reader = reader::Reader::new(options, visit);
    reader.read_bytes("", name, bytes)?;
    reader.finish()
}

/// Returns the canonical form of a root, by which documents are kept: its absolute path, without links.
///
/// # Errors
///
/// [`crate::Error::MissingPath`] if it is not there.
pub fn root_name(root: &std::path::Path) -> Result<String> {
    walk::Root::find(root).map(|root| root.canonical_name())
}

#[cfg(test)]
mod tests;
