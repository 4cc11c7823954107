//! The stage in which a language model writes the questions of passages, where one was named: after the rules, passage
//! by passage, and only what is not written yet. Whatever ends it, what was written is kept.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout_at};

use super::options::{FailedReplies, IndexOptions, ModelQuestions, ModelReport, StoppedBy};
use crate::domain::{
    Cancellation, ChatError, Document, DocumentId, Passage, PassageId, Progress, PseudoQuery, QuestionKind,
    QuestionOrigin, Skip, Spent,
};
use crate::error::{Error, Result};
use crate::llm::{Afresh, ChatModel};
use crate::skill::{Degradation, GenerateTask, KeptUnusable, QuestionCalls, WrittenPassage, generate_by_rule};
use crate::text::tokens;
use crate::workspace::{DocumentUnit, PassageUnit, Records, WrittenQuestions};

/// Replies that are committed together. They are kept one by one before: a commit that is lost costs nothing again.
const BATCH_REPLIES: usize = 16;
/// Requests that a server may refuse, before it ever took one, until it is asked no more.
const REFUSALS_MAX: usize = 5;
/// Statuses of a server that does not have what is asked for, whatever the passage is.
const ABSENT: [u16; 2] = [404, 501];
/// How long calls under way may take to come back when the run is to stop.
const GRACE: Duration = Duration::from_secs(10);
/// How often it is looked whether the run is to stop.
const TICK: Duration = Duration::from_millis(100);

/// Returns what says whether questions are as this model would write them now: its name, and a digest of the prompt.
pub(super) fn writer(model: &str, calls: QuestionCalls) -> String {
    let digest = blake3::hash(calls.texts().as_bytes());
    format!("{model}, prompt {}", &digest.to_hex()[..16])
}

/// Returns what a model is asked about a passage; nothing where it has no word.
pub(super) fn task(document: &Document, passage: &Passage) -> Option<GenerateTask> {
    let has_words = !tokens(&passage.text).is_empty();
    has_words.then(|| GenerateTask { name: document.name().to_owned(), passage: passage.clone() })
}

/// Returns the questions of a passage that a model wrote `written` of, in-coming ones first.
pub(super) fn joined(
    document: &Document,
    passage: &Passage,
    written: Vec<PseudoQuery>,
    beside: ModelQuestions,
) -> Vec<PseudoQuery> {
    let mut questions = match beside {
        ModelQuestions::Instead => Vec::new(),
        ModelQuestions::Beside => generate_by_rule(document, passage),
    };
    // One that a rule makes too is the model's, so that it is still there when those of rules are taken away.
    questions.retain(|known| !written.iter().any(|it| it.id == known.id));
    questions.extend(written);
    questions.sort_by_key(|it| it.kind != QuestionKind::Incoming);
    questions
}

/// Gives passages that are as they were the questions that a model wrote for them: it is not asked again because of a
/// change elsewhere in the document.
pub(super) fn keep_written(unit: &mut DocumentUnit, old: DocumentUnit) {
    if unit.document.name() != old.document.name() {
        return;
    }
    let written = old.passages.into_iter().filter(|it| it.writer.is_some());
    let mut written: FxHashMap<PassageId, PassageUnit> = written.map(|it| (it.passage.id, it)).collect();
    for passage in &mut unit.passages {
        let Some(old) = written.remove(&passage.passage.id) else { continue };
        if old.passage.section != passage.passage.section {
            continue;
        }
        let is_beside = old.questions.iter().any(|it| it.origin == QuestionOrigin::Rule);
        let beside = if is_beside { ModelQuestions::Beside } else { ModelQuestions::Instead };
        let written = old.questions.into_iter().filter(|it| it.origin == QuestionOrigin::Model).collect();
        passage.questions = joined(&unit.document, &passage.passage, written, beside);
        passage.writer = old.writer;
    }
}

/// Asks `model` for the questions of every passage that has none of it, and keeps them in the records.
pub(super) fn run(
    records: &mut Records,
    model: &Arc<dyn ChatModel>,
    options: &IndexOptions,
    handle: &Handle,
) -> Result<ModelReport> {
    let writer = writer(model.kept_as(), options.question_calls);
    rejoin(records, &writer, options.model_questions)?;
    let documents: VecDeque<_> = records.unwritten(&writer)?.into();
    let total = documents.iter().map(|(_, passages)| passages.len() as u64).sum();
    let was_taken = records.is_written_by(&writer)?;
    let asked_anew = asked_anew(records, &writer, options)?;
    let failed = records.failed_by(&writer)?.into_iter().collect();
    let mut writing = Writing {
        records,
        model,
        asked_anew,
        failed,
        afresh: Arc::new(Afresh::new(Arc::clone(model))),
        options,
        writer,
        documents,
        waiting: VecDeque::new(),
        calls: JoinSet::new(),
        finished: Vec::new(),
        was_taken,
        refusals: 0,
        wordless: 0,
        is_full: false,
        error: None,
        total,
        report: ModelReport { model: model.name().to_owned(), ..ModelReport::default() },
    };
    handle.block_on(writing.run())?;
    let Writing { error, mut report, wordless, .. } = writing;
    // Whichever reply came first: the same run says the same.
    report.failed.sort_unstable_by(|a, b| a.source.cmp(&b.source));
    let over = report.written + report.failed.len() as u64 + wordless;
    match error {
        Some(error) => Err(error),
        None => Ok(ModelReport { left: total.saturating_sub(over), ..report }),
    }
}

/// Returns the passages that a model is asked about anew though its replies are kept: those that were of no use, where
/// that is wanted.
pub(super) fn asked_anew(records: &Records, writer: &str, options: &IndexOptions) -> Result<FxHashSet<PassageId>> {
    match options.failed_replies {
        FailedReplies::Kept => Ok(FxHashSet::default()),
        FailedReplies::AskedAnew => Ok(records.failed_by(writer)?.into_iter().collect()),
    }
}

/// Gives passages that this writer has written the questions of rules, or takes them away, as it is asked for now.
fn rejoin(records: &mut Records, writer: &str, beside: ModelQuestions) -> Result<()> {
    for (id, passages) in records.written_otherwise(writer, beside == ModelQuestions::Beside)? {
        let Some(DocumentUnit { document, passages: units, .. }) = records.document_unit(id)? else { continue };
        let mut changed = Vec::new();
        for PassageUnit { passage, questions, .. } in units.into_iter().filter(|it| passages.contains(&it.passage.id)) {
            let written = questions.iter().filter(|it| it.origin == QuestionOrigin::Model).cloned().collect();
            let joined = joined(&document, &passage, written, beside);
            // Of some passages rules make no question.
            if joined != questions {
                changed.push(WrittenQuestions { passage: passage.id, questions: Ok(joined) });
            }
        }
        if !changed.is_empty() {
            records.write_questions(&changed, writer)?;
        }
    }
    Ok(())
}

/// Returns what a fault ends asking by, if it does.
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

/// A passage whose questions are to be written.
struct Job {
    document: Arc<Document>,
    passage: Passage,
}

/// A job that is over, and whether it had what is left of the budget for itself.
struct Over {
    job: Job,
    was_alone: bool,
    written: WrittenPassage,
}

struct Writing<'a> {
    records: &'a mut Records,
    model: &'a Arc<dyn ChatModel>,
    /// Passages whose kept replies are not read, and the model that is asked about them.
    asked_anew: FxHashSet<PassageId>,
    /// Passages for which it gave nothing that can be used before: what is kept of them stays, unless asked for anew.
    failed: FxHashSet<PassageId>,
    afresh: Arc<dyn ChatModel>,
    options: &'a IndexOptions,
    writer: String,
    /// Documents that are not read yet, and what they lack.
    documents: VecDeque<(DocumentId, Vec<PassageId>)>,
    waiting: VecDeque<Job>,
    calls: JoinSet<Over>,
    /// What waits to be committed. What it came to is kept already.
    finished: Vec<WrittenQuestions>,
    /// Whether the server ever took a request of this writer.
    was_taken: bool,
    /// Requests that it refused before.
    refusals: usize,
    /// Passages that there is nothing to ask about.
    wordless: u64,
    /// Whether a call did not fit into the budget beside those under way.
    is_full: bool,
    error: Option<Error>,
    total: u64,
    report: ModelReport,
}

impl Writing<'_> {
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

    /// Gives calls that have begun a moment to come back; what waits longer for its turn does not go out.
    async fn wind_up(&mut self) -> Result<()> {
        let end = Instant::now() + GRACE;
        while let Ok(Some(over)) = timeout_at(end, self.calls.join_next()).await {
            self.note(over.map_err(|error| Error::Internal(error.to_string()))?)?;
        }
        // They are under way, and nobody hears what comes of them.
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
            let Some(job) = self.next_job()? else { break };
            let Some(task) = task(&job.document, &job.passage) else {
                self.wordless += 1;
                continue;
            };
            let is_afresh = self.asked_anew.contains(&job.passage.id);
            let model = Arc::clone(if is_afresh { &self.afresh } else { self.model });
            let (calls, was_alone) = (self.options.question_calls, self.is_full);
            let cancellation = self.options.cancellation.clone();
            let is_failed = self.failed.contains(&job.passage.id);
            let unusable = if is_failed { KeptUnusable::Stays } else { KeptUnusable::AskedAnew };
            self.calls.spawn(async move {
                let written = calls.write(model.as_ref(), task, unusable, &cancellation).await;
                Over { job, was_alone, written }
            });
        }
        Ok(())
    }

    fn next_job(&mut self) -> Result<Option<Job>> {
        while self.waiting.is_empty() {
            let Some((id, wanted)) = self.documents.pop_front() else { return Ok(None) };
            let Some(unit) = self.records.document_unit(id)? else { continue };
            let document = Arc::new(unit.document);
            let passages = unit.passages.into_iter().map(|it| it.passage).filter(|it| wanted.contains(&it.id));
            self.waiting.extend(passages.map(|passage| Job { document: Arc::clone(&document), passage }));
        }
        Ok(self.waiting.pop_front())
    }

    fn note(&mut self, over: Over) -> Result<()> {
        let Over { job, was_alone, written: WrittenPassage { outcome, spent } } = over;
        self.was_taken |= spent.calls + spent.cached > 0;
        self.count(&spent)?;
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(error) => {
                self.refuse(&job, error);
                return Ok(());
            }
        };
        match outcome {
            Ok(written) => {
                self.is_full = false;
                let questions = joined(&job.document, &job.passage, written, self.options.model_questions);
                self.finish(&job.passage, Ok(questions));
            }
            // What others may come to is set aside; it may fit when they are over.
            Err(Degradation::Chat(ChatError::Budget { .. })) if !was_alone => {
                self.is_full = true;
                self.waiting.push_front(job);
            }
            Err(Degradation::Chat(error)) if stopped_by(&error).is_some() => {
                self.stop(stopped_by(&error), error.to_string());
                if matches!(error, ChatError::Useless { .. }) {
                    self.report.useless = Some(error);
                }
            }
            Err(degradation) => self.fail(&job, degradation.to_string()),
        }
        Ok(())
    }

    /// Asks nothing more. The first reason is said: those after it follow from it.
    fn stop(&mut self, by: Option<StoppedBy>, why: String) {
        if self.report.stopped.is_none() {
            self.report.stopped = Some(why);
            self.report.stopped_by = by;
        }
    }

    /// A request that is refused says something about its passage, unless the server takes none at all.
    fn refuse(&mut self, job: &Job, error: Error) {
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

    fn fail(&mut self, job: &Job, reason: String) {
        let source = format!("{}, passage {}", job.document.uri, job.passage.ordinal + 1);
        self.report.failed.push(Skip { source, reason: reason.clone() });
        self.finish(&job.passage, Err(reason));
    }

    fn finish(&mut self, passage: &Passage, questions: Result<Vec<PseudoQuery>, String>) {
        self.report.written += u64::from(questions.is_ok());
        self.finished.push(WrittenQuestions { passage: passage.id, questions });
        if let Some(progress) = &self.options.progress {
            let done = self.report.written + self.report.failed.len() as u64;
            progress(Progress { stage: "asking the model", done, total: self.total });
        }
    }

    fn commit(&mut self) -> Result<()> {
        let finished = std::mem::take(&mut self.finished);
        tracing::debug!(passages = finished.len(), "questions written");
        self.records.write_questions(&finished, &self.writer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{ChunkOptions, passages};

    #[test]
    fn a_question_that_a_rule_makes_too_is_the_models_and_stays_without_those_of_rules() {
        let text = "Teutberga (died 11 November 875) was a queen of Lotharingia by marriage to Lothair II.";
        let document = Document::new("queen", Some("Teutberga".to_owned()), text);
        let passage = &passages(&document, &ChunkOptions::default(), &|text| text.split_whitespace().count())[0];
        let by_rule = generate_by_rule(&document, passage);
        let written: Vec<PseudoQuery> =
            by_rule.iter().take(2).map(|it| PseudoQuery { origin: QuestionOrigin::Model, ..it.clone() }).collect();
        let beside = joined(&document, passage, written.clone(), ModelQuestions::Beside);
        assert_eq!(beside.len(), by_rule.len());
        let kept: Vec<PseudoQuery> = beside.into_iter().filter(|it| it.origin == QuestionOrigin::Model).collect();
        assert_eq!(kept, written);
        assert_eq!(joined(&document, passage, kept, ModelQuestions::Instead), written);
    }
}
