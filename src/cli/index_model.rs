//! Reports of `cairn index` about models behind servers.

use std::path::Path;

use super::screen::Screen;
use super::{Done, Surroundings};
use crate::error::Error;
use crate::index::{ExtractReport, ModelReport, VectorReport};
use crate::text::counted;

/// Passages without questions of the model that are named on a terminal; `cairn status` names all.
const FAILED_SHOWN_MAX: usize = 5;

/// Reports the questions written, on stderr.
pub(super) fn say(report: &ModelReport, path: &Path, surroundings: &Surroundings) {
    let ModelReport { model, written, spent, .. } = report;
    surroundings.screen.note(format!("{model} wrote the questions of {}; {spent}", counted(written, "passage")));
    say_failures(report, ("passage", "keeps the questions it had"), path, surroundings);
}

/// Reports the entities extracted, on stderr.
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
        screen.note(format!("{entities} and {relations} more were left out: their passages do not support them"));
    }
    say_failures(&report.asked, ("passage", "has no entities of this model"), path, surroundings);
}

/// Reports the texts written about clusters or topics, on stderr.
pub(super) fn say_reported(report: &ModelReport, about: &str, path: &Path, surroundings: &Surroundings) {
    let ModelReport { model, written, spent, .. } = report;
    surroundings.screen.note(format!("{model} wrote about {}; {spent}", counted(written, about)));
    say_failures(report, (about, "keeps its earlier text"), path, surroundings);
}

/// Reports where a model gave nothing usable, and why it was not asked further.
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
        screen.note("hint: `--retry-failed` asks again wherever the kept reply is unusable");
    }
    if let Some(stopped) = &report.stopped {
        screen.note(format!(
            "warning: the model was not asked about {}: {stopped}; finished work is indexed, and the same command \
            continues",
            counted(report.left, what),
        ));
    }
}

/// Ends a run with an error if none of its replies, or none of the last ones, was usable: the money for them bought
/// nothing.
pub(super) fn end(report: Option<&ModelReport>) -> Done {
    match report {
        Some(ModelReport { model, useless: Some(source), .. }) => {
            Err(Error::Chat { model: model.clone(), source: source.clone() }.into())
        }
        _ => Ok(()),
    }
}

/// Reports the vectors made by an embedder behind a server, on stderr.
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
