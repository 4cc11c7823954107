//! Cross-encoders, which read question and passage together: slower than vectors, but more accurate.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use fastembed::{RerankInitOptionsUserDefined, TextRerank, UserDefinedRerankingModel};
use ort::session::Session;
use rayon::prelude::*;

use super::local::{Lease, ModelFiles, ModelPlace, Pool, SESSION_CONFIG, environment};
use crate::domain::{EmbeddingError, ModelError, Spent};
use crate::error::{Error, Result};

/// What stands before the name of a model.
const PREFIX: &str = "onnx:";
/// Word pieces of question and passage together: what most rerankers are made for.
const TOKENS_MAX: usize = 512;
/// The output that holds a model's scores.
const LOGITS: &str = "logits";

/// The future of a [`Reranker`]: scores.
pub type Scores<'a> = Pin<Box<dyn Future<Output = Scored> + Send + 'a>>;

/// The result of scoring texts.
#[derive(Debug)]
pub struct Scored {
    /// One finite score a text, in order, or why there are none.
    pub scores: Result<Vec<f32>>,
    /// The cost of calls to a server, even if one of them failed; zero without a server.
    pub spent: Spent,
}

impl From<Result<Vec<f32>>> for Scored {
    /// Of scores that cost nothing.
    fn from(scores: Result<Vec<f32>>) -> Self {
        Self { scores, spent: Spent::default() }
    }
}

/// Judges how well texts answer a question, each read together with it.
pub trait Reranker: Send + Sync {
    /// Returns its name, which changes whenever its scores do.
    fn name(&self) -> &str;

    /// Returns how many calls to a server scoring so many texts takes; a search counts them with those of a language
    /// model.
    fn calls(&self, _texts: usize) -> u32 {
        0
    }

    /// Returns one finite score per text, in order, and the cost; higher is better, on its own scale. Returns an error
    /// instead of scores if a score is missing or not a number.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the scores of this call and nothing else.
    fn score<'a>(&'a self, question: &'a str, texts: &'a [String]) -> Scores<'a>;
}

/// A reranker that runs a local ONNX cross-encoder with one score a pair, in an output called `logits`.
pub struct OnnxReranker {
    model: Arc<Model>,
}

struct Model {
    name: String,
    folder: PathBuf,
    sessions: Pool<TextRerank>,
}

impl OnnxReranker {
    /// Loads the model in a folder, and the library that runs it.
    ///
    /// # Errors
    ///
    /// As [`OnnxEmbedder::open`](super::OnnxEmbedder::open); [`Error::Model`] too if the model has no such output.
    pub fn open(place: &ModelPlace) -> Result<Self> {
        let files = ModelFiles::read(&place.folder)?;
        let environment = environment(place.search())?;
        let (name, folder) = (format!("{PREFIX}{}", files.name), place.folder.clone());
        let fault = {
            let folder = folder.clone();
            move |source| Error::Model { path: folder.clone(), source }
        };
        let checked = Session::builder(&environment).and_then(|mut builder| builder.commit_from_memory(&files.onnx));
        let checked = checked.map_err(|error| fault(ModelError::Unusable { reason: error.to_string() }))?;
        check_output(&checked).map_err(|reason| fault(ModelError::Output { reason }))?;
        drop(checked);
        let make = move || {
            let model = UserDefinedRerankingModel::new(files.onnx.clone(), files.tokenizer.clone());
            let options = RerankInitOptionsUserDefined::new()
                .with_environment(environment.clone())
                .with_max_length(TOKENS_MAX)
                .with_intra_threads(1)
                .with_session_config(SESSION_CONFIG.0, SESSION_CONFIG.1);
            TextRerank::try_new_from_user_defined(model, options)
                .map_err(|error| fault(ModelError::Unusable { reason: error.to_string() }))
        };
        let model = Model { name, folder, sessions: Pool::new(make)? };
        model.score("Is it so?", &["It is so.".to_owned()])?;
        Ok(Self { model: Arc::new(model) })
    }
}

/// Checks what the library assumes: an output `logits` of two dimensions, with at least one value per pair.
fn check_output(session: &Session) -> Result<(), String> {
    let outputs = session.outputs();
    let output = outputs.iter().find(|output| output.name() == LOGITS);
    let output = output.ok_or_else(|| format!("there is no output `{LOGITS}`"))?;
    let shape = output.dtype().tensor_shape().ok_or_else(|| format!("`{LOGITS}` is not a tensor"))?;
    match shape.as_ref() {
        [_, values] if *values != 0 => Ok(()),
        other => Err(format!("`{LOGITS}` has the shape {other:?}; one score a pair is due")),
    }
}

impl Model {
    fn score(&self, question: &str, texts: &[String]) -> Result<Vec<f32>> {
        let one = |lease: &mut Lease<'_, TextRerank>, text: &String| {
            let output = |reason| Error::Model { path: self.folder.clone(), source: ModelError::Output { reason } };
            let ranked = lease.session()?.rerank(question, [text.as_str()], false, Some(1));
            let ranked = ranked.map_err(|error| output(error.to_string()))?;
            match ranked.as_slice() {
                [only] if only.score.is_finite() => Ok(only.score),
                [_] => Err(Error::Embedding {
                    embedder: self.name.clone(),
                    source: EmbeddingError::NotFinite { position: 0 },
                }),
                _ => Err(output(format!("{} scores for one text", ranked.len()))),
            }
        };
        texts.par_iter().map_init(|| self.sessions.lease(), one).collect()
    }
}

impl Reranker for OnnxReranker {
    fn name(&self) -> &str {
        &self.model.name
    }

    fn score<'a>(&'a self, question: &'a str, texts: &'a [String]) -> Scores<'a> {
        let (question, texts, model) = (question.to_owned(), texts.to_vec(), Arc::clone(&self.model));
        let task = tokio::task::spawn_blocking(move || model.score(&question, &texts));
        Box::pin(async { task.await.unwrap_or_else(|error| Err(Error::Internal(error.to_string()))).into() })
    }
}

impl std::fmt::Debug for OnnxReranker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OnnxReranker").field("name", &self.model.name).finish_non_exhaustive()
    }
}
