//! The layers around a model, in the order that keeps their promises.

use std::sync::Arc;

use super::ChatModel;
use super::cached::Cached;
use super::circuit_breaker::CircuitBreakerOptions;
use super::guarded::{Guard, Guarded};
use super::meter::Meter;
use super::metered::Metered;
use super::pace::Limits;
use super::retries::Retries;
use super::roomy::{Room, Roomy};
use super::traced::Traced;
use crate::store::ReplyStore;

/// The layers around a model.
#[derive(Clone, Default)]
pub struct Layers {
    /// How fast it may be asked.
    pub limits: Limits,
    /// Retries of calls that cost nothing.
    pub retries: Retries,
    /// When it is left alone.
    pub circuit: CircuitBreakerOptions,
    /// The budget and the cost of calls: on a meter that may be shared.
    pub meter: Arc<Meter>,
    /// How much room it has to think before it replies.
    pub room: Room,
    /// The store of its replies, if any.
    pub replies: Option<Arc<dyn ReplyStore>>,
}

/// Wraps a model in layers. From the outside in: spans; kept replies, which cost nothing; room to think, so that no cut
/// reply is kept; the budget, which counts a call once, with all its attempts; the circuit breaker; retries; and rate
/// limits, which apply to every attempt.
#[must_use]
pub fn layered(model: Arc<dyn ChatModel>, layers: Layers) -> Arc<dyn ChatModel> {
    let guarded = Arc::new(Guarded::new(model, Guard::new(layers.limits, layers.retries, layers.circuit)));
    let metered: Arc<dyn ChatModel> = Arc::new(Metered::new(guarded, layers.meter));
    let roomy: Arc<dyn ChatModel> = Arc::new(Roomy::new(metered, layers.room));
    let cached: Arc<dyn ChatModel> = match layers.replies {
        Some(replies) => Arc::new(Cached::new(roomy, replies)),
        None => roomy,
    };
    Arc::new(Traced::new(cached))
}
