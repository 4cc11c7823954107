//! A model's extractions from passages, as separate units, and the types of entities that it looked for.

use rusqlite::{OptionalExtension as _, Row, Statement, Transaction, params};
use serde::{Deserialize, Serialize};

use super::digest::{self, Digest};
use super::unit::{EXTRACTED, FAILED, InsertMark, Mark, UNEXTRACTED, note_change, to_json};
use super::{Records, json, kept};
use crate::domain::{Extraction, PassageId};
use crate::error::{Error, Result};

/// A model's extraction from a passage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extracted {
    /// What found it: a digest of model, prompt and types.
    pub writer: String,
    /// Entities and relations.
    pub found: Extraction,
}

/// The result of asking a model for the entities of one passage.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenExtraction {
    /// The passage.
    pub passage: PassageId,
    /// Its findings, or why there are none, in which case earlier ones stay.
    pub found: Result<Extraction, String>,
}

/// Types of entities that a model proposed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposedTypes {
    /// What proposed them: a digest of model and prompt.
    pub writer: String,
    /// The types, in order.
    pub types: Vec<String>,
}

/// Inserts the extractions from existing passages.
pub(super) struct InsertExtraction<'t>(Statement<'t>);

impl<'t> InsertExtraction<'t> {
    pub(super) fn new(transaction: &'t Transaction<'_>) -> rusqlite::Result<Self> {
        let insert = transaction.prepare(
            "INSERT INTO extractions (passage, found, digest) VALUES (?1, ?2, ?3) \
             ON CONFLICT (passage) DO UPDATE SET found = excluded.found, digest = excluded.digest",
        )?;
        Ok(Self(insert))
    }

    /// Inserts `writer`'s extraction from the passage with this row and id, replacing an earlier one.
    pub(super) fn of(
        &mut self,
        (row, passage): (i64, PassageId),
        writer: &str,
        found: &Extraction,
    ) -> rusqlite::Result<()> {
        let found = to_json(found)?;
        let digest = digest::extraction(passage, writer, &found);
        self.0.execute(params![row, found, digest]).map(drop)
    }
}

impl Records {
    /// Keeps a model's extractions, in one transaction. Passages that are gone are ignored.
    ///
    /// # Errors
    ///
    /// If the records cannot be written; then nothing has changed.
    pub fn write_extractions(&mut self, written: &[WrittenExtraction], writer: &str) -> Result<()> {
        self.write(|transaction| {
            let mut find = transaction.prepare("SELECT passage FROM passages WHERE id = ?1")?;
            let mut insert = InsertExtraction::new(transaction)?;
            let mut mark = InsertMark::new(transaction)?;
            let mut unmark = transaction.prepare("DELETE FROM units WHERE stage = ?1 AND key = ?2")?;
            for WrittenExtraction { passage, found } in written {
                let key = passage.as_bytes();
                let Some(row) = find.query_row([key], |row| row.get::<_, i64>(0)).optional()? else { continue };
                match found {
                    Ok(found) => {
                        insert.of((row, *passage), writer, found)?;
                        mark.of(&Mark::done(EXTRACTED, key, writer))?;
                        unmark.execute(params![UNEXTRACTED, key])?;
                    }
                    Err(reason) => {
                        let (state, reason) = (FAILED, Some(reason.as_str()));
                        mark.of(&Mark { state, reason, ..Mark::done(UNEXTRACTED, key, writer) })?;
                    }
                }
            }
            note_change(transaction, written.iter().any(|it| it.found.is_ok()))
        })
    }

    /// Returns the types of entities that a model proposed for the collection, if one did.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn proposed_types(&self) -> Result<Option<ProposedTypes>> {
        const SQL: &str = "SELECT writer, types, digest FROM entity_types";
        if !self.has_extractions() {
            return Ok(None);
        }
        let read = |row: &Row<'_>| {
            let (writer, listed, digest): (String, String, Option<Digest>) = (row.get(0)?, row.get(1)?, kept(row, 2)?);
            let is_right = digest::is_right(self.format, digest, || digest::entity_types(&writer, &listed));
            Ok((ProposedTypes { writer, types: json(row, 1)? }, is_right))
        };
        let read = self.connection.query_row(SQL, [], read).optional().map_err(Error::records("read"))?;
        match read {
            None => Ok(None),
            Some((proposed, true)) => Ok(Some(proposed)),
            Some(_) => Err(self.corrupt("the types of entities are not what was written")),
        }
    }

    /// Keeps the types of entities that a model proposed, replacing earlier ones.
    ///
    /// # Errors
    ///
    /// If the records cannot be written.
    pub fn set_proposed_types(&mut self, proposed: &ProposedTypes) -> Result<()> {
        const SQL: &str = "INSERT INTO entity_types (one, writer, types, digest) VALUES (1, ?1, ?2, ?3) \
             ON CONFLICT (one) DO UPDATE SET writer = excluded.writer, types = excluded.types, \
             digest = excluded.digest";
        let ProposedTypes { writer, types } = proposed;
        self.write(|transaction| {
            let types = to_json(types)?;
            let digest = digest::entity_types(writer, &types);
            transaction.execute(SQL, params![writer, types, digest]).map(drop)
        })
    }
}
