//! The networks that strategies walk over a whole version, each built on first use and kept with the version.

use std::sync::OnceLock;

use super::GraphReader;
use crate::graph::bridges::RelationNetwork;
use crate::graph::hierarchy::{Hierarchy, Told};
use crate::graph::packed::PassageGraph;
use crate::graph::page_rank::NameGraph;

/// See the top of this file. Their memory is that of a part of the version and does not grow with questions.
#[derive(Debug, Default)]
pub struct Networks {
    told: OnceLock<Told>,
    relations: OnceLock<RelationNetwork>,
    names: OnceLock<NameGraph>,
}

impl Networks {
    /// Returns which sentences speak of each entity.
    pub(crate) fn told(&self, reader: &dyn GraphReader) -> &Told {
        self.told.get_or_init(|| Told::of(&reader.graph(), reader.resolution()))
    }

    /// Returns the relations between entities.
    pub(crate) fn relations(&self, hierarchy: &Hierarchy<'_>) -> &RelationNetwork {
        self.relations.get_or_init(|| RelationNetwork::of(hierarchy))
    }

    /// Returns passages and the names that join them.
    pub(crate) fn names(&self, graph: PassageGraph<'_>) -> &NameGraph {
        self.names.get_or_init(|| NameGraph::of(graph, |_| true))
    }
}
