//! Limits how many questions an engine works on at once. Each question holds one permit and waits only for permits of
//! deeper sub-questions, so there is no deadlock.

use std::sync::Arc;

use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore};

use super::DEPTH_MAX;
use crate::error::{Error, Result};

/// Questions of one depth that an engine works on at once, each with memory for scores of every sentence; others wait,
/// first come first served.
const AT_ONCE_MAX: usize = 32;

/// Permits by depth.
type ByDepth = [Arc<Semaphore>; DEPTH_MAX + 1];

/// See the top of this file.
pub(in crate::query) struct Permits {
    /// Of questions that no model is asked about: they compute, and end.
    computing: ByDepth,
    /// Of those that one is asked about: they take long, and hold up no other.
    reasoning: ByDepth,
}

impl Default for Permits {
    fn default() -> Self {
        let by_depth = || std::array::from_fn(|_| Arc::new(Semaphore::new(AT_ONCE_MAX)));
        Self { computing: by_depth(), reasoning: by_depth() }
    }
}

impl Permits {
    /// Returns the permit of a question, which it does not hold yet. Sub-questions without the model share it.
    pub(super) fn of_question(&self, depth: usize, has_model: bool) -> Permit {
        let by_depth = if has_model { &self.reasoning } else { &self.computing };
        Permit { permits: Arc::clone(&by_depth[depth]), held: OnceCell::default() }
    }
}

/// The permit of one question: held from first use until it is dropped.
pub(super) struct Permit {
    permits: Arc<Semaphore>,
    held: OnceCell<OwnedSemaphorePermit>,
}

impl Permit {
    /// Returns that of another attempt at the same question.
    pub(super) fn afresh(&self) -> Self {
        Self { permits: Arc::clone(&self.permits), held: OnceCell::default() }
    }

    /// Waits until it is held.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`], which does not happen: permits are never closed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the place among those that wait.
    pub(super) async fn acquire(&self) -> Result<()> {
        let held = self.held.get_or_try_init(|| Arc::clone(&self.permits).acquire_owned()).await;
        held.map(|_| ()).map_err(|error| Error::Internal(error.to_string()))
    }
}
