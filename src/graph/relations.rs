//! Relations between entities, by rule: two that share a sentence are related, and each that a passage mentions is
//! related to the subject of its document. Relations that a model found are added.

use rayon::prelude::*;

use super::extracted::{Extracted, FoundRelation};
use super::ordinal::{DocumentOrdinal, EntityOrdinal, Ordinal as _, SentenceOrdinal};
use super::packed::PassageGraph;
use crate::domain::Cancellation;
use crate::domain::STRENGTH_MAX;
use crate::error::Result;

/// Entities of a sentence from which on it is a list, which says little about any two of them.
const LIST_MIN: usize = 24;
/// Documents whose relations are found together.
const BLOCK: usize = 256;
/// Weight of a passage's mention of an entity as its relation to the document's subject, where a sentence with two
/// entities counts 1.
const SUBJECT_WEIGHT: f32 = 0.5;
/// Weight of a model's relation in a passage, by its strength: the strongest counts as much as a sentence with two
/// entities.
const STRENGTH_WEIGHT: f32 = 1.0 / STRENGTH_MAX as f32;

/// Returns the entities that can have relations: those that two passages mention, names of documents, and those that a
/// model found.
#[must_use]
pub(crate) fn related_entities(graph: &PassageGraph<'_>, extracted: &Extracted<'_>) -> Vec<EntityOrdinal> {
    let mut is_found = vec![false; graph.entity_documents.len()];
    extracted.entities.iter().for_each(|(entity, _)| is_found[entity.index()] = true);
    let is_borne = |entity: &EntityOrdinal| !graph.entity_bearers.of(*entity).is_empty();
    let in_two = |entity: &EntityOrdinal| {
        let mut passages = graph.entity_mentions.of(*entity).map(|posting| graph.posting_passage[posting]);
        let first = passages.next();
        passages.any(|passage| Some(passage) != first)
    };
    graph.entity_documents.ordinals().filter(|it| is_found[it.index()] || is_borne(it) || in_two(it)).collect()
}

/// Two entities that have to do with each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Relation {
    /// Their places in a list, the lower first.
    pub(crate) ends: [u32; 2],
    /// How much says so.
    pub(crate) weight: f32,
    /// The most informative sentence: the one that names the fewest others; none if they share no sentence.
    pub(crate) sentence: Option<SentenceOrdinal>,
}

/// Returns the relations among entities, each pair once with the sum of its weights, by their places in `entities`,
/// which are in order.
///
/// # Errors
///
/// [`Error::Cancelled`](crate::error::Error::Cancelled) if a stop was requested.
pub(crate) fn relations(
    graph: &PassageGraph<'_>,
    entities: &[EntityOrdinal],
    extracted: &Extracted<'_>,
    cancellation: &Cancellation,
) -> Result<Vec<Relation>> {
    let places = places(graph, entities);
    let mut found = by_rule(graph, &places, cancellation)?;
    for FoundRelation { ends, relation: found_by_model, sentence } in &extracted.relations {
        let ends = ends.map(|end| places[end.index()]);
        found.push(relation(ends, f32::from(found_by_model.strength) * STRENGTH_WEIGHT, *sentence));
    }
    Ok(summed(found))
}

/// Returns those that rules find.
///
/// # Errors
///
/// As [`relations`].
pub(crate) fn relations_by_rule(
    graph: &PassageGraph<'_>,
    entities: &[EntityOrdinal],
    cancellation: &Cancellation,
) -> Result<Vec<Relation>> {
    Ok(summed(by_rule(graph, &places(graph, entities), cancellation)?))
}

/// Returns the place of each entity in a list, or [`u32::MAX`].
fn places(graph: &PassageGraph<'_>, entities: &[EntityOrdinal]) -> Vec<u32> {
    let mut places = vec![u32::MAX; graph.entity_documents.len()];
    for (place, entity) in (0..).zip(entities) {
        places[entity.index()] = place;
    }
    places
}

/// Finds relations by rule. A sentence of `k` entities gives each pair 1/(k − 1), so that all of it counts for one
/// mention each.
fn by_rule(graph: &PassageGraph<'_>, places: &[u32], cancellation: &Cancellation) -> Result<Vec<Relation>> {
    let subjects = subjects(graph, places);
    let documents: Vec<DocumentOrdinal> = graph.documents().collect();
    let of_block = |documents: &[DocumentOrdinal]| {
        cancellation.check()?;
        let mut found = Vec::new();
        for document in documents {
            let subject = Some(subjects[document.index()].1).filter(|place| *place != u32::MAX);
            add_document(graph, places, (*document, subject), &mut found);
        }
        Ok(found)
    };
    let blocks = documents.par_chunks(BLOCK).map(of_block).collect::<Result<Vec<Vec<Relation>>>>()?;
    let mut found = Vec::with_capacity(blocks.iter().map(Vec::len).sum());
    for block in blocks {
        found.extend(block);
    }
    Ok(found)
}

/// Adds the relations that a document says of, which has this subject.
fn add_document(
    graph: &PassageGraph<'_>,
    places: &[u32],
    (document, subject): (DocumentOrdinal, Option<u32>),
    found: &mut Vec<Relation>,
) {
    let own = graph.document_own.of(document).map(|name| places[graph.own_entity[name].index()]);
    let own: Vec<u32> = own.collect();
    for passage in graph.document_passages.of(document) {
        let mentions = graph.passage_mentions.of(passage);
        let mentions = mentions.map(|it| (graph.mention_sentence[it], places[graph.mention_entity[it].index()]));
        let mut mentions: Vec<(SentenceOrdinal, u32)> = mentions.filter(|(_, place)| *place != u32::MAX).collect();
        mentions.sort_unstable();
        mentions.dedup();
        for sentence in mentions.chunk_by(|a, b| a.0 == b.0) {
            add_sentence(sentence, found);
        }
        let mut others: Vec<u32> = mentions.iter().map(|(_, place)| *place).collect();
        others.sort_unstable();
        others.dedup();
        let others = others.into_iter().filter(|place| !own.contains(place));
        found.extend(others.filter_map(|place| Some(relation([subject?, place], SUBJECT_WEIGHT, None))));
    }
}

/// Returns for each document the place of its subject, which is the strongest of its names, and how it has that name;
/// [`u32::MAX`] if there is none.
fn subjects(graph: &PassageGraph<'_>, places: &[u32]) -> Vec<(u32, u32)> {
    let mut subjects = vec![(u32::MAX, u32::MAX); graph.document_count()];
    for entity in graph.entity_documents.ordinals().filter(|it| places[it.index()] != u32::MAX) {
        for bearer in graph.entity_bearers.of(entity) {
            let subject = &mut subjects[graph.bearer_document[bearer].index()];
            *subject = (*subject).min((graph.bearer_kind[bearer], places[entity.index()]));
        }
    }
    subjects
}

fn add_sentence(sentence: &[(SentenceOrdinal, u32)], found: &mut Vec<Relation>) {
    if sentence.len() >= LIST_MIN {
        return;
    }
    for (at, (number, first)) in sentence.iter().enumerate() {
        let others = sentence[at + 1..].iter().map(|(_, second)| *second);
        let weight = 1.0 / (sentence.len() - 1) as f32;
        found.extend(others.map(|second| relation([*first, second], weight, Some(*number))));
    }
}

fn relation([a, b]: [u32; 2], weight: f32, sentence: Option<SentenceOrdinal>) -> Relation {
    Relation { ends: [a.min(b), a.max(b)], weight, sentence }
}

/// Returns each pair once, with the sum of its weights, in order.
fn summed(mut found: Vec<Relation>) -> Vec<Relation> {
    // Stable, so that weights are summed in the order of the passages.
    found.par_sort_by_key(|it| it.ends);
    let sum = |same: &[Relation]| {
        let weight = same.iter().map(|it| it.weight).sum();
        let said = same.iter().filter(|it| it.sentence.is_some());
        let best = said.reduce(|best, next| if next.weight > best.weight { next } else { best });
        Relation { ends: same[0].ends, weight, sentence: best.and_then(|it| it.sentence) }
    };
    // In place: there may be many millions.
    let (mut kept, mut at) = (0, 0);
    while at < found.len() {
        let same = found[at..].iter().take_while(|it| it.ends == found[at].ends).count();
        found[kept] = sum(&found[at..at + same]);
        kept += 1;
        at += same;
    }
    found.truncate(kept);
    found.shrink_to_fit();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Span;
    use crate::graph::mentions::{NamedDocument, NamedPassage, pack_mentions};
    use crate::graph::packed::PackedGraph;

    #[test]
    fn pairs_are_summed_whatever_their_order_and_lists_say_nothing() {
        let sentence =
            |number, places: &[u32]| places.iter().map(|place| (SentenceOrdinal(number), *place)).collect::<Vec<_>>();
        let mut found = vec![relation([7, 3], SUBJECT_WEIGHT, None), relation([9, 8], SUBJECT_WEIGHT, None)];
        add_sentence(&sentence(0, &[3, 5, 7]), &mut found);
        add_sentence(&sentence(1, &[3, 7]), &mut found);
        add_sentence(&sentence(2, &[3]), &mut found);
        add_sentence(&sentence(3, &(0..LIST_MIN as u32).collect::<Vec<_>>()), &mut found);
        let expect =
            |ends, weight, sentence: Option<u32>| Relation { ends, weight, sentence: sentence.map(SentenceOrdinal) };
        let all = [
            expect([3, 5], 0.5, Some(0)),
            expect([3, 7], 2.0, Some(1)),
            expect([5, 7], 0.5, Some(0)),
            expect([8, 9], 0.5, None),
        ];
        assert_eq!(summed(found), all);
    }

    #[test]
    fn relations_of_many_blocks_are_those_of_one_document_after_the_other() {
        const NAMES: [&str; 5] = ["Ada Lorne", "Heron Bridge", "Toll Tower", "Quay House", "Mill Green"];
        let text = |number: usize| {
            let [a, b, c] = [number, number / 5, number / 25].map(|it| NAMES[it % NAMES.len()]);
            format!("There {a} saw {b} and {c}.")
        };
        let texts: Vec<(String, [Span; 1])> =
            (0..2 * BLOCK + 7).map(text).map(|it| (it.clone(), [Span::from(0..it.len())])).collect();
        let mut documents = Vec::new();
        for (text, sentences) in &texts {
            let passage = NamedPassage { text, sentences, media_type: "", extraction: None };
            documents.push(NamedDocument { title: None, passages: vec![passage] });
        }
        let mut packed = PackedGraph::default();
        pack_mentions(&documents, &mut packed, None, &Cancellation::default()).unwrap();
        let graph = packed.view();
        let entities: Vec<EntityOrdinal> = graph.entity_documents.ordinals().collect();
        let (places, mut expect) = (places(&graph, &entities), Vec::new());
        for (document, (_, subject)) in graph.documents().zip(subjects(&graph, &places)) {
            let subject = Some(subject).filter(|place| *place != u32::MAX);
            add_document(&graph, &places, (document, subject), &mut expect);
        }
        assert!(expect.len() > documents.len(), "{}", expect.len());
        assert_eq!(by_rule(&graph, &places, &Cancellation::default()).unwrap(), expect);
    }
}
