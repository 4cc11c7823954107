//! `cairn publish`, and the end of `cairn index --neo4j`.

use std::path::Path;

use super::database_args::{DatabaseArgs, PublishArgs, UnpublishArgs};
use super::{Done, Failure, Surroundings, progress};
use crate::error::{Error, Result};
use crate::neo4j::{
    self, OtherIndex, OtherVectors, PublishOptions, PublishReport, Session, Target, Unpublishing, browser_link,
    overview_cypher, publish, to_unpublish,
};
use crate::text::counted;

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

/// Reports the result of publishing.
pub(super) fn say(report: &PublishReport, args: &DatabaseArgs, surroundings: &Surroundings) {
    let screen = &surroundings.screen;
    let PublishReport { version, source_version, written, changed, deleted, detached, seconds, .. } = report;
    let moved = written + changed + deleted;
    if moved == 0 {
        screen.note(format!("nothing changed: Neo4j already has version {source_version} of the index"));
    } else {
        let rate = moved as f64 / seconds.max(1e-3);
        screen.note(format!(
            "published version {source_version} as {version} of the graph: {written} nodes and relationships written, \
             {changed} changed, {deleted} deleted, {seconds:.1} s ({rate:.0} a second)"
        ));
    }
    if *detached > 0 {
        screen.note(format!(
            "{detached} relationships that Cairn did not create were deleted with the nodes that they were attached \
             to; other nodes stay"
        ));
    }
    if let Some(seconds) = report.index_seconds {
        screen.note(format!("its indexes were filled in {seconds:.1} s more"));
    }
    let target = surroundings.setup.target(&args.options());
    if let Ok(target) = target {
        let browser = surroundings.setup.settings.neo4j.browser.as_deref();
        screen.note(format!("next: see it in Neo4j Browser: {}", browser_link(overview_cypher(), browser, &target)));
    }
}

/// Runs `cairn unpublish`.
pub(super) async fn unpublish(args: &UnpublishArgs, surroundings: &Surroundings) -> Done {
    let target = surroundings.setup.target(&args.database.options())?;
    let session = Session::connect(&target).await?;
    let found = to_unpublish(&session).await?;
    let screen = &surroundings.screen;
    screen.note(what_goes(&found, &target));
    if !args.yes && !screen.confirmed("delete that? Type yes: ") {
        return Err(Failure::Library(Error::Option {
            option: "answer",
            value: String::new(),
            reason: "nothing was deleted; type `yes`, or give `--yes`".to_owned(),
        }));
    }
    neo4j::unpublish(&session).await?;
    screen.note(format!("Neo4j at `{}` no longer holds an index of Cairn; other nodes stay", target.shown()));
    Ok(())
}

/// Reports what would be deleted, and what would stay.
fn what_goes(found: &Unpublishing, target: &Target) -> String {
    let Unpublishing { collection, nodes, relationships, detached, kept } = found;
    let of = collection.map(|it| format!(" of the collection {it}")).unwrap_or_default();
    let torn = match detached {
        0 => String::new(),
        count => format!(", with {} attached to them that Cairn did not create", counted(*count, "relationship")),
    };
    format!(
        "Neo4j at `{}` holds {} and {} of Cairn{of}; they would be deleted{torn}, and so would the constraints and \
         indexes whose names begin with `cairn_`; {} that Cairn did not create would stay",
        target.shown(),
        counted(*nodes, "node"),
        counted(*relationships, "relationship"),
        counted(*kept, "node"),
    )
}
