//! The question side of a version: its questions by number, matching, and the edges of the passage graph.

use std::ptr;

use super::difference::Difference;
use super::keywords::{KeywordTable, KnownKeywords, KnownSide};
use super::{Inputs, Made, Stage, StageKind};
use crate::domain::{Cancellation, QuestionId};
use crate::error::Result;
use crate::graph::elements::{passage_keywords, rows};
use crate::graph::matching::{
    Earlier, Marks, MatchOptions, Matched, Matches, PackedMatches, Questions, edges, match_questions, with_vector,
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
use crate::workspace::{LastVersion, QuestionParts};

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
        [incoming, outgoing]: [Vectors<'s>; 2],
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

    /// Names are none of them: keywords are numbered with names, and matched as what they say. Marks say what vectors
    /// there are.
    fn inputs(&self, inputs: &mut Inputs) {
        inputs.text(&format!("{:?}", self.options)).number(self.incoming.dimension).numbers(self.documents);
        self.sides.incoming.inputs(inputs);
        self.sides.outgoing.inputs(inputs);
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
    /// Numbers the keywords of a corpus, whose questions have these vectors, together with the names in `packed`. Those
    /// of questions that are taken from the last version are numbered there already.
    pub(in crate::index) fn of(
        corpus: &'a Corpus<'a>,
        (difference, packed): (Option<&'a Difference<'a>>, &PackedGraph),
        [of_incoming, of_outgoing]: [Vectors<'_>; 2],
    ) -> Self {
        let keywords = KnownKeywords::of(corpus, difference);
        let table = KeywordTable::of(corpus.keywords, &keywords, packed);
        let (incoming, outgoing) = (keywords.incoming(), keywords.outgoing());
        let has_vectors = !of_incoming.is_empty() && !of_outgoing.is_empty();
        let (known_incoming, known_outgoing) = known_marks(difference, has_vectors).unzip();
        let of_incoming = has_vectors.then_some(&of_incoming);
        let marks = (
            incoming.marks(&corpus.incoming, of_incoming, known_incoming),
            outgoing.marks(&corpus.outgoing, has_vectors.then_some(&of_outgoing), known_outgoing),
        );
        // Centers are chosen among in-coming ones.
        let marks = (marks.0, Marks { vectors: Vec::new(), ..marks.1 });
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
    questions: &'a QuestionParts<'a>,
    passage: Column<'a, K, PassageOrdinal>,
    document: Vec<DocumentOrdinal>,
    keywords: Vec<u32>,
    keyword: Vec<KeywordOrdinal>,
    marks: Marks,
}

/// The marks of one side in the last version.
struct KnownMarks<'k> {
    questions: &'k [u64],
    /// Those of its vectors, if they are asked for.
    of_vectors: Option<&'k [u64]>,
    /// Its vectors.
    vectors: Vectors<'k>,
}

impl KnownMarks<'_> {
    /// Returns the marks of a question that is now one of these and was `before`, if it has the same vector.
    fn find(&self, question: usize, vectors: Option<&Vectors<'_>>, before: u32) -> Option<(u64, u64)> {
        let at = |marks: &[u64]| marks.get(before as usize).copied();
        let of_vector = self.of_vectors.map_or(Some(0), at);
        // Where it lies says whether it is the same, without reading it.
        let is_same = |now: &Vectors<'_>| ptr::eq(now.codes(question as u32), self.vectors.codes(before));
        if before == GONE || !vectors.is_none_or(is_same) { None } else { at(self.questions).zip(of_vector) }
    }
}

/// Returns the marks of both sides in the last version, if questions there had vectors as now.
fn known_marks<'c>(difference: Option<&Difference<'c>>, has_vectors: bool) -> Option<(KnownMarks<'c>, KnownMarks<'c>)> {
    let last = difference?.last;
    let matches = last.matches()?;
    let (incoming, outgoing) = (last.vectors(VectorField::Incoming)?, last.outgoing_vectors()?);
    let is_same = has_vectors == (!incoming.is_empty() && !outgoing.is_empty());
    is_same.then(|| {
        let of_vectors = has_vectors.then_some(matches.incoming_vector.items());
        let incoming = KnownMarks { questions: matches.incoming_mark.items(), of_vectors, vectors: incoming };
        let questions = matches.outgoing_mark.items();
        (incoming, KnownMarks { questions, of_vectors: None, vectors: outgoing })
    })
}

/// Questions whose marks are computed to see whether those of the last version are right.
const MARKS_TRIED: usize = 64;

impl<K: Ordinal + Sync> KnownSide<'_, K> {
    /// Returns the marks of questions, which have these vectors: where both are taken from the last version, those that
    /// it has, unless one of a few is wrong, as in a forged file.
    fn marks(
        &self,
        questions: &QuestionParts<'_>,
        vectors: Option<&Vectors<'_>>,
        known: Option<KnownMarks<'_>>,
    ) -> Marks {
        let own = |bytes: &mut Vec<u8>, at: usize| match self.keywords(self.before[at]) {
            Some(numbers) => mark(questions.get(at).id, numbers.iter().map(|it| self.text(*it)), bytes),
            None => mark(questions.get(at).id, questions.get(at).keywords(), bytes),
        };
        let is_right = |known: &KnownMarks<'_>, at: usize| {
            known.find(at, vectors, self.before[at]).is_none_or(|(question, vector)| {
                let due = with_vector(own(&mut Vec::new(), at), vectors, at as u32);
                question == due.0 && (known.of_vectors.is_none() || vector == due.1)
            })
        };
        let step = questions.len().div_ceil(MARKS_TRIED).max(1);
        let known = known.filter(|known| (0..questions.len()).step_by(step).all(|at| is_right(known, at)));
        let find = |at: usize| known.as_ref()?.find(at, vectors, self.before[at]);
        Marks::of(questions.len(), vectors, find, Vec::new, own)
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
        (questions, passage): (&'a QuestionParts<'a>, &'a [PassageOrdinal]),
        (known, marks): (&KnownSide<'_, K>, Marks),
        table: &KeywordTable,
        packed: &PackedGraph,
    ) -> Self {
        let document = passage.iter().map(|passage| packed.passage_document[passage.index()]).collect();
        let passage = Column::new(passage);
        let (mut keywords, mut keyword) =
            (Vec::with_capacity(questions.len() + 1), Vec::with_capacity(known.keyword_count()));
        keywords.push(0);
        for (question, before) in known.before.iter().enumerate() {
            let first = keyword.len();
            if let Some(numbers) = known.keywords(*before) {
                keyword.extend(numbers.iter().map(|it| table.now[it.index()]));
            } else {
                let numbers = questions.get(question).keyword_numbers();
                keyword.extend(numbers.iter().map(|it| table.added[*it as usize]));
            }
            keyword[first..].sort_unstable();
            keywords.push(keyword.len() as u32);
        }
        Self { questions, passage, document, keywords, keyword, marks }
    }

    fn sentences(&self) -> Vec<u32> {
        (0..self.questions.len()).map(|question| self.questions.sentence(question)).collect()
    }

    fn inputs(&self, inputs: &mut Inputs) {
        inputs.numbers(&self.passage).bytes(bytemuck::cast_slice(&self.marks.questions));
    }

    fn view<'v>(&'v self, vectors: Vectors<'v>) -> Questions<'v, K> {
        Questions {
            passage: self.passage,
            document: Column::new(&self.document),
            keywords: Rows::new(&self.keywords),
            keyword: Column::new(&self.keyword),
            vectors,
            marks: &self.marks.questions,
            vector_marks: &self.marks.vectors,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::vectors::QuantizedVectors;

    /// Those of texts that stay may be others: embedding may have failed for a while.
    #[test]
    fn marks_are_known_of_questions_whose_vector_lies_where_it_lay() {
        let (mut last, mut added) = (QuantizedVectors::new(2), QuantizedVectors::new(2));
        for values in [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]] {
            last.push(&values);
        }
        added.push(&[0.0, 1.0]);
        let (questions, of_vectors) = ([10, 11, 12], [20, 21, 22]);
        let vectors = last.view();
        let known = KnownMarks { questions: &questions, of_vectors: Some(&of_vectors), vectors };
        // The first and the last of them, and between them an equal vector that was made again.
        let rows = [0, 3, 2];
        let now = Vectors { added: added.parts(), rows: Some(&rows), ..last.view() };
        let find = |known: &KnownMarks<'_>, question| known.find(question, Some(&now), question as u32);
        assert_eq!([0, 1, 2].map(|it| find(&known, it)), [Some((10, 20)), None, Some((12, 22))]);
        assert_eq!(known.find(0, Some(&now), 2), None);
        assert_eq!(known.find(0, Some(&now), GONE), None);
        // An earlier build did not keep those of vectors.
        assert_eq!(find(&KnownMarks { of_vectors: Some(&[]), ..known }, 0), None);
        let alone = KnownMarks { questions: &questions, of_vectors: None, vectors };
        assert_eq!(find(&alone, 2), Some((12, 0)));
        assert_eq!(alone.find(1, None, 1), Some((11, 0)));
    }
}
