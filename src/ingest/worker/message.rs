//! The messages in frames: jobs and results.

use serde::{Deserialize, Serialize};

use crate::domain::{Metadata, Positions};
use crate::ingest::Rows;
use crate::ingest::extracted::Extracted;

/// The format as which a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    Pdf,
    Docx,
    Pptx,
    Odt,
    /// xlsx, xls, xlsb and ods.
    Sheets,
    Epub,
    /// A single message.
    Mail,
    /// A mailbox: messages one after another.
    Mbox,
    Zip,
    Gzip,
    Tar,
}

/// Which of the parsers of a format reads a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Parser {
    /// The better one.
    First,
    /// The fallback, which reads less well but refuses less.
    Fallback,
}

/// What a worker is to do with the bytes that follow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) format: Format,
    pub(crate) parser: Parser,
    /// The name of the file, which may reveal its format.
    pub(crate) name: String,
    pub(crate) rows: Rows,
    /// The most bytes of a document's text, and of a file inside the file.
    pub(crate) bytes_max: u64,
    /// The maximum bytes of all results together.
    pub(crate) bytes_total_max: u64,
    /// Seconds of CPU time for it.
    pub(crate) cpu_seconds: u64,
}

/// A document without its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    pub(super) within: String,
    pub(super) title: Option<String>,
    pub(super) media_type: String,
    pub(super) metadata: Metadata,
    pub(super) positions: Positions,
}

/// Why a file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Refusal {
    pub(crate) reason: String,
    /// Whether another parser may do better.
    pub(crate) retry: Retry,
}

/// Whether trying again is useful.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Retry {
    /// Another parser may do better.
    Useful,
    /// No parser can do better: the file is encrypted, or empty.
    Useless,
}

impl Refusal {
    /// Refuses a file that another parser may read.
    pub(crate) fn damaged(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), retry: Retry::Useful }
    }

    /// Refuses a file that no parser can read.
    pub(crate) fn of_all(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), retry: Retry::Useless }
    }
}

/// Something inside a file that is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LeftOut {
    /// Its name inside the file; empty for the rest of the file.
    pub(crate) name: String,
    pub(crate) reason: String,
}

/// One piece of the contents of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A document. If it is not the whole file, `within` says which part.
    Document { within: String, extracted: Extracted },
    /// A file inside the file.
    Member { name: String, bytes: Vec<u8> },
    /// Something that is left out.
    Left(LeftOut),
}

/// Takes a piece of a file, or refuses more of it.
pub(crate) type Give<'a> = dyn FnMut(Piece) -> Result<(), Refusal> + 'a;
