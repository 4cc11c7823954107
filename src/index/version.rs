//! A version from the records alone: names, mentions, vectors, edges, statistics, written beside the last one.

use super::clock;
use super::corpus::Corpus;
use super::options::{IndexOptions, VectorReport};
use super::stages::matching::{KeywordTable, Side, pack_edges};
use super::stages::terms::LexicalFields;
use super::stages::vectors::{self, CorpusVectors, Earlier, Keeper, WhenSpent};
use crate::domain::{IndexVersion, Progress};
use crate::embed::Embedder;
use crate::error::{Error, Result};
use crate::graph::mentions::{Mentioned, pack_mentions};
use crate::graph::packed::PackedGraph;
use crate::graph::vectors::QuantizedVectors;
use crate::workspace::{DocumentUnit, Records, VersionParts, Writer};

/// What making a version came to.
pub(super) struct Built {
    pub(super) version: IndexVersion,
    pub(super) edges_cut: usize,
    pub(super) vectors: VectorReport,
    /// Passages of which some mentions were left out.
    pub(super) passages_cut: u64,
}

/// Makes a version of what the records hold and switches to it. Vectors that are there already are taken over.
pub(super) async fn build(
    writer: &mut Writer,
    embedder: &dyn Embedder,
    earlier: Earlier,
    when_spent: WhenSpent,
    options: &IndexOptions,
) -> Result<Built> {
    let stages = Stages { options };
    stages.enter("collecting", 0)?;
    let units = units(writer.records())?;
    let cancellation = &options.cancellation;
    let corpus = Corpus::of(&units);
    let mut packed = PackedGraph::default();
    stages.enter("finding names", 1)?;
    let Mentioned { passages_cut, .. } = pack_mentions(&corpus.named(), &mut packed, cancellation)?;
    stages.enter("embedding", 2)?;
    let fresh = embedder.is_costly().then(|| writer.fresh_vectors());
    let keeper = fresh.map(|fresh| Keeper { fresh, records: writer.records() });
    let (mut vectors, report) =
        vectors::embed(embedder, &corpus.texts(), &earlier, keeper, when_spent, options).await?;
    drop(earlier);
    stages.enter("matching questions", 3)?;
    let edges_cut = match_all(&corpus, &vectors, &mut packed, options)?;
    if !embedder.is_costly() {
        vectors.outgoing = QuantizedVectors::new(embedder.dimension());
    }
    stages.enter("writing", 4)?;
    let fields = LexicalFields::of(&corpus.documents, &corpus.passages, &mut packed, cancellation)?;
    let version = writer.publish_version(&VersionParts {
        created_at: &clock::now(),
        documents: &corpus.documents,
        passages: &corpus.passages,
        incoming: &corpus.incoming,
        outgoing: &corpus.outgoing,
        passage_vectors: &vectors.passages,
        sentence_vectors: &vectors.sentences,
        incoming_vectors: &vectors.incoming,
        outgoing_vectors: embedder.is_costly().then_some(&vectors.outgoing),
        passage_terms: &|i, terms| fields.passage(i, &packed, terms),
        sentence_terms: &|i, terms| fields.sentence(i, &packed, terms),
        graph: &packed,
        without_vectors: report.left,
    })?;
    stages.enter("writing", 5)?;
    Ok(Built { version, edges_cut, vectors: report, passages_cut })
}

/// Lays keywords, questions and edges out in `packed`; returns how many edges were cut.
fn match_all(
    corpus: &Corpus<'_>,
    vectors: &CorpusVectors,
    packed: &mut PackedGraph,
    options: &IndexOptions,
) -> Result<usize> {
    let table = KeywordTable::of(&corpus.incoming, &corpus.outgoing, packed);
    let incoming = Side::of(&corpus.incoming, corpus.incoming_passage.clone(), &table, packed);
    let outgoing = Side::of(&corpus.outgoing, corpus.outgoing_passage.clone(), &table, packed);
    let sides = [(incoming, &vectors.incoming), (outgoing, &vectors.outgoing)];
    pack_edges(sides, &options.matching, packed, &options.cancellation)
}

/// Returns all that the records hold of documents, but for their texts: passages have their parts of them, and a
/// version needs no more.
pub(super) fn units(records: &Records) -> Result<Vec<DocumentUnit>> {
    let mut units: Vec<DocumentUnit> = Vec::new();
    records.for_each_document_unit(&mut |mut unit| {
        unit.document.text = String::new();
        units.push(unit);
        Ok(())
    })?;
    Ok(units)
}

/// Stages of a version.
const STAGES: u64 = 5;

struct Stages<'a> {
    options: &'a IndexOptions,
}

impl Stages<'_> {
    /// Tells of a stage, unless a stop was asked for.
    fn enter(&self, stage: &'static str, done: u64) -> Result<()> {
        if self.options.cancellation.is_cancelled() && done < STAGES {
            return Err(Error::Cancelled);
        }
        tracing::info!(stage, "entered");
        if let Some(progress) = &self.options.progress {
            progress(Progress { stage, done, total: STAGES });
        }
        Ok(())
    }
}
