//! Retrievers: each ranks the passages of one version for one question. Those here score each passage by itself; `hop`,
//! `trail`, `rank` and `layers`, which also use what passages share, are among the strategies.

pub(super) mod by_regex;
pub(super) mod flat;
pub(super) mod keywords;
pub(super) mod questions;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use super::options::{SearchOptions, StrategyKind};
use super::session::Session;
use super::session::query::{Query, Ranking};
use super::strategies::hop::Hop;
use super::strategies::layers::Layers;
use super::strategies::rank::Rank;
use super::strategies::trail::Trail;
use crate::domain::Ledger;
use crate::error::Result;
use crate::graph::ordinal::PassageOrdinal;
use crate::graph::top;
use crate::store::{Follow, OfAll};
use crate::text::KeywordQuery;
use flat::{Dense, Hybrid, Lexical};

/// What a retriever needs from a store that is queried, and from a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Needs {
    /// The edges that it walks. Vectors of in-coming questions are available only with [`Follow::Questions`] or
    /// `by_edges`.
    pub follow: Follow,
    /// Whether it enters by question edges.
    pub by_edges: bool,
    /// Whether it compares vectors.
    pub vectors: bool,
    /// Structures of the whole version that it reads.
    pub of_all: OfAll,
    /// The keywords by which it enters; by default, the words of the question.
    pub keywords: Option<KeywordQuery>,
    /// Whether it enters by what all texts are scanned for, where the query is a regular expression.
    pub scan: bool,
}

impl Default for Needs {
    fn default() -> Self {
        Self {
            follow: Follow::Nothing,
            by_edges: false,
            vectors: true,
            of_all: OfAll::Nothing,
            keywords: None,
            scan: false,
        }
    }
}

/// The result of a retriever.
pub type Retrieving<'a> = Pin<Box<dyn Future<Output = Result<Ranking>> + Send + 'a>>;

/// Ranks passages for a question.
pub trait Retriever: Send + Sync {
    /// Returns its name.
    fn name(&self) -> &'static str;

    /// Returns its needs.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Returns how many additional passages to request at once, to replace near-duplicates. Without any, it is asked
    /// again if there are near-duplicates.
    fn room(&self) -> usize {
        0
    }

    /// Ranks the best `count` passages for a question, or as many as there are. It uses a language model through
    /// `session`.
    ///
    /// # Errors
    ///
    /// If the store cannot be read, or the index lacks what the retriever needs.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the search and nothing else.
    fn retrieve<'a>(&'a self, session: &'a Session, query: &'a Arc<Query>, count: usize) -> Retrieving<'a>;
}

/// Returns the retriever with a name, with its part of the options; `auto` is `trail`, from which strategies with their
/// own loop start too.
#[must_use]
pub fn retriever(kind: StrategyKind, options: &SearchOptions) -> Arc<dyn Retriever> {
    match kind {
        StrategyKind::Lexical => Arc::new(Lexical),
        StrategyKind::Dense => Arc::new(Dense),
        StrategyKind::Hybrid => Arc::new(Hybrid),
        StrategyKind::Hop => Arc::new(Hop::of(options)),
        StrategyKind::Trail | StrategyKind::Level | StrategyKind::Dual | StrategyKind::Noise | StrategyKind::Auto => {
            Arc::new(Trail::of(options))
        }
        StrategyKind::Rank => Arc::new(Rank::default()),
        StrategyKind::Layers => Arc::new(Layers::of(options)),
    }
}

/// Ranks the passages that may be shown by scores, one a passage; none that is not finite.
fn ranking(query: &Arc<Query>, scores: impl Iterator<Item = f32>, count: usize, by: &str) -> Ranking {
    let shown = (0..)
        .map(PassageOrdinal)
        .zip(scores)
        .filter(|(passage, score)| score.is_finite() && query.is_allowed(*passage));
    let ranked = top::best(shown, count);
    let ledger = Ledger { entry: query.entry(&ranked, by), ..query.new_ledger() };
    Ranking { query: Arc::clone(query), ranked, paths: rustc_hash::FxHashMap::default(), ledger }
}
