//! `cairn status`.

use super::args::PlaceArgs;
use super::{Done, Surroundings};
use crate::workspace::{Status, Workspace};

/// Runs `cairn status`.
pub(super) fn run(args: &PlaceArgs, surroundings: &Surroundings) -> Done {
    let path = surroundings.index(args.index.clone());
    let status = Workspace::open(&path)?.status()?;
    if args.json {
        return surroundings.print_json(&status);
    }
    show(&status, surroundings)
}

fn show(status: &Status, surroundings: &Surroundings) -> Done {
    let screen = &surroundings.screen;
    let counts = &status.counts;
    let rows = [
        ("index", format!("{} (format {}, {:.1} MB)", status.index, status.format, status.bytes as f64 / 1e6)),
        ("version", format!("{} of {}", status.version, status.created_at)),
        ("embedder", status.embedder.clone()),
        ("documents", format!("{} ({} with a title)", counts.documents, counts.titled)),
        ("passages", format!("{} ({} sentences)", counts.passages, counts.sentences)),
        ("questions", format!("{} answered, {} raised", counts.incoming, counts.outgoing)),
        ("edges", counts.edges.to_string()),
        ("entities", format!("{} ({} mentions)", counts.entities, counts.mentions)),
        ("units", format!("{} done, {} pending, {} failed", status.units.done, status.units.pending, status.units.failed)),
    ];
    for (name, value) in rows {
        screen.line(format!("{name:10} {}", screen.shown(&value)))?;
    }
    for skip in &status.skips {
        screen.line(format!("skipped    {}: {}", screen.shown(&skip.source), screen.shown(&skip.reason)))?;
    }
    Ok(())
}
