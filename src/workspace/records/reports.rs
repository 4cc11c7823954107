//! Reports that a model wrote about communities of entities.

use rusqlite::{Row, params};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use super::digest::{self, Digest};
use super::unit::{FAILED, InsertMark, Mark, REPORTED, UNREPORTED, note_change, to_json};
use super::{Records, bytes, kept};
use crate::domain::{CommunityId, TopicReport};
use crate::error::{Error, Result};

/// A report that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredReport {
    /// The community that it is about: its level and its members.
    pub community: CommunityId,
    /// A digest of what the model was shown.
    pub content: [u8; 16],
    /// What wrote it: a digest of model and prompt.
    pub writer: String,
    /// What it says.
    pub report: TopicReport,
}

/// What came of asking a model for a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenReport {
    /// The community.
    pub community: CommunityId,
    /// A digest of what the model was shown.
    pub content: [u8; 16],
    /// What it wrote, or why it gave nothing: then what was written before stays.
    pub report: Result<TopicReport, String>,
}

impl Records {
    /// Returns the reports that are kept, by community.
    ///
    /// # Errors
    ///
    /// If the records cannot be read, or a report is not what was written.
    pub fn reports(&self) -> Result<Vec<StoredReport>> {
        const SQL: &str = "SELECT community, content, writer, report, digest FROM reports ORDER BY community";
        if !self.has_extractions() {
            return Ok(Vec::new());
        }
        let read = |row: &Row<'_>| {
            let (community, content): ([u8; 16], [u8; 16]) = (bytes(row, 0)?, bytes(row, 1)?);
            let (writer, report, digest): (String, String, Option<Digest>) = (row.get(2)?, row.get(3)?, kept(row, 4)?);
            let is_right =
                digest::is_right(self.format, digest, || digest::report(&community, &content, &writer, &report));
            // Whoever can write digests can write what no model may say.
            let report = serde_json::from_str(&report).ok().filter(TopicReport::is_within_limits);
            let report = report.filter(|_| is_right);
            let community = CommunityId::from_bytes(community);
            Ok(report.map(|report| StoredReport { community, content, writer, report }))
        };
        let rows = self.read_all(SQL, read).map_err(Error::records("read"))?;
        let wrong = || self.corrupt("the report about a topic is not what was written");
        rows.into_iter().map(|row| row.ok_or_else(wrong)).collect()
    }

    /// Keeps what a model wrote, in one transaction.
    ///
    /// # Errors
    ///
    /// If the records cannot be written; then nothing has changed.
    pub fn write_reports(&mut self, written: &[WrittenReport], writer: &str) -> Result<()> {
        const SQL: &str = "INSERT INTO reports (community, content, writer, report, digest) \
             VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (community) DO UPDATE SET content = excluded.content, \
             writer = excluded.writer, report = excluded.report, digest = excluded.digest";
        self.write(|transaction| {
            let mut insert = transaction.prepare(SQL)?;
            let mut mark = InsertMark::new(transaction)?;
            let mut unmark = transaction.prepare("DELETE FROM units WHERE stage = ?1 AND key = ?2")?;
            for WrittenReport { community, content, report } in written {
                let key = community.as_bytes();
                match report {
                    Ok(report) => {
                        let report = to_json(report)?;
                        let digest = digest::report(key, content, writer, &report);
                        insert.execute(params![key, content, writer, report, digest])?;
                        mark.of(&Mark::done(REPORTED, key, writer))?;
                        unmark.execute(params![UNREPORTED, key])?;
                    }
                    Err(reason) => {
                        let (state, reason) = (FAILED, Some(reason.as_str()));
                        mark.of(&Mark { state, reason, ..Mark::done(UNREPORTED, key, writer) })?;
                    }
                }
            }
            note_change(transaction, written.iter().any(|it| it.report.is_ok()))
        })
    }

    /// Forgets what is kept of communities other than these: they are gone, or their members are others.
    ///
    /// # Errors
    ///
    /// If the records cannot be written; then nothing has changed.
    pub fn keep_reports(&mut self, communities: &[CommunityId]) -> Result<()> {
        const SQL: &str = "SELECT key FROM units WHERE stage IN ('reports', 'no reports')";
        if !self.has_extractions() {
            return Ok(());
        }
        let known = self.read_all(SQL, |row| bytes::<16>(row, 0)).map_err(Error::records("read"))?;
        let communities: FxHashSet<&[u8; 16]> = communities.iter().map(CommunityId::as_bytes).collect();
        let gone: Vec<[u8; 16]> = known.into_iter().filter(|key| !communities.contains(key)).collect();
        if gone.is_empty() {
            return Ok(());
        }
        self.write(|transaction| {
            for key in gone {
                transaction.execute("DELETE FROM reports WHERE community = ?1", [key])?;
                transaction
                    .execute("DELETE FROM units WHERE stage IN ('reports', 'no reports') AND key = ?1", [key])?;
            }
            Ok(())
        })
    }
}
