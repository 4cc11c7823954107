//! What a language model did over all questions of an evaluation.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use serde::Serialize;

use super::table::printable;
use crate::domain::{ModelWork, SkillCalls, Spent, StopReason};

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
    /// What it came to.
    pub spent: Spent,
}

impl WorkReport {
    /// Adds what was done for one more question.
    pub fn add(&mut self, work: &ModelWork) {
        self.questions += 1;
        self.spent.add(&work.spent);
        self.calls_per_question = (self.spent.calls + self.spent.cached) as f64 / self.questions as f64;
        *self.stops.entry(work.stop).or_default() += 1;
        for (skill, calls) in &work.skills {
            let all = self.skills.entry(skill.clone()).or_default();
            all.asked += calls.asked;
            all.unusable += calls.unusable;
            all.last = calls.last.clone().or(all.last.take());
        }
    }
}

impl Display for WorkReport {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        writeln!(out, "model: {:.2} calls a question; {}", self.calls_per_question, self.spent)?;
        for (skill, SkillCalls { asked, unusable, last }) in &self.skills {
            write!(out, "  {skill}: asked {asked} times")?;
            if let Some(last) = last {
                write!(out, ", {unusable} of no use; the last: {}", printable(last))?;
            }
            writeln!(out)?;
        }
        for (stop, count) in self.stops.iter().filter(|(stop, _)| **stop != StopReason::Finished) {
            writeln!(out, "  stopped early for {count} questions: {stop}")?;
        }
        Ok(())
    }
}
