//! Checks the whole index against what was written, including parts that no reader opens.

use std::path::Path;

use serde::Serialize;

use super::records::{Records, Survey, VersionRow, with_cause};
use super::version_files::damage_of_version;
use super::{DocumentUnit, FileAccess, PassageUnit, RECORDS, REPLIES, Snapshot, Workspace, is_there, version_folder};
use crate::domain::{Counts, IndexVersion, PseudoQuery, QuestionKind};
use crate::error::{Error, ErrorKind, Result};
use crate::files;
use crate::graph::ordinal::{DocumentOrdinal, IncomingOrdinal, OutgoingOrdinal, PassageOrdinal};
use crate::store::GraphReader as _;

/// Examples that a finding names.
const EXAMPLES_MAX: usize = 5;

/// The check of the bytes of the version.
const FILES: &str = "files";

/// Checks of parts derived from the records.
const DERIVED: [&str; 4] = [FILES, "structure", "counts", "version-of-the-records"];

/// The check of kept replies.
const KEPT_REPLIES: &str = "replies";

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IndexFinding {
    /// Its name.
    pub check: &'static str,
    /// How much offends it.
    pub offenders: u64,
    /// Some of that, for people.
    pub examples: Vec<String>,
}

impl IndexFinding {
    fn of(check: &'static str, mut found: Vec<String>) -> Self {
        let offenders = found.len() as u64;
        found.truncate(EXAMPLES_MAX);
        Self { check, offenders, examples: found }
    }
}

/// The results of all checks of an index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct IndexCheck {
    /// The version that was checked; none if there is none, or if its number cannot be read.
    pub version: Option<IndexVersion>,
    /// Every check, in order.
    pub checks: Vec<IndexFinding>,
}

impl IndexCheck {
    /// Returns whether nothing was found.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.checks.iter().all(|finding| finding.offenders == 0)
    }

    /// Returns whether the only fault of the version is that files are not what was written.
    #[must_use]
    pub fn blames_files_alone(&self) -> bool {
        self.checks.iter().all(|it| it.offenders == 0 || it.check == FILES || !DERIVED.contains(&it.check))
    }

    /// Returns the faults of the index at `path` as an error.
    #[must_use]
    pub fn error(&self, path: &Path) -> Error {
        let offended: Vec<&str> = self.checks.iter().filter(|it| it.offenders > 0).map(|it| it.check).collect();
        // The hint depends on the damage: derived parts are rebuilt from the records, and replies are not needed.
        let path = match &offended[..] {
            [KEPT_REPLIES] => path.join(REPLIES),
            offended if offended.iter().all(|check| DERIVED.contains(check)) => path.to_owned(),
            _ => path.join(RECORDS),
        };
        Error::Corrupt { path, reason: format!("what fails is {}", offended.join(", ")) }
    }

    fn push(&mut self, check: &'static str, found: Vec<String>) {
        self.checks.push(IndexFinding::of(check, found));
    }
}

impl Workspace {
    /// Checks every byte of an index: the records by the database's own check, their digests, ids and references; every
    /// file of the current version, accessed as `access` says; the agreement of both; and kept replies.
    ///
    /// # Errors
    ///
    /// If there is no index at `path`, or one of a format that this program does not read. Damage is not an error here,
    /// but part of the report.
    pub fn check_at(path: &Path, access: FileAccess) -> Result<IndexCheck> {
        match Self::open(path) {
            Ok(workspace) => workspace.with_file_access(access).check(),
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                let mut report = IndexCheck::default();
                report.push("database", vec![with_cause(&error)]);
                Ok(report)
            }
            Err(error) => Err(error),
        }
    }

    /// Does so with an index that is open.
    ///
    /// # Errors
    ///
    /// As [`Self::check_at`].
    pub fn check(&self) -> Result<IndexCheck> {
        let mut report = IndexCheck::default();
        let records = match self.records() {
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                report.push("database", vec![with_cause(&error)]);
                return Ok(report);
            }
            records => records?,
        };
        let Survey { database, rows, documents, ids, strays } = records.survey();
        report.push("database", database);
        report.push("manifest-and-versions", rows);
        report.push("documents", documents.iter().map(|it| format!("{}: {}", it.name, it.reason)).collect());
        report.push("ids", ids);
        report.push("nothing-is-left", strays);
        // The faults of the records are reported; the version cannot be checked without them.
        if let Ok(Some(row)) = records.current_version() {
            self.check_version(&records, &row, &mut report)?;
        }
        report.push(KEPT_REPLIES, self.check_replies()?);
        Ok(report)
    }

    fn check_version(&self, records: &Records, row: &VersionRow, report: &mut IndexCheck) -> Result<()> {
        let folder = version_folder(&self.path, row.version);
        // What a run replaces meanwhile stays until it is checked.
        let _in_use = files::use_folder(&folder);
        let mut damaged = Vec::new();
        for error in damage_of_version(&folder, row) {
            match error.kind() {
                ErrorKind::Corrupt | ErrorKind::Input => damaged.push(with_cause(&error)),
                _ => return Err(error),
            }
        }
        if !damaged.is_empty()
            && let Ok(Some(now)) = records.current_version()
            && now.version != row.version
        {
            // Files of a version that was replaced in the meantime may be gone.
            return self.check_version(records, &now, report);
        }
        report.version = Some(row.version);
        let is_whole = damaged.is_empty();
        report.push(FILES, damaged);
        if !is_whole {
            return Ok(());
        }
        match Snapshot::open(&folder, row, self.access).and_then(|it| it.check_as_read().map(|()| it)) {
            Ok(snapshot) => {
                report.push("structure", Vec::new());
                report.push("counts", counts(&snapshot));
                // If the records are ahead of the version, the next run updates it.
                let is_changed = records.manifest().is_ok_and(|manifest| manifest.is_changed);
                let differences = if is_changed { Vec::new() } else { differences(records, &snapshot) };
                report.push("version-of-the-records", differences);
            }
            Err(error) if error.kind() == ErrorKind::Corrupt => report.push("structure", vec![with_cause(&error)]),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn check_replies(&self) -> Result<Vec<String>> {
        let path = self.path.join(REPLIES);
        if !is_there(&path)? {
            return Ok(Vec::new());
        }
        match self.replies_to_read().and_then(|replies| replies.map_or(Ok(Vec::new()), |replies| replies.faults())) {
            Err(error) if error.kind() == ErrorKind::Corrupt => Ok(vec![with_cause(&error)]),
            faults => faults,
        }
    }
}

/// Returns the counts of a version that differ from its contents.
fn counts(snapshot: &Snapshot) -> Vec<String> {
    let graph = snapshot.graph();
    let titled = graph.documents().filter(|it| snapshot.document(*it).is_ok_and(|it| it.title.is_some()));
    let mut has = Counts {
        titled: titled.count() as u64,
        outgoing: snapshot.outgoing_passages().len() as u64,
        hierarchy: snapshot.hierarchy().map(|it| it.counts()).unwrap_or_default(),
        ..graph.counts()
    };
    let mut says = snapshot.counts();
    let wrong = has.each().into_iter().zip(says.each()).filter(|(has, says)| has.count != says.count);
    wrong.map(|(has, says)| format!("{}: {}, and {} are counted", has.label, has.count, says.count)).collect()
}

/// Returns where the documents of the records differ from those of their version.
fn differences(records: &Records, snapshot: &Snapshot) -> Vec<String> {
    let mut walk = Walk {
        snapshot,
        document: DocumentOrdinal(0),
        passage: PassageOrdinal(0),
        questions: [0, 0],
        found: Vec::new(),
    };
    let read = records.for_each_document_unit(&mut |unit| {
        if !unit.passages.is_empty() {
            walk.unit(&unit);
        }
        Ok(())
    });
    let Walk { document, passage, mut found, .. } = walk;
    // Records that cannot be read were found out before this, and leave nothing to compare.
    if read.is_ok() && (document.0, passage.0) != (snapshot.document_count(), snapshot.passage_count()) {
        found.push(format!("{document} documents with {passage} passages"));
    }
    found
}

/// A parallel walk through records and version.
struct Walk<'a> {
    snapshot: &'a Snapshot,
    document: DocumentOrdinal,
    passage: PassageOrdinal,
    /// In-coming and out-coming ones.
    questions: [u32; 2],
    found: Vec<String>,
}

impl Walk<'_> {
    fn unit(&mut self, unit: &DocumentUnit) {
        let (due, number) = (&unit.document, self.document);
        let is_same = number.0 < self.snapshot.document_count()
            && self.snapshot.document(number).is_ok_and(|shown| {
                let names = (shown.document, &shown.source_id, &shown.title, &shown.uri);
                names == (due.id, &due.source_id, &due.title, &due.uri)
                    && (&shown.media_type, &shown.metadata) == (&due.media_type, &due.metadata)
            });
        if !is_same {
            self.found.push(format!("document {}", due.id));
        }
        self.document.0 += 1;
        unit.passages.iter().for_each(|passage| self.passage(passage));
    }

    fn passage(&mut self, unit: &PassageUnit) {
        let (due, number) = (&unit.passage, self.passage);
        let is_same = number.0 < self.snapshot.passage_count()
            && self.snapshot.passage(number).is_ok_and(|shown| {
                (shown.passage, shown.span, &shown.text) == (due.id, due.span, &due.text)
                    && (&shown.section, shown.page, &shown.sentences) == (&due.section, due.page, &due.sentences)
                    && shown.line == due.line
                    // A version that was written before columns were has none.
                    && (shown.column.is_none() || shown.column == due.column)
            });
        if !is_same {
            self.found.push(format!("passage {}", due.id));
        }
        self.passage.0 += 1;
        unit.questions.iter().for_each(|question| self.question(question));
    }

    fn question(&mut self, due: &PseudoQuery) {
        let (graph, snapshot) = (self.snapshot.graph(), self.snapshot);
        let number = self.questions[due.kind as usize];
        let is_same = match due.kind {
            QuestionKind::Incoming => {
                let number = IncomingOrdinal(number);
                graph.incoming_passage.find(number).is_some()
                    && (snapshot.incoming_id(number), snapshot.incoming(number)) == (due.id, &due.text)
            }
            QuestionKind::Outgoing => {
                let number = OutgoingOrdinal(number);
                snapshot.outgoing_passages().find(number).is_some()
                    && (snapshot.outgoing_id(number), snapshot.outgoing(number)) == (due.id, &due.text)
            }
        };
        if !is_same {
            self.found.push(format!("question {}", due.id));
        }
        self.questions[due.kind as usize] += 1;
    }
}
