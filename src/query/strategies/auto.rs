//! `auto` with calls to spend: from what costs nothing to what costs most, as far as the evidence asks for it. What is
//! found without a model is there at first; the question is then taken apart; and where a part of it could not be
//! answered, and calls are left for that, `noise` goes on step by step. At the end the model picks. With few calls it
//! only picks, see [`SearchOptions::planned`](crate::query::SearchOptions).

use super::noise::Noise;
use super::pipeline::Pipeline;
use super::{Finding, Found, Strategy};
use crate::domain::{AnsweredBy, Route, SubQuestionTrace};
use crate::error::Result;
use crate::query::options::{Preset, SearchOptions, StrategyKind};
use crate::query::pieces::fuse::{RankedList, fused};
use crate::query::pieces::pick::{PICK_DEFAULT, pick};
use crate::query::session::Session;

/// Calls that a step of `noise` takes: to say what to look up, to judge, to read, and to say whether that is enough.
const CALLS_OF_STEP: u32 = 4;
/// Passages that are kept for what comes next, at least.
const KEPT_MIN: usize = 40;

/// See the top of this file.
#[derive(Clone)]
pub struct Auto {
    /// What finds passages, and takes the question apart.
    pub first: Pipeline,
    /// What goes on where that does not suffice.
    pub further: Noise,
    /// Passages that the model picks from at the end.
    pub picked_from: usize,
}

impl Auto {
    /// Returns it with its part of `options`.
    #[must_use]
    pub fn of(options: &SearchOptions) -> Self {
        let further = SearchOptions { preset: Preset::Measured, pick: None, decompose: None, ..options.clone() };
        Self {
            first: Pipeline { pick: None, ..Pipeline::of(options) },
            further: Noise { route: Some(Route::Complex), ..Noise::of(&further) },
            picked_from: options.pick.unwrap_or(PICK_DEFAULT),
        }
    }

    async fn found(&self, session: &Session) -> Result<Found> {
        let kept = session.keeping(1).with_top_k(session.top_k().max(self.picked_from).max(KEPT_MIN));
        let mut found = self.first.find(&kept).await?;
        // Where nothing promises an answer, the question was not even taken apart.
        if !found.is_rearranged {
            return Ok(found);
        }
        let open = found.ledger.parts.iter().position(is_open);
        let left = session.caller().map_or(0, |caller| caller.calls_left()).saturating_sub(1);
        let why = match open {
            None => "every part that another needs was answered".to_owned(),
            Some(part) if left < CALLS_OF_STEP => format!("part {} has no answer, and no calls are left", part + 1),
            Some(part) => {
                found = further(found, self.further.find(&kept).await?);
                format!("part {} has no answer, so it went on step by step", part + 1)
            }
        };
        found.ledger.notes.push(format!("`{}` took the question apart: {why}", StrategyKind::Auto));
        session.enter("waiting for the language model to pick");
        let (mut hits, by) = pick(session, std::mem::take(&mut found.hits), self.picked_from).await?;
        hits.truncate(session.top_k());
        found.ledger.pick = by;
        Ok(Found { hits, ..found })
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

/// Returns whether a part could not be asked, since one that it needs has no answer, or has one that is a guess alone.
fn is_open(part: &SubQuestionTrace) -> bool {
    part.asked.is_empty() || part.answers.first().is_some_and(|answer| answer.by == AnsweredBy::Rule)
}

/// Puts what was found step by step together with what was found before.
fn further(mut found: Found, led: Found) -> Found {
    let question = led.ledger.asked.first().cloned().unwrap_or_default();
    found.ledger.asked.extend(led.ledger.asked.into_iter().skip(1));
    found.ledger.parts.extend(led.ledger.parts);
    found.ledger.plan = led.ledger.plan;
    let list = RankedList { form: 0, is_guessed: false, question, hits: led.hits };
    found.hits = fused(found.hits, vec![list], Preset::Measured);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{PassageId, SubAnswer};

    #[test]
    fn a_part_is_open_that_could_not_be_asked_or_has_a_guess_alone() {
        let answer = |by| SubAnswer { text: "A".to_owned(), by, passage: PassageId::of(&[b"a"]) };
        let part = |asked: &[&str], answers: Vec<SubAnswer>| SubQuestionTrace {
            asked: asked.iter().map(|it| (*it).to_owned()).collect(),
            answers,
            ..SubQuestionTrace::default()
        };
        assert!(is_open(&part(&[], Vec::new())));
        assert!(is_open(&part(&["Who?"], vec![answer(AnsweredBy::Rule)])));
        assert!(!is_open(&part(&["Who?"], vec![answer(AnsweredBy::Model)])));
        assert!(!is_open(&part(&["Who?"], Vec::new())), "no other part needs its answer");
    }
}
