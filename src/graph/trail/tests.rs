//! Walks over small graphs.

//! The walk on three passages.

use rustc_hash::{FxBuildHasher, FxHashSet};

use super::*;
use crate::domain::StepKind;
use crate::graph::ordinal::{Column, CueOrdinal, EntityOrdinal, listed};
use crate::graph::packed::{CUES, NO_CUE, PackedGraph, name_kind};
use crate::graph::vectors::Vectors;

/// Three documents of one passage and one sentence: 0 mentions the entity that 1 is named after; 2 stands alone.
fn linked() -> PackedGraph {
    PackedGraph {
        document_passages: vec![0, 1, 2, 3],
        passage_document: listed(&[0, 1, 2]),
        passage_sentences: vec![0, 1, 2, 3],
        sentence_passage: listed(&[0, 1, 2]),
        entity_name_ends: vec![4],
        entity_names: b"anna".to_vec(),
        entity_documents: vec![1],
        entity_flags: vec![1],
        entity_bearers: vec![0, 1],
        bearer_document: listed(&[1]),
        bearer_passage: listed(&[1]),
        bearer_kind: vec![name_kind::TITLE],
        document_own: vec![0, 0, 1, 1],
        own_entity: listed(&[0]),
        passage_mentions: vec![0, 1, 1, 1],
        mention_entity: listed(&[0]),
        mention_sentence: listed(&[0]),
        mention_cues: vec![NO_CUE; CUES],
        entity_mentions: vec![0, 1],
        posting_mention: listed(&[0]),
        posting_passage: listed(&[0]),
        ..PackedGraph::default()
    }
}

static NOWHERE: FxHashMap<PassageOrdinal, f32> = FxHashMap::with_hasher(FxBuildHasher);
static NOTHING: FxHashSet<EntityOrdinal> = FxHashSet::with_hasher(FxBuildHasher);
static NO_CUES: FxHashMap<CueOrdinal, f32> = FxHashMap::with_hasher(FxBuildHasher);

/// The evidence of a question without words.
const NO_EVIDENCE: Evidence<'_> = Evidence {
    idf: &[],
    passage_covered: Column::new(&[]),
    sentence_covered: Column::new(&[]),
    bm25: Column::new(&[]),
    best_sentence: Column::new(&[]),
    cosine: Column::new(&[]),
    best_sentence_cosine: Column::new(&[]),
    named: &NOWHERE,
    named_lead: &NOWHERE,
    entities: &NOTHING,
    cues: &NO_CUES,
    documents: 0.0,
    allowed: None,
};

fn evidence() -> Evidence<'static> {
    Evidence {
        idf: &[1.0, 2.0],
        passage_covered: Column::new(&[0b01, 0b10, 0]),
        sentence_covered: Column::new(&[0b01, 0b10, 0]),
        bm25: Column::new(&[1.0, 0.0, 0.2]),
        best_sentence: Column::new(&[1.0, 0.0, 0.2]),
        documents: 3.0,
        ..NO_EVIDENCE
    }
}

fn titled() -> TrailWeights {
    WeightSet::shipped(VectorKind::BuiltIn).expect("weights").titled.clone()
}

#[test]
fn a_mention_leads_to_the_passage_of_that_name() {
    let packed = linked();
    let walk = walk(packed.view(), &evidence(), &titled(), &TrailOptions::default());
    assert!(walk.scores[1] > walk.scores[2], "{:?}", walk.scores);
    let path = walk.path(PassageOrdinal(1));
    let (_, first) = path.first().expect("a path");
    assert_eq!((first.from.0, first.edge.to.0, first.edge.kind), (0, 1, StepKind::Name));
    assert!(walk.path(PassageOrdinal(2)).is_empty());
}

#[test]
fn a_passage_with_more_of_its_own_than_any_edge_adds_stands_by_itself() {
    let packed = linked();
    let named = [(PassageOrdinal(1), 1.0)].into_iter().collect();
    let found = Evidence { named: &named, bm25: Column::new(&[1.0, 1.0, 0.2]), ..evidence() };
    let walk = walk(packed.view(), &found, &titled(), &TrailOptions::default());
    assert!(walk.rounds.iter().any(|round| round.taken.contains_key(&PassageOrdinal(1))));
    assert!(walk.path(PassageOrdinal(1)).is_empty());
}

#[test]
fn what_may_not_be_shown_is_neither_found_nor_walked_through() {
    let packed = linked();
    let hidden = Evidence { allowed: Some(Column::new(&[false, true, true])), ..evidence() };
    let walk = walk(packed.view(), &hidden, &titled(), &TrailOptions::default());
    assert!(walk.scores[0].is_infinite());
    assert!(walk.path(PassageOrdinal(1)).is_empty());
    assert!(walk.rounds.iter().all(|round| !round.expanded.contains(&PassageOrdinal(0))));
}

#[test]
fn an_index_without_passages_has_nothing_to_walk() {
    let packed = PackedGraph { document_passages: vec![0], ..PackedGraph::default() };
    let walk = walk(packed.view(), &NO_EVIDENCE, &titled(), &TrailOptions::default());
    assert!(walk.scores.is_empty());
}

/// Returns the candidates of the small graph with their features; `sentences` are vectors.
fn judged(
    evidence: &Evidence<'_>,
    asked: &dyn Fn(&Candidates) -> Vec<Substituted>,
) -> (Vec<PassageOrdinal>, Vec<CandidateFeatures>) {
    let packed = linked();
    let (weights, options) = (titled(), TrailOptions::default());
    let setting = Setting {
        graph: packed.view(),
        evidence,
        sentence_cosine: Column::new(&[]),
        passages: Vectors::default(),
        sentences: Vectors::default(),
    };
    let walked = walk(packed.view(), evidence, &weights, &options);
    let candidates = Candidates::of(&setting, &weights, &options, &walked);
    let features = candidates.features(&setting, &[TextFit::default(); 3], &asked(&candidates));
    (candidates.passages().collect(), features)
}

#[test]
fn a_candidate_is_judged_by_its_best_edge_and_beside_the_others() {
    let (passages, features) = judged(&evidence(), &|_| Vec::new());
    let of = |passage: u32| features[passages.iter().position(|it| *it == passage).expect("a candidate")];
    let (from, to, alone) = (of(0), of(1), of(2));
    assert!(to.gain > 0.0 && to.name > 0.9 && to.rarity > 0.0, "{to:?}");
    assert_eq!([alone.gain, to.in_question, from.name].map(f32::to_bits), [0; 3]);
    // The first has one of the question's terms, idf 1 of 3, the second the other.
    assert!((from.covered - 1.0 / 3.0).abs() < 1e-6 && (to.newly_covered - 2.0 / 3.0).abs() < 1e-6);
    assert!((to.path_covered - 1.0).abs() < 1e-6 && (to.pair_covered - 1.0).abs() < 1e-6);
    assert!((to.depth - 0.25).abs() < 1e-6 && alone.depth.abs() < 1e-6);
    assert!(alone.bridge.abs() < 1e-6 && alone.other_gain.abs() < 1e-6);
}

#[test]
fn a_leap_goes_from_a_passage_over_what_it_mentions() {
    let asked = |candidates: &Candidates| {
        let leaps = candidates.leaps(10);
        let terms: Vec<(u32, u32, u64)> = leaps.iter().map(|leap| (leap.from.0, leap.entity.0, leap.terms)).collect();
        // In the passage with that name, no sentence supports the leap.
        assert_eq!(terms, [(1, 0, 0), (0, 0, 0b01)]);
        let cosine = |passage: &PassageOrdinal| if *passage == 1 { 0.8 } else { 0.5 };
        leaps
            .iter()
            .filter(|leap| leap.from == 0)
            .map(|leap| Substituted { leap: *leap, cosines: candidates.pool().iter().map(cosine).collect() })
            .collect()
    };
    let (passages, features) = judged(&evidence(), &asked);
    let of = |passage: u32| features[passages.iter().position(|it| *it == passage).expect("a candidate")];
    let (from, to, alone) = (of(0), of(1), of(2));
    assert_eq!((to.asked_anew, to.asked_anew_rank, to.asked_anew_linked), (0.8, 1.0, 0.8));
    assert_eq!((alone.asked_anew, alone.asked_anew_rank, alone.asked_anew_linked), (0.5, 0.5, 0.0));
    assert!(from.asked_anew < 0.0, "a leap does not lead back to where it begins");
    assert!((alone.asked_anew_gap + 0.3).abs() < 1e-6 && to.asked_anew_gap.abs() < 1e-6);
}
