//! How near entities and summary entities are to a question, by the sentences that mention them.

use std::collections::{BTreeMap, BTreeSet};

use super::communities::Chosen;
use crate::domain::LayersEntry;
use crate::error::Result;
use crate::graph::hierarchy::{Hierarchy, Told};
use crate::graph::ordinal::{EntityOrdinal, Ordinal as _, PassageOrdinal, SentenceOrdinal, SummaryOrdinal};
use crate::graph::packed::PassageGraph;
use crate::graph::resolution::Resolution;
use crate::graph::top;
use crate::graph::trail::hybrid_scores;
use crate::query::evidence::lexical::normalize;
use crate::query::session::query::Query;

/// Bonus for an entity that the question names, if one document mentions it, relative to a sentence that covers all of
/// the question; less if more documents do.
const NAMED: f32 = 1.0;
/// Passages whose entities the hierarchy is entered by.
const PASSAGES: usize = 10;

/// The relevance of the sentences of a version to a question.
pub(super) struct Nearness<'a> {
    query: &'a Query,
    graph: PassageGraph<'a>,
    hierarchy: Hierarchy<'a>,
    /// The sentences of each entity, by any of its names: those that its vector was made of when it was clustered.
    told: &'a Told,
    /// The entities of names; without them, each name stands for itself.
    resolution: Option<Resolution<'a>>,
    /// The entities that the question names.
    named: BTreeSet<EntityOrdinal>,
    /// Passages that may be shown once they are at hand, where not all may.
    admitted: Option<&'a [bool]>,
    /// Words and vector together, as `hybrid` has them of passages.
    sentences: Vec<f32>,
    /// For each entity, the mean of its sentences, at hand or not, plus a bonus if the question names it; −∞ for one
    /// that is in no community, or that may not be shown.
    entities: Vec<f32>,
}

impl<'a> Nearness<'a> {
    /// Compares all sentences. A mean of cosines is the cosine of the mean except for its length: an entity mentioned
    /// in many contexts is near nothing.
    pub(super) fn of(query: &'a Query, hierarchy: Hierarchy<'a>) -> Result<Self> {
        let graph = query.reader.graph();
        let mut words = query.sentence_words()?.bm25.clone();
        normalize(&mut words);
        let sentences = hybrid_scores(&words, query.sentence_cosine()?.items());
        let resolution = query.reader.resolution();
        let referents = |name: &EntityOrdinal| resolution.map_or_else(|| vec![*name], |it| it.referents(*name));
        let named = query.entities().iter().flat_map(referents).collect();
        let told = query.networks().told(query.reader.as_ref());
        let (admitted, entities) = (query.admitted()?, Vec::new());
        let mut nearness = Self { query, graph, hierarchy, told, resolution, named, admitted, sentences, entities };
        let mut entities = vec![f32::NEG_INFINITY; graph.entity_documents.len()];
        for member in hierarchy.community_member.items() {
            if entities[member.index()] == f32::NEG_INFINITY {
                entities[member.index()] = nearness.measured(*member);
            }
        }
        nearness.entities = entities;
        Ok(nearness)
    }

    /// Returns how near a sentence is to the question.
    pub(super) fn sentence(&self, sentence: SentenceOrdinal) -> f32 {
        self.sentences[sentence.index()]
    }

    /// Returns how near an entity is; −∞ for one that is in no community, or that may not be shown.
    pub(super) fn entity(&self, entity: EntityOrdinal) -> f32 {
        self.entities[entity.index()]
    }

    fn measured(&self, entity: EntityOrdinal) -> f32 {
        self.mean(self.sentences_of(entity)).map_or(f32::NEG_INFINITY, |mean| mean + self.for_its_name(entity))
    }

    /// Returns its bonus if the question names it, larger if fewer documents mention it.
    fn for_its_name(&self, entity: EntityOrdinal) -> f32 {
        let rarity = |documents: f32, of: f32| (1.0 + documents / of).ln() / (1.0 + documents).ln();
        let (documents, of) = (self.graph.document_count(), self.told.documents(entity).max(1));
        if self.named.contains(&entity) { NAMED * rarity(documents as f32, of as f32) } else { 0.0 }
    }

    fn mean(&self, sentences: impl Iterator<Item = SentenceOrdinal>) -> Option<f32> {
        let (mut sum, mut count) = (0.0, 0.0);
        for sentence in sentences {
            sum += self.sentence(sentence);
            count += 1.0;
        }
        (count > 0.0).then(|| sum / count)
    }

    /// Returns the sentences of an entity that may be shown once they are at hand.
    pub(super) fn sentences_of(&self, entity: EntityOrdinal) -> impl Iterator<Item = SentenceOrdinal> {
        self.told.sentences(entity).iter().copied().filter(|sentence| self.is_admitted(*sentence))
    }

    /// Returns whether a sentence may be shown: its passage is at hand, and no filter leaves it out.
    pub(super) fn is_shown(&self, sentence: SentenceOrdinal) -> bool {
        self.query.is_allowed(self.graph.sentence_passage[sentence])
    }

    /// Returns whether a sentence may be shown once it is at hand.
    pub(super) fn is_admitted(&self, sentence: SentenceOrdinal) -> bool {
        self.admitted.is_none_or(|admitted| admitted[self.graph.sentence_passage[sentence].index()])
    }

    /// Returns whether no filter leaves anything out.
    pub(super) fn admits_all(&self) -> bool {
        self.admitted.is_none()
    }

    /// Returns the sentences of a summary entity that may be shown once they are at hand.
    pub(super) fn summary_sentences(&self, summary: SummaryOrdinal) -> impl Iterator<Item = SentenceOrdinal> {
        let all = self.hierarchy.summary_sentence.of(self.hierarchy.summary_sentences.of(summary));
        all.iter().copied().filter(|sentence| self.is_admitted(*sentence))
    }

    fn sentences_of_chosen(&self, chosen: Chosen) -> Vec<SentenceOrdinal> {
        match chosen {
            Chosen::Entity(entity) => self.sentences_of(entity).collect(),
            Chosen::Summary(summary) => self.summary_sentences(summary).collect(),
        }
    }

    /// Returns the sentence about something that is nearest to the question, of those that may be shown.
    pub(super) fn nearest(&self, chosen: Chosen) -> Option<SentenceOrdinal> {
        let shown = self.sentences_of_chosen(chosen).into_iter().filter(|it| self.is_shown(*it));
        shown.min_by(|a, b| self.sentence(*b).total_cmp(&self.sentence(*a)).then(a.cmp(b)))
    }

    /// Returns all sentences of the `count` entities and summary entities that may be nearest, the most promising
    /// first: those that the question names, and those whose sentences at hand are nearest.
    pub(super) fn sentences_of_promising(&self, count: usize) -> Vec<SentenceOrdinal> {
        let is_member = |it: &EntityOrdinal| self.entity(*it).is_finite();
        let named = self.named.iter().copied().filter(is_member).map(Chosen::Entity);
        let entities = self.graph.entity_documents.ordinals().filter(is_member).map(Chosen::Entity);
        let promising = entities.chain(self.hierarchy.summaries().map(Chosen::Summary)).filter_map(|chosen| {
            let shown = |it: &SentenceOrdinal| self.is_shown(*it);
            let at_hand = match chosen {
                Chosen::Entity(entity) => self.mean(self.sentences_of(entity).filter(shown)),
                Chosen::Summary(summary) => self.mean(self.summary_sentences(summary).filter(shown)),
            };
            Some((chosen, at_hand?))
        });
        let promising = top::best(promising, count).into_iter().map(|it| it.0);
        named.take(count).chain(promising).flat_map(|it| self.sentences_of_chosen(it)).collect()
    }

    /// Returns the entities and summary entities that enter the hierarchy, `count` of them, the nearest first. `found`
    /// are the passages found for the question, best first.
    pub(super) fn entered(
        &self,
        entry: LayersEntry,
        found: Option<&[(PassageOrdinal, f32)]>,
        count: usize,
    ) -> Vec<(Chosen, f32)> {
        let by_passages = found.map(|found| self.mentioned(found)).unwrap_or_default();
        match entry {
            LayersEntry::Passages if !by_passages.is_empty() => top::best(by_passages, count),
            LayersEntry::Both if !by_passages.is_empty() => {
                let own = scaled(top::best(self.all(), count));
                let mut sums: BTreeMap<Chosen, f32> = own.into_iter().collect();
                for (chosen, score) in scaled(top::best(by_passages, count)) {
                    *sums.entry(chosen).or_default() += score;
                }
                top::best(sums, count)
            }
            LayersEntry::Entities | LayersEntry::Passages | LayersEntry::Both => top::best(self.all(), count),
        }
    }

    /// Returns all that has a sentence, over all layers.
    fn all(&self) -> impl Iterator<Item = (Chosen, f32)> {
        let entities = self.graph.entity_documents.ordinals().map(|it| (Chosen::Entity(it), self.entity(it)));
        let summaries = self.hierarchy.summaries();
        let summaries = summaries.filter_map(|it| Some((Chosen::Summary(it), self.mean(self.summary_sentences(it))?)));
        entities.chain(summaries).filter(|it| it.1.is_finite())
    }

    /// Returns the entities that the first of `found` mention, by the nearness of these passages, and by their rank.
    fn mentioned(&self, found: &[(PassageOrdinal, f32)]) -> Vec<(Chosen, f32)> {
        let mut sums: BTreeMap<EntityOrdinal, f32> = BTreeMap::new();
        for ((passage, _), rank) in found.iter().take(PASSAGES).zip(1_u16..) {
            let (mentions, document) =
                (self.graph.passage_mentions.of(*passage), self.graph.passage_document[*passage]);
            let mut best: BTreeMap<EntityOrdinal, f32> = BTreeMap::new();
            for mention in mentions {
                let score = self.sentence(self.graph.mention_sentence[mention]);
                let name = self.graph.mention_entity[mention];
                let entity = self.resolution.map_or(name, |it| it.canonical(name, document));
                let best = best.entry(entity).or_insert(score);
                *best = best.max(score);
            }
            for (entity, score) in best.into_iter().filter(|it| self.entity(it.0).is_finite()) {
                *sums.entry(entity).or_default() += score / f32::from(rank);
            }
        }
        sums.into_iter().map(|(entity, score)| (Chosen::Entity(entity), score)).collect()
    }
}

/// Divides scores by the best.
fn scaled(mut scored: Vec<(Chosen, f32)>) -> Vec<(Chosen, f32)> {
    let best = scored.first().map_or(0.0, |it| it.1);
    if best > 0.0 {
        for it in &mut scored {
            it.1 /= best;
        }
    }
    scored
}
