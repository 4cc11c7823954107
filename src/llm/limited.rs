//! A model that is not asked faster than it may be.

use std::sync::Arc;

use super::pace::{Limits, Pace};
use super::request::ChatRequest;
use super::{ChatModel, Replying};

/// A model that is not asked faster than it may be. What a server asks to wait after one call, all calls wait; and one
/// that has too much to do gets fewer calls at one time.
pub struct Limited {
    inner: Arc<dyn ChatModel>,
    pace: Pace,
}

impl Limited {
    /// Slows a model's calls down to limits.
    #[must_use]
    pub fn new(inner: Arc<dyn ChatModel>, limits: Limits) -> Self {
        Self { inner, pace: Pace::new(limits) }
    }
}

impl ChatModel for Limited {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        Box::pin(self.pace.keep(request.tokens_max_estimate(), self.inner.reply(request)))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::super::scripted::{Scripted, overloaded, request};
    use super::*;

    /// Asks `count` times, one after the other, and returns when each call went out, after the first.
    async fn times(model: &Limited, inner: &Scripted, count: usize) -> Vec<Duration> {
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
        let model = Limited::new(inner.clone(), limits);
        let second = Duration::from_secs(1);
        assert_eq!(times(&model, &inner, 3).await, [Duration::ZERO, second, second * 2]);

        let inner = Arc::new(Scripted::new([]));
        let tokens = request("a").tokens_max_estimate() as u32;
        let model = Limited::new(inner.clone(), Limits { tokens_per_minute: Some(tokens * 6), ..Limits::default() });
        assert_eq!(times(&model, &inner, 2).await, [Duration::ZERO, second * 10]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_server_asks_to_wait_all_calls_wait() {
        let inner = Arc::new(Scripted::new([Err(overloaded(Some(9000)))]));
        let model = Limited::new(inner.clone(), Limits::default());
        assert_eq!(times(&model, &inner, 2).await, [Duration::ZERO, Duration::from_secs(9)]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_asks_for_more_than_anybody_waits_is_not_waited_for() {
        let inner = Arc::new(Scripted::new([Err(overloaded(Some(600_000)))]));
        let model = Limited::new(inner.clone(), Limits::default());
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
        let model = Arc::new(Limited::new(inner.clone(), Limits { concurrency: 2, ..Limits::default() }));
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
