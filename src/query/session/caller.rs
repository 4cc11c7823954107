//! The language model of one question: within a number of calls and a deadline, and not after repeated failures. Keeps
//! count of calls, outcomes and cost.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::RwLock;
use tokio::time::{Instant, timeout_at};

use super::counted::CallCount;
use crate::domain::{BudgetKind, ChatError, ModelWork, StopReason};
use crate::error::Result;
use crate::llm::{ChatModel, ChatReply, ChatRequest, Replying};
use crate::query::options::SearchOptions;
use crate::skill::{Degradation, Performed, Skill, perform};

/// Calls that may fail in a row before it is not called more.
const FAILURES_MAX: u32 = 3;

/// See the top of this file.
pub(in crate::query) struct Caller {
    model: Arc<dyn ChatModel>,
    count: Arc<CallCount>,
    from: Instant,
    until: Option<Instant>,
    state: Mutex<State>,
    /// Calls share it; one that has the rest of a budget to itself holds it alone.
    alone: RwLock<()>,
}

#[derive(Default)]
struct State {
    /// Calls that failed since the last reply.
    failures: u32,
    /// Whether something was left out so that calls are left for later.
    is_short: bool,
    work: ModelWork,
}

/// Returns when a share of the time for a question is over; none without a deadline.
pub(in crate::query) fn until(options: &SearchOptions, share: f64) -> Option<Instant> {
    Instant::now().checked_add(options.deadline?.mul_f64(share))
}

impl Caller {
    /// Limits `model` to the calls that `count` leaves, including repairs, until `until`.
    pub(in crate::query) fn new(model: Arc<dyn ChatModel>, count: Arc<CallCount>, until: Option<Instant>) -> Self {
        let work = ModelWork { model: model.name().to_owned(), ..ModelWork::default() };
        let state = Mutex::new(State { work, ..State::default() });
        Self { model, count, from: Instant::now(), until, state, alone: RwLock::default() }
    }

    /// Returns the counter of its calls.
    pub(in crate::query) fn count(&self) -> &Arc<CallCount> {
        &self.count
    }

    /// Waits for something no longer than for the model; none if it takes longer, after which the model is not called
    /// any more.
    pub(in crate::query) async fn in_time<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let Some(until) = self.until else { return Some(work.await) };
        let done = timeout_at(until, work).await.ok();
        if done.is_none() {
            self.state().work.stop = StopReason::Deadline;
        }
        done
    }

    /// Returns the model within these bounds.
    pub(in crate::query) fn bounded(&self) -> impl ChatModel + '_ {
        self.leaving(0)
    }

    /// Returns the model within these bounds, as it leaves `kept` calls for later.
    pub(in crate::query) fn leaving(&self, kept: u32) -> impl ChatModel + '_ {
        Keeping { caller: self, kept }
    }

    /// Returns the name of the model.
    pub(in crate::query) fn name(&self) -> &str {
        self.model.name()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns its calls so far, and their cost.
    pub(in crate::query) fn work(&self) -> ModelWork {
        let state = self.state();
        let mut work = state.work.clone();
        if state.is_short && work.stop == StopReason::Finished {
            work.stop = StopReason::Calls;
        }
        work
    }

    /// Returns how many calls are left; none once it is not called more.
    pub(in crate::query) fn calls_left(&self) -> u32 {
        let is_over = self.state().work.stop != StopReason::Finished;
        if is_over { 0 } else { self.count.left() }
    }

    /// Returns whether it may be asked once more, with `kept` calls left for later. Where only the number of calls is
    /// against it, that is why it stopped.
    pub(in crate::query) fn may_call(&self, kept: u32) -> bool {
        let mut state = self.state();
        let has_room = self.count.has_room(kept);
        state.is_short |= !has_room;
        has_room && state.work.stop == StopReason::Finished
    }

    /// Performs a skill, and reserves `kept` calls for later, even if a reply has to be repaired; none if the model
    /// gives nothing usable, may not be called, or rejects the request: the results without it stand.
    ///
    /// # Errors
    ///
    /// [`Error::Chat`](crate::Error::Chat) for what somebody has to correct.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses a reply in flight, which may have been paid for.
    pub(in crate::query) async fn perform<S: Skill>(
        &self,
        input: &S::Input,
        kept: u32,
    ) -> Result<Performance<S::Output>> {
        let performed = perform::<S>(&Keeping { caller: self, kept }, input).await;
        let Performed { outcome, spent } = Performed::tolerating(performed, ChatError::is_of_request)?;
        let mut state = self.state();
        state.work.spent.add(&spent);
        let is_refused = matches!(outcome, Err(Degradation::Chat(ChatError::Budget { .. })));
        if !is_refused || spent.calls > 0 {
            let skill = state.work.skills.entry(S::NAME.to_owned()).or_default();
            skill.asked += 1;
            if let Err(why) = &outcome {
                skill.unusable += 1;
                skill.last = Some(why.to_string());
            }
        }
        drop(state);
        Ok(outcome)
    }

    async fn call(&self, request: &ChatRequest, kept: u32) -> Result<ChatReply, ChatError> {
        // A repeated request replaces a kept reply, which was counted.
        if !request.is_afresh {
            self.begin(kept)?;
        }
        let replied = match self.until {
            Some(until) => timeout_at(until, self.reply(request)).await.unwrap_or_else(|_| Err(self.late(until))),
            None => self.reply(request).await,
        };
        let mut state = self.state();
        match &replied {
            Ok(_) => state.failures = 0,
            Err(ChatError::Budget { kind, .. }) => {
                self.count.give_back(u32::from(!request.is_afresh));
                state.work.stop = if *kind == BudgetKind::Calls { StopReason::Calls } else { StopReason::Budget };
            }
            Err(_) => {
                state.failures += 1;
                if state.failures >= FAILURES_MAX && state.work.stop == StopReason::Finished {
                    state.work.stop = StopReason::Failing;
                }
            }
        }
        replied
    }

    /// Asks the model. If the maximum of calls in progress leaves too little of a budget, it is asked once more after
    /// they end, because they may have cost less.
    async fn reply(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let beside = self.alone.read().await;
        match self.model.reply(request).await {
            Err(ChatError::Budget { .. }) => drop(beside),
            replied => return replied,
        }
        let _alone = self.alone.write().await;
        self.model.reply(request).await
    }

    fn begin(&self, kept: u32) -> Result<(), ChatError> {
        let mut state = self.state();
        if state.work.stop == StopReason::Finished && self.until.is_some_and(|until| until <= Instant::now()) {
            state.work.stop = StopReason::Deadline;
        }
        let is_open = state.work.stop == StopReason::Finished;
        let is_full = if is_open { !self.count.take(1, kept) } else { !self.count.has_room(kept) };
        state.is_short |= is_full;
        if is_open && !is_full {
            return Ok(());
        }
        if is_open && kept == 0 {
            state.work.stop = StopReason::Calls;
        }
        let limit = self.count.max().map_or_else(|| "no more".to_owned(), |max| max.to_string());
        let (spent, wanted) = (self.count.made().to_string(), (kept + 1).to_string());
        Err(ChatError::Budget { kind: BudgetKind::Calls, limit, spent, wanted })
    }

    fn late(&self, until: Instant) -> ChatError {
        self.state().work.stop = StopReason::Deadline;
        ChatError::Timeout { limit_ms: until.duration_since(self.from).as_millis() as u64 }
    }
}

/// The outcome: the result of the skill, or why there is none.
pub(in crate::query) type Performance<T> = Result<T, Degradation>;

/// A model that leaves calls for later.
struct Keeping<'a> {
    caller: &'a Caller,
    kept: u32,
}

impl ChatModel for Keeping<'_> {
    fn name(&self) -> &str {
        self.caller.model.name()
    }

    fn kept_as(&self) -> &str {
        self.caller.model.kept_as()
    }

    fn note_use(&self, problem: Option<&str>) {
        self.caller.model.note_use(problem);
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        Box::pin(self.caller.call(request, self.kept))
    }
}
