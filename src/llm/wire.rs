//! Wire types: our own, which accept what servers really send. A reply only needs one choice with a message: servers
//! leave out ids, times, sums and reasons, and add fields of their own.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::endpoint::{Endpoint, FormSupport};
use super::reply::{ChatReply, Finish, ReplyOrigin};
use super::request::{ChatRequest, Message, ReplyForm, Speaker};
use crate::domain::{ChatError, Usage};
use crate::text::model_tokens;

/// Tokens of a prompt that a server may add to it: templates, a schema in other words.
const ADDED_TOKENS_MAX: u64 = 65_536;
/// Tokens that a model may write beyond its limit and be believed: some servers do not count thinking in the limit.
const BEYOND_TOKENS_MAX: u64 = 131_072;
/// Bytes that a token may stand for: a count of fewer tokens cannot be true.
pub(super) const BYTES_PER_TOKEN_MAX: u64 = 64;
/// Words of a schema that bound numbers and lists.
const BOUNDS: [&str; 4] = ["minItems", "maxItems", "minimum", "maximum"];

/// Returns a request as it is sent.
pub(super) fn request(request: &ChatRequest, endpoint: &Endpoint) -> Value {
    let sampling = &endpoint.sampling;
    let temperature = sampling.temperature.or(request.temperature.filter(|_| endpoint.takes_temperature));
    let is_streamed = request.listener.is_some() && endpoint.streams;
    let mut body = json!({
        "model": endpoint.model,
        "messages": messages(request, endpoint),
        "stream": is_streamed,
    });
    let mut set = |name: &str, value: Option<Value>| {
        if let (Some(body), Some(value)) = (body.as_object_mut(), value) {
            body.insert(name.to_owned(), value);
        }
    };
    set("stream_options", is_streamed.then(|| json!({ "include_usage": true })));
    set("temperature", temperature.map(Value::from));
    set(endpoint.tokens_field.name(), Some(request.output_tokens_max.into()));
    set("reasoning_effort", sampling.reasoning_effort.clone().map(Value::from));
    for (name, value) in form(&request.form, endpoint) {
        set(name, Some(value));
    }
    for (name, value) in sampling.body.clone() {
        set(&name, Some(value));
    }
    body
}

/// Returns what is said; for a server that takes no messages of the system, all of it as the user says it.
fn messages(request: &ChatRequest, endpoint: &Endpoint) -> Vec<Value> {
    let speaker = |speaker| match speaker {
        Speaker::System => "system",
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
    };
    let (mut said, mut above) = (Vec::new(), String::new());
    for Message { speaker: who, text } in &request.messages {
        if *who == Speaker::System && !endpoint.takes_system {
            above = format!("{above}{text}\n\n");
            continue;
        }
        said.push(json!({ "role": speaker(*who), "content": format!("{}{text}", std::mem::take(&mut above)) }));
    }
    said
}

/// Returns the fields by which a server is told the form of a reply.
fn form(form: &ReplyForm, endpoint: &Endpoint) -> Vec<(&'static str, Value)> {
    let ReplyForm::Json { name, schema } = form else { return Vec::new() };
    let schema = || sent_schema(schema.clone(), endpoint.takes_bounds);
    match endpoint.form {
        FormSupport::Schema => {
            let schema = json!({ "name": name, "strict": true, "schema": schema() });
            vec![("response_format", json!({ "type": "json_schema", "json_schema": schema }))]
        }
        FormSupport::Object => vec![("response_format", json!({ "type": "json_object" }))],
        FormSupport::Tool => {
            let function = json!({ "name": name, "description": "Gives the reply.", "parameters": schema() });
            let choice = json!({ "type": "function", "function": { "name": name } });
            vec![("tools", json!([{ "type": "function", "function": function }])), ("tool_choice", choice)]
        }
        FormSupport::Prompt => Vec::new(),
    }
}

/// Returns a schema without what some servers refuse: which dialect it is written in is for people.
fn sent_schema(mut schema: Value, takes_bounds: bool) -> Value {
    if let Some(words) = schema.as_object_mut() {
        words.retain(|word, _| !matches!(word.as_str(), "$schema" | "title"));
    }
    if !takes_bounds {
        strip_bounds(&mut schema);
    }
    schema
}

fn strip_bounds(schema: &mut Value) {
    match schema {
        Value::Object(words) => {
            words.retain(|word, value| !(BOUNDS.contains(&word.as_str()) && value.is_number()));
            words.values_mut().for_each(strip_bounds);
        }
        Value::Array(values) => values.iter_mut().for_each(strip_bounds),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A reply as it comes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct WireReply {
    #[serde(default, deserialize_with = "lenient")]
    model: Option<String>,
    #[serde(default)]
    choices: Vec<WireChoice>,
    /// What a server says instead, under one of these names.
    #[serde(default, skip_serializing, deserialize_with = "lenient")]
    error: Option<Value>,
    #[serde(default, skip_serializing, deserialize_with = "lenient")]
    message: Option<Value>,
    #[serde(default, skip_serializing, deserialize_with = "lenient")]
    detail: Option<Value>,
    /// Whatever it is: a reply that was paid for is not lost to a count that cannot be read.
    #[serde(default, deserialize_with = "lenient")]
    usage: Option<Value>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct WireChoice {
    #[serde(default)]
    message: WireMessage,
    #[serde(default, deserialize_with = "lenient")]
    finish_reason: Option<String>,
    /// What a gateway says where the model behind it broke off.
    #[serde(default, deserialize_with = "lenient")]
    error: Option<Value>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct WireMessage {
    #[serde(default)]
    content: Option<Content>,
    #[serde(default, deserialize_with = "lenient")]
    refusal: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    tool_calls: Option<Vec<ToolCall>>,
}

/// A function that a model calls: what it is called with is the reply.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct ToolCall {
    #[serde(default)]
    function: Called,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Called {
    #[serde(default)]
    arguments: Value,
}

impl Called {
    fn text(&self) -> String {
        match &self.arguments {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            arguments => arguments.to_string(),
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<ContentPart>),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct ContentPart {
    /// A text, or nothing to read.
    #[serde(default)]
    text: Value,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct WireUsage {
    #[serde(default)]
    prompt_tokens: Value,
    #[serde(default)]
    completion_tokens: Value,
    /// With what a model thought, where the tokens of its reply are without.
    #[serde(default)]
    total_tokens: Value,
    #[serde(default)]
    completion_tokens_details: Value,
}

impl WireUsage {
    /// Returns the tokens that were written: the reply, and what was thought but is not among its tokens.
    fn written(&self) -> Option<u64> {
        let reply = whole(&self.completion_tokens)?;
        let input = whole(&self.prompt_tokens).unwrap_or(0);
        let beyond = |count: &u64| *count <= reply.saturating_add(BEYOND_TOKENS_MAX);
        let total = whole(&self.total_tokens).map(|total| total.saturating_sub(input)).filter(beyond);
        let thought = self.completion_tokens_details.get("reasoning_tokens").and_then(whole);
        let beside = thought.filter(|thought| *thought > reply).map(|thought| thought.saturating_add(reply));
        Some(reply.max(total.unwrap_or(0)).max(beside.filter(beyond).unwrap_or(0)))
    }
}

/// Reads a field that a reply is not lost for: nothing, where it is of another kind than it should be, or holds a
/// number that is none.
pub(super) fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned>(from: D) -> Result<Option<T>, D::Error> {
    let raw = Box::<RawValue>::deserialize(from)?;
    Ok(serde_json::from_str::<Option<T>>(raw.get()).ok().flatten())
}

impl WireReply {
    /// Returns the first choice as a reply to `request` of the model called `model`.
    ///
    /// # Errors
    ///
    /// [`ChatError::Malformed`] if there is none.
    pub(super) fn into_reply(self, request: &ChatRequest, model: &str) -> Result<ChatReply, ChatError> {
        let Some(choice) = self.choices.into_iter().next() else {
            let said = [&self.error, &self.detail, &self.message].into_iter().flatten().next();
            return Err(said.map_or_else(
                || ChatError::Malformed { reason: "it has no choice".to_owned() },
                |said| ChatError::Interrupted { reason: format!("the server says: {}", words(said)) },
            ));
        };
        if let Some(error) = choice.error.filter(|error| !error.is_null()) {
            let said = error.get("message").and_then(Value::as_str).unwrap_or("it has a fault").to_owned();
            return Err(ChatError::Interrupted { reason: format!("the server says: {said}") });
        }
        if choice.finish_reason.as_deref() == Some("error") {
            return Err(ChatError::Interrupted { reason: "the server says that the model broke off".to_owned() });
        }
        let WireMessage { content, refusal, tool_calls } = choice.message;
        let said = match content {
            Some(Content::Text(text)) => text,
            Some(Content::Parts(parts)) => parts.iter().filter_map(|part| part.text.as_str()).collect(),
            None => String::new(),
        };
        let called = tool_calls.unwrap_or_default().first().map(|call| call.function.text()).unwrap_or_default();
        // A model that was told to call a function may talk beside it.
        let said = if called.trim().is_empty() { said } else { called };
        let refusal = refusal.filter(|refusal| !refusal.trim().is_empty());
        let finish = match (&refusal, choice.finish_reason.as_deref()) {
            (Some(_), _) | (None, Some("content_filter")) => Finish::Refusal,
            (None, Some("length" | "max_tokens")) => Finish::Length,
            _ => Finish::Stop,
        };
        let text = refusal.unwrap_or(said);
        let usage = usage(self.usage, request, &text);
        let model = self.model.filter(|name| !name.is_empty()).unwrap_or_else(|| model.to_owned());
        Ok(ChatReply { text, finish, usage, model, origin: ReplyOrigin::Server, calls: 1, cost: None })
    }
}

/// Returns the words of a fault, however they are packed.
pub(super) fn words(said: &Value) -> String {
    let said = said.get("message").unwrap_or(said);
    said.as_str().map_or_else(|| said.to_string(), str::to_owned)
}

/// What the server does not say, or what cannot be true, is estimated.
fn usage(wire: Option<Value>, request: &ChatRequest, text: &str) -> Usage {
    let wire: Option<WireUsage> = wire.and_then(|wire| serde_json::from_value(wire).ok());
    let count = |count: Option<&Value>, bytes: u64, most: u64| {
        let least = (bytes / BYTES_PER_TOKEN_MAX).max(1);
        let count = count.and_then(whole).filter(|count| (least..=most).contains(count));
        count.ok_or(())
    };
    let (prompt, said) = (request.prompt_bytes(), text.len() as u64);
    let input = count(wire.as_ref().map(|it| &it.prompt_tokens), prompt, prompt + ADDED_TOKENS_MAX);
    let output_max = u64::from(request.output_tokens_max).max(said) + BEYOND_TOKENS_MAX;
    let reply = count(wire.as_ref().map(|it| &it.completion_tokens), said, output_max);
    // What was thought has no limit but the server's own.
    let output = reply.map(|reply| wire.as_ref().and_then(WireUsage::written).unwrap_or(reply));
    Usage {
        input_tokens: input.unwrap_or_else(|()| request.input_tokens(true)),
        output_tokens: output.unwrap_or_else(|()| model_tokens(text)),
        is_estimated: input.is_err() || output.is_err(),
    }
}

/// Returns a count, however it is written.
#[expect(clippy::cast_sign_loss, reason = "negative numbers are left out")]
pub(super) fn whole(value: &Value) -> Option<u64> {
    let number = value.as_f64().filter(|it| it.fract() == 0.0 && (0.0..1e15).contains(it));
    value.as_u64().or_else(|| number.map(|it| it as u64))
}

#[cfg(test)]
mod tests {
    use super::super::scripted::request;
    use super::super::{Preset, Sampling};
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
        let refused = Err(ChatError::Refused { message: "No.".to_owned() });
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
        let sent = |form, preset| super::request(&request, &Endpoint { form, ..Endpoint::of(preset, "m") });
        let schema = sent(FormSupport::Schema, Preset::Vllm);
        assert_eq!(schema["response_format"]["json_schema"]["schema"], json!({ "type": "object" }));
        assert_eq!((&schema["max_tokens"], schema.get("max_completion_tokens")), (&json!(100), None));
        let object = sent(FormSupport::Object, Preset::OpenAi);
        assert_eq!(object["response_format"], json!({ "type": "json_object" }));
        assert_eq!((object.get("max_tokens"), &object["max_completion_tokens"]), (None, &json!(100)));
        assert_eq!(sent(FormSupport::Prompt, Preset::Vllm).get("response_format"), None);
        let endpoint = Endpoint { takes_temperature: false, ..Endpoint::of(Preset::OpenAi, "m") };
        assert_eq!(super::request(&request, &endpoint).get("temperature"), None);
    }

    #[test]
    fn refused_parameters_are_not_sent_and_settings_take_precedence_over_requests() {
        let schema = json!({
            "type": "object",
            "properties": { "minimum": { "type": "array", "minItems": 1, "maxItems": 6, "items": { "minimum": 1 } } },
        });
        let messages = [(Speaker::System, "S"), (Speaker::User, "U")];
        let request = ChatRequest {
            messages: messages.map(|(speaker, text)| Message { speaker, text: text.to_owned() }).into(),
            form: ReplyForm::Json { name: "a", schema },
            ..request("Who?")
        };
        let sent = |endpoint: Endpoint| super::request(&request, &endpoint);
        let azure = sent(Endpoint::of(Preset::Azure, "m"));
        let bare = json!({ "type": "object", "properties": { "minimum": { "type": "array", "items": {} } } });
        assert_eq!(azure["response_format"]["json_schema"]["schema"], bare);
        assert_eq!(
            azure["messages"],
            json!([{ "role": "system", "content": "S" }, { "role": "user", "content": "U" }])
        );
        let tool = Endpoint { form: FormSupport::Tool, takes_system: false, ..Endpoint::of(Preset::Vllm, "m") };
        let tool = sent(tool);
        assert_eq!(tool["messages"], json!([{ "role": "user", "content": "S\n\nU" }]));
        assert_eq!((&tool["tools"][0]["function"]["name"], tool.get("response_format")), (&json!("a"), None));
        assert_eq!(sent(Endpoint::of(Preset::Anthropic, "m")).get("response_format"), None);
        let body = json!({ "top_k": 5, "temperature": 1 }).as_object().cloned().unwrap();
        let sampling = Sampling { temperature: Some(0.5), reasoning_effort: Some("low".to_owned()), body };
        let drawn = sent(Endpoint { sampling, ..Endpoint::of(Preset::Vllm, "m") });
        assert_eq!((&drawn["temperature"], &drawn["top_k"]), (&json!(1), &json!(5)));
        assert_eq!((&drawn["reasoning_effort"], &drawn["max_tokens"]), (&json!("low"), &json!(100)));
    }

    #[test]
    fn a_count_that_cannot_be_true_is_estimated_and_loses_no_reply() {
        let usage = |prompt: Value, completion: Value| {
            let usage = json!({ "prompt_tokens": prompt, "completion_tokens": completion });
            reply(json!({ "choices": [{ "message": { "content": "A." } }], "usage": usage })).unwrap().usage
        };
        assert_eq!(usage(json!(12.0), json!(3)), Usage { input_tokens: 12, output_tokens: 3, is_estimated: false });
        for wrong in [json!(0), json!(-1), json!(u64::MAX), json!(1e18), json!("many"), json!(null), json!({})] {
            let usage = usage(wrong.clone(), wrong.clone());
            assert!(usage.is_estimated && (1..100).contains(&usage.tokens()), "{wrong}: {usage:?}");
        }
        let odd = json!({ "choices": [{ "message": { "content": "A." } }], "usage": [1] });
        assert!(reply(odd).unwrap().usage.is_estimated);
        let long = "A mill. ".repeat(250);
        let counted = |tokens: u64| {
            let usage = json!({ "prompt_tokens": 9, "completion_tokens": tokens });
            let choices = json!([{ "message": { "content": long } }]);
            reply(json!({ "choices": choices, "usage": usage })).unwrap().usage
        };
        assert!(counted(1).is_estimated && counted(1).output_tokens > 100, "one token for 2,000 bytes");
        assert_eq!(counted(500).output_tokens, 500);
        for number in ["1e999", "-1e999", "123456789012345678901234567890"] {
            let body = format!(
                r#"{{"x":{number},"choices":[{{"message":{{"content":"A."}}}}],"usage":{{"prompt_tokens":{number}}}}}"#
            );
            let wire: WireReply = serde_json::from_str(&body).unwrap();
            assert!(wire.into_reply(&request("Who?"), "m").unwrap().usage.is_estimated, "{number}");
        }
    }

    #[test]
    fn what_a_model_thought_counts_however_a_server_says_so() {
        let written = |usage: Value| {
            reply(json!({ "choices": [{ "message": { "content": "A." } }], "usage": usage }))
                .unwrap()
                .usage
                .output_tokens
        };
        let of = |more: Value| {
            let mut usage = json!({ "prompt_tokens": 60, "completion_tokens": 10 });
            usage.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            written(usage)
        };
        assert_eq!(of(json!({ "total_tokens": 70 })), 10);
        assert_eq!(of(json!({ "total_tokens": 4_700 })), 4_640);
        assert_eq!(of(json!({ "total_tokens": u64::MAX })), 10);
        assert_eq!(of(json!({ "completion_tokens_details": { "reasoning_tokens": 8 } })), 10);
        assert_eq!(of(json!({ "completion_tokens_details": { "reasoning_tokens": 800 } })), 810);
    }

    #[test]
    fn a_field_of_another_kind_loses_no_reply_and_what_a_server_says_instead_is_said() {
        let odd = json!({ "model": 7, "choices": [{ "finish_reason": 1, "message": {
            "content": [{ "text": null }, { "text": "A." }], "refusal": false, "tool_calls": {},
        } }] });
        assert_eq!(reply(odd).unwrap().text, "A.");
        for fault in [
            json!({ "error": { "message": "full" }, "choices": [] }),
            json!({ "object": "error", "message": "full" }),
            json!({ "detail": "full" }),
        ] {
            let said = reply(fault.clone()).unwrap_err();
            assert!(matches!(&said, ChatError::Interrupted { reason } if reason == "the server says: full"), "{fault}");
        }
    }

    #[test]
    fn a_function_that_is_called_is_the_reply_and_a_fault_of_a_gateway_is_none() {
        let call = |arguments: Value| {
            let message = json!({ "content": "Calling.", "tool_calls": [{ "function": { "arguments": arguments } }] });
            reply(json!({ "choices": [{ "message": message }] })).unwrap().text
        };
        assert_eq!((call(json!("{\"a\": 1}")), call(json!({ "a": 1 }))), ("{\"a\": 1}".into(), "{\"a\":1}".into()));
        assert_eq!(call(json!(null)), "Calling.");
        let ended = json!({ "choices": [{ "message": { "content": "A" }, "finish_reason": "error" }] });
        assert!(matches!(reply(ended), Err(ChatError::Interrupted { .. })));
        let broken = json!({ "choices": [{ "message": { "content": "A" }, "error": { "message": "gone" } }] });
        assert!(matches!(reply(broken), Err(ChatError::Interrupted { reason }) if reason.contains("gone")));
    }
}
