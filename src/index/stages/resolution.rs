//! What the names of a corpus stand for.

use super::difference::Difference;
use super::names::Named;
use super::{Digest, Inputs, Made, Stage, StageKind};
use crate::domain::{Cancellation, NamePair};
use crate::error::Result;
use crate::graph::mentions::PackedNameStatistics;
use crate::graph::resolution::{EarlierClues, PackedResolution, pack_resolution};
use crate::index::corpus::Corpus;
use crate::workspace::LastVersion;

/// Finds out what the names of a corpus stand for whose texts have this digest.
pub(in crate::index) struct Resolutions<'c> {
    corpus: &'c Corpus<'c>,
    /// Its names and mentions.
    named: &'c Named,
    /// What the last version has of it.
    difference: Option<&'c Difference<'c>>,
    texts: Digest,
    /// What somebody said of names.
    asked: &'c [NamePair],
    cancellation: &'c Cancellation,
}

/// What names stand for.
pub(in crate::index) struct Resolved {
    pub(in crate::index) resolution: PackedResolution,
    /// What documents say of names, for the next version, and nothing else; empty where it keeps nothing of names.
    pub(in crate::index) clues: PackedNameStatistics,
}

impl<'c> Resolutions<'c> {
    /// Returns the stage; `texts` are a digest of those.
    pub(in crate::index) const fn of(
        corpus: &'c Corpus<'c>,
        (named, difference): (&'c Named, Option<&'c Difference<'c>>),
        (texts, asked): (Digest, &'c [NamePair]),
        cancellation: &'c Cancellation,
    ) -> Self {
        Self { corpus, named, difference, texts, asked, cancellation }
    }

    /// Returns what the last version has, where names were found in it by rules alone.
    fn earlier(&self) -> Option<EarlierClues<'c>> {
        let difference = self.difference.filter(|_| self.named.statistics.is_some())?;
        let statistics = difference.last.names()?;
        Some(EarlierClues { graph: difference.graph, statistics, passages: &difference.passages })
    }
}

impl<'v> Stage<'v> for Resolutions<'_> {
    type Part = Resolved;

    fn kind(&self) -> StageKind {
        StageKind::Resolution
    }

    fn inputs(&self, inputs: &mut Inputs) {
        let packed = &self.named.packed;
        inputs.bytes(self.texts.as_bytes()).bytes(&packed.entity_names);
        inputs.numbers(&packed.mention_entity).numbers(&packed.mention_sentence);
        for NamePair { one, other, verdict } in self.asked {
            inputs.text(one).text(other).number(*verdict as usize);
        }
    }

    fn take_over(&self, last: &'v LastVersion) -> Option<Resolved> {
        let resolution = last.resolution()?;
        let graph = self.named.packed.view();
        let counts = (graph.entity_name_ends.len(), graph.document_count(), graph.sentence_count());
        resolution.check(counts.0, counts.1, counts.2).ok()?;
        let clues = match self.named.statistics {
            Some(_) => last.names()?.to_packed(),
            None => PackedNameStatistics::default(),
        };
        Some(Resolved { resolution: resolution.to_packed(), clues })
    }

    async fn make(self) -> Result<Made<Resolved>> {
        let known = (self.asked, self.earlier());
        let (resolution, found) =
            pack_resolution(self.named.packed.view(), &self.corpus.named, known, self.cancellation)?;
        let mut clues = PackedNameStatistics::default();
        if self.named.statistics.is_some() {
            found.keep(&mut clues);
        }
        Ok(Made::whole(Resolved { resolution, clues }))
    }
}
