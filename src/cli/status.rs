//! `cairn status`.

use std::path::Path;

use serde_json::{Value, json};

use super::args::PlaceArgs;
use super::database_args::StatusArgs;
use super::{Done, Surroundings};
use crate::domain::{Counts, LeftOut, Spent, left_out};
use crate::neo4j::{self, GraphStatus, Session};
use crate::text::counted;
use crate::workspace::{Status, WrittenCounts};

/// Runs `cairn status`.
pub(super) async fn run(args: &StatusArgs, surroundings: &Surroundings) -> Done {
    if args.database.neo4j.is_some() {
        let session = Session::connect(&surroundings.setup.target(&args.database.options())?).await?;
        let status = neo4j::status(&session).await?;
        return if args.place.json { surroundings.print_json(&status) } else { show_graph(&status, surroundings) };
    }
    run_on_index(&args.place, surroundings)
}

fn show_graph(status: &GraphStatus, surroundings: &Surroundings) -> Done {
    let GraphStatus { counts, version, format, .. } = status;
    let unknown = || "unknown".to_owned();
    let published = status.published.clone().unwrap_or_else(unknown);
    let by = status.program.as_ref().map(|program| format!(" by {program}")).unwrap_or_default();
    let rest = if status.is_whole { "" } else { ", with leftovers of the previous version: publish again" };
    let rows = [
        ("server", format!("Neo4j {}", status.server)),
        ("collection", status.collection.map_or_else(unknown, |it| it.to_string())),
        ("version", format!("{version} of the graph (format {format}), published {published}{by}{rest}")),
        ("embedder", status.embedder.clone()),
    ];
    for (name, value) in rows.into_iter().chain(contents(counts)) {
        surroundings.screen.line(format!("{name:10} {value}"))?;
    }
    Ok(())
}

/// Returns the counts of a version.
fn contents(counts: &Counts) -> [(&'static str, String); 6] {
    let above = &counts.hierarchy;
    let hierarchy = format!(
        "{}, {} on {}, {} on {}",
        counted(above.relations, "relation"),
        counted(above.communities, "community"),
        counted(above.levels, "level"),
        counted(above.summaries, "summary"),
        counted(above.layers, "layer"),
    );
    let age = match above.versions {
        0 => String::new(),
        versions => format!(
            "; topics and layers are {} old, {} added or removed since",
            counted(versions, "version"),
            counted(above.changed, "entity"),
        ),
    };
    [
        ("documents", format!("{} ({} with a title)", counts.documents, counts.titled)),
        ("passages", format!("{} ({})", counts.passages, counted(counts.sentences, "sentence"))),
        ("questions", format!("{} that passages answer, {} that they raise", counts.incoming, counts.outgoing)),
        ("edges", counted(counts.edges, "question edge")),
        ("entities", format!("{} ({})", counts.entities, counted(counts.mentions, "mention"))),
        ("hierarchy", hierarchy + &age),
    ]
}

fn run_on_index(args: &PlaceArgs, surroundings: &Surroundings) -> Done {
    let path = surroundings.index(args.index.clone());
    let status = surroundings.workspace(&path)?.status()?;
    if args.json {
        return surroundings.print_json(&json!({
            "index": path.display().to_string(),
            "version": status.version,
            "is_partial": status.is_partial,
            "format": status.format,
            "collection": status.collection,
            "embedder": status.embedder,
            "created_at": status.created_at,
            "counts": status.counts,
            "units": { "done": status.units_done, "pending": status.units_pending, "failed": status.units_failed },
            "questions": {
                "written": status.questions.written,
                "failed": status.questions.failed,
                "failures": status.unwritten,
            },
            "entities": {
                "written": status.entities.written,
                "failed": status.entities.failed,
                "failures": status.unextracted,
            },
            "descriptions": {
                "written": status.descriptions.written,
                "failed": status.descriptions.failed,
                "failures": status.undescribed,
            },
            "summaries": {
                "written": status.summaries.written,
                "failed": status.summaries.failed,
                "failures": status.unsummarized,
            },
            "reports": {
                "written": status.reports.written,
                "failed": status.reports.failed,
                "failures": status.unreported,
            },
            "spent": spending(&status),
            "media_types": status.media_types,
            "left_out": left_out(&status.skips),
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
            "lost": spent.lost,
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
        (Some(version), Some(created_at)) if status.is_partial => format!(
            "{version} of {created_at}, made during a first run that is not finished; if it was stopped, \
             `{}` continues",
            surroundings.next.command("index PATH", path)
        ),
        (Some(version), Some(created_at)) => format!("{version} of {created_at}"),
        _ => format!("no finished version yet: {}", surroundings.next.first_version(path)),
    };
    let rows = [
        ("index", format!("{} (format {}, {:.1} MB)", path.display(), status.format, status.bytes as f64 / 1e6)),
        ("collection", status.collection.to_string()),
        ("version", version),
        ("embedder", status.embedder.clone()),
        ("kinds", kinds(status)),
    ];
    let progress = ("progress", progress(path, status, surroundings));
    for (name, value) in rows.into_iter().chain(contents(counts)).chain([progress]) {
        screen.line(format!("{name:10} {value}"))?;
    }
    if counts.without_vectors > 0 {
        let (left, command) = (counted(counts.without_vectors, "text"), surroundings.next.command("index PATH", path));
        screen.line(format!("vectors    none yet for {left}, found by words until `{command}` continues"))?;
    }
    let written = [
        ("questions of", &status.questions, "passage"),
        ("entities of", &status.entities, "passage"),
        ("descriptions of", &status.descriptions, "entity"),
        ("summaries of", &status.summaries, "cluster"),
        ("reports about", &status.reports, "topic"),
    ];
    for (what, WrittenCounts { written, failed }, of) in written {
        if written + failed > 0 {
            let written = counted(written, of);
            screen.line(format!("written    {what} {written} by a language model, {failed} failed"))?;
        }
    }
    for (model, spent) in &status.spending {
        screen.line(format!("spent      {model}: {spent}"))?;
    }
    let of_passages = [&status.unwritten, &status.unextracted];
    let of_hierarchy = [&status.undescribed, &status.unsummarized, &status.unreported];
    for skip in of_passages.into_iter().chain(of_hierarchy).flatten() {
        screen.line(format!("failed     {}: {}", skip.source, skip.reason))?;
    }
    for group in left_out(&status.skips) {
        let more = if group.has_more() { ", …" } else { "" };
        let LeftOut { reason, count, examples } = group;
        let reason = surroundings.next.with_command(&reason);
        screen.line(format!("left out   {count}: {reason} ({}{more})", examples.join(", ")))?;
    }
    Ok(())
}

/// Returns the number of documents per media type, most frequent first.
fn kinds(status: &Status) -> String {
    let mut types: Vec<(&String, &u64)> = status.media_types.iter().collect();
    types.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
    let shown = types.into_iter().map(|(name, count)| format!("{count} {name}"));
    shown.collect::<Vec<String>>().join(", ")
}

/// Returns how many documents are in the version, and how many are still to be indexed.
fn progress(path: &Path, status: &Status, surroundings: &Surroundings) -> String {
    let command = surroundings.next.command("index PATH", path);
    let next = if status.is_changed { format!(": `{command}` indexes them") } else { String::new() };
    let (done, pending, failed) = (status.units_done, status.units_pending, status.units_failed);
    format!("{} done, {pending} to do{next}, {failed} failed", counted(done, "document"))
}
