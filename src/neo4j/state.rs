//! Where the index in the database stands: its one `:Index` node.

use neo4rs::{BoltMap, BoltType};

use super::element::{Value, bolt, put};
use super::session::Session;
use super::statement::{Statement, cypher};
use crate::domain::{Counts, DatabaseError};
use crate::error::Result;

/// The meaning of labels, types and properties; raised whenever it changes.
pub(super) const GRAPH_FORMAT: i64 = 1;

/// Whether what earlier versions retired is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// It is: any tool sees the version and nothing else.
    Whole,
    /// Not yet: readers that heed versions see this one.
    Clearing,
}

impl Phase {
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Clearing => "clearing",
        }
    }
}

/// Where the index in the database stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IndexState {
    pub(super) version: i64,
    /// Fingerprint of the version of a workspace that it was published from.
    pub(super) source: String,
    pub(super) embedder: String,
    pub(super) dimension: usize,
    /// Fingerprint of the options that its passages and edges were made with.
    pub(super) settings: String,
    pub(super) phase: Phase,
    pub(super) counts: Counts,
    /// Terms in the lexical fields of all passages, and of all sentences.
    pub(super) terms: [u64; 2],
}

impl IndexState {
    /// Reads it; none where nothing was published yet. Refuses a newer format.
    pub(super) async fn read(session: &Session) -> Result<Option<Self>> {
        let rows = session.rows(&Statement::new("read the index", cypher!("read/index"))).await?;
        let Some(row) = rows.first() else { return Ok(None) };
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
        Ok(Some(Self {
            version: integer("version")?,
            source: text("source")?,
            embedder: text("embedder")?,
            dimension: integer("dimension")?.cast_unsigned() as usize,
            settings: text("settings")?,
            phase: if text("state")? == Phase::Whole.text() { Phase::Whole } else { Phase::Clearing },
            counts: Counts {
                documents: count("documents")?,
                titled: count("titled")?,
                passages: count("passages")?,
                sentences: count("sentences")?,
                incoming: count("incoming")?,
                outgoing: count("outgoing")?,
                edges: count("edges")?,
                entities: count("entities")?,
                mentions: count("mentions")?,
                // Only a version with all of them is published.
                without_vectors: 0,
            },
            terms: [count("passageTerms")?, count("sentenceTerms")?],
        }))
    }

    /// Returns the properties of the `:Index` node.
    pub(super) fn properties(&self) -> Vec<(&'static str, Value)> {
        let text = |text: &str| Value::Text(text.to_owned());
        let count = |count: u64| Value::Integer(count.cast_signed());
        let counts = &self.counts;
        vec![
            ("id", text("cairn")),
            ("name", Value::Text(format!("Cairn index, version {}", self.version))),
            ("format", Value::Integer(GRAPH_FORMAT)),
            ("version", Value::Integer(self.version)),
            ("source", text(&self.source)),
            ("embedder", text(&self.embedder)),
            ("dimension", count(self.dimension as u64)),
            ("settings", text(&self.settings)),
            ("state", text(self.phase.text())),
            ("documents", count(counts.documents)),
            ("titled", count(counts.titled)),
            ("passages", count(counts.passages)),
            ("sentences", count(counts.sentences)),
            ("incoming", count(counts.incoming)),
            ("outgoing", count(counts.outgoing)),
            ("edges", count(counts.edges)),
            ("entities", count(counts.entities)),
            ("mentions", count(counts.mentions)),
            ("passageTerms", count(self.terms[0])),
            ("sentenceTerms", count(self.terms[1])),
        ]
    }

    /// Returns the statement that makes this the state of the index.
    pub(super) fn switch(&self) -> Statement {
        let mut map = BoltMap::with_capacity(20);
        self.properties().into_iter().for_each(|(name, value)| put(&mut map, name, bolt(value)));
        Statement::new("switch the version", cypher!("write/switch")).with("properties", BoltType::Map(map))
    }
}
