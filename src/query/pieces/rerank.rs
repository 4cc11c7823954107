//! Reranking: what a strategy found, judged again by a model that reads question and passage together: a reranker, or
//! the language model by one call.

use std::sync::Arc;

use crate::domain::Verdict;
use crate::embed::{Reranker, Titled, passage_text};
use crate::error::{Error, Result};
use crate::graph::top;
use crate::query::options::{RerankedBy, SearchOptions};
use crate::query::session::asking::asked;
use crate::query::session::caller::Caller;
use crate::query::strategies::{Found, Query, on_cpu};
use crate::skill::{JUDGED_MAX, JudgeSkill, JudgeTask, JudgedItem};

/// Who judges.
pub(in crate::query) enum Reranking<'a> {
    /// A model that scores.
    Reranker(&'a dyn Reranker),
    /// The language model, the first passages of so many.
    Model(Arc<Caller>, usize),
}

/// Returns who judges if the search asks for that.
///
/// # Errors
///
/// [`Error::Option`] if there is none.
pub(in crate::query) fn requested<'a>(
    reranker: Option<&'a dyn Reranker>,
    caller: Option<&Arc<Caller>>,
    options: &SearchOptions,
) -> Result<Option<Reranking<'a>>> {
    match (options.rerank, options.reranked_by, reranker, caller) {
        (None, ..) => Ok(None),
        (Some(_), RerankedBy::Reranker, Some(reranker), _) => Ok(Some(Reranking::Reranker(reranker))),
        (Some(count), RerankedBy::Model, _, Some(caller)) => Ok(Some(Reranking::Model(Arc::clone(caller), count))),
        (Some(count), ..) => Err(Error::Option {
            option: "number of passages to rerank",
            value: count.to_string(),
            reason: "there is no reranker".to_owned(),
        }),
    }
}

/// Orders what was found anew and keeps the best `top_k`; each keeps the path that led to it.
///
/// # Errors
///
/// If the store cannot be read, the reranker fails, or something about the language model has to be corrected.
pub(in crate::query) async fn apply(
    reranking: Reranking<'_>,
    query: &Arc<Query>,
    found: &mut Found,
    top_k: usize,
) -> Result<()> {
    match reranking {
        Reranking::Reranker(reranker) => scored(reranker, query, found, top_k).await,
        Reranking::Model(caller, count) => judged(&caller, query, found, count, top_k).await,
    }
}

/// Orders the first `count` passages by verdicts of the language model: those that the answer needs, those that have to
/// do with the question, the others, each in the order of the search. All stays as it is where the model gives no
/// verdict.
async fn judged(caller: &Arc<Caller>, query: &Arc<Query>, found: &mut Found, count: usize, top_k: usize) -> Result<()> {
    let passages: Vec<u32> = found.ranked.iter().map(|it| it.0).take(count.min(JUDGED_MAX)).collect();
    let items = on_cpu(query, move |query| {
        query.prepare_shown(&passages)?;
        passages.iter().map(|passage| Ok(JudgedItem::Passage(query.shown(*passage)?))).collect::<Result<Vec<_>>>()
    });
    let task = JudgeTask { question: query.question.text.clone(), round: 0, items: items.await? };
    let tasks = if task.items.is_empty() { Vec::new() } else { vec![task] };
    let verdicts = asked::<JudgeSkill>(caller, tasks, query.options.calls_after()).await?.outputs.pop().flatten();
    if let Some(verdicts) = verdicts {
        let count = |verdict| verdicts.iter().filter(|it| **it == verdict).count();
        let (necessary, related) = (count(Verdict::Necessary), count(Verdict::Related));
        let all = verdicts.len();
        found
            .ledger
            .notes
            .push(format!("{all} passages were judged by the language model: {necessary} needed, {related} related"));
        order(&mut found.ranked, &verdicts);
    }
    found.ranked.truncate(top_k);
    Ok(())
}

/// Orders the first passages by verdicts on them. Scores stay in order: each is one of a whole number for the verdict
/// and a fraction for the place before.
fn order(ranked: &mut [(u32, f32)], verdicts: &[Verdict]) {
    let verdict = |place: usize| verdicts.get(place).copied().unwrap_or_default();
    let (judged, rest) = ranked.split_at_mut(verdicts.len().min(ranked.len()));
    let mut placed: Vec<(usize, u32)> = judged.iter().map(|it| it.0).enumerate().collect();
    placed.sort_by_key(|(place, _)| std::cmp::Reverse(verdict(*place)));
    for (own, (place, passage)) in judged.iter_mut().zip(placed) {
        *own = (passage, f32::from(verdict(place) as u8) + 1.0 / (place + 2) as f32);
    }
    for (own, place) in rest.iter_mut().zip(verdicts.len()..) {
        own.1 = 1.0 / (place + 2) as f32;
    }
}

/// Orders what was found by the reranker's scores and keeps the best `top_k`; each keeps the path that led to it.
///
/// # Errors
///
/// If the store cannot be read or the reranker fails.
async fn scored(reranker: &dyn Reranker, query: &Arc<Query>, found: &mut Found, top_k: usize) -> Result<()> {
    let passages: Vec<u32> = found.ranked.iter().map(|it| it.0).collect();
    let texts = on_cpu(query, move |query| {
        query.reader.prepare(&passages)?;
        passages.iter().map(|passage| text(query, *passage)).collect::<Result<Vec<String>>>()
    });
    let texts = texts.await?;
    let scores = reranker.score(&query.question.text, &texts).await?;
    if scores.len() != texts.len() {
        let (name, actual, due) = (reranker.name(), scores.len(), texts.len());
        return Err(Error::Internal(format!("the reranker `{name}` returned {actual} scores for {due} passages")));
    }
    found.ledger.notes.push(format!("{} passages were judged by the reranker {}", texts.len(), reranker.name()));
    let judged = found.ranked.iter().zip(scores).map(|((passage, _), score)| (*passage, score));
    found.ranked = top::best(judged, top_k);
    Ok(())
}

fn text(query: &Query, passage: u32) -> Result<String> {
    let document = query.reader.graph().passage_document[passage as usize];
    let title = query.reader.document(document)?.title;
    let text = query.reader.passage(passage)?.text;
    Ok(passage_text(Titled { title: title.as_deref(), text: &text }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_comes_first_and_each_verdict_keeps_the_order_of_the_search() {
        let mut ranked: Vec<(u32, f32)> = (0..6).map(|passage| (passage, -1.0 - passage as f32)).collect();
        let (no, related, needed) = (Verdict::Irrelevant, Verdict::Related, Verdict::Necessary);
        order(&mut ranked, &[no, related, needed, no, needed]);
        assert_eq!(ranked.iter().map(|it| it.0).collect::<Vec<_>>(), [2, 4, 1, 0, 3, 5]);
        assert!(ranked.is_sorted_by(|a, b| a.1 > b.1), "{ranked:?}");
    }
}
