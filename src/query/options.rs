//! Options of a search.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::evidence::exact::QuerySyntax;
use super::evidence::filter::Filter;
use super::pieces::pick::PICK_MAX;
use super::strategies::layers::LayersOptions;
use super::strategies::noise::NoisePart;
use crate::domain::Calibration;
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
    /// `LevelRAG`: looks up sub-questions with searchers that refine their own queries, until the notes suffice.
    Level,
    /// `DualRAG`: reasons about what is missing, looks up the entities concerned, and keeps notes in an outline.
    Dual,
    /// `HANRAG`: routes the question, looks up its parts concurrently or step by step, and filters before it reads.
    Noise,
    /// Personalised `PageRank` over passages and entities, as in `HippoRAG`.
    Rank,
    /// `HiRAG`'s three levels of knowledge: entities, communities, and the paths that join them.
    Layers,
    /// The best that the index and the performers allow: `trail`, or `layers` for a question about the whole.
    #[default]
    Auto,
}

impl StrategyKind {
    /// Every strategy that can be chosen.
    pub const ALL: [Self; 11] = [
        Self::Lexical,
        Self::Dense,
        Self::Hybrid,
        Self::Hop,
        Self::Trail,
        Self::Rank,
        Self::Layers,
        Self::Level,
        Self::Dual,
        Self::Noise,
        Self::Auto,
    ];

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lexical => "lexical",
            Self::Dense => "dense",
            Self::Hybrid => "hybrid",
            Self::Hop => "hop",
            Self::Trail => "trail",
            Self::Level => "level",
            Self::Dual => "dual",
            Self::Noise => "noise",
            Self::Rank => "rank",
            Self::Layers => "layers",
            Self::Auto => "auto",
        }
    }

    /// Returns whether it uses a language model by itself, if there is one.
    #[must_use]
    pub const fn uses_model(self) -> bool {
        matches!(self, Self::Level | Self::Dual | Self::Noise)
    }

    /// Returns whether it walks all of a graph in memory, so that it is refused where Neo4j walks it.
    #[must_use]
    pub const fn walks_all(self) -> bool {
        matches!(self, Self::Rank | Self::Layers)
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
            reason: format!("expected one of {}", Self::ALL.map(Self::name).join(", ")),
        })
    }
}

/// Whose settings a strategy runs with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preset {
    /// Our settings, chosen by measurement.
    #[default]
    Measured,
    /// The paper's.
    Paper,
}

/// Where the walk of `hop` enters with the settings of the paper, which allow two interpretations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum PaperEntry {
    /// By the 20 best question edges: at fewer passages if several edges lead to the same one; each edge is an arrival.
    Edges,
    /// At 20 different passages, to which the best question edges lead. The paper's call counts belong to this walk.
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
            reason: "expected `edges` or `passages`".to_owned(),
        })
    }
}

/// What ranks the best passages of `trail`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrailRanker {
    /// The weighted sum alone.
    Linear,
    /// Boosted trees over features of the passages that are best by the weighted sum.
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
                reason: "expected `linear` or `boosted`".to_owned(),
            }),
        }
    }
}

/// How a strategy judges its steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reasoning {
    /// By similarity of texts: no model is called.
    #[default]
    Similarity,
    /// `hop`: in each round, a language model chooses from each passage the step whose question helps most, or none
    /// (`HopRAG`, Algorithm 1): one call per passage.
    Choose,
    /// `hop`: in each round, a language model says which steps from a passage help (`bfs_hop2` of `HopRAG`'s public
    /// code): one call per passage. `trail`: which of the best steps of a round help: one call per round.
    JudgeEdges,
    /// `hop`: in each round, a language model says which passages help, and all their steps are followed (`bfs` of
    /// `HopRAG`'s public code): one call per round.
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

    /// Returns whether a strategy can judge its steps in this way.
    const fn is_of(self, strategy: StrategyKind) -> bool {
        match self {
            Self::Similarity => true,
            Self::Choose | Self::JudgeNodes => matches!(strategy, StrategyKind::Hop),
            Self::JudgeEdges => {
                use StrategyKind::{Auto, Hop, Layers, Trail};
                matches!(strategy, Hop | Trail | Layers | Auto)
            }
        }
    }
}

impl FromStr for Reasoning {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|it| it.name() == text).ok_or_else(|| Error::Option {
            option: "reasoning",
            value: text.to_owned(),
            reason: format!("expected one of {}", Self::ALL.map(Self::name).join(", ")),
        })
    }
}

/// Who reranks the passages found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RerankedBy {
    /// The reranker of the performers, with a score for each passage.
    #[default]
    Reranker,
    /// The language model, in one call that says for each passage whether the answer needs it.
    Model,
    /// A rule, by the words and the meaning that a passage shares with the question.
    Rule,
}

/// Who answers the parts of a question, if later parts need the answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// A language model, from the passages found for the part, in one call per part; or else the rule.
    Model,
    /// A rule: the entities to which these passages lead.
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
                reason: "expected `model` or `rule`".to_owned(),
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
    /// Rounds of a traversal; by default, the strategy's own number.
    pub n_hop: Option<u32>,
    /// Conditions that a document must meet, all of them, to be shown or walked through.
    pub filters: Vec<Filter>,
    /// Passages that the reranker judges, at least `top_k`; without a number, nothing is reranked.
    pub rerank: Option<usize>,
    /// How a search reads its query; an answer reads it as a question.
    pub syntax: QuerySyntax,
    /// The reranker, if any.
    pub reranked_by: RerankedBy,
    /// Converts the reranker's scores to probabilities, from 0 to 1; without it, scores keep their own scale.
    pub calibration: Option<Arc<Calibration>>,
    /// The least probability of a passage that is returned, from 0 to 1; the best is returned in any case.
    pub relevance_min: Option<f32>,
    /// Passages from which a language model picks, in one call at the end; without a number, no model picks.
    pub pick: Option<usize>,
    /// How the strategy judges its steps.
    pub reasoning: Reasoning,
    /// If set, a language model splits the question into parts in one call, and this says who answers them. Each part
    /// is searched for on its own, and the results are combined with those for the whole question. With the settings of
    /// the paper, only the parts are searched for, none is answered, and their lists are interleaved.
    pub decompose: Option<Reading>,
    /// Whether a language model names, in one call, the entities of a question, in addition to those that rules find.
    pub entities: bool,
    /// The largest number of calls to a language model for one question, including repairs, the writing of an answer,
    /// and calls answered from kept replies; no limit by default. `auto` decides how to use them, and without a number
    /// calls no model.
    pub calls_max: Option<u32>,
    /// The largest number of web searches for one question by `level`, if there is a web search, including those that
    /// fail; each sub-question is searched for once, so there are never more than 8.
    pub web_searches_max: u32,
    /// What `layers` gathers, and how much of it.
    pub layers: LayersOptions,
    /// Weights of `trail`; by default, those that come with the program.
    pub weights: Option<Arc<WeightSet>>,
    /// What ranks the best passages of `trail`; by default, boosted trees if the weights have any.
    pub trail_ranker: Option<TrailRanker>,
    /// The part of `noise` that is left out, to measure its contribution; by default, none.
    pub noise_without: Option<NoisePart>,
    /// The time for an answer, including waiting; after it, [`Error::Deadline`]. No limit by default. It needs a
    /// runtime with time enabled. A computation on its own thread is not interrupted; its result is dropped.
    pub deadline: Option<Duration>,
}

/// The largest number of passages that a search returns.
pub const TOP_K_MAX: usize = 1_000;
/// The largest number of passages that a reranker judges: each takes milliseconds.
pub const RERANK_MAX: usize = 1_000;
/// The largest number of rounds of a traversal.
pub const N_HOP_MAX: u32 = 16;
/// The largest number of web searches for one question; options may ask for fewer.
pub const WEB_SEARCHES_MAX: u32 = 8;
/// The longest deadline.
pub const DEADLINE_MAX: Duration = Duration::from_hours(24);
/// Why scores are none of a reranker, as an error says it.
pub(crate) const JOINED: &str = "hits of several lists are joined by their places, and have no score of the reranker; \
     choose a strategy that no language model leads, and do not decompose the question";
/// The allowed deadlines, for an error.
const DEADLINE_BOUNDS: &str = "expected a number of seconds above 0 and at most 86,400";

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
            calibration: None,
            relevance_min: None,
            pick: None,
            reasoning: Reasoning::Similarity,
            decompose: None,
            entities: false,
            calls_max: None,
            web_searches_max: WEB_SEARCHES_MAX,
            layers: LayersOptions::default(),
            weights: None,
            trail_ranker: None,
            noise_without: None,
            deadline: None,
        }
    }
}

impl SearchOptions {
    /// Returns whether a language model reranks the passages found.
    fn is_reranked_by_model(&self) -> bool {
        self.rerank.is_some() && self.reranked_by == RerankedBy::Model
    }

    /// Returns whether a language model is called during the search.
    #[must_use]
    pub fn asks_model(&self) -> bool {
        !self.asked_of_model().is_empty()
    }

    /// Returns whether a language model may be called during the search, if there is one.
    #[must_use]
    pub fn may_ask_model(&self) -> bool {
        self.asks_model() || self.strategy.uses_model()
    }

    /// Returns the options that need a model; empty if none does.
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
    /// [`Error::Option`] for a `top_k` outside 1 to [`TOP_K_MAX`], an `n_hop` above [`N_HOP_MAX`], or a `rerank`
    /// outside 1 to [`RERANK_MAX`], a `pick` outside 1 to [`PICK_MAX`], a `deadline` of zero or above [`DEADLINE_MAX`],
    /// a `reasoning` that the strategy does not support, a `relevance_min` outside 0 to 1 or without a `calibration`,
    /// a `calibration` where nothing is reranked, `noise_without` for another strategy, or `layers` as in
    /// [`LayersOptions::check`].
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
                reason: format!("the strategy `{}` cannot judge its steps that way", self.strategy),
            });
        }
        if self.web_searches_max > WEB_SEARCHES_MAX {
            return Err(out_of_bounds("web-searches", self.web_searches_max, 0, WEB_SEARCHES_MAX));
        }
        self.check_relevance()?;
        self.check_strategy()?;
        self.layers.check()?;
        if let Some(deadline) = self.deadline.filter(|it| it.is_zero() || *it > DEADLINE_MAX) {
            return Err(no_deadline(deadline.as_secs_f64().to_string()));
        }
        match self.n_hop {
            Some(n_hop) if n_hop > N_HOP_MAX => Err(out_of_bounds("n-hop", n_hop, 0, N_HOP_MAX)),
            _ => Ok(()),
        }
    }
}

impl SearchOptions {
    /// Checks that a minimum relevance comes with a calibration.
    fn check_relevance(&self) -> Result<()> {
        let refused =
            |value: String, reason: &str| Err(Error::Option { option: "relevance", value, reason: reason.to_owned() });
        match (&self.calibration, self.relevance_min) {
            (Some(calibration), _) if self.rerank.is_none() => {
                refused(calibration.reranker.clone(), "nothing is reranked, so there are no scores to calibrate")
            }
            (None, Some(least)) => refused(least.to_string(), "a score is a probability only with a calibration"),
            (_, Some(least)) if !(0.0..=1.0).contains(&least) => {
                refused(least.to_string(), "it must be between 0 and 1")
            }
            (Some(calibration), _) if self.joins_lists() => refused(calibration.reranker.clone(), JOINED),
            _ => Ok(()),
        }
    }

    /// Returns whether hits may come from several lists: their scores are then places, not those of a reranker.
    pub(crate) const fn joins_lists(&self) -> bool {
        let is_led = matches!((self.strategy, self.calls_max), (StrategyKind::Auto, Some(1..)));
        self.decompose.is_some() || self.strategy.uses_model() || is_led
    }

    /// Checks that the strategy has the part to leave out, and that no option requests what the strategy decides by
    /// itself.
    fn check_strategy(&self) -> Result<()> {
        if let Some(part) = self.noise_without.filter(|_| self.strategy != StrategyKind::Noise) {
            return Err(Error::Option {
                option: "part to leave out",
                value: part.name().to_owned(),
                reason: format!("`{}` has no such part, only `{}` has", self.strategy, StrategyKind::Noise),
            });
        }
        if !self.strategy.uses_model() || !self.asks_model() {
            return Ok(());
        }
        Err(Error::Option {
            option: "choice here",
            value: self.asked_of_model().to_owned(),
            reason: format!("`{}` itself decides what to ask the language model", self.strategy),
        })
    }
}

/// Parses a deadline: a number of seconds, such as `2.5`.
///
/// # Errors
///
/// [`Error::Option`] if it is not a number of seconds, or is outside 0 to [`DEADLINE_MAX`].
pub fn parse_deadline(text: &str) -> Result<Duration> {
    let seconds = text.trim().parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.filter(|it| !it.is_zero() && *it <= DEADLINE_MAX).ok_or_else(|| no_deadline(text.to_owned()))
}

fn no_deadline(value: String) -> Error {
    Error::Option { option: "deadline", value, reason: DEADLINE_BOUNDS.to_owned() }
}

fn out_of_bounds<T: fmt::Display>(option: &'static str, value: T, low: T, high: T) -> Error {
    Error::Option { option, value: value.to_string(), reason: format!("it must be between {low} and {high}") }
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
        assert!(error.to_string().contains("`edges` or `passages`"), "{error}");
    }

    #[test]
    fn bounds_are_checked() {
        assert!(SearchOptions::default().check().is_ok());
        assert!(SearchOptions { top_k: 0, ..SearchOptions::default() }.check().is_err());
        assert!(SearchOptions { rerank: Some(0), ..SearchOptions::default() }.check().is_err());
        assert!(SearchOptions { pick: Some(0), ..SearchOptions::default() }.check().is_err());
        assert!(SearchOptions { n_hop: Some(99), ..SearchOptions::default() }.check().is_err());
        let noise_without = Some(NoisePart::Filter);
        assert!(SearchOptions { noise_without, ..SearchOptions::default() }.check().is_err());
        let strategy = StrategyKind::Noise;
        assert!(SearchOptions { strategy, noise_without, ..SearchOptions::default() }.check().is_ok());
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
