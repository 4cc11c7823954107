//! Performers: who does what an index or a question needs done.

use std::sync::Arc;

use crate::embed::{Embedder, NoEmbedder, StaticTable};

/// Who embeds. Who writes and judges are rules, as long as there is no language model.
#[derive(Clone)]
pub struct Performers {
    /// Turns texts into vectors.
    pub embedder: Arc<dyn Embedder>,
}

impl Performers {
    /// Returns the performers in the binary: no service, no key, no download.
    #[must_use]
    pub fn built_in() -> Self {
        Self { embedder: Arc::new(StaticTable) }
    }

    /// Returns the performers for an index without vectors.
    #[must_use]
    pub fn without_embedder() -> Self {
        Self { embedder: Arc::new(NoEmbedder) }
    }
}
