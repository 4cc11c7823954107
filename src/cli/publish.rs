//! `cairn publish`, and the end of `cairn index --neo4j`.

use std::path::Path;

use super::database_args::{DatabaseArgs, PublishArgs};
use super::{Done, Surroundings, progress};
use crate::error::Result;
use crate::neo4j::{OtherIndex, OtherVectors, PublishOptions, PublishReport, publish};

/// Runs `cairn publish`.
pub(super) async fn run(args: &PublishArgs, surroundings: &Surroundings) -> Done {
    let path = surroundings.index(args.place.index.clone());
    let other = if args.re_embed { OtherVectors::Replace } else { OtherVectors::Refuse };
    let other_index = if args.replace { OtherIndex::Replace } else { OtherIndex::Refuse };
    let options = PublishOptions { other_vectors: other, other_index, ..PublishOptions::default() };
    let report = publish_from(&path, &args.database, options, surroundings).await?;
    if args.place.json {
        return surroundings.print_json(&report);
    }
    say(&report, &args.database, surroundings);
    Ok(())
}

/// Publishes the index at `path`.
pub(super) async fn publish_from(
    path: &Path,
    args: &DatabaseArgs,
    options: PublishOptions,
    surroundings: &Surroundings,
) -> Result<PublishReport> {
    let target = surroundings.setup.target(&args.options())?;
    let workspace = surroundings.workspace(path)?;
    let (sink, bar) = progress::sink(surroundings.screen);
    let cancellation = surroundings.cancellation.clone();
    let options = PublishOptions { progress: Some(sink), cancellation, ..options };
    let report = publish(&workspace, &target, &options).await;
    drop(bar);
    report
}

/// Tells a person what publishing came to.
pub(super) fn say(report: &PublishReport, args: &DatabaseArgs, surroundings: &Surroundings) {
    let screen = &surroundings.screen;
    let PublishReport { version, source_version, written, changed, deleted, detached, seconds, .. } = report;
    let moved = written + changed + deleted;
    if moved == 0 {
        screen.note(format!("nothing changed: Neo4j has version {source_version} of the index already"));
    } else {
        let rate = moved as f64 / seconds.max(1e-3);
        screen.note(format!(
            "published version {source_version} as {version} of the graph: {written} nodes and relationships written, \
             {changed} changed, {deleted} deleted, {seconds:.1} s ({rate:.0} a second)"
        ));
    }
    if *detached > 0 {
        screen.note(format!(
            "{detached} relationships of others' went with the nodes that they hung on; nodes of others' stay"
        ));
    }
    if let Some(seconds) = report.index_seconds {
        screen.note(format!("its indexes were filled in {seconds:.1} s more"));
    }
    let export = match args.neo4j.as_deref() {
        Some(uri) => surroundings.next.with("export --canonical --neo4j", uri, "URI"),
        None => surroundings.next.plain("export --canonical"),
    };
    screen.note(format!("next: {export}"));
}
