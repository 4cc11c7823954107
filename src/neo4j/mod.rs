//! The graph database that an index is published to: Neo4j.
//!
//! [`publish`](fn@publish) makes the graph in the database equal to the last version of a workspace: new elements are
//! added where no reader sees them, one transaction switches to the new version, and retired elements are deleted. If
//! it is killed at any moment, the next publish produces the same graph. [`canonical_lines`] reads a version back.
//!
//! All Cypher is in files under `cypher/`; values are parameters. Only `session` talks to the driver.

mod batch;
mod cache;
mod check;
mod download;
mod element;
mod export;
mod held;
mod hierarchy;
mod import_files;
mod kinds;
mod lease;
mod paths;
mod plan;
mod publish;
mod published;
mod reader;
mod replacing;
mod restore;
mod retry;
mod schema;
mod session;
mod show;
mod source;
mod spans;
mod state;
mod statement;
mod status;
mod target;
mod unpublish;
mod walk;
mod whole_file;

pub use cache::{DatabaseGraph, Questions, ReadFrom, Traversal, TraversalOptions};
pub use check::{CheckReport, Finding, check};
pub use download::{Download, download};
pub use export::canonical_lines;
pub use import_files::write_import_files;
pub(crate) use kinds::Kept;
pub use paths::paths;
pub use publish::{OtherVectors, PublishOptions, PublishReport, publish, repair};
pub use replacing::OtherIndex;
pub use restore::restore;
pub use session::Session;
pub use show::{answer_cypher, browser_link, overview_cypher};
pub use status::{GraphStatus, status};
pub use target::Target;
pub use unpublish::{Unpublishing, to_unpublish, unpublish};

pub use crate::domain::Secret;
