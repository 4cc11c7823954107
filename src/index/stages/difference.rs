//! Which documents of a corpus the last version has too, with the same title, media type, passages and sentences: what
//! was made of each alone need not be made again.

use rayon::prelude::*;

use super::vectors::Field;
use crate::domain::Span;
use crate::graph::duplicates::Bands;
use crate::graph::mentions::{NamedDocument, NamedPassage};
use crate::graph::ordinal::{
    DocumentOrdinal, IncomingOrdinal, Ordinal as _, Ordinals, OutgoingOrdinal, PassageOrdinal, SentenceOrdinal,
};
use crate::graph::packed::PassageGraph;
use crate::graph::segments::GONE;
use crate::index::corpus::Corpus;
use crate::index::units::{Before, Version};
use crate::workspace::{LastVersion, TextsFile};

/// Which documents of a corpus the last version has too.
pub(in crate::index) struct Difference<'c> {
    corpus: &'c Corpus<'c>,
    pub(super) last: &'c LastVersion,
    pub(super) graph: PassageGraph<'c>,
    texts: &'c TextsFile,
    /// For each document, what it is in the last version, if that has it.
    documents: Vec<Option<DocumentOrdinal>>,
    /// For each passage, whether its document is taken from there.
    is_taken: Vec<bool>,
    /// For each passage and sentence of the last version, what it is now, ascending; or [`GONE`].
    pub(super) passages: Vec<u32>,
    pub(super) sentences: Vec<u32>,
}

impl<'c> Difference<'c> {
    /// Compares a corpus with the last version; none where nothing can be taken from that. Where documents of the
    /// corpus were, something can.
    pub(in crate::index) fn of(corpus: &'c Corpus<'c>, last: &'c LastVersion) -> Option<Self> {
        let Version { graph, texts } = *corpus.version?;
        let before = |(named, before): (&NamedDocument<'_>, &Before)| match before {
            Before::Read(document) => Before::Read(document.filter(|it| is_same(named, texts, &graph, *it))),
            Before::Taken(document) => Before::Taken(*document),
        };
        let same: Vec<Before> = corpus.named.par_iter().zip(&corpus.before).map(before).collect();
        let mut difference = Self {
            corpus,
            last,
            graph,
            texts,
            documents: in_order(&same),
            is_taken: Vec::with_capacity(corpus.passages.len()),
            passages: vec![GONE; graph.passage_count()],
            sentences: vec![GONE; graph.sentence_count()],
        };
        difference.number(&corpus.named);
        Some(difference)
    }

    /// Numbers what stays.
    fn number(&mut self, named: &[NamedDocument<'_>]) {
        let (mut passage, mut sentence) = (0, 0);
        for ((document, same), before) in named.iter().zip(&self.documents).zip(&self.corpus.before) {
            let is_taken = matches!(before, Before::Taken(_));
            self.is_taken.extend(document.passages.iter().map(|_| is_taken));
            let sentences = document.passages.iter().map(|it| it.sentences.len() as u32).sum::<u32>();
            if let Some(last) = same {
                let passages = self.graph.document_passages.of(*last);
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

    /// Returns by what near-duplicates of a document are found, as far as the last version has that.
    pub(in crate::index) fn bands(&self, document: DocumentOrdinal) -> Option<Bands> {
        self.texts.bands(self.documents[document.index()]?)
    }

    /// Returns which rows of a field are the same text, in the last version and now.
    pub(super) fn rows(&self, field: Field) -> Vec<(u32, u32)> {
        let (corpus, outgoing) = (self.corpus, self.texts.outgoing_passages());
        match field {
            Field::Passages => live(&self.passages),
            Field::Sentences => live(&self.sentences),
            Field::Incoming => self.questions(&self.graph.incoming_passage, &corpus.incoming_passage, |before, now| {
                self.texts.incoming(IncomingOrdinal(before)) == corpus.incoming.get(now).text
            }),
            Field::Outgoing => self.questions(&outgoing, &corpus.outgoing_passage, |before, now| {
                self.texts.outgoing(OutgoingOrdinal(before)) == corpus.outgoing.get(now).text
            }),
        }
    }

    /// Returns which questions of a field are taken from the last version, by their numbers there and now.
    pub(super) fn taken(&self, field: Field) -> Vec<(u32, u32)> {
        let passages = match field {
            Field::Outgoing => &self.corpus.outgoing_passage,
            Field::Passages | Field::Sentences | Field::Incoming => &self.corpus.incoming_passage,
        };
        let mut rows = self.rows(field);
        rows.retain(|(_, now)| self.is_taken[passages[*now as usize].index()]);
        rows
    }

    /// Pairs the questions of each passage that stays, as far as they are the same: those that were taken are. `before`
    /// and `now` are the passages of the questions, ascending.
    fn questions(
        &self,
        before: &[PassageOrdinal],
        now: &[PassageOrdinal],
        is_same: impl Fn(u32, usize) -> bool,
    ) -> Vec<(u32, u32)> {
        let mut rows = Vec::with_capacity(before.len());
        let mut start = 0;
        for of_passage in before.chunk_by(|one, other| one == other) {
            let row = start;
            start += of_passage.len();
            let passage = PassageOrdinal(self.passages[of_passage[0].index()]);
            let is_taken = self.is_taken.get(passage.index()).is_some_and(|it| *it);
            let first = now.partition_point(|it| *it < passage);
            let questions = now[first..].iter().take_while(|it| **it == passage).count().min(of_passage.len());
            let pairs = (0..questions).map(|it| ((row + it) as u32, first + it));
            rows.extend(pairs.filter(|(row, now)| is_taken || is_same(*row, *now)).map(|(row, now)| (row, now as u32)));
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

/// Returns which documents stay. They keep their order: one that would not is taken for another, and is one that was
/// read, since of those that were taken, the last version alone has the keywords.
fn in_order(same: &[Before]) -> Vec<Option<DocumentOrdinal>> {
    let taken = |same: &Before| if let Before::Taken(document) = same { Some(*document) } else { None };
    let mut next_taken: Vec<Option<DocumentOrdinal>> = Vec::with_capacity(same.len());
    for same in same.iter().rev() {
        next_taken.push(taken(same).or(next_taken.last().copied().flatten()));
    }
    let mut after = None;
    let stays = |(same, next): (&Before, Option<DocumentOrdinal>)| {
        let document = match same {
            Before::Taken(document) => Some(*document),
            Before::Read(document) => document.filter(|it| after < Some(*it) && next.is_none_or(|next| *it < next)),
        };
        after = document.or(after);
        document
    };
    same.iter().zip(next_taken.into_iter().rev()).map(stays).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_that_were_taken_stay_and_those_that_were_read_if_they_keep_the_order() {
        let (taken, read) = (|it| Before::Taken(DocumentOrdinal(it)), |it| Before::Read(Some(DocumentOrdinal(it))));
        let none = Before::Read(None);
        for (same, expect) in [
            // The last one comes first now.
            (vec![read(3), taken(0), taken(1), taken(2)], vec![None, Some(0), Some(1), Some(2)]),
            (vec![taken(1), taken(2), taken(3), read(0)], vec![Some(1), Some(2), Some(3), None]),
            (vec![taken(0), read(2), none, taken(1), read(3)], vec![Some(0), None, None, Some(1), Some(3)]),
            (
                vec![read(0), read(2), taken(3), read(3), read(5), read(4)],
                vec![Some(0), Some(2), Some(3), None, Some(5), None],
            ),
            (vec![read(1), read(0)], vec![Some(1), None]),
            (vec![], vec![]),
        ] {
            let expect: Vec<Option<DocumentOrdinal>> = expect.into_iter().map(|it| it.map(DocumentOrdinal)).collect();
            assert_eq!(in_order(&same), expect, "{same:?}");
        }
    }
}
