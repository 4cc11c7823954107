//! Builds a version from the records, and from the last version where that says the same: its stages, and what each
//! passes on to the next.

use std::sync::Arc;

use tokio::runtime::Handle;

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
use super::stages::terms::{FindTerms, FoundTerms, Lengths};
use super::stages::vectors::{Embedding, Field, FieldVectors, WhenSpent};
use super::stages::{Digest, StageKind, Stages};
use super::units::CorpusUnits;
use crate::domain::{Counts, IndexVersion, NamePair};
use crate::embed::Embedder;
use crate::error::Result;
use crate::graph::descriptions::PackedDescriptions;
use crate::graph::hierarchy::PackedHierarchy;
use crate::graph::matching::PackedMatches;
use crate::graph::ordinal::Column;
use crate::graph::packed::{PackedGraph, PassageGraph};
use crate::graph::vectors::Vectors;
use crate::llm::ChatModel;
use crate::workspace::{BegunVersion, LastVersion, TextParts, VersionParts, Writer};

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

/// Builds a version from the records and switches to it. Stages that do not depend on each other run at the same time,
/// since many of them keep only one processor busy.
pub(super) fn build(
    writer: &mut Writer,
    embedder: &dyn Embedder,
    (past, when_spent): (&Past, WhenSpent),
    (options, reporter): (&IndexOptions, Option<&Arc<dyn ChatModel>>),
    handle: &Handle,
) -> Result<Built> {
    let last = past.last.as_deref();
    let stages = &Stages::begin(last, options)?;
    let (units, asked) = (CorpusUnits::after(writer.records(), last)?, writer.records().name_pairs()?);
    let corpus = &Corpus::of(&units);
    let difference = last.and_then(|last| Difference::of(corpus, last));
    let difference = difference.as_ref();
    let (digest, extracted, texts) = (corpus.digest(), corpus.extracted(), corpus.texts());
    let making = Making { stages, corpus, difference, texts: digest, extracted, options, handle };
    let embed_and_write = || {
        let keeper = embedder.is_costly().then(|| Keeper { fresh: writer.fresh_vectors(), records: writer.records() });
        let mut embedding =
            Embedding::new(embedder, (&texts, digest), (&past.earlier, difference), keeper, when_spent, options);
        let fields = handle.block_on(fields(stages, &mut embedding))?;
        let report = embedding.finish();
        let begun = making.texts(writer, &fields, last)?;
        Ok((fields, report, begun))
    };
    let ((fields, vectors, (mut begun, lengths)), found) =
        stages.beside([StageKind::Names, StageKind::PassageVectors], embed_and_write, || making.names())?;
    let [passages, sentences, incoming, outgoing] = fields;
    drop(passages);
    release(last);
    let found_by = hierarchy::found_by(options, embedder, extracted.is_some());
    let (questions, (topics, resolved)) = stages.beside(
        [StageKind::Resolution, StageKind::Matching],
        || {
            let (matches, questions) = making.questions(&found, [incoming, outgoing], last)?;
            begun.write_graph(&questions.graph(&found, &lengths), Some(&matches))?;
            release(last);
            Ok(questions)
        },
        || making.topics(&found, &asked, sentences.view(), (past.found_by(&found_by), &found_by)),
    )?;
    let Questions { packed: questions, cut } = questions;
    let (hierarchy, descriptions) = topics;
    let Resolved { resolution: same, clues } = resolved;
    let Named { packed, statistics, .. } = found.with(clues);
    let mut packed = packed.or(questions);
    (packed.passage_length, packed.sentence_length) = (lengths.passages, lengths.sentences);
    let made = DraftVersion::of(&packed, &same, &hierarchy, descriptions.as_ref());
    let added = report::add(made, corpus, writer.records(), (options, reporter));
    let (descriptions, asked) = handle.block_on(added)?;
    stages.enter(StageKind::Writing)?;
    let finished = stages.finished();
    let parts = VersionParts {
        created_at: &clock::now(),
        graph: &packed,
        names: statistics.as_ref(),
        hierarchy: &hierarchy,
        descriptions: descriptions.as_ref(),
        resolution: &same,
        without_vectors: vectors.left,
        stages: &finished.marks,
    };
    let (version, counts) = writer.publish_version(begun, &parts)?;
    stages.finish();
    let (passages_cut, stages) = (finished.cut(StageKind::Names), finished.reports);
    Ok(Built { version, counts, edges_cut: cut as u64, vectors, passages_cut, stages, asked })
}

/// The questions of a version, matched.
struct Questions {
    /// Their part of the graph.
    packed: PackedGraph,
    /// How many edges were cut.
    cut: usize,
}

/// What the stages of a version are made from.
struct Making<'m> {
    stages: &'m Stages<'m>,
    corpus: &'m Corpus<'m>,
    difference: Option<&'m Difference<'m>>,
    /// Digests of its texts, and of what a model found in them.
    texts: Digest,
    extracted: Option<Digest>,
    options: &'m IndexOptions,
    handle: &'m Handle,
}

impl Questions {
    /// Returns the graph with these questions, the names, and lengths of passages and sentences.
    fn graph<'g>(&'g self, named: &'g Named, lengths: &'g Lengths) -> PassageGraph<'g> {
        let (passage_length, sentence_length) = (Column::new(&lengths.passages), Column::new(&lengths.sentences));
        PassageGraph { passage_length, sentence_length, ..named.packed.view().or(self.packed.view()) }
    }
}

impl Making<'_> {
    fn names(&self) -> Result<Named> {
        let Self { corpus, difference, texts, extracted, .. } = *self;
        let names = Names { corpus, difference, texts, extracted, cancellation: &self.options.cancellation };
        self.handle.block_on(self.stages.run(names))
    }

    /// Matches the questions, which have these vectors, in-coming ones first; returns what they are matched with, too.
    fn questions(
        &self,
        named: &Named,
        fields: [FieldVectors<'_>; 2],
        last: Option<&LastVersion>,
    ) -> Result<(PackedMatches, Questions)> {
        let vectors = fields.each_ref().map(FieldVectors::view);
        let sides = Sides::of(self.corpus, (self.difference, &named.packed), vectors);
        let matching = Matching::of(&sides, vectors, (&named.packed, last), self.options);
        let matches = self.handle.block_on(self.stages.run(matching))?;
        // They are written, and nothing else needs them: a large index has most of its vectors here.
        drop(fields);
        release(last);
        let (packed, cut) = pack_edges(&matches, sides, &named.packed.view());
        Ok((matches, Questions { packed, cut }))
    }

    /// Begins a version with its texts; returns how many terms they have, too.
    fn texts(
        &self,
        writer: &mut Writer,
        fields: &[FieldVectors<'_>; 4],
        last: Option<&LastVersion>,
    ) -> Result<(BegunVersion, Lengths)> {
        let Self { corpus, difference, texts, options, .. } = *self;
        let find = FindTerms { corpus, difference, texts, cancellation: &options.cancellation };
        let FoundTerms { lengths, fields: terms } = self.handle.block_on(self.stages.run(find))?;
        let (bands, originals) = corpus.originals(difference);
        let [passage_vectors, sentence_vectors, incoming_vectors, outgoing_vectors] =
            fields.each_ref().map(FieldVectors::view);
        let begun = writer.begin_version(&TextParts {
            documents: &corpus.documents,
            originals: &originals,
            bands: &bands,
            seals: &corpus.seals,
            passages: &corpus.passages,
            incoming: &corpus.incoming,
            outgoing: &corpus.outgoing,
            outgoing_passages: &corpus.outgoing_passage,
            passage_vectors,
            sentence_vectors,
            incoming_vectors,
            outgoing_vectors,
            terms: terms.view(),
            last,
        })?;
        Ok((begun, lengths))
    }

    /// Returns the hierarchy, with what a model says of it, and what the names stand for.
    fn topics(
        &self,
        named: &Named,
        asked: &[NamePair],
        sentences: Vectors<'_>,
        (last, found_by): (Option<&LastVersion>, &str),
    ) -> Result<(Topics, Resolved)> {
        let Self { corpus, difference, texts, extracted, options, .. } = *self;
        let resolutions = Resolutions::of(corpus, (named, difference), (texts, asked), &options.cancellation);
        let resolved = self.handle.block_on(self.stages.run(resolutions))?;
        let (merged, how) = ((&named.packed, &resolved.resolution), (options, difference, last));
        let hierarchy = Hierarchies::of(corpus, merged, (texts, extracted, &named.origins), sentences, how);
        Ok((self.handle.block_on(self.stages.run_found_by(hierarchy, found_by.to_owned()))?, resolved))
    }
}

/// Gives back the memory of what was read of a version.
fn release(last: Option<&LastVersion>) {
    if let Some(last) = last {
        last.release();
    }
}

/// A hierarchy, with what a model says of it.
type Topics = (PackedHierarchy, Option<PackedDescriptions>);

/// Returns the vectors of all texts.
async fn fields<'v>(stages: &Stages<'v>, embedding: &mut Embedding<'v, '_>) -> Result<[FieldVectors<'v>; 4]> {
    Ok([
        stages.run(embedding.field(Field::Passages)).await?,
        stages.run(embedding.field(Field::Sentences)).await?,
        stages.run(embedding.field(Field::Incoming)).await?,
        stages.run(embedding.field(Field::Outgoing)).await?,
    ])
}
