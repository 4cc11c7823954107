//! What the names of a corpus stand for.

use super::{Digest, Inputs, Made, Stage, StageKind};
use crate::domain::{Cancellation, NamePair};
use crate::error::Result;
use crate::graph::packed::PackedGraph;
use crate::graph::resolution::{PackedResolution, pack_resolution};
use crate::index::corpus::Corpus;
use crate::workspace::LastVersion;

/// Finds out what the names of a corpus stand for whose texts have this digest.
pub(in crate::index) struct Resolutions<'c> {
    corpus: &'c Corpus<'c>,
    /// Its names and mentions.
    packed: &'c PackedGraph,
    texts: Digest,
    /// What somebody said of names.
    asked: &'c [NamePair],
    cancellation: &'c Cancellation,
}

impl<'c> Resolutions<'c> {
    /// Returns the stage; `texts` are a digest of those.
    pub(in crate::index) const fn of(
        corpus: &'c Corpus<'c>,
        packed: &'c PackedGraph,
        (texts, asked): (Digest, &'c [NamePair]),
        cancellation: &'c Cancellation,
    ) -> Self {
        Self { corpus, packed, texts, asked, cancellation }
    }
}

impl<'v> Stage<'v> for Resolutions<'_> {
    type Part = PackedResolution;

    fn kind(&self) -> StageKind {
        StageKind::Resolution
    }

    fn inputs(&self, inputs: &mut Inputs) {
        inputs.bytes(self.texts.as_bytes()).bytes(&self.packed.entity_names);
        inputs.numbers(&self.packed.mention_entity).numbers(&self.packed.mention_sentence);
        for NamePair { one, other, verdict } in self.asked {
            inputs.text(one).text(other).number(*verdict as usize);
        }
    }

    fn take_over(&self, last: &'v LastVersion) -> Option<PackedResolution> {
        let resolution = last.resolution()?;
        let graph = self.packed.view();
        let counts = (graph.entity_name_ends.len(), graph.document_count(), graph.sentence_count());
        resolution.view().check(counts.0, counts.1, counts.2).is_ok().then_some(resolution)
    }

    async fn make(self) -> Result<Made<PackedResolution>> {
        let named = self.corpus.named();
        let made = pack_resolution(self.packed.view(), &named, self.asked, self.cancellation)?;
        Ok(Made::whole(made))
    }
}
