//! The time that a command has from its start: opening an index counts.

use std::future::pending;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::{SearchPlace, Surroundings, open_to_search};
use crate::error::{Error, Result};
use crate::query::{QueryEngine, SearchOptions, parse_deadline};

/// Returns the deadline that was typed or is set.
pub(super) fn deadline(asked: Option<&str>, surroundings: &Surroundings) -> Result<Option<Duration>> {
    asked.or(surroundings.settings.deadline.as_deref()).map(parse_deadline).transpose()
}

/// A command that may have to end in time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timed {
    began: Instant,
    deadline: Option<Duration>,
}

impl Timed {
    /// Begins now.
    pub(super) fn begin(deadline: Option<Duration>) -> Self {
        Self { began: Instant::now(), deadline }
    }

    /// Opens an index, and leaves `options` the rest of the time. Where that takes too long, whatever it waits for, the
    /// alarm ends the command.
    pub(super) async fn open(
        &self,
        place: SearchPlace<'_>,
        surroundings: &Surroundings,
        options: &mut SearchOptions,
    ) -> Result<QueryEngine> {
        let Some(deadline) = self.deadline else { return open_to_search(place, surroundings, options).await };
        surroundings.alarm.set(self.began, deadline);
        let opened = open_to_search(place, surroundings, options).await;
        surroundings.alarm.clear();
        let engine = opened?;
        let left = deadline.checked_sub(self.began.elapsed()).filter(|left| !left.is_zero());
        options.deadline = Some(left.ok_or_else(|| late(self.began, deadline))?);
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

fn late(began: Instant, deadline: Duration) -> Error {
    Error::Deadline { action: "opening the index", deadline, elapsed: began.elapsed() }
}

/// Rings where opening takes too long. Opening waits for disks, for other processes and for libraries, in ways that
/// cannot be broken off; who listens for the alarm does so on another thread, and ends the program.
#[derive(Debug)]
pub(super) struct Alarm(watch::Sender<Option<(Instant, Duration)>>);

impl Default for Alarm {
    fn default() -> Self {
        Self(watch::Sender::new(None))
    }
}

impl Alarm {
    fn set(&self, began: Instant, deadline: Duration) {
        self.0.send_replace(Some((began, deadline)));
    }

    fn clear(&self) {
        self.0.send_replace(None);
    }

    /// Waits until the alarm rings, and returns what is to be said.
    pub(super) async fn rang(&self) -> Error {
        let mut set = self.0.subscribe();
        loop {
            let until = *set.borrow_and_update();
            let passed = async {
                match until {
                    Some((began, deadline)) => {
                        tokio::time::sleep_until((began + deadline).into()).await;
                        late(began, deadline)
                    }
                    None => pending().await,
                }
            };
            tokio::select! {
                late = passed => return late,
                // The sender is here: it does not end before.
                _changed = set.changed() => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_alarm_rings_when_it_is_set_and_not_when_it_was_cleared() {
        let alarm = Alarm::default();
        let listen = |time| tokio::time::timeout(Duration::from_millis(time), alarm.rang());
        assert!(listen(20).await.is_err());
        alarm.set(Instant::now(), Duration::from_millis(1));
        alarm.clear();
        assert!(listen(20).await.is_err());
        alarm.set(Instant::now(), Duration::from_millis(1));
        let error = listen(5_000).await.expect("it rings");
        assert!(matches!(error, Error::Deadline { action: "opening the index", .. }), "{error}");
    }
}
