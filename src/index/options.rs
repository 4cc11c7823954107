//! Options of a run, and its report.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::chunk::ChunkOptions;
use crate::domain::{Cancellation, ChatError, Counts, Document, Dropped, IndexVersion, ProgressSink, Skip, Spent};
use crate::graph::hierarchy::HierarchyPreset;
use crate::graph::matching::MatchOptions;
use crate::ingest::IngestOptions;
use crate::llm::Limits;
use crate::skill::{EntityTypes, ExtractCalls, QuestionCalls};

/// Where documents come from.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Sources {
    /// Files and folders, synchronized: their documents that are gone are removed from the index.
    Paths(Vec<PathBuf>),
    /// Documents, added or replaced by id; nothing is removed. They count as added by hand: no run over files and
    /// folders removes them or takes a file of the same id for them.
    Documents(Vec<Document>),
    /// The bytes of a file and its name, which determines the format if the bytes do not; nothing is removed, and what
    /// it holds counts as added by hand.
    Bytes {
        /// Its name, as a path: `notes/today.md`.
        name: String,
        /// Its bytes.
        bytes: Vec<u8>,
    },
}

/// How to handle an index that another embedder made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OtherEmbedder {
    /// It stays as it is, and the run is refused.
    #[default]
    Refuse,
    /// Everything is embedded again. The existing version can be read until the new one is complete.
    ReEmbed,
}

/// How to handle the rule-made questions of a passage once a model has written its questions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ModelQuestions {
    /// The model's questions replace them.
    #[default]
    Instead,
    /// Both are kept.
    Beside,
}

/// Who writes the questions of passages if a model is given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum QuestionsBy {
    /// The model.
    #[default]
    Model,
    /// Rules; a model's questions from an earlier run stay.
    Rule,
}

/// Who decides which types of entities a model looks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntityTypesBy {
    /// The caller.
    Named(EntityTypes),
    /// The model, which proposes types from a sample of passages. They are kept for later runs.
    Model,
}

impl Default for EntityTypesBy {
    fn default() -> Self {
        Self::Named(EntityTypes::default())
    }
}

/// When communities and layers of the hierarchy are recomputed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HierarchyRefresh {
    /// Once more than a [share](crate::graph::hierarchy::DRIFT_MAX) of the entities were added or removed since; small
    /// hierarchies with every change. Until then, new entities join existing ones.
    #[default]
    PastDrift,
    /// In this run, if anything changed since.
    Now,
}

/// How a model finds entities and relations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExtractOptions {
    /// The types of entities.
    pub types: EntityTypesBy,
    /// The number of calls per passage.
    pub calls: ExtractCalls,
}

/// Who writes about communities or clusters of entities.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReportsBy {
    /// Rules; a model's text from an earlier run stays as long as the community or cluster has the same members.
    #[default]
    Rule,
    /// The model, if one is given, about those whose content changed; rules about the others.
    Model,
}

/// How a later run handles unusable replies of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FailedReplies {
    /// The kept replies are read again, at no cost and with the same result.
    #[default]
    Kept,
    /// The model is asked again, at its usual cost; the new reply replaces the kept one.
    AskedAnew,
}

/// How to handle documents that are gone if these are most of a root: an unmounted disk looks the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MostGone {
    /// They are kept, and the report says so.
    #[default]
    Keep,
    /// They are removed, like any other documents that are gone.
    Remove,
}

/// When a first run publishes checkpoints, versions of what it has read so far. A run over an index with a version
/// publishes none, because that version can be searched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Checkpoints {
    /// Every five minutes, once 10,000 documents were read.
    #[default]
    Usual,
    /// So often, however many documents were read, but not before four times as long has passed as the last took; zero
    /// for one after each batch of documents.
    Every(Duration),
    /// Never.
    Never,
}

/// Options of a run.
#[derive(Clone)]
pub struct IndexOptions {
    /// How files are read.
    pub ingest: IngestOptions,
    /// How documents are divided into passages.
    pub chunk: ChunkOptions,
    /// How questions are matched.
    pub matching: MatchOptions,
    /// How relations, communities and layers are made.
    pub hierarchy: HierarchyPreset,
    /// When communities and layers are recomputed.
    pub hierarchy_refresh: HierarchyRefresh,
    /// How to handle an index of another embedder.
    pub other_embedder: OtherEmbedder,
    /// How to handle documents that are gone if these are most of a root.
    pub most_gone: MostGone,
    /// How to handle rule-made questions if a model writes some. A run without a model keeps the questions that one
    /// wrote as long as their passage exists.
    pub model_questions: ModelQuestions,
    /// The number of calls to a model per passage.
    pub question_calls: QuestionCalls,
    /// Who writes the questions of passages if a model is given.
    pub questions_by: QuestionsBy,
    /// How a model finds entities and relations of passages; none if it does not. A run without a model keeps earlier
    /// findings as long as their passage exists.
    pub extract: Option<ExtractOptions>,
    /// Who summarizes clusters of entities: the summary entities of each layer.
    pub summaries_by: ReportsBy,
    /// Who writes about communities of entities.
    pub reports_by: ReportsBy,
    /// How to handle passages for which earlier replies were unusable.
    pub failed_replies: FailedReplies,
    /// The number of concurrent calls to a model.
    pub calls_at_once: usize,
    /// When a first run publishes checkpoints.
    pub checkpoints: Checkpoints,
    /// A function that receives progress.
    pub progress: Option<ProgressSink>,
    /// A request to stop, which takes effect even inside a document; finished work is kept.
    pub cancellation: Cancellation,
}

impl Default for IndexOptions {
    fn default() -> Self {
        Self {
            ingest: IngestOptions::default(),
            chunk: ChunkOptions::default(),
            matching: MatchOptions::default(),
            hierarchy: HierarchyPreset::default(),
            hierarchy_refresh: HierarchyRefresh::default(),
            other_embedder: OtherEmbedder::default(),
            most_gone: MostGone::default(),
            model_questions: ModelQuestions::default(),
            question_calls: QuestionCalls::default(),
            questions_by: QuestionsBy::default(),
            extract: None,
            summaries_by: ReportsBy::default(),
            reports_by: ReportsBy::default(),
            failed_replies: FailedReplies::default(),
            calls_at_once: Limits::default().concurrency,
            checkpoints: Checkpoints::default(),
            progress: None,
            cancellation: Cancellation::default(),
        }
    }
}

/// What a run did with the documents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentCounts {
    /// New documents.
    pub added: u64,
    /// Documents whose content or settings changed.
    pub changed: u64,
    /// Documents that did not change.
    pub unchanged: u64,
    /// Documents that are no longer in the sources.
    pub removed: u64,
    /// Sources, or parts of one, that were left out.
    pub skipped: u64,
}

/// What a run did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IndexReport {
    /// The version that is current after it.
    pub version: IndexVersion,
    /// Whether the run made that version; otherwise it existed already.
    pub is_new_version: bool,
    /// Checkpoints that it made, of a part of the documents.
    #[serde(default)]
    pub checkpoints: u64,
    /// What the run did with the documents.
    pub documents: DocumentCounts,
    /// How much the index holds.
    pub counts: Counts,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// Question edges left out by the limit on edges from a passage.
    pub edges_cut: u64,
    /// Sources that were left out, and why.
    pub skips: Vec<Skip>,
    /// The result of the calls to a language model, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelReport>,
    /// The result of asking it for entities and relations, if that was wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extracted: Option<ExtractReport>,
    /// The result of asking it to combine what passages say of entities, if that was wanted and any was due.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub described: Option<ModelReport>,
    /// The result of asking it for summaries of clusters, if that was wanted and any was due.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summarized: Option<ModelReport>,
    /// The result of asking it for reports about topics, if that was wanted and any was due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported: Option<ModelReport>,
    /// The result of the calls to an embedder behind a server, if the index has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vectors: Option<VectorReport>,
    /// The stages of its version, in order; empty if it made none.
    #[serde(default)]
    pub stages: Vec<StageReport>,
    /// Seconds that it took.
    pub seconds: f64,
}

/// The result of a stage of a version.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StageReport {
    /// Its name: `names`, `passage-vectors`, `matching`.
    pub stage: String,
    /// Whether its output was reused from the previous version because its input did not change.
    pub is_taken_over: bool,
    /// Seconds that it took; some stages run at the same time.
    pub seconds: f64,
}

/// The result of asking a language model for questions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelReport {
    /// Its name.
    pub model: String,
    /// Passages that got its questions in this run.
    pub written: u64,
    /// Passages for which it gave nothing usable, and why; they keep their questions.
    pub failed: Vec<Skip>,
    /// Passages about which it was not asked because the run stopped calling it.
    pub left: u64,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// The kind of that reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<StoppedBy>,
    /// The fault that stopped the calls, if no reply was usable.
    #[serde(skip)]
    pub useless: Option<ChatError>,
    /// The calls, tokens and money spent.
    pub spent: Spent,
}

/// The result of asking a language model for entities and relations.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ExtractReport {
    /// The results of the calls, by passage.
    #[serde(flatten)]
    pub asked: ModelReport,
    /// The types of entities that it was asked for.
    pub types: Vec<String>,
    /// Entities that it found in passages in this run: one that several passages name counts in each.
    pub entities: u64,
    /// Relations that it found.
    pub relations: u64,
    /// Findings that are not in the passage, or beyond the limits; none of them is in the index.
    pub dropped: Dropped,
}

/// Why a run stopped calling a language model although passages are left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StoppedBy {
    /// The budget is spent.
    Budget,
    /// The server failed several times in a row.
    Failing,
    /// The server refused every request.
    Refused,
    /// None of the last replies was usable.
    Useless,
}

/// The result of asking an embedder for vectors.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct VectorReport {
    /// Its name.
    pub embedder: String,
    /// Texts that got a vector in this run.
    pub made: u64,
    /// Texts without a vector: they are found by words and names until a later run continues.
    pub left: u64,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// The calls, tokens and money spent.
    pub spent: Spent,
}
