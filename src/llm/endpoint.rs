//! The endpoint of a language model: address and settings.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::domain::{Redactor, Secret};
use crate::error::{Error, Result};

/// The default timeout of a call.
const TIMEOUT_DEFAULT: Duration = Duration::from_mins(2);

/// Maximum characters of a prefix for an embedder's texts.
const PREFIX_CHARS_MAX: usize = 1_000;
/// The separator between the name of an embedder and its settings.
pub(crate) const WITH: &str = " with ";

/// The scheme of an authorization header.
const SCHEMES: [&str; 4] = ["Bearer", "Basic", "Token", "ApiKey"];

/// A server that is known by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Preset {
    /// `OpenAI`.
    OpenAi,
    /// Ollama on this machine.
    Ollama,
    /// vLLM on this machine.
    Vllm,
    /// llama.cpp's server on this machine.
    LlamaCpp,
    /// `LiteLLM`'s proxy on this machine.
    LiteLlm,
    /// `OpenAI`'s models at Azure; each customer has an address of its own.
    Azure,
    /// Anthropic, by its API for programs made for `OpenAI`'s.
    Anthropic,
    /// Google's Gemini, by its API for programs made for `OpenAI`'s.
    Gemini,
    /// `OpenRouter`.
    OpenRouter,
}

impl Preset {
    /// Every server that is known by its name.
    pub const ALL: [Self; 9] = [
        Self::OpenAi,
        Self::Ollama,
        Self::Vllm,
        Self::LlamaCpp,
        Self::LiteLlm,
        Self::Azure,
        Self::Anthropic,
        Self::Gemini,
        Self::OpenRouter,
    ];

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Ollama => "ollama",
            Self::Vllm => "vllm",
            Self::LlamaCpp => "llama.cpp",
            Self::LiteLlm => "litellm",
            Self::Azure => "azure",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::OpenRouter => "openrouter",
        }
    }

    /// Returns the variable in which other programs look for its key, if any.
    #[must_use]
    pub const fn key_variable(self) -> Option<&'static str> {
        match self {
            Self::OpenAi => Some("OPENAI_API_KEY"),
            Self::Azure => Some("AZURE_OPENAI_API_KEY"),
            Self::Anthropic => Some("ANTHROPIC_API_KEY"),
            Self::Gemini => Some("GEMINI_API_KEY"),
            Self::OpenRouter => Some("OPENROUTER_API_KEY"),
            Self::Ollama | Self::Vllm | Self::LlamaCpp | Self::LiteLlm => None,
        }
    }

    /// Returns how it is told the form of a reply, without a probe.
    const fn form(self) -> FormSupport {
        match self {
            // It takes `response_format` and does nothing about it.
            Self::Anthropic => FormSupport::Prompt,
            _ => FormSupport::Schema,
        }
    }

    /// Returns its usual address; none if each customer has a different one.
    #[must_use]
    pub const fn url(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Ollama => "http://localhost:11434/v1",
            Self::Vllm => "http://localhost:8000/v1",
            Self::LlamaCpp => "http://localhost:8080/v1",
            Self::LiteLlm => "http://localhost:4000/v1",
            Self::Azure => "",
            Self::Anthropic => "https://api.anthropic.com/v1",
            Self::Gemini => "https://generativelanguage.googleapis.com/v1beta/openai",
            Self::OpenRouter => "https://openrouter.ai/api/v1",
        }
    }

    /// Returns what limits the reply's tokens there, where nothing was found out.
    const fn tokens_field(self) -> TokensField {
        match self {
            Self::OpenAi | Self::Azure => TokensField::MaxCompletionTokens,
            _ => TokensField::MaxTokens,
        }
    }
}

impl FromStr for Preset {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|preset| preset.name() == text).ok_or_else(|| Error::Option {
            option: "server of models",
            value: text.to_owned(),
            reason: format!("expected one of {}", Self::ALL.map(Self::name).join(", ")),
        })
    }
}

/// The field of a request that limits the reply's tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokensField {
    /// `max_tokens`.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
}

impl TokensField {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }
}

/// How a server is told the form of a reply. The prompt always describes it in words too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FormSupport {
    /// By a JSON schema: `schema`.
    #[default]
    Schema,
    /// That it is JSON: `object`.
    Object,
    /// By a function that it is to call: `tool`.
    Tool,
    /// By the prompt alone: `prompt`.
    Prompt,
}

impl FromStr for FormSupport {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "schema" => Ok(Self::Schema),
            "object" => Ok(Self::Object),
            "tool" => Ok(Self::Tool),
            "prompt" => Ok(Self::Prompt),
            _ => Err(Error::Option {
                option: "form of replies",
                value: text.to_owned(),
                reason: "expected one of schema, object, tool, prompt".to_owned(),
            }),
        }
    }
}

/// The endpoint of a language model: address and settings.
#[expect(clippy::struct_excessive_bools, reason = "a server may be able to do each without the others")]
#[derive(Clone, PartialEq)]
pub struct Endpoint {
    /// The server, if known by name.
    pub preset: Option<Preset>,
    /// Its address, up to `/v1`.
    pub url: String,
    /// The version of Azure's API: the path then names the model, and the address ends at the host.
    pub api_version: Option<String>,
    /// The model, as the server names it.
    pub model: String,
    /// The key; it may be empty.
    pub key: Secret,
    /// The organization that is charged.
    pub organization: Option<String>,
    /// Further headers; their values are not shown.
    pub headers: Vec<(String, Secret)>,
    /// How the server is told the form of a reply.
    pub form: FormSupport,
    /// Whether the user has set that, so that no finding about the server changes it.
    pub is_form_set: bool,
    /// Whether it takes a temperature; else none is sent, and replies are drawn as the server likes.
    pub takes_temperature: bool,
    /// Whether it accepts system messages; otherwise, these are put before the user message.
    pub takes_system: bool,
    /// Whether it takes bounds of numbers and lists in a schema; else they are left out.
    pub takes_bounds: bool,
    /// What limits the tokens of a reply.
    pub tokens_field: TokensField,
    /// Whether a reply may be streamed.
    pub streams: bool,
    /// Tokens for thinking before the reply, in addition to those of the reply: for its [`Room`](super::Room).
    pub thinking_tokens: u32,
    /// Fields sent with every request, which override all others.
    pub sampling: Sampling,
    /// How it makes vectors, if it is an embedder.
    pub vectors: VectorSettings,
    /// The proxy that requests go through; it may hold a password.
    pub proxy: Option<Secret>,
    /// PEM certificates that are trusted in addition to those of the system.
    pub certificates: Option<Vec<u8>>,
    /// Time for a call, from its first byte to its last.
    pub timeout: Duration,
}

/// How an embedder behind a server is asked for vectors.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VectorSettings {
    /// Values per vector, if the model can make shorter ones.
    pub dimensions: Option<u32>,
    /// The prefix of questions to an index, which some models need.
    pub query_prefix: String,
    /// The prefix of texts in an index.
    pub passage_prefix: String,
    /// Texts of a call at most.
    pub texts_max: Option<usize>,
}

impl VectorSettings {
    /// Returns the prefix of a text.
    pub(crate) fn prefix(&self, is_question: bool) -> &str {
        if is_question { &self.query_prefix } else { &self.passage_prefix }
    }

    /// Returns the settings on which vectors depend, as text; empty for the defaults.
    fn text(&self) -> Option<String> {
        let Self { dimensions, query_prefix, passage_prefix, texts_max: _ } = self;
        let is_usual = dimensions.is_none() && query_prefix.is_empty() && passage_prefix.is_empty();
        let all = json!({ "dimensions": dimensions, "query": query_prefix, "passage": passage_prefix });
        (!is_usual).then(|| all.to_string())
    }
}

/// Sampling settings that override those of the request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sampling {
    /// The temperature, instead of that of the request.
    pub temperature: Option<f32>,
    /// How much the model is to think: `low`, `medium`, `high`, or what its server has.
    pub reasoning_effort: Option<String>,
    /// Further fields of the body, which go before any other.
    pub body: Map<String, Value>,
}

impl Sampling {
    /// Returns the settings on which replies depend, as text; empty for the defaults.
    fn text(&self) -> Option<String> {
        let Self { temperature, reasoning_effort, body } = self;
        let all = json!({ "temperature": temperature, "reasoning_effort": reasoning_effort, "body": body });
        (*self != Self::default()).then(|| all.to_string())
    }
}

impl Endpoint {
    /// Returns the model called `model` of a server that is known by its name, without a key.
    #[must_use]
    pub fn of(preset: Preset, model: &str) -> Self {
        Self::at(preset.url(), model).with_preset(preset)
    }

    /// Returns the model called `model` of any server that speaks as `OpenAI`'s, without a key.
    #[must_use]
    pub fn at(url: &str, model: &str) -> Self {
        Self {
            preset: None,
            url: url.trim_end_matches('/').to_owned(),
            api_version: None,
            model: model.to_owned(),
            key: Secret::default(),
            organization: None,
            headers: Vec::new(),
            form: FormSupport::default(),
            is_form_set: false,
            takes_temperature: true,
            takes_system: true,
            takes_bounds: true,
            tokens_field: TokensField::default(),
            streams: true,
            thinking_tokens: 0,
            sampling: Sampling::default(),
            vectors: VectorSettings::default(),
            proxy: None,
            certificates: None,
            timeout: TIMEOUT_DEFAULT,
        }
    }

    /// Returns what replies are kept under: the server and the model.
    #[must_use]
    pub fn name(&self) -> String {
        match self.preset {
            Some(preset) => format!("{}:{}", preset.name(), self.model),
            None => format!("{}:{}", self.server(), self.model),
        }
    }

    /// Returns it at another address, with the same findings about its server.
    #[must_use]
    pub fn with_preset(self, preset: Preset) -> Self {
        // Azure refuses bounds of lists.
        let takes_bounds = preset != Preset::Azure;
        Self { preset: Some(preset), form: preset.form(), takes_bounds, tokens_field: preset.tokens_field(), ..self }
    }

    /// Returns it without what `found` is without and `usual` is not.
    pub(super) fn without(self, found: &Self, usual: &Self) -> Self {
        let tokens_field =
            if found.tokens_field == usual.tokens_field { self.tokens_field } else { found.tokens_field };
        Self {
            form: if found.form == usual.form { self.form } else { found.form },
            takes_temperature: self.takes_temperature && found.takes_temperature,
            takes_system: self.takes_system && found.takes_system,
            takes_bounds: self.takes_bounds && found.takes_bounds,
            streams: self.streams && found.streams,
            tokens_field,
            ..self
        }
    }

    /// Returns the identity under which its replies are kept: its name, and everything else they depend on besides the
    /// request.
    #[must_use]
    pub fn kept_as(&self) -> String {
        self.sampling.text().map_or_else(|| self.name(), |sampling| format!("{} with {sampling}", self.name()))
    }

    /// Returns the name to which an index with this embedder is pinned: its name, and everything else vectors depend
    /// on.
    #[must_use]
    pub fn embedder_name(&self) -> String {
        self.vectors.text().map_or_else(|| self.name(), |settings| format!("{}{WITH}{settings}", self.name()))
    }

    /// Returns it with the settings of vectors in the name of an embedder, if any. Prefixes are short.
    pub(crate) fn with_vectors_of(self, name: &str) -> Self {
        let said = name.split_once(WITH).and_then(|(_, said)| serde_json::from_str::<Value>(said).ok());
        let Some(said) = said else { return self };
        let text = |name: &str| {
            let text = said.get(name).and_then(Value::as_str).unwrap_or_default();
            Some(text.to_owned()).filter(|text| text.chars().count() <= PREFIX_CHARS_MAX).unwrap_or_default()
        };
        let dimensions = said.get("dimensions").and_then(Value::as_u64).and_then(|it| u32::try_from(it).ok());
        let [query_prefix, passage_prefix] = ["query", "passage"].map(text);
        let vectors = VectorSettings { dimensions, query_prefix, passage_prefix, ..self.vectors };
        Self { vectors, ..self }
    }

    /// Returns the address that the paths of calls are put behind.
    pub(super) fn base(&self) -> String {
        match &self.api_version {
            Some(_) => format!("{}/openai/deployments/{}", self.url, self.model),
            None => self.url.clone(),
        }
    }

    /// Returns host and port, without anything that may be secret.
    fn server(&self) -> &str {
        let place = self.url.split_once("://").map_or(self.url.as_str(), |(_, place)| place);
        let host = place.split(['/', '?', '#']).next().unwrap_or_default();
        host.rsplit('@').next().unwrap_or_default()
    }

    /// Returns what takes the secrets of this endpoint out of what its server says, should it repeat them.
    pub(super) fn redactor(&self) -> Redactor {
        let values = self.headers.iter().map(|(_, value)| value.text());
        // After the scheme of a header that says who asks, what is secret stands alone too.
        let credentials = values.clone().filter_map(|value| {
            let (scheme, rest) = value.split_once(' ')?;
            SCHEMES.iter().any(|it| scheme.eq_ignore_ascii_case(it)).then_some(rest)
        });
        let proxy = self.proxy.as_ref().map_or("", Secret::text);
        let passwords = [password(&self.url), password(proxy)];
        Redactor::of([self.key.text()].into_iter().chain(passwords).chain(values).chain(credentials))
    }

    /// Returns what limits the tokens of a reply there, where nothing was found out.
    pub(super) fn usual_tokens_field(&self) -> TokensField {
        self.preset.map_or(TokensField::MaxTokens, Preset::tokens_field)
    }
}

/// Returns the password in an address, if there is one.
fn password(url: &str) -> &str {
    let user = url.split_once("://").map_or("", |(_, place)| place);
    let user = user.split('/').next().and_then(|place| place.rsplit_once('@')).map_or("", |(user, _)| user);
    user.split_once(':').map_or("", |(_, password)| password)
}

impl fmt::Debug for Endpoint {
    /// Shows the server and the model.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("server", &self.server()).field("model", &self.model).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_named_by_its_server_without_what_is_secret() {
        assert_eq!(Endpoint::of(Preset::Ollama, "llama3.2").name(), "ollama:llama3.2");
        assert_eq!(Endpoint::at("http://ann:hush@host:8000/v1/", "a/b").name(), "host:8000:a/b");
        let endpoint = Endpoint { key: Secret::new("hush"), ..Endpoint::at("http://ann:hush@host/v1", "m") };
        assert!(!format!("{endpoint:?}").contains("hush"));
    }

    #[test]
    fn every_secret_of_an_endpoint_is_taken_out_of_what_its_server_says() {
        let headers = ["Bearer header-secret", "1", "another value"];
        let headers = headers.map(|value| ("x".to_owned(), Secret::new(value))).to_vec();
        let key = Secret::new("sk-12345678");
        let endpoint = Endpoint { key, headers, ..Endpoint::at("http://ann:pass-word-1@host/v1", "m") };
        let said = "1: sk-12345678, Bearer header-secret, header-secret, another value, pass-word-1, ann";
        let due = "1: [secret], [secret], [secret], [secret], [secret], ann";
        assert_eq!(endpoint.redactor().redacted(said.to_owned()), due);
    }

    #[test]
    fn every_preset_is_found_by_its_name() {
        for preset in Preset::ALL {
            assert_eq!(preset.name().parse::<Preset>().unwrap(), preset);
        }
        assert!(
            "gpt"
                .parse::<Preset>()
                .unwrap_err()
                .to_string()
                .contains("openai, ollama, vllm, llama.cpp, litellm, azure, anthropic, gemini, openrouter")
        );
    }
}
