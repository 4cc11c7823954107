//! Probes what a server can do with a few small calls, each of which tests one ability.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::client::OpenAiModel;
use super::endpoint::{Endpoint, FormSupport, TokensField, VectorSettings};
use super::prompt::{self, PROBE};
use super::request::{ChatRequest, Listener, Purpose, ReplyForm};
use super::{ChatModel as _, ChatReply, Finish};
use crate::domain::ChatError;
use crate::error::{Error, Result};
use crate::files;

/// What a reply has to be: told by the schema and by nothing else.
const SCHEMA: &str = include_str!("../../schemas/llm/probe.schema.json");
/// Tokens of a reply at most: enough for most models that think before they speak.
const OUTPUT_TOKENS_MAX: u32 = 512;
/// The same once a reply was cut: one that is not whole says nothing about its form.
const OUTPUT_TOKENS_MORE: u32 = 4_096;

/// The abilities of a server with a model.
#[expect(clippy::struct_excessive_bools, reason = "a server may be able to do each without the others")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abilities {
    /// How it is told the form of a reply; none if its replies were cut before that was clear.
    pub form: Option<FormSupport>,
    /// Whether it takes a temperature of 0; else none is sent.
    pub takes_temperature: bool,
    /// Whether it accepts system messages; otherwise, these are put before the user message.
    #[serde(default = "usually")]
    pub takes_system: bool,
    /// Whether it takes bounds of numbers and lists in a schema; else they are left out.
    #[serde(default = "usually")]
    pub takes_bounds: bool,
    /// The field that limits the tokens of a reply, if unusual.
    #[serde(default)]
    pub tokens_field: Option<TokensField>,
    /// Tokens that the model needs for thinking, in addition to those of a reply.
    #[serde(default)]
    pub thinking_tokens: u32,
    /// Maximum texts of a call for vectors, if it refused more.
    #[serde(default)]
    pub texts_max: Option<usize>,
    /// Whether it says how many tokens a call took; else they are estimated.
    pub reports_usage: bool,
    /// Whether it can stream a reply; otherwise, streaming is not requested.
    #[serde(default = "usually")]
    pub streams: bool,
}

impl Default for Abilities {
    /// The assumptions about a server without a probe.
    fn default() -> Self {
        Self {
            form: None,
            takes_temperature: true,
            takes_system: true,
            takes_bounds: true,
            tokens_field: None,
            thinking_tokens: 0,
            texts_max: None,
            reports_usage: true,
            streams: true,
        }
    }
}

impl Abilities {
    /// Returns it with the fields that an endpoint rejects.
    #[must_use]
    pub fn learnt(self, endpoint: &Endpoint) -> Self {
        let is_unusual = endpoint.tokens_field != endpoint.usual_tokens_field();
        Self {
            takes_temperature: self.takes_temperature && endpoint.takes_temperature,
            takes_system: self.takes_system && endpoint.takes_system,
            takes_bounds: self.takes_bounds && endpoint.takes_bounds,
            tokens_field: is_unusual.then_some(endpoint.tokens_field).or(self.tokens_field),
            ..self
        }
    }

    /// Returns an endpoint with these abilities; settings take precedence.
    #[must_use]
    pub fn applied(self, endpoint: Endpoint) -> Endpoint {
        let vectors = VectorSettings { texts_max: endpoint.vectors.texts_max.or(self.texts_max), ..endpoint.vectors };
        Endpoint {
            form: self.form.filter(|_| !endpoint.is_form_set).unwrap_or(endpoint.form),
            takes_temperature: self.takes_temperature,
            takes_system: self.takes_system,
            takes_bounds: self.takes_bounds && endpoint.takes_bounds,
            tokens_field: self.tokens_field.unwrap_or(endpoint.tokens_field),
            streams: self.streams,
            thinking_tokens: if endpoint.thinking_tokens > 0 { endpoint.thinking_tokens } else { self.thinking_tokens },
            vectors,
            ..endpoint
        }
    }
}

/// Returns what is taken for true of a server that was asked before this was.
const fn usually() -> bool {
    true
}

/// Probes a server: usually three calls, and six at most besides those that it refuses, of some hundred tokens each.
///
/// # Errors
///
/// [`Error::Chat`] if it does not reply to the plainest call, or is away meanwhile.
///
/// # Cancel safety
///
/// Dropping the future loses the call in flight, which may have been paid for, and nothing else.
pub async fn probe(endpoint: &Endpoint) -> Result<Abilities> {
    let found = find_out(endpoint).await;
    found.map_err(|error| match error {
        Failed::Call(source) => Error::Chat { model: endpoint.name(), source },
        Failed::Other(error) => error,
    })
}

enum Failed {
    Call(ChatError),
    Other(Error),
}

impl From<ChatError> for Failed {
    fn from(error: ChatError) -> Self {
        Self::Call(error)
    }
}

async fn find_out(endpoint: &Endpoint) -> Result<Abilities, Failed> {
    let schema: Value =
        serde_json::from_str(SCHEMA).map_err(|error| Failed::Other(Error::Internal(error.to_string())))?;
    // Each form is asked for in turn.
    let endpoint = Endpoint { is_form_set: true, ..endpoint.clone() };
    let mut call = Call { endpoint: Abilities::default().applied(endpoint), schema, is_roomy: false };
    let plain = call.plain().await?;
    let form = call.form().await?;
    let streams = call.streams().await?;
    Ok(Abilities { form, reports_usage: !plain.usage.is_estimated, streams, ..Abilities::default() }
        .learnt(&call.endpoint))
}

/// A call that asks for one thing.
struct Call {
    /// Without what the server turned out not to take.
    endpoint: Endpoint,
    schema: Value,
    /// Whether replies get more room, since one was cut.
    is_roomy: bool,
}

impl Call {
    /// Returns the reply to the plainest call, without what the server refuses it for, though it may not say so.
    async fn plain(&mut self) -> Result<ChatReply, Failed> {
        let refused = match self.make(FormSupport::Prompt).await? {
            Ok(reply) => return Ok(reply),
            Err(refused) => refused,
        };
        let usual = self.endpoint.clone();
        // The refusal does not say what it is about.
        for (takes_temperature, takes_system) in [(false, true), (true, false), (false, false)] {
            self.endpoint = Endpoint { takes_temperature, takes_system, ..usual.clone() };
            if let Ok(reply) = self.make(FormSupport::Prompt).await? {
                return Ok(reply);
            }
        }
        // It is a matter of neither: what was said of the usual call says more.
        Err(refused.into())
    }

    /// Returns the best form that the server keeps to; none where its replies were cut.
    async fn form(&mut self) -> Result<Option<FormSupport>, Failed> {
        let mut is_cut = false;
        for support in [FormSupport::Schema, FormSupport::Object, FormSupport::Tool] {
            let Ok(reply) = self.make_whole(support).await? else { continue };
            if keeps(support, &reply) {
                return Ok(Some(support));
            }
            is_cut |= reply.finish == Finish::Length;
        }
        Ok((!is_cut).then_some(FormSupport::Prompt))
    }

    /// Returns the reply, or the refusal of the request; where the reply is cut, that to a call with more room for it.
    async fn make_whole(&mut self, form: FormSupport) -> Result<Result<ChatReply, ChatError>, Failed> {
        let made = self.make(form).await?;
        let is_cut = |reply: &ChatReply| reply.finish == Finish::Length && !keeps(form, reply);
        if self.is_roomy || !made.as_ref().is_ok_and(is_cut) {
            return Ok(made);
        }
        self.is_roomy = true;
        // A server that has no more room says nothing about the form.
        Ok(self.make(form).await?.or(made))
    }

    /// Returns whether a reply comes in pieces.
    async fn streams(&mut self) -> Result<bool, Failed> {
        let heard = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&heard);
        let listener = Listener::new(move |_| flag.store(true, Ordering::Relaxed));
        match self.reply(FormSupport::Prompt, Some(listener)).await? {
            // What says nothing has no pieces.
            Ok(reply) => Ok(reply.text.is_empty() || heard.load(Ordering::Relaxed)),
            // It came, and in pieces that are none.
            Err(ChatError::Malformed { .. } | ChatError::Interrupted { .. }) => Ok(false),
            Err(error) => refusal(error).map(|_| false),
        }
    }

    /// Returns the reply, or the refusal of the request.
    async fn make(&mut self, form: FormSupport) -> Result<Result<ChatReply, ChatError>, Failed> {
        match self.reply(form, None).await? {
            Ok(reply) => Ok(Ok(reply)),
            Err(error) => refusal(error).map(Err),
        }
    }

    async fn reply(
        &mut self,
        form: FormSupport,
        listener: Option<Listener>,
    ) -> Result<Result<ChatReply, ChatError>, Failed> {
        let model = OpenAiModel::new(Endpoint { form, ..self.endpoint.clone() }).map_err(Failed::Other)?;
        let request = ChatRequest {
            shown: Vec::new(),
            step: 0,
            purpose: Purpose::Probe,
            messages: prompt::messages(PROBE, &[]),
            form: ReplyForm::Json { name: "probe", schema: self.schema.clone() },
            temperature: Some(0.0),
            output_tokens_max: if self.is_roomy { OUTPUT_TOKENS_MORE } else { OUTPUT_TOKENS_MAX },
            listener,
            is_afresh: false,
        };
        let replied = model.reply(&request).await;
        self.endpoint = Endpoint { streams: true, ..model.endpoint() };
        Ok(replied)
    }
}

/// Returns an error that says that a server does not take a request; some call what they do not know a fault of their
/// own. Any other ends the probe.
fn refusal(error: ChatError) -> Result<ChatError, Failed> {
    match error {
        ChatError::Request { .. } | ChatError::Server { status: 500, .. } => Ok(error),
        error => Err(Failed::Call(error)),
    }
}

/// Returns whether a reply has the form that was asked for.
fn keeps(form: FormSupport, reply: &ChatReply) -> bool {
    let said = reply.whole(OUTPUT_TOKENS_MORE).unwrap_or_default();
    let value: Option<Value> = serde_json::from_str(said.trim()).ok();
    match form {
        FormSupport::Schema | FormSupport::Tool => {
            value.is_some_and(|value| value == json!({ "verdict": value["verdict"].as_str() }))
        }
        FormSupport::Object => value.is_some_and(|value| value.is_object()),
        FormSupport::Prompt => true,
    }
}

/// Returns what was found out about the model at an endpoint, where it is remembered in a file. One that cannot be read
/// says nothing.
#[must_use]
pub fn remembered(path: &Path, endpoint: &Endpoint) -> Option<Abilities> {
    known(path).remove(&place(endpoint))
}

/// Remembers in a file what was found out about the model at an endpoint. No key is in it.
///
/// # Errors
///
/// [`Error::Io`] if the file cannot be written.
pub fn remember(path: &Path, endpoint: &Endpoint, abilities: Abilities) -> Result<()> {
    remember_with(path, endpoint, |known| *known = abilities)
}

/// Changes what is remembered in a file of the model at an endpoint.
///
/// # Errors
///
/// As [`remember`].
pub fn remember_with(path: &Path, endpoint: &Endpoint, change: impl FnOnce(&mut Abilities)) -> Result<()> {
    let mut known = known(path);
    change(known.entry(place(endpoint)).or_default());
    let text = serde_json::to_string_pretty(&known).map_err(|error| Error::Internal(error.to_string()))?;
    let folder = path.parent().unwrap_or(Path::new("."));
    files::make_folder(folder)?;
    // Another program sees the old file or the new one.
    files::replace_own(path, text)
}

fn known(path: &Path) -> BTreeMap<String, Abilities> {
    let bytes = files::read_own(path).ok().flatten().unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

fn place(endpoint: &Endpoint) -> String {
    format!("{} at {}", endpoint.name(), endpoint.url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_out_is_remembered_by_server_and_model() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cairn/servers.json");
        let [a, b] = ["a", "b"].map(|model| Endpoint::at("http://host/v1", model));
        assert_eq!(remembered(&path, &a), None);
        let form = Some(FormSupport::Object);
        let abilities = Abilities { form, takes_temperature: false, streams: false, ..Abilities::default() };
        remember(&path, &a, abilities).unwrap();
        remember(&path, &b, Abilities { form: None, ..abilities }).unwrap();
        assert_eq!(remembered(&path, &a), Some(abilities));
        // As it was written before streaming was tried.
        let before = std::fs::read_to_string(&path).unwrap().replace(",\n    \"streams\": false", "");
        std::fs::write(&path, before).unwrap();
        assert_eq!(remembered(&path, &a), Some(Abilities { streams: true, ..abilities }));
        std::fs::write(&path, "{").unwrap();
        assert_eq!(remembered(&path, &a), None);
    }
}
