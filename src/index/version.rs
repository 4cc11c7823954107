//! A version from the records alone: names, mentions, vectors, edges, statistics, written beside the last one.

use super::clock;
use super::lexical::LexicalFields;
use super::options::IndexOptions;
use super::questions::{KeywordTable, Side, pack_edges};
use super::vectors;
use crate::domain::{Document, EdgeId, EntityId, IndexVersion, Passage, Progress, PseudoQuery, QuestionKind, Span};
use crate::embed::Embedder;
use crate::error::{Error, Result};
use crate::graph::matching::PassageEdge;
use crate::graph::mentions::{NamedDocument, NamedPassage, pack_mentions};
use crate::graph::packed::PackedGraph;
use crate::graph::vectors::QuantizedVectors;
use crate::workspace::{DocumentUnit, EdgeRow, EntityRow, MentionRow, VersionParts, Writer};

/// What making a version came to.
pub(super) struct Built {
    pub(super) version: IndexVersion,
    pub(super) edges_cut: usize,
}

/// Everything that the records hold, in the order of its ordinals.
struct Corpus<'a> {
    documents: Vec<&'a Document>,
    passages: Vec<&'a Passage>,
    incoming: Vec<&'a PseudoQuery>,
    outgoing: Vec<&'a PseudoQuery>,
    /// The passage of each question.
    incoming_passage: Vec<u32>,
    outgoing_passage: Vec<u32>,
}

/// Makes a version of what the records hold and switches to it. Vectors that are there already are taken over.
pub(super) async fn build(
    writer: &mut Writer,
    embedder: &dyn Embedder,
    earlier: vectors::Earlier,
    options: &IndexOptions,
) -> Result<Built> {
    let stages = Stages { options };
    stages.enter("collecting", 0)?;
    let mut units: Vec<DocumentUnit> = Vec::new();
    writer.records().for_each_document_unit(&mut |mut unit| {
        // Its passages have their parts of it, and a version needs no more.
        unit.document.text = String::new();
        units.push(unit);
        Ok(())
    })?;
    let corpus = Corpus::of(&units);
    let mut packed = PackedGraph::default();
    stages.enter("finding names", 1)?;
    let spans = pack_mentions(&corpus.named(), &mut packed);
    stages.enter("embedding", 2)?;
    let title = |i: usize| corpus.documents[packed.passage_document[i] as usize].title.as_deref();
    let texts = vectors::Texts::of(&corpus.passages, &title, [&corpus.incoming, &corpus.outgoing]);
    let fresh = embedder.is_costly().then(|| writer.fresh_vectors());
    let mut vectors = vectors::embed(embedder, &texts, &earlier, fresh, options).await?;
    drop((texts, earlier));
    stages.enter("matching questions", 3)?;
    let table = KeywordTable::of(&corpus.incoming, &corpus.outgoing, &mut packed);
    let incoming = Side::of(&corpus.incoming, corpus.incoming_passage.clone(), &table, &packed);
    let outgoing = Side::of(&corpus.outgoing, corpus.outgoing_passage.clone(), &table, &packed);
    let (edges, edges_cut) =
        pack_edges(incoming, &vectors.incoming, &outgoing, &vectors.outgoing, &options.matching, &mut packed);
    if !embedder.is_costly() {
        vectors.outgoing = QuantizedVectors::new(embedder.dimension());
    }
    stages.enter("writing", 4)?;
    let fields = LexicalFields::of(&corpus.documents, &corpus.passages, &mut packed);
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
        entities: &entity_rows(&packed),
        mentions: &mention_rows(&packed, &spans),
        edges: &edge_rows(&corpus, &edges),
        graph: &packed,
    })?;
    stages.enter("writing", 5)?;
    Ok(Built { version, edges_cut })
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

impl<'a> Corpus<'a> {
    fn of(units: &'a [DocumentUnit]) -> Self {
        let mut corpus = Self {
            documents: Vec::with_capacity(units.len()),
            passages: Vec::new(),
            incoming: Vec::new(),
            outgoing: Vec::new(),
            incoming_passage: Vec::new(),
            outgoing_passage: Vec::new(),
        };
        for unit in units.iter().filter(|unit| !unit.passages.is_empty()) {
            corpus.documents.push(&unit.document);
            for passage in &unit.passages {
                let number = corpus.passages.len() as u32;
                corpus.passages.push(&passage.passage);
                for question in &passage.questions {
                    let (questions, passages) = match question.kind {
                        QuestionKind::Incoming => (&mut corpus.incoming, &mut corpus.incoming_passage),
                        QuestionKind::Outgoing => (&mut corpus.outgoing, &mut corpus.outgoing_passage),
                    };
                    questions.push(question);
                    passages.push(number);
                }
            }
        }
        corpus
    }

    fn named(&self) -> Vec<NamedDocument<'a>> {
        let mut passages = self.passages.iter().peekable();
        let named = |document: &&'a Document| {
            let mut own = Vec::new();
            while let Some(passage) = passages.next_if(|passage| passage.document == document.id) {
                own.push(NamedPassage { text: &passage.text, sentences: &passage.sentences });
            }
            NamedDocument { title: document.title.as_deref(), passages: own }
        };
        self.documents.iter().map(named).collect()
    }
}

fn entity_rows(packed: &PackedGraph) -> Vec<EntityRow> {
    let graph = packed.view();
    let entities = graph.entity_documents.iter().zip(0..);
    let row = |(documents, entity): (&u32, u32)| {
        let name = graph.entity_name(entity).to_owned();
        EntityRow { id: EntityId::of(&[name.as_bytes()]), name, documents: *documents }
    };
    entities.map(row).collect()
}

fn mention_rows(packed: &PackedGraph, spans: &[Span]) -> Vec<MentionRow> {
    let row = |((entity, sentence), span): ((&u32, &u32), &Span)| {
        let passage = packed.sentence_passage[*sentence as usize];
        let first = packed.passage_sentences[passage as usize];
        MentionRow { passage, entity: *entity, sentence: sentence - first, start: span.start, end: span.end }
    };
    packed.mention_entity.iter().zip(&packed.mention_sentence).zip(spans).map(row).collect()
}

fn edge_rows(corpus: &Corpus<'_>, edges: &[PassageEdge]) -> Vec<EdgeRow> {
    let row = |edge: &PassageEdge| {
        let (from, to) = (corpus.passages[edge.from as usize].id, corpus.passages[edge.to as usize].id);
        EdgeRow {
            id: EdgeId::of(&[from.as_bytes(), to.as_bytes()]),
            from: edge.from,
            to: edge.to,
            outgoing: edge.matched.outgoing,
            incoming: edge.matched.incoming,
            similarity: edge.matched.similarity,
        }
    };
    edges.iter().map(row).collect()
}
