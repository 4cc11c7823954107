//! `cairn ask --explain`: where a search entered the graph, which edges it took, and what it dropped.

use std::io;

use rustc_hash::FxHashSet;

use super::screen::Screen;
use super::show::Names;
use crate::domain::{
    AnsweredBy, EntryVertex, HopRound, LayersFound, Ledger, PassageId, RoundReasoning, Step, SubQuestionTrace, Verdict,
};
use crate::text::counted;

/// Maximum numbers of steps per round and of entries shown.
const SHOWN_MAX: usize = 8;

/// Shows a ledger: the best of each list, and the number of the others.
///
/// # Errors
///
/// If stdout is closed.
pub(super) fn ledger(screen: &Screen, ledger: &Ledger, names: &Names) -> io::Result<()> {
    planned(screen, ledger)?;
    parts(screen, &ledger.parts)?;
    entries(screen, &ledger.entry, names)?;
    let mut shown = FxHashSet::default();
    for (round, number) in ledger.rounds.iter().zip(1..) {
        steps(screen, round, number, names, &mut shown)?;
    }
    if let Some(found) = &ledger.layers {
        layers(screen, found)?;
    }
    if !ledger.web.is_empty() {
        screen.line(screen.strong("Found on the web"))?;
        for result in &ledger.web {
            screen.clipped(&format!("         w{} for {}: {}", result.number, result.asked, result.address))?;
        }
    }
    let pruned = counted(ledger.pruned_count, "passage");
    screen.line(screen.strong(format!("{pruned} reached but not returned")))?;
    ledger.notes.iter().try_for_each(|note| screen.wrapped(note, 0))
}

/// Shows the plan of a strategy with its own rounds.
fn planned(screen: &Screen, ledger: &Ledger) -> io::Result<()> {
    let Some(plan) = &ledger.plan else { return Ok(()) };
    let by = plan.routed_by.map_or("", |by| match by {
        AnsweredBy::Model => " (by the model)",
        AnsweredBy::Rule => " (by rule)",
    });
    let route = plan.route.map_or_else(String::new, |route| format!("taken as {}{by}, ", route.name()));
    screen.line(screen.strong(format!("The question: {route}{}; {}", counted(plan.rounds, "round"), plan.end)))?;
    for missing in &plan.missing {
        screen.clipped(&format!("         missing: {missing}"))?;
    }
    // Answers to parts are shown with them.
    for note in plan.notes.iter().filter(|_| ledger.parts.is_empty()) {
        screen.clipped(&format!("         {}: {}", note.about, note.text))?;
    }
    Ok(())
}

fn parts(screen: &Screen, parts: &[SubQuestionTrace]) -> io::Result<()> {
    if parts.is_empty() {
        return Ok(());
    }
    screen.line(screen.strong("Divided into parts"))?;
    for part in parts {
        let asked =
            if part.asked.is_empty() { "not asked: an answer is missing".to_owned() } else { part.asked.join(" ") };
        let answers: Vec<&str> = part.answers.iter().map(|answer| answer.text.as_str()).collect();
        let by = part.answers.first().map_or("", |answer| match answer.by {
            AnsweredBy::Model => "  read by the model: ",
            AnsweredBy::Rule => "  guessed by rule: ",
        });
        screen.clipped(&format!("         {asked}{by}{}", answers.join(", ")))?;
    }
    Ok(())
}

fn entries(screen: &Screen, entries: &[EntryVertex], names: &Names) -> io::Result<()> {
    screen.line(screen.strong("Entered at"))?;
    for entry in entries.iter().take(SHOWN_MAX) {
        let matched = entry.matched.as_ref().map_or_else(String::new, |matched| format!("  {matched}"));
        screen.clipped(&format!("{:7.3}  {}{matched}", entry.score, names.get(entry.passage)))?;
    }
    more(screen, entries.len().saturating_sub(SHOWN_MAX), "more")
}

fn steps(
    screen: &Screen,
    round: &HopRound,
    number: u32,
    names: &Names,
    shown: &mut FxHashSet<(PassageId, PassageId)>,
) -> io::Result<()> {
    let (queue, judged) = (counted(round.queue, "passage"), counted(round.judged, "edge"));
    let heading = format!("Round {number}: {queue} in the queue, {judged} judged");
    screen.line(screen.strong(heading))?;
    if let Some(model) = round.model.as_ref().filter(|model| model.asked + model.degraded > 0) {
        screen.line(screen.faint(format!("         {}", reasoning(model))))?;
    }
    let mut steps: Vec<&Step> = round.steps.iter().collect();
    steps.sort_by(|a, b| b.score.total_cmp(&a.score));
    let (new, old): (Vec<&Step>, Vec<&Step>) = steps.into_iter().partition(|it| !shown.contains(&(it.from, it.to)));
    for step in new.iter().take(SHOWN_MAX) {
        shown.insert((step.from, step.to));
        screen.clipped(&format!("{:7.3}  {}", step.score, names.path(std::slice::from_ref(*step))))?;
    }
    more(screen, new.len().saturating_sub(SHOWN_MAX), "more")?;
    more(screen, old.len(), "as before")
}

/// Describes a language model's part in a round.
fn reasoning(model: &RoundReasoning) -> String {
    let count = |verdict| model.verdicts.iter().filter(|it| it.verdict == verdict).count();
    let times = if model.asked == 1 { "once".to_owned() } else { format!("{} times", model.asked) };
    let counted = [
        (count(Verdict::Necessary), "judged needed"),
        (count(Verdict::Related), "judged related"),
        (count(Verdict::Irrelevant), "judged useless"),
        (model.declined as usize, "not followed further"),
        (model.degraded as usize, "decided by similarity"),
    ];
    let counted = counted.iter().filter(|it| it.0 > 0).map(|(number, what)| format!(", {number} {what}"));
    format!("the language model was asked {times}{}", counted.collect::<String>())
}

/// Shows the findings on the levels of the hierarchy.
fn layers(screen: &Screen, found: &LayersFound) -> io::Result<()> {
    screen.line(screen.strong("Entities near the question"))?;
    for entity in found.entities.iter().take(SHOWN_MAX) {
        let by = if entity.summary.is_empty() { "" } else { "; by a language model" };
        let layer = if entity.layer > 0 { format!("  layer {}{by}", entity.layer) } else { String::new() };
        screen.clipped(&format!("{:7.3}  {}{layer}", entity.score, entity.name))?;
    }
    more(screen, found.entities.len().saturating_sub(SHOWN_MAX), "more")?;
    screen.line(screen.strong("Their communities"))?;
    for community in found.communities.iter().take(SHOWN_MAX) {
        let (hits, level) = (counted(u64::from(community.hits), "entity"), community.level);
        let by = if community.report.is_empty() { "" } else { "; by a language model" };
        screen.clipped(&format!("         {}  ({hits}, level {level}{by})", community.title))?;
    }
    more(screen, found.communities.len().saturating_sub(SHOWN_MAX), "more")?;
    screen.line(screen.strong("Paths between their key entities"))?;
    for bridge in found.bridges.iter().take(SHOWN_MAX) {
        let path = bridge.paths.first().map(|path| path.join(" – "));
        let path = path.unwrap_or_else(|| format!("{} and {} are not connected", bridge.from, bridge.to));
        screen.clipped(&format!("         {path}"))?;
    }
    more(screen, found.bridges.len().saturating_sub(SHOWN_MAX), "more")?;
    screen.line(screen.strong("Context"))?;
    for share in &found.context {
        let of = format!("{} of {} tokens", share.tokens, share.tokens_max);
        screen.clipped(&format!("         {} {}, {} cut, {of}", share.rows, share.level, share.cut))?;
    }
    Ok(())
}

fn more(screen: &Screen, count: usize, what: &str) -> io::Result<()> {
    if count == 0 { Ok(()) } else { screen.line(screen.faint(format!("         {count} {what}"))) }
}
