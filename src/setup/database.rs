//! The database and login: options first, then settings.

use std::io::ErrorKind;
use std::path::Path;

use super::{Notice, Setup};
use crate::config::Database;
use crate::error::{Error, Result};
use crate::files;
use crate::neo4j::{DatabaseGraph, Questions, Secret, Target, Traversal, TraversalOptions};

/// The database that a server keeps of itself.
const SYSTEM: &str = "system";

impl Setup {
    /// Returns the database that is meant.
    ///
    /// # Errors
    ///
    /// [`Error::NoDatabase`] if none is, [`Error::Option`] if it is none for graphs, [`Error::Database`] if its address
    /// is none, [`Error::Io`] if the file of the password cannot be read.
    pub fn target(&self, asked: &Database) -> Result<Target> {
        let meant = asked.or(&self.settings.neo4j);
        let uri = meant.uri.as_ref().ok_or(Error::NoDatabase)?;
        if meant.name.as_deref().is_some_and(|name| name.eq_ignore_ascii_case(SYSTEM)) {
            return Err(Error::Option {
                option: "database",
                value: SYSTEM.to_owned(),
                reason: "it is where Neo4j keeps users and databases, and no place for a graph".to_owned(),
            });
        }
        let mut target = Target::parse(uri)?;
        target.database = meant.name;
        if let Some(user) = meant.user {
            target.user = user;
        }
        target.password = match &meant.password_file {
            Some(path) => password(path)?,
            None => Secret::new(meant.password.unwrap_or_default()),
        };
        Ok(target)
    }

    /// Opens the graph, and notifies the user where it is walked if no option says so.
    ///
    /// # Errors
    ///
    /// As [`Setup::target`] and [`DatabaseGraph::open`].
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost.
    pub async fn graph(&self, asked: &Database, questions: Questions) -> Result<DatabaseGraph> {
        let target = self.target(asked)?;
        let meant = asked.or(&self.settings.neo4j);
        let memory = meant.memory.as_deref().map(megabytes).transpose()?;
        let options = TraversalOptions {
            traversal: meant.traversal.as_deref().map(str::parse).transpose()?.unwrap_or_default(),
            memory_max: memory.unwrap_or(TraversalOptions::default().memory_max),
            cache: meant.cache,
            questions,
        };
        let (is_open, memory_max) = (options.traversal == Traversal::Auto, options.memory_max);
        let graph = DatabaseGraph::open(&target, options).await?;
        if is_open && graph.traversal() == Traversal::Cypher {
            let bytes = graph.structure_bytes();
            let is_too_large = bytes > memory_max;
            let too_large =
                Notice::WalkedByNeo4j { needed_mb: bytes.div_ceil(1 << 20), memory_max_mb: memory_max >> 20 };
            self.notices.tell(if is_too_large { &too_large } else { &Notice::WalkedOnce });
        }
        Ok(graph)
    }
}

/// Returns how many bytes so many megabytes are.
fn megabytes(text: &str) -> Result<u64> {
    let bytes = text.parse::<u64>().ok().and_then(|megabytes| megabytes.checked_mul(1 << 20));
    let refused =
        || Error::Option { option: "memory", value: text.to_owned(), reason: "it is a number of megabytes".to_owned() };
    bytes.ok_or_else(refused)
}

/// Returns the first line of a file.
fn password(path: &Path) -> Result<Secret> {
    let missing = |error: Error| match error {
        Error::Io { source, .. } if source.kind() == ErrorKind::NotFound => Error::Option {
            option: "password file",
            value: path.display().to_string(),
            reason: "it is not there; its first line is to be the password of the user of Neo4j".to_owned(),
        },
        error => error,
    };
    let text = files::read_secret(path).map_err(missing)?;
    Ok(Secret::new(text.lines().next().unwrap_or_default()))
}
