//! How a long run tells where it stands, and how it is told to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

/// Where a run stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// The stage, in a word or two: `reading`, `matching questions`.
    pub stage: &'static str,
    /// Units done.
    pub done: u64,
    /// Units in all, 0 where that is not known.
    pub total: u64,
}

/// Who is told of progress.
pub type ProgressSink = Arc<dyn Fn(Progress) + Send + Sync>;

/// A request to stop at the next unit of work; clones share it.
#[derive(Debug, Clone, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Asks to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether a stop was asked for.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Goes on unless a stop was asked for. Cheap enough to ask for every passage: long work asks often, so that a stop
    /// takes effect inside a document too.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`] once a stop was asked for.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }
}
