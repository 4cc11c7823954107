//! `cairn check`.

use super::args::CheckArgs;
use super::{Done, Failure, Surroundings, database, progress, publish};
use crate::domain::DatabaseError;
use crate::error::{Error, Result};
use crate::neo4j::{CheckReport, OtherVectors, PublishOptions, Restored, Session, Target, check, repair, restore};
use crate::workspace::Workspace;

/// Runs `cairn check`.
pub(super) async fn run(args: &CheckArgs, surroundings: &Surroundings) -> Done {
    let target = database::target(&args.database, surroundings)?;
    let session = Session::connect(&target).await?;
    let mut report = match check(&session).await {
        Err(error) if args.repair && is_of_earlier_format(&error) => {
            make_good(&target, surroundings).await?;
            check(&session).await?
        }
        found => found?,
    };
    if args.repair && report.lacks_schema() {
        show(&report, surroundings);
        make_good(&target, surroundings).await?;
        report = check(&session).await?;
    }
    if args.repair && !report.is_whole() {
        show(&report, surroundings);
        let workspace = Workspace::open(surroundings.index(args.place.index.clone()))?;
        let (sink, bar) = progress::sink(surroundings.screen);
        let options =
            PublishOptions { other_vectors: OtherVectors::Refuse, progress: Some(sink), ..PublishOptions::default() };
        let repaired = repair(&workspace, &target, &report, &options).await;
        drop(bar);
        publish::say(&repaired?, &args.database, surroundings);
        report = check(&session).await?;
    }
    if args.place.json {
        surroundings.print_json(&report)?;
    } else {
        show(&report, surroundings);
    }
    if report.is_whole() {
        return Ok(());
    }
    let offending = report.checks.iter().filter(|finding| finding.offenders > 0).map(|finding| finding.check);
    let reason = offending.collect::<Vec<_>>().join(", ");
    let source = DatabaseError::Damaged { reason };
    Err(Failure::Library(Error::Database { server: target.shown().to_owned(), source }))
}

const fn is_of_earlier_format(error: &Error) -> bool {
    matches!(error, Error::Database { source: DatabaseError::Earlier { .. } | DatabaseError::Converting, .. })
}

/// Makes good what no index on disk is needed for.
async fn make_good(target: &Target, surroundings: &Surroundings) -> Result<()> {
    let Restored { is_converted, made } = restore(target).await?;
    let screen = &surroundings.screen;
    if is_converted {
        screen.note("the graph was of an earlier format, and has this one now");
    }
    if !made.is_empty() {
        screen.note(format!("made again: {}", made.join(", ")));
    }
    Ok(())
}

fn show(report: &CheckReport, surroundings: &Surroundings) {
    let screen = &surroundings.screen;
    let collection = report.collection.map(|it| format!(", collection {it}")).unwrap_or_default();
    screen.note(format!("version {} of the graph{collection}", report.version));
    for finding in &report.checks {
        let found = match finding.offenders {
            0 => "ok".to_owned(),
            offenders => format!("{offenders} wrong: {}", finding.examples.join(", ")),
        };
        screen.note(format!("{:28} {}", finding.check, screen.shown(&found)));
    }
}
