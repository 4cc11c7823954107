//! `cairn doctor --probe`: finds out what the server of a language model can do, and remembers it.

use super::Surroundings;
use crate::domain::ChatError;
use crate::error::{Error, Result};
use crate::llm::{Abilities, FormSupport};
use crate::setup::Probed;
use crate::skill::Trial;

/// Probes the servers of a model, remembers the results, and reports them, each with a fault if no skill works.
///
/// # Errors
///
/// If there is no such server.
pub(super) async fn run(asked: &str, surroundings: &Surroundings) -> Result<Vec<(String, Option<Error>)>> {
    let said = |(name, probed): (String, Result<Probed>)| match probed {
        Ok(probed) => (text(&probed), fault(&probed)),
        Err(error) => (format!("{name}: {}", error.with_causes()), Some(error)),
    };
    Ok(surroundings.setup.probe(asked).await?.into_iter().map(said).collect())
}

fn text(probed: &Probed) -> String {
    let Probed { model, abilities, trials, remembered } = probed;
    let place = match remembered {
        Some(path) => format!("; remembered in {}", path.display()),
        None => "; not remembered, because there is no cache folder".to_owned(),
    };
    format!("{model}: {}; {}{place}", said(*abilities), tried(trials))
}

/// Returns the fault of a model with which no skill works.
fn fault(probed: &Probed) -> Option<Error> {
    let last = probed.trials.last()?.problem.clone()?;
    let replies = u32::try_from(probed.trials.len()).unwrap_or(u32::MAX);
    let is_useless = probed.trials.iter().all(|trial| trial.problem.is_some());
    is_useless.then(|| Error::Chat { model: probed.model.clone(), source: ChatError::Useless { replies, last } })
}

/// Reports which skills work, and why others do not.
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
        Some(FormSupport::Schema) => "follows a JSON schema",
        Some(FormSupport::Object) => "has a JSON mode and is not known to follow a schema",
        Some(FormSupport::Tool) => "calls functions, and has neither JSON schema nor JSON mode",
        Some(FormSupport::Prompt) => "has neither JSON schema nor JSON mode nor functions",
        None => "replies at such length that its form is unknown",
    };
    let temperature = if abilities.takes_temperature { "takes" } else { "refuses" };
    let usage = if abilities.reports_usage { "says" } else { "does not say" };
    let pieces = if abilities.streams { "streams" } else { "does not stream" };
    let system = if abilities.takes_system { "" } else { ", takes no system message" };
    let thinks = match abilities.thinking_tokens {
        0 => String::new(),
        tokens => format!(", gets {tokens} tokens to think in addition to the reply (`model.thinking_tokens` sets it)"),
    };
    format!("{form}, {temperature} temperature 0{system}, {usage} how many tokens it used, {pieces}{thinks}")
}
