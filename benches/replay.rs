//! Our relations, layers and communities of graphs and vectors that language models made from real texts, compared with
//! the results of the systems that these come from. One row per bundle, in Markdown:
//!
//! ```text
//! cargo bench --bench replay -- [DATA]
//! ```
//!
//! `DATA` is the folder of the bundles, `../shared/data` by default. `carol-graphrag` and `dulce-graphrag` have
//! entities and relations, `carol-kg` a model's replies about each chunk, `musique-openie` triples of passages;
//! `cinderella-raptor` has only vectors. Names are equal if their folded words are. Communities have at most ten
//! members, as in those systems. Layers are made from vectors of entities: those of a model if a bundle has them, or
//! else those of the built-in embedder for the name and its description; both rules for the last layer are shown.
//! Bundles with texts have a second row, for the result of rules on the texts alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use cairn::domain::TopicOptions;
use cairn::embed::{Embedder as _, StaticTable};
use cairn::graph::hierarchy::{LastLayer, cluster_sparsity};
use cairn::graph::leiden::{LeidenOptions, WeightedGraph, levels, modularity, partition};
use cairn::graph::mixture::{MixtureOptions, soft_clusters};
use cairn::query::topics;
use cairn::store::GraphReader as _;
use cairn::{Cancellation, Document, IndexOptions, Performers, Sources, Workspace, WorkspaceOptions};
use serde_json::Value;

type Failure = Box<dyn std::error::Error>;

/// Maximum members of a community, as in the other systems.
const MEMBERS_MAX: usize = 10;
/// Bytes of a description that go into the vector of an entity.
const SAID_BYTES_MAX: usize = 2_000;
/// The change of cluster sparsity below which the paper adds no layer.
const PAPER: LastLayer = LastLayer::Sparsity(0.05);

fn main() -> Result<(), Failure> {
    let data = std::env::args().skip(1).find(|arg| !arg.starts_with("--"));
    let usual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let data = data.map_or(usual, PathBuf::from);
    if !data.is_dir() {
        println!("LEFT OUT: there is no folder {}", data.display());
        return Ok(());
    }
    println!("| bundle | entities | merged | relations | clustering | layers | communities | modularity | theirs |");
    println!("|---|---:|---:|---:|---:|---|---|---:|---|");
    for name in ["carol-graphrag", "dulce-graphrag"] {
        let bundle = data.join(name);
        row(name, &given(&bundle)?, &counted(&bundle, "level")?)?;
        by_rule(name, texts(&bundle.join("text_units.jsonl"), "id", None)?)?;
    }
    let bundle = data.join("carol-kg");
    row("carol-kg", &extracted(&bundle)?, &counted(&bundle, "level")?)?;
    by_rule("carol-kg", texts(&bundle.join("chunks.jsonl"), "id", None)?)?;
    let bundle = data.join("musique-openie");
    row("musique-openie", &triples(&bundle)?, "–")?;
    by_rule("musique-openie", texts(&bundle.join("corpus.jsonl"), "id", Some("title"))?)?;
    tale(&data.join("cinderella-raptor"))
}

/// A graph of entities under construction.
#[derive(Default)]
struct Graph {
    /// The index of each entity, by its folded words.
    places: BTreeMap<String, u32>,
    /// Names in their original spelling, of which several may be one entity.
    names: BTreeSet<String>,
    /// The descriptions of each entity.
    said: Vec<String>,
    weights: BTreeMap<(u32, u32), f32>,
    /// Vectors of some entities, by index.
    vectors: BTreeMap<u32, Vec<f32>>,
}

impl Graph {
    /// Returns the index of an entity; none for a name without words.
    fn entity(&mut self, name: &str, said: &str) -> Option<u32> {
        let folded = folded(name);
        if folded.is_empty() {
            return None;
        }
        self.names.insert(name.to_owned());
        let next = self.places.len() as u32;
        let place = *self.places.entry(folded).or_insert(next);
        if place == next {
            self.said.push(name.to_owned());
        }
        let all = &mut self.said[place as usize];
        if !said.is_empty() && all.len() + said.len() < SAID_BYTES_MAX {
            all.push_str(". ");
            all.push_str(said);
        }
        Some(place)
    }

    fn relation(&mut self, from: &str, to: &str, said: &str, weight: f32) {
        if let (Some(from), Some(to)) = (self.entity(from, said), self.entity(to, said))
            && from != to
        {
            *self.weights.entry((from.min(to), from.max(to))).or_default() += weight;
        }
    }

    /// Returns the vectors of entities in one list, and the length of each.
    fn rows(&self) -> Result<(Vec<f32>, usize), Failure> {
        if let Some(first) = self.vectors.values().next() {
            return Ok((self.vectors.values().flatten().copied().collect(), first.len()));
        }
        let texts: Vec<&str> = self.said.iter().map(String::as_str).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let vectors = runtime.block_on(StaticTable.embed(&texts))?;
        let rows = vectors.iter().flat_map(cairn::domain::Embedding::values).copied().collect();
        Ok((rows, StaticTable.dimension()))
    }
}

fn folded(name: &str) -> String {
    let words = name.split(|it: char| !it.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

fn read(path: &Path) -> Result<Vec<Value>, Failure> {
    let text = fs::read_to_string(path)?;
    Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

fn text<'a>(row: &'a Value, name: &str) -> &'a str {
    row[name].as_str().unwrap_or_default()
}

/// Reads the entities and relations of a bundle of `GraphRAG`.
fn given(bundle: &Path) -> Result<Graph, Failure> {
    let mut graph = Graph::default();
    for row in read(&bundle.join("entities.jsonl"))? {
        graph.entity(text(&row, "title"), text(&row, "description"));
    }
    for row in read(&bundle.join("relationships.jsonl"))? {
        let weight = row["weight"].as_f64().unwrap_or(1.0) as f32;
        graph.relation(text(&row, "source"), text(&row, "target"), "", weight);
    }
    Ok(graph)
}

/// Reads a model's reply about each chunk, record by record; records in another form than requested are left out. The
/// graph of the bundle was made from the same rows.
fn extracted(bundle: &Path) -> Result<Graph, Failure> {
    let mut graph = Graph::default();
    let (mut records, mut unread) = (0, 0);
    for row in read(&bundle.join("extractions.jsonl"))?.iter().filter(|row| row["model"] == "gpt-3.5-turbo") {
        for record in text(row, "raw").split("##").filter(|it| it.contains("<|>")) {
            records += 1;
            let inner = record.trim().trim_end_matches("<|COMPLETE|>").trim().trim_matches(['(', ')']);
            let fields: Vec<&str> = inner.split("<|>").map(|field| field.trim().trim_matches('"')).collect();
            match fields[..] {
                ["entity", name, _, said] => {
                    graph.entity(name, said);
                }
                ["relationship", from, to, said, strength] => {
                    graph.relation(from, to, said, strength.parse().unwrap_or(1.0));
                }
                ["relationship", from, to, said] => graph.relation(from, to, said, 1.0),
                _ => unread += 1,
            }
        }
    }
    let bytes = fs::read(bundle.join("entity_embeddings.f32le"))?;
    let values: Vec<f32> = bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    let ids = read(&bundle.join("entity_embeddings_ids.jsonl"))?;
    for (row, vector) in ids.iter().zip(values.chunks_exact(values.len() / ids.len().max(1))) {
        if let Some(place) = graph.places.get(&folded(text(row, "name"))) {
            graph.vectors.insert(*place, vector.to_vec());
        }
    }
    println!("<!-- carol-kg: {unread} of {records} records are of no known form; {} vectors -->", graph.vectors.len());
    Ok(graph)
}

/// Reads triples of passages: each relates its first entity to its last.
fn triples(bundle: &Path) -> Result<Graph, Failure> {
    let mut graph = Graph::default();
    for row in read(&bundle.join("openie.jsonl"))? {
        for name in row["entities"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            graph.entity(name, "");
        }
        for triple in row["triples"].as_array().into_iter().flatten() {
            let [from, how, to] = [0, 1, 2].map(|at| triple[at].as_str().unwrap_or_default());
            graph.relation(from, to, &format!("{from} {how} {to}"), 1.0);
        }
    }
    Ok(graph)
}

/// Returns the number of communities of a bundle on each level.
fn counted(bundle: &Path, level: &str) -> Result<String, Failure> {
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for row in read(&bundle.join("communities.jsonl"))? {
        *counts.entry(row[level].as_u64().unwrap_or_default()).or_default() += 1;
    }
    let counts: Vec<String> = counts.values().map(u64::to_string).collect();
    Ok(format!("{} communities", counts.join(", ")))
}

fn row(name: &str, graph: &Graph, theirs: &str) -> Result<(), Failure> {
    let go_on = Cancellation::default();
    let edges: Vec<(u32, u32, f32)> = graph.weights.iter().map(|((a, b), weight)| (*a, *b, *weight)).collect();
    let network = WeightedGraph::of_edges(graph.places.len(), &edges);
    let options = LeidenOptions { members_max: MEMBERS_MAX, ..LeidenOptions::default() };
    let found = partition(&network, &options, &go_on)?;
    let all = levels(&network, &options, &go_on)?;
    let depth = all.last().map_or(0, |last| last.level + 1);
    let per_level = (0..depth).map(|level| all.iter().filter(|it| it.level == level && it.members.len() > 1).count());
    let (rows, dimensions) = graph.rows()?;
    println!(
        "| {name}, given | {} | {} | {} | {:.4} | {} | {} | {:.4} | {theirs} |",
        graph.places.len(),
        graph.names.len() - graph.places.len(),
        edges.len(),
        global_clustering(graph.places.len(), &edges),
        layers(rows, dimensions)?,
        per_level.map(|count| count.to_string()).collect::<Vec<_>>().join(", "),
        modularity(&network, &found, 1.0),
    );
    Ok(())
}

/// Returns the global clustering coefficient: three times the number of triangles, relative to all pairs of edges that
/// meet.
fn global_clustering(count: usize, edges: &[(u32, u32, f32)]) -> f64 {
    let mut near: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); count];
    for (a, b, _) in edges {
        near[*a as usize].insert(*b);
        near[*b as usize].insert(*a);
    }
    let meeting: usize = near.iter().map(|it| it.len() * it.len().saturating_sub(1) / 2).sum();
    let closed: usize = edges.iter().map(|(a, b, _)| near[*a as usize].intersection(&near[*b as usize]).count()).sum();
    closed as f64 / meeting.max(1) as f64
}

/// Reports the number of summary entities on each layer, with its sparsity, and where each rule ends.
fn layers(mut rows: Vec<f32>, dimensions: usize) -> Result<String, Failure> {
    let (mut said, mut before, mut ends) = (Vec::new(), None, Vec::new());
    for layer in 1.. {
        let below = rows.len() / dimensions.max(1);
        let found = soft_clusters(&rows, dimensions, &MixtureOptions::default(), &Cancellation::default())?;
        let mut sizes = vec![0; found.count];
        let mut sums = vec![0.0; found.count * dimensions];
        for (row, vector) in rows.chunks_exact(dimensions.max(1)).enumerate() {
            let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
            for place in found.rows[row] as usize..found.rows[row + 1] as usize {
                let (cluster, weight) = (found.cluster[place] as usize, found.weight[place] / length);
                sizes[cluster] += 1;
                let sum = &mut sums[cluster * dimensions..(cluster + 1) * dimensions];
                sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += weight * value);
            }
        }
        let sparsity = cluster_sparsity(sizes.into_iter(), below);
        if layer > 1 {
            for (name, last) in [("default", LastLayer::Halving), ("paper", PAPER)] {
                let is_last = last.ends((below, found.count), (before, sparsity));
                if is_last && !ends.iter().any(|(it, _)| *it == name) {
                    ends.push((name, layer - 1));
                }
            }
        }
        if ends.len() == 2 || below < 2 {
            break;
        }
        said.push(format!("{} ({:.1} %)", found.count, 100.0 * sparsity));
        (before, rows) = (Some(sparsity), sums);
    }
    let ends: Vec<String> = ends.iter().map(|(name, layer)| format!("{name} {layer}")).collect();
    Ok(format!("{}; ends: {}", said.join(", "), ends.join(", ")))
}

fn texts(path: &Path, id: &str, title: Option<&str>) -> Result<Vec<Document>, Failure> {
    let document = |row: &Value| {
        let title = title.map(|title| text(row, title).to_owned());
        Document::new(text(row, id), title, text(row, "text"))
    };
    Ok(read(path)?.iter().map(document).collect())
}

/// Indexes texts, and reports the result of rules.
fn by_rule(name: &str, documents: Vec<Document>) -> Result<(), Failure> {
    let (folder, performers) = (tempfile::tempdir()?, Performers::built_in());
    let mut workspace = Workspace::open_or_create(folder.path(), &WorkspaceOptions::of(&performers))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let sources = Sources::documents(documents);
    runtime.block_on(cairn::index(&mut workspace, &sources, &performers, &IndexOptions::default()))?;
    let snapshot = workspace.snapshot()?;
    let found = topics(&snapshot, &TopicOptions::default())?;
    let hierarchy = snapshot.hierarchy().ok_or("no hierarchy")?;
    let edges: Vec<(u32, u32, f32)> =
        hierarchy.relations().map(|([from, to], weight, _)| (from.0, to.0, weight)).collect();
    let count = snapshot.counts().entities as usize;
    let mut groups: Vec<u32> = (0..count as u32).map(|entity| entity + count as u32).collect();
    for community in hierarchy.communities().take_while(|it| hierarchy.community_level[*it] == 0) {
        hierarchy.members(community).iter().for_each(|member| groups[member.0 as usize] = community.0);
    }
    let per_level = hierarchy.community_level.chunk_by(PartialEq::eq).map(|same| same.len().to_string());
    let layers = found.layers.iter().map(|it| format!("{} ({:.1} %)", it.summaries, 100.0 * it.sparsity));
    let reported = found.topics.iter().filter(|topic| !topic.findings.is_empty()).count();
    let theirs = format!("{reported} of {} topics have findings", found.topics.len());
    println!(
        "| {name}, texts by rule | {} of {count} | – | {} | {:.4} | {} | {} | {:.4} | {theirs} |",
        found.entities,
        edges.len(),
        global_clustering(count, &edges),
        layers.collect::<Vec<_>>().join(", "),
        per_level.collect::<Vec<_>>().join(", "),
        modularity(&WeightedGraph::of_edges(count, &edges), &groups, 1.0),
    );
    Ok(())
}

/// Clusters the chunks of a story, and compares the result with the tree that `RAPTOR` made of them.
fn tale(bundle: &Path) -> Result<(), Failure> {
    let tree = read(&bundle.join("tree.jsonl"))?;
    let leaves = tree.iter().filter(|node| node["layer"] == 0).count();
    let bytes = fs::read(bundle.join("node_embeddings.f32le"))?;
    let values: Vec<f32> = bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    let dimensions = values.len() / tree.len().max(1);
    let rows = values[..leaves * dimensions].to_vec();
    let theirs = tree.len() - leaves;
    let said = layers(rows, dimensions)?;
    println!("| cinderella-raptor, vectors | {leaves} | – | – | – | {said} | – | – | {theirs} clusters |");
    Ok(())
}
