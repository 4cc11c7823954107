//! What `cairn index` says of models behind servers: what they would cost, and what they came to.

use std::path::Path;
use std::sync::Arc;

use super::index_args::IndexArgs;
use super::screen::Screen;
use super::{Done, Surroundings};
use crate::domain::{Cost, Usage};
use crate::error::{Error, Result};
use crate::index::{
    Estimate, ExtractReport, IndexOptions, ModelReport, Sources, StageEstimate, VectorReport, estimate,
};
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
        if let Some([least, most]) = stage.output_tokens_range {
            screen.line(format!("  no reply of this model was counted yet: {least} to {most} tokens out"))?;
        }
    }
    match estimate.stages.len() {
        0 => screen.line("no server would be asked: no model is named, and vectors are made here")?,
        1 => {}
        _ => {
            let all = estimate.sum();
            screen.line(format!("in all: {}, {}", counted(all.calls, "call"), sum(all.usage, all.cost.as_ref())))?;
        }
    }
    if let Some(fits) = estimate.fits_budget {
        let fits = if fits { "fits" } else { "does not fit" };
        screen.line(format!("the estimate {fits} into the budget"))?;
    }
    Ok(screen.line("nothing was written, and no server was called")?)
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
    let meter = setup.meter(&language_model.budget)?;
    let calls = Calls { meter: Arc::clone(&meter), ..Calls::default() };
    let performers = setup.to_estimate(workspace.as_ref(), &args.models.options(), &calls).await?;
    let asked = setup.asked_model(language_model.model.as_deref(), workspace.as_ref())?;
    let estimate = estimate(workspace.as_ref(), sources, performers.embedder.as_ref(), asked.as_ref(), options)?;
    let fits_budget = meter.budget().is_limit().then(|| meter.budget().fits(&estimate.sum()));
    Ok(Estimate { fits_budget, ..estimate })
}

fn line(stage: &StageEstimate) -> String {
    let kept =
        if stage.cached > 0 { format!(", {} more answered by kept replies", stage.cached) } else { String::new() };
    let texts = stage.texts.map_or_else(String::new, |texts| format!(" for {}", counted(texts, "text")));
    let (calls, model, sum) = (counted(stage.calls, "call"), &stage.model, sum(stage.usage, stage.cost.as_ref()));
    format!("{}: {calls} to {model}{texts}{kept}, {sum}", stage.stage)
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
    let ModelReport { model, written, spent, .. } = report;
    surroundings.screen.note(format!("{model} wrote the questions of {}; {spent}", counted(written, "passage")));
    say_failures(report, ("passage", "keeps the questions it had"), path, surroundings);
}

/// Says what asking for entities came to, on stderr.
pub(super) fn say_extracted(report: &ExtractReport, path: &Path, surroundings: &Surroundings) {
    let (screen, ModelReport { model, written, spent, .. }) = (&surroundings.screen, &report.asked);
    screen.note(format!(
        "{model} found {} and {} in {}; {spent}",
        counted(report.entities, "entity"),
        counted(report.relations, "relation"),
        counted(written, "passage")
    ));
    let dropped = report.dropped;
    if dropped.entities + dropped.relations > 0 {
        let (entities, relations) = (counted(dropped.entities, "entity"), counted(dropped.relations, "relation"));
        screen.note(format!("{entities} and {relations} more were left out: the passage does not say so"));
    }
    say_failures(&report.asked, ("passage", "has no entities of this model"), path, surroundings);
}

/// Says what asking for texts about clusters or topics came to, on stderr.
pub(super) fn say_reported(report: &ModelReport, about: &str, path: &Path, surroundings: &Surroundings) {
    let ModelReport { model, written, spent, .. } = report;
    surroundings.screen.note(format!("{model} wrote about {}; {spent}", counted(written, about)));
    say_failures(report, (about, "keeps what was said of it"), path, surroundings);
}

/// Says about what a model gave nothing of use, and why it was asked no more.
fn say_failures(report: &ModelReport, (what, outcome): (&str, &str), path: &Path, surroundings: &Surroundings) {
    let screen = &surroundings.screen;
    for failed in report.failed.iter().take(FAILED_SHOWN_MAX) {
        let (source, reason) = (&failed.source, &failed.reason);
        screen.note(format!("warning: {source} {outcome}: {reason}"));
    }
    let status = surroundings.next.command("status", path);
    if report.failed.len() > FAILED_SHOWN_MAX {
        screen.note(format!("… and {} more; `{status}` lists all", report.failed.len() - FAILED_SHOWN_MAX));
    }
    if !report.failed.is_empty() {
        screen.note("hint: `--retry-failed` asks again about what has a kept reply that cannot be used");
    }
    if let Some(stopped) = &report.stopped {
        screen.note(format!(
            "warning: the model was not asked about {}: {stopped}; what is done is indexed, and the same command \
             continues",
            counted(report.left, what),
        ));
    }
}

/// Ends a run with an error in whose replies, or the last of them, there was nothing of use: what was paid for them
/// bought nothing.
pub(super) fn end(report: Option<&ModelReport>) -> Done {
    match report {
        Some(ModelReport { model, useless: Some(source), .. }) => {
            Err(Error::Chat { model: model.clone(), source: source.clone() }.into())
        }
        _ => Ok(()),
    }
}

/// Says what asking an embedder came to, on stderr.
pub(super) fn say_vectors(report: &VectorReport, screen: &Screen) {
    let VectorReport { embedder, made, left, stopped, spent } = report;
    screen.note(format!("{embedder} made the vectors of {}; {spent}", counted(made, "text")));
    if let Some(stopped) = stopped {
        screen.note(format!(
            "warning: no vector yet for {}: {stopped}; they are found by words and names until the same command \
             continues",
            counted(left, "text"),
        ));
    }
}
