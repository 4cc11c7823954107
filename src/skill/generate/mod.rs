//! The skill `generate`, by rule or by a model (`written`, `calls`): the questions that a passage answers, and those
//! that it raises (`HopRAG`, section 3.2). Both read only one document, so an edit elsewhere never changes its
//! questions.

mod calls;
mod code;
mod cues;
mod incoming;
mod outgoing;
mod reading;
mod subject;
mod vocabulary;
mod written;

use crate::domain::{Document, Keywords, Passage, PseudoQuery, QuestionKind};
use crate::text::{Language, stem};
use reading::{Sentence, read};
use subject::{Subject, opening};
use vocabulary::is_telling;

pub use calls::{QuestionCalls, Written};
pub use written::{
    AnsweredSkill, GenerateReply, GenerateSkill, GenerateTask, OUTGOING_MIN, QuestionsReply, RaisedSkill, RaisedTask,
};

/// In-coming questions of a passage at most.
pub const INCOMING_MAX: usize = 6;
/// Out-coming questions of a passage at most.
pub const OUTGOING_MAX: usize = 8;

/// Questions that rules make of a document at most: beyond, each passage has an even share of them, one in-coming
/// question at least.
const QUESTIONS_MAX: usize = 262_144;

/// Returns the in-coming questions of `passage`, then its out-coming ones, best first in each.
///
/// A passage with a sentence has one in-coming question at least. Keywords are folded names and stems, of each question
/// its own: the name asked about, and the words of the relation. An out-coming question keeps the name of its asker out
/// of them, so that it meets the question of the passage that answers.
#[must_use]
pub fn generate_by_rule(document: &Document, passage: &Passage) -> Vec<PseudoQuery> {
    RuleQuestions::of(document, 1).of_passage(passage)
}

/// What makes the questions of a document's passages by rule: what they share is found once.
#[derive(Debug, Clone, Copy)]
pub struct RuleQuestions<'a> {
    document: &'a Document,
    /// The beginning of its text, which says what it is about.
    opening: &'a str,
    incoming_max: usize,
    outgoing_max: usize,
}

impl<'a> RuleQuestions<'a> {
    /// Reads what the passages of `document` share; it has so many of them.
    #[must_use]
    pub fn of(document: &'a Document, passages: usize) -> Self {
        let share = (QUESTIONS_MAX / passages.max(1)).max(1);
        let incoming_max = INCOMING_MAX.min(share.div_ceil(2));
        let outgoing_max = OUTGOING_MAX.min(share - incoming_max);
        // How code begins says nothing of what it is about.
        let opening = Language::of_media_type(&document.media_type).map_or_else(|| opening(&document.text), |_| "");
        Self { document, opening, incoming_max, outgoing_max }
    }

    /// Returns whether passages have fewer questions than they would have in a shorter document.
    #[must_use]
    pub const fn are_cut(&self) -> bool {
        self.incoming_max < INCOMING_MAX || self.outgoing_max < OUTGOING_MAX
    }

    /// Returns the questions of a passage, as [`generate_by_rule`] does.
    #[must_use]
    pub fn of_passage(&self, passage: &Passage) -> Vec<PseudoQuery> {
        let (incoming, outgoing) = if let Some(language) = Language::of_media_type(&self.document.media_type) {
            code::questions(self, passage, language)
        } else {
            let sentences = read(self.document, passage);
            let subject = Subject::of(self.document, self.opening, &sentences);
            (incoming::questions(passage, &sentences, &subject), outgoing::questions(&sentences, &subject))
        };
        let incoming = incoming.into_iter().take(self.incoming_max);
        let outgoing = outgoing.into_iter().take(self.outgoing_max);
        let incoming = incoming.map(|it| it.into_query(passage, QuestionKind::Incoming));
        incoming.chain(outgoing.map(|it| it.into_query(passage, QuestionKind::Outgoing))).collect()
    }
}

/// A question before it is known whose it is.
struct Draft {
    text: String,
    keywords: Vec<String>,
    /// The sentence that it comes from.
    sentence: u32,
}

impl Draft {
    fn into_query(self, passage: &Passage, kind: QuestionKind) -> PseudoQuery {
        let keywords: Keywords = self.keywords.into_iter().collect();
        PseudoQuery::by_rule(passage.id, kind, self.text, keywords, self.sentence)
    }
}

/// Returns the most telling words of a sentence that are not in a name, at most two: long words are rarer.
fn telling_words<'a>(sentence: &'a Sentence<'_>, subject: &Subject) -> Vec<&'a str> {
    let is_free = |index: usize| sentence.mention_at(index).is_none();
    let words = sentence.folded.iter().map(String::as_str).enumerate();
    let mut telling: Vec<(usize, &str)> =
        words.filter(|(index, word)| is_free(*index) && is_telling(word) && !subject.has_word(word)).collect();
    telling.sort_by_key(|(_, word)| std::cmp::Reverse(word.chars().count()));
    telling.dedup_by_key(|(_, word)| *word);
    telling.truncate(2);
    telling.sort_unstable();
    telling.into_iter().map(|(_, word)| word).collect()
}

/// Returns the stems of the words of a phrase.
fn stems(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| stem(word)).collect()
}

#[cfg(test)]
mod tests;
