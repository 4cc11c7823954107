//! What `cairn index` says of models behind servers: what they would cost, and what they came to.

use std::path::Path;

use super::args::IndexArgs;
use super::calls::Calls;
use super::screen::Screen;
use super::{Done, Surroundings, models, writer};
use crate::domain::{Cost, Spent, Usage};
use crate::error::{Error, Result};
use crate::index::{Estimate, IndexOptions, ModelReport, Sources, StageEstimate, VectorReport, estimate};

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
        screen.line(screen.shown(&line(stage)))?;
    }
    match estimate.stages.len() {
        0 => screen.line("no server would be asked: no model is named, and vectors are made here")?,
        1 => {}
        _ => screen.line(all(&estimate.stages))?,
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
    let workspace = match surroundings.workspace(path) {
        Ok(workspace) => Some(workspace),
        // Records that are gone would be made anew.
        Err(Error::NoIndex { .. } | Error::Corrupt { .. }) => None,
        Err(error) => return Err(error),
    };
    let meter = writer::index_meter(&args.language_model, surroundings)?;
    let calls = Calls { meter, ..Calls::default() };
    let performers = models::for_dry_run(workspace.as_ref(), &args.models, &calls, surroundings)?;
    let asked = writer::asked_model(&args.language_model, workspace.as_ref(), surroundings)?;
    estimate(workspace.as_ref(), sources, performers.embedder.as_ref(), asked.as_ref(), options)
}

fn line(stage: &StageEstimate) -> String {
    let kept =
        if stage.cached > 0 { format!(", {} more answered by kept replies", stage.cached) } else { String::new() };
    let texts = stage.texts.map_or_else(String::new, |texts| format!(" for {texts} texts"));
    let (calls, model, sum) = (stage.calls, &stage.model, sum(stage.usage, stage.cost.as_ref()));
    format!("{}: {calls} calls to {model}{texts}{kept}, {sum}", stage.stage)
}

/// Says what all stages come to together.
fn all(stages: &[StageEstimate]) -> String {
    let mut all = Spent::default();
    for StageEstimate { calls, usage, cost, .. } in stages {
        all.add(&Spent { calls: *calls, cached: 0, usage: *usage, cost: cost.clone() });
    }
    format!("in all: {} calls, {}", all.calls, sum(all.usage, all.cost.as_ref()))
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
    screen.note(format!("{} wrote the questions of {written} passages; {spent}", screen.shown(model)));
    for failed in report.failed.iter().take(FAILED_SHOWN_MAX) {
        let (source, reason) = (screen.shown(&failed.source), screen.shown(&failed.reason));
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
            "warning: the model was not asked about {} passages: {}; what is done is indexed, and the same command \
             goes on",
            report.left,
            screen.shown(stopped)
        ));
    }
}

/// Says what asking an embedder came to, on stderr.
pub(super) fn say_vectors(report: &VectorReport, screen: &Screen) {
    let VectorReport { embedder, made, left, stopped, spent } = report;
    screen.note(format!("{} made the vectors of {made} texts; {spent}", screen.shown(embedder)));
    if let Some(stopped) = stopped {
        screen.note(format!(
            "warning: {left} texts have no vector yet: {}; they are found by words and names, and the same command \
             goes on",
            screen.shown(stopped)
        ));
    }
}
