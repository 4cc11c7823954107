//! A request to a language model.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::bound::Measured;
use crate::domain::PassageId;
use crate::text::model_tokens;

/// Raised whenever the inputs of a key change.
const KEY_FORMAT: u32 = 1;
/// Bytes of a prompt per token, if not counted: English has about four, other scripts fewer.
const BYTES_PER_TOKEN: u64 = 3;
/// Tokens around each message, as a server may add them at most.
const TOKENS_PER_MESSAGE: u64 = 8;
/// Tokens around each message, as servers usually add them.
const MESSAGE_TOKENS: u64 = 4;

/// The purpose of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Purpose {
    /// To make an index.
    Index,
    /// To find passages.
    Reason,
    /// To answer.
    Answer,
    /// To probe what a server can do.
    Probe,
}

impl Purpose {
    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Reason => "reason",
            Self::Answer => "answer",
            Self::Probe => "probe",
        }
    }
}

/// The role of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// The program, about the whole conversation.
    System,
    /// The program, with the task.
    User,
    /// The model.
    Assistant,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Its role.
    pub speaker: Speaker,
    /// Its text.
    pub text: String,
}

/// The form that a reply is to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyForm {
    /// Any text.
    Text,
    /// One JSON value that fits a schema.
    Json {
        /// The name of the schema: letters, digits, `_`.
        name: &'static str,
        /// The schema.
        schema: Value,
    },
}

/// Hears a reply while it comes.
#[derive(Clone)]
pub struct Listener(Arc<dyn Fn(&str) + Send + Sync>);

impl Listener {
    /// Calls `hear` with each piece of the reply's text, in order.
    #[must_use]
    pub fn new(hear: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hear))
    }

    /// Passes on the next piece of a reply: your own [`ChatModel`](super::ChatModel) calls it as pieces arrive.
    pub fn tell(&self, piece: &str) {
        (self.0)(piece);
    }
}

impl PartialEq for Listener {
    /// Returns whether they are one.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}

/// A request to a language model.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatRequest {
    /// Its purpose; the reply does not depend on it.
    pub purpose: Purpose,
    /// The messages so far.
    pub messages: Vec<Message>,
    /// The form that the reply is to have.
    pub form: ReplyForm,
    /// How freely it is drawn, from 0; none for the server's own.
    pub temperature: Option<f32>,
    /// Tokens of the reply at most.
    pub output_tokens_max: u32,
    /// The listener for the reply while it arrives, if any. The reply does not depend on it, and is always returned
    /// whole; kept replies, and those that the server sends in one piece, are not passed to it.
    pub listener: Option<Listener>,
    /// Whether to ignore a kept reply, request a new one, and keep that instead. It is not part of the key of a reply.
    pub is_afresh: bool,
    /// The passages that it shows, in order. Not sent, but available to observers and stand-ins.
    pub shown: Vec<PassageId>,
    /// Which of its kind it is for one question, from 0: the round, or the part of the question. Not sent.
    pub step: u32,
}

/// The key of a kept reply: model, parameters, rendered prompt and schema.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestKey([u8; 32]);

impl RequestKey {
    /// Returns its bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for RequestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for RequestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl ChatRequest {
    /// Returns the key of the reply of the model called `model`.
    #[must_use]
    pub fn key(&self, model: &str) -> RequestKey {
        let form = match &self.form {
            ReplyForm::Text => Value::Null,
            ReplyForm::Json { name, schema } => json!({ "name": name, "schema": schema }),
        };
        let whole = json!({
            "format": KEY_FORMAT,
            "model": model,
            "messages": self.messages,
            "form": form,
            "temperature": self.temperature,
            "output_tokens_max": self.output_tokens_max,
        });
        RequestKey(*blake3::hash(whole.to_string().as_bytes()).as_bytes())
    }

    /// Returns the size and kind of the prompt, schema included, and the tokens that a server may add around messages.
    pub(super) fn measured(&self) -> (Measured, u64) {
        let schema = match &self.form {
            ReplyForm::Text => String::new(),
            ReplyForm::Json { schema, .. } => schema.to_string(),
        };
        let said = self.messages.iter().map(|message| message.text.as_str());
        (Measured::of(said.chain([schema.as_str()])), TOKENS_PER_MESSAGE * self.messages.len() as u64)
    }

    /// Returns the bytes of the messages and the schema.
    #[must_use]
    pub fn prompt_bytes(&self) -> u64 {
        let schema = match &self.form {
            ReplyForm::Text => 0,
            ReplyForm::Json { schema, .. } => schema.to_string().len() as u64,
        };
        self.messages.iter().map(|message| message.text.len() as u64).sum::<u64>() + schema
    }

    /// Returns an estimate of the tokens of the prompt: those of the messages and of the schema, if sent, which a
    /// server shows to the model in some form.
    #[must_use]
    pub fn input_tokens(&self, sends_schema: bool) -> u64 {
        let schema = match &self.form {
            ReplyForm::Json { schema, .. } if sends_schema => model_tokens(&schema.to_string()),
            ReplyForm::Json { .. } | ReplyForm::Text => 0,
        };
        let said = self.messages.iter().map(|message| model_tokens(&message.text) + MESSAGE_TOKENS);
        said.sum::<u64>() + schema
    }

    /// Returns about how many tokens the prompt has, rather too many than too few.
    #[must_use]
    pub fn input_tokens_estimate(&self) -> u64 {
        let schema = match &self.form {
            ReplyForm::Text => 0,
            ReplyForm::Json { schema, .. } => schema.to_string().len() as u64,
        };
        let said: u64 = self.messages.iter().map(|message| message.text.len() as u64).sum();
        (said + schema).div_ceil(BYTES_PER_TOKEN) + TOKENS_PER_MESSAGE * self.messages.len() as u64
    }

    /// Returns the most tokens that the call is expected to take, prompt and reply together.
    #[must_use]
    pub fn tokens_max_estimate(&self) -> u64 {
        self.input_tokens_estimate() + u64::from(self.output_tokens_max)
    }
}

/// Returns about how many tokens a text has.
pub(crate) fn tokens_estimate(text: &str) -> u64 {
    (text.len() as u64).div_ceil(BYTES_PER_TOKEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> ChatRequest {
        ChatRequest {
            purpose: Purpose::Answer,
            messages: vec![Message { speaker: Speaker::User, text: "Who?".to_owned() }],
            form: ReplyForm::Json { name: "a", schema: json!({ "type": "object" }) },
            temperature: Some(0.0),
            output_tokens_max: 10,
            listener: None,
            is_afresh: false,
            shown: Vec::new(),
            step: 0,
        }
    }

    #[test]
    fn whatever_could_change_a_reply_changes_its_key_and_nothing_else_does() {
        let key = request().key("m");
        assert_eq!(request().key("m"), key);
        assert_eq!(ChatRequest { purpose: Purpose::Index, ..request() }.key("m"), key);
        assert_eq!(ChatRequest { step: 1, shown: vec![PassageId::of(&[b"a"])], ..request() }.key("m"), key);
        assert_eq!(ChatRequest { listener: Some(Listener::new(|_| ())), ..request() }.key("m"), key);
        assert_eq!(ChatRequest { is_afresh: true, ..request() }.key("m"), key);
        let said = |speaker, text: &str| vec![Message { speaker, text: text.to_owned() }];
        let others = [
            ChatRequest { messages: said(Speaker::System, "Who?"), ..request() },
            ChatRequest { messages: said(Speaker::User, "Why?"), ..request() },
            ChatRequest { form: ReplyForm::Text, ..request() },
            ChatRequest { form: ReplyForm::Json { name: "b", schema: json!({ "type": "object" }) }, ..request() },
            ChatRequest { form: ReplyForm::Json { name: "a", schema: json!({}) }, ..request() },
            ChatRequest { temperature: None, ..request() },
            ChatRequest { temperature: Some(0.5), ..request() },
            ChatRequest { output_tokens_max: 11, ..request() },
        ];
        let mut keys: Vec<RequestKey> = others.iter().map(|it| it.key("m")).collect();
        keys.extend([key, request().key("n")]);
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), others.len() + 2);
    }
}
