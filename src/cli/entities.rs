//! `cairn entities`.

use clap::{Args, Subcommand};

use super::args::PlaceArgs;
use super::{Done, Surroundings};
use crate::domain::{EntityOptions, EntityShown, ListedEntity, NameMerge, NamePair, NameVerdict, NamesAsked};
use crate::error::Error;
use crate::query::{EntityIndex, folded_name};
use crate::text::{counted, one_line};
use crate::workspace::{Snapshot, Workspace};

/// Entities and merges shown on a terminal.
const SHOWN_MAX: usize = 40;
/// Indentation of the details of an entity, in columns.
const INDENT: usize = 4;
/// Other names shown for an entity in a list.
const ALIASES_SHOWN_MAX: usize = 5;

/// `cairn entities`.
#[derive(Debug, Subcommand)]
pub(super) enum EntitiesCommand {
    /// List the entities, those in the most passages first.
    List(ListArgs),
    /// Show what a name stands for: other names and why, sentences, relations, topics.
    Show(ShowArgs),
    /// List the names that were merged, each with the reason.
    Merges(MergesArgs),
    /// Treat two names as one entity, from the next `cairn index` on.
    Merge(PairArgs),
    /// Keep two names apart, from the next `cairn index` on.
    Split(PairArgs),
}

/// `cairn entities list`.
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// Where and how.
    #[command(flatten)]
    place: PlaceArgs,
    /// List the entities with TEXT in one of their names.
    #[arg(value_name = "TEXT")]
    text: Option<String>,
    /// List the entities of this type: person, place, organization, work or event.
    #[arg(long = "type", value_name = "TYPE")]
    of_type: Option<String>,
}

/// `cairn entities show`.
#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// Where and how.
    #[command(flatten)]
    place: PlaceArgs,
    /// The name; case is ignored.
    #[arg(value_name = "NAME")]
    name: String,
}

/// `cairn entities merges`.
#[derive(Debug, Args)]
pub(super) struct MergesArgs {
    /// Where and how.
    #[command(flatten)]
    place: PlaceArgs,
}

/// `cairn entities merge` and `cairn entities split`.
#[derive(Debug, Args)]
pub(super) struct PairArgs {
    /// Where and how.
    #[command(flatten)]
    place: PlaceArgs,
    /// A name.
    #[arg(value_name = "NAME")]
    one: String,
    /// Another name.
    #[arg(value_name = "OTHER")]
    other: String,
}

impl EntitiesCommand {
    /// Returns where and how.
    pub(super) const fn place(&self) -> &PlaceArgs {
        match self {
            Self::List(args) => &args.place,
            Self::Show(args) => &args.place,
            Self::Merges(args) => &args.place,
            Self::Merge(args) | Self::Split(args) => &args.place,
        }
    }
}

/// Runs `cairn entities`.
pub(super) fn run(command: &EntitiesCommand, surroundings: &Surroundings) -> Done {
    match command {
        EntitiesCommand::List(args) => list(args, surroundings),
        EntitiesCommand::Show(args) => show(args, surroundings),
        EntitiesCommand::Merges(args) => merges(args, surroundings),
        EntitiesCommand::Merge(args) => ask(args, NameVerdict::Same, surroundings),
        EntitiesCommand::Split(args) => ask(args, NameVerdict::Apart, surroundings),
    }
}

/// Opens an index and its last version.
fn opened(place: &PlaceArgs, surroundings: &Surroundings) -> Result<(Workspace, Snapshot), Error> {
    let workspace = surroundings.workspace(surroundings.index(place.index.clone()))?;
    let snapshot = workspace.snapshot()?;
    Ok((workspace, snapshot))
}

fn list(args: &ListArgs, surroundings: &Surroundings) -> Done {
    let (_, snapshot) = opened(&args.place, surroundings)?;
    let options = EntityOptions { text: args.text.clone(), of_type: args.of_type.clone() };
    let entities_max = if args.place.json { usize::MAX } else { SHOWN_MAX };
    let (found, count) = EntityIndex::of(&snapshot).list(&options, entities_max)?;
    if args.place.json {
        return surroundings.print_json(&found);
    }
    let screen = &surroundings.screen;
    for entity in &found.entities {
        screen.wrapped(&line(entity), 0)?;
    }
    if count > found.entities.len() as u64 {
        screen.line(format!("… and {} more; `--json` has all", count - found.entities.len() as u64))?;
    }
    let names = counted(found.names, "name");
    screen.note(format!(
        "{}; {names} in the index, {} of them merged into another",
        counted(count, "entity"),
        found.merged
    ));
    Ok(())
}

/// Returns an entity as it is listed: its name, its type, its other names, its passages.
fn line(entity: &ListedEntity) -> String {
    let kind = entity.entity_type.as_ref().map_or_else(String::new, |it| format!("{it}, "));
    let mut line = format!("{} ({kind}{})", entity.name, counted(entity.passages, "passage"));
    if !entity.aliases.is_empty() {
        let shown: Vec<&str> = entity.aliases.iter().take(ALIASES_SHOWN_MAX).map(String::as_str).collect();
        let more = if entity.aliases.len() > ALIASES_SHOWN_MAX { ", …" } else { "" };
        line.push_str("; also ");
        line.push_str(&shown.join(", "));
        line.push_str(more);
    }
    line
}

fn show(args: &ShowArgs, surroundings: &Surroundings) -> Done {
    let (_, snapshot) = opened(&args.place, surroundings)?;
    let found = EntityIndex::of(&snapshot).show(&args.name)?;
    if args.place.json {
        return surroundings.print_json(&found);
    }
    for entity in &found.entities {
        say(entity, surroundings)?;
    }
    if found.entities.len() > 1 {
        let count = found.entities.len();
        surroundings.screen.note(format!("the name stands for {count} entities in different documents"));
    }
    Ok(())
}

fn say(entity: &EntityShown, surroundings: &Surroundings) -> Done {
    let screen = &surroundings.screen;
    screen.wrapped(&line(&entity.listed), 0)?;
    if let Some(said) = entity.of_type.as_ref().and_then(|it| it.evidence.as_ref()) {
        screen.wrapped(&format!("type: {} [{}]", one_line(&said.quote), said.location()), INDENT)?;
    }
    for merge in entity.merges.iter().take(SHOWN_MAX) {
        screen.wrapped(&format!("name: {}", reason(merge)), INDENT)?;
    }
    for mention in &entity.mentions {
        screen.wrapped(&format!("{} [{}]", one_line(&mention.quote), mention.location()), INDENT)?;
    }
    if !entity.relations.is_empty() {
        let names: Vec<&str> = entity.relations.iter().map(|it| it.name.as_str()).collect();
        screen.wrapped(&format!("related to: {}", names.join(", ")), INDENT)?;
    }
    for topic in &entity.topics {
        screen.wrapped(&format!("topic: {topic}"), INDENT)?;
    }
    Ok(())
}

/// Returns why a name is one of an entity.
fn reason(merge: &NameMerge) -> String {
    let document = merge.document.as_ref().map_or_else(String::new, |it| format!(" in {it}"));
    format!("{} = {}{document} ({})", merge.name, merge.with, merge.reason)
}

fn merges(args: &MergesArgs, surroundings: &Surroundings) -> Done {
    let (workspace, snapshot) = opened(&args.place, surroundings)?;
    let asked = workspace.records()?.name_pairs()?;
    let found = EntityIndex::of(&snapshot).merges(asked)?;
    if args.place.json {
        return surroundings.print_json(&found);
    }
    let screen = &surroundings.screen;
    for merge in found.merges.iter().take(SHOWN_MAX) {
        screen.wrapped(&reason(merge), 0)?;
    }
    if found.merges.len() > SHOWN_MAX {
        screen.line(format!("… and {} more; `--json` has all", found.merges.len() - SHOWN_MAX))?;
    }
    for pair in &found.asked {
        screen.wrapped(&format!("asked for: {}", said(pair)), 0)?;
    }
    let scoped = found.merges.iter().filter(|it| it.document.is_some()).count();
    screen.note(format!("{}, {scoped} of them in one document each", counted(found.merges.len(), "merge")));
    Ok(())
}

fn said(pair: &NamePair) -> String {
    match pair.verdict {
        NameVerdict::Same => format!("{} = {}", pair.one, pair.other),
        NameVerdict::Apart => format!("{} ≠ {}", pair.one, pair.other),
    }
}

/// Keeps a merge or split of two names of the index.
fn ask(args: &PairArgs, verdict: NameVerdict, surroundings: &Surroundings) -> Done {
    let (workspace, snapshot) = opened(&args.place, surroundings)?;
    let entities = EntityIndex::of(&snapshot);
    if entities.named(&args.one)? == entities.named(&args.other)? {
        return Err(Error::Option {
            option: "other name",
            value: args.other.clone(),
            reason: "it is the same name".to_owned(),
        }
        .into());
    }
    let pair = NamePair { one: folded_name(&args.one), other: folded_name(&args.other), verdict };
    let before = workspace.writer()?.records().set_name_pair(pair.clone())?;
    let asked = NamesAsked { pair, before };
    if args.place.json {
        return surroundings.print_json(&asked);
    }
    let screen = &surroundings.screen;
    screen.note(format!("kept: {}", said(&asked.pair)));
    screen.note("the next `cairn index` of the same paths applies it; nothing is read or embedded twice");
    Ok(())
}
