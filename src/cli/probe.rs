//! `cairn doctor --probe`: what the server of a language model can do, found out once and remembered.

use super::{Surroundings, endpoint};
use crate::config::ModelRole;
use crate::error::Result;
use crate::llm::{Abilities, Endpoint, FormSupport, probe};

/// Asks the server of a model what it can do, remembers it, and says it.
///
/// # Errors
///
/// If there is no such server, or it does not reply.
pub(super) async fn run(asked: &str, surroundings: &Surroundings) -> Result<String> {
    let settings = &surroundings.settings.model;
    let endpoint = endpoint::with_key(endpoint::of_model(asked, ModelRole::Answer, settings)?, settings)?;
    let abilities = probe::probe(&endpoint).await?;
    let place = match surroundings.settings.servers() {
        Some(path) => {
            probe::remember(&path, &endpoint, abilities)?;
            format!("; remembered in {}", path.display())
        }
        None => "; not remembered, since there is no folder for caches".to_owned(),
    };
    Ok(format!("{}: {}{place}", endpoint.name(), said(abilities)))
}

/// Returns an endpoint that is told what its server can do: as it is set, or else as it was found out.
pub(super) fn with_abilities(endpoint: Endpoint, surroundings: &Surroundings) -> Endpoint {
    let known = surroundings.settings.servers().and_then(|path| probe::remembered(&path, &endpoint));
    let Some(Abilities { form, takes_temperature, streams, .. }) = known else { return endpoint };
    let is_set = surroundings.settings.model.form.is_some();
    let form = form.filter(|_| !is_set).unwrap_or(endpoint.form);
    Endpoint { form, takes_temperature, streams, ..endpoint }
}

fn said(abilities: Abilities) -> String {
    let form = match abilities.form {
        Some(FormSupport::Schema) => "keeps to a JSON schema",
        Some(FormSupport::Object) => "has a JSON mode and is not known to keep to a schema",
        Some(FormSupport::Prompt) => "has neither JSON schema nor JSON mode",
        None => "replies at such length that its form is not known",
    };
    let temperature = if abilities.takes_temperature { "takes" } else { "refuses" };
    let usage = if abilities.reports_usage { "says" } else { "does not say" };
    let pieces = if abilities.streams { "streams" } else { "does not stream" };
    format!("{form}, {temperature} temperature 0, {usage} how many tokens it took, {pieces}")
}
