//! The language model that a command was told to ask, with everything around it.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::Surroundings;
use super::args::ModelCallArgs;
use crate::config::LanguageModel;
use crate::domain::Secret;
use crate::error::{Error, Result};
use crate::llm::{
    Budget, ChatModel, Endpoint, Layers, Limits, OpenAiModel, Preset, Prices, Recorded, Replayed, layered,
};
use crate::store::ReplyStore;
use crate::workspace::Workspace;

/// What means the model that is set.
const DEFAULT: &str = "default";

/// Returns the model that was asked for, if one was; its replies are kept in the index at `index`.
pub(super) fn model(
    args: &ModelCallArgs,
    index: Option<&Path>,
    surroundings: &Surroundings,
) -> Result<Option<Arc<dyn ChatModel>>> {
    let Some(asked) = args.model.as_deref() else { return Ok(None) };
    let settings = &surroundings.settings.model;
    let endpoint = endpoint(asked, settings)?;
    if let Some(path) = &args.replay {
        return Ok(Some(Arc::new(Replayed::open(&endpoint.name(), path)?)));
    }
    let endpoint = Endpoint { key: key(&endpoint, settings)?, ..endpoint };
    let layers = Layers {
        limits: limits(settings),
        budget: Budget { calls: args.max_calls, tokens: args.max_tokens, cost: None },
        prices: settings.prices.as_deref().map(Prices::read).transpose()?.unwrap_or_default(),
        replies: index.and_then(|index| replies(index, surroundings)),
        ..Layers::default()
    };
    let model = layered(Arc::new(OpenAiModel::new(endpoint)?), layers);
    match &args.record {
        Some(path) => Ok(Some(Arc::new(Recorded::create(model, path)?))),
        None => Ok(Some(model)),
    }
}

/// Returns where replies are kept; nowhere, and says so, where that place cannot be written.
fn replies(index: &Path, surroundings: &Surroundings) -> Option<Arc<dyn ReplyStore>> {
    match Workspace::open(index).and_then(|workspace| workspace.replies()) {
        Ok(replies) => Some(Arc::new(replies)),
        Err(error) => {
            surroundings.screen.note(format!("note: replies are not kept: {}", super::said(&error)));
            None
        }
    }
}

/// Returns the endpoint that a name means: `SERVER:MODEL`, or a model of the server that is set.
fn endpoint(asked: &str, settings: &LanguageModel) -> Result<Endpoint> {
    let refused = |reason: &str| Error::Option { option: "model", value: asked.to_owned(), reason: reason.to_owned() };
    let name = match (asked, &settings.name) {
        (DEFAULT, Some(name)) => name.as_str(),
        (DEFAULT, None) => return Err(refused("name one with `CAIRN_MODEL`, or as `model.name` in cairn.toml")),
        (name, _) => name,
    };
    let named = name.split_once(':').and_then(|(server, model)| Some((server.parse::<Preset>().ok()?, model)));
    let set = settings.server.as_deref().map(str::parse::<Preset>).transpose()?;
    let (preset, model) = match named {
        Some((preset, model)) => (Some(preset), model),
        None => (set, name),
    };
    if model.is_empty() {
        return Err(refused("it names no model"));
    }
    // An address that is set is that of the server that is set, and of no other.
    let url = settings.url.as_deref().filter(|_| named.is_none() || preset == set);
    let endpoint = match (preset, url) {
        (preset, Some(url)) => Endpoint { preset, ..Endpoint::at(url, model) },
        (Some(preset), None) => Endpoint::of(preset, model),
        (None, None) => {
            let servers = Preset::ALL.map(Preset::name).join(", ");
            let reason = format!(
                "name a server before it, as in `ollama:llama3.2` (there are {servers}), or set `model.server` or \
                 `model.url` in cairn.toml, or `CAIRN_MODEL_URL`"
            );
            return Err(refused(&reason));
        }
    };
    let headers = settings.headers.iter().map(|(name, value)| (name.clone(), Secret::new(value.clone())));
    Ok(Endpoint {
        organization: settings.organization.clone(),
        headers: headers.collect(),
        form: settings.form.as_deref().map(str::parse).transpose()?.unwrap_or_default(),
        timeout: settings.timeout_s.map_or(endpoint.timeout, Duration::from_secs),
        ..endpoint
    })
}

/// Returns the key for an endpoint: what is set for models, or for `OpenAI`'s own server what its programs read.
fn key(endpoint: &Endpoint, settings: &LanguageModel) -> Result<Secret> {
    if let Some(path) = &settings.key_file {
        return first_line(path);
    }
    if let Some(key) = &settings.key {
        return Ok(Secret::new(key.clone()));
    }
    let is_openai = endpoint.url == Preset::OpenAi.url();
    Ok(Secret::new(settings.openai_key.clone().filter(|_| is_openai).unwrap_or_default()))
}

fn first_line(path: &Path) -> Result<Secret> {
    let text = fs::read_to_string(path).map_err(Error::io("read", path))?;
    Ok(Secret::new(text.lines().next().unwrap_or_default().trim()))
}

fn limits(settings: &LanguageModel) -> Limits {
    Limits {
        concurrency: settings.concurrency.unwrap_or(Limits::default().concurrency),
        requests_per_minute: settings.requests_per_minute,
        tokens_per_minute: settings.tokens_per_minute,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(asked: &str, settings: &LanguageModel) -> String {
        endpoint(asked, settings).map_or_else(|error| error.to_string(), |it| format!("{} {}", it.url, it.model))
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
        assert!(at("m", &set(Some("gpt"), None, None)).contains("there are openai"));
    }

    #[test]
    fn an_address_that_is_set_is_not_that_of_another_server() {
        let settings = set(Some("vllm"), Some("http://host/v1"), None);
        assert_eq!(at("vllm:m", &settings), "http://host/v1 m");
        assert_eq!(at("ollama:m", &settings), "http://localhost:11434/v1 m");
        assert_eq!(at("ollama:m", &set(None, Some("http://host/v1"), None)), "http://localhost:11434/v1 m");
    }

    #[test]
    fn the_key_of_openai_goes_to_openai_alone() {
        let settings = LanguageModel { openai_key: Some("hush".to_owned()), ..LanguageModel::default() };
        let key_at = |url: &str| key(&Endpoint::at(url, "m"), &settings).unwrap();
        assert_eq!(key_at("https://api.openai.com/v1"), Secret::new("hush"));
        assert_eq!(key_at("https://api.openai.com.evil.example/v1"), Secret::default());
        assert_eq!(key_at("http://localhost:11434/v1"), Secret::default());
    }
}
