//! The search that options describe: one retrieval, and around it the steps of a language model or a reranker. If these
//! give nothing usable, the retrieved passages stand.

use std::sync::Arc;

use super::{Finding, Found, Strategy};
use crate::error::{Error, Result};
use crate::query::answer::relevance::is_relevant;
use crate::query::options::{Reading, SearchOptions, StrategyKind};
use crate::query::pieces::decompose::{Decompose, Decomposed, decomposed};
use crate::query::pieces::entities::with_entities;
use crate::query::pieces::fuse::fused;
use crate::query::pieces::near_equal;
use crate::query::pieces::pick::{PICK_DEFAULT, pick};
use crate::query::pieces::rerank::{Rerank, Reranking};
use crate::query::retrievers::{Retriever, retriever};
use crate::query::session::Session;

/// Minimum calls with which `auto` splits a question before the model picks.
const CALLS_TO_DECOMPOSE: u32 = 3;
/// Passages of the whole question that those of its parts are combined with, at least.
pub(super) const FUSED_MIN: usize = 40;

/// A retriever with the steps before and after it.
#[derive(Clone)]
pub struct Pipeline {
    /// What finds passages.
    pub retriever: Arc<dyn Retriever>,
    /// Whether a language model first lists the entities that the question names.
    pub entities: bool,
    /// The reranker, if any.
    pub rerank: Option<Rerank>,
    /// How the question is split, if it is.
    pub decompose: Option<Decompose>,
    /// Passages from which a language model finally picks; none if it does not.
    pub pick: Option<usize>,
}

impl Pipeline {
    /// Returns a retriever alone.
    #[must_use]
    pub fn plain(retriever: Arc<dyn Retriever>) -> Self {
        Self { retriever, entities: false, rerank: None, decompose: None, pick: None }
    }

    /// Returns what `options` ask for.
    #[must_use]
    pub fn of(options: &SearchOptions) -> Self {
        Self {
            retriever: retriever(options.strategy, options),
            entities: options.entities,
            rerank: options.rerank.map(|count| Rerank { count, by: options.reranked_by }),
            decompose: options.decompose.map(|reading| Decompose::of(reading, options)),
            pick: options.pick,
        }
    }

    /// Returns how many passages are kept for a language model if `top_k` are requested.
    fn kept_count(&self, top_k: usize) -> usize {
        let fused = if self.decompose.is_some() { FUSED_MIN } else { 0 };
        top_k.max(self.pick.unwrap_or(0)).max(fused)
    }

    async fn found(&self, session: &Session) -> Result<Found> {
        let reranking = self.rerank.map(|rerank| Reranking::requested(session, rerank)).transpose()?;
        let kept_count = self.kept_count(session.top_k());
        let picking = u32::from(self.pick.is_some());
        let arranging = picking + u32::from(self.decompose.is_some());
        let count = kept_count.max(self.rerank.map_or(0, |rerank| rerank.count));
        let judging = reranking.as_ref().map_or(0, |reranking| reranking.calls(count));
        let retrieving = session.keeping(arranging + judging);
        let retrieving = if self.entities { with_entities(retrieving).await? } else { retrieving };
        let is_reranked = reranking.is_some();
        let room = if is_reranked {
            0
        } else if session.has_model() {
            // A walk that a model leads is not walked twice.
            near_equal::ROOM
        } else {
            self.retriever.room()
        };
        let mut ranking = retrieving.retrieve(self.retriever.as_ref(), count + room).await?;
        if let Some(reranking) = reranking {
            session.enter("judging passages again");
            ranking = reranking.apply(&session.keeping(arranging), ranking, kept_count).await?;
        }
        let (mut ranking, mut groups) = near_equal::grouped(ranking, kept_count).await?;
        if !groups.is_empty() && !is_reranked && room == 0 {
            let more = retrieving.retrieve(self.retriever.as_ref(), count + near_equal::ROOM).await?;
            (ranking, groups) = near_equal::grouped(more, kept_count).await?;
        }
        let mut found = Found::of(ranking).await?;
        near_equal::tell(&mut found.hits, groups);
        if arranging == 0 || !is_promising(session, &found).await? {
            return Ok(found);
        }
        let Found { mut hits, mut ledger, ranking, .. } = found;
        if let Some(decompose) = &self.decompose {
            session.enter("taking the question apart");
            let Decomposed { parts, lists, notes } = decomposed(&session.keeping(picking), decompose).await?;
            ledger.notes.extend(notes);
            ledger.asked.extend(parts.iter().flat_map(|part| part.asked.iter().cloned()));
            ledger.parts = parts;
            hits = fused(hits, lists, decompose.preset);
        }
        if let Some(shown) = self.pick {
            session.enter("waiting for the language model to pick");
            let (ordered, by) = pick(session, hits, shown).await?;
            hits = ordered;
            ledger.pick = by;
        }
        hits.truncate(session.top_k());
        Ok(Found { hits, ledger, ranking, is_rearranged: true })
    }
}

impl Strategy for Pipeline {
    fn name(&self) -> &str {
        self.retriever.name()
    }

    fn find<'a>(&'a self, session: &'a Session) -> Finding<'a> {
        Box::pin(self.found(session))
    }
}

/// Returns whether to ask a language model about the passages found: always for a search; for an answer, only if they
/// are relevant.
pub(super) async fn is_promising(session: &Session, found: &Found) -> Result<bool> {
    match &found.ranking {
        Some(ranking) if session.is_answer() => ranking.on_cpu(is_relevant).await,
        _ => Ok(true),
    }
}

impl SearchOptions {
    /// Returns options with the meaning of `auto`, and `kept` calls reserved for later: without a number of calls, the
    /// model is not used; with one or two calls, it picks; with more, it also splits the question.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] for options that need a language model, if there is none.
    pub(in crate::query) fn planned(&self, kept: u32, has_model: bool) -> Result<Self> {
        let calls_max = self.calls_max.map(|calls| calls.saturating_sub(kept));
        let mut planned = Self { calls_max, ..self.clone() };
        let is_free = self.strategy == StrategyKind::Auto && !self.asks_model();
        if let Some(calls) = calls_max.filter(|calls| *calls > 0 && is_free && has_model) {
            planned.pick = Some(PICK_DEFAULT);
            planned.decompose = (calls >= CALLS_TO_DECOMPOSE).then_some(Reading::Model);
        }
        if planned.asks_model() && !has_model {
            return Err(Error::Option {
                option: "choice here",
                value: planned.asked_of_model().to_owned(),
                reason: "there is no language model".to_owned(),
            });
        }
        Ok(planned)
    }
}
