//! The weights of `trail`, fitted to questions with known supporting documents.
//!
//! It is not known which edge leads to a gold passage: the best one under the current weights is used, the weights are
//! fitted to it, and both steps are repeated. Every collection counts the same, however many questions it has. Labels
//! are used here and for scoring; the result is a file of weights.

mod boost;
mod groups;
mod listwise;
mod report;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use report::{FitReport, FittedCollection, Held, Measured};

use super::questions::Question;
use super::report::{Facts, Scored, score};
use crate::embed::StaticTable;
use crate::error::{Error, Result};
use crate::graph::trail::{EdgeFeatures, Forest, PassageFeatures, TrailWeights, is_titled};
use crate::query::{QueryEngine, SearchOptions, TrailRanker, shipped_weights};
use groups::{Documents, Example, each, each_waiting};
use listwise::{Bounds, FEATURES, Group, PASSAGE_FEATURES, Weights};

/// Bytes of evidence that are kept in memory during a fit; beyond that, evidence is gathered again for each pass.
const KEPT_BYTES_MAX: u64 = 1 << 30;

/// An index with questions about it.
pub struct Collection {
    /// What it is called in the report.
    pub name: String,
    /// The index.
    pub engine: QueryEngine,
    /// The questions.
    pub questions: Vec<Question>,
}

/// How to fit.
#[derive(Debug, Clone, PartialEq)]
pub struct FitOptions {
    /// Parts into which each collection's questions fall: the questions of each are scored with weights fitted on the
    /// others. Below 2 there is no such report.
    pub folds: usize,
    /// Whether each collection is also scored with weights fitted on the other collections.
    pub leave_one_out: bool,
    /// The rounds of a walk after which edges are learned from.
    pub rounds: Vec<u32>,
    /// How often the best edges are looked up again.
    pub alternations: u32,
    /// How much large weights cost.
    pub l2: f64,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self { folds: 2, leave_one_out: false, rounds: vec![1, 3], alternations: 3, l2: 3e-3 }
    }
}

/// Starting weights of edges alone: any that do not exclude an edge would do.
const EDGES_FIRST: [f64; FEATURES - PASSAGE_FEATURES] = [0.3, 1.2, 0.0, 0.0, -0.6, 0.9, 0.3, 0.9, 0.6, 1.2];
/// Starting weight of each feature of a passage.
const PASSAGE_FIRST: f64 = 2.0;
/// Features that may only lower a passage's score: the price of an edge, and an entity that the question itself names.
const NEGATIVE: [usize; 2] = [PASSAGE_FEATURES, PASSAGE_FEATURES + 4];
/// The weight of collections whose questions ask for documents, relative to those that ask for passages: ranking
/// several documents is harder to learn than ranking one passage.
const DOCUMENTS_SHARE: f64 = 2.0 / 3.0;
/// Weights are rounded to thousandths.
const THOUSANDTHS: f64 = 1_000.0;

/// Fits weights on `collections` and reports what they find: on the questions that they were fitted on, and held out
/// as `options` say. Collections with titles and without have their own weights; where there is none of a kind, its
/// weights are those that come with the program.
///
/// The same collections give the same weights, bit by bit, on any number of threads.
///
/// # Errors
///
/// [`Error::Question`] if there is no question or no supporting document is in its index, and whatever an index fails
/// with.
///
/// # Cancel safety
///
/// Dropping the future loses the fit and nothing else.
pub async fn fit(collections: &[Collection], options: &FitOptions) -> Result<FitReport> {
    // The weights for the vectors of the first collection; for several kinds of vectors, there is no better start.
    let embedder = collections.first().map_or(StaticTable::NAME, |collection| collection.engine.embedder());
    let built_in = shipped_weights(embedder)?;
    let bytes: u64 = collections.iter().map(evidence_bytes).sum();
    let mut examples = Vec::new();
    for (number, collection) in collections.iter().enumerate() {
        examples.push(read(collection, number, bytes <= KEPT_BYTES_MAX).await?);
    }
    let mut facts = Vec::new();
    for collection in collections {
        facts.push(Facts::of(&collection.engine, &SearchOptions::default()).await?);
    }
    let mut report = FitReport::of(collections, &facts, options, built_in.clone());
    for titled in [true, false] {
        let is_kind = |number: &usize| is_titled(collections[*number].engine.counts()) == titled;
        if !(0..collections.len()).any(|number| is_kind(&number)) {
            continue;
        }
        // Ranking passages hardly depends on titles, so such questions serve both kinds.
        let is_learned_from = |number: &usize| is_kind(number) || is_by_passages(&collections[*number]);
        let kind: Vec<usize> = (0..collections.len()).filter(is_learned_from).collect();
        let known = if titled { &built_in.titled } else { &built_in.untitled };
        let fitted = Fit { collections, facts: &facts, examples: &examples, kind, options };
        let weights = fitted.all(known, &mut report).await?;
        *(if titled { &mut report.weights.titled } else { &mut report.weights.untitled }) = weights;
    }
    Ok(report)
}

/// Returns whether the questions of a collection ask for passages.
fn is_by_passages(collection: &Collection) -> bool {
    collection.questions.iter().all(|question| !question.passages.is_empty())
}

/// Returns the bytes that the evidence of all questions takes: terms and scores of passages and sentences.
fn evidence_bytes(collection: &Collection) -> u64 {
    let counts = collection.engine.counts();
    collection.questions.len() as u64 * (32 * counts.passages + 20 * counts.sentences)
}

async fn read(collection: &Collection, number: usize, keep: bool) -> Result<Vec<Arc<Example>>> {
    let Some(first) = collection.questions.first() else {
        return Err(Error::Question { reason: format!("there is no question for `{}`", collection.name) });
    };
    let query = collection.engine.query(&first.question, &SearchOptions::default()).await?;
    let documents = Documents::of(&query, &collection.questions)?;
    let mut examples = Vec::with_capacity(collection.questions.len());
    for (place, question) in collection.questions.iter().enumerate() {
        let example = Example::try_new(&collection.engine, question, (number, place), &documents, keep);
        examples.push(Arc::new(example.await?));
    }
    Ok(examples)
}

/// The collections of one kind.
struct Fit<'a> {
    collections: &'a [Collection],
    /// What the reports say about each collection.
    facts: &'a [Facts],
    /// The examples of every collection.
    examples: &'a [Vec<Arc<Example>>],
    /// The indexes of the collections of this kind.
    kind: Vec<usize>,
    options: &'a FitOptions,
}

impl Fit<'_> {
    /// Fits on everything, reports everything that was requested, and returns the weights.
    async fn all(&self, known: &TrailWeights, report: &mut FitReport) -> Result<TrailWeights> {
        let all = self.chosen(|_| true);
        let weights = self.fit(&all).await?;
        self.measure(Held::BuiltIn, self.found(&all, known).await?, report);
        self.measure(Held::InSample, self.found(&all, &weights).await?, report);
        if self.options.folds > 1 {
            let folds = self.options.folds;
            let mut found = Vec::new();
            for fold in 0..folds {
                let weights = self.fit(&self.chosen(|example| example.place % folds != fold)).await?;
                found.extend(self.found(&self.chosen(|example| example.place % folds == fold), &weights).await?);
            }
            self.measure(Held::Folds, found, report);
        }
        if self.options.leave_one_out && self.kind.len() > 1 {
            let mut found = Vec::new();
            for &left in &self.kind {
                let weights = self.fit(&self.chosen(|example| example.collection != left)).await?;
                found.extend(self.found(&self.chosen(|example| example.collection == left), &weights).await?);
            }
            self.measure(Held::LeaveOneOut, found, report);
        }
        Ok(weights)
    }

    fn chosen(&self, is_chosen: impl Fn(&Example) -> bool) -> Vec<Arc<Example>> {
        let all = self.kind.iter().flat_map(|number| &self.examples[*number]);
        all.filter(|example| is_chosen(example)).map(Arc::clone).collect()
    }

    /// Returns the weights fitted on some examples, and the trees fitted on what these weights find.
    ///
    /// The weights of a walk are learned from questions that ask for documents, if there are any: only they need one.
    async fn fit(&self, examples: &[Arc<Example>]) -> Result<TrailWeights> {
        let of_documents: Vec<_> = examples.iter().filter(|example| !example.by_passages).cloned().collect();
        let walks = if of_documents.is_empty() { examples } else { &of_documents };
        let mut weights = self.linear(walks).await?;
        let walked = Arc::new(weights.clone());
        let candidates = each_waiting(examples, |example, query| {
            let walked = Arc::clone(&walked);
            async move { groups::candidates(&example, &query, &walked).await }
        });
        let candidates = candidates.await?;
        weights.trees = boost::fit(&boost_groups(examples, candidates))?;
        Ok(weights)
    }

    /// Returns the weights fitted on some examples, rounded to thousandths.
    async fn linear(&self, examples: &[Arc<Example>]) -> Result<TrailWeights> {
        let l2 = self.options.l2;
        let groups = weighted(examples, each(examples, groups::passages).await?, 1);
        if groups.is_empty() {
            let reason = "no question has a supporting document among the candidates of its index".to_owned();
            return Err(Error::Question { reason });
        }
        let mut start = [PASSAGE_FIRST; FEATURES];
        start[PASSAGE_FEATURES..].copy_from_slice(&EDGES_FIRST);
        let seed = listwise::fit(&groups, &bounds(&groups), &start, l2);
        let mut weights = start;
        weights[..PASSAGE_FEATURES].copy_from_slice(&seed[..PASSAGE_FEATURES]);
        for _ in 0..self.options.alternations {
            let current = trail_weights(&seed, &weights);
            let mut groups = Vec::new();
            for &round in &self.options.rounds {
                let current = current.clone();
                let reached = each(examples, move |example, query| groups::reached(example, query, &current, round));
                groups.extend(weighted(examples, reached.await?, self.options.rounds.len()));
            }
            weights = listwise::fit(&groups, &bounds(&groups), &weights, l2);
        }
        Ok(trail_weights(&seed.map(rounded), &weights.map(rounded)))
    }

    /// Returns what `trail` finds for some examples.
    async fn found(&self, examples: &[Arc<Example>], weights: &TrailWeights) -> Result<Vec<Listed>> {
        let mut found = Vec::new();
        let linear = TrailWeights { trees: Forest::default(), ..weights.clone() };
        for (ranker, weights) in [(TrailRanker::Linear, &linear), (TrailRanker::Boosted, weights)] {
            if ranker == TrailRanker::Boosted && weights.trees.is_empty() {
                continue;
            }
            let weights = Arc::new(weights.clone());
            let ranked = each_waiting(examples, |example, query| {
                let weights = Arc::clone(&weights);
                async move { groups::ranked(&example, &query, &weights).await }
            });
            for (example, ranked) in examples.iter().zip(ranked.await?) {
                found.push(Listed { ranker, collection: example.collection, place: example.place, ranked });
            }
        }
        Ok(found)
    }

    fn measure(&self, held: Held, mut found: Vec<Listed>, report: &mut FitReport) {
        found.sort_by_key(|listed| (listed.collection, listed.place));
        for ranker in [TrailRanker::Linear, TrailRanker::Boosted] {
            let of_ranker: Vec<&Listed> = found.iter().filter(|listed| listed.ranker == ranker).collect();
            if !of_ranker.is_empty() {
                self.measure_ranker(held, ranker, &of_ranker, report);
            }
        }
    }

    fn measure_ranker(&self, held: Held, ranker: TrailRanker, found: &[&Listed], report: &mut FitReport) {
        for &number in &self.kind {
            let collection = &self.collections[number];
            let own = found.iter().filter(|listed| listed.collection == number);
            let lines: Vec<Scored<'_>> = own
                .map(|listed| Scored {
                    question: &collection.questions[listed.place],
                    ranked: listed.ranked.clone(),
                    time_ms: 0.0,
                })
                .collect();
            let scored = score(&lines, self.facts[number].clone());
            let metrics = scored.metrics;
            report.measured.push(Measured {
                held,
                ranker,
                collection: collection.name.clone(),
                questions: scored.questions,
                metrics,
            });
        }
    }
}

/// The list that a ranker found for an example.
struct Listed {
    ranker: TrailRanker,
    collection: usize,
    place: usize,
    ranked: Vec<String>,
}

/// Gives all collections of a kind, by documents or by passages, the same weight. Together, those by documents weigh
/// [`DOCUMENTS_SHARE`].
fn boost_groups(examples: &[Arc<Example>], groups: Vec<boost::Group>) -> Vec<boost::Group> {
    let collections = |by_passages: bool| {
        let own = examples.iter().filter(|example| example.by_passages == by_passages);
        own.map(|example| example.collection).collect::<BTreeSet<usize>>().len()
    };
    let counts = [collections(false), collections(true)];
    let weigh = |((example, own), group): ((&Arc<Example>, f64), boost::Group)| {
        let (share, count) =
            if example.by_passages { (1.0 - DOCUMENTS_SHARE, counts[1]) } else { (DOCUMENTS_SHARE, counts[0]) };
        boost::Group { weight: share * own / count as f64, ..group }
    };
    examples.iter().zip(shares(&weights(examples))).zip(groups).map(weigh).collect()
}

/// Gives all collections the same weight, and drops groups without gold.
fn weighted(examples: &[Arc<Example>], groups: Vec<Option<Group>>, parts: usize) -> Vec<Group> {
    let weigh = |(own, group): (f64, Option<Group>)| group.map(|it| Group { weight: own / parts as f64, ..it });
    shares(&weights(examples)).into_iter().zip(groups).filter_map(weigh).collect()
}

fn weights(examples: &[Arc<Example>]) -> Vec<(usize, u32)> {
    examples.iter().map(|example| (example.collection, example.weight)).collect()
}

/// Returns the share of each question in the weight of its collection, of the collection and the weight of each.
fn shares(questions: &[(usize, u32)]) -> Vec<f64> {
    let mut totals = BTreeMap::<usize, f64>::new();
    for (collection, weight) in questions {
        *totals.entry(*collection).or_default() += f64::from(*weight);
    }
    questions.iter().map(|(collection, weight)| f64::from(*weight) / totals[collection]).collect()
}

/// A feature that no candidate has is not fitted: the penalty alone would not reduce it to 0.
fn bounds(groups: &[Group]) -> Bounds {
    let mut is_fitted = [false; FEATURES];
    for row in groups.iter().flat_map(|group| &group.rows) {
        for (is_fitted, value) in is_fitted.iter_mut().zip(row) {
            *is_fitted |= *value != 0.0;
        }
    }
    let mut is_negative = [false; FEATURES];
    for feature in NEGATIVE {
        is_negative[feature] = true;
    }
    Bounds { is_fitted, is_negative }
}

fn rounded(weight: f64) -> f64 {
    // Adding 0 turns −0 into 0.
    (weight * THOUSANDTHS).round() / THOUSANDTHS + 0.0
}

fn trail_weights(seed: &Weights, weights: &Weights) -> TrailWeights {
    let passage = |weights: &Weights| {
        let mut features = PassageFeatures::default();
        for (feature, weight) in features.iter_mut().zip(weights) {
            *feature = *weight as f32;
        }
        features
    };
    let mut edge = EdgeFeatures::default();
    for (feature, weight) in edge.iter_mut().zip(&weights[PASSAGE_FEATURES..]) {
        *feature = *weight as f32;
    }
    TrailWeights {
        seed: passage(seed).into(),
        base: passage(weights).into(),
        edge: edge.into(),
        trees: Forest::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_go_to_the_fit_and_back() {
        let shipped = shipped_weights(StaticTable::NAME).expect("weights").titled.clone();
        let titled = TrailWeights { trees: Forest::default(), ..shipped };
        let mut seed = [0.0; FEATURES];
        for (weight, known) in seed.iter_mut().zip(PassageFeatures::from(titled.seed)) {
            *weight = f64::from(known);
        }
        assert_eq!(trail_weights(&seed, &groups::flat(&titled)), titled);
    }

    #[test]
    fn collections_count_the_same_and_their_questions_by_weight() {
        assert_eq!(shares(&[(0, 1), (7, 2), (0, 3), (7, 2)]), [0.25, 0.5, 0.75, 0.5]);
    }

    #[test]
    fn weights_are_written_in_thousandths() {
        assert_eq!(rounded(1.234_56).to_bits(), 1.235_f64.to_bits());
        assert_eq!(rounded(-0.000_1).to_bits(), 0);
    }
}
