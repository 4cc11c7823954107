//! A sentence encoder that runs on this machine: any ONNX model with its tokenizer, through `fastembed`.
//!
//! Texts are embedded one at a time on as many threads as there are cores: models in 8 bits are fastest that way, and
//! the vector of a text does not depend on which texts stand beside it.

use std::sync::Arc;

use fastembed::{InitOptionsUserDefined, QuantizationMode, TextEmbedding, UserDefinedEmbeddingModel};
use rayon::prelude::*;

use super::local::{ModelFiles, ModelPlace, Pool, SESSION_CONFIG, TOKENS_MAX, environment};
use super::{Embedder, EmbedderPlace, Embeddings};
use crate::domain::{Embedding, ModelError};
use crate::error::{Error, Result};

/// What stands before the name of a model.
const PREFIX: &str = "onnx:";
/// What a model is tried with, to learn the length of its vectors.
const PROBE: &str = "Which river flows through the city?";

/// An embedder that runs a local ONNX model: the mean of its pieces' vectors at unit length, or the first one's where
/// `1_Pooling/config.json` beside the model says so.
pub struct OnnxEmbedder {
    model: Arc<Model>,
    place: EmbedderPlace,
    count: Box<dyn Fn(&str) -> usize + Send + Sync>,
    pieces_max: usize,
}

/// What a call works with on other threads.
struct Model {
    name: String,
    dimension: usize,
    place: ModelPlace,
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
        let files = ModelFiles::read(&place.folder)?;
        let environment = environment(place)?;
        let name = format!("{PREFIX}{}", files.name);
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
        Self::over(Model { name, dimension: 0, place: place.clone(), sessions: Pool::new(make)? })
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
            // What cannot be taken apart is as long as it can be.
            let count = move |text: &str| tokenizer.encode_fast(text, false).map_or(text.len(), |it| it.len());
            (dimension, count, tokens_max)
        };
        if dimension == 0 {
            return Err(model.fault(ModelError::Output { reason: "a vector without values".to_owned() }));
        }
        model.dimension = dimension;
        let place = EmbedderPlace::Local(model.place.clone());
        let pieces_max = tokens_max.saturating_sub(2);
        let embedder = Self { model: Arc::new(model), place, count: Box::new(count), pieces_max };
        embedder.model.embed(&[PROBE.to_owned()])?;
        Ok(embedder)
    }

    /// Returns where the model lies.
    #[must_use]
    pub fn place(&self) -> &ModelPlace {
        &self.model.place
    }

    /// Returns whether an embedder of that name is a local model.
    #[must_use]
    pub fn is_name(name: &str) -> bool {
        name.starts_with(PREFIX)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it stands where errors are mapped")]
fn unusable(error: impl ToString) -> ModelError {
    ModelError::Unusable { reason: error.to_string() }
}

impl Model {
    fn fault(&self, source: ModelError) -> Error {
        Error::Model { path: self.place.folder.clone(), source }
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
        let Model { name, dimension, place, .. } = self.model.as_ref();
        f.debug_struct("OnnxEmbedder")
            .field("name", name)
            .field("dimension", dimension)
            .field("place", place)
            .finish_non_exhaustive()
    }
}
