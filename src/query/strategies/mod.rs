//! Strategies: ways to find passages, one file each.

mod hop;
pub(super) mod trail;

pub(in crate::query) use trail::shown_name;
pub use trail::{trail_candidates, trail_ranking};

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::options::{SearchOptions, StrategyKind};
use crate::domain::{EntryVertex, Ledger, Pruned, Step};
use crate::embed::Embedder;
use crate::error::{Error, Result};
use crate::graph::trail::Evidence;
use crate::query::evidence::question::AskedQuestion;
use crate::query::session::caller::Caller;
use crate::skill::FoundPassage;
use crate::store::{Follow, GraphReader, PassageText};

/// A question to one version of an index, with everything that strategies share.
pub struct Query {
    /// The version that is read from start to end.
    pub reader: Arc<dyn GraphReader>,
    /// The question.
    pub question: AskedQuestion,
    /// What the search was told.
    pub options: SearchOptions,
    /// What the question says about every passage.
    pub evidence: Evidence,
    /// Cosine of each sentence, by ordinal; empty without an embedder.
    pub sentence_cosine: Vec<f32>,
    /// What turns texts into vectors like those of the version.
    pub embedder: Arc<dyn Embedder>,
    /// The language model that judges, where the search asks for one.
    pub caller: Option<Arc<Caller>>,
}

/// What a strategy found.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// Passages by ordinal, best first, with scores on the strategy's own scale.
    pub ranked: Vec<(u32, f32)>,
    /// The steps that led to a passage, where it was not found by itself.
    pub paths: FxHashMap<u32, Vec<Step>>,
    /// What was asked, entered, walked and dropped.
    pub ledger: Ledger,
}

/// What a strategy returns.
pub type Finding = Pin<Box<dyn Future<Output = Result<Found>> + Send>>;

/// A way to find passages.
pub trait Strategy: Send + Sync {
    /// Returns which it is.
    fn kind(&self) -> StrategyKind;

    /// Returns along what it walks.
    fn follows(&self) -> Follow {
        Follow::Nothing
    }

    /// Returns whether it compares vectors.
    fn needs_vectors(&self) -> bool {
        true
    }

    /// Finds passages for a query, as many as its options ask for where there are so many.
    ///
    /// # Errors
    ///
    /// If the store cannot be read, or the index lacks what the strategy needs.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the search and nothing else.
    fn find(&self, query: Arc<Query>) -> Finding;
}

/// Returns the strategy of a kind; `auto` is `trail` while there is no language model.
#[must_use]
pub fn strategy(kind: StrategyKind) -> &'static dyn Strategy {
    match kind {
        StrategyKind::Lexical => &crate::query::retrievers::flat::Lexical,
        StrategyKind::Dense => &crate::query::retrievers::flat::Dense,
        StrategyKind::Hybrid => &crate::query::retrievers::flat::Hybrid,
        StrategyKind::Hop => &hop::Hop,
        StrategyKind::Trail | StrategyKind::Auto => &trail::Trail,
    }
}

/// Runs what only computes where it does not hold up other tasks.
pub(in crate::query) async fn on_cpu<T: Send + 'static>(
    query: &Arc<Query>,
    compute: impl FnOnce(&Query) -> Result<T> + Send + 'static,
) -> Result<T> {
    let query = Arc::clone(query);
    let task = tokio::task::spawn_blocking(move || compute(&query));
    task.await.map_err(|error| Error::Internal(error.to_string()))?
}

/// Finds by computing alone.
pub(in crate::query) fn computed(
    query: Arc<Query>,
    find: impl FnOnce(&Query) -> Result<Found> + Send + 'static,
) -> Finding {
    Box::pin(async move { on_cpu(&query, find).await })
}

/// Pruned passages that a ledger names; the others are counted.
const PRUNED_SHOWN_MAX: usize = 20;
/// Entry vertices that a ledger names.
const ENTRY_SHOWN_MAX: usize = 20;

impl Query {
    pub(in crate::query) fn entry(&self, ranked: &[(u32, f32)], by: &str) -> Vec<EntryVertex> {
        let vertex = |(passage, score): &(u32, f32)| EntryVertex {
            passage: self.reader.passage_id(*passage),
            score: *score,
            by: by.to_owned(),
            matched: None,
        };
        ranked.iter().take(ENTRY_SHOWN_MAX).map(vertex).collect()
    }

    fn pruned(&self, ranked: impl Iterator<Item = (u32, f32)>) -> Vec<Pruned> {
        let pruned = |(passage, score)| Pruned { passage: self.reader.passage_id(passage), score };
        ranked.take(PRUNED_SHOWN_MAX).map(pruned).collect()
    }

    /// Makes ready what a language model is shown of passages.
    pub(in crate::query) fn prepare_shown(&self, passages: &[u32]) -> Result<()> {
        let mut passages = passages.to_vec();
        passages.sort_unstable();
        passages.dedup();
        self.reader.prepare(&passages)
    }

    /// Returns what the document of a passage is called.
    fn shown_name(&self, passage: u32) -> Result<String> {
        let document = self.reader.document(self.reader.graph().passage_document[passage as usize])?;
        Ok(document.caption().to_owned())
    }

    /// Returns a passage as a language model is shown it, once it was made ready.
    pub(in crate::query) fn shown(&self, passage: u32) -> Result<FoundPassage> {
        let PassageText { passage: id, text, .. } = self.reader.passage(passage)?;
        Ok(FoundPassage { passage: id, name: self.shown_name(passage)?, text, reached_by: None })
    }

    pub(in crate::query) fn new_ledger(&self) -> Ledger {
        let told = self.question.told.join(", ");
        let notes = if told.is_empty() { None } else { Some(format!("names by the language model: {told}")) };
        let notes = notes.into_iter().collect();
        Ledger { asked: vec![self.question.text.clone()], notes, ..Ledger::default() }
    }
}
