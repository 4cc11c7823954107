//! What goes over the wire: our own types, which take what servers really send. Nothing is required of a reply but one
//! choice with a message: servers leave out ids, times, sums and reasons, and add fields of their own.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::endpoint::{Endpoint, FormSupport, TokensField};
use super::reply::{ChatReply, Finish, ReplyOrigin};
use super::request::{ChatRequest, ReplyForm, Speaker};
use crate::domain::{ChatError, Usage};
use crate::text::model_tokens;

/// A request as it is sent.
#[derive(Debug, Serialize)]
pub(super) struct WireRequest {
    model: String,
    messages: Vec<Value>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Value>,
}

impl WireRequest {
    pub(super) fn of(request: &ChatRequest, endpoint: &Endpoint) -> Self {
        let speaker = |speaker| match speaker {
            Speaker::System => "system",
            Speaker::User => "user",
            Speaker::Assistant => "assistant",
        };
        let messages = request.messages.iter();
        let is_streamed = request.listener.is_some() && endpoint.streams;
        let limit = |field| (endpoint.tokens_field() == field).then_some(request.output_tokens_max);
        Self {
            model: endpoint.model.clone(),
            messages: messages.map(|it| json!({ "role": speaker(it.speaker), "content": it.text })).collect(),
            stream: is_streamed,
            stream_options: is_streamed.then(|| json!({ "include_usage": true })),
            temperature: request.temperature.filter(|_| endpoint.takes_temperature),
            max_tokens: limit(TokensField::MaxTokens),
            max_completion_tokens: limit(TokensField::MaxCompletionTokens),
            response_format: response_format(&request.form, endpoint.form),
        }
    }
}

fn response_format(form: &ReplyForm, support: FormSupport) -> Option<Value> {
    let ReplyForm::Json { name, schema } = form else { return None };
    match support {
        FormSupport::Schema => {
            let mut schema = schema.clone();
            // Which dialect it is written in, is for people: some servers refuse words that they do not know.
            if let Some(words) = schema.as_object_mut() {
                words.retain(|word, _| !matches!(word.as_str(), "$schema" | "title"));
            }
            let schema = json!({ "name": name, "strict": true, "schema": schema });
            Some(json!({ "type": "json_schema", "json_schema": schema }))
        }
        FormSupport::Object => Some(json!({ "type": "json_object" })),
        FormSupport::Prompt => None,
    }
}

/// A reply as it comes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct WireReply {
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    choices: Vec<WireChoice>,
    #[serde(default)]
    usage: Option<WireUsage>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct WireChoice {
    #[serde(default)]
    message: WireMessage,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct WireMessage {
    #[serde(default)]
    content: Option<Content>,
    #[serde(default)]
    refusal: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<ContentPart>),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct ContentPart {
    #[serde(default)]
    text: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct WireUsage {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    completion_tokens: Option<u64>,
}

impl WireReply {
    /// Returns the first choice as a reply to `request` of the model called `model`.
    ///
    /// # Errors
    ///
    /// [`ChatError::Malformed`] if there is none.
    pub(super) fn into_reply(self, request: &ChatRequest, model: &str) -> Result<ChatReply, ChatError> {
        let Some(choice) = self.choices.into_iter().next() else {
            return Err(ChatError::Malformed { reason: "it has no choice".to_owned() });
        };
        let said = match choice.message.content {
            Some(Content::Text(text)) => text,
            Some(Content::Parts(parts)) => parts.into_iter().map(|part| part.text).collect(),
            None => String::new(),
        };
        let refusal = choice.message.refusal.filter(|refusal| !refusal.trim().is_empty());
        let finish = match (&refusal, choice.finish_reason.as_deref()) {
            (Some(_), _) | (None, Some("content_filter")) => Finish::Refusal,
            (None, Some("length" | "max_tokens")) => Finish::Length,
            _ => Finish::Stop,
        };
        let text = refusal.unwrap_or(said);
        let usage = usage(self.usage.as_ref(), request, &text);
        let model = self.model.filter(|name| !name.is_empty()).unwrap_or_else(|| model.to_owned());
        Ok(ChatReply { text, finish, usage, model, origin: ReplyOrigin::Server, cost: None })
    }
}

/// What the server does not say is estimated.
fn usage(wire: Option<&WireUsage>, request: &ChatRequest, text: &str) -> Usage {
    let input = wire.and_then(|it| it.prompt_tokens);
    let output = wire.and_then(|it| it.completion_tokens);
    Usage {
        input_tokens: input.unwrap_or_else(|| request.input_tokens(true)),
        output_tokens: output.unwrap_or_else(|| model_tokens(text)),
        is_estimated: input.is_none() || output.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Preset;
    use super::super::scripted::request;
    use super::*;

    fn reply(wire: Value) -> Result<ChatReply, ChatError> {
        serde_json::from_value::<WireReply>(wire).unwrap().into_reply(&request("Who?"), "m")
    }

    #[test]
    fn what_servers_leave_out_or_add_does_no_harm() {
        let bare = reply(json!({ "choices": [{ "message": { "content": "A." } }] })).unwrap();
        assert_eq!((bare.text.as_str(), bare.finish, bare.model.as_str()), ("A.", Finish::Stop, "m"));
        assert!(bare.usage.is_estimated && bare.usage.input_tokens > 0);
        for reason in ["eos", "load", "abort", "", "stop"] {
            let choice = json!({ "message": { "content": "A.", "x": 1 }, "finish_reason": reason, "index": "0" });
            assert_eq!(reply(json!({ "choices": [choice], "id": 7 })).unwrap().finish, Finish::Stop);
        }
        let parts =
            json!({ "choices": [{ "message": { "content": [{ "type": "text", "text": "A" }, { "text": "." }] } }] });
        assert_eq!(reply(parts).unwrap().text, "A.");
        let counted = json!({
            "model": "other", "choices": [{ "message": { "content": "A." } }],
            "usage": { "prompt_tokens": 3, "completion_tokens": 2 },
        });
        let counted = reply(counted).unwrap();
        assert_eq!(counted.usage, Usage { input_tokens: 3, output_tokens: 2, is_estimated: false });
        assert_eq!(counted.model, "other");
    }

    #[test]
    fn a_reply_that_is_declined_cut_or_empty_is_told_apart() {
        let whole = |message: Value, reason: &str| {
            let wire = json!({ "choices": [{ "message": message, "finish_reason": reason }] });
            reply(wire).unwrap().whole(5).map(str::to_owned)
        };
        assert_eq!(whole(json!({ "content": "A." }), "stop"), Ok("A.".to_owned()));
        assert_eq!(whole(json!({ "content": "A" }), "length"), Err(ChatError::Truncated { tokens_max: 5 }));
        let refused = Err(ChatError::Refused { said: "No.".to_owned() });
        assert_eq!(whole(json!({ "content": null, "refusal": "No." }), "stop"), refused);
        assert!(matches!(whole(json!({ "content": "" }), "content_filter"), Err(ChatError::Refused { .. })));
        assert!(matches!(whole(json!({ "content": " " }), "stop"), Err(ChatError::Malformed { .. })));
        assert!(matches!(whole(json!({}), "stop"), Err(ChatError::Malformed { .. })));
        assert!(matches!(reply(json!({ "choices": [] })), Err(ChatError::Malformed { .. })));
    }

    #[test]
    fn a_schema_is_asked_for_as_the_server_takes_it() {
        let schema = json!({ "$schema": "x", "type": "object" });
        let request = ChatRequest { form: ReplyForm::Json { name: "a", schema }, ..request("Who?") };
        let sent = |form, preset| json!(WireRequest::of(&request, &Endpoint { form, ..Endpoint::of(preset, "m") }));
        let schema = sent(FormSupport::Schema, Preset::Vllm);
        assert_eq!(schema["response_format"]["json_schema"]["schema"], json!({ "type": "object" }));
        assert_eq!((&schema["max_tokens"], schema.get("max_completion_tokens")), (&json!(100), None));
        let object = sent(FormSupport::Object, Preset::OpenAi);
        assert_eq!(object["response_format"], json!({ "type": "json_object" }));
        assert_eq!((object.get("max_tokens"), &object["max_completion_tokens"]), (None, &json!(100)));
        assert_eq!(sent(FormSupport::Prompt, Preset::Vllm).get("response_format"), None);
        let endpoint = Endpoint { takes_temperature: false, ..Endpoint::of(Preset::OpenAi, "m") };
        assert_eq!(json!(WireRequest::of(&request, &endpoint)).get("temperature"), None);
    }
}
