//! Which embedder is meant by what a person types.

use std::path::PathBuf;
use std::str::FromStr;

use super::{NoEmbedder, StaticTable};
use crate::error::Error;

/// What stands before the folder of a model.
const ONNX: &str = "onnx:";
/// What stands before the name of a model that can be downloaded.
#[cfg(feature = "hub")]
const HUB: &str = "hub:";
#[cfg(feature = "hub")]
const THERE_ARE: &str = "there are builtin, none, onnx:DIR, hub:NAME";
#[cfg(not(feature = "hub"))]
const THERE_ARE: &str = "there are builtin, none, onnx:DIR";

/// An embedder as it is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EmbedderChoice {
    /// The one in the program: `builtin`.
    BuiltIn,
    /// None: `none`.
    Without,
    /// The model in a folder: `onnx:DIR`.
    Onnx(PathBuf),
    /// A model that is downloaded where it is not at hand: `hub:NAME`.
    #[cfg(feature = "hub")]
    Hub(String),
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
                _ => Err(Error::Option { option: "embedder", value: text.to_owned(), reason: THERE_ARE.to_owned() }),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_embedder_is_known_by_its_name_or_the_folder_of_its_model() {
        for (text, expect) in [
            ("builtin", EmbedderChoice::BuiltIn),
            ("static-256i8", EmbedderChoice::BuiltIn),
            ("none", EmbedderChoice::Without),
            ("onnx:models/a b", EmbedderChoice::Onnx(PathBuf::from("models/a b"))),
        ] {
            assert_eq!(text.parse::<EmbedderChoice>().unwrap(), expect);
        }
        for text in ["", "onnx:", "openai", "Onnx:a"] {
            let error = text.parse::<EmbedderChoice>().unwrap_err();
            assert!(error.to_string().contains("builtin, none, onnx:DIR"), "{error}");
        }
    }
}
