//! No embedder: an index without vectors, searched by words, names and questions alone.

use super::{Embedder, Embeddings, StaticTable};
use crate::domain::Embedding;
use crate::error::Error;

/// An embedder whose vectors have no values. It counts word pieces as the built-in one does, so that passages are the
/// same.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoEmbedder;

impl NoEmbedder {
    /// The name that an index without vectors is pinned to.
    pub const NAME: &'static str = "none";
}

impl Embedder for NoEmbedder {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn dimension(&self) -> usize {
        0
    }

    fn piece_count(&self, text: &str) -> usize {
        StaticTable.piece_count(text)
    }

    fn pieces_max(&self) -> usize {
        usize::MAX
    }

    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> Embeddings<'a> {
        let empty = |_: &&str| {
            let error = |source| Error::Embedding { embedder: Self::NAME.to_owned(), source };
            Embedding::try_new(Vec::new(), 0).map_err(error)
        };
        Box::pin(std::future::ready(texts.iter().map(empty).collect()))
    }
}
