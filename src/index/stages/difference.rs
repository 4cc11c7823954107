//! Which documents of a corpus the last version has too, word for word: what was made of each alone need not be made
//! again.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::vectors::Field;
use super::{MADE_BY, made_by};
use crate::domain::{DocumentId, Span};
use crate::graph::mentions::{NamedDocument, NamedPassage};
use crate::graph::ordinal::{
    DocumentOrdinal, IncomingOrdinal, Ordinal as _, Ordinals, OutgoingOrdinal, PassageOrdinal, SentenceOrdinal,
};
use crate::graph::packed::PassageGraph;
use crate::graph::segments::GONE;
use crate::index::corpus::Corpus;
use crate::workspace::{LastVersion, TextsFile};

/// Which documents of a corpus the last version has too.
pub(in crate::index) struct Difference<'c> {
    corpus: &'c Corpus<'c>,
    pub(super) last: &'c LastVersion,
    pub(super) graph: PassageGraph<'c>,
    texts: &'c TextsFile,
    /// For each passage and sentence of the last version, what it is now, ascending; or [`GONE`].
    pub(super) passages: Vec<u32>,
    pub(super) sentences: Vec<u32>,
}

impl<'c> Difference<'c> {
    /// Compares a corpus with the last version; none where that is damaged, or was made by another release or other
    /// versions of the stages: these may make something else of the same text.
    pub(in crate::index) fn of(corpus: &'c Corpus<'c>, last: &'c LastVersion) -> Option<Self> {
        let (graph, texts) = Self::parts(last)?;
        let documents: FxHashMap<DocumentId, DocumentOrdinal> =
            graph.documents().map(|document| (texts.document_id(document), document)).collect();
        let named = corpus.named();
        let is_same = |(named, id): (&NamedDocument<'_>, DocumentId)| {
            let document = *documents.get(&id)?;
            is_same(named, texts, &graph, document).then_some(document)
        };
        let known = corpus.documents.iter().map(|document| document.id).zip(corpus.before.iter().copied());
        let known: Vec<(DocumentId, Option<DocumentOrdinal>)> = known.collect();
        let same = named.par_iter().zip(known).map(|(named, (id, before))| before.or_else(|| is_same((named, id))));
        let same: Vec<Option<DocumentOrdinal>> = same.collect();
        let mut difference = Self {
            corpus,
            last,
            graph,
            texts,
            passages: vec![GONE; graph.passage_count()],
            sentences: vec![GONE; graph.sentence_count()],
        };
        difference.number(&named, &same);
        Some(difference)
    }

    /// Returns the structure and the texts of the last version, if parts of it may be what this release makes.
    pub(in crate::index) fn parts(last: &'c LastVersion) -> Option<(PassageGraph<'c>, &'c TextsFile)> {
        last.mark(MADE_BY).filter(|mark| **mark == made_by())?;
        Some((last.graph()?, last.texts()?))
    }

    /// Numbers what stays. Documents keep their order; one that would not is taken for another.
    fn number(&mut self, named: &[NamedDocument<'_>], same: &[Option<DocumentOrdinal>]) {
        let (mut passage, mut sentence, mut after) = (0, 0, None);
        for (document, same) in named.iter().zip(same) {
            let sentences = document.passages.iter().map(|it| it.sentences.len() as u32).sum::<u32>();
            if let Some(last) = same.filter(|last| after < Some(*last)) {
                after = Some(last);
                let passages = self.graph.document_passages.of(last);
                for (before, now) in passages.clone().zip(passage..) {
                    self.passages[before.index()] = now;
                }
                for (before, now) in passages.flat_map(|it| self.graph.passage_sentences.of(it)).zip(sentence..) {
                    self.sentences[before.index()] = now;
                }
            }
            passage += document.passages.len() as u32;
            sentence += sentences;
        }
    }

    /// Returns which rows of a field are the same text, in the last version and now.
    pub(super) fn rows(&self, field: Field) -> Vec<(u32, u32)> {
        let (corpus, outgoing) = (self.corpus, self.texts.outgoing_passages());
        match field {
            Field::Passages => live(&self.passages),
            Field::Sentences => live(&self.sentences),
            Field::Incoming => self.questions(&self.graph.incoming_passage, &corpus.incoming_passage, |before, now| {
                self.texts.incoming(IncomingOrdinal(before)) == corpus.incoming[now].text
            }),
            Field::Outgoing => self.questions(&outgoing, &corpus.outgoing_passage, |before, now| {
                self.texts.outgoing(OutgoingOrdinal(before)) == corpus.outgoing[now].text
            }),
        }
    }

    /// Returns which questions of a field are taken from the last version, by their numbers there and now.
    pub(super) fn taken(&self, field: Field) -> Vec<(u32, u32)> {
        let passages = match field {
            Field::Outgoing => &self.corpus.outgoing_passage,
            Field::Passages | Field::Sentences | Field::Incoming => &self.corpus.incoming_passage,
        };
        let mut is_taken = Vec::with_capacity(self.corpus.passages.len());
        let mut documents = self.corpus.documents.iter().zip(&self.corpus.before).peekable();
        for passage in &self.corpus.passages {
            while documents.next_if(|(document, _)| document.id != passage.document).is_some() {}
            is_taken.push(documents.peek().is_some_and(|(_, before)| before.is_some()));
        }
        let mut rows = self.rows(field);
        rows.retain(|(_, now)| is_taken[passages[*now as usize].index()]);
        rows
    }

    /// Pairs the questions of each passage that stays, as far as they are the same; `before` and `now` are the passages
    /// of the questions, ascending.
    fn questions(
        &self,
        before: &[PassageOrdinal],
        now: &[PassageOrdinal],
        is_same: impl Fn(u32, usize) -> bool,
    ) -> Vec<(u32, u32)> {
        let mut rows = Vec::new();
        let mut start = 0;
        for of_passage in before.chunk_by(|one, other| one == other) {
            let row = start;
            start += of_passage.len();
            let passage = PassageOrdinal(self.passages[of_passage[0].index()]);
            let first = now.partition_point(|it| *it < passage);
            let questions = now[first..].iter().take_while(|it| **it == passage).count().min(of_passage.len());
            let pairs = (0..questions).map(|it| ((row + it) as u32, first + it));
            rows.extend(pairs.filter(|(row, now)| is_same(*row, *now)).map(|(row, now)| (row, now as u32)));
        }
        rows
    }

    /// Returns whether a passage of the last version is gone.
    pub(super) fn is_gone(&self, passage: PassageOrdinal) -> bool {
        self.passages[passage.index()] == GONE
    }

    /// Returns the passages of the last version that are gone, as far as words are counted in them.
    pub(super) fn gone(&self) -> Vec<NamedPassage<'c>> {
        let gone = self.graph.passages().filter(|passage| self.is_gone(*passage));
        let named = |passage| NamedPassage {
            text: self.texts.passage_text(passage),
            sentences: &[],
            media_type: self.texts.media_type(self.graph.passage_document[passage]),
            extraction: None,
        };
        gone.map(named).collect()
    }

    /// Returns the title and text of a passage of the last version, and its sentences.
    pub(super) fn passage(&self, passage: PassageOrdinal) -> (Option<&'c str>, &'c str, Vec<Span>) {
        let title = self.texts.title(self.graph.passage_document[passage]);
        let sentences = self.graph.passage_sentences.of(passage);
        (title, self.texts.passage_text(passage), self.texts.sentences(sentences).collect())
    }
}

/// Returns what each text was that is not gone, and what it is now.
fn live(now: &[u32]) -> Vec<(u32, u32)> {
    (0..).zip(now).filter(|(_, now)| **now != GONE).map(|(before, now)| (before, *now)).collect()
}

/// Returns whether a document is one of the last version with the same title, media type, passages and sentences.
fn is_same(named: &NamedDocument<'_>, texts: &TextsFile, graph: &PassageGraph<'_>, document: DocumentOrdinal) -> bool {
    let passages: Ordinals<PassageOrdinal> = graph.document_passages.of(document);
    let is_alike = named.title == texts.title(document) && named.passages.len() == passages.len();
    is_alike
        && named.passages.iter().zip(passages).all(|(named, passage)| {
            let sentences: Ordinals<SentenceOrdinal> = graph.passage_sentences.of(passage);
            named.text == texts.passage_text(passage)
                && named.media_type == texts.media_type(document)
                && named.sentences.len() == sentences.len()
                && texts.sentences(sentences).eq(named.sentences.iter().copied())
        })
}
