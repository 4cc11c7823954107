//! The language model, with everything around it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::calls::{CallLog, Calls};
use super::options::{CallOptions, RecordingFiles};
use super::{Notice, Setup, endpoint, parse_budget};
use crate::config::ModelRole;
use crate::error::Result;
use crate::index::AskedModel;
use crate::llm::{
    Abilities, Budget, ChatModel, CircuitBreakerOptions, Endpoint, FormSupport, Layers, Meter, OpenAiModel, Preset,
    Prices, Recorded, Replayed, Room, layered, probe,
};
use crate::skill::{Trial, trials};
use crate::store::ReplyStore;
use crate::workspace::{Replies, Workspace};

/// The findings of a probe about the server of a model.
#[derive(Debug)]
pub struct Probed {
    /// The model, as calls to it are counted.
    pub model: String,
    /// What its server can do.
    pub abilities: Abilities,
    /// The result of each skill.
    pub trials: Vec<Trial>,
    /// The file that remembers it; none if the user has no cache folder.
    pub remembered: Option<PathBuf>,
}

/// A model, and where its replies are kept.
struct Call<'a> {
    asked: &'a str,
    role: ModelRole,
    calls: &'a Calls,
}

impl Setup {
    /// Returns the model for a question, if requested; its replies are kept in the index at `index`.
    pub(super) fn question_model(
        &self,
        options: &CallOptions,
        role: ModelRole,
        index: Option<&Path>,
        calls: &Calls,
    ) -> Result<Option<Arc<dyn ChatModel>>> {
        let Some(asked) = options.model.as_deref() else { return Ok(None) };
        self.ready(&Call { asked, role, calls }, index).map(Some)
    }

    /// Returns a meter of what questions may spend on calls.
    pub(super) fn call_meter(&self, options: &CallOptions) -> Result<Arc<Meter>> {
        let budget = Budget { calls: options.calls_max, tokens: options.tokens_max, cost: None };
        Ok(Arc::new(self.remembering(Meter::new(budget, self.prices()?))))
    }

    /// Returns a model that answers within what `budget` says; its replies are kept in the index at `index`, and its
    /// calls are written down in, or taken from, a file of `recording`.
    ///
    /// # Errors
    ///
    /// If the model, the budget, the price table or the recording is none.
    pub fn answer_model(
        &self,
        asked: &str,
        budget: &[String],
        recording: &RecordingFiles,
        index: Option<&Path>,
    ) -> Result<Arc<dyn ChatModel>> {
        let calls = Calls { meter: self.meter(budget)?, log: CallLog::open(recording)? };
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

    /// Returns the model that writes questions into the index at `index`, if requested.
    pub(super) fn index_model(
        &self,
        asked: Option<&str>,
        index: &Path,
        calls: &Calls,
    ) -> Result<Option<Arc<dyn ChatModel>>> {
        let Some(asked) = asked else { return Ok(None) };
        self.ready(&Call { asked, role: ModelRole::Index, calls }, Some(index)).map(Some)
    }

    /// Returns the data about the requested model that an estimate of its cost needs, without a key.
    ///
    /// # Errors
    ///
    /// If the model or the price table is none.
    pub fn asked_model(&self, asked: Option<&str>, workspace: Option<&Workspace>) -> Result<Option<AskedModel>> {
        let Some(asked) = asked else { return Ok(None) };
        let endpoint = endpoint::of_model(asked, &self.settings.model.for_role(ModelRole::Index))?;
        let endpoint = self.with_abilities(endpoint);
        let sends_schema = match endpoint.form {
            FormSupport::Tool => true,
            // These hold a reply to it without showing it to the model.
            FormSupport::Schema => !matches!(endpoint.preset, Some(Preset::Vllm | Preset::LlamaCpp | Preset::Ollama)),
            FormSupport::Object | FormSupport::Prompt => false,
        };
        let (name, kept_as) = (endpoint.name(), endpoint.kept_as());
        let replies = workspace.map(Workspace::replies_to_read).transpose()?.flatten();
        let replies = replies.map(|replies: Replies| Arc::new(replies) as Arc<dyn ReplyStore>);
        Ok(Some(AskedModel { name, kept_as, sends_schema, prices: self.prices()?, replies }))
    }

    /// Probes the server of a model, and remembers the results; if jobs have their own servers, probes each of them.
    ///
    /// # Errors
    ///
    /// If there is no such server; a server that does not reply is reported in its result.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: calls may have been made.
    pub async fn probe(&self, asked: &str) -> Result<Vec<(String, Result<Probed>)>> {
        let mut endpoints: Vec<(ModelRole, Endpoint)> = Vec::new();
        for role in [ModelRole::Answer, ModelRole::Index, ModelRole::Reason] {
            let settings = &self.settings.model.for_role(role);
            let endpoint = endpoint::with_key(endpoint::of_model(asked, settings)?, settings)?;
            let place = |endpoint: &Endpoint| (endpoint.name(), endpoint.url.clone());
            if !endpoints.iter().any(|(_, known)| place(known) == place(&endpoint)) {
                endpoints.push((role, endpoint));
            }
        }
        let mut probed = Vec::new();
        for (role, endpoint) in endpoints {
            let name = endpoint.name();
            // One that is away says nothing of the others.
            probed.push((name, self.probe_one(role, endpoint).await));
        }
        Ok(probed)
    }

    async fn probe_one(&self, role: ModelRole, endpoint: Endpoint) -> Result<Probed> {
        let abilities = probe::probe(&endpoint).await?;
        let remembered = self.settings.servers();
        if let Some(path) = &remembered {
            probe::remember(path, &endpoint, abilities)?;
        }
        // Used as in commands: with the abilities of its server, and room to think if it needs it.
        let told = abilities.applied(endpoint.clone());
        let (name, room) = (told.name(), self.room(&told, role));
        // Every skill is tried, whether or not earlier ones work.
        let circuit = CircuitBreakerOptions { useless_max: u32::MAX, ..CircuitBreakerOptions::default() };
        let layers = Layers { limits: self.limits(role), room, circuit, ..Layers::default() };
        let model = layered(Arc::new(self.openai_model(told)?), layers);
        let trials = trials(model.as_ref()).await?;
        // The trials may have shown that it thinks.
        let known = remembered.as_ref().and_then(|path| probe::remembered(path, &endpoint));
        Ok(Probed { model: name, abilities: known.unwrap_or(abilities), trials, remembered })
    }

    /// Returns the configured price table; an empty one by default.
    fn prices(&self) -> Result<Prices> {
        let path = self.settings.model.prices.as_deref();
        Ok(path.map(Prices::read).transpose()?.unwrap_or_default())
    }

    /// Returns an endpoint with the abilities of its server, from settings or a probe.
    fn with_abilities(&self, endpoint: Endpoint) -> Endpoint {
        let known = self.settings.servers().and_then(|path| probe::remembered(&path, &endpoint));
        known.map_or(endpoint.clone(), |known| known.applied(endpoint))
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
            room: self.room(&endpoint, call.role),
            replies: index.and_then(|index| self.replies(index)),
            ..Layers::default()
        };
        let model = layered(Arc::new(self.openai_model(endpoint)?), layers);
        Ok(match call.calls.log.recording() {
            Some(recording) => Arc::new(Recorded::new(model, recording)),
            None => model,
        })
    }

    /// Returns the model at an endpoint, which remembers fields that its server rejects.
    fn openai_model(&self, endpoint: Endpoint) -> Result<OpenAiModel> {
        let usual = endpoint.clone();
        let model = OpenAiModel::new(endpoint)?;
        let Some(path) = self.settings.servers() else { return Ok(model) };
        Ok(model.remembering(move |adapted| {
            remember(&path, &usual, |known| {
                let form = (adapted.form != usual.form).then_some(adapted.form).or(known.form);
                let streams = known.streams && adapted.streams;
                *known = Abilities { form, streams, ..known.learnt(adapted) };
            });
        }))
    }

    /// Returns how much room a model has to think, and remembers if it needs more.
    fn room(&self, endpoint: &Endpoint, role: ModelRole) -> Room {
        let is_set = self.settings.model.for_role(role).thinking_tokens.is_some();
        let room = Room { tokens: endpoint.thinking_tokens, is_set, learnt: None };
        let Some(path) = self.settings.servers() else { return room };
        let endpoint = endpoint.clone();
        let learnt = move |tokens| remember(&path, &endpoint, |known| known.thinking_tokens = tokens);
        Room { learnt: Some(Arc::new(learnt)), ..room }
    }

    /// Returns where replies are kept; none, with a notice, if the file cannot be written.
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

/// Remembers in a file what a call revealed about the model at an endpoint; failures are ignored.
fn remember(path: &Path, endpoint: &Endpoint, change: impl FnOnce(&mut Abilities)) {
    if let Err(error) = probe::remember_with(path, endpoint, change) {
        tracing::warn!(%error, "the findings about a server are not remembered");
    }
}
