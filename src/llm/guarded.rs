//! Guards every call to a server, for replies and for vectors: no call while the circuit breaker is open, none faster
//! than the rate limits, and retries only if they cost nothing.

use std::sync::Arc;

use super::circuit_breaker::{CircuitBreaker, CircuitBreakerOptions};
use super::pace::{Limits, Pace};
use super::request::ChatRequest;
use super::retries::Retries;
use super::{ChatModel, Replying};
use crate::domain::ChatError;

/// Guards a server against calls, and calls against a server. From the outside in: the circuit, which counts a call
/// once however often it is tried; trying again; and limits, which hold for every attempt.
pub(crate) struct Guard {
    breaker: CircuitBreaker,
    retries: Retries,
    pace: Pace,
}

impl Guard {
    pub(crate) fn new(limits: Limits, retries: Retries, circuit: CircuitBreakerOptions) -> Self {
        Self { breaker: CircuitBreaker::new(circuit), retries, pace: Pace::new(limits) }
    }

    /// Makes a call of `tokens` tokens, if one may be made and when its turn comes.
    ///
    /// # Errors
    ///
    /// Those of the last attempt, and those of [`CircuitBreaker::guard`].
    pub(crate) async fn call<T, F>(&self, tokens: u64, call: impl Fn() -> F) -> Result<T, ChatError>
    where
        F: Future<Output = Result<T, ChatError>> + Send,
    {
        self.breaker.guard(self.retries.again(|| self.pace.keep(tokens, call()))).await
    }
}

/// A guarded model behind a server: within rate limits, with retries if the server did nothing, and with a circuit
/// breaker after repeated failures or unusable replies.
pub struct Guarded {
    inner: Arc<dyn ChatModel>,
    guard: Guard,
}

impl Guarded {
    pub(crate) fn new(inner: Arc<dyn ChatModel>, guard: Guard) -> Self {
        Self { inner, guard }
    }
}

impl ChatModel for Guarded {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn kept_as(&self) -> &str {
        self.inner.kept_as()
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        Box::pin(self.guard.call(request.tokens_max_estimate(), || self.inner.reply(request)))
    }

    fn note_use(&self, problem: Option<&str>) {
        self.guard.breaker.note_use(problem);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::super::scripted::{Scripted, overloaded, request};
    use super::*;

    impl Guarded {
        /// Guards a model that only limits the rate of calls.
        fn paced(inner: Arc<dyn ChatModel>, limits: Limits) -> Self {
            let retries = Retries { attempts_max: 1, ..Retries::default() };
            let circuit = CircuitBreakerOptions { failures_max: u32::MAX, ..CircuitBreakerOptions::default() };
            Self::new(inner, Guard::new(limits, retries, circuit))
        }
    }

    /// Asks `count` times, one after the other, and returns when each call was sent, relative to the first.
    async fn times(model: &Guarded, inner: &Scripted, count: usize) -> Vec<Duration> {
        for _ in 0..count {
            let _fault_or_reply = model.reply(&request("a")).await;
        }
        let calls = inner.calls.lock().unwrap();
        calls.iter().map(|call| *call - calls[0]).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn requests_and_tokens_go_out_evenly() {
        let inner = Arc::new(Scripted::new([]));
        let limits = Limits { requests_per_minute: Some(60), ..Limits::default() };
        let model = Guarded::paced(inner.clone(), limits);
        let second = Duration::from_secs(1);
        assert_eq!(times(&model, &inner, 3).await, [Duration::ZERO, second, second * 2]);

        let inner = Arc::new(Scripted::new([]));
        let tokens = request("a").tokens_max_estimate() as u32;
        let model = Guarded::paced(inner.clone(), Limits { tokens_per_minute: Some(tokens * 6), ..Limits::default() });
        assert_eq!(times(&model, &inner, 2).await, [Duration::ZERO, second * 10]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_server_asks_to_wait_all_calls_wait() {
        let inner = Arc::new(Scripted::new([Err(overloaded(Some(9000)))]));
        let model = Guarded::paced(inner.clone(), Limits::default());
        assert_eq!(times(&model, &inner, 2).await, [Duration::ZERO, Duration::from_secs(9)]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_asks_for_more_than_anybody_waits_is_not_waited_for() {
        let inner = Arc::new(Scripted::new([Err(overloaded(Some(600_000)))]));
        let model = Guarded::paced(inner.clone(), Limits::default());
        assert!(model.reply(&request("a")).await.is_err());
        let began = Instant::now();
        let refused = model.reply(&request("a")).await.unwrap_err();
        assert!(refused.retry_after() >= Some(Duration::from_secs(599)), "{refused}");
        assert_eq!((began.elapsed(), inner.call_count()), (Duration::ZERO, 1));
        tokio::time::advance(Duration::from_mins(10)).await;
        assert!(model.reply(&request("a")).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_calls_are_made_at_one_time_than_allowed() {
        let second = Duration::from_secs(1);
        let inner = Arc::new(Scripted::slow(second));
        let model = Arc::new(Guarded::paced(
            inner.clone(),
            Limits { concurrency: 2, concurrency_first: 2, ..Limits::default() },
        ));
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..5 {
            let model = Arc::clone(&model);
            calls.spawn(async move { model.reply(&request("a")).await.is_ok() });
        }
        assert!(calls.join_all().await.into_iter().all(|is_ok| is_ok));
        let calls = inner.calls.lock().unwrap();
        let times: Vec<u64> = calls.iter().map(|call| (*call - calls[0]).as_secs()).collect();
        assert_eq!(times, [0, 0, 1, 1, 2]);
    }
}
