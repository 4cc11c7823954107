//! Names and mentions as flat arrays.

use rustc_hash::FxHashMap;

use super::find::PassageMentions;
use super::{NamedDocument, Names};
use crate::domain::Span;
use crate::graph::packed::{NO_CUE, PackedGraph, back_to_back, entity_flag, name_kind, row};
use crate::graph::trail::BEARERS_MAX;
use crate::text::NameKind;

/// Numbers documents, passages and sentences.
pub(super) fn structure(documents: &[NamedDocument<'_>], packed: &mut PackedGraph) {
    packed.document_passages.push(0);
    packed.passage_sentences.push(0);
    for (number, document) in documents.iter().enumerate() {
        for passage in &document.passages {
            let this = packed.passage_document.len() as u32;
            packed.passage_document.push(number as u32);
            packed.sentence_passage.extend(passage.sentences.iter().map(|_| this));
            packed.passage_sentences.push(packed.sentence_passage.len() as u32);
        }
        packed.document_passages.push(packed.passage_document.len() as u32);
    }
}

/// Numbers entities and cues in order, and lays out bearers, own names, mentions and postings.
pub(super) fn mentions(names: &Names, found: &[PassageMentions], packed: &mut PackedGraph) -> Vec<Span> {
    let keys = found.iter().flat_map(|passage| passage.keys.iter().map(String::as_str));
    let entities = sorted(keys.chain(names.bearers.keys().map(String::as_str)));
    let cues = sorted(found.iter().flat_map(|passage| passage.cues.iter().map(String::as_str)));
    (packed.entity_name_ends, packed.entity_names) = back_to_back(&entities);
    (packed.cue_ends, packed.cue_prefixes) = back_to_back(&cues);
    bearers(names, &entities, packed);
    let spans = rows_of_mentions(found, &entities, &cues, packed);
    postings(entities.len(), packed);
    spans
}

/// Returns the distinct texts in order.
fn sorted<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let distinct: rustc_hash::FxHashSet<&str> = texts.collect();
    let mut texts: Vec<&str> = distinct.into_iter().collect();
    texts.sort_unstable();
    texts
}

fn bearers(names: &Names, entities: &[&str], packed: &mut PackedGraph) {
    let documents = packed.document_passages.len() - 1;
    let mut own: Vec<Vec<u32>> = vec![Vec::new(); documents];
    packed.entity_bearers.push(0);
    for (entity, key) in entities.iter().enumerate() {
        let bearers = names.bearers.get(*key).map_or(&[][..], Vec::as_slice);
        for &(document, kind) in bearers {
            packed.bearer_document.push(document);
            packed.bearer_passage.push(packed.document_passages[document as usize]);
            packed.bearer_kind.push(number_of(kind));
            if bearers.len() <= BEARERS_MAX && kind != NameKind::BeforeComma {
                own[document as usize].push(entity as u32);
            }
        }
        packed.entity_bearers.push(packed.bearer_document.len() as u32);
        let single = names.cases.is_name_in_question(key);
        packed.entity_flags.push(if single { entity_flag::SINGLE_IN_QUESTION } else { 0 });
    }
    packed.document_own.push(0);
    for mut names in own {
        names.dedup();
        packed.own_entity.extend(names);
        packed.document_own.push(packed.own_entity.len() as u32);
    }
}

const fn number_of(kind: NameKind) -> u32 {
    match kind {
        NameKind::Title => name_kind::TITLE,
        NameKind::BareTitle => name_kind::BARE_TITLE,
        NameKind::BeforeComma => name_kind::BEFORE_COMMA,
        NameKind::Lead => name_kind::LEAD,
    }
}

fn rows_of_mentions(
    found: &[PassageMentions],
    entities: &[&str],
    cues: &[&str],
    packed: &mut PackedGraph,
) -> Vec<Span> {
    let entity: FxHashMap<&str, u32> = entities.iter().zip(0..).map(|(key, number)| (*key, number)).collect();
    let cue: FxHashMap<&str, u32> = cues.iter().zip(0..).map(|(cue, number)| (*cue, number)).collect();
    let mut spans = Vec::new();
    packed.passage_mentions.push(0);
    for (passage, found) in found.iter().enumerate() {
        let first = packed.passage_sentences[passage];
        let entity_numbers: Vec<u32> = found.keys.iter().map(|key| entity[key.as_str()]).collect();
        let cue_numbers: Vec<u32> = found.cues.iter().map(|text| cue[text.as_str()]).collect();
        let mut mentions = found.mentions.clone();
        mentions.sort_by_key(|mention| (entity_numbers[mention.key as usize], mention.sentence));
        for mention in mentions {
            packed.mention_entity.push(entity_numbers[mention.key as usize]);
            packed.mention_sentence.push(first + mention.sentence);
            let numbers = mention.cues.iter().map(|cue| cue.map_or(NO_CUE, |cue| cue_numbers[cue as usize]));
            packed.mention_cues.extend(numbers);
            spans.push(mention.span);
        }
        packed.passage_mentions.push(packed.mention_entity.len() as u32);
    }
    spans
}

/// Inverts the mentions: entity → mentions by ascending passage, and documents.
fn postings(entities: usize, packed: &mut PackedGraph) {
    let mut starts = vec![0u32; entities + 1];
    for &entity in &packed.mention_entity {
        starts[entity as usize + 1] += 1;
    }
    for i in 0..entities {
        starts[i + 1] += starts[i];
    }
    let mut next = starts.clone();
    packed.posting_mention = vec![0; packed.mention_entity.len()];
    packed.posting_passage = vec![0; packed.mention_entity.len()];
    packed.entity_documents = vec![0; entities];
    let mut last_document = vec![u32::MAX; entities];
    for passage in 0..packed.passage_document.len() as u32 {
        let document = packed.passage_document[passage as usize];
        for mention in row(&packed.passage_mentions, passage) {
            let entity = packed.mention_entity[mention] as usize;
            let slot = next[entity] as usize;
            packed.posting_mention[slot] = mention as u32;
            packed.posting_passage[slot] = passage;
            next[entity] += 1;
            if last_document[entity] != document {
                last_document[entity] = document;
                packed.entity_documents[entity] += 1;
            }
        }
    }
    packed.entity_mentions = starts;
}
