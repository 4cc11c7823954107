//! A model that is not asked faster than it may be.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep_until};

use super::reply::ChatReply;
use super::request::ChatRequest;
use super::{ChatModel, Replying};
use crate::domain::ChatError;

const MINUTE: Duration = Duration::from_mins(1);
/// What a server may ask all calls to wait; where it asks for more, they fail at once.
const SERVER_WAIT_MAX: Duration = MINUTE;

/// How fast a model may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Calls at one time.
    pub concurrency: usize,
    /// Requests a minute; they go out evenly.
    pub requests_per_minute: Option<u32>,
    /// Tokens a minute, read and written; they are used evenly.
    pub tokens_per_minute: Option<u32>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { concurrency: 8, requests_per_minute: None, tokens_per_minute: None }
    }
}

/// A model that is not asked faster than it may be. What a server asks to wait after one call, all calls wait.
pub struct Limited {
    inner: Arc<dyn ChatModel>,
    limits: Limits,
    turns: Semaphore,
    next: Mutex<Next>,
}

/// When the next call may go out.
#[derive(Debug, Clone, Copy)]
struct Next {
    requests: Instant,
    tokens: Instant,
    server: Instant,
}

impl Limited {
    /// Slows a model's calls down to limits.
    #[must_use]
    pub fn new(inner: Arc<dyn ChatModel>, limits: Limits) -> Self {
        let now = Instant::now();
        let next = Mutex::new(Next { requests: now, tokens: now, server: now });
        Self { inner, limits, turns: Semaphore::new(limits.concurrency.max(1)), next }
    }

    /// Returns when a call may go out, and takes its share of the time that follows.
    fn take(&self, tokens: u64) -> Instant {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let at = Instant::now().max(next.requests).max(next.tokens).max(next.server);
        if let Some(rate) = self.limits.requests_per_minute {
            next.requests = at + MINUTE / rate.max(1);
        }
        if let Some(rate) = self.limits.tokens_per_minute {
            next.tokens = at + MINUTE.mul_f64(tokens as f64 / f64::from(rate.max(1)));
        }
        at
    }

    /// Fails where the server asked to be left alone for longer than anybody waits.
    fn check_server(&self) -> Result<(), ChatError> {
        let server = self.next.lock().unwrap_or_else(PoisonError::into_inner).server;
        let left = server.saturating_duration_since(Instant::now());
        if left <= SERVER_WAIT_MAX {
            return Ok(());
        }
        let said = "it asked before to be left alone".to_owned();
        Err(ChatError::RateLimited { retry_after_ms: Some(left.as_millis() as u64), said })
    }

    async fn call(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let turn = self.turns.acquire().await;
        let _turn = turn.map_err(|_| ChatError::Unreachable { reason: "nobody is asked any more".to_owned() })?;
        self.check_server()?;
        let mut due = self.take(request.tokens_max_estimate());
        loop {
            sleep_until(due).await;
            // While this call waited, another may have been told to wait longer.
            let by_server = self.next.lock().unwrap_or_else(PoisonError::into_inner).server;
            if by_server <= Instant::now() {
                break;
            }
            due = by_server;
        }
        let replied = self.inner.reply(request).await;
        if let Err(error) = &replied
            && let Some(wait) = error.retry_after()
        {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            next.server = next.server.max(Instant::now() + wait);
        }
        replied
    }
}

impl ChatModel for Limited {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        Box::pin(self.call(request))
    }
}

#[cfg(test)]
mod tests {
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
