//! The question side of a version: keywords by number, matching, and the edges of the passage graph.

use rustc_hash::{FxHashMap, FxHashSet};

use super::vectors::{Embedding, Field};
use super::{Inputs, Made, Stage, StageKind};
use crate::domain::{Cancellation, PseudoQuery};
use crate::error::Result;
use crate::graph::elements::{pack_passage_keywords, rows};
use crate::graph::matching::{MatchOptions, Matched, PassageEdge, Questions, edges, match_questions};
use crate::graph::ordinal::{
    Column, DocumentOrdinal, IncomingOrdinal, KeywordOrdinal, Ordinal, OutgoingOrdinal, PassageOrdinal, Rows,
};
use crate::graph::packed::{PackedGraph, back_to_back, row};
use crate::graph::vectors::Vectors;
use crate::index::corpus::Corpus;
use crate::workspace::LastVersion;

/// Matches the questions of a corpus.
pub(in crate::index) struct Matching<'s, 'c> {
    pub(in crate::index) sides: &'s Sides<'s>,
    pub(in crate::index) incoming: Vectors<'s>,
    /// Where they are kept; else they are made when they are needed.
    pub(in crate::index) outgoing: Option<Vectors<'s>>,
    pub(in crate::index) embedding: &'s mut Embedding<'c>,
    /// The document of each passage.
    pub(in crate::index) documents: &'s [DocumentOrdinal],
    pub(in crate::index) options: &'s MatchOptions,
    pub(in crate::index) cancellation: &'s Cancellation,
}

impl<'v> Stage<'v> for Matching<'_, '_> {
    /// The edges, by ascending passage that asks, best first.
    type Part = Vec<PassageEdge>;

    fn kind(&self) -> StageKind {
        StageKind::Matching
    }

    /// Names are none of them: keywords are numbered with names, and matched as what they say.
    fn inputs(&self, inputs: &mut Inputs) {
        inputs.text(&format!("{:?}", self.options)).numbers(self.documents);
        self.sides.incoming.inputs(inputs);
        self.sides.outgoing.inputs(inputs);
        inputs.vectors(&self.incoming);
        match &self.outgoing {
            Some(vectors) => inputs.vectors(vectors),
            None => self.embedding.inputs(Field::Outgoing, inputs),
        };
    }

    fn take_over(&self, last: &'v LastVersion) -> Option<Vec<PassageEdge>> {
        let graph = last.graph()?;
        let mut edges = Vec::with_capacity(graph.edge_target.len());
        for from in graph.passages() {
            for edge in graph.passage_edges.of(from) {
                let (outgoing, incoming) = (graph.edge_outgoing[edge], graph.edge_incoming[edge]);
                let matched = Matched { outgoing, incoming, similarity: graph.edge_similarity[edge] };
                edges.push(PassageEdge { from, to: graph.edge_target[edge], matched });
            }
        }
        // What is written down of the last version may be forged: an edge must still be one of these questions.
        edges.iter().all(|edge| self.sides.have(edge)).then_some(edges)
    }

    /// The report says how many edges were cut.
    async fn make(self) -> Result<Made<Vec<PassageEdge>>> {
        let made;
        let outgoing = if let Some(vectors) = self.outgoing {
            vectors
        } else {
            made = self.embedding.embed(Field::Outgoing).await?;
            made.view()
        };
        let (asked, answered) = (self.sides.outgoing.view(outgoing), self.sides.incoming.view(self.incoming));
        let matched = match_questions(&asked, &answered, self.options, self.cancellation)?;
        let (part, cut) = edges(&matched, &asked, &answered, self.documents.len());
        Ok(Made { part, cut: cut as u64, is_whole: true })
    }
}

/// The questions of both sides.
pub(in crate::index) struct Sides<'a> {
    incoming: Side<'a, IncomingOrdinal>,
    outgoing: Side<'a, OutgoingOrdinal>,
}

impl<'a> Sides<'a> {
    /// Numbers the keywords of a corpus together with the names in `packed`, and lays them out there.
    pub(in crate::index) fn of(corpus: &'a Corpus<'a>, packed: &mut PackedGraph) -> Self {
        let table = KeywordTable::of(&corpus.incoming, &corpus.outgoing, packed);
        Self {
            incoming: Side::of(&corpus.incoming, &corpus.incoming_passage, &table, packed),
            outgoing: Side::of(&corpus.outgoing, &corpus.outgoing_passage, &table, packed),
        }
    }

    /// Returns whether the questions of an edge are there, of the passages that it joins.
    fn have(&self, edge: &PassageEdge) -> bool {
        self.outgoing.passage.find(edge.matched.outgoing) == Some(&edge.from)
            && self.incoming.passage.find(edge.matched.incoming) == Some(&edge.to)
    }
}

/// The questions of one side, with the numbers of what they belong to.
struct Side<'a, K> {
    questions: &'a [&'a PseudoQuery],
    passage: Column<'a, K, PassageOrdinal>,
    document: Vec<DocumentOrdinal>,
    keywords: Vec<u32>,
    keyword: Vec<KeywordOrdinal>,
}

/// Keywords of both sides and of passages, numbered in order.
struct KeywordTable {
    numbers: FxHashMap<String, KeywordOrdinal>,
}

impl KeywordTable {
    /// Numbers the keywords of all questions and the names of all entities, and lays them out in `packed`.
    fn of(incoming: &[&PseudoQuery], outgoing: &[&PseudoQuery], packed: &mut PackedGraph) -> Self {
        let questions = incoming.iter().chain(outgoing).flat_map(|question| question.keywords.iter());
        let graph = packed.view();
        let entities = graph.entity_name_ends.ordinals().map(|entity| graph.entity_name(entity));
        let distinct: FxHashSet<&str> = questions.chain(entities).collect();
        let mut texts: Vec<&str> = distinct.into_iter().collect();
        texts.sort_unstable();
        let ordinals = KeywordOrdinal::first(texts.len());
        let numbers = texts.iter().zip(ordinals).map(|(text, number)| ((*text).to_owned(), number)).collect();
        let (ends, bytes) = back_to_back(&texts);
        (packed.keyword_ends, packed.keyword_texts) = (ends, bytes);
        Self { numbers }
    }

    fn numbers(&self, question: &PseudoQuery) -> Vec<KeywordOrdinal> {
        let mut numbers: Vec<KeywordOrdinal> =
            question.keywords.iter().filter_map(|keyword| self.numbers.get(keyword).copied()).collect();
        numbers.sort_unstable();
        numbers
    }
}

impl<'a, K: Ordinal> Side<'a, K> {
    fn of(
        questions: &'a [&'a PseudoQuery],
        passage: &'a [PassageOrdinal],
        table: &KeywordTable,
        packed: &PackedGraph,
    ) -> Self {
        let document = passage.iter().map(|passage| packed.passage_document[passage.index()]).collect();
        let passage = Column::new(passage);
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

    fn inputs(&self, inputs: &mut Inputs) {
        inputs.numbers(&self.passage);
        for question in self.questions {
            inputs.number(question.keywords.len());
            for keyword in question.keywords.iter() {
                inputs.text(keyword);
            }
        }
    }

    fn view<'v>(&'v self, vectors: Vectors<'v>) -> Questions<'v, K> {
        Questions {
            passage: self.passage,
            document: Column::new(&self.document),
            keywords: Rows::new(&self.keywords),
            keyword: Column::new(&self.keyword),
            vectors,
        }
    }
}

/// Lays questions and their edges out in `packed`.
pub(in crate::index) fn pack_edges(edges: &[PassageEdge], sides: Sides<'_>, packed: &mut PackedGraph) {
    let Sides { incoming, outgoing } = sides;
    packed.passage_edges = rows(edges.iter().map(|edge| edge.from), packed.passage_document.len());
    packed.edge_keywords.push(0);
    for edge in edges {
        packed.edge_target.push(edge.to);
        packed.edge_incoming.push(edge.matched.incoming);
        packed.edge_outgoing.push(edge.matched.outgoing);
        packed.edge_similarity.push(edge.matched.similarity);
        let mut both = outgoing.keyword[row(&outgoing.keywords, edge.matched.outgoing)].to_vec();
        both.extend_from_slice(&incoming.keyword[row(&incoming.keywords, edge.matched.incoming)]);
        both.sort_unstable();
        both.dedup();
        packed.edge_keyword.extend(both);
        packed.edge_keywords.push(packed.edge_keyword.len() as u32);
    }
    packed.outgoing_sentence = outgoing.sentences();
    packed.outgoing_keywords = outgoing.keywords;
    packed.outgoing_keyword = outgoing.keyword;
    pack_incoming(incoming, packed);
    pack_passage_keywords(packed);
}

fn pack_incoming(incoming: Side<'_, IncomingOrdinal>, packed: &mut PackedGraph) {
    packed.passage_incoming = rows(incoming.passage.iter().copied(), packed.passage_document.len());
    packed.incoming_sentence = incoming.sentences();
    packed.incoming_passage = incoming.passage.to_vec();
    packed.incoming_keywords = incoming.keywords;
    packed.incoming_keyword = incoming.keyword;
}
