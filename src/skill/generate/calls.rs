//! Whether a model writes the questions of a passage in one call or two, and makes these calls.

use super::written::{AnsweredSkill, GenerateSkill, GenerateTask, RaisedSkill, RaisedTask};
use crate::domain::{Cancellation, PseudoQuery, Spent};
use crate::error::{Error, Result};
use crate::llm::prompt::{ANSWERED, GENERATE, RAISED};
use crate::llm::{ChatModel, ChatRequest};
use crate::skill::{Degradation, KeptUnusable, PerformOptions, Performed, Skill, chat_request, perform_with};

/// How a model is asked for the two kinds of questions of a passage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum QuestionCalls {
    /// For both in one call.
    #[default]
    Together,
    /// For each in a separate call, in-coming ones first, as `HopRAG` does (section 3.2): twice the calls, and about
    /// twice the tokens read.
    Separate,
}

/// The result of a request, in one call or more.
#[derive(Debug)]
pub struct Written<T> {
    /// The model's text, or why there is none if one of the calls gave nothing usable. An error is a fault that the
    /// user must correct ([`crate::domain::ChatError::needs_correction`]).
    pub outcome: Result<Result<T, Degradation>>,
    /// The cost of the calls; if a call ends in an error, without the part before its repair.
    pub spent: Spent,
}

impl<T> Written<T> {
    /// Returns the result of one skill.
    #[must_use]
    pub fn of(performed: Result<Performed<T>>) -> Self {
        match performed {
            Ok(Performed { outcome, spent }) => Self { outcome: Ok(outcome), spent },
            Err(error) => Self { outcome: Err(error), spent: Spent::default() },
        }
    }
}

impl QuestionCalls {
    /// Returns the prompts and schemas that are sent, in order; if they change, so may the questions.
    #[must_use]
    pub fn texts(self) -> String {
        match self {
            Self::Together => [GENERATE, GenerateSkill::SCHEMA].concat(),
            Self::Separate => [ANSWERED, RAISED, AnsweredSkill::SCHEMA, RaisedSkill::SCHEMA].concat(),
        }
    }

    /// Returns the requests about a passage, without repairs.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Internal`] for a schema that is not JSON.
    pub fn requests(self, task: &GenerateTask) -> Result<Vec<ChatRequest>> {
        match self {
            Self::Together => Ok(vec![chat_request::<GenerateSkill>(task)?]),
            Self::Separate => {
                let raised = RaisedTask { passage: task.clone(), answered: Vec::new() };
                Ok(vec![chat_request::<AnsweredSkill>(task)?, chat_request::<RaisedSkill>(&raised)?])
            }
        }
    }

    /// Asks a model for the questions of a passage, in-coming ones first; `unusable` says what to do with an unusable
    /// kept reply. If the first of two calls fails, or the run is cancelled in between, there is no second.
    ///
    /// # Cancel safety
    ///
    /// As [`crate::skill::perform`].
    pub async fn write(
        self,
        model: &dyn ChatModel,
        task: GenerateTask,
        unusable: KeptUnusable,
        cancellation: &Cancellation,
    ) -> Written<Vec<PseudoQuery>> {
        let mut writer = Writer { model, unusable, spent: Spent::default() };
        let outcome = match self {
            Self::Together => writer.step::<GenerateSkill>(&task).await,
            Self::Separate => match writer.step::<AnsweredSkill>(&task).await {
                Ok(Ok(_)) if cancellation.is_cancelled() => Err(Error::Cancelled),
                Ok(Ok(answered)) => {
                    let task = RaisedTask { passage: task, answered };
                    let raised = writer.step::<RaisedSkill>(&task).await;
                    raised.map(|it| it.map(|raised| [task.answered, raised].concat()))
                }
                other => other,
            },
        };
        Written { outcome, spent: writer.spent }
    }
}

/// A model, and its cost so far.
struct Writer<'a> {
    model: &'a dyn ChatModel,
    unusable: KeptUnusable,
    spent: Spent,
}

impl Writer<'_> {
    async fn step<S: Skill<Output = Vec<PseudoQuery>>>(
        &mut self,
        input: &S::Input,
    ) -> Result<Result<Vec<PseudoQuery>, Degradation>> {
        let options = PerformOptions { listener: None, unusable: self.unusable };
        let Performed { outcome, spent } = perform_with::<S>(self.model, input, options).await?;
        self.spent.add(&spent);
        Ok(outcome)
    }
}
