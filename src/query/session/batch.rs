//! Runs several tasks of one question concurrently, with results in the order requested.

use tokio::task::JoinSet;

use super::Session;
use crate::error::{Error, Result};
use crate::skill::Skill;

/// Calls that are made at once.
const AT_ONCE: usize = 8;
/// Calls that one task may take: the first and its repair.
const CALLS_A_TASK: u32 = 2;

/// The results of performing a skill several times.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch<T> {
    /// The model's results, task by task; none if unusable or not asked.
    pub outputs: Vec<Option<T>>,
    /// Tasks that it was asked.
    pub asked: u32,
}

impl<T> Batch<T> {
    /// Returns whether there were tasks and none succeeded.
    #[must_use]
    pub fn is_useless(&self) -> bool {
        !self.outputs.is_empty() && self.outputs.iter().all(Option::is_none)
    }
}

impl Session {
    /// Does `work` for each of `items`, up to `at_once` concurrently, and returns the results in the order of the
    /// items. The first error ends all of them.
    ///
    /// # Errors
    ///
    /// Those of `work`.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the work in progress.
    pub async fn each<I, T, F>(&self, items: Vec<I>, at_once: usize, work: impl Fn(Self, I) -> F) -> Result<Vec<T>>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        let mut outputs: Vec<Option<T>> = items.iter().map(|_| None).collect();
        let mut waiting = items.into_iter().enumerate();
        let mut running = JoinSet::new();
        loop {
            for (place, item) in waiting.by_ref().take(at_once.max(1) - running.len()) {
                let work = work(self.clone(), item);
                running.spawn(async move { (place, work.await) });
            }
            let Some(joined) = running.join_next().await else { break };
            let (place, output): (usize, Result<T>) = joined.map_err(|error| Error::Internal(error.to_string()))?;
            outputs[place] = Some(output?);
        }
        Ok(outputs.into_iter().flatten().collect())
    }

    /// Performs a skill for each of `tasks`, several concurrently. If fewer calls are left than tasks may take, they
    /// run one after the other, so that the first ones are always asked.
    ///
    /// # Errors
    ///
    /// [`Error::Chat`] if something about the model has to be corrected.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the replies in flight, which may have been paid for.
    pub async fn perform_each<S>(&self, tasks: Vec<S::Input>) -> Result<Batch<S::Output>>
    where
        S: Skill + 'static,
        S::Input: Send + 'static,
        S::Output: Send + 'static,
    {
        let count = tasks.len();
        let mut outputs: Vec<Option<S::Output>> = Vec::with_capacity(count);
        let mut waiting = tasks.into_iter();
        while outputs.len() < count && self.may_call() {
            let left = self.caller.as_ref().map_or(0, |caller| caller.calls_left());
            let room = (left.saturating_sub(self.calls_kept) / CALLS_A_TASK) as usize;
            let next: Vec<S::Input> = waiting.by_ref().take(room.clamp(1, AT_ONCE)).collect();
            let perform = |session: Self, task: S::Input| async move { session.perform::<S>(&task).await };
            outputs.extend(self.each(next, AT_ONCE, perform).await?);
        }
        let asked = outputs.len() as u32;
        outputs.resize_with(count, || None);
        Ok(Batch { outputs, asked })
    }
}
