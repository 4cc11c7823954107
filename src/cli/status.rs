//! `cairn status`.

use std::path::Path;

use serde_json::{Value, json};

use super::args::PlaceArgs;
use super::{Done, Surroundings};
use crate::domain::Spent;
use crate::workspace::{Status, WrittenCounts};

/// Runs `cairn status`.
pub(super) fn run(args: &PlaceArgs, surroundings: &Surroundings) -> Done {
    let path = surroundings.index(args.index.clone());
    let status = surroundings.workspace(&path)?.status()?;
    if args.json {
        return surroundings.print_json(&json!({
            "index": path.display().to_string(),
            "version": status.version,
            "format": status.format,
            "embedder": status.embedder,
            "created_at": status.created_at,
            "counts": status.counts,
            "units": { "done": status.units_done, "pending": status.units_pending, "failed": status.units_failed },
            "questions": {
                "written": status.questions.written,
                "failed": status.questions.failed,
                "failures": status.unwritten,
            },
            "spent": spending(&status),
            "skips": status.skips,
            "bytes": status.bytes,
        }));
    }
    show(&path, &status, surroundings)
}

fn spending(status: &Status) -> Vec<Value> {
    let one = |(model, spent): &(String, Spent)| {
        json!({
            "model": model,
            "calls": spent.calls,
            "cached": spent.cached,
            "usage": spent.usage,
            "cost": spent.cost,
        })
    };
    status.spending.iter().map(one).collect()
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
    if counts.without_vectors > 0 {
        let (left, command) = (counts.without_vectors, surroundings.next.command("index PATH", path));
        screen.line(format!("vectors    {left} texts have none yet, and are found by words: `{command}` goes on"))?;
    }
    let questions = &status.questions;
    if questions.written + questions.failed > 0 {
        let WrittenCounts { written, failed } = questions;
        screen.line(format!("written    questions of {written} passages by a language model, {failed} failed"))?;
    }
    for (model, spent) in &status.spending {
        screen.line(format!("spent      {}: {spent}", screen.shown(model)))?;
    }
    for skip in &status.unwritten {
        screen.line(format!("failed     {}: {}", screen.shown(&skip.source), screen.shown(&skip.reason)))?;
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
