//! Which models a command works with: as it was told, as the environment says, or as the index remembers.

use std::path::PathBuf;
use std::sync::Arc;

use super::Surroundings;
use super::args::{ModelArgs, SearchModelArgs};
use crate::embed::{EmbedderChoice, ModelPlace, NoEmbedder, OnnxEmbedder, OnnxReranker, Reranker, StaticTable};
use crate::error::{Error, Result};
use crate::skill::Performers;
use crate::workspace::Workspace;

/// Passages that are judged where nobody says how many.
const RERANK_DEFAULT: usize = 20;

/// Returns the performers for a new index.
pub(super) fn for_new_index(args: &ModelArgs, surroundings: &Surroundings) -> Result<Performers> {
    let asked = args.embedder.as_deref().or(surroundings.settings.embedder.as_deref());
    let choice = asked.map_or(Ok(EmbedderChoice::BuiltIn), str::parse)?;
    performers(choice, runtime(args, surroundings), surroundings)
}

/// Returns the performers for an index that is there: with the embedder that was asked for, or else with its own.
pub(super) fn for_index(workspace: &Workspace, args: &ModelArgs, surroundings: &Surroundings) -> Result<Performers> {
    for_embedder(&workspace.embedder()?, workspace.model_place()?, args, surroundings)
}

/// Returns the performers for an index that is pinned to an embedder, whose model lay at `remembered` when the index
/// was made: with the embedder that was asked for, or else with this one.
pub(super) fn for_embedder(
    pinned: &str,
    remembered: Option<ModelPlace>,
    args: &ModelArgs,
    surroundings: &Surroundings,
) -> Result<Performers> {
    if let Some(asked) = &args.embedder {
        return performers(asked.parse()?, runtime(args, surroundings), surroundings);
    }
    match pinned {
        StaticTable::NAME => Ok(Performers::built_in()),
        NoEmbedder::NAME => Ok(Performers::without_embedder()),
        name if OnnxEmbedder::is_name(name) => local_model(name, remembered, args, surroundings),
        // One that this program does not have: the index says so when it is opened with ours.
        _ => Ok(Performers::built_in()),
    }
}

/// Looks for the model that an index is pinned to where it was when the index was made, then where the settings say.
fn local_model(
    pinned: &str,
    remembered: Option<ModelPlace>,
    args: &ModelArgs,
    surroundings: &Surroundings,
) -> Result<Performers> {
    let given = runtime(args, surroundings);
    let remembered = remembered.map(|place| ModelPlace {
        runtime: given.clone().or(place.runtime.filter(|library| library.is_file())),
        ..place
    });
    let named = match surroundings.settings.embedder.as_deref().map(str::parse) {
        Some(Ok(EmbedderChoice::Onnx(folder))) => Some(ModelPlace { folder, runtime: given }),
        _ => None,
    };
    let mut failed = None;
    for place in remembered.into_iter().chain(named).filter(|place| place.folder.is_dir()) {
        match OnnxEmbedder::open(&place) {
            Ok(embedder) if crate::embed::Embedder::name(&embedder) == pinned => {
                return Ok(Performers::with_embedder(Arc::new(embedder)));
            }
            Ok(_) => {}
            Err(error) => failed = Some(error),
        }
    }
    Err(failed.unwrap_or_else(|| Error::ModelGone { embedder: pinned.to_owned() }))
}

fn runtime(args: &ModelArgs, surroundings: &Surroundings) -> Option<PathBuf> {
    args.onnx_runtime.clone().or_else(|| surroundings.settings.onnx_runtime.clone())
}

#[cfg_attr(not(feature = "hub"), expect(unused_variables, reason = "only downloads need a place"))]
fn performers(choice: EmbedderChoice, runtime: Option<PathBuf>, surroundings: &Surroundings) -> Result<Performers> {
    let local = |place: &ModelPlace| Ok(Performers::with_embedder(Arc::new(OnnxEmbedder::open(place)?)));
    match choice {
        EmbedderChoice::BuiltIn => Ok(Performers::built_in()),
        EmbedderChoice::Without => Ok(Performers::without_embedder()),
        EmbedderChoice::Onnx(folder) => local(&ModelPlace { folder, runtime }),
        #[cfg(feature = "hub")]
        EmbedderChoice::Hub(name) => local(&crate::embed::hub::fetch(&name, &surroundings.settings.models(), runtime)?),
    }
}

/// A reranker, and how many passages it is to judge.
type Reranking = (Option<Arc<dyn Reranker>>, Option<usize>);

/// Returns the reranker that was asked for, and how many passages it is to judge.
pub(super) fn reranker(args: &SearchModelArgs, surroundings: &Surroundings) -> Result<Reranking> {
    let Some(asked) = &args.reranker else { return Ok((None, args.rerank)) };
    let Some(folder) = asked.strip_prefix("onnx:").filter(|folder| !folder.is_empty()) else {
        let reason = "there is onnx:DIR".to_owned();
        return Err(Error::Option { option: "reranker", value: asked.clone(), reason });
    };
    let place = ModelPlace { folder: PathBuf::from(folder), runtime: runtime(&args.models, surroundings) };
    Ok((Some(Arc::new(OnnxReranker::open(&place)?)), Some(args.rerank.unwrap_or(RERANK_DEFAULT))))
}
