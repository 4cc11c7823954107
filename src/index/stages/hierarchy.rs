//! Relations, layers and communities of the entities of a corpus, and what a model says of them.

use super::difference::Difference;
use super::{Digest, Inputs, Made, Stage, StageKind};
use crate::embed::Embedder;
use crate::error::Result;
use crate::graph::descriptions::{PackedDescriptions, pack_descriptions};
use crate::graph::hierarchy::{Earlier, HierarchyAge, Moved, PackedHierarchy, pack_hierarchy_after};
use crate::graph::packed::PackedGraph;
use crate::graph::resolution::{EntityGraph, PackedResolution, resolved};
use crate::graph::vectors::Vectors;
use crate::index::corpus::Corpus;
use crate::index::options::{HierarchyRefresh, IndexOptions};
use crate::store::VectorField;
use crate::workspace::LastVersion;

/// Finds the hierarchy of a corpus whose texts have this digest.
pub(in crate::index) struct Hierarchies<'c> {
    corpus: &'c Corpus<'c>,
    /// What became of the texts of the last version.
    difference: Option<&'c Difference<'c>>,
    /// Its names and mentions.
    packed: &'c PackedGraph,
    /// What the names stand for.
    resolution: &'c PackedResolution,
    texts: Digest,
    /// What a model found in its passages, as a digest, and who found each mention.
    extracted: Option<Digest>,
    origins: &'c [u8],
    sentences: Vectors<'c>,
    options: &'c IndexOptions,
    /// The version whose communities and clusters may be kept.
    last: Option<&'c LastVersion>,
}

/// What says of a version how its communities and clusters were found, beside the marks of stages.
pub(in crate::index) const FOUND_BY: &str = "hierarchy found by";

/// Returns how communities and clusters are found: those that were found in another way are found anew.
pub(in crate::index) fn found_by(options: &IndexOptions, embedder: &dyn Embedder, is_by_model: bool) -> String {
    let version = StageKind::Hierarchy.info().version;
    let origin = if is_by_model { "a model" } else { "rules" };
    format!("{} {version}, {} of {}, {origin}", options.hierarchy.name(), embedder.name(), embedder.dimension())
}

impl<'c> Hierarchies<'c> {
    /// Returns the stage over names and what they stand for; `texts` are a digest of those, one of what a model found
    /// in them, and who found each mention. Communities and clusters of `last` are kept while little has changed.
    pub(in crate::index) fn of(
        corpus: &'c Corpus<'c>,
        (packed, resolution): (&'c PackedGraph, &'c PackedResolution),
        (texts, extracted, origins): (Digest, Option<Digest>, &'c [u8]),
        sentences: Vectors<'c>,
        (options, difference, last): (&'c IndexOptions, Option<&'c Difference<'c>>, Option<&'c LastVersion>),
    ) -> Self {
        let last = last.filter(|_| options.hierarchy_refresh == HierarchyRefresh::PastDrift);
        Self { corpus, difference, packed, resolution, texts, extracted, origins, sentences, options, last }
    }
}

impl<'v> Stage<'v> for Hierarchies<'_> {
    type Part = (PackedHierarchy, Option<PackedDescriptions>);

    fn kind(&self) -> StageKind {
        StageKind::Hierarchy
    }

    fn inputs(&self, inputs: &mut Inputs) {
        inputs.text(self.options.hierarchy.name()).bytes(self.texts.as_bytes()).vectors(&self.sentences);
        let PackedGraph { entity_names, mention_entity, mention_sentence, .. } = self.packed;
        inputs.bytes(entity_names).numbers(mention_entity).numbers(mention_sentence);
        inputs.numbers(&self.packed.bearer_document).numbers(&self.packed.bearer_kind);
        let PackedResolution { entity_canonical, entity_scoped, scoped_document, scoped_canonical, .. } =
            self.resolution;
        inputs.numbers(entity_canonical).numbers(entity_scoped).numbers(scoped_document).numbers(scoped_canonical);
        if let Some(extracted) = self.extracted {
            inputs.bytes(extracted.as_bytes()).bytes(self.origins);
        }
    }

    fn take_over(&self, last: &'v LastVersion) -> Option<Self::Part> {
        let hierarchy = last.hierarchy()?;
        let is_old = HierarchyAge::of(&hierarchy).is_some_and(|age| age.versions > 0);
        if is_old && self.options.hierarchy_refresh == HierarchyRefresh::Now {
            return None;
        }
        let counts = (self.packed.entity_documents.len(), self.packed.sentence_passage.len());
        hierarchy.check(counts.0, counts.1).ok()?;
        let descriptions = match self.extracted {
            Some(_) => Some(last.descriptions()?),
            None => None,
        };
        Some((hierarchy.to_packed(), descriptions))
    }

    async fn make(self) -> Result<Made<Self::Part>> {
        let (resolution, names) = (self.resolution.view(), self.packed.view());
        let entities = resolved(&names, &resolution);
        let graph = EntityGraph { names, entities: entities.view(), resolution: Some(resolution) };
        let (documents, options) = (&self.corpus.named, self.options.hierarchy.options());
        let cancellation = &self.options.cancellation;
        let before = self.last.and_then(|last| Some((last.graph()?, last.hierarchy()?, last.resolution())));
        let earlier = before.map(|(graph, hierarchy, resolution)| {
            // What the names stood for must be known.
            let moved = self.difference.filter(|_| resolution.is_some());
            let moved = moved.map(|it| Moved { passages: &it.passages, sentences: &it.sentences });
            let sentences = self.last.and_then(|last| last.vectors(VectorField::Sentence)).unwrap_or_default();
            Earlier { graph, hierarchy, resolution, sentences, is_by_rule: self.extracted.is_none(), moved }
        });
        let made = pack_hierarchy_after(&graph, documents, &self.sentences, (&options, earlier), cancellation)?;
        let described = match self.extracted {
            Some(_) => pack_descriptions(&graph, &made.view(), documents, self.origins, cancellation)?,
            None => None,
        };
        Ok(Made::whole((made, described)))
    }
}

#[cfg(test)]
mod tests;
