//! `cairn doctor --probe`: what the server of a language model can do, found out once and remembered.

use super::Surroundings;
use crate::error::Result;
use crate::llm::{Abilities, FormSupport};
use crate::setup::Probed;

/// Asks the server of a model what it can do, remembers it, and says it.
///
/// # Errors
///
/// If there is no such server, or it does not reply.
pub(super) async fn run(asked: &str, surroundings: &Surroundings) -> Result<String> {
    let Probed { model, abilities, remembered } = surroundings.setup.probe(asked).await?;
    let place = match remembered {
        Some(path) => format!("; remembered in {}", path.display()),
        None => "; not remembered, since there is no folder for caches".to_owned(),
    };
    Ok(format!("{model}: {}{place}", said(abilities)))
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
