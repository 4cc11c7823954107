//! The input of a version, in the order of its ordinals.

use rayon::prelude::*;

use super::stages::difference::Difference;
use super::stages::vectors::Texts;
use super::stages::{Digest, Inputs};
use super::units::{Before, CorpusUnit, CorpusUnits, Version};
use crate::domain::{Extraction, QuestionKind};
use crate::graph::duplicates::{Bands, Signature, originals};
use crate::graph::mentions::{NamedDocument, NamedPassage};
use crate::graph::ordinal::{DocumentOrdinal, Ordinal as _, PassageOrdinal};
use crate::workspace::{DocumentPart, DocumentUnit, PassagePart, PassageUnit, QuestionPart, Seal};

/// The documents of a version with what it is made of, in the order of its ordinals. Of those that were taken from the
/// last version, the keywords of questions are there alone.
#[derive(Default)]
pub(super) struct Corpus<'a> {
    pub(super) documents: Vec<DocumentPart<'a>>,
    /// What the last version has of each document.
    pub(super) before: Vec<Before>,
    /// What the records say of each document, for the version after this.
    pub(super) seals: Vec<Option<Seal>>,
    /// The last version, if it can be taken from.
    pub(super) version: Option<&'a Version<'a>>,
    pub(super) passages: Vec<PassagePart<'a>>,
    /// A model's extraction from each passage, if one was asked.
    pub(super) extractions: Vec<Option<&'a Extraction>>,
    pub(super) incoming: Vec<QuestionPart<'a>>,
    pub(super) outgoing: Vec<QuestionPart<'a>>,
    /// The passage of each question.
    pub(super) incoming_passage: Vec<PassageOrdinal>,
    pub(super) outgoing_passage: Vec<PassageOrdinal>,
    /// The documents as names are found in them.
    pub(super) named: Vec<NamedDocument<'a>>,
}

impl<'a> Corpus<'a> {
    pub(super) fn of(units: &'a [DocumentUnit]) -> Self {
        let mut corpus = Self::default();
        for unit in units {
            corpus.add_read(unit, None, None);
        }
        corpus
    }

    /// Returns the corpus of documents of which some were taken from the last version.
    pub(super) fn after(units: &'a CorpusUnits<'a>) -> Self {
        let mut corpus = Self { version: units.version.as_ref(), ..Self::default() };
        corpus.reserve(units);
        for (unit, seal) in &units.units {
            match unit {
                CorpusUnit::Read(unit, before) => corpus.add_read(unit, *before, *seal),
                CorpusUnit::Taken(document) => corpus.add_taken(*document, *seal),
            }
        }
        corpus
    }

    /// Reserves what these documents need: lists of millions of questions are not to be copied while they grow.
    fn reserve(&mut self, units: &CorpusUnits<'_>) {
        let [mut passages, mut incoming, mut outgoing] = [0; 3];
        if let Some(version) = &units.version {
            let graph = &version.graph;
            passages += graph.passage_document.len();
            incoming += graph.incoming_sentence.len();
            outgoing += graph.outgoing_sentence.len();
        }
        for passage in units.units.iter().filter_map(|(unit, _)| unit.read()).flat_map(|unit| &unit.passages) {
            let raised = passage.questions.iter().filter(|it| it.kind == QuestionKind::Outgoing).count();
            (passages, outgoing) = (passages + 1, outgoing + raised);
            incoming += passage.questions.len() - raised;
        }
        let documents = units.units.len();
        self.documents.reserve_exact(documents);
        self.before.reserve_exact(documents);
        self.seals.reserve_exact(documents);
        self.named.reserve_exact(documents);
        self.passages.reserve_exact(passages);
        self.extractions.reserve_exact(passages);
        self.incoming.reserve_exact(incoming);
        self.incoming_passage.reserve_exact(incoming);
        self.outgoing.reserve_exact(outgoing);
        self.outgoing_passage.reserve_exact(outgoing);
    }

    /// Adds a document that was read from the records, if it has passages.
    fn add_read(&mut self, unit: &'a DocumentUnit, before: Option<DocumentOrdinal>, seal: Option<Seal>) {
        if unit.passages.is_empty() {
            return;
        }
        self.documents.push(DocumentPart::from(&unit.document));
        self.before.push(Before::Read(before));
        self.seals.push(seal);
        let mut named = Vec::with_capacity(unit.passages.len());
        for PassageUnit { passage, questions, extracted, .. } in &unit.passages {
            let extraction = extracted.as_ref().map(|it| &it.found);
            named.push(self.add_passage(PassagePart::from(passage), &unit.document.media_type, extraction));
            for question in questions {
                self.add_question(question.kind, QuestionPart::from(question));
            }
        }
        self.named.push(NamedDocument { title: unit.document.title.as_deref(), passages: named });
    }

    /// Adds a document of the last version.
    fn add_taken(&mut self, document: DocumentOrdinal, seal: Option<Seal>) {
        let Some(version) = self.version else { return };
        let part = version.texts.document_part(document);
        self.documents.push(part);
        self.before.push(Before::Taken(document));
        self.seals.push(seal);
        let passages = version.graph.document_passages.of(document);
        let mut named = Vec::with_capacity(passages.len());
        for passage in passages {
            named.push(self.add_passage(version.passage(passage), part.media_type, None));
            for kind in [QuestionKind::Incoming, QuestionKind::Outgoing] {
                version.each_question(kind, passage, |question| self.add_question(kind, question));
            }
        }
        self.named.push(NamedDocument { title: part.title, passages: named });
    }

    fn add_passage(
        &mut self,
        passage: PassagePart<'a>,
        media_type: &'a str,
        extraction: Option<&'a Extraction>,
    ) -> NamedPassage<'a> {
        self.passages.push(passage);
        self.extractions.push(extraction);
        NamedPassage { text: passage.text, sentences: passage.sentences, media_type, extraction }
    }

    /// Adds a question of the last passage.
    fn add_question(&mut self, kind: QuestionKind, question: QuestionPart<'a>) {
        let passage = PassageOrdinal::at(self.passages.len() - 1);
        let (questions, passages) = match kind {
            QuestionKind::Incoming => (&mut self.incoming, &mut self.incoming_passage),
            QuestionKind::Outgoing => (&mut self.outgoing, &mut self.outgoing_passage),
        };
        questions.push(question);
        passages.push(passage);
    }

    pub(super) fn sentence_count(&self) -> usize {
        self.passages.iter().map(|passage| passage.sentences.len()).sum()
    }

    /// Returns, for each document, by what near-duplicates of it are found, and the first that it is nearly equal to.
    pub(super) fn originals(&self, difference: Option<&Difference<'_>>) -> (Vec<Bands>, Vec<DocumentOrdinal>) {
        let signature = |document: &NamedDocument<'_>| Signature::of(document.passages.iter().map(|it| it.text));
        let bands = |(number, document): (usize, &NamedDocument<'_>)| {
            let known = difference.and_then(|it| it.bands(DocumentOrdinal::at(number)));
            known.unwrap_or_else(|| signature(document).bands())
        };
        let bands: Vec<Bands> = self.named.par_iter().enumerate().map(bands).collect();
        let originals = originals(&bands, |number| signature(&self.named[number as usize]));
        (bands, originals.into_iter().map(DocumentOrdinal).collect())
    }

    /// Returns a digest of titles, passages and sentences, in order: of what names, their vectors and terms are made.
    pub(super) fn digest(&self) -> Digest {
        let mut inputs = Inputs::new();
        for document in &self.named {
            let title = document.title;
            inputs.number(usize::from(title.is_some())).text(title.unwrap_or_default());
            inputs.number(document.passages.len());
            for passage in &document.passages {
                if passage.is_code() {
                    inputs.text(passage.media_type);
                }
                inputs.text(passage.text).number(passage.sentences.len());
                for sentence in passage.sentences {
                    inputs.number(sentence.start as usize).number(sentence.end as usize);
                }
            }
        }
        inputs.digest()
    }

    /// Returns a digest of a model's extractions, passage by passage; none if there are none.
    pub(super) fn extracted(&self) -> Option<Digest> {
        let mut inputs = Inputs::new();
        let found = self.extractions.iter().enumerate().filter_map(|(passage, found)| Some((passage, (*found)?)));
        for (passage, Extraction { entities, relations, .. }) in found.clone() {
            inputs.number(passage).number(entities.len()).number(relations.len());
            for entity in entities {
                inputs.text(&entity.name).text(entity.kind.as_deref().unwrap_or_default()).text(&entity.description);
                inputs.number(entity.spans.len());
                for span in &entity.spans {
                    inputs.number(span.start as usize).number(span.end as usize);
                }
            }
            for relation in relations {
                let [first, second] = relation.ends;
                inputs.number(first as usize).number(second as usize).number(relation.strength.into());
                inputs.number(relation.evidence.start as usize).text(&relation.description);
            }
        }
        found.into_iter().next().map(|_| inputs.digest())
    }

    /// Returns the texts that have vectors.
    pub(super) fn texts(&self) -> Texts<'_> {
        let titles = self.named.iter().flat_map(|document| document.passages.iter().map(|_| document.title)).collect();
        Texts::of(&self.passages, titles, [&self.incoming, &self.outgoing])
    }
}
