//! A model that is left alone after it failed again and again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::request::ChatRequest;
use super::{ChatModel, Replying};
use crate::domain::ChatError;

/// When a model is left alone, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CircuitBreakerOptions {
    /// Failures in a row after which it is.
    pub failures_max: u32,
    /// How long.
    pub pause: Duration,
}

impl Default for CircuitBreakerOptions {
    fn default() -> Self {
        Self { failures_max: 5, pause: Duration::from_secs(30) }
    }
}

#[derive(Debug, Default)]
struct State {
    failures: u32,
    last: String,
    /// Until when no call is made, once there were too many failures.
    open_until: Option<Instant>,
}

/// Lets no call pass after many failed in a row, so that a run ends instead of waiting for each. After a pause one call
/// tries whether the server is back.
pub(crate) struct CircuitBreaker {
    options: CircuitBreakerOptions,
    state: Mutex<State>,
}

impl CircuitBreaker {
    pub(crate) fn new(options: CircuitBreakerOptions) -> Self {
        Self { options, state: Mutex::default() }
    }

    /// Makes a call, if one may pass.
    ///
    /// # Errors
    ///
    /// Those of the call, or [`ChatError::CircuitOpen`].
    pub(crate) async fn guard<T>(&self, call: impl Future<Output = Result<T, ChatError>>) -> Result<T, ChatError> {
        self.admit()?;
        let replied = call.await;
        self.note(replied.as_ref().err());
        replied
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a call pass, or says why not. The one that passes after a pause keeps the others out for another.
    fn admit(&self) -> Result<(), ChatError> {
        let mut state = self.state();
        let Some(until) = state.open_until else { return Ok(()) };
        let now = Instant::now();
        if now >= until {
            state.open_until = Some(now + self.options.pause);
            return Ok(());
        }
        let wait_ms = (until - now).as_millis() as u64;
        Err(ChatError::CircuitOpen { failures: state.failures, wait_ms, last: state.last.clone() })
    }

    fn note(&self, fault: Option<&ChatError>) {
        let mut state = self.state();
        match fault {
            Some(error) if error.is_of_server() => {
                state.failures = state.failures.saturating_add(1);
                state.last = error.to_string();
                if state.failures >= self.options.failures_max {
                    state.open_until = Some(Instant::now() + self.options.pause);
                }
            }
            // It answers, be it with a refusal.
            _ => *state = State::default(),
        }
    }
}

/// A model that is left alone after it failed again and again.
pub struct CircuitBroken {
    inner: Arc<dyn ChatModel>,
    breaker: CircuitBreaker,
}

impl CircuitBroken {
    /// Guards a model.
    #[must_use]
    pub fn new(inner: Arc<dyn ChatModel>, options: CircuitBreakerOptions) -> Self {
        Self { inner, breaker: CircuitBreaker::new(options) }
    }
}

impl ChatModel for CircuitBroken {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        Box::pin(self.breaker.guard(self.inner.reply(request)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::scripted::{Scripted, overloaded, reply, request};
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_model_that_fails_in_a_row_is_left_alone_and_tried_once_after_a_pause() {
        let options = CircuitBreakerOptions { failures_max: 3, pause: Duration::from_secs(30) };
        let script = [Err(overloaded(None)), Err(overloaded(None)), Ok(reply("A."))];
        let script = script.into_iter().chain((0..4).map(|_| Err(overloaded(None))));
        let inner = Arc::new(Scripted::new(script));
        let model = CircuitBroken::new(inner.clone(), options);
        let request = request("a");
        // A success between them: not in a row.
        for _ in 0..6 {
            let _fault_or_reply = model.reply(&request).await;
        }
        assert_eq!(inner.call_count(), 6);
        let open = model.reply(&request).await.unwrap_err();
        assert!(matches!(open, ChatError::CircuitOpen { failures: 3, wait_ms: 30_000, .. }), "{open}");
        assert_eq!(inner.call_count(), 6);

        tokio::time::advance(Duration::from_secs(30)).await;
        assert_eq!(model.reply(&request).await, Err(overloaded(None)));
        assert!(matches!(model.reply(&request).await, Err(ChatError::CircuitOpen { .. })));
        tokio::time::advance(Duration::from_secs(30)).await;
        assert!(model.reply(&request).await.is_ok());
        assert!(model.reply(&request).await.is_ok());
        assert_eq!(inner.call_count(), 9);
    }
}
