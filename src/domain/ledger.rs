//! The ledger: what one query asked, where it entered the graph, which edges it took, and what it dropped.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{LayersFound, PassageId, Plan, Spent, WebResult, WebWork};

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

/// The kind of edge that a step follows.
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
    /// Its source.
    pub from: PassageId,
    /// Its target.
    pub to: PassageId,
    /// The kind of edge that the step follows.
    pub kind: StepKind,
    /// The question that the step answers: the edge's, or `What is e?` for an entity.
    pub question: String,
    /// The entity, for a step along one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entity: Option<String>,
    /// The value of the step for the question, on the strategy's own scale.
    pub score: f32,
    /// The round, from 1.
    pub round: u32,
}

/// How often a traversal arrived at a passage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrival {
    /// The passage.
    pub passage: PassageId,
    /// Arrivals, including the entry.
    pub count: u32,
}

/// How much a passage, or a step to it, helps a question, as a language model judges it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It does not help.
    #[default]
    Irrelevant,
    /// It is related to the question and may lead to the answer.
    Related,
    /// The answer needs it.
    Necessary,
}

/// The verdict of a language model on a passage, or on a step to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// The passage where the step starts, if a step was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<PassageId>,
    /// The passage.
    pub passage: PassageId,
    /// The verdict.
    pub verdict: Verdict,
}

/// A language model's work in one round of a traversal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundReasoning {
    /// How often it was called.
    pub asked: u32,
    /// Passages from which it took no step, if it was asked about each.
    pub declined: u32,
    /// How often it gave nothing usable or could not be called, so that similarity decided.
    pub degraded: u32,
    /// Its verdicts on passages or on steps.
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
    /// A language model's work, if one was to reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<RoundReasoning>,
}

/// A passage that was reached but not kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pruned {
    /// The passage.
    pub passage: PassageId,
    /// Its final score, below that of everything kept.
    pub score: f32,
}

/// The passages that a language model picked from those found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Pick {
    /// The model.
    pub model: String,
    /// How many passages it was shown: the best that were found.
    pub shown: u32,
    /// Those that it picked, the most needed first; they come before all others.
    pub picked: Vec<PassageId>,
    /// Why the order stayed as it was, if the model gave nothing usable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degraded: Option<String>,
}

/// Who gave a short answer to a part of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnsweredBy {
    /// A language model, from passages that were found for the part.
    Model,
    /// A rule: from the best passages for the part.
    Rule,
}

/// A short answer to a part of a question, for use in a later part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubAnswer {
    /// The answer: a name, a date.
    pub text: String,
    /// Its author.
    pub by: AnsweredBy,
    /// The passage that contains it.
    pub passage: PassageId,
}

/// A part of a question that a language model split.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubQuestionTrace {
    /// The part; `#1` stands for the answer to the first.
    pub text: String,
    /// The queries: the part with answers filled in; empty if an answer was missing.
    pub asked: Vec<String>,
    /// Its answers, the most likely first, if a later part needs one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<SubAnswer>,
    /// The best passages that were found for it.
    pub found: Vec<PassageId>,
}

/// Why a language model was not called any more during a search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// No more calls were needed.
    #[default]
    Finished,
    /// The calls allowed for the question were used up.
    Calls,
    /// Another call would not fit into the budget of tokens or money.
    Budget,
    /// Its time was used up.
    Deadline,
    /// It failed several times in a row.
    Failing,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Finished => "there was nothing more to ask",
            Self::Calls => "the calls allowed for the question are used up",
            Self::Budget => "another call would not fit into the budget",
            Self::Deadline => "its time is used up",
            Self::Failing => "the model failed several times in a row",
        })
    }
}

/// How often a language model performed a skill.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillCalls {
    /// How often.
    pub asked: u32,
    /// How often it gave nothing usable, so that a rule took over.
    pub unusable: u32,
    /// Why, the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
}

/// A language model's work during a search.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelWork {
    /// The model.
    pub model: String,
    /// Its calls, by skill.
    pub skills: BTreeMap<String, SkillCalls>,
    /// Why it was not called any more.
    pub stop: StopReason,
    /// The calls, tokens and money spent.
    pub spent: Spent,
}

/// The calls to a reranker behind a server during a search.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RerankWork {
    /// The reranker.
    pub reranker: String,
    /// Passages that it scored, one that it scored for several questions once for each.
    pub passages: u64,
    /// The calls, tokens and money spent.
    pub spent: Spent,
}

/// A word that is not in the index, and the word of the index that was searched for instead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spelling {
    /// The word as it was typed.
    pub typed: String,
    /// The word that was searched for.
    pub searched: String,
}

/// The record of one query: what it searched for, found and dropped.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// The questions that were searched for, the user's first.
    pub asked: Vec<String>,
    /// Words that were searched for instead of those that were typed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spellings: Vec<Spelling>,
    /// Where the traversal started, best first.
    pub entry: Vec<EntryVertex>,
    /// Its rounds.
    pub rounds: Vec<HopRound>,
    /// How often the traversal arrived at each passage, if the strategy counts that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrivals: Vec<Arrival>,
    /// The passages that were reached and dropped, best first, up to a limit.
    pub pruned: Vec<Pruned>,
    /// The total number of dropped passages.
    pub pruned_count: u32,
    /// The parts into which a language model split the question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<SubQuestionTrace>,
    /// How a strategy with rounds of its own proceeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// The findings on the levels of the hierarchy, if the strategy reads them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layers: Option<Box<LayersFound>>,
    /// A language model's picks, if it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pick: Option<Pick>,
    /// Everything that a language model did, if one was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<ModelWork>,
    /// The calls to a reranker behind a server, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reranking: Option<RerankWork>,
    /// The web search server and the number of searches, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web_work: Option<WebWork>,
    /// The results of web searches, if any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub web: Vec<WebResult>,
    /// Notes for the reader: a limit that was reached, a part that was left out.
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
        let plan = self.plan.iter().flat_map(|plan| &plan.relevant).copied();
        let noted = self.plan.iter().flat_map(|plan| &plan.notes).flat_map(|note| note.passages.iter().copied());
        let planned = plan.chain(noted);
        entered
            .chain(steps)
            .chain(judged)
            .chain(parts)
            .chain(planned)
            .chain(self.pruned.iter().map(|pruned| pruned.passage))
    }
}
