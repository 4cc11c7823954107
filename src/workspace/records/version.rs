//! Versions: the list, the expected files of each, and the switch to the next.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, Row, Transaction, params};
use serde::{Deserialize, Serialize};

use super::{Records, digest, json, kept, seal_manifest, to_version, unit};
use crate::domain::{Counts, IndexVersion};
use crate::error::{Error, Result};
use crate::workspace::WorkspaceOptions;
use crate::workspace::stamp::StampedFile;

/// A finished version.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::workspace) struct VersionRow {
    pub(in crate::workspace) version: IndexVersion,
    /// The embedder that made its vectors.
    pub(in crate::workspace) pin: WorkspaceOptions,
    pub(in crate::workspace) created_at: String,
    pub(in crate::workspace) counts: Counts,
    pub(in crate::workspace) files: Vec<StampedFile>,
    /// Whether it is a checkpoint of a first run, with the documents read so far.
    pub(in crate::workspace) is_partial: bool,
    /// Of what its parts were made.
    pub(in crate::workspace) stages: StageMarks,
}

/// The inputs of a part of a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageMark {
    /// A digest of all that it depends on.
    pub inputs: String,
    /// How much a limit left out of it.
    #[serde(default)]
    pub cut: u64,
}

/// The inputs of the parts of a version, by the name of the stage that made each.
pub(crate) type StageMarks = BTreeMap<String, StageMark>;

/// The stored form of the counts of a version. Versions without marks are those of an earlier program, and earlier
/// programs ignore unknown fields.
#[derive(Serialize, Deserialize)]
struct Counted {
    #[serde(flatten)]
    counts: Counts,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_partial: bool,
    #[serde(default, skip_serializing_if = "StageMarks::is_empty")]
    stages: StageMarks,
}

/// Units by state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::workspace) struct UnitCounts {
    pub(in crate::workspace) done: u64,
    pub(in crate::workspace) pending: u64,
    pub(in crate::workspace) failed: u64,
}

/// What becomes of the files of the last version, once there is another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::workspace) enum LastFiles {
    /// They are kept until there is one more.
    Kept,
    /// Nobody needs them.
    Gone,
}

impl Records {
    /// Returns the last finished version, if there is one.
    pub(in crate::workspace) fn current_version(&self) -> Result<Option<VersionRow>> {
        // One transaction sees one state: the row is that of the version that is current in it.
        let _transaction = self.connection.unchecked_transaction().map_err(Error::records("read"))?;
        let manifest = self.manifest()?;
        let Some(current) = manifest.current else { return Ok(None) };
        self.version_row(current, manifest.pin())?
            .map(Some)
            .ok_or_else(|| self.corrupt(format!("it does not know its current version, {current}")))
    }

    /// Returns the number and the counts of the last finished version, if there is one.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn current(&self) -> Result<Option<(IndexVersion, Counts)>> {
        Ok(self.current_version()?.map(|row| (row.version, row.counts)))
    }

    /// Returns whether no run was finished yet: there is no version, or only a checkpoint.
    pub fn awaits_documents(&self) -> bool {
        self.current_version().is_ok_and(|row| row.is_none_or(|row| row.is_partial))
    }

    /// Returns the row of a version made with the embedder of `pin`.
    fn version_row(&self, version: IndexVersion, pin: WorkspaceOptions) -> Result<Option<VersionRow>> {
        let sql = if self.has_digests() {
            "SELECT created_at, counts, files, digest FROM versions WHERE version = ?1"
        } else {
            "SELECT created_at, counts, files, NULL FROM versions WHERE version = ?1"
        };
        let read = |row: &Row<'_>| {
            let (counts, files): (String, String) = (row.get(1)?, row.get(2)?);
            let created_at: String = row.get(0)?;
            let read = || digest::version(version.0, &created_at, &counts, &files);
            if !digest::is_right(self.format, kept(row, 3)?, read) {
                return Ok(None);
            }
            let Counted { counts, is_partial, stages } = json(row, 1)?;
            Ok(Some(VersionRow { version, pin, created_at, counts, files: json(row, 2)?, is_partial, stages }))
        };
        let number = [version.0.cast_signed()];
        let row = self.connection.query_row(sql, number, read).optional().map_err(Error::records("read"))?;
        let damaged = || self.corrupt(format!("what it knows of version {version} is not what was written"));
        row.map(|row| row.ok_or_else(damaged)).transpose()
    }

    /// Returns the versions whose files are kept: the current one, and the one before it where it was in use.
    pub(in crate::workspace) fn kept_versions(&self) -> Result<Vec<IndexVersion>> {
        let manifest = self.manifest()?;
        let read = self.read_all("SELECT version FROM versions", |row| row.get(0).map(to_version));
        let kept = read.map_err(Error::records("read"))?;
        // A damaged number must not make its files look unused.
        for version in &kept {
            self.version_row(*version, manifest.pin())?;
        }
        Ok(kept.into_iter().chain(manifest.current).collect())
    }

    /// Returns the number of the version to come.
    pub(in crate::workspace) fn next_version(&self) -> Result<IndexVersion> {
        // No number that we write is negative: one that is was damaged.
        const SQL: &str = "SELECT coalesce(max(version), 0) FROM versions WHERE version >= 0";
        let known =
            self.connection.query_row(SQL, [], |row| row.get(0).map(to_version)).map_err(Error::records("read"))?;
        let last = self.manifest()?.current.map_or(known, |current| current.max(known));
        let next = last.0.checked_add(1).filter(|next| i64::try_from(*next).is_ok()).map(IndexVersion);
        next.ok_or_else(|| self.corrupt(format!("no version can come after {last}")))
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

    /// Makes `version` the current one: its files, its embedder and the switch, in one transaction.
    pub(in crate::workspace) fn finish_version(&mut self, version: &VersionRow, last: LastFiles) -> Result<()> {
        // What was damaged before must not pass for what was written.
        self.manifest()?;
        let is_known = self.kept_versions().is_ok();
        self.write(|transaction| {
            if !is_known {
                transaction.execute("DELETE FROM versions", [])?;
            }
            switch(transaction, version, last)
        })
    }
}

fn switch(transaction: &Transaction<'_>, row: &VersionRow, last: LastFiles) -> rusqlite::Result<()> {
    let text = |value: Result<String, serde_json::Error>| {
        value.map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
    };
    let counted = Counted { counts: row.counts, is_partial: row.is_partial, stages: row.stages.clone() };
    let counts = text(serde_json::to_string(&counted))?;
    let files = text(serde_json::to_string(&row.files))?;
    let version = row.version.0.cast_signed();
    let gone = match last {
        LastFiles::Kept => {
            "DELETE FROM versions WHERE version NOT IN (SELECT current FROM manifest WHERE current >= 0)"
        }
        LastFiles::Gone => "DELETE FROM versions",
    };
    transaction.execute(gone, [])?;
    transaction.execute(
        "INSERT INTO versions (version, created_at, counts, files, digest) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![
            version,
            row.created_at,
            counts,
            files,
            digest::version(row.version.0, &row.created_at, &counts, &files)
        ],
    )?;
    transaction
        .execute("UPDATE units SET version = ?1 WHERE version IS NULL AND state = ?2", params![version, unit::DONE])?;
    let WorkspaceOptions { embedder, dimension } = &row.pin;
    // After a version of a part of the documents, the next run makes another, whatever it reads.
    transaction.execute(
        "UPDATE manifest SET current = ?1, changed = ?4, embedder = ?2, dimension = ?3",
        params![version, embedder, *dimension as u32, row.is_partial],
    )?;
    seal_manifest(transaction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_earlier_program_reads_the_counts_of_a_version_and_its_own_are_read() {
        let counts = Counts { documents: 2, without_vectors: 1, ..Counts::default() };
        let mark = StageMark { inputs: "00".to_owned(), cut: 3 };
        let stages = StageMarks::from([("names".to_owned(), mark)]);
        let counted = |is_partial| Counted { counts, is_partial, stages: stages.clone() };
        let kept = serde_json::to_string(&counted(true)).unwrap();
        assert!(!serde_json::to_string(&counted(false)).unwrap().contains("is_partial"));
        assert_eq!(serde_json::from_str::<Counts>(&kept).unwrap(), counts);
        let read: Counted = serde_json::from_str(&kept).unwrap();
        assert_eq!((read.counts, read.is_partial, read.stages), (counts, true, stages));
        let earlier: Counted = serde_json::from_str(&serde_json::to_string(&counts).unwrap()).unwrap();
        assert_eq!((earlier.counts, earlier.stages), (counts, StageMarks::new()));
    }
}
