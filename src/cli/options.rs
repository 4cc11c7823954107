//! Converts arguments to the options of `setup`.

use std::path::PathBuf;

use super::args::{ModelArgs, ModelCallArgs, RecordingArgs, SearchModelArgs};
use super::database_args::{DatabaseArgs, GraphArgs};
use super::index_args::IndexArgs;
use crate::config::{Database, ModelRole};
use crate::index::OtherEmbedder;
use crate::neo4j::Questions;
use crate::setup::{CallOptions, EngineOptions, FillOptions, ModelOptions, RecordingFiles, RerankOptions};

impl ModelArgs {
    pub(super) fn options(&self) -> ModelOptions {
        ModelOptions { embedder: self.embedder.clone(), onnx_runtime: self.onnx_runtime.clone() }
    }
}

impl RecordingArgs {
    pub(super) fn files(&self) -> RecordingFiles {
        RecordingFiles { record: self.record.clone(), replay: self.replay.clone() }
    }
}

impl SearchModelArgs {
    pub(super) fn rerank(&self) -> RerankOptions {
        RerankOptions { reranker: self.reranker.clone(), rerank: self.rerank }
    }
}

impl ModelCallArgs {
    fn options(&self) -> CallOptions {
        CallOptions {
            model: self.model.clone(),
            calls_max: self.max_calls,
            tokens_max: self.max_tokens,
            recording: self.recording.files(),
        }
    }
}

impl DatabaseArgs {
    pub(super) fn options(&self) -> Database {
        Database {
            uri: self.neo4j.clone(),
            name: self.login.database.clone(),
            user: self.login.user.clone(),
            password_file: self.login.password_file.clone(),
            ..Database::default()
        }
    }
}

impl GraphArgs {
    pub(super) fn options(&self) -> Database {
        Database {
            traversal: self.traversal.clone(),
            memory: self.memory.clone(),
            cache: self.cache.clone(),
            ..self.database.options()
        }
    }

    /// Returns the database to search, where one is named.
    pub(super) fn named(&self) -> Option<Database> {
        self.database.neo4j.is_some().then(|| self.options())
    }
}

impl IndexArgs {
    pub(super) fn fill_options(&self, other_embedder: OtherEmbedder) -> FillOptions {
        FillOptions {
            models: self.models.options(),
            model: self.language_model.model.clone(),
            budget: self.language_model.budget.clone(),
            recording: self.language_model.recording.files(),
            other_embedder,
        }
    }
}

/// Returns which index a question is put to, and with which models.
pub(super) fn engine(
    index: Option<PathBuf>,
    graph: &GraphArgs,
    models: &SearchModelArgs,
    call: &ModelCallArgs,
    (role, questions): (ModelRole, Questions),
) -> EngineOptions {
    EngineOptions {
        index,
        database: graph.named(),
        questions,
        models: models.models.options(),
        rerank: models.rerank(),
        web_search: None,
        call: call.options(),
        role,
    }
}
