//! `cairn topics`.

use clap::Args;

use super::args::{ModelArgs, PlaceArgs};
use super::{Done, Surroundings, progress};
use crate::domain::{Topic, TopicOptions, Topics};
use crate::error::Result;
use crate::index::{IndexOptions, refresh_hierarchy};
use crate::query;
use crate::setup::Calls;
use crate::text::{counted, one_line};
use crate::workspace::Workspace;

/// Top-level topics shown on a terminal, and parts of each.
const TOPICS_SHOWN_MAX: usize = 20;
const PARTS_SHOWN_MAX: usize = 3;
/// Indentation of the details and parts of a topic, in columns.
const INDENT: usize = 4;

/// `cairn topics`.
#[derive(Debug, Args)]
pub(super) struct TopicsArgs {
    /// Where and how.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// Show only the topics of this level; those of level 0 are part of no other.
    #[arg(long, value_name = "N", conflicts_with = "json")]
    pub(super) level: Option<u32>,
    /// Show the topics of the names in TEXT.
    #[arg(long, value_name = "TEXT")]
    pub(super) about: Option<String>,
    /// First recompute topics and layers, if names were added or removed since.
    #[arg(long)]
    pub(super) refresh: bool,
    /// The models of the index.
    #[command(flatten)]
    pub(super) models: ModelArgs,
}

/// Runs `cairn topics`.
pub(super) async fn run(args: &TopicsArgs, surroundings: &Surroundings) -> Done {
    let mut workspace = surroundings.workspace(surroundings.index(args.place.index.clone()))?;
    if args.refresh {
        refresh(&mut workspace, args, surroundings).await?;
    }
    let snapshot = workspace.snapshot()?;
    let found = query::topics(&snapshot, &TopicOptions { about: args.about.clone() })?;
    if args.place.json {
        return surroundings.print_json(&found);
    }
    show(&found, args, surroundings)
}

/// Recomputes topics and layers if they are older than the current version.
async fn refresh(workspace: &mut Workspace, args: &TopicsArgs, surroundings: &Surroundings) -> Result<()> {
    let performers = surroundings.setup.to_fill(workspace, &args.models.options(), &Calls::default()).await?;
    let (sink, bar) = progress::sink(surroundings.screen);
    let options = IndexOptions {
        progress: Some(sink),
        cancellation: surroundings.cancellation.clone(),
        ..IndexOptions::default()
    };
    let report = refresh_hierarchy(workspace, &performers, &options).await;
    drop(bar);
    let report = report?;
    surroundings.screen.note(if report.is_new_version {
        format!("topics and layers were recomputed; version {}", report.version)
    } else {
        "nothing changed since topics and layers were found".to_owned()
    });
    Ok(())
}

fn show(found: &Topics, args: &TopicsArgs, surroundings: &Surroundings) -> Done {
    let (level, about) = (args.level, args.about.as_deref());
    let screen = &surroundings.screen;
    let on_level: Vec<(usize, &Topic)> =
        found.topics.iter().enumerate().filter(|(_, topic)| topic.level == level.unwrap_or(0)).collect();
    for ((place, topic), number) in on_level.iter().take(TOPICS_SHOWN_MAX).zip(1..) {
        say(&format!("{number:>2}. "), topic, 0, surroundings)?;
        // One level was asked for, or this and a look at the next.
        let parts = found.topics.iter().filter(|part| part.parent == Some(*place as u32) && level.is_none());
        for part in parts.clone().take(PARTS_SHOWN_MAX) {
            say("- ", part, INDENT, surroundings)?;
        }
        let more = parts.count().saturating_sub(PARTS_SHOWN_MAX);
        if more > 0 {
            screen.line(format!("{:INDENT$}… and {more} more within it", ""))?;
        }
    }
    if on_level.len() > TOPICS_SHOWN_MAX {
        let more = on_level.len() - TOPICS_SHOWN_MAX;
        screen.line(format!("… and {more} more topics; `--json` has all"))?;
    }
    if let (None, Some(text)) = (found.topics.first(), about) {
        screen.note(format!("no topic has a name that occurs in `{text}`"));
    } else if let (true, Some(level)) = (on_level.is_empty(), level) {
        let last = found.topics.iter().map(|topic| topic.level).max();
        screen.note(last.map_or_else(
            || "there are no topics".to_owned(),
            |last| format!("no topic is on level {level}; the last level is {last}"),
        ));
    }
    screen.note(format!(
        "{} on this level; {}, {}; {}",
        counted(on_level.len(), "topic"),
        counted(found.entities, "entity"),
        counted(found.relations, "relation"),
        by(found),
    ));
    Ok(())
}

/// Returns who found the topics: rules or a language model.
fn by(found: &Topics) -> String {
    let reports = found.topics.iter().filter(|topic| topic.report.is_some()).count();
    let model = match found.by_model {
        None if reports == 0 => return "by rule, without a language model".to_owned(),
        None => "found by rule".to_owned(),
        Some(it) => format!(
            "a language model found {} and {} of these",
            counted(it.entities, "entity"),
            counted(it.relations, "relation")
        ),
    };
    if reports == 0 {
        return format!("{model}, titles are by rule");
    }
    format!("{model}; a language model wrote about {reports} of {}", counted(found.topics.len(), "topic"))
}

fn say(mark: &str, topic: &Topic, indent: usize, surroundings: &Surroundings) -> Done {
    let screen = &surroundings.screen;
    let size = format!("{}, {}", counted(topic.entities, "entity"), counted(topic.passages, "passage"));
    let by = if topic.report.is_some() { "; by a language model" } else { "" };
    screen.wrapped(&format!("{mark}{} ({size}{by})", topic.title), indent)?;
    if let Some(report) = topic.report.as_ref().filter(|_| indent == 0) {
        screen.wrapped(&one_line(&report.summary), INDENT)?;
    } else if let Some(sentence) = topic.findings.first().filter(|_| indent == 0) {
        screen.wrapped(&format!("{} [{}]", one_line(&sentence.quote), sentence.location()), INDENT)?;
    }
    Ok(())
}
