//! What a model wrote about elements of the hierarchy: reports about communities, summaries of clusters, and
//! descriptions of entities.

use rusqlite::{Row, params};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use super::digest::{self, Digest};
use super::unit::{FAILED, InsertMark, Mark, note_change, to_json};
use super::{ModelStage, Records, bytes, kept};
use crate::domain::{SubjectId, WrittenText};
use crate::error::{Error, Result};

/// A report that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredReport {
    /// Its subject.
    #[serde(alias = "community")]
    pub about: SubjectId,
    /// A digest of the material shown to the model.
    pub content: [u8; 16],
    /// What wrote it: a digest of model and prompt.
    pub writer: String,
    /// Its text.
    pub report: WrittenText,
}

/// The units of such texts, as a condition.
pub(super) const OF_REPORTS: &str = "stage IN ('reports', 'no reports', 'summaries', 'no summaries', 'descriptions', \
     'no descriptions')";

impl StoredReport {
    /// Returns the stage that it is of.
    #[must_use]
    pub const fn stage(&self) -> ModelStage {
        match self.report {
            WrittenText::Topic(_) => ModelStage::Reports,
            WrittenText::Cluster(_) => ModelStage::Summaries,
            WrittenText::Entity(_) => ModelStage::Descriptions,
        }
    }
}

/// The result of asking a model for a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenReport {
    /// Its subject.
    pub about: SubjectId,
    /// A digest of the material shown to the model.
    pub content: [u8; 16],
    /// Its text, or why there is none, in which case the earlier text stays.
    pub report: Result<WrittenText, String>,
}

impl Records {
    /// Returns the kept reports, by subject.
    ///
    /// # Errors
    ///
    /// If the records cannot be read, or a report is not what was written.
    pub fn reports(&self) -> Result<Vec<StoredReport>> {
        // The second column has had another name.
        const SQL: &str = "SELECT * FROM reports ORDER BY 2";
        if !self.has_extractions() {
            return Ok(Vec::new());
        }
        let read = |row: &Row<'_>| {
            let (about, content): ([u8; 16], [u8; 16]) = (bytes(row, 1)?, bytes(row, 2)?);
            let (writer, report, digest): (String, String, Option<Digest>) = (row.get(3)?, row.get(4)?, kept(row, 5)?);
            let is_right = digest::is_right(self.format, digest, || digest::report(&about, &content, &writer, &report));
            // Whoever can forge digests can forge reports, so they are validated.
            let report = serde_json::from_str(&report).ok().filter(WrittenText::is_within_limits);
            let report = report.filter(|_| is_right);
            Ok(report.map(|report| StoredReport { about: SubjectId::from_bytes(about), content, writer, report }))
        };
        let rows = self.read_all(SQL, read).map_err(Error::records("read"))?;
        let wrong = || self.corrupt("what a model wrote about the hierarchy is not what was written");
        rows.into_iter().map(|row| row.ok_or_else(wrong)).collect()
    }

    /// Returns whether a model was asked for any.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn has_reports(&self) -> Result<bool> {
        let sql = format!("SELECT EXISTS (SELECT 1 FROM reports) OR EXISTS (SELECT 1 FROM units WHERE {OF_REPORTS})");
        let has = || self.connection.query_row(&sql, [], |row| row.get(0)).map_err(Error::records("read"));
        if self.has_extractions() { has() } else { Ok(false) }
    }

    /// Keeps a model's texts of a stage, in one transaction.
    ///
    /// # Errors
    ///
    /// If the records cannot be written; then nothing has changed.
    pub fn write_reports(&mut self, stage: ModelStage, written: &[WrittenReport], writer: &str) -> Result<()> {
        const SQL: &str = "INSERT INTO reports (about, content, writer, report, digest) \
             VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (about) DO UPDATE SET content = excluded.content, \
             writer = excluded.writer, report = excluded.report, digest = excluded.digest";
        self.write(|transaction| {
            let mut insert = transaction.prepare(SQL)?;
            let mut mark = InsertMark::new(transaction)?;
            let mut unmark = transaction.prepare("DELETE FROM units WHERE stage = ?1 AND key = ?2")?;
            for WrittenReport { about, content, report } in written {
                let key = about.as_bytes();
                match report {
                    Ok(report) => {
                        let report = to_json(report)?;
                        let digest = digest::report(key, content, writer, &report);
                        insert.execute(params![key, content, writer, report, digest])?;
                        mark.of(&Mark::done(stage.done(), key, writer))?;
                        unmark.execute(params![stage.failed(), key])?;
                    }
                    Err(reason) => {
                        let failed = Mark::done(stage.failed(), key, writer);
                        mark.of(&Mark { state: FAILED, reason: Some(reason), ..failed })?;
                    }
                }
            }
            note_change(transaction, written.iter().any(|it| it.report.is_ok()))
        })
    }

    /// Deletes the texts about all subjects except these: the others are gone, or have other members.
    ///
    /// # Errors
    ///
    /// If the records cannot be written; then nothing has changed.
    pub fn keep_reports(&mut self, subjects: &[SubjectId]) -> Result<()> {
        if !self.has_extractions() {
            return Ok(());
        }
        let known = format!("SELECT key FROM units WHERE {OF_REPORTS}");
        let known = self.read_all(&known, |row| bytes::<16>(row, 0)).map_err(Error::records("read"))?;
        let subjects: FxHashSet<&[u8; 16]> = subjects.iter().map(SubjectId::as_bytes).collect();
        let gone: Vec<[u8; 16]> = known.into_iter().filter(|key| !subjects.contains(key)).collect();
        if gone.is_empty() {
            return Ok(());
        }
        self.write(|transaction| {
            let unmark = format!("DELETE FROM units WHERE {OF_REPORTS} AND key = ?1");
            for key in gone {
                transaction.execute("DELETE FROM reports WHERE about = ?1", [key])?;
                transaction.execute(&unmark, [key])?;
            }
            Ok(())
        })
    }
}
