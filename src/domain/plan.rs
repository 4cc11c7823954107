//! The plan of a query: the route that a strategy with its own rounds chose, its notes, and why it ended.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{AnsweredBy, PassageId};

/// How many look-ups a question takes, and in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Route {
    /// Common knowledge.
    Straightforward,
    /// One look-up answers it.
    Single,
    /// It asks for several facts that do not depend on each other.
    Compound,
    /// Later look-ups depend on what earlier ones find.
    Complex,
}

impl Route {
    /// Every route.
    pub const ALL: [Self; 4] = [Self::Straightforward, Self::Single, Self::Compound, Self::Complex];

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Straightforward => "straightforward",
            Self::Single => "single",
            Self::Compound => "compound",
            Self::Complex => "complex",
        }
    }
}

/// Why the rounds of a strategy ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PlanEnd {
    /// The question took no further round.
    #[default]
    Finished,
    /// The results were judged sufficient.
    Sufficient,
    /// There was no question left that had not been asked.
    NoNewQuestion,
    /// Rounds in a row found nothing new.
    NothingFound,
    /// The allowed rounds were used up.
    Rounds,
    /// There was no language model, it gave nothing usable, or it could not be called any more, see
    /// [`ModelWork::stop`](super::ModelWork).
    NoModel,
    /// Nothing that was found is relevant to the question.
    Irrelevant,
}

impl fmt::Display for PlanEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Finished => "nothing more was to be done",
            Self::Sufficient => "what was found is enough",
            Self::NoNewQuestion => "there was no new question to ask",
            Self::NothingFound => "nothing new was found",
            Self::Rounds => "the rounds are used up",
            Self::NoModel => "no language model could say how to go on",
            Self::Irrelevant => "nothing that was found is relevant",
        })
    }
}

/// A note on passages, made during the search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanNote {
    /// Its subject: a sub-question, or an entity.
    pub about: String,
    /// Its text.
    pub text: String,
    /// Its author.
    pub by: AnsweredBy,
    /// The passages that say it.
    pub passages: Vec<PassageId>,
    /// The round, from 1.
    pub round: u32,
}

/// See the top of this file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// How the question was taken, if the strategy distinguishes that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<Route>,
    /// Who decided the route.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routed_by: Option<AnsweredBy>,
    /// Rounds of looking up, reading and deciding.
    pub rounds: u32,
    /// Missing knowledge according to the language model, round by round.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The notes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<PlanNote>,
    /// Passages judged relevant to the question or to a part of it; empty without a judge.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relevant: Vec<PassageId>,
    /// Why it ended.
    pub end: PlanEnd,
}
