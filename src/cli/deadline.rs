//! The deadline of a command, from its start: opening an index counts.

use std::future::pending;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::Surroundings;
use crate::error::{Error, Result};
use crate::query::{QueryEngine, SearchOptions, parse_deadline};
use crate::setup::EngineOptions;

/// Returns the deadline that was typed or is set.
pub(super) fn deadline(asked: Option<&str>, surroundings: &Surroundings) -> Result<Option<Duration>> {
    asked.or(surroundings.setup.settings.deadline.as_deref()).map(parse_deadline).transpose()
}

/// Extra time after the deadline for putting together and printing what was found by then.
const GRACE: Duration = Duration::from_secs(1);

/// A command with a deadline.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timed {
    began: Instant,
    deadline: Option<Duration>,
}

impl Timed {
    /// Starts now.
    pub(super) fn begin(deadline: Option<Duration>) -> Self {
        Self { began: Instant::now(), deadline }
    }

    /// Opens an index, and gives `options` the rest of the time. If opening or answering takes too long, whatever it
    /// waits for, the alarm ends the command.
    pub(super) async fn open(
        &self,
        place: &EngineOptions,
        surroundings: &Surroundings,
        options: &mut SearchOptions,
    ) -> Result<QueryEngine> {
        let Some(deadline) = self.deadline else { return surroundings.setup.engine(place).await };
        surroundings.alarm.set(Ringing { action: OPENING, began: self.began, deadline, grace: Duration::ZERO });
        let engine = surroundings.setup.engine(place).await?;
        let left = deadline.checked_sub(self.began.elapsed()).filter(|left| !left.is_zero());
        options.deadline = Some(left.ok_or_else(|| late(OPENING, self.began, deadline))?);
        surroundings.alarm.set(Ringing { action: ANSWERING, began: self.began, deadline, grace: GRACE });
        Ok(engine)
    }

    /// Stops the clock: everything to be printed is ready, and the reader may take any time.
    pub(super) fn over(&self, surroundings: &Surroundings) {
        surroundings.alarm.clear();
    }

    /// Returns the result of a question; if it took too long, the error has the time of the whole command.
    pub(super) fn ended<T>(&self, answered: Result<T>) -> Result<T> {
        answered.map_err(|error| match (error, self.deadline) {
            (Error::Deadline { action, .. }, Some(deadline)) => {
                Error::Deadline { action, deadline, elapsed: self.began.elapsed() }
            }
            (error, _) => error,
        })
    }
}

const OPENING: &str = "opening the index";
const ANSWERING: &str = "answering";

fn late(action: &'static str, began: Instant, deadline: Duration) -> Error {
    Error::Deadline { action, deadline, elapsed: began.elapsed() }
}

/// When an alarm rings, and what it says.
#[derive(Debug, Clone, Copy)]
struct Ringing {
    action: &'static str,
    began: Instant,
    deadline: Duration,
    /// After the deadline.
    grace: Duration,
}

/// Rings if opening or answering takes too long. Both wait for disks, other processes and libraries in ways that cannot
/// be interrupted, so another thread listens for the alarm and ends the program.
#[derive(Debug)]
pub(super) struct Alarm(watch::Sender<Option<Ringing>>);

impl Default for Alarm {
    fn default() -> Self {
        Self(watch::Sender::new(None))
    }
}

impl Alarm {
    fn set(&self, ringing: Ringing) {
        self.0.send_replace(Some(ringing));
    }

    fn clear(&self) {
        self.0.send_replace(None);
    }

    /// Waits until the alarm rings, and returns the error to report.
    pub(super) async fn rang(&self) -> Error {
        let mut set = self.0.subscribe();
        loop {
            let until = *set.borrow_and_update();
            let passed = async {
                match until {
                    Some(Ringing { action, began, deadline, grace }) => {
                        tokio::time::sleep_until((began + deadline + grace).into()).await;
                        late(action, began, deadline)
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
        let ringing = |action, grace| {
            let (deadline, grace) = (Duration::from_millis(1), Duration::from_secs(grace));
            Ringing { action, began: Instant::now(), deadline, grace }
        };
        alarm.set(ringing(OPENING, 0));
        alarm.clear();
        assert!(listen(20).await.is_err());
        alarm.set(ringing(ANSWERING, 60));
        assert!(listen(20).await.is_err());
        alarm.set(ringing(OPENING, 0));
        let error = listen(5_000).await.expect("it rings");
        assert!(matches!(error, Error::Deadline { action: OPENING, .. }), "{error}");
    }
}
