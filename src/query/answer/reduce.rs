//! Answers from a context too long for one call: map and reduce. Rows are read in groups, each group becomes a note,
//! notes become fewer notes, and the last of them an answer. A sentence cites a note, and through it the rows behind
//! the note, so citations lead to passages however many reductions there were.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use super::sources::{Part, Sources};
use super::write::SentenceSink;
use crate::domain::{ChatError, Spent, StopReason};
use crate::error::Result;
use crate::query::session::caller::Caller;
use crate::skill::{
    AnswerSkill, AnswerTask, CitedSentence, DIGESTED_MAX, Degradation, DigestSkill, DigestTask, FoundPassage,
    PerformOptions, Performed, ShownPassage, WrittenAnswer, is_supported, perform, perform_with,
};

/// Rounds of reading at most: of rows, of notes on them, of notes on these.
const ROUNDS_MAX: usize = 8;

/// An answer from notes, with notes for the reader.
pub(super) struct Reduced {
    pub(super) performed: Performed<WrittenAnswer>,
    pub(super) notes: Vec<String>,
}

/// Answers `question` from `sources` with at most `room` tokens of them per call, and reserves `kept` calls for the
/// steps after the notes, including the answer; `sink` receives its sentences as they arrive. If calls run out, the
/// answer is written from the notes so far or, without notes, from the rows that fit in one call.
///
/// # Errors
///
/// [`crate::Error::Chat`] for faults that the user must correct.
///
/// # Cancel safety
///
/// Dropping the future loses the answer, and a reply in flight, which may have been paid for.
pub(super) async fn answer(
    caller: &Caller,
    question: &str,
    sources: &Sources,
    (room, kept): (usize, u32),
    sink: Option<&SentenceSink>,
) -> Result<Reduced> {
    let mut reading = Reading { caller, question, kept, spent: Spent::default(), number: 0 };
    let mut notes = Vec::new();
    let mut parts = sources.parts();
    let count = parts.len();
    for round in 0..ROUNDS_MAX {
        if round > 0 && (tokens(&parts) <= room || parts.len() < 2) {
            break;
        }
        let read = reading.round(&parts, room).await?;
        notes.extend(read.note(if round == 0 { "rows" } else { "notes" }));
        if read.notes.is_empty() {
            // Rows that were not read, or notes that were not read again, are better than nothing.
            parts = read.left;
            break;
        }
        let (before, is_whole) = (parts.len(), read.left.is_empty());
        parts = read.notes;
        // Notes that were not reduced again are kept; rows would not fit beside them.
        parts.extend(read.left.into_iter().filter(|_| round > 0));
        if !is_whole || parts.len() >= before {
            break;
        }
    }
    let shown = first_that_fit(&parts, room);
    if shown < parts.len() {
        notes.push(format!("a call has no room for {} of {} rows or notes", parts.len() - shown, parts.len()));
        parts.truncate(shown);
    }
    let mut performed = concluded(caller, question, sources, parts, sink).await?;
    if reading.number > 0 && performed.outcome.is_ok() {
        notes.insert(0, format!("the answer was written from {} notes on {count} rows", reading.number));
    }
    performed.spent.add(&reading.spent);
    Ok(Reduced { performed, notes })
}

/// Writes the answer from parts; each sentence cites the sources of the parts that it cites.
async fn concluded(
    caller: &Caller,
    question: &str,
    sources: &Sources,
    parts: Vec<Part>,
    sink: Option<&SentenceSink>,
) -> Result<Performed<WrittenAnswer>> {
    if parts.is_empty() {
        // Every note says that nothing relevant was found.
        let nothing = WrittenAnswer { short: None, sentences: Vec::new() };
        return Ok(Performed { outcome: Ok(nothing), spent: Spent::default() });
    }
    let (mut passages, mut places) = (Vec::with_capacity(parts.len()), Vec::with_capacity(parts.len()));
    for part in parts {
        passages.push(ShownPassage { name: part.name, text: part.text });
        places.push(part.places);
    }
    let shown = places.len();
    let led = Arc::new(move |sentence: CitedSentence| {
        let cited: BTreeSet<usize> = sentence.passages.iter().flat_map(|note| places[*note].clone()).collect();
        CitedSentence { passages: cited.into_iter().collect(), ..sentence }
    });
    let heard = Arc::clone(&led);
    let listener = sink.map(|sink| sink.listener(question, sources, shown, move |sentence| heard(sentence)));
    let task = AnswerTask { question: question.to_owned(), passages };
    let options = PerformOptions { listener, ..PerformOptions::default() };
    let performed = perform_with::<AnswerSkill>(&caller.bounded(), &task, options).await;
    let Performed { outcome, spent } = Performed::tolerating(performed, ChatError::is_of_request)?;
    let outcome = outcome.map(|written| {
        let sentences = written.sentences.into_iter().map(|sentence| led(sentence)).collect();
        WrittenAnswer { sentences, ..written }
    });
    Ok(Performed { outcome, spent })
}

/// The reader of groups.
struct Reading<'a> {
    caller: &'a Caller,
    question: &'a str,
    kept: u32,
    spent: Spent,
    /// Notes that were made.
    number: u32,
}

/// The result of reading groups.
struct Read {
    notes: Vec<Part>,
    /// The parts not read.
    left: Vec<Part>,
    /// Why, the last time.
    why: Option<String>,
}

impl Read {
    fn note(&self, of: &str) -> Option<String> {
        let why = self.why.as_deref()?;
        Some(format!("{} {of} were not read for the answer: {why}", self.left.len()))
    }
}

impl Reading<'_> {
    /// Returns a note on each group of `parts` that says something of use. A group that is too long for the server is
    /// read in halves.
    async fn round(&mut self, parts: &[Part], room: usize) -> Result<Read> {
        let mut read = Read { notes: Vec::new(), left: Vec::new(), why: None };
        let mut groups: VecDeque<&[Part]> = groups(parts, room);
        while let Some(group) = groups.pop_front() {
            if !self.caller.may_call(self.kept) {
                groups.push_front(group);
                read.left.extend(groups.iter().flat_map(|group| group.iter().cloned()));
                let end = match self.caller.work().stop {
                    StopReason::Finished | StopReason::Calls => "no more calls are left".to_owned(),
                    stop => stop.to_string(),
                };
                read.why = Some(read.why.map_or(end.clone(), |why| format!("{why}; then {end}")));
                break;
            }
            match self.note(group).await? {
                Ok(Some(note)) => read.notes.push(note),
                Ok(None) => {}
                Err(Degradation::Chat(error)) if error.is_of_request() && group.len() > 1 => {
                    let (first, second) = group.split_at(group.len().div_ceil(2));
                    groups.push_front(second);
                    groups.push_front(first);
                }
                Err(why) => {
                    read.left.extend(group.iter().cloned());
                    read.why = Some(why.to_string());
                }
            }
        }
        Ok(read)
    }

    async fn note(&mut self, group: &[Part]) -> Result<Result<Option<Part>, Degradation>> {
        let passages = group.iter().map(|part| FoundPassage {
            passage: part.passage,
            name: part.name.clone(),
            text: part.text.clone(),
            reached_by: None,
        });
        let [question, about] = [self.question, self.question].map(str::to_owned);
        let task = DigestTask { question, number: self.number, about, passages: passages.collect() };
        let performed = perform::<DigestSkill>(&self.caller.leaving(self.kept), &task).await;
        let Performed { outcome, spent } = Performed::tolerating(performed, ChatError::is_of_request)?;
        self.spent.add(&spent);
        let Ok(digest) = outcome else { return Ok(outcome.map(|_| None)) };
        Ok(Ok(digest.map(|digest| {
            self.number += 1;
            let read: Vec<&Part> = digest.places.iter().filter_map(|place| group.get(*place)).collect();
            part(self.question, digest.text, &read)
        })))
    }
}

/// Returns a note on parts. It takes their name, and cites those of their rows that support it, or else all.
fn part(question: &str, text: String, read: &[&Part]) -> Part {
    let names: BTreeSet<&str> = read.iter().map(|part| part.name.as_str()).collect();
    let name = names.into_iter().collect::<Vec<_>>().join("; ");
    let alone: Vec<&&Part> =
        read.iter().filter(|part| is_supported(&text, question, &[&part.name, &part.text])).collect();
    let of = if alone.is_empty() { read.iter().collect() } else { alone };
    let places: BTreeSet<usize> = of.iter().flat_map(|part| part.places.clone()).collect();
    let passage = of[0].passage;
    Part { passage, name, text, places: places.into_iter().collect() }
}

fn tokens(parts: &[Part]) -> usize {
    parts.iter().map(Part::tokens).sum()
}

/// Returns how many of the first parts fit, one at least.
fn first_that_fit(parts: &[Part], room: usize) -> usize {
    let mut sum = 0;
    let fit = parts.iter().take_while(|part| {
        sum += part.tokens();
        sum <= room
    });
    fit.count().max(1).min(parts.len())
}

/// Returns parts in groups of whole ones that fit, in their order; what does not fit by itself is a group by itself.
fn groups(parts: &[Part], room: usize) -> VecDeque<&[Part]> {
    let (mut groups, mut rest) = (VecDeque::new(), parts);
    while !rest.is_empty() {
        let (group, after) = rest.split_at(first_that_fit(rest, room).min(DIGESTED_MAX));
        groups.push_back(group);
        rest = after;
    }
    groups
}

#[cfg(test)]
mod tests;
