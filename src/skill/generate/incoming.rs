//! In-coming questions: what the passage answers about its subject.

use super::cues::{Cue, Needs, told_at};
use super::reading::{Mention, Sentence};
use super::subject::{Subject, SubjectKind, is_copula, life_years};
use super::vocabulary::{is_demonym, is_month, is_year};
use super::{Draft, INCOMING_MAX, stems, telling_words};
use crate::domain::Passage;

/// Words after a cue in which its date or name must stand.
const NEEDED_WITHIN: usize = 7;
/// Words after a verb in which a nationality stands.
const NATIONALITY_WITHIN: usize = 6;
/// Characters that are quoted where nothing can be said of a sentence.
const QUOTED_CHARS: usize = 60;

/// Returns the questions: what the subject is, what a known relation tells of it, and what else each sentence says.
pub(super) fn questions(passage: &Passage, sentences: &[Sentence<'_>], subject: &Subject) -> Vec<Draft> {
    let mut drafts = Vec::new();
    if subject.is_name {
        let opening = sentences.iter().find(|sentence| !sentence.text.starts_with('#'));
        drafts.extend(opening.filter(|_| passage.ordinal == 0).into_iter().flat_map(|it| definitions(it, subject)));
        drafts.extend(sentences.iter().flat_map(|sentence| relations(sentence, subject)));
    }
    for sentence in sentences.iter().filter(|it| !it.text.starts_with('#')) {
        if drafts.iter().all(|draft| draft.sentence != sentence.index) {
            drafts.extend(remaining(sentence, subject));
        }
    }
    if drafts.is_empty() {
        drafts.extend(sentences.first().map(|sentence| quotation(sentence, subject)));
    }
    let mut asked = rustc_hash::FxHashSet::default();
    drafts.retain(|draft| asked.insert(draft.text.clone()));
    drafts.truncate(INCOMING_MAX);
    drafts
}

/// Returns what the first sentence defines: who or what the subject is, where from, and when a person lived.
fn definitions(sentence: &Sentence<'_>, subject: &Subject) -> Vec<Draft> {
    if !subject.opens(sentence) {
        return Vec::new();
    }
    let mut drafts = Vec::new();
    let name = &subject.display;
    let ask = |text: String, keywords: &[&str]| Draft {
        text,
        keywords: subject.keys.iter().cloned().chain(stems(keywords)).collect(),
        sentence: sentence.index,
    };
    if let Some(verb) = sentence.folded.iter().position(|word| is_copula(word)) {
        let copula = sentence.word(verb);
        let is_person = subject.kind == SubjectKind::Person;
        drafts.push(ask(format!("{} {copula} {name}?", if is_person { "Who" } else { "What" }), &[]));
        let mut predicate = sentence.folded.iter().skip(verb + 1).take(NATIONALITY_WITHIN);
        if predicate.any(|word| is_demonym(word)) && subject.kind != SubjectKind::Unknown {
            drafts.push(if is_person {
                ask(format!("What nationality {copula} {name}?"), &["nationality", "country"])
            } else {
                ask(format!("Which country {copula} {name} from?"), &["country"])
            });
        }
    }
    if subject.kind == SubjectKind::Person && life_years(sentence.text).is_some() {
        drafts.push(ask(format!("When was {name} born?"), &["born", "birth"]));
        drafts.push(ask(format!("When did {name} die?"), &["died", "death"]));
    }
    drafts
}

/// Returns the questions of the relations that a sentence tells of the subject.
fn relations(sentence: &Sentence<'_>, subject: &Subject) -> Vec<Draft> {
    let is_of_subject = subject.is_of(sentence);
    let mut drafts = Vec::new();
    for index in 0..sentence.folded.len() {
        let cues = told_at(sentence, index, subject);
        for cue in cues.filter(|cue| cue.is_of_subject(subject, is_of_subject) && has_needed(sentence, index, cue)) {
            let keywords = subject.keys.iter().chain(&cue.keywords).cloned().collect();
            drafts.push(Draft { text: cue.question(&subject.display, ""), keywords, sentence: sentence.index });
        }
    }
    drafts
}

/// Returns whether what a cue needs follows it soon.
fn has_needed(sentence: &Sentence<'_>, index: usize, cue: &Cue) -> bool {
    let after = index + cue.len()..(index + cue.len() + NEEDED_WITHIN).min(sentence.folded.len());
    match cue.needs {
        Needs::Any => true,
        Needs::Name => sentence.mentions.iter().any(|it| after.contains(&it.words.start)),
        Needs::Date => after.clone().any(|index| is_month(sentence.word(index)) || is_year(sentence.word(index))),
    }
}

/// Returns what is asked of a sentence that tells no known relation: a name in it, or its most telling words.
fn remaining(sentence: &Sentence<'_>, subject: &Subject) -> Option<Draft> {
    // What a passage without a name mentions most is not what each of its sentences is about.
    let is_of_subject = subject.is_own || sentence.mentions.iter().any(|it| subject.is_named(&it.key));
    let others = sentence.mentions.iter().filter(|it| !subject.is_named(&it.key));
    let entity = others.rev().max_by_key(|it| it.words.len());
    let words = telling_words(sentence, subject);
    let (text, mut keywords) = match (entity, words.as_slice()) {
        (Some(entity), _) if is_of_subject => (connection(entity, subject), vec![entity.key.clone()]),
        (Some(entity), _) => (format!("What is said about {}?", entity.display), vec![entity.key.clone()]),
        (None, []) => return None,
        (None, words) if is_of_subject => (saying(words, subject), stems(words)),
        (None, words) => (format!("What is said about {}?", words.join(" and ")), stems(words)),
    };
    keywords.extend(subject.keys.iter().filter(|_| is_of_subject).cloned());
    Some(Draft { text, keywords, sentence: sentence.index })
}

fn connection(entity: &Mention, subject: &Subject) -> String {
    let (name, entity) = (&subject.display, &entity.display);
    if subject.is_name {
        format!("How is {name} connected to {entity}?")
    } else {
        format!("What does {name} say about {entity}?")
    }
}

fn saying(words: &[&str], subject: &Subject) -> String {
    let name = &subject.display;
    if subject.is_name {
        // Quoted, because they are of any kind: a verb or an adverb would not stand in a list otherwise.
        let quoted: Vec<String> = words.iter().map(|word| format!("“{word}”")).collect();
        let comma = if quoted.len() > 1 { "," } else { " and" };
        format!("What is said about {name}{comma} {}?", quoted.join(" and "))
    } else {
        format!("What does {name} say about {}?", words.join(" and "))
    }
}

/// Returns a question for a sentence of which nothing else can be said.
fn quotation(sentence: &Sentence<'_>, subject: &Subject) -> Draft {
    let text = super::reading::one_line(sentence.text);
    let mut quoted: String = text.chars().take(QUOTED_CHARS).collect();
    if quoted.len() < text.len() {
        quoted.push('…');
    }
    let keywords = subject.keys.iter().cloned().chain(sentence.folded.iter().take(2).cloned()).collect();
    let text = match (subject.display.as_str(), subject.is_name) {
        ("", _) => format!("What is meant by “{quoted}”?"),
        (name, true) => format!("What is meant by “{quoted}” about {name}?"),
        (name, false) => format!("What is meant by “{quoted}” in {name}?"),
    };
    Draft { text, keywords, sentence: sentence.index }
}
