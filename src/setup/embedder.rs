//! Embedders from options or settings; `pinned` has those of an index.

use std::path::PathBuf;
use std::sync::Arc;

use super::calls::{CallLog, Calls};
use super::options::ModelOptions;
use super::{Setup, endpoint};
use crate::config::ModelRole;
use crate::embed::{EmbedderChoice, Learnt, ModelPlace, OnnxEmbedder, ReplayedEmbedder, ServerEmbedder, ServerOptions};
#[cfg(feature = "hub")]
use crate::error::Error;
use crate::error::Result;
use crate::llm::{Endpoint, probe};
use crate::skill::Performers;
use crate::workspace::Workspace;

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
    Estimated(usize),
}

impl Setup {
    /// Returns the performers for a new index.
    ///
    /// # Errors
    ///
    /// If the embedder that is meant cannot be used.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: a call to a server may have been made.
    pub async fn for_new_index(&self, options: &ModelOptions, calls: &Calls) -> Result<Performers> {
        self.performers(&self.new_choice(options)?, &Opening { values: Values::Asked, calls }, options).await
    }

    /// Returns the performers for an index, or for a new one, to say what filling it would cost: no server is asked how
    /// long its vectors are.
    ///
    /// # Errors
    ///
    /// If the embedder that is meant cannot be used.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost.
    pub async fn to_estimate(
        &self,
        workspace: Option<&Workspace>,
        options: &ModelOptions,
        calls: &Calls,
    ) -> Result<Performers> {
        let estimated = |values| Opening { values: Values::Estimated(values), calls };
        let Some(workspace) = workspace else {
            return self.performers(&self.new_choice(options)?, &estimated(1), options).await;
        };
        match &options.embedder {
            Some(asked) => {
                let dimension = workspace.records()?.manifest()?.dimension;
                self.performers(&asked.parse()?, &estimated(dimension), options).await
            }
            None => self.to_fill(workspace, options, calls).await,
        }
    }

    fn new_choice(&self, options: &ModelOptions) -> Result<EmbedderChoice> {
        let asked = options.embedder.as_deref().or(self.settings.embedder.as_deref());
        asked.map_or(Ok(EmbedderChoice::BuiltIn), str::parse)
    }

    /// Returns the library of ONNX Runtime that was named or is set.
    #[must_use]
    pub fn runtime(&self, options: &ModelOptions) -> Option<PathBuf> {
        options.onnx_runtime.clone().or_else(|| self.settings.onnx_runtime.clone())
    }

    /// Returns the performers with an embedder.
    pub(super) async fn performers(
        &self,
        choice: &EmbedderChoice,
        opening: &Opening<'_>,
        options: &ModelOptions,
    ) -> Result<Performers> {
        let runtime = || self.runtime(options);
        let local = |place: &ModelPlace| Ok(Performers::with_embedder(Arc::new(OnnxEmbedder::open(place)?)));
        match choice {
            EmbedderChoice::BuiltIn => Ok(Performers::built_in()),
            EmbedderChoice::Without => Ok(Performers::without_embedder()),
            EmbedderChoice::Onnx(folder) => local(&ModelPlace { folder: folder.clone(), runtime: runtime() }),
            EmbedderChoice::Server { preset, model } => {
                let settings = &self.settings.model.for_role(ModelRole::Embedder);
                let endpoint = endpoint::of_embedder(*preset, model, settings)?;
                let endpoint = opening.calls.log.with_key(endpoint, settings)?;
                self.behind_server(endpoint, opening).await
            }
            #[cfg(feature = "hub")]
            EmbedderChoice::Hub(name) => {
                let refused = || Error::Option {
                    option: "embedder",
                    value: format!("hub:{name}"),
                    reason: "there is no folder for models: set `CAIRN_MODELS`".to_owned(),
                };
                let models = self.settings.models.as_deref().ok_or_else(refused)?;
                local(&crate::embed::hub::fetch(name, models, runtime())?)
            }
        }
    }

    /// Returns what remembers how many texts a server takes in a call.
    fn learnt(&self, endpoint: &Endpoint) -> Option<Learnt> {
        let (path, endpoint) = (self.settings.servers()?, endpoint.clone());
        let learnt = move |texts_max| {
            if let Err(error) = probe::remember_with(&path, &endpoint, |known| known.texts_max = Some(texts_max)) {
                tracing::warn!(%error, "how many texts a server takes is not remembered");
            }
        };
        Some(Learnt(Arc::new(learnt)))
    }

    /// Returns the performers with an embedder behind a server.
    pub(super) async fn behind_server(&self, endpoint: Endpoint, opening: &Opening<'_>) -> Result<Performers> {
        let Opening { values, calls: Calls { meter, log } } = opening;
        if let CallLog::Replayed(recorded) = log {
            let embedder = match values {
                Values::Asked => ReplayedEmbedder::open(&endpoint, recorded)?,
                Values::Known(dimension) | Values::Estimated(dimension) => {
                    ReplayedEmbedder::pinned(&endpoint, *dimension, recorded)
                }
            };
            return Ok(Performers::with_embedder(Arc::new(embedder)));
        }
        let (meter, recording) = (Arc::clone(meter), log.recording());
        let known = self.settings.servers().and_then(|path| probe::remembered(&path, &endpoint));
        let endpoint = known.map_or(endpoint.clone(), |known| known.applied(endpoint));
        let options = ServerOptions {
            limits: self.limits(ModelRole::Embedder),
            meter,
            recording,
            learnt: self.learnt(&endpoint),
            ..ServerOptions::default()
        };
        let embedder = match values {
            Values::Known(dimension) => ServerEmbedder::pinned(endpoint, *dimension, options)?,
            Values::Estimated(dimension) => ServerEmbedder::unopened(endpoint, *dimension, options)?,
            Values::Asked => Box::pin(ServerEmbedder::open(endpoint, options)).await?,
        };
        Ok(Performers::with_embedder(Arc::new(embedder)))
    }
}
