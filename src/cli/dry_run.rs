//! `cairn index --dry-run`: what a run would do with the documents, and its calls to models behind servers.

use std::path::Path;
use std::sync::Arc;

use super::index_args::IndexArgs;
use super::next::Next;
use super::{Done, Surroundings};
use crate::domain::{Cost, LeftOut, Skip, Usage, left_out};
use crate::error::{Error, Result};
use crate::index::{CHANGES_NAMED_MAX, DocumentCounts, Estimate, IndexOptions, Sources, StageEstimate, estimate};
use crate::setup::Calls;
use crate::text::counted;
use crate::workspace::Workspace;

/// Documents of each kind that are named on a terminal.
const NAMED_MAX: usize = 10;

/// Reports what the run would do and call, and writes nothing.
pub(super) async fn run(
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
    show_documents(&estimate, surroundings)?;
    for stage in &estimate.stages {
        screen.line(line(stage))?;
        if let Some([least, most]) = stage.output_tokens_range {
            screen.line(format!("  no reply of this model was counted yet: {least} to {most} tokens out"))?;
        }
    }
    match estimate.stages.len() {
        0 => screen.line("no server would be called: no model is named, and vectors are computed locally")?,
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
    screen.line("nothing was written, and no server was called")?;
    estimate.warnings.iter().for_each(|it| surroundings.warn(it));
    Ok(())
}

/// Reports how many documents would change and which, and which sources would be skipped and why.
fn show_documents(estimate: &Estimate, surroundings: &Surroundings) -> Done {
    let screen = &surroundings.screen;
    let Estimate { documents, changes, skips, .. } = estimate;
    let DocumentCounts { added, changed, unchanged, removed, skipped } = *documents;
    let count = counted(added, "document");
    screen.line(format!(
        "{count} added, {changed} changed, {unchanged} unchanged, {removed} removed, {skipped} skipped"
    ))?;
    let kinds =
        [("add", &changes.added, added), ("change", &changes.changed, changed), ("remove", &changes.removed, removed)];
    for (what, named, count) in kinds {
        for address in named.iter().take(NAMED_MAX) {
            screen.line(format!("{what:8} {address}"))?;
        }
        let more = count.saturating_sub(named.len().min(NAMED_MAX) as u64);
        if more > 0 && !named.is_empty() {
            screen.line(format!("{what:8} … and {more} more; `--json` names up to {CHANGES_NAMED_MAX}"))?;
        }
    }
    reasons(skips, &surroundings.next).iter().try_for_each(|line| screen.line(line)).map_err(Into::into)
}

/// Returns a line for each reason for skipping, the most frequent first.
fn reasons(skips: &[Skip], next: &Next) -> Vec<String> {
    let line = |group: LeftOut| {
        let more = if group.has_more() { ", …" } else { "" };
        let reason = next.with_command(&group.reason);
        format!("skip     {}: {reason} ({}{more})", group.count, group.examples.join(", "))
    };
    left_out(skips).into_iter().map(line).collect()
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
        // Records that are gone would be rebuilt.
        Err(Error::NoIndex { .. } | Error::Corrupt { .. }) => {
            Workspace::check_place(path)?;
            None
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_a_line_for_each_reason_the_largest_first() {
        let skip = |source: &str, reason: &str| Skip { source: source.to_owned(), reason: reason.to_owned() };
        let kind = "unsupported kind of file";
        let skips = [skip("a.txt", "it is empty"), skip("12 files .png", kind), skip("3 files .gif", kind)];
        let expect =
            ["skip     15: unsupported kind of file (12 files .png, 3 files .gif)", "skip     1: it is empty (a.txt)"];
        assert_eq!(reasons(&skips, &Next::new(".cairn".into())), expect);
    }
}
