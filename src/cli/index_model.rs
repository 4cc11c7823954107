//! What `cairn index` says of a language model: what it would cost, and what it came to.

use std::path::Path;

use super::args::IndexArgs;
use super::{Done, Surroundings, models, writer};
use crate::domain::{Cost, Usage};
use crate::error::{Error, Result};
use crate::index::{Estimate, IndexOptions, ModelReport, Sources, StageEstimate, estimate};
use crate::workspace::Workspace;

/// Passages without questions of the model that are named on a terminal; `cairn status` names all.
const FAILED_SHOWN_MAX: usize = 5;

/// Runs `cairn index --dry-run`: says what the run would ask, and writes nothing.
pub(super) fn dry_run(
    args: &IndexArgs,
    path: &Path,
    sources: &Sources,
    options: &IndexOptions,
    surroundings: &Surroundings,
) -> Done {
    let estimate = estimated(args, path, sources, options, surroundings)?;
    if args.place.json {
        return surroundings.print_json(&estimate);
    }
    let screen = &surroundings.screen;
    let documents = &estimate.documents;
    screen.line(format!(
        "{} documents added, {} changed, {} unchanged, {} removed, {} skipped",
        documents.added, documents.changed, documents.unchanged, documents.removed, documents.skipped
    ))?;
    for stage in &estimate.stages {
        screen.line(screen.shown(&line(stage, &estimate.model)))?;
    }
    Ok(screen.line("nothing was written, and nobody was asked")?)
}

fn estimated(
    args: &IndexArgs,
    path: &Path,
    sources: &Sources,
    options: &IndexOptions,
    surroundings: &Surroundings,
) -> Result<Estimate> {
    let workspace = match Workspace::open(path) {
        Ok(workspace) => Some(workspace),
        // Records that are gone would be made anew.
        Err(Error::NoIndex { .. } | Error::Corrupt { .. }) => None,
        Err(error) => return Err(error),
    };
    let performers = match &workspace {
        Some(workspace) => models::for_index(workspace, &args.models, surroundings)?,
        None => models::for_dry_run(&args.models, surroundings)?,
    };
    let asked = writer::asked_model(&args.language_model, workspace.as_ref(), surroundings)?;
    estimate(workspace.as_ref(), sources, performers.embedder.as_ref(), &asked, options)
}

fn line(stage: &StageEstimate, model: &str) -> String {
    let Usage { input_tokens, output_tokens, .. } = stage.usage;
    let kept =
        if stage.cached > 0 { format!(", {} more answered by kept replies", stage.cached) } else { String::new() };
    format!(
        "{}: {} calls to {model}{kept}, about {input_tokens} tokens in and {output_tokens} out, {}",
        stage.stage,
        stage.calls,
        money(stage.cost.as_ref())
    )
}

fn money(cost: Option<&Cost>) -> String {
    cost.map_or_else(|| "price unknown".to_owned(), |cost| format!("about {:.4} {}", cost.amount, cost.currency))
}

/// Says what asking came to, on stderr.
pub(super) fn say(report: &ModelReport, path: &Path, surroundings: &Surroundings) {
    let screen = &surroundings.screen;
    let ModelReport { model, written, spent, .. } = report;
    screen.note(format!("{} wrote the questions of {written} passages; {spent}", screen.shown(model)));
    for failed in report.failed.iter().take(FAILED_SHOWN_MAX) {
        let (source, reason) = (screen.shown(&failed.source), screen.shown(&failed.reason));
        screen.note(format!("warning: {source} keeps the questions it had: {reason}"));
    }
    let status = surroundings.next.command("status", path);
    if report.failed.len() > FAILED_SHOWN_MAX {
        screen.note(format!("… and {} more; `{status}` names all", report.failed.len() - FAILED_SHOWN_MAX));
    }
    if let Some(stopped) = &report.stopped {
        screen.note(format!(
            "warning: the model was not asked about {} passages: {}; what is done is indexed, and the same command \
             goes on",
            report.left,
            screen.shown(stopped)
        ));
    }
}
