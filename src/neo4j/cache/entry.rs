//! The entry of a question through the database's indexes, and how far it is followed from there: the same for a
//! structure in memory and for one that stays in the database.

use std::hash::Hash;

use neo4rs::{BoltList, BoltType, Row};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::element::{Key, unhex};
use super::super::session::Session;
use super::super::statement::{Statement, cypher};
use super::load::key;
use crate::error::Result;
use crate::store::{Follow, Wanted};
use crate::text::KeywordQuery;

/// Passages requested from each index.
const ENTRY_PASSAGES: usize = 150;
/// In-coming questions requested from their index.
const ENTRY_QUESTIONS: usize = 200;
/// Constant of reciprocal rank fusion (Cormack and others, 2009).
const FUSION: f32 = 60.0;
/// Passages from which the structure is followed, in each round.
const FOLLOWED: usize = 24;
/// Rounds in which it is followed: those of `hop`, and all but the last of `trail`, which seldom goes further.
const ROUNDS: usize = 2;
/// Maximum passages in an excerpt, besides those that a filter leaves.
const EXCERPT_MAX: usize = 600;
/// Passages up to which all that a filter leaves are in the excerpt.
const FILTERED_MAX: usize = 1_000;

/// The indexes that are asked.
pub(super) const INDEXES: [&str; 4] =
    ["cairn_passage_text", "cairn_passage_embedding", "cairn_incoming_embedding", "cairn_leads_to_text"];
/// Maximum factor of a request if other nodes have our labels.
const OTHERS_FACTOR_MAX: i64 = 64;
/// Factor by which the next request grows.
const OTHERS_FACTOR: i64 = 4;
/// Maximum factor of a request if a filter leaves few passages.
const FILTER_FACTOR_MAX: usize = 40;

/// The results of the indexes.
#[derive(Default)]
pub(in crate::neo4j) struct Entry {
    by_text: Vec<Key>,
    by_vector: Vec<Key>,
    /// Targets and sources of question edges.
    by_edge: Vec<[Key; 2]>,
    /// In-coming questions: passage, question, vector where questions are compared.
    pub(in crate::neo4j) questions: Vec<(Key, Key, Vec<f32>)>,
}

/// How much a filter leaves.
#[derive(Clone, Copy)]
pub(in crate::neo4j) struct Admitted {
    pub(in crate::neo4j) passages: usize,
    pub(in crate::neo4j) of: usize,
}

impl Admitted {
    /// Returns whether all that is left belongs to the excerpt.
    pub(in crate::neo4j) const fn is_few(self) -> bool {
        self.passages <= FILTERED_MAX
    }
}

impl Entry {
    /// Queries the indexes for elements in `version`.
    pub(in crate::neo4j) async fn ask(
        session: &Session,
        version: i64,
        wanted: &Wanted<'_>,
        admitted: Option<Admitted>,
    ) -> Result<Self> {
        let limit = |count: usize| limit(count.max(wanted.top_k), admitted);
        let (by_text, by_vector, by_edge, questions) = tokio::try_join!(
            by_text(session, version, wanted, limit(ENTRY_PASSAGES)),
            by_vector(session, version, wanted, limit(ENTRY_PASSAGES)),
            by_edge(session, version, wanted, limit(ENTRY_QUESTIONS)),
            questions(session, version, wanted, limit(ENTRY_QUESTIONS))
        )?;
        Ok(Self { by_text, by_vector, by_edge, questions })
    }

    /// Returns every passage that was found.
    pub(in crate::neo4j) fn passages(&self) -> FxHashSet<Key> {
        let questions = self.questions.iter().map(|it| &it.0);
        let found = self.by_text.iter().chain(&self.by_vector).chain(self.by_edge.iter().flatten());
        found.chain(questions).copied().collect()
    }

    /// Returns the passages that were found and are `named`, best first, by reciprocal rank fusion; `place` returns the
    /// key of a passage if it is a candidate.
    pub(in crate::neo4j) fn fused<T: Clone + Ord + Hash>(
        &self,
        place: impl Fn(&Key) -> Option<T>,
        named: impl IntoIterator<Item = T>,
    ) -> Vec<(T, f32)> {
        let mut fused: FxHashMap<T, f32> = FxHashMap::default();
        let mut fuse = |passages: &mut dyn Iterator<Item = &Key>| {
            let mut rank = FUSION;
            for passage in passages.filter_map(&place) {
                rank += 1.0;
                *fused.entry(passage).or_default() += 1.0 / rank;
            }
        };
        fuse(&mut self.by_text.iter());
        fuse(&mut self.by_vector.iter());
        fuse(&mut self.by_edge.iter().map(|[to, _]| to));
        fuse(&mut self.by_edge.iter().map(|[_, from]| from));
        fuse(&mut self.questions.iter().map(|it| &it.0));
        for passage in named {
            *fused.entry(passage).or_default() += 1.0 / FUSION;
        }
        best(fused, EXCERPT_MAX)
    }
}

/// A passage reached by an edge, the score of the best passage that leads to it, and how many keywords of the question
/// it has.
pub(in crate::neo4j) type Neighbor<T> = (T, f32, u32);

/// A question walking through a graph: the passages reached, and those from which it continues.
pub(in crate::neo4j) struct Following<T> {
    reached: FxHashSet<T>,
    from: Vec<(T, f32)>,
    rounds: usize,
}

impl<T: Clone + Ord + Hash> Following<T> {
    /// Begins at an entry, best first.
    pub(in crate::neo4j) fn begin(entry: Vec<(T, f32)>, follow: Follow) -> Self {
        let from = entry.iter().take(FOLLOWED).cloned().collect();
        let rounds = if follow == Follow::Nothing { 0 } else { ROUNDS };
        Self { reached: entry.into_iter().map(|it| it.0).collect(), from, rounds }
    }

    /// Returns the passages to continue from; none at the end.
    pub(in crate::neo4j) fn next(&mut self) -> Option<Vec<(T, f32)>> {
        self.rounds = self.rounds.checked_sub(1)?;
        let from = std::mem::take(&mut self.from);
        (!from.is_empty()).then_some(from)
    }

    /// Adds the best passages reached from there.
    pub(in crate::neo4j) fn add(&mut self, neighbors: impl IntoIterator<Item = Neighbor<T>>) {
        let mut found: FxHashMap<T, f32> = FxHashMap::default();
        for (to, score, keywords) in neighbors {
            if !self.reached.contains(&to) {
                let known = found.entry(to).or_default();
                *known = known.max(score * (1.0 + keywords as f32));
            }
        }
        self.from = best(found, EXCERPT_MAX.saturating_sub(self.reached.len()));
        self.reached.extend(self.from.iter().map(|it| it.0.clone()));
        self.from.truncate(FOLLOWED);
    }

    /// Returns all that was reached.
    pub(in crate::neo4j) fn reached(self) -> Vec<T> {
        let mut reached: Vec<T> = self.reached.into_iter().collect();
        reached.sort_unstable();
        reached
    }
}

/// Returns the `k` best, best first; ties in their own order.
fn best<T: Ord>(scored: FxHashMap<T, f32>, k: usize) -> Vec<(T, f32)> {
    let mut scored: Vec<(T, f32)> = scored.into_iter().collect();
    scored.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    scored.truncate(k);
    scored
}

async fn by_text(session: &Session, version: i64, wanted: &Wanted<'_>, limit: i64) -> Result<Vec<Key>> {
    if wanted.words.is_empty() {
        return Ok(Vec::new());
    }
    let words = match wanted.keywords {
        Some(keywords) => by_keywords(keywords, wanted.words),
        None => either(wanted.words),
    };
    let statement = Statement::new("ask the full-text index", cypher!("read/entry-passage-text"))
        .with("words", words)
        .with("version", version);
    found(session, &statement, limit, passage).await
}

async fn by_vector(session: &Session, version: i64, wanted: &Wanted<'_>, limit: i64) -> Result<Vec<Key>> {
    if is_nothing(wanted.vector) {
        return Ok(Vec::new());
    }
    let statement = vector_statement(cypher!("read/entry-passage-embedding"), wanted.vector, version);
    found(session, &statement, limit, passage).await
}

/// The paper's entry: edges by their texts. Their vectors are those of their in-coming questions.
async fn by_edge(session: &Session, version: i64, wanted: &Wanted<'_>, limit: i64) -> Result<Vec<[Key; 2]>> {
    if wanted.words.is_empty() || !wanted.by_edges {
        return Ok(Vec::new());
    }
    let statement = Statement::new("ask the full-text index of edges", cypher!("read/entry-leads-to"))
        .with("words", either(wanted.words))
        .with("version", version);
    let ends = |row: &Row| Some([unhex(row.get("to").ok()?)?, unhex(row.get("from").ok()?)?]);
    found(session, &statement, limit, ends).await
}

async fn questions(
    session: &Session,
    version: i64,
    wanted: &Wanted<'_>,
    limit: i64,
) -> Result<Vec<(Key, Key, Vec<f32>)>> {
    if is_nothing(wanted.vector) {
        return Ok(Vec::new());
    }
    // They are most of what this index returns.
    let vectors = wanted.by_edges || wanted.follow == Follow::Questions;
    let statement = vector_statement(cypher!("read/entry-incoming-embedding"), wanted.vector, version);
    let statement = statement.with("vectors", vectors);
    let read = |row: &Row| {
        let vector = row.get::<Option<Vec<f32>>>("embedding").ok()?.unwrap_or_default();
        Some((passage(row)?, key(row, "question")?, vector))
    };
    found(session, &statement, limit, read).await
}

/// Requests `limit` results from an index. They may include other elements with our labels or types; if these leave too
/// little room, more are requested.
async fn found<T>(
    session: &Session,
    statement: &Statement,
    limit: i64,
    read: impl Fn(&Row) -> Option<T>,
) -> Result<Vec<T>> {
    let mut asked = limit;
    loop {
        let rows = session.rows(&statement.clone().with("limit", asked)).await?;
        let mut own: Vec<T> = rows.iter().filter_map(&read).collect();
        // While a version is published, up to half of the elements belong to another.
        let [found, left] = [rows.len(), own.len()].map(|count| i64::try_from(count).unwrap_or(i64::MAX));
        let is_crowded = found >= asked && left < limit / 2;
        if !is_crowded || asked >= limit.saturating_mul(OTHERS_FACTOR_MAX) {
            own.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
            return Ok(own);
        }
        asked = asked.saturating_mul(OTHERS_FACTOR);
    }
}

/// Returns whether there is nothing to compare: an index rejects zeros.
fn is_nothing(vector: &[f32]) -> bool {
    vector.iter().all(|value| *value == 0.0)
}

/// Returns how many to request from an index, so that about `count` pass the filter.
fn limit(count: usize, admitted: Option<Admitted>) -> i64 {
    let factor = admitted.map_or(1, |it| it.of.div_ceil(it.passages.max(1)).min(FILTER_FACTOR_MAX));
    i64::try_from(count.saturating_mul(factor)).unwrap_or(i64::MAX)
}

fn vector_statement(text: &'static str, vector: &[f32], version: i64) -> Statement {
    let value = vector.iter().map(|value| BoltType::from(f64::from(*value))).collect();
    Statement::new("ask the vector index", text)
        .with("vector", BoltType::List(BoltList { value }))
        .with("version", version)
}

fn passage(row: &Row) -> Option<Key> {
    unhex(row.get("id").ok()?)
}

/// Returns a query of the full-text index for keywords, and for those of their `words` that are not ASCII: they may be
/// pairs of characters, which the index finds inside a clause that it does not find as a whole.
fn by_keywords(keywords: &KeywordQuery, words: &[String]) -> String {
    let others: Vec<String> = words.iter().filter(|word| !word.is_ascii()).cloned().collect();
    format!("{} {}", keywords.to_lucene(), either(&others)).trim_end().to_owned()
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

    #[test]
    fn keywords_exclude_and_pairs_of_characters_are_looked_for_beside_them() {
        let keywords = KeywordQuery::of_keywords(&["mill"]).filtered("wheel").unwrap();
        let expect = r#"text:("mill") title:("mill")^0.5 -"wheel""#;
        assert_eq!(by_keywords(&keywords, &["mill".to_owned()]), expect);
        assert_eq!(by_keywords(&keywords, &["mill", "山田"].map(str::to_owned)), format!("{expect} \"山田\""));
    }
}
