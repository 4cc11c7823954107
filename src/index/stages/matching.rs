//! The question side of a version: keywords by number, matching, and the edges of the passage graph.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::domain::{Cancellation, PseudoQuery};
use crate::error::Result;
use crate::graph::elements::{pack_passage_keywords, rows};
use crate::graph::matching::{MatchOptions, Questions, edges, match_questions};
use crate::graph::packed::{PackedGraph, back_to_back, row};
use crate::graph::vectors::QuantizedVectors;

/// The questions of one side, with the numbers of what they belong to.
pub(in crate::index) struct Side<'a> {
    questions: &'a [&'a PseudoQuery],
    passage: Vec<u32>,
    document: Vec<u32>,
    keywords: Vec<u32>,
    keyword: Vec<u32>,
}

/// Keywords of both sides and of passages, numbered in order.
pub(in crate::index) struct KeywordTable {
    numbers: FxHashMap<String, u32>,
}

impl KeywordTable {
    /// Numbers the keywords of all questions and the names of all entities, and lays them out in `packed`.
    pub(in crate::index) fn of(incoming: &[&PseudoQuery], outgoing: &[&PseudoQuery], packed: &mut PackedGraph) -> Self {
        let questions = incoming.iter().chain(outgoing).flat_map(|question| question.keywords.iter());
        let graph = packed.view();
        let entities = (0..graph.entity_name_ends.len() as u32).map(|entity| graph.entity_name(entity));
        let distinct: FxHashSet<&str> = questions.chain(entities).collect();
        let mut texts: Vec<&str> = distinct.into_iter().collect();
        texts.sort_unstable();
        let numbers = texts.iter().zip(0..).map(|(text, number)| ((*text).to_owned(), number)).collect();
        let (ends, bytes) = back_to_back(&texts);
        (packed.keyword_ends, packed.keyword_texts) = (ends, bytes);
        Self { numbers }
    }

    fn numbers(&self, question: &PseudoQuery) -> Vec<u32> {
        let mut numbers: Vec<u32> =
            question.keywords.iter().filter_map(|keyword| self.numbers.get(keyword).copied()).collect();
        numbers.sort_unstable();
        numbers
    }
}

impl<'a> Side<'a> {
    pub(in crate::index) fn of(
        questions: &'a [&'a PseudoQuery],
        passage: Vec<u32>,
        table: &KeywordTable,
        packed: &PackedGraph,
    ) -> Self {
        let document = passage.iter().map(|passage| packed.passage_document[*passage as usize]).collect();
        let (mut keywords, mut keyword) = (vec![0], Vec::new());
        for question in questions {
            keyword.extend(table.numbers(question));
            keywords.push(keyword.len() as u32);
        }
        Self { questions, passage, document, keywords, keyword }
    }

    fn sentences(&self) -> Vec<u32> {
        self.questions.iter().map(|question| question.sentence).collect()
    }

    fn view<'v>(&'v self, vectors: &'v QuantizedVectors) -> Questions<'v> {
        Questions {
            passage: &self.passage,
            document: &self.document,
            keywords: &self.keywords,
            keyword: &self.keyword,
            vectors: vectors.view(),
        }
    }
}

/// Matches both sides, in-coming questions given first, lays questions and edges out in `packed`, and returns how many
/// edges were cut.
pub(in crate::index) fn pack_edges(
    [(incoming, incoming_vectors), (outgoing, outgoing_vectors)]: [(Side<'_>, &QuantizedVectors); 2],
    options: &MatchOptions,
    packed: &mut PackedGraph,
    cancellation: &Cancellation,
) -> Result<usize> {
    let (asked, answered) = (outgoing.view(outgoing_vectors), incoming.view(incoming_vectors));
    let matched = match_questions(&asked, &answered, options, cancellation)?;
    let passages = packed.passage_document.len();
    let (edges, cut) = edges(&matched, &asked, &answered, passages);
    packed.passage_edges = rows(edges.iter().map(|edge| edge.from), passages);
    packed.edge_keywords.push(0);
    for edge in &edges {
        packed.edge_target.push(edge.to);
        packed.edge_incoming.push(edge.matched.incoming);
        packed.edge_outgoing.push(edge.matched.outgoing);
        packed.edge_similarity.push(edge.matched.similarity);
        let mut both = asked.keyword[row(asked.keywords, edge.matched.outgoing)].to_vec();
        both.extend_from_slice(&answered.keyword[row(answered.keywords, edge.matched.incoming)]);
        both.sort_unstable();
        both.dedup();
        packed.edge_keyword.extend(both);
        packed.edge_keywords.push(packed.edge_keyword.len() as u32);
    }
    packed.outgoing_sentence = outgoing.sentences();
    packed.outgoing_keywords.clone_from(&outgoing.keywords);
    packed.outgoing_keyword.clone_from(&outgoing.keyword);
    pack_incoming(incoming, packed);
    pack_passage_keywords(packed);
    Ok(cut)
}

fn pack_incoming(incoming: Side<'_>, packed: &mut PackedGraph) {
    packed.passage_incoming = rows(incoming.passage.iter().copied(), packed.passage_document.len());
    packed.incoming_sentence = incoming.sentences();
    packed.incoming_passage = incoming.passage;
    packed.incoming_keywords = incoming.keywords;
    packed.incoming_keyword = incoming.keyword;
}
