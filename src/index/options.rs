//! What a run is told, and what it says at the end.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::chunk::ChunkOptions;
use crate::domain::{Cancellation, Counts, Document, IndexVersion, ProgressSink, Skip};
use crate::graph::matching::MatchOptions;
use crate::ingest::IngestOptions;

/// Where documents come from.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Sources {
    /// Files and folders, synchronized: documents of these that are no longer there are removed from the index.
    Paths(Vec<PathBuf>),
    /// Documents by their ids, added or replaced; nothing is removed.
    Documents(Vec<Document>),
}

impl Sources {
    /// Returns a folder, or a file, as the source.
    #[must_use]
    pub fn folder(path: impl Into<PathBuf>) -> Self {
        Self::Paths(vec![path.into()])
    }
}

/// What becomes of an index that another embedder made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OtherEmbedder {
    /// It stays as it is, and the run is refused.
    #[default]
    Refuse,
    /// Everything is embedded again. The version that is there can be read until the new one is whole.
    ReEmbed,
}

/// What a run may be told.
#[derive(Clone, Default)]
pub struct IndexOptions {
    /// How files are read.
    pub ingest: IngestOptions,
    /// How documents are cut into passages.
    pub chunk: ChunkOptions,
    /// How questions are matched.
    pub matching: MatchOptions,
    /// What becomes of an index of another embedder.
    pub other_embedder: OtherEmbedder,
    /// Who is told of progress.
    pub progress: Option<ProgressSink>,
    /// A request to stop: the run ends after the unit in hand, with everything finished kept.
    pub cancellation: Cancellation,
}

/// What became of the documents of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentCounts {
    /// New ones.
    pub added: u64,
    /// Those whose content or settings changed.
    pub changed: u64,
    /// Those that are as they were.
    pub unchanged: u64,
    /// Those that are no longer in the sources.
    pub removed: u64,
    /// Sources, or parts of one, that were left out.
    pub skipped: u64,
}

/// What a run did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IndexReport {
    /// The version that is current after it.
    pub version: IndexVersion,
    /// What became of the documents.
    pub documents: DocumentCounts,
    /// How much the index holds.
    pub counts: Counts,
    /// What a user should look at.
    pub warnings: Vec<String>,
    /// Question edges that the bound on exits of a passage left out.
    pub edges_cut: u64,
    /// What was left out, and why.
    pub skips: Vec<Skip>,
    /// Seconds that it took.
    pub seconds: f64,
}
