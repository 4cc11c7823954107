//! Which models a command works with: as it was told, as the environment says, or as the index remembers.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::runtime::Handle;

use super::args::{ModelArgs, SearchModelArgs};
use super::calls::{CallLog, Calls};
use super::{Surroundings, endpoint};
use crate::domain::Secret;
use crate::embed::{
    Embedder as _, EmbedderChoice, EmbedderPlace, ModelPlace, NoEmbedder, OnnxEmbedder, OnnxReranker, ReplayedEmbedder,
    Reranker, ServerEmbedder, ServerOptions, ServerPlace, StaticTable,
};
use crate::error::{Error, Result};
use crate::llm::Endpoint;
use crate::query::RerankedBy;
use crate::skill::Performers;
use crate::store::{GraphReader, VectorField};
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
        None => for_index(workspace, args, calls, surroundings),
    }
}

/// Returns the performers for an index that is there: with the embedder that was asked for, or else with its own.
pub(super) fn for_index(
    workspace: &Workspace,
    args: &ModelArgs,
    calls: &Calls,
    surroundings: &Surroundings,
) -> Result<Performers> {
    let manifest = workspace.records()?.manifest()?;
    let (place, dimension) = (workspace.model_place()?, Some(manifest.dimension));
    let remembered = Remembered { place, dimension, calls: calls.clone() };
    for_embedder(&manifest.embedder, remembered, args, surroundings)
}

/// What an index knows of its embedder beside the name.
#[derive(Debug)]
pub(super) struct Remembered {
    /// Where its model was when the index was made.
    place: Option<EmbedderPlace>,
    /// Values of a vector.
    dimension: Option<usize>,
    /// How it is called.
    calls: Calls,
}

/// How an embedder behind a server is opened, and called.
struct Opening<'a> {
    values: Values,
    calls: &'a Calls,
}

/// How it is known how many values the vectors of an embedder behind a server have.
#[derive(Debug, Clone, Copy)]
enum Values {
    /// It is asked.
    Asked,
    /// That is known.
    Known(usize),
    /// It is never asked anything: this is taken for the length of its vectors.
    Reckoned(usize),
}

impl Remembered {
    /// Returns what a graph in a database knows: how long its vectors are, where it has any.
    pub(super) fn of_graph(reader: &dyn GraphReader, calls: Calls) -> Result<Self> {
        let dimension = reader.vectors(VectorField::Passage)?.dimension;
        Ok(Self { place: None, dimension: Some(dimension).filter(|dimension| *dimension > 0), calls })
    }
}

/// Returns the performers for an index that is pinned to an embedder: with the one that was asked for, or else with
/// this one.
pub(super) fn for_embedder(
    pinned: &str,
    remembered: Remembered,
    args: &ModelArgs,
    surroundings: &Surroundings,
) -> Result<Performers> {
    let calls = &remembered.calls;
    if let Some(asked) = &args.embedder {
        return performers(&asked.parse()?, &Opening { values: Values::Asked, calls }, args, surroundings);
    }
    match pinned {
        StaticTable::NAME => Ok(Performers::built_in()),
        NoEmbedder::NAME => Ok(Performers::without_embedder()),
        name if OnnxEmbedder::is_name(name) => {
            let place = match remembered.place {
                Some(EmbedderPlace::Local(place)) => Some(place),
                _ => None,
            };
            local_model(name, place, args, surroundings)
        }
        name => match pinned_endpoint(name, remembered.place, &calls.log, surroundings)? {
            Some(endpoint) => {
                let values = remembered.dimension.map_or(Values::Asked, Values::Known);
                server_model(endpoint, &Opening { values, calls }, surroundings)
            }
            // One that this program does not have: the index says so when it is opened with ours.
            None => Ok(Performers::built_in()),
        },
    }
}

/// Returns the endpoint of the server's model that an index is pinned to: as the settings say, or where it was when the
/// index was made.
fn pinned_endpoint(
    pinned: &str,
    place: Option<EmbedderPlace>,
    log: &CallLog,
    surroundings: &Surroundings,
) -> Result<Option<Endpoint>> {
    let settings = &surroundings.settings.model;
    let named = |text: &str| match text.parse() {
        Ok(EmbedderChoice::Server { preset, model }) => Some(endpoint::of_embedder(preset, &model, settings)),
        _ => None,
    };
    if let Some(Ok(endpoint)) = surroundings.settings.embedder.as_deref().and_then(named)
        && endpoint.name() == pinned
    {
        return log.with_key(endpoint, settings).map(Some);
    }
    match place {
        Some(EmbedderPlace::Server(place)) if place.endpoint().name() == pinned => {
            remembered_endpoint(&place, log, surroundings).map(Some)
        }
        _ => named(pinned).transpose()?.map(|endpoint| log.with_key(endpoint, settings)).transpose(),
    }
}

/// Returns an endpoint that an index remembers. The index may come from somebody else: what is secret goes only where
/// the settings, or the server's own name, lead too.
fn remembered_endpoint(place: &ServerPlace, log: &CallLog, surroundings: &Surroundings) -> Result<Endpoint> {
    let settings = &surroundings.settings.model;
    let endpoint = place.endpoint();
    let usual = endpoint.preset.map(|preset| preset.url().to_owned());
    let set = [&settings.url, &settings.embedder_url].map(|url| url.as_deref().map(|url| url.trim_end_matches('/')));
    let is_known = usual.as_deref() == Some(endpoint.url.as_str()) || set.contains(&Some(endpoint.url.as_str()));
    let endpoint = log.with_key(endpoint::with_settings(endpoint, settings)?, settings)?;
    if is_known || log.is_replayed() {
        return Ok(endpoint);
    }
    surroundings.screen.note(format!(
        "note: the embedder is asked at `{}`, as the index says, without a key: `--embedder` or `CAIRN_EMBEDDER` names \
         it with one",
        surroundings.screen.shown(&endpoint.url)
    ));
    Ok(Endpoint { key: Secret::default(), headers: Vec::new(), organization: None, ..endpoint })
}

/// Returns the performers with an embedder behind a server.
fn server_model(endpoint: Endpoint, opening: &Opening<'_>, surroundings: &Surroundings) -> Result<Performers> {
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
            Ok(embedder) if embedder.name() == pinned => {
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

/// Returns the performers with an embedder.
fn performers(
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
            local(&crate::embed::hub::fetch(name, &surroundings.settings.models(), runtime())?)
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
