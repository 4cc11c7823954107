//! Tables of cues: words by which a sentence states a relation, and the questions that go with them.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::reading::Sentence;
use super::stems;
use super::subject::{Subject, SubjectKind};
use super::vocabulary::is_barrier;

/// Words between a name and what it is to another: `Hucbert, the lay abbot of`.
const KINSHIP_DISTANCE_MAX: usize = 3;

static INCOMING: LazyLock<Table> = LazyLock::new(|| Table::read(include_str!("incoming.txt"), Table::by_first));
static OUTGOING: LazyLock<Table> = LazyLock::new(|| Table::read(include_str!("outgoing.txt"), Table::by_last));

/// What must follow a cue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    Date,
    Name,
    Any,
}

/// One way to tell a relation.
pub(super) struct Cue {
    words: Vec<&'static str>,
    /// Whom of it can be told, if not of both.
    whom: Option<SubjectKind>,
    pub(super) needs: Needs,
    question: &'static str,
    /// Stems of words for the relation.
    pub(super) keywords: Vec<String>,
}

impl Cue {
    /// Returns how many words it has.
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns whether it belongs to someone by a pronoun, as `his father` does.
    pub(super) fn is_possessive(&self) -> bool {
        self.words.first() == Some(&"his")
    }

    /// Returns whether it speaks of the subject in a sentence that is, or is not, of the subject.
    pub(super) fn is_of_subject(&self, subject: &Subject, is_of_subject: bool) -> bool {
        is_of_subject || (subject.is_own && self.is_possessive())
    }

    /// Returns whether its name follows at once, as in `the album A`.
    pub(super) fn is_apposition(&self) -> bool {
        self.question.contains(", the {role}")
    }

    /// Returns whether it relates people to each other.
    fn is_kinship(&self) -> bool {
        self.is_possessive() || (self.whom == Some(SubjectKind::Person) && self.words.last() == Some(&"of"))
    }

    fn fits(&self, subject: &Subject) -> bool {
        subject.kind == SubjectKind::Unknown || self.whom.is_none_or(|whom| whom == subject.kind)
    }

    /// Returns whether its words stand at `index`.
    fn stands_at(&self, sentence: &Sentence<'_>, index: usize, subject: &Subject) -> bool {
        (index..).zip(&self.words).all(|(index, cue)| {
            let word = sentence.word(index);
            let is_his =
                |word: &str| subject.possessive.is_none_or(|own| own == word) && ["his", "her"].contains(&word);
            if *cue == "his" { is_his(word) || ["its", "their"].contains(&word) } else { word == *cue }
        })
    }

    /// Returns whether the words at `index` speak of another name than the subject: of one right before them.
    pub(super) fn is_of_other(&self, sentence: &Sentence<'_>, index: usize, subject: &Subject) -> bool {
        let is_free = |at: usize| sentence.mention_at(at).is_none() && !is_barrier(sentence.word(at));
        let nearest = if self.is_kinship() { index.saturating_sub(KINSHIP_DISTANCE_MAX) } else { index };
        let before = (nearest..index).rev().take_while(|at| is_free(*at)).last().unwrap_or(index);
        let Some(other) = before.checked_sub(1).and_then(|it| sentence.mention_at(it)) else { return false };
        let gap = sentence.gap_after(before - 1).trim();
        let is_close = gap.is_empty() || (self.is_kinship() && gap == ",");
        // `the son of A and brother of B`: only what is called his or hers is A's.
        let is_coordinated = sentence.folded.get(before..index).unwrap_or_default().iter().any(|word| word == "and");
        is_close && !subject.is_named(&other.key) && (self.is_possessive() || !is_coordinated)
    }

    /// Returns the question, with the names of the subject and of the entity.
    pub(super) fn question(&self, subject: &str, entity: &str) -> String {
        let role = self.words.first().copied().unwrap_or_default();
        // Names last: a name may look like a place for another.
        let parts = self.question.replace("{role}", role);
        let mut question = String::with_capacity(parts.len() + subject.len() + entity.len());
        for (index, part) in parts.split(['{', '}']).enumerate() {
            question.push_str(match part {
                "X" if index % 2 == 1 => subject,
                "E" if index % 2 == 1 => entity,
                text => text,
            });
        }
        question
    }
}

/// Cues by the word that is looked up.
struct Table {
    cues: FxHashMap<&'static str, Vec<Cue>>,
}

impl Table {
    fn read(file: &'static str, key: fn(&[&'static str]) -> Option<&'static str>) -> Self {
        let mut cues: FxHashMap<&'static str, Vec<Cue>> = FxHashMap::default();
        for line in file.lines().filter(|line| !line.starts_with('#')) {
            let columns: Vec<&str> = line.split('|').map(str::trim).collect();
            let (phrases, whom, needs, question, keywords) = match columns.as_slice() {
                [phrases, whom, needs, question, keywords] => (*phrases, *whom, *needs, *question, *keywords),
                [phrases, whom, question, keywords] => (*phrases, *whom, "any", *question, *keywords),
                _ => continue,
            };
            for phrase in phrases.split(',') {
                let words: Vec<&str> = phrase.split_whitespace().collect();
                let role = words.first().copied().unwrap_or_default();
                let keywords: Vec<&str> =
                    keywords.split_whitespace().map(|word| if word == "{role}" { role } else { word }).collect();
                let Some(key) = key(&words) else { continue };
                let cue =
                    Cue { words, whom: whom_of(whom), needs: needs_of(needs), question, keywords: stems(&keywords) };
                cues.entry(key).or_default().push(cue);
            }
        }
        // Of cues at one place the longest says most; the sort keeps the order of the file otherwise.
        for cues in cues.values_mut() {
            cues.sort_by_key(|cue| std::cmp::Reverse(cue.len()));
        }
        Self { cues }
    }

    fn by_first(words: &[&'static str]) -> Option<&'static str> {
        words.first().copied()
    }

    fn by_last(words: &[&'static str]) -> Option<&'static str> {
        words.last().copied()
    }

    fn under(&self, word: &str) -> impl Iterator<Item = &Cue> {
        self.cues.get(word).into_iter().flatten()
    }
}

fn whom_of(column: &str) -> Option<SubjectKind> {
    match column {
        "person" => Some(SubjectKind::Person),
        "thing" => Some(SubjectKind::Impersonal),
        _ => None,
    }
}

fn needs_of(column: &str) -> Needs {
    match column {
        "date" => Needs::Date,
        "name" => Needs::Name,
        _ => Needs::Any,
    }
}

/// Returns the cues for what a sentence tells of the subject that begin at a word.
pub(super) fn told_at<'a>(
    sentence: &'a Sentence<'_>,
    index: usize,
    subject: &'a Subject,
) -> impl Iterator<Item = &'static Cue> + 'a {
    let word = match sentence.word(index) {
        "her" | "its" | "their" => "his",
        word => word,
    };
    let is_in_name = sentence.mention_at(index).is_some();
    let cues = INCOMING.under(word).filter(move |cue| !is_in_name && cue.fits(subject));
    cues.filter(move |cue| cue.stands_at(sentence, index, subject) && !cue.is_of_other(sentence, index, subject))
}

/// Returns the longest cue for the role of a name that ends with a word, and where it begins.
pub(super) fn role_ending_at(
    sentence: &Sentence<'_>,
    index: usize,
    subject: &Subject,
) -> Option<(&'static Cue, usize)> {
    let cues = OUTGOING.under(sentence.word(index)).filter(|cue| cue.fits(subject));
    let mut standing = cues.filter_map(|cue| Some((cue, (index + 1).checked_sub(cue.len())?)));
    standing.find(|(cue, first)| cue.stands_at(sentence, *first, subject))
}
