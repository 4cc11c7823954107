//! Embedders and rerankers.

mod account;
mod choice;
mod compose;
#[cfg(feature = "hub")]
pub mod hub;
mod local;
mod none;
mod onnx;
mod place;
mod replayed;
mod rerank;
mod rerank_replayed;
mod rerank_server;
mod server;
mod static_table;
mod withheld;

use std::future::Future;
use std::pin::Pin;

use crate::domain::Embedding;
use crate::error::{Error, Result};

pub use account::Account;
pub use choice::EmbedderChoice;
pub use compose::{
    TITLE_SHARE, TitleVectors, Titled, embed_passages, embed_sentences, expected_passages, expected_sentences,
    passage_text, sentence_text, titles,
};
pub use local::ModelPlace;
pub use none::NoEmbedder;
pub use onnx::OnnxEmbedder;
pub use place::{Confirmed, EmbedderPlace, LocalPlace, ServerPlace};
pub use replayed::ReplayedEmbedder;
pub use rerank::{OnnxReranker, Reranker, Scored, Scores};
pub use rerank_replayed::ReplayedReranker;
pub use rerank_server::{RerankServerOptions, ServerReranker};
pub use server::{Learnt, ServerEmbedder, ServerOptions};
pub use static_table::StaticTable;
pub use withheld::WithheldEmbedder;

/// The future of an [`Embedder`]: vectors, in the order of the texts.
pub type Embeddings<'a> = Pin<Box<dyn Future<Output = Result<Vec<Embedding>>> + Send + 'a>>;

/// The future of an [`Embedder`] if some texts may fail: the vectors that succeed.
pub type PartlyEmbedded<'a> = Pin<Box<dyn Future<Output = Embedded> + Send + 'a>>;

/// Hears of vectors as they come, each with the place of its text among those that were given.
pub type Came<'a> = dyn FnMut(&[(usize, &Embedding)]) + Send + 'a;

/// Vectors of texts, some of which may be missing.
#[derive(Debug)]
pub struct Embedded {
    /// One place a text, in order.
    pub vectors: Vec<Option<Embedding>>,
    /// Why a vector is missing, if one is.
    pub fault: Option<Error>,
}

impl Embedded {
    /// Returns that none of `count` texts has a vector.
    pub(crate) fn failed(count: usize, fault: Error) -> Self {
        Self { vectors: vec![None; count], fault: Some(fault) }
    }

    /// Returns the vectors, if none is missing.
    ///
    /// # Errors
    ///
    /// Why one is.
    pub fn whole(self) -> Result<Vec<Embedding>> {
        self.fault.map_or_else(|| Ok(self.vectors.into_iter().flatten().collect()), Err)
    }
}

/// Turns texts into vectors of one dimension and unit length.
pub trait Embedder: Send + Sync {
    /// Returns the name that an index is pinned to: it changes whenever the vectors do.
    fn name(&self) -> &str;

    /// Returns how many values a vector has.
    fn dimension(&self) -> usize;

    /// Returns how many word pieces `text` has for this embedder, without any limit.
    fn piece_count(&self, text: &str) -> usize;

    /// Returns how many word pieces of a text its vector covers; the rest is ignored.
    fn pieces_max(&self) -> usize;

    /// Returns whether a vector is so expensive that it is kept at once, before its version exists.
    fn is_costly(&self) -> bool {
        false
    }

    /// Returns where its model is, if it has one: kept beside an index as a hint for later questions.
    fn place(&self) -> Option<&EmbedderPlace> {
        None
    }

    /// Returns the counter of its calls, if they cost anything besides time.
    fn account(&self) -> Option<&Account> {
        None
    }

    /// Returns one vector a text, in order.
    ///
    /// # Errors
    ///
    /// If a vector cannot be had or cannot be used.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the vectors of this call and nothing else.
    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> Embeddings<'a>;

    /// Returns the vectors that succeed even if others fail, because they may have been paid for. Indexing runs use it.
    /// By default the same as [`Self::embed`], all or none.
    ///
    /// If vectors arrive in several calls, `came` receives those of each call at once, so that they can be kept before
    /// the others arrive; all are returned in any case.
    ///
    /// # Cancel safety
    ///
    /// As [`Self::embed`], except for vectors passed to `came`.
    fn embed_partly<'a>(&'a self, texts: &'a [&'a str], came: &'a mut Came<'_>) -> PartlyEmbedded<'a> {
        // All arrive at once: there is nothing to pass on earlier.
        let _ = came;
        Box::pin(async move {
            let vectors = match self.embed(texts).await {
                Ok(vectors) => vectors,
                Err(fault) => return Embedded::failed(texts.len(), fault),
            };
            if vectors.len() == texts.len() {
                return Embedded { vectors: vectors.into_iter().map(Some).collect(), fault: None };
            }
            let (name, actual, due) = (self.name(), vectors.len(), texts.len());
            let fault = format!("the embedder `{name}` returned {actual} vectors for {due} texts");
            Embedded::failed(due, Error::Internal(fault))
        })
    }
}
