//! A sentence encoder that runs on this machine: any ONNX model with its tokenizer, through `fastembed`.
//!
//! Texts are embedded one at a time on as many threads as there are cores: models in 8 bits are fastest that way, and
//! the vector of a text does not depend on other texts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fastembed::{InitOptionsUserDefined, QuantizationMode, TextEmbedding, UserDefinedEmbeddingModel};
use rayon::prelude::*;

use super::local::{LibrarySearch, ModelFiles, ModelPlace, Pool, SESSION_CONFIG, TOKENS_MAX, environment};
use super::place::{Confirmed, EmbedderPlace, LocalPlace};
use super::{Embedder, Embeddings};
use crate::domain::{Embedding, ModelError};
use crate::error::{Error, Result};

/// The prefix of the name of a model.
const PREFIX: &str = "onnx:";
/// The text with which the length of a model's vectors is determined.
const PROBE: &str = "Which river flows through the city?";

/// An embedder that runs a local ONNX model: the mean of its pieces' vectors at unit length, or the first one's if
/// `1_Pooling/config.json` beside the model says so.
pub struct OnnxEmbedder {
    model: Arc<Model>,
    place: EmbedderPlace,
    count: Box<dyn Fn(&str) -> usize + Send + Sync>,
    pieces_max: usize,
}

/// The data of a call on other threads.
struct Model {
    name: String,
    dimension: usize,
    folder: PathBuf,
    sessions: Pool<TextEmbedding>,
}

impl OnnxEmbedder {
    /// Loads the model in a folder, and the library that runs it.
    ///
    /// # Errors
    ///
    /// [`Error::Runtime`] if the library is missing, too old or none; [`Error::Model`] if the folder or its files do
    /// not do or the model returns no vectors; [`Error::Embedding`] if it returns vectors with values that are not
    /// finite.
    pub fn open(place: &ModelPlace) -> Result<Self> {
        Self::load(ModelFiles::read(&place.folder)?, place.search())
    }

    /// Loads the model in a folder if it is the one called `name`. Nothing of another model is given to a tokenizer or
    /// to the library, which is not loaded then either.
    ///
    /// # Errors
    ///
    /// [`Error::ModelGone`] if the folder holds another model; else as [`Self::open`].
    pub fn open_as(name: &str, place: &ModelPlace) -> Result<Self> {
        Self::load(named(name, &place.folder)?, place.search())
    }

    /// Loads the model called `name` from where an index remembers it, if `confirmed` allows that: only from its own
    /// files, whose checksum is compared with the name before anything else reads them, and with a library from
    /// elsewhere.
    ///
    /// # Errors
    ///
    /// [`Error::ModelGone`] if the folder may not be looked into, is not there, or holds another model; else as
    /// [`Self::open`].
    pub fn open_remembered(name: &str, place: &LocalPlace, confirmed: &Confirmed) -> Result<Self> {
        let folder = place.folder(confirmed).filter(|folder| folder.is_dir());
        let folder = folder.ok_or_else(|| Error::ModelGone { embedder: name.to_owned() })?;
        Self::load(named(name, folder)?, confirmed.search())
    }

    fn load(files: ModelFiles, search: LibrarySearch<'_>) -> Result<Self> {
        let environment = environment(search)?;
        let (name, folder) = (format!("{PREFIX}{}", files.name), files.folder.clone());
        let make = move || {
            let model = UserDefinedEmbeddingModel::new(files.onnx.clone(), files.tokenizer.clone())
                .with_pooling(files.pooling.clone())
                .with_quantization(QuantizationMode::None);
            let options = InitOptionsUserDefined::new()
                .with_environment(environment.clone())
                .with_max_length(TOKENS_MAX)
                .with_intra_threads(1)
                .with_session_config(SESSION_CONFIG.0, SESSION_CONFIG.1);
            TextEmbedding::try_new_from_user_defined(model, options).map_err(|error| {
                let source = ModelError::Unusable { reason: error.to_string() };
                Error::Model { path: files.folder.clone(), source }
            })
        };
        Self::over(Model { name, dimension: 0, folder, sessions: Pool::new(make)? })
    }

    /// Tries the model once: its dimension is that of the first vector.
    fn over(mut model: Model) -> Result<Self> {
        let (dimension, count, tokens_max) = {
            let mut lease = model.sessions.lease();
            let session = lease.session()?;
            let dimension = model.values(session, PROBE)?.len();
            let mut tokenizer = session.tokenizer.clone();
            let tokens_max = tokenizer.get_truncation().map_or(TOKENS_MAX, |it| it.max_length);
            // Pieces are counted whole and bare.
            tokenizer.with_padding(None);
            tokenizer.with_truncation(None).map_err(|error| model.fault(unusable(error)))?;
            // What cannot be split is as long as it can be.
            let count = move |text: &str| tokenizer.encode_fast(text, false).map_or(text.len(), |it| it.len());
            (dimension, count, tokens_max)
        };
        if dimension == 0 {
            return Err(model.fault(ModelError::Output { reason: "a vector without values".to_owned() }));
        }
        model.dimension = dimension;
        let place = EmbedderPlace::Local(LocalPlace::of(&model.folder));
        let pieces_max = tokens_max.saturating_sub(2);
        let embedder = Self { model: Arc::new(model), place, count: Box::new(count), pieces_max };
        embedder.model.embed(&[PROBE.to_owned()])?;
        Ok(embedder)
    }

    /// Returns whether an embedder of that name is a local model.
    #[must_use]
    pub fn is_name(name: &str) -> bool {
        name.starts_with(PREFIX)
    }
}

/// Returns the files of the model in a folder, if it is the one called `name`.
fn named(name: &str, folder: &Path) -> Result<ModelFiles> {
    let files = ModelFiles::read(folder)?;
    if name.strip_prefix(PREFIX) == Some(files.name.as_str()) {
        return Ok(files);
    }
    Err(Error::ModelGone { embedder: name.to_owned() })
}

#[expect(clippy::needless_pass_by_value, reason = "it stands where errors are mapped")]
fn unusable(error: impl ToString) -> ModelError {
    ModelError::Unusable { reason: error.to_string() }
}

impl Model {
    fn fault(&self, source: ModelError) -> Error {
        Error::Model { path: self.folder.clone(), source }
    }

    /// Embeds texts on all threads; the vectors are those of one thread.
    fn embed(&self, texts: &[String]) -> Result<Vec<Embedding>> {
        let one = |lease: &mut super::local::Lease<'_, TextEmbedding>, text: &String| {
            let values = self.values(lease.session()?, text)?;
            Embedding::try_new(values, self.dimension)
                .map_err(|source| Error::Embedding { embedder: self.name.clone(), source })
        };
        texts.par_iter().map_init(|| self.sessions.lease(), one).collect()
    }

    fn values(&self, session: &mut TextEmbedding, text: &str) -> Result<Vec<f32>> {
        let output = |reason| self.fault(ModelError::Output { reason });
        let mut vectors = session.embed([text], Some(1)).map_err(|error| output(error.to_string()))?;
        match vectors.len() {
            1 => Ok(vectors.remove(0)),
            count => Err(output(format!("{count} vectors for one text"))),
        }
    }
}

impl Embedder for OnnxEmbedder {
    fn name(&self) -> &str {
        &self.model.name
    }

    fn dimension(&self) -> usize {
        self.model.dimension
    }

    fn piece_count(&self, text: &str) -> usize {
        (self.count)(text)
    }

    fn pieces_max(&self) -> usize {
        self.pieces_max
    }

    fn is_costly(&self) -> bool {
        true
    }

    fn place(&self) -> Option<&EmbedderPlace> {
        Some(&self.place)
    }

    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> Embeddings<'a> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let model = Arc::clone(&self.model);
        let task = tokio::task::spawn_blocking(move || model.embed(&texts));
        Box::pin(async { task.await.map_err(|error| Error::Internal(error.to_string()))? })
    }
}

impl std::fmt::Debug for OnnxEmbedder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Model { name, dimension, folder, .. } = self.model.as_ref();
        f.debug_struct("OnnxEmbedder")
            .field("name", name)
            .field("dimension", dimension)
            .field("folder", folder)
            .finish_non_exhaustive()
    }
}
