//! Relations, layers and communities of the entities of a corpus, and what a model says of them.

use super::{Digest, Inputs, Made, Stage, StageKind};
use crate::domain::Cancellation;
use crate::error::Result;
use crate::graph::descriptions::{PackedDescriptions, pack_descriptions};
use crate::graph::hierarchy::{HierarchyPreset, PackedHierarchy, pack_hierarchy};
use crate::graph::packed::PackedGraph;
use crate::graph::resolution::{EntityGraph, PackedResolution, resolved};
use crate::graph::vectors::Vectors;
use crate::index::corpus::Corpus;
use crate::index::options::IndexOptions;
use crate::workspace::LastVersion;

/// Finds the hierarchy of a corpus whose texts have this digest.
pub(in crate::index) struct Hierarchies<'c> {
    corpus: &'c Corpus<'c>,
    /// Its names and mentions.
    packed: &'c PackedGraph,
    /// What the names stand for.
    resolution: &'c PackedResolution,
    texts: Digest,
    /// What a model found in its passages, as a digest, and who found each mention.
    extracted: Option<Digest>,
    origins: &'c [u8],
    sentences: Vectors<'c>,
    preset: HierarchyPreset,
    cancellation: &'c Cancellation,
}

impl<'c> Hierarchies<'c> {
    /// Returns the stage over names and what they stand for; `texts` are a digest of those, one of what a model found
    /// in them, and who found each mention.
    pub(in crate::index) fn of(
        corpus: &'c Corpus<'c>,
        (packed, resolution): (&'c PackedGraph, &'c PackedResolution),
        (texts, extracted, origins): (Digest, Option<Digest>, &'c [u8]),
        sentences: Vectors<'c>,
        options: &'c IndexOptions,
    ) -> Self {
        let (preset, cancellation) = (options.hierarchy, &options.cancellation);
        Self { corpus, packed, resolution, texts, extracted, origins, sentences, preset, cancellation }
    }
}

impl<'v> Stage<'v> for Hierarchies<'_> {
    type Part = (PackedHierarchy, Option<PackedDescriptions>);

    fn kind(&self) -> StageKind {
        StageKind::Hierarchy
    }

    fn inputs(&self, inputs: &mut Inputs) {
        inputs.text(self.preset.name()).bytes(self.texts.as_bytes()).vectors(&self.sentences);
        let PackedGraph { entity_names, mention_entity, mention_sentence, .. } = self.packed;
        inputs.bytes(entity_names).numbers(mention_entity).numbers(mention_sentence);
        let PackedResolution { entity_thing, entity_scoped, scoped_document, scoped_thing, .. } = self.resolution;
        inputs.numbers(entity_thing).numbers(entity_scoped).numbers(scoped_document).numbers(scoped_thing);
        if let Some(extracted) = self.extracted {
            inputs.bytes(extracted.as_bytes()).bytes(self.origins);
        }
    }

    fn take_over(&self, last: &'v LastVersion) -> Option<Self::Part> {
        let hierarchy = last.hierarchy()?;
        let counts = (self.packed.entity_documents.len(), self.packed.sentence_passage.len());
        hierarchy.view().check(counts.0, counts.1).ok()?;
        let descriptions = match self.extracted {
            Some(_) => Some(last.descriptions()?),
            None => None,
        };
        Some((hierarchy, descriptions))
    }

    async fn make(self) -> Result<Made<Self::Part>> {
        let (resolution, names) = (self.resolution.view(), self.packed.view());
        let entities = resolved(&names, &resolution);
        let graph = EntityGraph { names, entities: entities.view(), resolution: Some(resolution) };
        let (documents, options) = (self.corpus.named(), self.preset.options());
        let made = pack_hierarchy(graph, &documents, &self.sentences, &options, self.cancellation)?;
        let described = match self.extracted {
            Some(_) => pack_descriptions(&graph, &made.view(), &documents, self.origins, self.cancellation)?,
            None => None,
        };
        Ok(Made::whole((made, described)))
    }
}
