//! A language model's work over all questions of an evaluation.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use serde::Serialize;

use super::table::printable;
use crate::domain::{ChatError, Ledger, RerankWork, SkillCalls, Spent, StopReason, Writing};

/// What a language model did over all questions.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct WorkReport {
    /// Questions for which a model was to be asked.
    pub questions: u64,
    /// Calls a question, kept replies among them, since they would have been calls.
    pub calls_per_question: f64,
    /// What was asked, by skill.
    pub skills: BTreeMap<String, SkillCalls>,
    /// Why nothing more was asked, and of how many questions.
    pub stops: BTreeMap<StopReason, u64>,
    /// What a reranker behind a server was asked; part of what all came to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reranking: Option<RerankWork>,
    /// What it came to.
    pub spent: Spent,
}

impl WorkReport {
    /// Adds the search for one more question to `all`, if a model was asked.
    pub(super) fn of_search(all: &mut Option<Self>, ledger: &Ledger) {
        if ledger.work.is_some() || ledger.reranking.is_some() {
            all.get_or_insert_default().add(ledger, None);
        }
    }

    /// Adds what was done for one more question: to find passages, and to write.
    pub fn add(&mut self, ledger: &Ledger, writing: Option<&Writing>) {
        self.questions += 1;
        if let Some(own) = &ledger.reranking {
            let all = self.reranking.get_or_insert_default();
            all.reranker.clone_from(&own.reranker);
            all.passages += own.passages;
            all.spent.add(&own.spent);
            self.spent.add(&own.spent);
        }
        if let Some(work) = &ledger.work {
            self.spent.add(&work.spent);
            *self.stops.entry(work.stop).or_default() += 1;
            for (skill, calls) in &work.skills {
                self.add_calls(skill, calls);
            }
        }
        if let Some(writing) = writing {
            self.spent.add(&writing.spent);
            let (unusable, last) = (u32::from(writing.degraded.is_some()), writing.degraded.clone());
            self.add_calls("answer", &SkillCalls { asked: 1, unusable, last });
        }
        self.calls_per_question = (self.spent.calls + self.spent.cached) as f64 / self.questions as f64;
    }

    /// Returns the fault of a model that gave nothing of use to any question: figures without it are no figures of it.
    #[must_use]
    pub fn useless(&self) -> Option<ChatError> {
        let sum = |count: fn(&SkillCalls) -> u32| self.skills.values().map(count).sum::<u32>();
        let (asked, unusable) = (sum(|it| it.asked), sum(|it| it.unusable));
        let last = self.skills.values().find_map(|it| it.last.clone())?;
        // If a budget or the server ended it, there are fewer replies.
        let reranks = self.reranking.as_ref().map_or(0, |reranking| reranking.spent.calls);
        let has_replies = self.spent.calls + self.spent.cached - reranks >= u64::from(asked);
        (asked > 0 && unusable == asked && has_replies).then_some(ChatError::Useless { replies: asked, last })
    }

    fn add_calls(&mut self, skill: &str, calls: &SkillCalls) {
        let all = self.skills.entry(skill.to_owned()).or_default();
        all.asked += calls.asked;
        all.unusable += calls.unusable;
        all.last = calls.last.clone().or(all.last.take());
    }
}

/// Returns the cost per question as text; none if a price is unknown.
pub(super) fn cost_per_question(spent: &Spent, questions: u64) -> Option<String> {
    let cost = spent.cost.as_ref()?;
    Some(format!("{:.5} {}", cost.amount / questions.max(1) as f64, cost.currency))
}

impl Display for WorkReport {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let (calls, tokens) =
            (self.calls_per_question, self.spent.usage.tokens() as f64 / self.questions.max(1) as f64);
        let cost = cost_per_question(&self.spent, self.questions).map(|cost| format!(", {cost}")).unwrap_or_default();
        writeln!(out, "model: {calls:.2} calls, {tokens:.0} tokens{cost} a question; in all {}", self.spent)?;
        if let Some(RerankWork { reranker, passages, spent }) = &self.reranking {
            writeln!(out, "  reranker {}: {passages} passages scored with {spent}", printable(reranker))?;
        }
        for (skill, SkillCalls { asked, unusable, last }) in &self.skills {
            write!(out, "  {skill}: asked {asked} times")?;
            if let Some(last) = last {
                write!(out, ", {unusable} unusable; the last: {}", printable(last))?;
            }
            writeln!(out)?;
        }
        for (stop, count) in self.stops.iter().filter(|(stop, _)| **stop != StopReason::Finished) {
            writeln!(out, "  stopped early for {count} questions: {stop}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::CitationCheck;

    #[test]
    fn a_model_is_useless_where_no_reply_to_any_question_could_be_used() {
        let writing = |degraded: Option<&str>, calls: u64| Writing {
            model: "m".to_owned(),
            short: None,
            sentences: Vec::new(),
            checked_by: CitationCheck::Rule,
            degraded: degraded.map(str::to_owned),
            spent: Spent { calls, ..Spent::default() },
        };
        let mut report = WorkReport::default();
        assert_eq!(report.useless(), None);
        let none = &Ledger::default();
        report.add(none, Some(&writing(Some("no JSON"), 2)));
        report.add(none, Some(&writing(Some("no JSON"), 1)));
        assert_eq!(report.useless(), Some(ChatError::Useless { replies: 2, last: "no JSON".to_owned() }));
        report.add(none, Some(&writing(None, 1)));
        assert_eq!(report.useless(), None);
        let mut ended = WorkReport::default();
        ended.add(none, Some(&writing(Some("the budget allows 0 calls"), 0)));
        assert_eq!(ended.useless(), None, "nothing was said at all");
        let spent = Spent { calls: 3, ..Spent::default() };
        let reranking = Some(RerankWork { reranker: "r".to_owned(), passages: 20, spent });
        ended.add(&Ledger { reranking, ..Ledger::default() }, None);
        assert_eq!(ended.useless(), None, "what a reranker is asked is no reply of a model");
        assert!((ended.calls_per_question - 1.5).abs() < 1e-9 && ended.to_string().contains("20 passages scored"));
    }
}
