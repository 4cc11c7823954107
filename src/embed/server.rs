//! An embedder behind a server with an `OpenAI`-compatible API.
//!
//! Texts are sent in batches, a few at a time. A batch is retried only if the server did nothing; vectors are checked
//! before use: one per text, of one length, finite, not all zeros. If a batch fails for good, those in progress are
//! awaited and kept, since they are paid for, and no other is sent. Calls are counted on an [`Account`], within its
//! budget.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustc_hash::FxHashMap;
use tokio::task::JoinSet;

use super::account::{Account, Payer, TEXTS_MAX, batches, is_sent};
use super::place::{EmbedderPlace, ServerPlace};
use super::{Came, Embedded, Embedder, Embeddings, PartlyEmbedded, StaticTable};
use crate::domain::{BudgetKind, ChatError, Embedding, EmbeddingError, Spent, Usage};
use crate::error::{Error, Result};
use crate::llm::{
    CircuitBreakerOptions, EmbeddingsServer, Endpoint, Guard, Limits, Measured, Meter, Recording, Retries,
    VectorSettings, tokens_estimate,
};
use crate::telemetry;

/// Word pieces that a passage may have: most models of servers take 512 tokens or more.
pub(super) const PIECES_MAX: usize = 512;
/// The text with which the length of a model's vectors is determined.
pub(super) const PROBE: &[&str] = &["Which river flows through the city?"];

/// How a server of embeddings is asked.
#[derive(Debug, Clone, Default)]
pub struct ServerOptions {
    /// How fast.
    pub limits: Limits,
    /// Retries of calls that cost nothing.
    pub retries: Retries,
    /// When it is left alone.
    pub circuit: CircuitBreakerOptions,
    /// The budget and the cost of calls: on a meter that may be shared.
    pub meter: Arc<Meter>,
    /// Where its calls are recorded, if anywhere.
    pub recording: Option<Arc<Recording>>,
    /// The listener for the number of texts that the server accepts per call, if it refused more.
    pub learnt: Option<Learnt>,
}

/// Hears a number that was found out.
#[derive(Clone)]
pub struct Learnt(pub Arc<dyn Fn(usize) + Send + Sync>);

impl std::fmt::Debug for Learnt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Learnt")
    }
}

/// An embedder behind a server with an `OpenAI`-compatible API.
pub struct ServerEmbedder {
    dimension: usize,
    /// Calls at once at most.
    calls_max: usize,
    /// Texts of a call at most: fewer once the server refused more.
    texts_max: AtomicUsize,
    learnt: Option<Learnt>,
    settings: VectorSettings,
    place: EmbedderPlace,
    caller: Arc<Caller>,
}

/// Hears of the vectors of a call, with the place of the first.
type Told<'a> = dyn FnMut(usize, &[Option<Embedding>]) + Send + 'a;

/// The vectors of texts received, and the first fault.
type VectorsAndFault = (Vec<Option<Embedding>>, Option<ChatError>);

/// The data of a call on other tasks.
struct Caller {
    name: String,
    account: Account,
    server: EmbeddingsServer,
    guard: Guard,
    recording: Option<Arc<Recording>>,
}

impl ServerEmbedder {
    /// Returns the embedder at an endpoint, which is asked once for the length of its vectors.
    ///
    /// # Errors
    ///
    /// [`Error::EmbedderServer`] if it is unavailable or replies with anything but vectors.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the call in flight, which may have been paid for, and nothing else.
    pub async fn open(endpoint: Endpoint, options: ServerOptions) -> Result<Self> {
        let embedder = Self::pinned(endpoint, 0, options)?;
        let caller = Arc::clone(&embedder.caller);
        let asked =
            caller.ask(PROBE.iter().map(|text| (*text).to_owned()).collect(), Payer::Run).await.and_then(|vectors| {
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
    /// sent, with [`ChatError::NoPrice`] for a budget of money and a model without a price.
    pub fn pinned(endpoint: Endpoint, dimension: usize, options: ServerOptions) -> Result<Self> {
        Self::with_account(endpoint, dimension, options, |account| account)
    }

    /// Returns the embedder at an endpoint to reckon with: nothing is sent yet, and what [`Self::open`] would come to
    /// is expected too.
    ///
    /// # Errors
    ///
    /// As [`Self::pinned`].
    pub fn unopened(endpoint: Endpoint, dimension: usize, options: ServerOptions) -> Result<Self> {
        Self::with_account(endpoint, dimension, options, |account| account.unopened(PROBE))
    }

    fn with_account(
        endpoint: Endpoint,
        dimension: usize,
        options: ServerOptions,
        account: impl FnOnce(Account) -> Account,
    ) -> Result<Self> {
        let (name, priced_as) = (endpoint.embedder_name(), endpoint.name());
        let place = EmbedderPlace::Server(ServerPlace::of(&endpoint));
        let settings = endpoint.vectors.clone();
        let server = options.meter.check(&priced_as).and_then(|()| EmbeddingsServer::new(endpoint));
        let server = server.map_err(|source| Error::EmbedderServer { embedder: name.clone(), source })?;
        let calls_max = options.limits.concurrency.max(1);
        let texts_max = settings.texts_max.unwrap_or(TEXTS_MAX).clamp(1, TEXTS_MAX);
        let caller = Caller {
            account: account(Account::new(priced_as, options.meter).of_texts(texts_max)),
            name,
            server,
            guard: Guard::new(options.limits, options.retries, options.circuit),
            recording: options.recording,
        };
        let (learnt, texts_max) = (options.learnt, AtomicUsize::new(texts_max));
        Ok(Self { dimension, calls_max, texts_max, learnt, settings, place, caller: Arc::new(caller) })
    }

    /// Embeds texts in the form in which they are sent, with their prefix.
    async fn vectors(&self, texts: &[&str], payer: Payer, came: &mut Came<'_>) -> Embedded {
        let prefix = self.settings.prefix(payer == Payer::Question);
        if prefix.is_empty() {
            return self.vectors_of(texts, payer, came).await;
        }
        let sent = |text: &&str| if is_sent(text) { format!("{prefix}{text}") } else { String::new() };
        let texts: Vec<String> = texts.iter().map(sent).collect();
        self.vectors_of(&texts.iter().map(String::as_str).collect::<Vec<_>>(), payer, came).await
    }

    /// Embeds texts: equal ones once, those without words not at all.
    async fn vectors_of(&self, texts: &[&str], payer: Payer, came: &mut Came<'_>) -> Embedded {
        let mut places: FxHashMap<&str, usize> = FxHashMap::default();
        let mut distinct: Vec<&str> = Vec::new();
        // The position of each among all.
        let mut equal: Vec<Vec<usize>> = Vec::new();
        for (at, text) in texts.iter().enumerate().filter(|(_, text)| is_sent(text)) {
            let place = *places.entry(text).or_insert_with(|| {
                distinct.push(text);
                equal.push(Vec::new());
                distinct.len() - 1
            });
            equal[place].push(at);
        }
        let empty = match Embedding::try_new(vec![0.0; self.dimension], self.dimension) {
            Ok(empty) => Some(empty),
            Err(fault) => return Embedded::failed(texts.len(), self.caller.fault(unusable(fault))),
        };
        let mut told = |from: usize, vectors: &[Option<Embedding>]| {
            let each = vectors.iter().zip(&equal[from..]).filter_map(|(vector, equal)| Some((vector.as_ref()?, equal)));
            came(&each.flat_map(|(vector, equal)| equal.iter().map(move |at| (*at, vector))).collect::<Vec<_>>());
        };
        let (vectors, fault) = self.distinct_vectors(&distinct, payer, &mut told).await;
        let of = |text: &&str| places.get(*text).map_or(&empty, |place| &vectors[*place]).clone();
        Embedded { vectors: texts.iter().map(of).collect(), fault: fault.map(|fault| self.caller.fault(fault)) }
    }

    /// Returns the vectors of texts received, and the first fault. `told` receives those of each call as it ends, with
    /// the position of the first.
    async fn distinct_vectors(&self, texts: &[&str], payer: Payer, told: &mut Told<'_>) -> VectorsAndFault {
        let mut vectors = vec![None; texts.len()];
        let mut fault = None;
        let at_first = self.texts_max.load(Ordering::Relaxed);
        let mut waiting = placed(texts, at_first);
        let mut calls = JoinSet::new();
        // Concurrent calls reserve more than they use: a call that did not fit beside others may fit alone.
        let mut calls_max = self.calls_max;
        loop {
            while fault.is_none() && calls.len() < calls_max {
                let Some((at, batch)) = self.next_batch(&mut waiting) else { break };
                let (caller, is_alone) = (Arc::clone(&self.caller), calls_max == 1);
                calls.spawn(async move {
                    let came = caller.ask(batch.clone(), payer).await;
                    (at, batch, is_alone, came)
                });
            }
            let Some(call) = calls.join_next().await else { break };
            let (at, batch, is_alone, came) = match call {
                Ok(call) => call,
                Err(error) => (0, Vec::new(), true, Err(ChatError::Interrupted { reason: error.to_string() })),
            };
            match came {
                Ok(came) => {
                    self.take(came, vectors.iter_mut().skip(at), &mut fault);
                    told(at, &vectors[at..at + batch.len()]);
                }
                Err(ChatError::Budget { .. }) if !is_alone => {
                    calls_max = 1;
                    waiting.push_front((at, batch));
                }
                // A smaller call has a smaller maximum.
                Err(ChatError::Budget { kind, .. }) if kind != BudgetKind::Calls && batch.len() > 1 => {
                    let mut batch = batch;
                    let rest = batch.split_off(batch.len() / 2);
                    waiting.push_front((at + batch.len(), rest));
                    waiting.push_front((at, batch));
                }
                // Too many texts for this server, or one that is too long: that is found out by fewer.
                Err(error) if error.is_of_request() && batch.len() > 1 => {
                    self.texts_max.fetch_min(batch.len() / 2, Ordering::Relaxed);
                    waiting.push_front((at, batch));
                }
                Err(error) => drop(fault.get_or_insert(error)),
            }
        }
        let texts_max = self.texts_max.load(Ordering::Relaxed);
        if let Some(Learnt(learnt)) = self.learnt.as_ref().filter(|_| fault.is_none() && texts_max < at_first) {
            learnt(texts_max);
        }
        // One text that is refused says nothing of how many are.
        if fault.is_some() {
            self.texts_max.fetch_max(at_first, Ordering::Relaxed);
        }
        (vectors, fault)
    }

    /// Returns the next batch, of no more texts than the server is known to take; the rest waits.
    fn next_batch(&self, waiting: &mut VecDeque<(usize, Vec<String>)>) -> Option<(usize, Vec<String>)> {
        let (at, mut batch) = waiting.pop_front()?;
        let texts_max = self.texts_max.load(Ordering::Relaxed).max(1);
        if batch.len() > texts_max {
            let rest = batch.split_off(texts_max);
            waiting.push_front((at + texts_max, rest));
        }
        Some((at, batch))
    }

    /// Stores the vectors of a call, and notes the first fault among them.
    fn take<'v>(
        &self,
        came: Vec<Vec<f32>>,
        places: impl Iterator<Item = &'v mut Option<Embedding>>,
        fault: &mut Option<ChatError>,
    ) {
        for (place, values) in places.zip(came) {
            match embedding(values, self.dimension) {
                Ok(embedding) => *place = Some(embedding),
                Err(error) => drop(fault.get_or_insert(error)),
            }
        }
    }
}

/// Divides texts into calls, each with the position of its first text.
fn placed(texts: &[&str], texts_max: usize) -> VecDeque<(usize, Vec<String>)> {
    let mut first = 0;
    let batch = |batch: &[&str]| {
        let at = first;
        first += batch.len();
        (at, batch.iter().map(|text| (*text).to_owned()).collect())
    };
    batches(texts, texts_max).into_iter().map(batch).collect()
}

impl Caller {
    /// Returns the values of texts, one list per text; the call is recorded if requested.
    async fn ask(&self, texts: Vec<String>, payer: Payer) -> Result<Vec<Vec<f32>>, ChatError> {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let came = self.call(&texts, payer).await;
        if let Some(recording) = &self.recording {
            let came = came.as_ref().map(|(vectors, spent)| (vectors.as_slice(), spent));
            recording.write_vectors(&self.name, &texts, came)?;
        }
        came.map(|(vectors, _)| vectors)
    }

    async fn call(&self, texts: &[&str], payer: Payer) -> Result<(Vec<Vec<f32>>, Spent), ChatError> {
        let tokens: u64 = texts.iter().map(|text| tokens_estimate(text)).sum();
        let measured = Measured::of(texts.iter().copied());
        let reserved = self.account.reserve(&measured, texts.len()).await?;
        match self.guard.call(tokens, || Box::pin(self.server.vectors(texts))).await {
            Ok(came) => {
                let is_estimated = came.tokens.is_none();
                let usage = Usage { input_tokens: came.tokens.unwrap_or(tokens), output_tokens: 0, is_estimated };
                tracing::debug!(
                    operation = telemetry::EMBEDDINGS,
                    texts = texts.len(),
                    tokens = usage.input_tokens,
                    "replied"
                );
                self.account.learn(&measured, usage);
                Ok((came.vectors, self.account.settle(reserved, usage, payer)))
            }
            Err(error) => {
                tracing::warn!(operation = telemetry::EMBEDDINGS, kind = error.kind_name(), "no reply");
                self.account.fail(reserved, &error, payer);
                Err(error)
            }
        }
    }

    fn fault(&self, source: ChatError) -> Error {
        Error::EmbedderServer { embedder: self.name.clone(), source }
    }
}

/// Returns values at unit length.
pub(super) fn embedding(mut values: Vec<f32>, dimension: usize) -> Result<Embedding, ChatError> {
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

pub(super) const fn unusable(fault: EmbeddingError) -> ChatError {
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

    fn account(&self) -> Option<&Account> {
        Some(&self.caller.account)
    }

    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> Embeddings<'a> {
        Box::pin(async { self.vectors(texts, Payer::Question, &mut |_| ()).await.whole() })
    }

    fn embed_partly<'a>(&'a self, texts: &'a [&'a str], came: &'a mut Came<'_>) -> PartlyEmbedded<'a> {
        Box::pin(self.vectors(texts, Payer::Run, came))
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
