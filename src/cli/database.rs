//! Which database is meant, and who asks: flags, then the environment, then the file with settings.

use std::path::Path;

use super::Surroundings;
use super::database_args::{DatabaseArgs, GraphArgs};
use crate::error::{Error, Result};
use crate::files;
use crate::neo4j::{DatabaseGraph, Secret, Target, Traversal, TraversalOptions};

/// Returns the database that is meant.
pub(super) fn target(args: &DatabaseArgs, surroundings: &Surroundings) -> Result<Target> {
    let settings = &surroundings.settings.neo4j;
    let Some(uri) = args.neo4j.as_ref().or(settings.uri.as_ref()) else {
        return Err(Error::Option {
            option: "database",
            value: String::new(),
            reason: "name one with `--neo4j URI`, `CAIRN_NEO4J_URI` or `neo4j.uri` in your own cairn.toml".to_owned(),
        });
    };
    let mut target = Target::parse(uri)?;
    let login = &args.login;
    target.database = login.database.clone().or_else(|| settings.name.clone());
    if let Some(user) = login.user.as_ref().or(settings.user.as_ref()) {
        target.user.clone_from(user);
    }
    target.password = match login.password_file.as_ref().or(settings.password_file.as_ref()) {
        Some(path) => password(path)?,
        None => Secret::new(settings.password.clone().unwrap_or_default()),
    };
    Ok(target)
}

/// Opens the graph that is meant, and says where it is walked if nobody chose that.
pub(super) async fn open(args: &GraphArgs, surroundings: &Surroundings) -> Result<DatabaseGraph> {
    let target = target(&args.database, surroundings)?;
    let settings = &surroundings.settings.neo4j;
    let traversal = args.traversal.as_deref().or(settings.traversal.as_deref()).map(str::parse).transpose()?;
    let memory = args.memory.as_ref().or(settings.memory.as_ref()).map(|text| megabytes(text)).transpose()?;
    let usual = TraversalOptions::default();
    let options = TraversalOptions {
        traversal: traversal.unwrap_or_default(),
        memory_max: memory.unwrap_or(usual.memory_max),
        cache: args.cache.clone().or_else(|| settings.cache.clone()),
    };
    let (is_open, memory_max) = (options.traversal == Traversal::Auto, options.memory_max >> 20);
    let graph = DatabaseGraph::open(&target, options).await?;
    if is_open && graph.traversal() == Traversal::Cypher {
        let due = graph.structure_bytes() >> 20;
        surroundings.screen.note(format!(
            "the graph would take about {due} MB of memory, more than {memory_max}: Neo4j walks it, which takes longer"
        ));
    }
    Ok(graph)
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
