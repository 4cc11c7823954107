//! Reading documents back with all that was made from them, in an order that depends on nothing but what they are.

use rusqlite::types::Type;
use rusqlite::{OptionalExtension, Row, Statement};

use super::unit::{DONE, kind_of, unpack_spans};
use super::{DocumentUnit, PassageUnit, Records, bytes, damaged, json};
use crate::domain::{Document, DocumentId, Passage, PassageId, PseudoQuery, QuestionId, QuestionOrigin, Span};
use crate::error::{Error, Result};

impl Records {
    /// Calls `visit` with every document and all that was made from it, by the ids that the sources give.
    ///
    /// # Errors
    ///
    /// If the records cannot be read, and the errors of `visit`, which end it.
    pub fn for_each_document_unit(&self, visit: &mut dyn FnMut(DocumentUnit) -> Result<()>) -> Result<()> {
        let wrong = || Error::records("read");
        // One transaction, so that what is read belongs together even while someone writes.
        let _transaction = self.connection.unchecked_transaction().map_err(wrong())?;
        // By bytes: the same on every machine.
        let order = "SELECT document FROM documents ORDER BY source_id, id";
        let rows = self.read_all(order, |row| row.get::<_, i64>(0)).map_err(wrong())?;
        let mut read = Read::new(self).map_err(wrong())?;
        for row in rows {
            visit(read.unit(row).map_err(wrong())?)?;
        }
        Ok(())
    }

    /// Returns a document with all that was made from it.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn document_unit(&self, document: DocumentId) -> Result<Option<DocumentUnit>> {
        let find = || {
            const SQL: &str = "SELECT document FROM documents WHERE id = ?1";
            let row = self.connection.query_row(SQL, [document.as_bytes()], |row| row.get(0)).optional()?;
            row.map(|row| Read::new(self)?.unit(row)).transpose()
        };
        find().map_err(Error::records("read"))
    }
}

struct Read<'c> {
    document: Statement<'c>,
    passages: Statement<'c>,
    questions: Statement<'c>,
}

impl<'c> Read<'c> {
    fn new(records: &'c Records) -> rusqlite::Result<Self> {
        let prepare = |sql| records.connection.prepare(sql);
        Ok(Self {
            document: prepare(
                "SELECT d.id, d.content, d.root, d.source_id, d.title, d.uri, d.media_type, d.metadata, d.text, \
                 u.fingerprint, u.state FROM documents d \
                 LEFT JOIN units u ON u.stage = 'passages' AND u.key = d.id WHERE d.document = ?1",
            )?,
            passages: prepare(
                "SELECT p.passage, p.id, p.ordinal, p.span_start, p.span_end, p.section, p.sentences, u.fingerprint \
                 FROM passages p LEFT JOIN units u ON u.stage = 'questions' AND u.key = p.id AND u.state = 1 \
                 WHERE p.document = ?1 ORDER BY p.ordinal",
            )?,
            questions: prepare(
                "SELECT id, kind, origin, sentence, text, keywords FROM questions \
                 WHERE passage = ?1 ORDER BY question",
            )?,
        })
    }

    fn unit(&mut self, row: i64) -> rusqlite::Result<DocumentUnit> {
        let mut unit = self.document.query_row([row], read_document)?;
        let mut rows = self.passages.query([row])?;
        while let Some(row) = rows.next()? {
            let passage = read_passage(row, &unit.document)?;
            let questions = self.questions.query_map([row.get::<_, i64>(0)?], |row| read_question(row, passage.id))?;
            let questions = questions.collect::<rusqlite::Result<_>>()?;
            unit.passages.push(PassageUnit { passage, questions, writer: row.get(7)? });
        }
        Ok(unit)
    }
}

fn read_document(row: &Row<'_>) -> rusqlite::Result<DocumentUnit> {
    // The fingerprint of a failed unit is that of the attempt, not of what is there.
    let is_done = row.get::<_, Option<u8>>(10)? == Some(DONE);
    let fingerprint = row.get::<_, Option<String>>(9)?.filter(|_| is_done);
    Ok(DocumentUnit {
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
            metadata: json(row, 7)?,
        },
        passages: Vec::new(),
    })
}

fn read_passage(row: &Row<'_>, document: &Document) -> rusqlite::Result<Passage> {
    let span = Span { start: row.get(3)?, end: row.get(4)? };
    let outside = || damaged(3, Type::Integer, "a passage that is no part of its document");
    let text = document.text.get(span.range()).ok_or_else(outside)?;
    let sentences = unpack_spans(row.get_ref(6)?.as_blob()?);
    Ok(Passage {
        id: PassageId::from_bytes(bytes(row, 1)?),
        document: document.id,
        ordinal: row.get(2)?,
        span,
        section: row.get(5)?,
        text: text.to_owned(),
        sentences: sentences.ok_or_else(|| damaged(6, Type::Blob, "sentences that are no spans"))?,
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
