//! Models by name: downloaded once to a folder in the usual form, which is then used like any other.
//!
//! Only with the feature `hub`: without it, nothing in this program downloads a model.

use std::path::{Path, PathBuf};

use fastembed::{EmbeddingModel, TextEmbedding, TextInitOptions};

use super::local::{ModelFiles, ModelPlace, environment};
use crate::domain::ModelError;
use crate::error::{Error, Result};
use crate::files;

/// Models whose vectors are the mean of their pieces', as [`OnnxEmbedder`](super::OnnxEmbedder) takes it.
const PRESETS: [(&str, EmbeddingModel); 5] = [
    ("all-minilm-l6-v2", EmbeddingModel::AllMiniLML6V2),
    ("all-minilm-l6-v2-int8", EmbeddingModel::AllMiniLML6V2Q),
    ("all-minilm-l12-v2", EmbeddingModel::AllMiniLML12V2),
    ("all-mpnet-base-v2", EmbeddingModel::AllMpnetBaseV2),
    ("paraphrase-multilingual-minilm-l12-v2", EmbeddingModel::ParaphraseMLMiniLML12V2),
];
/// Files besides the model.
const BESIDE: [&str; 4] = ["tokenizer.json", "config.json", "special_tokens_map.json", "tokenizer_config.json"];
/// The folder of the hub's own copies, inside that of all models.
const CACHE: &str = "hub";

/// Returns the names of the models that can be downloaded.
pub fn preset_names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}

/// Returns the folder of a model by its name, below `models`; downloads it if it is not there.
///
/// # Errors
///
/// [`Error::Option`] for a name that is none, [`Error::Runtime`] without the library, and [`Error::Model`] if the
/// download fails.
pub fn fetch(name: &str, models: &Path, runtime: Option<PathBuf>) -> Result<ModelPlace> {
    let Some((_, model)) = PRESETS.iter().find(|(preset, _)| *preset == name) else {
        let reason = format!("expected one of {}", preset_names().collect::<Vec<_>>().join(", "));
        return Err(Error::Option { option: "model", value: name.to_owned(), reason });
    };
    let place = ModelPlace { folder: models.join(name), runtime };
    if ModelFiles::read(&place.folder).is_ok() {
        return Ok(place);
    }
    let fault = |error: fastembed::Error| {
        let source = ModelError::Unusable { reason: error.to_string() };
        Error::Model { path: place.folder.clone(), source }
    };
    let cache = models.join(CACHE);
    let options = TextInitOptions::new(model.clone())
        .with_environment(environment(place.search())?)
        .with_cache_dir(cache.clone())
        .with_show_download_progress(false)
        .with_intra_threads(1);
    TextEmbedding::try_new(options).map_err(fault)?;
    let info = TextEmbedding::get_model_info(model).map_err(fault)?;
    let snapshot = snapshot(&cache, &info.model_code, &info.model_file)
        .ok_or_else(|| fault(fastembed::Error::Other("the download left no files".to_owned())))?;
    copy(&snapshot, &info.model_file, &place.folder, name)?;
    Ok(place)
}

/// Returns the folder of the hub's copy that has the model.
fn snapshot(cache: &Path, code: &str, file: &str) -> Option<PathBuf> {
    let snapshots = cache.join(format!("models--{}", code.replace('/', "--"))).join("snapshots");
    let folders = std::fs::read_dir(snapshots).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    folders.filter(|folder| folder.join(file).is_file()).max()
}

fn copy(from: &Path, model: &str, to: &Path, name: &str) -> Result<()> {
    files::make_folder(to)?;
    let model = (model, format!("{name}.onnx"));
    for (source, target) in BESIDE.iter().map(|name| (*name, (*name).to_owned())).chain([model]) {
        let target = to.join(target);
        // The hub keeps links to what it has downloaded.
        let mut source = files::open(&from.join(source))?;
        std::io::copy(&mut source, &mut files::create_own(&target)?).map_err(Error::io("write", &target))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_download_becomes_a_folder_of_the_usual_form() {
        let folder = tempfile::tempdir().unwrap();
        let copy_of_hub = folder.path().join("hub/models--A--b/snapshots/1f");
        std::fs::create_dir_all(copy_of_hub.join("onnx")).unwrap();
        for name in BESIDE.iter().chain(&["onnx/model.onnx"]) {
            std::fs::write(copy_of_hub.join(name), "").unwrap();
        }
        let found = snapshot(&folder.path().join("hub"), "A/b", "onnx/model.onnx").unwrap();
        assert_eq!(found, copy_of_hub);
        let model = folder.path().join("b");
        copy(&found, "onnx/model.onnx", &model, "b").unwrap();
        assert!(ModelFiles::read(&model).unwrap().name.starts_with("b@"));
        let unknown = fetch("c", folder.path(), None).unwrap_err();
        assert!(unknown.to_string().contains("all-minilm-l6-v2, "), "{unknown}");
    }
}
