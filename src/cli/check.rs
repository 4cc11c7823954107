//! `cairn check`.

use super::args::CheckArgs;
use super::{Done, Failure, Surroundings, database, progress, publish};
use crate::domain::DatabaseError;
use crate::error::Error;
use crate::neo4j::{CheckReport, OtherVectors, PublishOptions, Session, check, repair};

/// Runs `cairn check`.
pub(super) async fn run(args: &CheckArgs, surroundings: &Surroundings) -> Done {
    let target = database::target(&args.database, surroundings)?;
    let session = Session::connect(&target).await?;
    let mut report = check(&session).await?;
    if args.repair && !report.is_whole() {
        show(&report, surroundings);
        let workspace = surroundings.workspace(surroundings.index(args.place.index.clone()))?;
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

fn show(report: &CheckReport, surroundings: &Surroundings) {
    let screen = &surroundings.screen;
    screen.note(format!("version {} of the graph", report.version));
    for finding in &report.checks {
        let found = match finding.offenders {
            0 => "ok".to_owned(),
            offenders => format!("{offenders} wrong: {}", finding.examples.join(", ")),
        };
        screen.note(format!("{:28} {}", finding.check, screen.shown(&found)));
    }
}
