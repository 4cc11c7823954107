//! What `cairn index` says of models behind servers: what they would cost, and what they came to.

use std::path::Path;
use std::sync::Arc;

use super::args::IndexArgs;
use super::screen::Screen;
use super::{Done, Surroundings};
use crate::domain::{Cost, Usage};
use crate::error::{Error, Result};
use crate::index::{Estimate, IndexOptions, ModelReport, Sources, StageEstimate, StoppedBy, VectorReport, estimate};
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
        _ => {
            let all = estimate.sum();
            screen.line(format!("in all: {}, {}", counted(all.calls, "call"), sum(all.usage, all.cost.as_ref())))?;
        }
    }
    if let Some(fits) = estimate.fits_budget {
        let fits = if fits { "fits" } else { "does not fit" };
        screen.line(format!("that {fits} into the budget, as far as it is known beforehand"))?;
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

/// Ends a run in whose last replies there was nothing of use with an error: what was paid for them bought nothing.
pub(super) fn end(report: Option<&ModelReport>) -> Done {
    match report {
        Some(ModelReport { model, stopped_by: Some(StoppedBy::Useless), useless: Some(source), .. }) => {
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
            "warning: no vector yet for {}: {stopped}; they are found by words and names, and the same command goes on",
            counted(left, "text"),
        ));
    }
}
