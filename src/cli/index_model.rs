//! What `cairn index` says of models behind servers: what they would cost, and what they came to.

use std::path::Path;

use super::args::IndexArgs;
use super::screen::Screen;
use super::{Done, Surroundings};
use crate::domain::{Cost, Spent, Usage};
use crate::error::{Error, Result};
use crate::index::{Estimate, IndexOptions, ModelReport, Sources, StageEstimate, VectorReport, estimate};
use crate::setup::Calls;
use crate::text::counted;

/// Passages without questions of the model that are named on a terminal; `cairn status` names all.
const FAILED_SHOWN_MAX: usize = 5;

/// Runs `cairn index --dry-run`: says what the run would ask, and writes nothing.
pub(super) async fn dry_run(
    args: &IndexArgs,
    path: &Path,
    sources: &Sources,
    options: &IndexOptions,
    surroundings: &Surroundings,
) -> Done {
    let estimate = estimated(args, path, sources, options, surroundings).await?;
    if args.place.json {
        return surroundings.print_json(&estimate);
    }
    let screen = &surroundings.screen;
    let documents = &estimate.documents;
    screen.line(format!(
        "{} added, {} changed, {} unchanged, {} removed, {} skipped",
        counted(documents.added, "document"),
        documents.changed,
        documents.unchanged,
        documents.removed,
        documents.skipped
    ))?;
    for stage in &estimate.stages {
        screen.line(line(stage))?;
    }
    match estimate.stages.len() {
        0 => screen.line("no server would be asked: no model is named, and vectors are made here")?,
        1 => {}
        _ => screen.line(all(&estimate.stages))?,
    }
    Ok(screen.line("nothing was written, and nobody was asked")?)
}

async fn estimated(
    args: &IndexArgs,
    path: &Path,
    sources: &Sources,
    options: &IndexOptions,
    surroundings: &Surroundings,
) -> Result<Estimate> {
    let workspace = match surroundings.workspace(path) {
        Ok(workspace) => Some(workspace),
        // Records that are gone would be made anew.
        Err(Error::NoIndex { .. } | Error::Corrupt { .. }) => None,
        Err(error) => return Err(error),
    };
    let (setup, language_model) = (&surroundings.setup, &args.language_model);
    let calls = Calls { meter: setup.meter(&language_model.budget)?, ..Calls::default() };
    let performers = setup.to_estimate(workspace.as_ref(), &args.models.options(), &calls).await?;
    let asked = setup.asked_model(language_model.model.as_deref(), workspace.as_ref())?;
    estimate(workspace.as_ref(), sources, performers.embedder.as_ref(), asked.as_ref(), options)
}

fn line(stage: &StageEstimate) -> String {
    let kept =
        if stage.cached > 0 { format!(", {} more answered by kept replies", stage.cached) } else { String::new() };
    let texts = stage.texts.map_or_else(String::new, |texts| format!(" for {}", counted(texts, "text")));
    let (calls, model, sum) = (counted(stage.calls, "call"), &stage.model, sum(stage.usage, stage.cost.as_ref()));
    format!("{}: {calls} to {model}{texts}{kept}, {sum}", stage.stage)
}

/// Says what all stages come to together.
fn all(stages: &[StageEstimate]) -> String {
    let mut all = Spent::default();
    for StageEstimate { calls, usage, cost, .. } in stages {
        all.add(&Spent { calls: *calls, cached: 0, usage: *usage, cost: cost.clone() });
    }
    format!("in all: {}, {}", counted(all.calls, "call"), sum(all.usage, all.cost.as_ref()))
}

fn sum(usage: Usage, cost: Option<&Cost>) -> String {
    let Usage { input_tokens, output_tokens, .. } = usage;
    format!("about {input_tokens} tokens in and {output_tokens} out, {}", money(cost))
}

fn money(cost: Option<&Cost>) -> String {
    cost.map_or_else(|| "price unknown".to_owned(), |cost| format!("about {:.4} {}", cost.amount, cost.currency))
}

/// Says what asking came to, on stderr.
pub(super) fn say(report: &ModelReport, path: &Path, surroundings: &Surroundings) {
    let screen = &surroundings.screen;
    let ModelReport { model, written, spent, .. } = report;
    screen.note(format!("{model} wrote the questions of {}; {spent}", counted(written, "passage")));
    for failed in report.failed.iter().take(FAILED_SHOWN_MAX) {
        let (source, reason) = (&failed.source, &failed.reason);
        screen.note(format!("warning: {source} keeps the questions it had: {reason}"));
    }
    let status = surroundings.next.command("status", path);
    if report.failed.len() > FAILED_SHOWN_MAX {
        screen.note(format!("… and {} more; `{status}` names all", report.failed.len() - FAILED_SHOWN_MAX));
    }
    if !report.failed.is_empty() {
        screen.note("hint: `--retry-failed` asks anew about passages for which a reply that is of no use is kept");
    }
    if let Some(stopped) = &report.stopped {
        screen.note(format!(
            "warning: the model was not asked about {}: {stopped}; what is done is indexed, and the same command \
             goes on",
            counted(report.left, "passage"),
        ));
    }
}

/// Says what asking an embedder came to, on stderr.
pub(super) fn say_vectors(report: &VectorReport, screen: &Screen) {
    let VectorReport { embedder, made, left, stopped, spent } = report;
    screen.note(format!("{embedder} made the vectors of {}; {spent}", counted(made, "text")));
    if let Some(stopped) = stopped {
        screen.note(format!(
            "warning: no vector yet for {}: {stopped}; they are found by words and names, and the same command goes on",
            counted(left, "text"),
        ));
    }
}
