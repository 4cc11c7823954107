//! Lays out the elements of a version, as a database holds them, as the same flat arrays that an index of the same
//! elements has.

use std::marker::PhantomData;

use rustc_hash::FxHashMap;

use super::ordinal::{
    BearerOrdinal, CueOrdinal, DocumentOrdinal, EntityOrdinal, IncomingOrdinal, KeywordOrdinal, MentionOrdinal,
    Ordinal, Ordinals, OutgoingOrdinal, PassageOrdinal, SentenceOrdinal,
};
use super::packed::{CUES, NO_CUE, PackedGraph, PassageGraph, back_to_back, bytes_at, name_kind, row};
use super::trail::BEARERS_MAX;

/// Texts numbered in order of appearance.
#[derive(Debug, Clone)]
pub(crate) struct Interned<K> {
    numbers: FxHashMap<String, u32>,
    kind: PhantomData<K>,
}

impl<K> Default for Interned<K> {
    fn default() -> Self {
        Self { numbers: FxHashMap::default(), kind: PhantomData }
    }
}

impl<K: Ordinal> Interned<K> {
    /// Returns the number of a text.
    pub(crate) fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let next = self.numbers.len() as u32;
        self.numbers.insert(text.to_owned(), next);
        next
    }

    /// Returns the texts in their own order, and the ordinal there of each number.
    #[must_use]
    pub(crate) fn sorted(self) -> (Vec<String>, Vec<K>) {
        let mut texts: Vec<(String, u32)> = self.numbers.into_iter().collect();
        texts.sort_unstable();
        let mut places = vec![K::new(0); texts.len()];
        for ((_, number), place) in texts.iter().zip(K::first(texts.len())) {
            places[*number as usize] = place;
        }
        (texts.into_iter().map(|it| it.0).collect(), places)
    }
}

/// A passage.
#[derive(Debug, Clone, Default)]
pub(crate) struct PassageElement {
    /// Its document.
    pub document: DocumentOrdinal,
    /// Terms in its lexical field.
    pub length: u32,
    /// Terms in the lexical field of each of its sentences.
    pub sentence_lengths: Vec<u32>,
    /// The names of its document that it represents, by number in [`Elements::entities`], and how.
    pub names: Vec<(u32, u32)>,
    /// Of a part: its keywords, by number in [`Elements::keywords`]. Else they are those of its names, mentions and
    /// questions.
    pub keywords: Vec<u32>,
}

/// A question of either side.
#[derive(Debug, Clone, Default)]
pub(crate) struct QuestionElement {
    /// Its passage.
    pub passage: PassageOrdinal,
    /// The sentence there that it was made from.
    pub sentence: u32,
    /// Its keywords, by number in [`Elements::keywords`].
    pub keywords: Vec<u32>,
}

/// A mention.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MentionElement {
    /// Its passage.
    pub passage: PassageOrdinal,
    /// The entity, by number in [`Elements::entities`].
    pub entity: u32,
    /// The sentence, within the passage.
    pub sentence: u32,
    /// The words around it, by number in [`Elements::cues`].
    pub cues: [Option<u32>; CUES],
}

/// A question edge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EdgeElement {
    /// Its source.
    pub from: PassageOrdinal,
    /// Its target.
    pub to: PassageOrdinal,
    /// Its in-coming question.
    pub incoming: IncomingOrdinal,
    /// Its out-coming question.
    pub outgoing: OutgoingOrdinal,
    /// SIM of the two.
    pub similarity: f32,
}

/// All elements of a version. Passages are ordered by document, questions by passage; the others have no order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Elements {
    /// How many documents there are.
    pub documents: u32,
    /// The passages.
    pub passages: Vec<PassageElement>,
    /// Folded names of entities.
    pub entities: Interned<EntityOrdinal>,
    /// Bits of [`entity_flag`](super::packed::entity_flag), by the number of the entity.
    pub entity_flags: Vec<u32>,
    /// Keywords of questions.
    pub keywords: Interned<KeywordOrdinal>,
    /// Stem prefixes of the words around mentions.
    pub cues: Interned<CueOrdinal>,
    /// The mentions.
    pub mentions: Vec<MentionElement>,
    /// The in-coming questions.
    pub incoming: Vec<QuestionElement>,
    /// The out-coming questions.
    pub outgoing: Vec<QuestionElement>,
    /// The edges.
    pub edges: Vec<EdgeElement>,
    /// Of a part of a version: what all of it has of each entity, by the number of the entity.
    pub totals: Option<Vec<EntityTotals>>,
}

/// What all of a version has of an entity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct EntityTotals {
    /// Documents that mention it.
    pub documents: u32,
    /// Times that its name is borne.
    pub bearers: u32,
}

/// Bearers of a name that are counted in a part of a version: with more, no name leads anywhere.
const BEARERS_COUNTED_MAX: u32 = 64;

impl Elements {
    /// Lays everything out.
    ///
    /// Numbers of passages, questions, entities, keywords and cues must exist.
    ///
    /// Complexity: n log n in the elements.
    ///
    /// A part of a version, one with [`Self::totals`], ends with a document of one passage without text, which has the
    /// names of passages outside the part.
    #[must_use]
    pub(crate) fn pack(mut self) -> PackedGraph {
        let mut packed = PackedGraph::default();
        if let Some(totals) = &self.totals {
            let beyond = self.beyond(totals);
            self.passages.push(beyond);
            self.documents += 1;
        }
        let (entities, places) = std::mem::take(&mut self.entities).sorted();
        (packed.entity_name_ends, packed.entity_names) = back_to_back(&entities);
        packed.entity_flags = vec![0; entities.len()];
        for (place, flags) in places.iter().zip(&self.entity_flags) {
            packed.entity_flags[place.index()] = *flags;
        }
        self.pack_passages(&mut packed);
        self.pack_bearers(&places, &mut packed);
        self.pack_mentions(&places, &mut packed);
        packed = postings(entities.len(), &packed.view()).or(packed);
        for (place, totals) in places.iter().zip(self.totals.iter().flatten()) {
            packed.entity_documents[place.index()] = totals.documents;
        }
        self.pack_questions(&entities, &mut packed);
        self.pack_edges(&mut packed);
        if self.totals.is_none() {
            let graph = packed.view();
            (packed.passage_keywords, packed.passage_keyword) = passage_keywords(&graph, &graph);
        }
        packed
    }

    /// Returns the passage that represents all outside a part.
    fn beyond(&self, totals: &[EntityTotals]) -> PassageElement {
        let mut present = vec![0; totals.len()];
        let borne = self.passages.iter().flat_map(|it| &it.names);
        borne.for_each(|(entity, _)| present[*entity as usize] += 1);
        let missing = |(entity, totals): (u32, &EntityTotals)| {
            let count = totals.bearers.min(BEARERS_COUNTED_MAX).saturating_sub(present[entity as usize]);
            (0..count).map(move |_| (entity, name_kind::FIRST))
        };
        let names = (0..).zip(totals).flat_map(missing).collect();
        PassageElement { document: DocumentOrdinal(self.documents), names, ..PassageElement::default() }
    }

    fn pack_passages(&self, packed: &mut PackedGraph) {
        packed.document_passages = rows(self.passages.iter().map(|it| it.document), self.documents as usize);
        packed.passage_sentences.push(0);
        for (passage, number) in self.passages.iter().zip(PassageOrdinal::first(self.passages.len())) {
            packed.passage_document.push(passage.document);
            packed.passage_length.push(passage.length);
            packed.sentence_length.extend_from_slice(&passage.sentence_lengths);
            packed.sentence_passage.extend(passage.sentence_lengths.iter().map(|_| number));
            packed.passage_sentences.push(packed.sentence_passage.len() as u32);
        }
    }

    fn pack_bearers(&self, places: &[EntityOrdinal], packed: &mut PackedGraph) {
        let mut bearers: Vec<(EntityOrdinal, PassageOrdinal, u32)> = Vec::new();
        for (passage, number) in self.passages.iter().zip(PassageOrdinal::first(self.passages.len())) {
            bearers.extend(passage.names.iter().map(|(entity, kind)| (places[*entity as usize], number, *kind)));
        }
        bearers.sort_unstable();
        packed.entity_bearers = rows(bearers.iter().map(|it| it.0), packed.entity_flags.len());
        for (_, passage, kind) in bearers {
            packed.bearer_document.push(packed.passage_document[passage.index()]);
            packed.bearer_passage.push(passage);
            packed.bearer_kind.push(kind);
        }
        (packed.document_own, packed.own_entity) = own_names(self.documents as usize, &packed.view());
    }

    fn pack_mentions(&mut self, places: &[EntityOrdinal], packed: &mut PackedGraph) {
        let (cues, cue_places) = std::mem::take(&mut self.cues).sorted();
        (packed.cue_ends, packed.cue_prefixes) = back_to_back(&cues);
        let place = |cue: Option<u32>| cue.map_or(NO_CUE, |cue| cue_places[cue as usize]);
        let mut mentions = std::mem::take(&mut self.mentions);
        mentions.sort_by_key(|it| (it.passage, places[it.entity as usize], it.sentence));
        packed.passage_mentions = rows(mentions.iter().map(|it| it.passage), self.passages.len());
        for mention in &mentions {
            packed.mention_entity.push(places[mention.entity as usize]);
            let first = packed.passage_sentences[mention.passage.index()];
            packed.mention_sentence.push(SentenceOrdinal(first.saturating_add(mention.sentence)));
            packed.mention_cues.extend(mention.cues.map(place));
        }
    }

    /// Numbers the keywords of questions and the names of entities together.
    fn pack_questions(&mut self, entities: &[String], packed: &mut PackedGraph) {
        let mut keywords = std::mem::take(&mut self.keywords);
        for entity in entities {
            keywords.number(entity);
        }
        let (texts, places) = keywords.sorted();
        (packed.keyword_ends, packed.keyword_texts) = back_to_back(&texts);
        let of = |questions: &[QuestionElement]| {
            let (mut ends, mut all) = (vec![0], Vec::new());
            for question in questions {
                let mut own: Vec<KeywordOrdinal> = question.keywords.iter().map(|it| places[*it as usize]).collect();
                own.sort_unstable();
                all.extend(own);
                ends.push(all.len() as u32);
            }
            (ends, all, questions.iter().map(|it| it.sentence).collect())
        };
        (packed.incoming_keywords, packed.incoming_keyword, packed.incoming_sentence) = of(&self.incoming);
        (packed.outgoing_keywords, packed.outgoing_keyword, packed.outgoing_sentence) = of(&self.outgoing);
        let keywords = |passage: &PassageElement| QuestionElement {
            keywords: passage.keywords.clone(),
            ..QuestionElement::default()
        };
        let of_passages: Vec<QuestionElement> = self.passages.iter().map(keywords).collect();
        (packed.passage_keywords, packed.passage_keyword, _) = of(&of_passages);
        packed.incoming_passage = self.incoming.iter().map(|it| it.passage).collect();
        packed.passage_incoming = rows(packed.incoming_passage.iter().copied(), self.passages.len());
    }

    fn pack_edges(&mut self, packed: &mut PackedGraph) {
        let mut edges = std::mem::take(&mut self.edges);
        edges.sort_unstable_by(|a, b| {
            let numbers = |it: &EdgeElement| (it.to, it.outgoing, it.incoming);
            let better = b.similarity.total_cmp(&a.similarity).then_with(|| numbers(a).cmp(&numbers(b)));
            a.from.cmp(&b.from).then(better)
        });
        packed.passage_edges = rows(edges.iter().map(|it| it.from), self.passages.len());
        packed.edge_keywords.push(0);
        for edge in edges {
            packed.edge_target.push(edge.to);
            packed.edge_incoming.push(edge.incoming);
            packed.edge_outgoing.push(edge.outgoing);
            packed.edge_similarity.push(edge.similarity);
            let mut both = packed.outgoing_keyword[row(&packed.outgoing_keywords, edge.outgoing)].to_vec();
            both.extend_from_slice(&packed.incoming_keyword[row(&packed.incoming_keywords, edge.incoming)]);
            both.sort_unstable();
            both.dedup();
            packed.edge_keyword.extend(both);
            packed.edge_keywords.push(packed.edge_keyword.len() as u32);
        }
    }
}

/// Returns compressed rows over `count` owners from the owner of each item.
pub(crate) fn rows<K: Ordinal>(owners: impl Iterator<Item = K>, count: usize) -> Vec<u32> {
    let mut rows = vec![0; count + 1];
    owners.for_each(|owner| rows[owner.index() + 1] += 1);
    for i in 0..count {
        rows[i + 1] += rows[i];
    }
    rows
}

/// Returns the names of each document, in rows, from the bearers of each name: names with few enough bearers, not only
/// a part of a title or a first capital.
pub(super) fn own_names(documents: usize, graph: &PassageGraph<'_>) -> (Vec<u32>, Vec<EntityOrdinal>) {
    let is_own = |it: &BearerOrdinal| !matches!(graph.bearer_kind[*it], name_kind::BEFORE_COMMA | name_kind::FIRST);
    let owned = |entity| {
        let bearers = graph.entity_bearers.of(entity);
        let few = if bearers.len() > BEARERS_MAX { Ordinals::none() } else { bearers };
        few.filter(is_own).map(move |bearer| (graph.bearer_document[bearer], entity))
    };
    let all = || EntityOrdinal::first(graph.entity_bearers.items().len() - 1).flat_map(owned);
    let mut ends = rows(all().map(|it| it.0), documents);
    let (mut next, mut own) = (ends.clone(), vec![EntityOrdinal(0); ends[documents] as usize]);
    for (document, entity) in all() {
        own[next[document.index()] as usize] = entity;
        next[document.index()] += 1;
    }
    // One may bear a name in several ways.
    let mut kept = 0;
    for document in 0..documents {
        let first = kept;
        for at in ends[document] as usize..ends[document + 1] as usize {
            if kept == first || own[kept - 1] != own[at] {
                own[kept] = own[at];
                kept += 1;
            }
        }
        ends[document] = first as u32;
    }
    ends[documents] = kept as u32;
    own.truncate(kept);
    (ends, own)
}

/// Inverts the mentions: entity → mentions by ascending passage, and documents. `graph` has the passages and mentions.
pub(super) fn postings(entities: usize, graph: &PassageGraph<'_>) -> PackedGraph {
    let count = graph.mention_entity.len();
    let entity_mentions = rows(graph.mention_entity.iter().copied(), entities);
    let mut next = entity_mentions.clone();
    let (mut posting_mention, mut posting_passage) = (vec![MentionOrdinal(0); count], vec![PassageOrdinal(0); count]);
    let mut entity_documents = vec![0; entities];
    let mut last_document = vec![None; entities];
    for (passage, document) in graph.passages().zip(graph.passage_document.items()) {
        for mention in graph.passage_mentions.of(passage) {
            let entity = graph.mention_entity[mention].index();
            let slot = next[entity] as usize;
            posting_mention[slot] = mention;
            posting_passage[slot] = passage;
            next[entity] += 1;
            if last_document[entity].replace(*document) != Some(*document) {
                entity_documents[entity] += 1;
            }
        }
    }
    PackedGraph { entity_documents, entity_mentions, posting_mention, posting_passage, ..PackedGraph::default() }
}

/// Returns the keywords of passages, in rows: their own names, those that they mention, and the keywords of the
/// questions that they answer. `names` has the names and mentions, `questions` the questions and the keywords.
pub(crate) fn passage_keywords(
    names: &PassageGraph<'_>,
    questions: &PassageGraph<'_>,
) -> (Vec<u32>, Vec<KeywordOrdinal>) {
    // Names and keywords are in order: the keyword of a name is the one after that of the name before, or a later one.
    let mut next = questions.keyword_ends.ordinals().peekable();
    let text = |keyword: KeywordOrdinal| bytes_at(&questions.keyword_ends, questions.keyword_texts.items(), keyword);
    let keyword = |entity| {
        let name = bytes_at(&names.entity_name_ends, names.entity_names.items(), entity);
        while next.next_if(|keyword| text(*keyword) < name).is_some() {}
        let known = next.peek().copied().filter(|keyword| text(*keyword) == name);
        known.or_else(|| questions.keyword(names.entity_name(entity))).unwrap_or_default()
    };
    let of_entity: Vec<KeywordOrdinal> = names.entity_name_ends.ordinals().map(keyword).collect();
    let (mut ends, mut all, mut keywords) = (vec![0], Vec::new(), Vec::new());
    for (passage, document) in names.passages().zip(names.passage_document.items()) {
        let own = names.own_entity.of(names.document_own.of(*document));
        let mentioned = names.mention_entity.of(names.passage_mentions.of(passage));
        keywords.clear();
        keywords.extend(own.iter().chain(mentioned).map(|entity| of_entity[entity.index()]));
        for question in questions.passage_incoming.of(passage) {
            keywords.extend_from_slice(questions.incoming_keyword.of(questions.incoming_keywords.of(question)));
        }
        keywords.sort_unstable();
        keywords.dedup();
        all.extend_from_slice(&keywords);
        ends.push(all.len() as u32);
    }
    (ends, all)
}

#[cfg(test)]
mod tests {
    use super::super::ordinal::listed;
    use super::super::packed::entity_flag;
    use super::*;

    #[test]
    fn texts_are_numbered_in_their_own_order() {
        let mut texts = Interned::<KeywordOrdinal>::default();
        assert_eq!(["b", "a", "b"].map(|text| texts.number(text)), [0, 1, 0]);
        assert_eq!(texts.sorted(), (vec!["a".to_owned(), "b".to_owned()], listed(&[1, 0])));
    }

    #[test]
    fn a_part_counts_what_lies_outside_of_it() {
        let mut elements = Elements { documents: 1, ..Elements::default() };
        let mill = elements.entities.number("mill");
        elements.entity_flags = vec![0];
        elements.passages = vec![PassageElement { names: vec![(mill, name_kind::TITLE)], ..PassageElement::default() }];
        elements.totals = Some(vec![EntityTotals { documents: 40, bearers: 3 }]);
        let packed = elements.pack();
        let graph = packed.view();
        assert_eq!(
            (graph.entity_documents.items(), graph.bearer_passage.items()),
            (&[40][..], &listed(&[0, 1, 1])[..])
        );
        assert_eq!((graph.document_count(), graph.passage_count()), (2, 2));
        assert_eq!((graph.document_own.items(), graph.own_entity.items()), (&[0, 1, 1][..], &listed(&[0])[..]));
    }

    #[test]
    fn elements_in_any_order_are_laid_out_by_number() {
        let mut elements = Elements { documents: 1, ..Elements::default() };
        let (mill, bridge) = (elements.entities.number("mill"), elements.entities.number("bridge"));
        elements.entity_flags = vec![entity_flag::SINGLE_IN_QUESTION, entity_flag::LOWER_IN_QUESTION];
        let passage = PassageElement { sentence_lengths: vec![3, 4], length: 7, ..PassageElement::default() };
        elements.passages = vec![PassageElement { names: vec![(mill, name_kind::TITLE)], ..passage.clone() }, passage];
        let mention = |passage, entity, sentence| MentionElement {
            passage: PassageOrdinal(passage),
            entity,
            sentence,
            cues: [None; CUES],
        };
        elements.mentions = vec![mention(1, mill, 1), mention(0, mill, 0), mention(1, bridge, 0)];
        let packed = elements.pack();
        let graph = packed.view();
        assert_eq!([graph.entity("bridge"), graph.entity("mill")], [0, 1].map(|it| Some(EntityOrdinal(it))));
        assert_eq!(*graph.entity_flags, [entity_flag::LOWER_IN_QUESTION, entity_flag::SINGLE_IN_QUESTION]);
        assert_eq!(
            (graph.mention_entity.items(), graph.mention_sentence.items()),
            (&listed(&[1, 0, 1])[..], &listed(&[0, 2, 3])[..])
        );
        assert_eq!((graph.document_own.items(), graph.own_entity.items()), (&[0, 1][..], &listed(&[1])[..]));
        assert_eq!(*graph.posting_passage, [1, 0, 1]);
    }
}
