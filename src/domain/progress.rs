//! Progress of a long run, and a request to stop it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

/// The progress of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// The stage, in a word or two: `reading`, `matching questions`.
    pub stage: &'static str,
    /// Units done.
    pub done: u64,
    /// The total number of units, 0 if unknown.
    pub total: u64,
}

/// A function that receives progress.
pub type ProgressSink = Arc<dyn Fn(Progress) + Send + Sync>;

/// A request to stop at the next unit of work; clones share it.
#[derive(Debug, Clone, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Asks to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether a stop was requested.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Fails if a stop was requested. It is cheap enough to call for every passage, so that a stop takes effect inside
    /// a document too.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`] once a stop was requested.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }
}
