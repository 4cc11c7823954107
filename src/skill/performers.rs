//! Performers: the embedder, reranker, model and web search that an index or a question uses.

use std::sync::Arc;

use crate::embed::{Embedder, NoEmbedder, Reranker, StaticTable};
use crate::llm::{ChatModel, SearchTool};

/// The embedder, the reranker, the language model and the web search. Without a language model, rules do its tasks.
#[derive(Clone)]
pub struct Performers {
    /// Turns texts into vectors.
    pub embedder: Arc<dyn Embedder>,
    /// Reranks the passages found, if a search requests it.
    pub reranker: Option<Arc<dyn Reranker>>,
    /// Writes questions of passages, picks among the passages found, and writes answers from them; without it, rules
    /// make questions and sentences are quoted.
    pub model: Option<Arc<dyn ChatModel>>,
    /// Searches the web for a strategy that does so (`level`); by default, none.
    pub web: Option<Arc<dyn SearchTool>>,
}

impl Performers {
    /// Returns the performers in the binary: no service, no key, no download.
    #[must_use]
    pub fn built_in() -> Self {
        Self::with_embedder(Arc::new(StaticTable))
    }

    /// Returns the performers for an index without vectors.
    #[must_use]
    pub fn without_embedder() -> Self {
        Self::with_embedder(Arc::new(NoEmbedder))
    }

    /// Returns the performers in the binary, but for the embedder.
    #[must_use]
    pub fn with_embedder(embedder: Arc<dyn Embedder>) -> Self {
        Self { embedder, reranker: None, model: None, web: None }
    }
}
