//! The language model that a command was told to ask, with everything around it.

use std::path::Path;
use std::sync::Arc;

use super::args::ModelCallArgs;
use super::{Surroundings, endpoint, probe};
use crate::error::Result;
use crate::llm::{Budget, ChatModel, Layers, OpenAiModel, Prices, Recorded, Replayed, layered};
use crate::store::ReplyStore;
use crate::workspace::Workspace;

/// Returns the model that was asked for, if one was; its replies are kept in the index at `index`.
pub(super) fn model(
    args: &ModelCallArgs,
    index: Option<&Path>,
    surroundings: &Surroundings,
) -> Result<Option<Arc<dyn ChatModel>>> {
    let Some(asked) = args.model.as_deref() else { return Ok(None) };
    let settings = &surroundings.settings.model;
    let endpoint = endpoint::of_model(asked, settings)?;
    if let Some(path) = &args.replay {
        return Ok(Some(Arc::new(Replayed::open(&endpoint.name(), path)?)));
    }
    let endpoint = probe::with_abilities(endpoint::with_key(endpoint, settings)?, surroundings);
    let layers = Layers {
        limits: endpoint::limits(settings),
        budget: Budget { calls: args.max_calls, tokens: args.max_tokens, cost: None },
        prices: settings.prices.as_deref().map(Prices::read).transpose()?.unwrap_or_default(),
        replies: index.and_then(|index| replies(index, surroundings)),
        ..Layers::default()
    };
    let model = layered(Arc::new(OpenAiModel::new(endpoint)?), layers);
    match &args.record {
        Some(path) => Ok(Some(Arc::new(Recorded::create(model, path)?))),
        None => Ok(Some(model)),
    }
}

/// Returns where replies are kept; nowhere, and says so, where that place cannot be written.
fn replies(index: &Path, surroundings: &Surroundings) -> Option<Arc<dyn ReplyStore>> {
    match Workspace::open(index).and_then(|workspace| workspace.replies()) {
        Ok(replies) => Some(Arc::new(replies)),
        Err(error) => {
            surroundings.screen.note(format!("note: replies are not kept: {}", super::said(&error)));
            None
        }
    }
}
