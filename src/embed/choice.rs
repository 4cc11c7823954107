//! Parses the name of an embedder.

use std::path::PathBuf;
use std::str::FromStr;

use super::{NoEmbedder, StaticTable};
use crate::error::Error;
use crate::llm::Preset;

/// The prefix of the folder of a model.
const ONNX: &str = "onnx:";
/// The prefix of the name of a model to download.
#[cfg(feature = "hub")]
const HUB: &str = "hub:";
/// The prefix of a model of the configured server.
const SERVER: &str = "server";
#[cfg(feature = "hub")]
const EXPECTED: &str = "expected builtin, none, onnx:DIR, hub:NAME, or SERVER:MODEL";
#[cfg(not(feature = "hub"))]
const EXPECTED: &str = "expected builtin, none, onnx:DIR, or SERVER:MODEL";

/// A requested embedder.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EmbedderChoice {
    /// The one in the program: `builtin`.
    BuiltIn,
    /// None: `none`.
    Without,
    /// The model in a folder: `onnx:DIR`.
    Onnx(PathBuf),
    /// A model that is downloaded if missing: `hub:NAME`.
    #[cfg(feature = "hub")]
    Hub(String),
    /// A model behind a server: `openai:MODEL` and the like, or `server:MODEL` for the server that is set.
    Server {
        /// The server, if known by name.
        preset: Option<Preset>,
        /// The model, as the server names it.
        model: String,
    },
}

impl EmbedderChoice {
    fn of_server(text: &str) -> Result<Self, Error> {
        let servers = || Preset::ALL.map(Preset::name).join(", ");
        let reason = || format!("{EXPECTED}, where SERVER is {} or `server`, the configured one", servers());
        let refused = || Error::Option { option: "embedder", value: text.to_owned(), reason: reason() };
        let (server, model) = text.split_once(':').filter(|(_, model)| !model.is_empty()).ok_or_else(refused)?;
        let preset = if server == SERVER { None } else { Some(server.parse().map_err(|_| refused())?) };
        Ok(Self::Server { preset, model: model.to_owned() })
    }
}

impl FromStr for EmbedderChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        #[cfg(feature = "hub")]
        if let Some(name) = text.strip_prefix(HUB) {
            return Ok(Self::Hub(name.to_owned()));
        }
        match text {
            "builtin" | StaticTable::NAME => Ok(Self::BuiltIn),
            NoEmbedder::NAME => Ok(Self::Without),
            _ => match text.strip_prefix(ONNX) {
                Some(folder) if !folder.is_empty() => Ok(Self::Onnx(PathBuf::from(folder))),
                _ => Self::of_server(text),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(preset: Option<Preset>, model: &str) -> EmbedderChoice {
        EmbedderChoice::Server { preset, model: model.to_owned() }
    }

    #[test]
    fn an_embedder_is_known_by_its_name_or_the_folder_of_its_model() {
        for (text, expect) in [
            ("builtin", EmbedderChoice::BuiltIn),
            ("static-256i8", EmbedderChoice::BuiltIn),
            ("none", EmbedderChoice::Without),
            ("onnx:models/a b", EmbedderChoice::Onnx(PathBuf::from("models/a b"))),
            ("ollama:bge-m3:567m", server(Some(Preset::Ollama), "bge-m3:567m")),
            ("server:a/b", server(None, "a/b")),
        ] {
            assert_eq!(text.parse::<EmbedderChoice>().unwrap(), expect);
        }
        for text in ["", "onnx:", "openai", "openai:", "Onnx:a"] {
            let error = text.parse::<EmbedderChoice>().unwrap_err();
            assert!(error.to_string().contains("builtin, none, onnx:DIR"), "{error}");
        }
    }
}
