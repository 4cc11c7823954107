//! What the records hold of documents, for a version. What is as the last version has it is taken from that: it has all
//! that the next one needs, in arrays that are mapped, and is not read from the database again.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::stages::{MADE_BY, made_by};
use crate::domain::{Document, DocumentId, Keywords, Passage, PassageId, Positions, PseudoQuery, QuestionKind};
use crate::error::{Error, Result};
use crate::graph::ordinal::{DocumentOrdinal, IncomingOrdinal, Ordinal as _, OutgoingOrdinal, PassageOrdinal};
use crate::graph::packed::{PassageGraph, text_at};
use crate::store::{DocumentText, PassageText};
use crate::workspace::{DocumentUnit, LastVersion, ListedUnit, PassageUnit, Records, Seal, TextsFile};

/// What the last version has of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    /// The document was taken from there, where it is this one: it lacks what a version does not have of it, and the
    /// keywords of its questions, which are numbered there.
    Taken(DocumentOrdinal),
    /// It was read from the records; there, this one has its id, if any.
    Read(Option<DocumentOrdinal>),
}

/// Documents with all that was made from them, but for their texts: passages have their parts of them, and a version
/// needs no more.
#[derive(Default)]
pub(super) struct CorpusUnits<'v> {
    pub(super) units: Vec<DocumentUnit>,
    pub(super) before: Vec<Before>,
    /// What the records say of each, for the version after this.
    pub(super) seals: Vec<Option<Seal>>,
    /// The last version, if it can be taken from.
    pub(super) version: Option<Version<'v>>,
}

/// Returns all that the records hold.
pub(super) fn read(records: &Records) -> Result<Vec<DocumentUnit>> {
    let mut units = Vec::new();
    records.for_each_document_unit(&mut |mut unit| {
        unit.document.text = String::new();
        units.push(unit);
        Ok(())
    })?;
    Ok(units)
}

impl<'v> CorpusUnits<'v> {
    /// Returns all that the records hold. What did not change is taken from `last`, if that can be.
    pub(super) fn after(records: &Records, last: Option<&'v LastVersion>) -> Result<Self> {
        if let Some((version, documents)) = last.and_then(Version::of) {
            let seal = |id| documents.get(&id).and_then(|document| version.texts.seal(*document));
            let listed = listed(records, &seal)?;
            match Self::of(listed, Some(version), &documents) {
                Ok(units) => return Ok(units),
                // All that it has is made again.
                Err(error) => tracing::warn!(%error, "nothing is taken from the last version"),
            }
        }
        Self::of(listed(records, &|_| None)?, None, &Documents::default())
    }

    /// Fails only on what is taken from the version.
    fn of(listed: Vec<ListedUnit>, version: Option<Version<'v>>, documents: &Documents) -> Result<Self> {
        let unit = |unit| match unit {
            ListedUnit::Read(unit, seal) => {
                let before = documents.get(&unit.document.id).copied();
                Ok((*unit, (Before::Read(before), seal)))
            }
            ListedUnit::AsInVersion(id) => {
                let known = version.zip(documents.get(&id).copied());
                let (version, document) = known.ok_or_else(|| Error::Internal(format!("no version has {id}")))?;
                Ok((version.unit(document)?, (Before::Taken(document), version.texts.seal(document))))
            }
        };
        let found: Vec<(DocumentUnit, (Before, Option<Seal>))> =
            listed.into_par_iter().map(unit).collect::<Result<_>>()?;
        let (units, known): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let (before, seals): (Vec<Before>, Vec<_>) = known.into_iter().unzip();
        let taken = before.iter().filter_map(|it| if let Before::Taken(document) = it { Some(document) } else { None });
        if !taken.is_sorted_by(|one, next| one < next) {
            return Err(Error::Internal("its documents are not in the order of the records".to_owned()));
        }
        Ok(Self { units, before, seals, version })
    }
}

/// Lists the documents of the records without the texts of those that are read.
fn listed(records: &Records, seal: &dyn Fn(DocumentId) -> Option<Seal>) -> Result<Vec<ListedUnit>> {
    let mut listed = Vec::new();
    records.for_each_unit_after(seal, &mut |mut unit| {
        if let ListedUnit::Read(unit, _) = &mut unit {
            unit.document.text = String::new();
        }
        listed.push(unit);
        Ok(())
    })?;
    Ok(listed)
}

/// The documents of a version by their ids.
type Documents = FxHashMap<DocumentId, DocumentOrdinal>;

/// What a version has of its documents.
#[derive(Clone, Copy)]
pub(super) struct Version<'v> {
    pub(super) graph: PassageGraph<'v>,
    pub(super) texts: &'v TextsFile,
}

impl<'v> Version<'v> {
    /// Returns what can be taken over document by document, and the documents; none where the version is damaged, or
    /// was made by another release or other versions of the stages: these may make something else of the same text.
    fn of(last: &'v LastVersion) -> Option<(Self, Documents)> {
        last.mark(MADE_BY).filter(|mark| **mark == made_by())?;
        Self::checked(last.graph()?, last.texts()?)
    }

    fn checked(graph: PassageGraph<'v>, texts: &'v TextsFile) -> Option<(Self, Documents)> {
        let version = Self { graph, texts };
        let documents: Documents = graph.documents().map(|document| (texts.document_id(document), document)).collect();
        (documents.len() == graph.document_count() && version.is_in_order()).then_some((version, documents))
    }

    /// Returns whether everything lies where it is looked for: only a forged version has it elsewhere, and from that
    /// another would be made than from the records.
    fn is_in_order(&self) -> bool {
        let Self { graph, texts } = self;
        let keywords = graph.keyword_ends.ordinals().map(|it| text_at(&graph.keyword_ends, &graph.keyword_texts, it));
        let has_own = |passage| {
            graph.passage_incoming.of(passage).all(|it| graph.incoming_passage[it] == passage)
                && graph.passage_sentences.of(passage).all(|it| graph.sentence_passage[it] == passage)
        };
        texts.outgoing_passages().is_sorted()
            && keywords.is_sorted_by(|one, next| one < next)
            && graph.passages().all(has_own)
            && graph
                .documents()
                .all(|document| graph.document_passages.of(document).all(|it| graph.passage_document[it] == document))
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::tests::{forge, indexed};

    /// Returns what a version has of all documents of the records, if it can be taken from.
    fn taken(last: &LastVersion, due: &[DocumentUnit]) -> Option<Vec<DocumentUnit>> {
        let (version, documents) = Version::checked(last.graph()?, last.texts()?)?;
        let listed = due.iter().map(|unit| ListedUnit::AsInVersion(unit.document.id)).collect();
        CorpusUnits::of(listed, Some(version), &documents).ok().map(|it| it.units)
    }

    #[test]
    fn a_version_has_of_documents_what_the_records_hold_and_one_that_is_forged_is_not_taken_from() {
        type Forgery = (&'static str, &'static str, fn(&mut [u8]));
        let forgeries: [Forgery; 8] = [
            ("texts.bin", "document.metadata", |bytes| *bytes.last_mut().unwrap() = b'x'),
            ("texts.bin", "document.ids", |bytes| bytes.copy_within(..16, 16)),
            ("texts.bin", "document.ids", |bytes| bytes.rotate_left(16)),
            ("texts.bin", "outgoing.passages", |bytes| bytes.rotate_left(4)),
            ("graph.bin", "incoming.passage", |bytes| bytes.rotate_left(4)),
            ("graph.bin", "sentence.passage", |bytes| bytes.rotate_left(4)),
            ("graph.bin", "passage.document", |bytes| bytes.rotate_left(4)),
            ("graph.bin", "keyword.texts", |bytes| bytes.rotate_left(3)),
        ];
        for (file, section, change) in forgeries {
            let folder = tempfile::tempdir().unwrap();
            let workspace = indexed(folder.path());
            let mut due = read(&workspace.records().unwrap()).unwrap();
            for unit in &mut due {
                (unit.root, unit.content, unit.fingerprint) = (String::new(), [0; 32], String::new());
                let questions = unit.passages.iter_mut().flat_map(|it| &mut it.questions);
                questions.for_each(|question| question.keywords = Keywords::default());
            }
            assert_eq!(taken(&workspace.last_version().unwrap(), &due), Some(due.clone()));
            forge(&workspace, (file, section), change);
            assert_eq!(taken(&workspace.last_version().unwrap(), &due), None, "{section}");
        }
    }
}
