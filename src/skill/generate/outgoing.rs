//! Out-coming questions: about names that the passage mentions and does not explain.

use rustc_hash::FxHashSet;

use super::cues::{Cue, role_ending_at};
use super::reading::{Mention, Sentence};
use super::subject::Subject;
use super::vocabulary::{is_barrier, is_impersonal_word, is_person_word};
use super::{Draft, OUTGOING_MAX};
use crate::text::is_linking_word;

/// Words between a cue and its name at most, beside other names.
const CUE_DISTANCE_MAX: usize = 6;
/// Words before the names of people that titles leave out.
const FORMS_OF_ADDRESS: &[&str] = &[
    "captain",
    "colonel",
    "dame",
    "dr",
    "emperor",
    "general",
    "king",
    "lady",
    "lord",
    "mr",
    "mrs",
    "ms",
    "pope",
    "president",
    "prince",
    "princess",
    "prof",
    "professor",
    "queen",
    "rev",
    "senator",
    "sir",
    "sultan",
];

struct Candidate<'a> {
    mention: &'a Mention,
    role: Option<&'static Cue>,
    /// Whether it stands where a place does.
    is_place: bool,
    sentence: u32,
}

/// Returns the questions: names with a known role first, then longer names, then in order.
pub(super) fn questions(sentences: &[Sentence<'_>], subject: &Subject) -> Vec<Draft> {
    if subject.display.is_empty() {
        return Vec::new();
    }
    let mut candidates: Vec<Candidate<'_>> = Vec::new();
    for sentence in sentences {
        let is_of_subject = subject.is_name && subject.is_of(sentence);
        for mention in sentence.mentions.iter().filter(|it| !subject.is_named(&it.key)) {
            let role = role(sentence, mention, subject, is_of_subject);
            if let Some(known) = candidates.iter_mut().find(|it| it.mention.key == mention.key) {
                known.role = known.role.or(role);
            } else {
                let is_place = is_place(sentence, mention);
                candidates.push(Candidate { mention, role, is_place, sentence: sentence.index });
            }
        }
    }
    let keys: Vec<&str> = candidates.iter().map(|it| it.mention.key.as_str()).collect();
    let mut kept: Vec<&Candidate<'_>> =
        candidates.iter().filter(|it| it.role.is_some() || !is_surname_of_any(&it.mention.key, &keys)).collect();
    kept.sort_by_key(|it| std::cmp::Reverse((it.role.is_some(), it.mention.words.len())));
    let mut drafts: Vec<Draft> = kept.into_iter().map(|it| draft(it, subject)).collect();
    // Names that differ in what is folded away may make one question.
    let mut asked = FxHashSet::default();
    drafts.retain(|draft| asked.insert(draft.text.clone()));
    drafts.truncate(OUTGOING_MAX);
    drafts
}

fn draft(candidate: &Candidate<'_>, subject: &Subject) -> Draft {
    let (name, entity) = (&subject.display, &candidate.mention.display);
    let mut keywords = keys(&candidate.mention.key);
    let text = if let Some(cue) = candidate.role {
        keywords.extend(cue.keywords.iter().cloned());
        cue.question(name, entity)
    } else {
        let how = if subject.is_name { "mentioned with" } else { "mentioned in" };
        format!("{} is {entity}, {how} {name}?", interrogative(candidate))
    };
    Draft { text, keywords, sentence: candidate.sentence }
}

/// Returns a name, and the name without the form of address before it, as titles are written.
fn keys(key: &str) -> Vec<String> {
    let bare = addressed(key).filter(|rest| rest.contains(' '));
    std::iter::once(key).chain(bare).map(str::to_owned).collect()
}

/// Returns what follows a form of address, if that is a name: `Princess of Beira` is not.
fn addressed(key: &str) -> Option<&str> {
    let (first, rest) = key.split_once(' ')?;
    let name = rest.split(' ').next()?;
    (FORMS_OF_ADDRESS.contains(&first) && !is_linking_word(name) && name.chars().count() > 1).then_some(rest)
}

fn interrogative(candidate: &Candidate<'_>) -> &'static str {
    let Mention { key, display, .. } = candidate.mention;
    if addressed(key).is_some() {
        "Who"
    } else if display.starts_with("the ") || key.split(' ').any(is_impersonal_word) {
        "What"
    } else if candidate.is_place {
        "Where"
    } else {
        "Who or what"
    }
}

/// Returns the nearest cue before a mention, across names that it is joined to and harmless words.
fn role(sentence: &Sentence<'_>, mention: &Mention, subject: &Subject, is_of_subject: bool) -> Option<&'static Cue> {
    let mut at = mention.words.start;
    // Words crossed since the last name begin here.
    let mut crossed_to = at;
    while let Some(index) = at.checked_sub(1) {
        if sentence.gap_after(index).contains(['(', ';', ':']) {
            return None;
        }
        if let Some(other) = sentence.mention_at(index) {
            if subject.is_named(&other.key) || !is_joined(sentence, at, crossed_to) {
                return None;
            }
            (at, crossed_to) = (other.words.start, other.words.start);
            continue;
        }
        if let Some((cue, first)) = role_ending_at(sentence, index, subject) {
            let is_of_other = cue.is_of_other(sentence, first, subject);
            if is_of_other && cue.is_possessive() {
                // `the son of A and his wife B`: B has the role of A.
                at = first;
                crossed_to = first;
                continue;
            }
            let is_far = cue.is_apposition() && index + 1 < crossed_to;
            return (!is_of_other && !is_far && cue.is_of_subject(subject, is_of_subject)).then_some(cue);
        }
        if crossed_to - index > CUE_DISTANCE_MAX || is_barrier(sentence.word(index)) {
            return None;
        }
        at = index;
    }
    None
}

/// Returns whether the words from `start` to `end`, between two names, join them: `A, B and the singer C`.
fn is_joined(sentence: &Sentence<'_>, start: usize, end: usize) -> bool {
    let between = sentence.folded.get(start..end).unwrap_or_default();
    let is_harmless =
        |word: &String| ["and", "or", "the", "a", "an", "his", "her"].contains(&word.as_str()) || is_person_word(word);
    let has_comma = start.checked_sub(1).is_some_and(|before| sentence.gap_after(before).contains([',', '&', '/']));
    let has_conjunction = between.iter().any(|word| word == "and" || word == "or");
    between.iter().all(is_harmless) && (has_comma || has_conjunction)
}

/// Returns whether a mention stands after `in`, or after the comma of a place.
fn is_place(sentence: &Sentence<'_>, mention: &Mention) -> bool {
    let Some(before) = mention.words.start.checked_sub(1) else { return false };
    let follows = sentence.gap_after(mention.words.end - 1);
    if follows.starts_with([':', '\'', '’', '"', '”']) || sentence.gap_after(before).contains(['"', '“']) {
        return false;
    }
    if ["in", "near"].contains(&sentence.word(before)) {
        return true;
    }
    let follows_comma = sentence.gap_after(before).trim() == ",";
    follows_comma && sentence.mention_at(before).is_some_and(|place| is_place(sentence, place))
}

/// Returns whether a name of one word is the last of a longer name: who was named in full is called so later.
fn is_surname_of_any(key: &str, keys: &[&str]) -> bool {
    keys.iter().any(|longer| {
        let before = longer.strip_suffix(key).and_then(|it| it.strip_suffix(' '));
        !key.contains(' ') && before.is_some_and(|before| !before.split(' ').any(is_linking_word))
    })
}
