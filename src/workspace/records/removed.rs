//! Documents removed by hand: a run that finds them leaves them out until the removal is undone.

use rusqlite::{OptionalExtension as _, Row, params};

use super::digest::{self, Digest};
use super::{Records, bytes, kept};
use crate::domain::{DocumentId, RemovedDocument};
use crate::error::{Error, Result};

impl Records {
    /// Returns the removed documents, by the ids of their sources.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn removed(&self) -> Result<Vec<RemovedDocument>> {
        const SQL: &str = "SELECT id, source_id, uri, digest FROM removed ORDER BY source_id";
        // All of them came with one format.
        if !self.has_extractions() {
            return Ok(Vec::new());
        }
        let read = |row: &Row<'_>| {
            let id = DocumentId::from_bytes(bytes(row, 0)?);
            let kept: Option<Digest> = kept(row, 3)?;
            Ok((RemovedDocument { id, source_id: row.get(1)?, uri: row.get(2)? }, kept))
        };
        let rows = self.read_all(SQL, read).map_err(Error::records("read"))?;
        let known = |(document, kept): (RemovedDocument, Option<Digest>)| {
            if digest::is_right(self.format, kept, || digest::removed(&document)) {
                return Ok(document);
            }
            Err(self.corrupt("which documents were removed is not what was written"))
        };
        rows.into_iter().map(known).collect()
    }

    /// Records the removal of documents; unknown ones are ignored. The documents stay until
    /// [`Records::remove_documents`] removes them.
    ///
    /// # Errors
    ///
    /// If the records cannot be written; then nothing has changed.
    pub fn remember_removed(&mut self, documents: &[DocumentId]) -> Result<()> {
        self.write(|transaction| {
            let mut find = transaction.prepare("SELECT source_id, uri FROM documents WHERE id = ?1")?;
            let mut known = Vec::new();
            for id in documents {
                let found = find.query_row([id.as_bytes()], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
                known.extend(found.map(|(source_id, uri)| RemovedDocument { id: *id, source_id, uri }));
            }
            insert(transaction, &known)
        })
    }

    /// Keeps documents as removed that are so elsewhere.
    ///
    /// # Errors
    ///
    /// If the records cannot be written; then nothing has changed.
    pub fn add_removed(&mut self, documents: &[RemovedDocument]) -> Result<()> {
        self.write(|transaction| insert(transaction, documents))
    }

    /// Undoes the removal of documents: the next run that finds them indexes them.
    ///
    /// # Errors
    ///
    /// If the records cannot be written; then nothing has changed.
    pub fn take_back(&mut self, documents: &[DocumentId]) -> Result<()> {
        if documents.is_empty() {
            return Ok(());
        }
        self.write(|transaction| {
            let mut forget = transaction.prepare("DELETE FROM removed WHERE id = ?1")?;
            documents.iter().try_for_each(|id| forget.execute([id.as_bytes()]).map(drop))
        })
    }
}

fn insert(transaction: &rusqlite::Transaction<'_>, documents: &[RemovedDocument]) -> rusqlite::Result<()> {
    const SQL: &str = "INSERT OR REPLACE INTO removed (id, source_id, uri, digest) VALUES (?1, ?2, ?3, ?4)";
    let mut insert = transaction.prepare(SQL)?;
    documents.iter().try_for_each(|document| {
        let RemovedDocument { id, source_id, uri } = document;
        insert.execute(params![id.as_bytes(), source_id, uri, digest::removed(document)]).map(drop)
    })
}
