//! Units of work: a document with everything made from it, replaced as a whole and marked done in one transaction.

use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::types::Type;
use rusqlite::{OptionalExtension, Row, Statement, Transaction, params};
use rustc_hash::{FxHashMap, FxHashSet};

use super::digest::{self, Digest};
use super::extracted::{Extracted, InsertExtraction};
use super::{Records, damaged, kept, look, seal_manifest};
use crate::domain::{Cancellation, Document, DocumentId, Passage, PseudoQuery, QuestionKind, Span};
use crate::error::{Error, Result};

/// The stage that makes passages and questions of a document.
pub(super) const STAGE: &str = "passages";
/// The stage in which a model writes the questions of a passage.
pub(super) const WRITTEN: &str = "questions";
/// Where passages without a usable reply are recorded; their earlier questions stay.
pub(super) const UNWRITTEN: &str = "no questions";
/// The stage in which a model finds the entities of a passage, and where its failures are recorded.
pub(super) const EXTRACTED: &str = "entities";
pub(super) const UNEXTRACTED: &str = "no entities";
/// The stage in which a model writes reports about communities, and where its failures are recorded.
pub(super) const REPORTED: &str = "reports";
pub(super) const UNREPORTED: &str = "no reports";
/// The stage in which a model merges descriptions of entities, and where its failures are recorded.
pub(super) const DESCRIBED: &str = "descriptions";
pub(super) const UNDESCRIBED: &str = "no descriptions";
/// The stage in which a model summarizes clusters of entities, and where its failures are recorded.
pub(super) const SUMMARIZED: &str = "summaries";
pub(super) const UNSUMMARIZED: &str = "no summaries";
pub(super) const DONE: u8 = 1;
pub(super) const FAILED: u8 = 2;
/// What a writer of many documents keeps of the database in memory: the indexes of ids of some hundred thousand
/// passages. It does not help to read all rows once.
const CACHE_BYTES: i32 = 64 << 20;

/// A document with all that was made from it.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentUnit {
    /// The root under which it was found, with which a run that reads the root again compares.
    pub root: String,
    /// Hash of all that the source says.
    pub content: [u8; 32],
    /// Hash of everything that the result depends on besides the content.
    pub fingerprint: String,
    /// The document.
    pub document: Document,
    /// Its passages, in order.
    pub passages: Vec<PassageUnit>,
}

/// A passage with its questions.
#[derive(Debug, Clone, PartialEq)]
pub struct PassageUnit {
    /// The passage; its text is its part of the document's text.
    pub passage: Passage,
    /// The questions that it answers and raises.
    pub questions: Vec<PseudoQuery>,
    /// What wrote those that a model wrote, if one did: a digest of model and prompt.
    pub writer: Option<String>,
    /// A model's extraction from it, if one was asked.
    pub extracted: Option<Extracted>,
}

/// The data about a document that need not be read from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDocument {
    /// Its identity.
    pub id: DocumentId,
    /// The root that it was found under.
    pub root: Arc<str>,
    /// Its source.
    pub uri: String,
    /// Hash of everything in its source.
    pub content: [u8; 32],
    /// The fingerprint of its unit, if that is done.
    pub fingerprint: Option<Arc<str>>,
}

/// Texts of which many are equal, each kept once.
#[derive(Default)]
struct SharedTexts(FxHashSet<Arc<str>>);

impl SharedTexts {
    fn share(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return Arc::clone(known);
        }
        let new: Arc<str> = text.into();
        self.0.insert(Arc::clone(&new));
        new
    }
}

impl Records {
    /// Returns the fingerprint of a document's unit, if that is done.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn unit(&self, document: DocumentId) -> Result<Option<String>> {
        const SQL: &str = "SELECT fingerprint FROM units WHERE stage = ?1 AND key = ?2 AND state = ?3";
        self.connection
            .query_row(SQL, params![STAGE, document.as_bytes(), DONE], |row| row.get(0))
            .optional()
            .map_err(Error::records("read"))
    }

    /// Returns how many documents there are of each media type.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn media_types(&self) -> Result<BTreeMap<String, u64>> {
        const SQL: &str = "SELECT media_type, count(*) FROM documents GROUP BY media_type";
        let read = self.read_all(SQL, |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned())));
        read.map(|all| all.into_iter().collect()).map_err(Error::records("read"))
    }

    /// Returns these data for every document, in the order of ids.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn documents(&self) -> Result<Vec<StoredDocument>> {
        let mut documents: Vec<StoredDocument> = self.documents_by_id()?.into_values().collect();
        documents.sort_unstable_by_key(|it| it.id);
        Ok(documents)
    }

    /// Returns these data for every document, by id.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn documents_by_id(&self) -> Result<FxHashMap<DocumentId, StoredDocument>> {
        // Each table from beginning to end: all of it is needed, and looking up rows one by one takes far longer.
        const DOCUMENTS: &str = "SELECT id, root, uri, content FROM documents NOT INDEXED";
        // A key that is no id is of no document.
        const UNITS: &str = "SELECT key, fingerprint FROM units NOT INDEXED \
             WHERE stage = ?1 AND state = ?2 AND length(key) = 16";
        let read = || {
            let _transaction = self.connection.unchecked_transaction()?;
            let mut shared = SharedTexts::default();
            let mut documents = FxHashMap::default();
            let mut statement = self.connection.prepare(DOCUMENTS)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let id = DocumentId::from_bytes(super::bytes(row, 0)?);
                let root = shared.share(row.get_ref(1)?.as_str()?);
                let (uri, content) = (row.get(2)?, super::bytes(row, 3)?);
                documents.insert(id, StoredDocument { id, root, uri, content, fingerprint: None });
            }
            let mut statement = self.connection.prepare(UNITS)?;
            let mut rows = statement.query(params![STAGE, DONE])?;
            while let Some(row) = rows.next()? {
                if let Some(document) = documents.get_mut(&DocumentId::from_bytes(super::bytes(row, 0)?)) {
                    document.fingerprint = Some(shared.share(row.get_ref(1)?.as_str()?));
                }
            }
            Ok(documents)
        };
        read().map_err(Error::records("read"))
    }

    /// Replaces documents and all that was made from them, and marks their units done, in one transaction: a sync for
    /// each costs more than the work.
    ///
    /// # Errors
    ///
    /// If the records cannot be written, or a passage is not part of its document; then nothing has changed.
    pub fn commit_units(&mut self, units: &[DocumentUnit]) -> Result<()> {
        if units.is_empty() {
            return Ok(());
        }
        units.iter().try_for_each(check)?;
        let stop = self.cancellation.clone();
        self.write(|transaction| {
            transaction.pragma_update(None, "cache_size", -(CACHE_BYTES >> 10))?;
            let mut remove = Remove::new(transaction)?;
            let mut insert = Insert::new(transaction)?;
            for unit in units {
                remove.document(unit.document.id)?;
                insert.unit(unit, &stop)?;
            }
            note_change(transaction, true)
        })
    }

    /// Marks a document's unit failed; the document's earlier contents stay.
    ///
    /// # Errors
    ///
    /// If the records cannot be written.
    pub fn fail_unit(&mut self, document: DocumentId, fingerprint: &str, reason: &str) -> Result<()> {
        let content = self.document_unit(document)?.map(|unit| digest::document(&unit));
        self.write(|transaction| {
            let (key, reason) = (document.as_bytes(), Some(reason));
            let mark = Mark { stage: STAGE, key, fingerprint, state: FAILED, reason, content };
            InsertMark::new(transaction)?.of(&mark)
        })
    }

    /// Removes documents and all that was made from them, in one transaction; returns how many there were.
    ///
    /// # Errors
    ///
    /// If the records cannot be written; then nothing has changed.
    pub fn remove_documents(&mut self, documents: &[DocumentId]) -> Result<usize> {
        if documents.is_empty() {
            return Ok(0);
        }
        self.write(|transaction| {
            let mut remove = Remove::new(transaction)?;
            let mut removed = 0;
            for document in documents {
                removed += usize::from(remove.document(*document)?);
                transaction.execute("DELETE FROM units WHERE key = ?1", [document.as_bytes()])?;
            }
            note_change(transaction, removed > 0)?;
            Ok(removed)
        })
    }
}

/// Passage texts are kept only as part of their document, so they must be part of it.
fn check(unit: &DocumentUnit) -> Result<()> {
    let text = &unit.document.text;
    let stray = unit.passages.iter().find(|it| it.passage.span.of(text) != it.passage.text);
    match stray {
        Some(it) => Err(Error::Internal(format!("passage `{}` is not part of its document", it.passage.id))),
        None => Ok(()),
    }
}

/// Says that the records are ahead of the current version.
pub(super) fn note_change(transaction: &Transaction<'_>, is_changed: bool) -> rusqlite::Result<()> {
    if is_changed {
        transaction.execute("UPDATE manifest SET changed = 1", [])?;
        seal_manifest(transaction)?;
    }
    Ok(())
}

struct Remove<'t> {
    find: Statement<'t>,
    written: Statement<'t>,
    questions: Statement<'t>,
    extractions: Statement<'t>,
    passages: Statement<'t>,
    document: Statement<'t>,
}

impl<'t> Remove<'t> {
    fn new(transaction: &'t Transaction<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            find: transaction.prepare("SELECT document FROM documents WHERE id = ?1")?,
            written: transaction.prepare(
                "DELETE FROM units WHERE stage IN ('questions', 'no questions', 'entities', 'no entities') \
                 AND key IN (SELECT id FROM passages WHERE document = ?1)",
            )?,
            questions: transaction
                .prepare("DELETE FROM questions WHERE passage IN (SELECT passage FROM passages WHERE document = ?1)")?,
            extractions: transaction.prepare(
                "DELETE FROM extractions WHERE passage IN (SELECT passage FROM passages WHERE document = ?1)",
            )?,
            passages: transaction.prepare("DELETE FROM passages WHERE document = ?1")?,
            document: transaction.prepare("DELETE FROM documents WHERE document = ?1")?,
        })
    }

    /// Removes a document; returns whether it was there.
    fn document(&mut self, document: DocumentId) -> rusqlite::Result<bool> {
        let found = self.find.query_row([document.as_bytes()], |row| row.get::<_, i64>(0)).optional()?;
        let Some(row) = found else { return Ok(false) };
        self.written.execute([row])?;
        self.questions.execute([row])?;
        self.extractions.execute([row])?;
        self.passages.execute([row])?;
        self.document.execute([row])?;
        Ok(true)
    }
}

/// The marker of a unit: that it is done, or failed, and of what.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark<'a> {
    pub(super) stage: &'a str,
    pub(super) key: &'a [u8; 16],
    pub(super) fingerprint: &'a str,
    pub(super) state: u8,
    pub(super) reason: Option<&'a str>,
    /// For a document: the digest of its contents.
    pub(super) content: Option<Digest>,
}

impl<'a> Mark<'a> {
    /// Returns the marker of a unit that is done.
    pub(super) const fn done(stage: &'a str, key: &'a [u8; 16], fingerprint: &'a str) -> Self {
        Self { stage, key, fingerprint, state: DONE, reason: None, content: None }
    }

    /// Reads a marker from columns beginning with `first`, and its digest.
    pub(super) fn read(row: &'a Row<'_>, first: usize) -> rusqlite::Result<(Self, Option<Digest>)> {
        let key = row.get_ref(first + 1)?.as_blob()?;
        let mark = Self {
            stage: row.get_ref(first)?.as_str()?,
            key: key.try_into().map_err(|_| damaged(first + 1, Type::Blob, "no id"))?,
            fingerprint: row.get_ref(first + 2)?.as_str()?,
            state: row.get(first + 3)?,
            reason: row.get_ref(first + 4)?.as_str_or_null()?,
            content: kept(row, first + 5)?,
        };
        Ok((mark, kept(row, first + 6)?))
    }
}

/// Marks units.
pub(super) struct InsertMark<'t>(Statement<'t>);

impl<'t> InsertMark<'t> {
    pub(super) fn new(transaction: &'t Transaction<'_>) -> rusqlite::Result<Self> {
        let insert = transaction.prepare(
            "INSERT INTO units (stage, key, fingerprint, state, reason, content, digest) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
             ON CONFLICT (stage, key) DO UPDATE SET fingerprint = excluded.fingerprint, state = excluded.state, \
             reason = excluded.reason, content = excluded.content, digest = excluded.digest, version = NULL",
        )?;
        Ok(Self(insert))
    }

    pub(super) fn of(&mut self, mark: &Mark<'_>) -> rusqlite::Result<()> {
        let Mark { stage, key, fingerprint, state, reason, content } = mark;
        self.0.execute(params![stage, key, fingerprint, state, reason, content, digest::mark(mark)])?;
        Ok(())
    }
}

struct Insert<'t> {
    transaction: &'t Transaction<'t>,
    document: Statement<'t>,
    passage: Statement<'t>,
    question: InsertQuestion<'t>,
    extraction: InsertExtraction<'t>,
    mark: InsertMark<'t>,
}

/// Inserts questions of existing passages.
pub(super) struct InsertQuestion<'t>(Statement<'t>);

impl<'t> Insert<'t> {
    fn new(transaction: &'t Transaction<'t>) -> rusqlite::Result<Self> {
        Ok(Self {
            transaction,
            document: transaction.prepare(
                "INSERT INTO documents (id, content, root, source_id, title, uri, media_type, metadata, positions, \
                 text) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?,
            passage: transaction.prepare(
                "INSERT INTO passages (document, id, ordinal, span_start, span_end, section, sentences, digest) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?,
            question: InsertQuestion::new(transaction)?,
            extraction: InsertExtraction::new(transaction)?,
            mark: InsertMark::new(transaction)?,
        })
    }

    /// Inserts a unit. A stop ends the transaction within a document of very many passages, and in no other.
    fn unit(&mut self, unit: &DocumentUnit, stop: &Cancellation) -> rusqlite::Result<()> {
        let Document { id, source_id, title, uri, media_type, text, positions, metadata } = &unit.document;
        let metadata = to_json(metadata)?;
        let positions = if positions.is_none() { None } else { Some(to_json(positions)?) };
        let (content, root) = (&unit.content, &unit.root);
        self.document.execute(params![
            id.as_bytes(),
            content,
            root,
            source_id,
            title,
            uri,
            media_type,
            metadata,
            positions,
            text
        ])?;
        let document = self.transaction.last_insert_rowid();
        for (row, passage) in unit.passages.iter().enumerate() {
            look(stop, row)?;
            self.passage(document, passage)?;
        }
        let content = Some(digest::document(unit));
        self.mark.of(&Mark { content, ..Mark::done(STAGE, id.as_bytes(), &unit.fingerprint) })
    }

    fn passage(&mut self, document: i64, unit: &PassageUnit) -> rusqlite::Result<()> {
        let Passage { id, document: _, ordinal, span, section, text: _, sentences, .. } = &unit.passage;
        let sentences = pack_spans(sentences);
        self.passage.execute(params![
            document,
            id.as_bytes(),
            ordinal,
            span.start,
            span.end,
            section.as_deref(),
            sentences,
            digest::questions(*id, unit.writer.as_deref(), &unit.questions)
        ])?;
        let passage = self.transaction.last_insert_rowid();
        unit.questions.iter().try_for_each(|question| self.question.of(passage, question))?;
        if let Some(writer) = &unit.writer {
            self.mark.of(&Mark::done(WRITTEN, id.as_bytes(), writer))?;
        }
        if let Some(Extracted { writer, found }) = &unit.extracted {
            self.extraction.of((passage, *id), writer, found)?;
            self.mark.of(&Mark::done(EXTRACTED, id.as_bytes(), writer))?;
        }
        Ok(())
    }
}

impl<'t> InsertQuestion<'t> {
    pub(super) fn new(transaction: &'t Transaction<'_>) -> rusqlite::Result<Self> {
        let insert = transaction.prepare(
            "INSERT INTO questions (passage, id, kind, origin, sentence, text, keywords) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?;
        Ok(Self(insert))
    }

    /// Inserts a question of the passage in a row.
    pub(super) fn of(&mut self, passage: i64, question: &PseudoQuery) -> rusqlite::Result<()> {
        let PseudoQuery { id, passage: _, kind, origin, text, keywords, sentence } = question;
        let (kind, origin) = (kind_code(*kind), origin.code());
        self.0.execute(params![passage, id.as_bytes(), kind, origin, sentence, text, to_json(keywords)?])?;
        Ok(())
    }
}

pub(super) fn to_json(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

fn pack_spans(spans: &[Span]) -> Vec<u8> {
    spans.iter().flat_map(|span| [span.start, span.end]).flat_map(u32::to_le_bytes).collect()
}

/// Returns packed spans; none if invalid.
pub(super) fn unpack_spans(bytes: &[u8]) -> Option<Vec<Span>> {
    let (spans, rest) = bytes.as_chunks::<8>();
    let unpack = |[a, b, c, d, e, f, g, h]: &[u8; 8]| Span {
        start: u32::from_le_bytes([*a, *b, *c, *d]),
        end: u32::from_le_bytes([*e, *f, *g, *h]),
    };
    rest.is_empty().then(|| spans.iter().map(unpack).collect())
}

fn kind_code(kind: QuestionKind) -> u8 {
    match kind {
        QuestionKind::Incoming => 0,
        QuestionKind::Outgoing => 1,
    }
}

pub(super) fn kind_of(code: u8) -> Option<QuestionKind> {
    [QuestionKind::Incoming, QuestionKind::Outgoing].into_iter().find(|kind| kind_code(*kind) == code)
}
