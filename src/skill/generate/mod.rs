//! The skill `generate`, by rule or by a model (`written`, `calls`): the questions that a passage answers, and those
//! that it raises (`HopRAG`, section 3.2). Both read one document and nothing else, so that an edit elsewhere never
//! changes its questions.

mod calls;
mod cues;
mod incoming;
mod outgoing;
mod reading;
mod subject;
mod vocabulary;
mod written;

use crate::domain::{Document, Keywords, Passage, PseudoQuery, QuestionKind};
use crate::text::stem;
use reading::{Sentence, read};
use subject::Subject;
use vocabulary::is_telling;

pub use calls::{QuestionCalls, WrittenPassage};
pub use written::{
    AnsweredSkill, GenerateReply, GenerateSkill, GenerateTask, OUTGOING_MIN, QuestionsReply, RaisedSkill, RaisedTask,
};

/// In-coming questions of a passage at most.
pub const INCOMING_MAX: usize = 6;
/// Out-coming questions of a passage at most.
pub const OUTGOING_MAX: usize = 8;

/// Returns the in-coming questions of `passage`, then its out-coming ones, best first in each.
///
/// A passage with a sentence has one in-coming question at least. Keywords are folded names and stems, of each question
/// its own: the name asked about, and the words of the relation. An out-coming question keeps the name of its asker out
/// of them, so that it meets the question of the passage that answers.
#[must_use]
pub fn generate_by_rule(document: &Document, passage: &Passage) -> Vec<PseudoQuery> {
    let sentences = read(document, passage);
    let subject = Subject::of(document, &sentences);
    let incoming = incoming::questions(passage, &sentences, &subject).into_iter();
    let outgoing = outgoing::questions(&sentences, &subject).into_iter();
    let incoming = incoming.map(|it| it.into_query(passage, QuestionKind::Incoming));
    incoming.chain(outgoing.map(|it| it.into_query(passage, QuestionKind::Outgoing))).collect()
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
