//! The results of a strategy that a model leads: those for the whole question, and those for sub-questions, round by
//! round.

use super::pipeline::{FUSED_MIN, is_promising};
use super::{Found, Strategy};
use crate::domain::{AnsweredBy, Hit, Plan, PlanEnd, PlanNote, SubQuestionTrace, Verdict};
use crate::error::Result;
use crate::query::options::Preset;
use crate::query::pieces::fuse::{RankedList, fused};
use crate::query::pieces::noted::Looked;
use crate::query::pieces::relevance::by_verdicts;
use crate::query::session::Session;
use crate::skill::Digest;

/// Passages of a look-up that a ledger names.
const PASSAGES_SHOWN: usize = 5;

/// See the top of this file.
pub(super) struct Gathering {
    pub(super) whole: Found,
    pub(super) plan: Plan,
    pub(super) parts: Vec<SubQuestionTrace>,
    pub(super) lists: Vec<RankedList>,
}

impl Gathering {
    /// Starts with the results for the whole question.
    pub(super) fn of(whole: Found) -> Self {
        Self { whole, plan: Plan::default(), parts: Vec::new(), lists: Vec::new() }
    }

    /// Finds passages for the whole question, without a model. Also returns whether they are relevant: if not, no call
    /// is worth making, and the plan says so.
    pub(super) async fn begin(strategy: &dyn Strategy, session: &Session) -> Result<(Self, bool)> {
        let count = session.top_k().max(FUSED_MIN);
        let mut gathered = Self::of(strategy.find(&session.without_model().with_top_k(count)).await?);
        let is_promising = is_promising(session, &gathered.whole).await?;
        gathered.plan.end = if is_promising { PlanEnd::NoModel } else { PlanEnd::Irrelevant };
        Ok((gathered, is_promising))
    }

    /// Takes the result of a look-up in a round, from 1, noted under `about`, and returns the note. In a list with a
    /// model's note, the passages behind the note come first.
    pub(super) fn take(&mut self, looked: Looked, about: &str, round: u32) -> Option<PlanNote> {
        let Looked { text, asked, hits, note, problems } = looked;
        let ledger = &mut self.whole.ledger;
        ledger.asked.extend(asked.iter().cloned());
        ledger.notes.extend(problems);
        let found = hits.iter().map(|hit| hit.passage).take(PASSAGES_SHOWN).collect();
        self.parts.push(SubQuestionTrace { text: text.clone(), asked, answers: Vec::new(), found });
        let note = note.map(|(by, Digest { text, passages, .. })| {
            let about = about.to_owned();
            PlanNote { about, text, by, passages, round }
        });
        let by_model = note.as_ref().filter(|note| note.by == AnsweredBy::Model);
        let hits = match by_model {
            Some(PlanNote { passages, .. }) => {
                self.plan.relevant.extend(passages);
                let is_read = |hit: &Hit| passages.contains(&hit.passage);
                let verdict = |hit| if is_read(hit) { Verdict::Necessary } else { Verdict::Irrelevant };
                let verdicts: Vec<Verdict> = hits.iter().map(verdict).collect();
                by_verdicts(hits, &verdicts).hits
            }
            None => hits,
        };
        self.lists.push(RankedList { form: 0, is_guessed: by_model.is_none(), question: text, hits });
        self.plan.notes.extend(note.clone());
        note
    }

    /// Puts the lists of sub-questions together with that of the whole.
    pub(super) fn ended(mut self, session: &Session, preset: Preset) -> Found {
        let Found { hits, mut ledger, ranking, is_rearranged } = self.whole;
        let is_rearranged = is_rearranged || !self.lists.is_empty();
        let mut hits = fused(hits, self.lists, preset);
        hits.truncate(session.top_k());
        self.plan.relevant.sort_unstable();
        self.plan.relevant.dedup();
        ledger.parts.extend(self.parts);
        ledger.plan = Some(self.plan);
        Found { hits, ledger, ranking, is_rearranged }
    }
}
