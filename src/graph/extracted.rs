//! A model's extractions from the passages of a corpus, by ordinal.

use super::mentions::{NamedDocument, NamedPassage};
use super::ordinal::{EntityOrdinal, PassageOrdinal, SentenceOrdinal};
use super::resolution::EntityGraph;
use crate::domain::{ExtractedEntity, ExtractedRelation, Extraction};

/// All that a model found, passage by passage.
#[derive(Debug, Default)]
pub(crate) struct Extracted<'a> {
    /// Entities, each with its description in one passage.
    pub(crate) entities: Vec<(EntityOrdinal, &'a ExtractedEntity)>,
    /// Relations of two entities, the lower first.
    pub(crate) relations: Vec<FoundRelation<'a>>,
}

/// A relation in a passage.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FoundRelation<'a> {
    pub(crate) ends: [EntityOrdinal; 2],
    pub(crate) relation: &'a ExtractedRelation,
    /// The sentence that its evidence begins in.
    pub(crate) sentence: Option<SentenceOrdinal>,
}

impl<'a> Extracted<'a> {
    /// Returns the extractions from `documents`, from which `graph` was built, except those that a limit kept out of
    /// the graph: by entity, not by name.
    #[must_use]
    pub(crate) fn of(graph: &EntityGraph<'_>, documents: &[NamedDocument<'a>]) -> Self {
        let mut extracted = Self::default();
        let passages = documents.iter().flat_map(|document| &document.passages);
        for (passage, ordinal) in passages.zip(graph.names.passages()) {
            if let Some(extraction) = passage.extraction {
                extracted.add(graph, (ordinal, passage), extraction);
            }
        }
        extracted
    }

    fn add(
        &mut self,
        graph: &EntityGraph<'_>,
        (ordinal, passage): (PassageOrdinal, &NamedPassage<'a>),
        extraction: &'a Extraction,
    ) {
        let entities: Vec<Option<EntityOrdinal>> =
            extraction.entities.iter().map(|entity| mentioned(graph, ordinal, &entity.name)).collect();
        let known = entities.iter().zip(&extraction.entities);
        self.entities.extend(known.filter_map(|(ordinal, entity)| Some(((*ordinal)?, entity))));
        let sentences = graph.names.passage_sentences.of(ordinal);
        for relation in &extraction.relations {
            let ends = relation.ends.map(|end| entities.get(end as usize).copied().flatten());
            let [Some(first), Some(second)] = ends else { continue };
            // Two names may be one entity.
            if first != second {
                let ends = [first.min(second), first.max(second)];
                let before = passage.sentences.partition_point(|it| it.end <= relation.evidence.start);
                let sentence = sentences.clone().nth(before);
                self.relations.push(FoundRelation { ends, relation, sentence });
            }
        }
    }
}

/// Returns the entity of a name that a passage mentions.
fn mentioned(graph: &EntityGraph<'_>, passage: PassageOrdinal, name: &str) -> Option<EntityOrdinal> {
    let names = &graph.names;
    let mut mentioned = names.passage_mentions.of(passage).map(|mention| names.mention_entity[mention]);
    let entity = mentioned.find(|entity| names.entity_name(*entity) == name)?;
    Some(graph.canonical(entity, names.passage_document[passage]))
}
