//! Performers: the embedder, reranker, model and web search that an index or a question uses.

use std::sync::Arc;

use crate::embed::{Embedder, NoEmbedder, Reranker, StaticTable};
use crate::llm::{ChatModel, SearchTool};

/// Who embeds, who judges, who writes. Where no language model is named, rules do what one could.
#[derive(Clone)]
pub struct Performers {
    /// Turns texts into vectors.
    pub embedder: Arc<dyn Embedder>,
    /// Judges passages that were found, where a search asks for it.
    pub reranker: Option<Arc<dyn Reranker>>,
    /// Writes questions of passages, picks among passages that were found, and writes answers from them; where there is
    /// none, rules make questions and sentences are quoted.
    pub model: Option<Arc<dyn ChatModel>>,
    /// Searches the web, where a strategy does that (`level`); none for nobody, which is so unless somebody is named.
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
