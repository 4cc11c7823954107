//! The state of the index in the database: its single `:Index` node.

use neo4rs::{BoltMap, BoltType, Row};

use super::element::{Value, bolt, put};
use super::session::Session;
use super::statement::{Statement, cypher};
use crate::domain::{CollectionId, Counted, Counts, DatabaseError};
use crate::error::Result;

/// The meaning of labels, types and properties; raised whenever it changes.
pub(super) const GRAPH_FORMAT: i64 = 3;

/// Whether elements retired by earlier versions are gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// It is: any tool sees the version and nothing else.
    Whole,
    /// Not yet: readers that heed versions see this one.
    Clearing,
}

impl Phase {
    fn of(text: &str) -> Self {
        if text == Self::Whole.text() { Self::Whole } else { Self::Clearing }
    }

    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Clearing => "clearing",
        }
    }
}

/// The state of the index in the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IndexState {
    /// The format that it was published in.
    pub(super) format: i64,
    pub(super) version: i64,
    /// The collection that it is an index of; none where an earlier program published it.
    pub(super) collection: Option<CollectionId>,
    /// Fingerprint of the version of a workspace that it was published from.
    pub(super) source: String,
    /// Which publish made it; empty of a bulk import, and where an earlier program published it.
    pub(super) publish: String,
    pub(super) embedder: String,
    pub(super) dimension: usize,
    /// Fingerprint of the options that its passages and edges were made with.
    pub(super) settings: String,
    pub(super) phase: Phase,
    pub(super) counts: Counts,
    /// Terms in the lexical fields of all passages, and of all sentences.
    pub(super) terms: [u64; 2],
    /// Entities and relations that a language model found, and reports and summaries that it wrote.
    pub(super) by_model: [u64; 4],
}

/// The properties that say how much is by a language model.
const BY_MODEL: [&str; 4] = ["entitiesByModel", "relationsByModel", "reports", "summariesByModel"];

/// The property that says which publish made it.
const PUBLISH: &str = "publishId";

/// Maximum values of a vector, by which reads are sized.
const DIMENSION_MAX: usize = 1 << 16;

impl IndexState {
    /// Reads it; none where nothing was published yet in this format. Refuses a newer format.
    pub(super) async fn read(session: &Session) -> Result<Option<Self>> {
        let rows = session.rows(&Statement::new("read the index", cypher!("read/index"))).await?;
        rows.first().map(|row| Self::of(session, row)).transpose()
    }

    /// Reads it if there must be one, and also refuses earlier formats.
    pub(super) async fn read_current(session: &Session) -> Result<Self> {
        Self::read(session).await?.ok_or_else(|| session.error(DatabaseError::NoIndex))?.readable(session)
    }

    /// Returns a count of it by its name in the graph; none for an unknown name.
    pub(super) fn count(&self, name: &str) -> Option<u64> {
        let mut counts = self.counts;
        let counted = counts.each().into_iter().find(|it| it.name == name).map(|it| *it.count);
        counted.or_else(|| BY_MODEL.into_iter().zip(self.by_model).find(|(it, _)| *it == name).map(|(_, count)| count))
    }

    /// Reads it from a row with its properties.
    fn of(session: &Session, row: &Row) -> Result<Self> {
        let properties: BoltMap =
            row.get("properties").map_err(|_| session.damaged("its `:Index` node cannot be read"))?;
        let missing = |name: &str| session.damaged(format!("its `:Index` node has no `{name}`"));
        let integer = |name: &str| properties.get::<i64>(name).map_err(|_| missing(name));
        let text = |name: &str| properties.get::<String>(name).map_err(|_| missing(name));
        let format = integer("format")?;
        if format > GRAPH_FORMAT {
            let (found, known) = (format!("format {format}"), format!("format {GRAPH_FORMAT}"));
            return Err(session.error(DatabaseError::Format { found, known }));
        }
        let count = |name: &str| integer(name).map(i64::cast_unsigned);
        // Counts that early programs of this format lack.
        let later = |name: &str| properties.get::<i64>(name).map(i64::cast_unsigned).unwrap_or_default();
        // Only a version with all vectors is published.
        let mut counts = Counts::default();
        for Counted { name, count: of, is_later, .. } in counts.each() {
            *of = if is_later { later(name) } else { count(name)? };
        }
        let collection = match properties.get::<Option<String>>("collection").ok().flatten() {
            None => None,
            Some(text) => Some(text.parse().map_err(|_| missing("collection"))?),
        };
        Ok(Self {
            format,
            version: integer("version")?,
            collection,
            source: text("source")?,
            publish: properties.get(PUBLISH).unwrap_or_default(),
            embedder: text("embedder")?,
            dimension: usize::try_from(integer("dimension")?)
                .ok()
                .filter(|it| *it <= DIMENSION_MAX)
                .ok_or_else(|| session.damaged("its `:Index` node has a `dimension` that no vector has"))?,
            settings: text("settings")?,
            phase: Phase::of(&text("state")?),
            counts,
            terms: [count("passageTerms")?, count("sentenceTerms")?],
            by_model: BY_MODEL.map(later),
        })
    }

    /// Returns the properties of the `:Index` node.
    pub(super) fn properties(&self) -> Vec<(&'static str, Value)> {
        let text = |text: &str| Value::Text(text.to_owned());
        let count = |count: u64| Value::Integer(count.cast_signed());
        let mut counts = self.counts;
        let mut properties = vec![
            ("id", text("cairn")),
            ("name", Value::Text(format!("Cairn index, version {}", self.version))),
            ("format", Value::Integer(self.format)),
            ("program", Value::Text(format!("cairn {}", env!("CARGO_PKG_VERSION")))),
            ("version", Value::Integer(self.version)),
            ("source", text(&self.source)),
            (PUBLISH, text(&self.publish)),
            ("embedder", text(&self.embedder)),
            ("dimension", count(self.dimension as u64)),
            ("settings", text(&self.settings)),
            ("state", text(self.phase.text())),
        ];
        properties.extend(counts.each().map(|it| (it.name, count(*it.count))));
        properties.extend([("passageTerms", count(self.terms[0])), ("sentenceTerms", count(self.terms[1]))]);
        properties.extend(BY_MODEL.into_iter().zip(self.by_model).map(|(name, it)| (name, count(it))));
        properties.extend(self.collection.map(|it| ("collection", Value::Text(it.to_string()))));
        properties
    }

    /// Returns whether the graph is of a format before this one: it is published again, and not read.
    pub(super) const fn is_earlier(&self) -> bool {
        self.format < GRAPH_FORMAT
    }

    /// Returns whether it is all that a source of this collection has to publish.
    pub(super) fn is_whole_of(&self, collection: CollectionId, source: &str) -> bool {
        let is_of_this = self.collection == Some(collection) && self.source == source;
        is_of_this && self.phase == Phase::Whole && !self.is_earlier()
    }

    /// Returns one of a version of notes without vectors.
    #[cfg(test)]
    pub(super) fn of_notes(version: i64, publish: &str) -> Self {
        Self {
            format: GRAPH_FORMAT,
            version,
            collection: None,
            source: "notes".to_owned(),
            publish: publish.to_owned(),
            embedder: "none".to_owned(),
            dimension: 0,
            settings: String::new(),
            phase: Phase::Whole,
            counts: Counts::default(),
            terms: [0, 0],
            by_model: [0; 4],
        }
    }

    /// Refuses a format before this one.
    fn readable(self, session: &Session) -> Result<Self> {
        if self.is_earlier() {
            let (found, known) = (format!("format {}", self.format), format!("format {GRAPH_FORMAT}"));
            return Err(session.error(DatabaseError::Earlier { found, known }));
        }
        Ok(self)
    }

    /// Returns the statement that makes this the state of the index.
    pub(super) fn switch(&self) -> Statement {
        let mut map = BoltMap::with_capacity(24);
        self.properties().into_iter().for_each(|(name, value)| put(&mut map, name, bolt(value)));
        Statement::new("switch the version", cypher!("write/switch")).with("properties", BoltType::Map(map))
    }
}
