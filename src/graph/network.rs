//! The structure of an index as one undirected graph, for algorithms over the traits of petgraph: a view that copies
//! only the ends of question edges.
//!
//! Its nodes are passages and entities, and documents that are an end; its edges are question edges, mentions (one for
//! each entity and passage), relations, and the membership of passages in these documents. All are walked in either
//! direction.

use petgraph::Undirected;
use petgraph::visit::{
    Data, EdgeRef, GraphBase, GraphProp, IntoEdgeReferences, IntoEdges, IntoNeighbors, IntoNodeIdentifiers,
    NodeIndexable,
};

use super::hierarchy::Hierarchy;
use super::ordinal::{
    DocumentOrdinal, EdgeOrdinal, EntityOrdinal, Ordinal as _, Ordinals, PassageOrdinal, RelationOrdinal,
};
use super::packed::{PassageGraph, row};
use super::resolution::EntityGraph;
use crate::domain::PathsBy;

/// A node, in the order of their indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    /// A passage.
    Passage(PassageOrdinal),
    /// An entity.
    Entity(EntityOrdinal),
    /// A document.
    Document(DocumentOrdinal),
}

/// An edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Edge {
    /// A question edge.
    Question(EdgeOrdinal),
    /// The mention of an entity in a passage, however often it is mentioned there.
    Mention {
        /// The entity.
        entity: EntityOrdinal,
        /// The passage.
        passage: PassageOrdinal,
    },
    /// That a passage is part of its document.
    PartOf {
        /// The passage.
        passage: PassageOrdinal,
    },
    /// A relation between two entities.
    Relation(RelationOrdinal),
}

/// Which edges of an index are walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Walked {
    /// Which edges.
    pub by: PathsBy,
    /// Documents that an entity may be mentioned in, to be passed through; no matter how many an end is mentioned in.
    pub documents_max: u32,
    /// The two ends of the paths.
    pub ends: [Node; 2],
}

/// See the module.
#[derive(Debug)]
pub struct Network<'a> {
    graph: PassageGraph<'a>,
    /// The same passages, and their mentions.
    entities: PassageGraph<'a>,
    walked: Walked,
    /// The relations of each entity: rows of `related`.
    related_rows: Vec<u32>,
    /// A relation, and the other entity of it.
    related: Vec<(RelationOrdinal, EntityOrdinal)>,
    /// Where question edges arrive at each passage: rows of `arriving`.
    arriving_rows: Vec<u32>,
    /// A question edge and the passage that it leaves.
    arriving: Vec<(EdgeOrdinal, PassageOrdinal)>,
}

/// An edge as it is walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    source: Node,
    target: Node,
    edge: Edge,
}

impl<'a> Network<'a> {
    /// Returns the network of an index, without relations.
    ///
    /// # Complexity
    ///
    /// O(passages + question edges) time and memory.
    #[must_use]
    pub fn new(graph: impl Into<EntityGraph<'a>>, walked: Walked) -> Self {
        let EntityGraph { names: graph, entities, .. } = graph.into();
        let passages = PassageOrdinal::first(graph.passage_count());
        let mut arriving_rows = vec![0; graph.passage_count() + 1];
        graph.edge_target.iter().for_each(|to| arriving_rows[to.index() + 1] += 1);
        (1..arriving_rows.len()).for_each(|at| arriving_rows[at] += arriving_rows[at - 1]);
        let mut free = arriving_rows.clone();
        let mut arriving = vec![(EdgeOrdinal(0), PassageOrdinal(0)); graph.edge_target.len()];
        for from in passages {
            for edge in graph.passage_edges.of(from) {
                let place = &mut free[graph.edge_target[edge].index()];
                arriving[*place as usize] = (edge, from);
                *place += 1;
            }
        }
        let (related_rows, related) = (vec![0; entities.entity_documents.len() + 1], Vec::new());
        Self { graph, entities, walked, related_rows, related, arriving_rows, arriving }
    }

    /// Adds the relations of a hierarchy over its entities.
    ///
    /// # Complexity
    ///
    /// O(entities + relations) time and memory.
    #[must_use]
    pub fn with_relations(mut self, hierarchy: &Hierarchy<'_>) -> Self {
        let owners = EntityOrdinal::first(hierarchy.entity_relations.items().len().saturating_sub(1));
        let mut both: Vec<(EntityOrdinal, RelationOrdinal, EntityOrdinal)> = Vec::new();
        for owner in owners {
            for relation in hierarchy.entity_relations.of(owner) {
                let other = hierarchy.relation_entity[relation];
                both.extend([(owner, relation, other), (other, relation, owner)]);
            }
        }
        both.sort_unstable();
        for (owner, ..) in &both {
            self.related_rows[owner.index() + 1] += 1;
        }
        (1..self.related_rows.len()).for_each(|at| self.related_rows[at] += self.related_rows[at - 1]);
        self.related = both.into_iter().map(|(_, relation, other)| (relation, other)).collect();
        self
    }

    /// Returns whether paths may pass through an entity.
    fn admits(&self, entity: EntityOrdinal) -> bool {
        self.entities.entity_documents[entity] <= self.walked.documents_max
            || self.walked.ends.contains(&Node::Entity(entity))
    }
}

/// The edges of one node.
#[derive(Debug, Clone)]
pub struct Links<'n> {
    network: &'n Network<'n>,
    node: Node,
    leaving: Ordinals<EdgeOrdinal>,
    arriving: &'n [(EdgeOrdinal, PassageOrdinal)],
    /// The entity of each mention in a passage.
    entities: &'n [EntityOrdinal],
    /// The passage of each mention of an entity.
    passages: &'n [PassageOrdinal],
    /// The other entity of each relation.
    related: &'n [(RelationOrdinal, EntityOrdinal)],
    /// The passages that are part of a document.
    parts: Ordinals<PassageOrdinal>,
}

impl<'n> Links<'n> {
    fn new(network: &'n Network<'n>, node: Node) -> Self {
        let (graph, walked) = (&network.graph, &network.walked);
        let (leaving, parts) = (Ordinals::none(), Ordinals::none());
        let (entities, passages, related) = (&[][..], &[][..], &[][..]);
        let mut links = Self { network, node, leaving, arriving: &[], entities, passages, related, parts };
        match node {
            Node::Passage(passage) => {
                if walked.by.has_questions() {
                    links.leaving = graph.passage_edges.of(passage);
                    links.arriving = &network.arriving[row(&network.arriving_rows, passage)];
                }
                if walked.by.has_names() {
                    let graph = &network.entities;
                    links.entities = graph.mention_entity.of(graph.passage_mentions.of(passage));
                }
                if walked.ends.contains(&Node::Document(graph.passage_document[passage])) {
                    links.parts = Ordinals::between(passage.0, passage.0 + 1);
                }
            }
            Node::Entity(entity) if network.admits(entity) => {
                if walked.by.has_names() {
                    let graph = &network.entities;
                    links.passages = graph.posting_passage.of(graph.entity_mentions.of(entity));
                }
                if walked.by.has_relations() {
                    links.related = &network.related[row(&network.related_rows, entity)];
                }
            }
            Node::Document(document) if walked.ends.contains(&node) => {
                links.parts = graph.document_passages.of(document);
            }
            Node::Entity(_) | Node::Document(_) => {}
        }
        links
    }

    /// Returns the next relation.
    fn next_related(&mut self) -> Option<Link> {
        loop {
            let ((relation, other), rest) = self.related.split_first()?;
            self.related = rest;
            if self.network.admits(*other) {
                return Some(self.link(Node::Entity(*other), Edge::Relation(*relation)));
            }
        }
    }

    fn link(&self, target: Node, edge: Edge) -> Link {
        Link { source: self.node, target, edge }
    }

    /// Returns the next mention, one for each entity and passage.
    fn next_mention(&mut self) -> Option<Link> {
        match self.node {
            Node::Passage(passage) => loop {
                let entity = next_distinct(&mut self.entities)?;
                if self.network.admits(entity) {
                    return Some(self.link(Node::Entity(entity), Edge::Mention { entity, passage }));
                }
            },
            Node::Entity(entity) => {
                let passage = next_distinct(&mut self.passages)?;
                Some(self.link(Node::Passage(passage), Edge::Mention { entity, passage }))
            }
            Node::Document(_) => None,
        }
    }
}

/// Takes the first item and those behind it that equal it.
fn next_distinct<T: Copy + PartialEq>(items: &mut &[T]) -> Option<T> {
    let first = *items.first()?;
    *items = &items[items.iter().take_while(|it| **it == first).count()..];
    Some(first)
}

impl Iterator for Links<'_> {
    type Item = Link;

    fn next(&mut self) -> Option<Link> {
        let graph = &self.network.graph;
        if let Some(edge) = self.leaving.next() {
            return Some(self.link(Node::Passage(graph.edge_target[edge]), Edge::Question(edge)));
        }
        if let Some(((edge, from), rest)) = self.arriving.split_first() {
            self.arriving = rest;
            return Some(self.link(Node::Passage(*from), Edge::Question(*edge)));
        }
        if let Some(link) = self.next_mention().or_else(|| self.next_related()) {
            return Some(link);
        }
        let passage = self.parts.next()?;
        let target = match self.node {
            Node::Passage(_) => Node::Document(graph.passage_document[passage]),
            Node::Entity(_) | Node::Document(_) => Node::Passage(passage),
        };
        Some(self.link(target, Edge::PartOf { passage }))
    }
}

/// The nodes that edges of one node lead to.
#[derive(Debug, Clone)]
pub struct Neighbors<'n>(Links<'n>);

impl Iterator for Neighbors<'_> {
    type Item = Node;

    fn next(&mut self) -> Option<Node> {
        self.0.next().map(|link| link.target)
    }
}

impl EdgeRef for Link {
    type NodeId = Node;
    type EdgeId = Edge;
    type Weight = ();

    fn source(&self) -> Node {
        self.source
    }

    fn target(&self) -> Node {
        self.target
    }

    fn weight(&self) -> &() {
        &()
    }

    fn id(&self) -> Edge {
        self.edge
    }
}

impl GraphBase for Network<'_> {
    type NodeId = Node;
    type EdgeId = Edge;
}

impl Data for Network<'_> {
    type NodeWeight = ();
    type EdgeWeight = ();
}

impl GraphProp for Network<'_> {
    type EdgeType = Undirected;
}

impl NodeIndexable for Network<'_> {
    fn node_bound(&self) -> usize {
        self.graph.passage_count() + self.graph.entity_documents.len() + self.graph.document_count()
    }

    fn to_index(&self, node: Node) -> usize {
        let (passages, entities) = (self.graph.passage_count(), self.graph.entity_documents.len());
        match node {
            Node::Passage(passage) => passage.index(),
            Node::Entity(entity) => passages + entity.index(),
            Node::Document(document) => passages + entities + document.index(),
        }
    }

    fn from_index(&self, index: usize) -> Node {
        let (passages, entities) = (self.graph.passage_count(), self.graph.entity_documents.len());
        if index < passages {
            Node::Passage(PassageOrdinal::at(index))
        } else if index < passages + entities {
            Node::Entity(EntityOrdinal::at(index - passages))
        } else {
            Node::Document(DocumentOrdinal::at(index - passages - entities))
        }
    }
}

impl<'n> IntoNeighbors for &'n Network<'_> {
    type Neighbors = Neighbors<'n>;

    fn neighbors(self, node: Node) -> Neighbors<'n> {
        Neighbors(self.edges(node))
    }
}

impl<'n> IntoEdges for &'n Network<'_> {
    type Edges = Links<'n>;

    fn edges(self, node: Node) -> Links<'n> {
        Links::new(self, node)
    }
}

impl<'n> IntoNodeIdentifiers for &'n Network<'_> {
    type NodeIdentifiers = Box<dyn Iterator<Item = Node> + 'n>;

    fn node_identifiers(self) -> Self::NodeIdentifiers {
        Box::new((0..self.node_bound()).map(|index| self.from_index(index)))
    }
}

impl<'n> IntoEdgeReferences for &'n Network<'_> {
    type EdgeRef = Link;
    type EdgeReferences = Box<dyn Iterator<Item = Link> + 'n>;

    /// Each edge once, as it is walked from the node of the lower index.
    fn edge_references(self) -> Self::EdgeReferences {
        Box::new(self.node_identifiers().flat_map(|node| self.edges(node)).filter(|it| it.source < it.target))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::hierarchy::PackedHierarchy;
    use crate::graph::ordinal::listed;
    use crate::graph::packed::PackedGraph;

    /// Three passages of two documents; 0 leads to 2 and back, 1 leads to 2. Entity 0 is twice in passage 0 and once in
    /// 2, entity 1 in all of them.
    fn packed() -> PackedGraph {
        PackedGraph {
            document_passages: vec![0, 2, 3],
            passage_document: listed(&[0, 0, 1]),
            passage_edges: vec![0, 1, 2, 3],
            edge_target: listed(&[2, 2, 0]),
            passage_mentions: vec![0, 3, 4, 6],
            mention_entity: listed(&[0, 0, 1, 1, 0, 1]),
            entity_mentions: vec![0, 3, 6],
            posting_passage: listed(&[0, 0, 2, 0, 1, 2]),
            entity_documents: vec![2, 2],
            ..PackedGraph::default()
        }
    }

    #[test]
    fn relations_are_walked_from_either_end_where_both_entities_are_admitted() {
        let hierarchy = PackedHierarchy {
            entity_relations: vec![0, 1, 1],
            relation_entity: listed(&[1]),
            ..PackedHierarchy::default()
        };
        let packed = packed();
        let ends = [Node::Entity(EntityOrdinal(0)), Node::Entity(EntityOrdinal(1))];
        for (by, documents_max, ends, edges) in [
            (PathsBy::Relations, u32::MAX, ends, 1),
            (PathsBy::All, u32::MAX, ends, 3 + 5 + 1),
            (PathsBy::Both, u32::MAX, ends, 3 + 5),
            (PathsBy::Relations, 1, ends, 1),
            (PathsBy::Relations, 1, [ends[0], Node::Passage(PassageOrdinal(0))], 0),
        ] {
            let walked = walked(by, documents_max, ends);
            let network = &Network::new(packed.view(), walked).with_relations(&hierarchy.view());
            assert_eq!(network.edge_references().count(), edges, "{walked:?}");
            let back = network.edges(ends[1]).filter(|link| matches!(link.edge, Edge::Relation(_))).count();
            assert_eq!(back, usize::from(edges > 0 && by.has_relations()), "{walked:?}");
        }
    }

    fn walked(by: PathsBy, documents_max: u32, ends: [Node; 2]) -> Walked {
        Walked { by, documents_max, ends }
    }

    #[track_caller]
    fn check(walked: Walked, edges: usize) {
        let packed = packed();
        let network = &Network::new(packed.view(), walked);
        assert_eq!(network.edge_references().count(), edges, "{walked:?}");
        for (node, index) in network.node_identifiers().zip(0..) {
            assert_eq!((network.to_index(node), network.from_index(index)), (index, node));
            for link in network.edges(node) {
                let back = Link { source: link.target, target: link.source, edge: link.edge };
                assert_eq!(network.edges(link.target).filter(|it| *it == back).count(), 1, "{walked:?}: {link:?}");
            }
        }
    }

    #[test]
    fn every_edge_is_walked_once_from_either_end() {
        let passages = [Node::Passage(PassageOrdinal(0)), Node::Passage(PassageOrdinal(2))];
        check(walked(PathsBy::Both, u32::MAX, passages), 3 + 5);
        check(walked(PathsBy::Questions, u32::MAX, passages), 3);
        check(walked(PathsBy::Names, u32::MAX, passages), 5);
        // A hub document counts if it is an end, and so does an entity that is everywhere.
        check(
            walked(
                PathsBy::Questions,
                u32::MAX,
                [Node::Document(DocumentOrdinal(0)), Node::Passage(PassageOrdinal(2))],
            ),
            3 + 2,
        );
        check(walked(PathsBy::Names, 1, passages), 0);
        check(walked(PathsBy::Names, 1, [Node::Entity(EntityOrdinal(0)), Node::Document(DocumentOrdinal(1))]), 2 + 1);
    }
}
