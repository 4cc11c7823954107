//! A circuit breaker: a server is not called for a while after repeated failures or unusable replies.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::domain::ChatError;

/// When a model is left alone, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CircuitBreakerOptions {
    /// Failures in a row after which it is.
    pub failures_max: u32,
    /// How long.
    pub pause: Duration,
    /// Replies in a row that could not be used, after which no more are paid for.
    pub useless_max: u32,
}

impl Default for CircuitBreakerOptions {
    fn default() -> Self {
        Self { failures_max: 5, pause: Duration::from_secs(30), useless_max: 8 }
    }
}

#[derive(Debug, Default)]
struct State {
    failures: u32,
    last: String,
    /// When a call timed out last: those that were sent before say nothing more.
    timed_out: Option<Instant>,
    /// Until when no call is made after too many failures.
    open_until: Option<Instant>,
}

/// Replies that could not be used.
#[derive(Debug, Default)]
struct Useless {
    replies: u32,
    last: String,
    /// Until when no call is made after too many.
    open_until: Option<Instant>,
}

/// Blocks calls after many failures in a row, so that a run ends instead of waiting for each. After a pause, one call
/// tests whether the server is back.
pub(crate) struct CircuitBreaker {
    options: CircuitBreakerOptions,
    state: Mutex<State>,
    useless: Mutex<Useless>,
}

impl CircuitBreaker {
    pub(crate) fn new(options: CircuitBreakerOptions) -> Self {
        Self { options, state: Mutex::default(), useless: Mutex::default() }
    }

    /// Makes a call, if one may pass.
    ///
    /// # Errors
    ///
    /// Those of the call, [`ChatError::CircuitOpen`], or [`ChatError::Useless`].
    pub(crate) async fn guard<T>(&self, call: impl Future<Output = Result<T, ChatError>>) -> Result<T, ChatError> {
        self.admit_use()?;
        self.admit()?;
        let replied = call.await;
        self.note(replied.as_ref().err());
        replied
    }

    /// Records whether a reply was usable, and otherwise its fault.
    pub(super) fn note_use(&self, problem: Option<&str>) {
        let mut useless = self.useless();
        let Some(problem) = problem else {
            *useless = Useless::default();
            return;
        };
        useless.replies = useless.replies.saturating_add(1);
        problem.clone_into(&mut useless.last);
        if useless.replies >= self.options.useless_max {
            useless.open_until = Some(Instant::now() + self.options.pause);
        }
    }

    fn useless(&self) -> MutexGuard<'_, Useless> {
        self.useless.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Allows a call unless too many replies were unusable. After a pause, one more is tried.
    fn admit_use(&self) -> Result<(), ChatError> {
        let mut useless = self.useless();
        let Some(until) = useless.open_until else { return Ok(()) };
        let now = Instant::now();
        if now >= until {
            useless.open_until = Some(now + self.options.pause);
            return Ok(());
        }
        Err(ChatError::Useless { replies: useless.replies, last: useless.last.clone() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Allows a call, or says why not. The first call after a pause blocks the others for another.
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
            // It waited together with one that is counted: a server that takes one call at a time fails all of them at
            // once.
            Some(ChatError::Timeout { limit_ms })
                if state.timed_out.is_some_and(|ended| ended.elapsed() < Duration::from_millis(*limit_ms)) => {}
            Some(error) if error.is_of_server() => {
                if matches!(error, ChatError::Timeout { .. }) {
                    state.timed_out = Some(Instant::now());
                }
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::scripted::{Scripted, overloaded, reply, request};
    use super::super::{ChatModel as _, Guard, Guarded, Limits, Retries};
    use super::*;

    fn broken(inner: Arc<Scripted>, options: CircuitBreakerOptions) -> Guarded {
        let retries = Retries { attempts_max: 1, ..Retries::default() };
        let limits = Limits { concurrency_first: 8, ..Limits::default() };
        Guarded::new(inner, Guard::new(limits, retries, options))
    }

    #[tokio::test(start_paused = true)]
    async fn a_model_that_fails_in_a_row_is_left_alone_and_tried_once_after_a_pause() {
        let options = CircuitBreakerOptions { failures_max: 3, ..CircuitBreakerOptions::default() };
        let script = [Err(overloaded(None)), Err(overloaded(None)), Ok(reply("A."))];
        let script = script.into_iter().chain((0..4).map(|_| Err(overloaded(None))));
        let inner = Arc::new(Scripted::new(script));
        let model = broken(inner.clone(), options);
        let request = request("a");
        // With a success in between, they are not in a row.
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

    #[tokio::test(start_paused = true)]
    async fn calls_that_time_out_together_count_as_one_failure() {
        let options = CircuitBreakerOptions { failures_max: 2, ..CircuitBreakerOptions::default() };
        let timeouts = (0..8).map(|_| Err(ChatError::Timeout { limit_ms: 5_000 }));
        let mut inner = Scripted::new(timeouts);
        inner.latency = Duration::from_secs(5);
        let inner = Arc::new(inner);
        let model = broken(inner.clone(), options);
        let request = request("a");
        let ask = || model.reply(&request);
        let _timeouts = tokio::join!(ask(), ask(), ask(), ask());
        assert!(matches!(model.reply(&request).await, Err(ChatError::Timeout { .. })));
        assert!(matches!(model.reply(&request).await, Err(ChatError::CircuitOpen { failures: 2, .. })));
        assert_eq!(inner.call_count(), 5);
    }

    #[tokio::test(start_paused = true)]
    async fn a_model_with_only_useless_replies_is_given_up_and_a_useful_reply_resets_this() {
        let options = CircuitBreakerOptions { useless_max: 3, ..CircuitBreakerOptions::default() };
        let inner = Arc::new(Scripted::new([]));
        let model = broken(inner.clone(), options);
        for problem in [Some("a"), Some("b"), None, Some("c"), Some("d"), Some("no JSON")] {
            assert!(model.reply(&request("a")).await.is_ok());
            model.note_use(problem);
        }
        let refused = ChatError::Useless { replies: 3, last: "no JSON".to_owned() };
        assert_eq!(model.reply(&request("a")).await, Err(refused.clone()));
        tokio::time::advance(options.pause).await;
        assert!(model.reply(&request("a")).await.is_ok());
        assert_eq!(model.reply(&request("a")).await, Err(refused));
        model.note_use(None);
        assert!(model.reply(&request("a")).await.is_ok());
        assert_eq!(inner.call_count(), 8);
    }
}
