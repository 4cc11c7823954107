//! Where a language model is asked, and how.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::{Redactor, Secret};
use crate::error::{Error, Result};

/// Time for a call where nobody says how much.
const TIMEOUT_DEFAULT: Duration = Duration::from_mins(2);

/// How the value of a header begins that says who asks.
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
}

impl Preset {
    /// Every server that is known by its name.
    pub const ALL: [Self; 5] = [Self::OpenAi, Self::Ollama, Self::Vllm, Self::LlamaCpp, Self::LiteLlm];

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Ollama => "ollama",
            Self::Vllm => "vllm",
            Self::LlamaCpp => "llama.cpp",
            Self::LiteLlm => "litellm",
        }
    }

    /// Returns where it usually is.
    #[must_use]
    pub const fn url(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Ollama => "http://localhost:11434/v1",
            Self::Vllm => "http://localhost:8000/v1",
            Self::LlamaCpp => "http://localhost:8080/v1",
            Self::LiteLlm => "http://localhost:4000/v1",
        }
    }

    /// Returns what limits the reply's tokens there.
    pub(super) const fn tokens_field(self) -> TokensField {
        match self {
            Self::OpenAi => TokensField::MaxCompletionTokens,
            Self::Ollama | Self::Vllm | Self::LlamaCpp | Self::LiteLlm => TokensField::MaxTokens,
        }
    }
}

impl FromStr for Preset {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|preset| preset.name() == text).ok_or_else(|| Error::Option {
            option: "server of models",
            value: text.to_owned(),
            reason: format!("there are {}", Self::ALL.map(Self::name).join(", ")),
        })
    }
}

/// The field of a request that limits the reply's tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokensField {
    MaxTokens,
    MaxCompletionTokens,
}

/// How a server is told which form a reply is to have. The prompt says it in words in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FormSupport {
    /// By a JSON schema: `schema`.
    #[default]
    Schema,
    /// That it is JSON: `object`.
    Object,
    /// By the prompt alone: `prompt`.
    Prompt,
}

impl FromStr for FormSupport {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "schema" => Ok(Self::Schema),
            "object" => Ok(Self::Object),
            "prompt" => Ok(Self::Prompt),
            _ => Err(Error::Option {
                option: "form of replies",
                value: text.to_owned(),
                reason: "there are schema, object, prompt".to_owned(),
            }),
        }
    }
}

/// Where a language model is asked, and how.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The server, where it is known by its name.
    pub preset: Option<Preset>,
    /// Where it is, up to `/v1`.
    pub url: String,
    /// The model, as the server names it.
    pub model: String,
    /// The key; it may be empty.
    pub key: Secret,
    /// The organization that is charged.
    pub organization: Option<String>,
    /// Further headers; their values are not shown.
    pub headers: Vec<(String, Secret)>,
    /// How the server is told which form a reply is to have.
    pub form: FormSupport,
    /// Whether it takes a temperature; else none is sent, and replies are drawn as the server likes.
    pub takes_temperature: bool,
    /// Whether a reply may be asked for in pieces; else all of them come whole.
    pub streams: bool,
    /// Time for a call, from its first byte to its last.
    pub timeout: Duration,
}

impl Endpoint {
    /// Returns the model called `model` of a server that is known by its name, without a key.
    #[must_use]
    pub fn of(preset: Preset, model: &str) -> Self {
        Self { preset: Some(preset), ..Self::at(preset.url(), model) }
    }

    /// Returns the model called `model` of any server that speaks as `OpenAI`'s, without a key.
    #[must_use]
    pub fn at(url: &str, model: &str) -> Self {
        Self {
            preset: None,
            url: url.trim_end_matches('/').to_owned(),
            model: model.to_owned(),
            key: Secret::default(),
            organization: None,
            headers: Vec::new(),
            form: FormSupport::default(),
            takes_temperature: true,
            streams: true,
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

    /// Returns host and port, without what may be secret.
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
        let user = self.url.split_once("://").map_or("", |(_, place)| place);
        let user = user.split('/').next().and_then(|place| place.rsplit_once('@')).map_or("", |(user, _)| user);
        let password = user.split_once(':').map_or("", |(_, password)| password);
        Redactor::of([self.key.text(), password].into_iter().chain(values).chain(credentials))
    }

    pub(super) fn tokens_field(&self) -> TokensField {
        self.preset.map_or(TokensField::MaxTokens, Preset::tokens_field)
    }
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
        assert!("gpt".parse::<Preset>().unwrap_err().to_string().contains("openai, ollama, vllm, llama.cpp, litellm"));
    }
}
