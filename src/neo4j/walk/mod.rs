//! A graph that stays in the database: Cypher follows a question there, and the structure of what it reached is read
//! for that question alone.
//!
//! The results are those of a walk in memory: the same indexes, constants and order. For each entity, the numbers of
//! documents that mention it and that have its name are known for the whole graph; see
//! [`Elements`](crate::graph::elements).

mod place;
mod recognize;
mod structure;

use std::collections::BTreeSet;

use neo4rs::{BoltList, BoltMap, BoltType, Row};
use rustc_hash::FxHashSet;

use super::cache::{Admitted, Entry, Following, GraphCache, Matching, Rows, Structure, Subgraph, key, scan};
use super::element::{self, Key, hex, put};
use super::export::read_document;
use super::kinds::{Kind, borne_text};
use super::session::Session;
use super::statement::{Statement, cypher};
use crate::domain::PassageId;
use crate::error::Result;
use crate::graph::ordinal::PassageOrdinal;
use crate::graph::packed::name_kind;
use crate::graph::trail::{BEARERS_MAX, NAMED_PASSAGES_MAX, SHARED_DOCUMENTS_MAX, SHARED_MENTIONS_MAX};
use crate::store::{DocumentText, Follow, Wanted};
use place::Place;
use structure::Asked;

/// Kinds of names that are not names of a document itself.
const PARTIAL_NAMES: [u32; 2] = [name_kind::BEFORE_COMMA, name_kind::FIRST];

/// Returns the data that a question needs from the version of `cache`.
pub(super) async fn subgraph(session: &Session, cache: &GraphCache, wanted: &Wanted<'_>) -> Result<Subgraph> {
    let version = cache.version;
    let filtered = Filtered::of(session, version, cache.state.counts.passages as usize, wanted).await?;
    let admitted = filtered.as_ref().map(|it| it.admitted);
    let admits = |place: &Place| filtered.as_ref().is_none_or(|it| it.documents.contains(&place.document));
    if let Some(wanted_text) = wanted.scan.filter(|_| admitted.is_none_or(|it| it.passages > 0)) {
        let place = |row: &Row| Some(Some(Place::read(row)?).filter(&admits));
        let Matching { best, all } = scan(session, cache, wanted_text, wanted.top_k, place).await?;
        let asked = Asked { follow: Follow::Nothing, places: &best, keywords: &[], found: Vec::new() };
        let structure = structure::read(session, version, &asked, Rows::of_part(Vec::new())).await?;
        let passages = numbers(&structure, &best);
        return Ok(Subgraph { structure: Some(structure), passages, entry: Entry::default(), matching: Some(all) });
    }
    let (recognized, entry) =
        tokio::try_join!(recognize::read(session, cache, wanted), Entry::ask(session, version, wanted, admitted),)?;
    let places = if let Some(few) = filtered.as_ref().filter(|it| it.admitted.is_few()) {
        place::of_documents(session, version, &few.documents).await?
    } else {
        let found = place::of(session, version, &entry.passages()).await?;
        let place = |key: &Key| found.get(key).filter(|it| admits(it)).cloned();
        let named = recognized.named.iter().filter(|it| admits(it)).cloned();
        let mut following = Following::begin(entry.fused(place, named), wanted.follow);
        while let Some(from) = following.next() {
            let found = neighbors(session, version, wanted.follow, &from, &recognized.keywords).await?;
            following.add(found.into_iter().filter(|it| admits(&it.0)));
        }
        following.reached()
    };
    let found = entry.questions.iter().map(|it| &it.1).collect();
    let keywords = if wanted.follow == Follow::Questions { &recognized.keywords[..] } else { &[] };
    let asked = Asked { follow: wanted.follow, places: &places, keywords, found };
    let structure = structure::read(session, version, &asked, recognized.rows).await?;
    let passages = numbers(&structure, &places);
    Ok(Subgraph { structure: Some(structure), passages, entry, matching: None })
}

/// Returns the numbers of passages in a part, ascending.
fn numbers(structure: &Structure, places: &[Place]) -> Vec<PassageOrdinal> {
    let mut passages: Vec<PassageOrdinal> =
        places.iter().filter_map(|it| structure.numbers.get(&it.key).copied()).collect();
    passages.sort_unstable();
    passages
}

/// Passages that pass a filter.
struct Filtered {
    documents: FxHashSet<Key>,
    admitted: Admitted,
}

impl Filtered {
    /// Reads every document, if there is a filter.
    async fn of(session: &Session, version: i64, passages: usize, wanted: &Wanted<'_>) -> Result<Option<Self>> {
        let Some(admits) = wanted.filter else { return Ok(None) };
        let mut filtered = Self { documents: FxHashSet::default(), admitted: Admitted { passages: 0, of: passages } };
        let mut visit = |row: &Row| {
            let read = || {
                Some((read_document(row, "id")?, row.get::<BoltMap>("properties").ok()?.get::<i64>("passages").ok()?))
            };
            let (document, passages) =
                read().ok_or_else(|| session.damaged("a document has not all that it should"))?;
            if admits(&document) {
                filtered.documents.insert(*document.document.as_bytes());
                filtered.admitted.passages += usize::try_from(passages).unwrap_or_default();
            }
            Ok(())
        };
        let statement =
            Statement::new("read the documents", &Kind::Document.statements().contents).with("version", version);
        session.for_each_row(&statement, &mut visit).await?;
        Ok(Some(filtered))
    }
}

/// Returns where passages lead to, each with the best score that leads there and the keywords of the question it has.
async fn neighbors(
    session: &Session,
    version: i64,
    follow: Follow,
    from: &[(Place, f32)],
    keywords: &[String],
) -> Result<Vec<(Place, f32, u32)>> {
    let text = match follow {
        Follow::Names => cypher!("walk/along-names"),
        Follow::Nothing | Follow::Questions => cypher!("walk/along-questions"),
    };
    let from = from.iter().map(|(place, score)| {
        let mut row = element::Place { key: place.key, since: place.since, ends: None }.into_row();
        put(&mut row, "score", f64::from(*score).into());
        BoltType::Map(row)
    });
    let texts = keywords.iter().map(|it| it.as_str().into()).collect();
    let integer = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    let partial = PARTIAL_NAMES.map(|kind| BoltType::from(borne_text(kind))).to_vec();
    let statement = Statement::new("follow the graph", text)
        .with("version", version)
        .with("from", BoltType::List(BoltList { value: from.collect() }))
        .with("keywords", BoltType::List(BoltList { value: texts }))
        .with("bearersMax", integer(BEARERS_MAX))
        .with("sharedDocumentsMax", i64::from(SHARED_DOCUMENTS_MAX))
        .with("sharedMentionsMax", integer(SHARED_MENTIONS_MAX))
        .with("namedPassagesMax", integer(NAMED_PASSAGES_MAX))
        .with("partialNames", BoltType::List(BoltList { value: partial }));
    let read = |row: &Row| {
        let score = row.get::<f64>("score").ok()? as f32;
        Some((Place::read(row)?, score, u32::try_from(row.get::<i64>("shared").ok()?).ok()?))
    };
    let rows = session.rows(&statement).await?;
    rows.iter().map(|row| read(row).ok_or_else(|| session.damaged("a passage has not all that it should"))).collect()
}

/// Returns a list of keys as a parameter.
fn ids<'a>(keys: impl IntoIterator<Item = &'a Key>) -> BoltType {
    BoltType::List(BoltList { value: keys.into_iter().map(|key| hex(key).into()).collect() })
}

/// Returns the identities of all passages.
pub(super) async fn passage_ids(session: &Session, version: i64) -> Result<Vec<PassageId>> {
    let statement = Statement::new("read the passages", cypher!("walk/passage-ids")).with("version", version);
    let mut passages = Vec::new();
    let mut visit = |row: &Row| {
        passages.extend(key(row, "id").map(PassageId::from_bytes));
        Ok(())
    };
    session.for_each_row(&statement, &mut visit).await?;
    Ok(passages)
}

/// Returns the documents of passages.
pub(super) async fn documents(
    session: &Session,
    version: i64,
    passages: &BTreeSet<PassageId>,
) -> Result<Vec<(PassageId, DocumentText)>> {
    let statement = Statement::new("read the documents", cypher!("walk/documents-of"))
        .with("version", version)
        .with("ids", ids(passages.iter().map(PassageId::as_bytes)));
    let read = |row: &Row| Some((PassageId::from_bytes(key(row, "passage")?), read_document(row, "id")?));
    let rows = session.rows(&statement).await?;
    rows.iter().map(|row| read(row).ok_or_else(|| session.damaged("a document has not all that it should"))).collect()
}
