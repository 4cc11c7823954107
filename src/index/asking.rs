//! The stages in which a language model, if one is named, is asked item by item, only about what it has not written
//! yet. However a stage ends, finished replies are kept.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use rustc_hash::FxHashSet;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout_at};

use super::options::{FailedReplies, IndexOptions, ModelReport, StoppedBy};
use crate::domain::{Cancellation, ChatError, Document, DocumentId, Passage, PassageId, Progress, Skip, Spent};
use crate::error::{Error, Result};
use crate::llm::{Afresh, ChatModel};
use crate::skill::{Degradation, GenerateTask, KeptUnusable, Written};
use crate::text::tokens;
use crate::workspace::{ModelStage, Records};

/// Replies that are committed together. They are kept one by one before: a commit that is lost costs nothing again.
const BATCH_REPLIES: usize = 16;
/// Requests that a server may refuse, before it has accepted any, until it is no longer called.
const REFUSALS_MAX: usize = 5;
/// Statuses of a server that lacks the model or the path, for any request.
const ABSENT: [u16; 2] = [404, 501];
/// How long calls in progress may take when the run is to stop.
const GRACE: Duration = Duration::from_secs(10);
/// How often it is looked whether the run is to stop.
const TICK: Duration = Duration::from_millis(100);

/// The key of an item that a model is asked about, in the records.
pub(super) type Key = [u8; 16];
/// The items asked about, each with the model's text or the reason why there is none.
pub(super) type Finished<J, W> = Vec<(J, std::result::Result<W, String>)>;

/// The task of a model in one stage.
pub(super) trait Asking: Clone + Send + Sync + 'static {
    /// The items that it is asked about.
    type Job: Send + 'static;
    /// The model's text about an item.
    type Written: Send + 'static;

    /// Its name in the records.
    const STAGE: ModelStage;
    /// Its name for users.
    const LABEL: &'static str;

    /// Returns the key of an item.
    fn key(job: &Self::Job) -> Key;

    /// Returns the name of an item in a failure.
    fn name(job: &Self::Job) -> String;

    /// Asks a model; `unusable` says what becomes of a kept reply of no use.
    fn ask(
        &self,
        model: &dyn ChatModel,
        job: &Self::Job,
        unusable: KeptUnusable,
        cancellation: &Cancellation,
    ) -> impl Future<Output = Written<Self::Written>> + Send;

    /// Keeps what `writer` wrote, or why it gave nothing, in one transaction.
    fn commit(
        &mut self,
        records: &mut Records,
        writer: &str,
        finished: Finished<Self::Job, Self::Written>,
    ) -> Result<()>;
}

/// The items that a model is still to be asked about.
pub(super) trait Jobs<J> {
    /// Returns how many there may be.
    fn total(&self) -> u64;

    /// Returns the next.
    fn next(&mut self, records: &Records) -> Result<Option<J>>;

    /// Returns how many turned out to be nothing to ask about.
    fn passed_over(&self) -> u64;
}

/// Returns the identity of a text that this model would write now: its name, and a digest of its prompt.
pub(super) fn writer(model: &str, texts: &str) -> String {
    let digest = blake3::hash(texts.as_bytes());
    format!("{model}, prompt {}", &digest.to_hex()[..16])
}

/// Returns the items that a model is asked about again although replies are kept: those with unusable replies, if
/// requested.
pub(super) fn asked_anew(
    records: &Records,
    stage: ModelStage,
    writer: &str,
    options: &IndexOptions,
) -> Result<FxHashSet<Key>> {
    match options.failed_replies {
        FailedReplies::Kept => Ok(FxHashSet::default()),
        FailedReplies::AskedAnew => Ok(records.failed_by(stage, writer)?.into_iter().collect()),
    }
}

/// Asks `model` about every item that it has not written yet, and keeps the texts in the records. Returns the task,
/// with its counts, and the results.
pub(super) async fn run<A: Asking>(
    asking: A,
    jobs: impl Jobs<A::Job>,
    (model, writer): (&Arc<dyn ChatModel>, &str),
    records: &mut Records,
    options: &IndexOptions,
) -> Result<(A, ModelReport)> {
    let was_taken = records.is_written_by(A::STAGE, writer)?;
    let asked_anew = asked_anew(records, A::STAGE, writer, options)?;
    let failed = records.failed_by(A::STAGE, writer)?.into_iter().collect();
    let total = jobs.total();
    let mut stage = Stage {
        asking,
        jobs,
        records,
        model,
        asked_anew,
        failed,
        afresh: Arc::new(Afresh::new(Arc::clone(model))),
        options,
        writer: writer.to_owned(),
        set_aside: VecDeque::new(),
        calls: JoinSet::new(),
        finished: Vec::new(),
        was_taken,
        refusals: 0,
        is_full: false,
        unusable: Vec::new(),
        error: None,
        total,
        report: ModelReport { model: model.name().to_owned(), ..ModelReport::default() },
    };
    stage.run().await?;
    let Stage { asking, jobs, error, mut report, records, unusable, .. } = stage;
    // In the order of items, not of replies, so that equal runs report the same.
    report.failed.sort_unstable_by(|a, b| a.source.cmp(&b.source));
    // Any other end is reported as such.
    let is_over = report.stopped.is_none() && report.written == 0 && report.failed.len() == unusable.len();
    if is_over && !records.is_written_by(A::STAGE, writer)? {
        report.useless = useless(&unusable);
    }
    let over = report.written + report.failed.len() as u64 + jobs.passed_over();
    match error {
        Some(error) => Err(error),
        None => Ok((asking, ModelReport { left: total.saturating_sub(over), ..report })),
    }
}

/// Returns the fault of a model whose replies were all unusable, for these reasons; none if there was no reply.
fn useless(unusable: &[String]) -> Option<ChatError> {
    let replies = u32::try_from(unusable.len()).unwrap_or(u32::MAX);
    Some(ChatError::Useless { replies, last: unusable.last()?.clone() })
}

/// Returns why a fault ends the stage, if it does.
const fn stopped_by(fault: &ChatError) -> Option<StoppedBy> {
    match fault {
        ChatError::Budget { .. } => Some(StoppedBy::Budget),
        ChatError::CircuitOpen { .. } => Some(StoppedBy::Failing),
        ChatError::Useless { .. } => Some(StoppedBy::Useless),
        _ => None,
    }
}

/// Returns when a run is to stop.
async fn stop(cancellation: &Cancellation) {
    while !cancellation.is_cancelled() {
        sleep(TICK).await;
    }
}

/// A finished job, and whether it had the rest of the budget to itself.
struct Over<J, W> {
    job: J,
    was_alone: bool,
    written: Written<W>,
}

struct Stage<'a, A: Asking, S> {
    asking: A,
    jobs: S,
    records: &'a mut Records,
    model: &'a Arc<dyn ChatModel>,
    /// Jobs whose kept replies are not read, and the model that is asked about them.
    asked_anew: FxHashSet<Key>,
    /// Jobs with unusable replies in earlier runs: these are kept unless requested again.
    failed: FxHashSet<Key>,
    afresh: Arc<dyn ChatModel>,
    options: &'a IndexOptions,
    writer: String,
    /// Jobs whose calls did not fit into the budget.
    set_aside: VecDeque<A::Job>,
    calls: JoinSet<Over<A::Job, A::Written>>,
    /// Texts that wait to be committed. Their cost is recorded already.
    finished: Finished<A::Job, A::Written>,
    /// Whether the server ever took a request of this writer.
    was_taken: bool,
    /// Requests that it refused before.
    refusals: usize,
    /// Whether a call did not fit into the budget together with those in progress.
    is_full: bool,
    /// Why received replies were unusable.
    unusable: Vec<String>,
    error: Option<Error>,
    total: u64,
    report: ModelReport,
}

impl<A: Asking, S: Jobs<A::Job>> Stage<'_, A, S> {
    async fn run(&mut self) -> Result<()> {
        loop {
            self.begin()?;
            let over = tokio::select! {
                over = self.calls.join_next() => over,
                () = stop(&self.options.cancellation) => {
                    self.error.get_or_insert(Error::Cancelled);
                    break;
                }
            };
            let Some(over) = over else { break };
            self.note(over.map_err(|error| Error::Internal(error.to_string()))?)?;
            if self.finished.len() >= BATCH_REPLIES {
                self.commit()?;
            }
        }
        self.wind_up().await?;
        self.commit()
    }

    /// Gives calls in progress a moment to end; waiting calls are not sent.
    async fn wind_up(&mut self) -> Result<()> {
        let end = Instant::now() + GRACE;
        while let Ok(Some(over)) = timeout_at(end, self.calls.join_next()).await {
            self.note(over.map_err(|error| Error::Internal(error.to_string()))?)?;
        }
        // They are in progress, and their results will not be received.
        let lost = Spent { lost: self.calls.len() as u64, ..Spent::default() };
        self.calls.abort_all();
        self.count(&lost)
    }

    fn count(&mut self, spent: &Spent) -> Result<()> {
        self.records.add_spending(self.model.name(), spent)?;
        self.report.spent.add(spent);
        Ok(())
    }

    /// Begins as many calls as there may be.
    fn begin(&mut self) -> Result<()> {
        while self.error.is_none() && self.report.stopped.is_none() {
            let room = if self.is_full { 1 } else { self.options.calls_at_once.max(1) };
            if self.calls.len() >= room {
                break;
            }
            let job = match self.set_aside.pop_front() {
                Some(job) => Some(job),
                None => self.jobs.next(self.records)?,
            };
            let Some(job) = job else { break };
            let key = A::key(&job);
            let is_afresh = self.asked_anew.contains(&key);
            let model = Arc::clone(if is_afresh { &self.afresh } else { self.model });
            let (asking, was_alone) = (self.asking.clone(), self.is_full);
            let cancellation = self.options.cancellation.clone();
            let unusable = if self.failed.contains(&key) { KeptUnusable::Stays } else { KeptUnusable::AskedAnew };
            self.calls.spawn(async move {
                let written = asking.ask(model.as_ref(), &job, unusable, &cancellation).await;
                Over { job, was_alone, written }
            });
        }
        Ok(())
    }

    fn note(&mut self, over: Over<A::Job, A::Written>) -> Result<()> {
        let Over { job, was_alone, written: Written { outcome, spent } } = over;
        self.was_taken |= spent.calls + spent.cached > 0;
        self.count(&spent)?;
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(error) => {
                self.refuse(job, error);
                return Ok(());
            }
        };
        match outcome {
            Ok(written) => {
                self.is_full = false;
                self.finish(job, Ok(written));
            }
            // The maximum of other calls is reserved; this one may fit once they end.
            Err(Degradation::Chat(ChatError::Budget { .. })) if !was_alone => {
                self.is_full = true;
                self.set_aside.push_front(job);
            }
            Err(Degradation::Chat(error)) if stopped_by(&error).is_some() => {
                self.stop(stopped_by(&error), error.to_string());
                if matches!(error, ChatError::Useless { .. }) {
                    self.report.useless = Some(error);
                }
            }
            Err(degradation) => {
                if degradation.is_of_reply() {
                    self.unusable.push(degradation.to_string());
                }
                self.fail(job, degradation.to_string());
            }
        }
        Ok(())
    }

    /// Makes no more calls. The first reason is reported: later ones follow from it.
    fn stop(&mut self, by: Option<StoppedBy>, why: String) {
        if self.report.stopped.is_none() {
            self.report.stopped = Some(why);
            self.report.stopped_by = by;
        }
    }

    /// A request that is refused says something about its job, unless the server takes none at all.
    fn refuse(&mut self, job: A::Job, error: Error) {
        let reason = match &error {
            Error::Chat { source: source @ ChatError::Request { status, .. }, .. }
                if self.was_taken || !ABSENT.contains(status) =>
            {
                source.to_string()
            }
            _ => {
                self.error.get_or_insert(error);
                return;
            }
        };
        self.refusals += 1;
        if !self.was_taken && self.refusals >= REFUSALS_MAX {
            self.stop(Some(StoppedBy::Refused), reason.clone());
        }
        self.fail(job, reason);
    }

    fn fail(&mut self, job: A::Job, reason: String) {
        self.report.failed.push(Skip { source: A::name(&job), reason: reason.clone() });
        self.finish(job, Err(reason));
    }

    fn finish(&mut self, job: A::Job, written: Result<A::Written, String>) {
        self.report.written += u64::from(written.is_ok());
        self.finished.push((job, written));
        if let Some(progress) = &self.options.progress {
            let done = self.report.written + self.report.failed.len() as u64;
            progress(Progress { stage: A::LABEL, done, total: self.total });
        }
    }

    fn commit(&mut self) -> Result<()> {
        let finished = std::mem::take(&mut self.finished);
        tracing::debug!(count = finished.len(), "what a model wrote is kept");
        self.asking.commit(self.records, &self.writer, finished)
    }
}

/// A passage that a model is asked about.
pub(super) struct PassageJob {
    pub(super) document: Arc<Document>,
    pub(super) task: GenerateTask,
}

impl PassageJob {
    pub(super) const fn passage(&self) -> &Passage {
        &self.task.passage
    }

    /// Returns the key of its passage.
    pub(super) const fn key(&self) -> Key {
        *self.task.passage.id.as_bytes()
    }

    /// Returns its name in a failure.
    pub(super) fn name(&self) -> String {
        format!("{}, passage {}", self.document.uri, self.passage().ordinal + 1)
    }
}

/// Returns the prompt about a passage; none if the passage has no word.
pub(super) fn task(document: &Document, passage: &Passage) -> Option<GenerateTask> {
    let has_words = !tokens(&passage.text).is_empty();
    has_words.then(|| GenerateTask { name: document.name().to_owned(), passage: passage.clone() })
}

/// The passages about which a model has not written yet, document by document.
pub(super) struct PassageJobs {
    /// Documents that are not read yet, and the missing texts of each.
    documents: VecDeque<(DocumentId, Vec<PassageId>)>,
    waiting: VecDeque<PassageJob>,
    total: u64,
    /// Passages without anything to ask about.
    wordless: u64,
}

impl PassageJobs {
    pub(super) fn of(records: &Records, stage: ModelStage, writer: &str) -> Result<Self> {
        let documents: VecDeque<_> = records.unwritten(stage, writer)?.into();
        let total = documents.iter().map(|(_, passages)| passages.len() as u64).sum();
        Ok(Self { documents, waiting: VecDeque::new(), total, wordless: 0 })
    }
}

impl Jobs<PassageJob> for PassageJobs {
    fn total(&self) -> u64 {
        self.total
    }

    fn next(&mut self, records: &Records) -> Result<Option<PassageJob>> {
        while self.waiting.is_empty() {
            let Some((id, wanted)) = self.documents.pop_front() else { return Ok(None) };
            let Some(unit) = records.document_unit(id)? else { continue };
            let document = Arc::new(unit.document);
            let passages = unit.passages.into_iter().map(|it| it.passage).filter(|it| wanted.contains(&it.id));
            for passage in passages {
                match task(&document, &passage) {
                    Some(task) => self.waiting.push_back(PassageJob { document: Arc::clone(&document), task }),
                    None => self.wordless += 1,
                }
            }
        }
        Ok(self.waiting.pop_front())
    }

    fn passed_over(&self) -> u64 {
        self.wordless
    }
}
