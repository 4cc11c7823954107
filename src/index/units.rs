//! What the records hold of documents, for a version. What is as the last version has it is taken from that: it has all
//! that the next one needs, in arrays that are mapped, and is not read from the database again.

use std::mem;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::stages::{MADE_BY, made_by};
use crate::domain::{DocumentId, QuestionKind};
use crate::error::{Error, Result};
use crate::graph::ordinal::{DocumentOrdinal, PassageOrdinal};
use crate::graph::packed::{PassageGraph, TextList};
use crate::workspace::{
    DocumentUnit, LastVersion, ListedUnit, PassagePart, QuestionsOfVersion, ReadQuestions, Records, Seal, TextsFile,
};

/// What the last version has of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    /// The document was taken from there, where it is this one: it lacks what a version does not have of it, and the
    /// keywords of its questions, which are numbered there.
    Taken(DocumentOrdinal),
    /// It was read from the records; there, this one has its id, if any.
    Read(Option<DocumentOrdinal>),
}

/// A document with all that was made from it, but for its text, of which passages have their parts, and its questions,
/// which are in [`CorpusUnits::questions`].
pub(super) enum CorpusUnit {
    /// Where the last version has it.
    Taken(DocumentOrdinal),
    /// From the records, and what has its id in the last version.
    Read(Box<DocumentUnit>, Option<DocumentOrdinal>),
}

/// The documents of a version.
#[derive(Default)]
pub(super) struct CorpusUnits<'v> {
    /// Each with what the records say of it, for the version after this.
    pub(super) units: Vec<(CorpusUnit, Option<Seal>)>,
    /// The questions of those that were read.
    pub(super) questions: ReadQuestions,
    /// The last version, if it can be taken from.
    pub(super) version: Option<Version<'v>>,
}

/// Returns all that the records hold.
pub(super) fn read(records: &Records) -> Result<CorpusUnits<'static>> {
    let mut units = CorpusUnits::default();
    records.for_each_document_unit(&mut |unit| {
        units.add(unit);
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

    /// Adds a document that was read.
    pub(super) fn add(&mut self, mut unit: DocumentUnit) {
        take_texts(&mut unit, &mut self.questions);
        self.units.push((CorpusUnit::Read(Box::new(unit), None), None));
    }

    /// Fails only on what is taken from the version.
    fn of((listed, questions): Listed, version: Option<Version<'v>>, documents: &Documents) -> Result<Self> {
        let unit = |unit| match unit {
            ListedUnit::Read(unit, seal) => {
                let before = documents.get(&unit.document.id).copied();
                Ok((CorpusUnit::Read(unit, before), seal))
            }
            ListedUnit::AsInVersion(id) => {
                let known = version.zip(documents.get(&id).copied());
                let (version, document) = known.ok_or_else(|| Error::Internal(format!("no version has {id}")))?;
                version.texts.metadata(document)?;
                Ok((CorpusUnit::Taken(document), version.texts.seal(document)))
            }
        };
        let units: Vec<(CorpusUnit, Option<Seal>)> = listed.into_iter().map(unit).collect::<Result<_>>()?;
        let taken =
            units.iter().filter_map(|it| if let CorpusUnit::Taken(document) = it.0 { Some(document) } else { None });
        if !taken.is_sorted_by(|one, next| one < next) {
            return Err(Error::Internal("its documents are not in the order of the records".to_owned()));
        }
        Ok(Self { units, questions, version })
    }
}

/// Documents of the records, and the questions of those that were read.
type Listed = (Vec<ListedUnit>, ReadQuestions);

/// Lists the documents of the records without the texts of those that are read.
fn listed(records: &Records, seal: &dyn Fn(DocumentId) -> Option<Seal>) -> Result<Listed> {
    let (mut listed, mut questions) = (Vec::new(), ReadQuestions::default());
    records.for_each_unit_after(seal, &mut |mut unit| {
        if let ListedUnit::Read(unit, _) = &mut unit {
            take_texts(unit, &mut questions);
        }
        listed.push(unit);
        Ok(())
    })?;
    Ok((listed, questions))
}

/// Takes the text of a document and its questions away.
fn take_texts(unit: &mut DocumentUnit, questions: &mut ReadQuestions) {
    unit.document.text = String::new();
    unit.passages.iter_mut().for_each(|it| questions.push(mem::take(&mut it.questions)));
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
        let keywords = TextList::of(graph.keyword_ends, graph.keyword_texts.items());
        let has_own = |passage| {
            graph.passage_incoming.of(passage).all(|it| graph.incoming_passage[it] == passage)
                && graph.passage_sentences.of(passage).all(|it| graph.sentence_passage[it] == passage)
        };
        texts.outgoing_passages().is_sorted()
            && keywords.is_ascending()
            && graph.passages().all(has_own)
            && graph.documents().map(|document| (document, graph.document_passages.of(document))).all(
                |(document, mut passages)| {
                    !passages.is_empty() && passages.all(|it| graph.passage_document[it] == document)
                },
            )
    }
}

impl<'v> Version<'v> {
    pub(super) fn passage(&self, passage: PassageOrdinal) -> PassagePart<'v> {
        self.texts.passage_part(passage, self.graph.passage_sentences.of(passage))
    }

    /// Returns the questions of one side.
    pub(super) fn questions(&self, kind: QuestionKind) -> QuestionsOfVersion<'v> {
        let sentences = match kind {
            QuestionKind::Incoming => self.graph.incoming_sentence.items(),
            QuestionKind::Outgoing => self.graph.outgoing_sentence.items(),
        };
        QuestionsOfVersion { texts: self.texts, kind, sentences }
    }

    /// Returns the numbers of the questions of a passage.
    pub(super) fn numbers(&self, kind: QuestionKind, passage: PassageOrdinal) -> Range<u32> {
        let numbers = match kind {
            QuestionKind::Incoming => self.graph.passage_incoming.of(passage).range(),
            QuestionKind::Outgoing => {
                let raised = self.texts.outgoing_passages().items();
                let first = raised.partition_point(|it| *it < passage);
                first..first + raised[first..].iter().take_while(|it| **it == passage).count()
            }
        };
        numbers.start as u32..numbers.end as u32
    }
}

#[cfg(test)]
mod tests {
    use super::super::corpus::Corpus;
    use super::*;
    use crate::domain::Metadata;
    use crate::workspace::tests::{forge, indexed};
    use crate::workspace::{MetadataPart, QuestionPart, QuestionParts};

    /// Returns what a version has of all documents of the records, written down, if it can be taken from.
    fn taken(last: &LastVersion, due: &Corpus<'_>) -> Option<String> {
        let (version, documents) = Version::checked(last.graph()?, last.texts()?)?;
        let listed = due.documents.iter().map(|it| ListedUnit::AsInVersion(it.id)).collect();
        let listed = (listed, ReadQuestions::default());
        CorpusUnits::of(listed, Some(version), &documents).ok().map(|it| written(&Corpus::of(&it)))
    }

    /// Writes down what a corpus has, but for the keywords of questions.
    fn written(corpus: &Corpus<'_>) -> String {
        let Corpus { documents, passages, incoming, outgoing, incoming_passage, outgoing_passage, named, .. } = corpus;
        let documents: Vec<_> =
            documents.iter().map(|it| (it.id, it.source_id, it.uri, metadata(it.metadata))).collect();
        let bare = |it: QuestionPart<'_>| format!("{:?}", QuestionPart { keywords: None, ..it });
        let side = |all: &QuestionParts<'_>| (0..all.len()).map(|question| bare(all.get(question))).collect::<Vec<_>>();
        let questions = (side(incoming), side(outgoing), incoming_passage, outgoing_passage);
        format!("{documents:#?} {passages:#?} {questions:#?} {named:#?}")
    }

    fn metadata(part: MetadataPart<'_>) -> Metadata {
        match part {
            MetadataPart::Read(metadata) => metadata.clone(),
            MetadataPart::Json(json) => serde_json::from_str(json).unwrap(),
        }
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
            let due = read(&workspace.records().unwrap()).unwrap();
            let due = Corpus::of(&due);
            assert_eq!(taken(&workspace.last_version().unwrap(), &due), Some(written(&due)));
            forge(&workspace, (file, section), change);
            assert_eq!(taken(&workspace.last_version().unwrap(), &due), None, "{section}");
        }
    }

    #[test]
    fn passages_have_their_questions_around_a_document_without_any() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = indexed(folder.path());
        let written_of = |is_empty_between: bool| {
            let mut units = CorpusUnits::default();
            let add = &mut |unit: DocumentUnit| {
                if is_empty_between {
                    units.add(DocumentUnit { passages: Vec::new(), ..unit.clone() });
                }
                units.add(unit);
                Ok(())
            };
            workspace.records().unwrap().for_each_document_unit(add).unwrap();
            (units.units.len(), written(&Corpus::of(&units)))
        };
        let (count, due) = written_of(false);
        assert!(count > 1);
        assert_eq!(written_of(true), (2 * count, due));
    }

    #[test]
    fn a_version_with_a_document_without_passages_is_not_taken_from() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = indexed(folder.path());
        let due = read(&workspace.records().unwrap()).unwrap();
        let put =
            |numbers: &'static [u32]| move |bytes: &mut [u8]| bytes.copy_from_slice(bytemuck::cast_slice(numbers));
        forge(&workspace, ("graph.bin", "document.passages"), put(&[0, 3, 3]));
        forge(&workspace, ("graph.bin", "passage.document"), put(&[0, 0, 0]));
        let last = workspace.last_version().unwrap();
        assert!(last.graph().is_some(), "the graph is valid");
        assert_eq!(taken(&last, &Corpus::of(&due)), None);
    }
}
