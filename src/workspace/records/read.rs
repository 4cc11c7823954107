//! Reads documents back with everything made from them, in an order that depends only on the documents.

use std::cell::RefCell;

use rusqlite::types::{Type, ValueRef};
use rusqlite::{OptionalExtension, Row, Statement};
use rustc_hash::FxHashSet;

use super::digest::Digest;
use super::unit::{DONE, Mark, kind_of, unpack_spans};
use super::{DocumentUnit, Extracted, PassageUnit, Records, bytes, damaged, digest, json, kept};
use crate::domain::{
    Document, DocumentId, Extraction, Lines, Passage, PassageId, Positions, PseudoQuery, QuestionId, QuestionOrigin,
    Span,
};
use crate::error::{Error, Result};

/// Documents that a run compares with their digests although it takes them from the current version.
const COMPARED_MAX: usize = 512;

/// A document in the records.
#[derive(Debug)]
pub enum ListedUnit {
    /// It is as the current version has it.
    AsInVersion(DocumentId),
    /// It is another, or the version does not have it.
    Read(Box<DocumentUnit>),
}

impl Records {
    /// Calls `visit` with every document, by the ids that the sources give. Those that `is_in_version` and that did not
    /// change since are not read, but for a few, others in each version, which are compared with their digests.
    ///
    /// # Errors
    ///
    /// If the records cannot be read, and the errors of `visit`, which end it.
    pub fn for_each_changed_unit(
        &self,
        is_in_version: &dyn Fn(DocumentId) -> bool,
        visit: &mut dyn FnMut(ListedUnit) -> Result<()>,
    ) -> Result<()> {
        let wrong = || Error::records("read");
        let _transaction = self.connection.unchecked_transaction().map_err(wrong())?;
        let version = self.manifest()?.current.map_or(0, |it| it.0);
        let order = "SELECT document, id FROM documents ORDER BY source_id, id";
        let rows = self.read_all(order, |row| Ok((row.get::<_, i64>(0)?, bytes(row, 1)?))).map_err(wrong())?;
        self.check_none_is_lost(rows.len())?;
        let changed: FxHashSet<i64> = self.read_all(CHANGED, |row| row.get(0)).map_err(wrong())?.into_iter().collect();
        let first = (version as usize).wrapping_mul(COMPARED_MAX) % rows.len().max(1);
        let is_compared = |at: usize| (at + rows.len() - first) % rows.len() < COMPARED_MAX;
        let mut read = Read::new(self)?;
        let mut last = None;
        for (at, (row, id)) in rows.iter().enumerate() {
            let id = DocumentId::from_bytes(*id);
            let is_as_before = !changed.contains(row) && is_in_version(id);
            if is_as_before && !is_compared(at) {
                last = Some(id);
                visit(ListedUnit::AsInVersion(id))?;
                continue;
            }
            let unit = read.unit(*row)?;
            if last.replace(id) == Some(id) {
                return Err(self.corrupt(format!("it has the document {} twice", named(&unit))));
            }
            visit(if is_as_before { ListedUnit::AsInVersion(id) } else { ListedUnit::Read(Box::new(unit)) })?;
        }
        Ok(())
    }

    /// Calls `visit` with every document and all that was made from it, by the ids that the sources give.
    ///
    /// # Errors
    ///
    /// If the records cannot be read, and the errors of `visit`, which end it.
    pub fn for_each_document_unit(&self, visit: &mut dyn FnMut(DocumentUnit) -> Result<()>) -> Result<()> {
        let wrong = || Error::records("read");
        // One transaction, so that the data is consistent even during a write.
        let _transaction = self.connection.unchecked_transaction().map_err(wrong())?;
        // By bytes: the same on every machine.
        let order = "SELECT document FROM documents ORDER BY source_id, id";
        let rows = self.read_all(order, |row| row.get::<_, i64>(0)).map_err(wrong())?;
        self.check_none_is_lost(rows.len())?;
        let mut read = Read::new(self)?;
        let mut last = None;
        for row in rows {
            let unit = read.unit(row)?;
            // They are sorted by id: a row whose id was damaged into another's would be next to it.
            if last.replace(unit.document.id) == Some(unit.document.id) {
                return Err(self.corrupt(format!("it has the document {} twice", named(&unit))));
            }
            visit(unit)?;
        }
        Ok(())
    }

    /// Each document has a marker, and each marker of a document has it: a row that cannot be found any more must not
    /// pass for one that was removed.
    fn check_none_is_lost(&self, documents: usize) -> Result<()> {
        const SQL: &str = "SELECT count(*) FROM units WHERE stage = 'passages'";
        let marked: i64 = self.connection.query_row(SQL, [], |row| row.get(0)).map_err(Error::records("read"))?;
        if usize::try_from(marked) == Ok(documents) {
            return Ok(());
        }
        Err(self.corrupt(format!("it has {documents} documents; {marked} are marked as done or failed")))
    }

    /// Returns a document with all that was made from it.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn document_unit(&self, document: DocumentId) -> Result<Option<DocumentUnit>> {
        self.units()?.get(document)
    }

    /// Returns what reads documents by their ids: many of them one by one.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn units(&self) -> Result<Units<'_>> {
        let find = self.connection.prepare("SELECT document FROM documents WHERE id = ?1");
        let find = find.map_err(Error::records("read"))?;
        Ok(Units(RefCell::new((find, Read::new(self)?))))
    }
}

/// Reads documents by their ids, each with all that was made from it.
pub struct Units<'c>(RefCell<(Statement<'c>, Read<'c>)>);

impl Units<'_> {
    /// Returns a document with all that was made from it.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn get(&self, document: DocumentId) -> Result<Option<DocumentUnit>> {
        let (find, read) = &mut *self.0.borrow_mut();
        let row = find.query_row([document.as_bytes()], |row| row.get(0)).optional();
        row.map_err(Error::records("read"))?.map(|row| read.unit(row)).transpose()
    }
}

/// Documents that changed since the current version, or of which a passage did.
const CHANGED: &str = "SELECT d.document FROM units u JOIN documents d ON d.id = u.key \
                       WHERE u.version IS NULL AND u.stage = 'passages' \
                       UNION SELECT p.document FROM units u JOIN passages p ON p.id = u.key \
                       WHERE u.version IS NULL AND u.stage <> 'passages'";

/// Returns the name of a document that may be damaged, as far as it is worth showing.
pub(super) fn named(unit: &DocumentUnit) -> String {
    format!("`{}`", unit.document.uri.chars().take(NAME_CHARS_MAX).collect::<String>())
}

/// The columns of digests, and their substitutes in records without digests.
const DIGESTS: &str = "u.content, u.digest";
const NO_DIGESTS: &str = "NULL, NULL";
/// The columns of a model's extraction from a passage, and their tables.
const EXTRACTED: &str = ", x.fingerprint, e.found, e.digest";
const EXTRACTIONS: &str = " LEFT JOIN units x ON x.stage = 'entities' AND x.key = p.id AND x.state = 1 \
                           LEFT JOIN extractions e ON e.passage = p.passage";
/// The column of positions.
const POSITIONS: &str = "d.positions";
/// The substitute for a model's extraction in records without tables for it.
const NOTHING: &str = ", NULL, NULL, NULL";
/// Characters of a name that are shown.
pub(super) const NAME_CHARS_MAX: usize = 120;

/// Reads documents with all that was made from them, each compared with its digests.
pub(super) struct Read<'c> {
    records: &'c Records,
    document: Statement<'c>,
    passages: Statement<'c>,
    questions: Statement<'c>,
}

/// The contents of a document's marker.
struct Marked {
    content: Option<Digest>,
    digest: Option<Digest>,
    stage: Option<String>,
    fingerprint: Option<String>,
    state: Option<u8>,
    reason: Option<String>,
}

impl<'c> Read<'c> {
    pub(super) fn new(records: &'c Records) -> Result<Self> {
        let prepare = |sql: &str| {
            let sql = if records.has_digests() { sql.to_owned() } else { sql.replace(DIGESTS, NO_DIGESTS) };
            let sql = if records.has_digests() { sql } else { sql.replace("p.digest", "NULL") };
            let sql = if records.has_positions() { sql } else { sql.replace(POSITIONS, "NULL") };
            records.connection.prepare(&sql).map_err(Error::records("read"))
        };
        let (found, tables) = if records.has_extractions() { (EXTRACTED, EXTRACTIONS) } else { (NOTHING, "") };
        Ok(Self {
            records,
            document: prepare(
                "SELECT d.id, d.content, d.root, d.source_id, d.title, d.uri, d.media_type, d.metadata, d.text, \
                 u.fingerprint, u.state, u.reason, u.stage, u.content, u.digest, d.positions FROM documents d \
                 LEFT JOIN units u ON u.stage = 'passages' AND u.key = d.id WHERE d.document = ?1",
            )?,
            passages: prepare(&format!(
                "SELECT p.passage, p.id, p.ordinal, p.span_start, p.span_end, p.section, p.sentences, u.fingerprint, \
                 p.digest{found} FROM passages p \
                 LEFT JOIN units u ON u.stage = 'questions' AND u.key = p.id AND u.state = 1{tables} \
                 WHERE p.document = ?1 ORDER BY p.ordinal",
            ))?,
            questions: prepare(
                "SELECT id, kind, origin, sentence, text, keywords FROM questions \
                 WHERE passage = ?1 ORDER BY question",
            )?,
        })
    }

    /// Returns the document in a row with all that was made from it.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is not what was written.
    pub(super) fn unit(&mut self, row: i64) -> Result<DocumentUnit> {
        let wrong = || Error::records("read");
        let (mut unit, marked) = self.document.query_row([row], read_document).map_err(wrong())?;
        let mut lines = Lines::of(&unit.document.positions, &unit.document.text);
        let mut rows = self.passages.query([row]).map_err(wrong())?;
        while let Some(row) = rows.next().map_err(wrong())? {
            let passage = read_passage(row, &unit.document, &mut lines).map_err(wrong())?;
            let mut read = || -> rusqlite::Result<_> {
                let of_passage = |row: &Row<'_>| read_question(row, passage.id);
                let questions = self.questions.query_map([row.get::<_, i64>(0)?], of_passage)?;
                Ok((questions.collect::<rusqlite::Result<Vec<PseudoQuery>>>()?, row.get(7)?, kept(row, 8)?))
            };
            let (questions, writer, digest): (_, Option<String>, _) = read().map_err(wrong())?;
            let read = || digest::questions(passage.id, writer.as_deref(), &questions);
            if !digest::is_right(self.records.format, digest, read) {
                let (ordinal, document) = (passage.ordinal + 1, named(&unit));
                let what = format!("the questions of passage {ordinal} of the document {document}");
                return Err(self.records.corrupt(format!("{what} are not what was written")));
            }
            let extracted = extracted(self.records, row, &passage, &unit)?;
            unit.passages.push(PassageUnit { passage, questions, writer, extracted });
        }
        drop(rows);
        self.check(&unit, &marked)?;
        Ok(unit)
    }

    /// Checks that a document and its marker are what was written, and belong together.
    fn check(&self, unit: &DocumentUnit, marked: &Marked) -> Result<()> {
        let Marked { content, digest, stage, fingerprint, state, reason } = marked;
        let mark = Mark {
            stage: stage.as_deref().unwrap_or_default(),
            key: unit.document.id.as_bytes(),
            fingerprint: fingerprint.as_deref().unwrap_or_default(),
            state: state.unwrap_or_default(),
            reason: reason.as_deref(),
            content: *content,
        };
        let format = self.records.format;
        if digest::is_right(format, *digest, || digest::mark(&mark))
            && digest::is_right(format, *content, || digest::document(unit))
        {
            return Ok(());
        }
        Err(self.records.corrupt(format!("the document {} is not what was written", named(unit))))
    }
}

/// Returns a model's extraction from a passage, if one was asked: from the row of the passage, checked against the
/// marker.
fn extracted(records: &Records, row: &Row<'_>, passage: &Passage, unit: &DocumentUnit) -> Result<Option<Extracted>> {
    let read = || -> rusqlite::Result<(Option<String>, Option<String>, Option<Digest>)> {
        Ok((row.get(9)?, row.get(10)?, kept(row, 11)?))
    };
    let (writer, found, digest) = read().map_err(Error::records("read"))?;
    if writer.is_none() && found.is_none() {
        return Ok(None);
    }
    let known = writer.zip(found).filter(|(writer, found)| {
        digest::is_right(records.format, digest, || digest::extraction(passage.id, writer, found))
    });
    // Whoever can forge digests can forge extractions, so they are validated.
    let extracted = known.and_then(|(writer, found)| {
        let found = serde_json::from_str(&found).ok().filter(|it: &Extraction| it.is_of(&passage.text))?;
        Some(Extracted { writer, found })
    });
    let wrong = || {
        let (ordinal, document) = (passage.ordinal + 1, named(unit));
        let what = format!("what a model found in passage {ordinal} of the document {document}");
        records.corrupt(format!("{what} is not what was written"))
    };
    extracted.ok_or_else(wrong).map(Some)
}

fn read_document(row: &Row<'_>) -> rusqlite::Result<(DocumentUnit, Marked)> {
    let marked = Marked {
        content: kept(row, 13)?,
        digest: kept(row, 14)?,
        stage: row.get(12)?,
        fingerprint: row.get(9)?,
        state: row.get(10)?,
        reason: row.get(11)?,
    };
    // The fingerprint of a failed unit is that of the attempt, not of the existing contents.
    let fingerprint = marked.fingerprint.clone().filter(|_| marked.state == Some(DONE));
    let unit = DocumentUnit {
        root: row.get(2)?,
        content: bytes(row, 1)?,
        fingerprint: fingerprint.unwrap_or_default(),
        document: Document {
            id: DocumentId::from_bytes(bytes(row, 0)?),
            source_id: row.get(3)?,
            title: row.get(4)?,
            uri: row.get(5)?,
            media_type: row.get(6)?,
            text: row.get(8)?,
            positions: if row.get_ref(15)? == ValueRef::Null { Positions::None } else { json(row, 15)? },
            metadata: json(row, 7)?,
        },
        passages: Vec::new(),
    };
    Ok((unit, marked))
}

fn read_passage(row: &Row<'_>, document: &Document, lines: &mut Lines<'_>) -> rusqlite::Result<Passage> {
    let span = Span { start: row.get(3)?, end: row.get(4)? };
    let outside = || damaged(3, Type::Integer, "a passage that is not part of its document");
    let text = document.text.get(span.range()).ok_or_else(outside)?;
    let sentences = unpack_spans(row.get_ref(6)?.as_blob()?);
    let place = lines.at(span.start);
    Ok(Passage {
        id: PassageId::from_bytes(bytes(row, 1)?),
        document: document.id,
        ordinal: row.get(2)?,
        span,
        section: row.get(5)?,
        page: document.positions.page_at(span.start),
        line: place.map(|it| it.line),
        column: place.and_then(|it| it.column),
        text: text.to_owned(),
        sentences: sentences.ok_or_else(|| damaged(6, Type::Blob, "sentences that are not spans"))?,
    })
}

fn read_question(row: &Row<'_>, passage: PassageId) -> rusqlite::Result<PseudoQuery> {
    let unknown = |column| move || damaged(column, Type::Integer, "a code without a meaning");
    Ok(PseudoQuery {
        id: QuestionId::from_bytes(bytes(row, 0)?),
        passage,
        kind: kind_of(row.get(1)?).ok_or_else(unknown(1))?,
        origin: QuestionOrigin::of_code(row.get(2)?).ok_or_else(unknown(2))?,
        text: row.get(4)?,
        keywords: json(row, 5)?,
        sentence: row.get(3)?,
    })
}
