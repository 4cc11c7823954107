//! Relations between entities, by rule: two that share a sentence are related, and each that a passage mentions is
//! related to the subject of its document. Relations that a model found are added.

use rayon::prelude::*;

use super::extracted::{Extracted, FoundRelation};
use super::ordinal::{DocumentOrdinal, EntityOrdinal, Ordinal as _, PassageOrdinal, SentenceOrdinal};
use super::packed::PassageGraph;
use crate::domain::Cancellation;
use crate::domain::STRENGTH_MAX;
use crate::error::Result;

/// Entities of a sentence from which on it is a list, which says little about any two of them.
const LIST_MIN: usize = 24;
/// Passages whose mentions are laid out together.
const BLOCK: usize = 4_096;
/// Entities whose relations are found together.
const FIRSTS: usize = 1_024;
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
/// which are in order. What is `known` of an earlier version saves work and does not change the result.
///
/// # Errors
///
/// [`Error::Cancelled`](crate::error::Error::Cancelled) if a stop was requested.
pub(crate) fn relations(
    graph: &PassageGraph<'_>,
    entities: &[EntityOrdinal],
    (extracted, known): (&Extracted<'_>, Option<&KnownRelations<'_>>),
    cancellation: &Cancellation,
) -> Result<Vec<Relation>> {
    let mentioned = Mentioned::of(graph, entities, cancellation)?;
    let by_model = extracted.relations.iter().map(|FoundRelation { ends, relation, sentence }| {
        let [a, b] = ends.map(|end| mentioned.places[end.index()]);
        let sentence = sentence.map_or(NO_SENTENCE, |it| it.0);
        (a.min(b), (a.max(b), f32::from(relation.strength) * STRENGTH_WEIGHT, sentence))
    });
    let mut by_model: Vec<(u32, OtherEnd)> = by_model.collect();
    // Stable, as below.
    by_model.sort_by_key(|it| it.0);
    let known = known.filter(|_| by_model.is_empty());
    let affected = known.map_or_else(Vec::new, |known| affected(&mentioned, known));
    summed(&mentioned, &by_model, known.map(|known| (known, &affected[..])), cancellation)
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
    summed(&Mentioned::of(graph, entities, cancellation)?, &[], None, cancellation)
}

/// What an earlier version says of relations, by rules alone, and what may be otherwise now.
pub(crate) struct KnownRelations<'k> {
    /// Whether something else is now said of each entity.
    pub(crate) is_touched: &'k [bool],
    /// Whether each passage is new, or mentions something else, or an entity that may not have been in the list.
    pub(crate) passages: &'k [bool],
    /// Whether each document may have another subject or other names.
    pub(crate) documents: &'k [bool],
    /// Returns the other end, weight and sentence of the relations of an entity with those after it, as they were; none
    /// if one of them is gone.
    pub(crate) before: &'k (dyn Fn(EntityOrdinal) -> Option<Vec<KnownRelation>> + Sync),
}

/// The other end of a relation, its weight and its sentence.
pub(crate) type KnownRelation = (EntityOrdinal, f32, Option<SentenceOrdinal>);

impl KnownRelations<'_> {
    /// Returns the relations of an entity with those after it, as they were.
    fn of_place(&self, place: u32, mentioned: &Mentioned<'_>) -> Option<Vec<Relation>> {
        let relation = |(other, weight, sentence): KnownRelation| {
            let other = mentioned.places[other.index()];
            (other != NO_PLACE && other > place).then_some(Relation { ends: [place, other], weight, sentence })
        };
        (self.before)(mentioned.entities[place as usize])?.into_iter().map(relation).collect()
    }
}

/// Returns of which entities relations may be others than before: those of which something else is said, and those that
/// are mentioned, or that a document bears, where something else is said.
fn affected(mentioned: &Mentioned<'_>, known: &KnownRelations<'_>) -> Vec<bool> {
    let graph = mentioned.graph;
    let is_changed = |document: DocumentOrdinal| known.documents[document.index()];
    let is_affected = |entity: &EntityOrdinal| {
        let mut bearers = graph.entity_bearers.of(*entity);
        known.is_touched[entity.index()] || bearers.any(|it| is_changed(graph.bearer_document[it]))
    };
    let mut affected: Vec<bool> = mentioned.entities.iter().map(is_affected).collect();
    for (passage, document) in graph.passages().zip(graph.passage_document.items()) {
        if known.passages[passage.index()] || is_changed(*document) {
            let own = &mentioned.mentions[mentioned.rows[passage.index()]..mentioned.rows[passage.index() + 1]];
            let subject = Some(mentioned.subjects[document.index()]).filter(|it| *it != NO_PLACE);
            for place in own.iter().map(|it| it.1).chain(subject) {
                affected[place as usize] = true;
            }
        }
    }
    affected
}

/// What an entity is related to: the place of that, how much says so, and the sentence or [`NO_SENTENCE`].
type OtherEnd = (u32, f32, u32);

const NO_SENTENCE: u32 = u32::MAX;
/// In place of an entity that is not in the list.
const NO_PLACE: u32 = u32::MAX;

/// Finds the relations of one entity after the other, so that what says so is never listed for all of them at once.
fn summed(
    mentioned: &Mentioned<'_>,
    by_model: &[(u32, OtherEnd)],
    known: Option<(&KnownRelations<'_>, &[bool])>,
    cancellation: &Cancellation,
) -> Result<Vec<Relation>> {
    let places: Vec<u32> = (0..mentioned.entities.len() as u32).collect();
    let of_part = |places: &[u32]| {
        cancellation.check()?;
        let (mut passages, mut others, mut relations) = (Vec::new(), Vec::new(), Vec::new());
        for place in places {
            let known = known.filter(|(_, affected)| !affected[*place as usize]);
            if let Some(found) = known.and_then(|(known, _)| known.of_place(*place, mentioned)) {
                relations.extend(found);
                continue;
            }
            mentioned.put_passages(*place, &mut passages);
            for told in passages.chunk_by(|a, b| a.0 == b.0) {
                mentioned.add(told, *place, &mut others);
            }
            let found = by_model.partition_point(|it| it.0 < *place);
            others.extend(by_model[found..].iter().take_while(|it| it.0 == *place).map(|it| it.1));
            // Stable, so that weights are summed in the order of the passages.
            others.sort_by_key(|it| it.0);
            relations.extend(others.chunk_by(|a, b| a.0 == b.0).map(|same| sum(*place, same)));
            others.clear();
        }
        Ok(relations)
    };
    let parts: Vec<Vec<Relation>> = places.par_chunks(FIRSTS).map(of_part).collect::<Result<_>>()?;
    let mut relations = Vec::with_capacity(parts.iter().map(Vec::len).sum());
    for part in parts {
        relations.extend(part);
    }
    Ok(relations)
}

/// Returns a relation of `first`: all that says so has the same other end.
fn sum(first: u32, same: &[OtherEnd]) -> Relation {
    let weight = same.iter().map(|it| it.1).sum();
    let in_sentence = same.iter().filter(|it| it.2 != NO_SENTENCE);
    let best = in_sentence.reduce(|best, next| if next.1 > best.1 { next } else { best });
    Relation { ends: [first, same[0].0], weight, sentence: best.map(|it| SentenceOrdinal(it.2)) }
}

/// A sentence, and the place of an entity that it mentions.
type MentionedAt = (SentenceOrdinal, u32);

/// What passages mention of a list of entities, by their places there.
struct Mentioned<'g> {
    graph: &'g PassageGraph<'g>,
    entities: &'g [EntityOrdinal],
    /// The place of each entity, or [`NO_PLACE`].
    places: Vec<u32>,
    /// The place of the subject of each document, which is the strongest of its names, or [`NO_PLACE`].
    subjects: Vec<u32>,
    /// These documents, by their subjects.
    about: Vec<(u32, DocumentOrdinal)>,
    /// What each passage mentions, in the order of its sentences and then of places.
    rows: Vec<usize>,
    mentions: Vec<MentionedAt>,
}

impl<'g> Mentioned<'g> {
    fn of(graph: &'g PassageGraph<'g>, entities: &'g [EntityOrdinal], cancellation: &Cancellation) -> Result<Self> {
        let mut places = vec![NO_PLACE; graph.entity_documents.len()];
        for (place, entity) in (0..).zip(entities) {
            places[entity.index()] = place;
        }
        let subjects = subjects(graph, &places);
        let about = subjects.iter().zip(graph.documents()).map(|(subject, document)| (*subject, document));
        let mut about: Vec<_> = about.filter(|(subject, _)| *subject != NO_PLACE).collect();
        about.sort_unstable();
        let (rows, mentions) = mentions(graph, &places, cancellation)?;
        Ok(Self { graph, entities, places, subjects, about, rows, mentions })
    }

    /// Puts the passages that say something of an entity into a list, in order, with the sentences that mention it: the
    /// passages of documents about it are there in any case, with [`NO_SENTENCE`].
    fn put_passages(&self, place: u32, passages: &mut Vec<(PassageOrdinal, u32)>) {
        let graph = self.graph;
        let mentioning = graph.entity_mentions.of(self.entities[place as usize]);
        let sentence = |posting| graph.mention_sentence[graph.posting_mention[posting]].0;
        passages.clear();
        passages.extend(mentioning.map(|posting| (graph.posting_passage[posting], sentence(posting))));
        let about = self.about[self.about.partition_point(|it| it.0 < place)..].iter();
        for (_, document) in about.take_while(|it| it.0 == place) {
            passages.extend(graph.document_passages.of(*document).map(|passage| (passage, NO_SENTENCE)));
        }
        passages.sort_unstable();
        passages.dedup();
    }

    /// Adds what a passage, with these sentences that mention an entity, says of it and those with higher places. A
    /// sentence of `k` entities gives each pair 1/(k − 1), so that all of it counts for one mention each.
    fn add(&self, told: &[(PassageOrdinal, u32)], place: u32, others: &mut Vec<OtherEnd>) {
        let passage = told[0].0;
        let mentions = &self.mentions[self.rows[passage.index()]..self.rows[passage.index() + 1]];
        for (_, number) in told.iter().filter(|it| it.1 != NO_SENTENCE) {
            let of_sentence = |it: &MentionedAt| it.0.0 == *number;
            let rest = &mentions[mentions.partition_point(|it| it.0.0 < *number)..];
            let sentence = &rest[..rest.partition_point(of_sentence)];
            if sentence.len() < LIST_MIN {
                let after = &sentence[sentence.partition_point(|it| it.1 <= place)..];
                let weight = 1.0 / (sentence.len().max(2) - 1) as f32;
                others.extend(after.iter().map(|(_, other)| (*other, weight, *number)));
            }
        }
        let document = self.graph.passage_document[passage];
        let subject = self.subjects[document.index()];
        let own = self.graph.document_own.of(document);
        let is_own = |place| own.clone().any(|name| self.places[self.graph.own_entity[name].index()] == place);
        if subject == place {
            let mut mentioned: Vec<u32> = mentions.iter().map(|it| it.1).filter(|it| *it >= place).collect();
            mentioned.sort_unstable();
            mentioned.dedup();
            mentioned.retain(|it| !is_own(*it));
            others.extend(mentioned.into_iter().map(|it| (it, SUBJECT_WEIGHT, NO_SENTENCE)));
        } else if subject > place && subject != NO_PLACE && told[0].1 != NO_SENTENCE && !is_own(place) {
            others.push((subject, SUBJECT_WEIGHT, NO_SENTENCE));
        }
    }
}

/// Returns the place of the subject of each document.
fn subjects(graph: &PassageGraph<'_>, places: &[u32]) -> Vec<u32> {
    let mut subjects = vec![(u32::MAX, NO_PLACE); graph.document_count()];
    for entity in graph.entity_documents.ordinals().filter(|it| places[it.index()] != NO_PLACE) {
        for bearer in graph.entity_bearers.of(entity) {
            let subject = &mut subjects[graph.bearer_document[bearer].index()];
            *subject = (*subject).min((graph.bearer_kind[bearer], places[entity.index()]));
        }
    }
    subjects.into_iter().map(|(_, place)| place).collect()
}

/// Returns what each passage mentions, in rows.
fn mentions(
    graph: &PassageGraph<'_>,
    places: &[u32],
    cancellation: &Cancellation,
) -> Result<(Vec<usize>, Vec<MentionedAt>)> {
    let passages: Vec<PassageOrdinal> = graph.passages().collect();
    let of_block = |passages: &[PassageOrdinal]| {
        cancellation.check()?;
        let (mut ends, mut all, mut own) = (Vec::with_capacity(passages.len()), Vec::new(), Vec::new());
        for passage in passages {
            let mentions = graph.passage_mentions.of(*passage);
            let mentions = mentions.map(|it| (graph.mention_sentence[it], places[graph.mention_entity[it].index()]));
            own.extend(mentions.filter(|(_, place)| *place != NO_PLACE));
            own.sort_unstable();
            own.dedup();
            all.append(&mut own);
            ends.push(all.len());
        }
        Ok((ends, all))
    };
    let blocks: Vec<_> = passages.par_chunks(BLOCK).map(of_block).collect::<Result<_>>()?;
    let mut rows = Vec::with_capacity(passages.len() + 1);
    let mut mentions = Vec::with_capacity(blocks.iter().map(|it| it.1.len()).sum());
    rows.push(0);
    for (ends, block) in blocks {
        rows.extend(ends.into_iter().map(|end| mentions.len() + end));
        mentions.extend(block);
    }
    Ok((rows, mentions))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::domain::{ExtractedRelation, Span};
    use crate::graph::elements::{own_names, postings};
    use crate::graph::packed::{PackedGraph, name_kind};
    use crate::graph::random::SplitMix64;

    /// Returns the relations of a graph, from one list of all that says so.
    fn one_by_one(graph: &PassageGraph<'_>, entities: &[EntityOrdinal], by_model: &[FoundRelation]) -> Vec<Relation> {
        let place = |entity: EntityOrdinal| entities.binary_search(&entity).ok().map(|it| it as u32);
        let mut found: Vec<([u32; 2], f32, u32)> = Vec::new();
        let pair = |[a, b]: [u32; 2]| [a.min(b), a.max(b)];
        for document in graph.documents() {
            let bearers = entities.iter().flat_map(|it| graph.entity_bearers.of(*it).map(move |row| (*it, row)));
            let bearers = bearers.filter(|(_, row)| graph.bearer_document[*row] == document);
            let subject = bearers.map(|(entity, row)| (graph.bearer_kind[row], entity)).min();
            let own: Vec<_> = graph.document_own.of(document).map(|name| graph.own_entity[name]).collect();
            for passage in graph.document_passages.of(document) {
                let mentions = graph.passage_mentions.of(passage).collect::<Vec<_>>();
                for sentence in graph.passage_sentences.of(passage) {
                    let of_sentence = mentions.iter().filter(|it| graph.mention_sentence[**it] == sentence);
                    let named: BTreeSet<u32> = of_sentence.filter_map(|it| place(graph.mention_entity[*it])).collect();
                    let weight = 1.0 / (named.len().max(2) - 1) as f32;
                    let pairs = named.iter().flat_map(|first| named.iter().map(|second| [*first, *second]));
                    let pairs = pairs.filter(|[a, b]| a < b && named.len() < LIST_MIN);
                    found.extend(pairs.map(|ends| (ends, weight, sentence.0)));
                }
                let Some((_, subject)) = subject else { continue };
                let others = mentions.iter().map(|it| graph.mention_entity[*it]).filter(|it| !own.contains(it));
                let others: BTreeSet<u32> = others.filter_map(place).collect();
                let subject = place(subject).unwrap();
                found.extend(others.into_iter().map(|it| (pair([subject, it]), SUBJECT_WEIGHT, NO_SENTENCE)));
            }
        }
        found.extend(by_model.iter().map(|FoundRelation { ends, relation, sentence }| {
            let ends = ends.map(|end| place(end).unwrap());
            (pair(ends), f32::from(relation.strength) * STRENGTH_WEIGHT, sentence.map_or(NO_SENTENCE, |it| it.0))
        }));
        found.sort_by_key(|it| it.0);
        let relation = |same: &[([u32; 2], f32, u32)]| {
            let mut relation = Relation { ends: same[0].0, weight: 0.0, sentence: None };
            let mut most = 0.0;
            for (_, weight, sentence) in same {
                relation.weight += weight;
                if *sentence != NO_SENTENCE && *weight > most {
                    (relation.sentence, most) = (Some(SentenceOrdinal(*sentence)), *weight);
                }
            }
            relation
        };
        found.chunk_by(|a, b| a.0 == b.0).map(relation).collect()
    }

    /// A graph of documents of one or two passages with three sentences each, which mention some of `count` entities;
    /// one sentence mentions too many to relate them, another almost, and one entity is a name of very many documents.
    fn graph(count: u32, documents: u32) -> PackedGraph {
        let mut random = SplitMix64::new(7);
        let mut below = |bound: u32| random.below(bound);
        let (mut packed, mut borne) = (PackedGraph::default(), vec![Vec::new(); count as usize]);
        packed.document_passages.push(0);
        packed.passage_sentences.push(0);
        packed.passage_mentions.push(0);
        for document in 0..documents {
            // A few are about one entity, some about nobody, the others about one that they mention.
            let bearing = [(1, below(count)), (0, 3 + document % 5), (0, 2), (2, below(55).pow(2))];
            for (kind, entity) in bearing.into_iter().skip(below(5) as usize) {
                borne[entity as usize].push((document, kind, packed.passage_document.len() as u32));
            }
            for _ in 0..=below(2) {
                for _ in 0..3 {
                    let sentence = packed.sentence_passage.len() as u32;
                    let listed = [(40, LIST_MIN), (41, LIST_MIN - 1)].into_iter().find(|it| it.0 == sentence);
                    let mentioned: Vec<u32> = match listed {
                        // Those of which a test keeps all.
                        Some((_, names)) => (0..names as u32).map(|it| 100 + 9 * it).collect(),
                        None => (0..below(6)).map(|_| below(55).pow(2) + below(3)).collect(),
                    };
                    packed.mention_entity.extend(mentioned.iter().map(|it| EntityOrdinal(*it)));
                    packed.mention_sentence.extend(mentioned.iter().map(|_| SentenceOrdinal(sentence)));
                    packed.sentence_passage.push(PassageOrdinal(packed.passage_document.len() as u32));
                }
                packed.passage_sentences.push(packed.sentence_passage.len() as u32);
                packed.passage_mentions.push(packed.mention_entity.len() as u32);
                packed.passage_document.push(DocumentOrdinal(document));
            }
            packed.document_passages.push(packed.passage_document.len() as u32);
        }
        packed.entity_bearers.push(0);
        for (document, kind, passage) in borne.iter().flatten() {
            packed.bearer_document.push(DocumentOrdinal(*document));
            packed.bearer_kind.push(*kind);
            packed.bearer_passage.push(PassageOrdinal(*passage));
        }
        let mut rows = 0;
        packed.entity_bearers.extend(borne.iter().map(|it| {
            rows += it.len() as u32;
            rows
        }));
        packed = postings(count as usize, &packed.view()).or(packed);
        (packed.document_own, packed.own_entity) = own_names(documents as usize, &packed.view());
        packed
    }

    #[test]
    fn a_sentence_counts_for_one_mention_of_each_entity_and_lists_say_nothing() {
        let sentences: [&[u32]; 4] = [&[3, 5, 7], &[3, 7, 3], &[3], &(20..20 + LIST_MIN as u32).collect::<Vec<_>>()];
        let mut packed = PackedGraph {
            document_passages: vec![0, 1],
            passage_document: vec![DocumentOrdinal(0)],
            passage_sentences: vec![0, 4],
            sentence_passage: vec![PassageOrdinal(0); 4],
            entity_bearers: vec![0; 61],
            passage_mentions: vec![0, sentences.concat().len() as u32],
            mention_entity: sentences.concat().into_iter().map(EntityOrdinal).collect(),
            mention_sentence: (0..)
                .zip(sentences)
                .flat_map(|(at, it)| it.iter().map(move |_| SentenceOrdinal(at)))
                .collect(),
            ..PackedGraph::default()
        };
        packed.entity_bearers[5 + 1..].fill(1);
        (packed.bearer_document, packed.bearer_passage) = (vec![DocumentOrdinal(0)], vec![PassageOrdinal(0)]);
        packed.bearer_kind = vec![name_kind::TITLE];
        packed = postings(60, &packed.view()).or(packed);
        (packed.document_own, packed.own_entity) = own_names(1, &packed.view());
        let graph = packed.view();
        let entities: Vec<EntityOrdinal> = graph.entity_documents.ordinals().filter(|it| it.0 != 43).collect();
        let found = relations_by_rule(&graph, &entities, &Cancellation::default()).unwrap();
        let near = found.iter().filter(|it| it.ends[1] < 20).map(|it| (it.ends, it.weight, it.sentence.map(|it| it.0)));
        // The document is about entity 5.
        let due = [([3, 5], 1.0, Some(0)), ([3, 7], 1.5, Some(1)), ([5, 7], 1.0, Some(0))];
        assert_eq!(near.collect::<Vec<_>>(), due);
        // With one that is not in the list, the last sentence would not be one.
        assert!(found.iter().any(|it| it.ends == [20, 21] && it.sentence.is_some()));
        let all: Vec<EntityOrdinal> = graph.entity_documents.ordinals().collect();
        let found = relations_by_rule(&graph, &all, &Cancellation::default()).unwrap();
        assert!(found.iter().all(|it| it.ends[0] == 5 || it.ends[1] < 20));
    }

    #[test]
    fn relations_of_one_entity_after_the_other_are_those_of_one_list() {
        let count = 3 * FIRSTS as u32;
        let packed = graph(count, 900);
        let graph = packed.view();
        let entities: Vec<EntityOrdinal> = graph.entity_documents.ordinals().filter(|it| it.0 % 9 != 4).collect();
        let said = |strength| ExtractedRelation {
            ends: [0, 1],
            description: String::new(),
            strength,
            evidence: Span { start: 0, end: 1 },
        };
        let said = [said(3), said(9)];
        let by_model = |first, second, sentence: Option<u32>, relation| FoundRelation {
            ends: [EntityOrdinal(first), EntityOrdinal(second)],
            relation,
            sentence: sentence.map(SentenceOrdinal),
        };
        let by_model = vec![
            by_model(1, 2, Some(9), &said[0]),
            by_model(count - 3, count - 1, None, &said[1]),
            by_model(1, 2, None, &said[1]),
            by_model(0, count - 1, Some(4), &said[0]),
        ];
        let extracted = Extracted { entities: Vec::new(), relations: by_model };
        let expect = one_by_one(&graph, &entities, &extracted.relations);
        assert!(expect.len() > 1_000, "{}", expect.len());
        let own = graph.document_own.items().windows(2).map(|it| it[1] - it[0]);
        assert!(own.clone().any(|it| it == 0) && own.clone().any(|it| it > 0));
        assert!(expect.iter().any(|it| it.sentence.is_none()) && expect.iter().any(|it| it.sentence.is_some()));
        let stop = Cancellation::default();
        assert_eq!(relations(&graph, &entities, (&extracted, None), &stop).unwrap(), expect);
        let by_rule = one_by_one(&graph, &entities, &[]);
        assert_eq!(relations_by_rule(&graph, &entities, &stop).unwrap(), by_rule);
        assert!(expect.len() > by_rule.len());
        stop.cancel();
        assert!(relations(&graph, &entities, (&extracted, None), &stop).is_err());
    }
}
