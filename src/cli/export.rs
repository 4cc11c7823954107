//! `cairn export`.

use super::args::ExportArgs;
use super::{Done, Surroundings, next};
use crate::neo4j::{Session, canonical_lines, write_import_files};

/// Runs `cairn export`.
pub(super) async fn run(args: &ExportArgs, surroundings: &Surroundings) -> Done {
    if let Some(out) = &args.out {
        let workspace = surroundings.workspace(surroundings.index(args.index.clone()))?;
        write_import_files(&workspace, out)?;
        surroundings.screen.note(format!(
            "next: stop Neo4j; cd {} && neo4j-admin database import full neo4j $(cat arguments); start it; {}",
            next::folder(out),
            surroundings.next.plain("publish --neo4j URI")
        ));
        return Ok(());
    }
    // A database in the environment is for publishing; the index is what is exported unless one is named.
    let lines = if args.database.neo4j.is_some() {
        let target = surroundings.setup.target(&args.database.options())?;
        canonical_lines(&Session::connect(&target).await?).await?
    } else {
        let workspace = surroundings.workspace(surroundings.index(args.index.clone()))?;
        workspace.snapshot()?.canonical_lines()?
    };
    Ok(surroundings.screen.exact_json(lines)?)
}
