//! The folder of a model: the model and the files of its tokenizer.

use std::path::{Path, PathBuf};

use fastembed::{Pooling, TokenizerFiles};

use super::contents::{self, Contents};
use crate::domain::ModelError;
use crate::error::{Error, Result};
use crate::files;

/// The name of the model if its folder has several.
const MODEL: &str = "model.onnx";
const TOKENIZER: &str = "tokenizer.json";
const POOLING: &str = "1_Pooling/config.json";
/// Hexadecimal digits of the checksum in a model's name.
const DIGITS: usize = 32;
/// Bytes of a model at most: more do not fit into the format.
const MODEL_BYTES_MAX: u64 = 2 << 30;
/// Maximum bytes of each file besides it.
const BESIDE_BYTES_MAX: u64 = 256 << 20;

/// The files of a model, read into memory. Tokenizer and runtime get only these, and the model's name has a checksum
/// over all of them: later changes in the folder cannot affect what is loaded.
pub(in crate::embed) struct ModelFiles {
    pub(in crate::embed) folder: PathBuf,
    /// `stem@checksum`: another model has another name, in any folder.
    pub(in crate::embed) name: String,
    pub(in crate::embed) onnx: Vec<u8>,
    pub(in crate::embed) tokenizer: TokenizerFiles,
    /// How the vectors of its pieces become one: their mean, or the first if the folder says so.
    pub(in crate::embed) pooling: Pooling,
}

impl ModelFiles {
    /// Reads the model in a folder.
    pub(in crate::embed) fn read(folder: &Path) -> Result<Self> {
        if !folder.is_dir() {
            return Err(fault(folder, ModelError::NoFolder));
        }
        let path = model_in(folder)?;
        let onnx = read_at_most(folder, &path, MODEL_BYTES_MAX)?;
        if let Contents::Refused { reason } = contents::of(&onnx) {
            return Err(fault(folder, ModelError::Unusable { reason: reason.to_owned() }));
        }
        let tokenizer = TokenizerFiles {
            tokenizer_file: read(folder, TOKENIZER)?,
            config_file: read(folder, "config.json")?,
            special_tokens_map_file: read(folder, "special_tokens_map.json")?,
            tokenizer_config_file: read(folder, "tokenizer_config.json")?,
        };
        let pooling = pooling(folder)?;
        let stem = path.file_stem().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        let name = format!("{stem}@{}", checksum(&onnx, &tokenizer, &pooling));
        Ok(Self { folder: folder.to_owned(), name, onnx, tokenizer, pooling })
    }
}

/// Returns an error about the model in `folder`.
pub(in crate::embed) fn fault(folder: &Path, source: ModelError) -> Error {
    Error::Model { path: folder.to_owned(), source }
}

/// Returns the checksum over everything that vectors depend on.
fn checksum(onnx: &[u8], tokenizer: &TokenizerFiles, pooling: &Pooling) -> String {
    let TokenizerFiles { tokenizer_file, config_file, special_tokens_map_file, tokenizer_config_file } = tokenizer;
    let mode: &[u8] = if *pooling == Pooling::Cls { b"cls" } else { b"mean" };
    let parts = [onnx, tokenizer_file, config_file, special_tokens_map_file, tokenizer_config_file, mode];
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        // The length keeps the border between two of them.
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    hasher.finalize().to_hex().chars().take(DIGITS).collect()
}

/// Reads the file by which sentence-transformers mark a model that uses its first piece's vector.
fn pooling(folder: &Path) -> Result<Pooling> {
    #[derive(serde::Deserialize)]
    struct Modes {
        pooling_mode_cls_token: bool,
    }
    let path = folder.join(POOLING);
    let text = if path.exists() { read_at_most(folder, &path, BESIDE_BYTES_MAX)? } else { Vec::new() };
    Ok(match serde_json::from_slice(&text) {
        Ok(Modes { pooling_mode_cls_token: true }) => Pooling::Cls,
        _ => Pooling::Mean,
    })
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
    if path.exists() {
        return read_at_most(folder, &path, BESIDE_BYTES_MAX);
    }
    Err(fault(folder, ModelError::MissingFile { name: name.to_owned() }))
}

fn read_at_most(folder: &Path, path: &Path, limit: u64) -> Result<Vec<u8>> {
    files::read_up_to(path, limit)?.ok_or_else(|| {
        let name = path.strip_prefix(folder).unwrap_or(path).display().to_string();
        fault(folder, ModelError::TooLarge { name, limit })
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
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        assert!(ModelFiles::read(folder.path()).is_ok());
    }

    #[test]
    fn one_model_may_have_any_name_and_of_several_one_has_the_usual_one() {
        let folder = tempfile::tempdir().unwrap();
        for name in [TOKENIZER, "config.json", "special_tokens_map.json", "tokenizer_config.json", "b.onnx"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let name = ModelFiles::read(folder.path()).map(|files| files.name).unwrap();
        assert!(name.starts_with("b@") && name.len() == 2 + DIGITS, "{name}");
        std::fs::write(folder.path().join("a.onnx"), "").unwrap();
        assert_eq!(error_of(folder.path()), ModelError::Ambiguous { names: "`a.onnx`, `b.onnx`".to_owned() });
        std::fs::write(folder.path().join(MODEL), "").unwrap();
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

    #[test]
    fn the_name_is_a_checksum_of_every_file_that_is_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let files = [MODEL, TOKENIZER, "config.json", "special_tokens_map.json", "tokenizer_config.json"];
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        // The shortest valid ONNX file gives its version.
        let content = |name: &str| if name == MODEL { "\u{8}\u{1}" } else { "{}" };
        for name in files {
            write(name, content(name));
        }
        let name = || ModelFiles::read(folder.path()).unwrap().name;
        let before = name();
        for file in files {
            write(file, if file == MODEL { "\u{8}\u{2}" } else { "{ }" });
            assert_ne!(name(), before, "{file}");
            write(file, content(file));
        }
        assert_eq!(name(), before);
        // Moving text from one file into the next is detected.
        write("config.json", "{}{");
        write("special_tokens_map.json", "}");
        assert_ne!(name(), before);
    }

    #[test]
    fn special_files_and_invalid_models_are_refused_before_loading() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write(MODEL, "no model");
        assert!(matches!(error_of(folder.path()), ModelError::Unusable { .. }));
        write(MODEL, "");
        std::fs::create_dir(folder.path().join(TOKENIZER)).unwrap();
        let error = ModelFiles::read(folder.path()).map(|files| files.name).unwrap_err();
        assert!(matches!(error, Error::Misplaced { found: "a folder", .. }), "{error:?}");
        let path = folder.path().join(MODEL);
        std::fs::write(&path, [0; 9]).unwrap();
        let limit = |limit| read_at_most(folder.path(), &path, limit);
        assert_eq!(limit(9).unwrap().len(), 9);
        let due = ModelError::TooLarge { name: MODEL.to_owned(), limit: 8 };
        assert!(matches!(limit(8), Err(Error::Model { source, .. }) if source == due));
    }
}
