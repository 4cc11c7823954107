//! Reranking: what a strategy found, judged again by a model that reads question and passage together.

use std::sync::Arc;

use super::options::SearchOptions;
use super::strategies::{Found, Query, on_cpu};
use crate::embed::{Reranker, Titled, passage_text};
use crate::error::{Error, Result};
use crate::graph::top;

/// Returns the reranker if the search asks for one.
///
/// # Errors
///
/// [`Error::Option`] if there is none.
pub(super) fn requested<'a>(
    reranker: Option<&'a dyn Reranker>,
    options: &SearchOptions,
) -> Result<Option<&'a dyn Reranker>> {
    match (options.rerank, reranker) {
        (None, _) => Ok(None),
        (Some(_), Some(reranker)) => Ok(Some(reranker)),
        (Some(count), None) => Err(Error::Option {
            option: "number of passages to rerank",
            value: count.to_string(),
            reason: "there is no reranker".to_owned(),
        }),
    }
}

/// Orders what was found by the reranker's scores and keeps the best `top_k`; each keeps the path that led to it.
///
/// # Errors
///
/// If the store cannot be read or the reranker fails.
pub(super) async fn apply(reranker: &dyn Reranker, query: &Arc<Query>, found: &mut Found, top_k: usize) -> Result<()> {
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
