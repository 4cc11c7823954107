//! An index and its embedder: pinned, changed on purpose, and never asked for more than necessary. No model is needed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use cairn::domain::EmbeddingError;
use cairn::embed::{Embedder, Embeddings, NoEmbedder, StaticTable};
use cairn::store::{GraphReader as _, VectorField, Vectors};
use cairn::{
    AskOptions, Cancellation, Document, Error, IndexOptions, OtherEmbedder, Performers, QueryEngine, SearchOptions,
    Sources, StrategyKind, Workspace, WorkspaceOptions, index, re_embed, remove,
};
use tempfile::TempDir;

use crate::support::Cli;

/// The built-in embedder in the role of a model: it has another name, counts texts, and fails or stops when told to.
#[derive(Default)]
struct Costly {
    texts: AtomicUsize,
    fails: AtomicBool,
    stops: Cancellation,
    stops_now: AtomicBool,
}

impl Costly {
    /// Returns how many texts were embedded since the last call.
    fn texts(&self) -> usize {
        self.texts.swap(0, Ordering::SeqCst)
    }
}

impl Embedder for Costly {
    fn name(&self) -> &'static str {
        "costly"
    }

    fn dimension(&self) -> usize {
        StaticTable.dimension()
    }

    fn piece_count(&self, text: &str) -> usize {
        2 * StaticTable.piece_count(text)
    }

    fn pieces_max(&self) -> usize {
        StaticTable.pieces_max()
    }

    fn is_costly(&self) -> bool {
        true
    }

    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> Embeddings<'a> {
        self.texts.fetch_add(texts.len(), Ordering::SeqCst);
        if self.stops_now.load(Ordering::SeqCst) {
            self.stops.cancel();
        }
        if self.fails.load(Ordering::SeqCst) {
            let source = EmbeddingError::NotFinite { position: 3 };
            return Box::pin(std::future::ready(Err(Error::Embedding { embedder: "costly".to_owned(), source })));
        }
        StaticTable.embed(texts)
    }
}

fn document(name: &str, tail: &str) -> Document {
    let sentences = (0..12).map(|number| format!("{name} has the harbor number {number} beside the old mill. "));
    Document::new(name, Some(name.to_owned()), format!("{}{tail}", sentences.collect::<String>()))
}

fn corpus() -> Sources {
    Sources::documents([document("Arlen", "Arlen lies on the Brint."), document("Brint", "The Brint rises at Corvo.")])
}

fn costly(embedder: &Arc<Costly>) -> Performers {
    Performers::with_embedder(Arc::clone(embedder) as Arc<dyn Embedder>)
}

async fn new_index(folder: &TempDir, performers: &Performers, options: &IndexOptions) -> Workspace {
    let mut workspace = Workspace::open_or_create(folder.path(), &WorkspaceOptions::of(performers)).unwrap();
    index(&mut workspace, &corpus(), performers, options).await.unwrap();
    workspace
}

fn lines(workspace: &Workspace) -> Vec<String> {
    workspace.snapshot().unwrap().canonical_lines().unwrap()
}

async fn finds(workspace: &Workspace, performers: &Performers) -> usize {
    let engine = QueryEngine::open(workspace, performers.clone()).unwrap();
    engine.search("Where does the Brint rise?", &SearchOptions::default()).await.unwrap().hits.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_that_changes_its_embedder_and_back_is_unchanged() {
    let (folder, options) = (TempDir::new().unwrap(), IndexOptions::default());
    let (built_in, none) = (Performers::built_in(), Performers::without_embedder());
    let mut workspace = new_index(&folder, &built_in, &options).await;
    let first = lines(&workspace);

    let refused = Workspace::open_or_create(folder.path(), &WorkspaceOptions::of(&none)).unwrap_err();
    assert!(matches!(&refused, Error::Embedder { index, given } if index == StaticTable::NAME && given == "none"));
    assert!(matches!(index(&mut workspace, &corpus(), &none, &options).await, Err(Error::Embedder { .. })));

    re_embed(&mut workspace, &none, &options).await.unwrap();
    assert_eq!(workspace.embedder().unwrap(), NoEmbedder::NAME);
    assert!(finds(&workspace, &none).await > 0);
    assert!(matches!(QueryEngine::open(&workspace, built_in.clone()), Err(Error::Embedder { .. })));

    let report = re_embed(&mut workspace, &built_in, &options).await.unwrap();
    assert_eq!((report.documents.changed, report.documents.unchanged), (2, 0));
    assert_eq!(lines(&workspace), first);
    let again = re_embed(&mut workspace, &built_in, &options).await.unwrap();
    assert_eq!((again.version, again.documents.unchanged), (report.version, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn passages_are_divided_again_if_another_embedder_counts_their_pieces() {
    let (folder, embedder) = (TempDir::new().unwrap(), Arc::new(Costly::default()));
    let mut options = IndexOptions::default();
    options.chunk.passage_pieces_max = 64;
    let built_in = Performers::built_in();
    let mut workspace = new_index(&folder, &built_in, &options).await;
    let before = workspace.status().unwrap().counts.passages;
    // One document is read from its source again, the other from the records.
    let sources = Sources::documents([document("Arlen", "Arlen lies on the Brint.")]);
    let changing = IndexOptions { other_embedder: OtherEmbedder::ReEmbed, ..options.clone() };
    let report = index(&mut workspace, &sources, &costly(&embedder), &changing).await.unwrap();
    assert_eq!(report.documents.changed, 2);
    assert!(report.counts.passages > before, "{} {before}", report.counts.passages);

    let other = TempDir::new().unwrap();
    let fresh = new_index(&other, &costly(&embedder), &options).await;
    assert_eq!(lines(&workspace), lines(&fresh));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_old_version_is_read_until_the_new_one_is_whole() {
    let (folder, embedder) = (TempDir::new().unwrap(), Arc::new(Costly::default()));
    let built_in = Performers::built_in();
    let mut workspace = new_index(&folder, &built_in, &IndexOptions::default()).await;
    let first = lines(&workspace);

    embedder.fails.store(true, Ordering::SeqCst);
    let failed = re_embed(&mut workspace, &costly(&embedder), &IndexOptions::default()).await;
    assert!(matches!(failed, Err(Error::Embedding { .. })));
    assert_eq!(workspace.embedder().unwrap(), StaticTable::NAME);
    assert_eq!(lines(&workspace), first);
    assert!(finds(&workspace, &built_in).await > 0);

    embedder.fails.store(false, Ordering::SeqCst);
    embedder.stops_now.store(true, Ordering::SeqCst);
    let stopping = IndexOptions { cancellation: embedder.stops.clone(), ..IndexOptions::default() };
    let stopped = re_embed(&mut workspace, &costly(&embedder), &stopping).await;
    assert!(matches!(stopped, Err(Error::Cancelled)));
    assert!(finds(&workspace, &built_in).await > 0);

    embedder.stops_now.store(false, Ordering::SeqCst);
    re_embed(&mut workspace, &costly(&embedder), &IndexOptions::default()).await.unwrap();
    assert_eq!(workspace.embedder().unwrap(), "costly");
    assert!(finds(&workspace, &costly(&embedder)).await > 0);
}

/// Returns the scale and codes of each item.
fn items(field: Vectors<'_>) -> Vec<(f32, Vec<i8>)> {
    (0..field.len() as u32).map(|item| (field.scale(item), field.codes(item).to_vec())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn vectors_of_unchanged_texts_are_taken_over_from_the_version_before() {
    let (folder, embedder) = (TempDir::new().unwrap(), Arc::new(Costly::default()));
    let (performers, options) = (costly(&embedder), IndexOptions::default());
    let mut workspace = new_index(&folder, &performers, &options).await;
    let all = embedder.texts();

    let changed = Sources::documents([document("Brint", "The Brint rises at Dorrow.")]);
    index(&mut workspace, &changed, &performers, &options).await.unwrap();
    let some = embedder.texts();
    assert!(0 < some && some * 2 < all, "{some} of {all}");

    let other = TempDir::new().unwrap();
    let mut fresh = new_index(&other, &performers, &options).await;
    index(&mut fresh, &changed, &performers, &options).await.unwrap();
    remove(&mut fresh, &["Arlen", "Brint"], &performers, &options).await.unwrap();
    embedder.texts();
    let both = [document("Arlen", "Arlen lies on the Brint."), document("Brint", "The Brint rises at Dorrow.")];
    index(&mut fresh, &Sources::documents(both), &performers, &options).await.unwrap();
    assert_eq!(lines(&workspace), lines(&fresh));
    let vectors = |workspace: &Workspace| {
        let snapshot = workspace.snapshot().unwrap();
        let fields = [VectorField::Passage, VectorField::Sentence, VectorField::Incoming];
        let all = fields.map(|field| snapshot.vectors(field).unwrap()).into_iter();
        let all = all.chain([snapshot.outgoing_vectors().unwrap()]);
        all.map(items).collect::<Vec<_>>()
    };
    assert!(vectors(&workspace) == vectors(&fresh), "vectors that were taken over are other ones");
}

#[test]
fn the_command_line_changes_the_embedder_only_when_it_is_told_to() {
    let cli = Cli::new();
    cli.write("notes/a.md", "# Arlen\n\nArlen lies on the Brint. The Brint rises at Corvo.\n");
    cli.run(["index", "notes", "--embedder", "none"]).succeeded();
    // An index continues with its own embedder.
    cli.run(["index", "notes"]).succeeded();
    cli.run(["search", "Brint"]).succeeded();

    let refused = cli.run(["index", "notes", "--embedder", "builtin"]);
    assert_eq!(refused.status, Some(6), "{refused:?}");
    for part in ["`none`", "`static-256i8`", "--re-embed"] {
        assert!(refused.stderr.contains(part), "{refused:?}");
    }
    assert_eq!(cli.run(["search", "Brint", "--embedder", "builtin"]).status, Some(6));
    cli.run(["index", "--re-embed", "--embedder", "builtin"]).succeeded();
    cli.run(["search", "Brint", "--strategy", "dense"]).succeeded();

    let unknown = cli.run(["index", "notes", "--embedder", "openai"]);
    assert_eq!(unknown.status, Some(3), "{unknown:?}");
    assert!(unknown.stderr.contains("builtin, none, onnx:DIR"), "{unknown:?}");
    let missing = cli.run(["index", "notes", "--embedder", "onnx:no-such-folder"]);
    assert_eq!(missing.status, Some(3), "{missing:?}");
    assert!(missing.stderr.contains("no such folder"), "{missing:?}");
    assert_eq!(cli.run(["index", "--re-embed", "--index", "elsewhere"]).status, Some(4));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_strategy_that_compares_no_vectors_asks_no_model() {
    let (folder, options) = (TempDir::new().unwrap(), IndexOptions::default());
    let embedder = Arc::new(Costly::default());
    let workspace = new_index(&folder, &costly(&embedder), &options).await;
    let engine = QueryEngine::open(&workspace, costly(&embedder)).unwrap();
    embedder.fails.store(true, Ordering::SeqCst);
    embedder.texts();
    for strategy in StrategyKind::ALL {
        let search = SearchOptions { strategy, ..SearchOptions::default() };
        let found = engine.search("Where does the Brint rise?", &search).await;
        let answer = engine.ask("Where does the Brint rise?", &AskOptions { search, ..AskOptions::default() }).await;
        if strategy == StrategyKind::Lexical {
            assert_eq!(found.unwrap().hits[0].name, "Brint");
            assert!(answer.unwrap().text.contains("The Brint rises at Corvo."));
            assert_eq!(embedder.texts(), 0);
        } else {
            assert!(matches!(found, Err(Error::Embedding { .. })), "{strategy}");
            assert!(matches!(answer, Err(Error::Embedding { .. })), "{strategy}");
        }
    }
}
