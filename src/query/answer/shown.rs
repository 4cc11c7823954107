//! The material that a language model gets for an answer: the best passages, and the notes made during the search.

use crate::domain::{Answer, AnsweredBy, Hit, PassageId, PlanNote};
use crate::skill::ShownNote;

/// See the top of this file.
pub(super) struct Shown {
    pub(super) hits: Vec<Hit>,
    /// Empty, unless a strategy noted something.
    pub(super) notes: Vec<ShownNote>,
}

impl Shown {
    /// Returns the best `count` passages of an answer, with a model's notes on them. If a model judged relevance, only
    /// relevant passages are shown: first those that it picked, then those behind notes.
    pub(super) fn of(answer: &Answer, count: usize) -> Self {
        let ledger = &answer.ledger;
        let Some(plan) = ledger.plan.as_ref().filter(|plan| !plan.relevant.is_empty()) else {
            return Self { hits: answer.hits.iter().take(count).cloned().collect(), notes: Vec::new() };
        };
        let by_model: Vec<&PlanNote> = plan.notes.iter().filter(|note| note.by == AnsweredBy::Model).collect();
        let answers = || ledger.parts.iter().flat_map(|part| &part.answers).filter(|it| it.by == AnsweredBy::Model);
        let class = |passage: &PassageId| {
            let is_picked = ledger.pick.as_ref().is_some_and(|pick| pick.picked.contains(passage));
            let is_noted = || by_model.iter().any(|note| note.passages.contains(passage));
            let is_relevant = || plan.relevant.contains(passage) || answers().any(|it| it.passage == *passage);
            if is_picked {
                Some(0)
            } else if is_noted() {
                Some(1)
            } else {
                is_relevant().then_some(2)
            }
        };
        let mut classed: Vec<(u8, &Hit)> =
            answer.hits.iter().filter_map(|hit| Some((class(&hit.passage)?, hit))).collect();
        classed.sort_by_key(|it| it.0);
        let mut hits: Vec<Hit> = classed.into_iter().take(count).map(|it| it.1.clone()).collect();
        if hits.is_empty() {
            hits = answer.hits.iter().take(count).cloned().collect();
        }
        let place = |passage: &PassageId| hits.iter().position(|hit| hit.passage == *passage);
        let shown = by_model.iter().map(|note| ShownNote {
            about: note.about.clone(),
            text: note.text.clone(),
            passages: note.passages.iter().filter_map(place).collect(),
        });
        // A note whose passages are not shown could not be cited.
        let notes = shown.filter(|note| !note.passages.is_empty()).collect();
        Self { hits, notes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{AnswerKind, IndexVersion, Ledger, Pick, Plan, SubAnswer, SubQuestionTrace};
    use crate::query::pieces::fuse::testing::hits;

    fn id(name: &str) -> PassageId {
        PassageId::of(&[name.as_bytes()])
    }

    /// Returns the names of the passages shown, from `a` to `f`, of which `e` was noted and `d` was judged relevant.
    fn shown(pick: Option<&[&str]>, count: usize) -> (String, usize) {
        let note = PlanNote {
            about: "e".to_owned(),
            text: "E".to_owned(),
            by: AnsweredBy::Model,
            passages: vec![id("e")],
            round: 1,
        };
        let answer = |name, by| SubAnswer { text: "A".to_owned(), by, passage: id(name) };
        let part = SubQuestionTrace {
            answers: vec![answer("c", AnsweredBy::Model), answer("a", AnsweredBy::Rule)],
            ..SubQuestionTrace::default()
        };
        let pick = pick.map(|it| Pick { picked: it.iter().map(|name| id(name)).collect(), ..Pick::default() });
        let plan = Some(Plan { notes: vec![note], relevant: vec![id("d"), id("e")], ..Plan::default() });
        let answer = Answer {
            question: "Q?".to_owned(),
            kind: AnswerKind::Extractive,
            text: String::new(),
            guess: None,
            citations: Vec::new(),
            writing: None,
            hits: hits(&["a", "b", "c", "d", "e", "f"].map(|name| (name, 1.0))),
            strategy: "auto".to_owned(),
            version: IndexVersion(1),
            ledger: Ledger { parts: vec![part], pick, plan, ..Ledger::default() },
        };
        let Shown { hits, notes } = Shown::of(&answer, count);
        (hits.iter().map(|hit| hit.name.as_str()).collect(), notes.len())
    }

    #[test]
    fn what_a_model_picked_at_the_end_is_shown_first_and_then_what_it_found_relevant_on_the_way() {
        assert_eq!(shown(None, 8), ("ecd".to_owned(), 1));
        assert_eq!(shown(Some(&["b", "d"]), 8), ("bdec".to_owned(), 1));
        // A note is shown with its passage alone.
        assert_eq!(shown(Some(&["b", "d"]), 2), ("bd".to_owned(), 0));
        assert_eq!(shown(Some(&[]), 8), ("ecd".to_owned(), 1), "it picked none");
    }
}
