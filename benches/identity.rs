//! How well names of one entity are merged and other names kept apart, compared with equality of names.
//!
//! ```text
//! cargo bench --bench identity [-- FOLDER]
//! ```
//!
//! `FOLDER` is a bundle whose `openie.jsonl` says for each paragraph of `corpus.jsonl` which names belong to one
//! entity, and its type (`redocred-kg`). All paragraphs are indexed without labels; pairs of mentions are counted
//! within paragraphs, separately for even and odd paragraphs: only the even ones were looked at when the rules were
//! made. Pairs of names across documents are counted on `identity.jsonl`, which has homographs; it was written for
//! these rules.

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

/// Documents whose names must be distinguished across documents.
const FIXTURE: &str = include_str!("identity.jsonl");

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    across_documents()?;
    args.first().map_or(Ok(()), |folder| within_paragraphs(Path::new(folder)))
}

/// An index in a temporary folder.
struct Indexed {
    _folder: tempfile::TempDir,
    snapshot: Snapshot,
    /// Documents by their source ids.
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

    /// Returns the name of the entity that a name stands for in a document.
    fn entity(&self, document: &str, name: &str) -> Result<String, Failure> {
        let (graph, folded) = (self.snapshot.graph(), folded_name(name));
        let number = self.numbers.get(document).ok_or("a document is not in the index")?;
        let Some(entity) = graph.entity(&folded) else { return Ok(folded) };
        Ok(graph.entity_name(self.resolution()?.canonical(entity, *number)).to_owned())
    }
}

/// The numbers of pairs that are one entity by the labels, by the result, and by both.
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

/// A mention: its entity by the labels, its folded name, and the name of its entity in the result.
type Labeled = (String, String, String);

/// Counts the pairs of some mentions, by equal names and by entities.
fn count(mentions: &[Labeled], (equal, resolved): (&mut Pairs, &mut Pairs)) {
    for (at, (label, name, entity)) in mentions.iter().enumerate() {
        for (other_label, other_name, other_entity) in &mentions[at + 1..] {
            equal.add(label == other_label, name == other_name);
            resolved.add(label == other_label, entity == other_entity);
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
            let (label, entity) = (label.as_str().unwrap_or_default().to_owned(), indexed.entity(&title, name)?);
            wrong.entry(entity.clone()).or_default().insert(label.clone());
            mentions.push((label, folded_name(name), entity));
        }
    }
    let (mut equal, mut resolved) = (Pairs::default(), Pairs::default());
    count(&mentions, (&mut equal, &mut resolved));
    println!("across {} documents, {} names", lines.len(), mentions.len());
    equal.show("equal names");
    resolved.show("resolved");
    for (entity, labels) in wrong.iter().filter(|it| it.1.len() > 1) {
        println!("  {entity}: {}", labels.iter().cloned().collect::<Vec<_>>().join(", "));
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

/// Returns the mentions in a paragraph of each name that belongs to only one entity, except inside longer names.
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
                mentions.push((number.to_string(), folded_name(name), indexed.entity(id, name)?));
            }
        }
    }
    Ok(mentions)
}

/// Types by rule, compared with those of the labels.
#[derive(Default)]
struct Types {
    entities: u64,
    /// For each type: how many are right, and how many there are.
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
