//! What is quoted of what was found: sentences, and a guess at a short answer; and both again, where a language model
//! has put passages in another order or brought others.

pub(super) mod extract;
pub(super) mod hits;
mod short;
pub(super) mod write;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::domain::{Answer, AnswerKind, Guess, Hit, Ledger, PassageId};
use crate::error::Result;
use crate::query::strategies::{Found, Query, on_cpu};
use extract::Extracted;

/// What a ledger says where sentences could not be quoted anew.
const UNQUOTED: &str = "quoted is what the search found by itself";

/// What is quoted.
pub(in crate::query) struct Quoted {
    pub(in crate::query) sentences: Extracted,
    pub(in crate::query) guess: Option<Guess>,
}

/// Returns quotes of `hits`, which are those of `found` in its order, at most `citations_max` sentences.
///
/// # Errors
///
/// If the store cannot be read.
pub(in crate::query) fn quoted(query: &Query, found: &Found, hits: &[Hit], citations_max: usize) -> Result<Quoted> {
    let sentences = extract::answer(query, found, hits, citations_max)?;
    let guess = if sentences.kind == AnswerKind::Nothing { None } else { short::guess(query, found)? };
    Ok(Quoted { sentences, guess })
}

/// Returns an answer that quotes its hits in the order that they have now, where a language model has changed it. Where
/// that cannot be read, the answer stays as it is, and says so.
///
/// # Errors
///
/// [`Error::Internal`](crate::Error::Internal) alone.
pub(in crate::query) async fn requoted(
    query: &Arc<Query>,
    found: Arc<Found>,
    answer: Answer,
    citations_max: usize,
) -> Result<Answer> {
    let quoting = on_cpu(query, move |query| {
        let quoted = quoted_again(query, &found, &answer.hits, citations_max);
        Ok((answer, quoted))
    });
    let (mut answer, quoted) = quoting.await?;
    match quoted {
        Ok(Quoted { sentences, guess }) if !sentences.citations.is_empty() => {
            Ok(Answer { text: sentences.text, citations: sentences.citations, guess, ..answer })
        }
        Ok(_) => Ok(answer),
        Err(error) => {
            answer.ledger.notes.push(format!("{UNQUOTED}: {error}"));
            Ok(answer)
        }
    }
}

/// Returns quotes of hits in another order than that of `found`, as far as the graph of the query has them.
///
/// # Errors
///
/// If the store cannot be read.
fn quoted_again(query: &Query, found: &Found, hits: &[Hit], citations_max: usize) -> Result<Quoted> {
    let places: FxHashMap<PassageId, usize> = hits.iter().map(|hit| hit.passage).zip(0..).collect();
    let all = 0..query.reader.graph().passage_count() as u32;
    let known = all.filter_map(|it| Some((*places.get(&query.reader.passage_id(it))?, it)));
    let mut known: Vec<(usize, u32)> = known.collect();
    known.sort_unstable();
    let passages: Vec<u32> = known.iter().map(|(_, passage)| *passage).collect();
    query.reader.prepare(&passages)?;
    // Scores of a fused or a picked list are on no scale that sentences are weighed by: the first has the first one's.
    let last = found.ranked.last().map_or(0.0, |it| it.1);
    let scores = found.ranked.iter().map(|it| it.1).chain(std::iter::repeat(last));
    let ranked = passages.into_iter().zip(scores).collect();
    let hits: Vec<Hit> = known.iter().map(|(place, _)| hits[*place].clone()).collect();
    let found = Found { ranked, paths: found.paths.clone(), ledger: Ledger::default() };
    let sentences = extract::sentences(query, &found, &hits, citations_max)?;
    Ok(Quoted { sentences, guess: short::guess(query, &found)? })
}
