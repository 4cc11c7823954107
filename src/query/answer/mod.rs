//! Answers from the passages found: quoted sentences, and a guess at a short answer; in `write`, a language model
//! answers.

mod addresses;
mod asked;
pub(super) mod extract;
pub(super) mod hits;
mod lines;
mod overview;
mod pieces;
mod reduce;
pub(super) mod relevance;
pub(super) mod room;
mod short;
mod shown;
mod sources;
pub(super) mod write;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::retrievers::Needs;
use super::session::Session;
use super::session::query::Ranking;
use super::strategies::Found;
use crate::domain::{AnswerKind, Guess, Hit, Ledger, PassageId};
use crate::error::Result;
use crate::graph::ordinal::PassageOrdinal;
use extract::Extracted;

/// The note in a ledger if sentences could not be quoted again.
const UNQUOTED: &str = "the quotations come from the search alone";

/// The quoted text.
pub(super) struct Quoted {
    pub(super) sentences: Extracted,
    pub(super) guess: Option<Guess>,
}

/// Returns quotations from the passages found, at most `citations_max` sentences, with notes for the reader. If a
/// strategy ordered the passages and they cannot be read in that order, the retrieved ones are quoted. If topics were
/// found for a question about the whole, a sentence of each is quoted too.
///
/// # Errors
///
/// If the store cannot be read.
///
/// # Cancel safety
///
/// Dropping the future loses the quotes and nothing else.
pub(super) async fn quoted(session: &Session, found: &Found, citations_max: usize) -> Result<(Quoted, Option<String>)> {
    let (quoted, note) = sentences(session, found, citations_max).await?;
    Ok(match &found.ledger.layers {
        Some(layers) => (overview::with_topics(quoted, layers), note),
        None => (quoted, note),
    })
}

async fn sentences(session: &Session, found: &Found, citations_max: usize) -> Result<(Quoted, Option<String>)> {
    session.enter("quoting passages");
    let hits = found.hits.clone();
    let ranking = match &found.ranking {
        Some(ranking) => Arc::clone(ranking),
        None => Arc::new(unranked(session).await?),
    };
    if found.is_rearranged {
        return ranking.on_cpu(move |ranking| rearranged(ranking, &hits, citations_max)).await;
    }
    ranking.on_cpu(move |ranking| Ok((as_ranked(ranking, &hits, citations_max)?, None))).await
}

/// Returns no passages for the question, for a strategy that asked nothing but sub-questions.
async fn unranked(session: &Session) -> Result<Ranking> {
    let query = session.open(Needs::default(), session.top_k()).await?;
    Ok(Ranking { query, ranked: Vec::new(), paths: FxHashMap::default(), ledger: Ledger::default() })
}

/// Quotes hits that are those of `ranking` in its order.
fn as_ranked(ranking: &Ranking, hits: &[Hit], citations_max: usize) -> Result<Quoted> {
    let sentences = extract::answer(ranking, hits, citations_max)?;
    let guess = if sentences.kind == AnswerKind::Nothing { None } else { short::guess(ranking)? };
    Ok(Quoted { sentences, guess })
}

/// Quotes hits in another order than that of `ranking`; if this is impossible, quotes the retrieved passages and says
/// why.
fn rearranged(ranking: &Ranking, hits: &[Hit], citations_max: usize) -> Result<(Quoted, Option<String>)> {
    let note = match in_order(ranking, hits, citations_max) {
        Ok(quoted) if !quoted.sentences.citations.is_empty() => return Ok((quoted, None)),
        Ok(_) => None,
        Err(error) => Some(format!("{UNQUOTED}: {error}")),
    };
    Ok((as_ranked(ranking, &hits::hits(ranking)?, citations_max)?, note))
}

/// Quotes hits in their own order, if the graph of the query has them.
fn in_order(ranking: &Ranking, hits: &[Hit], citations_max: usize) -> Result<Quoted> {
    let query = &ranking.query;
    let places: FxHashMap<PassageId, usize> = hits.iter().map(|hit| hit.passage).zip(0..).collect();
    let all = query.reader.graph().passages();
    let known = all.filter_map(|it| Some((*places.get(&query.reader.passage_id(it))?, it)));
    let mut known: Vec<(usize, PassageOrdinal)> = known.collect();
    known.sort_unstable();
    let passages: Vec<PassageOrdinal> = known.iter().map(|(_, passage)| *passage).collect();
    query.reader.prepare(&passages)?;
    // Scores of a fused or a picked list are on no scale that sentences are weighed by: the first has the first one's.
    let last = ranking.ranked.last().map_or(0.0, |it| it.1);
    let scores = ranking.ranked.iter().map(|it| it.1).chain(std::iter::repeat(last));
    let ranked = passages.into_iter().zip(scores).collect();
    let hits: Vec<Hit> = known.iter().map(|(place, _)| hits[*place].clone()).collect();
    let ordered = Ranking { query: Arc::clone(query), ranked, paths: ranking.paths.clone(), ledger: Ledger::default() };
    let sentences = extract::sentences(&ordered, &hits, citations_max)?;
    Ok(Quoted { sentences, guess: short::guess(&ordered)? })
}
