//! A model compares the answers of two systems to the same questions: every pair is shown in both orders, since judges
//! have position bias. A system wins only if both orders agree; everything else is a tie.

mod answer_files;
mod report;
mod tally;
mod verdicts;

pub use answer_files::{ANSWER_BYTES_MAX, AnswersOf, Contest, Contestants, read_answers, read_answers_of};
pub use report::{FailedVerdicts, JudgeReport};
pub use tally::{CriterionTally, JudgedPair, tallied};
pub use verdicts::{TIE, VerdictFile, VerdictLine, read_verdicts};

use std::collections::BTreeMap;

use crate::domain::{ChatError, Spent};
use crate::error::Result;
use crate::llm::ChatModel;
use crate::skill::{Better, Criterion, Degradation, Performed, PreferSkill, PreferTask, Preference, perform};

/// Has `model` compare the answers of a contest, each pair in both orders, unless `file` has a verdict on it, and
/// returns the result of all verdicts. Equal answers are a tie, without a call. Missing verdicts are counted by reason,
/// and requested again by the next run; whatever ends the calls, such as the budget, ends the run.
///
/// # Errors
///
/// [`crate::Error::Chat`] if something about the model has to be corrected; [`crate::Error::Io`] if a verdict cannot be
/// written. Verdicts before it stay in the file.
///
/// # Cancel safety
///
/// Dropping the future only loses the verdict in progress.
pub async fn judge(model: &dyn ChatModel, contest: &Contest, file: &mut VerdictFile) -> Result<JudgeReport> {
    let (mut failures, mut stopped) = (BTreeMap::<String, FailedVerdicts>::new(), None);
    let mut spent = Spent::default();
    'asking: for contestants in contest.questions() {
        for a_shown_first in [true, false] {
            let asked = contestants.digest(a_shown_first);
            if file.has(&contestants.question_id, a_shown_first, &asked) {
                continue;
            }
            let preferences = if contestants.are_equal() {
                no_preference()
            } else {
                let task = shown(contestants, a_shown_first);
                let performed = perform::<PreferSkill>(model, &task).await;
                let performed = Performed::tolerating(performed, ChatError::is_of_request)?;
                spent.add(&performed.spent);
                match performed.outcome {
                    Ok(preferences) => preferences,
                    Err(why) => {
                        let is_end = ends(&why);
                        failures.entry(kind(&why).to_owned()).or_default().add(why.to_string());
                        if is_end {
                            stopped = Some(why.to_string());
                            break 'asking;
                        }
                        continue;
                    }
                }
            };
            file.add(line(contest, contestants, (a_shown_first, asked), model.name(), preferences))?;
        }
    }
    let lines = contest.questions().iter().flat_map(|it| {
        let verdict = |a_shown_first| file.verdict(&it.question_id, a_shown_first, &it.digest(a_shown_first));
        [verdict(true), verdict(false)].into_iter().flatten()
    });
    let pairs = tallied(lines);
    let report = JudgeReport::of(contest, model.name(), pairs);
    Ok(JudgeReport { failures, stopped, spent: Some(spent), ..report })
}

/// Returns a pair in one of the orders.
fn shown(contestants: &Contestants, a_shown_first: bool) -> PreferTask {
    let Contestants { question, a, b, .. } = contestants;
    let (first, second) = if a_shown_first { (a, b) } else { (b, a) };
    PreferTask { question: question.clone(), first: first.clone(), second: second.clone() }
}

fn no_preference() -> BTreeMap<Criterion, Preference> {
    let reason = "The answers are equal.".to_owned();
    let none = Preference { better: Better::Neither, reason };
    Criterion::ALL.map(|criterion| (criterion, none.clone())).into()
}

fn line(
    contest: &Contest,
    contestants: &Contestants,
    (a_shown_first, asked): (bool, String),
    judge: &str,
    preferences: BTreeMap<Criterion, Preference>,
) -> VerdictLine {
    let winner = |better| match (better, a_shown_first) {
        (Better::Neither, _) => TIE,
        (Better::First, true) | (Better::Second, false) => &contest.a,
        (Better::First, false) | (Better::Second, true) => &contest.b,
    };
    let winners = preferences.iter().map(|(criterion, it)| (*criterion, winner(it.better).to_owned())).collect();
    VerdictLine {
        question_id: contestants.question_id.clone(),
        a: contest.a.clone(),
        b: contest.b.clone(),
        a_shown_first,
        winner: winners,
        explanation: preferences.into_iter().map(|(criterion, it)| (criterion, it.reason)).collect(),
        judge: judge.to_owned(),
        asked: Some(asked),
    }
}

/// Returns whether nothing more can be asked.
const fn ends(why: &Degradation) -> bool {
    matches!(
        why,
        Degradation::Chat(ChatError::Budget { .. } | ChatError::CircuitOpen { .. } | ChatError::Useless { .. })
    )
}

/// Returns the kind of a failure: that of the call, or of a reply that does not fit.
const fn kind(why: &Degradation) -> &'static str {
    match why {
        Degradation::Chat(error) => error.kind_name(),
        Degradation::Invalid(_) => report::UNUSABLE,
    }
}

#[cfg(test)]
mod tests;
