//! A text split into words, for rules that look at neighboring words.

use super::dates::is_month;
use crate::text::{Run, Word, capitalized_runs, fold, words};

/// Bytes from a cue to the name that it announces at most.
const GAP_BYTES_MAX: usize = 60;
/// Words from `born` or `died` to its place at most.
const PLACE_WORDS_MAX: usize = 16;

/// A text with its words and the names in it.
pub(super) struct Prose<'a> {
    pub(super) text: &'a str,
    pub(super) words: Vec<Word<'a>>,
    folded: Vec<String>,
    runs: Vec<Run>,
}

impl<'a> Prose<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let words = words(text);
        let folded = words.iter().map(|word| fold(word.text).to_lowercase()).collect();
        Self { text, words, folded, runs: capitalized_runs(text, &|_| false) }
    }

    /// Passes over names that `is_passed_over` says are of no interest, by their folded words.
    pub(super) fn without(mut self, is_passed_over: impl Fn(&str) -> bool) -> Self {
        self.runs.retain(|run| !is_passed_over(&run.key));
        self
    }

    /// Returns the folded spelling of a word; nothing beyond the last.
    pub(super) fn folded(&self, at: usize) -> &str {
        self.folded.get(at).map_or("", String::as_str)
    }

    /// Returns whether a sentence ends between two words: a full stop after a word of three letters or more.
    pub(super) fn ends_between(&self, first: usize, last: usize) -> bool {
        self.words.windows(2).take(last).skip(first).any(|pair| {
            let gap = self.text.get(pair[0].end..pair[1].start).unwrap_or_default();
            gap.starts_with('.') && gap.len() > 1 && pair[0].text.chars().count() > 2
        })
    }

    /// Returns the first parenthesis that opens in the first `bytes` bytes.
    pub(super) fn parenthesis(&self, bytes: usize) -> Option<(usize, usize)> {
        let open = self.text.find('(').filter(|open| *open < bytes)?;
        let mut depth = 0_u32;
        for (at, c) in self.text.get(open..)?.char_indices() {
            match c {
                '(' => depth += 1,
                ')' if depth == 1 => return Some((open, open + at)),
                ')' => depth -= 1,
                _ => {}
            }
        }
        None
    }

    /// Returns the name that follows the words of `phrase`, with the names after it that `and` joins.
    pub(super) fn name_after(&self, phrase: &[&str]) -> Option<&Run> {
        self.places_of(phrase).find_map(|last| self.run_after(last))
    }

    /// Returns the name after the `and` after the name that follows the words of `phrase`.
    pub(super) fn second_name_after(&self, phrase: &[&str]) -> Option<&Run> {
        self.places_of(phrase).find_map(|last| {
            let first = self.run_after(last)?;
            let next = self.words.iter().position(|word| word.start >= first.end)?;
            let and = (next..next + 12).find(|at| self.folded(*at) == "and")?;
            (!self.ends_between(next.saturating_sub(1), and)).then(|| self.run_after(and)).flatten()
        })
    }

    /// Returns the last word of every occurrence of `phrase`.
    fn places_of<'b>(&'b self, phrase: &'b [&'b str]) -> impl Iterator<Item = usize> + 'b {
        let stands = |at: &usize| phrase.iter().enumerate().all(|(i, word)| self.folded(at + i) == *word);
        (0..self.words.len()).filter(stands).map(|at| at + phrase.len().max(1) - 1)
    }

    /// Returns the name near behind a word, in the same sentence; months and words for a people are none.
    fn run_after(&self, at: usize) -> Option<&Run> {
        let end = self.words.get(at)?.end;
        let run = self.runs.iter().find(|run| run.start >= end && is_name(run))?;
        let gap = self.text.get(end..run.start)?;
        (gap.len() <= GAP_BYTES_MAX && !gap.contains(['.', ';', '(', ')'])).then_some(run)
    }

    /// Returns the place after one of `words`: the name after `in`, `at` or `near`, in the same sentence.
    pub(super) fn place_after(&self, words: &[&str]) -> Option<&Run> {
        (0..self.words.len()).filter(|at| words.contains(&self.folded(*at))).find_map(|at| {
            let last = (at + PLACE_WORDS_MAX).min(self.words.len());
            let mut before = (at + 1..last).filter(|it| ["in", "at", "near"].contains(&self.folded(*it)));
            before.find_map(|it| {
                let end = self.words.get(it)?.end;
                let run = self.runs.iter().find(|run| run.start >= end)?;
                let is_next = self.text.get(end..run.start)?.trim().split(' ').all(|word| matches!(word, "" | "the"));
                (is_next && is_name(run) && !self.ends_between(at, it)).then_some(run)
            })
        })
    }

    /// Returns the place name after byte `at`, with only a comma or `in` between.
    pub(super) fn place_at(&self, at: usize) -> Option<&Run> {
        let run = self.runs.iter().find(|run| run.start >= at)?;
        let gap = self.text.get(at..run.start)?.trim().trim_matches(',').trim();
        (matches!(gap, "" | "in" | "at") && is_name(run) && run.start > at + 1).then_some(run)
    }
}

fn is_name(run: &Run) -> bool {
    let first = run.key.split(' ').next().unwrap_or_default();
    !is_month(first) && !super::countries::is_people(&run.key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name<'a>(prose: &Prose<'a>, run: Option<&Run>) -> Option<&'a str> {
        run.map(|run| &prose.text[run.start..run.end])
    }

    #[test]
    fn a_name_stands_after_its_cue() {
        let prose = Prose::of("It was directed by American writer Ann Lee. He was a son of Rye and his wife Cy Day.");
        assert_eq!(name(&prose, prose.name_after(&["directed", "by"])), Some("Ann Lee"));
        assert_eq!(name(&prose, prose.name_after(&["son", "of"])), Some("Rye"));
        assert_eq!(name(&prose, prose.second_name_after(&["son", "of"])), Some("Cy Day"));
        assert_eq!(name(&prose, prose.name_after(&["born"])), None);
    }

    #[test]
    fn a_place_stands_after_its_verb_and_a_preposition() {
        let prose = Prose::of("Rye was born in May 1901 in Port Aven and died. In Rome he is dead.");
        assert_eq!(name(&prose, prose.place_after(&["born"])), Some("Port Aven"));
        assert_eq!(name(&prose, prose.place_after(&["died"])), None);
    }
}
