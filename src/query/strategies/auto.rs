//! `auto` with calls to spend: cheap steps first, expensive ones only if the evidence asks for them. The search without
//! a model comes first; then the question is decomposed; and if a part could not be answered and calls are left,
//! `noise` continues step by step. At the end, the model picks. With few calls, it only picks, see
//! [`SearchOptions::planned`](crate::query::SearchOptions).

use super::noise::Noise;
use super::pipeline::Pipeline;
use super::{Finding, Found, Strategy};
use crate::domain::{AnsweredBy, SubQuestionTrace};
use crate::error::Result;
use crate::query::options::{Preset, SearchOptions, StrategyKind};
use crate::query::pieces::pick::{PICK_DEFAULT, pick};
use crate::query::session::Session;

/// Calls that a step of `noise` takes: to say what to look up, to judge, to read, and to say whether that is enough.
const CALLS_OF_STEP: u32 = 4;
/// Minimum number of passages kept for the next step.
const KEPT_MIN: usize = 40;

/// See the top of this file.
#[derive(Clone)]
pub struct Auto {
    /// What finds passages, and splits the question.
    pub first: Pipeline,
    /// The strategy that continues if that does not suffice.
    pub further: Noise,
    /// Passages that the model picks from at the end.
    pub picked_from: usize,
}

impl Auto {
    /// Returns it with its part of `options`.
    #[must_use]
    pub fn of(options: &SearchOptions) -> Self {
        let further = SearchOptions { preset: Preset::Measured, ..options.clone() };
        Self {
            first: Pipeline { pick: None, ..Pipeline::of(options) },
            further: Noise::of(&further),
            picked_from: options.pick.unwrap_or(PICK_DEFAULT),
        }
    }

    async fn found(&self, session: &Session) -> Result<Found> {
        let kept = session.keeping(1).with_top_k(session.top_k().max(self.picked_from).max(KEPT_MIN));
        let mut found = self.first.find(&kept).await?;
        // Where nothing promises an answer, the question was not even split.
        if !found.is_rearranged {
            return Ok(found);
        }
        let lacking = if self.is_of_paper() { None } else { lacking(&found.ledger.parts) };
        let why = match lacking {
            None => self.sufficient(&found.ledger.parts).to_owned(),
            // A step is taken only if there are calls for all of it.
            Some(lacking) if kept.keeping(CALLS_OF_STEP - 1).may_call() => {
                found = self.further.go_on(&kept, found).await?;
                format!("{lacking}, so it went on step by step")
            }
            Some(lacking) => format!("{lacking}, and too few calls are left to go on"),
        };
        found.ledger.notes.push(format!("`{}`: {why}", StrategyKind::Auto));
        session.enter("waiting for the language model to pick");
        let (mut hits, by) = pick(session, std::mem::take(&mut found.hits), self.picked_from).await?;
        hits.truncate(session.top_k());
        found.ledger.pick = by;
        Ok(Found { hits, ..found })
    }

    /// Returns whether parts that determine the next step are unanswered.
    fn is_of_paper(&self) -> bool {
        self.first.decompose.as_ref().is_some_and(|decompose| decompose.preset == Preset::Paper)
    }

    /// Returns why nothing lacks in `parts`.
    fn sufficient(&self, parts: &[SubQuestionTrace]) -> &'static str {
        match parts {
            [] => "the question was not taken apart",
            _ if self.is_of_paper() => "no part was answered, which the settings of the paper have so",
            // Only what another part needs is answered.
            _ if parts.iter().all(|part| part.answers.is_empty()) => "no part needs the answer of another",
            _ => "every part that another needs was answered",
        }
    }
}

impl Strategy for Auto {
    fn name(&self) -> &str {
        self.first.name()
    }

    fn find<'a>(&'a self, session: &'a Session) -> Finding<'a> {
        Box::pin(self.found(session))
    }
}

/// Returns what lacks in the parts of a question: the first that could not be asked, since one that it needs has no
/// answer, or that has a guess alone.
fn lacking(parts: &[SubQuestionTrace]) -> Option<String> {
    parts.iter().zip(1..).find_map(|(part, number)| {
        let is_guessed = || part.answers.first().is_some_and(|answer| answer.by == AnsweredBy::Rule);
        if part.asked.is_empty() {
            return Some(format!("part {number} could not be asked without the answer that it needs"));
        }
        is_guessed().then(|| format!("the answer to part {number} is a guess"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{PassageId, SubAnswer};
    use crate::query::options::Reading;

    fn part(asked: &[&str], by: Option<AnsweredBy>) -> SubQuestionTrace {
        let answer = |by| SubAnswer { text: "A".to_owned(), by, passage: PassageId::of(&[b"a"]) };
        SubQuestionTrace {
            asked: asked.iter().map(|it| (*it).to_owned()).collect(),
            answers: by.map(answer).into_iter().collect(),
            ..SubQuestionTrace::default()
        }
    }

    #[test]
    fn a_part_counts_as_missing_if_it_was_not_asked_or_has_only_a_guess() {
        let (by_model, by_rule) = (Some(AnsweredBy::Model), Some(AnsweredBy::Rule));
        let said = |parts: &[SubQuestionTrace]| lacking(parts).unwrap_or_default();
        assert!(said(&[part(&["Who?"], None), part(&[], None)]).starts_with("part 2 could not be asked"));
        assert_eq!(said(&[part(&["Who?"], by_rule), part(&["When?"], None)]), "the answer to part 1 is a guess");
        assert_eq!(lacking(&[part(&["Who?"], by_model), part(&["When?"], None)]), None);
        assert_eq!(lacking(&[part(&["Who?"], None)]), None, "no other part needs its answer");
    }

    #[test]
    fn it_says_that_parts_were_answered_only_where_some_were() {
        let options = SearchOptions { decompose: Some(Reading::Model), ..SearchOptions::default() };
        let (ours, paper) = (Auto::of(&options), Auto::of(&SearchOptions { preset: Preset::Paper, ..options }));
        let answered = [part(&["Who?"], Some(AnsweredBy::Model)), part(&["When?"], None)];
        assert_eq!(ours.sufficient(&[]), "the question was not taken apart");
        assert_eq!(ours.sufficient(&answered[1..]), "no part needs the answer of another");
        assert_eq!(ours.sufficient(&answered), "every part that another needs was answered");
        assert!(paper.sufficient(&answered[1..]).starts_with("no part was answered"));
    }
}
