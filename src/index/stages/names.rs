//! Names, entities, mentions and cues, with the passages and sentences that they stand in.

use super::difference::Difference;
use super::{Digest, Inputs, Made, Stage, StageKind};
use crate::domain::Cancellation;
use crate::error::Result;
use crate::graph::mentions::{EarlierNames, Mentioned, PackedNameStatistics, pack_mentions, pack_structure};
use crate::graph::packed::{PackedGraph, PassageGraph};
use crate::index::corpus::Corpus;
use crate::workspace::LastVersion;

/// Finds the names of a corpus whose texts have this digest, and joins those that a model found, which have one too.
pub(in crate::index) struct Names<'c> {
    pub(in crate::index) corpus: &'c Corpus<'c>,
    /// What the last version has of it.
    pub(in crate::index) difference: Option<&'c Difference<'c>>,
    pub(in crate::index) texts: Digest,
    pub(in crate::index) extracted: Option<Digest>,
    pub(in crate::index) cancellation: &'c Cancellation,
}

/// Names and mentions, and who found each of these; empty where no model found any.
pub(in crate::index) struct Named {
    pub(in crate::index) packed: PackedGraph,
    pub(in crate::index) origins: Vec<u8>,
    /// What they were found by, for the next version; none where a model found names too.
    pub(in crate::index) statistics: Option<PackedNameStatistics>,
}

impl Named {
    /// Returns them with what documents say of names, where that is kept.
    pub(in crate::index) fn with(mut self, clues: PackedNameStatistics) -> Self {
        if let Some(statistics) = &mut self.statistics {
            statistics.take_clues(clues);
        }
        self
    }
}

impl<'c> Names<'c> {
    /// Returns what the last version has, where names were found in it by rules alone.
    fn earlier(&self) -> Option<EarlierNames<'c>> {
        let difference = self.difference.filter(|_| self.extracted.is_none())?;
        let statistics = difference.last.names()?;
        Some(EarlierNames {
            graph: difference.graph,
            statistics,
            passages: &difference.passages,
            gone: difference.gone(),
        })
    }
}

impl<'v> Stage<'v> for Names<'_> {
    type Part = Named;

    fn kind(&self) -> StageKind {
        StageKind::Names
    }

    fn inputs(&self, inputs: &mut Inputs) {
        inputs.bytes(self.texts.as_bytes());
        if let Some(extracted) = self.extracted {
            inputs.bytes(extracted.as_bytes());
        }
    }

    fn take_over(&self, last: &'v LastVersion) -> Option<Named> {
        let graph = last.graph()?;
        let counts = (self.corpus.documents.len(), self.corpus.passages.len(), self.corpus.sentence_count());
        let is_of_corpus = (graph.document_count(), graph.passage_count(), graph.sentence_count()) == counts;
        let (origins, statistics) = match self.extracted {
            Some(_) => (last.descriptions()?.mention_origin, None),
            None => (Vec::new(), Some(last.names()?.to_packed())),
        };
        is_of_corpus.then(|| {
            let mut packed = names_of(&graph);
            // It costs little, and what comes after relies on it.
            pack_structure(&self.corpus.named, &mut packed);
            Named { packed, origins, statistics }
        })
    }

    /// A warning says of how many passages mentions were cut.
    async fn make(self) -> Result<Made<Named>> {
        let mut packed = PackedGraph::default();
        let earlier = self.earlier();
        let found = pack_mentions(&self.corpus.named, &mut packed, earlier.as_ref(), self.cancellation)?;
        let Mentioned { statistics, origins } = found;
        let cut = statistics.passages_cut();
        let statistics = self.extracted.is_none().then_some(statistics);
        Ok(Made { part: Named { packed, origins, statistics }, cut, is_whole: true })
    }
}

/// Returns the arrays that [`pack_mentions`] fills, but for those of [`pack_structure`].
fn names_of(graph: &PassageGraph<'_>) -> PackedGraph {
    PackedGraph {
        entity_name_ends: graph.entity_name_ends.items().to_vec(),
        entity_names: graph.entity_names.items().to_vec(),
        entity_documents: graph.entity_documents.items().to_vec(),
        entity_flags: graph.entity_flags.items().to_vec(),
        entity_bearers: graph.entity_bearers.items().to_vec(),
        bearer_document: graph.bearer_document.items().to_vec(),
        bearer_passage: graph.bearer_passage.items().to_vec(),
        bearer_kind: graph.bearer_kind.items().to_vec(),
        document_own: graph.document_own.items().to_vec(),
        own_entity: graph.own_entity.items().to_vec(),
        passage_mentions: graph.passage_mentions.items().to_vec(),
        mention_entity: graph.mention_entity.items().to_vec(),
        mention_sentence: graph.mention_sentence.items().to_vec(),
        mention_cues: graph.mention_cues.items().to_vec(),
        entity_mentions: graph.entity_mentions.items().to_vec(),
        posting_mention: graph.posting_mention.items().to_vec(),
        posting_passage: graph.posting_passage.items().to_vec(),
        cue_ends: graph.cue_ends.items().to_vec(),
        cue_prefixes: graph.cue_prefixes.items().to_vec(),
        ..PackedGraph::default()
    }
}
