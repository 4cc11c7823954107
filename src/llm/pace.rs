//! Rate limits of a server: concurrent calls, requests and tokens per minute, and the waits that it asks for.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::concurrency::ConcurrencyLimit;
use crate::domain::ChatError;

const MINUTE: Duration = Duration::from_mins(1);
/// The longest wait that a server may ask for; if it asks for more, calls fail at once.
const SERVER_WAIT_MAX: Duration = MINUTE;

/// How fast a server may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum concurrent calls. There are fewer for a while if a server is overloaded.
    pub concurrency: usize,
    /// Calls at once at first: twice as many each time that all went well.
    pub concurrency_first: usize,
    /// Maximum duration up to which concurrency grows, if each call had to wait for those before it; none for
    /// unlimited.
    pub latency_max: Option<Duration>,
    /// Requests a minute; they go out evenly.
    pub requests_per_minute: Option<u32>,
    /// Tokens a minute, read and written; they are used evenly.
    pub tokens_per_minute: Option<u32>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            concurrency: 8,
            concurrency_first: 1,
            latency_max: Some(MINUTE),
            requests_per_minute: None,
            tokens_per_minute: None,
        }
    }
}

/// Applies rate limits to calls. If a server asks one call to wait, all calls wait.
pub(crate) struct Pace {
    limits: Limits,
    concurrency: ConcurrencyLimit,
    next: Mutex<Next>,
}

/// When the next call may go out.
#[derive(Debug, Clone, Copy)]
struct Next {
    requests: Instant,
    tokens: Instant,
    server: Instant,
}

impl Pace {
    pub(crate) fn new(limits: Limits) -> Self {
        let now = Instant::now();
        let next = Mutex::new(Next { requests: now, tokens: now, server: now });
        Self { limits, concurrency: ConcurrencyLimit::new(&limits), next }
    }

    /// Makes a call of `tokens` tokens when its turn comes.
    ///
    /// # Errors
    ///
    /// Errors of the call; [`ChatError::RateLimited`] if the server asked for a longer wait than allowed.
    pub(crate) async fn keep<T>(
        &self,
        tokens: u64,
        call: impl Future<Output = Result<T, ChatError>> + Send,
    ) -> Result<T, ChatError> {
        let permit = self.concurrency.acquire().await;
        self.check_server()?;
        let mut due = self.take(tokens);
        loop {
            sleep_until(due).await;
            // While this call waited, another may have been told to wait longer.
            let by_server = self.next().server;
            if by_server <= Instant::now() {
                break;
            }
            self.check_server()?;
            due = by_server;
        }
        let began = Instant::now();
        let replied = call.await;
        let fault = replied.as_ref().err();
        if let Some(wait) = fault.and_then(ChatError::retry_after) {
            let mut next = self.next();
            next.server = next.server.max(Instant::now() + wait);
        }
        permit.done(began, fault.is_some_and(ChatError::is_overload));
        replied
    }

    fn next(&self) -> MutexGuard<'_, Next> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns when a call may go out, and takes its share of the time that follows.
    fn take(&self, tokens: u64) -> Instant {
        let mut next = self.next();
        let at = Instant::now().max(next.requests).max(next.tokens).max(next.server);
        if let Some(rate) = self.limits.requests_per_minute {
            next.requests = at + MINUTE / rate.max(1);
        }
        if let Some(rate) = self.limits.tokens_per_minute {
            next.tokens = at + MINUTE.mul_f64(tokens as f64 / f64::from(rate.max(1)));
        }
        at
    }

    /// Fails if the server asked for a longer wait than allowed.
    fn check_server(&self) -> Result<(), ChatError> {
        let left = self.next().server.saturating_duration_since(Instant::now());
        if left <= SERVER_WAIT_MAX {
            return Ok(());
        }
        let said = "it asked before to be left alone".to_owned();
        Err(ChatError::RateLimited { retry_after_ms: Some(left.as_millis() as u64), message: said })
    }
}
