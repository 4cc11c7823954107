//! What a run is told, and what it says at the end.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::chunk::ChunkOptions;
use crate::domain::{Cancellation, ChatError, Counts, Document, IndexVersion, ProgressSink, Skip, Spent};
use crate::graph::matching::MatchOptions;
use crate::ingest::IngestOptions;
use crate::llm::Limits;
use crate::skill::QuestionCalls;

/// Where documents come from.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Sources {
    /// Files and folders, synchronized: documents of these that are no longer there are removed from the index.
    Paths(Vec<PathBuf>),
    /// Documents by their ids, added or replaced; nothing is removed.
    Documents(Vec<Document>),
    /// The bytes of a file under a name, which tells its format where they do not; nothing is removed.
    Bytes {
        /// What it is called, as a path: `notes/today.md`.
        name: String,
        /// All of it.
        bytes: Vec<u8>,
    },
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

/// What becomes of the questions that rules make of a passage once a model wrote its questions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ModelQuestions {
    /// The model's stand in their place.
    #[default]
    Instead,
    /// Both stand side by side.
    Beside,
}

/// What becomes of replies of a model that could not be used, in a later run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FailedReplies {
    /// They are read again where they are kept, for nothing and to no other end.
    #[default]
    Kept,
    /// The model is asked anew, which costs what it costs; the new reply is kept in the place of the old one.
    AskedAnew,
}

/// What becomes of documents that are gone, where most of what a root held is: a disk that is not mounted looks so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MostGone {
    /// They are kept, and the report says so.
    #[default]
    Keep,
    /// They are removed, as the few are that are gone otherwise.
    Remove,
}

/// What a run may be told.
#[derive(Clone)]
pub struct IndexOptions {
    /// How files are read.
    pub ingest: IngestOptions,
    /// How documents are cut into passages.
    pub chunk: ChunkOptions,
    /// How questions are matched.
    pub matching: MatchOptions,
    /// What becomes of an index of another embedder.
    pub other_embedder: OtherEmbedder,
    /// What becomes of documents that are gone, where most of a root are.
    pub most_gone: MostGone,
    /// What becomes of the questions of rules where a model writes some; without a model, nothing that one wrote is
    /// touched but with its passage.
    pub model_questions: ModelQuestions,
    /// In how many calls a model is asked about a passage.
    pub question_calls: QuestionCalls,
    /// What becomes of passages for which the model gave nothing that can be used before.
    pub failed_replies: FailedReplies,
    /// Calls to a model at one time.
    pub calls_at_once: usize,
    /// Who is told of progress.
    pub progress: Option<ProgressSink>,
    /// A request to stop, obeyed within a document too: everything that was finished is kept.
    pub cancellation: Cancellation,
}

impl Default for IndexOptions {
    fn default() -> Self {
        Self {
            ingest: IngestOptions::default(),
            chunk: ChunkOptions::default(),
            matching: MatchOptions::default(),
            other_embedder: OtherEmbedder::default(),
            most_gone: MostGone::default(),
            model_questions: ModelQuestions::default(),
            question_calls: QuestionCalls::default(),
            failed_replies: FailedReplies::default(),
            calls_at_once: Limits::default().concurrency,
            progress: None,
            cancellation: Cancellation::default(),
        }
    }
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
    /// Whether it made that version; else there was one of all this already.
    pub is_new_version: bool,
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
    /// What came of asking a language model, where one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelReport>,
    /// What came of asking an embedder behind a server, where the index has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vectors: Option<VectorReport>,
    /// The stages of its version, in order; none where it made none.
    #[serde(default)]
    pub stages: Vec<StageReport>,
    /// Seconds that it took.
    pub seconds: f64,
}

/// What became of a stage of a version.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StageReport {
    /// Its name: `names`, `passage-vectors`, `matching`.
    pub stage: String,
    /// Whether what it makes was taken over from the version before, made of the same.
    pub is_taken_over: bool,
    /// Seconds that it took.
    pub seconds: f64,
}

/// What came of asking a language model for questions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelReport {
    /// Its name.
    pub model: String,
    /// Passages that have its questions since this run.
    pub written: u64,
    /// Passages for which it gave nothing that can be used, and why: they keep what they had.
    pub failed: Vec<Skip>,
    /// Passages that it was not asked about any more.
    pub left: u64,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// The kind of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<StoppedBy>,
    /// The fault that it was stopped by, where nothing of use came back.
    #[serde(skip)]
    pub useless: Option<ChatError>,
    /// What it came to.
    pub spent: Spent,
}

/// Why a run asks a language model nothing more, though passages are left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StoppedBy {
    /// What may be spent is spent.
    Budget,
    /// The server failed several times in a row.
    Failing,
    /// The server refused every request.
    Refused,
    /// None of the last replies could be used.
    Useless,
}

/// What came of asking an embedder for vectors.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct VectorReport {
    /// Its name.
    pub embedder: String,
    /// Texts that have a vector since this run.
    pub made: u64,
    /// Texts that have none yet: they are found by words and names until a later run goes on.
    pub left: u64,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// What it came to.
    pub spent: Spent,
}
