//! Where the model of an embedder is, as an index remembers it.

use serde::{Deserialize, Serialize};

use super::local::ModelPlace;
use crate::llm::{Endpoint, Preset};

/// Where the model of an embedder is: kept beside an index as a hint for later questions. No key is in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum EmbedderPlace {
    /// On this machine.
    Local(ModelPlace),
    /// Behind a server.
    Server(ServerPlace),
}

/// A model behind a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerPlace {
    /// The server, where it is known by its name.
    pub server: Option<String>,
    /// Where it is, up to `/v1`.
    pub url: String,
    /// The model, as the server names it.
    pub model: String,
}

impl ServerPlace {
    /// Returns where an endpoint is.
    #[must_use]
    pub fn of(endpoint: &Endpoint) -> Self {
        let server = endpoint.preset.map(|preset| preset.name().to_owned());
        Self { server, url: endpoint.url.clone(), model: endpoint.model.clone() }
    }

    /// Returns the endpoint, without a key.
    #[must_use]
    pub fn endpoint(&self) -> Endpoint {
        let preset: Option<Preset> = self.server.as_deref().and_then(|name| name.parse().ok());
        Endpoint { preset, ..Endpoint::at(&self.url, &self.model) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Secret;

    #[test]
    fn a_place_is_read_as_it_was_written_and_holds_no_key() {
        let endpoint = Endpoint { key: Secret::new("hush"), ..Endpoint::of(Preset::Vllm, "bge-m3") };
        let place = EmbedderPlace::Server(ServerPlace::of(&endpoint));
        let text = serde_json::to_string(&place).unwrap();
        assert!(!text.contains("hush"), "{text}");
        assert_eq!(serde_json::from_str::<EmbedderPlace>(&text).unwrap(), place);
        let EmbedderPlace::Server(place) = place else { panic!("{place:?}") };
        assert_eq!(place.endpoint().name(), "vllm:bge-m3");
        // As indexes before this had it.
        let local = r#"{"folder": "models/a", "runtime": null}"#;
        assert!(matches!(serde_json::from_str(local), Ok(EmbedderPlace::Local(_))));
    }
}
