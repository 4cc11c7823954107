//! Cairn turns a document collection into a graph of passages and questions, and walks it to answer questions that no
//! single passage answers.

pub mod chunk;
pub mod domain;
pub mod embed;
pub mod error;
pub mod eval;
pub mod graph;
pub mod skill;
pub mod store;
pub mod telemetry;
pub mod text;
pub mod workspace;

pub use error::{Error, ErrorKind, Result};
