//! Options of a search.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::evidence::exact::QuerySyntax;
use super::evidence::filter::Filter;
use super::pieces::pick::PICK_MAX;
use crate::error::{Error, Result};
use crate::graph::trail::WeightSet;

/// A method to find passages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum StrategyKind {
    /// BM25.
    Lexical,
    /// Cosine of vectors.
    Dense,
    /// BM25 and cosine together.
    Hybrid,
    /// `HopRAG`'s walk over question edges, with similarity reasoning.
    Hop,
    /// Question-guided propagation over names and shared entities.
    Trail,
    /// The best that the index and the performers allow: `trail` while there is no language model.
    #[default]
    Auto,
}

impl StrategyKind {
    /// Every strategy that can be asked for.
    pub const ALL: [Self; 6] = [Self::Lexical, Self::Dense, Self::Hybrid, Self::Hop, Self::Trail, Self::Auto];

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lexical => "lexical",
            Self::Dense => "dense",
            Self::Hybrid => "hybrid",
            Self::Hop => "hop",
            Self::Trail => "trail",
            Self::Auto => "auto",
        }
    }
}

impl fmt::Display for StrategyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for StrategyKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(|| Error::Option {
            option: "strategy",
            value: text.to_owned(),
            reason: format!("there are {}", Self::ALL.map(Self::name).join(", ")),
        })
    }
}

/// Whose settings a strategy runs with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preset {
    /// Ours, by measurement.
    #[default]
    Measured,
    /// The paper's.
    Paper,
}

/// Where the walk of `hop` enters with the settings of the paper, which can be read in two ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum PaperEntry {
    /// By the 20 best question edges: where several lead to one passage, at fewer passages, and an edge is an arrival.
    Edges,
    /// At 20 different passages: those that the best question edges lead to. The paper's call counts are of this walk.
    #[default]
    Passages,
}

impl PaperEntry {
    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Edges => "edges",
            Self::Passages => "passages",
        }
    }
}

impl FromStr for PaperEntry {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        [Self::Edges, Self::Passages].into_iter().find(|it| it.name() == text).ok_or_else(|| Error::Option {
            option: "paper-entry",
            value: text.to_owned(),
            reason: "there are edges, passages".to_owned(),
        })
    }
}

/// What ranks the best passages of `trail`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrailRanker {
    /// The weighted sum alone.
    Linear,
    /// Boosted trees over what is known of the best passages by the weighted sum.
    Boosted,
}

impl TrailRanker {
    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Boosted => "boosted",
        }
    }
}

impl FromStr for TrailRanker {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "linear" => Ok(Self::Linear),
            "boosted" => Ok(Self::Boosted),
            _ => Err(Error::Option {
                option: "trail-ranker",
                value: text.to_owned(),
                reason: "there are linear, boosted".to_owned(),
            }),
        }
    }
}

/// What a strategy judges its steps by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reasoning {
    /// What compares texts: no model is asked.
    #[default]
    Similarity,
    /// `hop`: in each round, a language model chooses from each passage the step whose question helps most, or none
    /// (`HopRAG`, Algorithm 1): one call a passage.
    Choose,
    /// `hop`: in each round, a language model says of all steps from a passage whether they help (`bfs_hop2` of
    /// `HopRAG`'s public code): one call a passage. `trail`: of the best steps of a round: one call a round.
    JudgeEdges,
    /// `hop`: in each round, a language model says which passages help, and all their steps are followed (`bfs` of
    /// `HopRAG`'s public code): one call a round.
    JudgeNodes,
}

impl Reasoning {
    /// Every method to judge steps.
    pub const ALL: [Self; 4] = [Self::Similarity, Self::Choose, Self::JudgeEdges, Self::JudgeNodes];

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Similarity => "similarity",
            Self::Choose => "choose",
            Self::JudgeEdges => "judge-edges",
            Self::JudgeNodes => "judge-nodes",
        }
    }

    /// Returns whether a strategy can judge its steps so.
    const fn is_of(self, strategy: StrategyKind) -> bool {
        match self {
            Self::Similarity => true,
            Self::Choose | Self::JudgeNodes => matches!(strategy, StrategyKind::Hop),
            Self::JudgeEdges => matches!(strategy, StrategyKind::Hop | StrategyKind::Trail | StrategyKind::Auto),
        }
    }
}

impl FromStr for Reasoning {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|it| it.name() == text).ok_or_else(|| Error::Option {
            option: "reasoning",
            value: text.to_owned(),
            reason: format!("there are {}", Self::ALL.map(Self::name).join(", ")),
        })
    }
}

/// Who judges again what was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RerankedBy {
    /// The reranker of the performers, with a score for each passage.
    #[default]
    Reranker,
    /// The language model, by one call that says of each passage whether the answer needs it.
    Model,
}

/// Who answers the parts that a question is taken apart into, where later parts need that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// A language model, from the passages that were found for the part, one call a part; else the rule.
    Model,
    /// A rule: what these passages lead to.
    Rule,
}

impl FromStr for Reading {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "model" => Ok(Self::Model),
            "rule" => Ok(Self::Rule),
            _ => Err(Error::Option {
                option: "reader of parts",
                value: text.to_owned(),
                reason: "there are model, rule".to_owned(),
            }),
        }
    }
}

/// Options of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchOptions {
    /// How to find passages.
    pub strategy: StrategyKind,
    /// Whose settings it runs with.
    pub preset: Preset,
    /// Where `hop` enters with the settings of the paper.
    pub paper_entry: PaperEntry,
    /// Passages to return, at least 1.
    pub top_k: usize,
    /// Rounds of a traversal; the strategy's own where none is given.
    pub n_hop: Option<u32>,
    /// Conditions that a document must meet to be shown or walked through, all of them.
    pub filters: Vec<Filter>,
    /// Passages that the reranker judges, at least `top_k`; what the strategy found stays as it is where none is given.
    pub rerank: Option<usize>,
    /// How a search reads its query; an answer reads it as a question.
    pub syntax: QuerySyntax,
    /// Who reranks, where anybody does.
    pub reranked_by: RerankedBy,
    /// Passages that a language model is shown to pick from, in one call, after all else; none is asked where no number
    /// is given.
    pub pick: Option<usize>,
    /// What the strategy judges its steps by.
    pub reasoning: Reasoning,
    /// Who answers the parts of a question where a language model takes it apart, in one call: each part is looked for
    /// by itself, and what is found is put together with what was found for the whole question. Taken apart with the
    /// settings of the paper, the parts are all that is looked for, nothing is answered, and their lists take turns.
    pub decompose: Option<Reading>,
    /// Whether a language model says, in one call, what a question names: keywords beside those that rules find.
    pub entities: bool,
    /// Calls to a language model at most for one question, repairs and the writing of an answer among them, and those
    /// that kept replies answer; no limit where none is given. `auto` makes the best of it, and without a number asks
    /// no model.
    pub calls_max: Option<u32>,
    /// Weights of `trail`; those that come with the program where none are given.
    pub weights: Option<Arc<WeightSet>>,
    /// What ranks the best passages of `trail`; boosted trees where the weights have some and none is given.
    pub trail_ranker: Option<TrailRanker>,
    /// Time for an answer, waiting included; then [`Error::Deadline`]. No limit where none is given. It needs a runtime
    /// with time. What computes on a thread of its own meanwhile is not interrupted; its result is dropped.
    pub deadline: Option<Duration>,
}

/// Passages that a search returns at most.
pub const TOP_K_MAX: usize = 1_000;
/// Passages that a reranker judges at most: each takes milliseconds.
pub const RERANK_MAX: usize = 1_000;
/// Rounds that a traversal has at most.
pub const N_HOP_MAX: u32 = 16;
/// The longest deadline.
pub const DEADLINE_MAX: Duration = Duration::from_hours(24);
/// What a deadline must be, as an error says it.
const DEADLINE_BOUNDS: &str = "it is a number of seconds, more than 0, 86400 at most";

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            strategy: StrategyKind::Auto,
            preset: Preset::Measured,
            paper_entry: PaperEntry::default(),
            top_k: 10,
            n_hop: None,
            filters: Vec::new(),
            syntax: QuerySyntax::Question,
            rerank: None,
            reranked_by: RerankedBy::Reranker,
            pick: None,
            reasoning: Reasoning::Similarity,
            decompose: None,
            entities: false,
            calls_max: None,
            weights: None,
            trail_ranker: None,
            deadline: None,
        }
    }
}

impl SearchOptions {
    /// Returns whether a language model judges again what was found.
    fn is_reranked_by_model(&self) -> bool {
        self.rerank.is_some() && self.reranked_by == RerankedBy::Model
    }

    /// Returns whether a language model is asked while passages are looked for.
    #[must_use]
    pub fn asks_model(&self) -> bool {
        !self.asked_of_model().is_empty()
    }

    /// Returns what asks for a model, empty where nothing does.
    pub(super) fn asked_of_model(&self) -> &'static str {
        match self {
            _ if self.decompose.is_some() => "decompose",
            _ if self.pick.is_some() => "pick",
            _ if self.entities => "entities",
            _ if self.is_reranked_by_model() => "reranker",
            Self { reasoning: Reasoning::Similarity, .. } => "",
            Self { reasoning, .. } => reasoning.name(),
        }
    }

    /// Checks the bounds.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] for a `top_k` outside 1 to [`TOP_K_MAX`] an `n_hop` above [`N_HOP_MAX`], or a `rerank`
    /// outside 1 to [`RERANK_MAX`], a `pick` outside 1 to [`PICK_MAX`], a `deadline` of nothing or above
    /// [`DEADLINE_MAX`], or a `reasoning` that the strategy does not have.
    pub fn check(&self) -> Result<()> {
        if !(1..=TOP_K_MAX).contains(&self.top_k) {
            return Err(out_of_bounds("top-k", self.top_k, 1, TOP_K_MAX));
        }
        if self.rerank.is_some_and(|count| !(1..=RERANK_MAX).contains(&count)) {
            return Err(out_of_bounds("rerank", self.rerank.unwrap_or(0), 1, RERANK_MAX));
        }
        if self.pick.is_some_and(|count| !(1..=PICK_MAX).contains(&count)) {
            return Err(out_of_bounds("pick", self.pick.unwrap_or(0), 1, PICK_MAX));
        }
        if !self.reasoning.is_of(self.strategy) {
            return Err(Error::Option {
                option: "reasoning",
                value: self.reasoning.name().to_owned(),
                reason: format!("`{}` does not judge its steps so", self.strategy),
            });
        }
        if let Some(deadline) = self.deadline.filter(|it| it.is_zero() || *it > DEADLINE_MAX) {
            return Err(no_deadline(deadline.as_secs_f64().to_string()));
        }
        match self.n_hop {
            Some(n_hop) if n_hop > N_HOP_MAX => Err(out_of_bounds("n-hop", n_hop, 0, N_HOP_MAX)),
            _ => Ok(()),
        }
    }
}

/// Returns the deadline that a text says: seconds, such as `2.5`.
///
/// # Errors
///
/// [`Error::Option`] for what is no number of seconds, and for one outside 0 to [`DEADLINE_MAX`].
pub fn parse_deadline(text: &str) -> Result<Duration> {
    let seconds = text.trim().parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.filter(|it| !it.is_zero() && *it <= DEADLINE_MAX).ok_or_else(|| no_deadline(text.to_owned()))
}

fn no_deadline(value: String) -> Error {
    Error::Option { option: "deadline", value, reason: DEADLINE_BOUNDS.to_owned() }
}

fn out_of_bounds<T: fmt::Display>(option: &'static str, value: T, low: T, high: T) -> Error {
    Error::Option { option, value: value.to_string(), reason: format!("it lies between {low} and {high}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strategy_is_known_by_its_name() {
        for kind in StrategyKind::ALL {
            assert_eq!(kind.name().parse::<StrategyKind>().ok(), Some(kind));
        }
        let error = "fastest".parse::<StrategyKind>().expect_err("no strategy");
        assert!(error.to_string().contains("lexical, dense"), "{error}");
    }

    #[test]
    fn an_entry_is_known_by_its_name() {
        for entry in [PaperEntry::Edges, PaperEntry::Passages] {
            assert_eq!(entry.name().parse::<PaperEntry>().ok(), Some(entry));
        }
        let error = "nodes".parse::<PaperEntry>().expect_err("no entry");
        assert!(error.to_string().contains("edges, passages"), "{error}");
    }

    #[test]
    fn bounds_are_checked() {
        assert!(SearchOptions::default().check().is_ok());
        assert!(SearchOptions { top_k: 0, ..SearchOptions::default() }.check().is_err());
        assert!(SearchOptions { rerank: Some(0), ..SearchOptions::default() }.check().is_err());
        assert!(SearchOptions { pick: Some(0), ..SearchOptions::default() }.check().is_err());
        assert!(SearchOptions { n_hop: Some(99), ..SearchOptions::default() }.check().is_err());
        let deadline = Some(Duration::ZERO);
        assert!(SearchOptions { deadline, ..SearchOptions::default() }.check().is_err());
    }

    #[test]
    fn a_deadline_is_a_number_of_seconds() {
        assert_eq!(parse_deadline("2.5").ok(), Some(Duration::from_millis(2_500)));
        assert_eq!(parse_deadline(" 86400 ").ok(), Some(DEADLINE_MAX));
        for text in ["", "0", "-1", "soon", "2s", "NaN", "inf", "86401", "1e300"] {
            let error = parse_deadline(text).expect_err("no deadline");
            assert!(error.to_string().contains("number of seconds"), "{error}");
        }
    }
}
