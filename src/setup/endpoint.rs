//! Endpoints of model servers from options and settings: address and key.

use std::path::Path;
use std::time::Duration;

use super::key_command;
use crate::config::LanguageModel;
use crate::domain::Secret;
use crate::error::{Error, Result};
use crate::files;
use crate::llm::{Endpoint, Preset, Sampling, VectorSettings};

/// Bytes of a file of certificates.
const CERTIFICATES_BYTES_MAX: u64 = 4 << 20;
/// What means the model that is set.
pub(super) const DEFAULT: &str = "default";

/// Returns the endpoint of the language model that a name means: `SERVER:MODEL`, or a model of the server that is set
/// for its role. It has no key yet.
pub(super) fn of_model(asked: &str, settings: &LanguageModel) -> Result<Endpoint> {
    let refused = |reason: &str| Error::Option { option: "model", value: asked.to_owned(), reason: reason.to_owned() };
    let unset = || refused("name one with `CAIRN_MODEL`, or as `model.name` in your own cairn.toml");
    let name = if asked == DEFAULT { settings.name.as_deref().ok_or_else(unset)? } else { asked };
    let named = name.split_once(':').and_then(|(server, model)| Some((server.parse::<Preset>().ok()?, model)));
    let (preset, model) = named.map_or((None, name), |(preset, model)| (Some(preset), model));
    if model.is_empty() {
        return Err(refused("it names no model"));
    }
    placed(preset, model, settings.url.as_deref(), settings)?.ok_or_else(|| {
        let servers = Preset::ALL.map(Preset::name).join(", ");
        refused(&format!(
            "name a server before it, as in `ollama:llama3.2` (there are {servers}), or set `model.server` or \
             `model.url` in your own cairn.toml, or `CAIRN_MODEL_URL`"
        ))
    })
}

/// Returns the endpoint of an embedder: of a server that is known by its name, or of the one that is set. It has no key
/// yet.
pub(super) fn of_embedder(preset: Option<Preset>, model: &str, settings: &LanguageModel) -> Result<Endpoint> {
    let url = settings.embedder_url.as_deref().or(settings.url.as_deref());
    placed(preset, model, url, settings)?.ok_or_else(|| Error::Option {
        option: "embedder",
        value: format!("server:{model}"),
        reason: "no server is set: set `model.embedder_url`, `model.url` or `model.server` in your own cairn.toml, or \
                 `CAIRN_EMBEDDER_URL`"
            .to_owned(),
    })
}

/// Returns the endpoint of a reranker: of a server that is known by its name, or of the one that is set. It has no key
/// yet.
pub(super) fn of_reranker(preset: Option<Preset>, model: &str, settings: &LanguageModel) -> Result<Endpoint> {
    placed(preset, model, settings.url.as_deref(), settings)?.ok_or_else(|| Error::Option {
        option: "reranker",
        value: format!("server:{model}"),
        reason: "no server is set: set `url` or `server` in `[model.reranker]` of your own cairn.toml".to_owned(),
    })
}

/// Returns a model of the named server, or else of the configured one, if any, whose address is `url`.
fn placed(named: Option<Preset>, model: &str, url: Option<&str>, settings: &LanguageModel) -> Result<Option<Endpoint>> {
    let set = settings.server.as_deref().map(str::parse::<Preset>).transpose()?;
    let preset = named.or(set);
    // An address that is set is that of the server that is set, and of no other.
    let url = url.filter(|_| named.is_none() || preset == set);
    let endpoint = match (preset, url) {
        (None, Some(url)) => Endpoint::at(url, model),
        (Some(preset), Some(url)) => Endpoint::at(url, model).with_preset(preset),
        (Some(preset), None) if preset.url().is_empty() => {
            return Err(Error::Option {
                option: "server of models",
                value: preset.name().to_owned(),
                reason: "it has no usual address: set `model.url` in your own cairn.toml, or `CAIRN_MODEL_URL`"
                    .to_owned(),
            });
        }
        (Some(preset), None) => Endpoint::of(preset, model),
        (None, None) => return Ok(None),
    };
    with_settings(endpoint, settings).map(Some)
}

/// Returns an endpoint with the settings of calls, except the key.
pub(super) fn with_settings(endpoint: Endpoint, settings: &LanguageModel) -> Result<Endpoint> {
    let is_set = is_set(&endpoint, settings)?;
    let headers = settings.headers.iter().filter(|_| is_set);
    let headers = headers.map(|(name, value)| (name.clone(), Secret::new(value.clone())));
    let sampling = Sampling {
        temperature: settings.temperature,
        reasoning_effort: settings.reasoning_effort.clone(),
        body: if is_set { settings.body.clone() } else { serde_json::Map::new() },
    };
    let vectors = VectorSettings {
        dimensions: settings.dimensions,
        query_prefix: settings.query_prefix.clone().unwrap_or_default(),
        passage_prefix: settings.passage_prefix.clone().unwrap_or_default(),
        texts_max: settings.texts_max,
    };
    Ok(Endpoint {
        api_version: settings.api_version.clone().filter(|_| is_set),
        organization: settings.organization.clone().filter(|_| is_set),
        headers: headers.collect(),
        form: settings.form.as_deref().map(str::parse).transpose()?.unwrap_or(endpoint.form),
        is_form_set: settings.form.is_some(),
        timeout: settings.timeout_s.map_or(endpoint.timeout, Duration::from_secs),
        thinking_tokens: settings.thinking_tokens.unwrap_or_default(),
        sampling,
        vectors,
        proxy: settings.proxy.clone().map(Secret::new),
        certificates: settings.ca_file.as_deref().map(certificates).transpose()?,
        ..endpoint
    })
}

fn certificates(path: &Path) -> Result<Vec<u8>> {
    Ok(files::read_text_up_to(path, CERTIFICATES_BYTES_MAX)?.unwrap_or_default().into_bytes())
}

/// Returns an endpoint with its key: the configured one or, for a named server, the variable that its vendor's programs
/// read.
pub(super) fn with_key(endpoint: Endpoint, settings: &LanguageModel) -> Result<Endpoint> {
    Ok(Endpoint { key: key(&endpoint, settings)?, ..endpoint })
}

fn key(endpoint: &Endpoint, settings: &LanguageModel) -> Result<Secret> {
    if is_set(endpoint, settings)? {
        if let Some(path) = &settings.key_file {
            return first_line(path);
        }
        if !settings.key_command.is_empty() {
            return key_command::run(&settings.key_command);
        }
        if let Some(key) = &settings.key {
            return Ok(Secret::new(key.clone()));
        }
    }
    let is_at_home = |preset: &Preset| match preset {
        // Each customer has an address of its own, which has to be set.
        Preset::Azure => endpoint.preset == Some(Preset::Azure),
        preset => endpoint.url == preset.url(),
    };
    let preset = Preset::ALL.into_iter().find(is_at_home);
    let key = preset.and_then(|preset| settings.own_keys.get(preset.name()));
    Ok(Secret::new(key.cloned().unwrap_or_default()))
}

/// Returns whether an endpoint is the configured server, which may receive secrets; if none is configured, any named
/// server is.
fn is_set(endpoint: &Endpoint, settings: &LanguageModel) -> Result<bool> {
    let server = settings.server.as_deref().map(str::parse::<Preset>).transpose()?;
    let urls = [settings.url.as_deref(), settings.embedder_url.as_deref(), server.map(Preset::url)];
    let mut urls = urls.into_iter().flatten().peekable();
    Ok(urls.peek().is_none() || urls.any(|url| url.trim_end_matches('/') == endpoint.url))
}

/// Returns the settings of calls to an endpoint that an index names: without secrets unless a configured address is
/// that of the endpoint. Confirming a server allows calls, but does not give it a key.
pub(super) fn for_named_by_index(endpoint: &Endpoint, settings: &LanguageModel) -> Result<LanguageModel> {
    let is_any_set = settings.url.is_some() || settings.embedder_url.is_some() || settings.server.is_some();
    if is_any_set && is_set(endpoint, settings)? {
        return Ok(settings.clone());
    }
    // The body of requests may contain fields meant only for the other server.
    Ok(LanguageModel { body: serde_json::Map::new(), ..settings.without_secrets() })
}

pub(super) fn first_line(path: &Path) -> Result<Secret> {
    let text = files::read_secret(path)?;
    Ok(Secret::new(text.lines().next().unwrap_or_default().trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(asked: &str, settings: &LanguageModel) -> String {
        of_model(asked, settings).map_or_else(|error| error.to_string(), |it| format!("{} {}", it.url, it.model))
    }

    fn set(server: Option<&str>, url: Option<&str>, name: Option<&str>) -> LanguageModel {
        let [server, url, name] = [server, url, name].map(|it| it.map(str::to_owned));
        LanguageModel { server, url, name, ..LanguageModel::default() }
    }

    #[test]
    fn a_model_is_found_by_its_server_or_by_what_is_set() {
        let none = set(None, None, None);
        assert_eq!(at("ollama:llama3.2:3b", &none), "http://localhost:11434/v1 llama3.2:3b");
        assert_eq!(at("openai:gpt", &none), "https://api.openai.com/v1 gpt");
        assert!(at("gpt", &none).contains("name a server before it"));
        assert!(at("ollama:", &none).contains("names no model"));
        assert!(at("default", &none).contains("CAIRN_MODEL"));
        assert_eq!(at("gpt", &set(Some("vllm"), None, None)), "http://localhost:8000/v1 gpt");
        assert_eq!(at("qwen:3b", &set(None, Some("http://host/v1/"), None)), "http://host/v1 qwen:3b");
        assert_eq!(at("default", &set(None, None, Some("vllm:m"))), "http://localhost:8000/v1 m");
        assert!(at("m", &set(Some("gpt"), None, None)).contains("expected one of openai"));
    }

    #[test]
    fn an_address_that_is_set_is_not_that_of_another_server() {
        let settings = set(Some("vllm"), Some("http://host/v1"), None);
        assert_eq!(at("vllm:m", &settings), "http://host/v1 m");
        assert_eq!(at("ollama:m", &settings), "http://localhost:11434/v1 m");
        assert_eq!(at("ollama:m", &set(None, Some("http://host/v1"), None)), "http://localhost:11434/v1 m");
    }

    #[test]
    fn an_embedder_has_a_server_of_its_own_where_one_is_set() {
        let at = |preset, settings: &LanguageModel| match of_embedder(preset, "m", settings) {
            Ok(endpoint) => endpoint.url,
            Err(error) => error.to_string(),
        };
        let settings = set(Some("vllm"), Some("http://chat/v1"), None);
        assert_eq!(at(None, &settings), "http://chat/v1");
        let settings = LanguageModel { embedder_url: Some("http://vectors/v1".to_owned()), ..settings };
        assert_eq!(at(None, &settings), "http://vectors/v1");
        assert_eq!(at(Some(Preset::Vllm), &settings), "http://vectors/v1");
        assert_eq!(at(Some(Preset::Ollama), &settings), Preset::Ollama.url());
        assert!(at(None, &set(None, None, None)).contains("CAIRN_EMBEDDER_URL"));
    }

    #[test]
    fn the_key_of_openai_goes_to_openai_alone() {
        let own_keys = [("openai", "hush".to_owned())].into();
        let settings = LanguageModel { own_keys, ..LanguageModel::default() };
        let key_at = |url: &str| key(&Endpoint::at(url, "m"), &settings).unwrap();
        assert_eq!(key_at("https://api.openai.com/v1"), Secret::new("hush"));
        assert_eq!(key_at("https://api.openai.com.evil.example/v1"), Secret::default());
        assert_eq!(key_at("http://localhost:11434/v1"), Secret::default());
    }

    #[test]
    fn azure_has_the_address_of_its_customer_and_its_key_goes_nowhere_else() {
        let own_keys = [("azure", "hush".to_owned())].into();
        let none = LanguageModel { own_keys, server: Some("azure".to_owned()), ..LanguageModel::default() };
        assert!(at("gpt", &none).contains("set `model.url`"));
        let settings = LanguageModel {
            url: Some("https://team.openai.azure.com".to_owned()),
            api_version: Some("2024-10-21".to_owned()),
            ..none
        };
        let endpoint = of_model("gpt", &settings).unwrap();
        assert_eq!(endpoint.api_version.as_deref(), Some("2024-10-21"));
        assert_eq!(key(&endpoint, &settings).unwrap(), Secret::new("hush"));
        assert_eq!(key(&of_model("ollama:m", &settings).unwrap(), &settings).unwrap(), Secret::default());
    }
}
