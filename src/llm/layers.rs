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

/// What lies around a model.
#[derive(Clone, Default)]
pub struct Layers {
    /// How fast it may be asked.
    pub limits: Limits,
    /// How often it is asked again where that costs nothing.
    pub retries: Retries,
    /// When it is left alone.
    pub circuit: CircuitBreakerOptions,
    /// What may be spent, and what calls cost: on a meter that others may share.
    pub meter: Arc<Meter>,
    /// How much room it has to think before it replies.
    pub room: Room,
    /// Where its replies are kept; none for nowhere.
    pub replies: Option<Arc<dyn ReplyStore>>,
}

/// Puts layers around a model. From the outside in: spans; kept replies, which count against nothing; room to think, so
/// that a cut reply is kept by nobody; the budget, which counts a call once however often it is tried; the circuit;
/// trying again; and limits, which hold for every attempt.
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
