//! The messages in frames: jobs and results.

use serde::{Deserialize, Serialize};

use crate::domain::{Metadata, Positions};
use crate::ingest::Rows;
use crate::ingest::extracted::Extracted;

/// What a file is read as.
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
    /// One message.
    Mail,
    /// Messages one after another.
    Mbox,
    Zip,
    Gzip,
    Tar,
}

/// Which of the parsers of a format reads a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Parser {
    /// The one that reads best.
    First,
    /// The one that reads less well and refuses less.
    Fallback,
}

/// What a worker is to do with the bytes that follow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) format: Format,
    pub(crate) parser: Parser,
    /// The name of the file, which may say what it holds.
    pub(crate) name: String,
    pub(crate) rows: Rows,
    /// The most bytes of a document's text, and of a file inside the file.
    pub(crate) bytes_max: u64,
    /// The most bytes of all that comes of the file together.
    pub(crate) bytes_total_max: u64,
    /// Seconds of computing that it may take.
    pub(crate) cpu_seconds: u64,
}

/// What a document is beside its text.
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

/// Whether it is of use to try again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Retry {
    /// Another parser may do better.
    Useful,
    /// No parser does better: the file is encrypted, or empty.
    Useless,
}

impl Refusal {
    /// Refuses a file that another parser may read.
    pub(crate) fn damaged(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), retry: Retry::Useful }
    }

    /// Refuses a file that no parser reads.
    pub(crate) fn of_all(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), retry: Retry::Useless }
    }
}

/// Something inside a file that is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LeftOut {
    /// Its name inside the file; empty where it is the rest of the file.
    pub(crate) name: String,
    pub(crate) reason: String,
}

/// What comes of a file, piece by piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A document. Where it is not the whole file, `within` says which part.
    Document { within: String, extracted: Extracted },
    /// A file inside the file.
    Member { name: String, bytes: Vec<u8> },
    /// What is left out.
    Left(LeftOut),
}

/// Takes what comes of a file, or refuses more of it.
pub(crate) type Give<'a> = dyn FnMut(Piece) -> Result<(), Refusal> + 'a;
