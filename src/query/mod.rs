//! Questions to an index: the engine, its strategies, and extractive answers.

mod answer;
mod engine;
mod evidence;
mod options;
mod paths;
mod pieces;
mod retrievers;
mod session;
mod strategies;

pub use answer::write::{SentenceSink, UNCHECKED};
pub use engine::{AskOptions, QueryEngine, SearchResult, Source};
pub use evidence::filter::Filter;
pub use evidence::question::QUESTION_CHARS_MAX;
pub use options::{
    DEADLINE_MAX, N_HOP_MAX, Preset, RERANK_MAX, Reading, Reasoning, RerankedBy, SearchOptions, StrategyKind,
    TOP_K_MAX, TrailRanker, parse_deadline,
};
pub use paths::paths;
pub use pieces::pick::{PICK_DEFAULT, PICK_MAX};
pub use session::caller::Caller;
pub use strategies::trail::weights::{read_weights, shipped_weights};
pub use strategies::{Finding, Found, Query, Strategy, strategy, trail_candidates, trail_ranking};
