//! Cairn turns a document collection into a graph of passages and questions, and walks it to answer questions that no
//! single passage answers.

pub mod domain;
pub mod embed;
pub mod error;
pub mod graph;
pub mod ingest;
pub mod store;
pub mod workspace;

pub use error::{Error, ErrorKind, Result};
