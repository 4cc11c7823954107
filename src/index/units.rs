//! What the records hold of documents, for a version. What did not change since the last version is taken from that: it
//! has all that the next one needs, in arrays that are mapped, and is not read from the database again.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::stages::difference::Difference;
use crate::domain::{Document, DocumentId, Keywords, Passage, PassageId, Positions, PseudoQuery, QuestionKind};
use crate::error::Result;
use crate::graph::ordinal::{DocumentOrdinal, IncomingOrdinal, Ordinal as _, OutgoingOrdinal, PassageOrdinal};
use crate::graph::packed::PassageGraph;
use crate::store::{DocumentText, PassageText};
use crate::workspace::{DocumentUnit, LastVersion, ListedUnit, PassageUnit, Records, TextsFile};

/// Documents with all that was made from them, but for their texts: passages have their parts of them, and a version
/// needs no more.
#[derive(Default)]
pub(super) struct Units {
    pub(super) units: Vec<DocumentUnit>,
    /// What each is in the last version, if it was taken from there, ascending: such a unit lacks what a version does
    /// not have of it, and the keywords of its questions, which are numbered there.
    pub(super) before: Vec<Option<DocumentOrdinal>>,
}

impl Units {
    /// Returns all that the records hold.
    pub(super) fn read(records: &Records) -> Result<Vec<DocumentUnit>> {
        let mut units = Vec::new();
        records.for_each_document_unit(&mut |unit| {
            units.push(without_text(unit));
            Ok(())
        })?;
        Ok(units)
    }

    /// Returns all that the records hold, after `last`.
    pub(super) fn after(records: &Records, last: Option<&LastVersion>) -> Result<Self> {
        let known = last.and_then(Difference::parts);
        // No version has what a model said of a passage.
        let Some((graph, texts)) = known.filter(|_| !matches!(records.has_written(), Ok(true))) else {
            let units = Self::read(records)?;
            return Ok(Self { before: vec![None; units.len()], units });
        };
        let version = Version { graph, texts };
        let documents: FxHashMap<DocumentId, DocumentOrdinal> =
            graph.documents().map(|document| (texts.document_id(document), document)).collect();
        let mut listed: Vec<ListedUnit> = Vec::new();
        records.for_each_changed_unit(&|id| documents.contains_key(&id), &mut |unit| {
            listed.push(unit);
            Ok(())
        })?;
        let unit = |unit| match unit {
            ListedUnit::Read(unit) => Ok((without_text(*unit), None)),
            ListedUnit::AsInVersion(id) => {
                let document = documents.get(&id).copied().unwrap_or_default();
                Ok((version.unit(document)?, Some(document)))
            }
        };
        let found: Vec<(DocumentUnit, Option<DocumentOrdinal>)> =
            listed.into_par_iter().map(unit).collect::<Result<_>>()?;
        let (units, before): (Vec<DocumentUnit>, Vec<Option<DocumentOrdinal>>) = found.into_iter().unzip();
        // Documents of a version are in the order of the records; only a forged one has others.
        if before.iter().flatten().is_sorted_by(|one, next| one < next) {
            return Ok(Self { units, before });
        }
        Self::after(records, None)
    }
}

fn without_text(mut unit: DocumentUnit) -> DocumentUnit {
    unit.document.text = String::new();
    unit
}

/// What a version has of its documents.
#[derive(Clone, Copy)]
struct Version<'v> {
    graph: PassageGraph<'v>,
    texts: &'v TextsFile,
}

impl Version<'_> {
    fn unit(&self, document: DocumentOrdinal) -> Result<DocumentUnit> {
        let DocumentText { document: id, source_id, title, uri, media_type, metadata, .. } =
            self.texts.document(document)?;
        let passages = self.graph.document_passages.of(document);
        let passages = passages.zip(0..).map(|(passage, ordinal)| self.passage(id, passage, ordinal));
        Ok(DocumentUnit {
            root: String::new(),
            content: [0; 32],
            fingerprint: String::new(),
            document: Document {
                id,
                source_id,
                title,
                uri,
                media_type,
                text: String::new(),
                positions: Positions::None,
                metadata,
            },
            passages: passages.collect::<Result<_>>()?,
        })
    }

    fn passage(&self, document: DocumentId, number: PassageOrdinal, ordinal: u32) -> Result<PassageUnit> {
        let sentences = self.graph.passage_sentences.of(number);
        let found = self.texts.passage(number, sentences)?;
        let PassageText { passage: id, span, section, page, line, column, text, sentences } = found;
        let passage = Passage { id, document, ordinal, span, section, page, line, column, text, sentences };
        let incoming = self.graph.passage_incoming.of(number).map(|it| self.incoming(id, it));
        let raised = self.texts.outgoing_passages();
        let first = raised.partition_point(|it| *it < number);
        let outgoing = OutgoingOrdinal::first(raised.len()).split_at(first).1.take_while(|it| raised[*it] == number);
        let questions = incoming.chain(outgoing.map(|it| self.outgoing(id, it))).collect();
        Ok(PassageUnit { passage, questions, writer: None, extracted: None })
    }

    fn incoming(&self, passage: PassageId, question: IncomingOrdinal) -> PseudoQuery {
        PseudoQuery {
            id: self.texts.incoming_id(question),
            passage,
            kind: QuestionKind::Incoming,
            origin: self.texts.incoming_origin(question),
            text: self.texts.incoming(question).to_owned(),
            keywords: Keywords::default(),
            sentence: self.graph.incoming_sentence[question],
        }
    }

    fn outgoing(&self, passage: PassageId, question: OutgoingOrdinal) -> PseudoQuery {
        PseudoQuery {
            id: self.texts.outgoing_id(question),
            passage,
            kind: QuestionKind::Outgoing,
            origin: self.texts.outgoing_origin(question),
            text: self.texts.outgoing(question).to_owned(),
            keywords: Keywords::default(),
            sentence: self.graph.outgoing_sentence[question],
        }
    }
}
