//! `trail`: question-guided propagation over names and shared entities, without any model call unless a language model
//! judges its steps, see [`judged`].

mod contents;
mod judged;
mod substitute;
mod text_fit;
mod text_form;
pub(in crate::query) mod weights;

use std::collections::hash_map::Entry;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::domain::{HopRound, Ledger, Step, StepKind};
use crate::error::{Error, Result};
use crate::graph::ordinal::{EntityOrdinal, Ordinal as _, PassageOrdinal};
use crate::graph::top;
use crate::graph::trail::{
    CANDIDATES, CandidateFeatures, Candidates, Evidence, Setting, Taken, TrailOptions, TrailWalk, TrailWeights, Trust,
    WeightSet, walk,
};
use crate::query::options::{Reasoning, SearchOptions, StrategyKind, TrailRanker};
use crate::query::retrievers::{Needs, Retriever, Retrieving};
use crate::query::session::Session;
use crate::query::session::query::{Query, Ranking, on_cpu};
use crate::store::{Follow, VectorField, spelling};
use crate::text::counted;
pub(in crate::query) use contents::says_as_much;
use text_fit::text_fits;
use weights::shipped_weights;

/// Why weights are refused for a ranking by trees.
pub(crate) const NO_TREES: &str = "these weights have no trees";

/// See [`crate::graph::trail`].
#[derive(Debug, Clone, Default)]
pub struct Trail {
    /// Rounds; three by default.
    pub n_hop: Option<u32>,
    /// Its weights; the built-in ones by default.
    pub weights: Option<Arc<WeightSet>>,
    /// The ranker of its best passages; by default, boosted trees if the weights have any.
    pub ranker: Option<TrailRanker>,
    /// What it judges its steps by.
    pub reasoning: Reasoning,
}

impl Trail {
    /// Returns what `options` ask for.
    #[must_use]
    pub fn of(options: &SearchOptions) -> Self {
        let SearchOptions { n_hop, weights, trail_ranker, reasoning, .. } = options;
        Self { n_hop: *n_hop, weights: weights.clone(), ranker: *trail_ranker, reasoning: *reasoning }
    }

    async fn found(&self, session: &Session, query: &Arc<Query>, count: usize) -> Result<Ranking> {
        let weights = Arc::new(self.weights_of(query)?.clone());
        let is_boosted = self.ranker_of(&weights)? == TrailRanker::Boosted;
        let mut options = TrailOptions::default();
        options.rounds = self.n_hop.unwrap_or(options.rounds);
        let (walked, judged) = if self.reasoning == Reasoning::Similarity || !session.has_model() {
            (walked(query, &weights, options).await?, judged::Judged::default())
        } else {
            judged::walked(session, query, &weights, options).await?
        };
        let ranked = if is_boosted {
            let candidates = candidates(query, &weights, options, &walked).await?;
            judged.ranked(boosted(&weights, &walked, &candidates, count.max(CANDIDATES)), count)
        } else {
            judged.ranked(top::best_of(&walked.scores, count.max(CANDIDATES)), count)
        };
        let own = Arc::clone(query);
        on_cpu(query, move |query| {
            let ranked = contents::held_down(query, ranked)?;
            let mut steps = Steps::of(query);
            let paths = ranked.iter().map(|(passage, _)| Ok((*passage, steps.path(&walked, *passage)?)));
            let paths: FxHashMap<PassageOrdinal, Vec<Step>> = paths.collect::<Result<_>>()?;
            let mut ledger = ledger(&mut steps, &walked, &options, &ranked, &judged)?;
            ledger.notes.push(how_far(query, &options, &ranked, &paths)?);
            Ok(Ranking { query: own, ranked, paths, ledger })
        })
        .await
    }

    /// Returns the requested ranker, or else trees if there are any.
    fn ranker_of(&self, weights: &TrailWeights) -> Result<TrailRanker> {
        match self.ranker {
            Some(TrailRanker::Boosted) if weights.trees.is_empty() => {
                Err(Error::Option { option: "trail-ranker", value: "boosted".to_owned(), reason: NO_TREES.to_owned() })
            }
            Some(ranker) => Ok(ranker),
            None if weights.trees.is_empty() => Ok(TrailRanker::Linear),
            None => Ok(TrailRanker::Boosted),
        }
    }

    /// Returns the weights that were given or else those for the vectors of the index, and of these those for documents
    /// with titles where at least half of the documents have one.
    fn weights_of<'a>(&'a self, query: &Query) -> Result<&'a TrailWeights> {
        let set = match &self.weights {
            Some(given) => given.as_ref(),
            None => shipped_weights(query.reader.embedder())?,
        };
        Ok(set.of(query.reader.counts()))
    }
}

impl Retriever for Trail {
    fn name(&self) -> &'static str {
        StrategyKind::Trail.name()
    }

    fn needs(&self) -> Needs {
        Needs { follow: Follow::Names, ..Needs::default() }
    }

    fn retrieve<'a>(&'a self, session: &'a Session, query: &'a Arc<Query>, count: usize) -> Retrieving<'a> {
        Box::pin(self.found(session, query, count))
    }
}

/// Returns the passages that `trail` finds with `weights`, best first: by its trees, if any.
///
/// # Errors
///
/// If the store cannot be read, or the embedder fails.
///
/// # Cancel safety
///
/// Dropping the future loses the work and nothing else.
pub async fn trail_ranking(
    query: &Arc<Query>,
    weights: &Arc<TrailWeights>,
    top_k: usize,
) -> Result<Vec<(PassageOrdinal, f32)>> {
    let options = TrailOptions::default();
    let walked = walked(query, weights, options).await?;
    if weights.trees.is_empty() {
        return Ok(top::best_of(&walked.scores, top_k));
    }
    let candidates = candidates(query, weights, options, &walked).await?;
    Ok(boosted(weights, &walked, &candidates, top_k))
}

/// Returns the best passages of a walk under `weights`, best first, each with what trees decide by.
///
/// # Errors
///
/// If the store cannot be read, or the embedder fails.
///
/// # Cancel safety
///
/// Dropping the future loses the work and nothing else.
pub async fn trail_candidates(
    query: &Arc<Query>,
    weights: &Arc<TrailWeights>,
) -> Result<Vec<(PassageOrdinal, CandidateFeatures)>> {
    let options = TrailOptions::default();
    let walked = walked(query, weights, options).await?;
    candidates(query, weights, options, &walked).await
}

/// Passages in front for which a ledger says whether a step or their own words brought them there.
const IN_FRONT: usize = 5;

/// Describes how far a walk went, its results, and why it is trusted.
fn how_far(
    query: &Query,
    options: &TrailOptions,
    ranked: &[(PassageOrdinal, f32)],
    paths: &FxHashMap<PassageOrdinal, Vec<Step>>,
) -> Result<String> {
    if options.rounds == 0 {
        return Ok("no walk".to_owned());
    }
    let front = ranked.iter().take(IN_FRONT);
    let by_steps = front.clone().filter(|it| paths.get(&it.0).is_some_and(|path| !path.is_empty())).count();
    let rounds = counted(u64::from(options.rounds), "round");
    let reason = Trust::of(&query.evidence()?).reason();
    Ok(format!("walk of {rounds}: {by_steps} of the first {} were reached by steps; {reason}", front.len()))
}

async fn walked(query: &Arc<Query>, weights: &Arc<TrailWeights>, options: TrailOptions) -> Result<Arc<TrailWalk>> {
    let weights = Arc::clone(weights);
    on_cpu(query, move |query| Ok(Arc::new(walk(query.reader.graph(), &query.evidence()?, &weights, &options)))).await
}

async fn candidates(
    query: &Arc<Query>,
    weights: &Arc<TrailWeights>,
    options: TrailOptions,
    walked: &Arc<TrailWalk>,
) -> Result<Vec<(PassageOrdinal, CandidateFeatures)>> {
    let (weights, walked) = (Arc::clone(weights), Arc::clone(walked));
    let (candidates, questions) = on_cpu(query, move |query| {
        let candidates = Candidates::of(&setting(query, &query.evidence()?)?, &weights, &options, &walked);
        let questions = substitute::questions(query, &candidates)?;
        Ok((candidates, questions))
    })
    .await?;
    let vectors = substitute::embedded(query, &questions).await?;
    on_cpu(query, move |query| {
        let substituted = substitute::compared(query, &candidates, questions, &vectors)?;
        let passages: Vec<PassageOrdinal> = candidates.passages().collect();
        let fits = text_fits(query, &passages)?;
        let features = candidates.features(&setting(query, &query.evidence()?)?, &fits, &substituted);
        Ok(passages.into_iter().zip(features).collect())
    })
    .await
}

fn setting<'a>(query: &'a Query, evidence: &'a Evidence<'a>) -> Result<Setting<'a>> {
    Ok(Setting {
        graph: query.reader.graph(),
        evidence,
        sentence_cosine: query.sentence_cosine()?,
        passages: query.reader.vectors(VectorField::Passage)?,
        sentences: query.reader.vectors(VectorField::Sentence)?,
    })
}

/// Ranks the candidates by the trees; the others follow in the order of the walk. Scores stay in order: those of the
/// others are moved below the last that a tree has judged.
fn boosted(
    weights: &TrailWeights,
    walked: &TrailWalk,
    candidates: &[(PassageOrdinal, CandidateFeatures)],
    top_k: usize,
) -> Vec<(PassageOrdinal, f32)> {
    let scored = candidates.iter().map(|(passage, features)| (*passage, weights.trees.score(features)));
    let mut ranked = top::best(scored, candidates.len());
    let mut others: Vec<(PassageOrdinal, f32)> = top::best_of(&walked.scores, top_k + candidates.len());
    others.retain(|other| candidates.iter().all(|candidate| candidate.0 != other.0));
    if let (Some((_, last)), Some((_, first))) = (ranked.last().copied(), others.first()) {
        let moved = last - first;
        // A sum may be rounded up.
        ranked.extend(others.into_iter().map(|(passage, score)| (passage, (score + moved).min(last))));
    }
    ranked.truncate(top_k);
    ranked
}

/// The steps of a walk in the form in which they are shown.
struct Steps<'q> {
    query: &'q Query,
    /// The spelling of each entity so far.
    spelled: FxHashMap<EntityOrdinal, String>,
}

impl<'q> Steps<'q> {
    fn of(query: &'q Query) -> Self {
        Self { query, spelled: FxHashMap::default() }
    }

    fn path(&mut self, walked: &TrailWalk, passage: PassageOrdinal) -> Result<Vec<Step>> {
        walked.path(passage).iter().map(|(round, taken)| self.step(*round, taken)).collect()
    }

    fn step(&mut self, round: u32, taken: &Taken) -> Result<Step> {
        let reader = self.query.reader.as_ref();
        let entity = match self.spelled.entry(taken.edge.entity) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(new) => new.insert(spelling(reader, taken.edge.entity)?).clone(),
        };
        let question = match taken.edge.kind {
            StepKind::SharedEntity => format!("What else is said of {entity}?"),
            StepKind::Name | StepKind::QuestionEdge => format!("What is {entity}?"),
        };
        Ok(Step {
            from: reader.passage_id(taken.from),
            to: reader.passage_id(taken.edge.to),
            kind: taken.edge.kind,
            question,
            entity: Some(entity),
            score: taken.gain,
            round,
        })
    }
}

fn ledger(
    steps: &mut Steps<'_>,
    walked: &TrailWalk,
    options: &TrailOptions,
    ranked: &[(PassageOrdinal, f32)],
    judged: &judged::Judged,
) -> Result<Ledger> {
    let query = steps.query;
    let seeds = top::best_of(&walked.seeds, options.expanded);
    let rounds = walked.rounds.iter().zip(1..).map(|(round, number)| {
        let mut taken: Vec<_> =
            round.taken.values().filter(|taken| ranked.iter().any(|it| it.0 == taken.edge.to)).collect();
        taken.sort_unstable_by(|a, b| top::best_first(&(a.edge.to, a.gain), &(b.edge.to, b.gain)));
        let steps = taken.into_iter().map(|taken| steps.step(number, taken)).collect::<Result<_>>()?;
        let model = judged.rounds.get(number as usize - 1).cloned();
        Ok(HopRound { queue: round.expanded.len() as u32, judged: round.judged, steps, model })
    });
    let reached = walked.rounds.last().map_or(0, |round| round.taken.len());
    let mut below: Vec<(PassageOrdinal, f32)> = walked.rounds.last().map_or_else(Vec::new, |round| {
        let scored = round.taken.keys().map(|passage| (*passage, walked.scores[passage.index()]));
        scored.filter(|(passage, _)| ranked.iter().all(|it| it.0 != *passage)).collect()
    });
    below.sort_unstable_by(top::best_first);
    Ok(Ledger {
        entry: query.entry(&seeds, "seed"),
        rounds: rounds.collect::<Result<_>>()?,
        pruned_count: below.len().min(reached) as u32,
        pruned: query.pruned(below.into_iter()),
        ..query.new_ledger()
    })
}
