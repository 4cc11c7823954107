//! The schema: constraints and indexes, declared under `cypher/schema`. Missing ones are created, and those with our
//! names that are no longer declared are dropped; no history is kept.

mod found;

use std::time::{Duration, Instant};

use neo4rs::{BoltList, BoltType};

use self::found::{Drops, Due, Schema};
use super::kinds::KEYS;
use super::session::Session;
use super::statement::{Statement, cypher, split};
use crate::domain::DatabaseError;
use crate::error::Result;

/// Nodes of an earlier format that are deleted in one transaction.
const FORGOTTEN_MAX: i64 = 1_000;
/// How often the state of indexes is checked.
const POLL: Duration = Duration::from_millis(200);

/// Indexes over what people and questions look for: made once all is written.
const TEXTS: &str = cypher!("schema/texts");
/// Indexes over vectors, of the dimension of the embedder.
const VECTORS: &str = cypher!("schema/vectors");

/// The prefix of all names that we create, and of no others.
const PREFIX: &str = "cairn_";

/// Returns everything due: vector indexes only if there are vectors.
fn all_due(dimension: usize) -> Vec<Due> {
    let parts = [&KEYS, TEXTS].into_iter().chain((dimension > 0).then_some(VECTORS));
    parts.flat_map(split).filter_map(Due::of).collect()
}

/// Refuses a database with the user's own constraints or indexes that conflict with ours, or with our writes.
pub(super) async fn refuse_others(session: &Session, dimension: usize) -> Result<()> {
    match Schema::read(session).await?.conflicts(&all_due(dimension)) {
        names if names.is_empty() => Ok(()),
        names => Err(session.error(DatabaseError::Conflict { names: names.join(", ") })),
    }
}

/// Creates the indexes by which publishing finds elements, if missing.
pub(super) async fn make_keys(session: &Session) -> Result<()> {
    let due: Vec<Due> = split(&KEYS).filter_map(Due::of).collect();
    if Schema::read(session).await?.unready(&due, 0).is_empty() {
        return Ok(());
    }
    drop_spoiled(session, &due, 0).await?;
    make(session, &KEYS, 0).await?;
    wait_for(session, &due).await
}

/// The faults of the schema.
#[derive(Debug, Clone, Default)]
pub(super) struct Wrong {
    /// Names of missing or changed ones.
    pub(super) missing: Vec<&'static str>,
    /// Conflicts with the user's own.
    pub(super) others: Vec<String>,
}

/// Returns the faults of the schema of a graph whose vectors have this dimension.
pub(super) async fn wrong(session: &Session, dimension: usize) -> Result<Wrong> {
    let (schema, due) = (Schema::read(session).await?, all_due(dimension));
    Ok(Wrong { missing: schema.missing(&due, dimension), others: schema.conflicts(&due) })
}

/// Returns whether everything due exists and can be queried, and nothing of an earlier program is left.
pub(super) async fn is_ready(session: &Session, dimension: usize) -> Result<bool> {
    let (schema, due) = (Schema::read(session).await?, all_due(dimension));
    Ok(schema.unready(&due, dimension).is_empty() && schema.outdated(&due) == Drops::default())
}

/// Returns those of our indexes with these names that cannot be asked: not there, not as they should be, not filled.
pub(super) async fn unready(session: &Session, names: &[&str], dimension: usize) -> Result<Vec<&'static str>> {
    let due: Vec<Due> = all_due(dimension).into_iter().filter(|it| names.contains(&it.name)).collect();
    Ok(Schema::read(session).await?.unready(&due, dimension))
}

/// Creates missing or failed constraints and indexes, and waits until they can be queried. Returns how long that took,
/// if any were created; `tell` is called before. Those of an earlier program that are no longer used are dropped.
pub(super) async fn make_all(
    session: &Session,
    dimension: usize,
    tell: &(dyn Fn() -> Result<()> + Sync),
) -> Result<Option<Duration>> {
    let (began, due) = (Instant::now(), all_due(dimension));
    let schema = Schema::read(session).await?;
    let outdated = schema.outdated(&due);
    if outdated != Drops::default() {
        forget_earlier(session).await?;
        drop(session, outdated).await?;
    }
    if schema.unready(&due, dimension).is_empty() {
        return Ok(None);
    }
    tell()?;
    drop_spoiled(session, &due, dimension).await?;
    for text in [&KEYS, TEXTS].into_iter().chain((dimension > 0).then_some(VECTORS)) {
        make(session, text, dimension).await?;
    }
    wait_for(session, &due).await?;
    Ok(Some(began.elapsed()))
}

/// Deletes elements that no format has any more, before the constraints of the earlier format: while these exist, the
/// next publish continues.
async fn forget_earlier(session: &Session) -> Result<()> {
    let statement = Statement::new("end the upgrade", cypher!("schema/end-upgrade")).with("limit", FORGOTTEN_MAX);
    loop {
        let rows = session.rows(&statement).await?;
        if rows.first().and_then(|row| row.get::<i64>("rows").ok()).unwrap_or_default() == 0 {
            return Ok(());
        }
    }
}

/// Waits until our indexes can be queried, not the user's own.
async fn wait_for(session: &Session, due: &[Due]) -> Result<()> {
    let names = BoltType::List(BoltList { value: due.iter().map(|it| BoltType::from(it.name)).collect() });
    loop {
        let statement = Statement::new("wait for the indexes", cypher!("read/indexes-online"));
        let rows = session.rows(&statement.with("names", names.clone())).await?;
        let waiting = rows.first().and_then(|row| row.get::<i64>("waiting").ok()).unwrap_or_default();
        let failed: Vec<String> = rows.first().and_then(|row| row.get("failed").ok()).unwrap_or_default();
        if !failed.is_empty() {
            return Err(session.error(DatabaseError::Unfilled { names: failed.join(", ") }));
        }
        if waiting == 0 {
            return Ok(());
        }
        tokio::time::sleep(POLL).await;
    }
}

/// Creates what is missing from a file under `cypher/schema`.
async fn make(session: &Session, text: &'static str, dimension: usize) -> Result<()> {
    for text in split(text) {
        let statement = Statement::new("make the constraints and indexes", text)
            .with("dimension", (dimension as u64).cast_signed());
        session.rows(&statement).await?;
    }
    Ok(())
}

/// Drops all that is ours: the graph is deleted.
pub(super) async fn drop_all(session: &Session) -> Result<()> {
    drop(session, Schema::read(session).await?.all_of_ours()).await
}

/// Drops the vector indexes: those to come are of another dimension.
pub(super) async fn drop_vectors(session: &Session) -> Result<()> {
    for due in split(VECTORS).filter_map(Due::of) {
        drop_index(session, due.name).await?;
    }
    Ok(())
}

/// Drops our indexes that have failed or are over other vectors, and leftovers of a server that was killed while it
/// created their constraint, so that they can be recreated.
async fn drop_spoiled(session: &Session, due: &[Due], dimension: usize) -> Result<()> {
    for name in Schema::read(session).await?.spoiled(due, dimension) {
        tracing::debug!(name, "an incomplete index is dropped");
        drop_index(session, &name).await?;
    }
    Ok(())
}

async fn drop_index(session: &Session, name: &str) -> Result<()> {
    let drop = Statement::new("drop an index", cypher!("schema/drop-index")).with("name", name);
    session.rows(&drop).await.map(std::mem::drop)
}

/// Drops constraints and indexes.
async fn drop(session: &Session, drops: Drops) -> Result<()> {
    for name in drops.constraints {
        let drop = Statement::new("drop a constraint", cypher!("schema/drop-constraint")).with("name", name);
        session.rows(&drop).await?;
    }
    for name in drops.indexes {
        drop_index(session, &name).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_we_create_has_a_name_of_ours() {
        let names: Vec<&str> = all_due(1).iter().map(|due| due.name).collect();
        assert!(names.contains(&"cairn_own") && names.contains(&"cairn_passage_embedding"), "{names:?}");
        assert!(names.iter().all(|name| name.starts_with(PREFIX)), "{names:?}");
        let statements = [&KEYS, TEXTS, VECTORS].into_iter().flat_map(split).count();
        assert_eq!((all_due(1).len(), all_due(0).len()), (statements, statements - 2));
    }
}
