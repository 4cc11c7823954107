//! The language model that a command was told to ask, with everything around it.

use std::path::Path;
use std::sync::Arc;

use super::args::{IndexModelArgs, ModelCallArgs};
use super::calls::{CallLog, Calls};
use super::{Surroundings, budget, endpoint, probe};
use crate::config::ModelRole;
use crate::error::Result;
use crate::index::AskedModel;
use crate::llm::{Budget, ChatModel, FormSupport, Layers, Meter, OpenAiModel, Prices, Recorded, Replayed, layered};
use crate::store::ReplyStore;
use crate::workspace::{Replies, Workspace};

/// Which model is asked, and what is kept of it.
struct Call<'a> {
    asked: &'a str,
    role: ModelRole,
    calls: &'a Calls,
}

/// Returns the model that a question is put to, if one was asked for; its replies are kept in the index at `index`.
pub(super) fn model(
    args: &ModelCallArgs,
    role: ModelRole,
    index: Option<&Path>,
    log: &CallLog,
    surroundings: &Surroundings,
) -> Result<Option<Arc<dyn ChatModel>>> {
    let Some(asked) = args.model.as_deref() else { return Ok(None) };
    let budget = Budget { calls: args.max_calls, tokens: args.max_tokens, cost: None };
    let calls = Calls { meter: Arc::new(Meter::new(budget, prices(surroundings)?)), log: log.clone() };
    ready(&Call { asked, role, calls: &calls }, index, surroundings).map(Some)
}

/// Returns a model that may spend so much in all; its replies are kept in the index at `index`.
pub(super) fn within_budget(
    asked: &str,
    budget: &[String],
    index: Option<&Path>,
    surroundings: &Surroundings,
) -> Result<Arc<dyn ChatModel>> {
    let prices = prices(surroundings)?;
    let meter = Arc::new(Meter::new(budget::parse(budget, &prices)?, prices));
    ready(&Call { asked, role: ModelRole::Answer, calls: &Calls { meter, log: CallLog::None } }, index, surroundings)
}

/// Returns the meter of a run that fills an index: its model and its embedder share one.
pub(super) fn index_meter(args: &IndexModelArgs, surroundings: &Surroundings) -> Result<Arc<Meter>> {
    let prices = prices(surroundings)?;
    Ok(Arc::new(Meter::new(budget::parse(&args.budget, &prices)?, prices)))
}

/// Returns the model that writes questions into the index at `index`, if one was asked for.
pub(super) fn index_model(
    args: &IndexModelArgs,
    index: &Path,
    calls: &Calls,
    surroundings: &Surroundings,
) -> Result<Option<Arc<dyn ChatModel>>> {
    let Some(asked) = args.model.as_deref() else { return Ok(None) };
    let call = Call { asked, role: ModelRole::Index, calls };
    ready(&call, Some(index), surroundings).map(Some)
}

/// Returns what is to be known of the model that would write questions, if one was asked for, to say what it would
/// cost: no key is needed.
pub(super) fn asked_model(
    args: &IndexModelArgs,
    workspace: Option<&Workspace>,
    surroundings: &Surroundings,
) -> Result<Option<AskedModel>> {
    let Some(asked) = args.model.as_deref() else { return Ok(None) };
    let endpoint = endpoint::of_model(asked, ModelRole::Index, &surroundings.settings.model)?;
    let endpoint = probe::with_abilities(endpoint, surroundings);
    let (name, sends_schema) = (endpoint.name(), endpoint.form == FormSupport::Schema);
    let replies = workspace.map(Workspace::replies_to_read).transpose()?.flatten();
    let replies = replies.map(|replies: Replies| Arc::new(replies) as Arc<dyn ReplyStore>);
    Ok(Some(AskedModel { name, sends_schema, prices: prices(surroundings)?, replies }))
}

/// Returns the price table that is set; an empty one where none is.
pub(super) fn prices(surroundings: &Surroundings) -> Result<Prices> {
    let path = surroundings.settings.model.prices.as_deref();
    Ok(path.map(Prices::read).transpose()?.unwrap_or_default())
}

fn ready(call: &Call<'_>, index: Option<&Path>, surroundings: &Surroundings) -> Result<Arc<dyn ChatModel>> {
    let settings = &surroundings.settings.model;
    let endpoint = endpoint::of_model(call.asked, call.role, settings)?;
    if let CallLog::Replayed(recorded) = &call.calls.log {
        return Ok(Arc::new(Replayed::of(&endpoint.name(), recorded)));
    }
    let endpoint = probe::with_abilities(endpoint::with_key(endpoint, settings)?, surroundings);
    let layers = Layers {
        limits: endpoint::limits(settings),
        meter: Arc::clone(&call.calls.meter),
        replies: index.and_then(|index| replies(index, surroundings)),
        ..Layers::default()
    };
    let model = layered(Arc::new(OpenAiModel::new(endpoint)?), layers);
    Ok(match call.calls.log.recording() {
        Some(recording) => Arc::new(Recorded::new(model, recording)),
        None => model,
    })
}

/// Returns where replies are kept; nowhere, and says so, where that place cannot be written.
fn replies(index: &Path, surroundings: &Surroundings) -> Option<Arc<dyn ReplyStore>> {
    match surroundings.workspace(index).and_then(|workspace| workspace.replies()) {
        Ok(replies) => Some(Arc::new(replies)),
        Err(error) => {
            surroundings.screen.note(format!("note: replies are not kept: {}", super::said(&error)));
            None
        }
    }
}
