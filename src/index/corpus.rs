//! The input of a version, in the order of its ordinals.

use std::sync::Arc;

use rayon::prelude::*;

use super::stages::difference::Difference;
use super::stages::vectors::Texts;
use super::stages::{Digest, Inputs};
use super::units::{Before, CorpusUnit, CorpusUnits, Version};
use crate::domain::{Extraction, QuestionKind};
use crate::graph::duplicates::{Bands, Signature, originals};
use crate::graph::mentions::{NamedDocument, NamedPassage};
use crate::graph::ordinal::{DocumentOrdinal, Ordinal as _, PassageOrdinal};
use crate::workspace::{DocumentPart, DocumentUnit, PassagePart, PassageUnit, QuestionParts, ReadQuestions, Seal};

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
    pub(super) incoming: QuestionParts<'a>,
    pub(super) outgoing: QuestionParts<'a>,
    /// The keywords of questions that were read, by number.
    pub(super) keywords: &'a [Arc<str>],
    /// The passage of each question.
    pub(super) incoming_passage: Vec<PassageOrdinal>,
    pub(super) outgoing_passage: Vec<PassageOrdinal>,
    /// The documents as names are found in them.
    pub(super) named: Vec<NamedDocument<'a>>,
}

/// A document, and what the last version has of it.
#[derive(Clone, Copy)]
enum Source<'a> {
    Read(&'a DocumentUnit, Option<DocumentOrdinal>),
    Taken(DocumentOrdinal),
}

/// The documents of a corpus, each with what the records say of it.
#[derive(Clone, Copy)]
struct Sources<'s, 'a> {
    documents: &'s [(Source<'a>, Option<Seal>)],
    questions: &'a ReadQuestions,
    version: Option<&'a Version<'a>>,
}

/// The questions of one kind, and the passage of each.
type Questions<'a> = (QuestionParts<'a>, Vec<PassageOrdinal>);

impl<'a> Corpus<'a> {
    pub(super) fn of(units: &'a CorpusUnits<'a>) -> Self {
        let source = |unit: &'a CorpusUnit| match unit {
            CorpusUnit::Read(unit, before) => Source::Read(unit, *before),
            CorpusUnit::Taken(document) => Source::Taken(*document),
        };
        let documents = units.units.iter().map(|(unit, seal)| (source(unit), *seal));
        let documents: Vec<_> = documents.filter(has_passages).collect();
        let sources = Sources { documents: &documents, questions: &units.questions, version: units.version.as_ref() };
        let questions = |kind| move || sources.questions(kind);
        let (corpus, ((incoming, incoming_passage), (outgoing, outgoing_passage))) = rayon::join(
            || sources.texts(),
            || rayon::join(questions(QuestionKind::Incoming), questions(QuestionKind::Outgoing)),
        );
        let keywords = units.questions.keywords();
        Self { incoming, outgoing, keywords, incoming_passage, outgoing_passage, ..corpus }
    }

    /// Adds a document with its passages.
    fn add(
        &mut self,
        document: DocumentPart<'a>,
        (before, seal): (Before, Option<Seal>),
        passages: Vec<NamedPassage<'a>>,
    ) {
        self.named.push(NamedDocument { title: document.title, passages });
        self.documents.push(document);
        self.before.push(before);
        self.seals.push(seal);
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

/// Returns whether a version has a document: one without passages has nothing to find.
fn has_passages((source, _): &(Source<'_>, Option<Seal>)) -> bool {
    !matches!(source, Source::Read(unit, _) if unit.passages.is_empty())
}

impl<'a> Sources<'_, 'a> {
    /// Returns a corpus with everything but the questions.
    fn texts(&self) -> Corpus<'a> {
        let mut corpus = self.reserved();
        for (source, seal) in self.documents {
            match *source {
                Source::Read(unit, before) => {
                    let media_type = &unit.document.media_type;
                    let passage = |it: &'a PassageUnit| {
                        let extraction = it.extracted.as_ref().map(|it| &it.found);
                        corpus.add_passage(PassagePart::from(&it.passage), media_type, extraction)
                    };
                    let passages = unit.passages.iter().map(passage).collect();
                    corpus.add(DocumentPart::from(&unit.document), (Before::Read(before), *seal), passages);
                }
                Source::Taken(document) => {
                    let Some(version) = self.version else { continue };
                    let part = version.texts.document_part(document);
                    let passages = version.graph.document_passages.of(document);
                    let passage = |it| corpus.add_passage(version.passage(it), part.media_type, None);
                    let passages = passages.map(passage).collect();
                    corpus.add(part, (Before::Taken(document), *seal), passages);
                }
            }
        }
        corpus
    }

    /// Returns a corpus with room for these documents and passages.
    fn reserved(&self) -> Corpus<'a> {
        let count = self.documents.len();
        let read = self.read().map(|unit| unit.passages.len()).sum::<usize>();
        let passages = read + self.version.map_or(0, |it| it.graph.passage_document.len());
        Corpus {
            documents: Vec::with_capacity(count),
            before: Vec::with_capacity(count),
            seals: Vec::with_capacity(count),
            named: Vec::with_capacity(count),
            passages: Vec::with_capacity(passages),
            extractions: Vec::with_capacity(passages),
            version: self.version,
            ..Corpus::default()
        }
    }

    fn read(&self) -> impl Iterator<Item = &'a DocumentUnit> {
        self.documents.iter().filter_map(|(it, _)| if let Source::Read(unit, _) = it { Some(*unit) } else { None })
    }

    /// Returns the questions of one kind. Lists of millions of them are not copied while they grow.
    fn questions(&self, kind: QuestionKind) -> Questions<'a> {
        let read = self.questions.of(kind);
        let of_version = self.version.map(|it| it.questions(kind));
        let count = read.len() + of_version.map_or(0, |it| it.sentences.len());
        let (mut questions, mut passages) = (QuestionParts::of(of_version, read), Vec::with_capacity(count));
        let (mut of_passages, mut number) = (read.of_passages().iter(), PassageOrdinal(0));
        for (source, _) in self.documents {
            match *source {
                Source::Read(unit, _) => {
                    for of_passage in of_passages.by_ref().take(unit.passages.len()) {
                        questions.extend_read(*of_passage as usize);
                        passages.resize(questions.len(), number);
                        number.0 += 1;
                    }
                }
                Source::Taken(document) => {
                    let Some(version) = self.version else { continue };
                    for passage in version.graph.document_passages.of(document) {
                        questions.extend_taken(version.numbers(kind, passage));
                        passages.resize(questions.len(), number);
                        number.0 += 1;
                    }
                }
            }
        }
        (questions, passages)
    }
}
