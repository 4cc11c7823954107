//! Where a question enters: what the database's indexes find, and what the structure reaches from there.

use neo4rs::{BoltList, BoltType, Row};
use rustc_hash::FxHashMap;

use super::super::element::{Key, unhex};
use super::super::session::Session;
use super::super::statement::{Statement, cypher};
use super::GraphCache;
use crate::error::Result;
use crate::graph::packed::{PassageGraph, row};
use crate::graph::top;
use crate::graph::trail::each_neighbor;
use crate::store::Wanted;

/// Passages that each index is asked for.
const ENTRY_PASSAGES: i64 = 150;
/// In-coming questions that their index is asked for.
const ENTRY_QUESTIONS: i64 = 100;
/// Constant of reciprocal rank fusion (Cormack and others, 2009).
const FUSION: f32 = 60.0;
/// Passages from which the structure is followed, in each round.
const FOLLOWED: usize = 24;
/// Rounds in which it is followed: those of `hop`, and all but the last of `trail`, which seldom goes further.
const ROUNDS: usize = 2;
/// Passages in an excerpt at most, beside those that a filter leaves.
const EXCERPT_MAX: usize = 600;
/// Passages up to which all that a filter leaves are in the excerpt.
const FILTERED_MAX: usize = 1_000;

/// The indexes that are asked.
pub(super) const INDEXES: [&str; 3] = ["passage_text", "passage_embedding", "incoming_embedding"];
/// How many times as much they are asked for at most, where a filter leaves few passages.
const FILTER_FACTOR_MAX: usize = 40;

/// What the indexes found.
pub(super) struct Entry {
    /// Passages, best first.
    pub(super) passages: Vec<(u32, f32)>,
    /// In-coming questions with their vectors.
    pub(super) incoming: Vec<(u32, Vec<f32>)>,
}

/// Asks the indexes. What a filter does not admit is no entry.
pub(super) async fn enter(session: &Session, cache: &GraphCache, wanted: &Wanted<'_>) -> Result<Entry> {
    let (by_text, by_vector, questions) = tokio::try_join!(
        by_text(session, cache, wanted),
        by_vector(session, cache, wanted),
        questions(session, cache, wanted)
    )?;
    let mut fused: FxHashMap<u32, f32> = FxHashMap::default();
    let mut fuse = |passages: &mut dyn Iterator<Item = u32>| {
        let mut rank = FUSION;
        for passage in passages.filter(|passage| wanted.admits(*passage)) {
            rank += 1.0;
            *fused.entry(passage).or_default() += 1.0 / rank;
        }
    };
    fuse(&mut by_text.into_iter());
    fuse(&mut by_vector.into_iter());
    let graph = cache.structure.graph.view();
    fuse(&mut questions.iter().map(|(question, _)| graph.incoming_passage[*question as usize]));
    for passage in wanted.named.iter().copied().filter(|passage| wanted.admits(*passage)) {
        *fused.entry(passage).or_default() += 1.0 / FUSION;
    }
    Ok(Entry { passages: top::best(fused, EXCERPT_MAX), incoming: questions })
}

/// Returns the passages of an excerpt: those of the entry, and those that the structure reaches from the best of them,
/// ascending.
pub(super) fn reach(cache: &GraphCache, entry: &Entry, wanted: &Wanted<'_>) -> Vec<u32> {
    let graph = cache.structure.graph.view();
    let mut reached: FxHashMap<u32, f32> = entry.passages.iter().copied().collect();
    if let Some(allowed) = wanted.allowed {
        let admitted = || (0..).zip(allowed).filter(|it| *it.1).map(|it| it.0);
        if admitted().take(FILTERED_MAX + 1).count() <= FILTERED_MAX {
            return admitted().collect();
        }
    }
    let keywords = wanted.keywords;
    let mut from: Vec<(u32, f32)> = entry.passages.iter().take(FOLLOWED).copied().collect();
    for _ in 0..ROUNDS {
        let mut found: FxHashMap<u32, f32> = FxHashMap::default();
        for (passage, score) in &from {
            let mut visit = |to: u32| {
                if wanted.admits(to) && !reached.contains_key(&to) {
                    let worth = score * (1.0 + shared_keywords(graph, keywords, to));
                    let best = found.entry(to).or_default();
                    *best = best.max(worth);
                }
            };
            graph.edge_target[row(graph.passage_edges, *passage)].iter().for_each(|to| visit(*to));
            each_neighbor(graph, *passage, &mut visit);
        }
        let room = EXCERPT_MAX.saturating_sub(reached.len());
        let best = top::best(found, room);
        reached.extend(best.iter().copied());
        from = best.into_iter().take(FOLLOWED).collect();
    }
    let mut passages: Vec<u32> = reached.into_keys().collect();
    passages.sort_unstable();
    passages
}

/// Returns how many keywords of the question are among those of a passage.
fn shared_keywords(graph: PassageGraph<'_>, keywords: &[u32], passage: u32) -> f32 {
    let own = &graph.passage_keyword[row(graph.passage_keywords, passage)];
    keywords.iter().filter(|keyword| own.binary_search(keyword).is_ok()).count() as f32
}

async fn by_text(session: &Session, cache: &GraphCache, wanted: &Wanted<'_>) -> Result<Vec<u32>> {
    if wanted.words.is_empty() {
        return Ok(Vec::new());
    }
    let statement = Statement::new("ask the full-text index", cypher!("read/entry-passage-text"))
        .with("words", either(wanted.words))
        .with("limit", limit(cache, wanted, ENTRY_PASSAGES))
        .with("version", cache.version);
    Ok(passages(cache, &session.rows(&statement).await?))
}

async fn by_vector(session: &Session, cache: &GraphCache, wanted: &Wanted<'_>) -> Result<Vec<u32>> {
    if is_nothing(wanted.vector) {
        return Ok(Vec::new());
    }
    let text = cypher!("read/entry-passage-embedding");
    let statement = vector_statement(text, wanted.vector, limit(cache, wanted, ENTRY_PASSAGES), cache.version);
    Ok(passages(cache, &session.rows(&statement).await?))
}

async fn questions(session: &Session, cache: &GraphCache, wanted: &Wanted<'_>) -> Result<Vec<(u32, Vec<f32>)>> {
    if is_nothing(wanted.vector) || cache.structure.graph.incoming_passage.is_empty() {
        return Ok(Vec::new());
    }
    let text = cypher!("read/entry-incoming-embedding");
    let statement = vector_statement(text, wanted.vector, limit(cache, wanted, ENTRY_QUESTIONS), cache.version);
    let graph = cache.structure.graph.view();
    let read = |found: &Row| {
        let own = row(graph.passage_incoming, passage(cache, found)?);
        let question = own.start + usize::try_from(found.get::<i64>("place").ok()?).ok()?;
        own.contains(&question).then_some(())?;
        Some((question as u32, found.get::<Vec<f32>>("embedding").ok()?))
    };
    Ok(session.rows(&statement).await?.iter().filter_map(read).collect())
}

/// Returns whether there is nothing to compare: an index takes no zeros.
fn is_nothing(vector: &[f32]) -> bool {
    vector.iter().all(|value| *value == 0.0)
}

/// Returns how many an index is asked for, so that about `count` are left by the filter.
fn limit(cache: &GraphCache, wanted: &Wanted<'_>, count: i64) -> i64 {
    let Some(allowed) = wanted.allowed else { return count };
    let admitted = allowed.iter().filter(|is_allowed| **is_allowed).count().max(1);
    let factor = cache.structure.passages.len().div_ceil(admitted).min(FILTER_FACTOR_MAX);
    count.saturating_mul(i64::try_from(factor).unwrap_or(1))
}

fn vector_statement(text: &'static str, vector: &[f32], limit: i64, version: i64) -> Statement {
    let value = vector.iter().map(|value| BoltType::from(f64::from(*value))).collect();
    Statement::new("ask the vector index", text)
        .with("vector", BoltType::List(BoltList { value }))
        .with("limit", limit)
        .with("version", version)
}

fn passages(cache: &GraphCache, rows: &[Row]) -> Vec<u32> {
    rows.iter().filter_map(|row| passage(cache, row)).collect()
}

/// Returns the passage of a row; none where another version has put it there meanwhile.
fn passage(cache: &GraphCache, row: &Row) -> Option<u32> {
    let key: Key = unhex(row.get("id").ok()?)?;
    cache.structure.numbers.get(&key).copied()
}

/// Returns a query of the full-text index for any of `words`: each in quotation marks, so that none is an operator.
fn either(words: &[String]) -> String {
    let quoted = words.iter().map(|word| format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"")));
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_no_operators() {
        let words = ["mill", "AND", "a\"b", "x\\"].map(str::to_owned);
        assert_eq!(either(&words), r#""mill" "AND" "a\"b" "x\\""#);
    }
}
