//! `cairn report`.

use serde::Serialize;

use super::args::ReportArgs;
use super::calls::Calls;
use super::{Done, Surroundings, ask, models};
use crate::files;
use crate::query::SearchOptions;
use crate::report::{About, ReportOptions, ReportSummary, report};

/// What `--json` prints.
#[derive(Serialize)]
struct Written {
    index: String,
    out: String,
    #[serde(flatten)]
    summary: ReportSummary,
}

/// Runs `cairn report`.
pub(super) async fn run(args: ReportArgs, surroundings: &Surroundings) -> Done {
    let path = surroundings.index(args.place.index);
    let workspace = surroundings.workspace(&path)?;
    let about = args.about.map(About::Query).or(args.document.map(About::Document));
    let search = SearchOptions { weights: ask::weights(None, surroundings)?, ..SearchOptions::default() };
    let options = ReportOptions { questions: args.question, about, search };
    let performers = || models::for_index(&workspace, &args.models, &Calls::default(), surroundings);
    let made = report(&workspace, performers, &options).await?;
    files::write(&args.out, &made.page)?;
    let out = args.out.display().to_string();
    if args.place.json {
        let index = path.display().to_string();
        return surroundings.print_json(&Written { index, out, summary: made.summary });
    }
    let screen = &surroundings.screen;
    screen.line(screen.shown(&out))?;
    let summary = &made.summary;
    screen.note(format!(
        "{} documents, {} passages, {} question edges, {} open questions, {} sources left out; {:.1} MB",
        summary.counts.documents,
        summary.counts.passages,
        summary.counts.edges,
        summary.unanswered.total,
        summary.left_out.sources.total,
        summary.bytes as f64 / 1e6,
    ));
    screen.note("next: open the file in a browser; it needs no network");
    Ok(())
}
