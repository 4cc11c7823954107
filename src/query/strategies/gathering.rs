//! What a strategy that a model leads gathers: what was found for the whole question, and beside it, round by round,
//! what was found for smaller ones.

use super::pipeline::{FUSED_MIN, is_promising};
use super::{Found, Strategy};
use crate::domain::{Plan, PlanEnd, SubQuestionTrace};
use crate::error::Result;
use crate::query::options::Preset;
use crate::query::pieces::fuse::{RankedList, fused};
use crate::query::session::Session;

/// See the top of this file.
pub(super) struct Gathering {
    pub(super) whole: Found,
    pub(super) plan: Plan,
    pub(super) parts: Vec<SubQuestionTrace>,
    pub(super) lists: Vec<RankedList>,
}

impl Gathering {
    /// Finds passages for the whole question, without a model. Also returns whether they have to do with it: where they
    /// have not, nothing is worth asking, and the plan says so.
    pub(super) async fn begin(strategy: &dyn Strategy, session: &Session) -> Result<(Self, bool)> {
        let count = session.top_k().max(FUSED_MIN);
        let whole = strategy.find(&session.without_model().with_top_k(count)).await?;
        let is_promising = is_promising(session, &whole).await?;
        let end = if is_promising { PlanEnd::NoModel } else { PlanEnd::Irrelevant };
        let plan = Plan { end, ..Plan::default() };
        Ok((Self { whole, plan, parts: Vec::new(), lists: Vec::new() }, is_promising))
    }

    /// Puts the lists of smaller questions together with that of the whole.
    pub(super) fn ended(mut self, session: &Session, preset: Preset) -> Found {
        let Found { hits, mut ledger, ranking, is_rearranged } = self.whole;
        let is_rearranged = is_rearranged || !self.lists.is_empty();
        let mut hits = fused(hits, self.lists, preset);
        hits.truncate(session.top_k());
        self.plan.relevant.sort_unstable();
        self.plan.relevant.dedup();
        ledger.parts = self.parts;
        ledger.plan = Some(self.plan);
        Found { hits, ledger, ranking, is_rearranged }
    }
}
