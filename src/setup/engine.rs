//! Engines for questions, and performers for indexing.

use std::path::Path;
use std::sync::Arc;

use super::calls::{CallLog, Calls};
use super::options::{EngineOptions, FillOptions, RerankerChoice};
use super::pinned::Remembered;
use super::{Notice, Setup, endpoint};
use crate::config::ModelRole;
use crate::embed::{ModelPlace, OnnxReranker, ReplayedReranker, RerankServerOptions, Reranker, ServerReranker};
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
        options.rerank.choice()?;
        if let Some(database) = &options.database {
            let source = self.graph(database, options.questions).await?;
            let reader = source.reader();
            let calls = Calls { log: CallLog::open(&options.call.recording)?, ..Calls::default() };
            let remembered = Remembered::of_graph(reader.as_ref(), calls.clone())?;
            let performers = self.pinned(reader.embedder(), &remembered, &options.models).await?;
            let performers = self.with_models_of_questions(performers, options, None, &calls.log)?;
            return QueryEngine::over_source(Arc::new(source), performers);
        }
        let workspace = self.workspace(self.settings.index(options.index.clone()))?;
        let calls = Calls { log: CallLog::open(&options.call.recording)?, ..Calls::default() };
        let performers = self.to_read(&workspace, &options.models, &calls).await?;
        let index = Some(workspace.path());
        QueryEngine::open(&workspace, self.with_models_of_questions(performers, options, index, &calls.log)?)
    }

    /// Adds the requested language model and reranker, which count their calls together; replies are kept in the index
    /// at `index`.
    fn with_models_of_questions(
        &self,
        performers: Performers,
        options: &EngineOptions,
        index: Option<&Path>,
        log: &CallLog,
    ) -> Result<Performers> {
        let calls = self.question_calls(options, log)?;
        let model = self.question_model(&options.call, options.role, index, &calls)?;
        let (reranker, web) = (self.reranker(options, &calls)?, self.web_search(options, log)?);
        let performers = Performers { reranker, model, web, ..performers };
        self.tell_if_idle(log, &performers);
        Ok(performers)
    }

    /// Opens or creates an index to fill, with the requested embedder or else its own, and with the model.
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
            // Records that are gone are rebuilt; records that are damaged are refused below, as they were here.
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

    /// Returns how questions call servers; prices are read only if one is called.
    fn question_calls(&self, options: &EngineOptions, log: &CallLog) -> Result<Calls> {
        let is_scored = matches!(options.rerank.choice()?, Some(RerankerChoice::Server { .. }));
        let meter =
            if options.call.model.is_some() || is_scored { self.call_meter(&options.call)? } else { Arc::default() };
        Ok(Calls { meter, log: log.clone() })
    }

    fn reranker(&self, options: &EngineOptions, calls: &Calls) -> Result<Option<Arc<dyn Reranker>>> {
        match options.rerank.choice()? {
            None | Some(RerankerChoice::Model | RerankerChoice::Rule) => Ok(None),
            Some(RerankerChoice::Onnx(folder)) => {
                let place = ModelPlace { folder, runtime: self.runtime(&options.models) };
                Ok(Some(Arc::new(OnnxReranker::open(&place)?)))
            }
            Some(RerankerChoice::Server { preset, model }) => {
                let settings = &self.settings.model.for_role(ModelRole::Reranker);
                let endpoint = endpoint::of_reranker(preset, &model, settings)?;
                if let CallLog::Replayed(recorded) = &calls.log {
                    return Ok(Some(Arc::new(ReplayedReranker::new(&endpoint, recorded))));
                }
                let options = RerankServerOptions {
                    limits: self.limits(ModelRole::Reranker),
                    meter: Arc::clone(&calls.meter),
                    recording: calls.log.recording(),
                    ..RerankServerOptions::default()
                };
                Ok(Some(Arc::new(ServerReranker::new(endpoint::with_key(endpoint, settings)?, options)?)))
            }
        }
    }

    /// Says so where calls are to be written down and none can be made.
    fn tell_if_idle(&self, log: &CallLog, performers: &Performers) {
        let is_scored = performers.reranker.as_ref().is_some_and(|reranker| reranker.calls(1) > 0);
        let is_asked = performers.model.is_some() || performers.embedder.account().is_some();
        let asks_nobody = !is_asked && !is_scored && performers.web.is_none();
        if asks_nobody && matches!(log, CallLog::Recorded(_)) {
            self.notices.tell(&Notice::NothingRecorded);
        }
    }
}
