//! A passage as rules read it: its sentences, their words, and the names mentioned in them.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::vocabulary::{is_date_word, is_demonym};
use crate::domain::{Document, Passage};
use crate::text::{Word, capitalized_runs, fold, tokens, words};

/// Words of a name that a question can carry at most.
const MENTION_WORDS_MAX: usize = 10;
/// Characters of a name that a question can carry at most.
const MENTION_CHARS_MAX: usize = 200;
/// Words that open a sentence before a name and are no part of it, beside stop words.
const SENTENCE_OPENERS: &[&str] = &[
    "after",
    "although",
    "among",
    "because",
    "before",
    "between",
    "despite",
    "during",
    "following",
    "however",
    "inside",
    "later",
    "like",
    "many",
    "meanwhile",
    "most",
    "near",
    "only",
    "our",
    "outside",
    "over",
    "several",
    "since",
    "some",
    "though",
    "through",
    "throughout",
    "under",
    "unlike",
    "until",
    "upon",
    "while",
    "within",
    "without",
];
/// Words that begin the rank which follows a name after a comma.
const RANKS: &[&str] = &[
    "abbot",
    "archduchess",
    "archduke",
    "baron",
    "baroness",
    "baronet",
    "bishop",
    "count",
    "countess",
    "duchess",
    "duke",
    "earl",
    "elector",
    "emperor",
    "empress",
    "king",
    "lady",
    "landgrave",
    "lord",
    "margrave",
    "marquess",
    "marquis",
    "prince",
    "princess",
    "queen",
    "viscount",
    "viscountess",
];

/// One sentence of a passage.
pub(super) struct Sentence<'a> {
    /// Its place in the passage.
    pub(super) index: u32,
    pub(super) text: &'a str,
    pub(super) words: Vec<Word<'a>>,
    /// The words, folded and in lower case.
    pub(super) folded: Vec<String>,
    /// The names in it, in order.
    pub(super) mentions: Vec<Mention>,
}

/// A name where it stands in a sentence.
pub(super) struct Mention {
    /// Its words in the sentence.
    pub(super) words: Range<usize>,
    /// Its folded words, joined by one space.
    pub(super) key: String,
    /// The name as a question writes it.
    pub(super) display: String,
}

impl Sentence<'_> {
    /// Returns the mention that a word is part of.
    pub(super) fn mention_at(&self, word: usize) -> Option<&Mention> {
        // In order and apart: a sentence of names is looked at from every word.
        let next = self.mentions.partition_point(|it| it.words.end <= word);
        self.mentions.get(next).filter(|it| it.words.contains(&word))
    }

    /// Returns the folded word at `index`, or nothing beyond the end.
    pub(super) fn word(&self, index: usize) -> &str {
        self.folded.get(index).map_or("", String::as_str)
    }

    /// Returns what stands between a word and the next.
    pub(super) fn gap_after(&self, word: usize) -> &str {
        let bounds = self.words.get(word).map(|it| it.end).zip(self.words.get(word + 1).map(|it| it.start));
        bounds.and_then(|(end, start)| self.text.get(end..start)).unwrap_or_default()
    }
}

/// Returns the sentences of `passage`.
pub(super) fn read<'a>(document: &Document, passage: &'a Passage) -> Vec<Sentence<'a>> {
    let mut sentences: Vec<Sentence<'a>> = (0..)
        .zip(&passage.sentences)
        .map(|(index, span)| {
            let text = span.of(&passage.text);
            let words = words(text);
            let folded = words.iter().map(|word| fold(word.text).to_lowercase()).collect();
            Sentence { index, text, words, folded, mentions: Vec::new() }
        })
        .collect();

    // Every sentence begins with a capital: only a capital elsewhere says that the word is a name.
    let mut capitalized: FxHashSet<String> =
        tokens(document.title.as_deref().unwrap_or_default()).into_iter().collect();
    for sentence in sentences.iter().filter(|it| !is_heading(it.text)) {
        let inside = sentence.words.iter().zip(&sentence.folded).skip(1);
        capitalized.extend(inside.filter(|(word, _)| word.is_capitalized()).map(|(_, folded)| folded.clone()));
    }
    for sentence in &mut sentences {
        sentence.mentions = mentions(sentence, &capitalized);
    }
    sentences
}

fn is_heading(text: &str) -> bool {
    text.starts_with('#')
}

/// Returns the names in a sentence. `capitalized` are the words that are written so inside sentences.
fn mentions(sentence: &Sentence<'_>, capitalized: &FxHashSet<String>) -> Vec<Mention> {
    if is_heading(sentence.text) {
        return Vec::new();
    }
    let mut spans: Vec<Range<usize>> = Vec::new();
    for run in capitalized_runs(sentence.text, &|_| false) {
        let mut first = sentence.words.partition_point(|word| word.start < run.start);
        let mut last = sentence.words.partition_point(|word| word.end <= run.end);
        // Where a full stop is missing, a pronoun of the next sentence ends the run.
        if last - first > 1 && ["he", "she", "they"].contains(&sentence.word(last - 1)) {
            last -= 1;
        }
        let is_opening = first == 0 && !capitalized.contains(sentence.word(0));
        if is_opening && (last == 1 || SENTENCE_OPENERS.contains(&sentence.word(0))) {
            first += 1;
        }
        let mut words = sentence.folded.get(first..last).unwrap_or_default().iter();
        if words.all(|word| is_date_word(word) || is_demonym(word)) || last - first > MENTION_WORDS_MAX {
            continue;
        }
        // `(Italian: Tre uomini in frack)` is the subject in another language.
        let is_translation =
            first > 0 && is_demonym(sentence.word(first - 1)) && sentence.gap_after(first - 1).contains(':');
        if is_translation {
            continue;
        }
        match spans.last_mut().filter(|before| is_rank_of(sentence, before, first)) {
            Some(before) => before.end = last,
            None => spans.push(first..last),
        }
    }
    spans.into_iter().filter_map(|words| mention(sentence, words)).collect()
}

fn mention(sentence: &Sentence<'_>, words: Range<usize>) -> Option<Mention> {
    let (first, last) = (sentence.words.get(words.start)?, sentence.words.get(words.end.checked_sub(1)?)?);
    let display = one_line(sentence.text.get(first.start..last.end)?);
    if display.chars().nth(MENTION_CHARS_MAX).is_some() {
        return None;
    }
    let has_article = words.start > 0 && sentence.word(words.start - 1) == "the";
    let article = if has_article { "the " } else { "" };
    let key = sentence.folded.get(words.clone())?.join(" ");
    Some(Mention { words, key, display: format!("{article}{display}") })
}

/// Returns whether the name from word `first` on is the rank of the one before: `Francis Howard, 1st Earl of Effingham`
/// is one.
fn is_rank_of(sentence: &Sentence<'_>, before: &Range<usize>, first: usize) -> bool {
    let Some(gap) = first.checked_sub(before.end).filter(|gap| *gap <= 1) else { return false };
    let is_ordinal = |word: &str| word.starts_with(|c: char| c.is_ascii_digit()) && word.ends_with(char::is_alphabetic);
    RANKS.contains(&sentence.word(first))
        && sentence.gap_after(before.end - 1).trim() == ","
        && (gap == 0 || is_ordinal(sentence.word(before.end)))
}

/// Returns `text` with each stretch of white space as one space.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
