//! Local models. Tests that need ONNX Runtime use the folder made by `tests/setup_model.sh`; if it is missing, each
//! test says that it is left out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cairn::domain::{EmbeddingError, ModelError, RuntimeError};
use cairn::embed::{Embedder, ModelPlace, OnnxEmbedder, OnnxReranker, Reranker, StaticTable};
use cairn::{Error, Result};
use tempfile::TempDir;

use crate::support::neo4j::database;
use crate::support::onnx::{Attribute, Graph, Kind};
use crate::support::{Cli, left_out};

/// Returns the folder of the model that tests use: `CAIRN_TEST_MODEL`, or `target/model`.
fn model_folder() -> Option<PathBuf> {
    let named = std::env::var_os("CAIRN_TEST_MODEL").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target/model"));
    if folder.join("tokenizer.json").is_file() {
        return Some(folder.canonicalize().unwrap());
    }
    left_out("it needs the folder that `tests/setup_model.sh` makes, at target/model or CAIRN_TEST_MODEL");
    None
}

fn place(folder: &Path) -> ModelPlace {
    ModelPlace { folder: folder.to_owned(), runtime: None }
}

fn library() -> Option<PathBuf> {
    let folder = model_folder()?;
    ["libonnxruntime.so", "libonnxruntime.dylib", "onnxruntime.dll"]
        .map(|name| folder.join(name))
        .into_iter()
        .find(|it| it.is_file())
}

#[tokio::test]
async fn a_local_model_embeds_each_text_the_same_in_any_company() {
    let Some(folder) = model_folder() else { return };
    let embedder = OnnxEmbedder::open(&place(&folder)).unwrap();
    assert_eq!(embedder.dimension(), 384);
    let (stem, checksum) = embedder.name().strip_prefix("onnx:").unwrap().split_once('@').unwrap();
    assert_eq!((stem, checksum.len()), ("all-minilm-l6-v2-int8", 32));

    let long = "word ".repeat(2_000);
    let texts = ["Who directed the film?", "The movie's director", "Rivers flow into the sea", "", &long];
    let together = embedder.embed(&texts).await.unwrap();
    for (text, vector) in texts.iter().zip(&together) {
        assert_eq!(embedder.embed(&[text]).await.unwrap()[0], *vector, "{text:.30}");
    }
    assert!(together[0].cosine(&together[1]) > 0.6, "{}", together[0].cosine(&together[1]));
    assert!(together[0].cosine(&together[2]) < 0.2);
    assert!(embedder.embed(&[]).await.unwrap().is_empty());
}

#[test]
fn pieces_are_counted_whole_by_the_tokenizer_of_the_model() {
    let Some(folder) = model_folder() else { return };
    let embedder = OnnxEmbedder::open(&place(&folder)).unwrap();
    let long = "antidisestablishmentarianism, ".repeat(300);
    // The table in the program has this model's vocabulary.
    for text in ["", "Who directed the film?", "Čapek's café, naïve & co-operative: 1,234.5 €", &long] {
        assert_eq!(embedder.piece_count(text), StaticTable.piece_count(text), "{text:.30}");
    }
    assert_eq!(embedder.pieces_max(), 256);
}

/// Writes the folder of a toy model: words are numbered, `graph` does the rest.
fn toy(graph: Graph) -> TempDir {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write(
        "tokenizer.json",
        r#"{"version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
            "pre_tokenizer": {"type": "Whitespace"}, "decoder": null,
            "post_processor": {"type": "TemplateProcessing", "special_tokens": {},
                "single": [{"Sequence": {"id": "A", "type_id": 0}}],
                "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}]},
            "model": {"type": "WordLevel", "unk_token": "[UNK]",
                "vocab": {"[UNK]": 0, "[PAD]": 1, "red": 2, "blue": 3, "old": 4, "mill": 5}}}"#,
    );
    write("config.json", r#"{"pad_token_id": 1}"#);
    write("tokenizer_config.json", r#"{"model_max_length": 512, "pad_token": "[PAD]"}"#);
    write("special_tokens_map.json", "{}");
    fs::write(folder.path().join("toy.onnx"), graph.file()).unwrap();
    folder
}

/// Returns a graph with the inputs of an encoder, and the numbers of the words as floats in `floats`.
fn encoder() -> Graph {
    let mut graph = Graph::default();
    for name in ["input_ids", "attention_mask", "token_type_ids"] {
        graph.input(name, Kind::I64, &[-1, -1]);
    }
    graph.node("Cast", &["input_ids"], &["floats"], &[("to", Attribute::Int(1))]);
    graph
}

fn open_toy(graph: Graph) -> Result<OnnxEmbedder> {
    let library = library();
    OnnxEmbedder::open(&ModelPlace { folder: toy(graph).path().to_owned(), runtime: library })
}

#[test]
fn a_model_that_returns_no_vectors_is_refused() {
    if library().is_none() {
        return;
    }
    let mut numbers = encoder();
    numbers.ints("last", &[2]);
    numbers.op("Neg", &["floats"], "below");
    numbers.op("Log", &["below"], "none");
    numbers.op("Unsqueeze", &["none", "last"], "last_hidden_state");
    numbers.output("last_hidden_state", Kind::F32, &[-1, -1, 1]);
    let error = open_toy(numbers).unwrap_err();
    assert!(matches!(error, Error::Embedding { source: EmbeddingError::NotFinite { position: 0 }, .. }), "{error:?}");

    let mut flat = encoder();
    flat.ints("all", &[-1]);
    flat.op("Reshape", &["floats", "all"], "last_hidden_state");
    flat.output("last_hidden_state", Kind::F32, &[-1]);
    let mut whole = encoder();
    whole.node("Identity", &["input_ids"], &["last_hidden_state"], &[]);
    whole.output("last_hidden_state", Kind::I64, &[-1, -1]);
    for graph in [flat, whole] {
        let error = open_toy(graph).unwrap_err();
        assert!(matches!(error, Error::Model { source: ModelError::Output { .. }, .. }), "{error:?}");
        assert_eq!(error.kind(), cairn::ErrorKind::Input);
    }

    let broken = toy(encoder());
    fs::write(broken.path().join("toy.onnx"), "no model").unwrap();
    let error = OnnxEmbedder::open(&ModelPlace { folder: broken.path().to_owned(), runtime: library() }).unwrap_err();
    assert!(matches!(error, Error::Model { source: ModelError::Unusable { .. }, .. }), "{error:?}");
    fs::write(broken.path().join("toy.onnx"), encoder().file()).unwrap();
    fs::write(broken.path().join("tokenizer.json"), "{}").unwrap();
    let error = OnnxEmbedder::open(&ModelPlace { folder: broken.path().to_owned(), runtime: library() }).unwrap_err();
    assert!(matches!(error, Error::Model { source: ModelError::Unusable { .. }, .. }), "{error:?}");
}

#[tokio::test]
async fn a_vector_of_another_length_is_an_error_when_it_comes() {
    if library().is_none() {
        return;
    }
    // One value per word: the length of a vector depends on its text.
    let mut graph = encoder();
    graph.op("Add", &["floats", "floats"], "sentence_embedding");
    graph.output("sentence_embedding", Kind::F32, &[-1, -1]);
    let embedder = open_toy(graph).unwrap();
    let error = embedder.embed(&["red mill"]).await.unwrap_err();
    assert!(matches!(error, Error::Embedding { source: EmbeddingError::Dimension { actual: 2, .. }, .. }), "{error:?}");
}

/// Writes a reranker whose score is the number of times that words of the question occur in the text.
fn counting_reranker(output: &str) -> TempDir {
    let mut graph = encoder();
    for (name, axis) in [("rows", 1), ("columns", 2)] {
        graph.ints(name, &[axis]);
        graph.op("Unsqueeze", &["input_ids", name], &format!("ids.{name}"));
    }
    graph.op("Equal", &["ids.rows", "ids.columns"], "same");
    graph.node("Cast", &["same"], &["same.floats"], &[("to", Attribute::Int(1))]);
    graph.node("Cast", &["token_type_ids"], &["second"], &[("to", Attribute::Int(1))]);
    graph.floats("one", &[], &[1.0]);
    graph.op("Sub", &["one", "second"], "first");
    graph.op("Unsqueeze", &["first", "columns"], "first.wide");
    graph.op("Unsqueeze", &["second", "rows"], "second.wide");
    graph.op("Mul", &["first.wide", "second.wide"], "across");
    graph.op("Mul", &["same.floats", "across"], "matches");
    graph.ints("both", &[1, 2]);
    graph.node("ReduceSum", &["matches", "both"], &["count"], &[("keepdims", Attribute::Int(0))]);
    graph.op("Unsqueeze", &["count", "rows"], output);
    graph.output(output, Kind::F32, &[-1, 1]);
    toy(graph)
}

#[tokio::test]
async fn a_reranker_reads_question_and_text_together() {
    let Some(library) = library() else { return };
    let folder = counting_reranker("logits");
    let place = ModelPlace { folder: folder.path().to_owned(), runtime: Some(library.clone()) };
    let reranker = OnnxReranker::open(&place).unwrap();
    let texts = ["blue mill", "red mill red", "old"].map(str::to_owned);
    assert_eq!(reranker.score("red mill", &texts).await.scores.unwrap(), [1.0, 3.0, 0.0]);
    assert!(reranker.name().starts_with("onnx:toy@"), "{}", reranker.name());

    let mut flat = encoder();
    flat.ints("one", &[1]);
    flat.node("ReduceSum", &["floats", "one"], &["logits"], &[("keepdims", Attribute::Int(0))]);
    flat.output("logits", Kind::F32, &[-1]);
    for folder in [counting_reranker("scores"), toy(flat)] {
        let place = ModelPlace { folder: folder.path().to_owned(), runtime: Some(library.clone()) };
        let error = OnnxReranker::open(&place).unwrap_err();
        assert!(matches!(error, Error::Model { source: ModelError::Output { .. }, .. }), "{error:?}");
    }
}

#[test]
fn a_library_that_cannot_be_used_is_named_with_what_to_do() {
    let cli = Cli::new();
    cli.write("notes/a.md", "# A\n\nA text.\n");
    for name in ["model.onnx", "tokenizer.json", "config.json", "special_tokens_map.json", "tokenizer_config.json"] {
        cli.write(&format!("model/{name}"), if name == "model.onnx" { "" } else { "{}" });
    }
    let text = cli.write("library.so", "not a library");
    let mut cases = vec![(PathBuf::from("no-such.so"), "no file"), (text, "is not ONNX Runtime")];
    let empty = build_library(&cli, "empty", "int nothing;");
    cases.extend(empty.map(|path| (path, "another library")));
    cases.extend(build_library(&cli, "old", OLD_LIBRARY).map(|path| (path, "is version 1.19.0; 1.24 or later")));
    for (library, expect) in cases {
        let said = cli.run(["index", "notes", "--embedder", "onnx:model", "--onnx-runtime", library.to_str().unwrap()]);
        assert_eq!(said.status, Some(3), "{said:?}");
        assert!(said.stderr.contains(expect) && said.stderr.contains("CAIRN_ONNX_RUNTIME"), "{expect}: {said:?}");
        assert!(!said.stderr.contains("panicked"), "{said:?}");
    }
}

/// A library that says that it is ONNX Runtime 1.19.
const OLD_LIBRARY: &str = r#"
static const void *api(unsigned version) { return 0; }
static const char *version(void) { return "1.19.0"; }
static struct { const void *(*api)(unsigned); const char *(*version)(void); } base = { api, version };
const void *OrtGetApiBase(void) { return &base; }
"#;

fn build_library(cli: &Cli, name: &str, code: &str) -> Option<PathBuf> {
    let source = cli.write(&format!("{name}.c"), code);
    let library = cli.folder().join(format!("lib{name}.so"));
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status();
    if built.is_ok_and(|status| status.success()) {
        return Some(library);
    }
    left_out("it needs a C compiler called cc");
    None
}

#[test]
fn an_index_finds_its_model_again_or_says_which_it_needs() {
    let Some(folder) = model_folder() else { return };
    let cli = Cli::new();
    cli.write("notes/a.md", "# Arlen\n\nArlen lies on the Brint. It has a harbor.\n");
    cli.write("notes/b.md", "# Brint\n\nThe Brint rises at Corvo and flows past Arlen.\n");
    // A copy that can be moved; the library stays where it is.
    fs::create_dir(cli.folder().join("model")).unwrap();
    for entry in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap()) {
        let name = entry.file_name();
        if !name.to_string_lossy().contains("onnxruntime") {
            fs::copy(entry.path(), cli.folder().join("model").join(name)).unwrap();
        }
    }
    let library = library().unwrap();
    let library = library.to_str().unwrap();
    let made = cli.run(["index", "notes", "--embedder", "onnx:model", "--onnx-runtime", library]).succeeded();
    assert!(made.stderr.contains("later commands find the model, and not ONNX Runtime"), "{made:?}");
    // The location of the model is remembered; that of the library has to come from the user.
    let unsaid = cli.run(["search", "river"]);
    assert!(unsaid.status == Some(3) && unsaid.stderr.contains("`onnx_runtime` in your own"), "{unsaid:?}");
    cli.configure(format!("onnx_runtime = {library:?}"));
    let asked = cli.run(["ask", "Where does the river rise that flows past Arlen?", "--json"]).succeeded();
    assert!(asked.stdout.contains("rises at Corvo"), "{asked:?}");
    let status = cli.run(["status"]).succeeded();
    assert!(status.stdout.contains("onnx:all-minilm-l6-v2-int8@"), "{status:?}");
    let export = cli.run(["export", "--index", ".cairn", "--canonical"]).succeeded().stdout;
    assert!(!export.contains("all-minilm") && !export.contains("model"), "{export}");

    fs::rename(cli.folder().join("model"), cli.folder().join("moved")).unwrap();
    let gone = cli.run(["search", "river"]);
    assert_eq!(gone.status, Some(6), "{gone:?}");
    for part in ["onnx:all-minilm-l6-v2-int8@", "--embedder onnx:DIR", "CAIRN_EMBEDDER", "--re-embed"] {
        assert!(gone.stderr.contains(part), "{part}: {gone:?}");
    }
    cli.run(["search", "river", "--embedder", "onnx:moved", "--onnx-runtime", library]).succeeded();
    let mut command = cli.command(["search", "river"]);
    let named = command.env("CAIRN_EMBEDDER", "onnx:moved").env("CAIRN_ONNX_RUNTIME", library).output().unwrap();
    assert!(named.status.success(), "{named:?}");
    cli.run(["index", "--re-embed", "--embedder", "builtin"]).succeeded();
    cli.run(["search", "river"]).succeeded();
}

/// A database stores the name of a model, not its location.
#[test]
fn a_clone_takes_over_vectors_and_can_be_updated_once_it_knows_where_the_model_is() {
    let Some(folder) = model_folder() else { return };
    let Some(database) = database() else { return };
    let cli = Cli::new();
    cli.write("notes/a.md", "# Arlen\n\nArlen lies on the Brint. It has a harbor.\n");
    cli.write("notes/b.md", "# Brint\n\nThe Brint rises at Corvo and flows past Arlen.\n");
    let model = format!("onnx:{}", folder.display());
    cli.run(["index", "notes", "--embedder", &model, "--neo4j", &database.uri]).succeeded();
    let said = cli.run(["clone", &database.uri, "cloned"]).succeeded();
    for part in ["onnx:all-minilm-l6-v2-int8@", "index PATH --embedder onnx:DIR --index cloned"] {
        assert!(said.stderr.contains(part), "{part}: {said:?}");
    }
    assert!(cli.canonical("cloned") == cli.canonical(".cairn"));
    cli.refuses(&["search", "river", "--index", "cloned"], "incompatible", &["--embedder onnx:DIR"]);

    let report = cli.json(&["index", "notes", "--index", "cloned", "--embedder", &model]);
    assert_eq!((&report["version"], &report["documents"]["unchanged"]), (&1.into(), &2.into()), "{report}");
    // From here on, the index knows it: one more document, and no other is processed again.
    cli.configure(format!("onnx_runtime = {:?}", library().unwrap()));
    cli.write("notes/c.md", "# Corvo\n\nCorvo is a hill by Harl Mill.\n");
    let report = cli.json(&["index", "notes", "--index", "cloned"]);
    let documents = &report["documents"];
    assert_eq!((&documents["added"], &documents["unchanged"]), (&1.into(), &2.into()), "{report}");
    cli.run(["index", "notes"]).succeeded();
    assert!(cli.canonical("cloned") == cli.canonical(".cairn"));
    let report = cli.json(&["publish", "--index", "cloned", "--neo4j", &database.uri]);
    assert!(report["written"].as_u64().unwrap() > 0 && report["version"] == 2, "{report}");
}

#[test]
fn a_search_is_reranked_when_it_asks_for_it() {
    let Some(library) = library() else { return };
    let (cli, reranker) = (Cli::new(), counting_reranker("logits"));
    cli.write("notes/a.md", "# a\n\nred harbor, blue mill\n");
    cli.write("notes/b.md", "# b\n\nan old red mill: mill, mill, mill\n");
    cli.write("notes/c.md", "# c\n\nmill\n");
    cli.run(["index", "notes"]).succeeded();
    let reranker = format!("onnx:{}", reranker.path().display());
    let library = library.to_str().unwrap();
    let said = cli.run([
        "search",
        "red mill",
        "--strategy",
        "lexical",
        "--reranker",
        &reranker,
        "--onnx-runtime",
        library,
        "--top-k",
        "2",
        "--json",
    ]);
    let found: serde_json::Value = serde_json::from_str(&said.succeeded().stdout).unwrap();
    let hits = found["hits"].as_array().unwrap();
    assert_eq!(hits.len(), 2);
    assert_eq!((&hits[0]["name"], hits[0]["score"].as_f64()), (&"b".into(), Some(5.0)), "{hits:?}");
    assert!(found["ledger"]["notes"][0].as_str().unwrap().contains("3 passages were judged by the reranker onnx:toy@"));
    let unknown = cli.run(["search", "red mill", "--reranker", "cohere"]);
    assert_eq!(unknown.status, Some(3), "{unknown:?}");
}

#[test]
fn a_missing_library_is_an_error_and_not_a_panic() {
    let folder = toy(encoder());
    let runtime = Some(folder.path().join("no-such-library"));
    let error =
        OnnxEmbedder::open(&ModelPlace { folder: folder.path().to_owned(), runtime: runtime.clone() }).unwrap_err();
    assert!(
        matches!(error, Error::Runtime { source: RuntimeError::Missing { path } } if Some(&path) == runtime.as_ref())
    );
}
