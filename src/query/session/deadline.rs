//! The deadline of a question, and what it is doing when the deadline passes.

use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// The current activity of a question, known to its caller.
#[derive(Default)]
pub(in crate::query) struct Stage(Mutex<&'static str>);

impl Stage {
    /// Sets the current activity.
    pub(in crate::query) fn enter(&self, action: &'static str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = action;
    }

    /// Returns what `work` returns, or [`Error::Deadline`] if it takes too long.
    pub(in crate::query) async fn within<T>(
        &self,
        deadline: Option<Duration>,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let Some(deadline) = deadline else { return work.await };
        let began = Instant::now();
        let done = tokio::time::timeout(deadline, work).await;
        done.unwrap_or_else(|_| {
            let action = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Err(Error::Deadline { action, deadline, elapsed: began.elapsed() })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_that_takes_too_long_is_given_up_and_named() {
        let stage = Stage::default();
        let work = async {
            stage.enter("waiting");
            std::future::pending::<Result<()>>().await
        };
        let error = stage.within(Some(Duration::from_millis(10)), work).await.expect_err("it takes forever");
        assert!(matches!(error, Error::Deadline { action: "waiting", .. }), "{error}");
        assert!(error.to_string().contains("within 10.0ms: gave up after"), "{error}");
        assert!(stage.within(None, async { Ok(1) }).await.is_ok());
    }
}
