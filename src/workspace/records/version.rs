//! Versions: what belongs to the current one, switched in one transaction.

use rusqlite::{OptionalExtension, Row, Transaction, params};
use rustc_hash::FxHashMap;

use super::{Records, json, look, to_version, unit};
use crate::domain::{Cancellation, Counts, EdgeId, EntityId, IndexVersion, PassageId, QuestionId};
use crate::error::{Error, Result};
use crate::workspace::WorkspaceOptions;
use crate::workspace::stamp::StampedFile;

/// An entity of layer 0; its place among them is its ordinal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityRow {
    /// Its identity.
    pub id: EntityId,
    /// Its folded name.
    pub name: String,
    /// Documents that mention it.
    pub documents: u32,
}

/// A mention of an entity in a passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MentionRow {
    /// The passage, by ordinal.
    pub passage: u32,
    /// The entity, by ordinal.
    pub entity: u32,
    /// The sentence of the passage, from 0.
    pub sentence: u32,
    /// First byte of the mention in the passage's text.
    pub start: u32,
    /// One past its last byte.
    pub end: u32,
}

/// A question edge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EdgeRow {
    /// Its identity.
    pub id: EdgeId,
    /// The passage that asks, by ordinal.
    pub from: u32,
    /// The passage that answers, by ordinal.
    pub to: u32,
    /// The out-coming question, by ordinal.
    pub outgoing: u32,
    /// The in-coming question, by ordinal.
    pub incoming: u32,
    /// SIM of the two questions.
    pub similarity: f32,
}

/// What the ordinals of a version stand for.
#[derive(Debug, Clone, Default)]
pub(in crate::workspace) struct OrdinalIds {
    pub(in crate::workspace) passages: Vec<PassageId>,
    pub(in crate::workspace) incoming: Vec<QuestionId>,
    pub(in crate::workspace) outgoing: Vec<QuestionId>,
}

/// What a version has in the records beside its documents.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::workspace) struct VersionRows<'a> {
    pub(in crate::workspace) entities: &'a [EntityRow],
    pub(in crate::workspace) mentions: &'a [MentionRow],
    pub(in crate::workspace) edges: &'a [EdgeRow],
}

/// A finished version.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::workspace) struct VersionRow {
    pub(in crate::workspace) version: IndexVersion,
    /// The embedder that made its vectors.
    pub(in crate::workspace) pin: WorkspaceOptions,
    pub(in crate::workspace) created_at: String,
    pub(in crate::workspace) counts: Counts,
    pub(in crate::workspace) files: Vec<StampedFile>,
}

/// Units by state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::workspace) struct UnitCounts {
    pub(in crate::workspace) done: u64,
    pub(in crate::workspace) pending: u64,
    pub(in crate::workspace) failed: u64,
}

impl Records {
    /// Returns the last finished version, if there is one.
    pub(in crate::workspace) fn current_version(&self) -> Result<Option<VersionRow>> {
        // One statement sees one state: the row is that of the version that is current in it.
        const SQL: &str = "SELECT m.current, v.created_at, v.counts, v.files, m.embedder, m.dimension FROM manifest m \
             LEFT JOIN versions v ON v.version = m.current WHERE m.current IS NOT NULL";
        self.connection.query_row(SQL, [], read_version).optional().map_err(Error::records("read"))
    }

    /// Returns the versions whose files are kept: the current one and the one before it.
    pub(in crate::workspace) fn kept_versions(&self) -> Result<Vec<IndexVersion>> {
        self.read_all("SELECT version FROM versions", |row| row.get(0).map(to_version)).map_err(Error::records("read"))
    }

    /// Returns the number of the version to come.
    pub(in crate::workspace) fn next_version(&self) -> Result<IndexVersion> {
        const SQL: &str = "SELECT coalesce(max(version), 0) + 1 FROM versions";
        self.connection.query_row(SQL, [], |row| row.get(0).map(to_version)).map_err(Error::records("read"))
    }

    /// Returns how many units there are in each state.
    pub(in crate::workspace) fn unit_counts(&self) -> Result<UnitCounts> {
        const SQL: &str = "SELECT count(*) FILTER (WHERE state = ?1 AND version IS NOT NULL), \
             count(*) FILTER (WHERE state = ?1 AND version IS NULL), count(*) FILTER (WHERE state <> ?1) FROM units \
             WHERE stage = 'passages'";
        let count = |row: &Row<'_>, column| row.get::<_, i64>(column).map(i64::cast_unsigned);
        let read =
            |row: &Row<'_>| Ok(UnitCounts { done: count(row, 0)?, pending: count(row, 1)?, failed: count(row, 2)? });
        self.connection.query_row(SQL, [unit::DONE], read).map_err(Error::records("read"))
    }

    /// Makes `version` the current one: its rows, its files, its embedder and the switch, in one transaction. Only the
    /// one before it stays known beside it.
    pub(in crate::workspace) fn finish_version(
        &mut self,
        version: &VersionRow,
        rows: VersionRows<'_>,
        ids: &OrdinalIds,
    ) -> Result<()> {
        let wrong = || Error::records("write");
        let ids = RowIds::find(self, ids)?;
        let stop = self.cancellation.clone();
        let transaction = self.connection.transaction().map_err(wrong())?;
        replace_entities(&transaction, rows.entities, &stop).map_err(wrong())?;
        replace_mentions(&transaction, rows.mentions, &ids, &stop)?;
        replace_edges(&transaction, rows.edges, &ids, &stop)?;
        switch(&transaction, version).map_err(wrong())?;
        transaction.commit().map_err(wrong())
    }
}

fn read_version(row: &Row<'_>) -> rusqlite::Result<VersionRow> {
    Ok(VersionRow {
        version: row.get(0).map(to_version)?,
        created_at: row.get(1)?,
        counts: json(row, 2)?,
        files: json(row, 3)?,
        pin: WorkspaceOptions { embedder: row.get(4)?, dimension: row.get::<_, u32>(5)? as usize },
    })
}

/// Row numbers, by ordinal.
struct RowIds {
    passages: Vec<i64>,
    incoming: Vec<i64>,
    outgoing: Vec<i64>,
}

impl RowIds {
    fn find(records: &Records, ids: &OrdinalIds) -> Result<Self> {
        let passages = row_numbers(records, "SELECT id, passage FROM passages")?;
        let questions = row_numbers(records, "SELECT id, question FROM questions")?;
        Ok(Self {
            passages: look_up(&passages, ids.passages.iter().map(PassageId::as_bytes))?,
            incoming: look_up(&questions, ids.incoming.iter().map(QuestionId::as_bytes))?,
            outgoing: look_up(&questions, ids.outgoing.iter().map(QuestionId::as_bytes))?,
        })
    }
}

type RowNumbers = FxHashMap<[u8; 16], i64>;

fn row_numbers(records: &Records, sql: &str) -> Result<RowNumbers> {
    let read = || {
        let mut statement = records.connection.prepare(sql)?;
        let rows = statement.query_map([], |row| Ok((super::bytes(row, 0)?, row.get(1)?)))?;
        rows.collect::<rusqlite::Result<RowNumbers>>()
    };
    read().map_err(Error::records("read"))
}

fn look_up<'a>(numbers: &RowNumbers, ids: impl Iterator<Item = &'a [u8; 16]>) -> Result<Vec<i64>> {
    let lost = |id: &[u8; 16]| Error::Internal(format!("`{}` is not in the records", PassageId::from_bytes(*id)));
    ids.map(|id| numbers.get(id).copied().ok_or_else(|| lost(id))).collect()
}

fn replace_entities(
    transaction: &Transaction<'_>,
    entities: &[EntityRow],
    stop: &Cancellation,
) -> rusqlite::Result<()> {
    transaction.execute("DELETE FROM entities", [])?;
    let mut insert =
        transaction.prepare("INSERT INTO entities (entity, id, name, documents) VALUES (?1, ?2, ?3, ?4)")?;
    for (ordinal, entity) in (0_i64..).zip(entities) {
        look(stop, ordinal as usize)?;
        insert.execute(params![ordinal, entity.id.as_bytes(), entity.name, entity.documents])?;
    }
    Ok(())
}

fn replace_mentions(
    transaction: &Transaction<'_>,
    mentions: &[MentionRow],
    ids: &RowIds,
    stop: &Cancellation,
) -> Result<()> {
    let wrong = || Error::records("write");
    transaction.execute("DELETE FROM mentions", []).map_err(wrong())?;
    let mut insert = transaction
        .prepare("INSERT INTO mentions (passage, entity, sentence, span_start, span_end) VALUES (?1, ?2, ?3, ?4, ?5)")
        .map_err(wrong())?;
    for (row, mention) in mentions.iter().enumerate() {
        look(stop, row).map_err(wrong())?;
        let passage = number(&ids.passages, mention.passage)?;
        let MentionRow { entity, sentence, start, end, .. } = mention;
        insert.execute(params![passage, entity, sentence, start, end]).map_err(wrong())?;
    }
    Ok(())
}

fn replace_edges(transaction: &Transaction<'_>, edges: &[EdgeRow], ids: &RowIds, stop: &Cancellation) -> Result<()> {
    let wrong = || Error::records("write");
    transaction.execute("DELETE FROM edges", []).map_err(wrong())?;
    let mut insert = transaction
        .prepare(
            "INSERT INTO edges (id, from_passage, to_passage, outgoing, incoming, similarity) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )
        .map_err(wrong())?;
    for (row, edge) in edges.iter().enumerate() {
        look(stop, row).map_err(wrong())?;
        let (from, to) = (number(&ids.passages, edge.from)?, number(&ids.passages, edge.to)?);
        let (outgoing, incoming) = (number(&ids.outgoing, edge.outgoing)?, number(&ids.incoming, edge.incoming)?);
        insert.execute(params![edge.id.as_bytes(), from, to, outgoing, incoming, edge.similarity]).map_err(wrong())?;
    }
    Ok(())
}

fn number(numbers: &[i64], ordinal: u32) -> Result<i64> {
    let lost = || Error::Internal(format!("the version has nothing with the ordinal {ordinal}"));
    numbers.get(ordinal as usize).copied().ok_or_else(lost)
}

fn switch(transaction: &Transaction<'_>, row: &VersionRow) -> rusqlite::Result<()> {
    let text = |value: Result<String, serde_json::Error>| {
        value.map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
    };
    let counts = text(serde_json::to_string(&row.counts))?;
    let files = text(serde_json::to_string(&row.files))?;
    let version = row.version.0.cast_signed();
    transaction.execute(
        "DELETE FROM versions WHERE version NOT IN (SELECT current FROM manifest WHERE current IS NOT NULL)",
        [],
    )?;
    transaction.execute(
        "INSERT INTO versions (version, created_at, counts, files) VALUES (?1, ?2, ?3, ?4)",
        params![version, row.created_at, counts, files],
    )?;
    transaction
        .execute("UPDATE units SET version = ?1 WHERE version IS NULL AND state = ?2", params![version, unit::DONE])?;
    let WorkspaceOptions { embedder, dimension } = &row.pin;
    transaction.execute(
        "UPDATE manifest SET current = ?1, changed = 0, embedder = ?2, dimension = ?3",
        params![version, embedder, *dimension as u32],
    )?;
    Ok(())
}
