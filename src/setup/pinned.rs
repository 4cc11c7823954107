//! The embedder that an index, or a graph in a database, is pinned to.
//!
//! An index may come from anybody. What it says about its embedder is compared with options, the environment and the
//! user's own settings: a model with the same checksum is loaded, and a server is called only if the user has named it
//! or its address.

use std::sync::Arc;

use super::calls::Calls;
use super::embedder::{Opening, Values};
use super::options::ModelOptions;
use super::{Notice, Setup, endpoint};
use crate::config::{LanguageModel, ModelRole};
use crate::embed::{
    Confirmed, EmbedderChoice, EmbedderPlace, ModelPlace, NoEmbedder, OnnxEmbedder, StaticTable, WithheldEmbedder,
};
use crate::error::{Error, Result};
use crate::llm::{Endpoint, WITH};
use crate::skill::Performers;
use crate::store::{GraphReader, VectorField};
use crate::workspace::Workspace;

/// The data about an embedder besides its name.
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

/// The purpose of an embedder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// To read an index, which partly works without vectors: an unconfirmed server is an error once it is called.
    Read,
    /// To fill it: such a server is an error before anything is read.
    Fill,
}

impl Remembered {
    /// Returns the data of a graph in a database: the length of its vectors, if it has any.
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

impl Setup {
    /// Returns the performers to read an index with.
    ///
    /// # Errors
    ///
    /// If its embedder is not at hand.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: a call to a server may have been made.
    pub async fn to_read(&self, workspace: &Workspace, options: &ModelOptions, calls: &Calls) -> Result<Performers> {
        self.of_index(workspace, Purpose::Read, options, calls).await
    }

    /// Returns the performers for filling an existing index.
    ///
    /// # Errors
    ///
    /// If its embedder is not at hand, or is at a server that the user has not confirmed.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: a call to a server may have been made.
    pub async fn to_fill(&self, workspace: &Workspace, options: &ModelOptions, calls: &Calls) -> Result<Performers> {
        self.of_index(workspace, Purpose::Fill, options, calls).await
    }

    async fn of_index(
        &self,
        workspace: &Workspace,
        purpose: Purpose,
        options: &ModelOptions,
        calls: &Calls,
    ) -> Result<Performers> {
        let manifest = workspace.records()?.manifest()?;
        let (place, dimension) = (workspace.model_place()?, Some(manifest.dimension));
        let remembered = Remembered { place, dimension, calls: calls.clone(), purpose };
        self.pinned(&manifest.embedder, &remembered, options).await
    }

    /// Returns the performers with the requested embedder, or else the one called `pinned`.
    pub(super) async fn pinned(
        &self,
        pinned: &str,
        remembered: &Remembered,
        options: &ModelOptions,
    ) -> Result<Performers> {
        if let Some(asked) = &options.embedder {
            let opening = Opening { values: Values::Asked, calls: &remembered.calls };
            return self.performers(&asked.parse()?, &opening, options).await;
        }
        match pinned {
            StaticTable::NAME => Ok(Performers::built_in()),
            NoEmbedder::NAME => Ok(Performers::without_embedder()),
            name if OnnxEmbedder::is_name(name) => self.local_model(name, remembered.place.as_ref(), options),
            // One that this program does not have: the index says so when it is opened with ours.
            name => Ok(self.pinned_server(name, remembered, options).await?.unwrap_or_else(Performers::built_in)),
        }
    }

    /// Returns what the user allows an index to use: the default server for embedders, and listed others. A local model
    /// needs no confirmation, since its checksum is compared.
    #[must_use]
    pub fn confirmed(&self, options: &ModelOptions) -> Confirmed {
        let settings = &self.settings.model.for_role(ModelRole::Embedder);
        let set = endpoint::of_embedder(None, "", settings).ok().map(|endpoint| endpoint.url);
        let servers = settings.confirmed.iter().cloned().chain(set).collect();
        Confirmed { model_folder: true, runtime: self.runtime(options), servers }
    }

    /// Returns the performers with a model behind a server; none if the name is not of one.
    async fn pinned_server(
        &self,
        pinned: &str,
        remembered: &Remembered,
        options: &ModelOptions,
    ) -> Result<Option<Performers>> {
        let settings = &self.settings.model.for_role(ModelRole::Embedder);
        let Remembered { place, dimension, calls, purpose } = remembered;
        let values = dimension.map_or(Values::Asked, Values::Known);
        let ask = async |endpoint: Endpoint, settings: &LanguageModel| {
            let endpoint = calls.log.with_key(endpoint.with_vectors_of(pinned), settings)?;
            self.behind_server(endpoint, &Opening { values, calls }).await.map(Some)
        };
        let bare = pinned.split_once(WITH).map_or(pinned, |(bare, _)| bare);
        if let Some(Ok(endpoint)) = self.set_server()
            && endpoint.name() == bare
        {
            return ask(endpoint, settings).await;
        }
        let endpoint = match place {
            Some(EmbedderPlace::Server(place)) if place.name() == bare => place.unchecked(),
            _ => match self.named_server(bare) {
                Some(endpoint) => endpoint?,
                None => return Ok(None),
            },
        };
        match self.confirmed(options).check(&endpoint) {
            // A replay calls no server.
            Err(_) if calls.log.is_replayed() => ask(endpoint, settings).await,
            Ok(()) => {
                let settings = endpoint::for_named_by_index(&endpoint, settings)?;
                ask(endpoint::with_settings(endpoint, &settings)?, &settings).await
            }
            Err(unconfirmed) if *purpose == Purpose::Fill => Err(unconfirmed),
            Err(_) => {
                let embedder = WithheldEmbedder::new(&endpoint.with_vectors_of(pinned), dimension.unwrap_or(0));
                Ok(Some(Performers::with_embedder(Arc::new(embedder))))
            }
        }
    }

    /// Notifies the user which setting makes the embedder that was named now usable later, if what the index remembers
    /// is not enough.
    ///
    /// # Errors
    ///
    /// If the index cannot be read.
    pub fn tell_what_is_unset(&self, workspace: &Workspace) -> Result<()> {
        let confirmed = self.confirmed(&ModelOptions::default());
        match workspace.model_place()? {
            Some(EmbedderPlace::Server(place)) => {
                let is_set = matches!(self.set_server(), Some(Ok(endpoint)) if endpoint.name() == place.name());
                if let (false, Err(Error::Unconfirmed { url, .. })) = (is_set, place.endpoint(&confirmed)) {
                    self.notices.tell(&Notice::ServerToConfirm { url });
                }
            }
            Some(EmbedderPlace::Local(_)) if self.settings.embedder.is_none() && confirmed.library().is_err() => {
                self.notices.tell(&Notice::RuntimeToSet);
            }
            Some(EmbedderPlace::Local(_)) | None => {}
        }
        Ok(())
    }

    /// Returns the endpoint of the embedder that is set, if that is a server's.
    fn set_server(&self) -> Option<Result<Endpoint>> {
        self.named_server(self.settings.embedder.as_deref()?)
    }

    /// Returns the endpoint of an embedder that is called as a server's model is.
    fn named_server(&self, name: &str) -> Option<Result<Endpoint>> {
        match name.parse() {
            Ok(EmbedderChoice::Server { preset, model }) => {
                Some(endpoint::of_embedder(preset, &model, &self.settings.model.for_role(ModelRole::Embedder)))
            }
            _ => None,
        }
    }

    /// Finds a model where the settings say, then where it was when the index was made.
    fn local_model(&self, pinned: &str, place: Option<&EmbedderPlace>, options: &ModelOptions) -> Result<Performers> {
        let set = || match self.settings.embedder.as_deref()?.parse() {
            Ok(EmbedderChoice::Onnx(folder)) if folder.is_dir() => {
                let place = ModelPlace { folder, runtime: self.runtime(options) };
                Some(OnnxEmbedder::open_as(pinned, &place))
            }
            _ => None,
        };
        let remembered = || match place {
            Some(EmbedderPlace::Local(place)) => {
                Some(OnnxEmbedder::open_remembered(pinned, place, &self.confirmed(options)))
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
}
