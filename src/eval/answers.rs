//! Asks an engine every question of a file and scores its answers. The answer is the guess of a rule if there is one,
//! and otherwise the first quoted sentence; the report gives the share of each.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::bootstrap::Interval;
use super::exact::{AnswerScores, answer_scores};
use super::questions::Question;
use super::report::{Facts, TimePerQuestion, percent, time_per_question};
use super::table::{CELL_COLUMNS, counted, printable, shown};
use super::work::WorkReport;
use crate::domain::{Answer, AnswerKind, CorpusId, IndexVersion, Writing};
use crate::error::{Error, Result};
use crate::query::{AskOptions, QueryEngine, SearchOptions};

/// The kind of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerForm {
    /// A language model's short answer.
    Short,
    /// The first sentence that it wrote.
    Written,
    /// A short answer that a rule guessed.
    Guess,
    /// The first sentence that was quoted.
    Sentence,
    /// There was none.
    Nothing,
}

/// One line of a file of answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerLine {
    /// The id of the question.
    pub question_id: String,
    /// The strategy that found the passages.
    pub strategy: String,
    /// The version of the index that was read.
    pub version: IndexVersion,
    /// The corpus that was read.
    pub corpus_id: CorpusId,
    /// The answer that is scored; empty if there is none.
    pub answer: String,
    /// Its kind.
    pub form: AnswerForm,
    /// All that a language model wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long: Option<String>,
    /// The rule that guessed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The quotations of the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quotes: Vec<String>,
}

/// The type of questions that the collection does not answer.
pub(super) const UNANSWERABLE: &str = "unanswerable";

/// How often nothing was answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Silence {
    /// Questions that the collection does not answer.
    pub unanswerable: u64,
    /// Those of them to which nothing was answered.
    pub unanswerable_silent: u64,
    /// The other questions.
    pub answerable: u64,
    /// Those of them to which nothing was answered.
    pub answerable_silent: u64,
}

/// How some answers fared, in percent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct AnswerFigures {
    /// How many there are.
    pub questions: u64,
    /// Exact match.
    pub exact_match: Interval,
    /// F1 over words.
    pub f1: Interval,
    /// Answers that have an accepted one in them.
    pub contained: Interval,
}

/// The scores of the answers to a file of questions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnswersReport {
    /// The run that was scored.
    #[serde(flatten)]
    pub facts: Facts,
    /// All questions.
    pub all: AnswerFigures,
    /// By kind of answer.
    pub by_form: BTreeMap<AnswerForm, AnswerFigures>,
    /// By the rule that guessed it.
    pub by_rule: BTreeMap<String, AnswerFigures>,
    /// By the number of documents needed, if the questions say it.
    pub by_hops: BTreeMap<u32, AnswerFigures>,
    /// By the kind of question, if the questions say it.
    pub by_type: BTreeMap<String, AnswerFigures>,
    /// Time per question.
    pub time_ms: TimePerQuestion,
    /// Questions with an accepted answer in one of the quotations.
    pub quoted: Interval,
    /// How often there was no answer, if there are questions that the collection does not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silence: Option<Silence>,
    /// Of the answers that a language model wrote: those whose whole text has an accepted one in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub long_contained: Option<Interval>,
    /// A language model's work for all questions, if one was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work: Option<WorkReport>,
}

/// Asks `engine` every question that has an accepted answer, one after the other, and scores the answers. If the engine
/// has a language model, that writes. Questions of the type `unanswerable` are asked too, and counted if they get no
/// answer.
///
/// # Errors
///
/// [`Error::Question`] if no question has an answer, and the first error of the engine.
///
/// # Cancel safety
///
/// Dropping the future loses the measurement and nothing else.
pub async fn answers(
    engine: &QueryEngine,
    questions: &[Question],
    search: &SearchOptions,
) -> Result<(Vec<AnswerLine>, AnswersReport)> {
    let is_asked = |question: &&Question| !question.answers.is_empty() || is_unanswerable(question);
    let answered: Vec<&Question> = questions.iter().filter(is_asked).collect();
    if answered.is_empty() {
        return Err(Error::Question { reason: "no question has `answers` to compare with".to_owned() });
    }
    let mut facts = Facts::of(engine, search).await?;
    if answered.len() < questions.len() {
        let without = counted((questions.len() - answered.len()) as u64, "question");
        facts.notes.push(format!("{without} without an accepted answer left out"));
    }
    let options = AskOptions { search: search.clone(), ..AskOptions::default() };
    let mut lines = Vec::with_capacity(answered.len());
    let mut times = Vec::with_capacity(answered.len());
    let mut work: Option<WorkReport> = None;
    for question in &answered {
        let started = Instant::now();
        let answer = engine.ask(&question.question, &options).await?;
        times.push(started.elapsed().as_secs_f64() * 1_000.0);
        let ledger = &answer.ledger;
        if ledger.work.is_some() || ledger.reranking.is_some() || answer.writing.is_some() {
            work.get_or_insert_default().add(ledger, answer.writing.as_ref());
        }
        lines.push(line(question, answer, &facts));
    }
    let report = report(&answered, &lines, facts, time_per_question(times));
    Ok((lines, AnswersReport { work, ..report }))
}

fn line(question: &Question, answer: Answer, facts: &Facts) -> AnswerLine {
    let quotes = answer.citations.iter().map(|citation| citation.quote.clone()).collect();
    let long = (answer.kind == AnswerKind::Written).then(|| answer.text.clone());
    let (answer, form, rule) = answered_by(answer);
    AnswerLine {
        question_id: question.id.clone(),
        strategy: facts.strategy.clone(),
        version: facts.version,
        corpus_id: facts.corpus_id,
        answer,
        form,
        long,
        rule,
        quotes,
    }
}

fn is_unanswerable(question: &Question) -> bool {
    question.kind.as_deref() == Some(UNANSWERABLE)
}

/// Returns the answer that is scored, its kind, and the rule that guessed it.
pub(super) fn answered_by(answer: Answer) -> (String, AnswerForm, Option<String>) {
    let written = answer.writing.filter(|writing| !writing.sentences.is_empty());
    let first = answer.citations.into_iter().next();
    match (written, answer.guess, first) {
        (Some(Writing { short: Some(short), .. }), ..) => (short, AnswerForm::Short, None),
        (Some(Writing { mut sentences, .. }), ..) => (sentences.swap_remove(0).text, AnswerForm::Written, None),
        (None, Some(guess), _) => (guess.text, AnswerForm::Guess, Some(guess.rule)),
        (None, None, Some(citation)) => (citation.quote, AnswerForm::Sentence, None),
        (None, None, None) => (String::new(), AnswerForm::Nothing, None),
    }
}

/// Returns the scores of the answers `lines`, one per question and in their order.
///
/// # Complexity
///
/// O(lines) time, with 1,000 resamples for each figure.
#[must_use]
pub fn score_answers(questions: &[&Question], lines: &[AnswerLine], facts: Facts) -> AnswersReport {
    report(questions, lines, facts, TimePerQuestion::default())
}

fn report(questions: &[&Question], lines: &[AnswerLine], facts: Facts, time_ms: TimePerQuestion) -> AnswersReport {
    let silence = silence(questions, lines);
    let scored: Vec<Row<'_>> = questions
        .iter()
        .zip(lines)
        .filter(|(question, _)| !is_unanswerable(question))
        .map(|(question, line)| Row { question, line, scores: answer_scores(&line.answer, &question.answers) })
        .collect();
    AnswersReport {
        facts,
        all: figures(scored.iter().map(|row| row.scores)),
        by_form: grouped(&scored, |row| Some(row.line.form)),
        by_rule: grouped(&scored, |row| row.line.rule.clone()),
        by_hops: grouped(&scored, |row| row.question.hops),
        by_type: grouped(&scored, |row| row.question.kind.clone()),
        time_ms,
        quoted: quoted(&scored),
        silence,
        long_contained: long_contained(&scored),
        work: None,
    }
}

fn quoted(rows: &[Row<'_>]) -> Interval {
    let contained = |row: &Row<'_>, quote: &String| answer_scores(quote, &row.question.answers).contained;
    percent(rows.iter().map(|row| row.line.quotes.iter().map(|quote| contained(row, quote)).fold(0.0, f64::max)))
}

fn silence(questions: &[&Question], lines: &[AnswerLine]) -> Option<Silence> {
    let mut silence = Silence::default();
    for (question, line) in questions.iter().zip(lines) {
        let is_silent = u64::from(line.form == AnswerForm::Nothing);
        let (all, silent) = if is_unanswerable(question) {
            (&mut silence.unanswerable, &mut silence.unanswerable_silent)
        } else {
            (&mut silence.answerable, &mut silence.answerable_silent)
        };
        *all += 1;
        *silent += is_silent;
    }
    (silence.unanswerable > 0).then_some(silence)
}

fn long_contained(rows: &[Row<'_>]) -> Option<Interval> {
    let contained = |row: &Row<'_>| Some(answer_scores(row.line.long.as_ref()?, &row.question.answers).contained);
    let contained: Vec<f64> = rows.iter().filter_map(contained).collect();
    (!contained.is_empty()).then(|| percent(contained))
}

/// A question with its answer and score.
struct Row<'a> {
    question: &'a Question,
    line: &'a AnswerLine,
    scores: AnswerScores,
}

fn grouped<K: Ord>(rows: &[Row<'_>], key: impl Fn(&Row<'_>) -> Option<K>) -> BTreeMap<K, AnswerFigures> {
    let mut groups: BTreeMap<K, Vec<AnswerScores>> = BTreeMap::new();
    for row in rows {
        if let Some(key) = key(row) {
            groups.entry(key).or_default().push(row.scores);
        }
    }
    groups.into_iter().map(|(key, scores)| (key, figures(scores))).collect()
}

fn figures(scores: impl IntoIterator<Item = AnswerScores>) -> AnswerFigures {
    let scores: Vec<AnswerScores> = scores.into_iter().collect();
    let of = |pick: fn(&AnswerScores) -> f64| percent(scores.iter().map(pick));
    AnswerFigures {
        questions: scores.len() as u64,
        exact_match: of(|it| it.exact),
        f1: of(|it| it.f1),
        contained: of(|it| it.contained),
    }
}

impl Display for AnswersReport {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "{} · {} · {} · version {}",
            printable(&self.facts.strategy),
            counted(self.all.questions, "question"),
            counted(self.facts.corpus.documents, "document"),
            self.facts.version
        )?;
        writeln!(out, "percent, with 95 % intervals over the questions\n")?;
        let [exact, f1, contained] = ["exact match", "F1", "contained"];
        writeln!(out, "{exact:<CELL_COLUMNS$}{f1:<CELL_COLUMNS$}{contained:<CELL_COLUMNS$}answers")?;
        write_figures(out, "all", &self.all)?;
        for (form, figures) in &self.by_form {
            let name = match form {
                AnswerForm::Short => "a model's, in a few words",
                AnswerForm::Written => "a model's first sentence",
                AnswerForm::Guess => "short, guessed by a rule",
                AnswerForm::Sentence => "first quoted sentence",
                AnswerForm::Nothing => "none",
            };
            write_figures(out, name, figures)?;
        }
        for (rule, figures) in &self.by_rule {
            write_figures(out, &format!("rule {rule}"), figures)?;
        }
        for (hops, figures) in &self.by_hops {
            write_figures(out, &format!("hops {hops}"), figures)?;
        }
        for (kind, figures) in &self.by_type {
            write_figures(out, &format!("type {kind}"), figures)?;
        }
        let time = &self.time_ms;
        writeln!(out, "\ntime per question: p50 {:.1} ms, p95 {:.1} ms, p99 {:.1} ms", time.p50, time.p95, time.p99)?;
        writeln!(out, "an accepted answer in one of the quotations: {}", shown(self.quoted))?;
        if let Some(Silence { unanswerable, unanswerable_silent, answerable, answerable_silent }) = self.silence {
            write!(out, "nothing answered to {unanswerable_silent} of {unanswerable} questions without an answer, ")?;
            writeln!(out, "and to {answerable_silent} of {answerable} others")?;
        }
        if let Some(long) = self.long_contained {
            writeln!(out, "an accepted answer anywhere in a model's text: {}", shown(long))?;
        }
        if let Some(work) = &self.work {
            write!(out, "{work}")?;
        }
        self.facts.notes.iter().try_for_each(|note| writeln!(out, "note: {}", printable(note)))
    }
}

fn write_figures(out: &mut Formatter<'_>, name: &str, figures: &AnswerFigures) -> fmt::Result {
    for interval in [figures.exact_match, figures.f1, figures.contained] {
        write!(out, "{:<CELL_COLUMNS$}", shown(interval))?;
    }
    writeln!(out, "{}, {}", printable(name), figures.questions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Counts;

    fn facts() -> Facts {
        Facts {
            strategy: "trail".to_owned(),
            version: IndexVersion(1),
            embedder: "none".to_owned(),
            corpus_id: CorpusId::of(&[]),
            corpus: Counts::default(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn a_report_says_which_answers_were_guessed() {
        let question = |id: &str, answer: &str, hops| Question {
            id: id.to_owned(),
            question: "Who?".to_owned(),
            supporting: vec!["a".to_owned()],
            passages: Vec::new(),
            kind: None,
            hops: Some(hops),
            answers: vec![answer.to_owned()],
            weight: 1,
        };
        let line = |answer: &str, form, rule: Option<&str>| AnswerLine {
            question_id: String::new(),
            strategy: "trail".to_owned(),
            version: IndexVersion(1),
            corpus_id: CorpusId::of(&[]),
            answer: answer.to_owned(),
            form,
            long: None,
            rule: rule.map(str::to_owned),
            quotes: vec![format!("It is said: {answer}.")],
        };
        let questions = [question("1", "Ann Lee", 2), question("2", "1841", 2), question("3", "no", 4)];
        let lines = [
            line("Ann Lee", AnswerForm::Guess, Some("name")),
            line("It was 1841.", AnswerForm::Sentence, None),
            line("", AnswerForm::Nothing, None),
        ];
        let report = score_answers(&questions.each_ref(), &lines, facts());
        assert!((report.all.exact_match.mean - 100.0 / 3.0).abs() < 1e-9, "{report}");
        assert!((report.all.contained.mean - 200.0 / 3.0).abs() < 1e-9, "{report}");
        assert!((report.by_form[&AnswerForm::Sentence].f1.mean - 50.0).abs() < 1e-9, "{report}");
        assert_eq!(report.by_rule["name"].questions, 1);
        assert_eq!(report.by_hops[&2].questions, 2);
        assert!((report.quoted.mean - 200.0 / 3.0).abs() < 1e-9 && report.silence.is_none(), "{report}");
        let unanswerable =
            Question { kind: Some(UNANSWERABLE.to_owned()), answers: Vec::new(), ..questions[2].clone() };
        let silent = score_answers(&[&questions[0], &unanswerable], &[lines[0].clone(), lines[2].clone()], facts());
        let due = Silence { unanswerable: 1, unanswerable_silent: 1, answerable: 1, answerable_silent: 0 };
        assert_eq!((silent.silence, silent.all.questions), (Some(due), 1));
        let text = report.to_string();
        assert!(text.contains("short, guessed by a rule, 1") && text.contains("hops 4, 1"), "{text}");
    }
}
