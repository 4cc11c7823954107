//! Questions to an index: the engine, its strategies, and extractive answers.

mod engine;
mod evidence;
mod extract;
mod filter;
mod lexical;
mod options;
mod question;
mod rerank;
mod short;
mod strategies;
mod substitute;
mod text_fit;
mod weights;
mod write;

pub use engine::{AskOptions, QueryEngine, SearchResult};
pub use filter::Filter;
pub use options::{N_HOP_MAX, Preset, RERANK_MAX, SearchOptions, StrategyKind, TOP_K_MAX, TrailRanker};
pub use question::QUESTION_CHARS_MAX;
pub use strategies::{Finding, Found, Query, Strategy, strategy, trail_candidates, trail_ranking};
pub use weights::{read_weights, shipped_weights};
