//! The embedder that an index, or a graph in a database, is pinned to.
//!
//! An index may come from anybody. What it says of its embedder is compared with what the user says by flags, the
//! environment and the user's own settings: a model of the same checksum is loaded, a server is asked only where the
//! user has named it or its address.

use std::sync::Arc;

use super::Surroundings;
use super::args::ModelArgs;
use super::calls::Calls;
use super::endpoint;
use super::models::{Opening, Values, performers, runtime, server_model};
use crate::config::LanguageModel;
use crate::embed::{
    Confirmed, EmbedderChoice, EmbedderPlace, ModelPlace, NoEmbedder, OnnxEmbedder, StaticTable, WithheldEmbedder,
};
use crate::error::{Error, Result};
use crate::llm::Endpoint;
use crate::skill::Performers;
use crate::store::{GraphReader, VectorField};
use crate::workspace::Workspace;

/// What is known of an embedder beside its name.
#[derive(Debug)]
pub(super) struct Remembered {
    /// Where its model was when the index was made.
    place: Option<EmbedderPlace>,
    /// Values of a vector.
    dimension: Option<usize>,
    /// How it is called.
    calls: Calls,
    purpose: Purpose,
}

/// What an embedder is needed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// To read an index, which goes some way without vectors: a server that is not confirmed is an error once it is
    /// asked.
    Read,
    /// To fill it: such a server is an error before anything is read.
    Fill,
}

impl Remembered {
    /// Returns what a graph in a database knows: how long its vectors are, where it has any.
    pub(super) fn of_graph(reader: &dyn GraphReader, calls: Calls) -> Result<Self> {
        let dimension = reader.vectors(VectorField::Passage)?.dimension;
        Ok(Self {
            place: None,
            dimension: Some(dimension).filter(|dimension| *dimension > 0),
            calls,
            purpose: Purpose::Read,
        })
    }
}

/// Returns the performers to read an index with.
pub(super) fn to_read(
    workspace: &Workspace,
    args: &ModelArgs,
    calls: &Calls,
    surroundings: &Surroundings,
) -> Result<Performers> {
    of_index(workspace, Purpose::Read, args, calls, surroundings)
}

/// Returns the performers to fill an index with that is there.
pub(super) fn to_fill(
    workspace: &Workspace,
    args: &ModelArgs,
    calls: &Calls,
    surroundings: &Surroundings,
) -> Result<Performers> {
    of_index(workspace, Purpose::Fill, args, calls, surroundings)
}

fn of_index(
    workspace: &Workspace,
    purpose: Purpose,
    args: &ModelArgs,
    calls: &Calls,
    surroundings: &Surroundings,
) -> Result<Performers> {
    let manifest = workspace.records()?.manifest()?;
    let (place, dimension) = (workspace.model_place()?, Some(manifest.dimension));
    let remembered = Remembered { place, dimension, calls: calls.clone(), purpose };
    of_name(&manifest.embedder, &remembered, args, surroundings)
}

/// Returns the performers with the embedder that was asked for, or else the one called `pinned`.
pub(super) fn of_name(
    pinned: &str,
    remembered: &Remembered,
    args: &ModelArgs,
    surroundings: &Surroundings,
) -> Result<Performers> {
    if let Some(asked) = &args.embedder {
        let opening = Opening { values: Values::Asked, calls: &remembered.calls };
        return performers(&asked.parse()?, &opening, args, surroundings);
    }
    match pinned {
        StaticTable::NAME => Ok(Performers::built_in()),
        NoEmbedder::NAME => Ok(Performers::without_embedder()),
        name if OnnxEmbedder::is_name(name) => local_model(name, remembered.place.as_ref(), args, surroundings),
        // One that this program does not have: the index says so when it is opened with ours.
        name => Ok(server(name, remembered, args, surroundings)?.unwrap_or_else(Performers::built_in)),
    }
}

/// Returns what the user allows of what an index says: the server at which an embedder would be asked that is named
/// without one, and others that are listed. A model needs no word, since its checksum is compared.
pub(super) fn confirmed(args: &ModelArgs, surroundings: &Surroundings) -> Confirmed {
    let settings = &surroundings.settings.model;
    let set = endpoint::of_embedder(None, "", settings).ok().map(|endpoint| endpoint.url);
    let servers = settings.confirmed.iter().cloned().chain(set).collect();
    Confirmed { model_folder: true, runtime: runtime(args, surroundings), servers }
}

/// Returns the performers with a model behind a server; none where the name is not of one.
fn server(
    pinned: &str,
    remembered: &Remembered,
    args: &ModelArgs,
    surroundings: &Surroundings,
) -> Result<Option<Performers>> {
    let settings = &surroundings.settings.model;
    let Remembered { place, dimension, calls, purpose } = remembered;
    let values = dimension.map_or(Values::Asked, Values::Known);
    let ask = |endpoint: Endpoint, settings: &LanguageModel| {
        let endpoint = calls.log.with_key(endpoint, settings)?;
        server_model(endpoint, &Opening { values, calls }, surroundings).map(Some)
    };
    let set = surroundings.settings.embedder.as_deref().and_then(|name| named(name, surroundings));
    if let Some(Ok(endpoint)) = set
        && endpoint.name() == pinned
    {
        return ask(endpoint, settings);
    }
    let endpoint = match place {
        Some(EmbedderPlace::Server(place)) if place.name() == pinned => place.unchecked(),
        _ => match named(pinned, surroundings) {
            Some(endpoint) => endpoint?,
            None => return Ok(None),
        },
    };
    match confirmed(args, surroundings).check(&endpoint) {
        // A replay asks nobody.
        Err(_) if calls.log.is_replayed() => ask(endpoint, settings),
        Ok(()) => {
            let settings = endpoint::for_named_by_index(&endpoint, settings)?;
            ask(endpoint::with_settings(endpoint, &settings)?, &settings)
        }
        Err(unconfirmed) if *purpose == Purpose::Fill => Err(unconfirmed),
        Err(_) => {
            let embedder = WithheldEmbedder::new(&endpoint, dimension.unwrap_or(0));
            Ok(Some(Performers::with_embedder(Arc::new(embedder))))
        }
    }
}

/// Says what has to be set so that later commands can use the embedder of an index that was named by a flag: what the
/// index remembers of it is not enough.
pub(super) fn say_what_is_unset(workspace: &Workspace, surroundings: &Surroundings) -> Result<()> {
    let (screen, settings) = (&surroundings.screen, &surroundings.settings);
    let unsaid = ModelArgs { embedder: None, onnx_runtime: None };
    let confirmed = confirmed(&unsaid, surroundings);
    match workspace.model_place()? {
        Some(EmbedderPlace::Server(place)) => {
            let set = settings.embedder.as_deref().and_then(|name| named(name, surroundings));
            let is_set = matches!(set, Some(Ok(endpoint)) if endpoint.name() == place.name());
            if let (false, Err(Error::Unconfirmed { url, .. })) = (is_set, place.endpoint(&confirmed)) {
                screen.note(format!(
                    "note: later commands ask `{url}` only if you name it again or confirm it once: as \
                     `model.confirmed` in your own configuration, or by `CAIRN_EMBEDDER_URL`"
                ));
            }
        }
        Some(EmbedderPlace::Local(_)) if settings.embedder.is_none() && confirmed.library().is_err() => {
            screen.note(
                "note: later commands find the model, and not ONNX Runtime: set it as `onnx_runtime` in your own \
                 configuration, or by `CAIRN_ONNX_RUNTIME`",
            );
        }
        Some(EmbedderPlace::Local(_)) | None => {}
    }
    Ok(())
}

/// Returns the endpoint of an embedder that is called as a server's model is.
fn named(name: &str, surroundings: &Surroundings) -> Option<Result<Endpoint>> {
    match name.parse() {
        Ok(EmbedderChoice::Server { preset, model }) => {
            Some(endpoint::of_embedder(preset, &model, &surroundings.settings.model))
        }
        _ => None,
    }
}

/// Looks for a model where the settings say, then where it was when the index was made.
fn local_model(
    pinned: &str,
    place: Option<&EmbedderPlace>,
    args: &ModelArgs,
    surroundings: &Surroundings,
) -> Result<Performers> {
    let set = || match surroundings.settings.embedder.as_deref()?.parse() {
        Ok(EmbedderChoice::Onnx(folder)) if folder.is_dir() => {
            let place = ModelPlace { folder, runtime: runtime(args, surroundings) };
            Some(OnnxEmbedder::open_as(pinned, &place))
        }
        _ => None,
    };
    let remembered = || match place {
        Some(EmbedderPlace::Local(place)) => {
            Some(OnnxEmbedder::open_remembered(pinned, place, &confirmed(args, surroundings)))
        }
        _ => None,
    };
    let mut failed = Error::ModelGone { embedder: pinned.to_owned() };
    for open in [&set as &dyn Fn() -> Option<Result<OnnxEmbedder>>, &remembered] {
        match open() {
            Some(Ok(embedder)) => return Ok(Performers::with_embedder(Arc::new(embedder))),
            None | Some(Err(Error::ModelGone { .. })) => {}
            Some(Err(error)) => failed = error,
        }
    }
    Err(failed)
}
