//! Recorded extractions of a model from real passages, replayed when an index asks for questions.

use std::sync::Arc;

use cairn::domain::{QuestionOrigin, TopicOptions};
use cairn::eval::{TriplesModel, read_questions, retrieval};
use cairn::{
    ExtractOptions, IndexOptions, Performers, QueryEngine, QuestionsBy, SearchOptions, Sources, Workspace,
    WorkspaceOptions, query,
};

use crate::support::{Cli, shared_data};

#[tokio::test]
#[ignore = "slow: `.ci/run` runs it"]
async fn recorded_triples_become_questions_of_an_index_and_what_is_too_little_leaves_those_of_rules() {
    let Some(folder) = shared_data("musique-openie") else { return };
    let (place, corpus) = (Cli::new(), folder.join("corpus.jsonl"));
    let model = TriplesModel::read(&corpus, &folder.join("openie.jsonl")).unwrap();
    let performers = Performers { model: Some(Arc::new(model)), ..Performers::without_embedder() };
    let options = WorkspaceOptions::of(&performers);
    let mut workspace = Workspace::open_or_create(place.folder().join(".cairn"), &options).unwrap();
    let sources = Sources::folder(&corpus);
    let report = cairn::index(&mut workspace, &sources, &performers, &IndexOptions::default()).await.unwrap();
    let asked = report.model.unwrap();
    assert!(asked.written > 1_800 && asked.left == 0, "{asked:?}");
    assert_eq!(asked.written + asked.failed.len() as u64, report.counts.passages);
    assert!(!asked.failed.is_empty() && report.counts.edges > 1_000, "{:?}", report.counts);

    let exported = place.canonical(".cairn");
    let questions = |origin: QuestionOrigin| {
        let origin = serde_json::to_string(&origin).unwrap();
        exported.lines().filter(|line| line.contains(&format!("\"origin\":{origin}"))).count()
    };
    assert!(questions(QuestionOrigin::Model) > 15_000, "{}", questions(QuestionOrigin::Model));
    assert!(questions(QuestionOrigin::Rule) >= asked.failed.len());

    let engine = QueryEngine::open(&workspace, Performers::without_embedder()).unwrap();
    let asked = read_questions(&folder.join("questions.jsonl")).unwrap();
    for strategy in ["hop", "trail"] {
        let options = SearchOptions { strategy: strategy.parse().unwrap(), ..SearchOptions::default() };
        let (_, report) = retrieval(&engine, &asked, &options, None).await.unwrap();
        let found = report.metrics.get("recall@5").unwrap().mean;
        assert!(found > 45.0, "{strategy}: {found:.1}");
    }
}

#[tokio::test]
#[ignore = "slow: `.ci/run` runs it"]
async fn recorded_triples_become_entities_and_relations_of_an_index() {
    let Some(folder) = shared_data("musique-openie") else { return };
    let (place, corpus) = (Cli::new(), folder.join("corpus.jsonl"));
    let model = TriplesModel::read(&corpus, &folder.join("openie.jsonl")).unwrap();
    let performers = Performers { model: Some(Arc::new(model)), ..Performers::without_embedder() };
    let options = WorkspaceOptions::of(&performers);
    let mut workspace = Workspace::open_or_create(place.folder().join(".cairn"), &options).unwrap();
    let (questions_by, extract) = (QuestionsBy::Rule, Some(ExtractOptions::default()));
    let options = IndexOptions { questions_by, extract, ..IndexOptions::default() };
    let report = cairn::index(&mut workspace, &Sources::folder(&corpus), &performers, &options).await.unwrap();
    let found = report.extracted.unwrap();
    assert_eq!(found.asked.written + found.asked.failed.len() as u64, report.counts.passages);
    assert!(found.asked.failed.len() < 20, "{found:?}");
    assert!(found.entities > 10_000 && found.relations > 5_000, "{found:?}");
    let topics = query::topics(&workspace.snapshot().unwrap(), &TopicOptions::default()).unwrap();
    let by_model = topics.by_model.unwrap();
    assert!(by_model.entities > 5_000 && by_model.relations > 5_000, "{by_model:?}");

    let engine = QueryEngine::open(&workspace, Performers::without_embedder()).unwrap();
    let asked = read_questions(&folder.join("questions.jsonl")).unwrap();
    let options = SearchOptions { strategy: "trail".parse().unwrap(), ..SearchOptions::default() };
    let (_, report) = retrieval(&engine, &asked, &options, None).await.unwrap();
    let recall = report.metrics.get("recall@5").unwrap().mean;
    assert!(recall > 45.0, "{recall:.1}");
}
