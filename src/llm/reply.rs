//! The reply of a language model.

use serde::{Deserialize, Serialize};

use super::thinking;
use crate::domain::{ChatError, Cost, Usage};

/// Characters of a refusal that are repeated.
const SAID_CHARS_MAX: usize = 300;

/// Why a reply ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// It is complete, according to the server.
    Stop,
    /// It reached the limit of tokens.
    Length,
    /// The model, or a filter around it, declined.
    Refusal,
}

/// Where a reply comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyOrigin {
    /// A server gave it now.
    Server,
    /// It was kept.
    Cache,
}

/// A language model's reply, as sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChatReply {
    /// Its text.
    pub text: String,
    /// Why it ends.
    pub finish: Finish,
    /// Its usage.
    pub usage: Usage,
    /// The model, as the server names it.
    pub model: String,
    /// Its origin.
    pub origin: ReplyOrigin,
    /// Calls that it took: one, or two if the first was cut before the reply began.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub calls: u64,
    /// Its cost; none if the price is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

const fn one() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_one(calls: &u64) -> bool {
    *calls == 1
}

impl ChatReply {
    /// Returns the text of a complete reply, without the thoughts before it.
    ///
    /// # Errors
    ///
    /// [`ChatError::Refused`], [`ChatError::Truncated`], or [`ChatError::Malformed`] for an empty one; `tokens_max` is
    /// the requested limit, without room to think.
    pub fn whole(&self, tokens_max: u32) -> Result<&str, ChatError> {
        let said = thinking::without_thoughts(&self.text);
        match self.finish {
            Finish::Refusal => Err(ChatError::Refused { message: self.text.chars().take(SAID_CHARS_MAX).collect() }),
            Finish::Length => Err(ChatError::Truncated { tokens_max }),
            Finish::Stop if said.trim().is_empty() => {
                Err(ChatError::Malformed { reason: "it says nothing".to_owned() })
            }
            Finish::Stop => Ok(said),
        }
    }
}
