//! `trail` beside the prototype that it was written after: with one passage a record, no vectors and the built-in
//! weights, both find the same.

use std::path::Path;

use cairn::chunk::{ChunkOptions, PassageUnit};
use cairn::eval::{Question, read_questions, retrieval};
use cairn::graph::matching::MatchOptions;
use cairn::ingest::IngestOptions;
use cairn::{IndexOptions, Performers, QueryEngine, SearchOptions, Sources, StrategyKind, Workspace, WorkspaceOptions};

use crate::support::{Cli, shared_data};

/// What the prototype printed.
struct Case {
    bundle: &'static str,
    /// Recall in the first five over all questions, with titles and without.
    prototype: [f64; 2],
    /// Every so many questions one is asked here, which is what there is time for; and their recall as the program
    /// gives it (`cairn eval retrieval`), which over all questions is within [`TOLERANCE`] of the prototype's.
    nth: usize,
    sample: [f64; 2],
}

const CASES: [Case; 3] = [
    Case { bundle: "2wiki-hippo", prototype: [98.6, 86.8], nth: 1, sample: [0.0, 0.0] },
    Case { bundle: "musique-dev", prototype: [64.4, 58.6], nth: 1, sample: [0.0, 0.0] },
    Case { bundle: "hotpot-dev", prototype: [97.8, 90.6], nth: 1, sample: [0.0, 0.0] },
];

const TOLERANCE: f64 = 0.5;

#[tokio::test]
async fn trail_with_titles_finds_what_the_prototype_finds() {
    for case in &CASES {
        compare(case, 0).await;
    }
}

#[tokio::test]
async fn trail_without_titles_finds_what_the_prototype_finds() {
    for case in &CASES {
        compare(case, 1).await;
    }
}

async fn compare(case: &Case, untitled: usize) {
    let Some(folder) = shared_data(case.bundle) else { return };
    let questions = read_questions(&folder.join("questions.jsonl")).unwrap();
    let questions: Vec<Question> = questions.into_iter().step_by(case.nth).collect();
    let engine = engine(&folder.join("corpus.jsonl"), untitled == 1).await;
    let options = SearchOptions { strategy: StrategyKind::Trail, ..SearchOptions::default() };
    let (_, report) = retrieval(&engine, &questions, &options).await.unwrap();
    let actual = report.metrics.get("recall@5").unwrap().mean;
    let expect = if case.nth == 1 { case.prototype[untitled] } else { case.sample[untitled] };
    let bundle = case.bundle;
    assert!((actual - expect).abs() <= TOLERANCE, "{bundle}, untitled {untitled}: {actual:.2} is not {expect}");
}

/// Indexes one passage a record, without vectors and, as `trail` does not need them, without question edges.
async fn engine(corpus: &Path, without_titles: bool) -> QueryEngine {
    let place = Cli::new();
    let performers = Performers::without_embedder();
    let mut workspace =
        Workspace::open_or_create(place.folder().join("index"), &WorkspaceOptions::of(&performers)).unwrap();
    let mut ingest = IngestOptions::default();
    if without_titles {
        ingest.title_field = None;
    }
    let options = IndexOptions {
        ingest,
        chunk: ChunkOptions { passage_pieces_max: usize::MAX, unit: PassageUnit::Structure },
        matching: MatchOptions { keyword_frequency_max: 0, ..MatchOptions::default() },
        ..IndexOptions::default()
    };
    cairn::index(&mut workspace, &Sources::folder(corpus), &performers, &options).await.unwrap();
    QueryEngine::open(&workspace, performers).unwrap()
}
