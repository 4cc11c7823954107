//! How well names are merged that stand for one thing, and kept apart that do not, beside equality of names.
//!
//! ```text
//! cargo bench --bench identity [-- FOLDER]
//! ```
//!
//! `FOLDER` is a bundle whose `openie.jsonl` says for each paragraph of `corpus.jsonl` which names are of one entity,
//! and of which type (`redocred-kg`). All paragraphs are indexed without labels; pairs of mentions are counted within
//! paragraphs, those of even number apart from those of odd number: rules were looked at on the even ones alone. Pairs
//! of names across documents are counted on `identity.jsonl`, which has homographs; it was written for these rules.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use cairn::domain::Document;
use cairn::graph::ordinal::DocumentOrdinal;
use cairn::graph::resolution::Resolution;
use cairn::query::folded_name;
use cairn::store::GraphReader as _;
use cairn::workspace::Snapshot;
use cairn::{IndexOptions, Performers, Sources, Workspace, WorkspaceOptions};
use serde_json::Value;

type Failure = Box<dyn std::error::Error>;

/// Documents with names that are told apart across them.
const FIXTURE: &str = include_str!("identity.jsonl");

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    across_documents()?;
    args.first().map_or(Ok(()), |folder| within_paragraphs(Path::new(folder)))
}

/// An index in a folder that goes with it.
struct Indexed {
    _folder: tempfile::TempDir,
    snapshot: Snapshot,
    /// Documents by the id that their source gives them.
    numbers: BTreeMap<String, DocumentOrdinal>,
}

impl Indexed {
    fn of(documents: Vec<Document>) -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        let performers = Performers::built_in();
        let mut workspace = Workspace::open_or_create(folder.path().join("index"), &WorkspaceOptions::of(&performers))?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let (sources, options) = (Sources::Documents(documents), IndexOptions::default());
        runtime.block_on(cairn::index(&mut workspace, &sources, &performers, &options))?;
        let snapshot = workspace.snapshot()?;
        let mut numbers = BTreeMap::new();
        for number in snapshot.graph().documents() {
            numbers.insert(snapshot.document(number)?.source_id, number);
        }
        Ok(Self { _folder: folder, snapshot, numbers })
    }

    fn resolution(&self) -> Result<Resolution<'_>, Failure> {
        Ok(self.snapshot.resolution().ok_or("the index does not say what its names stand for")?)
    }

    /// Returns the name that stands for what a name stands for in a document.
    fn thing(&self, document: &str, name: &str) -> Result<String, Failure> {
        let (graph, folded) = (self.snapshot.graph(), folded_name(name));
        let number = self.numbers.get(document).ok_or("a document is not in the index")?;
        let Some(entity) = graph.entity(&folded) else { return Ok(folded) };
        Ok(graph.entity_name(self.resolution()?.canonical(entity, *number)).to_owned())
    }
}

/// Pairs that are one by the labels, that are said to be, and both.
#[derive(Default)]
struct Pairs {
    gold: u64,
    said: u64,
    both: u64,
}

impl Pairs {
    fn add(&mut self, is_one: bool, is_said: bool) {
        self.gold += u64::from(is_one);
        self.said += u64::from(is_said);
        self.both += u64::from(is_one && is_said);
    }

    fn show(&self, name: &str) {
        let share = |of: u64| self.both as f64 / of.max(1) as f64;
        let (precision, recall) = (share(self.said), share(self.gold));
        println!(
            "  {name:<14} precision {precision:.4}  recall {recall:.4}  ({} of {} said, {} due)",
            self.both, self.said, self.gold
        );
    }
}

/// A mention: what it is by the labels, its folded name, and the name that stands for that.
type Labeled = (String, String, String);

/// Counts the pairs of some mentions, by equal names and by what names stand for.
fn count(mentions: &[Labeled], (equal, resolved): (&mut Pairs, &mut Pairs)) {
    for (at, (label, name, thing)) in mentions.iter().enumerate() {
        for (other_label, other_name, other_thing) in &mentions[at + 1..] {
            equal.add(label == other_label, name == other_name);
            resolved.add(label == other_label, thing == other_thing);
        }
    }
}

fn across_documents() -> Result<(), Failure> {
    let lines: Vec<Value> = FIXTURE.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let text = |line: &Value, key: &str| line[key].as_str().unwrap_or_default().to_owned();
    let documents = lines.iter().map(|it| Document::new(text(it, "title"), Some(text(it, "title")), text(it, "text")));
    let indexed = Indexed::of(documents.collect())?;
    let mut mentions: Vec<Labeled> = Vec::new();
    let mut wrong: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in &lines {
        let title = text(line, "title");
        for (name, label) in line["names"].as_object().into_iter().flatten() {
            let (label, thing) = (label.as_str().unwrap_or_default().to_owned(), indexed.thing(&title, name)?);
            wrong.entry(thing.clone()).or_default().insert(label.clone());
            mentions.push((label, folded_name(name), thing));
        }
    }
    let (mut equal, mut resolved) = (Pairs::default(), Pairs::default());
    count(&mentions, (&mut equal, &mut resolved));
    println!("across {} documents, {} names", lines.len(), mentions.len());
    equal.show("equal names");
    resolved.show("resolved");
    for (thing, labels) in wrong.iter().filter(|it| it.1.len() > 1) {
        println!("  {thing}: {}", labels.iter().cloned().collect::<Vec<_>>().join(", "));
    }
    let (mut names, merges) = (BTreeMap::new(), indexed.resolution()?);
    for merge in merges.merges() {
        *names.entry(merge.reason.name()).or_insert(0u64) += 1;
    }
    println!("  merges by reason: {names:?}");
    Ok(())
}

fn within_paragraphs(folder: &Path) -> Result<(), Failure> {
    let lines = |name: &str| -> Result<Vec<Value>, Failure> {
        let text = fs::read_to_string(folder.join(name))?;
        Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
    };
    let (corpus, labels) = (lines("corpus.jsonl")?, lines("openie.jsonl")?);
    let text = |line: &Value, key: &str| line[key].as_str().unwrap_or_default().to_owned();
    let documents = corpus.iter().map(|it| Document::new(text(it, "id"), Some(text(it, "title")), text(it, "text")));
    let indexed = Indexed::of(documents.collect())?;
    let texts: BTreeMap<String, String> = corpus.iter().map(|it| (text(it, "id"), text(it, "text"))).collect();
    for (part, name) in
        ["even paragraphs (rules were looked at on these)", "odd paragraphs (on none of these)"].iter().enumerate()
    {
        let (mut equal, mut resolved) = (Pairs::default(), Pairs::default());
        let mut types = Types::default();
        for line in labels.iter().skip(part).step_by(2) {
            let id = text(line, "passage_id");
            let mentions = labeled(&indexed, &id, texts.get(&id).map_or("", String::as_str), line)?;
            count(&mentions, (&mut equal, &mut resolved));
            types.add(&indexed, line)?;
        }
        println!("{name}");
        equal.show("equal names");
        resolved.show("resolved");
        types.show();
    }
    Ok(())
}

/// Returns the mentions of a paragraph, of each name that is of one entity alone: where it stands and no longer name
/// does.
fn labeled(indexed: &Indexed, id: &str, text: &str, line: &Value) -> Result<Vec<Labeled>, Failure> {
    let mut entities: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (number, entity) in line["entity_detail"].as_array().into_iter().flatten().enumerate() {
        for alias in entity["aliases"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            entities.entry(alias).or_default().insert(number);
        }
    }
    let mut names: Vec<&str> = entities.keys().copied().collect();
    names.sort_by_key(|name| (std::cmp::Reverse(name.len()), *name));
    let (mut taken, mut mentions) = (vec![false; text.len()], Vec::new());
    for name in names.into_iter().filter(|name| !name.is_empty()) {
        for (start, _) in text.match_indices(name) {
            let end = start + name.len();
            let is_within_word =
                text[..start].ends_with(char::is_alphanumeric) || text[end..].starts_with(char::is_alphanumeric);
            if is_within_word || taken[start..end].iter().any(|it| *it) {
                continue;
            }
            taken[start..end].fill(true);
            if let Some(number) = entities[name].first().filter(|_| entities[name].len() == 1) {
                mentions.push((number.to_string(), folded_name(name), indexed.thing(id, name)?));
            }
        }
    }
    Ok(mentions)
}

/// Types by rule beside those of the labels.
#[derive(Default)]
struct Types {
    entities: u64,
    /// By type: how many are right, and how many have it.
    said: BTreeMap<&'static str, (u64, u64)>,
}

impl Types {
    fn add(&mut self, indexed: &Indexed, line: &Value) -> Result<(), Failure> {
        let (graph, resolution) = (indexed.snapshot.graph(), indexed.resolution()?);
        let id = line["passage_id"].as_str().unwrap_or_default();
        let number = indexed.numbers.get(id).ok_or("a paragraph is not in the index")?;
        for entity in line["entity_detail"].as_array().into_iter().flatten() {
            let due = entity["type"].as_str().unwrap_or_default();
            let found = entity["name"].as_str().and_then(|name| graph.entity(&folded_name(name)));
            let Some(found) = found.filter(|_| !matches!(due, "TIME" | "NUM")) else { continue };
            self.entities += 1;
            if let Some((kind, _)) = resolution.type_of(resolution.canonical(found, *number)) {
                let is_right = match kind.name() {
                    "person" => due == "PER",
                    "place" => due == "LOC",
                    "organization" => due == "ORG",
                    _ => due == "MISC",
                };
                let said = self.said.entry(kind.name()).or_default();
                *said = (said.0 + u64::from(is_right), said.1 + 1);
            }
        }
        Ok(())
    }

    fn show(&self) {
        let typed: u64 = self.said.values().map(|it| it.1).sum();
        let right: u64 = self.said.values().map(|it| it.0).sum();
        println!(
            "  types of {typed} of {} entities, {right} right; right of each type: {:?}",
            self.entities, self.said
        );
    }
}
