//! The training data of the fit: for each question, the competing passages, each with the best edge that leads to it.

use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::boost;
use super::listwise::{FEATURES, Group, PASSAGE_FEATURES, Weights, dot};
use crate::error::{Error, Result};
use crate::eval::gold::{GoldPassage, flat as flat_text};
use crate::graph::ordinal::{Ordinal as _, Ordinals, PassageOrdinal};
use crate::graph::top;
use crate::graph::trail::{
    EdgeFeatures, Evidence, LENDING_RANK, PassageFeatures, TrailOptions, TrailWeights, edge_candidates, lent, walk,
};
use crate::query::{Query, QueryEngine, SearchOptions, trail_candidates, trail_ranking};

/// For each feature of a passage, this many of the best passages compete.
const POOL_BY_FEATURE: usize = 50;
/// Questions whose evidence is in memory at the same time if it is not kept.
const CHUNK: usize = 128;
/// Passages searched for documents when a list is scored.
const RANKED_PASSAGES: usize = 200;
/// Documents of a scored list.
const RANKED_DOCUMENTS: usize = 20;

/// A question with the passages that should be found.
pub(super) struct Example {
    /// The index of its collection.
    pub(super) collection: usize,
    /// The index of the question in its collection.
    pub(super) place: usize,
    question: String,
    /// The passages of each gold document that is in the index, or those that may be each gold passage.
    gold: Vec<Vec<PassageOrdinal>>,
    /// The label of each of these.
    labels: Vec<String>,
    /// Whether its list is scored by passages.
    pub(super) by_passages: bool,
    /// The weight of the question relative to the others of its collection.
    pub(super) weight: u32,
    engine: QueryEngine,
    /// The evidence about all passages, if there is memory for it.
    kept: Option<Arc<Query>>,
    /// Source ids of the collection's documents.
    source_ids: Arc<Vec<String>>,
}

impl Example {
    /// Gathers the evidence of a question; `keep` keeps it in memory.
    pub(super) async fn try_new(
        engine: &QueryEngine,
        question: &super::Question,
        (collection, place): (usize, usize),
        documents: &Documents,
        keep: bool,
    ) -> Result<Self> {
        let (labels, gold) = documents.gold(question).into_iter().unzip();
        let mut example = Self {
            collection,
            place,
            question: question.question.clone(),
            gold,
            labels,
            by_passages: !question.passages.is_empty(),
            weight: question.weight,
            engine: engine.clone(),
            kept: None,
            source_ids: Arc::clone(&documents.source_ids),
        };
        if keep {
            example.kept = Some(example.query().await?);
        }
        Ok(example)
    }

    /// Returns a list of passages as labels for scoring, as [`super::Question::labelled`] does.
    fn labelled(&self, ranked: &[(PassageOrdinal, f32)]) -> Vec<String> {
        let mut missing: Vec<usize> = (0..self.gold.len()).collect();
        let mut labels = Vec::new();
        for (passage, _) in ranked {
            let (found, rest) = missing.into_iter().partition(|number: &usize| self.gold[*number].contains(passage));
            missing = rest;
            let found: Vec<usize> = found;
            labels.extend(found.iter().map(|number| self.labels[*number].clone()));
            if found.is_empty() {
                labels.push(passage.index().to_string());
            }
        }
        labels
    }

    async fn query(&self) -> Result<Arc<Query>> {
        match &self.kept {
            Some(query) => Ok(Arc::clone(query)),
            None => self.engine.query(&self.question, &SearchOptions::default()).await,
        }
    }
}

/// The documents of one collection.
pub(super) struct Documents {
    source_ids: Arc<Vec<String>>,
    passages: FxHashMap<String, Ordinals<PassageOrdinal>>,
    /// The texts of all passages, their white space as single spaces; none unless a question asks for passages.
    texts: Vec<(PassageOrdinal, String)>,
}

impl Documents {
    /// Reads them from the index of `query`.
    pub(super) fn of(query: &Query, questions: &[super::Question]) -> Result<Self> {
        let graph = query.reader.graph();
        let mut source_ids = Vec::new();
        let mut passages = FxHashMap::default();
        for document in graph.documents() {
            let source_id = query.reader.document(document)?.source_id;
            passages.insert(source_id.clone(), graph.document_passages.of(document));
            source_ids.push(source_id);
        }
        let mut texts = Vec::new();
        if questions.iter().any(|question| !question.passages.is_empty()) {
            for passage in graph.passages() {
                texts.push((passage, flat_text(&query.reader.passage(passage)?.text)));
            }
        }
        Ok(Self { source_ids: Arc::new(source_ids), passages, texts })
    }

    /// Returns the gold of a question that is in the index: labels, and their passages.
    fn gold(&self, question: &super::Question) -> Vec<(String, Vec<PassageOrdinal>)> {
        let documents = |id: &String| Some((id.clone(), self.passages.get(id)?.clone().collect()));
        if question.passages.is_empty() {
            return question.supporting.iter().filter_map(documents).collect();
        }
        let labelled = question.supporting.iter().zip(&question.passages);
        let gold = labelled.map(|(label, gold)| (label.clone(), self.passages_of(gold)));
        gold.filter(|(_, passages)| !passages.is_empty()).collect()
    }

    fn passages_of(&self, gold: &GoldPassage) -> Vec<PassageOrdinal> {
        let own = gold.document.as_ref().map(|id| self.passages.get(id).cloned().into_iter().flatten());
        let source_id = gold.document.as_deref().unwrap_or_default();
        let is = |passage: &PassageOrdinal| gold.is(source_id, &self.texts[passage.index()].1);
        match own {
            Some(own) => own.filter(is).collect(),
            None => self.texts.iter().map(|it| it.0).filter(is).collect(),
        }
    }
}

/// Returns the result of `work` for each example, in order; it uses all cores.
pub(super) async fn each<T: Send + 'static>(
    examples: &[Arc<Example>],
    work: impl Fn(&Example, &Query) -> Result<T> + Send + Sync + 'static,
) -> Result<Vec<T>> {
    let work = Arc::new(work);
    let mut all = Vec::with_capacity(examples.len());
    for chunk in examples.chunks(CHUNK) {
        let mut asked = Vec::with_capacity(chunk.len());
        for example in chunk {
            asked.push((Arc::clone(example), example.query().await?));
        }
        let work = Arc::clone(&work);
        let done = tokio::task::spawn_blocking(move || {
            asked.par_iter().map(|(example, query)| work(example, query)).collect::<Result<Vec<T>>>()
        });
        all.extend(done.await.map_err(|error| Error::Internal(error.to_string()))??);
    }
    Ok(all)
}

/// As [`each`], for work that awaits an embedder.
pub(super) async fn each_waiting<T, F>(
    examples: &[Arc<Example>],
    work: impl Fn(Arc<Example>, Arc<Query>) -> F,
) -> Result<Vec<T>>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
{
    let mut all = Vec::with_capacity(examples.len());
    for chunk in examples.chunks(CHUNK) {
        let mut running = Vec::with_capacity(chunk.len());
        for example in chunk {
            running.push(tokio::spawn(work(Arc::clone(example), example.query().await?)));
        }
        for done in running {
            all.push(done.await.map_err(|error| Error::Internal(error.to_string()))??);
        }
    }
    Ok(all)
}

/// Returns the passages that compete by the question's evidence about them, without edges; none if no gold passage is
/// among them.
///
/// # Errors
///
/// If the store cannot be read.
pub(super) fn passages(example: &Example, query: &Query) -> Result<Option<Group>> {
    let evidence = query.evidence()?;
    let rows = pool(&evidence).into_iter().map(|passage| (passage, passage_row(&evidence, passage))).collect();
    Ok(group(example, rows, &[1.0; FEATURES]))
}

/// Returns the passages that compete in round `round` of a walk under `weights`: those of [`passages`] and those that
/// an edge leads to, each with its best edge, weighted by the score that its source passes on.
///
/// # Errors
///
/// If the store cannot be read.
pub(super) fn reached(example: &Example, query: &Query, weights: &TrailWeights, round: u32) -> Result<Option<Group>> {
    let (graph, evidence) = (query.reader.graph(), query.evidence()?);
    let options = TrailOptions { rounds: round.saturating_sub(1), ..TrailOptions::default() };
    let walked = walk(graph, &evidence, weights, &options);
    let leaders = top::best_of(&walked.scores, LENDING_RANK);
    let (Some(&(_, high)), Some(&(_, low))) = (leaders.first(), leaders.last()) else { return Ok(None) };
    let sources: Vec<PassageOrdinal> = leaders.iter().take(options.expanded).map(|leader| leader.0).collect();
    let flat = flat(weights);
    let mut best: FxHashMap<PassageOrdinal, (f64, [f32; FEATURES])> = FxHashMap::default();
    for (edges, leader) in edge_candidates(graph, &evidence, &sources, &options).iter().zip(&leaders) {
        let lent = lent(leader.1, low, high);
        for edge in edges {
            let mut row = [0.0; FEATURES];
            for (value, feature) in row[PASSAGE_FEATURES..].iter_mut().zip(edge.features) {
                *value = lent * feature;
            }
            let worth = dot(&row, &flat);
            let known = best.entry(edge.to).or_insert((worth, row));
            if worth > known.0 {
                *known = (worth, row);
            }
        }
    }
    let pool = pool(&evidence);
    let mut targets: Vec<PassageOrdinal> = pool.into_iter().chain(best.keys().copied()).collect();
    targets.sort_unstable();
    targets.dedup();
    let row = |passage: PassageOrdinal| {
        let mut row = passage_row(&evidence, passage);
        if let Some((_, edge)) = best.get(&passage) {
            row[PASSAGE_FEATURES..].copy_from_slice(&edge[PASSAGE_FEATURES..]);
        }
        (passage, row)
    };
    Ok(group(example, targets.into_iter().map(row).collect(), &flat))
}

/// Returns the weights of passages in the rounds and of edges as one list.
pub(super) fn flat(weights: &TrailWeights) -> Weights {
    let base = PassageFeatures::from(weights.base);
    let edge = EdgeFeatures::from(weights.edge);
    let mut flat = [0.0; FEATURES];
    for (weight, feature) in flat.iter_mut().zip(base.iter().chain(&edge)) {
        *weight = f64::from(*feature);
    }
    flat
}

/// Returns the best passages by each feature, and those that the question names, ascending.
fn pool(evidence: &Evidence<'_>) -> Vec<PassageOrdinal> {
    let lists = [evidence.bm25, evidence.best_sentence, evidence.cosine, evidence.best_sentence_cosine];
    let lists = lists.map(|list| list.items());
    let says = |list: &&[f32]| list.iter().any(|score| score.to_bits() != 0);
    let best = lists.into_iter().filter(says).flat_map(|list| top::best_of(list, POOL_BY_FEATURE));
    let named = evidence.named.keys().chain(evidence.named_lead.keys()).copied();
    let mut pool: Vec<PassageOrdinal> = best.map(|it| it.0).chain(named).collect();
    pool.sort_unstable();
    pool.dedup();
    pool
}

fn passage_row(evidence: &Evidence<'_>, passage: PassageOrdinal) -> [f32; FEATURES] {
    let mut row = [0.0; FEATURES];
    row[..PASSAGE_FEATURES].copy_from_slice(&evidence.passage_features(passage));
    row
}

/// Puts the gold passages first: of each gold document, the best passage under `weights`. The others of it do not
/// compete.
fn group(example: &Example, rows: Vec<(PassageOrdinal, [f32; FEATURES])>, weights: &Weights) -> Option<Group> {
    let of_gold: FxHashSet<PassageOrdinal> = example.gold.iter().flatten().copied().collect();
    let mut chosen = Vec::new();
    for document in &example.gold {
        let own = rows.iter().filter(|(passage, _)| document.contains(passage));
        let best = own.max_by(|a, b| dot(&a.1, weights).total_cmp(&dot(&b.1, weights)).then(b.0.cmp(&a.0)));
        chosen.extend(best.map(|(_, row)| *row));
    }
    if chosen.is_empty() {
        return None;
    }
    let gold = chosen.len();
    chosen.extend(rows.into_iter().filter(|(passage, _)| !of_gold.contains(passage)).map(|(_, row)| row));
    Some(Group { rows: chosen, gold, weight: 1.0 })
}

/// Returns the list that `trail` finds under `weights` and that is scored, best first: source ids of documents, or
/// labels of passages.
pub(super) async fn ranked(example: &Example, query: &Arc<Query>, weights: &Arc<TrailWeights>) -> Result<Vec<String>> {
    let graph = query.reader.graph();
    let mut seen = FxHashSet::default();
    let passages = trail_ranking(query, weights, RANKED_PASSAGES).await?;
    if example.by_passages {
        return Ok(example.labelled(&passages));
    }
    let passages = passages.into_iter();
    let documents = passages.map(|(passage, _)| graph.passage_document[passage]);
    let documents = documents.filter(|document| seen.insert(*document)).take(RANKED_DOCUMENTS);
    Ok(documents.filter_map(|document| example.source_ids.get(document.index()).cloned()).collect())
}

/// Returns the best passages of a walk under `weights` as trees see them. Of each gold document the best passage is
/// gold; its other passages do not compete.
pub(super) async fn candidates(
    example: &Example,
    query: &Arc<Query>,
    weights: &Arc<TrailWeights>,
) -> Result<boost::Group> {
    let mut group = boost::Group::default();
    let mut found = vec![false; example.gold.len()];
    for (passage, features) in trail_candidates(query, weights).await? {
        let of = example.gold.iter().position(|document| document.contains(&passage));
        if let Some(document) = of
            && std::mem::replace(&mut found[document], true)
        {
            continue;
        }
        group.rows.push(features.values());
        group.is_gold.push(of.is_some());
    }
    Ok(group)
}
