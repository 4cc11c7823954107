//! `cairn check`: of an index on disk, or of the graph in the named database.

use std::path::Path;

use super::args::CheckArgs;
use super::{Done, Failure, Surroundings, progress, publish};
use crate::domain::DatabaseError;
use crate::error::{Error, Result};
use crate::index::{self, IndexOptions, IndexReport};
use crate::neo4j::{CheckReport, OtherVectors, PublishOptions, Session, Target, check, repair, restore};
use crate::setup::Calls;
use crate::workspace::{IndexCheck, Workspace};

/// Runs `cairn check`.
pub(super) async fn run(args: &CheckArgs, surroundings: &Surroundings) -> Done {
    if args.database.neo4j.is_some() {
        run_on_graph(args, surroundings).await
    } else {
        run_on_index(args, surroundings).await
    }
}

async fn run_on_index(args: &CheckArgs, surroundings: &Surroundings) -> Done {
    let path = surroundings.index(args.place.index.clone());
    let access = surroundings.setup.settings.file_access();
    let mut report = Workspace::check_at(&path, access)?;
    let mut repaired = Ok(());
    if args.repair && !report.is_whole() {
        show_index(&report, surroundings);
        repaired = repair_index(&path, args, surroundings).await;
        report = Workspace::check_at(&path, access)?;
    }
    if args.place.json {
        surroundings.print_json(&report)?;
    } else {
        show_index(&report, surroundings);
    }
    // What was not repaired is said with the reason, not by what is wrong again.
    repaired?;
    if report.is_whole() { Ok(()) } else { Err(Failure::Library(report.error(&path))) }
}

async fn repair_index(path: &Path, args: &CheckArgs, surroundings: &Surroundings) -> Result<(), Error> {
    let mut workspace = surroundings.workspace(path)?;
    let performers = surroundings.setup.to_fill(&workspace, &args.models.options(), &Calls::default()).await?;
    let (sink, bar) = progress::sink(surroundings.screen);
    let options = IndexOptions {
        progress: Some(sink),
        cancellation: surroundings.cancellation.clone(),
        ..IndexOptions::default()
    };
    let repaired = index::repair(&mut workspace, &performers, &options).await;
    drop(bar);
    say(&repaired?, surroundings);
    Ok(())
}

fn say(report: &IndexReport, surroundings: &Surroundings) {
    let screen = &surroundings.screen;
    for warning in &report.warnings {
        surroundings.warn(warning);
    }
    if report.is_new_version {
        screen.note(format!("version {} rebuilt from the records", report.version));
    }
}

fn show_index(report: &IndexCheck, surroundings: &Surroundings) {
    let screen = &surroundings.screen;
    match report.version {
        Some(version) => screen.note(format!("version {version} of the index")),
        None => screen.note("no version of the index"),
    }
    for finding in &report.checks {
        line(finding.check, finding.offenders, &finding.examples, surroundings);
    }
}

async fn run_on_graph(args: &CheckArgs, surroundings: &Surroundings) -> Done {
    let target = surroundings.setup.target(&args.database.options())?;
    let session = Session::connect(&target).await?;
    let mut report = check(&session).await?;
    if args.repair && report.lacks_schema() {
        show(&report, surroundings);
        make_good(&target, surroundings).await?;
        report = check(&session).await?;
    }
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

/// Repairs what needs no index on disk.
async fn make_good(target: &Target, surroundings: &Surroundings) -> Result<()> {
    let made = restore(target).await?;
    if !made.is_empty() {
        surroundings.screen.note(format!("recreated: {}", made.join(", ")));
    }
    Ok(())
}

fn show(report: &CheckReport, surroundings: &Surroundings) {
    let screen = &surroundings.screen;
    let collection = report.collection.map(|it| format!(", collection {it}")).unwrap_or_default();
    screen.note(format!("version {} of the graph{collection}", report.version));
    for finding in &report.checks {
        line(finding.check, finding.offenders, &finding.examples, surroundings);
    }
}

fn line(check: &str, offenders: u64, examples: &[String], surroundings: &Surroundings) {
    let found = match offenders {
        0 => "ok".to_owned(),
        offenders => format!("{offenders} wrong: {}", examples.join(", ")),
    };
    surroundings.screen.note(format!("{check:28} {found}"));
}
