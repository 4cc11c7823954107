//! `questions`: passages by their in-coming question nearest to the query.

use std::sync::Arc;

use super::{Needs, Retriever, Retrieving, ranking};
use crate::error::Result;
use crate::graph::matching::jaccard;
use crate::graph::ordinal::{IncomingOrdinal, KeywordOrdinal, Ordinal as _};
use crate::query::session::Session;
use crate::query::session::query::{Query, on_cpu};
use crate::store::VectorField;

/// SIM (Eq. 1 of `HopRAG`) of the question and the best of each passage's in-coming questions.
#[derive(Debug, Clone, Copy, Default)]
pub struct Questions;

impl Retriever for Questions {
    fn name(&self) -> &'static str {
        "questions"
    }

    fn needs(&self) -> Needs {
        Needs { by_edges: true, ..Needs::default() }
    }

    fn retrieve<'a>(&'a self, _: &'a Session, query: &'a Arc<Query>, count: usize) -> Retrieving<'a> {
        let own = Arc::clone(query);
        Box::pin(on_cpu(query, move |query| {
            let graph = query.reader.graph();
            let matches = QuestionMatches::of(query)?;
            let mut best = vec![f32::NEG_INFINITY; graph.passage_count()];
            for question in graph.incoming_passage.ordinals() {
                let best = &mut best[graph.incoming_passage[question].index()];
                *best = best.max(matches.similarity(query, question));
            }
            let scores = best.into_iter().map(|score| if score > 0.0 { score } else { f32::NEG_INFINITY });
            Ok(ranking(&own, scores, count, "question"))
        }))
    }
}

/// The keywords and vector by which the question is compared with in-coming questions.
pub(in crate::query) struct QuestionMatches {
    /// Its keywords as the index numbers them.
    pub(in crate::query) keywords: Vec<KeywordOrdinal>,
    /// Cosine of each in-coming question; empty without an embedder.
    cosine: Vec<f32>,
}

impl QuestionMatches {
    pub(in crate::query) fn of(query: &Query) -> Result<Self> {
        let cosine = query.cosines(VectorField::Incoming)?;
        Ok(Self { keywords: query.question.keywords(query.reader.graph()), cosine })
    }

    /// Returns SIM of the question and an in-coming question.
    pub(in crate::query) fn with_keywords(&self, keywords: &[KeywordOrdinal], question: IncomingOrdinal) -> f32 {
        f32::midpoint(jaccard(&self.keywords, keywords), self.cosine.get(question.index()).copied().unwrap_or(0.0))
    }

    /// Returns SIM of the question and an in-coming question.
    pub(in crate::query) fn similarity(&self, query: &Query, question: IncomingOrdinal) -> f32 {
        let graph = query.reader.graph();
        self.with_keywords(graph.incoming_keyword.of(graph.incoming_keywords.of(question)), question)
    }
}
