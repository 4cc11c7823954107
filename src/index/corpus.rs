//! The input of a version, in the order of its ordinals.

use rayon::prelude::*;

use super::stages::difference::Difference;
use super::stages::vectors::Texts;
use super::stages::{Digest, Inputs};
use super::units::{Before, CorpusUnits, Version};
use crate::domain::{Document, Extraction, Passage, PseudoQuery, QuestionKind};
use crate::graph::duplicates::{Bands, Signature, originals};
use crate::graph::mentions::{NamedDocument, NamedPassage};
use crate::graph::ordinal::{DocumentOrdinal, Ordinal as _, PassageOrdinal};
use crate::workspace::{DocumentUnit, PassageUnit, Seal};

/// The documents of a version with what it is made of, in the order of its ordinals. Of those that were taken from the
/// last version, the keywords of questions are there alone.
pub(super) struct Corpus<'a> {
    pub(super) documents: Vec<&'a Document>,
    /// What the last version has of each document.
    pub(super) before: Vec<Before>,
    /// What the records say of each document, for the version after this.
    pub(super) seals: Vec<Option<Seal>>,
    /// The last version, if it can be taken from.
    pub(super) version: Option<&'a Version<'a>>,
    pub(super) passages: Vec<&'a Passage>,
    /// A model's extraction from each passage, if one was asked.
    pub(super) extractions: Vec<Option<&'a Extraction>>,
    pub(super) incoming: Vec<&'a PseudoQuery>,
    pub(super) outgoing: Vec<&'a PseudoQuery>,
    /// The passage of each question.
    pub(super) incoming_passage: Vec<PassageOrdinal>,
    pub(super) outgoing_passage: Vec<PassageOrdinal>,
    /// The documents as names are found in them.
    pub(super) named: Vec<NamedDocument<'a>>,
}

impl<'a> Corpus<'a> {
    pub(super) fn of(units: &'a [DocumentUnit]) -> Self {
        Self::of_each(units.iter().map(|unit| (unit, (Before::Read(None), None))), None)
    }

    /// Returns the corpus of documents of which some were taken from the last version.
    pub(super) fn after(units: &'a CorpusUnits<'a>) -> Self {
        let CorpusUnits { units, before, seals, version } = units;
        let known = before.iter().copied().zip(seals.iter().copied());
        Self::of_each(units.iter().zip(known), version.as_ref())
    }

    fn of_each(
        units: impl ExactSizeIterator<Item = (&'a DocumentUnit, (Before, Option<Seal>))>,
        version: Option<&'a Version<'a>>,
    ) -> Self {
        let mut corpus = Self {
            documents: Vec::with_capacity(units.len()),
            before: Vec::with_capacity(units.len()),
            seals: Vec::with_capacity(units.len()),
            version,
            passages: Vec::new(),
            extractions: Vec::new(),
            incoming: Vec::new(),
            outgoing: Vec::new(),
            incoming_passage: Vec::new(),
            outgoing_passage: Vec::new(),
            named: Vec::with_capacity(units.len()),
        };
        for (unit, (before, seal)) in units.filter(|(unit, _)| !unit.passages.is_empty()) {
            corpus.documents.push(&unit.document);
            corpus.before.push(before);
            corpus.seals.push(seal);
            corpus.named.push(named(unit));
            for passage in &unit.passages {
                let number = PassageOrdinal::at(corpus.passages.len());
                corpus.passages.push(&passage.passage);
                corpus.extractions.push(passage.extracted.as_ref().map(|it| &it.found));
                for question in &passage.questions {
                    let (questions, passages) = match question.kind {
                        QuestionKind::Incoming => (&mut corpus.incoming, &mut corpus.incoming_passage),
                        QuestionKind::Outgoing => (&mut corpus.outgoing, &mut corpus.outgoing_passage),
                    };
                    questions.push(question);
                    passages.push(number);
                }
            }
        }
        corpus
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
    pub(super) fn texts(&self) -> Texts<'a> {
        let mut documents = self.documents.iter().peekable();
        let mut titles = Vec::with_capacity(self.passages.len());
        for passage in &self.passages {
            while documents.next_if(|document| document.id != passage.document).is_some() {}
            titles.push(documents.peek().and_then(|document| document.title.as_deref()));
        }
        Texts::of(&self.passages, &titles, [&self.incoming, &self.outgoing])
    }
}

fn named(unit: &DocumentUnit) -> NamedDocument<'_> {
    let DocumentUnit { document, passages, .. } = unit;
    let passages = passages.iter().map(|PassageUnit { passage, extracted, .. }| NamedPassage {
        text: &passage.text,
        sentences: &passage.sentences,
        media_type: &document.media_type,
        extraction: extracted.as_ref().map(|it| &it.found),
    });
    NamedDocument { title: document.title.as_deref(), passages: passages.collect() }
}
