//! The lexical fields of a version: terms of passages and sentences, and how many each has. Where few documents
//! changed, the fields of the last version stay, and what came since lies in a second segment beside them.

use rayon::prelude::*;

use super::difference::Difference;
use super::{Digest, Inputs, Made, Stage, StageKind};
use crate::domain::{Cancellation, Span};
use crate::error::Result;
use crate::graph::mentions::{NamedDocument, NamedPassage};
use crate::graph::ordinal::PassageOrdinal;
use crate::graph::segments::{FieldChange, GONE, GoneTerms, PackedSegments};
use crate::index::corpus::Corpus;
use crate::text::terms;
use crate::workspace::{FieldTerms, HeldTerms, LastVersion, Terms};

/// Passages that are analyzed together.
const BLOCK: usize = 4_096;

/// Finds the terms of a corpus whose texts have this digest.
pub(in crate::index) struct FindTerms<'c> {
    pub(in crate::index) corpus: &'c Corpus<'c>,
    pub(in crate::index) difference: Option<&'c Difference<'c>>,
    pub(in crate::index) texts: Digest,
    pub(in crate::index) cancellation: &'c Cancellation,
}

/// The terms of a corpus.
pub(in crate::index) struct FoundTerms {
    pub(in crate::index) lengths: Lengths,
    pub(in crate::index) fields: Fields,
}

/// How many terms each passage and each sentence has in its field.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::index) struct Lengths {
    pub(in crate::index) passages: Vec<u32>,
    pub(in crate::index) sentences: Vec<u32>,
}

/// The lexical fields.
pub(in crate::index) enum Fields {
    Made(LexicalFields),
    Changed { earlier: HeldTerms, segments: Box<PackedSegments>, added: LexicalFields },
    TakenOver(HeldTerms),
}

impl Fields {
    /// Returns them as a version takes them.
    pub(in crate::index) fn view(&self) -> Terms<'_> {
        match self {
            Self::Made(fields) => Terms::Made(fields),
            Self::Changed { earlier, segments, added } => Terms::Changed { earlier, segments, added },
            Self::TakenOver(held) => Terms::TakenOver(held),
        }
    }
}

impl<'v> Stage<'v> for FindTerms<'_> {
    type Part = FoundTerms;

    fn kind(&self) -> StageKind {
        StageKind::Terms
    }

    fn inputs(&self, inputs: &mut Inputs) {
        inputs.bytes(self.texts.as_bytes());
    }

    fn take_over(&self, last: &'v LastVersion) -> Option<FoundTerms> {
        let graph = last.graph()?;
        let lengths = Lengths { passages: graph.passage_length.to_vec(), sentences: graph.sentence_length.to_vec() };
        let counts = (self.corpus.passages.len(), self.corpus.sentence_count());
        let is_of_corpus = (lengths.passages.len(), lengths.sentences.len()) == counts;
        is_of_corpus.then_some(FoundTerms { lengths, fields: Fields::TakenOver(last.terms()?) })
    }

    async fn make(self) -> Result<Made<FoundTerms>> {
        if let Some(difference) = self.difference
            && let Some(found) = self.changed(difference)?
        {
            return Ok(Made::whole(found));
        }
        let fields = LexicalFields::of(&self.corpus.named, self.cancellation)?;
        Ok(Made::whole(FoundTerms { lengths: fields.lengths(), fields: Fields::Made(fields) }))
    }
}

impl FindTerms<'_> {
    /// Finds the terms of what came since the first segments were written; none where too much did, or what is known of
    /// these is damaged.
    fn changed(&self, difference: &Difference<'_>) -> Result<Option<FoundTerms>> {
        let counts = [self.corpus.passages.len(), self.corpus.sentence_count()];
        let Some(earlier) = difference.last.terms() else { return Ok(None) };
        let segments = earlier.segments();
        let [first_passages, first_sentences] =
            [segments.map(|it| it.passages().first), segments.map(|it| it.sentences().first)];
        let (Some(passages), Some(sentences)) = (
            FieldChange::of(first_passages, &difference.passages, counts[0]),
            FieldChange::of(first_sentences, &difference.sentences, counts[1]),
        ) else {
            return Ok(None);
        };
        let added = LexicalFields::of(&added_documents(self.corpus, &passages.second), self.cancellation)?;
        let gone = LexicalFields::of_gone(difference, &passages.gone, self.cancellation)?;
        let is_whole = (added.passages.len(), added.sentences.len()) == (passages.second.len(), sentences.second.len())
            && gone.sentences.len() == sentences.gone.len();
        if !is_whole {
            return Ok(None);
        }
        let mut all_gone = segments.map(|it| it.all_gone()).unwrap_or_default();
        gone.count(&mut all_gone);
        let lengths = Lengths {
            passages: lengths(&difference.graph.passage_length, &difference.passages, counts[0]),
            sentences: lengths(&difference.graph.sentence_length, &difference.sentences, counts[1]),
        };
        let lengths = lengths.with(&added, [&passages.second, &sentences.second]);
        let segments = Box::new(PackedSegments::of(passages, sentences, &all_gone));
        Ok(Some(FoundTerms { lengths, fields: Fields::Changed { earlier, segments, added } }))
    }
}

/// Returns the documents whose first passage is one of `passages`, which ascend.
fn added_documents<'c>(corpus: &Corpus<'c>, passages: &[u32]) -> Vec<NamedDocument<'c>> {
    let mut next = 0;
    let is_added = |document: &&NamedDocument<'_>| {
        let first = next;
        next += document.passages.len() as u32;
        passages.binary_search(&first).is_ok()
    };
    corpus.named.iter().filter(is_added).cloned().collect()
}

/// Returns the lengths of `count` texts that were known in the last version, where each of its texts is `now`.
fn lengths(known: &[u32], now: &[u32], count: usize) -> Vec<u32> {
    let mut lengths = vec![0; count];
    for (length, now) in known.iter().zip(now).filter(|(_, now)| **now != GONE) {
        lengths[*now as usize] = *length;
    }
    lengths
}

impl Lengths {
    /// Returns them with those of texts that came.
    fn with(mut self, added: &LexicalFields, [passages, sentences]: [&[u32]; 2]) -> Self {
        let of_added = added.lengths();
        for (all, (places, lengths)) in [
            (&mut self.passages, (passages, of_added.passages)),
            (&mut self.sentences, (sentences, of_added.sentences)),
        ] {
            for (place, length) in places.iter().zip(lengths) {
                all[*place as usize] = length;
            }
        }
        self
    }
}

/// Terms of every title and sentence of some documents, separated by spaces. What a field holds of them is put together
/// when it is written: together they are many times as long.
#[derive(Default)]
pub(in crate::index) struct LexicalFields {
    /// Terms of the titles, by document.
    titles: Vec<String>,
    passages: Vec<PassageTerms>,
    sentences: Vec<SentenceTerms>,
}

struct PassageTerms {
    /// Which of the documents it is in.
    document: u32,
    /// Its terms without the title, sentence after sentence.
    terms: String,
}

struct SentenceTerms {
    /// Which of the passages it is in.
    passage: u32,
    /// Where its terms lie among those of its passage.
    span: Span,
}

impl LexicalFields {
    /// Analyzes every text once.
    fn of(documents: &[NamedDocument<'_>], cancellation: &Cancellation) -> Result<Self> {
        let mut fields = Self {
            titles: documents.par_iter().map(|it| it.title.map_or_else(String::new, joined)).collect(),
            ..Self::default()
        };
        let passages = documents.iter().zip(0..);
        let passages = passages.flat_map(|(document, number)| document.passages.iter().map(move |it| (number, *it)));
        let passages: Vec<(u32, NamedPassage<'_>)> = passages.collect();
        for block in passages.chunks(BLOCK) {
            cancellation.check()?;
            let analyzed = block.par_iter().map(|(document, passage)| (*document, terms_of(passage)));
            for (document, (terms, spans)) in analyzed.collect::<Vec<_>>() {
                let passage = fields.passages.len() as u32;
                fields.passages.push(PassageTerms { document, terms });
                fields.sentences.extend(spans.into_iter().map(|span| SentenceTerms { passage, span }));
            }
        }
        Ok(fields)
    }

    /// Analyzes these passages of the last version.
    fn of_gone(difference: &Difference<'_>, passages: &[u32], cancellation: &Cancellation) -> Result<Self> {
        let passages: Vec<_> = passages.iter().map(|it| difference.passage(PassageOrdinal(*it))).collect();
        let documents = passages.iter().map(|(title, text, sentences)| NamedDocument {
            title: *title,
            passages: vec![NamedPassage { text, sentences, media_type: "", extraction: None }],
        });
        Self::of(&documents.collect::<Vec<_>>(), cancellation)
    }

    fn lengths(&self) -> Lengths {
        let of_passage = |it: &PassageTerms| 2 * length(self.title(it)) + length(&it.terms);
        let of_sentence = |it: &SentenceTerms| {
            let (title, terms) = self.of_sentence(it);
            length(title) + length(terms)
        };
        Lengths {
            passages: self.passages.iter().map(of_passage).collect(),
            sentences: self.sentences.iter().map(of_sentence).collect(),
        }
    }

    /// Adds how many of the passages and sentences have each term.
    fn count(&self, counts: &mut GoneTerms) {
        let mut count = |which: usize, terms: [&str; 2]| {
            let mut terms: Vec<&str> = terms.iter().flat_map(|it| it.split_ascii_whitespace()).collect();
            terms.sort_unstable();
            terms.dedup();
            for term in terms {
                let count = &mut counts.entry(term.to_owned()).or_default()[which];
                *count = count.saturating_add(1);
            }
        };
        self.passages.iter().for_each(|it| count(0, [self.title(it), &it.terms]));
        self.sentences.iter().for_each(|it| count(1, self.of_sentence(it).into()));
    }

    fn title(&self, passage: &PassageTerms) -> &str {
        &self.titles[passage.document as usize]
    }

    /// Returns the terms of the title and those of the sentence.
    fn of_sentence(&self, sentence: &SentenceTerms) -> (&str, &str) {
        let passage = &self.passages[sentence.passage as usize];
        (self.title(passage), sentence.span.of(&passage.terms).trim_start())
    }
}

impl FieldTerms for LexicalFields {
    /// Appends the terms of a passage: its title twice and its text.
    fn passage(&self, passage: usize, terms: &mut String) {
        let passage = &self.passages[passage];
        let title = self.title(passage);
        for part in [title, title, &passage.terms] {
            append(part, terms);
        }
    }

    /// Appends the terms of a sentence: its title and its text.
    fn sentence(&self, sentence: usize, terms: &mut String) {
        let (title, own) = self.of_sentence(&self.sentences[sentence]);
        append(title, terms);
        append(own, terms);
    }
}

/// Returns the terms of a passage, and where those of each sentence lie.
fn terms_of(passage: &NamedPassage<'_>) -> (String, Vec<Span>) {
    let (mut terms, mut spans) = (String::new(), Vec::with_capacity(passage.sentences.len()));
    for sentence in passage.sentences {
        let start = terms.len();
        append(&joined(sentence.of(passage.text)), &mut terms);
        spans.push(Span::from(start..terms.len()));
    }
    terms.shrink_to_fit();
    (terms, spans)
}

fn joined(text: &str) -> String {
    terms(text).join(" ")
}

fn append(part: &str, terms: &mut String) {
    if !part.is_empty() {
        if !terms.is_empty() {
            terms.push(' ');
        }
        terms.push_str(part);
    }
}

fn length(terms: &str) -> u32 {
    terms.split_ascii_whitespace().count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_has_the_title_and_the_terms_of_its_sentences() {
        let spans = [(0, 3), (4, 15), (16, 19), (20, 26)].map(|(start, end): (usize, usize)| Span::from(start..end));
        let passage = |text, sentences| NamedPassage { text, sentences, media_type: "", extraction: None };
        let passages = vec![passage("… River Tarn. … Harbor", &spans[..]), passage("", &[])];
        let documents = [NamedDocument { title: Some("Mills"), passages }];
        let fields = LexicalFields::of(&documents, &Cancellation::default()).unwrap();
        let text = |append: &dyn Fn(&mut String)| {
            let mut terms = String::new();
            append(&mut terms);
            terms
        };
        let sentences = [0, 1, 2, 3].map(|it| text(&|terms| fields.sentence(it, terms)));
        assert_eq!(sentences, ["mill", "mill river tarn", "mill", "mill harbor"]);
        let passages = [0, 1].map(|it| text(&|terms| fields.passage(it, terms)));
        assert_eq!(passages, ["mill mill river tarn harbor", "mill mill"]);
        assert_eq!(fields.lengths(), Lengths { passages: vec![5, 2], sentences: vec![1, 3, 1, 2] });
        let mut counts = GoneTerms::new();
        fields.count(&mut counts);
        let counts: Vec<(&str, [u32; 2])> = counts.iter().map(|(term, counts)| (term.as_str(), *counts)).collect();
        assert_eq!(counts, [("harbor", [1, 1]), ("mill", [2, 4]), ("river", [1, 1]), ("tarn", [1, 1])]);
    }
}
