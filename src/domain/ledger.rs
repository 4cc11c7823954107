//! The ledger: what one query asked, where it entered the graph, which edges it took, and what it dropped.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{PassageId, Spent};

/// A passage where a traversal starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntryVertex {
    /// The passage.
    pub passage: PassageId,
    /// Its score at entry, on the strategy's own scale.
    pub score: f32,
    /// How it was found: `seed`, `question`, `passage`, `edge`, `lexical`, `dense`, `hybrid`.
    pub by: String,
    /// The in-coming question that matched, or the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched: Option<String>,
}

/// What a step went along.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StepKind {
    /// A question edge.
    QuestionEdge,
    /// From a mention to the passage of that name.
    Name,
    /// From a mention to another passage that mentions the same entity.
    SharedEntity,
}

/// One step from a passage to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Where it left.
    pub from: PassageId,
    /// Where it arrived.
    pub to: PassageId,
    /// What it went along.
    pub kind: StepKind,
    /// The question that the step answers: the edge's, or `What is e?` for an entity.
    pub question: String,
    /// The entity, for a step along one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entity: Option<String>,
    /// What the step was worth for the question, on the strategy's own scale.
    pub score: f32,
    /// The round, from 1.
    pub round: u32,
}

/// How often a passage was arrived at during a traversal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrival {
    /// The passage.
    pub passage: PassageId,
    /// Arrivals, the entry among them.
    pub count: u32,
}

/// How much a passage, or a step to it, helps a question, as a language model judges it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is of no use.
    #[default]
    Irrelevant,
    /// It has to do with the question and may lead on.
    Related,
    /// The answer needs it.
    Necessary,
}

/// What a language model said of a passage, or of a step to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// The passage that was left, where a step was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<PassageId>,
    /// The passage.
    pub passage: PassageId,
    /// What was said.
    pub verdict: Verdict,
}

/// What a language model did in one round of a traversal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundReasoning {
    /// How often it was asked.
    pub asked: u32,
    /// Passages from which it took no step, where it was asked about each.
    pub declined: u32,
    /// How often it gave nothing that can be used, or could not be asked, so that similarity went on.
    pub degraded: u32,
    /// What it said of passages, or of steps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<Judgement>,
}

/// One round of a traversal.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HopRound {
    /// Passages that were expanded in this round: the queue's length.
    pub queue: u32,
    /// Edges that were judged.
    pub judged: u32,
    /// Steps that were taken.
    pub steps: Vec<Step>,
    /// What a language model did, where one was to reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<RoundReasoning>,
}

/// A passage that was reached and not kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pruned {
    /// The passage.
    pub passage: PassageId,
    /// Its final score, below that of everything kept.
    pub score: f32,
}

/// What a language model picked from what was found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Pick {
    /// The model that was asked.
    pub model: String,
    /// Passages that it was shown: the best that were found.
    pub shown: u32,
    /// Those that it picked, the most needed first; they come before all others.
    pub picked: Vec<PassageId>,
    /// Why the order stayed as it was, where the model gave nothing that can be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degraded: Option<String>,
}

/// Who gave a short answer to a part of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnsweredBy {
    /// A language model, from passages that were found for the part.
    Model,
    /// A rule: what the best passages for the part lead to.
    Rule,
}

/// A short answer to a part of a question, to be put into a later part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubAnswer {
    /// The answer: a name, a date.
    pub text: String,
    /// Who gave it.
    pub by: AnsweredBy,
    /// The passage that it was read in.
    pub passage: PassageId,
}

/// A part of a question, as a language model took it apart.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubQuestionTrace {
    /// The part; `#1` stands for the answer to the first.
    pub text: String,
    /// What was put to the index: the part with answers in it; nothing where an answer was missing.
    pub asked: Vec<String>,
    /// Its answers, the likeliest first, where a later part needs one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<SubAnswer>,
    /// The best passages that were found for it.
    pub found: Vec<PassageId>,
}

/// Why a language model was asked nothing more while passages were looked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// There was nothing more to ask.
    #[default]
    Finished,
    /// The calls of the question were made.
    Calls,
    /// Another call would not fit into the budget of tokens or money.
    Budget,
    /// The time for it was over.
    Deadline,
    /// It failed several times in a row.
    Failing,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Finished => "there was nothing more to ask",
            Self::Calls => "the calls of the question were made",
            Self::Budget => "another call would not fit into the budget",
            Self::Deadline => "the time for it was over",
            Self::Failing => "the model failed several times in a row",
        })
    }
}

/// How often a language model was asked to perform a skill.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillCalls {
    /// How often.
    pub asked: u32,
    /// How often it gave nothing that can be used, so that a rule went on.
    pub unusable: u32,
    /// Why, the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
}

/// What a language model did while passages were looked for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelWork {
    /// The model.
    pub model: String,
    /// What it was asked to do, by skill.
    pub skills: BTreeMap<String, SkillCalls>,
    /// Why it was asked nothing more.
    pub stop: StopReason,
    /// What it came to.
    pub spent: Spent,
}

/// A word that the index does not know, and the word of the index that was searched for instead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spelling {
    /// The word as it was typed.
    pub typed: String,
    /// The word that was searched for.
    pub searched: String,
}

/// What one query asked, found and dropped.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// The questions that were put to the index, the user's first.
    pub asked: Vec<String>,
    /// Words that were searched for instead of those that were typed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spellings: Vec<Spelling>,
    /// Where the traversal started, best first.
    pub entry: Vec<EntryVertex>,
    /// Its rounds.
    pub rounds: Vec<HopRound>,
    /// How often each passage was arrived at, where the strategy counts that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrivals: Vec<Arrival>,
    /// What was reached and dropped, best first, as far as it was kept track of.
    pub pruned: Vec<Pruned>,
    /// Passages that were dropped in all.
    pub pruned_count: u32,
    /// The parts that a language model took the question apart into.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<SubQuestionTrace>,
    /// What a language model picked, where one was asked to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pick: Option<Pick>,
    /// What a language model did in all, where one was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<ModelWork>,
    /// What the reader should know: a limit that was hit, a part that was left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Ledger {
    /// Iterates over the passages that it names, some more than once.
    pub fn passages(&self) -> impl Iterator<Item = PassageId> {
        let steps = self.rounds.iter().flat_map(|round| &round.steps).flat_map(|step| [step.from, step.to]);
        let entered = self.entry.iter().map(|entry| entry.passage);
        let parts = self.parts.iter().flat_map(|part| part.found.iter().copied());
        let judged = self.rounds.iter().filter_map(|round| round.model.as_ref()).flat_map(|model| &model.verdicts);
        let judged = judged.flat_map(|it| it.from.into_iter().chain([it.passage]));
        entered.chain(steps).chain(judged).chain(parts).chain(self.pruned.iter().map(|pruned| pruned.passage))
    }
}
