//! A question to one version of an index, and its ranking of passages by ordinal.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::domain::{EntryVertex, Hit, Ledger, Pruned, Step};
use crate::embed::Embedder;
use crate::error::{Error, Result};
use crate::graph::ordinal::PassageOrdinal;
use crate::query::answer::hits::hits;
use crate::query::evidence::Fields;
use crate::query::evidence::exact::Exact;
use crate::query::evidence::filter::{Filter, shown};
use crate::query::evidence::question::AskedQuestion;
use crate::skill::FoundPassage;
use crate::store::{GraphReader, PassageText};

/// A question to one version of an index, with its evidence about the version's passages.
pub struct Query {
    /// The version that is read from start to end.
    pub reader: Arc<dyn GraphReader>,
    /// The question.
    pub question: AskedQuestion,
    /// The embedder of the version.
    pub embedder: Arc<dyn Embedder>,
    /// The exact parts of the question.
    pub(in crate::query) exact: Exact,
    /// What documents have to meet.
    pub(in crate::query) filters: Vec<Filter>,
    /// Passages that may be shown, where not all may.
    pub(in crate::query) allowed: Option<Vec<bool>>,
    /// Notes for the reader about that.
    pub(in crate::query) notes: Vec<String>,
    pub(in crate::query) fields: Fields,
}

/// Passages that were retrieved for a question.
#[derive(Clone)]
pub struct Ranking {
    /// The question, and the version that the passages are of.
    pub query: Arc<Query>,
    /// Passages by ordinal, best first, with scores on the retriever's own scale.
    pub ranked: Vec<(PassageOrdinal, f32)>,
    /// The steps that led to a passage, if it was not found by itself.
    pub paths: FxHashMap<PassageOrdinal, Vec<Step>>,
    /// The question, entries, steps and dropped passages.
    pub ledger: Ledger,
}

impl Ranking {
    /// Returns the passages as they are shown, in their order.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the passages and nothing else.
    pub async fn hits(self: &Arc<Self>) -> Result<Vec<Hit>> {
        self.on_cpu(hits).await
    }

    /// Runs a computation where it does not block other tasks.
    pub(in crate::query) async fn on_cpu<T: Send + 'static>(
        self: &Arc<Self>,
        compute: impl FnOnce(&Self) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let ranking = Arc::clone(self);
        on_cpu(&self.query, move |_| compute(&ranking)).await
    }
}

/// Runs a computation where it does not block other tasks.
pub(in crate::query) async fn on_cpu<T: Send + 'static>(
    query: &Arc<Query>,
    compute: impl FnOnce(&Query) -> Result<T> + Send + 'static,
) -> Result<T> {
    let query = Arc::clone(query);
    let task = tokio::task::spawn_blocking(move || compute(&query));
    task.await.map_err(|error| Error::Internal(error.to_string()))?
}

/// Pruned passages that a ledger names; the others are counted.
const PRUNED_SHOWN_MAX: usize = 20;
/// Entry vertices that a ledger names.
pub(in crate::query) const ENTRY_SHOWN_MAX: usize = 20;

impl Query {
    /// Returns it with these passages at hand too, if the store's excerpt lacks them. To be called where waiting blocks
    /// no other task.
    ///
    /// # Errors
    ///
    /// If the store cannot be read, or holds another version by now.
    pub(in crate::query) fn with(self: &Arc<Self>, passages: &[PassageOrdinal]) -> Result<Arc<Self>> {
        let Some(reader) = self.reader.with(passages)? else { return Ok(Arc::clone(self)) };
        let (allowed, notes) = shown(reader.as_ref(), &self.filters, &self.exact)?;
        Ok(Arc::new(Self {
            reader,
            question: self.question.clone(),
            embedder: Arc::clone(&self.embedder),
            exact: self.exact.clone(),
            filters: self.filters.clone(),
            allowed,
            notes,
            fields: Fields::default(),
        }))
    }

    pub(in crate::query) fn entry(&self, ranked: &[(PassageOrdinal, f32)], by: &str) -> Vec<EntryVertex> {
        let vertex = |(passage, score): &(PassageOrdinal, f32)| EntryVertex {
            passage: self.reader.passage_id(*passage),
            score: *score,
            by: by.to_owned(),
            matched: None,
        };
        ranked.iter().take(ENTRY_SHOWN_MAX).map(vertex).collect()
    }

    pub(in crate::query) fn pruned(&self, ranked: impl Iterator<Item = (PassageOrdinal, f32)>) -> Vec<Pruned> {
        let pruned = |(passage, score)| Pruned { passage: self.reader.passage_id(passage), score };
        ranked.take(PRUNED_SHOWN_MAX).map(pruned).collect()
    }

    /// Fetches the texts of passages for a language model.
    pub(in crate::query) fn prepare_shown(&self, passages: &[PassageOrdinal]) -> Result<()> {
        let mut passages = passages.to_vec();
        passages.sort_unstable();
        passages.dedup();
        self.reader.prepare(&passages)
    }

    /// Returns the name of the document of a passage.
    pub(in crate::query) fn shown_name(&self, passage: PassageOrdinal) -> Result<String> {
        let document = self.reader.document(self.reader.graph().passage_document[passage])?;
        Ok(document.caption().to_owned())
    }

    /// Returns a passage as a language model is shown it, once it was made ready.
    pub(in crate::query) fn shown(&self, passage: PassageOrdinal) -> Result<FoundPassage> {
        let PassageText { passage: id, text, .. } = self.reader.passage(passage)?;
        Ok(FoundPassage { passage: id, name: self.shown_name(passage)?, text, reached_by: None })
    }

    pub(in crate::query) fn new_ledger(&self) -> Ledger {
        let names = self.question.model_names.join(", ");
        let notes = if names.is_empty() { None } else { Some(format!("names by the language model: {names}")) };
        let notes = notes.into_iter().chain(self.notes.iter().cloned()).collect();
        let spellings = self.question.spellings.clone();
        Ledger { asked: vec![self.question.text.clone()], spellings, notes, ..Ledger::default() }
    }
}
