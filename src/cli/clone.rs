//! `cairn clone`.

use super::database_args::{CloneArgs, DatabaseArgs};
use super::{Done, Surroundings};
use crate::embed::OnnxEmbedder;
use crate::index;
use crate::neo4j::Session;
use crate::text::counted;

/// Runs `cairn clone`.
pub(super) async fn run(args: CloneArgs, surroundings: &Surroundings) -> Done {
    let CloneArgs { uri, dir, login } = args;
    let database = DatabaseArgs { neo4j: Some(uri), login };
    let session = Session::connect(&surroundings.setup.target(&database.options())?).await?;
    let (workspace, version) = index::clone(&session, &dir).await?;
    let status = workspace.status()?;
    let counts = status.counts;
    let screen = &surroundings.screen;
    screen.note(format!(
        "{}, {}, {}, version {version}",
        counted(counts.documents, "document"),
        counted(counts.passages, "passage"),
        counted(counts.edges, "question edge")
    ));
    // Where a model lies is a matter of each machine, and not in the database.
    if OnnxEmbedder::is_name(&status.embedder) {
        let next = surroundings.next.command("index PATH --embedder onnx:DIR", &dir);
        screen.note(format!("its vectors are from the model `{}`", status.embedder));
        screen.note(format!("name its folder once: {next}"));
        return Ok(());
    }
    screen.note(format!("next: {}", surroundings.next.command("ask \"YOUR QUESTION\"", &dir)));
    Ok(())
}
