//! Questions to an index: the engine, its strategies, and extractive answers.

mod answer;
mod engine;
mod entities;
mod evidence;
mod options;
mod paths;
mod pieces;
mod retrievers;
mod session;
mod strategies;
mod topics;

pub use crate::text::{Clause, KeywordQuery, Occur};
pub use answer::write::{SentenceSink, UNCHECKED};
pub use engine::{AskOptions, QueryEngine, SearchResult, Source};
pub use entities::{EntityIndex, folded_name};
pub use evidence::exact::{NO_PHRASE, QuerySyntax};
pub use evidence::filter::{Comparison, Filter, UNMET};
pub use evidence::question::QUESTION_CHARS_MAX;
pub(crate) use options::JOINED;
pub use options::{
    DEADLINE_MAX, N_HOP_MAX, PaperEntry, Preset, RERANK_MAX, Reading, Reasoning, RerankedBy, SearchOptions,
    StrategyKind, TOP_K_MAX, TrailRanker, WEB_SEARCHES_MAX, parse_deadline,
};
pub use paths::paths;
pub use pieces::calibrated::read_calibration;
pub use pieces::decompose::Decompose;
pub use pieces::pick::{PICK_DEFAULT, PICK_MAX};
pub use pieces::rerank::{JUDGED, RULE, Rerank};
pub use retrievers::by_regex::ByRegex;
pub use retrievers::flat::{Dense, Hybrid, Lexical};
pub use retrievers::keywords::Keywords;
pub use retrievers::questions::Questions;
pub use retrievers::{Needs, Retriever, Retrieving, retriever};
pub use session::query::{Query, Ranking};
pub use session::web::UNSEARCHED;
pub use session::{Batch, DEPTH_MAX, Session};
pub use strategies::auto::Auto;
pub use strategies::chosen::strategy;
pub use strategies::dual::Dual;
pub use strategies::hop::Hop;
pub use strategies::layers::{LAYERS_ROWS_MAX, LAYERS_TOKENS_MAX, Layers, LayersOptions};
pub use strategies::level::Level;
pub use strategies::noise::{Noise, NoisePart};
pub use strategies::pipeline::Pipeline;
pub use strategies::rank::Rank;
pub(crate) use strategies::trail::NO_TREES;
pub use strategies::trail::weights::{read_weights, shipped_weights};
pub use strategies::trail::{Trail, trail_candidates, trail_ranking};
pub use strategies::{Finding, Found, Strategy};
pub use topics::topics;
