//! `hop`: `HopRAG`'s walk over question edges with similarity reasoning (its Algorithm 1, "non-LLM").
//!
//! SIM(q, ·) = (Jaccard of keywords + cosine) / 2, of an edge by the keywords of both its questions and the vector of
//! the in-coming one, of a passage by its own. Helpfulness = (SIM + importance) / 2 keeps the best.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{ENTRY_SHOWN_MAX, Finding, Found, Query, Strategy, on_cpu};
use crate::domain::{Arrival, EntryVertex, HopRound, Ledger, Step, StepKind};
use crate::graph::hop::{HopOptions, HopStep, HopWalk, Importance, walk};
use crate::graph::matching::jaccard;
use crate::graph::packed::{PassageGraph, row};
use crate::graph::top;
use crate::query::options::{Preset, StrategyKind};
use crate::query::strategies::flat::hybrid_scores;
use crate::store::VectorField;

/// See [`crate::graph::hop`].
pub(super) struct Hop;

/// Passages that the walk enters by and keeps, where fewer are asked for (the paper's `top_k`).
const WIDTH: usize = 20;
/// Constant of reciprocal rank fusion (Cormack and others, 2009).
const FUSION: f32 = 60.0;

impl Strategy for Hop {
    fn kind(&self) -> StrategyKind {
        StrategyKind::Hop
    }

    fn find(&self, query: Arc<Query>) -> Finding {
        on_cpu(query, |query| Ok(Hopping::of(query).find()))
    }
}

/// A query with what its walk compares.
struct Hopping<'a> {
    query: &'a Query,
    graph: PassageGraph<'a>,
    keywords: Vec<u32>,
    /// Cosine of each in-coming question; empty without an embedder.
    incoming_cosine: Vec<f32>,
    /// What passages are compared by.
    passage_scores: Vec<f32>,
    options: HopOptions,
}

impl<'a> Hopping<'a> {
    fn of(query: &'a Query) -> Self {
        let graph = query.reader.graph();
        let keywords = query.question.keywords(graph);
        let incoming_cosine = query.reader.vectors(VectorField::Incoming).cosines(&query.question.vector.view());
        let top_k = WIDTH.max(query.options.top_k);
        let n_hop = query.options.n_hop.unwrap_or(4);
        let (options, passage_scores) = match query.options.preset {
            Preset::Paper => {
                let options = HopOptions { n_hop, top_k, importance: Importance::SumNormalized, importance_share: 0.5 };
                (options, passage_similarities(query, graph, &keywords))
            }
            Preset::Measured => {
                let options =
                    HopOptions { n_hop, top_k, importance: Importance::MaxNormalized, importance_share: 0.25 };
                (options, hybrid_scores(query))
            }
        };
        Self { query, graph, keywords, incoming_cosine, passage_scores, options }
    }

    fn find(&self) -> Found {
        let entry = match self.query.options.preset {
            Preset::Paper => self.entry_by_edges(),
            Preset::Measured => self.entry_by_fusion(),
        };
        let numbers: Vec<u32> = entry.iter().map(|vertex| vertex.passage).collect();
        let allowed = |passage| self.query.evidence.is_allowed(passage);
        let edge = |edge| self.edge_similarity(edge);
        let passage = |passage: u32| self.passage_scores[passage as usize];
        let walked = walk(self.graph, &numbers, &allowed, &edge, &passage, &self.options);
        let mut ranked: Vec<(u32, f32)> = walked.kept.iter().map(|it| (it.passage, it.helpfulness)).collect();
        ranked.truncate(self.query.options.top_k);
        let paths = ranked.iter().map(|(passage, _)| (*passage, self.path(&walked, *passage))).collect();
        Found { ledger: self.ledger(&entry, &walked), ranked, paths }
    }

    fn edge_similarity(&self, edge: u32) -> f32 {
        let keywords = &self.graph.edge_keyword[row(self.graph.edge_keywords, edge)];
        let incoming = self.graph.edge_incoming[edge as usize] as usize;
        f32::midpoint(jaccard(&self.keywords, keywords), self.incoming_cosine.get(incoming).copied().unwrap_or(0.0))
    }

    fn incoming_similarity(&self, incoming: u32) -> f32 {
        let keywords = &self.graph.incoming_keyword[row(self.graph.incoming_keywords, incoming)];
        let cosine = self.incoming_cosine.get(incoming as usize).copied().unwrap_or(0.0);
        f32::midpoint(jaccard(&self.keywords, keywords), cosine)
    }

    /// The paper's entry: the best edges, each by the passage it leads to; a passage counts once an edge.
    fn entry_by_edges(&self) -> Vec<Entry> {
        let edges = (0..self.graph.edge_target.len() as u32)
            .filter(|edge| self.query.evidence.is_allowed(self.graph.edge_target[*edge as usize]))
            .map(|edge| (edge, self.edge_similarity(edge)));
        let best = top::best(edges, self.options.top_k).into_iter();
        let entry = |(edge, score): (u32, f32)| Entry {
            passage: self.graph.edge_target[edge as usize],
            score,
            by: "edge",
            question: Some(self.graph.edge_incoming[edge as usize]),
        };
        best.map(entry).collect()
    }

    /// Ours: in-coming questions and passages, each ranked, fused by reciprocal rank.
    fn entry_by_fusion(&self) -> Vec<Entry> {
        let questions = (0..self.graph.incoming_passage.len() as u32)
            .filter(|question| self.query.evidence.is_allowed(self.graph.incoming_passage[*question as usize]))
            .map(|question| (question, self.incoming_similarity(question)));
        let mut fused: FxHashMap<u32, Entry> = FxHashMap::default();
        let mut rank = 0.0;
        for (question, _) in top::best(questions, 4 * self.options.top_k) {
            let passage = self.graph.incoming_passage[question as usize];
            fused.entry(passage).or_insert_with(|| {
                rank += 1.0;
                Entry { passage, score: 1.0 / (FUSION + rank), by: "question", question: Some(question) }
            });
        }
        let passages = self.passage_scores.iter().enumerate().map(|(passage, score)| (passage as u32, *score));
        let passages = passages.filter(|(passage, _)| self.query.evidence.is_allowed(*passage));
        for ((passage, _), rank) in top::best(passages, 2 * self.options.top_k).into_iter().zip(1u8..) {
            let score = 1.0 / (FUSION + f32::from(rank));
            let unseen = Entry { passage, score: 0.0, by: "passage", question: None };
            fused.entry(passage).or_insert(unseen).score += score;
        }
        let best = top::best(fused.values().map(|entry| (entry.passage, entry.score)), self.options.top_k);
        best.iter().filter_map(|(passage, _)| fused.get(passage).copied()).collect()
    }

    fn path(&self, walked: &HopWalk, passage: u32) -> Vec<Step> {
        walked.path(passage).iter().map(|(round, step)| self.step(*round, step)).collect()
    }

    fn step(&self, round: u32, step: &HopStep) -> Step {
        let incoming = self.graph.edge_incoming[step.edge as usize];
        Step {
            from: self.query.reader.passage_id(step.from),
            to: self.query.reader.passage_id(step.to),
            kind: StepKind::QuestionEdge,
            question: self.query.reader.incoming(incoming).to_owned(),
            entity: None,
            score: step.similarity,
            round,
        }
    }

    fn ledger(&self, entry: &[Entry], walked: &HopWalk) -> Ledger {
        let reader = &self.query.reader;
        let vertex = |entry: &Entry| EntryVertex {
            passage: reader.passage_id(entry.passage),
            score: entry.score,
            by: entry.by.to_owned(),
            matched: entry.question.map(|question| reader.incoming(question).to_owned()),
        };
        let rounds = walked.rounds.iter().zip(1..).map(|(round, number)| HopRound {
            queue: round.queue,
            judged: round.judged,
            steps: round.steps.iter().map(|step| self.step(number, step)).collect(),
        });
        let visited = walked.kept.iter().chain(&walked.pruned);
        let arrivals = visited.map(|it| Arrival { passage: reader.passage_id(it.passage), count: it.arrivals });
        let dropped = walked.kept.iter().skip(self.query.options.top_k).chain(&walked.pruned);
        let dropped: Vec<(u32, f32)> = dropped.map(|it| (it.passage, it.helpfulness)).collect();
        Ledger {
            entry: entry.iter().take(ENTRY_SHOWN_MAX).map(vertex).collect(),
            rounds: rounds.collect(),
            arrivals: arrivals.collect(),
            pruned_count: dropped.len() as u32,
            pruned: self.query.pruned(dropped.into_iter()),
            ..self.query.new_ledger()
        }
    }
}

/// A passage where the walk starts.
#[derive(Debug, Clone, Copy)]
struct Entry {
    passage: u32,
    score: f32,
    by: &'static str,
    question: Option<u32>,
}

/// Returns SIM of question and every passage.
fn passage_similarities(query: &Query, graph: PassageGraph<'_>, keywords: &[u32]) -> Vec<f32> {
    let similarity = |passage: u32| {
        let own = &graph.passage_keyword[row(graph.passage_keywords, passage)];
        let cosine = query.evidence.cosine.get(passage as usize).copied().unwrap_or(0.0);
        f32::midpoint(jaccard(keywords, own), cosine)
    };
    (0..graph.passage_count() as u32).map(similarity).collect()
}
