//! `cairn doctor --probe`: what the server of a language model can do, found out once and remembered.

use super::Surroundings;
use crate::error::Result;
use crate::llm::{Abilities, FormSupport};
use crate::setup::Probed;
use crate::skill::Trial;

/// Asks the server of a model what it can do, remembers it, and says it.
///
/// # Errors
///
/// If there is no such server, or it does not reply.
pub(super) async fn run(asked: &str, surroundings: &Surroundings) -> Result<String> {
    let Probed { model, abilities, trials, remembered } = surroundings.setup.probe(asked).await?;
    let place = match remembered {
        Some(path) => format!("; remembered in {}", path.display()),
        None => "; not remembered, since there is no folder for caches".to_owned(),
    };
    Ok(format!("{model}: {}; {}{place}", said(abilities), tried(&trials)))
}

/// Says which skills work, and why others do not.
fn tried(trials: &[Trial]) -> String {
    let works: Vec<&str> = trials.iter().filter(|it| it.problem.is_none()).map(|it| it.skill).collect();
    let fails = trials.iter().filter_map(|it| Some(format!("{} ({})", it.skill, it.problem.as_ref()?)));
    let fails: Vec<String> = fails.collect();
    match (works.as_slice(), fails.as_slice()) {
        (_, []) => format!("every skill works: {}", works.join(", ")),
        ([], _) => format!("NO skill works: {}", fails.join(", ")),
        _ => format!("these skills work: {}; these do not: {}", works.join(", "), fails.join(", ")),
    }
}

fn said(abilities: Abilities) -> String {
    let form = match abilities.form {
        Some(FormSupport::Schema) => "keeps to a JSON schema",
        Some(FormSupport::Object) => "has a JSON mode and is not known to keep to a schema",
        Some(FormSupport::Tool) => "calls functions, and has neither JSON schema nor JSON mode",
        Some(FormSupport::Prompt) => "has neither JSON schema nor JSON mode nor functions",
        None => "replies at such length that its form is not known",
    };
    let temperature = if abilities.takes_temperature { "takes" } else { "refuses" };
    let usage = if abilities.reports_usage { "says" } else { "does not say" };
    let pieces = if abilities.streams { "streams" } else { "does not stream" };
    format!("{form}, {temperature} temperature 0, {usage} how many tokens it took, {pieces}")
}
