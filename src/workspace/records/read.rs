//! Reads documents back with everything made from them, in an order that depends only on the documents.

use std::cell::RefCell;
use std::panic::resume_unwind;
use std::thread;

use rusqlite::types::{Type, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, Statement};
use rustc_hash::FxHashSet;

use super::digest::Digest;
use super::unit::{DONE, EXTRACTED, Mark, STAGE, WRITTEN, kind_of, unpack_spans};
use super::{DocumentUnit, Extracted, PassageUnit, Records, bytes, connection, damaged, digest, json, kept};
use crate::domain::{
    Document, DocumentId, Extraction, Lines, Passage, PassageId, Positions, PseudoQuery, QuestionId, QuestionOrigin,
    Span,
};
use crate::error::{Error, Result};

/// Documents that a run reads although they are as the current version has them: what that took for unchanged by
/// mistake, it would have for good.
const COMPARED_MAX: usize = 64;

/// What a version keeps of a document's marker, which says by digests what the document is and how it was made into
/// passages and questions: as long as the records say the same, it is the same.
pub(crate) type Seal = Digest;

/// In place of a seal that there is not.
pub(crate) const NO_SEAL: Seal = [0; 16];

/// A document in the records.
#[derive(Debug)]
pub enum ListedUnit {
    /// It is as the current version has it.
    AsInVersion(DocumentId),
    /// It is another, or it is not known to be the same.
    Read(Box<DocumentUnit>, Option<Seal>),
}

/// Returns the seal that the current version has of a document.
pub(super) type SealOf<'s> = dyn Fn(DocumentId) -> Option<Seal> + 's;

/// The number of a document's row, and its id.
type DocumentRow = (i64, [u8; 16]);

/// What the markers say.
struct Marked {
    /// How many are of documents.
    documents: usize,
    /// Documents that are as the current version has them.
    unchanged: FxHashSet<DocumentId>,
}

impl Records {
    /// Calls `visit` with every document, by the ids that the sources give. One whose marker is there and whole, with
    /// the `seal` that the current version has of it, is not read, but for a few, others in each version.
    ///
    /// # Errors
    ///
    /// If the records cannot be read, and the errors of `visit`, which end it.
    pub fn for_each_unit_after(
        &self,
        seal: &SealOf<'_>,
        visit: &mut dyn FnMut(ListedUnit) -> Result<()>,
    ) -> Result<()> {
        self.each_unit(Some((seal, COMPARED_MAX)), visit)
    }

    /// Calls `visit` with every document and all that was made from it, by the ids that the sources give.
    ///
    /// # Errors
    ///
    /// If the records cannot be read, and the errors of `visit`, which end it.
    pub fn for_each_document_unit(&self, visit: &mut dyn FnMut(DocumentUnit) -> Result<()>) -> Result<()> {
        self.each_unit(None, &mut |unit| match unit {
            ListedUnit::Read(unit, _) => visit(*unit),
            ListedUnit::AsInVersion(_) => Ok(()),
        })
    }

    /// Calls `visit` with every document; those that have their seal are not read, but for so many.
    pub(super) fn each_unit(
        &self,
        sealed: Option<(&SealOf<'_>, usize)>,
        visit: &mut dyn FnMut(ListedUnit) -> Result<()>,
    ) -> Result<()> {
        let wrong = || Error::records("read");
        // One transaction, so that the data is consistent even during a write.
        let _transaction = self.connection.unchecked_transaction().map_err(wrong())?;
        let version = self.manifest()?.current.map_or(0, |it| it.0);
        let (rows, marked) = self.listed(sealed.map(|it| it.0)).map_err(wrong())?;
        let Marked { documents, unchanged } = marked;
        // A row that cannot be found any more must not pass for one that was removed.
        if documents != rows.len() {
            let found = rows.len();
            return Err(self.corrupt(format!("it has {found} documents; {documents} are marked as done or failed")));
        }
        let compared = sealed.map_or(0, |it| it.1);
        let first = (version as usize).wrapping_mul(compared) % rows.len().max(1);
        let is_compared = |at: usize| (at + rows.len() - first) % rows.len() < compared;
        let mut read = Read::new(self)?;
        let mut seen = FxHashSet::default();
        for (at, (row, id)) in rows.iter().enumerate() {
            let id = DocumentId::from_bytes(*id);
            let is_new = seen.insert(id);
            if is_new && unchanged.contains(&id) && !is_compared(at) {
                visit(ListedUnit::AsInVersion(id))?;
                continue;
            }
            let (unit, seal) = read.sealed(*row)?;
            if !is_new {
                return Err(self.corrupt(format!("it has the document {} twice", named(&unit))));
            }
            visit(ListedUnit::Read(Box::new(unit), seal))?;
        }
        Ok(())
    }

    /// Returns the documents in order, and what the markers say. Whoever knows seals writes the records, so that both
    /// are read at the same time: nobody else changes them.
    fn listed(&self, seal: Option<&SealOf<'_>>) -> rusqlite::Result<(Vec<DocumentRow>, Marked)> {
        let Some(beside) = seal.and_then(|_| connection::open_beside(&self.path).ok()) else {
            return Ok((in_order(&self.connection)?, self.marked(seal)?));
        };
        thread::scope(|scope| {
            let documents = scope.spawn(move || in_order(&beside));
            let marked = self.marked(seal);
            Ok((documents.join().unwrap_or_else(|panic| resume_unwind(panic))?, marked?))
        })
    }

    /// Returns what the markers say, each as its row has it: an index of the database may be damaged on its own, and
    /// what is not found in it must not pass for unchanged. Once a marker is damaged, no document is known to be the
    /// same; nor is it once a model wrote of any passage, since only the marker of that passage says so.
    fn marked(&self, seal: Option<&SealOf<'_>>) -> rusqlite::Result<Marked> {
        let digests = if self.has_digests() { "content, digest" } else { "NULL, NULL" };
        let sql = format!("SELECT stage, key, fingerprint, state, reason, {digests} FROM units NOT INDEXED");
        let mut statement = self.connection.prepare(&sql)?;
        let mut rows = statement.query([])?;
        let mut marked = Marked { documents: 0, unchanged: FxHashSet::default() };
        let mut seal = seal;
        while let Some(row) = rows.next()? {
            marked.documents += usize::from(row.get_ref(0)?.as_bytes().is_ok_and(|stage| stage == STAGE.as_bytes()));
            let Some(of_version) = seal else { continue };
            match Mark::read(row, 0) {
                Ok((mark, Some(digest)))
                    if ![WRITTEN, EXTRACTED].contains(&mark.stage) && digest::mark(&mark) == digest =>
                {
                    let id = DocumentId::from_bytes(*mark.key);
                    if mark.stage == STAGE && of_version(id) == Some(digest) {
                        marked.unchanged.insert(id);
                    }
                }
                _ => seal = None,
            }
        }
        if seal.is_none() {
            marked.unchanged.clear();
        }
        Ok(marked)
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

/// Returns the rows and ids of documents, by the ids that the sources give.
fn in_order(connection: &Connection) -> rusqlite::Result<Vec<DocumentRow>> {
    // By bytes: the same on every machine.
    let order = "SELECT document, id FROM documents NOT INDEXED ORDER BY source_id, id";
    connection.prepare(order)?.query_map([], |row| Ok((row.get(0)?, bytes(row, 1)?)))?.collect()
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

/// Returns the name of a document that may be damaged, as far as it is worth showing.
pub(super) fn named(unit: &DocumentUnit) -> String {
    format!("`{}`", unit.document.uri.chars().take(NAME_CHARS_MAX).collect::<String>())
}

/// The columns of digests, and their substitutes in records without digests.
const DIGESTS: &str = "u.content, u.digest";
const NO_DIGESTS: &str = "NULL, NULL";
/// The columns of a model's extraction from a passage, and their tables.
const FOUND: &str = ", x.fingerprint, e.found, e.digest";
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
struct MarkerOf {
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
        let (found, tables) = if records.has_extractions() { (FOUND, EXTRACTIONS) } else { (NOTHING, "") };
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
        self.sealed(row).map(|(unit, _)| unit)
    }

    /// As [`Self::unit`], with the seal for a version that has it; none where a model wrote of it.
    fn sealed(&mut self, row: i64) -> Result<(DocumentUnit, Option<Seal>)> {
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
        let is_by_rules = unit.passages.iter().all(|it| it.writer.is_none() && it.extracted.is_none());
        let seal = marked.digest.filter(|_| is_by_rules);
        Ok((unit, seal))
    }

    /// Checks that a document and its marker are what was written, and belong together.
    fn check(&self, unit: &DocumentUnit, marked: &MarkerOf) -> Result<()> {
        let MarkerOf { content, digest, stage, fingerprint, state, reason } = marked;
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

fn read_document(row: &Row<'_>) -> rusqlite::Result<(DocumentUnit, MarkerOf)> {
    let marked = MarkerOf {
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
