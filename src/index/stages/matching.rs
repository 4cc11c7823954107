//! The question side of a version: its questions by number, matching, and the edges of the passage graph.

use rayon::prelude::*;

use super::difference::Difference;
use super::keywords::{KeywordTable, KnownKeywords, KnownSide};
use super::{Inputs, Made, Stage, StageKind};
use crate::domain::{Cancellation, QuestionId};
use crate::error::Result;
use crate::graph::elements::{passage_keywords, rows};
use crate::graph::matching::{
    Earlier, MatchOptions, Matched, Matches, PackedMatches, Questions, edges, mark_without_vector, match_questions,
};
use crate::graph::ordinal::{
    Column, DocumentOrdinal, IncomingOrdinal, KeywordOrdinal, Ordinal, OutgoingOrdinal, PassageOrdinal, Rows,
};
use crate::graph::packed::{PackedGraph, PassageGraph, equal_texts, row, text_at};
use crate::graph::segments::GONE;
use crate::graph::vectors::Vectors;
use crate::index::corpus::Corpus;
use crate::index::options::IndexOptions;
use crate::store::VectorField;
use crate::workspace::{LastVersion, QuestionPart};

/// Matches the questions of a corpus.
pub(in crate::index) struct Matching<'s> {
    sides: &'s Sides<'s>,
    incoming: Vectors<'s>,
    outgoing: Vectors<'s>,
    /// The document of each passage.
    documents: &'s [DocumentOrdinal],
    /// What it was before.
    last: Option<&'s LastVersion>,
    options: &'s MatchOptions,
    cancellation: &'s Cancellation,
}

impl<'s> Matching<'s> {
    /// Matches the questions of `sides`, which have these vectors.
    pub(in crate::index) fn of(
        sides: &'s Sides<'s>,
        (incoming, outgoing): (Vectors<'s>, Vectors<'s>),
        (packed, last): (&'s PackedGraph, Option<&'s LastVersion>),
        options: &'s IndexOptions,
    ) -> Self {
        let IndexOptions { matching, cancellation, .. } = options;
        Self { sides, incoming, outgoing, documents: &packed.passage_document, last, options: matching, cancellation }
    }
}

impl<'v> Stage<'v> for Matching<'_> {
    type Part = PackedMatches;

    fn kind(&self) -> StageKind {
        StageKind::Matching
    }

    /// Names are none of them: keywords are numbered with names, and matched as what they say.
    fn inputs(&self, inputs: &mut Inputs) {
        inputs.text(&format!("{:?}", self.options)).numbers(self.documents);
        self.sides.incoming.inputs(inputs);
        self.sides.outgoing.inputs(inputs);
        inputs.vectors(&self.incoming).vectors(&self.outgoing);
    }

    fn take_over(&self, last: &'v LastVersion) -> Option<PackedMatches> {
        let matches = last.matches()?;
        let [incoming, outgoing] = [self.sides.incoming.passage.len(), self.sides.outgoing.passage.len()];
        matches.check(incoming, outgoing).ok()?;
        // What is written down of the last version may be forged.
        matches.matched().all(|matched| self.sides.may_have(&matched)).then(|| matches.to_packed())
    }

    async fn make(self) -> Result<Made<PackedMatches>> {
        let (asked, answered) = (self.sides.outgoing.view(self.outgoing), self.sides.incoming.view(self.incoming));
        let earlier = self.last.and_then(|last| earlier(last, self.sides, self.options.keyword_frequency_max));
        let matches = match_questions(&asked, &answered, self.options, earlier.as_ref(), self.cancellation)?;
        Ok(Made::whole(matches))
    }
}

/// Returns what a version knows of matching.
fn earlier<'v>(last: &'v LastVersion, sides: &Sides<'_>, frequency_max: usize) -> Option<Earlier<'v>> {
    let (matches, graph, incoming): (Matches<'_>, _, _) =
        (last.matches()?, last.graph()?, last.vectors(VectorField::Incoming)?);
    let mut frequencies = vec![0; graph.keyword_ends.len()];
    graph.incoming_keyword.iter().for_each(|keyword| frequencies[keyword.index()] += 1);
    let frequent = graph.keyword_ends.ordinals().filter(|keyword| frequencies[keyword.index()] > frequency_max);
    let text = |keyword| text_at(&graph.keyword_ends, graph.keyword_texts.items(), keyword);
    let mut frequent: Vec<KeywordOrdinal> = frequent.filter_map(|keyword| sides.keyword(text(keyword))).collect();
    frequent.sort_unstable();
    Some(Earlier { matches, incoming, frequent })
}

/// The questions of both sides.
pub(in crate::index) struct Sides<'a> {
    incoming: Side<'a, IncomingOrdinal>,
    outgoing: Side<'a, OutgoingOrdinal>,
    /// Their keywords and the names of entities, by number.
    keyword_ends: Vec<u32>,
    keyword_texts: Vec<u8>,
}

impl<'a> Sides<'a> {
    /// Numbers the keywords of a corpus together with the names in `packed`. Those of questions that are taken from the
    /// last version are numbered there already.
    pub(in crate::index) fn of(
        corpus: &'a Corpus<'a>,
        difference: Option<&'a Difference<'a>>,
        packed: &PackedGraph,
    ) -> Self {
        let keywords = KnownKeywords::of(corpus, difference);
        let table = KeywordTable::of((&corpus.incoming, &corpus.outgoing), &keywords, packed);
        let (incoming, outgoing) = (keywords.incoming(), keywords.outgoing());
        let (known_incoming, known_outgoing) = known_marks(difference).unzip();
        let marks =
            (incoming.marks(&corpus.incoming, known_incoming), outgoing.marks(&corpus.outgoing, known_outgoing));
        Self {
            incoming: Side::of((&corpus.incoming, &corpus.incoming_passage), (&incoming, marks.0), &table, packed),
            outgoing: Side::of((&corpus.outgoing, &corpus.outgoing_passage), (&outgoing, marks.1), &table, packed),
            keyword_ends: table.ends,
            keyword_texts: table.texts,
        }
    }

    fn keyword(&self, text: &str) -> Option<KeywordOrdinal> {
        equal_texts(&self.keyword_ends, &self.keyword_texts, text).next()
    }

    /// Returns whether questions may be matched: those of one passage are not.
    fn may_have(&self, matched: &Matched) -> bool {
        self.outgoing.passage[matched.outgoing] != self.incoming.passage[matched.incoming]
    }
}

/// The questions of one side, with the numbers of what they belong to.
struct Side<'a, K> {
    questions: &'a [QuestionPart<'a>],
    passage: Column<'a, K, PassageOrdinal>,
    document: Vec<DocumentOrdinal>,
    keywords: Vec<u32>,
    keyword: Vec<KeywordOrdinal>,
    marks: Vec<u64>,
}

/// The marks of one side in the last version, and its vectors, if they were joined with these.
struct KnownMarks<'k> {
    marks: &'k [u64],
    vectors: Option<Vectors<'k>>,
}

impl KnownMarks<'_> {
    fn of(&self, before: u32) -> Option<u64> {
        Some(mark_without_vector(*self.marks.get(before as usize)?, self.vectors.as_ref(), before))
    }
}

/// Returns the marks of both sides in the last version.
fn known_marks<'c>(difference: Option<&Difference<'c>>) -> Option<(KnownMarks<'c>, KnownMarks<'c>)> {
    let last = difference?.last;
    let matches = last.matches()?;
    let (incoming, outgoing) = (last.vectors(VectorField::Incoming)?, last.outgoing_vectors()?);
    let has_vectors = !incoming.is_empty() && !outgoing.is_empty();
    let known = |marks, vectors| KnownMarks { marks, vectors: has_vectors.then_some(vectors) };
    Some((known(matches.incoming_mark.items(), incoming), known(matches.outgoing_mark.items(), outgoing)))
}

/// Questions whose marks are computed to see whether those of the last version are right.
const MARKS_TRIED: usize = 64;

impl<K: Ordinal + Sync> KnownSide<'_, K> {
    /// Returns the marks of questions: where they are taken from the last version, those that it has, unless one of a
    /// few is wrong, as in a forged file.
    fn marks(&self, questions: &[QuestionPart<'_>], known: Option<KnownMarks<'_>>) -> Vec<u64> {
        let mark = |bytes: &mut Vec<u8>, question: &QuestionPart<'_>, before: u32| match self.keywords(before) {
            Some(numbers) => mark(question.id, numbers.iter().map(|it| self.text(*it)), bytes),
            None => mark(question.id, question.keywords(), bytes),
        };
        let step = questions.len().div_ceil(MARKS_TRIED).max(1);
        let tried = questions.iter().zip(self.before).step_by(step).filter(|(_, before)| **before != GONE);
        let is_right = |known: &KnownMarks<'_>, question: &QuestionPart<'_>, before: u32| {
            known.of(before) == Some(mark(&mut Vec::new(), question, before))
        };
        let known = known.filter(|known| tried.clone().all(|(it, before)| is_right(known, it, *before)));
        let of_one = |bytes: &mut Vec<u8>, (question, before): (&QuestionPart<'_>, &u32)| {
            let known = known.as_ref().filter(|_| *before != GONE).and_then(|it| it.of(*before));
            known.unwrap_or_else(|| mark(bytes, question, *before))
        };
        questions.par_iter().zip(self.before).map_init(Vec::new, of_one).collect()
    }
}

/// Returns 64 bits that say which question it is, with its keywords.
fn mark<'k>(id: QuestionId, keywords: impl Iterator<Item = &'k str>, bytes: &mut Vec<u8>) -> u64 {
    let mut part = |part: &[u8]| {
        bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        bytes.extend_from_slice(part);
    };
    part(id.as_bytes());
    keywords.for_each(|keyword| part(keyword.as_bytes()));
    let digest = blake3::hash(bytes);
    bytes.clear();
    let mut first = [0; size_of::<u64>()];
    first.copy_from_slice(&digest.as_bytes()[..size_of::<u64>()]);
    u64::from_le_bytes(first)
}

impl<'a, K: Ordinal + Sync> Side<'a, K> {
    fn of(
        (questions, passage): (&'a [QuestionPart<'a>], &'a [PassageOrdinal]),
        (known, marks): (&KnownSide<'_, K>, Vec<u64>),
        table: &KeywordTable<'_>,
        packed: &PackedGraph,
    ) -> Self {
        let document = passage.iter().map(|passage| packed.passage_document[passage.index()]).collect();
        let passage = Column::new(passage);
        let (mut keywords, mut keyword) =
            (Vec::with_capacity(questions.len() + 1), Vec::with_capacity(known.keyword_count()));
        keywords.push(0);
        for (question, before) in questions.iter().zip(known.before) {
            let first = keyword.len();
            match known.keywords(*before) {
                Some(numbers) => keyword.extend(numbers.iter().map(|it| table.now[it.index()])),
                None => keyword.extend(question.keywords().filter_map(|it| table.added.get(it).copied())),
            }
            keyword[first..].sort_unstable();
            keywords.push(keyword.len() as u32);
        }
        Self { questions, passage, document, keywords, keyword, marks }
    }

    fn sentences(&self) -> Vec<u32> {
        self.questions.iter().map(|question| question.sentence).collect()
    }

    fn inputs(&self, inputs: &mut Inputs) {
        inputs.numbers(&self.passage).bytes(bytemuck::cast_slice(&self.marks));
    }

    fn view<'v>(&'v self, vectors: Vectors<'v>) -> Questions<'v, K> {
        Questions {
            passage: self.passage,
            document: Column::new(&self.document),
            keywords: Rows::new(&self.keywords),
            keyword: Column::new(&self.keyword),
            vectors,
            marks: &self.marks,
        }
    }
}

/// Keywords for which there is room at first, for each edge: few have more.
const KEYWORDS_OF_EDGE: usize = 8;

/// Lays questions, their keywords and their edges out, of a graph with `names`; returns how many edges were cut, too.
pub(in crate::index) fn pack_edges(
    matches: &PackedMatches,
    sides: Sides<'_>,
    names: &PassageGraph<'_>,
) -> (PackedGraph, usize) {
    let Sides { incoming, outgoing, keyword_ends, keyword_texts } = sides;
    let mut packed = PackedGraph { keyword_ends, keyword_texts, ..PackedGraph::default() };
    let pairs: Vec<Matched> = matches.view().matched().collect();
    let (edges, cut) = edges(&pairs, outgoing.passage, incoming.passage, names.passage_count());
    packed.passage_edges = rows(edges.iter().map(|edge| edge.from), names.passage_count());
    packed.edge_target.reserve_exact(edges.len());
    packed.edge_incoming.reserve_exact(edges.len());
    packed.edge_outgoing.reserve_exact(edges.len());
    packed.edge_similarity.reserve_exact(edges.len());
    packed.edge_keywords.reserve_exact(edges.len() + 1);
    packed.edge_keywords.push(0);
    packed.edge_keyword.reserve_exact(KEYWORDS_OF_EDGE * edges.len());
    let mut both = Vec::new();
    for edge in &edges {
        packed.edge_target.push(edge.to);
        packed.edge_incoming.push(edge.matched.incoming);
        packed.edge_outgoing.push(edge.matched.outgoing);
        packed.edge_similarity.push(edge.matched.similarity);
        both.clear();
        both.extend_from_slice(&outgoing.keyword[row(&outgoing.keywords, edge.matched.outgoing)]);
        both.extend_from_slice(&incoming.keyword[row(&incoming.keywords, edge.matched.incoming)]);
        both.sort_unstable();
        both.dedup();
        packed.edge_keyword.extend_from_slice(&both);
        packed.edge_keywords.push(packed.edge_keyword.len() as u32);
    }
    packed.outgoing_sentence = outgoing.sentences();
    packed.outgoing_keywords = outgoing.keywords;
    packed.outgoing_keyword = outgoing.keyword;
    packed.passage_incoming = rows(incoming.passage.iter().copied(), names.passage_count());
    packed.incoming_sentence = incoming.sentences();
    packed.incoming_passage = incoming.passage.to_vec();
    packed.incoming_keywords = incoming.keywords;
    packed.incoming_keyword = incoming.keyword;
    let keywords = passage_keywords(names, &packed.view());
    (packed.passage_keywords, packed.passage_keyword) = keywords;
    (packed, cut)
}
