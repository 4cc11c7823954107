//! Language models: requests, replies, and the layers in between; and the connection to their servers, which also make
//! vectors.
//!
//! [`OpenAiModel`] talks to a server; each other type wraps a [`ChatModel`] and adds one function. [`layered`] combines
//! them in an order that keeps their promises: a reply that was paid for is stored before it is parsed, and no call is
//! paid for twice.

mod adapted;
mod afresh;
mod bound;
mod cached;
mod circuit_breaker;
mod client;
mod concurrency;
mod connection;
mod embeddings;
mod endpoint;
mod exchange;
mod guarded;
mod in_flight;
mod layers;
mod meter;
mod metered;
mod pace;
mod pieces;
mod prices;
pub mod probe;
pub mod prompt;
mod recorded;
mod recorded_scores;
mod recorded_searches;
mod recorded_vectors;
mod recording;
mod replayed;
mod reply;
mod request;
mod rerank;
mod retries;
mod roomy;
mod thinking;
mod traced;
mod web_search;
mod wire;

#[cfg(test)]
pub(crate) mod scripted;

use std::future::Future;
use std::pin::Pin;

use crate::domain::ChatError;

pub use afresh::Afresh;
pub(crate) use bound::Measured;
pub use cached::Cached;
pub use circuit_breaker::CircuitBreakerOptions;
pub use client::OpenAiModel;
pub(crate) use embeddings::EmbeddingsServer;
pub(crate) use endpoint::WITH;
pub use endpoint::{Endpoint, FormSupport, Preset, Sampling, TokensField, VectorSettings};
pub(crate) use guarded::Guard;
pub use guarded::Guarded;
pub use layers::{Layers, layered};
pub(crate) use meter::Reserved;
pub use meter::{Budget, Meter, SetAside};
pub use metered::Metered;
pub use pace::Limits;
pub use prices::{Price, Prices};
pub use probe::Abilities;
pub use recorded::Recorded;
pub(crate) use recorded_scores::RecordedScores;
pub use recorded_searches::{RecordedSearches, ReplayedSearches};
pub(crate) use recorded_vectors::RecordedVectors;
pub use recording::{RecordedCalls, Recording};
pub use replayed::Replayed;
pub use reply::{ChatReply, Finish, ReplyOrigin};
pub(crate) use request::tokens_estimate;
pub use request::{ChatRequest, Listener, Message, Purpose, ReplyForm, RequestKey, Speaker};
pub(crate) use rerank::RerankServer;
pub use retries::Retries;
pub use roomy::{Room, Roomy, THINKING_TOKENS};
pub use traced::Traced;
pub use web_search::{SearchTool, Searching, WebPage, WebServer};

/// The future reply of a [`ChatModel`].
pub type Replying<'a> = Pin<Box<dyn Future<Output = Result<ChatReply, ChatError>> + Send + 'a>>;

/// Replies to messages.
pub trait ChatModel: Send + Sync {
    /// Returns the name of the model with its server, as calls are counted and priced.
    fn name(&self) -> &str;

    /// Returns the name under which replies are kept: it changes whenever another model or server would reply, or this
    /// one would reply differently.
    fn kept_as(&self) -> &str {
        self.name()
    }

    /// Returns the reply to a request.
    ///
    /// # Errors
    ///
    /// [`ChatError`] says what went wrong and whether it may have cost something.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses this call's reply, which may have been paid for, and nothing else.
    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a>;

    /// Receives whether its last reply was usable, or its fault. A layer passes it on; [`Guarded`], which ends calls
    /// after too many unusable replies, counts it.
    fn note_use(&self, #[expect(unused_variables, reason = "named for the docs")] problem: Option<&str>) {}
}

/// Parses a reply from the bytes of a server, sent in one piece or in many; for the fuzz target of replies.
#[cfg(any(test, fuzzing))]
pub(crate) fn read_reply(bytes: &[u8]) -> Option<String> {
    let mut pieces = pieces::Pieces::default();
    let streamed = pieces.take(bytes, &Listener::new(|_| {})).and_then(|()| pieces.whole()).ok();
    let wire: wire::WireReply = serde_json::from_slice(streamed.as_deref().unwrap_or(bytes)).ok()?;
    let request = ChatRequest {
        purpose: Purpose::Answer,
        messages: Vec::new(),
        form: ReplyForm::Text,
        temperature: None,
        output_tokens_max: 100,
        listener: None,
        is_afresh: false,
        shown: Vec::new(),
        step: 0,
    };
    let reply = wire.into_reply(&request, "fuzzed").ok()?;
    reply.whole(request.output_tokens_max).ok().map(str::to_owned)
}
