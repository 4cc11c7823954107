//! Index a folder, ask a question that no single document answers, and follow the path to the answer.
//!
//! ```sh
//! cargo run --example index_and_ask
//! ```

use cairn::{AskOptions, IndexOptions, Performers, QueryEngine, Sources, Workspace, WorkspaceOptions};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // # Performers
    //
    // The caller chooses the embedder. The built-in one is in the library: no service, no key, no download. An index is
    // pinned to the embedder that made it.
    let performers = Performers::built_in();

    // # The index
    //
    // A workspace is a folder. Running `index` again only updates what changed; if the process is killed at any moment,
    // the last finished version stays readable.
    let folder = tempfile::tempdir()?;
    let mut workspace = Workspace::open_or_create(folder.path(), &WorkspaceOptions::of(&performers))?;
    let sources = Sources::folder(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/harbor"));
    let report = cairn::index(&mut workspace, &sources, &performers, &IndexOptions::default()).await?;
    println!("{} documents, {} question edges", report.counts.documents, report.counts.edges);

    // # The question
    //
    // An engine reads one version from start to end and can be shared by any number of tasks. Without a language model,
    // an answer consists of sentences of the collection, word for word, each with its location.
    let engine = QueryEngine::open(&workspace, performers)?;
    let answer = engine.ask("Which bridge did Edda Varnholt's father design?", &AskOptions::default()).await?;
    for citation in &answer.citations {
        println!("{} {}–{}: {}", citation.uri, citation.span.start, citation.span.end, citation.quote);
    }
    assert!(answer.text.contains("Ropewalk Bridge"), "{}", answer.text);

    // # The path
    //
    // Every hit has the steps that led to it, or none if it was found by its own words.
    for hit in answer.hits.iter().take(5) {
        let steps: Vec<&str> = hit.path.iter().map(|step| step.question.as_str()).collect();
        println!("{}. {} {steps:?}", hit.rank, hit.name);
    }
    Ok(())
}
