//! `lexical`, `dense` and `hybrid`: passages by their own score, no edge followed.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::graph::top;
use crate::query::options::StrategyKind;
use crate::query::strategies::{Finding, Found, Query, Strategy, computed};

/// BM25 over title twice and text (Robertson; k₁ 1.2, b 0.75).
pub(in crate::query) struct Lexical;
/// Cosine of question and passage.
pub(in crate::query) struct Dense;
/// 0.6 · BM25 over the best + 0.4 · cosine between the worst and the best.
pub(in crate::query) struct Hybrid;

/// Share of BM25 in `hybrid`.
const LEXICAL_SHARE: f32 = 0.6;

impl Strategy for Lexical {
    fn kind(&self) -> StrategyKind {
        StrategyKind::Lexical
    }

    fn needs_vectors(&self) -> bool {
        false
    }

    fn find(&self, query: Arc<Query>) -> Finding {
        computed(query, |query| {
            let scores = query.evidence.bm25.iter().map(|score| if *score > 0.0 { *score } else { f32::NEG_INFINITY });
            Ok(found(query, &scores.collect::<Vec<_>>(), "lexical"))
        })
    }
}

impl Strategy for Dense {
    fn kind(&self) -> StrategyKind {
        StrategyKind::Dense
    }

    fn find(&self, query: Arc<Query>) -> Finding {
        computed(query, |query| {
            needs_vectors(query)?;
            Ok(found(query, &query.evidence.cosine, "dense"))
        })
    }
}

impl Strategy for Hybrid {
    fn kind(&self) -> StrategyKind {
        StrategyKind::Hybrid
    }

    fn find(&self, query: Arc<Query>) -> Finding {
        computed(query, |query| Ok(found(query, &hybrid_scores(query), "hybrid")))
    }
}

fn needs_vectors(query: &Query) -> Result<()> {
    if query.evidence.cosine.is_empty() && !query.evidence.bm25.is_empty() {
        return Err(Error::Option {
            option: "strategy for this index",
            value: StrategyKind::Dense.to_string(),
            reason: "the index was made without vectors".to_owned(),
        });
    }
    Ok(())
}

/// Returns the score of `hybrid` for every passage; that of `lexical` where there are no vectors.
pub(in crate::query) fn hybrid_scores(query: &Query) -> Vec<f32> {
    let (bm25, cosine) = (&query.evidence.bm25, &query.evidence.cosine);
    if cosine.is_empty() {
        return bm25.clone();
    }
    // What is not at hand has a cosine of 0.
    let low = cosine.iter().copied().fold(0.0, f32::min);
    let high = cosine.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let scaled = cosine.iter().map(|cosine| (cosine - low) / (high - low + 1e-9));
    bm25.iter().zip(scaled).map(|(bm25, cosine)| LEXICAL_SHARE * bm25 + (1.0 - LEXICAL_SHARE) * cosine).collect()
}

fn found(query: &Query, scores: &[f32], by: &str) -> Found {
    let shown = scores.iter().enumerate().map(|(passage, score)| (passage as u32, *score));
    let shown = shown.filter(|(passage, score)| score.is_finite() && query.evidence.is_allowed(*passage));
    let ranked = top::best(shown, query.options.top_k);
    let ledger = crate::domain::Ledger { entry: query.entry(&ranked, by), ..query.new_ledger() };
    Found { ranked, ledger, ..Found::default() }
}
