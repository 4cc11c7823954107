//! Which database is meant, and who asks: what was asked for, then what is set.

use std::path::Path;

use super::{Notice, Setup};
use crate::config::Database;
use crate::error::{Error, Result};
use crate::files;
use crate::neo4j::{DatabaseGraph, Secret, Target, Traversal, TraversalOptions};

impl Setup {
    /// Returns the database that is meant.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] if none is, [`Error::Database`] if its address is none, [`Error::Io`] if the file of the
    /// password cannot be read.
    pub fn target(&self, asked: &Database) -> Result<Target> {
        let meant = asked.or(&self.settings.neo4j);
        let Some(uri) = &meant.uri else {
            return Err(Error::Option {
                option: "database",
                value: String::new(),
                reason: "name one with `--neo4j URI`, `CAIRN_NEO4J_URI` or `neo4j.uri` in your own cairn.toml"
                    .to_owned(),
            });
        };
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

    /// Opens the graph that is meant, and says where it is walked if nobody chose that.
    ///
    /// # Errors
    ///
    /// As [`Setup::target`] and [`DatabaseGraph::open`].
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost.
    pub async fn graph(&self, asked: &Database) -> Result<DatabaseGraph> {
        let target = self.target(asked)?;
        let meant = asked.or(&self.settings.neo4j);
        let memory = meant.memory.as_deref().map(megabytes).transpose()?;
        let options = TraversalOptions {
            traversal: meant.traversal.as_deref().map(str::parse).transpose()?.unwrap_or_default(),
            memory_max: memory.unwrap_or(TraversalOptions::default().memory_max),
            cache: meant.cache,
        };
        let (is_open, memory_max_mb) = (options.traversal == Traversal::Auto, options.memory_max >> 20);
        let graph = DatabaseGraph::open(&target, options).await?;
        if is_open && graph.traversal() == Traversal::Cypher {
            let needed_mb = graph.structure_bytes() >> 20;
            self.notices.tell(&Notice::WalkedByNeo4j { needed_mb, memory_max_mb });
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
    let text = files::read_secret(path)?;
    Ok(Secret::new(text.lines().next().unwrap_or_default()))
}
