//! Follow a long run, stop it in the middle, and finish it by running it again.
//!
//! ```sh
//! cargo run --example progress_and_cancellation
//! ```

use std::sync::Arc;

use cairn::domain::Cancellation;
use cairn::{
    Document, ErrorKind, IndexOptions, Performers, Progress, QueryEngine, SearchOptions, Sources, Workspace,
    WorkspaceOptions,
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let performers = Performers::built_in();
    let folder = tempfile::tempdir()?;
    let mut workspace = Workspace::open_or_create(folder.path(), &WorkspaceOptions::of(&performers))?;
    let notes =
        (0..2_000).map(|i| Document::new(i.to_string(), None, format!("Note {i} speaks of mill {i} by the Harl.")));
    let sources = Sources::documents(notes);

    // # Watch, and stop
    //
    // Progress says which stage the run is in and how far. A cancellation may be set from anywhere: a signal, a button,
    // or, as here, from the progress itself. The run ends after the current unit.
    let cancellation = Cancellation::default();
    let (stop, seen) = (cancellation.clone(), 1_000);
    let watch = move |progress: Progress| {
        if progress.stage == "reading" && progress.done == seen {
            println!("{} documents read: enough for today", progress.done);
            stop.cancel();
        }
    };
    let options = IndexOptions { progress: Some(Arc::new(watch)), cancellation, ..IndexOptions::default() };
    let stopped = cairn::index(&mut workspace, &sources, &performers, &options).await;
    assert!(stopped.is_err_and(|error| error.kind() == ErrorKind::Cancelled));

    // # What is kept
    //
    // Finished units are in the records and wait for a version; there is none yet, so there is nothing to search.
    let status = workspace.status()?;
    println!("{} documents wait for a version", status.units_pending);
    assert!(status.units_pending > 0 && status.version.is_none());

    // # Continue
    //
    // The same call continues.
    let report = cairn::index(&mut workspace, &sources, &performers, &IndexOptions::default()).await?;
    println!("{} added, {} were there", report.documents.added, report.documents.unchanged);
    assert_eq!(report.documents.added + report.documents.unchanged, 2_000);
    let engine = QueryEngine::open(&workspace, performers)?;
    let found = engine.search("mill 1234", &SearchOptions::default()).await?;
    assert_eq!(found.hits.first().map(|hit| hit.source_id.as_str()), Some("1234"));
    Ok(())
}
