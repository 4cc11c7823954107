//! `cairn status`.

use std::path::Path;

use serde_json::json;

use super::args::PlaceArgs;
use super::{Done, Surroundings};
use crate::workspace::{Status, Workspace};

/// Runs `cairn status`.
pub(super) fn run(args: &PlaceArgs, surroundings: &Surroundings) -> Done {
    let path = surroundings.index(args.index.clone());
    let status = Workspace::open(&path)?.status()?;
    if args.json {
        return surroundings.print_json(&json!({
            "index": path.display().to_string(),
            "version": status.version,
            "format": status.format,
            "embedder": status.embedder,
            "created_at": status.created_at,
            "counts": status.counts,
            "units": { "done": status.units_done, "pending": status.units_pending, "failed": status.units_failed },
            "skips": status.skips,
            "bytes": status.bytes,
        }));
    }
    show(&path, &status, surroundings)
}

fn show(path: &Path, status: &Status, surroundings: &Surroundings) -> Done {
    let screen = &surroundings.screen;
    let counts = &status.counts;
    let version = match (&status.version, &status.created_at) {
        (Some(version), Some(created_at)) => format!("{version} of {created_at}"),
        _ => format!("none yet: `{}` makes the first", surroundings.next.command("index PATH", path)),
    };
    let rows = [
        ("index", format!("{} (format {}, {:.1} MB)", path.display(), status.format, status.bytes as f64 / 1e6)),
        ("version", version),
        ("embedder", status.embedder.clone()),
        ("documents", format!("{} ({} with a title)", counts.documents, counts.titled)),
        ("passages", format!("{} ({} sentences)", counts.passages, counts.sentences)),
        ("questions", format!("{} answered, {} raised", counts.incoming, counts.outgoing)),
        ("edges", counts.edges.to_string()),
        ("entities", format!("{} ({} mentions)", counts.entities, counts.mentions)),
        ("units", units(path, status, surroundings)),
    ];
    for (name, value) in rows {
        screen.line(format!("{name:10} {}", screen.shown(&value)))?;
    }
    for skip in &status.skips {
        screen.line(format!("skipped    {}: {}", screen.shown(&skip.source), screen.shown(&skip.reason)))?;
    }
    Ok(())
}

fn units(path: &Path, status: &Status, surroundings: &Surroundings) -> String {
    let command = surroundings.next.command("index PATH", path);
    let pending = if status.is_changed { format!(": `{command}` makes a version of them") } else { String::new() };
    format!("{} done, {} pending{pending}, {} failed", status.units_done, status.units_pending, status.units_failed)
}
