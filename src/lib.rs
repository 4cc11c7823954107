//! Cairn turns a document collection into a graph of passages and questions, and walks it to answer questions that no
//! single passage answers.

pub mod chunk;
#[doc(hidden)]
pub mod cli;
pub mod config;
pub mod domain;
pub mod embed;
pub mod error;
pub mod eval;
pub mod graph;
pub mod index;
pub mod ingest;
pub mod query;
pub mod skill;
pub mod store;
pub mod telemetry;
pub mod text;
pub mod workspace;

pub use domain::{Answer, Cancellation, Citation, Document, Hit, Progress};
pub use error::{Error, ErrorKind, Result};
pub use index::{IndexOptions, IndexReport, OtherEmbedder, Sources, index, re_embed, remove};
pub use query::{AskOptions, Filter, QueryEngine, SearchOptions, SearchResult, StrategyKind};
pub use skill::Performers;
pub use workspace::{Workspace, WorkspaceOptions};
