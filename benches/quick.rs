//! Benchmarks of what users wait for, on real text if it is available and otherwise on the demo collection. `cargo
//! bench --bench quick -- --test` runs each once on little data, in seconds.
//!
//! At the end, it reports how the cost of matching grows: the exponent e of nᵉ between ten thousand and a hundred
//! thousand questions, in processor time if the system reports it.
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

#[path = "../tests/it/support/corpus.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod corpus;

use std::sync::{Arc, LazyLock};
use std::time::Instant;

use cairn::domain::{Cancellation, Passage};
use cairn::embed::StaticTable;
use cairn::graph::matching::{MatchOptions, match_questions};
use cairn::graph::mentions::{NamedDocument, NamedPassage, pack_mentions};
use cairn::graph::packed::PackedGraph;
use cairn::graph::vectors::QuantizedVectors;
use cairn::skill::generate_by_rule;
use cairn::store::{GraphReader as _, TextField, VectorField};
use cairn::{
    Document, IndexOptions, Performers, QueryEngine, SearchOptions, Sources, StrategyKind, Workspace, WorkspaceOptions,
};
use corpus::{Asked, bundles, demo, passages_of};
use divan::Bencher;
use tempfile::TempDir;

const BUNDLES: [&str; 3] = ["musique-dev", "hotpot-dev", "2wiki-hippo"];
/// Copies of the demo collection that replace the bundles.
const COPIES: usize = 420;
/// Documents and questions of a smoke run.
const SMOKE_DOCUMENTS: usize = 80;
const SMOKE_QUESTIONS: [usize; 2] = [100, 400];
/// Out-coming questions that are matched, and copies of the demo collection that raise them.
const QUESTIONS: [usize; 2] = [10_000, 100_000];
/// A question of two hops, one to no passage in particular.
const QUESTION: &str = "Where was the director of the film that won the award of the city on the river born?";

fn main() {
    divan::main();
    if !is_smoke() && std::env::args().all(|argument| argument != "--list") {
        print_exponent();
    }
}

fn is_smoke() -> bool {
    // `cargo test --benches` runs a benchmark without this argument.
    let said = |word: &str| std::env::args().any(|argument| argument == word);
    said("--test") || !said("--bench")
}

fn sizes() -> [usize; 2] {
    if is_smoke() { SMOKE_QUESTIONS } else { QUESTIONS }
}

static DOCUMENTS: LazyLock<Vec<Document>> = LazyLock::new(|| {
    if is_smoke() {
        return demo(2).into_iter().take(SMOKE_DOCUMENTS).collect();
    }
    bundles(&BUNDLES).unwrap_or_else(|| demo(COPIES))
});

/// The first documents of one bundle.
fn one_bundle() -> &'static [Document] {
    &DOCUMENTS[..DOCUMENTS.len().min(6_955)]
}

static SMALL: LazyLock<Asked> = LazyLock::new(|| Asked::of(&DOCUMENTS, sizes()[0]));
static LARGE: LazyLock<Asked> = LazyLock::new(|| Asked::of(&DOCUMENTS, sizes()[1]));

fn asked(count: usize) -> &'static Asked {
    if count == sizes()[0] { &SMALL } else { &LARGE }
}

#[divan::bench(sample_count = 5)]
fn cut_documents_into_passages() -> usize {
    one_bundle().iter().map(|document| passages_of(document).len()).sum()
}

#[divan::bench(sample_count = 3)]
fn find_names_and_mentions(bencher: Bencher<'_, '_>) {
    let passages: Vec<Vec<Passage>> = one_bundle().iter().map(passages_of).collect();
    let documents: Vec<NamedDocument<'_>> =
        one_bundle().iter().zip(&passages).map(|(document, passages)| named(document, passages)).collect();
    bencher.bench_local(|| {
        let mut packed = PackedGraph::default();
        pack_mentions(&documents, &mut packed, None, &Cancellation::default()).unwrap();
        packed.mention_entity.len()
    });
}

fn named<'a>(document: &'a Document, passages: &'a [Passage]) -> NamedDocument<'a> {
    let passages = passages.iter().map(|it| NamedPassage {
        text: &it.text,
        sentences: &it.sentences,
        media_type: "text/plain",
        extraction: None,
    });
    NamedDocument { title: document.title.as_deref(), passages: passages.collect() }
}

#[divan::bench(sample_count = 3)]
fn generate_questions(bencher: Bencher<'_, '_>) {
    let passages: Vec<_> =
        one_bundle().iter().flat_map(|it| passages_of(it).into_iter().map(move |p| (it, p))).collect();
    bencher.bench_local(|| passages.iter().map(|(it, passage)| generate_by_rule(it, passage).len()).sum::<usize>());
}

#[divan::bench(sample_count = 5)]
fn embed_ten_thousand_questions(bencher: Bencher<'_, '_>) {
    let texts = SMALL.outgoing.texts();
    bencher.bench_local(|| StaticTable.vectors(&texts).unwrap().len());
}

#[divan::bench(args = sizes(), sample_count = 2, sample_size = 1)]
fn match_so_many_questions(bencher: Bencher<'_, '_>, count: usize) {
    let asked = asked(count);
    let (outgoing, incoming) = (asked.outgoing.view(), asked.incoming.view());
    bencher.bench_local(|| {
        match_questions(&outgoing, &incoming, &MatchOptions::default(), None, &Cancellation::default()).unwrap()
    });
}

/// An index of one bundle, and an engine for it.
struct Indexed {
    _place: TempDir,
    workspace: Workspace,
    engine: QueryEngine,
    runtime: tokio::runtime::Runtime,
}

static INDEXED: LazyLock<Arc<Indexed>> = LazyLock::new(|| {
    let place = TempDir::new().unwrap();
    let performers = Performers::built_in();
    let mut workspace =
        Workspace::open_or_create(place.path().join("index"), &WorkspaceOptions::of(&performers)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let sources = Sources::Documents(one_bundle().to_vec());
    runtime.block_on(cairn::index(&mut workspace, &sources, &performers, &IndexOptions::default())).unwrap();
    let engine = QueryEngine::open(&workspace, performers).unwrap();
    Arc::new(Indexed { _place: place, workspace, engine, runtime })
});

#[divan::bench(args = [StrategyKind::Hybrid, StrategyKind::Hop, StrategyKind::Trail])]
fn search(bencher: Bencher<'_, '_>, strategy: StrategyKind) {
    let indexed = Arc::clone(&INDEXED);
    let options = SearchOptions { strategy, ..SearchOptions::default() };
    bencher.bench_local(|| indexed.runtime.block_on(indexed.engine.search(QUESTION, &options)).unwrap().hits.len());
}

/// Finds the passages with the terms of the question, as every search does first.
#[divan::bench]
fn read_postings_of_five_terms(bencher: Bencher<'_, '_>) {
    let snapshot = INDEXED.workspace.snapshot().unwrap();
    bencher.bench_local(|| {
        let mut found = 0_u64;
        for term in ["director", "film", "award", "citi", "river"] {
            for field in [TextField::Passage, TextField::Sentence] {
                snapshot.postings(field, term, &mut |_, count| found += u64::from(count)).unwrap();
            }
        }
        found
    });
}

#[divan::bench]
fn scan_vectors_of_all_sentences(bencher: Bencher<'_, '_>) {
    let snapshot = INDEXED.workspace.snapshot().unwrap();
    let sentences = snapshot.vectors(VectorField::Sentence).unwrap();
    let mut question = QuantizedVectors::new(sentences.dimension);
    question.push_row(&sentences, 0);
    bencher.bench_local(|| sentences.cosines(&question.view()).len());
}

/// Indexes a hundred documents into a new folder.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn index_a_hundred_documents(bencher: Bencher<'_, '_>) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let sources = Sources::documents(one_bundle().iter().take(100).cloned());
    let performers = Performers::built_in();
    let new = || {
        let place = TempDir::new().unwrap();
        let options = WorkspaceOptions::of(&performers);
        let workspace = Workspace::open_or_create(place.path().join("index"), &options).unwrap();
        (place, workspace)
    };
    bencher.with_inputs(new).bench_local_values(|(place, mut workspace)| {
        let options = IndexOptions::default();
        runtime.block_on(cairn::index(&mut workspace, &sources, &performers, &options)).unwrap();
        (place, workspace)
    });
}

#[divan::bench]
fn open_a_snapshot(bencher: Bencher<'_, '_>) {
    let indexed = Arc::clone(&INDEXED);
    bencher.bench_local(|| indexed.workspace.snapshot().unwrap().passage_count());
}

fn print_exponent() {
    let cost = |asked: &Asked| {
        let (outgoing, incoming) = (asked.outgoing.view(), asked.incoming.view());
        let (started, before) = (Instant::now(), processor_seconds());
        divan::black_box(
            match_questions(&outgoing, &incoming, &MatchOptions::default(), None, &Cancellation::default()).unwrap(),
        );
        let wall = started.elapsed().as_secs_f64();
        processor_seconds().zip(before).map_or(wall, |(after, before)| after - before)
    };
    let (small, large) = (cost(&SMALL), cost(&LARGE));
    let (few, many) = (SMALL.outgoing.len() as f64, LARGE.outgoing.len() as f64);
    let exponent = (large / small).log10() / (many / few).log10();
    println!("matching: {few} questions {small:.2} s, {many} questions {large:.2} s: cost grows as n^{exponent:.2}");
}

/// Returns the processor time of this program so far, if the system reports it.
fn processor_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let ticks = |field: usize| fields.get(field)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}
