//! Relations between entities, by rule: two that share a sentence are related, and each that a passage mentions is
//! related to the subject of its document. Relations that a model found are added.

use std::ops::Range;

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
/// Entities whose relations are summed together.
const FIRSTS: usize = 4_096;
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
    let by_model = extracted.relations.iter().map(|FoundRelation { ends, relation: found_by_model, sentence }| {
        let ends = ends.map(|end| places[end.index()]);
        relation(ends, f32::from(found_by_model.strength) * STRENGTH_WEIGHT, *sentence)
    });
    found.push(by_model.collect());
    Ok(summed(found, entities.len()))
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
    Ok(summed(by_rule(graph, &places(graph, entities), cancellation)?, entities.len()))
}

/// Returns the place of each entity in a list, or [`u32::MAX`].
fn places(graph: &PassageGraph<'_>, entities: &[EntityOrdinal]) -> Vec<u32> {
    let mut places = vec![u32::MAX; graph.entity_documents.len()];
    for (place, entity) in (0..).zip(entities) {
        places[entity.index()] = place;
    }
    places
}

/// Finds relations by rule, block by block. A sentence of `k` entities gives each pair 1/(k − 1), so that all of it
/// counts for one mention each.
fn by_rule(graph: &PassageGraph<'_>, places: &[u32], cancellation: &Cancellation) -> Result<Vec<Vec<Relation>>> {
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
    documents.par_chunks(BLOCK).map(of_block).collect()
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

/// What an entity is related to: the place of that, how much says so, and the sentence or [`NO_SENTENCE`].
type OtherEnd = (u32, f32, u32);

const NO_SENTENCE: u32 = u32::MAX;

/// Returns each pair once, with the sum of its weights, in order; places are below `count`.
fn summed(blocks: Vec<Vec<Relation>>, count: usize) -> Vec<Relation> {
    // There may be many millions: they are laid out by their first ends, and each end's few sorted by the second.
    let mut starts = vec![0; count + 1];
    blocks.iter().flatten().for_each(|it| starts[it.ends[0] as usize + 1] += 1);
    for first in 0..count {
        starts[first + 1] += starts[first];
    }
    let mut others: Vec<OtherEnd> = vec![(0, 0.0, 0); starts[count]];
    let mut next = starts.clone();
    for Relation { ends, weight, sentence } in blocks.into_iter().flatten() {
        let at = &mut next[ends[0] as usize];
        others[*at] = (ends[1], weight, sentence.map_or(NO_SENTENCE, |it| it.0));
        *at += 1;
    }
    let mut rest = others.as_mut_slice();
    let firsts: Vec<Range<usize>> = (0..count).step_by(FIRSTS).map(|first| first..count.min(first + FIRSTS)).collect();
    let parts: Vec<(Range<usize>, &mut [OtherEnd])> = firsts
        .into_iter()
        .map(|firsts| {
            let length = starts[firsts.end] - starts[firsts.start];
            (firsts, rest.split_off_mut(..length).unwrap_or_default())
        })
        .collect();
    let of_part = |(firsts, others): (Range<usize>, &mut [OtherEnd])| {
        let (mut relations, mut rest) = (Vec::with_capacity(others.len()), others);
        for first in firsts {
            let of_first = rest.split_off_mut(..starts[first + 1] - starts[first]).unwrap_or_default();
            // Stable, so that weights are summed in the order of the passages.
            of_first.sort_by_key(|it| it.0);
            relations.extend(of_first.chunk_by(|a, b| a.0 == b.0).map(|same| sum(first as u32, same)));
        }
        relations
    };
    let parts: Vec<Vec<Relation>> = parts.into_par_iter().map(of_part).collect();
    drop(others);
    let mut relations = Vec::with_capacity(parts.iter().map(Vec::len).sum());
    for part in parts {
        relations.extend(part);
    }
    relations
}

/// Returns a relation of `first`: all that says so has the same other end.
fn sum(first: u32, same: &[OtherEnd]) -> Relation {
    let weight = same.iter().map(|it| it.1).sum();
    let in_sentence = same.iter().filter(|it| it.2 != NO_SENTENCE);
    let best = in_sentence.reduce(|best, next| if next.1 > best.1 { next } else { best });
    Relation { ends: [first, same[0].0], weight, sentence: best.map(|it| SentenceOrdinal(it.2)) }
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
        for cut in 0..found.len() {
            let (first, second) = found.split_at(cut);
            assert_eq!(summed(vec![first.to_vec(), second.to_vec()], 40), all);
        }
    }

    #[test]
    fn relations_of_entities_that_are_summed_apart_are_those_of_one_sorted_list() {
        let ends = [0, 1, FIRSTS - 1, FIRSTS, FIRSTS + 1, 2 * FIRSTS - 1, 2 * FIRSTS, 2 * FIRSTS + 3];
        let mut found = Vec::new();
        for (at, one) in ends.iter().enumerate() {
            for (sentence, other) in ends[..at].iter().chain(&ends[at / 2..at]).enumerate() {
                let weight = 1.0 / (found.len() + 1) as f32;
                found.push(relation([*one as u32, *other as u32], weight, Some(SentenceOrdinal(sentence as u32))));
            }
        }
        found.reverse();
        let blocks = vec![found[..7].to_vec(), Vec::new(), found[7..].to_vec()];
        found.sort_by_key(|it| it.ends);
        let sum_of = |same: &[Relation]| {
            let others: Vec<OtherEnd> = same.iter().map(|it| (it.ends[1], it.weight, it.sentence.unwrap().0)).collect();
            sum(same[0].ends[0], &others)
        };
        let expect: Vec<Relation> = found.chunk_by(|a, b| a.ends == b.ends).map(sum_of).collect();
        assert_eq!(expect.len(), ends.len() * (ends.len() - 1) / 2);
        assert_eq!(summed(blocks, 2 * FIRSTS + 4), expect);
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
        assert_eq!(by_rule(&graph, &places, &Cancellation::default()).unwrap().concat(), expect);
    }
}
