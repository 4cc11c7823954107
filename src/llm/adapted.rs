//! Adapts requests to a server: fields that its refusals name are left out of the same request and later ones.

use serde_json::Value;

use super::endpoint::{Endpoint, FormSupport, TokensField};
use super::request::ChatRequest;
use super::wire;
use crate::domain::ChatError;

/// How a refusal says that a server does not know, or does not want, a field.
const UNWANTED: [&str; 12] = [
    "unsupported",
    "not supported",
    "not support",
    "only supports",
    "not enabled",
    "unknown",
    "unrecognized",
    "extra inputs",
    "not permitted",
    "not allowed",
    "must be",
    "must alternate",
];
/// The same for a server fault; other faults are transient.
const UNWANTED_AS_FAULT: [&str; 4] = ["unsupported", "not supported", "not support", "validation error"];

/// Parts of a request that may be left out or changed, in the order in which that is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Temperature,
    System,
    TokensField,
    Bounds,
    Schema,
    Form,
    Stream,
}

impl Part {
    const ALL: [Self; 7] =
        [Self::Temperature, Self::System, Self::TokensField, Self::Bounds, Self::Schema, Self::Form, Self::Stream];

    /// Returns whether words are about it.
    fn is_named(self, words: &[&str]) -> bool {
        let any = |names: &[&str]| names.iter().any(|name| words.contains(name));
        match self {
            Self::Temperature => any(&["temperature"]),
            Self::System => {
                any(&["system", "developer"]) && any(&["role", "roles", "message", "messages", "instruction"])
            }
            Self::TokensField => any(&["max_tokens", "max_completion_tokens"]),
            Self::Bounds => any(&["minitems", "maxitems"]) || any(&["minimum", "maximum"]) && any(&["schema"]),
            Self::Schema | Self::Form => {
                any(&["response_format", "json_schema", "json_object", "tool_choice", "tools", "grammar"])
                    || any(&["structured"]) && any(&["output", "outputs"])
                    || any(&["json"]) && any(&["schema", "mode"])
            }
            Self::Stream => any(&["stream", "stream_options", "streaming"]),
        }
    }

    /// Returns an endpoint whose server is called without it; unchanged if the user has set it.
    fn left_out(self, endpoint: &Endpoint) -> Endpoint {
        let it = endpoint.clone();
        match self {
            Self::Temperature => Endpoint { takes_temperature: endpoint.sampling.temperature.is_some(), ..it },
            Self::System => Endpoint { takes_system: false, ..it },
            Self::TokensField => Endpoint { tokens_field: endpoint.usual_tokens_field().other(), ..it },
            Self::Bounds => Endpoint { takes_bounds: false, ..it },
            Self::Schema if endpoint.form == FormSupport::Schema && !endpoint.is_form_set => {
                Endpoint { form: FormSupport::Object, ..it }
            }
            Self::Form if !endpoint.is_form_set => Endpoint { form: FormSupport::Prompt, ..it },
            Self::Schema | Self::Form => it,
            Self::Stream => Endpoint { streams: false, ..it },
        }
    }
}

impl TokensField {
    const fn other(self) -> Self {
        match self {
            Self::MaxTokens => Self::MaxCompletionTokens,
            Self::MaxCompletionTokens => Self::MaxTokens,
        }
    }
}

/// How one request is sent, each time otherwise after a refusal.
pub(super) struct Attempts<'a> {
    request: &'a ChatRequest,
    pub(super) endpoint: Endpoint,
    /// The body to send.
    pub(super) body: Value,
    tried: Vec<Part>,
    /// The last refusal, and the endpoint before something was left out for it.
    last: Option<(String, Endpoint)>,
}

impl<'a> Attempts<'a> {
    pub(super) fn new(request: &'a ChatRequest, endpoint: Endpoint) -> Self {
        let body = wire::request(request, &endpoint);
        Self { request, endpoint, body, tried: Vec::new(), last: None }
    }

    /// Leaves out the part that a refusal names. The part left out before returns if the server's message did not
    /// change. Returns whether the body changed: each part is tried once.
    pub(super) fn leave_out(&mut self, refusal: &ChatError) -> bool {
        let Some(said) = unwanted(refusal) else { return false };
        if let Some((last, before)) = self.last.take()
            && last == said
        {
            self.endpoint = before;
        }
        let words: Vec<&str> = said.split(|it: char| !(it.is_ascii_alphanumeric() || it == '_')).collect();
        for part in Part::ALL {
            if self.tried.contains(&part) || !part.is_named(&words) {
                continue;
            }
            self.tried.push(part);
            let simpler = part.left_out(&self.endpoint);
            let body = wire::request(self.request, &simpler);
            if body != wire::request(self.request, &self.endpoint) {
                self.last = Some((said, std::mem::replace(&mut self.endpoint, simpler)));
                self.body = body;
                return true;
            }
        }
        false
    }
}

/// Returns a server's message, in lower case, if it rejects something.
fn unwanted(refusal: &ChatError) -> Option<String> {
    let (said, words) = match refusal {
        ChatError::Request { status: 400 | 415 | 422, message: said } => (said, UNWANTED.as_slice()),
        ChatError::Server { status: 500, message: said, .. } => (said, UNWANTED_AS_FAULT.as_slice()),
        _ => return None,
    };
    let said = said.to_lowercase();
    words.iter().any(|word| said.contains(word)).then_some(said)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::request::{Listener, Message, ReplyForm, Speaker};
    use super::super::scripted::request;
    use super::*;

    /// A request with every parameter that may be refused.
    fn whole() -> ChatRequest {
        let messages = [(Speaker::System, "S"), (Speaker::User, "U")];
        let schema = json!({ "type": "array", "maxItems": 5 });
        ChatRequest {
            messages: messages.map(|(speaker, text)| Message { speaker, text: text.to_owned() }).into(),
            form: ReplyForm::Json { name: "a", schema },
            listener: Some(Listener::new(|_| ())),
            ..request("U")
        }
    }

    fn refused(said: &str) -> ChatError {
        ChatError::Request { status: 400, message: said.to_owned() }
    }

    fn usual() -> Endpoint {
        Endpoint::at("http://host/v1", "m")
    }

    /// Returns the endpoint after repeating the same refusal.
    fn after(endpoint: Endpoint, refusal: &ChatError) -> (Endpoint, u32) {
        let whole = whole();
        let (mut attempts, mut count) = (Attempts::new(&whole, endpoint), 0);
        while attempts.leave_out(refusal) {
            count += 1;
        }
        (attempts.endpoint, count)
    }

    #[test]
    fn what_servers_say_they_do_not_take_is_left_out() {
        /// Returns whether an endpoint leaves out what was refused.
        type IsWithout = fn(&Endpoint) -> bool;
        let cases: [(&str, IsWithout); 9] = [
            ("Unsupported value: 'temperature' does not support 0 with this model.", |it| !it.takes_temperature),
            ("System role not supported", |it| !it.takes_system),
            ("Developer instruction is not enabled for models/gemma-3", |it| !it.takes_system),
            ("Conversation roles must alternate; system messages come first", |it| !it.takes_system),
            ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", |it| {
                it.tokens_field == TokensField::MaxCompletionTokens
            }),
            ("Invalid schema: `maxItems` is not permitted.", |it| !it.takes_bounds),
            ("'response_format.type' must be 'json_object' or 'text'", |it| it.form == FormSupport::Object),
            ("This model does not support JSON schema", |it| it.form == FormSupport::Object),
            ("stream is not supported", |it| !it.streams),
        ];
        for (said, is_without) in cases {
            let whole = whole();
            let mut attempts = Attempts::new(&whole, usual());
            assert!(attempts.leave_out(&refused(said)) && is_without(&attempts.endpoint), "{said}");
        }
        let fault = |said: &str| ChatError::Server { status: 500, retry_after_ms: None, message: said.to_owned() };
        assert_eq!(after(usual(), &fault("1 validation error: response_format")).1, 2);
        assert_eq!(after(usual(), &fault("unexpected error from upstream; see the system message log")).1, 0);
    }

    #[test]
    fn other_refusals_change_nothing_and_what_a_user_set_stays() {
        for said in ["the prompt has 9000 tokens, of 4096", "max_tokens is too large: 9000", "no credit", "max_tokens"]
        {
            assert_eq!(after(usual(), &refused(said)), (usual(), 0), "{said}");
        }
        let key = ChatError::Key { status: 401, message: "temperature is not supported".to_owned() };
        assert_eq!(after(usual(), &key).1, 0);
        let mut set = Endpoint { is_form_set: true, ..usual() };
        set.sampling.temperature = Some(0.7);
        assert_eq!(after(set.clone(), &refused("temperature and json_schema: not supported")), (set, 0));
    }

    #[test]
    fn parameters_that_were_not_sent_are_not_left_out() {
        let bare = request("U");
        let mut attempts = Attempts::new(&bare, usual());
        assert!(!attempts.leave_out(&refused("system role, maxItems, json_schema, stream: not supported")));
        assert!(attempts.leave_out(&refused("temperature is not supported")));
    }

    #[test]
    fn parameters_whose_removal_did_not_help_come_back_and_a_server_that_refuses_everything_is_soon_given_up() {
        let said = "Unknown field 'response_format'. Allowed: messages, model, system, temperature, max_tokens";
        let whole = whole();
        let mut attempts = Attempts::new(&whole, usual());
        while attempts.endpoint.form != FormSupport::Prompt {
            assert!(attempts.leave_out(&refused(said)));
        }
        assert_eq!(attempts.endpoint, Endpoint { form: FormSupport::Prompt, ..usual() });
        let said = "temperature, system role, max_tokens, maxItems, response_format, stream: not supported";
        let (endpoint, count) = after(usual(), &refused(said));
        assert_eq!((endpoint, count), (usual(), 7));
    }
}
