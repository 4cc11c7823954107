//! Recognizes the names and keywords of a question that the index knows.

use neo4rs::Row;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;

use super::super::cache::{GraphCache, Rows, number};
use super::super::element::{Key, unhex};
use super::super::kinds::borne;
use super::super::session::Session;
use super::super::statement::{Statement, cypher};
use super::ids;
use super::place::Place;
use crate::domain::EntityId;
use crate::error::Result;
use crate::graph::elements::{Elements, PassageElement};
use crate::graph::ordinal::{DocumentOrdinal, Ordinal as _};
use crate::store::{Recognized, Wanted};

/// Maximum documents with a name for which all their passages are read; more frequent names do not count.
const BEARERS_READ_MAX: i64 = 30;

/// The names and keywords of a question.
pub(super) struct Read {
    /// Its keywords that the index knows.
    pub(super) keywords: Vec<String>,
    /// Passages of documents that it names.
    pub(super) named: Vec<Place>,
    /// The data of names in it, with which a part starts.
    pub(super) rows: Rows,
}

/// A passage of a document with a name.
#[derive(Deserialize)]
struct Bearing {
    id: String,
    since: i64,
    document: String,
    source: String,
    position: u32,
    /// How the document has the name, if this passage represents it.
    kind: Option<String>,
}

impl Bearing {
    /// Returns its place, and how it has the name.
    fn read(&self) -> Option<(Place, Option<u32>)> {
        let kind = match &self.kind {
            Some(kind) => Some(borne(kind)?),
            None => None,
        };
        Some((self.place()?, kind))
    }

    fn place(&self) -> Option<Place> {
        let (key, document) = (unhex(&self.id)?, unhex(&self.document)?);
        let (source_id, ordinal, since) = (self.source.clone(), self.position.checked_sub(1)?, self.since);
        Some(Place { source_id, document, ordinal, key, since })
    }
}

/// A name that the index knows.
struct Name {
    text: String,
    flags: u32,
    bearers: Vec<(Place, Option<u32>)>,
}

impl Name {
    fn read(row: &Row) -> Option<Self> {
        let bearings: Vec<Bearing> = row.get("passages").ok()?;
        let bearers = bearings.iter().map(Bearing::read).collect::<Option<_>>()?;
        let flags = number(row, "flags")?;
        Some(Self { text: row.get("folded").ok()?, flags, bearers })
    }
}

/// Asks the database for the names that a question may have in it.
pub(super) async fn read(session: &Session, cache: &GraphCache, wanted: &Wanted<'_>) -> Result<Read> {
    let keys: FxHashSet<Key> = wanted.names.iter().map(|it| *EntityId::of(&[it.as_bytes()]).as_bytes()).collect();
    let statement = Statement::new("find names", cypher!("walk/question-names"))
        .with("ids", ids(&keys))
        .with("version", cache.version)
        .with("bearersMax", BEARERS_READ_MAX);
    let found = session.rows(&statement).await?;
    let damaged = || session.damaged("a name has not all that it should");
    let known = found.iter().map(|row| Name::read(row).ok_or_else(damaged)).collect::<Result<Vec<Name>>>()?;
    let (Recognized { keywords, named }, places) = speak(&known, wanted);
    let is_name: FxHashSet<&str> = known.iter().map(|it| it.text.as_str()).collect();
    let is_known = |it: &String| is_name.contains(it.as_str()) || cache.lexicon.keywords.contains(it);
    let keywords: Vec<String> = keywords.into_iter().filter(is_known).collect();
    let mut rows = Rows::of_part(keywords.clone());
    for row in &found {
        rows.add_entity(row).ok_or_else(damaged)?;
    }
    let named = named.into_iter().filter_map(|passage| places.get(passage.index()).cloned()).collect();
    Ok(Read { keywords, named, rows })
}

/// Recognizes the question in a structure of the documents with these names; the places of its passages.
fn speak(names: &[Name], wanted: &Wanted<'_>) -> (Recognized, Vec<Place>) {
    let bearers = names.iter().flat_map(|name| &name.bearers);
    let mut places: Vec<Place> = bearers.map(|it| it.0.clone()).collect();
    places.sort_unstable();
    places.dedup();
    let mut elements = Elements::default();
    let mut documents: FxHashMap<Key, DocumentOrdinal> = FxHashMap::default();
    for place in &places {
        let next = DocumentOrdinal::at(documents.len());
        let document = *documents.entry(place.document).or_insert(next);
        elements.passages.push(PassageElement { document, ..PassageElement::default() });
    }
    elements.documents = documents.len() as u32;
    for name in names {
        let entity = elements.entities.number(&name.text);
        elements.entity_flags.push(name.flags);
        for (place, kind) in &name.bearers {
            if let (Ok(passage), Some(kind)) = (places.binary_search(place), kind) {
                elements.passages[passage].names.push((entity, *kind));
            }
        }
    }
    ((wanted.recognize)(elements.pack().view()), places)
}
