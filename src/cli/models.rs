//! Which models a command works with, as it was told or as the settings say; `pinned` has those of an index.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::runtime::Handle;

use super::args::{ModelArgs, SearchModelArgs};
use super::calls::{CallLog, Calls};
use super::{Surroundings, endpoint, pinned};
use crate::embed::{
    EmbedderChoice, ModelPlace, OnnxEmbedder, OnnxReranker, ReplayedEmbedder, Reranker, ServerEmbedder, ServerOptions,
};
use crate::error::{Error, Result};
use crate::llm::Endpoint;
use crate::query::RerankedBy;
use crate::skill::Performers;
use crate::workspace::Workspace;

/// Passages that are judged where nobody says how many.
const RERANK_DEFAULT: usize = 20;

/// Returns the performers for a new index.
pub(super) fn for_new_index(args: &ModelArgs, calls: &Calls, surroundings: &Surroundings) -> Result<Performers> {
    performers(&new_choice(args, surroundings)?, &Opening { values: Values::Asked, calls }, args, surroundings)
}

fn new_choice(args: &ModelArgs, surroundings: &Surroundings) -> Result<EmbedderChoice> {
    let asked = args.embedder.as_deref().or(surroundings.settings.embedder.as_deref());
    asked.map_or(Ok(EmbedderChoice::BuiltIn), str::parse)
}

/// Returns the performers for an index, or for a new one, that is only reckoned with: no server is asked how long its
/// vectors are.
pub(super) fn for_dry_run(
    workspace: Option<&Workspace>,
    args: &ModelArgs,
    calls: &Calls,
    surroundings: &Surroundings,
) -> Result<Performers> {
    let reckoned = |values| Opening { values: Values::Reckoned(values), calls };
    let Some(workspace) = workspace else {
        return performers(&new_choice(args, surroundings)?, &reckoned(1), args, surroundings);
    };
    match &args.embedder {
        Some(asked) => {
            let dimension = workspace.records()?.manifest()?.dimension;
            performers(&asked.parse()?, &reckoned(dimension), args, surroundings)
        }
        None => pinned::to_fill(workspace, args, calls, surroundings),
    }
}

/// How an embedder behind a server is opened, and called.
pub(super) struct Opening<'a> {
    pub(super) values: Values,
    pub(super) calls: &'a Calls,
}

/// How it is known how many values the vectors of an embedder behind a server have.
#[derive(Debug, Clone, Copy)]
pub(super) enum Values {
    /// It is asked.
    Asked,
    /// That is known.
    Known(usize),
    /// It is never asked anything: this is taken for the length of its vectors.
    Reckoned(usize),
}

/// Returns the performers with an embedder behind a server.
pub(super) fn server_model(
    endpoint: Endpoint,
    opening: &Opening<'_>,
    surroundings: &Surroundings,
) -> Result<Performers> {
    let Opening { values, calls: Calls { meter, log } } = opening;
    if let CallLog::Replayed(recorded) = log {
        let embedder = match values {
            Values::Asked => ReplayedEmbedder::open(&endpoint, recorded)?,
            Values::Known(dimension) | Values::Reckoned(dimension) => {
                ReplayedEmbedder::pinned(&endpoint, *dimension, recorded)
            }
        };
        return Ok(Performers::with_embedder(Arc::new(embedder)));
    }
    let limits = endpoint::limits(&surroundings.settings.model);
    let (meter, recording) = (Arc::clone(meter), log.recording());
    let options = ServerOptions { limits, meter, recording, ..ServerOptions::default() };
    let embedder = match values {
        Values::Known(dimension) => ServerEmbedder::pinned(endpoint, *dimension, options)?,
        Values::Reckoned(dimension) => ServerEmbedder::unopened(endpoint, *dimension, options)?,
        // Commands open what they work with before they wait for anything, on a thread that may be held.
        Values::Asked => {
            tokio::task::block_in_place(|| Handle::current().block_on(ServerEmbedder::open(endpoint, options)))?
        }
    };
    Ok(Performers::with_embedder(Arc::new(embedder)))
}

/// Returns the library of ONNX Runtime that was typed or is set.
pub(super) fn runtime(args: &ModelArgs, surroundings: &Surroundings) -> Option<PathBuf> {
    args.onnx_runtime.clone().or_else(|| surroundings.settings.onnx_runtime.clone())
}

/// Returns the performers with an embedder.
pub(super) fn performers(
    choice: &EmbedderChoice,
    opening: &Opening<'_>,
    args: &ModelArgs,
    surroundings: &Surroundings,
) -> Result<Performers> {
    let runtime = || runtime(args, surroundings);
    let local = |place: &ModelPlace| Ok(Performers::with_embedder(Arc::new(OnnxEmbedder::open(place)?)));
    match choice {
        EmbedderChoice::BuiltIn => Ok(Performers::built_in()),
        EmbedderChoice::Without => Ok(Performers::without_embedder()),
        EmbedderChoice::Onnx(folder) => local(&ModelPlace { folder: folder.clone(), runtime: runtime() }),
        EmbedderChoice::Server { preset, model } => {
            let settings = &surroundings.settings.model;
            let endpoint = endpoint::of_embedder(*preset, model, settings)?;
            let endpoint = opening.calls.log.with_key(endpoint, settings)?;
            server_model(endpoint, opening, surroundings)
        }
        #[cfg(feature = "hub")]
        EmbedderChoice::Hub(name) => {
            let refused = || Error::Option {
                option: "embedder",
                value: format!("hub:{name}"),
                reason: "there is no folder for models: set `CAIRN_MODELS`".to_owned(),
            };
            let models = surroundings.settings.models.as_deref().ok_or_else(refused)?;
            local(&crate::embed::hub::fetch(name, models, runtime())?)
        }
    }
}

/// A reranker, and how many passages it is to judge.
type Reranking = (Option<Arc<dyn Reranker>>, RerankedBy, Option<usize>);

/// Returns the reranker that was asked for, and how many passages it is to judge.
pub(super) fn reranker(args: &SearchModelArgs, surroundings: &Surroundings) -> Result<Reranking> {
    let Some(asked) = &args.reranker else { return Ok((None, RerankedBy::Reranker, args.rerank)) };
    if asked == "model" {
        return Ok((None, RerankedBy::Model, Some(args.rerank.unwrap_or(RERANK_DEFAULT))));
    }
    let Some(folder) = asked.strip_prefix("onnx:").filter(|folder| !folder.is_empty()) else {
        let reason = "there are onnx:DIR, model".to_owned();
        return Err(Error::Option { option: "reranker", value: asked.clone(), reason });
    };
    let place = ModelPlace { folder: PathBuf::from(folder), runtime: runtime(&args.models, surroundings) };
    Ok((Some(Arc::new(OnnxReranker::open(&place)?)), RerankedBy::Reranker, Some(args.rerank.unwrap_or(RERANK_DEFAULT))))
}
