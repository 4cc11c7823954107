//! Walks over small graphs.

//! The walk on three passages.

use super::*;
use crate::domain::StepKind;
use crate::graph::packed::{CUES, NO_CUE, PackedGraph, name_kind};

/// Three documents of one passage and one sentence: 0 mentions the entity that 1 is named after; 2 stands alone.
fn linked() -> PackedGraph {
    PackedGraph {
        document_passages: vec![0, 1, 2, 3],
        passage_document: vec![0, 1, 2],
        passage_sentences: vec![0, 1, 2, 3],
        sentence_passage: vec![0, 1, 2],
        entity_name_ends: vec![4],
        entity_names: b"anna".to_vec(),
        entity_documents: vec![1],
        entity_flags: vec![1],
        entity_bearers: vec![0, 1],
        bearer_document: vec![1],
        bearer_passage: vec![1],
        bearer_kind: vec![name_kind::TITLE],
        document_own: vec![0, 0, 1, 1],
        own_entity: vec![0],
        passage_mentions: vec![0, 1, 1, 1],
        mention_entity: vec![0],
        mention_sentence: vec![0],
        mention_cues: vec![NO_CUE; CUES],
        entity_mentions: vec![0, 1],
        posting_mention: vec![0],
        posting_passage: vec![0],
        ..PackedGraph::default()
    }
}

fn evidence() -> Evidence {
    Evidence {
        idf: vec![1.0, 2.0],
        passage_terms: vec![0b01, 0b10, 0],
        sentence_terms: vec![0b01, 0b10, 0],
        bm25: vec![1.0, 0.0, 0.2],
        best_sentence: vec![1.0, 0.0, 0.2],
        ..Evidence::default()
    }
}

fn titled() -> TrailWeights {
    WeightSets::shipped().expect("weights").built_in.titled
}

#[test]
fn a_mention_leads_to_the_passage_of_that_name() {
    let packed = linked();
    let walk = walk(packed.view(), &evidence(), &titled(), &TrailOptions::default());
    assert!(walk.scores[1] > walk.scores[2], "{:?}", walk.scores);
    let path = walk.path(1);
    let (_, first) = path.first().expect("a path");
    assert_eq!((first.from, first.edge.to, first.edge.kind), (0, 1, StepKind::Name));
    assert!(walk.path(2).is_empty());
}

#[test]
fn a_passage_with_more_of_its_own_than_any_edge_adds_stands_by_itself() {
    let packed = linked();
    let found = Evidence { named: [(1, 1.0)].into_iter().collect(), bm25: vec![1.0, 1.0, 0.2], ..evidence() };
    let walk = walk(packed.view(), &found, &titled(), &TrailOptions::default());
    assert!(walk.rounds.iter().any(|round| round.taken.contains_key(&1)));
    assert!(walk.path(1).is_empty());
}

#[test]
fn what_may_not_be_shown_is_neither_found_nor_walked_through() {
    let packed = linked();
    let hidden = Evidence { allowed: Some(vec![false, true, true]), ..evidence() };
    let walk = walk(packed.view(), &hidden, &titled(), &TrailOptions::default());
    assert!(walk.scores[0].is_infinite());
    assert!(walk.path(1).is_empty());
    assert!(walk.rounds.iter().all(|round| !round.expanded.contains(&0)));
}

#[test]
fn an_index_without_passages_has_nothing_to_walk() {
    let packed = PackedGraph { document_passages: vec![0], ..PackedGraph::default() };
    let walk = walk(packed.view(), &Evidence::default(), &titled(), &TrailOptions::default());
    assert!(walk.scores.is_empty());
}
