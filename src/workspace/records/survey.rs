//! Finds every fault of the records, including those that no run would notice, and removes damaged rows so that they
//! can be rebuilt.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Row;

use super::read::{NAME_CHARS_MAX, Read};
use super::reports::OF_REPORTS;
use super::unit::{Mark, STAGE, note_change};
use super::{DocumentUnit, Records, digest};
use crate::domain::{DocumentId, PassageId, PseudoQuery, QuestionId};
use crate::error::{Error, Result};
use crate::ingest::content_hash;

/// Lines of the database's own check that are kept.
const LINES_MAX: u32 = 20;

/// A document that is damaged, with all that was made from it, or that is lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DamagedUnit {
    /// Its row, if there is one.
    row: Option<i64>,
    /// Its identity, if known.
    pub(crate) id: DocumentId,
    /// Its name, if known.
    pub(crate) name: String,
    /// The root under which it was found, if known.
    pub(crate) root: Option<String>,
    /// The hash of its content, if known.
    pub(crate) content: Option<[u8; 32]>,
    /// Its fault.
    pub(crate) reason: String,
}

/// The faults of the records; none if they are intact.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Survey {
    /// The findings of the database's own check.
    pub(crate) database: Vec<String>,
    /// Faults of the manifest, a version, or another single row.
    pub(crate) rows: Vec<String>,
    /// Documents.
    pub(crate) documents: Vec<DamagedUnit>,
    /// Ids that do not match their contents.
    pub(crate) ids: Vec<String>,
    /// Rows that belong to nothing.
    pub(crate) strays: Vec<String>,
}

impl Records {
    /// Looks for all that is wrong with the records.
    pub(crate) fn survey(&self) -> Survey {
        let mut survey = Survey { database: self.database_faults(), ..Survey::default() };
        let said = |error: Error| with_cause(&error);
        survey.rows.extend(self.current_version().err().map(said));
        survey.rows.extend(self.kept_versions().err().map(said));
        survey.rows.extend(self.skips().err().map(said));
        survey.rows.extend(self.name_pairs().err().map(said));
        survey.rows.extend(self.removed().err().map(said));
        survey.rows.extend(self.spending().err().map(said));
        survey.rows.extend(self.proposed_types().err().map(said));
        survey.rows.extend(self.reports().err().map(said));
        survey.rows.dedup();
        if let Err(error) = self.survey_documents(&mut survey) {
            survey.database.push(said(error));
        }
        match self.strays() {
            Ok(strays) => survey.strays.extend(strays),
            Err(error) => survey.database.push(said(error)),
        }
        survey
    }

    /// Returns the findings of the database's own check.
    pub(crate) fn database_faults(&self) -> Vec<String> {
        let check = || -> rusqlite::Result<Vec<String>> {
            let sql = format!("PRAGMA integrity_check({LINES_MAX})");
            self.connection.prepare(&sql)?.query_map([], |row| row.get(0))?.collect()
        };
        match check() {
            Ok(lines) if lines == ["ok"] => Vec::new(),
            Ok(lines) => lines,
            Err(error) => vec![error.to_string()],
        }
    }

    fn survey_documents(&self, survey: &mut Survey) -> Result<()> {
        // Past the index of ids, which may be damaged on its own.
        const SQL: &str =
            "SELECT document, id, source_id, uri, root, content FROM documents NOT INDEXED ORDER BY document";
        let wrong = || Error::records("read");
        let text =
            |row: &Row<'_>, column| Ok::<_, rusqlite::Error>(row.get_ref(column)?.as_str().ok().map(str::to_owned));
        let blob =
            |row: &Row<'_>, column| Ok::<_, rusqlite::Error>(row.get_ref(column)?.as_blob().ok().map(<[u8]>::to_vec));
        let rows = self.read_all(SQL, |row| {
            let fields = [text(row, 2)?, text(row, 3)?, text(row, 4)?];
            Ok((row.get::<_, i64>(0)?, blob(row, 1)?, fields, blob(row, 5)?))
        });
        let rows = rows.map_err(wrong())?;
        let mut marked = self.survey_marks(survey).map_err(wrong())?;
        let mut read = Read::new(self)?;
        let mut seen = BTreeSet::new();
        for (row, id, [source_id, uri, root], content) in rows {
            let of_row = id.and_then(|id| <[u8; 16]>::try_from(id).ok()).map(DocumentId::from_bytes);
            let of_source = source_id.map(|it| DocumentId::of(&[it.as_bytes()]));
            // Of the two that a row says, the one that was marked.
            let known = [of_row, of_source].into_iter().flatten();
            let id = known.clone().find(|id| marked.contains(id)).or(known.clone().next());
            let id = id.unwrap_or_else(|| DocumentId::from_bytes([0; 16]));
            let reason = match read.unit(row) {
                Err(error) => Some(with_cause(&error)),
                Ok(unit) => {
                    survey.ids.extend(ids(&unit));
                    (!seen.insert(unit.document.id)).then(|| "it is there twice".to_owned())
                }
            };
            marked.remove(&id);
            if let Some(reason) = reason {
                let name = uri.unwrap_or_default().chars().take(NAME_CHARS_MAX).collect();
                let content = content.and_then(|it| it.try_into().ok());
                survey.documents.push(DamagedUnit { row: Some(row), id, name, root, content, reason });
            }
        }
        let lost = |id: DocumentId| DamagedUnit {
            row: None,
            id,
            name: format!("with the id {id}"),
            root: None,
            content: None,
            reason: "it is marked as done, and is not there".to_owned(),
        };
        survey.documents.extend(marked.into_iter().map(lost));
        Ok(())
    }

    /// Checks the markers, and returns the documents that are marked.
    fn survey_marks(&self, survey: &mut Survey) -> rusqlite::Result<BTreeSet<DocumentId>> {
        let sql = if self.has_digests() {
            "SELECT stage, key, fingerprint, state, reason, content, digest FROM units NOT INDEXED"
        } else {
            "SELECT stage, key, fingerprint, state, reason, NULL, NULL FROM units NOT INDEXED"
        };
        let mut marked = BTreeSet::new();
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let Ok((mark, kept)) = Mark::read(row, 0) else {
                survey.strays.push("a marker that cannot be read".to_owned());
                continue;
            };
            if !digest::is_right(self.format, kept, || digest::mark(&mark)) {
                survey.strays.push(format!("the marker of {}", PassageId::from_bytes(*mark.key)));
            } else if mark.stage == STAGE {
                marked.insert(DocumentId::from_bytes(*mark.key));
            }
        }
        Ok(marked)
    }

    /// Returns rows that belong to nothing.
    fn strays(&self) -> Result<Vec<String>> {
        let count =
            |sql: &str| self.connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(Error::records("read"));
        let mut found = Vec::new();
        for (what, sql) in STRAYS.into_iter().filter(|it| it.0 != EXTRACTIONS || self.has_extractions()) {
            let rows = count(&format!("SELECT count(*) FROM {sql}"))?;
            if rows > 0 {
                found.push(format!("{rows} {what}"));
            }
        }
        Ok(found)
    }

    /// Makes the indexes of the database again, which is all of it that can be; returns whether it is whole then.
    pub(crate) fn remake_indexes(&mut self) -> bool {
        // Whatever else is wrong, writing could make it worse.
        if !self.database_faults().iter().all(|fault| fault.contains(" index ")) {
            return false;
        }
        self.connection.execute_batch("REINDEX").is_ok() && self.database_faults().is_empty()
    }

    /// Removes damaged documents with their contents. They stay marked as missing until they are rebuilt.
    pub(crate) fn remove_damaged(&mut self, documents: &[DamagedUnit]) -> Result<()> {
        self.write(|transaction| {
            for row in documents.iter().filter_map(|it| it.row) {
                for sql in OF_DOCUMENT {
                    transaction.execute(sql, [row])?;
                }
            }
            note_change(transaction, true)
        })
    }

    /// Removes all rows that belong to nothing, and markers that are damaged.
    pub(crate) fn remove_strays(&mut self) -> Result<()> {
        let marks = self.damaged_marks()?;
        self.write(|transaction| {
            for unit in marks {
                transaction.execute("DELETE FROM units WHERE unit = ?1", [unit])?;
            }
            for (_, sql) in STRAYS {
                transaction.execute(&format!("DELETE FROM {sql}"), [])?;
            }
            note_change(transaction, true)
        })
    }

    fn damaged_marks(&self) -> Result<Vec<i64>> {
        let sql = "SELECT unit, stage, key, fingerprint, state, reason, content, digest FROM units NOT INDEXED";
        let rows = self.read_all(sql, |row| {
            let is_right = Mark::read(row, 1).is_ok_and(|(mark, kept)| kept == Some(digest::mark(&mark)));
            Ok((row.get::<_, i64>(0)?, is_right))
        });
        Ok(rows.map_err(Error::records("read"))?.into_iter().filter(|(_, is_right)| !is_right).map(|it| it.0).collect())
    }

    /// Deletes damaged rows other than documents: sources left out, and costs. Returns which.
    pub(crate) fn forget_damaged(&mut self) -> Result<Vec<String>> {
        let mut forgotten = Vec::new();
        if self.skips().is_err() {
            self.write(|transaction| transaction.execute("DELETE FROM skips", []).map(drop))?;
            forgotten.push("what the last run left out".to_owned());
        }
        if self.name_pairs().is_err() {
            self.write(|transaction| transaction.execute("DELETE FROM name_pairs", []).map(drop))?;
            forgotten.push("merges and splits of names".to_owned());
        }
        if self.removed().is_err() {
            self.write(|transaction| transaction.execute("DELETE FROM removed", []).map(drop))?;
            forgotten.push("which documents were removed by hand".to_owned());
        }
        if self.spending().is_err() {
            self.write(|transaction| transaction.execute("DELETE FROM spending", []).map(drop))?;
            forgotten.push("what was spent on models".to_owned());
        }
        if self.reports().is_err() {
            self.write(|transaction| {
                transaction.execute("DELETE FROM reports", [])?;
                transaction.execute(&format!("DELETE FROM units WHERE {OF_REPORTS}"), []).map(drop)
            })?;
            forgotten.push("what a model wrote about the hierarchy".to_owned());
        }
        if self.proposed_types().is_err() {
            self.write(|transaction| transaction.execute("DELETE FROM entity_types", []).map(drop))?;
            forgotten.push("which types of entities a model proposed".to_owned());
        }
        Ok(forgotten)
    }
}

/// What removes a document and all that belongs to it, in order.
const OF_DOCUMENT: [&str; 5] = [
    "DELETE FROM units WHERE stage IN ('questions', 'no questions', 'entities', 'no entities') \
     AND key IN (SELECT id FROM passages WHERE document = ?1)",
    "DELETE FROM questions WHERE passage IN (SELECT passage FROM passages WHERE document = ?1)",
    "DELETE FROM extractions WHERE passage IN (SELECT passage FROM passages WHERE document = ?1)",
    "DELETE FROM passages WHERE document = ?1",
    "DELETE FROM documents WHERE document = ?1",
];

/// A model's extractions from passages that are gone; records of some formats have no table for them.
const EXTRACTIONS: &str = "extractions without a passage";

/// Orphaned rows and their tables, in order: removing some may orphan others.
const STRAYS: [(&str, &str); 5] = [
    ("passages without a document", "passages WHERE document NOT IN (SELECT document FROM documents)"),
    ("questions without a passage", "questions WHERE passage NOT IN (SELECT passage FROM passages)"),
    (
        "markers without a passage",
        "units WHERE stage IN ('questions', 'no questions', 'entities', 'no entities') \
         AND key NOT IN (SELECT id FROM passages)",
    ),
    (
        "markers of nothing",
        "units WHERE stage NOT IN ('passages', 'questions', 'no questions', 'entities', 'no entities', \
         'reports', 'no reports', 'summaries', 'no summaries', 'descriptions', 'no descriptions')",
    ),
    (EXTRACTIONS, "extractions WHERE passage NOT IN (SELECT passage FROM passages)"),
];

/// Returns the ids in a unit that do not match their contents.
pub(super) fn ids(unit: &DocumentUnit) -> Vec<String> {
    let DocumentUnit { document, content, passages, .. } = unit;
    let mut wrong = Vec::new();
    if document.id != DocumentId::of(&[document.source_id.as_bytes()]) {
        wrong.push(format!("document {}", document.id));
    }
    if *content != content_hash(document) {
        wrong.push(format!("content of document {}", document.id));
    }
    let mut equal_texts: BTreeMap<&str, u32> = BTreeMap::new();
    for it in passages {
        let passage = &it.passage;
        let nth = equal_texts.entry(&passage.text).or_default();
        if passage.id != PassageId::of(&[document.id.as_bytes(), passage.text.as_bytes(), &nth.to_le_bytes()]) {
            wrong.push(format!("passage {}", passage.id));
        }
        *nth += 1;
        let is_own =
            |it: &&PseudoQuery| it.id == QuestionId::of(&[passage.id.as_bytes(), &[it.kind as u8], it.text.as_bytes()]);
        wrong.extend(it.questions.iter().filter(|it| !is_own(it)).map(|it| format!("question {}", it.id)));
    }
    wrong
}

/// Returns the message of an error, with its causes.
pub(crate) fn with_cause(error: &Error) -> String {
    let mut said = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(source) = cause {
        said = format!("{said}: {source}");
        cause = source.source();
    }
    said
}
