//! Strategies: each finds the passages that a question needs, in its own loop, and uses its session for everything
//! else. A strategy is one file, with its options; prompts belong to skills.

pub(super) mod auto;
pub(super) mod chosen;
pub(super) mod dual;
mod gathering;
pub(super) mod hop;
pub(super) mod layers;
pub(super) mod level;
pub(super) mod noise;
pub(super) mod pipeline;
pub(super) mod rank;
pub(super) mod trail;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use super::session::Session;
use super::session::query::Ranking;
use crate::domain::{Hit, Ledger};
use crate::error::Result;

/// The result of a strategy.
#[derive(Clone)]
pub struct Found {
    /// The passages, best first.
    pub hits: Vec<Hit>,
    /// The trace: question, entries, steps, picks and dropped passages.
    pub ledger: Ledger,
    /// The ranking for the question itself, by which quoted sentences are weighed.
    pub ranking: Option<Arc<Ranking>>,
    /// Whether `hits` are others than those of `ranking`, or in another order.
    pub is_rearranged: bool,
}

impl Found {
    /// Returns the retrieved passages unchanged.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses what was found and nothing else.
    pub async fn of(ranking: Ranking) -> Result<Self> {
        let ranking = Arc::new(ranking);
        let hits = ranking.hits().await?;
        Ok(Self { hits, ledger: ranking.ledger.clone(), ranking: Some(ranking), is_rearranged: false })
    }
}

/// The future of a strategy.
pub type Finding<'a> = Pin<Box<dyn Future<Output = Result<Found>> + Send + 'a>>;

/// A method to find passages.
pub trait Strategy: Send + Sync {
    /// Returns its name.
    fn name(&self) -> &str;

    /// Finds passages for the question of a session, as many as it requests, if there are so many.
    ///
    /// # Errors
    ///
    /// If the store cannot be read, the index lacks what the strategy needs, or something about the language model has
    /// to be corrected.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the search, and replies in flight, which may have been paid for.
    fn find<'a>(&'a self, session: &'a Session) -> Finding<'a>;
}
