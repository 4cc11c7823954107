//! An embedder behind a server that an index names and the user has not confirmed.

use super::place::{EmbedderPlace, ServerPlace};
use super::server::PIECES_MAX;
use super::{Embedder, Embeddings, StaticTable};
use crate::error::Error;
use crate::llm::Endpoint;

/// An embedder behind a server that must not be called: it has the data in the index, and a request for a vector fails
/// because its address is not confirmed. It has no connection, so nothing can be sent; everything that needs no vectors
/// works.
#[derive(Debug)]
pub struct WithheldEmbedder {
    name: String,
    url: String,
    dimension: usize,
    place: EmbedderPlace,
}

impl WithheldEmbedder {
    /// Returns the embedder at an endpoint, with vectors of `dimension` values.
    #[must_use]
    pub fn new(endpoint: &Endpoint, dimension: usize) -> Self {
        let place = EmbedderPlace::Server(ServerPlace::of(endpoint));
        Self { name: endpoint.embedder_name(), url: endpoint.url.clone(), dimension, place }
    }
}

impl Embedder for WithheldEmbedder {
    fn name(&self) -> &str {
        &self.name
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    /// Counts as an embedder behind a server does.
    fn piece_count(&self, text: &str) -> usize {
        StaticTable.piece_count(text)
    }

    fn pieces_max(&self) -> usize {
        PIECES_MAX
    }

    /// It is not asked where vectors are not needed.
    fn is_costly(&self) -> bool {
        true
    }

    fn place(&self) -> Option<&EmbedderPlace> {
        Some(&self.place)
    }

    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> Embeddings<'a> {
        let refused = Error::Unconfirmed { embedder: self.name.clone(), url: self.url.clone() };
        let answer = if texts.is_empty() { Ok(Vec::new()) } else { Err(refused) };
        Box::pin(std::future::ready(answer))
    }
}
