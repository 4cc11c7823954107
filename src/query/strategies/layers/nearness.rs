//! How near entities and summary entities are to a question: by the sentences that speak of them.

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

/// What it counts that the question names an entity that one document mentions, beside a sentence that says all of it;
/// less where more do.
const NAMED: f32 = 1.0;
/// Passages whose entities the hierarchy is entered by.
const PASSAGES: usize = 10;

/// What the sentences of a version have to do with a question.
pub(super) struct Nearness<'a> {
    query: &'a Query,
    graph: PassageGraph<'a>,
    hierarchy: Hierarchy<'a>,
    /// The sentences of each entity, by any of its names: those that its vector was made of when it was clustered.
    told: &'a Told,
    /// What names stand for; each for itself where there is none.
    resolution: Option<Resolution<'a>>,
    /// The entities that the question names.
    named: BTreeSet<EntityOrdinal>,
    /// Words and vector together, as `hybrid` has them of passages.
    sentences: Vec<f32>,
    /// Of each entity, the mean of its sentences, and more where the question names it; −∞ for one that is in no
    /// community, or of which nothing may be shown.
    entities: Vec<f32>,
}

impl<'a> Nearness<'a> {
    /// Compares all sentences. A mean of cosines is the cosine of the mean, but for its length: what is said of in many
    /// ways is near to nothing.
    pub(super) fn of(query: &'a Query, hierarchy: Hierarchy<'a>) -> Result<Self> {
        let graph = query.reader.graph();
        let mut words = query.sentence_words()?.bm25.clone();
        normalize(&mut words);
        let sentences = hybrid_scores(&words, query.sentence_cosine()?.items());
        let resolution = query.reader.resolution();
        let referents = |name: &EntityOrdinal| resolution.map_or_else(|| vec![*name], |it| it.referents(*name));
        let named = query.entities().iter().flat_map(referents).collect();
        let told = query.networks().told(query.reader.as_ref());
        let mut nearness = Self { query, graph, hierarchy, told, resolution, named, sentences, entities: Vec::new() };
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

    /// Returns how near an entity is; −∞ for one that is in no community, or of which nothing may be shown.
    pub(super) fn entity(&self, entity: EntityOrdinal) -> f32 {
        self.entities[entity.index()]
    }

    fn measured(&self, entity: EntityOrdinal) -> f32 {
        let rarity = |documents: f32, of: f32| (1.0 + documents / of).ln() / (1.0 + documents).ln();
        let (documents, of) = (self.graph.document_count(), self.told.documents(entity).max(1));
        let is_named = self.named.contains(&entity);
        let named = if is_named { NAMED * rarity(documents as f32, of as f32) } else { 0.0 };
        self.mean(self.sentences_of(entity)).map_or(f32::NEG_INFINITY, |mean| mean + named)
    }

    fn mean(&self, sentences: impl Iterator<Item = SentenceOrdinal>) -> Option<f32> {
        let (mut sum, mut count) = (0.0, 0.0);
        for sentence in sentences {
            sum += self.sentence(sentence);
            count += 1.0;
        }
        (count > 0.0).then(|| sum / count)
    }

    /// Returns the sentences of an entity that may be shown.
    pub(super) fn sentences_of(&self, entity: EntityOrdinal) -> impl Iterator<Item = SentenceOrdinal> {
        self.told.sentences(entity).iter().copied().filter(|sentence| self.is_shown(*sentence))
    }

    /// Returns whether the passage of a sentence may be shown.
    pub(super) fn is_shown(&self, sentence: SentenceOrdinal) -> bool {
        self.query.is_allowed(self.graph.sentence_passage[sentence])
    }

    /// Returns the sentences of a summary entity that may be shown.
    pub(super) fn summary_sentences(&self, summary: SummaryOrdinal) -> impl Iterator<Item = SentenceOrdinal> {
        let all = self.hierarchy.summary_sentence.of(self.hierarchy.summary_sentences.of(summary));
        all.iter().copied().filter(|sentence| self.is_shown(*sentence))
    }

    /// Returns the sentence about something that is nearest to the question.
    pub(super) fn nearest(&self, chosen: Chosen) -> Option<SentenceOrdinal> {
        let best = |all: &mut dyn Iterator<Item = SentenceOrdinal>| {
            all.min_by(|a, b| self.sentence(*b).total_cmp(&self.sentence(*a)).then(a.cmp(b)))
        };
        match chosen {
            Chosen::Entity(entity) => best(&mut self.sentences_of(entity)),
            Chosen::Summary(summary) => best(&mut self.summary_sentences(summary)),
        }
    }

    /// Returns what the hierarchy is entered by, the nearest first: `count` entities and summary entities. `found` are
    /// the passages that were found for the question, best first.
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

    /// Returns the entities that the first of `found` mention, by how near what these say is, and by their rank.
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
