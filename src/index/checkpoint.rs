//! Checkpoints: a long first run publishes what it has read so far, so that it can already be searched.

use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use super::options::Checkpoints;
use super::run::Run;
use super::stages::vectors::WhenSpent;
use crate::error::Result;
use crate::workspace::Extent;

/// The default interval of checkpoints.
const USUAL: Duration = Duration::from_mins(5);
/// By default, the minimum number of documents read before the first checkpoint.
const DOCUMENTS_MIN: u64 = 10_000;
/// Minimum wait after a checkpoint, as a multiple of the time that it took: so checkpoints take at most a fifth of a
/// run.
const WAIT_TIMES: u32 = 4;

/// When the next checkpoint is due. Times are since the start of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Schedule {
    every: Duration,
    documents_min: u64,
    due: Duration,
}

impl Schedule {
    /// Returns none if no checkpoints are wanted.
    pub(super) fn of(checkpoints: Checkpoints) -> Option<Self> {
        let (every, documents_min) = match checkpoints {
            Checkpoints::Usual => (USUAL, DOCUMENTS_MIN),
            Checkpoints::Every(every) => (every, 0),
            Checkpoints::Never => return None,
        };
        Some(Self { every, documents_min, due: every })
    }

    /// Returns whether one is due once so many documents were read.
    fn is_due(&self, now: Duration, documents: u64) -> bool {
        documents >= self.documents_min && now >= self.due
    }

    /// Notes that one was made, in so much time.
    fn made(&mut self, now: Duration, took: Duration) {
        let wait = if self.every.is_zero() { Duration::ZERO } else { took.saturating_mul(WAIT_TIMES) };
        self.due = now.saturating_add(self.every.max(wait));
    }
}

impl Run {
    /// Returns the schedule of checkpoints: in a first run, unless a server makes the vectors, since these would cost
    /// money for texts that may still change.
    pub(super) fn schedule(&mut self) -> Option<Schedule> {
        let (is_first, is_free) = (self.writer.records().awaits_documents(), self.embedder.account().is_none());
        Schedule::of(self.options.checkpoints).filter(|_| is_first && is_free)
    }

    /// Makes a version of the documents read so far if one is due. It removes no documents: those not read yet are
    /// not gone.
    pub(super) fn checkpoint(
        &mut self,
        schedule: &mut Option<Schedule>,
        documents: u64,
        handle: &Handle,
    ) -> Result<()> {
        let Some(schedule) = schedule.as_mut().filter(|it| it.is_due(self.started.elapsed(), documents)) else {
            return Ok(());
        };
        self.tell("publishing so far", documents);
        let began = Instant::now();
        self.commit()?;
        let last = self.last_version()?;
        let built = self.build(last, (WhenSpent::GoOn, None), Extent::Partial, handle)?;
        tracing::info!(version = built.version.0, documents, "a version on the way");
        self.checkpoints += 1;
        schedule.made(self.started.elapsed(), began.elapsed());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_due_after_a_while_and_no_sooner_than_pays() {
        let seconds = Duration::from_secs;
        let mut usual = Schedule::of(Checkpoints::Usual).unwrap();
        for (now, documents, expect) in
            [(299, 50_000, false), (300, 9_999, false), (300, 10_000, true), (9_000, 10_000, true)]
        {
            assert_eq!(usual.is_due(seconds(now), documents), expect, "{now} {documents}");
        }
        usual.made(seconds(310), seconds(10));
        assert!(!usual.is_due(seconds(609), 20_000) && usual.is_due(seconds(610), 20_000));
        usual.made(seconds(800), seconds(100));
        assert!(!usual.is_due(seconds(1_199), 20_000) && usual.is_due(seconds(1_200), 20_000));
        let often = Schedule::of(Checkpoints::Every(seconds(2))).unwrap();
        assert!(!often.is_due(seconds(1), 1) && often.is_due(seconds(2), 1));
        let mut always = Schedule::of(Checkpoints::Every(Duration::ZERO)).unwrap();
        always.made(seconds(9), seconds(5));
        assert!(always.is_due(seconds(9), 1));
        assert_eq!(Schedule::of(Checkpoints::Never), None);
    }
}
