//! `cairn report`.

use serde::Serialize;

use super::args::ReportArgs;
use super::{Done, Surroundings, ask};
use crate::files;
use crate::query::SearchOptions;
use crate::report::{About, ReportOptions, ReportSummary, report};
use crate::setup::Calls;
use crate::text::counted;

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
    let (models, calls) = (args.models.options(), Calls::default());
    let performers = surroundings.setup.to_read(&workspace, &models, &calls);
    let made = Box::pin(report(&workspace, performers, &options)).await?;
    files::write(&args.out, &made.page)?;
    let out = args.out.display().to_string();
    if args.place.json {
        let index = path.display().to_string();
        return surroundings.print_json(&Written { index, out, summary: made.summary });
    }
    let screen = &surroundings.screen;
    screen.line(&out)?;
    let summary = &made.summary;
    screen.note(format!(
        "{}, {}, {}, {}, {} left out; {:.1} MB",
        counted(summary.counts.documents, "document"),
        counted(summary.counts.passages, "passage"),
        counted(summary.counts.edges, "question edge"),
        counted(summary.unanswered.total, "open question"),
        counted(summary.left_out.sources.total, "source"),
        summary.bytes as f64 / 1e6,
    ));
    screen.note("next: open the file in a browser; it needs no network");
    Ok(())
}
