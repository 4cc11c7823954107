//! A version is built by stages: each makes one part of it, of the corpus and of parts that were made before.
//!
//! A stage says of what its part is made. Where the last version has that part, made of the same, it is taken over, and
//! the stage does not run. Progress, stops and the report of a run come from the list of stages.

pub(super) mod difference;
pub(super) mod hierarchy;
mod inputs;
pub(super) mod keeping;
mod keywords;
pub(super) mod known;
pub(super) mod matching;
pub(super) mod names;
pub(super) mod resolution;
pub(super) mod terms;
#[cfg(test)]
mod tests;
pub(super) mod vectors;

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use super::options::{IndexOptions, StageReport};
use crate::domain::Progress;
use crate::error::{Error, ErrorKind, Result};
use crate::workspace::{LastVersion, StageMark, StageMarks};
pub(super) use inputs::{Digest, Inputs};

/// What building a version goes through, in the order of reports; stages that do not depend on each other run at the
/// same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StageKind {
    Collecting,
    Names,
    Resolution,
    PassageVectors,
    SentenceVectors,
    IncomingVectors,
    OutgoingVectors,
    Matching,
    Hierarchy,
    Terms,
    Writing,
}

/// What is known of a stage.
struct StageInfo {
    /// Its name in reports and marks.
    name: &'static str,
    /// Its name for users.
    label: &'static str,
    /// Raised whenever equal inputs give another part: then the parts of earlier versions are made anew.
    version: u32,
}

/// The mark of what made all parts of a version that its stages do not take over whole.
pub(super) const MADE_BY: &str = "made-by";

/// Returns what makes parts: this release, and its version of each stage.
pub(super) fn made_by() -> StageMark {
    StageMark { inputs: Inputs::of(&versions(), 0).digest().to_hex().to_string(), cut: 0 }
}

/// Says by which version of each stage a version of an index is made: one that was made by others is made anew, even
/// where no document changed.
pub(super) fn versions() -> String {
    let version = |kind: StageKind| format!("{} {}", kind.info().name, kind.info().version);
    StageKind::ALL.map(version).join(", ")
}

impl StageKind {
    /// All, in the order of reports.
    const ALL: [Self; 11] = [
        Self::Collecting,
        Self::Names,
        Self::Resolution,
        Self::PassageVectors,
        Self::SentenceVectors,
        Self::IncomingVectors,
        Self::OutgoingVectors,
        Self::Matching,
        Self::Hierarchy,
        Self::Terms,
        Self::Writing,
    ];

    /// Returns its name, label and version. The version of collecting or writing is raised when what a version has of
    /// a document is computed in another way, such as the page, line and column of a passage: a document that did not
    /// change is taken from the last version, not read again.
    const fn info(self) -> StageInfo {
        let (name, label, version) = match self {
            Self::Collecting => ("collecting", "collecting", 1),
            Self::Names => ("names", "finding names", 4),
            Self::Resolution => ("resolution", "merging names", 2),
            Self::PassageVectors => ("passage-vectors", "embedding", 1),
            Self::SentenceVectors => ("sentence-vectors", "embedding", 1),
            Self::IncomingVectors => ("incoming-vectors", "embedding", 1),
            Self::OutgoingVectors => ("outgoing-vectors", "embedding", 1),
            Self::Matching => ("matching", "matching questions", crate::graph::matching::VERSION),
            Self::Hierarchy => ("hierarchy", "finding topics", 6),
            Self::Terms => ("terms", "writing", 2),
            Self::Writing => ("writing", "writing", 1),
        };
        StageInfo { name, label, version }
    }
}

/// A stage: what makes one part of a version.
pub(super) trait Stage<'v> {
    /// What it makes.
    type Part;

    /// Returns its place in the list.
    fn kind(&self) -> StageKind;

    /// Adds all that the part depends on: of equal inputs the same is made.
    fn inputs(&self, inputs: &mut Inputs);

    /// Returns the part as the last version has it, made of the same; none where that is damaged.
    fn take_over(&self, last: &'v LastVersion) -> Option<Self::Part>;

    /// Makes the part.
    async fn make(self) -> Result<Made<Self::Part>>;
}

/// A part that was made.
pub(super) struct Made<T> {
    part: T,
    /// How much a limit left out of it.
    cut: u64,
    /// Whether it is all that it is to be; one that is not is made again by the next run.
    is_whole: bool,
}

impl<T> Made<T> {
    fn whole(part: T) -> Self {
        Self { part, cut: 0, is_whole: true }
    }
}

/// The stages of a version on their way. Some run at the same time.
pub(super) struct Stages<'v> {
    last: Option<&'v LastVersion>,
    options: &'v IndexOptions,
    /// Those whose beginning was told.
    told: Mutex<Vec<StageKind>>,
    /// Whether one of two tasks has failed, so that the other need not begin another stage.
    has_failed: AtomicBool,
    finished: Mutex<Finished>,
}

/// What is known of the stages that have run.
#[derive(Debug, Default, Clone)]
pub(super) struct Finished {
    pub(super) marks: StageMarks,
    /// In the order of the stages.
    pub(super) reports: Vec<StageReport>,
}

impl Finished {
    /// Returns how much a limit left out of the part of a stage.
    pub(super) fn cut(&self, kind: StageKind) -> u64 {
        self.marks.get(kind.info().name).map_or(0, |mark| mark.cut)
    }
}

/// Returns the error that says more: damage is repaired, and a task that was only stopped says nothing.
fn graver(one: Error, other: Error) -> Error {
    match (one.kind(), other.kind()) {
        (ErrorKind::Cancelled, _) | (_, ErrorKind::Corrupt) => other,
        _ => one,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'v> Stages<'v> {
    /// Begins with collecting what the stages are run on.
    pub(super) fn begin(last: Option<&'v LastVersion>, options: &'v IndexOptions) -> Result<Self> {
        let finished = Finished { marks: StageMarks::from([(MADE_BY.to_owned(), made_by())]), reports: Vec::new() };
        let stages = Self {
            last,
            options,
            told: Mutex::default(),
            has_failed: AtomicBool::new(false),
            finished: Mutex::new(finished),
        };
        stages.enter(StageKind::Collecting)?;
        Ok(stages)
    }

    /// Tells of a stage, unless a stop was asked for. Of terms nothing is told: they are found while names are, and
    /// what is told must not depend on which of them begins first.
    pub(super) fn enter(&self, kind: StageKind) -> Result<()> {
        if self.options.cancellation.is_cancelled() || self.has_failed.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        let mut told = lock(&self.told);
        if !told.contains(&kind) && kind != StageKind::Terms {
            self.tell(kind.info().label, told.len() as u64);
            told.push(kind);
        }
        Ok(())
    }

    /// Runs two tasks at the same time, the second on a thread of its own, and waits for both. Tells of the stages that
    /// they begin with before they start, so that the order of what is told does not depend on threads. If one fails,
    /// the other ends before its next stage.
    pub(super) fn beside<A, B: Send>(
        &self,
        first: [StageKind; 2],
        one: impl FnOnce() -> Result<A>,
        other: impl FnOnce() -> Result<B> + Send,
    ) -> Result<(A, B)> {
        first.into_iter().try_for_each(|kind| self.enter(kind))?;
        let span = tracing::Span::current();
        thread::scope(|scope| {
            let other = scope.spawn(|| span.in_scope(|| self.noting(other())));
            let one = self.noting(one());
            match (one, other.join().unwrap_or_else(|panic| resume_unwind(panic))) {
                (Ok(one), Ok(other)) => Ok((one, other)),
                (Err(error), Ok(_)) | (Ok(_), Err(error)) => Err(error),
                (Err(one), Err(other)) => Err(graver(one, other)),
            }
        })
    }

    fn noting<T>(&self, result: Result<T>) -> Result<T> {
        if result.is_err() {
            self.has_failed.store(true, Ordering::Relaxed);
        }
        result
    }

    /// Returns what is known of those that have run so far.
    pub(super) fn finished(&self) -> Finished {
        let mut finished = lock(&self.finished).clone();
        let place = |report: &StageReport| StageKind::ALL.iter().position(|kind| kind.info().name == report.stage);
        finished.reports.sort_by_key(place);
        finished
    }

    /// Tells that all are done.
    pub(super) fn finish(&self) {
        self.tell(StageKind::Writing.info().label, StageKind::ALL.len() as u64);
    }

    /// Runs the stage of the hierarchy, and notes how its communities and clusters are found.
    pub(super) async fn run_found_by<S: Stage<'v>>(&self, stage: S, found_by: String) -> Result<S::Part> {
        let part = self.run(stage).await?;
        lock(&self.finished).marks.insert(hierarchy::FOUND_BY.to_owned(), StageMark { inputs: found_by, cut: 0 });
        Ok(part)
    }

    fn tell(&self, stage: &'static str, done: u64) {
        tracing::info!(stage, "entered");
        if let Some(progress) = &self.options.progress {
            progress(Progress { stage, done, total: StageKind::ALL.len() as u64 });
        }
    }

    /// Returns the part of a stage: that of the last version where it was made of the same, else one that is made now.
    pub(super) async fn run<S: Stage<'v>>(&self, stage: S) -> Result<S::Part> {
        let (kind, started) = (stage.kind(), Instant::now());
        self.enter(kind)?;
        let StageInfo { name, version, .. } = kind.info();
        let mut inputs = Inputs::of(name, version);
        stage.inputs(&mut inputs);
        let inputs = inputs.digest().to_hex().to_string();
        let taken = self.last.and_then(|last| {
            let mark = last.mark(name).filter(|mark| mark.inputs == inputs)?;
            Some(Made { part: stage.take_over(last)?, cut: mark.cut, is_whole: true })
        });
        let is_taken_over = taken.is_some();
        let Made { part, cut, is_whole } = match taken {
            Some(taken) => taken,
            None => stage.make().await?,
        };
        let seconds = started.elapsed().as_secs_f64();
        tracing::info!(stage = name, is_taken_over, seconds, "done");
        let mut finished = lock(&self.finished);
        if is_whole {
            finished.marks.insert(name.to_owned(), StageMark { inputs, cut });
        }
        finished.reports.push(StageReport { stage: name.to_owned(), is_taken_over, seconds });
        Ok(part)
    }
}
