//! What was found, for people: passages, answers, the way that led to them.

use std::io;

use rustc_hash::FxHashMap;

use super::screen::Screen;
use crate::domain::{Answer, AnswerKind, Citation, EntryVertex, Hit, Ledger, PassageId, Step, StepKind};

/// Characters of a passage in a list.
const SNIPPET_CHARS: usize = 240;
/// Steps of a round and entries that are shown.
const SHOWN_MAX: usize = 8;

/// Shows passages, best first.
///
/// # Errors
///
/// If stdout is closed.
pub(super) fn hits(screen: &Screen, hits: &[Hit]) -> io::Result<()> {
    for hit in hits {
        let section = hit.section.as_deref().map_or_else(String::new, |section| format!(" › {section}"));
        let name = screen.strong(&screen.shown(&format!("{}{section}", hit.name)));
        let place = format!("{} {}–{}", hit.uri, hit.span.start, hit.span.end);
        screen.line(format!("{:>2}. {name}  {}", hit.rank, screen.faint(&screen.shown(&place))))?;
        screen.line(format!("    {}", screen.shown(&snippet(&hit.text))))?;
        for step in &hit.path {
            screen.line(format!("    {}", screen.faint(&screen.shown(&arrow(step)))))?;
        }
    }
    Ok(())
}

/// Shows an answer with its quotations and, where a quotation was reached over an edge, the way to it.
///
/// # Errors
///
/// If stdout is closed.
pub(super) fn answer(screen: &Screen, answer: &Answer) -> io::Result<()> {
    if answer.kind == AnswerKind::Nothing {
        return screen.line(screen.shown(&answer.text));
    }
    for (citation, number) in answer.citations.iter().zip(1..) {
        let quote = screen.shown(citation.quote.trim()).replace('\n', " ");
        screen.line(format!("{quote} {}", screen.faint(&format!("[{number}]"))))?;
    }
    screen.line("")?;
    let names = names(&answer.hits);
    for (citation, number) in answer.citations.iter().zip(1..) {
        screen.line(format!("[{number}] {}", source(screen, citation)))?;
        let path = answer.hits.iter().find(|hit| hit.passage == citation.passage).map_or(&[][..], |hit| &hit.path);
        for step in path {
            let from = names.get(&step.from).copied().unwrap_or("another passage");
            let line = format!("    from {from}: {}", arrow(step));
            screen.line(screen.faint(&screen.shown(&line)))?;
        }
    }
    Ok(())
}

fn source(screen: &Screen, citation: &Citation) -> String {
    let name = screen.strong(&screen.shown(&citation.document));
    let place = format!("{} {}–{}", citation.uri, citation.span.start, citation.span.end);
    format!("{name}  {}", screen.faint(&screen.shown(&place)))
}

/// Shows where a search entered, which edges it took, and what it dropped.
///
/// # Errors
///
/// If stdout is closed.
pub(super) fn ledger(screen: &Screen, ledger: &Ledger, hits: &[Hit]) -> io::Result<()> {
    let names = names(hits);
    let name = |passage: &PassageId| {
        names.get(passage).map_or_else(|| format!("passage {}", &passage.to_string()[..8]), |name| (*name).to_owned())
    };
    screen.line(screen.strong("Entered at"))?;
    for entry in ledger.entry.iter().take(SHOWN_MAX) {
        screen.line(format!("  {:7.3}  {}", entry.score, screen.shown(&entered(entry, &name(&entry.passage)))))?;
    }
    for (round, number) in ledger.rounds.iter().zip(1..) {
        let heading = format!("Round {number}: {} passages in the queue, {} edges judged", round.queue, round.judged);
        screen.line(screen.strong(&heading))?;
        let mut steps: Vec<&Step> = round.steps.iter().collect();
        steps.sort_by(|a, b| b.score.total_cmp(&a.score));
        for step in steps.iter().take(SHOWN_MAX) {
            let line = format!("{} → {}  {}", name(&step.from), name(&step.to), arrow(step));
            screen.line(format!("  {:7.3}  {}", step.score, screen.shown(&line)))?;
        }
        if steps.len() > SHOWN_MAX {
            screen.line(screen.faint(&format!("           and {} more", steps.len() - SHOWN_MAX)))?;
        }
    }
    screen.line(format!("{} {}", screen.strong("Dropped:"), ledger.pruned_count))?;
    ledger.notes.iter().try_for_each(|note| screen.line(screen.shown(note)))
}

fn entered(entry: &EntryVertex, name: &str) -> String {
    match &entry.matched {
        Some(matched) => format!("{name}  (by {}: {matched})", entry.by),
        None => format!("{name}  (by {})", entry.by),
    }
}

fn names(hits: &[Hit]) -> FxHashMap<PassageId, &str> {
    hits.iter().map(|hit| (hit.passage, hit.name.as_str())).collect()
}

fn arrow(step: &Step) -> String {
    let along = match step.kind {
        StepKind::QuestionEdge => "question",
        StepKind::Name => "name",
        StepKind::SharedEntity => "shared mention",
    };
    format!("—{along}: {}→", step.question)
}

fn snippet(text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match flat.char_indices().nth(SNIPPET_CHARS) {
        Some((end, _)) => format!("{}…", &flat[..end]),
        None => flat,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_is_cut_between_characters() {
        let text = "é\n".repeat(300);
        let cut = snippet(&text);
        assert_eq!(cut.chars().count(), SNIPPET_CHARS + 1);
        assert!(!cut.contains('\n'));
    }
}
