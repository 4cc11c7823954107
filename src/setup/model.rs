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
    Abilities, Budget, ChatModel, CircuitBreakerOptions, Endpoint, FormSupport, Layers, Meter, OpenAiModel, Prices,
    Recorded, Replayed, Room, layered, probe,
};
use crate::skill::{Trial, trials};
use crate::store::ReplyStore;
use crate::workspace::{Replies, Workspace};

/// What the server of a model was found to do.
#[derive(Debug)]
pub struct Probed {
    /// The model, as calls to it are counted.
    pub model: String,
    /// What its server can do.
    pub abilities: Abilities,
    /// What it made of each skill.
    pub trials: Vec<Trial>,
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
        let calls = Calls { meter: Arc::new(self.remembering(Meter::new(budget, self.prices()?))), log: log.clone() };
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
        Ok(Arc::new(self.remembering(Meter::new(parse_budget(budget, &prices)?, prices))))
    }

    /// Returns a meter that knows what servers counted before.
    fn remembering(&self, meter: Meter) -> Meter {
        match self.settings.token_counts() {
            Some(path) => meter.remembering_in(&path),
            None => meter,
        }
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
        let endpoint = endpoint::of_model(asked, &self.settings.model.for_role(ModelRole::Index))?;
        let endpoint = self.with_abilities(endpoint);
        let sends_schema = matches!(endpoint.form, FormSupport::Schema | FormSupport::Tool);
        let (name, kept_as) = (endpoint.name(), endpoint.kept_as());
        let replies = workspace.map(Workspace::replies_to_read).transpose()?.flatten();
        let replies = replies.map(|replies: Replies| Arc::new(replies) as Arc<dyn ReplyStore>);
        Ok(Some(AskedModel { name, kept_as, sends_schema, prices: self.prices()?, replies }))
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
        let settings = &self.settings.model.for_role(ModelRole::Answer);
        let endpoint = endpoint::with_key(endpoint::of_model(asked, settings)?, settings)?;
        let abilities = probe::probe(&endpoint).await?;
        let remembered = self.settings.servers();
        if let Some(path) = &remembered {
            probe::remember(path, &endpoint, abilities)?;
        }
        // As a command will ask it: told what its server can do, and given room where it turns out to need it.
        let endpoint = abilities.applied(endpoint, settings.form.is_some());
        let (name, room) = (endpoint.name(), self.room(&endpoint));
        // Every skill is tried, whatever came of those before.
        let circuit = CircuitBreakerOptions { useless_max: u32::MAX, ..CircuitBreakerOptions::default() };
        let layers = Layers { limits: self.limits(ModelRole::Answer), room, circuit, ..Layers::default() };
        let model = layered(Arc::new(OpenAiModel::new(endpoint)?), layers);
        let trials = trials(model.as_ref()).await?;
        Ok(Probed { model: name, abilities, trials, remembered })
    }

    /// Returns the price table that is set; an empty one where none is.
    fn prices(&self) -> Result<Prices> {
        let path = self.settings.model.prices.as_deref();
        Ok(path.map(Prices::read).transpose()?.unwrap_or_default())
    }

    /// Returns an endpoint that is told what its server can do: as it is set, or else as it was found out.
    fn with_abilities(&self, endpoint: Endpoint) -> Endpoint {
        let known = self.settings.servers().and_then(|path| probe::remembered(&path, &endpoint));
        known.map_or(endpoint.clone(), |known| known.applied(endpoint, self.settings.model.form.is_some()))
    }

    fn ready(&self, call: &Call<'_>, index: Option<&Path>) -> Result<Arc<dyn ChatModel>> {
        let settings = &self.settings.model.for_role(call.role);
        let endpoint = endpoint::of_model(call.asked, settings)?;
        if let CallLog::Replayed(recorded) = &call.calls.log {
            return Ok(Arc::new(Replayed::of_kept(&endpoint.name(), &endpoint.kept_as(), recorded)));
        }
        let endpoint = self.with_abilities(endpoint::with_key(endpoint, settings)?);
        let layers = Layers {
            limits: self.limits(call.role),
            meter: Arc::clone(&call.calls.meter),
            room: self.room(&endpoint),
            replies: index.and_then(|index| self.replies(index)),
            ..Layers::default()
        };
        let model = layered(Arc::new(OpenAiModel::new(endpoint)?), layers);
        Ok(match call.calls.log.recording() {
            Some(recording) => Arc::new(Recorded::new(model, recording)),
            None => model,
        })
    }

    /// Returns how much room a model has to think, and remembers where it turns out to need more.
    fn room(&self, endpoint: &Endpoint) -> Room {
        let Some(path) = self.settings.servers() else {
            return Room { tokens: endpoint.thinking_tokens, learnt: None };
        };
        let (tokens, endpoint) = (endpoint.thinking_tokens, endpoint.clone());
        let learnt = move |thinking_tokens| {
            let changed = |known: &mut Abilities| known.thinking_tokens = thinking_tokens;
            if let Err(error) = probe::remember_with(&path, &endpoint, changed) {
                tracing::warn!(%error, "that a model needs more room is not remembered");
            }
        };
        Room { tokens, learnt: Some(Arc::new(learnt)) }
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
