//! `lexical`, `dense` and `hybrid`: passages by their own score.

use std::sync::Arc;

use super::{Needs, Retriever, Retrieving, ranking};
use crate::error::{Error, Result};
use crate::query::options::StrategyKind;
use crate::query::session::Session;
use crate::query::session::query::{Query, on_cpu};

/// BM25 over title twice and text (Robertson; k₁ 1.2, b 0.75).
#[derive(Debug, Clone, Copy, Default)]
pub struct Lexical;
/// Cosine of question and passage.
#[derive(Debug, Clone, Copy, Default)]
pub struct Dense;
/// 0.6 · BM25 over the best + 0.4 · cosine between the worst and the best.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hybrid;

impl Retriever for Lexical {
    fn name(&self) -> &'static str {
        StrategyKind::Lexical.name()
    }

    fn needs(&self) -> Needs {
        Needs { vectors: false, ..Needs::default() }
    }

    fn retrieve<'a>(&'a self, _: &'a Session, query: &'a Arc<Query>, count: usize) -> Retrieving<'a> {
        let own = Arc::clone(query);
        Box::pin(on_cpu(query, move |query| {
            let scores = query.passage_words()?.bm25.iter();
            let scores = scores.map(|score| if *score > 0.0 { *score } else { f32::NEG_INFINITY });
            Ok(ranking(&own, scores, count, "lexical"))
        }))
    }
}

impl Retriever for Dense {
    fn name(&self) -> &'static str {
        StrategyKind::Dense.name()
    }

    fn retrieve<'a>(&'a self, _: &'a Session, query: &'a Arc<Query>, count: usize) -> Retrieving<'a> {
        let own = Arc::clone(query);
        Box::pin(on_cpu(query, move |query| {
            needs_vectors(query)?;
            Ok(ranking(&own, query.cosine()?.iter().copied(), count, "dense"))
        }))
    }
}

impl Retriever for Hybrid {
    fn name(&self) -> &'static str {
        StrategyKind::Hybrid.name()
    }

    fn retrieve<'a>(&'a self, _: &'a Session, query: &'a Arc<Query>, count: usize) -> Retrieving<'a> {
        let own = Arc::clone(query);
        Box::pin(on_cpu(query, move |query| Ok(ranking(&own, hybrid_scores(query)?.into_iter(), count, "hybrid"))))
    }
}

fn needs_vectors(query: &Query) -> Result<()> {
    if query.cosine()?.is_empty() && query.reader.graph().passage_count() > 0 {
        return Err(Error::Option {
            option: "strategy for this index",
            value: StrategyKind::Dense.to_string(),
            reason: "the index was made without vectors".to_owned(),
        });
    }
    Ok(())
}

/// Returns the score of `hybrid` for every passage; that of `lexical` without vectors.
pub(in crate::query) fn hybrid_scores(query: &Query) -> Result<Vec<f32>> {
    let (words, cosine) = rayon::join(|| query.passage_words(), || query.cosine());
    let (bm25, cosine) = (&words?.bm25, cosine?);
    Ok(crate::graph::trail::hybrid_scores(bm25, &cosine))
}
