//! The shortest paths between two nodes of the graph, over the structure in memory.

mod ends;

use std::collections::BTreeSet;
use std::sync::Arc;

use tracing::Instrument as _;

use crate::domain::{
    DatabaseError, Direction, DocumentId, EntityId, GraphPath, IndexVersion, PathEnd, PathNode, PathOptions,
    PathSentence, PathStep, PathsFound,
};
use crate::error::{Error, Result};
use crate::graph::hierarchy::NONE;
use crate::graph::network::{Edge, Network, Node, Walked};
use crate::graph::ordinal::{PassageOrdinal, SentenceOrdinal};
use crate::graph::packed::PackedGraph;
use crate::graph::paths::{PathLimits, Steps, shortest_paths};
use crate::graph::resolution::{EntityGraph, resolved};
use crate::query::engine::{QueryEngine, Source};
use crate::query::session::{ATTEMPTS_MAX, PAUSE};
use crate::query::topics::quoted;
use crate::store::{DocumentText, Follow, GraphReader, OfAll, Recognized, Wanted};
use crate::telemetry;
use ends::resolve;

impl QueryEngine {
    /// Returns the shortest paths between two passages, entities or documents: see [`paths`].
    ///
    /// # Errors
    ///
    /// As [`paths`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the paths and nothing else.
    pub async fn paths(&self, from: &PathEnd, to: &PathEnd, options: &PathOptions) -> Result<PathsFound> {
        paths(&self.source, from, to, options).await
    }
}

/// Returns the shortest paths between two passages, entities or documents: shorter ones first, those of one length by
/// the numbers of their nodes. Question edges, mentions and relations are walked in either direction; no path visits a
/// node twice. If relations are walked, an entity stands for all of its names; a name that stands for several means the
/// one that it stands for where no document says otherwise. No embedder is needed.
///
/// # Errors
///
/// [`Error::Unknown`] if an end names nothing, [`Error::Ambiguous`] if it names several documents, [`Error::Option`]
/// for an option out of bounds, equal ends, or [`PathsBy::All`](crate::domain::PathsBy) if a database walks its graph,
/// [`Error::NoTopics`] for relations in an index without any, and errors of the store.
///
/// # Cancel safety
///
/// Dropping the future loses the paths and nothing else.
///
/// # Complexity
///
/// O(paths · length · (passages + question edges + mentions + relations)) time at worst, plus a pass over all documents
/// if one is named, and one over all mentions if relations are walked.
pub async fn paths(source: &Source, from: &PathEnd, to: &PathEnd, options: &PathOptions) -> Result<PathsFound> {
    options.check([from, to])?;
    let span = tracing::info_span!(telemetry::PATHS);
    of_one_version(source, [from, to], *options).instrument(span).await
}

/// Looks for them, and again where another version was published meanwhile.
async fn of_one_version(source: &Source, ends: [&PathEnd; 2], options: PathOptions) -> Result<PathsFound> {
    if let Source::Asked(source) = source
        && let Some(found) = source.paths(ends, options)
    {
        return found.await;
    }
    let mut attempt = 0;
    loop {
        attempt += 1;
        let has_relations = options.by.has_relations();
        let structure = if has_relations { source.with_levels().await? } else { source.current().await? };
        let (reader, named) = (Arc::clone(&structure), ends.map(Clone::clone));
        let walk = tokio::task::spawn_blocking(move || Walk::new(reader.as_ref(), &named, options)).await;
        let walk = walk.map_err(|error| Error::Internal(error.to_string()))??;
        tracing::info!(paths = walk.paths.len(), "found");
        match with_texts(source, structure, &walk).await {
            Err(Error::Database { source: DatabaseError::Changing { .. }, .. }) if attempt < ATTEMPTS_MAX => {
                tokio::time::sleep(PAUSE * attempt).await;
            }
            reader => {
                let reader = reader?;
                let shown = tokio::task::spawn_blocking(move || walk.show(reader.as_ref(), options)).await;
                return shown.map_err(|error| Error::Internal(error.to_string()))?;
            }
        }
    }
}

/// Returns a store with the texts of the passages on the paths.
async fn with_texts(source: &Source, structure: Arc<dyn GraphReader>, walk: &Walk) -> Result<Arc<dyn GraphReader>> {
    let Source::Asked(source) = source else { return Ok(structure) };
    let graph = structure.graph();
    let on_the_way = walk.passages().into_iter().map(|passage| graph.passage_document[passage]);
    let documents: BTreeSet<DocumentId> =
        on_the_way.map(|it| Ok(structure.document(it)?.document)).collect::<Result<_>>()?;
    let admits = |document: &DocumentText| documents.contains(&document.document);
    let wanted = Wanted {
        words: &[],
        keywords: None,
        vector: &[],
        names: &[],
        recognize: &|_| Recognized::default(),
        filter: Some(&admits),
        by_edges: false,
        follow: Follow::Nothing,
        of_all: if structure.hierarchy().is_some() { OfAll::Levels } else { OfAll::Nothing },
        scan: None,
        top_k: 0,
    };
    source.excerpt(structure.version(), wanted).await
}

/// Paths by number.
struct Walk {
    version: IndexVersion,
    ends: [Node; 2],
    paths: Vec<Steps<Node, Edge>>,
    /// The passages that state the relations on the paths.
    saying: BTreeSet<PassageOrdinal>,
}

impl Walk {
    fn new(reader: &dyn GraphReader, named: &[PathEnd; 2], options: PathOptions) -> Result<Self> {
        let [from, to] = named;
        let ends = [resolve(reader, from, options.by)?, resolve(reader, to, options.by)?];
        if ends[0] == ends[1] {
            return Err(to.same());
        }
        let walked = Walked { by: options.by, documents_max: options.documents_max.unwrap_or(u32::MAX), ends };
        let limits = PathLimits { paths: options.paths, length_max: options.length_max };
        let search = |network: &Network<'_>| shortest_paths(network, ends[0], ends[1], limits);
        let graph = reader.graph();
        let paths = if options.by.has_relations() {
            let hierarchy = reader.hierarchy().ok_or(Error::NoTopics)?;
            let resolution = reader.resolution();
            let by_entity = resolution.map(|it| resolved(&graph, &it));
            let entities = by_entity.as_ref().map_or(graph, PackedGraph::view);
            let graph = EntityGraph { names: graph, entities, resolution };
            search(&Network::new(graph, walked).with_relations(&hierarchy))
        } else {
            search(&Network::new(graph, walked))
        };
        let saying = paths.iter().flatten().filter_map(|step| sentence_of(reader, step.1)).collect::<Vec<_>>();
        let saying = saying.into_iter().map(|it| graph.sentence_passage[it]).collect();
        Ok(Self { version: reader.version(), ends, paths, saying })
    }

    fn nodes(&self) -> impl Iterator<Item = Node> {
        self.ends.into_iter().chain(self.paths.iter().flatten().map(|step| step.0))
    }

    /// Returns the passages whose texts are shown.
    fn passages(&self) -> BTreeSet<PassageOrdinal> {
        let passage = |node| if let Node::Passage(passage) = node { Some(passage) } else { None };
        self.nodes().filter_map(passage).chain(self.saying.iter().copied()).collect()
    }

    fn show(&self, reader: &dyn GraphReader, options: PathOptions) -> Result<PathsFound> {
        reader.prepare(&self.passages().into_iter().collect::<Vec<_>>())?;
        let [from, to] = self.ends;
        let path = |steps: &Steps<Node, Edge>| {
            let nodes = [from].into_iter().chain(steps.iter().map(|step| step.0)).map(|it| node(reader, it));
            let edges = steps.iter().map(|(target, edge)| step(reader, *edge, *target));
            Ok(GraphPath { nodes: nodes.collect::<Result<_>>()?, steps: edges.collect::<Result<_>>()? })
        };
        Ok(PathsFound {
            from: node(reader, from)?,
            to: node(reader, to)?,
            version: self.version,
            by: options.by,
            length_max: options.length_max,
            paths: self.paths.iter().map(path).collect::<Result<_>>()?,
        })
    }
}

fn node(reader: &dyn GraphReader, node: Node) -> Result<PathNode> {
    let graph = reader.graph();
    Ok(match node {
        Node::Passage(passage) => PathNode::Passage {
            id: reader.passage_id(passage),
            name: reader.document(graph.passage_document[passage])?.caption().to_owned(),
            section: reader.passage(passage)?.section,
        },
        Node::Entity(entity) => {
            let name = graph.entity_name(entity);
            PathNode::Entity { id: EntityId::of(&[name.as_bytes()]), name: name.to_owned() }
        }
        Node::Document(document) => {
            let document = reader.document(document)?;
            PathNode::Document { id: document.document, name: document.caption().to_owned() }
        }
    })
}

/// Returns the sentence that states the relation of two entities, if they have one.
fn sentence_of(reader: &dyn GraphReader, edge: Edge) -> Option<SentenceOrdinal> {
    let Edge::Relation(relation) = edge else { return None };
    reader.hierarchy().map(|it| it.relation_sentence[relation]).filter(|it| it.0 != NONE)
}

/// Returns an edge that is walked to `target`.
fn step(reader: &dyn GraphReader, edge: Edge, target: Node) -> Result<PathStep> {
    let graph = reader.graph();
    let to = |end: Node| if end == target { Direction::Forward } else { Direction::Backward };
    Ok(match edge {
        Edge::Question(edge) => PathStep::QuestionEdge {
            direction: to(Node::Passage(graph.edge_target[edge])),
            question: reader.incoming(graph.edge_incoming[edge]).to_owned(),
        },
        Edge::Mention { entity, passage } => {
            PathStep::Mention { direction: to(Node::Passage(passage)), entity: graph.entity_name(entity).to_owned() }
        }
        Edge::PartOf { passage } => PathStep::PartOf { direction: to(Node::Document(graph.passage_document[passage])) },
        Edge::Relation(_) => {
            let said = sentence_of(reader, edge).map(|it| quoted(reader, it)).transpose()?.flatten();
            PathStep::RelatesTo {
                sentence: said.map(|it| PathSentence { location: it.location(), passage: it.passage, quote: it.quote }),
            }
        }
    })
}
