//! Files of answers: one answer per question and system, from one system or several.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

use super::super::questions::Question;
use super::super::table::counted;
use super::verdicts::TIE;
use crate::error::{Error, Result};
use crate::files;

/// Bytes of an answer that is compared at most.
pub const ANSWER_BYTES_MAX: usize = 64 << 10;

/// The answers of one system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswersOf {
    /// What it is called.
    pub name: String,
    /// Its answers, by the ids of questions.
    pub answers: BTreeMap<String, String>,
}

/// A line in the format of `cairn eval answers --output`, also written by other programs.
#[derive(Debug, Deserialize)]
struct Line {
    question_id: String,
    #[serde(default)]
    system: Option<String>,
    answer: String,
    #[serde(default)]
    long: Option<String>,
    #[serde(default)]
    quotes: Vec<String>,
}

impl Line {
    /// Returns the whole answer: what a model wrote, or else the quotations, or else the answer that is scored.
    fn text(self) -> String {
        match (self.long, self.quotes.is_empty()) {
            (Some(long), _) => long,
            (None, false) => self.quotes.join("\n"),
            (None, true) => self.answer,
        }
    }
}

/// Reads the answers of `system` from the file at `path`; all of them where none is named. Empty lines and unknown
/// fields are passed over.
///
/// # Errors
///
/// [`Error::Io`] if the file cannot be read; [`Error::Line`] for a line that is no answer, answers a question for a
/// second time, is of another system than the first where none is named, or is longer than [`ANSWER_BYTES_MAX`], and if
/// there is no answer.
pub fn read_answers_of(path: &Path, system: Option<&str>) -> Result<AnswersOf> {
    let mut all = read_systems(path, system)?.into_iter();
    match (all.next(), all.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => {
            let reason = "the file has answers of several systems: choose one".to_owned();
            Err(Error::Line { path: path.to_owned(), line: 1, reason })
        }
        (None, _) => {
            let of = system.map(|system| format!(" of `{system}`")).unwrap_or_default();
            Err(Error::Line { path: path.to_owned(), line: 1, reason: format!("the file has no answer{of}") })
        }
    }
}

/// Reads the answers of every system in the file at `path`, in the order of their names.
///
/// # Errors
///
/// As [`read_answers_of`], of any number of systems.
pub fn read_answers(path: &Path) -> Result<Vec<AnswersOf>> {
    let all = read_systems(path, None)?;
    if all.is_empty() {
        return Err(Error::Line { path: path.to_owned(), line: 1, reason: "the file has no answer".to_owned() });
    }
    Ok(all)
}

fn read_systems(path: &Path, system: Option<&str>) -> Result<Vec<AnswersOf>> {
    let text = files::read_text(path)?;
    let refused = |line: usize, reason: String| Error::Line { path: path.to_owned(), line, reason };
    let mut systems: BTreeMap<Option<String>, BTreeMap<String, String>> = BTreeMap::new();
    for (text, number) in text.lines().zip(1..).filter(|(text, _)| !text.trim().is_empty()) {
        let line: Line = serde_json::from_str(text).map_err(|error| refused(number, error.to_string()))?;
        if system.is_some_and(|system| line.system.as_deref() != Some(system)) {
            continue;
        }
        let (id, of) = (line.question_id.clone(), line.system.clone());
        let answer = line.text();
        if answer.len() > ANSWER_BYTES_MAX {
            let reason = format!("the answer has {} bytes; {ANSWER_BYTES_MAX} can be compared", answer.len());
            return Err(refused(number, reason));
        }
        if systems.entry(of).or_default().insert(id.clone(), answer).is_some() {
            return Err(refused(number, format!("the question `{id}` was answered by an earlier line")));
        }
    }
    let named = |name: Option<String>| name.unwrap_or_else(|| path.display().to_string());
    Ok(systems.into_iter().map(|(name, answers)| AnswersOf { name: named(name), answers }).collect())
}

/// A question with the two answers that are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contestants {
    /// The id of the question.
    pub question_id: String,
    /// What is asked.
    pub question: String,
    /// The answer of the first system.
    pub a: String,
    /// That of the second.
    pub b: String,
}

impl Contestants {
    /// Returns whether both answers are equal.
    pub(super) fn are_equal(&self) -> bool {
        self.a.trim() == self.b.trim()
    }

    /// Returns a digest of the pair in one of the orders.
    pub(super) fn digest(&self, a_shown_first: bool) -> String {
        let mut hasher = blake3::Hasher::new();
        for text in [&self.question, &self.a, &self.b] {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        hasher.update(&[u8::from(a_shown_first)]);
        hasher.finalize().to_hex()[..16].to_owned()
    }
}

/// Two systems and their answers to the same questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contest {
    /// The first system.
    pub a: String,
    /// The second.
    pub b: String,
    pub(super) questions: Vec<Contestants>,
    /// Questions in the file that neither system answered.
    pub(super) unanswered: u64,
}

impl Contest {
    /// Pairs the answers of two systems, in the order of `questions`.
    ///
    /// # Errors
    ///
    /// [`Error::Question`] if the systems have one name or that of a tie, or if one has answered a question that the
    /// other has not, or that is not in `questions`.
    pub fn of(first: &AnswersOf, second: &AnswersOf, questions: &[Question]) -> Result<Self> {
        let refused = |reason: String| Err(Error::Question { reason });
        if first.name == second.name {
            let name = &first.name;
            return refused(format!("both sides are `{name}`: give two files, or two systems of one"));
        }
        for name in [&first.name, &second.name] {
            if name.eq_ignore_ascii_case(TIE) || name.trim().is_empty() {
                return refused(format!("`{name}` is not the name of a system"));
            }
        }
        refuse_strangers(first, &second.name, |id| second.answers.contains_key(id))?;
        refuse_strangers(second, &first.name, |id| first.answers.contains_key(id))?;
        let known: BTreeSet<&str> = questions.iter().map(|question| question.id.as_str()).collect();
        refuse_strangers(first, "the file of questions", |id| known.contains(id))?;
        let pairs = questions.iter().filter_map(|question| {
            let answer = |of: &AnswersOf| of.answers.get(&question.id).cloned();
            let (question_id, question) = (question.id.clone(), question.question.clone());
            Some(Contestants { a: answer(first)?, b: answer(second)?, question_id, question })
        });
        let pairs: Vec<Contestants> = pairs.collect();
        let unanswered = (questions.len() - pairs.len()) as u64;
        Ok(Self { a: first.name.clone(), b: second.name.clone(), questions: pairs, unanswered })
    }

    /// Keeps the first `count` questions.
    pub fn truncate(&mut self, count: usize) {
        self.questions.truncate(count);
    }

    /// Returns the questions with both answers.
    #[must_use]
    pub fn questions(&self) -> &[Contestants] {
        &self.questions
    }

    /// Returns the average length of each side's answers in words.
    pub(super) fn words(&self) -> [f64; 2] {
        let mean = |text: fn(&Contestants) -> &str| {
            let words = self.questions.iter().map(|it| text(it).split_whitespace().count()).sum::<usize>();
            words as f64 / self.questions.len().max(1) as f64
        };
        [mean(|it| &it.a), mean(|it| &it.b)]
    }
}

fn refuse_strangers(of: &AnswersOf, other: &str, has: impl Fn(&str) -> bool) -> Result<()> {
    let mut strangers = of.answers.keys().filter(|id| !has(id));
    let Some(first) = strangers.next() else { return Ok(()) };
    let count = counted(strangers.count() as u64 + 1, "question");
    let reason = format!(
        "`{}` answers {count} that {other} has not, such as `{first}`: answers to different questions are not compared",
        of.name
    );
    Err(Error::Question { reason })
}
