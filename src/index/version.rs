//! Builds a version from the records, and from the last version where that says the same: its stages, and what each
//! passes on to the next.

use std::sync::Arc;

use super::clock;
use super::corpus::Corpus;
use super::options::{IndexOptions, StageReport, VectorReport};
use super::report::{self, DraftVersion};
use super::stages::difference::Difference;
use super::stages::hierarchy::{self, Hierarchies};
use super::stages::keeping::Keeper;
use super::stages::known::Earlier;
use super::stages::matching::{Matching, Sides, pack_edges};
use super::stages::names::{Named, Names};
use super::stages::resolution::{Resolutions, Resolved};
use super::stages::terms::{Fields, FindTerms};
use super::stages::vectors::{Embedding, Field, WhenSpent};
use super::stages::{StageKind, Stages};
use super::units::CorpusUnits;
use crate::domain::{Counts, IndexVersion};
use crate::embed::Embedder;
use crate::error::Result;
use crate::llm::ChatModel;
use crate::workspace::{LastVersion, Terms, VersionParts, Writer};

/// The result of building a version.
pub(super) struct Built {
    pub(super) version: IndexVersion,
    pub(super) counts: Counts,
    pub(super) edges_cut: u64,
    pub(super) vectors: VectorReport,
    /// Passages of which some mentions were left out.
    pub(super) passages_cut: u64,
    pub(super) stages: Vec<StageReport>,
    /// The results of asking a model about the hierarchy.
    pub(super) asked: Option<report::Asked>,
}

/// Existing parts.
pub(super) struct Past {
    /// Vectors by text, if they are worth keeping.
    pub(super) earlier: Earlier,
    /// The version whose parts are reused if their inputs are unchanged.
    pub(super) last: Option<Arc<LastVersion>>,
}

impl Past {
    /// Returns the last version, if its communities and clusters were found with the same settings. Those of a
    /// checkpoint are not reused, so that a run with checkpoints gives the same result as one without.
    fn found_by(&self, found_by: &str) -> Option<&LastVersion> {
        let is_so = |last: &&LastVersion| {
            !last.is_partial() && last.mark(hierarchy::FOUND_BY).is_some_and(|mark| mark.inputs == found_by)
        };
        self.last.as_deref().filter(is_so)
    }
}

/// Builds a version from the records and switches to it.
pub(super) async fn build(
    writer: &mut Writer,
    embedder: &dyn Embedder,
    (past, when_spent): (&Past, WhenSpent),
    (options, reporter): (&IndexOptions, Option<&Arc<dyn ChatModel>>),
) -> Result<Built> {
    let (mut stages, cancellation) = (Stages::begin(past.last.as_deref(), options)?, &options.cancellation);
    let (units, asked) = (CorpusUnits::after(writer.records(), past.last.as_deref())?, writer.records().name_pairs()?);
    let corpus = &Corpus::after(&units);
    let difference = past.last.as_deref().and_then(|last| Difference::of(corpus, last));
    let difference = difference.as_ref();
    let (digest, extracted, texts) = (corpus.digest(), corpus.extracted(), corpus.texts());
    let found = stages.run(Names { corpus, difference, texts: digest, extracted, cancellation }).await?;
    let resolutions = Resolutions::of(corpus, (&found, difference), (digest, &asked), cancellation);
    let Resolved { resolution: same, clues } = stages.run(resolutions).await?;
    let Named { mut packed, origins, statistics } = found.with(clues);
    let keeper = embedder.is_costly().then(|| Keeper { fresh: writer.fresh_vectors(), records: writer.records() });
    let mut embedding =
        Embedding::new(embedder, (&texts, digest), (&past.earlier, difference), keeper, when_spent, options);
    let passages = stages.run(embedding.field(Field::Passages)).await?;
    let sentences = stages.run(embedding.field(Field::Sentences)).await?;
    let incoming = stages.run(embedding.field(Field::Incoming)).await?;
    let outgoing = stages.run(embedding.field(Field::Outgoing)).await?;
    let (vectors, sides) = (embedding.finish(), Sides::of(corpus, difference, &mut packed));
    let matching = Matching::of(&sides, (incoming.view(), outgoing.view()), (&packed, past.last.as_deref()), options);
    let matches = stages.run(matching).await?;
    let edges_cut = pack_edges(&matches, sides, &mut packed) as u64;
    let found_by = hierarchy::found_by(options, embedder, extracted.is_some());
    let how = (options, difference, past.found_by(&found_by));
    let hierarchy = Hierarchies::of(corpus, (&packed, &same), (digest, extracted, &origins), sentences.view(), how);
    let (hierarchy, descriptions) = stages.run_found_by(hierarchy, found_by).await?;
    let made = DraftVersion::of(&packed, &same, &hierarchy, descriptions.as_ref());
    let (descriptions, asked) = report::add(made, corpus, writer.records(), (options, reporter)).await?;
    let terms = stages.run(FindTerms { corpus, difference, texts: digest, cancellation }).await?;
    (packed.passage_length, packed.sentence_length) = (terms.lengths.passages, terms.lengths.sentences);
    let terms = match &terms.fields {
        Fields::Made(fields) => Terms::Made(fields),
        Fields::Changed { earlier, segments, added } => Terms::Changed { earlier, segments, added },
        Fields::TakenOver(held) => Terms::TakenOver(held),
    };
    stages.enter(StageKind::Writing)?;
    let (bands, originals) = corpus.originals(difference);
    let parts = VersionParts {
        created_at: &clock::now(),
        documents: &corpus.documents,
        originals: &originals,
        bands: &bands,
        seals: &corpus.seals,
        passages: &corpus.passages,
        incoming: &corpus.incoming,
        outgoing: &corpus.outgoing,
        outgoing_passages: &corpus.outgoing_passage,
        passage_vectors: passages.view(),
        sentence_vectors: sentences.view(),
        incoming_vectors: incoming.view(),
        outgoing_vectors: outgoing.view(),
        terms,
        graph: &packed,
        matches: Some(&matches),
        names: statistics.as_ref(),
        hierarchy: &hierarchy,
        descriptions: descriptions.as_ref(),
        resolution: &same,
        without_vectors: vectors.left,
        stages: &stages.marks,
    };
    let (counts, version) = (parts.counts(), writer.publish_version(&parts)?);
    let [passages_cut] = stages.finish([StageKind::Names]);
    Ok(Built { version, counts, edges_cut, vectors, passages_cut, stages: stages.reports, asked })
}
