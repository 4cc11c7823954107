//! Asking a language model several things at one time, with results in the order of what was asked.

use std::sync::Arc;

use tokio::task::JoinSet;

use crate::error::{Error, Result};
use crate::query::session::caller::Caller;
use crate::skill::Skill;

/// Calls that are made at one time.
const AT_ONCE: usize = 8;
/// Calls that one task may take: the first and its repair.
const CALLS_A_TASK: u32 = 2;

/// What came of asking.
pub(in crate::query) struct Asked<T> {
    /// What the model gave, task by task; none where it gave nothing that can be used, or was not asked.
    pub(in crate::query) outputs: Vec<Option<T>>,
    /// Tasks that it was asked.
    pub(in crate::query) asked: u32,
}

impl<T> Asked<T> {
    /// Returns whether there was something to ask and nothing came of any of it.
    pub(in crate::query) fn is_useless(&self) -> bool {
        !self.outputs.is_empty() && self.outputs.iter().all(Option::is_none)
    }
}

/// Performs a skill for each of `tasks`, several at one time, and leaves `kept` calls for later. Where fewer calls are
/// left than tasks may take, one waits for the other, so that the first of them are asked, whoever is faster.
///
/// # Errors
///
/// [`Error::Chat`] if something about the model has to be corrected.
///
/// # Cancel safety
///
/// Dropping the future loses the replies in flight, which may have been paid for.
pub(in crate::query) async fn asked<S>(
    caller: &Arc<Caller>,
    tasks: Vec<S::Input>,
    kept: u32,
) -> Result<Asked<S::Output>>
where
    S: Skill + 'static,
    S::Input: Send + 'static,
    S::Output: Send + 'static,
{
    let mut outputs: Vec<Option<S::Output>> = tasks.iter().map(|_| None).collect();
    let mut waiting = tasks.into_iter().zip(0..).peekable();
    let mut asked = 0;
    while waiting.peek().is_some() && caller.may_call(kept) {
        let room = caller.calls_left().saturating_sub(kept) / CALLS_A_TASK;
        let mut calls = JoinSet::new();
        for (task, place) in waiting.by_ref().take((room as usize).clamp(1, AT_ONCE)) {
            let caller = Arc::clone(caller);
            calls.spawn(async move { (place, caller.perform::<S>(&task, kept).await) });
            asked += 1;
        }
        while let Some(joined) = calls.join_next().await {
            let (place, output): (usize, _) = joined.map_err(|error| Error::Internal(error.to_string()))?;
            outputs[place] = output?.ok();
        }
    }
    Ok(Asked { outputs, asked })
}
