//! The ranking of the best passages of `trail`: by the weighted sum alone, or by trees over their features.

use std::path::Path;
use std::sync::Arc;

use cairn::graph::trail::{Forest, TrailWeights, VectorKind, WeightSet};
use cairn::query::trail_candidates;
use cairn::{IndexOptions, Performers, QueryEngine, SearchOptions, Sources, TrailRanker, Workspace, WorkspaceOptions};
use tempfile::TempDir;

const QUESTION: &str = "Who taught the engineer of Heron Bridge?";

/// Indexes the demo collection.
async fn engine(performers: Performers) -> (TempDir, QueryEngine) {
    let folder = TempDir::new().unwrap();
    let mut workspace = Workspace::open_or_create(folder.path(), &WorkspaceOptions::of(&performers)).unwrap();
    let sources = Sources::folder(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/harbor"));
    cairn::index(&mut workspace, &sources, &performers, &IndexOptions::default()).await.unwrap();
    let engine = QueryEngine::open(&workspace, performers).unwrap();
    (folder, engine)
}

fn titled() -> TrailWeights {
    WeightSet::shipped(VectorKind::BuiltIn).unwrap().titled.clone()
}

#[tokio::test]
async fn trees_change_the_order_of_the_best_and_scores_stay_in_order() {
    let (_folder, engine) = engine(Performers::built_in()).await;
    let found = async |trail_ranker| {
        let options = SearchOptions { trail_ranker, top_k: 40, ..SearchOptions::default() };
        engine.search(QUESTION, &options).await.unwrap().hits
    };
    let (linear, boosted) = (found(Some(TrailRanker::Linear)).await, found(Some(TrailRanker::Boosted)).await);
    assert_eq!(found(None).await, boosted, "trees rank where nothing else is asked for");
    let scores = |hits: &[cairn::domain::Hit]| hits.iter().map(|hit| hit.score).collect::<Vec<_>>();
    assert!(scores(&boosted).is_sorted_by(|a, b| a >= b), "{:?}", scores(&boosted));
    assert_ne!(scores(&linear), scores(&boosted));
    let passages = |hits: &[cairn::domain::Hit]| {
        let mut passages: Vec<_> = hits.iter().map(|hit| hit.passage).collect();
        passages.sort_unstable();
        passages
    };
    assert_eq!(passages(&linear), passages(&boosted), "trees order what the walk has found");
}

#[tokio::test]
async fn weights_without_trees_rank_by_the_sum_and_refuse_another_ranker() {
    let (_folder, engine) = engine(Performers::built_in()).await;
    let bare = TrailWeights { trees: Forest::default(), ..titled() };
    let weights = Some(Arc::new(WeightSet { titled: bare.clone(), untitled: bare }));
    let with = |trail_ranker| SearchOptions { trail_ranker, weights: weights.clone(), ..SearchOptions::default() };
    let hits = async |trail_ranker| engine.search(QUESTION, &with(trail_ranker)).await.map(|found| found.hits);
    assert_eq!(hits(None).await.unwrap(), hits(Some(TrailRanker::Linear)).await.unwrap());
    let error = hits(Some(TrailRanker::Boosted)).await.unwrap_err().to_string();
    assert!(error.contains("have no trees"), "{error}");
}

#[tokio::test]
async fn a_question_is_asked_anew_where_there_are_vectors() {
    let weights = Arc::new(titled());
    for (performers, has_vectors) in [(Performers::built_in(), true), (Performers::without_embedder(), false)] {
        let (_folder, engine) = engine(performers).await;
        let query = engine.query(QUESTION, &SearchOptions::default()).await.unwrap();
        let candidates = trail_candidates(&query, &weights).await.unwrap();
        assert!(candidates.iter().all(|(_, features)| features.values().iter().all(|value| value.is_finite())));
        let closest = candidates.iter().map(|(_, features)| features.asked_anew).fold(0.0, f32::max);
        assert_eq!(closest > 0.3, has_vectors, "{closest}");
        let first = &candidates[0].1;
        assert!(first.name_covered > 0.0 && (first.rank - 1.0).abs() < 1e-6, "{first:?}");
    }
}

#[tokio::test]
async fn a_name_inside_a_longer_one_counts_less() {
    let (_folder, engine) = engine(Performers::without_embedder()).await;
    let named = async |question| {
        let query = engine.query(question, &SearchOptions::default()).await.unwrap();
        let evidence = query.evidence().unwrap();
        evidence.named.values().chain(evidence.named_lead.values()).copied().fold(0.0, f32::max)
    };
    let (whole, part) = (named("Who built Heron Bridge?").await, named("Who built Old Heron Bridge Tower?").await);
    assert!(part > 0.0 && part < whole, "{part} is not less than {whole}");
    assert!(named("who built heron bridge").await > 0.0, "texts capitalize it, so a question need not");
}
