//! Cairn turns a document collection into a graph of passages and questions, and walks it to answer questions that no
//! single passage answers. It needs no service, no key and no download.
//!
//! [`index`](fn@index) reads files, or documents that a program holds, into a [`Workspace`]: a folder that is an index.
//! A [`QueryEngine`] opens one version of it and finds passages ([`QueryEngine::search`]) or quotes an answer
//! ([`QueryEngine::ask`]), each with the path through the graph that led to it. An answer consists of sentences of the
//! collection, word for word; if nothing is relevant, it says so. A language model takes part only if [`Performers`]
//! have one.
//!
//! ```
//! use cairn::{
//!     AskOptions, Document, IndexOptions, Performers, QueryEngine, Sources, Workspace, WorkspaceOptions,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path().join("notes.cairn");
//! let performers = Performers::built_in();
//! let mut workspace = Workspace::open_or_create(&folder, &WorkspaceOptions::of(&performers))?;
//! let sources = Sources::documents([
//!     Document::new("mill", Some("Harl Mill".to_owned()), "Harl Mill was designed by Anna Roe in 1802."),
//!     Document::new("anna", Some("Anna Roe".to_owned()), "Anna Roe was a millwright. She was born in Eaststead."),
//! ]);
//! cairn::index(&mut workspace, &sources, &performers, &IndexOptions::default()).await?;
//!
//! let engine = QueryEngine::open(&workspace, performers)?;
//! let answer = engine.ask("Where was the designer of Harl Mill born?", &AskOptions::default()).await?;
//! assert!(answer.citations.iter().any(|citation| citation.quote == "She was born in Eaststead."));
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! # Where to go on
//!
//! - [`Sources`], [`IndexOptions`] and [`IndexReport`]: what is read, how, and the result; [`add`] and [`remove`]
//!   change documents by hand.
//! - [`SearchOptions`]: strategy, filters, number of passages. [`SearchResult::context`] gives passages for your own
//!   prompt.
//! - [`QueryEngine::paths`]: the shortest paths between two passages or entities, with [`PathOptions`].
//! - [`Progress`] and [`Cancellation`]: to follow and stop long runs.
//! - [`QueryEngine::open_neo4j`]: answers from [Neo4j](neo4j), after [`neo4j::publish`](fn@neo4j::publish); [`report`]:
//!   a page about an index.
//! - [`embed::Embedder`] and [`store::GraphReader`]: traits for your own vectors or store.
//! - [`setup`]: engines and models from settings, as for the command line.
//! - [`Error`] and [`ErrorKind`]: what can go wrong and what a caller can do about it.
//!
//! Modules are listed in the order in which they use each other; `ARCHITECTURE.md` in the repository is the map. Longer
//! programs are in `examples/`.

pub mod chunk;
#[doc(hidden)]
pub mod cli;
pub mod config;
pub mod domain;
pub mod embed;
pub mod error;
pub mod eval;
mod files;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
pub mod graph;
pub mod index;
pub mod ingest;
pub mod llm;
pub mod neo4j;
pub mod query;
pub mod report;
pub mod setup;
pub mod skill;
pub mod store;
pub mod telemetry;
mod text;
pub mod workspace;

pub use domain::{Answer, Cancellation, Citation, Document, Hit, PathEnd, PathOptions, Progress};
pub use error::{Error, ErrorKind, Result};
pub use index::{
    Checkpoints, DocumentBatch, EntityTypesBy, ExtractOptions, FailedReplies, HierarchyRefresh, IndexOptions,
    IndexReport, ModelQuestions, MostGone, OtherEmbedder, QuestionsBy, ReportsBy, Sources, add, index, re_embed,
    refresh_hierarchy, remove, repair,
};
pub use query::{AskOptions, Filter, QueryEngine, SearchOptions, SearchResult, StrategyKind, TrailRanker};
pub use skill::{EntityTypes, ExtractCalls, Performers, QuestionCalls};
pub use workspace::{FileAccess, IndexCheck, IndexFinding, Workspace, WorkspaceOptions};
