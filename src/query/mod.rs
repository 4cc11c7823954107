//! Questions to an index: the engine, its strategies, and extractive answers.

mod asking;
mod caller;
mod deadline;
mod engine;
mod evidence;
mod extract;
mod filter;
mod fuse;
mod hits;
mod lexical;
mod options;
mod part_answer;
mod path_ends;
mod paths;
mod pick;
mod question;
mod quote;
mod reasoned;
mod rerank;
mod short;
mod strategies;
mod substitute;
mod text_fit;
mod weights;
mod write;

pub use caller::Caller;
pub use engine::{AskOptions, QueryEngine, SearchResult, Source};
pub use filter::Filter;
pub use options::{
    DEADLINE_MAX, N_HOP_MAX, Preset, RERANK_MAX, Reading, Reasoning, RerankedBy, SearchOptions, StrategyKind,
    TOP_K_MAX, TrailRanker, parse_deadline,
};
pub use paths::paths;
pub use pick::{PICK_DEFAULT, PICK_MAX};
pub use question::QUESTION_CHARS_MAX;
pub use strategies::{Finding, Found, Query, Strategy, strategy, trail_candidates, trail_ranking};
pub use weights::{read_weights, shipped_weights};
pub use write::{SentenceSink, UNCHECKED};
