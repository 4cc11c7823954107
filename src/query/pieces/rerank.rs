//! Reranking: a model that reads question and passage together judges the passages found: a reranker, or the language
//! model in one call.

use std::sync::Arc;

use super::calibrated::calibrated;
use crate::domain::{ChatError, Verdict};
use crate::embed::{Reranker, Scored, Titled, passage_text};
use crate::error::{Error, Result};
use crate::graph::ordinal::PassageOrdinal;
use crate::graph::top;
use crate::query::answer::relevance::worths;
use crate::query::options::RerankedBy;
use crate::query::session::Session;
use crate::query::session::query::{Query, Ranking, on_cpu};
use crate::skill::{JUDGED_MAX, JudgeSkill, JudgeTask, JudgedItem};

/// The name of the rule.
pub const RULE: &str = "rule";
/// The text of a note about reranked passages.
pub const JUDGED: &str = "passages were judged by";

/// How the passages found are reranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rerank {
    /// Passages that are judged.
    pub count: usize,
    /// The reranker.
    pub by: RerankedBy,
}

/// The reranker.
pub(in crate::query) enum Reranking {
    /// A model that scores.
    Reranker(Arc<dyn Reranker>),
    /// The language model, the first passages of so many.
    Model(usize),
    /// A rule.
    Rule,
}

impl Reranking {
    /// Returns the reranker of a session.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] if there is none, or the calibration is for another.
    pub(in crate::query) fn requested(session: &Session, rerank: Rerank) -> Result<Self> {
        let own = Self::of(session, rerank)?;
        let name = session.reranker_name(rerank.by);
        match session.calibration() {
            Some((calibration, _)) if calibration.reranker != name => Err(Error::Option {
                option: "calibration",
                value: calibration.reranker.clone(),
                reason: format!("the reranker is `{name}`, and its scores mean something else"),
            }),
            _ => Ok(own),
        }
    }

    fn of(session: &Session, Rerank { count, by }: Rerank) -> Result<Self> {
        match (by, session.reranker()) {
            (RerankedBy::Rule, _) => Ok(Self::Rule),
            (RerankedBy::Reranker, Some(reranker)) => Ok(Self::Reranker(Arc::clone(reranker))),
            (RerankedBy::Model, _) if session.has_model() => Ok(Self::Model(count)),
            _ => Err(Error::Option {
                option: "number of passages to rerank",
                value: count.to_string(),
                reason: "there is no reranker".to_owned(),
            }),
        }
    }

    /// Returns how many calls judging `count` passages takes.
    pub(in crate::query) fn calls(&self, count: usize) -> u32 {
        match self {
            Self::Reranker(reranker) => reranker.calls(count),
            Self::Model(_) => 1,
            Self::Rule => 0,
        }
    }

    /// Orders the newly found passages and keeps the best `top_k`; each keeps the path that led to it. With a
    /// calibration, scores are probabilities, and passages below the requested minimum are left out, except the best.
    ///
    /// # Errors
    ///
    /// If the store cannot be read, the reranker fails, or something about the language model has to be corrected.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the results, and a reply in progress, which may have been paid for.
    pub(in crate::query) async fn apply(self, session: &Session, found: Ranking, top_k: usize) -> Result<Ranking> {
        let (found, is_judged) = match self {
            Self::Reranker(reranker) => scored(session, reranker.as_ref(), found, top_k).await?,
            Self::Model(count) => judged(session, found, count, top_k).await?,
            Self::Rule => (by_rule(found, top_k).await?, true),
        };
        Ok(match session.calibration() {
            Some((calibration, least)) if is_judged => calibrated(found, calibration, least),
            _ => found,
        })
    }
}

/// Orders passages by the words and the meaning that each shares with the question.
async fn by_rule(found: Ranking, top_k: usize) -> Result<Ranking> {
    let found = Arc::new(found);
    let worths = found.on_cpu(|found| worths(found, found.ranked.len())).await?;
    let mut found = Arc::unwrap_or_clone(found);
    let worth =
        |passage: &PassageOrdinal| worths.get(&found.query.reader.passage_id(*passage)).copied().unwrap_or_default();
    let judged: Vec<_> = found.ranked.iter().map(|(passage, _)| (*passage, worth(passage))).collect();
    found.ledger.notes.push(format!("{} {JUDGED} the {RULE}", judged.len()));
    found.ranked = top::best(judged, top_k);
    Ok(found)
}

/// Orders the first `count` passages by verdicts of the language model: needed ones, related ones, the others, each in
/// the order of the search. The order stays if the model gives no verdict; also returns whether it gave one.
async fn judged(session: &Session, mut found: Ranking, count: usize, top_k: usize) -> Result<(Ranking, bool)> {
    let passages: Vec<PassageOrdinal> = found.ranked.iter().map(|it| it.0).take(count.min(JUDGED_MAX)).collect();
    let items = on_cpu(&found.query, move |query| {
        query.prepare_shown(&passages)?;
        passages.iter().map(|passage| Ok(JudgedItem::Passage(query.shown(*passage)?))).collect::<Result<Vec<_>>>()
    });
    let task = JudgeTask { question: session.question().to_owned(), round: 0, items: items.await? };
    let tasks = if task.items.is_empty() { Vec::new() } else { vec![task] };
    let verdicts = session.perform_each::<JudgeSkill>(tasks).await?.outputs.pop().flatten();
    let is_judged = verdicts.is_some();
    if let Some(verdicts) = verdicts {
        let count = |verdict| verdicts.iter().filter(|it| **it == verdict).count();
        let (necessary, related) = (count(Verdict::Necessary), count(Verdict::Related));
        let all = verdicts.len();
        let note = format!("{all} {JUDGED} the language model: {necessary} needed, {related} related");
        found.ledger.notes.push(note);
        order(&mut found.ranked, &verdicts);
    }
    found.ranked.truncate(top_k);
    Ok((found, is_judged))
}

/// Orders the first passages by verdicts on them. Scores stay in order: each is one of a whole number for the verdict
/// and a fraction for the place before.
fn order(ranked: &mut [(PassageOrdinal, f32)], verdicts: &[Verdict]) {
    let verdict = |place: usize| verdicts.get(place).copied().unwrap_or_default();
    let (judged, rest) = ranked.split_at_mut(verdicts.len().min(ranked.len()));
    let mut placed: Vec<(usize, PassageOrdinal)> = judged.iter().map(|it| it.0).enumerate().collect();
    placed.sort_by_key(|(place, _)| std::cmp::Reverse(verdict(*place)));
    for (own, (place, passage)) in judged.iter_mut().zip(placed) {
        *own = (passage, f32::from(verdict(place) as u8) + 1.0 / (place + 2) as f32);
    }
    for (own, place) in rest.iter_mut().zip(verdicts.len()..) {
        own.1 = 1.0 / (place + 2) as f32;
    }
}

/// Orders passages by the reranker's scores and keeps the best `top_k`; each keeps the path that led to it. If its
/// server is unavailable, rejects the texts, or would take more calls than are left, the order of the search stays, and
/// the ledger says why. Also returns whether it scored.
///
/// # Errors
///
/// If the store cannot be read, or the reranker fails or has to be corrected.
async fn scored(
    session: &Session,
    reranker: &dyn Reranker,
    mut found: Ranking,
    top_k: usize,
) -> Result<(Ranking, bool)> {
    let passages: Vec<PassageOrdinal> = found.ranked.iter().map(|it| it.0).collect();
    let texts = on_cpu(&found.query, move |query| {
        query.reader.prepare(&passages)?;
        passages.iter().map(|passage| text(query, *passage)).collect::<Result<Vec<String>>>()
    });
    let texts = texts.await?;
    let scores = match asked(session, reranker, &found.query.question.text, &texts).await? {
        Ok(scores) => scores,
        Err(why) => {
            let name = reranker.name();
            found.ledger.notes.push(format!("the order is that of the search, without the reranker {name}: {why}"));
            found.ranked.truncate(top_k);
            return Ok((found, false));
        }
    };
    if scores.len() != texts.len() {
        let (name, actual, due) = (reranker.name(), scores.len(), texts.len());
        return Err(Error::Internal(format!("the reranker `{name}` returned {actual} scores for {due} passages")));
    }
    found.ledger.notes.push(format!("{} {JUDGED} the reranker {}", texts.len(), reranker.name()));
    let judged = found.ranked.iter().zip(scores).map(|((passage, _), score)| (*passage, score));
    found.ranked = top::best(judged, top_k);
    Ok((found, true))
}

/// Asks a reranker for the scores of texts within the calls of the question; returns why there are none if the search
/// continues without.
async fn asked(
    session: &Session,
    reranker: &dyn Reranker,
    question: &str,
    texts: &[String],
) -> Result<Result<Vec<f32>, String>> {
    let calls = reranker.calls(texts.len());
    if calls > 0 && !session.take_calls(calls) {
        return Ok(Err("the calls allowed for the question are used up".to_owned()));
    }
    let Scored { scores, spent } = reranker.score(question, texts).await;
    if calls > 0 {
        let passages = scores.as_ref().map_or(0, Vec::len) as u64;
        session.note_reranking(reranker.name(), passages, &spent);
    }
    if let Err(fault) = &scores {
        // Calls go out one after the other: those behind the one that failed were not made, nor was that for which a
        // budget has no room.
        let is_unmade = matches!(fault, Error::RerankerServer { source: ChatError::Budget { .. }, .. });
        let made = spent.calls as u32 + u32::from(!is_unmade);
        session.give_back_calls(calls.saturating_sub(made));
    }
    match scores {
        Err(Error::RerankerServer { source, .. }) if source.is_of_request() || !source.needs_correction() => {
            Ok(Err(source.to_string()))
        }
        scores => scores.map(Ok),
    }
}

fn text(query: &Query, passage: PassageOrdinal) -> Result<String> {
    let document = query.reader.graph().passage_document[passage];
    let title = query.reader.document(document)?.title;
    let text = query.reader.passage(passage)?.text;
    Ok(passage_text(Titled { title: title.as_deref(), text: &text }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_comes_first_and_each_verdict_keeps_the_order_of_the_search() {
        let mut ranked: Vec<_> = (0..6u8).map(|it| (PassageOrdinal(it.into()), -1.0 - f32::from(it))).collect();
        let (no, related, needed) = (Verdict::Irrelevant, Verdict::Related, Verdict::Necessary);
        order(&mut ranked, &[no, related, needed, no, needed]);
        assert_eq!(ranked.iter().map(|it| it.0).collect::<Vec<_>>(), [2, 4, 1, 0, 3, 5]);
        assert!(ranked.is_sorted_by(|a, b| a.1 > b.1), "{ranked:?}");
    }
}
