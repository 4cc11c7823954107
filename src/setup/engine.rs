//! Engines that questions are put to, and indexes that are filled.

use std::path::Path;
use std::sync::Arc;

use super::calls::{CallLog, Calls};
use super::options::{EngineOptions, FillOptions, RerankerChoice};
use super::pinned::Remembered;
use super::{Notice, Setup, endpoint};
use crate::config::ModelRole;
use crate::embed::{ModelPlace, OnnxReranker, RerankServerOptions, Reranker, ServerReranker};
use crate::error::{Error, Result};
use crate::index::OtherEmbedder;
use crate::query::QueryEngine;
use crate::skill::Performers;
use crate::store::GraphSource as _;
use crate::workspace::{Workspace, WorkspaceOptions};

impl Setup {
    /// Opens an index, or the one in the database that is named.
    ///
    /// # Errors
    ///
    /// If the index, the database or one of the models cannot be used.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: a call to a server may have been made.
    pub async fn engine(&self, options: &EngineOptions) -> Result<QueryEngine> {
        let reranker = self.reranker(options)?;
        if let Some(database) = &options.database {
            let source = self.graph(database, options.questions).await?;
            let reader = source.reader();
            let calls = Calls { log: CallLog::open(&options.call.recording)?, ..Calls::default() };
            let remembered = Remembered::of_graph(reader.as_ref(), calls.clone())?;
            let performers = self.pinned(reader.embedder(), &remembered, &options.models).await?;
            let performers = self.with_model(Performers { reranker, ..performers }, options, None, &calls.log)?;
            return QueryEngine::over_source(Arc::new(source), performers);
        }
        let workspace = self.workspace(self.settings.index(options.index.clone()))?;
        let calls = Calls { log: CallLog::open(&options.call.recording)?, ..Calls::default() };
        let performers = self.to_read(&workspace, &options.models, &calls).await?;
        let performers = Performers { reranker, ..performers };
        QueryEngine::open(&workspace, self.with_model(performers, options, Some(workspace.path()), &calls.log)?)
    }

    /// Adds the language model that was asked for; its replies are kept in the index at `index`.
    fn with_model(
        &self,
        performers: Performers,
        options: &EngineOptions,
        index: Option<&Path>,
        log: &CallLog,
    ) -> Result<Performers> {
        let model = self.question_model(&options.call, options.role, index, log)?;
        let performers = Performers { model, ..performers };
        self.tell_if_idle(log, &performers);
        Ok(performers)
    }

    /// Opens an index to fill, or makes it, with the embedder that was asked for or else its own, and with the model.
    ///
    /// # Errors
    ///
    /// If the index or one of the models cannot be used.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: an index without documents may have been made.
    pub async fn open_to_fill(&self, path: &Path, options: &FillOptions) -> Result<(Workspace, Performers)> {
        let found = match self.workspace(path) {
            Ok(workspace) => Some(workspace),
            // Records that are gone are made anew; records that are damaged are refused below, as they were here.
            Err(Error::NoIndex { .. } | Error::Corrupt { .. }) if options.other_embedder == OtherEmbedder::Refuse => {
                None
            }
            Err(error) => return Err(error),
        };
        let meter = self.meter(&options.budget)?;
        let calls = Calls { meter, log: CallLog::open(&options.recording)? };
        let performers = match &found {
            Some(workspace) => self.to_fill(workspace, &options.models, &calls).await?,
            None => self.for_new_index(&options.models, &calls).await?,
        };
        let workspace = match found {
            Some(workspace) if options.other_embedder == OtherEmbedder::ReEmbed => workspace,
            _ => Workspace::open_or_create(path, &WorkspaceOptions::of(&performers))?
                .with_file_access(self.settings.file_access()),
        };
        let model = self.index_model(options.model.as_deref(), workspace.path(), &calls)?;
        let performers = Performers { model, ..performers };
        self.tell_if_idle(&calls.log, &performers);
        Ok((workspace, performers))
    }

    fn reranker(&self, options: &EngineOptions) -> Result<Option<Arc<dyn Reranker>>> {
        match options.rerank.choice()? {
            None | Some(RerankerChoice::Model) => Ok(None),
            Some(RerankerChoice::Onnx(folder)) => {
                let place = ModelPlace { folder, runtime: self.runtime(&options.models) };
                Ok(Some(Arc::new(OnnxReranker::open(&place)?)))
            }
            Some(RerankerChoice::Server { model, .. }) if options.call.recording.replay.is_some() => {
                let reason = "calls to a reranker are not recorded, so that none can be replayed".to_owned();
                Err(Error::Option { option: "reranker", value: model, reason })
            }
            Some(RerankerChoice::Server { preset, model }) => {
                let settings = &self.settings.model.for_role(ModelRole::Reranker);
                let endpoint = endpoint::with_key(endpoint::of_reranker(preset, &model, settings)?, settings)?;
                let options =
                    RerankServerOptions { limits: self.limits(ModelRole::Reranker), ..RerankServerOptions::default() };
                Ok(Some(Arc::new(ServerReranker::new(endpoint, options)?)))
            }
        }
    }

    /// Says so where calls are to be written down and none can be made.
    fn tell_if_idle(&self, log: &CallLog, performers: &Performers) {
        let asks_nobody = performers.model.is_none() && performers.embedder.account().is_none();
        if asks_nobody && matches!(log, CallLog::Recorded(_)) {
            self.notices.tell(&Notice::NothingRecorded);
        }
    }
}
