//! `cairn ask --explain`: where a search entered the graph, which edges it took, and what it dropped.

use std::io;

use rustc_hash::FxHashSet;

use super::screen::Screen;
use super::show::Names;
use crate::domain::{EntryVertex, Hit, HopRound, Ledger, PassageId, Step};

/// Steps of a round and entries that are shown.
const SHOWN_MAX: usize = 8;

/// Shows a ledger; what it says of passages that were dropped is counted.
///
/// # Errors
///
/// If stdout is closed.
pub(super) fn ledger(screen: &Screen, ledger: &Ledger, hits: &[Hit]) -> io::Result<()> {
    let names = Names::of(hits);
    entries(screen, &ledger.entry, &names)?;
    let mut shown = FxHashSet::default();
    for (round, number) in ledger.rounds.iter().zip(1..) {
        steps(screen, round, number, &names, &mut shown)?;
    }
    let passages = if ledger.pruned_count == 1 { "passage" } else { "passages" };
    screen.line(screen.strong(&format!("Dropped {} {passages} reached on the way", ledger.pruned_count)))?;
    ledger.notes.iter().try_for_each(|note| screen.wrapped(note, 0))
}

fn entries(screen: &Screen, entries: &[EntryVertex], names: &Names) -> io::Result<()> {
    screen.line(screen.strong("Entered at"))?;
    let kept: Vec<(&EntryVertex, &str)> =
        entries.iter().filter_map(|entry| Some((entry, names.get(entry.passage)?))).take(SHOWN_MAX).collect();
    for (entry, name) in &kept {
        let matched = entry.matched.as_ref().map_or_else(String::new, |matched| format!("  “{matched}”"));
        screen.clipped(&format!("{:7.3}  {name}{matched}", entry.score))?;
    }
    more(screen, entries.len() - kept.len(), "more")
}

fn steps(
    screen: &Screen,
    round: &HopRound,
    number: u32,
    names: &Names,
    shown: &mut FxHashSet<(PassageId, PassageId)>,
) -> io::Result<()> {
    let heading = format!("Round {number}: {} passages in the queue, {} edges judged", round.queue, round.judged);
    screen.line(screen.strong(&heading))?;
    let mut steps: Vec<&Step> = round.steps.iter().collect();
    steps.sort_by(|a, b| b.score.total_cmp(&a.score));
    let (new, old): (Vec<&Step>, Vec<&Step>) = steps.into_iter().partition(|it| !shown.contains(&(it.from, it.to)));
    for step in new.iter().take(SHOWN_MAX) {
        shown.insert((step.from, step.to));
        screen.clipped(&format!("{:7.3}  {}", step.score, names.way(std::slice::from_ref(*step))))?;
    }
    more(screen, new.len().saturating_sub(SHOWN_MAX), "more")?;
    more(screen, old.len(), "as before")
}

fn more(screen: &Screen, count: usize, what: &str) -> io::Result<()> {
    if count == 0 { Ok(()) } else { screen.line(screen.faint(&format!("         {count} {what}"))) }
}
