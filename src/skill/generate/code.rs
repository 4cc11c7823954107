//! Questions about source code: about definitions and their comments. The code itself neither asks nor answers
//! anything.

use super::reading::{Sentence, read};
use super::subject::Subject;
use super::{Draft, RuleQuestions, incoming, outgoing};
use crate::domain::{Document, Passage};
use crate::text::{Language, prose, tokens};

/// What parts the headings in the section of a passage.
const BETWEEN: &str = " › ";

/// Returns the in-coming and the out-coming questions of a passage of code.
pub(super) fn questions(rules: &RuleQuestions<'_>, passage: &Passage, language: Language) -> (Vec<Draft>, Vec<Draft>) {
    let said = Passage { text: prose(&passage.text, language), ..passage.clone() };
    let mut sentences: Vec<Sentence<'_>> = read(rules.document, &said);
    sentences.retain(|sentence| !sentence.words.is_empty());
    let subject = Subject::of(rules.document, rules.opening, &sentences);
    let mut asked = vec![about(rules.document, passage)];
    asked.extend(incoming::questions(&said, &sentences, &subject));
    (asked, outgoing::questions(&sentences, &subject))
}

/// Returns the question what a passage holds: a definition, or something else of its file.
fn about(document: &Document, passage: &Passage) -> Draft {
    let mut names = passage.section.as_deref().unwrap_or_default().split(BETWEEN).skip(1);
    let file = &document.source_id;
    let (text, name) = match (names.next(), names.last()) {
        (Some(outer), Some(name)) => (format!("What is `{name}` of `{outer}` in {file}?"), name),
        (Some(name), None) => (format!("What is `{name}` in {file}?"), name),
        (None, _) => (format!("What does {file} hold?"), file.as_str()),
    };
    Draft { text, keywords: vec![tokens(name).join(" ")], sentence: 0 }
}
