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

/// What came of asking for something, in one call or more.
#[derive(Debug)]
pub struct Written<T> {
    /// What the model wrote; or why there is nothing, where one of the calls gave nothing of use. An error is what
    /// somebody has to correct ([`crate::domain::ChatError::needs_correction`]).
    pub outcome: Result<Result<T, Degradation>>,
    /// What the calls came to; of a call that ends in an error, what came before its repair is not in it.
    pub spent: Spent,
}

impl<T> Written<T> {
    /// Returns what came of one skill.
    #[must_use]
    pub fn of(performed: Result<Performed<T>>) -> Self {
        match performed {
            Ok(Performed { outcome, spent }) => Self { outcome: Ok(outcome), spent },
            Err(error) => Self { outcome: Err(error), spent: Spent::default() },
        }
    }
}

impl QuestionCalls {
    /// Returns the prompts and schemas that are sent, one after the other: what makes questions others than they were.
    #[must_use]
    pub fn texts(self) -> String {
        match self {
            Self::Together => [GENERATE, GenerateSkill::SCHEMA].concat(),
            Self::Separate => [ANSWERED, RAISED, AnsweredSkill::SCHEMA, RaisedSkill::SCHEMA].concat(),
        }
    }

    /// Returns what is asked about a passage, as far as no reply has to be repaired.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Internal`] for a schema that is no JSON.
    pub fn requests(self, task: &GenerateTask) -> Result<Vec<ChatRequest>> {
        match self {
            Self::Together => Ok(vec![chat_request::<GenerateSkill>(task)?]),
            Self::Separate => {
                let raised = RaisedTask { passage: task.clone(), answered: Vec::new() };
                Ok(vec![chat_request::<AnsweredSkill>(task)?, chat_request::<RaisedSkill>(&raised)?])
            }
        }
    }

    /// Asks a model for the questions of a passage, in-coming ones first; `unusable` says what becomes of a kept reply
    /// of no use. Where the first of two calls gives nothing, or the run is cancelled meanwhile, there is no second.
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

/// A model that is asked, and what that came to so far.
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
