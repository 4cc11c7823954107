//! What a model does for a skill: one request, a check of what comes back, one chance to repair it, and otherwise a
//! reason why there is nothing.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::domain::{ChatError, PassageId, Spent};
use crate::error::{Error, Result};
use crate::llm::prompt::{self, REPAIR};
use crate::llm::{ChatModel, ChatReply, ChatRequest, Listener, Message, Purpose, ReplyForm, ReplyOrigin, Speaker};

/// Bytes of a reply that a skill reads: what is longer than any skill asks for.
const REPLY_BYTES_MAX: usize = 256 << 10;
/// Characters of a reply that are shown to the model again when it is asked to repair it.
const REPEATED_CHARS_MAX: usize = 8_000;

/// One typed task that a model can do: a prompt file, a schema file, and a check of what comes back. Adding one is one
/// file, one prompt, one schema.
pub trait Skill {
    /// What it is given.
    type Input: Sync;
    /// What a reply has to be, as its schema says.
    type Reply: DeserializeOwned;
    /// What it gives.
    type Output;

    /// Its name: letters, digits, `_`.
    const NAME: &'static str;
    /// The JSON schema of a reply.
    const SCHEMA: &'static str;
    /// What its calls are for.
    const PURPOSE: Purpose;
    /// Tokens of a reply at most.
    const OUTPUT_TOKENS_MAX: u32;

    /// Returns what is said to the model.
    fn messages(input: &Self::Input) -> Vec<Message>;

    /// Returns the passages that are shown to it.
    fn shown(#[expect(unused_variables, reason = "named for the docs")] input: &Self::Input) -> Vec<PassageId> {
        Vec::new()
    }

    /// Returns which of its kind the call is for one question, from 0.
    fn step(#[expect(unused_variables, reason = "named for the docs")] input: &Self::Input) -> u32 {
        0
    }

    /// Checks what a schema cannot say, and returns what was meant.
    ///
    /// # Errors
    ///
    /// What is wrong, in words that the model can repair it by.
    fn check(input: &Self::Input, reply: Self::Reply) -> Result<Self::Output, String>;
}

/// What came of asking a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Performed<T> {
    /// What it gave, or why it gave nothing that can be used. What then is up to the skill's rule, if it has one.
    pub outcome: Result<T, Degradation>,
    /// What it came to.
    pub spent: Spent,
}

impl<T> Performed<T> {
    /// Makes of an error about the model one that a skill goes on without, where `is_tolerated` says so.
    ///
    /// # Errors
    ///
    /// Any other error.
    pub(crate) fn tolerating(performed: Result<Self>, is_tolerated: impl Fn(&ChatError) -> bool) -> Result<Self> {
        match performed {
            Err(Error::Chat { source, .. }) if is_tolerated(&source) => {
                Ok(Self { outcome: Err(Degradation::Chat(source)), spent: Spent::default() })
            }
            performed => performed,
        }
    }
}

/// Why a skill goes on without a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Degradation {
    /// There was no reply, or none that is whole.
    #[error("{0}")]
    Chat(ChatError),
    /// The reply, and the one after it, cannot be used.
    #[error("the model's reply cannot be used, nor could a second one: {0}")]
    Invalid(String),
}

/// Asks a model to perform a skill. A reply that cannot be used is asked for once more, with what is wrong with it.
///
/// # Errors
///
/// [`Error::Chat`] for what somebody has to correct ([`ChatError::needs_correction`]); any other fault is in the
/// outcome.
///
/// # Cancel safety
///
/// Dropping the future loses the call in flight, which may have been paid for; replies before it are kept.
pub async fn perform<S: Skill>(model: &dyn ChatModel, input: &S::Input) -> Result<Performed<S::Output>> {
    perform_streaming::<S>(model, input, None).await
}

/// Does the same, with a listener that hears the first reply while it comes, before it is checked.
///
/// # Errors
///
/// As [`perform`].
///
/// # Cancel safety
///
/// As [`perform`].
pub async fn perform_streaming<S: Skill>(
    model: &dyn ChatModel,
    input: &S::Input,
    listener: Option<Listener>,
) -> Result<Performed<S::Output>> {
    let mut request = ChatRequest { listener, ..chat_request::<S>(input)? };
    let mut spent = Spent::default();
    let mut problem = String::new();
    for is_repair in [false, true] {
        let reply = match model.reply(&request).await {
            Ok(reply) => reply,
            // What was wrong with the first reply says more than that there was no second.
            Err(error) if is_repair && (error.is_of_request() || !error.needs_correction()) => {
                let outcome = Err(Degradation::Invalid(format!("{problem} ({error})")));
                return Ok(Performed { outcome, spent });
            }
            Err(source) if source.needs_correction() => {
                return Err(Error::Chat { model: model.name().to_owned(), source });
            }
            Err(error) => return Ok(Performed { outcome: Err(Degradation::Chat(error)), spent }),
        };
        spent.add(&spent_on(&reply));
        let text = match reply.whole(S::OUTPUT_TOKENS_MAX) {
            Ok(text) => text,
            // Asked again it would decline, or be cut, again.
            Err(error) => return Ok(Performed { outcome: Err(Degradation::Chat(error)), spent }),
        };
        match read::<S>(input, text) {
            Ok(output) => return Ok(Performed { outcome: Ok(output), spent }),
            Err(why) => problem = why,
        }
        tracing::info!(skill = S::NAME, is_repair, "a reply cannot be used");
        repair(&mut request, text, &problem);
    }
    Ok(Performed { outcome: Err(Degradation::Invalid(problem)), spent })
}

/// Returns what a model is asked first for a skill.
///
/// # Errors
///
/// [`Error::Internal`] for a schema that is no JSON.
pub fn chat_request<S: Skill>(input: &S::Input) -> Result<ChatRequest> {
    let schema: Value = serde_json::from_str(S::SCHEMA)
        .map_err(|error| Error::Internal(format!("schema of `{}`: {error}", S::NAME)))?;
    Ok(ChatRequest {
        purpose: S::PURPOSE,
        messages: S::messages(input),
        form: ReplyForm::Json { name: S::NAME, schema },
        temperature: Some(0.0),
        output_tokens_max: S::OUTPUT_TOKENS_MAX,
        listener: None,
        is_afresh: false,
        shown: S::shown(input),
        step: S::step(input),
    })
}

fn repair(request: &mut ChatRequest, reply: &str, problem: &str) {
    request.listener = None;
    let reply = reply.chars().take(REPEATED_CHARS_MAX).collect();
    let text = prompt::filled(REPAIR.trim(), &[("problem", problem)]);
    request.messages.push(Message { speaker: Speaker::Assistant, text: reply });
    request.messages.push(Message { speaker: Speaker::User, text });
}

fn read<S: Skill>(input: &S::Input, text: &str) -> Result<S::Output, String> {
    if text.len() > REPLY_BYTES_MAX {
        return Err(format!("it has {} bytes; {REPLY_BYTES_MAX} are allowed", text.len()));
    }
    let object = only_object(text)?;
    let reply = serde_json::from_str(object).map_err(|error| format!("it does not fit the schema: {error}"))?;
    S::check(input, reply)
}

/// Returns the one JSON object in a text, whatever prose or fence stands around it.
fn only_object(text: &str) -> Result<&str, String> {
    let start = text.find('{').ok_or("it has no JSON object")?;
    let rest = &text[start..];
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<serde::de::IgnoredAny>();
    match values.next() {
        Some(Ok(_)) => {}
        Some(Err(error)) => return Err(format!("its JSON is broken: {error}")),
        None => return Err("it has no JSON object".to_owned()),
    }
    let end = values.byte_offset();
    if rest[end..].contains('{') {
        return Err("it has more than one JSON object".to_owned());
    }
    Ok(&rest[..end])
}

/// Returns what a reply came to; one that was kept came to nothing.
fn spent_on(reply: &ChatReply) -> Spent {
    if reply.origin == ReplyOrigin::Cache {
        return Spent { cached: 1, ..Spent::default() };
    }
    Spent { calls: 1, cached: 0, usage: reply.usage, cost: reply.cost.clone() }
}

#[cfg(test)]
mod tests;
