//! The language model that is asked, with everything around it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::calls::{CallLog, Calls};
use super::options::CallOptions;
use super::{Notice, Setup, endpoint, parse_budget};
use crate::config::ModelRole;
use crate::error::Result;
use crate::index::AskedModel;
use crate::llm::{
    Abilities, Budget, ChatModel, Endpoint, FormSupport, Layers, Meter, OpenAiModel, Prices, Recorded, Replayed,
    layered, probe,
};
use crate::store::ReplyStore;
use crate::workspace::{Replies, Workspace};

/// What the server of a model was found to do.
#[derive(Debug)]
pub struct Probed {
    /// The model, as calls to it are counted.
    pub model: String,
    /// What its server can do.
    pub abilities: Abilities,
    /// The file that remembers it; none where the user has no folder for caches.
    pub remembered: Option<PathBuf>,
}

/// Which model is asked, and what is kept of it.
struct Call<'a> {
    asked: &'a str,
    role: ModelRole,
    calls: &'a Calls,
}

impl Setup {
    /// Returns the model that a question is put to, if one was asked for; its replies are kept in the index at `index`.
    pub(super) fn question_model(
        &self,
        options: &CallOptions,
        role: ModelRole,
        index: Option<&Path>,
        log: &CallLog,
    ) -> Result<Option<Arc<dyn ChatModel>>> {
        let Some(asked) = options.model.as_deref() else { return Ok(None) };
        let budget = Budget { calls: options.calls_max, tokens: options.tokens_max, cost: None };
        let calls = Calls { meter: Arc::new(Meter::new(budget, self.prices()?)), log: log.clone() };
        self.ready(&Call { asked, role, calls: &calls }, index).map(Some)
    }

    /// Returns a model that answers within what `budget` says; its replies are kept in the index at `index`.
    ///
    /// # Errors
    ///
    /// If the model, the budget or the price table is none.
    pub fn answer_model(&self, asked: &str, budget: &[String], index: Option<&Path>) -> Result<Arc<dyn ChatModel>> {
        let calls = Calls { meter: self.meter(budget)?, log: CallLog::None };
        self.ready(&Call { asked, role: ModelRole::Answer, calls: &calls }, index)
    }

    /// Returns a meter of what `budget` says.
    ///
    /// # Errors
    ///
    /// If the budget or the price table is none.
    pub fn meter(&self, budget: &[String]) -> Result<Arc<Meter>> {
        let prices = self.prices()?;
        Ok(Arc::new(Meter::new(parse_budget(budget, &prices)?, prices)))
    }

    /// Returns the model that writes questions into the index at `index`, if one was asked for.
    pub(super) fn index_model(
        &self,
        asked: Option<&str>,
        index: &Path,
        calls: &Calls,
    ) -> Result<Option<Arc<dyn ChatModel>>> {
        let Some(asked) = asked else { return Ok(None) };
        self.ready(&Call { asked, role: ModelRole::Index, calls }, Some(index)).map(Some)
    }

    /// Returns what is to be known of the model that would write questions, if one was asked for, to say what it would
    /// cost: no key is needed.
    ///
    /// # Errors
    ///
    /// If the model or the price table is none.
    pub fn asked_model(&self, asked: Option<&str>, workspace: Option<&Workspace>) -> Result<Option<AskedModel>> {
        let Some(asked) = asked else { return Ok(None) };
        let endpoint = endpoint::of_model(asked, ModelRole::Index, &self.settings.model)?;
        let endpoint = self.with_abilities(endpoint);
        let (name, sends_schema) = (endpoint.name(), endpoint.form == FormSupport::Schema);
        let replies = workspace.map(Workspace::replies_to_read).transpose()?.flatten();
        let replies = replies.map(|replies: Replies| Arc::new(replies) as Arc<dyn ReplyStore>);
        Ok(Some(AskedModel { name, sends_schema, prices: self.prices()?, replies }))
    }

    /// Asks the server of a model what it can do, and remembers it.
    ///
    /// # Errors
    ///
    /// If there is no such server, or it does not reply.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: calls may have been made.
    pub async fn probe(&self, asked: &str) -> Result<Probed> {
        let settings = &self.settings.model;
        let endpoint = endpoint::with_key(endpoint::of_model(asked, ModelRole::Answer, settings)?, settings)?;
        let abilities = probe::probe(&endpoint).await?;
        let remembered = self.settings.servers();
        if let Some(path) = &remembered {
            probe::remember(path, &endpoint, abilities)?;
        }
        Ok(Probed { model: endpoint.name(), abilities, remembered })
    }

    /// Returns the price table that is set; an empty one where none is.
    fn prices(&self) -> Result<Prices> {
        let path = self.settings.model.prices.as_deref();
        Ok(path.map(Prices::read).transpose()?.unwrap_or_default())
    }

    /// Returns an endpoint that is told what its server can do: as it is set, or else as it was found out.
    fn with_abilities(&self, endpoint: Endpoint) -> Endpoint {
        let known = self.settings.servers().and_then(|path| probe::remembered(&path, &endpoint));
        let Some(Abilities { form, takes_temperature, streams, .. }) = known else { return endpoint };
        let is_set = self.settings.model.form.is_some();
        let form = form.filter(|_| !is_set).unwrap_or(endpoint.form);
        Endpoint { form, takes_temperature, streams, ..endpoint }
    }

    fn ready(&self, call: &Call<'_>, index: Option<&Path>) -> Result<Arc<dyn ChatModel>> {
        let settings = &self.settings.model;
        let endpoint = endpoint::of_model(call.asked, call.role, settings)?;
        if let CallLog::Replayed(recorded) = &call.calls.log {
            return Ok(Arc::new(Replayed::of(&endpoint.name(), recorded)));
        }
        let endpoint = self.with_abilities(endpoint::with_key(endpoint, settings)?);
        let layers = Layers {
            limits: self.limits(),
            meter: Arc::clone(&call.calls.meter),
            replies: index.and_then(|index| self.replies(index)),
            ..Layers::default()
        };
        let model = layered(Arc::new(OpenAiModel::new(endpoint)?), layers);
        Ok(match call.calls.log.recording() {
            Some(recording) => Arc::new(Recorded::new(model, recording)),
            None => model,
        })
    }

    /// Returns where replies are kept; nowhere, and says so, where that place cannot be written.
    fn replies(&self, index: &Path) -> Option<Arc<dyn ReplyStore>> {
        match self.workspace(index).and_then(|workspace| workspace.replies()) {
            Ok(replies) => Some(Arc::new(replies)),
            Err(error) => {
                self.notices.tell(&Notice::RepliesNotKept { reason: error.with_causes() });
                None
            }
        }
    }
}
