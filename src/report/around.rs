//! The graph around a document or around what a search finds: the passages within two steps of it, the question edges
//! between them, and where each is drawn.

use super::Listed;
use super::answers::Along;
use super::contents::{Hub, LINE_CHARS_MAX};
use super::names::{document_name, numbers, passage_name};
use crate::domain::{PassageId, Step, StepKind};
use crate::error::{Error, Result};
use crate::graph::elements::rows;
use crate::graph::layout::{Place, layout};
use crate::graph::ordinal::{DocumentOrdinal, Ordinal as _, PassageOrdinal};
use crate::graph::packed::row;
use crate::query::{QueryEngine, SearchOptions};
use crate::store::GraphReader;
use crate::text::{clipped, fold};
use crate::workspace::Snapshot;

/// Passages that are drawn.
const NODES_MAX: usize = 100;
/// Lines that are drawn.
const LINES_MAX: usize = 300;
/// Maximum steps from the middle to a drawn passage.
const RINGS_MAX: u8 = 2;
/// Characters of a passage next to its name.
const SNIPPET_CHARS: usize = 160;
/// Documents of a like name that an error names.
const LIKE_MAX: usize = 3;
/// The seed of the drawing: any number will do, and it is always this one.
const SEED: u64 = 1;

/// The graph around something.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Around {
    pub(super) middle: Middle,
    pub(super) nodes: Listed<Node>,
    pub(super) lines: Listed<Line>,
}

/// The middle of the graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Middle {
    Query(String),
    Document(String),
}

/// A passage.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) snippet: String,
    /// Steps from the middle.
    pub(super) ring: u8,
    /// Lines that arrive at it.
    pub(super) arriving: u64,
    pub(super) place: Place,
}

/// A line from one passage to another, by their places in the list of nodes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) along: Along,
    /// The other passage's question that it answers, if different.
    pub(super) answered: Option<String>,
    /// How alike the two questions are; steps of a path come first.
    rank: f32,
}

/// Finds a document by the id that its source gives it, its title, or its id in the index.
pub(super) fn document(snapshot: &Snapshot, wanted: &str) -> Result<DocumentOrdinal> {
    let key = |text: &str| fold(text).to_lowercase();
    let folded = key(wanted);
    let (mut best, mut like) = (None, Vec::new());
    for number in snapshot.graph().documents() {
        let document = snapshot.document(number)?;
        let title = document.title.as_deref().unwrap_or_default();
        let rank = if document.source_id == wanted || document.document.to_string() == wanted {
            0
        } else if title == wanted {
            1
        } else if key(title) == folded {
            2
        } else {
            let is_like = [title, &document.source_id].into_iter().any(|it| key(it).contains(&folded));
            if is_like && like.len() < LIKE_MAX && !folded.is_empty() {
                like.push(format!("`{}`", document_name(&document)));
            }
            continue;
        };
        if best.is_none_or(|(least, _)| rank < least) {
            best = Some((rank, number));
        }
    }
    let reason = if like.is_empty() {
        "give the id or the title of one".to_owned()
    } else {
        format!("similar names are {}", like.join(", "))
    };
    best.map(|(_, number)| number).ok_or_else(|| Error::Option {
        option: "document of the index",
        value: wanted.to_owned(),
        reason,
    })
}

/// A step, and the passages that it leaves and leads to.
type StepBetween<'a> = (PassageOrdinal, PassageOrdinal, &'a Step);

/// Returns the graph around the results of a search.
pub(super) async fn of_query(
    engine: &QueryEngine,
    snapshot: &Snapshot,
    query: &str,
    options: &SearchOptions,
) -> Result<Around> {
    let found = engine.search(query, options).await?;
    let on_ways: Vec<&Step> = found.hits.iter().flat_map(|hit| &hit.path).collect();
    let ids: Vec<PassageId> = found.hits.iter().map(|hit| hit.passage).collect();
    let ends = on_ways.iter().flat_map(|step| [step.from, step.to]);
    let numbered = numbers(snapshot, &ids.iter().copied().chain(ends).collect::<Vec<_>>());
    let middle: Vec<PassageOrdinal> = ids.iter().filter_map(|id| numbered.get(id).copied()).collect();
    let way = on_ways.iter().filter_map(|step| Some((*numbered.get(&step.from)?, *numbered.get(&step.to)?, *step)));
    around(snapshot, Middle::Query(clipped(query, LINE_CHARS_MAX)), &middle, &way.collect::<Vec<_>>())
}

/// Returns the graph around a document.
pub(super) fn of_document(snapshot: &Snapshot, document: DocumentOrdinal) -> Result<Around> {
    let middle: Vec<PassageOrdinal> = snapshot.graph().document_passages.of(document).collect();
    around(snapshot, Middle::Document(document_name(&snapshot.document(document)?)), &middle, &[])
}

/// Returns the graph around the document of the largest hub, or the first document if there are no edges; none if there
/// is no document.
pub(super) fn of_largest_hub(snapshot: &Snapshot, hubs: &Listed<Hub>) -> Result<Option<Around>> {
    let passage = hubs.items.first().map_or_else(PassageOrdinal::default, |hub| hub.passage);
    let document = snapshot.graph().passage_document.items().get(passage.index());
    document.map(|document| of_document(snapshot, *document)).transpose()
}

fn around(snapshot: &Snapshot, middle: Middle, seeds: &[PassageOrdinal], way: &[StepBetween<'_>]) -> Result<Around> {
    let reached = reached(snapshot, seeds, way);
    let kept: Vec<(PassageOrdinal, u8)> = reached.iter().take(NODES_MAX).map(|it| (it.passage, it.ring)).collect();
    let mut numbers: Vec<(PassageOrdinal, usize)> = kept.iter().map(|it| it.0).zip(0..).collect();
    numbers.sort_unstable();
    let number = |passage: PassageOrdinal| {
        let at = numbers.binary_search_by_key(&passage, |it| it.0).ok()?;
        Some(numbers[at].1)
    };
    let lines = lines(snapshot, &kept, way, &number);
    let ends: Vec<(u32, u32)> = lines.items.iter().map(|it| (it.from as u32, it.to as u32)).collect();
    // Fewer nodes than a layout takes, and lines between them.
    let places = layout(kept.len(), &ends, SEED).ok_or_else(|| Error::Internal("a graph without places".to_owned()))?;
    let node = |(at, &(passage, ring)): (usize, &(PassageOrdinal, u8))| {
        Ok(Node {
            name: passage_name(snapshot, passage)?,
            snippet: snippet(&snapshot.passage(passage)?.text),
            ring,
            arriving: lines.items.iter().filter(|it| it.to == at).count() as u64,
            place: places[at],
        })
    };
    let items = kept.iter().enumerate().map(node).collect::<Result<_>>()?;
    Ok(Around { middle, nodes: Listed { items, total: reached.len() as u64 }, lines })
}

/// A passage that can be drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Candidate {
    passage: PassageOrdinal,
    ring: u8,
    /// The best similarity of an edge between it and a passage nearer the middle, in either direction.
    similarity: f32,
}

/// Returns the passages within two steps of the seeds, nearest first: the seeds in order, then by the best edge.
fn reached(snapshot: &Snapshot, seeds: &[PassageOrdinal], way: &[StepBetween<'_>]) -> Vec<Candidate> {
    let graph = snapshot.graph();
    let beside = Beside::of(snapshot);
    let mut ring_of = vec![u8::MAX; graph.passage_count()];
    let mut found: Vec<Candidate> = Vec::new();
    for &passage in seeds {
        if ring_of[passage.index()] == u8::MAX {
            ring_of[passage.index()] = 0;
            found.push(Candidate { passage, ring: 0, similarity: 1.0 });
        }
    }
    let mut last = 0;
    for ring in 1..=RINGS_MAX {
        let mut next: Vec<Candidate> = Vec::new();
        if ring == 1 {
            let on_way = way.iter().flat_map(|(from, to, _)| [*from, *to]);
            next.extend(on_way.map(|passage| Candidate { passage, ring, similarity: 1.0 }));
        }
        for near in &found[last..] {
            let sides = beside.of_passage(near.passage);
            next.extend(sides.iter().map(|&(passage, similarity)| Candidate { passage, ring, similarity }));
        }
        next.retain(|it| ring_of[it.passage.index()] == u8::MAX);
        next.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(a.passage.cmp(&b.passage)));
        last = found.len();
        for candidate in next {
            if ring_of[candidate.passage.index()] == u8::MAX {
                ring_of[candidate.passage.index()] = ring;
                found.push(candidate);
            }
        }
    }
    found
}

/// Question edges in both directions, as compressed rows.
struct Beside {
    rows: Vec<u32>,
    sides: Vec<(PassageOrdinal, f32)>,
}

impl Beside {
    fn of(snapshot: &Snapshot) -> Self {
        let graph = snapshot.graph();
        let mut pairs: Vec<(PassageOrdinal, PassageOrdinal, f32)> = Vec::with_capacity(2 * graph.edge_target.len());
        for passage in graph.passages() {
            for edge in graph.passage_edges.of(passage) {
                let (target, similarity) = (graph.edge_target[edge], graph.edge_similarity[edge]);
                pairs.extend([(passage, target, similarity), (target, passage, similarity)]);
            }
        }
        pairs.sort_by_key(|it| (it.0, it.1));
        let rows = rows(pairs.iter().map(|it| it.0), graph.passage_count());
        Self { rows, sides: pairs.into_iter().map(|(_, to, similarity)| (to, similarity)).collect() }
    }

    fn of_passage(&self, passage: PassageOrdinal) -> &[(PassageOrdinal, f32)] {
        &self.sides[row(&self.rows, passage)]
    }
}

/// Returns the lines between drawn passages: first the steps of paths along names, then the best question edges.
fn lines(
    snapshot: &Snapshot,
    kept: &[(PassageOrdinal, u8)],
    way: &[StepBetween<'_>],
    number: &dyn Fn(PassageOrdinal) -> Option<usize>,
) -> Listed<Line> {
    let graph = snapshot.graph();
    let mut lines: Vec<Line> = Vec::new();
    for (from, to, step) in way.iter().filter(|it| it.2.kind != StepKind::QuestionEdge) {
        if let (Some(from), Some(to)) = (number(*from), number(*to)) {
            let line = Line { from, to, along: Along::of(step), answered: None, rank: f32::INFINITY };
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    for (from, (passage, _)) in kept.iter().enumerate() {
        for edge in graph.passage_edges.of(*passage) {
            let Some(to) = number(graph.edge_target[edge]) else { continue };
            let question = clipped(snapshot.outgoing(graph.edge_outgoing[edge]), LINE_CHARS_MAX);
            let answered = clipped(snapshot.incoming(graph.edge_incoming[edge]), LINE_CHARS_MAX);
            let answered = Some(answered).filter(|it| *it != question);
            lines.push(Line {
                from,
                to,
                along: Along::Question(question),
                answered,
                rank: graph.edge_similarity[edge],
            });
        }
    }
    // Stable: among equals, those nearer the middle.
    lines.sort_by(|a, b| b.rank.total_cmp(&a.rank));
    let mut lines = Listed::first(lines, LINES_MAX);
    lines.items.sort_by_key(|it| (it.from, it.to));
    lines
}

/// Returns the beginning of a passage, without headings, which its name shows.
fn snippet(text: &str) -> String {
    let body: Vec<&str> = text.lines().skip_while(|line| line.trim().is_empty() || line.starts_with('#')).collect();
    let body = body.join(" ");
    clipped(if body.is_empty() { text } else { &body }, SNIPPET_CHARS)
}

impl Around {
    /// Returns the lines that leave a node, by target.
    pub(super) fn leaving(&self, node: usize) -> impl Iterator<Item = &Line> {
        self.lines.items.iter().filter(move |it| it.from == node)
    }

    /// Returns how many lines are at a node.
    pub(super) fn degree(&self, node: usize) -> usize {
        self.lines.items.iter().filter(|it| it.from == node || it.to == node).count()
    }
}
