//! Performs a skill with a model: one request, a check of the reply, one chance to repair it, and otherwise a reason
//! why there is no result.

use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use crate::domain::{ChatError, PassageId, Spent};
use crate::error::{Error, Result};
use crate::llm::prompt::{self, REPAIR};
use crate::llm::{ChatModel, ChatReply, ChatRequest, Listener, Message, Purpose, ReplyForm, ReplyOrigin};
use crate::text::one_line;

/// Maximum bytes of a reply: more than any skill requests.
const REPLY_BYTES_MAX: usize = 256 << 10;
/// Characters of a reply that are shown to the model again when it is asked to repair it.
const REPEATED_CHARS_MAX: usize = 8_000;
/// Characters of an unusable reply that are shown.
const BEGINNING_CHARS: usize = 80;
/// Places in a reply that are tried as the beginning of a JSON object.
const OBJECTS_MAX: usize = 256;

/// One typed task for a model: a prompt file, a schema file, and a check of the reply. Adding one takes one file, one
/// prompt, one schema.
pub trait Skill {
    /// Its input.
    type Input: Sync;
    /// A reply, as defined by its schema.
    type Reply: DeserializeOwned;
    /// Its output.
    type Output;

    /// Its name: letters, digits, `_`.
    const NAME: &'static str;
    /// The JSON schema of a reply.
    const SCHEMA: &'static str;
    /// What its calls are for.
    const PURPOSE: Purpose;
    /// Tokens of a reply at most.
    const OUTPUT_TOKENS_MAX: u32;

    /// Returns the prompt.
    fn messages(input: &Self::Input) -> Vec<Message>;

    /// Returns the passages that are shown to it.
    fn shown(#[expect(unused_variables, reason = "named for the docs")] input: &Self::Input) -> Vec<PassageId> {
        Vec::new()
    }

    /// Returns which of its kind the call is for one question, from 0.
    fn step(#[expect(unused_variables, reason = "named for the docs")] input: &Self::Input) -> u32 {
        0
    }

    /// Checks what a schema cannot express, and returns the output.
    ///
    /// # Errors
    ///
    /// The fault, in words by which the model can repair it.
    fn check(input: &Self::Input, reply: Self::Reply) -> Result<Self::Output, String>;
}

/// The result of asking a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Performed<T> {
    /// Its output, or why there is none. The skill's rule, if any, is then the fallback.
    pub outcome: Result<T, Degradation>,
    /// Its cost.
    pub spent: Spent,
}

impl<T> Performed<T> {
    /// Makes of an error about the model one that a skill continues without, where `is_tolerated` says so.
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

/// Why a skill continues without a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Degradation {
    /// There was no reply, or none that is whole.
    #[error("{0}")]
    Chat(ChatError),
    /// The reply, and the one after it, cannot be used.
    #[error("the model's reply cannot be used, nor could a second one: {0}")]
    Invalid(String),
}

impl Degradation {
    /// Returns whether a reply was unusable.
    #[must_use]
    pub const fn is_of_reply(&self) -> bool {
        matches!(self, Self::Invalid(_) | Self::Chat(ChatError::Refused { .. } | ChatError::Truncated { .. }))
    }
}

/// How a skill is performed.
#[derive(Debug, Clone, Default)]
pub struct PerformOptions {
    /// Hears the first reply while it comes, before it is checked.
    pub listener: Option<Listener>,
    /// What becomes of a kept reply that cannot be used.
    pub unusable: KeptUnusable,
}

/// What to do with an unusable kept reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KeptUnusable {
    /// The model is asked again, and its new reply replaces the old one.
    #[default]
    AskedAnew,
    /// It stays, and is of no use once more.
    Stays,
}

/// Asks a model to perform a skill. An unusable reply is requested once more, with its fault.
///
/// # Errors
///
/// [`Error::Chat`] for faults that the user must correct ([`ChatError::needs_correction`]); any other is in the
/// outcome.
///
/// # Cancel safety
///
/// Dropping the future loses the call in flight, which may have been paid for; replies before it are kept.
pub async fn perform<S: Skill>(model: &dyn ChatModel, input: &S::Input) -> Result<Performed<S::Output>> {
    perform_with::<S>(model, input, PerformOptions::default()).await
}

/// Does the same, as `options` say.
///
/// # Errors
///
/// As [`perform`].
///
/// # Cancel safety
///
/// As [`perform`].
pub async fn perform_with<S: Skill>(
    model: &dyn ChatModel,
    input: &S::Input,
    options: PerformOptions,
) -> Result<Performed<S::Output>> {
    let PerformOptions { listener, unusable } = options;
    let mut request = ChatRequest { listener, ..chat_request::<S>(input)? };
    let mut attempt = Attempt { model, unusable, spent: Spent::default() };
    let mut problem = String::new();
    for is_repair in [false, true] {
        let outcome = match attempt.make::<S>(input, &request).await {
            Ok(Ok(output)) => Ok(output),
            Ok(Err(Unusable::Form { why, said })) => {
                problem = format!("{why} (it begins: `{}`)", beginning(&said));
                tracing::info!(skill = S::NAME, is_repair, "a reply cannot be used");
                if !is_repair {
                    repair(&mut request, &said, &why);
                    continue;
                }
                Err(Degradation::Invalid(problem))
            }
            // The fault of the first reply says more than the lack of a second.
            Err(error) if is_repair && (error.is_of_request() || !error.needs_correction()) => {
                Err(Degradation::Invalid(format!("{problem} ({error})")))
            }
            Err(source) if source.needs_correction() => {
                return Err(Error::Chat { model: model.name().to_owned(), source });
            }
            // One that declined or was cut would decline, or be cut, again.
            Ok(Err(Unusable::Whole(error))) | Err(error) => Err(Degradation::Chat(error)),
        };
        return Ok(Performed { outcome, spent: attempt.spent });
    }
    Ok(Performed { outcome: Err(Degradation::Invalid(problem)), spent: attempt.spent })
}

/// Why a reply cannot be used.
enum Unusable {
    /// It declines, is cut, or says nothing.
    Whole(ChatError),
    /// It does not have the form, or says what cannot be.
    Form { why: String, said: String },
}

impl std::fmt::Display for Unusable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Whole(error) => error.fmt(f),
            Self::Form { why, said } => write!(f, "{why} (it begins: `{}`)", beginning(said)),
        }
    }
}

/// Returns how a reply begins, on one line.
fn beginning(said: &str) -> String {
    let line = one_line(said);
    match line.char_indices().nth(BEGINNING_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// A model, and its cost so far.
struct Attempt<'a> {
    model: &'a dyn ChatModel,
    unusable: KeptUnusable,
    spent: Spent,
}

impl Attempt<'_> {
    /// Returns the output of a reply to a request; an unusable kept one is requested again.
    async fn make<S: Skill>(
        &mut self,
        input: &S::Input,
        request: &ChatRequest,
    ) -> Result<Result<S::Output, Unusable>, ChatError> {
        let (used, origin) = self.ask::<S>(input, request).await?;
        if used.is_ok() || origin == ReplyOrigin::Server || self.unusable == KeptUnusable::Stays {
            return Ok(used);
        }
        let afresh = ChatRequest { is_afresh: true, ..request.clone() };
        match self.ask::<S>(input, &afresh).await {
            Ok((used, _)) => Ok(used),
            // No call is possible: only kept replies are available.
            Err(ChatError::Budget { .. } | ChatError::NotRecorded { .. }) => Ok(used),
            Err(error) => Err(error),
        }
    }

    async fn ask<S: Skill>(
        &mut self,
        input: &S::Input,
        request: &ChatRequest,
    ) -> Result<(Result<S::Output, Unusable>, ReplyOrigin), ChatError> {
        let reply = match self.model.reply(request).await {
            Ok(reply) => reply,
            Err(error) => {
                self.spent.add(&Spent::on(&error));
                return Err(error);
            }
        };
        self.spent.add(&spent_on(&reply));
        let used = match reply.whole(request.output_tokens_max) {
            Err(error) => Err(Unusable::Whole(error)),
            Ok(text) => read::<S>(input, text).map_err(|why| Unusable::Form { why, said: text.to_owned() }),
        };
        if reply.origin == ReplyOrigin::Server {
            self.model.note_use(used.as_ref().err().map(ToString::to_string).as_deref());
        }
        Ok((used, reply.origin))
    }
}

/// Returns the first request of a skill.
///
/// # Errors
///
/// [`Error::Internal`] for a schema that is not JSON.
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

/// Requests another reply in the last message, since some servers accept only alternating messages of user and model.
/// The reply and its fault may repeat text of a document, so they are between marks.
pub(super) fn repair(request: &mut ChatRequest, reply: &str, problem: &str) {
    request.listener = None;
    let reply: String = reply.chars().take(REPEATED_CHARS_MAX).collect();
    let mark = prompt::mark(&[problem, &reply]);
    let text = prompt::filled(REPAIR.trim(), &[("mark", &mark), ("problem", problem), ("reply", &reply)]);
    if let Some(last) = request.messages.last_mut() {
        last.text = format!("{}\n\n{text}", last.text);
    }
}

fn read<S: Skill>(input: &S::Input, text: &str) -> Result<S::Output, String> {
    if text.len() > REPLY_BYTES_MAX {
        return Err(format!("it has {} bytes; {REPLY_BYTES_MAX} are allowed", text.len()));
    }
    S::check(input, only_reply::<S::Reply>(text)?)
}

/// Returns the only reply in a text, whatever prose, fence or other object surrounds it.
fn only_reply<R: DeserializeOwned>(text: &str) -> Result<R, String> {
    let (mut only, mut problem) = (None, "it has no JSON object".to_owned());
    let mut rest = text;
    for _ in 0..OBJECTS_MAX {
        let Some(start) = rest.find('{') else { break };
        rest = &rest[start..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
        match values.next() {
            Some(Ok(_)) => {
                let (object, after) = rest.split_at(values.byte_offset());
                match serde_json::from_str::<R>(object) {
                    Ok(_) if only.is_some() => return Err("it has more than one JSON object".to_owned()),
                    Ok(reply) => only = Some(reply),
                    Err(error) => problem = format!("it does not fit the schema: {error}"),
                }
                rest = after;
            }
            broken => {
                if let Some(Err(error)) = broken {
                    problem = format!("its JSON is broken: {error}");
                }
                rest = &rest[1..];
                // Objects inside a broken object are not replies; anything else may be prose.
                if rest.trim_start().starts_with('"') {
                    return Err(problem);
                }
            }
        }
    }
    only.ok_or(problem)
}

/// Returns the cost of a reply; a kept one costs nothing.
fn spent_on(reply: &ChatReply) -> Spent {
    if reply.origin == ReplyOrigin::Cache {
        return Spent { cached: 1, ..Spent::default() };
    }
    Spent { calls: reply.calls, usage: reply.usage, cost: reply.cost.clone(), ..Spent::default() }
}

#[cfg(test)]
mod tests;
