//! Retries calls that cost nothing.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::domain::{Backoff, ChatError};

/// How often, and for how long, a call is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    /// Attempts at most, the first among them.
    pub attempts_max: u32,
    /// The longest wait before the second attempt; it doubles from there.
    pub wait_first: Duration,
    /// The longest wait before any attempt, unless the server asks for more.
    pub wait_max: Duration,
    /// Time within which the last attempt begins.
    pub patience: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            attempts_max: 5,
            wait_first: Duration::from_millis(500),
            wait_max: Duration::from_secs(20),
            patience: Duration::from_mins(1),
        }
    }
}

impl Retries {
    /// Makes a call, and repeats it if the server says that it did nothing. A call that may have been paid for is not
    /// repeated.
    ///
    /// # Errors
    ///
    /// Those of the last attempt.
    pub(crate) async fn again<T, F>(&self, mut call: impl FnMut() -> F) -> Result<T, ChatError>
    where
        F: Future<Output = Result<T, ChatError>>,
    {
        // From the first failure on: a call may have waited for its turn for long before.
        let mut began = None;
        let mut attempt = 1;
        loop {
            let replied = call().await;
            let Err(error) = replied else { return replied };
            let began = *began.get_or_insert_with(Instant::now);
            if attempt >= self.attempts_max || !error.is_free_to_retry() {
                return Err(error);
            }
            // A hasher of the standard library is seeded by the system; this decides nothing but when.
            let wait = self.wait(attempt, error.retry_after(), RandomState::new().hash_one(attempt));
            if began.elapsed() + wait > self.patience {
                return Err(error);
            }
            tracing::debug!(attempt, kind = error.kind_name(), wait_ms = wait.as_millis() as u64, "trying again");
            sleep(wait).await;
            attempt += 1;
        }
    }

    /// Returns how long to wait after an attempt: at least what the server asks for.
    fn wait(&self, attempt: u32, asked: Option<Duration>, random: u64) -> Duration {
        let drawn = Backoff { first: self.wait_first, max: self.wait_max }.wait(attempt, random);
        asked.map_or(drawn, |asked| asked.saturating_add(drawn))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::scripted::{Scripted, overloaded, reply, request};
    use super::super::{ChatModel as _, CircuitBreakerOptions, Guard, Guarded, Limits};
    use super::*;

    fn retrying(inner: Arc<Scripted>) -> Guarded {
        Guarded::new(inner, Guard::new(Limits::default(), Retries::default(), CircuitBreakerOptions::default()))
    }

    #[test]
    fn waits_are_at_least_what_the_server_asks_for() {
        let retries = Retries::default();
        assert_eq!(retries.wait(1, None, u64::MAX), retries.wait_first);
        assert_eq!(retries.wait(40, None, u64::MAX), retries.wait_max);
        assert_eq!(retries.wait(1, Some(Duration::from_secs(30)), 0), Duration::from_secs(30));
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_is_tried_again_no_sooner_than_the_server_asks() {
        let inner = Arc::new(Scripted::new([Err(overloaded(Some(7000))), Err(overloaded(None)), Ok(reply("A."))]));
        let model = retrying(inner.clone());
        assert_eq!(model.reply(&request("a")).await, Ok(reply("A.")));
        let calls = inner.calls.lock().unwrap();
        assert_eq!(calls.len(), 3);
        assert!(calls[1] - calls[0] >= Duration::from_secs(7));
    }

    #[tokio::test(start_paused = true)]
    async fn trying_again_ends_by_number_and_by_time() {
        let faults = |wait| (0..100).map(move |_| Err(overloaded(wait)));
        let inner = Arc::new(Scripted::new(faults(None)));
        assert!(retrying(inner.clone()).reply(&request("a")).await.is_err());
        assert_eq!(inner.call_count(), 5);

        let began = Instant::now();
        let inner = Arc::new(Scripted::new(faults(Some(25_000))));
        assert_eq!(retrying(inner.clone()).reply(&request("a")).await, Err(overloaded(Some(25_000))));
        assert!(began.elapsed() <= Retries::default().patience);
        assert!(inner.call_count() <= 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_may_have_been_paid_for_is_not_repeated() {
        for fault in [ChatError::Timeout { limit_ms: 1 }, ChatError::Key { status: 401, message: "no".to_owned() }] {
            let inner = Arc::new(Scripted::new([Err(fault.clone())]));
            let model = retrying(inner.clone());
            assert_eq!(model.reply(&request("a")).await, Err(fault));
            assert_eq!(inner.call_count(), 1);
        }
    }
}
