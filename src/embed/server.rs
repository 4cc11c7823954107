//! An embedder behind a server that speaks as `OpenAI`'s.
//!
//! Texts go out in batches, a few at one time. A batch is tried again only where the server did nothing; what comes
//! back is checked before it is used: one vector a text, of one length, finite, and not of zeros. Where a batch fails
//! for good, those under way are waited for and kept, since they are paid for, and no other goes out.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tokio::task::JoinSet;

use super::place::{EmbedderPlace, ServerPlace};
use super::{Embedded, Embedder, Embeddings, PartlyEmbedded, StaticTable};
use crate::domain::{ChatError, Embedding, EmbeddingError};
use crate::error::{Error, Result};
use crate::llm::{Breaker, CircuitOptions, EmbeddingsServer, Endpoint, Limits, Pace, Retries, tokens_estimate};
use crate::telemetry;

/// Texts of a call at most.
const TEXTS_MAX: usize = 64;
/// Tokens of a call at most, as they are estimated; a text that has more goes alone.
const TOKENS_MAX: u64 = 16_384;
/// Word pieces that a passage may have: most models of servers take 512 tokens or more.
const PIECES_MAX: usize = 512;
/// What a model is tried with, to learn the length of its vectors.
const PROBE: &str = "Which river flows through the city?";

/// How a server of embeddings is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ServerOptions {
    /// How fast.
    pub limits: Limits,
    /// How often again, where that costs nothing.
    pub retries: Retries,
    /// When it is left alone.
    pub circuit: CircuitOptions,
}

/// An embedder behind a server that speaks as `OpenAI`'s.
pub struct ServerEmbedder {
    dimension: usize,
    /// Calls at one time at most.
    calls_max: usize,
    place: EmbedderPlace,
    caller: Arc<Caller>,
}

/// What a call works with on other tasks.
struct Caller {
    name: String,
    server: EmbeddingsServer,
    breaker: Breaker,
    retries: Retries,
    pace: Pace,
}

impl ServerEmbedder {
    /// Returns the embedder at an endpoint, which is asked once for the length of its vectors.
    ///
    /// # Errors
    ///
    /// [`Error::EmbedderServer`] if it cannot be asked or replies with what is no vector.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the call in flight, which may have been paid for, and nothing else.
    pub async fn open(endpoint: Endpoint, options: ServerOptions) -> Result<Self> {
        let embedder = Self::pinned(endpoint, 0, options)?;
        let caller = Arc::clone(&embedder.caller);
        let asked = caller.ask(vec![PROBE.to_owned()]).await.and_then(|vectors| {
            let dimension = vectors.first().map_or(0, Vec::len);
            vectors.into_iter().try_for_each(|values| embedding(values, dimension).map(drop))?;
            Ok(dimension)
        });
        Ok(Self { dimension: asked.map_err(|source| caller.fault(source))?, ..embedder })
    }

    /// Returns the embedder at an endpoint whose vectors are known to have `dimension` values. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// [`Error::EmbedderServer`] with [`ChatError::Address`] if address, key or headers have a form that cannot be
    /// sent.
    pub fn pinned(endpoint: Endpoint, dimension: usize, options: ServerOptions) -> Result<Self> {
        let name = endpoint.name();
        let place = EmbedderPlace::Server(ServerPlace::of(&endpoint));
        let server = EmbeddingsServer::new(endpoint);
        let server = server.map_err(|source| Error::EmbedderServer { embedder: name.clone(), source })?;
        let calls_max = options.limits.concurrency.max(1);
        let caller = Caller {
            name,
            server,
            breaker: Breaker::new(options.circuit),
            retries: options.retries,
            pace: Pace::new(options.limits),
        };
        Ok(Self { dimension, calls_max, place, caller: Arc::new(caller) })
    }

    /// Embeds texts: equal ones once, those without words not at all.
    async fn vectors(&self, texts: &[&str]) -> Embedded {
        let mut places: FxHashMap<&str, usize> = FxHashMap::default();
        let mut distinct: Vec<&str> = Vec::new();
        for text in texts.iter().filter(|text| !text.trim().is_empty()) {
            places.entry(text).or_insert_with(|| {
                distinct.push(text);
                distinct.len() - 1
            });
        }
        let empty = match Embedding::try_new(vec![0.0; self.dimension], self.dimension) {
            Ok(empty) => Some(empty),
            Err(fault) => return Embedded::failed(texts.len(), self.caller.fault(unusable(fault))),
        };
        let (vectors, fault) = self.distinct_vectors(&distinct).await;
        let of = |text: &&str| places.get(*text).map_or(&empty, |place| &vectors[*place]).clone();
        Embedded { vectors: texts.iter().map(of).collect(), fault: fault.map(|fault| self.caller.fault(fault)) }
    }

    /// Returns the vectors of texts as far as they came, and the first fault.
    async fn distinct_vectors(&self, texts: &[&str]) -> (Vec<Option<Embedding>>, Option<ChatError>) {
        let mut vectors = vec![None; texts.len()];
        let mut fault = None;
        let mut first = 0;
        let mut waiting = batches(texts).into_iter().map(|batch| {
            let (caller, at) = (Arc::clone(&self.caller), first);
            first += batch.len();
            let batch = batch.iter().map(|text| (*text).to_owned()).collect();
            async move { (at, caller.ask(batch).await) }
        });
        let mut calls = JoinSet::new();
        waiting.by_ref().take(self.calls_max).for_each(|call| drop(calls.spawn(call)));
        while let Some(call) = calls.join_next().await {
            let (at, came) =
                call.unwrap_or_else(|error| (0, Err(ChatError::Interrupted { reason: error.to_string() })));
            let came = came.unwrap_or_else(|error| {
                fault.get_or_insert(error);
                Vec::new()
            });
            for (vector, values) in vectors.iter_mut().skip(at).zip(came) {
                match embedding(values, self.dimension) {
                    Ok(embedding) => *vector = Some(embedding),
                    Err(error) => drop(fault.get_or_insert(error)),
                }
            }
            if fault.is_none() {
                waiting.by_ref().take(1).for_each(|call| drop(calls.spawn(call)));
            }
        }
        (vectors, fault)
    }
}

impl Caller {
    /// Returns the values of texts, one list a text.
    async fn ask(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, ChatError> {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let tokens = texts.iter().map(|text| tokens_estimate(text)).sum();
        let call = || self.pace.keep(tokens, Box::pin(self.server.vectors(&texts)));
        let replied = self.breaker.guard(self.retries.again(call)).await;
        match &replied {
            Ok(came) => {
                let tokens = came.tokens.unwrap_or(tokens);
                tracing::debug!(operation = telemetry::EMBEDDINGS, texts = texts.len(), tokens, "replied");
            }
            Err(error) => {
                tracing::warn!(operation = telemetry::EMBEDDINGS, kind = error.kind_name(), "no reply");
            }
        }
        Ok(replied?.vectors)
    }

    fn fault(&self, source: ChatError) -> Error {
        Error::EmbedderServer { embedder: self.name.clone(), source }
    }
}

/// Parts texts into batches, each of as many as a call may have.
fn batches<'a, 'b>(texts: &'b [&'a str]) -> Vec<&'b [&'a str]> {
    let mut batches = Vec::new();
    let mut rest = texts;
    while !rest.is_empty() {
        let mut tokens = 0;
        let fits = |text: &&&str| {
            tokens += tokens_estimate(text);
            tokens <= TOKENS_MAX
        };
        let (batch, after) = rest.split_at(rest.iter().take(TEXTS_MAX).take_while(fits).count().max(1));
        batches.push(batch);
        rest = after;
    }
    batches
}

/// Returns values at unit length.
fn embedding(mut values: Vec<f32>, dimension: usize) -> Result<Embedding, ChatError> {
    let largest = values.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
    if values.iter().all(|value| *value == 0.0) {
        return Err(unusable(EmbeddingError::Zero));
    }
    // So that no square is too large or too small for a number.
    if largest.is_finite() {
        for value in &mut values {
            *value /= largest;
        }
    }
    Embedding::try_new(values, dimension).map_err(unusable)
}

const fn unusable(fault: EmbeddingError) -> ChatError {
    ChatError::Vectors { fault }
}

impl Embedder for ServerEmbedder {
    fn name(&self) -> &str {
        &self.caller.name
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    /// Counts as the built-in embedder does: the server's own pieces are not known here.
    fn piece_count(&self, text: &str) -> usize {
        StaticTable.piece_count(text)
    }

    fn pieces_max(&self) -> usize {
        PIECES_MAX
    }

    fn is_costly(&self) -> bool {
        true
    }

    fn place(&self) -> Option<&EmbedderPlace> {
        Some(&self.place)
    }

    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> Embeddings<'a> {
        Box::pin(async { self.vectors(texts).await.whole() })
    }

    fn embed_partly<'a>(&'a self, texts: &'a [&'a str]) -> PartlyEmbedded<'a> {
        Box::pin(self.vectors(texts))
    }
}

impl std::fmt::Debug for ServerEmbedder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerEmbedder")
            .field("name", &self.caller.name)
            .field("dimension", &self.dimension)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_bounded_by_texts_and_by_tokens_and_lose_none() {
        let long = "a".repeat(3 * TOKENS_MAX as usize / 2);
        let mut texts = vec!["a"; TEXTS_MAX + 1];
        texts.extend([long.as_str(); 3]);
        let sizes: Vec<usize> = batches(&texts).iter().map(|batch| batch.len()).collect();
        assert_eq!(sizes, [TEXTS_MAX, 2, 2]);
        let longer = long.repeat(3);
        assert_eq!(batches(&[longer.as_str(), "a"]).len(), 2);
        assert!(batches(&[]).is_empty());
    }

    #[test]
    fn values_of_any_size_get_unit_length_and_what_is_no_vector_is_refused() {
        for values in [[3e38, 3e38], [1e-30, 1e-30], [3.0, 3.0]] {
            let vector = embedding(values.to_vec(), 2).unwrap();
            assert!((vector.cosine(&vector) - 1.0).abs() < 1e-5);
        }
        let why = |values: &[f32]| embedding(values.to_vec(), 2).unwrap_err();
        assert_eq!(why(&[0.0, 0.0]), unusable(EmbeddingError::Zero));
        assert_eq!(why(&[]), unusable(EmbeddingError::Zero));
        assert_eq!(why(&[1.0, f32::NAN]), unusable(EmbeddingError::NotFinite { position: 1 }));
        assert_eq!(why(&[1.0, f32::INFINITY]), unusable(EmbeddingError::NotFinite { position: 1 }));
        assert_eq!(why(&[1.0]), unusable(EmbeddingError::Dimension { actual: 1, expected: 2 }));
    }
}
