//! The folder of a model: the model itself and what its tokenizer is made of.

use std::path::{Path, PathBuf};

use fastembed::{Pooling, TokenizerFiles};

use crate::domain::ModelError;
use crate::error::{Error, Result};
use crate::files;

/// The name that a model has where its folder has several.
const MODEL: &str = "model.onnx";
const TOKENIZER: &str = "tokenizer.json";
const POOLING: &str = "1_Pooling/config.json";
/// Hexadecimal digits of the checksum in a model's name.
const DIGITS: usize = 16;

/// The files of a model, read.
pub(in crate::embed) struct ModelFiles {
    pub(in crate::embed) folder: PathBuf,
    /// `stem@checksum`: another model has another name, wherever it lies.
    pub(in crate::embed) name: String,
    pub(in crate::embed) onnx: Vec<u8>,
    pub(in crate::embed) tokenizer: TokenizerFiles,
    /// How the vectors of its pieces become one: their mean, or the first where the folder says so.
    pub(in crate::embed) pooling: Pooling,
}

impl ModelFiles {
    /// Reads the model in a folder.
    pub(in crate::embed) fn read(folder: &Path) -> Result<Self> {
        if !folder.is_dir() {
            return Err(fault(folder, ModelError::NoFolder));
        }
        let path = model_in(folder)?;
        let onnx = files::read(&path)?;
        let tokenizer = TokenizerFiles {
            tokenizer_file: read(folder, TOKENIZER)?,
            config_file: read(folder, "config.json")?,
            special_tokens_map_file: read(folder, "special_tokens_map.json")?,
            tokenizer_config_file: read(folder, "tokenizer_config.json")?,
        };
        let mut hasher = blake3::Hasher::new();
        // The length keeps the border between the two.
        hasher.update(&(onnx.len() as u64).to_le_bytes()).update(&onnx).update(&tokenizer.tokenizer_file);
        let pooling = pooling(folder);
        if pooling == Pooling::Cls {
            hasher.update(b"cls");
        }
        let checksum = hasher.finalize().to_hex();
        let stem = path.file_stem().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        let name = format!("{stem}@{}", checksum.get(..DIGITS).unwrap_or_default());
        Ok(Self { folder: folder.to_owned(), name, onnx, tokenizer, pooling })
    }
}

/// Returns an error about the model in `folder`.
pub(in crate::embed) fn fault(folder: &Path, source: ModelError) -> Error {
    Error::Model { path: folder.to_owned(), source }
}

/// Reads what sentence-transformers write beside a model that takes its first piece's vector.
fn pooling(folder: &Path) -> Pooling {
    #[derive(serde::Deserialize)]
    struct Modes {
        pooling_mode_cls_token: bool,
    }
    let text = files::read(&folder.join(POOLING)).unwrap_or_default();
    match serde_json::from_slice(&text) {
        Ok(Modes { pooling_mode_cls_token: true }) => Pooling::Cls,
        _ => Pooling::Mean,
    }
}

fn model_in(folder: &Path) -> Result<PathBuf> {
    let usual = folder.join(MODEL);
    if usual.is_file() {
        return Ok(usual);
    }
    let entries = std::fs::read_dir(folder).map_err(Error::io("read", folder))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut models: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|it| it == "onnx")).collect();
    models.sort_unstable();
    match models.len() {
        0 => Err(fault(folder, ModelError::MissingFile { name: MODEL.to_owned() })),
        1 => Ok(models.remove(0)),
        _ => {
            let names = models.iter().filter_map(|path| path.file_name());
            let names: Vec<String> = names.map(|name| format!("`{}`", name.to_string_lossy())).collect();
            Err(fault(folder, ModelError::Ambiguous { names: names.join(", ") }))
        }
    }
}

fn read(folder: &Path, name: &str) -> Result<Vec<u8>> {
    let path = folder.join(name);
    files::read(&path).map_err(|error| {
        if files::is_missing(&error) { fault(folder, ModelError::MissingFile { name: name.to_owned() }) } else { error }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(folder: &Path) -> ModelError {
        match ModelFiles::read(folder).map(|files| files.name) {
            Err(Error::Model { source, .. }) => source,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_missing_from_a_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(error_of(&folder.path().join("none")), ModelError::NoFolder);
        for name in [MODEL, TOKENIZER, "config.json", "special_tokens_map.json", "tokenizer_config.json"] {
            assert_eq!(error_of(folder.path()), ModelError::MissingFile { name: name.to_owned() });
            std::fs::write(folder.path().join(name), name).unwrap();
        }
        assert!(ModelFiles::read(folder.path()).is_ok());
    }

    #[test]
    fn one_model_may_have_any_name_and_of_several_one_has_the_usual_one() {
        let folder = tempfile::tempdir().unwrap();
        for name in [TOKENIZER, "config.json", "special_tokens_map.json", "tokenizer_config.json", "b.onnx"] {
            std::fs::write(folder.path().join(name), name).unwrap();
        }
        let name = ModelFiles::read(folder.path()).map(|files| files.name).unwrap();
        assert!(name.starts_with("b@") && name.len() == 2 + DIGITS, "{name}");
        std::fs::write(folder.path().join("a.onnx"), "").unwrap();
        assert_eq!(error_of(folder.path()), ModelError::Ambiguous { names: "`a.onnx`, `b.onnx`".to_owned() });
        std::fs::write(folder.path().join(MODEL), "b.onnx").unwrap();
        let usual = ModelFiles::read(folder.path()).map(|files| files.name).unwrap();
        assert_eq!(usual.replace("model@", "b@"), name);
        std::fs::write(folder.path().join(TOKENIZER), "other").unwrap();
        let other = ModelFiles::read(folder.path()).unwrap();
        assert_ne!(other.name, usual);
        assert_eq!(other.pooling, Pooling::Mean);
        std::fs::create_dir(folder.path().join("1_Pooling")).unwrap();
        std::fs::write(folder.path().join(POOLING), r#"{"pooling_mode_cls_token": true}"#).unwrap();
        let first = ModelFiles::read(folder.path()).unwrap();
        assert_eq!(first.pooling, Pooling::Cls);
        assert_ne!(first.name, other.name);
    }
}
