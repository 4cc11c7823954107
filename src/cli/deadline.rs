//! The time that a command has from its start: opening an index counts.

use std::time::{Duration, Instant};

use super::{SearchPlace, Surroundings, open_to_search};
use crate::error::{Error, Result};
use crate::query::{QueryEngine, SearchOptions, parse_deadline};

/// Returns the deadline that was typed or is set.
pub(super) fn deadline(asked: Option<&str>, surroundings: &Surroundings) -> Result<Option<Duration>> {
    asked.or(surroundings.settings.deadline.as_deref()).map(parse_deadline).transpose()
}

/// A command that may have to end in time.
pub(super) struct Timed {
    began: Instant,
    deadline: Option<Duration>,
}

impl Timed {
    /// Begins now.
    pub(super) fn begin(deadline: Option<Duration>) -> Self {
        Self { began: Instant::now(), deadline }
    }

    /// Opens an index, and leaves `options` the rest of the time.
    pub(super) async fn open(
        &self,
        place: SearchPlace<'_>,
        surroundings: &Surroundings,
        options: &mut SearchOptions,
    ) -> Result<QueryEngine> {
        let Some(deadline) = self.deadline else { return open_to_search(place, surroundings, options).await };
        let opened = tokio::time::timeout(deadline, open_to_search(place, surroundings, options)).await;
        let elapsed = self.began.elapsed();
        let late = || Error::Deadline { action: "opening the index", deadline, elapsed };
        let engine = opened.map_err(|_| late())??;
        let left = deadline.checked_sub(elapsed).filter(|left| !left.is_zero());
        options.deadline = Some(left.ok_or_else(late)?);
        Ok(engine)
    }

    /// Returns what came of a question, with the time of the whole command where it took too long.
    pub(super) fn ended<T>(&self, answered: Result<T>) -> Result<T> {
        answered.map_err(|error| match (error, self.deadline) {
            (Error::Deadline { action, .. }, Some(deadline)) => {
                Error::Deadline { action, deadline, elapsed: self.began.elapsed() }
            }
            (error, _) => error,
        })
    }
}
